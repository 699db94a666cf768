"""Which chunk comes next: chains go on independently, or in rounds where a rule compares them.

The scheduler decides by counts of iterations only, except where a clock or a person stops it. So the draws do not
depend on the executor, the number of workers or their speed.
"""

import math
import time
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vmqp.chain import Chunk, State, kept_draws
from vmqp.errors import CheckpointError, WorkerError
from vmqp.run.checkpoint import Checkpoint
from vmqp.run.door import Plan
from vmqp.run.interrupts import Interrupts
from vmqp.run.pools import Pool, Result
from vmqp.run.progress import Progress
from vmqp.run.stopping import rounds
from vmqp.run.store import Draws, as_stored

__all__ = ["Outcome", "Scheduler", "Standing", "stand"]

_POLL_SECONDS = 0.1
_TRIES = 3


@dataclass
class Standing:
    """Where one chain stands; no state is needed once it has done all its iterations."""

    chain: int
    position: int
    state: State
    tries: int = 0


class Outcome(NamedTuple):
    """Why a run stopped, how many draws of each chain count, and what could not be written."""

    stopped: str
    draws: int
    failure: tuple[Path, OSError] | None


class _Flight(NamedTuple):
    standing: Standing
    iterations: int
    generation: int
    began: float


def stand(plan: Plan, total: int, store: Draws, checkpoint: Checkpoint | None) -> list[Standing]:
    """Read the draws on disk, if any, and start the other chains."""
    standings = []
    for chain in range(plan.chains):
        position = checkpoint.position(chain) if checkpoint else 0
        if checkpoint and position:
            _load(plan, store, checkpoint, chain)
            state = checkpoint.state(chain) if position < total else {}
        else:
            state = plan.task.start(plan.seed, chain)
        standings.append(Standing(chain, position, state))
    return standings


def _load(plan: Plan, store: Draws, checkpoint: Checkpoint, chain: int) -> None:
    for path, first, last, chunk in checkpoint.draws(chain):
        try:
            store.add(chain, chunk, _due(plan, first, last))
        except WorkerError as error:
            raise CheckpointError(
                f"{path} does not hold the draws of this run ({error}): restore the right file, "
                "or give another directory."
            ) from error
        if store.done[chain] == plan.draws:
            return


def _due(plan: Plan, first: int, last: int) -> int:
    return kept_draws(plan.task, last) - kept_draws(plan.task, first)


