"""From a posterior to what a report says."""

import os

import matplotlib.pyplot as plt
import numpy as np
import pytest

import vmqp
from vmqp import plots
from vmqp.errors import InputError
from vmqp.report import pictures
from vmqp.report.build import make_content, report
from vmqp.report.content import Call
from vmqp.report.page import render


@pytest.fixture(autouse=True)
def quick_pictures(monkeypatch):
    """Pictures are drawn but not rendered, which would take most of the time."""
    monkeypatch.setattr(pictures, "_png", lambda figure: b"\x89PNG\r\n\x1a\n")


def words(content):
    return " ".join(sentence for place in content.highlighted for sentence in place.sentences)


def test_prediction_at_one_place_is_told_in_words(fake_posterior):
    posterior = fake_posterior([35.0], [0.1])
    content = make_content(posterior, names=["Bergen"])
    place = content.highlighted[0]
    assert place.name == "Bergen"
    assert place.sentences[0].startswith("At Bergen (longitude 0.")
    assert place.sentences[0].endswith("the direction is probably about 35°.")
    lower, upper = posterior.interval(0.9)[0]
    assert f"from {lower:.0f}° to {upper:.0f}°" in place.sentences[1]
    assert "very well determined" in place.sentences[2]
    assert place.picture is not None


def test_arc_across_the_cut_is_told(fake_posterior):
    assert " through 0° to " in words(make_content(fake_posterior([1.0], [0.3])))


def test_examples_are_the_typical_the_best_and_the_worst(fake_posterior):
    posterior = fake_posterior([10.0, 90.0, 180.0, 200.0, 300.0], [0.3, 0.05, 2.0, 0.4, 0.5])
    content = make_content(posterior)
    assert [place.name for place in content.highlighted] == ["Place 4", "Place 2", "Place 3"]


def test_several_likely_directions_are_told(fake_posterior):
    posterior = fake_posterior([20.0], [0.1])
    posterior.draws[:, ::2] = (posterior.draws[:, ::2] + 150.0) % 360
    told = words(make_content(posterior))
    assert "more than one likely direction" in told
    assert "one of 2 pieces of the circle" in told
    assert "is probably about" not in told


def test_gaps_between_few_draws_are_no_pieces(fake_posterior):
    """As of a large map that keeps few draws."""
    posterior = fake_posterior([20.0], [0.1])
    posterior.draws[:, ::2] = (posterior.draws[:, ::2] + 150.0) % 360
    posterior.draws = posterior.draws[:1, :16]
    told = words(make_content(posterior))
    assert "pieces of the circle" not in told
    assert "With a probability of 90 % it lies in the arc" in told


@pytest.mark.parametrize(("turn", "arcs"), [(150.0, 2), (0.0, 1)])
def test_rose_shows_the_arcs_that_the_text_tells_of(turn, arcs, fake_posterior, monkeypatch):
    posterior, shown = fake_posterior([20.0], [0.1]), {}
    posterior.draws[:, ::2] = (posterior.draws[:, ::2] + turn) % 360
    rose = plots.rose
    monkeypatch.setattr(plots, "rose", lambda draws, **given: shown.update(given) or rose(draws, **given))
    make_content(posterior, truth=[30.0], compass=True)
    assert shown["interval"].shape == (arcs, 2)
    assert shown["truth"] == 30.0
    assert shown["scale"].compass


def test_draws_all_round_rule_nothing_out(fake_posterior):
    posterior = fake_posterior([0.0], [1.0])
    posterior.draws = np.tile(np.linspace(0, 360, 1000, endpoint=False), (4, 1))[:, :, None]
    content = make_content(posterior)
    assert "no best guess" in words(content)
    assert content.predictions.rows[0][content.predictions.dial.mean] is not None


def test_table_keeps_order_names_and_raw_numbers(fake_posterior):
    posterior = fake_posterior([10.0, 350.0], [0.1, 0.2])
    table = make_content(posterior, truth=[12.0, np.nan]).predictions
    names = [column.name for column in table.columns]
    assert names == [
        *("place", "longitude", "latitude", "mean", "variance", "lower", "upper", "width", "truth", "in arc")
    ]
    assert [row[0] for row in table.rows] == [1.0, 2.0]
    assert [row[3] for row in table.rows] == posterior.mean.tolist()
    assert [row[names.index("in arc")] for row in table.rows] == ["yes", None]
    assert (names[table.dial.mean], names[table.dial.lower], names[table.dial.upper]) == (
        "mean",
        "lower",
        "upper",
    )


