"""The learner as a task: the same chain however it is cut, where it starts, odd problems, and what it warns of."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from learners import (
    ANGLES,
    BROAD,
    CASES,
    NOTHING,
    ONE,
    TOTAL,
    WARMUP,
    check_cuts,
    in_pieces,
    learner,
    problem,
    same,
)
from vmqp import kernels, priors
from vmqp.errors import InputError
from vmqp.learning import Learner, Method, make_problem
from vmqp.learning.point import factorised

# Chunks


@pytest.mark.parametrize("name", CASES)
def test_a_chain_is_the_same_however_it_is_cut(name):
    """Cut in warm-up, on both sides of its last iteration, and after it."""
    draws = check_cuts(learner(name), [7, WARMUP - 8, 1, 1, 9, TOTAL - WARMUP - 10])
    assert len(draws["energy"]) == TOTAL - WARMUP
    assert np.isfinite(draws["energy"]).all()


@pytest.mark.parametrize("name", ["noiseless", "noisy", "no drift", "no new places"])
def test_without_warmup_a_chain_is_the_same_however_it_is_cut(name):
    task = learner(name, warmup=0)
    start = task.start(2, 0)
    end, draws = in_pieces(task, start, [50])
    cut_end, cut_draws = in_pieces(task, start, [7, 43])
    assert same(cut_end, end)
    assert same(cut_draws, draws)
    assert len(draws["energy"]) == 50


@pytest.mark.parametrize("name", ["noiseless", "heat bath", "augmented"])
def test_a_state_holds_arrays_only(name):
    task = learner(name, warmup=5)
    state, _ = task.advance(task.start(1, 0), 7)
    assert {key: type(value) for key, value in state.items() if not isinstance(value, np.ndarray)} == {}


@pytest.mark.parametrize(
    "name", ["noiseless", "noisy", "heat bath", "augmented", "no drift", "no new places"]
)
def test_a_state_can_be_stored_without_pickling(name, tmp_path):
    task = learner(name, warmup=5)
    start = task.start(1, 0)
    end, _ = task.advance(start, 7)
    assert {key: (value.dtype, value.shape) for key, value in start.items()} == {
        key: (value.dtype, value.shape) for key, value in end.items()
    }
    assert all(value.dtype.kind in "fiu" for value in end.values())
    with open(tmp_path / "state.npz", "wb") as file:
        np.savez(file, **end)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as stored:
        read = {key: stored[key] for key in stored.files}
    assert same(read, end)
    assert same(task.advance(read, 3)[0], task.advance(end, 3)[0])


def test_adaptation_ends_with_the_warmup():
    task = learner("noisy")
    state, _ = task.advance(task.start(1, 0), WARMUP)
    later, _ = task.advance(state, 40)
    fixed = [
        key for key in state if key.startswith("adaptation") or key.endswith("tuning") or key == "probes"
    ]
    assert len(fixed) == 7
    for key in fixed:
        np.testing.assert_array_equal(state[key], later[key], err_msg=key)
    assert not np.array_equal(state["u"], later["u"])


@pytest.mark.parametrize("name", ["noiseless", "noisy"])
def test_thinning_keeps_every_third_draw(name):
    every, third = learner(name, warmup=10), learner(name, warmup=10, thin=3)
    state = every.start(4, 0)
    end, draws = in_pieces(every, state, [50])
    thinned_end, thinned = in_pieces(third, state, [11, 1, 38])
    assert same(thinned_end, end)
    assert same(thinned, {key: value[2::3].copy() for key, value in draws.items()})


def test_fingerprint():
    task = learner("noiseless")
    others = [
        replace(task, warmup=WARMUP + 1),
        replace(task, thin=2),
        replace(task, method=Method(bridge=1)),
        replace(task, problem=problem(noise=3.0)),
        replace(task, problem=problem(angles=ANGLES + 1e-9)),
    ]
    assert len({task.fingerprint, *(other.fingerprint for other in others)}) == 6
    assert learner("noiseless").fingerprint == task.fingerprint
    assert pickle.loads(pickle.dumps(task)).fingerprint == task.fingerprint


def test_draws_have_the_shapes_that_the_description_tells():
    for name, places in {
        "noiseless": {"angle": np.arange(8, 12)},
        "noisy": {"angle": np.arange(8, 12), "latent": np.arange(8)},
        "no new places": {},
        "no new places, noisy": {"latent": np.arange(8)},
    }.items():
        task = learner(name, warmup=2)
        _, chunk = task.advance(task.start(1, 0), 5)
        described = task.describe().places
        assert described.keys() == chunk.angles.keys() == places.keys()
        for key, rows in places.items():
            np.testing.assert_array_equal(described[key], rows)
            assert chunk.angles[key].shape == (3, len(rows))
            assert (np.abs(chunk.angles[key]) <= np.pi).all()
        assert all(values.shape == (3,) for values in [*chunk.parameters.values(), *chunk.stats.values()])
        _, empty = task.advance(task.start(1, 0), 2)
        assert all(values.shape == (0,) for values in [*empty.parameters.values(), *empty.stats.values()])
        assert all(values.shape == (0, len(places[key])) for key, values in empty.angles.items())


def test_without_noise_the_observed_angles_stay_where_they_are():
    task = learner("drag")
    state, _ = task.advance(task.start(1, 0), 30)
    seen = np.arctan2(state["x"][1, 0, :8], state["x"][0, 0, :8])
    np.testing.assert_allclose(seen, np.angle(np.exp(1j * ANGLES)), atol=1e-15)


def test_progress_tells_the_acceptance_also_in_warmup():
    task = learner("noiseless")
    _, chunk = task.advance(task.start(1, 0), 10)
    assert chunk.progress.keys() == {"accept", "cheap"}
    assert all(0.0 < rate <= 1.0 for rate in chunk.progress.values())
    assert learner("only the concentration").advance(learner("only the concentration").start(1, 0), 10)[
        1
    ].progress.keys() == {"cheap"}


# Starts


@pytest.mark.parametrize("name", ["noiseless", "noisy", "heat bath", "augmented", "several kernels"])
def test_chains_start_apart(name):
    task = learner(name)
    states = [task.start(3, 0), task.start(3, 1), task.start(4, 0)]
    again = learner(name).start(3, 0)
    assert same(states[0], again)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for key in ("streams", "u", "direction", "fictitious"):
            assert not np.isin(states[i][key], states[j][key]).any(), key
        latent = task.problem.latent
        assert not np.isin(states[i]["x"][:, :, latent], states[j]["x"][:, :, latent]).any()
    if task.problem.noise is not None:
        assert len({float(state["noise"]) for state in states}) == 3


def test_starts_are_spread_twice_as_wide_as_the_curvature_says():
    task = learner("noiseless")
    maximum = task.maximum
    starts = [task.start(0, chain) for chain in range(300)]
    gaps = np.array([state["u"] for state in starts]) - maximum.u
    white = np.linalg.solve(np.linalg.cholesky(maximum.covariance), gaps.T)
    # 900 standard normal numbers, times 2: their deviation is 2 to within 5 %, at two standard errors.
    assert np.sqrt((white**2).mean()) == pytest.approx(2.0, rel=0.1)
    assert np.abs(white.mean(axis=1)).max() < 0.5
    turns = np.exp(1j * (np.array([float(state["direction"]) for state in starts]) - maximum.direction))
    assert np.sqrt(-2.0 * np.log(np.abs(turns.mean()))) == pytest.approx(0.5, rel=0.2)


def test_a_given_direction_and_noise_are_kept():
    task = Learner(problem(direction=0.5, noise=3.0), warmup=5)
    state, chunk = task.advance(task.start(1, 0), 10)
    assert float(state["direction"]) == 0.5
    assert "direction" not in chunk.parameters
    assert "noise" not in chunk.parameters


# Few parameters, and other kernels


def test_only_the_concentration_is_learned():
    task = learner("only the concentration")
    _, chunk = task.advance(task.start(1, 0), TOTAL)
    assert chunk.parameters.keys() == {"concentration", "direction"}
    assert len(np.unique(chunk.parameters["concentration"])) > 5
    assert "acceptance_factorised" not in chunk.stats
    assert (chunk.stats["acceptance_cheap"] > 0.0).all()


NOTHING_EXCHANGED = {
    "direction": ({}, {"direction"}),
    "direction and noise": ({"noise": BROAD}, {"direction", "noise"}),
    "nothing": ({"direction": 0.5}, set()),
    "no drift": ({"concentration": 0.0}, set()),
}


@pytest.mark.parametrize("name", NOTHING_EXCHANGED)
def test_no_parameter_needs_an_exchange(name):
    options, learned = NOTHING_EXCHANGED[name]
    task = Learner(problem(NOTHING, **{"concentration": 0.5} | options), warmup=20)
    start = task.start(1, 0)
    end, draws = in_pieces(task, start, [50])
    cut_end, cut_draws = in_pieces(task, start, [7, 43])
    assert same(cut_end, end)
    assert same(cut_draws, draws)
    assert set(task.problem.learned) == learned <= draws.keys()
    assert not {"acceptance_factorised", "acceptance_cheap"} & draws.keys(), "no such moves"
    assert ("acceptance_noise" in draws) == ("noise" in learned)
    assert task.warnings({key: values[None] for key, values in draws.items()}) == []


def test_one_observed_place():
    task = Learner(make_problem([[0.0]], [1.0], [[0.5]], kernel=ONE), warmup=10)
    _, chunk = task.advance(task.start(1, 0), 30)
    assert all(np.isfinite(values).all() for values in chunk.parameters.values())


def test_a_kernel_of_several_columns():
    places = np.random.default_rng(1).uniform(0.0, 1.0, (9, 2))
    kernel = BROAD * kernels.Gaussian([BROAD, BROAD]) + kernels.Nugget(0.1)
    given = make_problem(places[:6], ANGLES[:6], places[6:], kernel=kernel, column_names=["east", "north"])
    task = Learner(given, warmup=10)
    _, chunk = task.advance(task.start(1, 0), 30)
    assert {"lengthscale_east", "lengthscale_north"} < chunk.parameters.keys()


# Errors and warnings

BAD_METHODS = {
    "sampler": ({"sampler": "gibbs"}, r"sampler is 'gibbs': give one of 'hybrid', 'heatbath', 'augmented'"),
    "inner start": ({"inner_start": None}, r"inner_start is None: give one of 'angles', 'persistent', 'aligned'"),
    "bridging": ({"bridging": "plain"}, r"bridging is 'plain': give one of 'heatbath', 'augmented'"),
    "inner steps": ({"inner_steps": 0}, r"inner_steps is 0, .*: give a whole number, at least 1"),
    "inner steps as a fraction": ({"inner_steps": 2.5}, r"inner_steps is 2.5, .*: give a whole number"),
    "outer steps": ({"outer_steps": True}, r"outer_steps is True, .*: give a whole number, at least 1"),
    "bridge": ({"bridge": -1}, r"bridge is -1, .*: give a whole number, at least 0"),
    "bridge none": ({"bridge": None}, r"bridge is None, .*: give a whole number, at least 0"),
    "drag": ({"drag": "3"}, r"drag is '3', .*: give a whole number, at least 0"),
    "cheap moves": ({"cheap_moves": -2}, r"cheap_moves is -2, .*: give a whole number, at least 0"),
    "steps": ({"steps": (0.1, 0.0)}, r"steps are \(0.1, 0.0\): give positive numbers, one for each"),
    "steps not finite": ({"steps": (np.nan,)}, r"steps are \(nan,\): give positive numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_METHODS)
def test_bad_methods_are_refused(name):
    options, message = BAD_METHODS[name]
    with pytest.raises(InputError, match=message):
        Method(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warmup": -1}, r"warmup is -1, .*: give a whole number, at least 0"),
        ({"warmup": 10.0}, r"warmup is 10.0, .*: give a whole number"),
        ({"thin": 0}, r"thin is 0, .*: give a whole number, at least 1"),
        ({"thin": True}, r"thin is True, .*: give a whole number"),
    ],
)
def test_bad_lengths_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Learner(problem(), **options)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_fixed_steps_that_do_not_fit_the_parameters_are_refused(count):
    with pytest.raises(InputError, match=rf"has {count} fixed steps.*'direction'\).*give one step for each"):
        Learner(problem(), Method(steps=(0.1,) * count))
    with pytest.raises(InputError, match=r"has 4 fixed steps"):
        Learner(problem(direction=0.0), Method(steps=(0.1,) * 4))


def test_zero_cheap_moves_are_none():
    task = Learner(problem(), Method(cheap_moves=0), warmup=5)
    _, chunk = task.advance(task.start(1, 0), 15)
    assert "acceptance_cheap" not in chunk.stats
    assert np.isfinite(chunk.stats["acceptance_factorised"]).all()


def stats_of(shape=(2, 100), *, used=10.0, needed=5.0, accepted=0.2):
    return {
        "inner_steps": np.full(shape, used),
        "inner_needed": np.full(shape, needed),
        "acceptance_factorised": np.full(shape, accepted),
    }


def test_warnings():
    task = learner("noiseless")
    assert task.warnings(stats_of()) == []
    assert task.warnings(stats_of(used=5.0)) == [], "just enough"
    [short] = task.warnings(stats_of(used=4.0, needed=25.0))
    assert "has 4 steps, but 25 are needed" in short
    assert "inner_steps=None, or at least that many." in short
    one_chain = stats_of()
    one_chain["inner_steps"][1], one_chain["inner_needed"][1] = 7.0, 9.0
    [short] = task.warnings(one_chain)
    assert "has 7 steps, but 9 are needed" in short
    [stuck] = task.warnings(stats_of(accepted=0.012))
    assert stuck.startswith("only 1.2 % of the proposed parameters were accepted: warm up for longer")
    assert len(task.warnings(stats_of(used=1.0, accepted=0.0))) == 2


def test_warnings_of_few_or_no_draws():
    task = learner("noiseless")
    assert task.warnings(stats_of((2, 0))) == []
    assert task.warnings(stats_of((2, 10), accepted=0.0)) == [], "too few to tell"
    without = stats_of()
    del without["acceptance_factorised"]
    assert task.warnings(without) == [], "no such moves"


def test_an_inner_chain_that_is_too_short_is_found():
    stiff = make_problem([[0.0], [1.0]], [2.0, 2.1], kernel=BROAD * kernels.Exponential(50.0), direction=0.0)
    for method, found in (
        (Method(sampler="heatbath", inner_steps=1), 1),
        (Method(sampler="heatbath"), 0),
        (Method(), 0),
    ):
        task = Learner(stiff, method, warmup=40)
        _, chunk = task.advance(task.start(1, 0), 60)
        assert len(task.warnings({key: values[None] for key, values in chunk.stats.items()})) == found


def test_chains_start_where_new_places_are_denser_than_the_observed_ones_allow():
    """The maximum on three places has a length scale at which forty places have no usable kernel matrix."""
    new = np.linspace(0.05, 9.95, 40)[:, None]
    kernel = priors.HalfNormal(1) * kernels.Gaussian(priors.LogNormal(3.0, 0.1))
    dense = make_problem([[0.0], [5.0], [10.0]], [0.1, 0.2, 0.3], new, kernel=kernel)
    own = Learner(dense, warmup=5)
    assert factorised(dense, own.maximum.u, dense.values(own.maximum.u)) is None
    _, chunk = own.advance(own.start(seed=1, chain=0), 7)
    assert np.isfinite(chunk.angles["angle"]).all()
