"""Table 1: a short run of all models on the wind data, its splits, and the committed numbers of the full run."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vmqp.errors import InputError
from vmqp.paper import make, table1
from vmqp.paper.frame import Setting
from vmqp.paper.table1 import SEEDS, _agreement, _split
from vmqp.paper.table1_models import ELEVATION, NUGGET, PAPER, make_models

ROOT = Path(__file__).parents[2]
WIND = ROOT.parent / "shared" / "data" / "wind_germany.csv"
FULL = ROOT / "docs" / "paper"


@pytest.mark.xdist_group("paper-table1")
def test_a_short_run_scores_every_model(tmp_path):
    data = WIND if WIND.exists() else None
    outcome = make("table1", out=tmp_path, quick=True, data=data, progress=False)
    table = outcome.tables["table1"].set_index("model")
    expected = [*PAPER, NUGGET, *([ELEVATION] if data else []), "climatology"]
    assert table.index.tolist() == expected
    assert table["crps"].between(0.0, 0.5).all()
    assert table.drop("climatology")[["crps_arc", "log_score", "rhat"]].notna().all(axis=None)
    if data is None:
        assert table["paper_crps"].isna().all(), "the paper's numbers are not those of generated stations"
        assert "nothing can be compared" in outcome.agrees
    else:  # the training directions themselves: known to four digits
        assert table.loc["wrapped GP", "paper_crps"] == 0.283
        assert table.loc["climatology", "crps"] == pytest.approx(0.0633, abs=5e-5)
        # A model that has learned nothing is no better than that; 100 short draws are enough to see it.
        assert table.loc[NUGGET, "crps"] < table.loc["climatology", "crps"]
    for name in ("table1.png", "table1.svg", "table1.csv", "table1_fits.csv", "table1.md", "table1.json"):
        assert (tmp_path / "table1" / name).stat().st_size > 0
    assert json.loads((tmp_path / "table1" / "table1.json").read_text())["seed"] == 0


def test_splits_are_those_of_the_published_recipe():
    learned, held = _split(260, 0.2, 18)
    assert set(held) == set(np.random.RandomState(18).choice(260, 52, replace=False))
    assert sorted([*learned, *held]) == list(range(260))
    assert [len(_split(260, share, 1)[1]) for share in (0.1, 0.3, 0.4)] == [26, 78, 104]


def test_noiseless_models_have_the_priors_of_the_paper(tmp_path):
    models = make_models(Setting(out=tmp_path), elevation=True)
    assert len(models) == 6
    for name in ("vMQP Gaussian", "vMQP exponential", "wrapped GP"):
        text = repr(models[name].kernel)
        assert "HalfNormal(scale=1.0) *" in text
        assert "Squared" in text
        assert "Nugget" not in text


def test_models_of_the_papers_process_are_transductive(tmp_path):
    models = make_models(Setting(out=tmp_path), elevation=True)
    own = [models[name] for name in ("vMQP Gaussian", "vMQP exponential", NUGGET, ELEVATION)]
    assert [(model.transductive, model.drift) for model in own] == [(True, "constant")] * 4


def test_agreement_names_the_wrapped_process_and_the_nugget():
    rows = [
        {"model": name, "test": share, "crps": value}
        for share in (0.1, 0.2, 0.3, 0.4)
        for name, value in (("wrapped GP", 0.06), ("vMQP exponential", 0.0605), (NUGGET, 0.0571))
    ]
    text = _agreement(pd.DataFrame(rows), published=True, quick=False)
    assert "above 0.057" in text
    assert "0.060 to 0.060" in text


class Fake:
    """A comparison whose fits are given."""

    def __init__(self, fits, failures=None, complete=True):
        self.fits, self.failures, self.complete = pd.DataFrame(fits), failures or {}, complete


def fitted(monkeypatch, tmp_path, answers):
    """`_compared` with answers in place of fits, in the order in which they are asked for."""
    waiting, asked = list(answers), []

    def compare(models, *args, checkpoint, **options):
        asked.append((sorted(models), checkpoint.name))
        return waiting.pop(0)

    monkeypatch.setattr(table1, "compare", compare)
    monkeypatch.setattr(table1, "replace", lambda found, fits: fits)
    frame = pd.DataFrame({"longitude": [1.0] * 10, "latitude": [1.0] * 10, "direction_deg": [1.0] * 10})
    models = make_models(Setting(out=tmp_path), elevation=False)
    return table1._compared(Setting(out=tmp_path), models, frame, 0.2, (1, 2)), asked


FITS = [
    {"model": "wrapped GP", "fold": 0, "rhat": 1.01, "ess": 300.0},
    {"model": "wrapped GP", "fold": 1, "rhat": 1.03, "ess": 300.0},
    {"model": NUGGET, "fold": 0, "rhat": 1.01, "ess": 150.0},
    {"model": NUGGET, "fold": 1, "rhat": np.nan, "ess": 300.0},
]


def test_fits_that_did_not_converge_are_made_again_and_left_out_if_they_do_not_even_then(
    monkeypatch, tmp_path
):
    again = [
        Fake([{"model": "wrapped GP", "fold": 0, "rhat": 1.011, "ess": 400.0}]),
        Fake([{"model": NUGGET, "fold": 0, "rhat": 1.05, "ess": 400.0}]),
        Fake([{"model": NUGGET, "fold": 0, "rhat": 1.012, "ess": 400.0}]),
    ]
    fits, asked = fitted(monkeypatch, tmp_path, [Fake(FITS), *again])
    assert [name for _, name in asked] == ["20", "20-longer-1", "20-longer-0", "20-longer-1"]
    assert sorted(fits["rhat"]) == [1.01, 1.011, 1.012]
    assert fits["fold"].tolist() == [0, 1, 1]


def test_ctrl_c_ends_the_table_and_what_could_not_be_fitted_is_named(monkeypatch, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fitted(monkeypatch, tmp_path, [Fake(FITS[:1], complete=False)])
    with pytest.raises(InputError, match=r"needs all of its models\. wrapped GP: too near"):
        fitted(monkeypatch, tmp_path, [Fake(FITS[:1], {"wrapped GP": "too near"})])


def test_the_wall_time_of_calls_that_were_stopped_is_added_up(tmp_path):
    (tmp_path / "fits").mkdir()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), table1._clock(Setting(out=tmp_path)):
            raise KeyboardInterrupt
    kept = tmp_path / "fits" / "wall.json"
    first = json.loads(kept.read_text())["seconds"]
    kept.write_text('{"seconds": 100.0}')
    with table1._clock(Setting(out=tmp_path)) as clock:
        pass
    assert first > 0.0
    assert clock["seconds"] > 100.0
    with table1._clock(Setting(out=tmp_path, quick=True)) as clock:
        pass
    assert clock["seconds"] < 100.0


def full_run() -> pd.DataFrame:
    return pd.read_csv(FULL / "table1_fits.csv")


def test_the_full_run_has_all_fits_and_all_converged():
    fits, record = full_run(), json.loads((FULL / "table1.json").read_text(encoding="utf-8"))
    assert len(fits) == 6 * 4 * 7
    assert record["facts"]["left_out"] == 0
    assert not fits.duplicated(["model", "test", "seed"]).any()
    assert set(fits["seed"]) == set(SEEDS)
    assert fits["rhat"].max() <= 1.02


def test_the_table_is_the_mean_of_the_fits():
    fits, table = full_run(), pd.read_csv(FULL / "table1.csv").set_index(["model", "test"])
    means = fits.groupby(["model", "test"])["crps"].mean()
    for key, value in means.items():
        assert table.loc[key, "crps"] == pytest.approx(value, rel=1e-6)
    assert means[NUGGET, 0.2] <= 0.057
