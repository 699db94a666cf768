"""What is to be learned: coordinates, priors, the directions that need no factorisation, and errors at the door."""

import pickle

import numpy as np
import pytest

from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.learning import make_problem

H = priors.HalfNormal(1.0)
BROAD = priors.LogNormal(0.3, 0.8)
X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]])
ANGLES = np.array([0.1, 2.0, -3.0])
X_NEW = np.array([[0.5, 0.5], [3.0, 1.0]])


KERNEL = BROAD * kernels.Exponential(H)


def problem(kernel=KERNEL, new=X_NEW, **options):
    return make_problem(X, ANGLES, new, kernel=kernel, **options)


KERNELS = {
    "variance": KERNEL,
    "variance and nugget": BROAD * kernels.Exponential(H) + kernels.Nugget(H),
    "fixed nugget": BROAD * kernels.Exponential(H) + kernels.Nugget(0.1),
    "bounded variance": priors.Uniform(0.1, 5.0) * kernels.Exponential(H),
    "bounded nugget": BROAD * kernels.Exponential(H) + kernels.Nugget(priors.Uniform(0.0, 1.0)),
    "no variance": kernels.Exponential(H),
    "two kernels and a nugget": BROAD * kernels.Exponential(H) + H * kernels.Gaussian(2.0) + kernels.Nugget(H),
    "nothing learned": 2.0 * kernels.Exponential(1.0),
}  # fmt: skip
ALL_KERNELS = pytest.mark.parametrize("name", KERNELS)


# Names and blocks


def test_rows_are_the_observed_places_and_then_the_new_ones():
    given = problem()
    np.testing.assert_array_equal(given.X, np.concatenate([X, X_NEW]))
    np.testing.assert_array_equal(given.observed, ANGLES)
    assert (given.n, given.d) == (3, 5)


def test_names_and_blocks():
    given = problem(KERNELS["two kernels and a nugget"], noise=H)
    kernel = ("variance_1", "lengthscale_1", "variance_2", "nugget")
    assert given.learned == (*kernel, "concentration", "direction", "noise")
    assert given.exchanged == (*kernel, "concentration")
    others = ("concentration", "direction", "noise")
    assert list(given.priors) == [*kernel[:3], "lengthscale_2", "nugget", *others]
    assert given.priors["lengthscale_2"] == priors.Fixed(2.0)


def test_numbers_are_not_learned():
    given = problem(2.0 * kernels.Exponential(1.0), concentration=0.5, direction=1.0, noise=3.0)
    assert given.learned == given.exchanged == ()
    assert given.values(np.zeros(0)) == {}
    assert given.vector({}).shape == (0,)
    assert given.log_prior(np.zeros(0)) == 0.0
    assert given.concentration_of({}) == 0.5


def test_only_the_kernels_parameters_go_to_the_kernel():
    given = problem()
    values = given.values(np.array([0.1, 0.2, 0.3]))
    assert given.kernel_values(values).keys() == {"variance", "lengthscale"}
    assert given.concentration_of(values) == np.exp(0.3)


def test_latent_rows_are_the_new_ones_or_all_with_noise():
    assert problem().latent == slice(3, 5)
    assert problem(new=None).latent == slice(3, 3)
    assert problem(noise=H).latent == slice(0, 5)
    assert problem(noise=2.0, new=None).latent == slice(0, 3)


@pytest.mark.parametrize("new", [None, [], np.zeros((0, 2)), np.zeros((0, 7))])
def test_no_new_places(new):
    assert problem(new=new).d == 3


def test_without_drift_the_direction_means_nothing():
    given = problem(concentration=0.0)
    assert given.no_drift
    assert "direction" not in given.learned
    assert "direction" not in given.priors
    assert not problem(concentration=1e-3).no_drift
    assert not problem().no_drift


def test_a_direction_that_is_given_is_not_learned():
    given = problem(direction=2.0)
    assert "direction" not in given.learned
    assert given.priors["direction"] == priors.Fixed(2.0)


