"""What the two numbers of a row mean: a wind, a calm, a wind from everywhere, or nothing measured."""

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["CALM", "MISSING", "VARIABLE", "is_wind", "understood"]

CALM, VARIABLE, MISSING = "calm", "variable", "missing"
_NOT_MEASURED = -999.0
_FROM_EVERYWHERE = 990.0


def is_wind(ff: Any, dd: Any) -> Any:
    """Whether numbers, or columns of them, are such as the product can have; nan is not.

    >>> is_wind(4.1, 230.0), is_wind(4.1, 400.0), is_wind(float("nan"), 230.0)
    (True, False, False)
    """
    speed = (ff == _NOT_MEASURED) | ((ff >= 0) & (ff < np.inf))
    return speed & (((dd >= 0) & (dd <= 360)) | (dd == _NOT_MEASURED) | (dd == _FROM_EVERYWHERE))


def understood(ff: pd.Series, dd: pd.Series) -> pd.DataFrame:
    """Return speed, direction and note: directions 0 ≤ d < 360, and nan with a note where there is none.

    Direction 0 is calm at speed 0, north at any other speed, and nobody knows which where the speed is missing.

    >>> understood(pd.Series([4.1, 2.0, 0.0, 1.0, -999.0]), pd.Series([360.0, 0.0, 0.0, 990.0, 0.0]))
       speed  direction      note
    0    4.1        0.0
    1    2.0        0.0
    2    0.0        NaN      calm
    3    1.0        NaN  variable
    4    NaN        NaN   missing
    """
    speed = ff.mask(ff == _NOT_MEASURED)
    calm = (dd == 0) & (speed == 0)
    missing = (dd == _NOT_MEASURED) | ((dd == 0) & speed.isna())
    note = np.select([calm, dd == _FROM_EVERYWHERE, missing], [CALM, VARIABLE, MISSING], default="")
    direction = np.where(note == "", np.mod(dd, 360.0), np.nan)
    return pd.DataFrame({"speed": speed, "direction": direction, "note": note})
