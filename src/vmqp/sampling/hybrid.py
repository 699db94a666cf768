"""The default sampler: heat bath and over-relaxation, with whitened HMC moves at intervals.

Sweeps are the fastest way to renew a soft target, and stand still on a stiff one; whitened HMC is nearly
indifferent to stiffness, and costs many passes a move. Spending half of the work on each comes within a factor of
about 2 of the better one, whichever that is. At the end of the warm-up a probe looks whether the sweeps between two
moves renew every angle by themselves; where they do, HMC gets a smaller share.

A step is one heat-bath sweep, ``overrelax`` sweeps of reflections and a draw of the common rotation of all angles;
every ``interval``-th step begins with a whitened HMC move. The interval follows from the work of a move, counted in
operations and not in seconds: nothing in a chain reads the clock.
"""

import numpy as np

from vmqp.checks import check_count
from vmqp.sampling.factor import SparseFactor
from vmqp.sampling.heatbath import sweeps
from vmqp.sampling.hmc import WhitenedHmc
from vmqp.sampling.sampler import Info, Sampler, State, Streams
from vmqp.sampling.target import Array, Dense, Rooted, Target
from vmqp.sampling.tuning import frozen, step_size
from vmqp.sampling.whitening import RootMass, Whitening

__all__ = ["Hybrid"]

# Work of one angle beside the passes over matrices, in units of one matrix entry times two columns (about 0.25 ns).
_DRAW, _REFLECT, _LEAP = 150.0, 30.0, 200.0
_SCATTERED = 8.0
_SHORT = 10  # leapfrogs of a move that tunes
_WARMUP_INTERVAL = 2
_PROBE = 64  # blocks of sweeps in the probe
_RENEWED = 0.5  # the largest correlation of an angle over a block that counts as renewed
_REST = 5.0  # by how much the interval is longer on a soft target


