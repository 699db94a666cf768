"""Chains on neighbours: the same however they are cut, and in whatever process or thread they run."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from learners import BROAD, SEVERAL, check_cuts, in_pieces, same
from sparse_problems import CHI, NU, ROWS, N, at, forget, problem, together
from vmqp import kernels
from vmqp.learning import Learner, Method, make_problem
from vmqp.learning.inner import needed_steps
from vmqp.learning.point import fields_target
from vmqp.learning.pointwise import fields_at, log_likelihood
from vmqp.sampling import seed_streams
from vmqp.sampling.heatbath import HeatBath

CASES = {
    "noiseless": ({}, {}),
    "noisy": ({"noise": BROAD}, {}),
    "noise by row": ({"noise": ROWS}, {}),
    "mean drift, noisy": ({"drift": "mean", "noise": BROAD}, {}),
    "heat bath": ({}, {"sampler": "heatbath"}),
    "aligned start": ({}, {"inner_start": "aligned"}),
    "fixed steps": ({"kernel": BROAD * kernels.Exponential(BROAD)}, {"steps": (0.3, 0.4, 0.5)}),
    "no drift": ({"concentration": 0.0}, {}),
    "no new places": ({"new": None}, {}),
}
WARMUP, TOTAL = 55, 70


def learner(name, neighbors=4):
    model, method = CASES[name]
    return Learner(problem(neighbors, **model), Method(**method), WARMUP, pointwise=True)


@pytest.mark.parametrize("name", CASES)
def test_a_chain_is_the_same_however_it_is_cut(name):
    """Cut in warm-up, on both sides of its last iteration, and after it; with a new graph each time."""
    draws = check_cuts(learner(name), [7, WARMUP - 8, 1, 1, TOTAL - WARMUP - 1], forget)
    assert all(np.isfinite(draws[key]).all() for key in draws if not key.startswith("acceptance"))


def test_a_pickled_problem_holds_no_graph():
    given = problem(4)
    at(given)
    assert "on_graph" in given.__dict__
    copy = pickle.loads(pickle.dumps(given))
    assert not {"on_graph", "bound"} & copy.__dict__.keys()
    assert copy.fingerprint == given.fingerprint
    assert copy.on_graph is given.on_graph, "in one process it is made once"


def test_chains_of_two_threads_are_those_of_one():
    task = learner("noisy")
    starts = [task.start(3, chain) for chain in range(2)]
    alone = [in_pieces(task, start, [12])[0] for start in starts]
    forget()
    chains = [(chain, pickle.loads(pickle.dumps(task))) for chain in range(2)]

    def run():
        chain, copy = chains.pop()
        return chain, in_pieces(copy, starts[chain], [12])[0]

    for chain, end in together(run, 2):
        assert same(end, alone[chain])


def test_pointwise_draws_are_those_of_the_fields():
    task = Learner(problem(4, noise=CHI), warmup=2, pointwise=True)
    state, chunk = task.advance(task.start(1, 0), 3)
    point = at(task.problem, state["u"])
    fields = fields_at(point, state["x"], float(state["direction"]))
    wanted = log_likelihood(task.problem, fields, CHI)
    np.testing.assert_allclose(chunk.pointwise["log_likelihood/angle"][-1], wanted, rtol=1e-5)
    np.testing.assert_allclose(chunk.pointwise["field/x"][-1], fields[0, N:], rtol=1e-5, atol=1e-6)


def test_the_length_of_inner_chains_is_measured():
    given = problem(4)
    point = at(given)
    sampler, rng = HeatBath(fields_target(point, NU)), seed_streams(1, 1)
    steps = needed_steps(rng, given, point, NU, sampler, sampler.init(rng))
    assert 3 <= steps <= 1000


def test_fingerprints():
    tasks = [learner("noiseless", k) for k in (3, 4, None)]
    tasks.append(replace(tasks[0], problem=replace(tasks[0].problem, metric_at=(("lengthscale_1", 2.0),))))
    assert len({task.fingerprint for task in tasks}) == 4
    assert learner("noiseless", 3).fingerprint == tasks[0].fingerprint


def test_neighbours_are_chosen_in_the_metric_that_is_given():
    places = np.random.default_rng(0).uniform(size=(40, 2))
    kernel = BROAD * kernels.Exponential([BROAD, BROAD])
    given = make_problem(places, np.zeros(40), kernel=kernel, neighbors=3)
    east = replace(given, metric_at=(("lengthscale_0", 0.01), ("lengthscale_1", 100.0)))

    def across(some):
        """By how much neighbours differ in the first column."""
        graph = some.on_graph.graph
        return np.mean([np.abs(places[i, 0] - places[graph.neighbours[i], 0]).mean() for i in range(5, 40)])

    assert across(east) < 0.7 * across(given)


def test_a_chunk_grows_with_the_number_of_places_only():
    assert learner("noiseless", 4).chunk >= learner("noiseless", None).chunk
    many = make_problem(np.arange(20_000.0)[:, None], np.zeros(20_000), kernel=SEVERAL, neighbors=5)
    assert Learner(many).chunk >= 2
