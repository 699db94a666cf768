"""Cases of `plain_cases`: orders, neighbours, programs of kernels and columns of roots, and passes over matrices."""

import numpy as np

from places import ODD, scattered
from vmqp import kernels
from vmqp.kernels.inputs import Inputs
from vmqp.precision import (
    KernelOnGraph,
    VecchiaPrecision,
    factorise,
    make_graph,
    try_cholesky_triangle,
    try_factorise,
    try_factorise_triangle,
    vecchia,
)
from vmqp.precision.ordering import coarse_to_fine
from vmqp.precision.symmetric import mirror, row_norm, unpack

D, N, K = 9, 4, 3
"""Places, observed ones among them, neighbours."""
PLANE, LINE = 4.0 * scattered(D), 10.0 * scattered(D, 1)
EARTH = np.array([[0.0, 90.0], [77.0, 89.0], [179.5, 5.0], [-179.5, 5.0], [10.0, 50.0], [11.0, 51.0]])
CODES = np.random.default_rng(4).integers(0, 3, (D, 2)).astype(float)
NUGGET = kernels.Nugget(0.05)
FAMILIES = {
    "gaussian": (kernels.Gaussian(0.7) + NUGGET, PLANE),
    "exponential": (2.5 * kernels.Exponential([0.4, 1.9]), PLANE),
    "matern32": (kernels.Matern32(0.5), PLANE),
    "matern52": (kernels.Matern52(0.9) + NUGGET, PLANE),
    "rational": (kernels.RationalQuadratic(0.7, 1.3) + NUGGET, PLANE),
    "periodic": (kernels.Periodic(0.7, 3.1) + NUGGET, LINE),
    "categorical": (kernels.Categorical(0.4) + NUGGET, CODES),
    "linear": (0.7 * kernels.Linear() + kernels.Constant(1.4) + NUGGET, PLANE),
    "product": (kernels.Gaussian(2.0, columns=[0]) * kernels.Matern32(1.0, columns=[1]) + NUGGET, PLANE),
    "great circle": (0.8 * kernels.Exponential(2500.0, metric="geographic"), EARTH),
    "chord": (kernels.Matern52(2500.0, metric="geographic") + NUGGET, EARTH),
}


def orders():
    many = {"four columns": scattered(12, 4), "scattered": scattered(20)}
    return {
        name: np.stack([coarse_to_fine(points, first) for first in (0, len(points) // 3)])
        for name, points in (ODD | many).items()
    }


def graphs():
    """Few neighbours, and so many that more have to be asked for."""
    found = {}
    for name, points, n, k in (
        ("few", PLANE, N, K),
        ("all", PLANE, 0, D - 1),
        ("line", scattered(40, 1), 5, 2),
    ):
        graph = make_graph(points, n, k)
        found |= {
            f"{name}, neighbours": graph.neighbours,
            f"{name}, counts": graph.counts,
            f"{name}, slots": graph.slots,
            f"{name}, columns": graph.pattern.columns,
            f"{name}, order": graph.pattern.order,
            f"{name}, new": graph.new.columns,
        }
    return found


def programs():
    found = {}
    for name, (kernel, X) in FAMILIES.items():
        on_graph = KernelOnGraph(kernel, Inputs.check(X, None), N, K)
        root = on_graph.root({})
        assert root is not None
        first = on_graph.graph.slots[:N]
        found[name] = root
        found[f"{name}, diagonal"] = VecchiaPrecision(on_graph.graph.pattern, root).diagonal
        found[f"{name}, observed"] = on_graph.root({}, rows=N)[first[first >= 0]]
    twice = KernelOnGraph(kernels.Exponential(1.0), Inputs.check(np.repeat(PLANE, 2, axis=0), None), N, K)
    return found | {"no factor": twice.root({}) is None}


def columns():
    """Of a function, a part at a time; the first places have fewer neighbours."""
    matrix = kernels.Matern32(0.5).bind(PLANE).covariance({})
    graph = make_graph(PLANE, N, K)
    flat = graph.fill(lambda part: np.ones(len(graph.part_pairs(part)[0])))
    return {"root": vecchia(lambda i, j: matrix[i, j], graph).values, "no factor": flat is None}


def matrices():
    """More rows than a tile has, and numbers that are not finite."""
    d = 35
    root = np.random.default_rng(7).normal(size=(d, d))
    own = root @ root.T + np.eye(d)
    packed, full, lower = own[np.tril_indices(d)], np.empty((d, d)), np.zeros((d, d))
    mirror(own, full)
    infinite = np.where(own == own.max(), np.inf, own)
    dense, triangle = factorise(own), try_factorise_triangle(packed, d)
    return {
        "mirror": full,
        "norms": [row_norm(own), unpack(packed, lower), row_norm(infinite)],
        "unpacked": lower,
        "infinite": unpack(infinite[np.tril_indices(d)], np.empty((d, d))),
        "precision": dense.M,
        "from a triangle": triangle.M,
        "cholesky": try_cholesky_triangle(packed, d).M,
        "none": try_factorise(infinite) is None,
    }


CASES = {own.__name__: own for own in (orders, graphs, programs, columns, matrices)}