def test_input_named_like_a_result_keeps_both(fake_posterior):
    posterior = fake_posterior([10.0], [0.1], column_names=("mean", "place"))
    table = make_content(posterior).predictions
    names = [column.name for column in table.columns]
    assert names[:4] == ["place", "mean (input)", "place (input)", "mean"]
    assert len(set(names)) == len(names)
    assert table.rows[0][1] == posterior.X_new[0, 0]


def test_categories_are_written_by_name_and_make_no_map(fake_posterior):
    posterior = fake_posterior(
        [10.0, 20.0], [0.1, 0.1], X_new=np.array([[0.0, 1.0], [5.0, 0.0]]), categories={1: ("ant", "bee")}
    )
    content = make_content(posterior)
    assert [row[2] for row in content.predictions.rows] == ["bee", "ant"]
    assert not content.predictions.columns[2].numeric
    assert content.overview == ()
    assert "2 categories: ant and bee" in [fact.value for fact in content.facts]


def test_verdict_says_what_to_do(fake_posterior):
    posterior = fake_posterior(
        [10.0], [0.1], trusted=False, stopped="time limit", sentences=("R-hat is 1.7.",)
    )
    content = make_content(posterior)
    assert content.verdict.level == "bad"
    assert content.verdict.headline == "Do not use these numbers yet"
    assert "R-hat is 1.7." in content.verdict.sentences
    assert "allow more time" in content.verdict.remedies[0]
    assert all(row.good is False for row in content.diagnostics)


def test_diagnostics_of_all_places_are_one_row(fake_posterior):
    posterior = fake_posterior(np.arange(40.0), np.full(40, 0.1))
    content = make_content(posterior)
    assert [row.name for row in content.diagnostics] == ["lengthscale", "nugget", "angles (worst of 40)"]
    assert all(row.good for row in content.diagnostics)


def test_truth_in_most_arcs_keeps_the_trust(fake_posterior):
    rng = np.random.default_rng(3)
    centres = rng.uniform(0, 360, 60)
    posterior = fake_posterior(centres, np.full(60, 0.2))
    truth = (centres + np.degrees(rng.normal(scale=0.2, size=60))) % 360
    content = make_content(posterior, truth=truth)
    assert content.verdict.level == "good"
    scores = {row.name: row for row in content.scores}
    assert list(scores) == ["50 % arcs", "90 % arcs", "Median error", "CRPS", "Arc CRPS"]
    assert scores["90 % arcs"].good
    assert "better" in scores["CRPS"].words
    assert "plot_calibration" in posterior.drawn


def test_arcs_that_miss_the_truth_call_for_care(fake_posterior):
    centres = np.random.default_rng(3).uniform(0, 360, 60)
    posterior = fake_posterior(centres, np.full(60, 0.05))
    content = make_content(posterior, truth=(centres + 40) % 360)
    assert content.verdict.level == "care"
    assert "with care" in content.verdict.headline
    assert content.scores[1].values == ("0 %",)


def test_truth_at_some_places_is_scored_there(fake_posterior):
    centres = np.array([10.0, 100.0, 200.0])
    posterior = fake_posterior(centres, np.full(3, 0.1))
    content = make_content(posterior, truth=[10.0, np.nan, 200.0])
    scores = {row.name: row for row in content.scores}
    assert "(2 of 2)" in scores["90 % arcs"].words
    assert "plot_calibration" in posterior.drawn  # of the places whose truth is known
    turned = make_content(posterior, truth=[10.0, np.nan, 20.0]).scores[-2]
    # The second prediction is off by half a turn: its score is 2, and the mean of both is 1.
    assert turned.name == "CRPS"
    assert float(turned.values[0]) == pytest.approx(1.0, abs=0.02)


def test_curve_for_one_input_that_varies_and_maps_for_two(fake_posterior):
    one = fake_posterior(
        [10.0, 20.0], [0.1, 0.1], X_new=np.array([[1.0, 5.0], [2.0, 5.0]]), column_names=("hour", "c")
    )
    assert [picture.heading for picture in make_content(one).overview] == ["Predicted direction along hour"]
    two = fake_posterior([10.0, 20.0], [0.1, 0.1])
    assert len(make_content(two).overview) == 2
    three = fake_posterior([10.0, 20.0], [0.1, 0.1], X_new=np.arange(6.0).reshape(2, 3), column_names=None)
    three.X = np.ones((9, 3))
    assert make_content(three).overview == ()


