"""log Z by sampling against quadrature; every comparison states how often it fails by chance."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from references import RATE, lattice, p_value, size, spin_glass
from vmqp.errors import ConvergenceWarning, InputError
from vmqp.learning import normalizer
from vmqp.learning.normalizer import Density, annealed_importance, log_normaliser, thermodynamic_integration
from vmqp.model import log_normaliser_quadrature

FIELD = np.array([[0.5, 0.0], [-0.2, 0.4], [0.0, 0.0]])
FAR = stats.norm.isf(RATE / 2.0)
"""One estimate lies farther than this many of its errors from the truth at the rate RATE, if errors are normal."""


def smooth(d, length, nugget):
    """Precision of a Gaussian kernel on a line: stiff, with signs that alternate."""
    x = np.arange(d) / length
    return np.linalg.inv(np.exp(-0.5 * (x[:, None] - x) ** 2) + nugget * np.eye(d))


CASES = {
    "soft": (np.array([[2.0, -1.0], [-1.0, 1.0]]), FIELD[:2]),
    "frustrated": (np.array([[1.0, 3.0, 3.0], [3.0, 1.0, 3.0], [3.0, 3.0, 2.0]]), FIELD),
    "stiff": (smooth(3, 2.0, 1e-2), FIELD),
}
SHORT = {
    "annealed": {"temperatures": 25, "chains": 32},
    "thermodynamic": {"nodes": 8, "draws": 200},
}
REPEATS = {"annealed": size(40), "thermodynamic": size(20)}
METHODS = {"annealed": annealed_importance, "thermodynamic": thermodynamic_integration}


def repeats(call, n):
    """Values and errors of independent runs."""
    return np.array([call(seed) for seed in range(n)]).T


@cache
def estimates(name, method):
    return repeats(
        lambda seed: log_normaliser(*CASES[name], method, seed=seed, **SHORT[method]), REPEATS[method]
    )


@pytest.mark.statistical
@pytest.mark.parametrize("method", SHORT)
@pytest.mark.parametrize("name", CASES)
def test_log_z_agrees_with_quadrature(name, method):
    """Fails by chance at the rate RATE. Without the ½ tr M it fails surely."""
    M, field = CASES[name]
    values, _ = estimates(name, method)
    exact = log_normaliser_quadrature(M, field)
    assert p_value(values[:, None], [exact]) > RATE
    assert p_value(values[:, None], [exact + 0.5 * np.trace(M)]) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize("method", SHORT)
@pytest.mark.parametrize("name", CASES)
def test_the_stated_error_has_the_right_size(name, method):
    """Mean square of the deviation over that of the stated error is χ²/n for normal estimates: RATE by chance.

    The true over the stated error may look like 0.51 to 1.6 for 40 repeats, and like 0.34 to 1.8 for 20. An error
    that is wrong by a factor of 3.2, or 5.4 for 20 repeats, is refused with a probability of 1 − RATE.
    """
    values, errors = estimates(name, method)
    deviation = np.sum((values - log_normaliser_quadrature(*CASES[name])) ** 2)
    square = deviation / np.mean(errors**2)
    n = len(values)
    assert stats.chi2.ppf(RATE / 2.0, n) < square < stats.chi2.isf(RATE / 2.0, n)
    if method == "annealed":  # the spread of one chain in place of that of their mean would be seen
        assert square / SHORT[method]["chains"] < stats.chi2.ppf(RATE / 2.0, n)


START = Density(smooth(3, 2.0, 2e-2), FIELD)
END = Density(smooth(3, 2.2, 1e-2), 2.0 * FIELD + 0.3)
"""A like density with another diagonal and field."""


@pytest.mark.statistical
@pytest.mark.parametrize("method", SHORT)
def test_the_ratio_of_two_normalisers(method, monkeypatch):
    """Fails by chance at the rate RATE; a path that forgets −½ tr M fails."""

    def p(n):
        values, _ = repeats(lambda seed: METHODS[method](START, END, seed=seed, **SHORT[method]), n)
        return p_value(values[:, None], [log_normaliser_quadrature(*END) - log_normaliser_quadrature(*START)])

    assert p(size(8)) > RATE
    path = normalizer._path
    monkeypatch.setattr(normalizer, "_path", lambda *ends: path(*ends)._replace(trace=0.0))
    assert p(8) < RATE


def weighed_after_the_move(path, betas, sweeps, rng):
    """The planted fault: each step is weighed at a state of the temperature where it ends."""
    x, logs = path.first(rng), 0.0
    for k in range(1, len(betas)):
        normalizer.sweep(rng, path.at(betas[k]), x, 1, 1, sweeps, turn=True)
        logs = logs + (betas[k] - betas[k - 1]) * path.difference(x)
    return logs


@pytest.mark.statistical
def test_weights_after_the_move_would_be_seen(monkeypatch):
    monkeypatch.setattr(normalizer, "_log_weights", weighed_after_the_move)
    M, field = CASES["frustrated"]
    values, _ = repeats(lambda seed: log_normaliser(M, field, seed=seed, **SHORT["annealed"]), 30)
    assert p_value(values[:, None], [log_normaliser_quadrature(M, field)]) < RATE


@pytest.mark.statistical
def test_nodes_without_their_jacobian_would_be_seen(monkeypatch):
    """On a stiff coupling: on a soft one the nodes hardly move, and the fault does no harm."""
    change = normalizer._change_of_variable
    monkeypatch.setattr(normalizer, "_change_of_variable", lambda *a: (change(*a)[0], np.ones(len(a[0]))))
    M, field = CASES["stiff"]
    values, _ = repeats(
        lambda seed: log_normaliser(M, field, "thermodynamic", seed=seed, **SHORT["thermodynamic"]), 8
    )
    assert p_value(values[:, None], [log_normaliser_quadrature(M, field)]) < RATE


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("M", "field"),
    [(smooth(30, 1.0, 1e-2), np.zeros((30, 2)) + 0.3), (spin_glass(30, 2.0, 1), np.zeros((30, 2)))],
    ids=["kernel", "glass"],
)
def test_both_methods_agree_at_thirty_angles(M, field):
    """Fails by chance at about the rate RATE."""
    annealed = log_normaliser(M, field, temperatures=600, seed=1)
    integrated = log_normaliser(M, field, "thermodynamic", draws=500, nodes=8, seed=2)
    assert max(annealed.error, integrated.error) < 0.1
    assert abs(annealed.value - integrated.value) < FAR * np.hypot(annealed.error, integrated.error)


@pytest.mark.statistical
def test_a_sparse_coupling_is_served():
    """Two estimates of the same number: fails by chance at about the rate RATE."""
    ring = lattice((8,), 1.0)
    sparse_one = log_normaliser(ring, np.zeros((8, 2)), temperatures=60, seed=1)
    dense_one = log_normaliser(ring.toarray(), np.zeros((8, 2)), "thermodynamic", draws=200, nodes=6, seed=2)
    assert sparse_one.error < 0.1
    assert abs(sparse_one.value - dense_one.value) < FAR * np.hypot(sparse_one.error, dense_one.error)


def test_equal_steps_would_be_worse(monkeypatch):
    """On a stiff coupling the measured schedule has less than half of the error of equal steps of β."""
    M, field = 20.0 * CASES["stiff"][0], FIELD
    ours = np.mean([log_normaliser(M, field, temperatures=50, seed=s).error for s in range(4)])
    monkeypatch.setattr(normalizer, "_schedule", lambda path, n, *_: np.linspace(0.0, 1.0, n + 1))
    with pytest.warns(ConvergenceWarning):
        equal = np.mean([log_normaliser(M, field, temperatures=50, seed=s).error for s in range(4)])
    assert ours < 0.5 * equal


def test_the_schedule_is_a_way_from_zero_to_one():
    path = normalizer._path(Density(np.zeros((3, 3)), FIELD), Density(1e6 * CASES["stiff"][0], FIELD))
    betas = normalizer._schedule(path, 100, 1, normalizer.seed_streams(0, 32))
    assert (betas[0], betas[-1], len(betas)) == (0.0, 1.0, 101)
    assert (np.diff(betas) > 0.0).all()
    assert betas[10] < 1e-5


@pytest.mark.parametrize(("first", "last"), [(0.0, 0.0), (1e6, 0.0), (0.0, 1e6), (3.0, 1e4)])
def test_the_change_of_variable_integrates_to_one(first, last):
    t, weights = np.polynomial.legendre.leggauss(60)
    betas, jacobian = normalizer._change_of_variable(0.5 * (t + 1.0), first, last)
    assert (np.diff(betas) > 0.0).all()
    assert 0.5 * weights @ jacobian == pytest.approx(1.0, abs=1e-6)


def test_the_change_of_variable_tames_a_stiff_integrand():
    """∫ dβ / (β + 10⁻⁶) with twelve nodes; in β itself they miss most of it."""
    t, weights = np.polynomial.legendre.leggauss(12)
    errors = []
    for first in (1e6, 0.0):
        betas, jacobian = normalizer._change_of_variable(0.5 * (t + 1.0), first, 0.0)
        errors.append(abs(0.5 * weights @ (jacobian / (betas + 1e-6)) / np.log1p(1e6) - 1.0))
    assert errors[0] < 1e-2
    assert errors[1] > 0.4


@pytest.mark.parametrize("method", METHODS)
def test_what_needs_no_sampling_is_exact(method):
    options = SHORT[method]
    same = Density(*CASES["soft"])
    assert METHODS[method](same, same, **options) == (0.0, 0.0)
    shifted = Density(same.M + 4.0 * np.eye(2), same.field)
    value, error = METHODS[method](same, shifted, **options)
    assert value == pytest.approx(-4.0, abs=1e-12)
    assert error < 1e-12
    M, field = np.diag([3.0, 1.0]), 5.0 * FIELD[:2]
    value, error = log_normaliser(M, field, method, **options)
    assert value == pytest.approx(log_normaliser_quadrature(M, field), abs=1e-12)
    assert error < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_fixes_the_estimate(method):
    one, again, other = (log_normaliser(*CASES["soft"], method, seed=s, **SHORT[method]) for s in (1, 1, 2))
    assert one == again
    assert one.value != other.value


def test_few_weights_give_a_warning():
    with pytest.warns(ConvergenceWarning, match="raise temperatures"):
        log_normaliser(smooth(10, 2.0, 1e-3), np.zeros((10, 2)), temperatures=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_normaliser(np.eye(2), FIELD), r"field has shape \(3, 2\)"),
        (lambda: log_normaliser([[0.0, 1.0], [2.0, 0.0]], FIELD[:2]), "not symmetric"),
        (lambda: log_normaliser(np.eye(3), FIELD, "exact"), "'annealed', 'thermodynamic'"),
        (lambda: log_normaliser(np.eye(3), FIELD, nodes=3), "no option nodes: it takes temperatures"),
        (lambda: log_normaliser(np.eye(3), FIELD, chains=1), "chains is 1"),
        (lambda: log_normaliser(np.eye(3), FIELD, temperatures=0), "temperatures is 0"),
        (lambda: log_normaliser(np.eye(3), FIELD, sweeps=0.5), "sweeps is 0.5"),
        (lambda: log_normaliser(np.eye(3), FIELD, seed=-1), "seed is -1"),
        (lambda: log_normaliser(np.eye(3), FIELD, "thermodynamic", nodes=1), "nodes is 1"),
        (lambda: log_normaliser(np.eye(3), FIELD, "thermodynamic", draws=0), "draws is 0"),
        (lambda: log_normaliser(np.zeros((0, 0)), np.zeros((0, 2))), "at least one"),
        (lambda: annealed_importance(np.eye(3), Density(np.eye(3), FIELD)), r"start is a ndarray"),
        (lambda: thermodynamic_integration((np.eye(2), FIELD[:2]), (np.eye(3), FIELD)), "start has 2 angles"),
    ],
)
def test_bad_input_is_refused_at_the_door(call, message):
    with pytest.raises(InputError, match=message):
        call()
