"""The result of a regression: what is known of the angle at each new place, in the user's period.

`Posterior.draws`, `mean`, `interval`, `density` and the scores refer to a new observation, noise or nugget included.
`Posterior.latent` holds the angle of the process itself.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from vmqp import arcs, circle, scores
from vmqp.arcs import check_probability
from vmqp.circle import TWO_PI, FloatArray
from vmqp.errors import InputError
from vmqp.maps import Moments
from vmqp.posterior import pictures
from vmqp.posterior.comparing import compare
from vmqp.posterior.diagnostics import Verdict, diagnose, judge, moments_of, parameters_of
from vmqp.posterior.facts import Facts
from vmqp.posterior.html import page
from vmqp.posterior.loo import LeaveOneOut, leave_one_out
from vmqp.posterior.observations import Observations, values_of
from vmqp.posterior.predictive import FEWEST_DRAWS, MOST_DRAWS, mixture, mixture_at, modes_of
from vmqp.posterior.saving import read_tree, write_tree
from vmqp.posterior.summary import summarise
from vmqp.posterior.tables import as_kind, as_map, input_columns
from vmqp.tables import AngleRange, read_truth

__all__ = ["Posterior", "load"]

_GRID = 720
_LAWS = 1_500_000  # draws times places of a density: for many places fewer draws must do
_NARROW = TWO_PI / 12.0  # below this width of the 99 % arc a grid round the circle is too coarse for regions


class Posterior:
    """Draws of angles and parameters, and what follows from them; made by `vmqp.regress` or `vmqp.load`.

    Places are the rows of `X_new`, in their order. Angles come in the period and the range of the data.

    >>> import numpy as np
    >>> import vmqp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [350.0, 5.0, 20.0, 30.0]
    >>> kernel = "2.0 * exponential(3.0) + nugget(0.01)"  # with numbers in place of priors nothing is learned
    >>> post = vmqp.regress(X, y, [[1.5]], period=360, kernel=kernel, concentration=0, progress=False)
    >>> post.draws.shape, post.interval(0.9).shape
    ((4, 1000, 1), (1, 2))

    What is predicted, in degrees here, and how sure it is:

    >>> post.mean.round(-1), post.variance.round(1), post.probability(0.0, 90.0).round(1)
    (array([10.]), array([0.2]), array([0.6]))
    >>> post.density([15.0]).round(3), len(post.regions(0.9)[0]), post.modes()[0].round(-1)
    (array([[0.011]]), 1, array([10.]))

    How good it was, once the truth is known:

    >>> post.crps([12.0]).round(2), post.log_score([12.0]).round(1), post.coverage([12.0], 0.9)
    (array([0.02]), array([-4.5]), 1.0)

    Whether it can be trusted, and the same as a table, in the form of ArviZ, or as a picture:

    >>> post.verdict().trusted, post.diagnostics().index.tolist(), len(post.loo().pointwise)
    (True, ['angle[4]'], 4)
    >>> list(post.to_frame()), sorted(post.to_datatree().children)[:3]
    (['x0', 'mean', 'variance', 'lower', 'upper', 'width'], ['constant_data', 'field', 'log_likelihood'])
    >>> from matplotlib.figure import Figure
    >>> post.plot(ax=Figure().add_subplot()).get_xlabel()
    'x0'
    """

    def __init__(self, tree: xr.DataTree, facts: Facts) -> None:
        self._tree = tree
        self._facts = facts
        self._observations = Observations(tree, facts.noise_of_new)

    # What was given

    @property
    def range(self) -> AngleRange:
        """Period, range and unit of the angles."""
        return self._facts.range

    @property
    def period(self) -> float:
        """The period of the angles."""
        return self.range.period

    @property
    def unit(self) -> str:
        """The unit of the angles, such as "degrees"; empty where it has no name."""
        return self.range.unit

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the inputs, or None."""
        return self._facts.names

    @property
    def categories(self) -> dict[int, tuple[str, ...]]:
        """Of each text column, by its position: the names that its codes stand for."""
        return dict(self._facts.categories)

    @property
    def call(self) -> str:
        """How to make this posterior again."""
        return self._facts.call

    @property
    def attributes(self) -> dict[str, Any]:
        """What was run: model, kernel, drift, method, seed, version, time."""
        return {str(name): value for name, value in self._tree.attrs.items()}

    @property
    def target_ess(self) -> float:
        """Effective samples below which the verdict is not to trust."""
        return self._facts.target_ess

    @property
    def stopped(self) -> str:
        """Why the run ended: "draws", "converged", "time limit", "interrupted" or "checkpoint failed"."""
        return str(self._tree.attrs["stopped"])

    @cached_property
    def y(self) -> FloatArray:
        """The observed angles, (n,)."""
        return self._in_period(values_of(self._tree, "observed_data", "angle"))

    @property
    def X(self) -> FloatArray:
        """The observed places, (n, columns)."""
        return values_of(self._tree, "constant_data", "X")[: len(self.y)]

    @property
    def X_new(self) -> FloatArray:
        """The new places, (m, columns)."""
        return values_of(self._tree, "constant_data", "X")[len(self.y) :]

    # Predictions

    @property
    def draws(self) -> FloatArray:
        """Draws of a new observation at each place, (chains, draws, m); computed anew each time, to save memory."""
        return self._in_period(self._observations.draws)

    def draws_at(self, rows: npt.ArrayLike) -> FloatArray:
        """Draws of a new observation at some places, (chains, draws, rows), without a copy of all others."""
        return self._in_period(self._observations.draws[..., np.asarray(rows, dtype=np.intp)])

    @property
    def latent(self) -> FloatArray:
        """Draws of the angle φ of the process at each place, (chains, draws, m), without the noise of observations."""
        return self._in_period(self._observations.latent)

    @cached_property
    def mean(self) -> FloatArray:
        """Circular mean at each place, (m,), of a map that of all steps; nan where draws have no mean direction."""
        if self._moments is not None:
            return self._in_period(self._moments.mean())
        return self._in_period(self._by_place(lambda draws: circle.mean(draws, axis=0)))

    @cached_property
    def variance(self) -> FloatArray:
        """Circular variance at each place, (m,): 0 where the angle is sure, 1 where nothing is known."""
        if self._moments is not None:
            return self._moments.variance()
        return self._by_place(lambda draws: circle.variance(draws, axis=0))

    def interval(self, probability: float = 0.9) -> FloatArray:
        """Lower and upper end of the shortest arc with this probability at each place, (m, 2).

        An arc runs counter-clockwise from lower to upper and may cross the cut; then lower > upper. The whole circle is
        (lower, lower + period).
        """
        if check_probability(probability) == 1.0:
            start = -self.period / 2 if self.range.centred else 0.0
            return np.tile([start, start + self.period], (self._observations.m, 1))
        if probability not in self._intervals:
            ends = self._by_place(lambda draws: arcs.shortest_arc(draws, probability, axis=0), (2,))
            self._intervals[probability] = self._in_period(ends)
        return self._intervals[probability].copy()

    def width(self, probability: float = 0.9) -> FloatArray:
        """Width of the shortest arc with this probability at each place, (m,)."""
        lower, upper = self.interval(probability).T
        return np.asarray(arcs.arc_width(lower, upper, self.period))

    def regions(self, probability: float = 0.9) -> list[FloatArray]:
        """Arcs of highest density that together hold the probability: for each place an array (arcs, 2).

        Where the density has several modes there can be several arcs, shorter together than one interval.
        """
        check_probability(probability)
        every = range(self._observations.m)
        return [self._region(row, self._grid_density[row], probability) for row in every]

    def modes(self, least: float = 0.05) -> list[FloatArray]:
        """Directions of the modes at each place, the most probable first; a mode holds at least the share `least`."""
        grid = np.linspace(0.0, TWO_PI, _GRID, endpoint=False)
        return [self._in_period(modes_of(grid, density, least)) for density in self._grid_density]

    def probability(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> FloatArray:
        """Probability of the sector from lower counter-clockwise to upper at each place, (m,)."""
        low, high = (circle.check_angles(value, name) for value, name in ((lower, "lower"), (upper, "upper")))
        m = self._observations.m
        for name, value in (("lower", low), ("upper", high)):
            if value.shape not in ((), (m,)):
                raise InputError(
                    f"{name} has shape {value.shape}: give one number, or one for each of {m} places."
                )
        width = np.broadcast_to(arcs.arc_width(low, high, self.period), (m,)) / self.period * TWO_PI
        start = np.broadcast_to(low, (m,)) / self.period * TWO_PI

        def share(draws: FloatArray, places: slice) -> FloatArray:
            inside = arcs.in_arc(draws, start[places], start[places] + width[places])
            return np.asarray(np.asarray(inside).mean(axis=0))

        blocks = self._observations.blocks()
        parts = [share(self._flat(places), places) for places in blocks]
        return np.concatenate(parts)

    def density(self, grid: npt.ArrayLike) -> FloatArray:
        """Density of a new observation at each place and each angle of the grid, (m, len(grid)).

        It is the mean over draws of the law of one angle given all others. On an even grid round the circle it shows
        nothing finer than the grid's spacing, so that its values times the spacing add up to one.
        """
        angles = circle.check_angles(grid, "grid")
        if angles.ndim != 1:
            raise InputError(
                f"grid has shape {angles.shape}: give the angles as a list, such as np.arange(0, 360)."
            )
        radians = np.atleast_1d(circle.wrap(angles, self.period, 0.0)) / self.period * TWO_PI
        return self._density(radians) * (TWO_PI / self.period)

    @property
    def parameters(self) -> Mapping[str, FloatArray]:
        """Draws of the learned parameters by name, (chains, draws); the direction ν in the period of the data."""
        posterior = parameters_of(self._tree)
        names = [str(name) for name, array in posterior.data_vars.items() if array.ndim == 2]
        return {
            name: self._in_period(posterior[name].values) if name == "direction" else posterior[name].values
            for name in names
        }

    # Scores

    def crps(self, y_true: npt.ArrayLike, distance: str = "cosine") -> FloatArray:
        """Continuous ranked probability score at each place, (m,): smaller is better.

        With "cosine" the distance of two angles is 1 − cos of their difference, as in the paper. With "arc" it is the
        shorter arc between them, and the score is in the unit of the angles. See `vmqp.scores.crps`.
        """
        truth = self._truth(y_true)
        parts = [
            scores.crps(self._flat(places), truth[places], distance=distance)
            for places in self._observations.blocks()
        ]
        return np.concatenate(parts) * (self.period / TWO_PI if distance == "arc" else 1.0)

    def log_score(self, y_true: npt.ArrayLike) -> FloatArray:
        """Log density at the true angles, (m,): larger is better."""
        truth, taken = self._truth(y_true), self._observations
        parts = [mixture_at(taken.laws(places), truth[places]) for places in taken.blocks()]
        return np.asarray(np.concatenate(parts) + np.log(TWO_PI / self.period))

    def coverage(self, y_true: npt.ArrayLike, probability: float = 0.9) -> float:
        """Share of the true angles that lie in the shortest arcs with this probability."""
        lower, upper = self.interval(probability).T
        truth = self._in_period(self._truth(y_true))
        return float(np.mean(arcs.in_arc(truth, lower, upper, self.period)))

    def pit(self, y_true: npt.ArrayLike) -> FloatArray:
        """Probability integral transform of the true angles, (m,): uniform if the predictions are calibrated.

        The circle is cut opposite the predictive mean.
        """
        truth = self._truth(y_true)
        blocks = self._observations.blocks()
        return np.concatenate([scores.pit(self._flat(places), truth[places]) for places in blocks])

    @cached_property
    def _loo(self) -> LeaveOneOut:
        if "log_likelihood" not in self._tree.children:
            raise InputError(
                "this posterior was made without likelihoods: run regress again"
                + (" with stages=1" if "totals" in self._tree.children else "")
                + " for leave-one-out."
            )
        found = leave_one_out(values_of(self._tree, "log_likelihood", "angle"))
        shift = np.log(TWO_PI / self.period)
        return LeaveOneOut(found.pointwise + shift, found.pareto_k, found.limit)

    def loo(self) -> LeaveOneOut:
        """Leave-one-out log density of each observed angle, with its reliability k̂."""
        return self._loo

    def compare(self, other: "Posterior", y_true: npt.ArrayLike | None = None) -> pd.DataFrame:
        """Compare with another posterior of the same data: by leave-one-out, and by the truth where it is given."""
        return compare(self, other, y_true)

    # Trust

    @cached_property
    def _diagnostics(self) -> pd.DataFrame:
        return diagnose(self._tree)

    def diagnostics(self) -> pd.DataFrame:
        """R-hat and effective sample size of each parameter and angle; of an angle, the worse of its cos and sin."""
        return self._diagnostics.copy()

    def verdict(self) -> Verdict:
        """Whether these numbers can be trusted, in words."""
        return judge(self._diagnostics, self._tree, self._facts.target_ess)

    def summary(self, probability: float = 0.9) -> pd.DataFrame:
        """One row for each learned parameter: mean, standard deviation, interval, R-hat, effective sample size."""
        return summarise(self.parameters, self._diagnostics, check_probability(probability), self.range)

    # Pictures

    plot = pictures.plot
    plot_map = pictures.plot_map
    plot_variance = pictures.plot_variance
    plot_direction = pictures.plot_direction
    plot_rose = pictures.plot_rose
    plot_parameters = pictures.plot_parameters
    plot_calibration = pictures.plot_calibration
    plot_autocorrelation = pictures.plot_autocorrelation

    # Out

    def to_frame(self, probability: float = 0.9) -> Any:
        """One row for each new place: inputs, mean, variance, lower and upper end and width of the shortest arc.

        A polars frame where the inputs were one, else a pandas frame.
        """
        inputs = input_columns(self.X_new, self._facts)
        return as_kind({**inputs, **self._results(probability)}, self._facts.kind)

    def to_xarray(self, probability: float = 0.9) -> xr.Dataset:
        """A map where the new places are a grid, else one dimension of places; variables as in `to_frame`."""
        return as_map(input_columns(self.X_new, self._facts), self._results(probability))

    def to_datatree(self) -> xr.DataTree:
        """The draws in the schema of ArviZ, angles in radians as its functions expect; not a copy."""
        return self._tree

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a NetCDF file, which `vmqp.load` reads.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import vmqp
        >>> fixed = {"kernel": "2.0 * exponential(3.0)", "concentration": 0}  # nothing is learned
        >>> post = vmqp.regress([[0.0], [1.0]], [0.1, 0.3], [[0.5]], **fixed, chains=1, draws=50, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     post.save(Path(folder, "post.nc"))
        ...     again = vmqp.load(Path(folder, "post.nc"))
        >>> bool((again.draws == post.draws).all())
        True
        """
        write_tree(self._tree, self._facts, path)

    def __repr__(self) -> str:
        posterior = self._tree["posterior"]
        chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
        return (
            f"Posterior({len(self.X_new)} new places given {len(self.y)}, {chains} chains of {draws} draws, "
            f"{self._tree.attrs['kernel']})"
        )

    def _repr_html_(self) -> str:
        return page(self)

    # Parts

    @cached_property
    def _moments(self) -> Moments | None:
        """Summaries over all steps of a map, where they are those of an observation too."""
        return moments_of(self._tree) if self._observations.noise is None else None

    @cached_property
    def _intervals(self) -> dict[float, FloatArray]:
        return {}

    @cached_property
    def _grid_density(self) -> FloatArray:
        """On an even grid round the circle from 0, (m, grid)."""
        return self._density(np.linspace(0.0, TWO_PI, _GRID, endpoint=False))

    def _density(self, radians: FloatArray) -> FloatArray:
        taken = self._observations
        most = int(np.clip(_LAWS / taken.m, FEWEST_DRAWS, MOST_DRAWS))
        return np.concatenate([mixture(taken.laws(places, most), radians) for places in taken.blocks()])

    def _region(self, row: int, density: FloatArray, probability: float) -> FloatArray:
        """Arcs of highest density at one place, from its density on the even grid."""
        origin = self.range.origin
        if self.width(0.99)[row] < _NARROW / TWO_PI * self.period and probability < 1.0:
            draws = self._in_period(self._observations.draws[..., row].reshape(-1))
            return arcs.highest_density_regions(draws, probability, period=self.period, origin=origin)
        points = np.linspace(0.0, self.period, _GRID, endpoint=False)
        return arcs.regions_from_density(points, density, probability, self.period, origin)

    def _even_densities(self, rows: Sequence[int]) -> tuple[FloatArray, list[FloatArray]]:
        """An even grid round the circle in the user's period, and the density on it at some places only."""
        grid, taken = np.linspace(0.0, TWO_PI, _GRID, endpoint=False), self._observations
        found = [mixture(taken.laws(slice(row, row + 1), MOST_DRAWS), grid)[0] for row in rows]
        turn = TWO_PI / self.period
        return grid / turn, [density * turn for density in found]

    def _results(self, probability: float) -> dict[str, FloatArray]:
        lower, upper = self.interval(probability).T
        width = self.width(probability)
        return {"mean": self.mean, "variance": self.variance, "lower": lower, "upper": upper, "width": width}

    def _flat(self, places: slice) -> FloatArray:
        """Draws of a new observation in radians, (all draws, places)."""
        block = self._observations.draws[..., places]
        return np.asarray(block, dtype=float).reshape(-1, block.shape[2])

    def _by_place(self, statistic: Callable[[FloatArray], Any], shape: Sequence[int] = ()) -> FloatArray:
        result = np.empty((self._observations.m, *shape))
        for places in self._observations.blocks():
            result[places] = statistic(self._flat(places))
        return result

    def _truth(self, y_true: npt.ArrayLike) -> FloatArray:
        return read_truth(y_true, self.range, self._observations.m)

    def _in_period(self, radians: npt.ArrayLike) -> FloatArray:
        """Convert to the user's period, in the type of the draws; what is nan stays nan."""
        values = np.asarray(radians)
        return np.asarray(self.range.from_radians(values), dtype=values.dtype)


def load(path: str | PathLike[str]) -> Posterior:
    """Read a posterior that `Posterior.save` wrote.

    >>> load("nowhere.nc")
    Traceback (most recent call last):
    vmqp.errors.InputError: nowhere.nc cannot be read (No such file or directory): check the path.
    """
    return Posterior(*read_tree(path))
