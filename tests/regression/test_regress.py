"""One call from data to a posterior: periods and ranges, frames, noise, repeated places."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import vmqp
from vmqp import circle, kernels, priors
from vmqp.errors import InputError

HOURS = np.array([23.0, 0.5, 2.0, 3.5, 1.0, 5.0, 7.5, 6.0])


# Periods and ranges


@pytest.mark.parametrize(("period", "unit"), [(24, "hours"), ("hours", "hours"), (24.5, "")])
def test_results_are_in_the_period_of_the_data(data, few, period, unit):
    X, _, X_new = data
    post = vmqp.regress(X, HOURS, X_new, period=period, **few)
    length = 24.5 if period == 24.5 else 24.0
    assert (post.period, post.unit) == (length, unit)
    np.testing.assert_allclose(post.y, HOURS, atol=1e-12)
    for angles in (post.draws, post.latent, post.mean, post.parameters["direction"]):
        assert ((angles >= 0.0) & (angles < length)).all()
    assert post.interval(1.0)[0].tolist() == [0.0, length]


def test_negative_angles_make_a_centred_range(data, few):
    X, y, X_new = data
    centred = np.where(y > 180.0, y - 360.0, y)
    one, other = (vmqp.regress(X, angles, X_new, period=360, **few) for angles in (y, centred))
    assert one.draws.max() > 180.0
    assert other.draws.min() < 0.0
    assert ((other.draws > -180.0) & (other.draws <= 180.0)).all()
    np.testing.assert_allclose(other.y, centred)
    np.testing.assert_allclose(circle.difference(one.draws, other.draws, 360.0), 0.0, atol=1e-6)


def test_another_unit_gives_the_same_draws(data, few):
    """A factor of two is exact in floating point, so that not a bit may differ."""
    X, y, X_new = data
    degrees, half = (vmqp.regress(X, y / f, X_new, period=360 / f, **few) for f in (1.0, 2.0))
    np.testing.assert_array_equal(half.draws * 2.0, degrees.draws)
    np.testing.assert_array_equal(half.interval(0.5) * 2.0, degrees.interval(0.5))
    np.testing.assert_array_equal(half.variance, degrees.variance)
    np.testing.assert_array_equal(half.parameters["lengthscale"], degrees.parameters["lengthscale"])
    np.testing.assert_allclose(half.density(np.arange(0.0, 180.0)), degrees.density(np.arange(0, 360, 2)) * 2)


# Rotation and order: the same posterior up to Monte-Carlo error

SCATTERED = np.array([0.0, 0.7, 1.1, 2.4, 3.0, 4.2, 4.9, 6.0])[:, None]
ANGLES = np.mod(40.0 * SCATTERED[:, 0] + [330, 340, 325, 350, 335, 345, 330, 328], 360.0)
PLACES = np.array([[0.4], [1.8], [3.6], [5.5]])
MODEL = {
    "period": 360,
    "kernel": priors.HalfNormal(1.0) * kernels.Exponential(3.0) + kernels.Nugget(0.05),
    "chains": 2,
    "draws": 200,
    "warmup": 100,
    "progress": False,
}


def standard_error(post):
    """Of the circular mean at each location, in degrees.

    Joint draws have effective sample sizes; in closed form it is what the finite number of parameter draws leaves.
    """
    if not post.joint:
        return np.rad2deg(post._predictive.monte_carlo_error(post.diagnostics()["ess"].min()))
    effective = post.diagnostics().loc[[f"angle[{8 + i}]" for i in range(4)], "ess"].to_numpy()
    return circle.standard_deviation(post.draws.reshape(-1, 4), period=360.0, axis=0) / np.sqrt(effective)


@pytest.mark.filterwarnings("ignore::vmqp.ConvergenceWarning")
@pytest.mark.parametrize(("transductive", "known"), [(False, 3.0), (True, 8.0)])
def test_turning_the_data_and_the_order_of_rows(transductive, known):
    """Eight means with limits of 5 standard errors: by the normal law a false alarm in 2·10⁵ runs; seeds are fixed.

    Standard errors are at most a few degrees: a wrong row, or a turn that is lost, is some 20 degrees or more off.
    """
    options = MODEL | {"transductive": transductive}
    post = vmqp.regress(SCATTERED, ANGLES, PLACES, **options)
    turned = vmqp.regress(SCATTERED, np.mod(ANGLES + 137.0, 360.0), PLACES, seed=1, **options)
    rows, places = np.random.default_rng(2).permutation(8), np.array([2, 0, 3, 1])
    mixed = vmqp.regress(SCATTERED[rows], ANGLES[rows], PLACES[places], seed=2, **options)
    own = standard_error(post)
    assert own.max() < known, "too uncertain to see a fault"
    gap = circle.difference(turned.mean, post.mean + 137.0, 360.0)
    assert (np.abs(gap) < 5.0 * np.hypot(own, standard_error(turned))).all()
    gap = circle.difference(mixed.mean, post.mean[places], 360.0)
    assert (np.abs(gap) < 5.0 * np.hypot(own[places], standard_error(mixed))).all()
    np.testing.assert_array_equal(mixed.y, post.y[rows])


# Frames


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    return pd.DataFrame({"east": rng.normal(size=8), "north": rng.normal(size=8), "sort": list("aabbaabb")})


def test_arrays_and_frames_give_the_same_draws(frame, data, few):
    _, y, _ = data
    numbers = frame[["east", "north"]]
    new = numbers[:2] + 0.5
    expected = vmqp.regress(numbers.to_numpy(), list(y), new.to_numpy(), period=360, **few)
    assert expected.column_names is None
    for give in (lambda table: table, pl.from_pandas):
        post = vmqp.regress(give(numbers), give(pd.Series(y)), give(new), period=360, **few)
        np.testing.assert_array_equal(post.draws, expected.draws)
        assert post.column_names == ("east", "north")
        assert type(post.to_frame()) is type(give(new))


def test_columns_of_new_places_are_matched_by_name(frame, data, few):
    _, y, _ = data
    new = pd.DataFrame({"east": [0.1, 0.2], "north": [5.0, 6.0], "sort": ["b", "c"]})
    other = new[["sort", "north", "east"]].assign(remark="extra")
    one, two, three = (
        vmqp.regress(frame, y, table, period=360, **few) for table in (new, other, pl.from_pandas(other))
    )
    np.testing.assert_array_equal(one.X_new, [[0.1, 5.0, 1.0], [0.2, 6.0, 2.0]])
    assert one.categories == {2: ("a", "b", "c")}
    for post in (two, three):
        np.testing.assert_array_equal(post.X_new, one.X_new)
        np.testing.assert_array_equal(post.draws, one.draws)
    assert one.to_frame()["sort"].tolist() == ["b", "c"]


def test_data_that_change_later_do_not_matter(data, few):
    X, y, X_new = data
    regressor = vmqp.CircularRegressor(period=360, **few).fit(X, y)
    X[:], y[:] = 0.0, 0.0
    expected = vmqp.regress(np.arange(8.0)[:, None], regressor.posterior(X_new).y, X_new, period=360, **few)
    np.testing.assert_array_equal(regressor.posterior(X_new).draws, expected.draws)


# Noise


def spread(post):
    """The length of the mean vector of observation minus process, at each place: 1 where they are the same."""
    apart = (post.draws - post.latent) / post.period * 2.0 * np.pi
    return np.abs(np.exp(1j * apart).mean(axis=(0, 1)))


NOISY = {"period": 360, "chains": 1, "draws": 200, "warmup": 20, "progress": False}
CLOSE, FAR = 1e6, 1e-3
"""χ of hardly any noise and of nothing but noise.

