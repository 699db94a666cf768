"""The door: what is accepted, what is refused with which words, and what every sampler promises."""

import re

import numpy as np
import pytest
from scipy import sparse

import vmqp
from vmqp.errors import InputError
from vmqp.sampling import SAMPLERS, build_sampler, make_target, seed_streams
from vmqp.sampling.sampler import angles_of, unit_vectors

PAIR = np.array([[1.0, -2.0], [-2.0, 1.0]])
FIELD = np.array([[0.5, 0.0], [0.0, -1.0]])
NAN, INF = np.nan, np.inf

BAD_ARGUMENTS = {
    "not square": ({"coupling": np.zeros((2, 3))}, r"coupling has shape \(2, 3\).*square"),
    "not square, sparse": ({"coupling": sparse.csr_array((3, 2))}, r"coupling has shape \(3, 2\).*square"),
    "one dimension": ({"coupling": np.zeros(4)}, r"coupling has shape \(4,\).*square"),
    "a number": ({"coupling": 1.0}, r"coupling has shape \(\).*square"),
    "none": ({"coupling": None}, "coupling"),
    "one side empty": ({"coupling": np.zeros((3, 0))}, r"coupling has shape \(3, 0\).*square"),
    "unsymmetric": ({"coupling": [[0, 1], [2, 0]]}, r"not symmetric.*up to 1; give \(A \+ A\.T\) / 2"),
    "unsymmetric, sparse": ({"coupling": sparse.csr_array([[0.0, 1.0], [0.0, 0.0]])}, "not symmetric"),
    "antisymmetric": ({"coupling": [[0, 1], [-1, 0]]}, "not symmetric.*up to 2"),
    "nan": ({"coupling": [[0, NAN], [NAN, 0]]}, r"coupling holds 2 NaN or infinite.*\[0, 1\].*finite"),
    "nan on the diagonal": ({"coupling": [[0, 1], [1, NAN]]}, r"coupling holds 1 NaN.*\[1, 1\]"),
    "infinite": ({"coupling": [[INF, 0], [0, 0]]}, r"coupling holds 1 NaN or infinite.*\[0, 0\]"),
    "nan, sparse": ({"coupling": sparse.csr_array([[0.0, NAN], [NAN, 0.0]])}, "coupling holds 2 NaN"),
    "text": ({"coupling": "abc"}, "coupling is not an array of real numbers"),
    "text in rows": ({"coupling": [["a", "b"], ["c", "d"]]}, "coupling is not an array of real numbers"),
    "numbers as text": ({"coupling": [["0", "1"], ["1", "0"]]}, "coupling is not an array of real numbers"),
    "ragged": ({"coupling": [[0, 1], [1]]}, "coupling is not an array of real numbers.*equal length"),
    "complex": ({"coupling": PAIR + 1j}, "coupling.*real"),
    "complex, sparse": ({"coupling": sparse.csr_array(PAIR + 1j)}, "coupling.*real"),
    "field of one column": ({"field": [[1], [0]]}, r"field has shape \(2, 1\).*\(2, 2\).*one row"),
    "field of three rows": ({"field": np.zeros((3, 2))}, r"field has shape \(3, 2\).*\(2, 2\)"),
    "flat field": ({"field": np.zeros(4)}, r"field has shape \(4,\)"),
    "nan in the field": ({"field": [[NAN, 0], [0, 0]]}, r"field holds 1 NaN or infinite.*\[0, 0\].*finite"),
    "infinite field": ({"field": [[0, 0], [0, -INF]]}, r"field holds 1 NaN or infinite.*\[1, 1\]"),
    "field of text": ({"field": "north"}, "field is not an array of real numbers"),
    "ragged field": ({"field": [[1, 0], [1]]}, "field is not an array of real numbers"),
    "complex field": ({"field": FIELD + 1j}, "field.*real"),
    "sampler": ({"sampler": "gibbs"}, "sampler is 'gibbs'.*'hybrid', 'heatbath'"),
    "sampler of another type": ({"sampler": 3}, "sampler is 3"),
    "option": ({"sampler": "heatbath", "sweeps": 3}, "'heatbath' has no option 'sweeps'.*overrelax"),
    "option of another sampler": ({"sampler": "hmc", "overrelax": 3}, "'hmc' has no option 'overrelax'"),
    "internal option": ({"sampler": "hmc-whitened", "mass": 1}, "no option 'mass'"),
    "overrelax": ({"sampler": "heatbath", "overrelax": -1}, "overrelax is -1.*at least 0"),
    "scaling": ({"sampler": "augmented", "scaling": "full"}, "scaling is 'full'.*'scalar'.*'diagonal'"),
    "lam too small": (
        {"sampler": "augmented", "scaling": "scalar", "lam": 1.0},
        "lam is 1,.*largest eigenvalue of the coupling, 3: give a larger one",
    ),
    "lam not positive": ({"sampler": "augmented", "scaling": "scalar", "lam": -1.0}, "lam is -1.0.*positive"),
    "lam without scaling": ({"sampler": "augmented", "lam": 9.0}, "lam was given.*scaling='scalar'"),
    "step size": ({"sampler": "hmc", "step_size": 0}, "step_size is 0.*positive"),
    "step size of text": ({"sampler": "hmc", "step_size": "1"}, "step_size is '1'.*positive"),
    "step size nan": ({"sampler": "hmc", "step_size": NAN}, "step_size is nan.*positive"),
    "leapfrogs": ({"sampler": "hmc", "leapfrogs": 0}, "leapfrogs is 0.*at least 1"),
    "duration": ({"sampler": "hmc-whitened", "duration": INF}, "duration is inf.*positive"),
    "draws": ({"draws": -1}, "draws is -1.*whole number, at least 0"),
    "draws as a fraction": ({"draws": 2.5}, "draws is 2.5.*whole number"),
    "draws as a flag": ({"draws": True}, "draws is True.*whole number"),
    "draws as text": ({"draws": "10"}, "draws is '10'.*whole number"),
    "thin": ({"thin": 0}, "thin is 0.*at least 1"),
    "warmup": ({"warmup": -5}, "warmup is -5.*at least 0"),
    "seed": ({"seed": -1}, "seed is -1.*at least 0"),
    "seed none": ({"seed": None}, "seed is None.*whole number"),
    "initial": ({"initial": [0.0, 1.0, 2.0]}, r"initial has shape \(3,\).*\(2,\).*one angle for each row"),
    "initial nan": ({"initial": [0.0, NAN]}, "initial holds NaN or infinite.*finite"),
    "initial text": ({"initial": "north"}, "initial is not an array of real numbers"),
    "initial complex": ({"initial": np.zeros(2) + 1j}, "initial.*real"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_argument_is_refused_in_one_sentence(name):
    changes, message = BAD_ARGUMENTS[name]
    arguments = {"coupling": PAIR, "field": FIELD, "draws": 3} | changes
    with pytest.raises(InputError, match=message) as caught:
        vmqp.sample_angles(**arguments)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert len(re.findall(r"[a-z]\. [A-Z]", text)) == 0, "one sentence"


@pytest.mark.parametrize("chains", [0, -1, 1.5, "2", None, True])
def test_bad_number_of_chains(chains):
    with pytest.raises(InputError, match=r"chains is .*whole number, at least 1"):
        vmqp.sample_angles_batch(PAIR, FIELD, chains=chains, draws=3)


def test_bad_initial_of_a_batch_names_both_shapes():
    with pytest.raises(InputError, match=r"initial has shape \(4, 2\), but \(2,\) or \(3, 2\) is needed"):
        vmqp.sample_angles_batch(PAIR, FIELD, chains=3, draws=1, initial=np.zeros((4, 2)))


def test_bad_input_is_seen_even_where_nothing_would_be_drawn():
    with pytest.raises(InputError):
        vmqp.sample_angles(PAIR, FIELD, draws=0, sampler="heatbath", overrelax=-1)


def test_small_asymmetry_is_averaged():
    """Below 1e-8 of the largest entry it is rounding; above, a mistake."""
    large = 1e6
    near = np.array([[0.0, large, 1.0], [large * (1 + 5e-9), 0.0, 2.0], [1.004, 2.0, 0.0]])
    for form in (np.asarray, sparse.csr_array):
        matrix = make_target(form(near), np.zeros((3, 2))).matrix()
        matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        np.testing.assert_array_equal(matrix, matrix.T)
        np.testing.assert_allclose(matrix[0], [0.0, large * (1 + 2.5e-9), 1.002], rtol=1e-15)
    near[2, 0] = 1.02
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(InputError, match="not symmetric"):
            make_target(form(near), np.zeros((3, 2)))


@pytest.mark.parametrize("sampler", SAMPLERS)
class TestEverySampler:
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_one_angle(self, sampler, form):
        angles = vmqp.sample_angles(form([[0.0]]), [[3.0, -3.0]], draws=50, warmup=100, sampler=sampler)
        assert angles.shape == (50, 1)
        assert len(np.unique(angles)) > 30
        assert abs(np.angle(np.exp(1j * angles).mean()) + np.pi / 4) < 0.5

    @pytest.mark.parametrize("empty", [np.zeros((0, 0)), [], sparse.csr_array((0, 0))], ids=str)
    def test_no_angles(self, sampler, empty):
        assert vmqp.sample_angles(empty, np.zeros((0, 2)), draws=4, sampler=sampler).shape == (4, 0)
        batch = vmqp.sample_angles_batch(empty, [], chains=3, draws=4, sampler=sampler)
        assert batch.shape == (3, 4, 0)

    def test_no_draws(self, sampler):
        assert vmqp.sample_angles(PAIR, FIELD, draws=0, sampler=sampler).shape == (0, 2)
        assert vmqp.sample_angles_batch(PAIR, FIELD, chains=3, draws=0, sampler=sampler).shape == (3, 0, 2)

    def test_range_and_type(self, sampler):
        angles = vmqp.sample_angles(PAIR, FIELD, draws=500, warmup=20, sampler=sampler)
        assert angles.dtype == np.float64
        assert angles.min() > -np.pi
        assert angles.max() <= np.pi

    def test_seeds(self, sampler):
        def run(seed):
            return vmqp.sample_angles_batch(
                PAIR, FIELD, chains=3, draws=20, warmup=20, seed=seed, sampler=sampler
            )

        np.testing.assert_array_equal(run(5), run(5))
        np.testing.assert_array_equal(run(5), run(np.int64(5)))
        assert not np.isin(run(5), run(6)).any()
        chains = run(5)
        assert not np.isin(chains[0], chains[1]).any()
        assert np.isfinite(run(2**80)).all()

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
    def test_inputs_stay_as_they_were(self, sampler, form):
        coupling, field, initial = form(PAIR), FIELD.copy(), np.array([0.1, 0.2])
        vmqp.sample_angles(coupling, field, draws=5, warmup=5, sampler=sampler, initial=initial)
        left = coupling if isinstance(coupling, np.ndarray) else coupling.toarray()
        np.testing.assert_array_equal(left, PAIR)
        np.testing.assert_array_equal(field, FIELD)
        np.testing.assert_array_equal(initial, [0.1, 0.2])

    def test_thinning_keeps_every_third_step(self, sampler):
        coupling, field = _soft(6)
        settings = {"chains": 2, "warmup": 30, "sampler": sampler, "seed": 8}
        every = vmqp.sample_angles_batch(coupling, field, draws=60, **settings)
        third = vmqp.sample_angles_batch(coupling, field, draws=20, thin=3, **settings)
        np.testing.assert_array_equal(third, every[:, 2::3])

    @pytest.mark.parametrize("thin", [1, 2, 5])
    def test_run_is_a_sequence_of_steps(self, sampler, thin):
        """Also from a state in the middle of a run, bit for bit."""
        one, rng, state = _started(sampler)
        many = rng.copy()
        state, _ = one.run(rng, state, 3)
        many[:] = rng
        end, angles = one.run(many, state, 7, thin)
        for draw in range(7):
            for _ in range(thin):
                state, _ = one.step(rng, state)
            np.testing.assert_array_equal(angles[:, draw], angles_of(state.x))
        for a, b in zip(end, state, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(many, rng)

    def test_a_run_can_be_cut(self, sampler):
        one, rng, state = _started(sampler)
        other = rng.copy()
        _, whole = one.run(rng, state, 11, 2)
        state, first = one.run(other, state, 4, 2)
        _, second = one.run(other, state, 7, 2)
        np.testing.assert_array_equal(whole, np.concatenate([first, second], axis=1))

    def test_step_leaves_the_given_state_alone(self, sampler):
        one, rng, state = _started(sampler)
        before = [part.copy() for part in state]
        new, info = one.step(rng, state)
        one.run(rng, state, 2)
        one.warm_up(rng, state, 3)
        for old, part in zip(before, state, strict=True):
            np.testing.assert_array_equal(old, part)
        assert (new.x != state.x).any()
        assert new.steps == state.steps + 1
        assert info.acceptance.shape == (3,)
        assert ((info.acceptance >= 0.0) & (info.acceptance <= 1.0)).all()
        np.testing.assert_allclose((new.x**2).sum(axis=0), 1.0, rtol=1e-14)

    def test_batch_is_the_pieces_put_together(self, sampler):
        coupling, field = _soft(6)
        batch = vmqp.sample_angles_batch(
            coupling, field, chains=3, draws=9, thin=2, warmup=25, seed=4, sampler=sampler
        )
        one = build_sampler(sampler, make_target(coupling, field), {})
        rng = seed_streams(4, 3)
        state = one.warm_up(rng, one.init(rng), 25)
        np.testing.assert_array_equal(batch, one.run(rng, state, 9, 2)[1])

    def test_independent_angles_on_sparse_rows(self, sampler):
        """A coupling with nothing but a diagonal, and one of separate pairs, larger than a small dense matrix."""
        nothing = sparse.csr_array((50, 50))
        pairs = sparse.csr_array(np.kron(np.eye(25), [[0.0, -1.0], [-1.0, 0.0]]))
        for coupling in (nothing, sparse.eye_array(50).tocsr(), pairs):
            angles = vmqp.sample_angles(coupling, np.zeros((50, 2)), draws=5, warmup=5, sampler=sampler)
            assert np.isfinite(angles).all()


def _soft(m):
    rng = np.random.default_rng(m)
    upper = np.triu(rng.normal(size=(m, m)))
    return upper + upper.T, rng.normal(size=(m, 2))


def _started(name, m=6):
    one = build_sampler(name, make_target(*_soft(m)), {})
    rng = seed_streams(3, 3)
    return one, rng, one.warm_up(rng, one.init(rng), 20)


def test_heat_bath_does_not_see_the_diagonal():
    coupling, field = _soft(7)
    other = coupling + np.diag([1.0, -5.0, 0.0, 3.0, 1e6, 2.0, -1e-3])
    for form in (np.asarray, sparse.csr_array):
        first, second = (
            vmqp.sample_angles(form(matrix), field, draws=20, warmup=5, sampler="heatbath")
            for matrix in (coupling, other)
        )
        np.testing.assert_array_equal(first, second)


def test_first_chain_of_a_batch_is_the_single_chain():
    """For the heat bath from a given start: streams belong to chains, and sums have the same order."""
    coupling, field = _soft(7)
    settings = {"draws": 30, "warmup": 5, "sampler": "heatbath", "initial": np.zeros(7), "seed": 2}
    one = vmqp.sample_angles(coupling, field, **settings)
    batch = vmqp.sample_angles_batch(coupling, field, chains=5, **settings)
    np.testing.assert_array_equal(batch[0], one)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_formats(kind):
    """Matrices and arrays of any format, whole numbers and explicit zeros, give the draws of the same rows."""
    coupling, field = _soft(5)
    coupling[0, 3] = coupling[3, 0] = 0.0
    expected = vmqp.sample_angles(sparse.csr_array(coupling), field, draws=8, warmup=5, sampler="heatbath")
    for family in ("matrix", "array"):
        form = getattr(sparse, f"{kind}_{family}")(coupling)
        angles = vmqp.sample_angles(form, field, draws=8, warmup=5, sampler="heatbath")
        np.testing.assert_array_equal(angles, expected)


def test_dense_forms():
    """Lists, whole numbers, single precision, Fortran order and views mean the same coupling."""
    whole = np.array([[0, -2, 1], [-2, 3, 0], [1, 0, 5]])
    field = np.array([[1, 0], [0, 1], [0, 0]])
    wide = np.zeros((6, 6))
    wide[::2, ::2] = whole
    forms = [whole, whole.tolist(), whole.astype(np.float32), np.asfortranarray(whole, float), wide[::2, ::2]]
    draws = [vmqp.sample_angles(form, field, draws=5, warmup=5) for form in forms]
    for other in draws[1:]:
        np.testing.assert_array_equal(other, draws[0])


def test_summed_duplicates_of_coordinates():
    parts = ([-1.0, -1.0, -2.0], ([0, 0, 1], [1, 1, 0]))
    twice = sparse.coo_array(parts, shape=(2, 2))
    expected = vmqp.sample_angles(sparse.csr_array([[0.0, -2.0], [-2.0, 0.0]]), FIELD, draws=5)
    np.testing.assert_array_equal(vmqp.sample_angles(twice, FIELD, draws=5), expected)


def test_initial_shapes():
    for initial in (np.zeros(2), np.zeros((3, 2)), [0, 0]):
        batch = vmqp.sample_angles_batch(PAIR, FIELD, chains=3, draws=2, warmup=0, initial=initial)
        assert batch.shape == (3, 2, 2)
    assert vmqp.sample_angles(PAIR, FIELD, draws=2, warmup=0, initial=np.zeros((1, 2))).shape == (2, 2)


def test_initial_is_where_the_chain_starts():
    """Small steps of HMC stay near the start, whatever turns were added to it."""
    for turns in (0.0, 2.0 * np.pi, -20.0 * np.pi):
        start = np.array([1.0, -2.0]) + turns
        angles = vmqp.sample_angles(
            PAIR, FIELD, draws=1, warmup=0, initial=start, sampler="hmc", step_size=1e-9
        )
        np.testing.assert_allclose(angles[0], [1.0, -2.0], atol=1e-6)


def test_angles_of_unit_vectors():
    """To rounding, in all octants and at the seams, −π becoming π."""
    angles = np.concatenate([np.linspace(-np.pi, np.pi, 10_001), [1e-300, -1e-300, 1e-9, -1e-9, 0.0, -0.0]])
    angles = np.concatenate([angles, angles + 1e-12, np.arange(-4, 5) * np.pi / 4])[None]
    x = unit_vectors(angles)
    found, exact = angles_of(x), np.arctan2(x[1], x[0])
    exact[exact == -np.pi] = np.pi
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=1e-320)
    assert found.min() > -np.pi
    assert found.max() <= np.pi
    edge = np.array([[[-1.0, -1.0, 1.0, 1.0, 0.0, 0.0]], [[0.0, -0.0, 0.0, -0.0, 1.0, -1.0]]])
    np.testing.assert_array_equal(angles_of(edge), [[np.pi, np.pi, 0.0, 0.0, np.pi / 2, -np.pi / 2]])
