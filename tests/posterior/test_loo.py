"""Leave-one-out against quadrature, where the parameters are fixed: at the observed locations, or with a new one."""

import numpy as np
import pandas as pd
import pytest

import vmqp
from posteriors import made
from vmqp import kernels
from vmqp.errors import InputError
from vmqp.posterior.loo import pareto_smoothed

X = np.array([[0.0], [0.5], [1.3], [2.0]])
OBSERVED = np.array([0.4, 2.2, 1.0])
KERNEL = 0.7 * kernels.Exponential(1.5)
KAPPA, NU, CHI = 0.8, 0.3, 6.0
GRID = np.linspace(-np.pi, np.pi, 120, endpoint=False)


def fitted(draws=4000, noise=None, seed=1, *, transductive):
    return vmqp.regress(
        X[:3],
        OBSERVED,
        X[3:],
        kernel=KERNEL,
        drift="constant",
        concentration=KAPPA,
        direction=NU,
        noise=noise,
        draws=draws,
        warmup=300,
        chains=2,
        seed=seed,
        progress=False,
        transductive=transductive,
    )


def process(*angles):
    """Density of the process at the first locations, broadcast, without its normalizer."""
    d = len(angles)
    M = np.linalg.inv(KERNEL.bind(X[:d]).covariance({}))
    pairs = sum(M[i, j] * np.cos(angles[i] - angles[j]) for i in range(d) for j in range(d))
    return np.exp(-0.5 * pairs + KAPPA * sum(np.cos(angle - NU) for angle in angles))


def exact_without_noise(d):
    """log p(θ_i | θ_j, j ≠ i) in a model of d locations; with four the new one is integrated out."""
    result = []
    new = [GRID[None, :]] * (d - 3)
    for i in range(3):
        angles = [np.asarray(angle) for angle in OBSERVED]
        at = process(*angles, *new).sum()
        angles[i] = GRID[:, None]
        result.append(np.log(at / process(*angles, *new).sum() / (GRID[1] - GRID[0])))
    return np.array(result)


def exact_with_noise(d):
    coarse = np.linspace(-np.pi, np.pi, 30, endpoint=False)
    axes = np.meshgrid(*[coarse] * d, indexing="ij", sparse=True)
    prior = process(*axes)
    likelihood = [np.exp(CHI * np.cos(OBSERVED[i] - axes[i])) / (2 * np.pi * np.i0(CHI)) for i in range(3)]
    whole = (prior * likelihood[0] * likelihood[1] * likelihood[2]).sum()
    return np.array(
        [
            np.log(whole / (prior * np.prod(np.stack(np.broadcast_arrays(*others)), axis=0)).sum())
            for others in ([likelihood[j] for j in range(3) if j != i] for i in range(3))
        ]
    )


def test_leave_one_out_of_a_learned_model_is_exact_without_noise():
    """All parameters are fixed, and no new location belongs to the model."""
    found = fitted(100, transductive=False).loo()
    np.testing.assert_allclose(found.pointwise, exact_without_noise(3), atol=1e-6)
    assert np.abs(found.pointwise - exact_without_noise(4)).max() > 0.08


def test_leave_one_out_with_a_new_location_is_that_of_quadrature():
    """Allowed: 0.08, where three seeds of this size lie within 0.02 of the truth."""
    found = fitted(transductive=True).loo()
    np.testing.assert_allclose(found.pointwise, exact_without_noise(4), atol=0.08)
    assert (found.pareto_k < found.limit).all()


@pytest.mark.parametrize("transductive", [False, True])
def test_leave_one_out_with_noise_is_that_of_quadrature(transductive):
    found = fitted(noise=CHI, transductive=transductive).loo()
    np.testing.assert_allclose(found.pointwise, exact_with_noise(4 if transductive else 3), atol=0.08)
    other = exact_with_noise(3 if transductive else 4)
    assert np.abs(found.pointwise - other).max() > 0.08, "the two models are told apart"


def test_the_plain_average_that_has_seen_the_angle_would_fail():
    """The planted fault: E p(θ_i | rest) in place of 1 / E[1 / p]."""
    likelihood = fitted(transductive=True).to_datatree()["log_likelihood"]["angle"].values.astype(float)
    plain = np.log(np.exp(likelihood).mean(axis=(0, 1)))
    assert np.abs(plain - exact_without_noise(4)).max() > 0.08


def test_angles_that_the_rest_does_not_expect_are_reported_as_unreliable():
    """Weights with a tail of shape above 1: log-likelihoods that are minus an exponential of mean 2."""
    rng = np.random.default_rng(3)
    values = np.stack(
        [-2.0 * rng.exponential(size=(4, 1000)), -1.0 + 0.1 * rng.standard_normal((4, 1000))], axis=-1
    )
    found = pareto_smoothed(values)
    assert found.unreliable.tolist() == [0]
    assert "1 with k̂ above" in repr(found)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["elpd"].sum() == pytest.approx(found.elpd)


def test_equal_likelihoods_need_no_weights():
    found = pareto_smoothed(np.full((2, 100, 1), -1.5))
    assert found.elpd == pytest.approx(-1.5)
    assert found.se == 0.0


def pair(shift):
    rng = np.random.default_rng(4)
    angles = rng.vonmises(0.0, 2.0, size=(2, 500, 2))
    fields = np.full(angles.shape, 2.0 + 0j)
    likelihood = -1.0 + 0.1 * rng.standard_normal((2, 500, 3))
    return [made(angles, fields=fields, log_likelihood=likelihood + s) for s in (0.0, shift)]


def test_comparison_puts_the_better_first_and_pairs_the_differences():
    first, second = pair(0.5)
    table = first.compare(second, [0.0, 10.0])
    assert table.index.tolist() == ["other", "this"]
    assert table.loc["this", "elpd_difference"] == pytest.approx(-1.5, abs=1e-6)
    assert table.loc["this", "difference_se"] == pytest.approx(0.0, abs=1e-6)
    assert table.loc["this", "crps"] == table.loc["other", "crps"]


def test_comparison_in_other_units_is_the_same():
    first, _ = pair(0.0)
    tree = first.to_datatree()
    hours = made(
        tree["posterior"]["angle"].values,
        fields=tree["field"]["x"].values + 0j,
        log_likelihood=tree["log_likelihood"]["angle"].values,
        period=24.0,
    )
    table = first.compare(hours)
    assert table["elpd_difference"].abs().max() < 1e-9


def test_posteriors_of_other_data_are_not_compared():
    first, _ = pair(0.0)
    angles = first.to_datatree()["posterior"]["angle"].values
    other = made(angles, observed=(0.1, 0.2, 1.3), log_likelihood=np.zeros((2, 500, 3)))
    with pytest.raises(InputError, match="same data"):
        first.compare(other)
