"""Wind directions: the reader, and the download, from a server on this machine: checked, kept, or thrown away."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from file_server import left_in
from vmqp.datasets import germany, read_wind, wind_germany
from vmqp.errors import InputError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "wind_germany.csv"
CONTENT = b"SDO_CODE,Longitude,Latitude,dir\n368,9.924809,52.815233,-3.14159\n5319,9.707645,47.916658,-2.967057075\n"
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(files):
    """Serves CONTENT at its `url`; `asked` are the paths."""
    files.answers["/wind.csv"] = CONTENT
    files.url += "/wind.csv"
    return files


@pytest.fixture
def pooch():
    return pytest.importorskip("pooch", reason='downloads need pooch: pip install "vmqp[data]"')


def test_download_is_checked_and_made_once(pooch, server, tmp_path):
    for _ in range(2):
        table = wind_germany(url=server.url, sha256=HASH, cache=tmp_path)
    assert len(server.asked) == 1
    assert list(table) == ["longitude", "latitude", "dir_rad", "dd10_deg"]
    assert table["dd10_deg"].tolist() == [0, 10]
    assert len(left_in(tmp_path)) == 1


def test_a_kept_file_that_was_changed_is_fetched_again(pooch, server, tmp_path):
    wind_germany(url=server.url, sha256=HASH, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(CONTENT + b"1,9,50,0\n")
    assert len(wind_germany(url=server.url, sha256=(HASH, "0" * 64), cache=tmp_path)) == 2
    assert len(wind_germany(url=server.url, sha256=HASH, cache=tmp_path)) == 2


def test_a_wrong_hash_leaves_nothing_behind(pooch, server, tmp_path):
    with pytest.raises(InputError, match=f"SHA-256 is {HASH}.*thrown away.*give its path"):
        wind_germany(url=server.url, sha256="0" * 64, cache=tmp_path)
    assert left_in(tmp_path) == []


def test_an_address_that_does_not_answer(pooch, server, tmp_path):
    with pytest.raises(InputError, match=r"could not be downloaded.*404.*give its path"):
        wind_germany(url=server.url.replace("wind", "wave"), sha256=HASH, cache=tmp_path)
    with pytest.raises(InputError, match=r"could not be downloaded.*--data FILE"):
        wind_germany(url="http://127.0.0.1:9/wind.csv", sha256=HASH, cache=tmp_path)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("sha256", [None, "", (), "abc", HASH.upper(), [HASH, None]])
def test_no_download_without_a_hash(server, tmp_path, sha256):
    with pytest.raises(InputError, match="sha256"):
        wind_germany(url=server.url, sha256=sha256, cache=tmp_path)
    assert server.asked == []


def test_without_pooch_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(InputError, match=r'pip install "vmqp\[data\]"'):
        wind_germany()


def test_a_path_needs_no_download(tmp_path):
    (tmp_path / "wind.csv").write_bytes(CONTENT)
    assert wind_germany(tmp_path / "wind.csv").equals(read_wind(tmp_path / "wind.csv"))


def table(**changes):
    values = {
        "longitude": [9.0, 10.0],
        "latitude": [50.0, 51.0],
        "dir_rad": [-1.0, 3.0],
        "elevation_m": [5.0, 9.0],
    }
    return pd.DataFrame(values | changes)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (table().drop(columns="latitude"), "no column 'latitude'"),
        (table().drop(columns="dir_rad"), "no column 'dir_rad'"),
        (table().drop(columns="elevation_m"), "no column 'elevation_m'"),
        (table(dir_rad=[10.0, 350.0]), "dir_rad is 10"),
        (table(latitude=[91.0, 0.0]), "latitude is 91"),
        (table(dir_rad=["north", "south"]), "'dir_rad'"),
        (table(dir=[0.0, 1.0]), "'dir_rad' twice"),
    ],
)
def test_tables_that_are_refused(tmp_path, frame, said):
    frame.to_csv(tmp_path / "wind.csv", index=False)
    with pytest.raises(InputError, match=said):
        read_wind(tmp_path / "wind.csv", columns=["elevation_m"])


def test_shared_data_are_the_published_file():
    if not SHARED.is_file():
        pytest.skip("the shared data wind_germany.csv are not here")
    wind = read_wind(SHARED, columns=["elevation_m"])
    assert list(wind) == ["longitude", "latitude", "dir_rad", "elevation_m", "dd10_deg"]
    assert len(wind) == 260
    np.testing.assert_allclose(np.radians(wind["dd10_deg"]) - np.pi, wind["dir_rad"], atol=1e-5)
    cells = pd.read_csv(SHARED, dtype=str)[["station_id", "longitude", "latitude", "dir_rad"]]
    lines = ["SDO_CODE,Longitude,Latitude,dir", *(",".join(row) for row in cells.itertuples(index=False))]
    hashes = [
        hashlib.sha256("".join(line + end for line in lines).encode()).hexdigest() for end in ("\n", "\r\n")
    ]
    assert tuple(hashes) == germany.WIND_HASHES
