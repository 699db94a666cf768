"""The result of a run: draws, statistics and data with their labels, in the schema of ArviZ."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import xarray as xr

from vmqp._version import __version__
from vmqp.chain import Arrays, Description
from vmqp.run.store import Group, Groups

__all__ = ["make_result"]


def make_result(
    draws: Groups,
    description: Description,
    *,
    seed: int,
    stopped: str,
    seconds: float,
) -> xr.DataTree:
    """Label draws, (chains, draws) and (chains, draws, places); the arrays are not copied.

    >>> draws = Groups({"noise": np.ones((2, 3))}, {"angles": np.zeros((2, 3, 2))}, {}, {})
    >>> tree = make_result(
    ...     draws, Description({"angles": np.array([4, 7])}, {}, {}, {}), seed=0, stopped="draws", seconds=1.0
    ... )
    >>> tree.posterior["angles"].dims, tree.posterior["angles_place"].values
    (('chain', 'draw', 'angles_place'), array([4, 7]))
    """
    created = {
        "created_at": datetime.now(UTC).isoformat(),
        "creation_library": "vmqp",
        "creation_library_version": __version__,
        "creation_library_language": "Python",
    }
    run: dict[str, Any] = {
        **description.attributes,
        **created,
        "inference_library": "vmqp",
        "inference_library_version": __version__,
        "sampling_time": seconds,
        "seed": seed if seed < 2**63 else str(seed),  # files hold no larger numbers
        "stopped": stopped,
    }
    places = {name: description.places[name] for name in draws.angles}
    groups = {"posterior": _labelled({**draws.parameters, **draws.angles}, places, run)}
    if draws.stats:
        groups["sample_stats"] = _labelled(draws.stats, {}, run)
    for group, arrays in _by_group(draws.pointwise).items():
        places = {name: description.pointwise[f"{group}/{name}"] for name in arrays}
        groups[group] = _labelled(arrays, places, run)
    for name, arrays in (
        ("observed_data", description.observed_data),
        ("constant_data", description.constant_data),
    ):
        if arrays:
            groups[name] = _data(arrays, created)
    children = {name: xr.DataTree(group) for name, group in groups.items()}
    return xr.DataTree(xr.Dataset(attrs=run), children=children)


def _labelled(arrays: Group, places: Arrays, attributes: dict[str, Any]) -> xr.Dataset:
    variables: dict[str, Any] = {
        name: (("chain", "draw", *((f"{name}_place",) if name in places else ())), values)
        for name, values in arrays.items()
    }
    coords: dict[str, Any] = {f"{name}_place": np.asarray(rows) for name, rows in places.items()}
    for values in arrays.values():
        coords |= {"chain": np.arange(values.shape[0]), "draw": np.arange(values.shape[1])}
    return xr.Dataset(variables, coords=coords, attrs=attributes)


def _by_group(pointwise: Group) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for path, values in pointwise.items():
        group, name = path.split("/")
        groups.setdefault(group, {})[name] = values
    return groups


def _data(arrays: Arrays, attributes: dict[str, Any]) -> xr.Dataset:
    """Each array has dimensions of its own, named as ArviZ does: their lengths need not agree."""
    return xr.Dataset(
        {
            name: (tuple(f"{name}_dim_{axis}" for axis in range(np.ndim(values))), np.asarray(values))
            for name, values in arrays.items()
        },
        attrs=attributes,
    )