The mean vector of 200 uniform directions is longer than 0.4 with probability exp(−200 · 0.16) = 10⁻¹⁴.
"""


@pytest.mark.parametrize("given", [FAR, priors.Uniform(FAR, 2.0 * FAR)], ids=["number", "prior"])
def test_one_noise_for_all_is_that_of_new_observations_too(data, given):
    X, y, X_new = data
    post = vmqp.regress(X, y, X_new, noise=given, **NOISY)
    assert (spread(post) < 0.4).all()
    assert ("noise" in post.parameters) == isinstance(given, priors.Prior)
    assert "Nugget" not in post.attributes["kernel"]


def test_noise_of_each_row_says_nothing_about_new_ones(data):
    X, y, X_new = data
    post = vmqp.regress(X, y, X_new, noise=np.full(8, FAR), **NOISY)
    np.testing.assert_array_equal(post.draws, post.latent)


def test_noise_of_each_row_acts_on_its_row(learner_of, data):
    X, y, X_new = data
    known = [FAR, CLOSE] * 4
    for given in (known, np.array(known), pd.Series(known), pl.Series(known)):
        np.testing.assert_array_equal(
            learner_of(X, y, X_new, period=360, noise=given).problem.noise_rows, known
        )


def test_noise_of_new_observations(data, tmp_path):
    X, y, X_new = data
    post = vmqp.regress(X, y, X_new, noise=np.full(8, 5.0), noise_new=[CLOSE, FAR], **NOISY)
    near, far = spread(post)
    assert near > 0.999
    assert far < 0.4
    grid = np.arange(0.0, 360.0)
    np.testing.assert_allclose(post.density(grid)[1], 1.0 / 360.0, rtol=0.01)
    post.save(tmp_path / "run.nc")
    np.testing.assert_array_equal(vmqp.load(tmp_path / "run.nc").draws, post.draws)
    assert (spread(vmqp.regress(X, y, X_new, noise=5.0, noise_new=FAR, **NOISY)) < 0.4).all()


# Repeated places


def test_repeated_places_need_noise_or_a_nugget(data):
    X, y, _ = data
    X[5] = X[2]
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(1.0)
    with pytest.raises(InputError, match=r"row 2 of X and row 5 of X are the same place.*add noise"):
        vmqp.regress(X, y, [[9.0]], period=360, kernel=kernel)
    with pytest.raises(InputError, match=r"row 0 of X and row 1 of X_new are the same place.*add noise"):
        vmqp.regress(data[0][:2], y[:2], [[9.0], [0.0]], period=360, kernel=kernel, transductive=True)


def test_an_observed_location_is_known_where_there_is_neither_noise_nor_nugget(data, few):
    X, y, _ = data
    kernel = priors.HalfNormal(1.0) * kernels.Exponential(1.0)
    post = vmqp.regress(X, y, X[[3, 0, 0]], period=360, kernel=kernel, **few)
    np.testing.assert_allclose(circle.difference(post.mean, y[[3, 0, 0]], 360.0), 0.0, atol=1e-9)
    assert post.variance.max() < 1e-9


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": "exponential + nugget"},
        {"kernel": 1.0 * kernels.Exponential(1.0), "noise": 10.0},
        {"noise": priors.HalfNormal(50.0)},
        {"noise": np.full(8, 10.0)},
    ],
    ids=["default", "nugget", "noise", "learned noise", "noise of each row"],
)
def test_repeated_places_with_noise_or_a_nugget(data, few, options):
    X, y, _ = data
    X[5] = X[2]
    post = vmqp.regress(X, y, X[[2]], period=360, **options, **few)
    assert np.isfinite(post.draws).all()


# Gaps in y

GAPS = {
    "array": lambda X, y: (X, y),
    "lists": lambda X, y: (X.tolist(), [None if np.isnan(angle) else angle for angle in y]),
    "pandas": lambda X, y: (pd.DataFrame({"a": X[:, 0]}), pd.Series(y)),
    "polars": lambda X, y: (pl.DataFrame({"a": X[:, 0]}), pl.Series(y, nan_to_null=True)),
}


@pytest.mark.parametrize("kind", GAPS)
def test_rows_without_an_angle_are_predicted(data, few, kind):
    X, y, _ = data
    options = {"period": 360, "kernel": "2 * exponential(3) + nugget(0.01)", "concentration": 0, **few}
    gaps = np.isin(np.arange(8), (0, 5))
    found = vmqp.regress(*GAPS[kind](X, np.where(gaps, np.nan, y)), **options)
    expected = vmqp.regress(X[~gaps], y[~gaps], X[gaps], **options)
    np.testing.assert_array_equal(found.X_new, X[gaps])
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_array_equal(found.mean, expected.mean)


def test_noise_of_each_row_is_that_of_the_rows_with_an_angle(data, few):
    X, y, _ = data
    noise, gaps = np.linspace(10.0, 80.0, 8), np.arange(8) == 2
    options = {"period": 360, "kernel": "2 * exponential(3)", "concentration": 0, **few}
    found = vmqp.regress(X, np.where(gaps, np.nan, y), noise=noise, **options)
    expected = vmqp.regress(X[~gaps], y[~gaps], X[gaps], noise=noise[~gaps], **options)
    np.testing.assert_array_equal(found.mean, expected.mean)


def test_a_model_still_refuses_gaps(data):
    X, y, _ = data
    with pytest.raises(InputError, match="row 3 of y holds NaN"):
        vmqp.CircularRegressor(period=360).fit(X, np.where(np.arange(8) == 3, np.nan, y))
