"""Bad data for `regress`, one case each: the error is ours, names what was given, and says what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import vmqp
from vmqp import kernels
from vmqp.errors import CheckpointError, InputError, NotPositiveDefiniteError

X = np.arange(8.0)[:, None]
Y = np.arange(8.0) * 40.0
NEW = np.array([[2.5], [9.0]])
FEW = {"period": 360, "progress": False, "chains": 1, "draws": 10, "warmup": 2}
FRAME = pd.DataFrame({"lon": np.arange(8.0), "lat": np.arange(8.0) ** 2})
FRAME_NEW = pd.DataFrame({"lon": [0.5], "lat": [1.5]})


def changed(array, row, value):
    cells = array.astype(object)
    cells[row] = value
    return cells


def with_cell(row, column, value, kind=pd.DataFrame):
    cells = {name: list(FRAME[name]) for name in FRAME}
    cells[column][row] = value
    return kind(cells, strict=False) if kind is pl.DataFrame else kind(cells)


# Tables

TABLES = {
    "text in an array": (
        {"X": changed(X, (3, 0), "n/a")},
        r"row 3 of column 0 holds 'n/a' \(X\), which is text.*give a number",
    ),
    "text in a frame": (
        {"X": with_cell(3, "lat", "n/a"), "X_new": FRAME_NEW},
        r"row 3 of column 'lat' holds 'n/a'.*drop the row or give a number",
    ),
    "text in new places": (
        {"X": FRAME, "X_new": FRAME_NEW.assign(lat=["n/a"])},
        r"row 0 of column 'lat' holds 'n/a' \(X_new.*give a number",
    ),
    "text in y": ({"y": changed(Y, 2, "east")}, r"row 2 of y holds 'east', which is text.*give a number"),
    "NaN in X": ({"X": changed(X, (5, 0), np.nan)}, r"row 5 of column 0 holds NaN.*drop the row or fill in"),
    "None in a frame": (
        {"X": with_cell(5, "lon", None, pl.DataFrame), "X_new": FRAME_NEW},
        r"row 5 of column 'lon' holds N.*drop the row or fill in",
    ),
    "NaN in X_new": ({"X_new": [[1.5], [np.nan]]}, r"row 1 of column 0 holds NaN \(X_new\).*drop the row"),
    "NaN in y": ({"y": changed(Y, 6, np.nan)}, r"row 6 of y holds NaN.*drop the row.*leave X_new out"),
    "nothing to predict": ({"X_new": None}, r"X_new was not given, and no value of y is missing.*give X_new"),
    "one angle": ({"y": [1.0] + [None] * 7, "X_new": None}, r"7 of 8 values of y are missing.*at least 2"),
    "NaN in X of a gap": (
        {"X": changed(X, (6, 0), np.nan), "y": changed(Y, 6, np.nan), "X_new": None},
        r"row 6 of column 0 holds NaN.*drop the row",
    ),
    "gaps in other rows": ({"y": [1.0, None], "X_new": None}, r"X has 8 rows and y has 2"),
    "infinite": (
        {"X": changed(X, (1, 0), -np.inf)},
        r"row 1 of column 0 holds -inf.*finite number is needed",
    ),
    "infinite y": ({"y": changed(Y, 1, np.inf)}, r"row 1 of y holds inf.*finite number is needed"),
    "empty": ({"X": np.empty((0, 1)), "y": []}, r"X has no rows: give at least one"),
    "empty frame": ({"X": FRAME[:0], "y": [], "X_new": FRAME_NEW}, r"X has no rows: give at least one"),
    "no columns": ({"X": np.empty((8, 0))}, r"X has 0 feature\(s\).*Give at least one column"),
    "no new rows": ({"X_new": np.empty((0, 1))}, r"X_new has no rows: give at least one"),
    "one row": ({"X": X[:1], "y": Y[:1]}, r"1 sample, but at least 2 observed angles are needed"),
    "lengths": ({"y": Y[:7]}, r"X has 8 rows and y has 7: give one angle for each row"),
    "one dimension": ({"X": X[:, 0]}, r"X has one dimension, of 8 values.*X\[:, None\]"),
    "three dimensions": ({"X": X[:, :, None]}, r"X has 3 dimensions, \(8, 1, 1\)"),
    "y with two columns": ({"y": np.stack([Y, Y], axis=1)}, r"y has 2 columns, where one is needed"),
    "rows of different lengths": ({"X": [[1.0], [2.0, 3.0]]}, r"row 0 of X has 1 values and row 1 has 2"),
    "complex": ({"X": X + 1j}, r"Complex data not supported"),
    "no table": ({"X": 3.0}, r"X is 3\.0.*not a table: give an array or a frame"),
    "more columns": (
        {"X_new": [[1.5, 2.0]]},
        r"X_new has 2 features, but vmqp is expecting 1 .*same columns",
    ),
    "another name": (
        {"X": FRAME, "X_new": FRAME_NEW.rename(columns={"lat": "Latitude"})},
        r"X_new has no column 'lat', which X has.*did you mean 'Latitude'\?",
    ),
    "dates": (
        {"X": FRAME.assign(lon=pd.date_range("2024-01-01", periods=8)), "X_new": FRAME_NEW},
        r"row 0 of column 'lon' holds Timestamp.*convert dates",
    ),
    "doubled names": (
        {"X": pd.DataFrame(np.ones((8, 2)), columns=["a", "a"])},
        r"X has 2 columns with the name 'a'.*a name of its own",
    ),
    "constant": (
        {"X": np.full((8, 1), 3.0), "X_new": [[3.0]]},
        r"column 0 of X holds 3 in every row.*drop it",
    ),
    "constant category": (
        {"X": FRAME.assign(lon="sea"), "X_new": FRAME_NEW.assign(lon="sea")},
        r"column 'lon' of X holds sea in every row.*drop it",
    ),
    "too large": ({"X": X * 1e200}, r"column 0 of X has values as large as .*: give it in a larger unit"),
    "too small": (
        {"X": X * 1e-200, "X_new": [[0.0]]},
        r"column 0 of X has values that differ by .* smaller unit",
    ),
    "no float": ({"X": changed(X, (0, 0), 10**400)}, r"row 0 of column 0 holds an integer .*rescale"),
    "beyond the period": (
        {"y": changed(Y, 2, 355.0), "period": 2.0 * np.pi},
        r"y has values up to 355, outside a period of 6\.283: did you mean period=360\?",
    ),
    "hours as radians": ({"y": np.arange(8.0) * 3.0, "period": "radians"}, r"did you mean period=24\?"),
    "below the period": ({"y": Y - 200.0}, r"y has values down to -200"),
    "off the earth": (
        {"X": FRAME * 10.0, "X_new": FRAME_NEW, "metric": "geographic"},
        r"row 4 of X has longitude 40 and latitude 160, which is not on the earth|row 4 is off the earth",
    ),
    "new place off the earth": (
        {"X": FRAME, "X_new": FRAME_NEW + 90.0, "metric": "geographic"},
        r"row 0 of X_new has longitude 90\.5 and latitude 91\.5, which is not on the earth",
    ),
    "one geographic column": ({"metric": "geographic"}, r"metric='geographic'.* 1 .*longitude"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(refused, name):
    given, message = TABLES[name]
    refused(message, **given)


@pytest.mark.parametrize(
    "name", ["text in new places", "NaN in X_new", "another name", "new place off the earth"]
)
def test_new_locations_are_read_before_anything_is_learned(refused, monkeypatch, name):
    def learned(*_, **__):
        raise AssertionError("the chains run")

    monkeypatch.setattr("vmqp.regression.fitting.run_chains", learned)
    given, message = TABLES[name]
    refused(message, **given)


def test_more_locations_than_memory(refused, monkeypatch):
    monkeypatch.setattr("vmqp.run.machine.memory", lambda: 1e9)
    many = np.linspace(0.0, 1.0, 50_000)[:, None]
    message = r"{} need about .* GB.*: give at most \d+ places"
    new = message.format("8 observed and 50000 new places")
    refused(new, X_new=many, precision="dense", transductive=True)
    observed = message.format("50000 observed and 0 new places")
    refused(observed, X=many, y=np.zeros(50_000), precision="dense")


def test_a_simulation_that_does_not_fit_its_bound():
    options = FEW | {"memory": "300MB", "kernel": "1 * exponential(1)", "concentration": 0}
    model = vmqp.CircularRegressor(**options).fit(X, Y)
    with pytest.raises(
        InputError,
        match=r"200 joint draws of 50,000 locations need about .* but the bound is 0\.3 GB: draw fewer",
    ):
        model.simulate(np.linspace(10.0, 11.0, 50_000)[:, None])


# Repeated places


def test_repeated_rows_without_noise(refused):
    X = np.concatenate([np.arange(7.0), [3.0]])[:, None]
    message = refused(r"row 3 of X and row 7 of X are the same place", X=X, kernel="1 * exponential(1)")
    assert "add noise" in message


def test_rows_that_are_almost_repeated(refused):
    X = np.concatenate([np.arange(7.0), [3.0 + 1e-15]])[:, None]
    kernel = 1.0 * kernels.Gaussian(1.0)
    refused(r"rows 3 and 7.*[Nn]ugget.*noise", X=X, kernel=kernel, error=NotPositiveDefiniteError)


# Checkpoints


@pytest.fixture
def elsewhere(tmp_path_factory):
    return tmp_path_factory.mktemp("elsewhere")


def test_a_checkpoint_in_the_place_of_a_file(refused, elsewhere):
    (elsewhere / "file").write_text("mine")
    refused(
        r"file is a file, but a directory is needed", checkpoint=elsewhere / "file", error=CheckpointError
    )
    refused(r"cannot be made or written", checkpoint=elsewhere / "file" / "run", error=CheckpointError)
    assert (elsewhere / "file").read_text() == "mine"


def test_an_unwritable_checkpoint(refused, elsewhere, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", denied)  # as the superuser nothing is denied
    monkeypatch.setattr("os.mkdir", denied)
    monkeypatch.setattr("os.makedirs", denied)
    refused(r"Permission denied.*give a directory", checkpoint=elsewhere / "run", error=CheckpointError)
    assert list(elsewhere.iterdir()) == []


def test_a_checkpoint_of_another_run(refused, elsewhere):
    options = {"period": 360, "progress": False, "chains": 1, "draws": 2, "warmup": 2}
    vmqp.regress(X, Y, NEW, checkpoint=elsewhere / "run", **options)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    message = refused(r"run", y=Y[::-1].copy(), checkpoint=elsewhere / "run", error=CheckpointError)
    assert "another" in message
    assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before


def test_a_folder_with_other_things(refused, elsewhere):
    (elsewhere / "thesis.tex").write_text("mine")
    message = r"holds 'thesis.tex'.*not a checkpoint: give an empty or a new directory"
    refused(message, checkpoint=elsewhere, error=CheckpointError)
    assert [path.name for path in elsewhere.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "bad", [{"y": Y * 2.0}, {"draws": 0}, {"kernel": "nonsense"}, {"noise": -1}], ids=str
)
def test_bad_input_makes_no_checkpoint(refused, elsewhere, bad):
    refused(r": give|\^", checkpoint=elsewhere / "run", **bad)
    assert list(elsewhere.iterdir()) == []


# After the fit


@pytest.fixture(scope="module")
def fitted():
    return vmqp.CircularRegressor(**FEW).fit(X, Y)


@pytest.fixture(scope="module")
def of_frames():
    return vmqp.CircularRegressor(**FEW, metric="geographic").fit(FRAME, Y)


def one_sentence(message, call):
    with pytest.raises(InputError, match=message) as found:
        call()
    text = str(found.value)
    assert text.endswith((".", "?"))
    assert "\n" not in text


@pytest.mark.parametrize("n", [0, -1, 11, 1.5, True, "all"])
def test_number_of_samples(fitted, n):
    with pytest.raises(
        InputError, match=r"n is .*, but there are 10 draws: give a number from 1 to that, or None"
    ):
        fitted.sample(NEW, n)


@pytest.mark.parametrize("ask", ["simulate", "joint_posterior"])
@pytest.mark.parametrize("draws", [0, -1, 1.5, True, "all"])
def test_number_of_joint_draws(fitted, ask, draws):
    with pytest.raises(
        InputError, match=r"draws is .*, but it is the number of joint draws: give a whole number"
    ):
        getattr(fitted, ask)(NEW, draws)


def test_scores_with_another_number_of_angles(fitted):
    with pytest.raises(InputError, match="there are 2 predicted places and y_true has 3 rows"):
        fitted.score(NEW, [1.0, 2.0, 3.0])


NEW_LOCATIONS = {
    "one dimension": ([2.5, 9.0], r"X_new has one dimension, of 2 values.*X_new\[:, None\]"),
    "more columns": ([[2.5, 1.0]], r"X_new has 2 features, but vmqp is expecting 1 .*same columns"),
    "text": ([["n/a"]], r"row 0 of column 0 holds 'n/a' \(X_new\), which is text"),
    "not finite": ([[np.inf]], r"row 0 of column 0 holds inf \(X_new\).*finite number"),
    "none": (np.empty((0, 1)), r"X_new has no rows: give at least one"),
    "out of scale": ([[1e200]], r"column 0 of X has values as large as 1e\+200: give it in a larger unit"),
}
NEW_TABLES = {
    "another name": (
        FRAME_NEW.rename(columns={"lat": "Latitude"}),
        r"no column 'lat', which X has.*'Latitude'\?",
    ),
    "fewer columns": (FRAME_NEW[["lon"]], r"X_new has no column 'lat', which X has"),
    "an array": ([[2.5, 1.0, 3.0]], r"X_new has 3 features, but vmqp is expecting 2"),
    "off the earth": (FRAME_NEW + 90.0, r"row 0 of X_new has longitude 90\.5 and latitude 91\.5"),
}


@pytest.mark.parametrize("ask", ["posterior", "predict", "sample", "simulate", "joint_posterior"])
@pytest.mark.parametrize("name", NEW_LOCATIONS)
def test_new_locations_of_a_model_of_arrays(fitted, ask, name):
    given, message = NEW_LOCATIONS[name]
    one_sentence(message, lambda: getattr(fitted, ask)(given))


@pytest.mark.parametrize("ask", ["posterior", "simulate"])
@pytest.mark.parametrize("name", NEW_TABLES)
def test_new_locations_of_a_model_of_frames(of_frames, ask, name):
    given, message = NEW_TABLES[name]
    one_sentence(message, lambda: getattr(of_frames, ask)(given))


def test_a_frame_for_a_model_of_arrays(fitted):
    """It has the one column that is needed, whatever its name."""
    np.testing.assert_array_equal(fitted.predict(pd.DataFrame({"x": NEW[:, 0]})), fitted.predict(NEW))
    one_sentence(r"X_new has 2 features, but vmqp is expecting 1", lambda: fitted.posterior(FRAME_NEW))


CONDITIONS = {
    "other columns": (
        lambda: (FRAME.rename(columns={"lat": "Latitude"}), Y),
        r"X has no column 'lat'.*'Latitude'\?",
    ),
    "more columns": (lambda: (np.ones((8, 3)), Y), r"X has 3 features, but vmqp is expecting 2"),
    "lengths": (lambda: (FRAME, Y[:7]), r"X has 8 rows and y has 7: give one angle for each row"),
    "period": (lambda: (FRAME, Y * 100.0), r"y has values up to 28000, outside a period of 360"),
    "no angle": (lambda: (FRAME, changed(Y, 6, np.nan)), r"row 6 of y holds NaN"),
    "off the earth": (lambda: (FRAME * 10.0, Y), r"row 4 of X .*longitude 40 and latitude 160"),
    "no rows": (lambda: (FRAME[:0], Y[:0]), r"X has no rows: give at least one"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_other_observations_that_do_not_fit_the_model(of_frames, name):
    make, message = CONDITIONS[name]
    one_sentence(message, lambda: of_frames.condition(*make()))


def test_repeated_other_observations_without_noise():
    model = vmqp.CircularRegressor(**FEW, kernel="1 * exponential(1)", concentration=0).fit(X, Y)
    repeated = np.concatenate([np.arange(7.0), [3.0]])[:, None]
    one_sentence(r"row 3 of X and row 7 of X are the same place", lambda: model.condition(repeated, Y))
