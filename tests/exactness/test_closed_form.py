"""The prediction of one location is exact: against quadrature, against the joint sampler, and whatever else is asked.

Reference matrices are written out in NumPy alone. Parameters are fixed numbers, so that nothing but the predictive
distribution is compared; with noise, the latent angles at the observed locations are drawn.
"""

import numpy as np
import pytest
from scipy.special import i0

import vmqp
from vmqp import kernels, model, priors
from vmqp.posterior import predictive
from vmqp.posterior.predictive import ClosedForm
from vmqp.precision import kriging
from vmqp.precision.kriging import Kriging
from vmqp.scores import relative_ess

# Chains are short: what is compared holds for any draws of the parameters.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.ConvergenceWarning")

GRID = np.linspace(0.0, 2.0 * np.pi, 721)[:-1]
KAPPA, NU = 0.8, 2.1
QUIET = {"concentration": KAPPA, "direction": NU, "progress": False, "chains": 2, "draws": 20, "warmup": 10}


def distances(X, columns=slice(None)):
    part = X[:, columns]
    return np.sqrt(((part[:, None] - part[None]) ** 2).sum(axis=-1))


def great_circle(X):
    longitude, latitude = np.radians(X.T)
    x = np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )
    return 6371.0088 * 2.0 * np.arcsin(0.5 * np.sqrt(((x[:, :, None] - x[:, None]) ** 2).sum(axis=0)))


def nugget(X, variance):
    return variance * np.eye(len(X))


KERNELS = {
    "exponential": (1.3 * kernels.Exponential(2.0), lambda X: 1.3 * np.exp(-distances(X) / 2.0)),
    "nugget": (
        0.9 * kernels.Exponential(1.5) + kernels.Nugget(0.3),
        lambda X: 0.9 * np.exp(-distances(X) / 1.5) + nugget(X, 0.3),
    ),
    "product": (
        1.1 * kernels.Exponential(2.0, columns=[0]) * kernels.Gaussian(1.5, columns=[1])
        + kernels.Nugget(0.1),
        lambda X: (
            1.1 * np.exp(-distances(X, [0]) / 2.0 - 0.5 * (distances(X, [1]) / 1.5) ** 2) + nugget(X, 0.1)
        ),
    ),
    "sum": (
        0.6 * kernels.Matern32(1.0) + 0.5 * kernels.Exponential(4.0) + kernels.Nugget(0.05),
        lambda X: (
            0.6 * (1.0 + np.sqrt(3.0) * distances(X)) * np.exp(-np.sqrt(3.0) * distances(X))
            + 0.5 * np.exp(-distances(X) / 4.0)
            + nugget(X, 0.05)
        ),
    ),
    "geographic": (
        1.2 * kernels.Exponential(900.0, metric="geographic") + kernels.Nugget(0.2),
        lambda X: 1.2 * np.exp(-great_circle(X) / 900.0) + nugget(X, 0.2),
    ),
}
DRIFTS = ("mean", "constant")


def energy(angles, M, drift):
    """U of the model, written out: the double sum with the diagonal and the pull of the drift."""
    weights = M.sum(axis=1) if drift == "mean" else np.ones(len(M))
    pairs = np.cos(angles[..., :, None] - angles[..., None, :])
    return 0.5 * (M * pairs).sum(axis=(-2, -1)) - KAPPA * (weights * np.cos(angles - NU)).sum(axis=-1)


def by_quadrature(matrix, X, angles, new, drift):
    """Density of the angle at a new location on GRID, from the model of all locations."""
    M = np.linalg.inv(matrix(np.vstack([X, new])))
    every = np.concatenate([np.tile(angles, (len(GRID), 1)), GRID[:, None]], axis=1)
    level = -energy(every, M, drift)
    density = np.exp(level - level.max())
    return density / (density.mean() * 2.0 * np.pi)


def fitted(kernel, X, y, drift, **more):
    return vmqp.CircularRegressor(kernel=kernel, drift=drift, **QUIET | more).fit(X, y)


