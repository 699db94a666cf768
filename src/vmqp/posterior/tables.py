"""Posteriors as tables and maps: one row or cell for each new place."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from vmqp.circle import FloatArray
from vmqp.posterior.facts import Facts

__all__ = ["as_kind", "as_map", "column_labels", "input_columns"]


RESULTS = ("mean", "variance", "lower", "upper", "width")
"""Columns of results; an input of such a name gets ``_input`` at its end."""


def column_labels(names: tuple[str, ...] | None, count: int) -> list[str]:
    """Names of the inputs, or x0, x1, … where they have none."""
    return [f"x{i}" for i in range(count)] if names is None else list(names)


def input_columns(X: FloatArray, facts: Facts) -> dict[str, Any]:
    """The inputs by name; codes of categories as their names.

    >>> from vmqp.tables import AngleRange
    >>> facts = Facts(AngleRange(360.0, False, "degrees"), ("species",), {0: ("ant", "bee")})
    >>> input_columns(np.array([[1.0], [0.0]]), facts)
    {'species': array(['bee', 'ant'], dtype=object)}
    """
    columns: dict[str, Any] = {}
    for i, name in enumerate(column_labels(facts.names, X.shape[1])):
        label, values = f"{name}_input" if name in RESULTS else name, X[:, i]
        if i in facts.categories:
            columns[label] = np.array(facts.categories[i], dtype=object)[values.astype(int)]
        else:
            columns[label] = values
    return columns


def as_kind(columns: Mapping[str, Any], kind: str) -> Any:
    """A polars frame where the inputs were one, else a pandas frame."""
    if kind == "polars":
        import polars

        return polars.DataFrame(dict(columns))
    return pd.DataFrame(dict(columns))


def as_map(inputs: Mapping[str, Any], results: Mapping[str, FloatArray]) -> xr.Dataset:
    """A Dataset on the axes of the inputs where they are all combinations of their values, else along ``place``.

    >>> inputs = {"x": np.array([0.0, 1.0, 0.0, 1.0]), "y": np.array([5.0, 5.0, 7.0, 7.0])}
    >>> as_map(inputs, {"mean": np.arange(4.0)})["mean"].sel(x=1.0, y=7.0).item()
    3.0
    """
    count = len(next(iter(inputs.values())))
    axes = {name: np.unique(values, return_inverse=True) for name, values in inputs.items()}
    # A column that never changes is no axis of a map.
    varying = {name: axis for name, axis in axes.items() if len(axis[0]) > 1}
    shape = tuple(len(values) for values, _ in varying.values())
    if varying and np.prod(shape) == count:
        cell = np.ravel_multi_index(tuple(index for _, index in varying.values()), shape)
        if len(np.unique(cell)) == count:
            order = np.argsort(cell)
            dims = tuple(varying)[::-1]  # rows of a map are the second input, as pictures have it
            variables = {
                name: (dims, np.asarray(values)[order].reshape(shape).transpose())
                for name, values in results.items()
            }
            coords: dict[str, Any] = {name: values for name, (values, _) in varying.items()}
            coords |= {name: values[0] for name, (values, _) in axes.items() if name not in varying}
            return xr.Dataset(variables, coords=coords)
    coords = {name: ("place", values) for name, values in inputs.items()}
    return xr.Dataset(
        {name: ("place", np.asarray(values)) for name, values in results.items()},
        coords={"place": np.arange(count), **coords},
    )