def test_picture_that_makes_no_sense_is_left_out_and_one_that_breaks_is_named(fake_posterior, monkeypatch):
    posterior = fake_posterior([10.0], [0.1])
    facts = [fact.label for fact in make_content(posterior).facts]
    assert "Picture left out" not in facts  # the autocorrelation, refused with an error of ours

    def broken(compass):
        raise RuntimeError("out of ink")

    monkeypatch.setattr(posterior, "plot_parameters", broken)
    content = make_content(posterior)
    left_out = [fact.value for fact in content.facts if fact.label == "Picture left out"]
    assert left_out == ["The parameters, draw by draw: RuntimeError: out of ink"]


def test_figures_are_closed_also_after_a_failure(fake_posterior, monkeypatch):
    posterior = fake_posterior([10.0], [0.1])

    def half_done():
        posterior._plot("half")
        raise RuntimeError("out of ink")

    monkeypatch.setattr(posterior, "plot_variance", half_done)
    own = plt.figure()
    make_content(posterior)
    assert plt.get_fignums() == [own.number]
    plt.close(own)


def test_call_notes_and_title(fake_posterior):
    posterior = fake_posterior([10.0], [0.1])
    assert make_content(posterior).calls == (Call("Python", posterior.call),)
    given = (Call("shell", "vmqp predict a.csv"), Call("Python", "vmqp.regress(X)"))
    content = make_content(
        posterior, call=(*given, Call("Python", "")), notes=["3 rows were dropped."], title="Wind"
    )
    assert content.calls == given
    assert content.title == "Wind"
    assert "3 rows were dropped." in [fact.value for fact in content.facts]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": [1.0]}, r"truth has shape \(1,\), but there are 2"),
        ({"truth": ["a", "b"]}, "truth must be numbers"),
        ({"truth": [np.nan, np.nan]}, "truth must have finite angles"),
        ({"truth": [np.inf, 1.0]}, "truth must have finite angles"),
        ({"names": ["one"]}, "There are 1 names, but 2 new places"),
    ],
)
def test_wrong_input_is_refused(options, message, fake_posterior, tmp_path):
    with pytest.raises(InputError, match=message):
        report(fake_posterior([1.0, 2.0], [0.1, 0.1]), tmp_path / "report.html", **options)
    assert os.listdir(tmp_path) == []


def test_path_is_checked_before_the_work(fake_posterior, tmp_path):
    posterior = fake_posterior([1.0], [0.1])
    with pytest.raises(InputError, match="there is no directory"):
        report(posterior, tmp_path / "no" / "report.html")
    assert posterior.drawn == []


def test_posterior_without_places_is_refused(fake_posterior, tmp_path):
    posterior = fake_posterior([1.0], [0.1])
    posterior.X_new = np.empty((0, 2))
    with pytest.raises(InputError, match="no new places"):
        report(posterior, tmp_path / "report.html")


def test_a_fast_fit_says_so_and_how_its_kernel_was_chosen():
    rng = np.random.default_rng(1)
    X = rng.uniform(0.0, 10.0, (40, 2))
    y = np.degrees(np.sin(X @ [0.4, 0.3]) + 0.1 * rng.standard_normal(40)) % 360.0
    model = vmqp.CircularRegressor(period=360, inference="fast", progress=False).fit(X, y)
    content = make_content(model.posterior(X[:3] + 0.2), truth=[10.0, np.nan, 50.0])
    assert content.verdict.level == "care"
    assert content.verdict.headline == "A fast fit: good for a first look"
    assert any("uncertainty is left out" in sentence for sentence in content.verdict.sentences)
    assert [row.name for row in content.choice] == list(model.kernel_choice.index)
    assert content.choice[0].words == "chosen"
    assert content.parameter_columns == ("mean",)
    assert not content.diagnostics
    assert not any("draw by draw" in picture.heading for picture in content.pictures)
    page = render(content)
    assert "The kernel: how it was chosen" in page
    model._model.tree.attrs["replaces_chains"] = 1
    late = make_content(model.posterior(X[:3] + 0.2))
    assert late.verdict.level == "bad"
    assert "fast fit" in late.verdict.headline
    assert any("time limit came" in sentence for sentence in late.verdict.sentences)
