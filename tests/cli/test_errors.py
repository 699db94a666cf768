"""What is wrong is said in one paragraph, with exit code 2, and nothing is left behind on disk."""

import json
from pathlib import Path

import pandas as pd
import pytest

from command_lines import SHORT, predict
from vmqp.errors import InputError


def state() -> dict[str, bytes]:
    """All files below the current directory; directories count too."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in Path().rglob("*")}


@pytest.fixture
def refused(call):
    """Run a command that must fail, and return what it says."""

    def run(arguments, *words, notes=""):
        before = state()
        answer = call(arguments)
        assert answer.code == 2, answer
        assert "Traceback" not in answer.err
        assert answer.err.startswith("error: ")
        assert answer.out.startswith(notes) if notes else not answer.out
        for word in words:
            assert word in answer.err, answer.err
        assert state() == before
        return answer.err

    return run


def write(text: str, name: str = "table.csv") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def table(*rows: str) -> str:
    return write("\n".join(["lon,lat,dir", *rows]) + "\n")


GOOD = ("8,50,10", "9,51,20", "10,50,30", "11,51,40", "12,50.5,50")


def test_a_missing_file_suggests_the_nearest(refused):
    refused(predict("--holdout", "0.2", file="station.csv"), "station.csv", "did you mean stations.csv?")


def test_a_missing_column_suggests_the_nearest(refused):
    arguments = ["predict", "stations.csv", "--angle", "dri", "--inputs", "lon,lat", "--holdout", "0.2"]
    refused(arguments, "'dri'", "did you mean 'dir'?")
    arguments = ["predict", "stations.csv", "--angle", "dir", "--inputs", "lon,latt", "--holdout", "0.2"]
    refused(arguments, "'latt'", "did you mean 'lat'?")


def test_text_in_a_column_of_numbers_names_the_line(refused):
    refused(predict("--holdout", "0.2", file=table(*GOOD, "east,50,60")), "line 7", "'east'", "'lon'")
    refused(predict("--holdout", "0.2", file=table(*GOOD, "8.5,50,north")), "line 7", "'north'", "'dir'")


@pytest.mark.usefixtures("without_report")
def test_a_row_with_a_blank_input_is_dropped_and_said_so(call):
    arguments = predict("--holdout", "0.2", *SHORT, file=table(*GOOD, "8.5,,60", "8.7,51.5,70"))
    answer = call(arguments)
    assert answer.code == 0
    assert "1 of 7 rows was dropped because 'lat' is blank." in answer.out


def test_no_rows_left(refused):
    refused(predict("--holdout", "0.2", file=table("8,,10", "9,50,")), "no row", "blank")


def test_an_empty_table(refused):
    refused(predict("--holdout", "0.2", file=write("")), "empty")
    refused(predict("--holdout", "0.2", file=write("lon,lat,dir\n")), "no rows")


def test_one_row(refused):
    refused(predict("--holdout", "0.2", file=table("8,50,10")), "leaves 1 to learn from")
    write("lon,lat\n9,50\n", "places.csv")
    refused(predict("--at", "places.csv", file=table("8,50,10")), "at least 2")


def test_a_constant_column(refused):
    rows = ("8,50,10", "9,50,20", "10,50,30", "11,50,40", "12,50,50")
    refused(predict("--holdout", "0.2", file=table(*rows)), "'lat'", "50", "drop it")


def test_repeated_rows_without_noise_name_their_lines(refused):
    file = table(*GOOD, "9,51,25")
    write("lon,lat\n9.5,50.7\n", "places.csv")
    words = ("line 3 of table.csv", "line 7 of table.csv", "--noise learned", "exponential + nugget")
    refused(predict("--at", "places.csv", "--kernel", "exponential", file=file), *words)
    write("lon,lat\n9.5,50.7\n8,50\n", "places.csv")
    told = ("line 2 of table.csv", "row 2 of the locations in places.csv")
    exact = predict("--at", "places.csv", "--kernel", "exponential", file=table(*GOOD))
    refused([*exact, "--transductive"], *told)


@pytest.mark.usefixtures("without_report")
def test_an_observed_location_is_predicted_as_it_was_observed(call):
    write("lon,lat\n9.5,50.7\n8,50\n", "places.csv")
    exact = ("--kernel", "1.0 * exponential(lengthscale=2.0)", *SHORT, "--out", "run")
    assert call(predict("--at", "places.csv", *exact, file=table(*GOOD))).code == 0
    found = pd.read_csv("run/predictions.csv")
    assert found["mean"][1] == pytest.approx(10.0)
    assert found["variance"][1] < 1e-9 < found["variance"][0]


def test_infinite_values(refused):
    refused(predict("--holdout", "0.2", file=table(*GOOD, "inf,50,60")), "line 7", "infinite")
    refused(predict("--holdout", "0.2", file=table(*GOOD, "8.5,50,inf")), "line 7", "infinite")


def test_places_with_other_columns(refused):
    write("lon,height\n9,50\n", "places.csv")
    refused(predict("--at", "places.csv"), "places.csv", "'lat'")


def test_true_angles_that_are_none_of_the_period(refused):
    write("lon,lat,dir\n9,50,400\n9,51,20\n", "places.csv")
    refused(
        predict("--at", "places.csv"), "'dir' of places.csv", "from 20 to 400", "period 360", "the same unit"
    )
    write("lon,lat,mean\n9,50,40\n", "places.csv")
    pd.read_csv("stations.csv").rename(columns={"dir": "mean"}).to_csv("other.csv", index=False)
    arguments = ["predict", "other.csv", "--angle", "mean", "--inputs", "lon,lat", "--at", "places.csv"]
    refused(arguments, "'mean' of places.csv", "the name of a column of the results", "rename it")


def test_what_cannot_be_filled(refused):
    refused(predict("--fill", file=table(*GOOD)), "no 'dir' is blank in table.csv", "--holdout")
    refused(predict("--fill", file=table(*GOOD, "8,,")), "of the 1 rows", "none has all of lon, lat")
    refused(predict("--fill", "--grid", "3x3"), "--grid and --fill were given")
    pd.read_csv("stations.csv").assign(lower=1).to_csv("other.csv", index=False)
    refused(predict("--fill", file="other.csv"), "other.csv has a column 'lower'", "rename it")
    pd.read_csv("stations.csv").rename(columns={"lon": "log_score"}).to_csv("other.csv", index=False)
    arguments = ["predict", "other.csv", "--angle", "dir", "--inputs", "log_score,lat", "--fill"]
    refused(arguments, "'log_score' has the name of a column of the results")
    refused(predict(), "nothing says what to predict", "--at FILE", "--holdout 0.2", "or --fill")


def test_places_with_text_where_the_stations_have_numbers(refused):
    write("lon,lat\neast,50\nwest,51\nnorth,52\n", "places.csv")
    refused(predict("--at", "places.csv"), "'lon'", "numbers")


def test_places_that_are_not_on_the_earth_are_refused_before_learning(refused):
    write("lon,lat\n9,50\n9,150\n", "places.csv")
    refused(predict("--at", "places.csv", "--metric", "geographic"), "the locations", "not on the earth")


def test_angles_outside_the_period_suggest_one(refused):
    arguments = ["predict", "stations.csv", "--angle", "dir", "--inputs", "lon,lat", "--holdout", "0.2"]
    refused(arguments, "outside a period of 6.283", "did you mean --period 360?")


def test_an_unknown_period(refused):
    arguments = ["predict", "stations.csv", "--angle", "dir", "--inputs", "lon,lat", "--period", "degres"]
    refused([*arguments, "--holdout", "0.2"], "did you mean 'degrees'?")


def test_a_kernel_that_cannot_be_read_points_at_the_place(refused):
    said = refused(predict("--holdout", "0.2", "--kernel", "2 * gausian(300)"), "did you mean 'gaussian'?")
    line, pointer = said.rstrip().split("\n")[-2:]
    assert pointer.index("^") == line.index("gausian")


def test_an_output_that_cannot_be_written(refused):
    write("a file", "note")
    refused(predict("--holdout", "0.2", "--out", "note"), "note is a file", "--out")
    refused(predict("--holdout", "0.2", "--out", "note/run"), "cannot be written", "--out")


def test_a_directory_that_holds_another_run(refused, copied):
    refused(predict("--holdout", "0.3", "--out", "run"), "another run", "vmqp resume run", "--overwrite")


def test_the_same_request_again_says_that_it_is_finished(refused, copied, finished):
    arguments = json.loads((copied / "request.json").read_text())["command"][1:-1]
    refused([*arguments, "run"], "is finished", "vmqp resume run")


def test_a_directory_with_other_files(refused):
    Path("run").mkdir()
    write("mine", "run/notes.txt")
    refused(predict("--holdout", "0.2", "--out", "run"), "notes.txt", "--overwrite")
    write("mine", "run/data.csv")  # a name of ours: not even --overwrite may take it
    refused(predict("--holdout", "0.2", "--out", "run", "--overwrite"), "'data.csv'", "not of a run")


def test_a_run_does_not_replace_the_table_that_it_is_made_from(refused, copied):
    arguments = predict("--holdout", "0.3", "--out", "run", "--overwrite", file="run/data.csv")
    refused(arguments, "would be replaced")


def test_a_grid_that_is_none(refused):
    refused(predict("--grid", "60by40"), "'60by40'", "--grid 60x40")
    refused(predict("--grid", "1x40"), "at least 2")


def test_a_grid_needs_two_inputs_of_numbers(refused):
    arguments = [
        "predict",
        "stations.csv",
        "--angle",
        "dir",
        "--inputs",
        "lon",
        "--period",
        "360",
        "--grid",
        "5x5",
    ]
    refused(arguments, "two inputs")


def test_a_share_that_is_none(refused):
    refused(predict("--holdout", "20"), "'20'", "--holdout 0.2")
    refused(predict("--holdout", "some"), "'some'")


def test_nothing_says_what_to_predict(refused):
    refused(predict(), "--at", "--grid", "--holdout")
    refused(predict("--grid", "5x5", "--holdout", "0.2"), "--grid and --holdout were given")


def test_options_that_are_not_known_or_too_small(refused):
    refused(predict("--holdout", "0.2", "--chians", "2"), "--chains", "vmqp predict --help")
    refused(predict("--holdout", "0.2", "--chains", "1"), "--chains is 1")
    refused(predict("--holdout", "0.2", "--metric", "sphere"), "geographic")
    refused(predict("--holdout", "0.2", "--engine", "gpu"), "dask://host:port")
    refused(predict("--holdout", "0.2", "--time-limit", "soon"), "10m")
    refused(predict("--holdout", "0.2", "--noise", "learn"), "'learned'")
    refused(predict("--holdout", "0.2", "--noise", "-3"), "above 0")
    refused(predict("--holdout", "0.2", "--precision", "sparse"), "'sparse' is not known: did you mean")
    refused(predict("--holdout", "0.2", "--neighbors", "0"), "--neighbors is 0", "give 1 or more")
    refused(predict("--holdout", "0.2", "--drift", "auto"), "The choices are constant, mean.")
    refused(predict("--holdout", "0.2", "--parameter-draws", "0"), "--parameter-draws is 0")
    refused(["predict", "stations.csv", "--angle", "dir", "--grid", "5x5"], "--inputs is missing", "lon,lat")
    refused(["predct"], "'predict'")


def test_a_column_of_noise_that_is_none(refused):
    stations = pd.read_csv("stations.csv").assign(chi=0.0)
    stations.to_csv("stations.csv", index=False)
    refused(predict("--holdout", "0.2", "--noise", "chi"), "a value of 0", "above 0")
    refused(predict("--holdout", "0.2", "--noise", "name"), "column of text")


@pytest.fixture
def late_error(monkeypatch):
    """An error when the request is on disk already."""

    def learn(work, limits):
        assert work.folder.request.exists()
        raise InputError("the sampler does not like it.")

    monkeypatch.setattr("vmqp.cli.work.Work.learn", learn)


@pytest.mark.usefixtures("late_error")
def test_an_error_found_late_leaves_nothing_behind(refused):
    refused(predict("--holdout", "0.2", "--out", "deep/run"), "does not like", notes="3 of 24 rows")
    Path("empty").mkdir()
    refused(predict("--holdout", "0.2", "--out", "empty"), "does not like", notes="3 of 24 rows")


@pytest.mark.usefixtures("late_error")
def test_an_error_found_late_keeps_the_run_that_was_to_be_replaced(refused, copied):
    arguments = predict("--holdout", "0.3", "--out", "run", "--overwrite")
    refused(arguments, "does not like", notes="3 of 24 rows")


@pytest.mark.usefixtures("late_error")
def test_many_locations_in_the_model_are_announced_and_many_to_predict_are_not(call):
    assert "1,621 locations in the model" in call(predict("--grid", "40x40", "--transductive")).out
    assert "in the model" not in call(predict("--grid", "40x40")).out


def test_errors_are_json_where_json_is_asked_for(call):
    for arguments in (predict("--json"), predict("--json", "--no-such-option")):
        answer = call(arguments)
        assert answer.code == 2
        assert json.loads(answer.out).keys() == {"exit_code", "error"}
        assert not answer.err


def test_a_command_that_is_misspelled_reads_as_two_sentences(call):
    answer = call(["prdict"])
    assert answer.code == 2
    assert "Did you mean 'predict'? See vmqp --help." in " ".join(answer.err.split())
    assert "?." not in answer.err
