"""The result of a regression: what is known of the angle at each new location, in the user's period.

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
from vmqp.kernels import Kernel
from vmqp.posterior import mixture, pictures
from vmqp.posterior.comparing import compare
from vmqp.posterior.diagnostics import (
    Verdict,
    diagnose,
    judge,
    kernel_choice,
    parameters_in,
    precision_of_means,
)
from vmqp.posterior.facts import Facts
from vmqp.posterior.html import page
from vmqp.posterior.loo import LeaveOneOut, leave_one_out
from vmqp.posterior.predictive import ClosedForm, JointDraws, Predictive, is_fast, sizes_of, values_of
from vmqp.posterior.saving import read_kernel, read_tree, write_tree
from vmqp.posterior.summary import summarise
from vmqp.posterior.tables import as_kind, as_map, input_columns
from vmqp.tables import AngleRange, read_truth

__all__ = ["Posterior", "load", "posterior_of"]

_GRID = 720
_COMPONENTS = (
    1_500_000  # draws times locations of a density from joint draws: for many locations fewer draws must do
)
_FEWEST, _MOST = (
    400,
    2000,
)  # draws of such a density: it is a mean of smooth functions, and more would not be seen
_NARROW = (
    TWO_PI / 12.0
)  # below this width of the 99 % arc a grid round the circle is too coarse for joint regions


class Posterior:
    """Predictions at new locations; made by `vmqp.regress`, by a fitted model's ``posterior``, or by `vmqp.load`.

    Locations are the rows of `X_new`, in their order. Angles come in the period and the range of the data. By default
    the predictive distribution at a location is a mixture of von Mises distributions, one for each of some parameter
    draws: mean, variance, density, intervals and scores are computed from it, and `draws` are sampled from it where
    they are asked for. Results of ``simulate`` and of ``transductive=True`` hold joint draws of all locations instead.

    Examples
    --------
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

    The same as a table, in the form of ArviZ, or as a plot:

    >>> list(post.to_frame()), "predictions" in post.to_datatree().children
    (['x0', 'mean', 'variance', 'lower', 'upper', 'width'], True)
    >>> from matplotlib.figure import Figure
    >>> post.plot(ax=Figure().add_subplot()).get_xlabel()
    'x0'
    """

    def __init__(self, tree: xr.DataTree, facts: Facts, predictive: Predictive | None = None) -> None:
        self._tree = tree
        self._facts = facts
        self._predictive = JointDraws(tree, facts.noise_of_new) if predictive is None else predictive

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
    def fast(self) -> bool:
        """Whether the parameters are those of a fast fit, without their uncertainty."""
        return is_fast(self._tree)

    @property
    def target_ess(self) -> float:
        """Effective samples below which the verdict is not to trust."""
        return self._facts.target_ess

    @property
    def stopped(self) -> str:
        """Why the run ended: "draws", "converged", "time limit", "interrupted", "checkpoint failed"; or "optimum"."""
        return str(self._tree.attrs["stopped"])

    @cached_property
    def y(self) -> FloatArray:
        """The observed angles, (n,)."""
        return self._in_period(values_of(self._tree, "observed_data", "angle"))

    @property
    def X(self) -> FloatArray:
        """The observed locations, (n, columns)."""
        return values_of(self._tree, "constant_data", "X")[: len(self.y)]

    @property
    def X_new(self) -> FloatArray:
        """The new locations, (m, columns)."""
        return self._predictive.X_new

    @property
    def joint(self) -> bool:
        """Whether `draws` hold all locations together; else they are independent between locations."""
        return self._predictive.joint

    # Predictions

    @property
    def draws(self) -> FloatArray:
        """Draws of a new observation at each location, (chains, draws, m); sampled anew each time, and the same."""
        return self._in_period(self._predictive.draws(slice(None)))

    def draws_at(self, rows: npt.ArrayLike) -> FloatArray:
        """Draws of a new observation at some locations, (chains, draws, rows), without those of all others."""
        return self._in_period(self._predictive.draws(np.atleast_1d(np.asarray(rows, dtype=np.intp))))

    @property
    def latent(self) -> FloatArray:
        """Draws of the angle φ of the process, (chains, draws, m), without the noise of observations."""
        return self._in_period(self._predictive.latent(slice(None)))

    @property
    def mean(self) -> FloatArray:
        """Circular mean at each location, (m,); nan where there is no mean direction."""
        return self._in_period(self._directions)

    @property
    def variance(self) -> FloatArray:
        """Circular variance at each location, (m,): 0 where the angle is sure, 1 where nothing is known."""
        return np.asarray(1.0 - np.minimum(np.abs(self._moments), 1.0))

    def interval(self, probability: float = 0.9) -> FloatArray:
        """Lower and upper end of the shortest arc with this probability at each location, (m, 2).

        An arc runs counter-clockwise from lower to upper and may cross the cut; then lower > upper. The whole circle is
        (lower, lower + period).
        """
        if check_probability(probability) == 1.0:
            start = -self.period / 2 if self.range.centred else 0.0
            return np.tile([start, start + self.period], (self._predictive.m, 1))
        if probability not in self._arcs:
            self._summarize(probability)
        return self._in_period(self._arcs[probability])

    def width(self, probability: float = 0.9) -> FloatArray:
        """Width of the shortest arc with this probability at each location, (m,)."""
        lower, upper = self.interval(probability).T
        return np.asarray(arcs.arc_width(lower, upper, self.period))

    def regions(self, probability: float = 0.9) -> list[FloatArray]:
        """Arcs of highest density that together hold the probability: for each location an array (arcs, 2).

        Where the density has several modes there can be several arcs, shorter together than one interval.
        """
        check_probability(probability)
        taken = self._predictive
        if probability == 1.0 or taken.joint:
            every = range(taken.m)
            return [self._region(row, self._grid_density[row], probability) for row in every]
        parts = taken.by_block(lambda rows: mixture.top_arcs(taken.components(rows), probability))
        return [self._in_period(region) for part in parts for region in part]

    def modes(self, least: float = 0.05) -> list[FloatArray]:
        """Directions of the modes at each location, the most probable first; each has at least `least` of the mass."""
        grid = np.linspace(0.0, TWO_PI, _GRID, endpoint=False)
        return [self._in_period(mixture.modes_of(grid, density, least)) for density in self._grid_density]

    def probability(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> FloatArray:
        """Probability of the sector from lower counter-clockwise to upper at each location, (m,)."""
        low, high = (circle.check_angles(value, name) for value, name in ((lower, "lower"), (upper, "upper")))
        m = self._predictive.m
        for name, value in (("lower", low), ("upper", high)):
            if value.shape not in ((), (m,)):
                raise InputError(
                    f"{name} has shape {value.shape}: give one number, or one for each of {m} locations."
                )
        width = np.broadcast_to(arcs.arc_width(low, high, self.period), (m,)) / self.period * TWO_PI
        start = np.broadcast_to(low, (m,)) / self.period * TWO_PI

        def mass(rows: slice) -> FloatArray:
            if self._predictive.joint:
                inside = arcs.in_arc(self._flat(rows), start[rows], start[rows] + width[rows])
                return np.asarray(np.asarray(inside).mean(axis=0))
            ends = np.stack([start[rows], start[rows] + width[rows]], axis=1)
            before, after = mixture.cdf(self._predictive.components(rows), ends).T
            return np.where(width[rows] >= TWO_PI, 1.0, np.mod(after - before, 1.0))

        return np.concatenate(self._predictive.by_block(mass))

    def density(self, grid: npt.ArrayLike) -> FloatArray:
        """Density of a new observation at each location and each angle of the grid, (m, len(grid)).

        It is the mean of the components, one for each draw. On an even grid round the circle it shows nothing finer
        than the grid's spacing, so that its values times the spacing add up to one.
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
        return parameters_in(self._tree, self.range)

    # Scores: nan where the true angle is nan

    def crps(self, y_true: npt.ArrayLike, distance: str = "cosine") -> FloatArray:
        """Continuous ranked probability score at each location, (m,): smaller is better.

        With "cosine" the distance of two angles is 1 − cos of their difference, as in the paper. With "arc" it is the
        shorter arc between them, and the score is in the unit of the angles. See `vmqp.scores.crps`. It is nan where
        the true angle is nan.
        """
        taken = self._predictive
        scores.check_distance(distance)

        def score(rows: slice, truth: FloatArray) -> FloatArray:
            if taken.joint:
                return scores.crps(self._flat(rows), truth, distance=distance)
            return mixture.arc_score(taken.components(rows), truth)

        if not taken.joint and distance == "cosine":
            # app:crps, of the distribution itself: E d(φ, y) − ½ E d(φ, φ′) = ½ |E x(φ) − x(y)|²
            return np.asarray(0.5 * np.abs(self._moments - np.exp(1j * self._truth(y_true))) ** 2)
        return self._scored(y_true, score) * (self.period / TWO_PI if distance == "arc" else 1.0)

    def log_score(self, y_true: npt.ArrayLike) -> FloatArray:
        """Log density at the true angles, (m,): larger is better, and nan where the true angle is nan."""
        taken = self._predictive
        found = self._scored(y_true, lambda rows, truth: mixture.log_density(taken.components(rows), truth))
        return np.asarray(found + np.log(TWO_PI / self.period))

    def coverage(self, y_true: npt.ArrayLike, probability: float = 0.9) -> float:
        """Fraction of the true angles, but for nan, that lie in the shortest arcs with this probability."""
        lower, upper = self.interval(probability).T
        truth = self._in_period(self._truth(y_true))
        known = ~np.isnan(truth)
        return float(np.mean(arcs.in_arc(truth[known], lower[known], upper[known], self.period)))

    def pit(self, y_true: npt.ArrayLike) -> FloatArray:
        """Probability integral transform of the true angles, (m,): uniform if the predictions are calibrated.

        The circle is cut opposite the predictive mean. It is nan where the true angle is nan.
        """
        taken = self._predictive

        def transform(rows: slice, truth: FloatArray) -> FloatArray:
            if taken.joint:
                return scores.pit(self._flat(rows), truth)
            return mixture.cdf(taken.components(rows), truth[:, None])[:, 0]

        return self._scored(y_true, transform)

    @cached_property
    def _loo(self) -> LeaveOneOut:
        return leave_one_out(self._tree, self.period)

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
        """R-hat and effective sample size of each parameter, and of joint draws of each angle.

        Of an angle it is the worse of its cosine and its sine.
        """
        return self._diagnostics.copy()

    def verdict(self) -> Verdict:
        """Whether these numbers can be trusted, in words."""
        verdict = judge(self._diagnostics, self._tree, self._facts.target_ess)
        if not isinstance(self._predictive, ClosedForm):
            return verdict
        more = precision_of_means(self._predictive, self._diagnostics, self.range)
        return Verdict(verdict.trusted, (*verdict.sentences, *more))

    @property
    def kernel_choice(self) -> pd.DataFrame:
        """The kernels that the default was chosen among, by leave-one-out; no rows where a kernel was given."""
        return kernel_choice(self._tree)

    def summary(self, probability: float = 0.9) -> pd.DataFrame:
        """One row for each learned parameter: mean, standard deviation, interval, R-hat, effective sample size."""
        return summarise(self.parameters, self._diagnostics, check_probability(probability), self.range)

    # Plots

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
        """One row for each new location: inputs, mean, variance, lower and upper end and width of the shortest arc.

        A polars frame where the inputs were one, else a pandas frame.
        """
        inputs = input_columns(self.X_new, self._facts)
        return as_kind({**inputs, **self._results(probability)}, self._facts.kind)

    def to_xarray(self, probability: float = 0.9) -> xr.Dataset:
        """A map where the new locations are a grid, else one dimension of locations; variables as in `to_frame`."""
        return as_map(input_columns(self.X_new, self._facts), self._results(probability))

    def to_datatree(self) -> xr.DataTree:
        """The draws in the schema of ArviZ, angles in radians as its functions expect.

        Where predictions are in closed form, draws of them are sampled into the group ``predictions``.
        """
        if self.joint:
            return self._tree
        tree = self._tree.copy(deep=False)
        rows = np.arange(self._predictive.m)
        angle = (("chain", "draw", "angle_place"), self._predictive.draws(slice(None)))
        tree["predictions"] = xr.DataTree(xr.Dataset({"angle": angle}, coords={"angle_place": rows}))
        tree["predictions_constant_data"] = xr.DataTree(self._new_data())
        return tree

    def save(self, path: str | PathLike[str]) -> None:
        """Write all of it to a NetCDF file, which `vmqp.load` reads.

        Predictions in closed form are written as the learned model and the new locations, and computed again.

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
        tree = self._tree
        if not self.joint:
            tree = tree.copy(deep=False)
            tree["predictions_constant_data"] = xr.DataTree(self._new_data())
        write_tree(tree, self._facts, path)

    def __repr__(self) -> str:
        chains, draws = sizes_of(self._tree)
        return (
            f"Posterior({self._predictive.m} new locations given {len(self.y)}, {chains} chains of {draws} draws, "
            f"{self._tree.attrs['kernel']})"
        )

    def _repr_html_(self) -> str:
        return page(self)

    # Parts

    @cached_property
    def _arcs(self) -> dict[float, FloatArray]:
        """Ends of the shortest arcs in radians by probability."""
        return {}

    @property
    def _moments(self) -> npt.NDArray[np.complex128]:
        """First trigonometric moment at each location, (m,)."""
        if "_moment" not in self.__dict__:
            self._summarize(None)
        found: npt.NDArray[np.complex128] = self.__dict__["_moment"]
        return found

    @property
    def _directions(self) -> FloatArray:
        """Its direction in radians; nan where the moment is nothing but rounding."""
        moments = self._moments
        return np.where(np.abs(moments) > circle.NO_DIRECTION, np.angle(moments), np.nan)

    def _summarize(self, probability: float | None) -> None:
        """Pass over all locations once: moments, where they are not known yet, and arcs of a probability.

        Many locations are not kept in memory. So that a table needs one pass over them, the first one has arcs too.
        """
        taken, known = self._predictive, "_moment" in self.__dict__
        if probability is None and isinstance(taken, ClosedForm) and not taken.keeps:
            probability = 0.9

        def summary(rows: slice) -> tuple[Any, Any]:
            if taken.joint:
                draws = self._flat(rows)
                moment = None if known else np.exp(1j * draws).mean(axis=0)
                return moment, probability and arcs.shortest_arc(draws, probability, axis=0)
            found = taken.components(rows)
            moment = None if known else found.moment().mean(axis=0)
            return moment, probability and mixture.shortest_arcs(found, probability)

        moments, ends = zip(*taken.by_block(summary), strict=True)
        if not known:
            self.__dict__["_moment"] = np.concatenate(moments)
        if probability is not None:
            self._arcs[probability] = np.concatenate(ends)

    @cached_property
    def _grid_density(self) -> FloatArray:
        """On an even grid round the circle from 0, (m, grid)."""
        return self._density(np.linspace(0.0, TWO_PI, _GRID, endpoint=False))

    def _density(self, radians: FloatArray) -> FloatArray:
        taken = self._predictive
        most = int(np.clip(_COMPONENTS / taken.m, _FEWEST, _MOST))
        return np.concatenate(
            taken.by_block(lambda rows: mixture.density(taken.components(rows, most), radians))
        )

    def _region(self, row: int, density: FloatArray, probability: float) -> FloatArray:
        """Arcs of highest density at one location; of joint draws from the density on the even grid."""
        origin, taken = self.range.origin, self._predictive
        if not taken.joint and probability < 1.0:
            return self._in_period(mixture.top_arcs(taken.components(slice(row, row + 1)), probability)[0])
        if self.width(0.99)[row] < _NARROW / TWO_PI * self.period and probability < 1.0:
            draws = self._in_period(taken.draws(slice(row, row + 1)).reshape(-1))
            return arcs.highest_density_regions(draws, probability, period=self.period, origin=origin)
        points = np.linspace(0.0, self.period, _GRID, endpoint=False)
        return arcs.regions_from_density(points, density, probability, self.period, origin)

    def _even_densities(self, rows: Sequence[int]) -> tuple[FloatArray, list[FloatArray]]:
        """An even grid round the circle in the user's period, and the density on it at some locations only."""
        grid, taken = np.linspace(0.0, TWO_PI, _GRID, endpoint=False), self._predictive
        found = [mixture.density(taken.components(slice(row, row + 1), _MOST), grid)[0] for row in rows]
        turn = TWO_PI / self.period
        return grid / turn, [density * turn for density in found]

    def _new_data(self) -> xr.Dataset:
        """The new locations, for files and for ArviZ."""
        data: dict[str, Any] = {"X": (("X_dim_0", "X_dim_1"), self.X_new)}
        assert isinstance(self._predictive, ClosedForm)
        return xr.Dataset(data | self._predictive.as_data(), attrs=self._predictive.as_attributes())

    def _results(self, probability: float) -> dict[str, FloatArray]:
        lower, upper = self.interval(probability).T
        width = self.width(probability)
        return {"mean": self.mean, "variance": self.variance, "lower": lower, "upper": upper, "width": width}

    def _flat(self, rows: slice) -> FloatArray:
        """Draws of a new observation in radians, (all draws, rows)."""
        block = self._predictive.draws(rows)
        return np.asarray(block, dtype=float).reshape(-1, block.shape[2])

    def _scored(self, y_true: npt.ArrayLike, score: Callable[[slice, FloatArray], FloatArray]) -> FloatArray:
        """A score at each location, by blocks; nan where the true angle is nan."""
        truth = self._truth(y_true)
        known = ~np.isnan(truth)
        filled = np.where(known, truth, 0.0)
        found = self._predictive.by_block(lambda rows: score(rows, filled[rows]))
        return np.where(known, np.concatenate(found), np.nan)

    def _truth(self, y_true: npt.ArrayLike) -> FloatArray:
        return read_truth(y_true, self.range, self._predictive.m)

    def _in_period(self, radians: npt.ArrayLike) -> FloatArray:
        """Convert to the user's period, in the type of the draws; what is nan stays nan."""
        values = np.asarray(radians)
        return np.asarray(self.range.from_radians(values), dtype=values.dtype)


def load(path: str | PathLike[str], *, kernel: Kernel | None = None) -> Posterior:
    """Read a posterior that `Posterior.save` wrote.

    A kernel that holds a function of yours cannot be written: give it again as `kernel`.

    >>> load("nowhere.nc")
    Traceback (most recent call last):
    vmqp.errors.InputError: nowhere.nc cannot be read (No such file or directory): check the path.
    """
    tree, facts = read_tree(path)
    return posterior_of(tree, facts, str(path), kernel)


def posterior_of(tree: xr.DataTree, facts: Facts, path: str, kernel: Kernel | None) -> Posterior:
    """The posterior in a file that was read; `path` is for messages."""
    if "predictions_constant_data" not in tree.children:
        if "angle" not in tree["posterior"]:
            raise InputError(f"{path} holds a learned model and no predictions: read it with vmqp.load.")
        return Posterior(tree, facts)
    new = tree["predictions_constant_data"].to_dataset()
    learned = tree.filter(lambda node: node.name != "predictions_constant_data")
    learned.attrs = tree.attrs
    predictive = ClosedForm.from_data(
        learned, read_kernel(tree, path, kernel), new, facts.names, facts.noise_of_new
    )
    return Posterior(learned, facts, predictive)
