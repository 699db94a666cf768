"""Cases of `plain_cases`: random numbers, products, masses and samplers of angles."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse

from compiled import compiled_momentum, compiled_unwhiten
from rooted import field_of, precision_of, scaled_target
from vmqp.learning.simple import draw_uniform
from vmqp.sampling import (
    build_sampler,
    factor,
    hmc,
    linear,
    make_target,
    sample_angles,
    sample_angles_batch,
    sample_vonmises,
    seed_streams,
    whitening,
)
from vmqp.sampling.angle import angles_of
from vmqp.sampling.augmented import augmentation
from vmqp.sampling.heatbath import sweeps, there_and_back
from vmqp.sampling.random import _rare_normal, fill_normal
from vmqp.sampling.sampler import unit_vectors
from vmqp.sampling.target import Target

M = 7
"""Angles: a block of four rows, and three that are left over."""


# Random numbers


def random():
    streams, normals = seed_streams(1, 2), np.empty(3000)
    fill_normal(streams, 1, normals)
    tails = [_rare_normal(streams, 0, 0, u) for u in 8 * [0.999999, -0.999999]]
    uniforms = [draw_uniform(streams) for _ in range(50)]
    return {"normals": normals, "tails": tails, "uniforms": uniforms, "streams": streams}


def vonmises():
    concentrations = (0.0, 1e-300, 0.1, 0.999, 1.0, 1.999, 2.0, 5.0, 1e3, 1e6, 1e12, 1e200)
    return {f"{k:g}": sample_vonmises(k, 300, seed=2) for k in concentrations}


def angles():
    axes = np.array([[[1.0, 0.0, -1.0, -1.0, 0.0]], [[0.0, 1.0, 0.0, -0.0, -1.0]]])
    return {"around": angles_of(unit_vectors(np.linspace(-3.1, 3.1, 33)[None])), "axes": angles_of(axes)}


# Targets


def dense_coupling():
    root = np.random.default_rng(3).normal(size=(M, M))
    return root @ root.T / M + 0.3 * np.eye(M)


def sparse_coupling():
    """A ring, and one angle that stands alone."""
    ring = sparse.lil_array((M, M))
    for i in range(M - 1):
        j = (i + 1) % (M - 1)
        ring[i, j] = ring[j, i] = -0.8 - 0.1 * i
    ring.setdiag(2.5)
    return ring.tocsr()


def couplings():
    return {"dense": dense_coupling(), "sparse": sparse_coupling(), "rooted": precision_of(M, k=3)}


def targets(field):
    """One of each form, and dense and rooted ones with a scale."""
    found = {name: make_target(coupling, field) for name, coupling in couplings().items()}
    own = found["dense"]
    found["scaled"] = Target(own.coupling._replace(scale=1.3), 1.3 * own.diagonal, own.field)
    found["scaled root"] = scaled_target(precision_of(M, k=3), 1.3, field)
    return found


def start(chains=2):
    return unit_vectors(np.random.default_rng(5).uniform(-np.pi, np.pi, (chains, M)))


# Products and masses: called from Python, from compiled code, and by the choice that the compiler makes


def as_typed(value):
    """What the compiler hands to a choice: the class of a named tuple, or none."""
    kind = type(value)
    return SimpleNamespace(instance_class=kind) if issubclass(kind, tuple) else SimpleNamespace()


def products():
    x, found = start(), {}
    for form, target in targets(field_of(M)).items():
        coupling, root = target.coupling, augmentation(target)
        for name, plain, choose, own in (
            ("coupling", linear.apply_coupling, linear._apply_coupling, coupling),
            ("root", factor.apply_root, factor._apply_root, root),
            ("transposed", factor.apply_root_transposed, factor._apply_root_transposed, root),
        ):
            called, chosen = np.empty_like(x), np.empty_like(x)
            plain(own, x, called)
            choose(as_typed(own), None, None)(own, x, chosen)
            found[f"{form}, {name}"], found[f"{form}, {name}, chosen"] = called, chosen
    assert linear._apply_coupling(as_typed(x), None, None) is None
    return found


def masses():
    dense, ring, root = (make_target(own, field_of(M)) for own in couplings().values())
    lower = np.linalg.cholesky(dense_coupling())
    raised = make_target(dense_coupling() - 0.5 * np.eye(M), 9.0 * field_of(M))
    return {
        "dense": whitening.whiten(dense),
        "covariance": whitening.CovarianceRoot(lower, 0.7),
        "sparse": whitening.whiten(ring),
        "root": whitening.whiten(root),
        "root with noise": whitening.whiten(root, np.linspace(0.0, 2.0, M)),
        "raised": whitening.whiten(raised),
        "none": None,
    }


def momenta():
    p, found = np.random.default_rng(6).normal(size=(2, M)), {}
    for name, mass in masses().items():
        typed, rng = as_typed(mass), seed_streams(7, 2)
        drawn, solved = np.empty((3, 2, M)), np.empty((3, 2, M))
        whitening.draw_momentum(rng, mass, drawn[0])
        compiled_momentum(rng, mass, drawn[1])
        whitening._draw_momentum(None, typed, None)(rng, mass, drawn[2])
        whitening.unwhiten(mass, p, solved[0])
        compiled_unwhiten(mass, p, solved[1])
        whitening._unwhiten(typed, None, None)(mass, p, solved[2])
        found |= {f"{name}, drawn": drawn, f"{name}, solved": solved, f"{name}, streams": rng}
    return found


# Samplers


def heatbath():
    """With a field, and without: there what stands alone has nothing to be reflected about.

    Without one the pull on an angle can be small, and its direction then magnifies rounding: one step has to do.
    """
    found = {}
    for pull, field, draws in (("field", field_of(M), 3), ("no field", np.zeros((M, 2)), 1)):
        for form, target in targets(field).items():
            rng, x = seed_streams(4, 2), start()
            found[f"{form}, {pull}"] = sweeps(rng, target, start(), 1, draws, thin=draws, turn=draws > 1)
            there_and_back(rng, target, x)
            found |= {f"{form}, {pull}, back": x, f"{form}, {pull}, streams": rng}
    single = sample_angles(precision_of(1, k=1), np.zeros((1, 2)), draws=5, sampler="heatbath", warmup=0)
    return found | {"one without a field": single}


def drawn(name, **options):
    """From all forms, by the public door."""
    given = {"chains": 2, "draws": 3, "warmup": 2, "sampler": name, "seed": 6} | options
    return {
        form: sample_angles_batch(coupling, field_of(M), **given) for form, coupling in couplings().items()
    }


def augmented():
    scalar = drawn("augmented", scaling="scalar")
    return drawn("augmented") | {f"{form}, scalar": found for form, found in scalar.items()}


def hmc_plain():
    """Steps of a length that is accepted, and of one that is not."""
    found = {
        f"{form}, {size}": own for size in (0.2, 3.0) for form, own in drawn("hmc", step_size=size).items()
    }
    return found | drawn("hmc", leapfrogs=3)


def hmc_augmented():
    long = drawn("hmc-augmented", step_size=3.0)
    return drawn("hmc-augmented", leapfrogs=3) | {f"{form}, long": found for form, found in long.items()}


def hmc_whitened():
    return drawn("hmc-whitened")


def decisions():
    """A gain that is large, small, very small, and not a number."""
    rng, x, acceptance = seed_streams(8, 5), start(5), np.empty(5)
    gain = np.array([1.0, -0.5, -2000.0, np.nan, -np.inf])
    hmc.settle(rng, gain, acceptance, start(5)[::-1].copy(), x)
    return {"x": x, "gain": gain, "acceptance": acceptance, "streams": rng}


def hybrid():
    """Steps that tune, and a run after them."""
    found = drawn("hybrid", warmup=0, thin=2)
    for form, target in targets(field_of(M)).items():
        sampler, rng = build_sampler("hybrid", target, {"overrelax": 2}), seed_streams(9, 2)
        state = sampler.tune(rng, sampler.init(rng), 3)
        state, found[f"{form}, tuned"] = sampler.run(rng, state, 2)
        found |= {f"{form}, x": state.x, f"{form}, tuning": state.tuning, f"{form}, streams": rng}
    return found


CASES = {
    own.__name__: own
    for own in (
        random,
        vonmises,
        angles,
        products,
        momenta,
        heatbath,
        augmented,
        hmc_plain,
        hmc_augmented,
        hmc_whitened,
        decisions,
        hybrid,
    )
}
