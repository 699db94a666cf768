"""Which locations to predict: the rows of a file, a grid over the observed ones, or some that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from vmqp.cli.options import read_grid, read_share
from vmqp.comparison import split
from vmqp.errors import InputError
from vmqp.tables import complete_rows, digest, place_in_file, read_file

__all__ = ["RESULTS", "Places", "check_names", "choose_places", "is_number"]

RESULTS = ("mean", "variance", "lower", "upper", "width", "observed", "crps")
"""Columns that the table of predictions adds."""


@dataclass(frozen=True, eq=False)
class Places:
    """The locations, and the observed rows that are left to learn from."""

    task: str
    frame: pd.DataFrame
    learned: NDArray[np.intp]
    """Rows of the data that are not held out."""
    source: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def check_names(inputs: Sequence[str]) -> None:
    """Refuse inputs that the table of predictions could not hold."""
    for name in inputs:
        if name in RESULTS:
            raise InputError(
                f"the input {name!r} has the name of a column of the results: rename it in the file."
            )


def choose_places(
    data: pd.DataFrame,
    inputs: Sequence[str],
    angles: Sequence[float] = (),
    *,
    at: str | None,
    grid: str | None,
    holdout: str | None = None,
    seed: int = 0,
) -> Places:
    """Choose by the one option of the three that is given; `data` holds all columns of the rows with an angle."""
    given = [
        name for name, value in (("--at", at), ("--grid", grid), ("--holdout", holdout)) if value is not None
    ]
    if len(given) != 1:
        found = f"{' and '.join(given)} were given" if given else "nothing says what to predict"
        third = ", or --holdout 0.2 (a fifth of the rows, to see how good the predictions are)"
        raise InputError(
            f"{found}: give one of --at FILE (its rows) and --grid 60x40 (a map over the observed locations)"
            f"{third if len(angles) else ''}."
        )
    everything = np.arange(len(data), dtype=np.intp)
    if at is not None:
        return _from_file(at, data, inputs, everything)
    if grid is not None:
        return Places("grid", _grid(data, inputs, read_grid(grid)), everything)
    share = read_share(holdout or "", "--holdout")
    learned, held = split(len(data), share, np.random.default_rng(seed))
    if len(learned) < 2 or not len(held):
        raise InputError(
            f"--holdout {share:g} of {len(data)} rows leaves {len(learned)} to learn from and {len(held)} to predict: "
            "2 and 1 are needed; give more rows, or another share."
        )
    frame = data.iloc[held].reset_index(drop=True)
    frame = frame.drop(columns=[name for name in frame.columns if name in RESULTS])
    return Places("holdout", frame.assign(observed=np.asarray(angles, dtype=float)[held]), learned)


def _from_file(path: str, data: pd.DataFrame, inputs: Sequence[str], everything: NDArray[np.intp]) -> Places:
    frame = read_file(path)
    rows = complete_rows(frame, list(inputs), path=path)
    places = frame.iloc[rows.kept].reset_index(drop=True)
    for name in inputs:
        if not is_number(data[name]):
            continue  # categories stay as they are written
        if not is_number(rows.frame[name]):
            where = place_in_file(path, int(rows.kept[0]), len(frame))
            raise InputError(
                f"{where} holds {places[name].iloc[0]!r} in column {name!r}, which holds numbers in the table that is "
                "learned from: give numbers."
            )
        places[name] = rows.frame[name]
    replaced = [str(name) for name in places.columns if name in RESULTS]
    notes = [f"Of {path}: {sentence}" for sentence in rows.sentences()]
    if replaced:
        notes.append(f"Of {path}: the columns {', '.join(replaced)} are replaced by those of the results.")
    source = {"file": path, "rows": len(frame), "digest": digest(frame)}
    return Places("at", places.drop(columns=replaced), everything, source, tuple(notes))


def is_number(column: "pd.Series[Any]") -> bool:
    """Whether a column holds numbers; true and false are categories.

    >>> is_number(pd.Series([1, 2])), is_number(pd.Series([True])), is_number(pd.Series(["a"]))
    (True, False, False)
    """
    kinds = pd.api.types
    return bool(kinds.is_numeric_dtype(column.dtype) and not kinds.is_bool_dtype(column.dtype))


def _grid(data: pd.DataFrame, inputs: Sequence[str], sizes: tuple[int, int]) -> pd.DataFrame:
    """A regular grid over the box of the observed locations; the first input changes fastest."""
    numeric = [name for name in inputs if is_number(data[name])]
    if len(inputs) != 2 or len(numeric) != 2:
        raise InputError(
            f"--grid needs exactly two inputs of numbers, but the inputs are {', '.join(inputs)}: give the locations "
            "in a file with --at."
        )
    first, second = (
        np.linspace(float(data[name].min()), float(data[name].max()), size)
        for name, size in zip(inputs, sizes, strict=True)
    )
    columns = np.meshgrid(first, second)
    return pd.DataFrame({name: column.reshape(-1) for name, column in zip(inputs, columns, strict=True)})
