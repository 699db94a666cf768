"""A script: 100,000 kept draws at 500 places through the runner, then what a user asks; prints the peak in GB."""

import resource
from types import SimpleNamespace

import numpy as np

from vmqp.chain import Chunk, Description
from vmqp.posterior import Facts, Posterior
from vmqp.run import run_chains
from vmqp.tables import AngleRange

DRAWS, PLACES, SEEN = 100_000, 500, 20


class Large(SimpleNamespace):
    """A task whose draws cost nothing, of the shape of those of the learner."""

    fingerprint, warmup, thin, chunk = "large", 0, 1, 2000

    def start(self, seed, chain):
        return {"count": np.array(0)}

    def advance(self, state, iterations):
        rng = np.random.default_rng(int(state["count"]))
        angles = rng.normal(1.0, 0.5, (iterations, PLACES))
        pointwise = {
            "field/x": (4.0 * np.cos(angles)).astype(np.float32),
            "field/y": (4.0 * np.sin(angles)).astype(np.float32),
            "log_likelihood/angle": rng.normal(size=(iterations, SEEN)).astype(np.float32),
        }
        parameters = {"variance": rng.gamma(2.0, size=iterations)}
        return {"count": state["count"] + iterations}, Chunk(parameters, {"angle": angles}, {}, {}, pointwise)

    def describe(self):
        new, seen = np.arange(SEEN, SEEN + PLACES), np.arange(SEEN)
        places = {"field/x": new, "field/y": new, "log_likelihood/angle": seen}
        data = {"X": np.arange(float(SEEN + PLACES))[:, None]}
        return Description({"angle": new}, {"angle": np.ones(SEEN)}, data, {"kernel": "none"}, places)

    def warnings(self, stats):
        return []


def main():
    tree = run_chains(Large(), chains=1, draws=DRAWS, progress=False)
    post = Posterior(tree, Facts(AngleRange(360.0, False, "degrees")))
    assert post.parameters["variance"].shape == (1, DRAWS)
    truth = np.full(PLACES, 60.0)
    assert abs(post.mean - np.rad2deg(1.0)).max() < 1.0
    assert 0.85 < post.coverage(truth, 0.9) <= 1.0
    post.variance, post.crps(truth), post.log_score(truth), post.density([50.0, 60.0]), post.to_frame()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


if __name__ == "__main__":
    main()