class Hybrid(Sampler):
    """Heat bath, over-relaxation and whitened HMC in turn."""

    name = "hybrid"
    default_warmup = 500

    def __init__(self, target: Target, *, overrelax: int = 1, mass: Whitening | None = None) -> None:
        super().__init__(target)
        self.overrelax = check_count(overrelax, "overrelax", 0, "sweeps of reflections")
        self.hmc = WhitenedHmc(target, mass=mass)

    def init(self, rng: Streams, angles: Array | None = None) -> State:
        """Start where whitened HMC would; the last number of the tuning stretches the interval."""
        state = self.hmc.init(rng, angles)
        return state._replace(tuning=np.append(state.tuning, 1.0))

    def interval(self, tuning: Array) -> int:
        """Steps between two HMC moves, so that both take about the same work."""
        m, coupling, mass = max(1, self.target.size), self.target.coupling, self.hmc.mass
        row = float(m) if isinstance(coupling, Dense) else coupling.values.size / m
        if isinstance(coupling, Rooted):  # two passes, with sums that are scattered over memory
            row *= _SCATTERED
        solve = 4.0 * mass.values.size / m if isinstance(mass, SparseFactor | RootMass) else 0.7 * m
        sweep = (1 + self.overrelax) * row + _DRAW + self.overrelax * _REFLECT
        leap = row + solve + _LEAP
        move = (self.hmc.leapfrogs_for(step_size(tuning)) + 2) * leap
        return max(1, round(float(tuning[-1]) * move / sweep))

    def _sweeps(self, rng: Streams, x: Array, draws: int, thin: int) -> Array:
        return sweeps(rng, self.target, x, self.overrelax, draws, thin, turn=True)

    def sweep(self, rng: Streams, state: State, steps: int) -> State:
        """Make steps without HMC."""
        x = state.x.copy()
        self._sweeps(rng, x, 1, steps)
        return state._replace(x=x)

    def step(self, rng: Streams, state: State) -> tuple[State, Info]:
        """One heat-bath sweep and the reflections, after an HMC move where it is due."""
        x, acceptance = state.x.copy(), np.ones(rng.shape[0])
        if state.steps % self.interval(state.tuning) == 0:
            acceptance = self.hmc.move(rng, x, state.tuning)
        self._sweeps(rng, x, 1, 1)
        return state._replace(x=x, steps=state.steps + 1), Info(acceptance)

    def warm_up(self, rng: Streams, state: State, steps: int) -> State:
        """Tune the step size of HMC, with a move at every second step; freeze it; then set the interval."""
        state = self.tune(rng, state, steps, _WARMUP_INTERVAL)
        return self.freeze(rng, state) if steps else state._replace(tuning=frozen(state.tuning))

    def tune(self, rng: Streams, state: State, steps: int, interval: int | None = None) -> State:
        """Make steps that adapt the step size of HMC, with a move at every ``interval``-th of them."""
        x, tuning, count = state.x.copy(), state.tuning, int(state.steps)
        # Of many angles a step that is far too small, as at the start of the tuning, would make a move very long.
        most = _SHORT if isinstance(self.target.coupling, Rooted) else None
        for k in range(count, count + steps):
            if k % (interval or self.interval(tuning)) == 0:
                tuning = self.hmc.adapt(tuning, self.hmc.move(rng, x, tuning, most))
            self._sweeps(rng, x, 1, 1)
        return state._replace(x=x, tuning=tuning, steps=np.asarray(count + steps, np.int64))

    def freeze(self, rng: Streams, state: State) -> State:
        """End the adaptation: the mean step size from now on, and HMC at rest where sweeps do its work."""
        x, tuning = state.x.copy(), frozen(state.tuning)
        if self._renewed_by_sweeps(rng, x, self.interval(tuning)):
            tuning[-1] = _REST
        return state._replace(x=x, tuning=tuning, steps=np.zeros((), np.int64))

    def _renewed_by_sweeps(self, rng: Streams, x: Array, block: int) -> bool:
        """Whether ``block`` steps without HMC leave no angle with a correlation above ``_RENEWED``."""
        # Without the common rotation: it would hide angles that stand still relative to each other.
        last = np.zeros((x.shape[1], self.target.size), complex)
        first, total, squares, overlap = last.copy(), last.copy(), last.real.copy(), last.copy()
        for k in range(_PROBE):
            z = np.exp(1j * sweeps(rng, self.target, x, self.overrelax, 1, block)[:, 0])
            if k == 0:
                first = z
            else:
                overlap += z * last.conj()
            total += z
            squares += np.abs(z) ** 2
            last = z
        # Sums of products about the mean, from those about zero: no draw but the last has to be kept.
        mean = total / _PROBE
        about = overlap - (total - first) * mean.conj() - mean * (total - last).conj()
        about += (_PROBE - 1) * np.abs(mean) ** 2
        power = (squares / _PROBE - np.abs(mean) ** 2).mean(axis=0)
        return bool((about.real.mean(axis=0) / (_PROBE - 1) <= _RENEWED * power).all())

    def run(self, rng: Streams, state: State, draws: int, thin: int = 1) -> tuple[State, Array]:
        """Make the sweeps between two HMC moves in one compiled loop."""
        x, out = state.x.copy(), np.empty((rng.shape[0], draws, self.target.size))
        interval, count, last = self.interval(state.tuning), int(state.steps), int(state.steps) + draws * thin
        kept = 0
        while count < last:
            if count % interval == 0:
                self.hmc.move(rng, x, state.tuning)
            free = interval - count % interval  # steps before the next move
            due = thin - (count - int(state.steps)) % thin  # steps before the next draw to keep
            if due == thin and free >= thin:
                whole = min(free // thin, draws - kept)
                out[:, kept : kept + whole] = self._sweeps(rng, x, whole, thin)
                kept, count = kept + whole, count + whole * thin
            else:
                some = min(free, due)
                angles = self._sweeps(rng, x, 1, some)
                count += some
                if some == due:
                    out[:, kept], kept = angles[:, 0], kept + 1
        return state._replace(x=x, steps=np.asarray(count, np.int64)), out
