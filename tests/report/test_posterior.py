"""The report of a real posterior: all that it asks of one is there, and no picture fails."""

import numpy as np
import pandas as pd
import pytest

import vmqp
from vmqp.report.build import make_content, report

# Far too few draws to converge: what is tested is that the two rooms fit together.
pytestmark = pytest.mark.filterwarnings("ignore::vmqp.errors.ConvergenceWarning")
SHORT = {"draws": 40, "warmup": 40, "chains": 2, "progress": False, "seed": 3}


@pytest.fixture(scope="module")
def stations():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"lon": rng.uniform(5, 15, 20), "lat": rng.uniform(47, 55, 20)})
    return table.assign(dir=(20 * table["lon"] + rng.normal(scale=5, size=20)) % 360)


@pytest.fixture(scope="module")
def wind(stations):
    known, new = stations.iloc[:14], stations.iloc[14:]
    return vmqp.regress(known[["lon", "lat"]], known["dir"], new[["lon", "lat"]], period=360, **SHORT)


def left_out(content):
    return [fact.value for fact in content.facts if fact.label == "Picture left out"]


def test_map(wind, stations):
    content = make_content(wind, truth=stations["dir"].iloc[14:], compass=True)
    assert left_out(content) == []
    assert [picture.heading for picture in content.overview] == [
        "Map of the predicted direction",
        "Where the prediction is sure, and where it is not",
    ]
    assert [picture.heading for picture in content.pictures] == [
        "Are the probabilities honest?",
        "The parameters, draw by draw",
        "How long the chains remember",
    ]
    assert all(place.picture is not None for place in content.highlighted)
    assert content.verdict.level == "bad"
    assert {row.name for row in content.parameters} == set(wind.parameters)
    assert {row.name for row in content.diagnostics} == set(wind.parameters)
    assert [row[3] for row in content.predictions.rows] == wind.mean.tolist()
    assert content.calls[0].text == wind.call
    facts = {fact.label: fact.value for fact in content.facts}
    assert facts["How it was predicted"].endswith(
        "a mixture over 80 of 80 parameter draws, conditioned on all 14 observed locations"
    )
    assert "predicted on its own" in content.remarks[0]
    assert any("Monte Carlo error" in sentence for sentence in content.verdict.sentences)


def test_joint_draws(stations):
    known, new = stations.iloc[:14], stations.iloc[14:]
    given = known[["lon", "lat"]], known["dir"]
    together = vmqp.regress(*given, new[["lon", "lat"]], period=360, transductive=True, **SHORT)
    content = make_content(together, truth=new["dir"])
    assert left_out(content) == []
    assert [row.name for row in content.diagnostics][-1] == "angles (worst of 6)"
    facts = {fact.label: fact.value for fact in content.facts}
    assert facts["How it was predicted"].startswith("all locations together and together with the parameters")
    assert "depend on the set" in content.remarks[0]
    drawn = vmqp.CircularRegressor(period=360, **SHORT).fit(*given).joint_posterior(new[["lon", "lat"]])
    content = make_content(drawn)
    assert left_out(content) == []
    facts = {fact.label: fact.value for fact in content.facts}
    assert "by conditional simulation" in facts["How it was predicted"]


def test_page_of_a_real_posterior_is_small(wind, tmp_path):
    assert 50_000 < report(wind, tmp_path / "report.html").stat().st_size < 2_000_000


def test_line_in_hours_and_plain_arrays():
    hours = np.linspace(0, 6, 8)
    post = vmqp.regress(hours[:, None], (22 + hours) % 24, [[1.5], [2.5], [7.0]], period=24, **SHORT)
    content = make_content(post)
    assert left_out(content) == []
    assert [picture.heading for picture in content.overview] == ["Predicted time along x0"]
    assert content.title == "Predicted times at 3 places"
    assert ":" in content.highlighted[0].sentences[0]


def test_categories():
    table = pd.DataFrame({"species": ["ant", "bee"] * 4, "temp": np.arange(8.0)})
    post = vmqp.regress(table, np.linspace(-1, 1, 8), table.iloc[:2], period=2 * np.pi, **SHORT)
    content = make_content(post)
    assert left_out(content) == []
    assert content.overview == ()
    assert [row[1] for row in content.predictions.rows] == ["ant", "bee"]
    assert "−" in content.predictions.columns[3].text(-0.5)
