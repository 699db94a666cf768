"""What a person gives becomes arrays: inputs, angles and their period, files.

A value is checked here, once; the rooms above trust it. Every error is an :class:`vmqp.errors.InputError` that
names the row, the column, and what to do.

>>> table = read_inputs([[8.1, 50.0], [9.9, 52.5]])
>>> radians, range = read_angles([350, 10], period="degrees", count=len(table.values))
>>> range.from_radians(radians).round(9).tolist()
[350.0, 10.0]
"""

from vmqp.tables.angles import AngleRange, find_missing, read_angles, read_truth
from vmqp.tables.files import digest, place_in_file, read_file
from vmqp.tables.inputs import Table, constant_columns, read_inputs, read_new_inputs
from vmqp.tables.periods import fits, read_period
from vmqp.tables.rows import Chosen, Rows, choose, complete_rows
from vmqp.tables.source import take_rows
from vmqp.tables.words import nearest

__all__ = [
    "AngleRange",
    "Chosen",
    "Rows",
    "Table",
    "choose",
    "complete_rows",
    "constant_columns",
    "digest",
    "find_missing",
    "fits",
    "nearest",
    "place_in_file",
    "read_angles",
    "read_file",
    "read_inputs",
    "read_new_inputs",
    "read_period",
    "read_truth",
    "take_rows",
]
