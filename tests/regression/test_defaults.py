"""What is chosen for those who choose nothing: kernel, priors, drift; and what replaces it."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

import vmqp
from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.learning import Method

NUGGET = kernels.Nugget(priors.HalfNormal(0.1))
RNG = np.random.default_rng(5)
PLAIN = RNG.normal(size=(12, 2))
PLAIN = (PLAIN - PLAIN.mean(axis=0)) / PLAIN.std(axis=0)
WIDE, UNLIKE = PLAIN * [1.0, 2.9], PLAIN * [3.1, 1.0]
ANGLES = RNG.uniform(0.0, 6.0, 12)


def log_normal(distances):
    return priors.LogNormal(math.log(0.5 * np.median(distances)), 1.0)


def same(one, other):
    """Equal up to the last digits of the numbers in them."""
    assert type(one) is type(other)
    if isinstance(one, priors.LogNormal):
        assert math.isclose(one.mu, other.mu, rel_tol=1e-9)
        assert one.sigma == other.sigma
    elif isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            same(a, b)
    else:
        assert one == other


def lengthscale(kernel):
    """The length scale's prior; the rest of the default kernel must be as documented."""
    scaled, nugget = kernel.parts()
    assert nugget == NUGGET
    assert scaled.variance == priors.HalfNormal(1.0)
    assert isinstance(scaled.kernel, kernels.Exponential | kernels.Matern32 | kernels.Matern52)
    return scaled.kernel.lengthscale


def test_columns_of_like_spread_share_a_length_scale_about_half_of_the_median_distance(learner_of):
    problem = learner_of(WIDE, ANGLES, [[0.0, 0.0]]).problem
    same(lengthscale(problem.kernel), log_normal(pdist(WIDE)))


def test_columns_of_unlike_spread_have_a_length_scale_each(learner_of):
    problem = learner_of(UNLIKE, ANGLES, [[0.0, 0.0]]).problem
    own = tuple(log_normal(math.sqrt(2.0) * pdist(UNLIKE[:, [i]])) for i in (0, 1))
    same(lengthscale(problem.kernel), own)
    assert {"lengthscale_0", "lengthscale_1"} <= set(problem.learned)


def test_length_scales_carry_the_names_of_columns(learner_of):
    frame = pd.DataFrame(UNLIKE, columns=["gradient", "height"])
    learned = learner_of(frame, ANGLES, frame[:1] + 0.5).problem.learned
    assert {"lengthscale_gradient", "lengthscale_height"} <= set(learned)


def test_prior_follows_the_unit_of_the_inputs(learner_of):
    metres, kilometres = (
        lengthscale(learner_of(WIDE * unit, ANGLES, [[0.0, 0.0]]).problem.kernel) for unit in (1000.0, 1.0)
    )
    assert math.isclose(metres.mu, kilometres.mu + math.log(1000.0), rel_tol=1e-9)


def test_text_columns_become_a_factor_of_their_own(learner_of):
    frame = pd.DataFrame({"height": WIDE[:, 0], "species": list("abcabcabcabc")})
    new = pd.DataFrame({"species": ["a", "unheard"], "height": [0.0, 0.1]})
    problem = learner_of(frame, ANGLES, new).problem
    scaled, nugget = problem.kernel.parts()
    assert nugget == NUGGET
    distance, category = scaled.kernel.parts() if isinstance(scaled, kernels.Scaled) else scaled.parts()
    assert isinstance(category, kernels.Categorical)
    assert category.columns == (1,)
    assert (distance.kernel if isinstance(distance, kernels.Scaled) else distance).columns == (0,)
    covariance = problem.bound.covariance(
        {name: 0.5 for name in problem.bound.parameters if name != "correlation"} | {"correlation": 0.0}
    )
    assert covariance[0, 3] > 0.0, "rows 0 and 3 are of one species"
    assert covariance[0, 1] == 0.0


def test_a_category_that_was_not_observed_is_like_no_other():
    """Nothing is kriged to it, without a correlation between species."""
    frame = pd.DataFrame({"height": WIDE[:, 0], "species": list("abcabcabcabc")})
    kernel = (
        2.0 * kernels.Exponential(1.0, columns=["height"]) * kernels.Categorical(0.0, columns=["species"])
    )
    new = pd.DataFrame({"species": ["a", "unheard"], "height": [0.0, 0.0]})
    post = vmqp.regress(frame, ANGLES, new, kernel=kernel, concentration=0, progress=False)
    assert post.variance[0] < 0.9
    assert post.variance[1] == pytest.approx(1.0, abs=1e-12)
    assert np.isnan(post.mean[1])


def test_only_text_columns(learner_of):
    frame = pd.DataFrame({"species": list("abcabcabcabc")})
    problem = learner_of(frame, ANGLES, frame[:2]).problem
    assert {"variance", "correlation", "nugget"} <= set(problem.learned)


LON_LAT = np.array([[0.0, 50.0], [10.0, 50.0], [0.0, 60.0], [10.0, 60.0]])


def haversine(a, b):
    lon, lat = np.radians(a - b)
    h = np.sin(lat / 2) ** 2 + np.cos(np.radians(a[1])) * np.cos(np.radians(b[1])) * np.sin(lon / 2) ** 2
    return 2.0 * 6371.0088 * np.arcsin(np.sqrt(h))


def test_geographic_distances_are_in_km(learner_of):
    problem = learner_of(LON_LAT, ANGLES[:4], [[5.0, 55.0]], metric="geographic").problem
    apart = [haversine(a, b) for i, a in enumerate(LON_LAT) for b in LON_LAT[:i]]
    scale = lengthscale(problem.kernel)
    assert math.isclose(scale.mu, math.log(0.5 * np.median(apart)), rel_tol=1e-6)