class Scheduler:
    """Keep the pool busy until the run is over."""

    def __init__(
        self,
        plan: Plan,
        standings: list[Standing],
        store: Draws,
        pool: Pool,
        checkpoint: Checkpoint | None,
        progress: Progress,
        interrupts: Interrupts,
        circular: set[str],
    ) -> None:
        self._plan = plan
        self._standings = standings
        self._store = store
        self._pool = pool
        self._checkpoint = checkpoint
        self._progress = progress
        self._interrupts = interrupts
        self._circular = circular
        self._deadline = time.monotonic() + plan.time_limit
        self._flights: dict[Result, _Flight] = {}
        self._goal = 0
        self._stop: str | None = None
        self._pace = 0.0  # seconds an iteration of the last chunk, the wait for a worker included
        self._failure: tuple[Path, OSError] | None = None

    def run(self) -> Outcome:
        """Advance all chains to the end, or to where something stops them."""
        rule, task = self._plan.until, self._plan.task
        try:
            for draws in rounds(self._plan.draws, rule.first) if rule else [self._plan.draws]:
                self._advance_to(task.warmup + draws * task.thin)
                if self._stop and min(self._store.done) < draws:
                    return Outcome(self._stop, min(self._store.done), self._failure)
                seen = self._store.first(draws)
                if rule and rule.met(seen.parameters, seen.angles, self._circular):
                    return Outcome("converged", draws, self._failure)
            return Outcome("checkpoint failed" if self._failure else "draws", draws, self._failure)
        finally:
            self._land()

    def _advance_to(self, goal: int) -> None:
        """Let every chain reach an iteration; ends earlier when the run is stopped."""
        self._goal = goal
        self._look_around()
        for standing in self._standings:
            self._submit(standing)
        while self._flights:
            try:
                done = wait(self._flights, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED).done
            except KeyboardInterrupt:  # from a handler that is not ours
                self._interrupts.press()
                continue
            self._look_around()
            for future in done:
                self._take(future)
            if self._interrupts.count > 1:
                return
            self._progress.tick()

    def _look_around(self) -> None:
        """Ask the person and the clock; what waits in the queue is then taken back."""
        if self._stop is None:
            if self._interrupts.count:
                self._stop = "interrupted"
            elif time.monotonic() >= self._deadline:
                self._stop = "time limit"
        if self._stop:
            for future in self._pool.take_back(self._flights):
                del self._flights[future]

    def _submit(self, standing: Standing) -> None:
        while self._stop is None and standing.position < self._goal:
            iterations = min(self._plan.chunk, self._goal - standing.position, self._in_time())
            generation = self._pool.generation
            try:
                future = self._pool.submit(self._plan.task, standing.state, iterations)
            except BrokenExecutor as error:
                self._lost(standing, generation, error)
                continue
            self._flights[future] = _Flight(standing, iterations, generation, time.monotonic())
            return

    def _in_time(self) -> int:
        """Iterations that end about when the time does; the first are few, for their pace is not known yet."""
        left = self._deadline - time.monotonic()
        if math.isinf(left):
            return self._plan.chunk
        return max(1, int(left / self._pace) if self._pace else self._plan.chunk // 20)

    def _take(self, future: Result) -> None:
        flight = self._flights.pop(future, None)
        if flight is None:  # taken back in the meantime
            return
        standing = flight.standing
        try:
            state, chunk = future.result()
        except BrokenExecutor as error:
            self._lost(standing, flight.generation, error)
            self._submit(standing)
            return
        first, last = standing.position, standing.position + flight.iterations
        self._pace = (time.monotonic() - flight.began) / flight.iterations
        chunk = as_stored(chunk, self._plan.dtype)
        self._store.add(standing.chain, chunk, _due(self._plan, first, last))
        standing.state, standing.position, standing.tries = state, last, 0
        self._submit(standing)  # before the disk is written: the worker need not wait for it
        self._save(standing.chain, first, last, state, chunk)
        self._progress.update(standing.chain, last, chunk.progress)

    def _lost(self, standing: Standing, generation: int, error: BrokenExecutor) -> None:
        """A worker died: try the chunk again in a new pool, some times."""
        if not self._pool.mends:
            raise error
        standing.tries += getattr(error, "deaths", 1)  # a cluster has tried some times itself
        if standing.tries > _TRIES:
            raise WorkerError(
                f"workers died {standing.tries} times on the same chunk of chain {standing.chain}: "
                f"{self._pool.advice}."
            ) from error
        self._pool.renew(generation)

    def _save(self, chain: int, first: int, last: int, state: State, chunk: Chunk) -> None:
        if self._checkpoint is None or self._failure is not None:
            return
        try:
            self._checkpoint.write(chain, first, last, state, chunk)
        except OSError as error:
            self._failure = self._checkpoint.folder / f"chain-{chain}" / f"{first}-{last}.npz", error
            self._stop = "checkpoint failed"
            self._look_around()

    def _land(self) -> None:
        """Leave nothing behind in the pool; what runs is waited for, unless Ctrl-C was pressed twice."""
        while self._flights:
            patient = self._interrupts.count < 2
            gone = {*self._pool.take_back(self._flights, force=not patient)}
            if not patient:
                return
            gone |= wait(self._flights.keys() - gone, timeout=_POLL_SECONDS).done
            for future in gone:
                del self._flights[future]