def test_defaults():
    given = problem()
    assert given.concentration == priors.HalfNormal(1.0)
    assert isinstance(given.direction, priors.UniformAngle)
    assert given.noise is None
    assert given.drift == "constant"


# Coordinates


@ALL_KERNELS
def test_values_and_vector_are_inverses(name):
    given = problem(KERNELS[name])
    rng = np.random.default_rng(1)
    for u in rng.normal(0.0, 3.0, (20, len(given.exchanged))):
        values = given.values(u)
        assert tuple(values) == given.exchanged
        np.testing.assert_allclose(given.vector(values), u, rtol=1e-10, atol=1e-12)
        more = values | {"noise": 1.0, "direction": 2.0}
        np.testing.assert_array_equal(given.vector(more), given.vector(values))
        for parameter, value in values.items():
            lower, upper = given.priors[parameter].support
            assert lower <= value <= upper


@pytest.mark.parametrize(
    "prior",
    [
        priors.HalfNormal(2.0),
        priors.LogNormal(0.5, 0.7),
        priors.Gamma(2.0, 3.0),
        priors.InverseGamma(3.0, 1.0),
        priors.Uniform(0.5, 4.0),
        priors.Squared(priors.HalfNormal(1.0)),
    ],
    ids=repr,
)
def test_the_prior_of_u_integrates_to_one(prior):
    """So it has the Jacobian of the transform; without it the integral is E[1/x], or diverges."""
    given = problem(1.0 * kernels.Exponential(prior), concentration=0.5)
    line = np.linspace(-45.0, 45.0, 9001)
    density = np.exp([given.log_prior(np.array([u])) for u in line])
    assert density.sum() * (line[1] - line[0]) == pytest.approx(1.0, rel=1e-9)


def test_the_prior_of_u_is_the_product_over_the_exchanged_parameters():
    given = problem(KERNELS["variance and nugget"], noise=H)
    u = np.array([0.4, -0.3, -1.2, 0.8])
    each = [given.priors[name] for name in given.exchanged]
    single = [problem(1.0 * kernels.Exponential(prior), concentration=0.5) for prior in each]
    total = sum(one.log_prior(u[[i]]) for i, one in enumerate(single))
    assert given.log_prior(u) == pytest.approx(total, rel=1e-14)
    assert given.log_prior(u, given.values(u)) == given.log_prior(u)


@pytest.mark.parametrize("far", [-800.0, 800.0])
def test_far_out_the_prior_is_small_and_never_nan(far):
    given = problem()
    for j in range(3):
        u = np.zeros(3)
        u[j] = far
        assert given.log_prior(u) < -100.0


# Directions that need no factorisation


def columns(given):
    """The cheap directions as the sets of coordinates that each of them moves together."""
    cheap = given.cheap_directions
    assert cheap.shape[0] == len(given.exchanged)
    np.testing.assert_allclose(cheap.T @ cheap, np.eye(cheap.shape[1]), atol=1e-15)
    for column in cheap.T:
        assert len(set(column[column != 0.0])) == 1
    return [{given.exchanged[i] for i in np.flatnonzero(column)} for column in cheap.T]


SCALES = {
    "variance": [{"variance"}],
    "variance and nugget": [{"variance", "nugget"}],
    "fixed nugget": [],
    "bounded variance": [],
    "bounded nugget": [],
    "no variance": [],
    "two kernels and a nugget": [{"variance_1", "variance_2", "nugget"}],
    "nothing learned": [],
}


@ALL_KERNELS
@pytest.mark.parametrize("drift", ["constant", "mean"])
def test_cheap_directions_are_the_common_scale_and_the_concentration(name, drift):
    assert columns(problem(KERNELS[name], drift=drift)) == [*SCALES[name], {"concentration"}]
    assert columns(problem(KERNELS[name], drift=drift, concentration=0.7)) == SCALES[name]


