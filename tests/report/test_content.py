"""Values for a page: what is shown, what is sorted, what is refused."""

import numpy as np
import pytest

from vmqp.errors import InputError
from vmqp.report.content import Column, Picture, Predictions, Verdict


@pytest.mark.parametrize(
    ("cell", "text", "key"),
    [
        (12.3456, "12.3", "12.3456"),
        (-0.5, "−0.5", "-0.5"),
        (-0.01, "0.0", "-0.01"),
        (7.0, "7.0", "7"),
        (None, "–", ""),
        (float("nan"), "–", ""),
        (float("inf"), "∞", "Infinity"),
        ("Kiel", "Kiel", None),
    ],
)
def test_cell_is_written_and_sorted(cell, text, key):
    column = Column("mean", digits=1)
    assert (column.text(cell), column.key(cell)) == (text, key)


def test_numbers_of_inputs_keep_six_digits():
    assert Column("x").text(52.815233) == "52.8152"
    assert Column("x").text(1.5e-9) == "1.5e−09"


def test_numpy_numbers_are_numbers():
    assert Column("x", digits=2).text(np.float64(1.0)) == "1.00"
    assert Column("x").text(np.float64("nan")) == "–"


def test_picture_that_a_browser_cannot_show_is_refused():
    with pytest.raises(InputError, match="neither PNG nor SVG"):
        _ = Picture("Map", "", b"%PDF-1.4", "").media_type


def test_row_of_another_length_is_refused():
    with pytest.raises(InputError, match=r"Row 1 .* 1 cells, but there are 2 columns"):
        Predictions((Column("a"), Column("b")), ((1.0, 2.0), (1.0,)))


def test_verdict_that_is_not_trusted_is_bad_even_with_caution():
    assert Verdict(False, "no", caution=True).level == "bad"