class TestQuadrature:
    X, y, new = np.array([[0.2, 1.0], [1.4, 0.3]]), np.array([0.4, 1.9]), np.array([[0.9, 0.1]])

    @pytest.mark.parametrize("drift", DRIFTS)
    @pytest.mark.parametrize("name", KERNELS)
    def test_two_observed_and_one_new(self, name, drift):
        kernel, matrix = KERNELS[name]
        post = fitted(kernel, self.X, self.y, drift).posterior(self.new)
        expected = by_quadrature(matrix, self.X, self.y, self.new, drift)
        at = GRID[::7] + 0.003  # no even grid round the circle: its spacing would be respected
        found = post.density(at)[0]
        shifted = by_quadrature_at(matrix, self.X, self.y, self.new, drift, at)
        np.testing.assert_allclose(found, shifted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(post.log_score([at[5]]), np.log(shifted[5]), rtol=0, atol=1e-10)
        moment = (expected * np.exp(1j * GRID)).mean() * 2.0 * np.pi
        np.testing.assert_allclose(post.mean, np.angle(moment) % (2.0 * np.pi), atol=1e-10)
        np.testing.assert_allclose(post.variance, 1.0 - abs(moment), atol=1e-10)

    @pytest.mark.parametrize("drift", DRIFTS)
    def test_noise_about_given_latent_angles(self, drift):
        """With χ the observation is the convolution of two von Mises distributions, here by a sum over the circle."""
        kernel, matrix = KERNELS["nugget"]
        chi = 6.0
        fit = fitted(kernel, self.X, self.y, drift, noise=chi)
        post = fit.posterior(self.new)
        latent = post.to_datatree()["posterior"]["latent"].values.reshape(-1, 2)
        spread = np.exp(chi * np.cos(GRID[:, None] - GRID)) / (2.0 * np.pi * i0(chi))
        angles = [by_quadrature(matrix, self.X, phi, self.new, drift) for phi in latent]
        expected = spread @ np.mean(angles, axis=0) * (2.0 * np.pi / len(GRID))
        found = np.array([post.density([angle])[0, 0] for angle in GRID[::60]])
        np.testing.assert_allclose(found, expected[::60], rtol=1e-10)

    def test_planted_faults_are_seen(self, monkeypatch):
        """The nugget of the new row left out of s², and the drift with its sign swapped."""
        kernel, matrix = KERNELS["nugget"]
        expected = by_quadrature_at(matrix, self.X, self.y, self.new, "mean", GRID[:3] + 0.003)
        right = model.predictive_field

        def without_nugget(kriged, ones, variance, *others):
            return right(kriged, ones, variance - 0.3, *others)

        def other_sign(kriged, ones, variance, concentration, *others):
            return right(kriged, ones, variance, -concentration, *others)

        for fault in (without_nugget, other_sign):
            monkeypatch.setattr(model, "predictive_field", fault)
            found = fitted(kernel, self.X, self.y, "mean").posterior(self.new).density(GRID[:3] + 0.003)[0]
            assert np.abs(found - expected).max() > 1e-3


def by_quadrature_at(matrix, X, angles, new, drift, at):
    """The same density at other angles: normalized by the sum over GRID."""
    M = np.linalg.inv(matrix(np.vstack([X, new])))

    def level(points):
        return -energy(np.concatenate([np.tile(angles, (len(points), 1)), points[:, None]], axis=1), M, drift)

    whole = level(GRID)
    return np.exp(level(at) - whole.max()) / (np.exp(whole - whole.max()).mean() * 2.0 * np.pi)


def z_scores(post, joint):
    """Of the mean cosine and sine: closed form against joint draws, in standard errors of the latter.

    With noise the closed form is a mean over drawn latent angles too; its own error is added.
    """
    draws = np.exp(1j * joint.draws[..., 0])
    moment = np.mean((1.0 - post.variance) * np.exp(1j * post.mean))
    components = post._predictive.components(slice(0, 1)).moment()[:, 0]
    scores = []
    for part in (np.real, np.imag):
        values = part(draws)
        worth = values.size * min(1.0, relative_ess(values))
        own = part(components)
        chains = own.reshape(joint.draws.shape[0], -1)
        extra = own.var() / (own.size * min(1.0, relative_ess(chains))) if own.std() > 1e-12 else 0.0
        scores.append((part(moment) - values.mean()) / np.sqrt(values.var() / worth + extra))
    return np.abs(scores)


class TestJointSampler:
    """Thirty observed locations and one new: the joint sampler has the same distribution.

    Two z-scores of each of 12 cases; beyond 4.9 one of them lies by chance with a probability below 24 × 1e-6. Draws of
    a chain are correlated, which is allowed for by their effective number.
    """

    LIMIT = 4.9
    rng = np.random.default_rng(7)
    X = rng.uniform(0.0, 4.0, (30, 2))
    y = np.mod(1.2 * X[:, 0] + 0.5 * rng.normal(size=30), 2.0 * np.pi)
    new = np.array([[2.1, 1.7]])

    def both(self, kernel, drift, **more):
        options = {"chains": 4, "draws": 1500, "warmup": 100, "parameter_draws": 4000} | more
        one = fitted(kernel, self.X, self.y, drift, **options).posterior(self.new)
        joint = fitted(kernel, self.X, self.y, drift, transductive=True, **options).posterior(self.new)
        return one, joint

    @pytest.mark.statistical
    @pytest.mark.parametrize("drift", DRIFTS)
    @pytest.mark.parametrize("name", [*KERNELS, "noise"])
    def test_agrees(self, name, drift):
        kernel, _ = KERNELS.get(name, KERNELS["nugget"])
        more = {"noise": 5.0} if name == "noise" else {}
        scale = {"X": self.X * 3.0} if name == "geographic" else {}
        X = scale.get("X", self.X)
        own = type("Case", (TestJointSampler,), {"X": X, "new": self.new * (3.0 if scale else 1.0)})()
        assert z_scores(*own.both(kernel, drift, **more)).max() < self.LIMIT

    @pytest.mark.statistical
    def test_faults_are_seen(self, monkeypatch):
        """The nugget left out among the observed locations, and the drift's sign swapped a little way off them."""
        kernel, _ = KERNELS["nugget"]
        right = model.predictive_field

        def without_nugget(kriged, ones, variance, *others):
            return right(kriged, ones, variance - 0.3, *others)

        def other_sign(kriged, ones, variance, concentration, *others):
            return right(kriged, ones, variance, -concentration, *others)

        for fault, new in ((without_nugget, self.new), (other_sign, np.array([[5.5, 5.5]]))):
            case = type("Case", (TestJointSampler,), {"new": new})()
            one, joint = case.both(kernel, "mean")
            assert z_scores(one, joint).max() < self.LIMIT
            with monkeypatch.context() as planted:
                planted.setattr(model, "predictive_field", fault)
                wrong = fitted(kernel, self.X, self.y, "mean").posterior(new)
                assert z_scores(wrong, joint).max() > 2 * self.LIMIT


class TestNeighbors:
    """Conditioning on the nearest observed locations."""

    rng = np.random.default_rng(3)
    X = rng.uniform(0.0, 4.0, (60, 2))
    new = rng.uniform(0.0, 4.0, (9, 2))
    values = rng.normal(size=(3, 60, 2))

    @pytest.mark.parametrize("name", KERNELS)
    @pytest.mark.parametrize("k", [60, 12])
    def test_against_numpy(self, name, k):
        kernel, matrix = KERNELS[name]
        made = Kriging(kernel, self.X, self.values, {}, neighbors=k)
        found = made.at(self.new)
        for i, new in enumerate(self.new):
            near = np.arange(60)
            if k < 60:
                every = matrix(np.vstack([self.X, new]))
                near = np.sort(np.argsort(-every[-1, :60])[:k])
                if name in ("product", "sum"):  # correlation and distance need not have the same order there
                    near = np.sort(nearest_rows(kernel, self.X, new, k))
            K = matrix(np.vstack([self.X[near], new]))
            weights = np.linalg.solve(K[:-1, :-1], K[:-1, -1])
            np.testing.assert_allclose(found.variance[:, i], K[-1, -1] - weights @ K[:-1, -1], rtol=1e-9)
            np.testing.assert_allclose(found.ones[:, i], weights.sum(), rtol=1e-9)
            np.testing.assert_allclose(
                found.mean[:, :, i], weights @ self.values[:, near], rtol=1e-8, atol=1e-12
            )

    def test_a_function_of_the_user(self):
        kernel, _ = KERNELS["nugget"]
        own = 0.9 * kernels.Custom(lambda a, b: np.exp(-np.sqrt(((a - b) ** 2).sum(axis=-1)) / 1.5))
        for k in (60, 12):
            one = Kriging(kernel, self.X, self.values, {}, neighbors=k).at(self.new)
            other = Kriging(own + kernels.Nugget(0.3), self.X, self.values, {}, neighbors=k).at(self.new)
            if k == 60:
                np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
            np.testing.assert_allclose(one.variance, other.variance, rtol=1e-9 if k == 60 else 0.05)

    def test_neighbors_of_the_wrong_row_are_seen(self, monkeypatch):
        """A planted fault: rows of the tree shifted by one."""
        kernel, _ = KERNELS["nugget"]
        right = Kriging(kernel, self.X, self.values, {}, neighbors=12).at(self.new)
        whole = Kriging(kernel, self.X, self.values, {}).at(self.new)

        class Shifted(kriging.cKDTree):
            def query(self, *args, **kwargs):
                distance, near = super().query(*args, **kwargs)
                return distance, (near + 1) % 60

        monkeypatch.setattr(kriging, "cKDTree", Shifted)
        wrong = Kriging(kernel, self.X, self.values, {}, neighbors=12).at(self.new)
        assert np.abs(right.variance / whole.variance - 1.0).max() < 0.05
        assert np.abs(wrong.variance / whole.variance - 1.0).max() > 0.2


def nearest_rows(kernel, X, new, k):
    from vmqp.kernels.embedding import embed
    from vmqp.kernels.inputs import Inputs

    points = embed(kernel, Inputs.check(np.vstack([X, new]), None), scaled_by=len(X))
    return np.argsort(((points[:-1] - points[-1]) ** 2).sum(axis=1))[:k]


class TestConsistency:
    """The same location alone, among ten and among 100,000 others: the same to 1e-9."""

    rng = np.random.default_rng(11)

    @pytest.fixture(scope="class", params=[40, 400], ids=["dense", "nearest"])
    def learned(self, request):
        rng = np.random.default_rng(11)
        X = rng.uniform(0.0, 10.0, (request.param, 2))
        y = np.mod(0.7 * X[:, 0] + 0.3 * rng.normal(size=len(X)), 2.0 * np.pi)
        kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(1, 1)) + kernels.Nugget(0.1)
        made = vmqp.CircularRegressor(
            kernel=kernel, chains=2, draws=4, warmup=4, progress=False, parameter_draws=8
        )
        return made.fit(X, y)

    @pytest.fixture
    def summary(self):
        def of(post, row):
            ends = post.interval(0.9)[row]
            return np.array(
                [post.mean[row], post.variance[row], *ends, post.crps(np.full(len(post.mean), 1.0))[row]]
            )

        return of

    def test_alone_and_among_others(self, learned, summary):
        rng = np.random.default_rng(5)
        asked = np.array([[3.3, 7.1]])
        alone = summary(learned.posterior(asked), 0)
        for others, at in ((10, 4), (100_000, 77_777)):
            rows = rng.uniform(0.0, 10.0, (others, 2))
            rows[at] = asked
            np.testing.assert_allclose(summary(learned.posterior(rows), at), alone, rtol=0, atol=1e-9)

    def test_whatever_the_chunks(self, learned, summary, monkeypatch):
        rows = np.random.default_rng(6).uniform(0.0, 10.0, (57, 2))
        whole = learned.posterior(rows)
        expected = np.array([summary(whole, row) for row in (0, 20, 56)])
        density = whole.density(GRID[::100] + 0.1)
        monkeypatch.setattr(predictive, "_KEPT", 0)
        monkeypatch.setattr(predictive, "_BLOCK", 40)
        monkeypatch.setattr(kriging, "_CHUNK", 100)
        pieces = learned.posterior(rows)
        assert not pieces._predictive.keeps
        assert len(pieces._predictive.blocks()) == 12
        found = np.array([summary(pieces, row) for row in (0, 20, 56)])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(pieces.density(GRID[::100] + 0.1), density, rtol=0, atol=1e-9)

    def test_columns_without_a_length_scale_are_scaled_by_the_observed_rows(self):
        """A linear kernel has no metric of its own; far-away company must not change who is near."""
        rng = np.random.default_rng(8)
        X = np.column_stack([rng.uniform(0, 1, 80), rng.uniform(0, 50, 80)])
        kernel = 0.5 * kernels.Linear(0.0) + kernels.Nugget(0.5)
        made = Kriging(kernel, X, rng.normal(size=(1, 80, 1)), {}, neighbors=10)
        asked = np.array([[0.4, 20.0]])
        company = np.vstack([asked, [[1e6, -3.0], [5.0, 1e7]]])
        np.testing.assert_allclose(made.at(company).mean[..., 0], made.at(asked).mean[..., 0], rtol=1e-12)