def test_geographic_columns_are_told_apart_by_their_names(learner_of):
    right = pd.DataFrame(LON_LAT, columns=["lon", "lat"])
    wrong = right[["lat", "lon"]]
    new = pd.DataFrame({"lon": [5.0], "lat": [55.0]})
    values = {"variance": 1.0, "lengthscale": 500.0, "nugget": 0.1}
    one, other = (
        learner_of(frame, ANGLES[:4], new, metric="geographic").problem.bound.covariance(values)
        for frame in (right, wrong)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("transductive", "default"), [(False, "mean"), (True, "constant")])
def test_drift(learner_of, transductive, default):
    options = {"transductive": transductive}
    assert learner_of(WIDE, ANGLES, [[0.0, 0.0]], **options).problem.drift == default
    for drift in ("mean", "constant"):
        assert learner_of(WIDE, ANGLES, [[0.0, 0.0]], drift=drift, **options).problem.drift == drift


def test_new_locations_belong_to_the_model_where_it_is_transductive(learner_of):
    new = np.zeros((3, 2))
    assert learner_of(WIDE, ANGLES, new).problem.d == 12
    problem = learner_of(WIDE, ANGLES, new, transductive=True).problem
    assert (problem.n, problem.d) == (12, 15)
    np.testing.assert_array_equal(problem.X[12:], new)


def test_drift_is_learned_and_can_be_fixed(learner_of):
    assert {"concentration", "direction"} <= set(learner_of(WIDE, ANGLES, [[0.0, 0.0]]).problem.learned)
    none = learner_of(WIDE, ANGLES, [[0.0, 0.0]], concentration=0).problem
    assert not {"concentration", "direction"} & set(none.learned)


@pytest.mark.parametrize("quarter", [90, 90.0, np.int64(90), np.float32(90.0), priors.Fixed(90.0), -270])
def test_a_fixed_direction_is_in_the_period_of_the_data(learner_of, quarter):
    problem = learner_of(WIDE, 50.0 * ANGLES, [[0.0, 0.0]], period=360, direction=quarter).problem
    assert math.isclose(problem.direction.typical(), math.pi / 2)


# What replaces the defaults


def test_text_is_the_kernel_with_defaults_for_what_it_leaves_out(learner_of):
    kernel = learner_of(WIDE, ANGLES, [[0.0, 0.0]], kernel="exponential + nugget").problem.kernel
    same(lengthscale(kernel), log_normal(pdist(WIDE)))
    stated = learner_of(WIDE, ANGLES, [[0.0, 0.0]], kernel="2 * gaussian(0.5)").problem.kernel
    assert stated == 2.0 * kernels.Gaussian(0.5)


def test_text_takes_the_metric(learner_of):
    problem = learner_of(LON_LAT, ANGLES[:4], [[5.0, 55.0]], kernel="matern32", metric="geographic").problem
    assert "metric='geographic'" in repr(problem.kernel)


def test_a_kernel_is_taken_as_it_is(learner_of):
    kernel = 1.5 * kernels.Matern32(priors.LogNormal(0.0, 1.0), columns=[1])
    assert learner_of(WIDE, ANGLES, [[0.0, 0.0]], kernel=kernel).problem.kernel is kernel


def test_columns_of_a_kernel_are_those_of_the_frame(learner_of):
    frame = pd.DataFrame(WIDE, columns=["east", "north"])
    kernel = 1.0 * kernels.Gaussian(1.0, columns=["north"])
    covariance = learner_of(frame, ANGLES, frame[:1] + 1.0, kernel=kernel).problem.bound.covariance({})
    assert math.isclose(covariance[0, 1], math.exp(-0.5 * (WIDE[0, 1] - WIDE[1, 1]) ** 2))


def test_a_kernel_does_not_take_codes_of_categories_for_numbers(learner_of):
    frame = pd.DataFrame({"height": WIDE[:, 0], "species": list("abcabcabcabc")})
    with pytest.raises(InputError, match="Exponential would take differences in the text column 'species'"):
        learner_of(frame, ANGLES, frame[:1], kernel=1.0 * kernels.Exponential(1.0))
    kernel = (
        1.0 * kernels.Exponential(1.0, columns=["height"]) * kernels.Categorical(0.5, columns=["species"])
    )
    frame.loc[0, "height"] += 0.01
    assert learner_of(frame, ANGLES, frame[:1].assign(height=9.0), kernel=kernel).problem.kernel is kernel


def test_a_metric_that_a_kernel_does_not_have_is_refused(learner_of):
    with pytest.raises(InputError, match=r"metric='geographic' was given, but no part of the kernel has it"):
        learner_of(
            LON_LAT, ANGLES[:4], LON_LAT + 1.0, kernel=1.0 * kernels.Gaussian(1.0), metric="geographic"
        )


def test_sampler_and_method(learner_of):
    new = [[0.0, 0.0]]
    assert learner_of(WIDE, ANGLES, new).method == Method(sampler="hybrid")
    assert learner_of(WIDE, ANGLES, new, sampler="augmented").method == Method(sampler="augmented")
    method = Method(sampler="heatbath", bridge=5)
    assert learner_of(WIDE, ANGLES, new, method=method, precision="dense").method is method


def test_warm_up_and_thinning_reach_the_learner(learner_of):
    learner = learner_of(WIDE, ANGLES, [[0.0, 0.0]], warmup=7, thin=3)
    assert (learner.warmup, learner.thin) == (7, 3)
