"""Numbers in words: units, the cut of the circle, and limits."""

import math

import pytest

from vmqp.report.meanings import glossary, parameter_meaning
from vmqp.report.places import choose
from vmqp.report.words import Angles, certainty, ess_words, number, rhat_words

DEGREES = Angles(360.0, "degrees")


@pytest.mark.parametrize(
    ("angles", "value", "told"),
    [
        (DEGREES, 35.4, "35°"),
        (DEGREES, 359.7, "0°"),  # not 360°, which is no angle of [0, 360)
        (Angles(360.0, "degrees", centred=True), -35.4, "−35°"),
        (Angles(360.0, "degrees", centred=True), -0.2, "0°"),
        (Angles(24.0, "hours"), 23.9999, "0:00"),
        (Angles(24.0, "hours"), 6.25, "6:15"),
        (Angles(2 * math.pi, "radians"), 1.234, "1.23 rad"),
        (Angles(100.0, "percent"), 40.0, "40 %"),
        (Angles(7.0), 3.14, "3.14"),
        (DEGREES, math.nan, "no single value"),
    ],
)
def test_angle_in_prose(angles, value, told):
    assert angles.told(value) == told


def test_arc_names_the_cut_that_it_crosses():
    assert DEGREES.arc(350, 20) == "from 350° through 0° to 20°"
    assert DEGREES.arc(20, 350) == "from 20° to 350°"
    assert Angles(360.0, "degrees", centred=True).arc(170, -170) == "from 170° through 180° to −170°"


def test_whole_circle_is_not_an_empty_arc():
    assert DEGREES.arc(20, 380) == "anywhere on the circle"


def test_narrow_arc_has_ends_that_differ():
    assert DEGREES.arc(35.1, 35.4) == "from 35.1° to 35.4°"


def test_limits_of_the_diagnostics_are_those_of_the_run():
    assert rhat_words(1.0099)[0]
    assert not rhat_words(1.011)[0]
    assert rhat_words(1.011, angle=True)[0]
    assert not rhat_words(math.nan)[0]
    assert "disagree" in rhat_words(1.5)[1]
    assert ess_words(400)[0]
    assert not ess_words(399)[0]
    assert "far too few" in ess_words(20)[1]
    assert not ess_words(math.nan)[0]


def test_certainty_goes_from_sure_to_unknown():
    words = [certainty(value) for value in (0.001, 0.05, 0.2, 0.5, 0.9)]
    assert len(set(words)) == 5
    assert words[0].startswith("very well")
    assert words[-1].startswith("hardly")


@pytest.mark.parametrize(
    "name", ["variance", "lengthscale_east", "nugget", "concentration", "direction", "noise", "mine"]
)
def test_every_parameter_has_a_meaning(name):
    assert parameter_meaning(name).endswith(".")
    assert "{" not in parameter_meaning(name)


def test_number_of_a_kernel_is_not_taken_for_a_column():
    assert parameter_meaning("lengthscale_2").startswith("Length scale (kernel 2)")


def test_glossary_explains_whether_predictions_depend_on_the_set():
    alone, joint = (
        {term.word: term.meaning for term in glossary(DEGREES, 0.9, joint=joint)} for joint in (False, True)
    )
    assert "does not depend on what else is asked for" in alone["One location at a time"]
    assert "Transductive" not in alone
    assert "other locations are asked for" in joint["Transductive"]
    assert "One location at a time" not in joint
    for meanings in (alone, joint):
        assert "about 9 should hold" in meanings["Arc"]


def test_examples_are_different_places():
    assert [row for row, _ in choose([0.3, 0.1])] == [1, 0]
    assert sorted(row for row, _ in choose([0.5, 0.5, 0.5])) == [0, 1, 2]


def test_place_without_a_mean_counts_as_the_least_certain():
    assert dict(choose([0.3, math.nan, 0.9, 0.1]))[1] == "The place known least"


def test_numbers():
    assert number(-1234.5) == "−1,234"
    assert number(1e-5) == "1e−05"
    assert number(math.inf) == "∞"
