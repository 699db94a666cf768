"""Rotating the data rotates the direction and all angles, and changes nothing else."""

import numpy as np
import pytest

from learners import ANGLES, BROAD, SEVERAL, problem
from vmqp import kernels, priors
from vmqp.learning import Learner, Method

# Turning


TURN = 1.234
TURNED = {
    "noiseless": ({}, {}),
    "noisy": ({"noise": BROAD}, {}),
    "mean drift": ({"drift": "mean"}, {}),
    "mean drift, noisy": ({"drift": "mean", "noise": BROAD}, {}),
    "several kernels": ({"kernel": SEVERAL}, {}),
    "bridge": ({}, {"bridge": 3}),
    "drag": ({}, {"drag": 3}),
    "from the angles": ({}, {"inner_start": "angles"}),
    "aligned start": ({}, {"inner_start": "aligned"}),
    "walking direction": ({}, {"steps": (0.3, 0.3, 0.3, 0.3)}),
    "no new places": ({"new": None}, {}),
}


PHASES = ((10_000, 0), (20, 20))
"""Warm-up and first iteration: in warm-up and after it. No probe, a long trajectory of its own, comes in between."""


def turn_state(state, c=TURN):
    """The same state in a frame that is turned by c."""
    matrix = np.array([[np.cos(c), -np.sin(c)], [np.sin(c), np.cos(c)]])
    vectors = {key: np.einsum("ab,bkd->akd", matrix, state[key]) for key in ("x", "fictitious")}
    return state | vectors | {"direction": state["direction"] + c}


def distance(one, other):
    """The largest difference between two states; directions are compared on the circle."""
    gaps = [
        np.abs(one[key] - other[key]).max(initial=0.0) for key in one if key not in ("streams", "direction")
    ]
    gaps.append(np.abs(np.angle(np.exp(1j * (one["direction"] - other["direction"])))))
    return np.inf if (one["streams"] != other["streams"]).any() else float(max(gaps))


NARROW = {
    "kernel": priors.LogNormal(0.0, 0.3) * kernels.Exponential(priors.LogNormal(-1.0, 0.3)),
    "concentration": priors.LogNormal(0.0, 0.3),
}
"""A model whose matrices stay far from singular."""


def both_frames(name, warmup, model=None, **method):
    own_model, own = TURNED[name]
    return [
        Learner(problem(**own_model | (model or {}), angles=angles), Method(**own | method), warmup)
        for angles in (ANGLES, ANGLES + TURN)
    ]


@pytest.mark.parametrize(
    "name",
    [
        "noiseless",
        "noisy",
        "bridge",
        "drag",
        "from the angles",
        "aligned start",
        "walking direction",
        "no new places",
    ],
)
def test_a_turned_chain_stays_turned(name):
    """Heat baths with the same random numbers forget differences, so that rounding does not grow.

    That holds for a drift with equal weights and matrices that are not close to singular, which narrow priors see to;
    else rounding grows tenfold with every few iterations, and the next test has to do.
    """
    for warmup, first in PHASES:
        task, turned = both_frames(name, warmup, model=NARROW, sampler="heatbath")
        state, _ = task.advance(task.start(5, 0), first)
        end, chunk = task.advance(state, 60)
        turned_end, turned_chunk = turned.advance(turn_state(state), 60)
        assert distance(turn_state(end), turned_end) < 1e-6
        for key, values in {**chunk.parameters, **chunk.angles}.items():
            gaps = {**turned_chunk.parameters, **turned_chunk.angles}[key] - values
            if key in ("direction", "angle", "latent"):
                gaps = np.angle(np.exp(1j * (gaps - TURN)))
            assert np.abs(gaps).max(initial=0.0) < 1e-6, key
        for key, values in chunk.stats.items():
            np.testing.assert_allclose(turned_chunk.stats[key], values, rtol=1e-6, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("sampler", ["hybrid", "heatbath", "augmented"])
@pytest.mark.parametrize("name", ["noiseless", "noisy", "mean drift", "mean drift, noisy"])
def test_a_start_turns_with_the_data(name, sampler):
    """To the accuracy of the search for the maximum; a whole chain from there soon turns 1e-8 into anything."""
    task, turned = both_frames(name, 60, sampler=sampler)
    for chain in range(2):
        assert distance(turn_state(task.start(5, chain)), turned.start(5, chain)) < 1e-6


@pytest.mark.parametrize("name", TURNED)
def test_every_iteration_commutes_with_a_turn(name):
    """The default sampler has trajectories that double a difference in a few steps: each iteration starts anew."""
    for warmup, first in PHASES:
        task, turned = both_frames(name, warmup, inner_steps=3)
        state, _ = task.advance(task.start(7, 0), first)
        for _ in range(25):
            there, _ = turned.advance(turn_state(state), 1)
            state, _ = task.advance(state, 1)
            assert distance(turn_state(state), there) < 1e-6


def test_the_comparison_of_frames_sees_data_that_are_not_turned():
    task, turned = both_frames("noiseless", 60, sampler="heatbath")
    state = task.start(5, 0)
    end = turn_state(task.advance(state, 5)[0])
    assert distance(end, turned.advance(turn_state(state), 5)[0]) < 1e-6
    assert distance(end, task.advance(turn_state(state) | {"direction": state["direction"]}, 5)[0]) > 1e-3
    assert distance(end, turned.advance(state | {"direction": state["direction"] + TURN}, 5)[0]) > 1e-3