@ALL_KERNELS
def test_along_cheap_directions_the_kernel_matrix_is_a_multiple(name):
    """What `scale_of` says is so, and what it does not call a multiple is none."""
    given = problem(KERNELS[name])
    rng = np.random.default_rng(2)
    p, q = given.cheap_directions.shape

    def matrix(u):
        return given.bound.covariance(given.kernel_values(given.values(u)))

    for base in rng.normal(0.0, 0.5, (5, p)):
        u = base + given.cheap_directions @ rng.normal(0.0, 1.0, q)
        scale = given.scale_of(u, base)
        assert scale is not None
        np.testing.assert_allclose(matrix(u), scale * matrix(base), rtol=1e-12)
        for j, parameter in enumerate(given.exchanged):
            alone = base.copy()
            alone[j] += 0.5
            scale = given.scale_of(alone, base)
            if parameter == "concentration":
                assert scale == 1.0
            elif SCALES[name] == [{parameter}]:
                assert scale == pytest.approx(np.exp(0.5), rel=1e-14)
            else:
                assert scale is None


def test_scale_at_its_limits():
    given = problem(KERNELS["variance and nugget"])
    base = np.array([0.3, 0.0, -1.0, 0.0])
    assert given.scale_of(base, base) == 1.0
    assert given.scale_of(base + np.array([1000.0, 0.0, 1000.0, 0.0]), base) == np.inf
    assert given.scale_of(base + np.array([1e-12, 0.0, 0.0, 0.0]), base) == pytest.approx(1.0), (
        "rounding is no change"
    )
    assert given.scale_of(base + np.array([1e-6, 0.0, 0.0, 0.0]), base) is None
    assert given.scale_of(base + np.array([0.0, 1e-15, 0.0, 0.0]), base) is None, (
        "any change of a length scale is one"
    )


# Errors


def check(message, X=X, angles=ANGLES, new=X_NEW, **options):
    with pytest.raises(InputError, match=message) as caught:
        make_problem(X, angles, new, **{"kernel": H * kernels.Exponential(1.0)} | options)
    assert any(word in str(caught.value) for word in ("give", "drop")), "it says what to do"


def test_errors_at_the_door():
    check(r"kernel is 'gauss': give one such as", kernel="gauss")
    check(r"kernel is <class .*Exponential'>: give one such as", kernel=kernels.Exponential)
    check(r"X has 3 rows and there are 2 angles: give one angle for each row", angles=[0.0, 1.0])
    check(r"X has 2 columns and X_new has 1: give both the same columns", new=[[1.0]])
    check(r"X has shape \(3,\): give a table.*X\[:, None\]", X=X[:, 0])
    check(r"X_new has shape \(2,\): give a table.*X_new\[:, None\]", new=X_NEW[0])
    check(r"the angles have shape \(3, 1\): give one number in radians", angles=ANGLES[:, None])
    check(r"the angles have shape \(0,\): give one number", X=np.zeros((0, 2)), angles=[])
    check(r"the angle at row 1 is nan: give finite angles, or drop the row", angles=[0.0, np.nan, 1.0])
    check(r"the angle at row 2 is -inf", angles=[0.0, 1.0, -np.inf])
    check(r"drift = 'linear' was given: give 'constant' or 'mean'", drift="linear")


def test_errors_of_the_priors():
    check(r"concentration is -0.5: give a number or a prior of values from 0 up", concentration=-0.5)
    check(r"concentration is Uniform.*from 0 up", concentration=priors.Uniform(-1.0, 1.0))
    check(r"concentration must be finite but is 'strong'; give", concentration="strong")
    check(r"concentration must be finite but is nan; give", concentration=np.nan)
    check(r"direction is HalfNormal.*: give an angle in radians, or priors.UniformAngle", direction=H)
    check(r"direction must be finite but is None; give", direction=None)
    check(r"noise must be positive but is 0.0; give", noise=0.0)
    check(r"noise must be positive but is -2; give", noise=-2)
    check(r"noise must be positive but is True; give", noise=True)


def own(a, b, **parameters):
    return np.exp(-np.abs(a[:, 0] - b[:, 0]))