def test_observed_location_without_nugget_returns_its_angle():
    kernel, _ = KERNELS["exponential"]
    X, y = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 1.0]]), np.array([0.3, 1.0, 2.5])
    for k in (3, 2):
        fit = fitted(kernel, X, y, "mean", precision="dense")
        post = vmqp.Posterior(
            fit._model.tree, fit._model.facts, ClosedForm(fit._model.tree, kernel, X, neighbors=k)
        )
        np.testing.assert_allclose(post.mean, y, atol=1e-6)
        assert (post.variance < 1e-9).all()


def test_condition_against_numpy_alone():
    """Next hour's angles at the same parameter draws, computed from the formulas."""
    rng = np.random.default_rng(2)
    X, y = rng.uniform(0.0, 3.0, (12, 2)), rng.uniform(0.0, 360.0, 12)
    kernel = priors.HalfNormal(1) * kernels.Exponential(priors.LogNormal(0, 1)) + kernels.Nugget(
        priors.HalfNormal(0.1)
    )
    made = vmqp.CircularRegressor(
        period=360, kernel=kernel, chains=2, draws=10, warmup=20, progress=False, parameter_draws=20
    )
    fit = made.fit(X, y)
    later_X, later = rng.uniform(0.0, 3.0, (9, 2)), rng.uniform(0.0, 360.0, 9)
    new = rng.uniform(0.0, 3.0, (5, 2))
    found = fit.condition(later_X, later).posterior(new)
    moment = np.zeros(5, dtype=complex)
    names = ("variance", "lengthscale", "nugget", "concentration", "direction")
    draws = np.stack([fit.parameters[name].reshape(-1) for name in names], axis=1)
    assert len(draws) == 20
    x = np.exp(1j * np.radians(later))
    for variance, length, tau, kappa, nu in draws:
        K = variance * np.exp(-distances(later_X) / length) + tau * np.eye(9)
        for i in range(5):
            k = variance * np.exp(-np.sqrt(((later_X - new[i]) ** 2).sum(axis=1)) / length)
            weights = np.linalg.solve(K, k)
            s2 = variance + tau - weights @ k
            h = (weights @ x + kappa * (1.0 - weights.sum()) * np.exp(1j * np.radians(nu))) / s2
            size = abs(h)
            moment[i] += resultant(size) * h / size / len(draws)
    np.testing.assert_allclose(found.mean, np.degrees(np.angle(moment)) % 360.0, rtol=1e-9)
    np.testing.assert_allclose(found.variance, 1.0 - np.abs(moment), rtol=1e-9)
    assert fit.predict(new) == pytest.approx(fit.condition(X, y).predict(new), abs=1e-9)


def resultant(size):
    """A(κ) by a sum over the circle."""
    weight = np.exp(size * (np.cos(GRID) - 1.0))
    return (weight * np.cos(GRID)).sum() / weight.sum()
