"""Posteriors as frames and maps."""

import numpy as np
import polars as pl
import pytest

from posteriors import made

RNG = np.random.default_rng(9)
NX, NY = 4, 3
CELLS = np.stack(np.meshgrid(np.arange(NX, dtype=float), 50.0 + np.arange(NY)), axis=-1).reshape(-1, 2)


def gridded(order):
    draws = RNG.vonmises(0.5, 3.0, size=(2, 50, NX * NY))
    X = np.concatenate([np.array([[9.0, 9.0], [8.0, 8.0], [7.0, 7.0]]), CELLS[order]])
    return made(draws, X=X, names=("lon", "lat"))


@pytest.mark.parametrize("order", [np.arange(12), RNG.permutation(12)], ids=["in order", "shuffled"])
def test_a_grid_becomes_a_map(order):
    post = gridded(order)
    chart = post.to_xarray()
    assert chart["mean"].dims == ("lat", "lon")
    for row, (lon, lat) in enumerate(post.X_new):
        assert chart["mean"].sel(lon=lon, lat=lat).item() == post.mean[row]
        assert chart["upper"].sel(lon=lon, lat=lat).item() == post.interval()[row, 1]


def test_places_without_a_grid_lie_along_one_dimension():
    post = made(RNG.vonmises(0.5, 3.0, size=(2, 50, 3)), X=RNG.random((6, 2)))
    chart = post.to_xarray()
    assert chart["mean"].dims == ("place",)
    np.testing.assert_array_equal(chart["x1"], post.X_new[:, 1])


def test_frame_has_the_inputs_by_name_and_the_kind_of_the_inputs():
    facts = {"names": ("species", "size"), "categories": {0: ("ant", "bee")}}
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 4.0], [0.0, 5.0]])
    draws = RNG.vonmises(0.5, 3.0, size=(2, 50, 2))
    frame = made(draws, X=X, **facts).to_frame(0.5)
    assert list(frame.columns) == ["species", "size", "mean", "variance", "lower", "upper", "width"]
    assert frame["species"].tolist() == ["bee", "ant"]
    polars = made(draws, X=X, kind="polars", **facts).to_frame(0.5)
    assert isinstance(polars, pl.DataFrame)
    assert polars["species"].to_list() == ["bee", "ant"]


def test_tree_is_in_radians_and_not_a_copy():
    draws = RNG.vonmises(0.5, 3.0, size=(2, 50, 3))
    tree = made(draws).to_datatree()
    assert tree["posterior"]["angle"].values is draws or np.shares_memory(
        tree["posterior"]["angle"].values, draws
    )