@pytest.mark.parametrize("name", ["concentration", "direction", "noise"])
def test_names_of_the_model_are_taken(name):
    check(
        rf"a kernel's parameter is called '{name}': give the kernel another name",
        kernel=kernels.Custom(own, **{name: H}),
    )


def test_places_that_are_not_finite_are_told():
    broken = X.copy()
    broken[1, 0] = np.nan
    with pytest.raises(
        InputError, match=r"the inputs have nan at row 1, column 0: remove that row or fill in"
    ):
        make_problem(broken, ANGLES, kernel=H * kernels.Exponential(1.0))


@pytest.mark.parametrize("angles", ["north", [0.0, "x", 1.0], [0.0, 1j, 2.0]])
def test_angles_that_are_no_numbers_are_told(angles):
    check(r"give", angles=angles)


def test_the_data_are_copied():
    X_own, angles = X.copy(), ANGLES.copy()
    given = make_problem(X_own, angles, kernel=H * kernels.Exponential(1.0))
    X_own[:], angles[:] = 99.0, 99.0
    np.testing.assert_array_equal(given.X, X)
    np.testing.assert_array_equal(given.observed, ANGLES)


# Pickling and fingerprints


@pytest.mark.parametrize("noise", [None, H])
def test_a_pickle_leaves_the_geometry_out(noise):
    given = problem(KERNELS["two kernels and a nugget"], noise=noise, column_names=["east", "north"])
    before = given.bound.covariance(given.kernel_values(given.values(np.zeros(5))))
    assert "bound" in given.__dict__
    again = pickle.loads(pickle.dumps(given))
    assert "bound" not in again.__dict__
    assert again.fingerprint == given.fingerprint
    assert (again.exchanged, again.learned, again.n, again.d) == (given.exchanged, given.learned, 3, 5)
    after = again.bound.covariance(again.kernel_values(again.values(np.zeros(5))))
    np.testing.assert_array_equal(after, before)


CHANGES = {
    "kernel": {"kernel": BROAD * kernels.Gaussian(H)},
    "a kernel's number": {"kernel": BROAD * kernels.Exponential(1.0)},
    "a kernel's prior": {"kernel": H * kernels.Exponential(H)},
    "a kernel's name": {"kernel": BROAD * kernels.Exponential(H, name="coast")},
    "a kernel's columns": {"kernel": BROAD * kernels.Exponential(H, columns=[0])},
    "drift": {"drift": "mean"},
    "concentration": {"concentration": priors.HalfNormal(2.0)},
    "no concentration": {"concentration": 0.0},
    "direction": {"direction": 0.0},
    "noise": {"noise": H},
    "a noise's number": {"noise": 2.0},
    "columns": {"column_names": ["east", "north"]},
    "new places": {"new": X_NEW[::-1]},
    "fewer new places": {"new": X_NEW[:1]},
    "no new places": {"new": None},
}


def test_every_ingredient_changes_the_fingerprint():
    prints = {name: problem(**change).fingerprint for name, change in CHANGES.items()}
    prints["as it is"] = problem().fingerprint
    prints["an angle"] = make_problem(
        X, ANGLES + np.array([0.0, 1e-15, 0.0]), X_NEW, kernel=KERNEL
    ).fingerprint
    prints["a place"] = make_problem(
        X + np.array([[0.0, 0.0], [0.0, 1e-15], [0.0, 0.0]]), ANGLES, X_NEW, kernel=KERNEL
    ).fingerprint
    prints["an observation less"] = make_problem(X[:2], ANGLES[:2], X_NEW, kernel=KERNEL).fingerprint
    assert len(set(prints.values())) == len(prints)
    assert problem().fingerprint == prints["as it is"]


def test_a_custom_function_changes_the_fingerprint():
    """A checkpoint must not go on with another function of the same name."""

    def twice(a, b):
        return 2.0 * own(a, b)

    twice.__name__ = own.__name__
    one, other = (problem(kernels.Custom(function)).fingerprint for function in (own, twice))
    assert one != other
