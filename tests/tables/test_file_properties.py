"""Properties of files: any text becomes a table, or an error of our own.

Examples are derandomised: a run fails always or never.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vmqp.errors import VmqpError
from vmqp.tables import choose, digest
from vmqp.tables.delimited import line_of, read_delimited

CSV_TEXT = st.one_of(st.text('ab1,;\t"\n\r .-e\x1aü', max_size=40), st.text(max_size=40))


def or_refused(read, *arguments):
    """Return the result, or None after an error of our own; others go through."""
    try:
        return read(*arguments)
    except VmqpError:
        return None


@settings(deadline=None, derandomize=True, max_examples=100)
@given(CSV_TEXT)
def test_text_of_files_is_a_table_or_refused(text):
    frame = or_refused(read_delimited, text, "stations.csv")
    if frame is None:
        return
    assert len(frame) > 0
    assert len(digest(frame)) == 64
    line = line_of(text, 0, len(frame))
    assert line is None or 1 < line <= len(text) + 1
    chosen = or_refused(choose, frame, str(frame.columns[0]))
    if chosen is not None:
        assert len(chosen.angles) == len(chosen.inputs) == len(chosen.kept) > 0
        assert np.isfinite(chosen.angles).all()
