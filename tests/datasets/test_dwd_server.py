"""Downloads of 10-minute wind, from a server on this machine: what is asked for, kept, refused and fetched again."""

import os

import pandas as pd
import pytest

from dwd_broken import BROKEN
from dwd_files import (
    LIST,
    archive,
    line,
    member,
    page,
    put_on_server,
    station_list,
    write_folder,
    zipped,
)
from file_server import Answer
from vmqp.datasets import dwd
from vmqp.datasets.dwd import archive as archives
from vmqp.datasets.dwd import over_time
from vmqp.datasets.dwd import server as servers
from vmqp.datasets.kept import TEMPORARY
from vmqp.errors import InputError

pytest.importorskip("pooch", reason='downloads need pooch: pip install "vmqp[data]"')

TIME = "2024-05-01T12:00"
STAMP = "202405011200"
NOW_LIST = "zehn_now_ff_Beschreibung_Stationen.txt"


@pytest.fixture(autouse=True)
def usual_address(monkeypatch):
    monkeypatch.delenv("VMQP_DWD_URL", raising=False)


@pytest.fixture
def today(monkeypatch):
    def set_to(text):
        for module in (servers, over_time):
            monkeypatch.setattr(module, "utc_now", lambda: pd.Timestamp(text))

    set_to("2024-07-01")
    return set_to


def akt(number):
    return f"10minutenwerte_wind_{number:05d}_akt.zip"


def archives_in(folder):
    return sorted(path.name for path in folder.rglob("*.zip"))


def clean(folder):
    return not [path for path in folder.rglob("*") if path.name.startswith(TEMPORARY)]


@pytest.fixture
def recent(files, tmp_path, today):
    """A server with two stations in recent and nothing in historical that reaches 2024; returns its address."""
    tree = tmp_path / "tree"
    rows = [("202405011150", "9.0", "90"), (STAMP, "{}.5", "230"), ("202405011210", "9.0", "90")]
    made = {akt(k): archive(k, [(s, ff.format(k), dd) for s, ff, dd in rows]) for k in (1, 2)}
    write_folder(tree / "recent", made)
    old = {
        "10minutenwerte_wind_00001_19930429_19991231_hist.zip": archive(1, [("199901011200", "7.5", "50")])
    }
    write_folder(tree / "historical", old, stations=[1, 2])
    write_folder(
        tree / "now",
        {"10minutenwerte_wind_00001_now.zip": archive(1, [("202406301200", "8.5", "50")], "now")},
    )
    (tree / "now" / LIST).rename(tree / "now" / NOW_LIST)
    return put_on_server(files, tree)


def test_an_example_comes_over_the_net_as_from_its_folder(files, tmp_path, today):
    tree = dwd.write_example(tmp_path / "tree", TIME, stations=30)
    url = put_on_server(files, tree)
    wanted = dwd.snapshot(TIME, folder=tree)
    today("2024-05-01T18:00")
    near = dwd.snapshot(TIME, url=url, cache=tmp_path / "near")
    today("2024-06-01")
    recent = dwd.snapshot(TIME, url=url, cache=tmp_path / "recent")
    today("2026-01-01")
    old = dwd.snapshot(TIME, url=url, cache=tmp_path / "old")
    assert {name[-7:] for name in archives_in(tmp_path / "near")} == {"now.zip", "akt.zip"}
    assert {name[-7:] for name in archives_in(tmp_path / "recent")} == {"akt.zip", "ist.zip"}
    assert {name[-7:] for name in archives_in(tmp_path / "old")} == {"ist.zip"}
    by_station = wanted.set_index("station")
    for table in (near, recent, old):
        assert 5 < len(table) < 27
        pd.testing.assert_frame_equal(
            table.set_index("station"), by_station.loc[table["station"]], check_like=True
        )
    assert set(near["station"]) | set(recent["station"]) | set(old["station"]) == set(wanted["station"])


def test_what_is_kept_is_not_fetched_again(files, recent, tmp_path):
    first = dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    assert first["speed"].tolist() == [1.5, 2.5]
    count = len(files.asked)
    pd.testing.assert_frame_equal(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept"), first)
    assert len(files.asked) == count
    # Nothing of the old years was fetched for a time that their names exclude.
    assert archives_in(tmp_path / "kept") == [akt(1), akt(2)]


@pytest.mark.parametrize("damage", [lambda old: old[:-20], lambda old: old + b"x", lambda old: b"<html>"])
def test_a_kept_file_that_was_damaged_is_fetched_again(files, recent, tmp_path, damage):
    first = dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    (kept,) = (tmp_path / "kept").rglob(akt(1))
    kept.write_bytes(damage(kept.read_bytes()))
    files.asked.clear()
    pd.testing.assert_frame_equal(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept"), first)
    assert files.asked == [f"/wind/recent/{akt(1)}"]


def test_a_kept_file_that_ends_too_early_is_fetched_again(files, recent, tmp_path):
    whole = files.answers[f"/wind/recent/{akt(1)}"]
    files.answers[f"/wind/recent/{akt(1)}"] = archive(1, [("202405011150", "9.0", "90")])
    assert dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")["station"].tolist() == ["00002"]
    (kept,) = (tmp_path / "kept").rglob(akt(1))
    files.answers[f"/wind/recent/{akt(1)}"] = whole
    # Fetched long after the time it could not be late: the row was never measured.
    assert len(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")) == 1
    morning = pd.Timestamp("2024-05-01 12:01").timestamp()
    os.utime(kept, (morning, morning))
    files.asked.clear()
    assert len(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")) == 2
    assert files.asked == [f"/wind/recent/{akt(1)}"]


def test_pages_are_fetched_again_after_a_day_and_old_ones_serve_if_nobody_answers(files, recent, tmp_path):
    first = dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    for path in (tmp_path / "kept").rglob("*"):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 90_000))
    files.asked.clear()
    dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    assert sorted(files.asked) == sorted(
        f"/wind/{kind}/{name}" for kind in ("recent", "historical") for name in ("", LIST)
    )
    for path in (tmp_path / "kept").rglob("*"):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 90_000))
    files.answers.clear()
    pd.testing.assert_frame_equal(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept"), first)


def test_a_page_with_names_that_are_gone_is_fetched_again_at_the_next_call(files, recent, tmp_path, today):
    """As in spring, when the archives of the last year get names that reach further."""
    before, after = (f"10minutenwerte_wind_00001_20200101_{end}_hist.zip" for end in ("20231231", "20241231"))
    files.answers["/wind/historical/"] = page([before])
    today("2026-01-01")
    with pytest.raises(InputError, match="Give a time within"):
        dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    files.answers["/wind/historical/"] = page([after])
    files.answers[f"/wind/historical/{after}"] = archive(1, [(STAMP, "4.5", "10")])
    with pytest.raises(InputError, match="404"):
        dwd.snapshot("2023-12-31T12:00", url=recent, cache=tmp_path / "kept")
    assert dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")["speed"].tolist() == [4.5]


def test_the_address_is_one_setting(files, recent, tmp_path, monkeypatch):
    monkeypatch.setenv("VMQP_DWD_URL", recent.rstrip("/"))
    assert len(dwd.snapshot(TIME, cache=tmp_path / "kept")) == 2
    assert len(dwd.stations(cache=tmp_path / "kept")) == 2
    monkeypatch.setenv("VMQP_DWD_URL", "file:///tmp/")
    for read in (dwd.stations, lambda: dwd.snapshot(TIME), lambda: dwd.series(1)):
        with pytest.raises(InputError, match="begins with http"):
            read()


def test_two_servers_do_not_share_what_is_kept(files, recent, tmp_path):
    dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    for path, content in list(files.answers.items()):
        files.answers[path.replace("/wind", "/other")] = content
    files.answers[f"/other/recent/{akt(1)}"] = archive(1, [(STAMP, "3.0", "90")])
    table = dwd.snapshot(TIME, url=f"{files.url}/other", cache=tmp_path / "kept")
    assert table["speed"].tolist() == [3.0, 2.5]


GOOD = archive(1, [(STAMP, "1.5", "230")])
BAD = {
    "cut on the way": (Answer(GOOD[:300], announced=len(GOOD)), "could not be downloaded", 3),
    "nothing there": (Answer(b"", 404), "404", 1),
    "server error": (Answer(b"", 500), "500", 3),
    "a bomb": (zipped({member(1): b"\0" * 3_000_000}), "unpacks to more than 1,000,000 bytes", 1),
    "a stamp that is no time": (archive(1, [(STAMP, "1.5", "230"), ("2024", "1.5", "230")]), "MESS_DATUM", 1),
    "another time's row": (archive(1, [(STAMP, "1.5", "230"), ("202405011210", "calm", "0")]), "FF_10", 1),
    **{name: (content, said, 1) for name, (content, said) in BROKEN.items()},
}


@pytest.mark.parametrize(("bad", "said", "asked"), BAD.values(), ids=BAD)
def test_a_bad_answer_is_an_error_and_is_not_kept(files, recent, tmp_path, monkeypatch, bad, said, asked):
    monkeypatch.setattr(archives, "LARGEST_UNPACKED", 1_000_000)
    path, cache = f"/wind/recent/{akt(1)}", tmp_path / "kept"
    files.answers[path] = bad
    with pytest.raises(InputError, match=rf"(?s)recent/{akt(1)}.*{said}.*(try again later|give its folder)"):
        dwd.snapshot(TIME, url=recent, cache=cache)
    assert files.asked.count(path) == asked
    assert akt(1) not in archives_in(cache)
    assert clean(cache)
    table = dwd.snapshot(TIME, url=recent, cache=cache, skip_broken=True)
    assert table["station"].tolist() == ["00002"]
    assert table.attrs["left_out"]["broken file"] == 1
    files.answers[path] = GOOD
    assert dwd.snapshot(TIME, url=recent, cache=cache)["speed"].tolist() == [1.5, 2.5]
    assert clean(cache)


def test_an_error_that_passes_is_not_noticed(files, recent, tmp_path):
    for path, content in files.answers.items():
        files.answers[path] = [Answer(b"", 503), content]
    assert len(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")) == 2


def test_if_everything_fails_the_error_is_clear_even_if_broken_files_are_skipped(files, recent, tmp_path):
    for number in (1, 2):
        files.answers[f"/wind/recent/{akt(number)}"] = Answer(b"", 500)
    with pytest.raises(InputError, match=r"00001_akt\.zip could not be downloaded|00002_akt\.zip could not"):
        dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept", skip_broken=True)
    assert archives_in(tmp_path / "kept") == []


@pytest.mark.parametrize(
    ("path", "bad", "said"),
    [
        ("/wind/recent/", b"<html><body>We are sorry</body></html>", "no link to an archive"),
        ("/wind/recent/", Answer(b"", 404), "404"),
        (f"/wind/recent/{LIST}", b"<html><body>We are sorry</body></html>", "not a list of stations"),
        (f"/wind/recent/{LIST}", station_list([]).encode(), "no stations"),
        (f"/wind/recent/{LIST}", Answer(b"", 500), "500"),
        ("/wind/recent/", page([akt(1), akt(2)])[:150], "cut short"),
    ],
)
def test_bad_pages_and_lists_are_not_kept(files, recent, tmp_path, path, bad, said):
    good, files.answers[path] = files.answers[path], bad
    with pytest.raises(InputError, match=said):
        dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    assert clean(tmp_path / "kept")
    files.answers[path] = good
    assert len(dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")) == 2


def test_only_names_of_archives_are_followed(files, recent, tmp_path):
    other = f"{files.url}/elsewhere/{akt(3)}"
    names = [
        akt(1),
        f"../{akt(2)}",
        f"/wind/recent/{akt(2)}",
        other,
        f"x{akt(2)}",
        akt(2) + "?a=b",
        "notes.pdf",
    ]
    names += ["10minutenwerte_wind_00002_now.zip", member(2), "%2e%2e/x.zip"]
    files.answers["/wind/recent/"] = page(names)
    assert dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")["station"].tolist() == ["00001"]
    archives_asked = [path for path in files.asked if not path.endswith(("/", ".txt"))]
    assert archives_asked == [f"/wind/recent/{akt(1)}"]


def test_stations_that_recent_archives_lack_come_from_the_old(files, recent, tmp_path):
    name = "10minutenwerte_wind_00002_20200101_20240601_hist.zip"
    files.answers["/wind/historical/"] = page([name, "10minutenwerte_wind_00001_20200101_20240601_hist.zip"])
    files.answers[f"/wind/historical/{name}"] = archive(2, [(STAMP, "4.5", "10")])
    files.answers["/wind/recent/"] = page([akt(1)])
    assert dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")["speed"].tolist() == [1.5, 4.5]
    assert archives_in(tmp_path / "kept") == [akt(1), name]


def test_some_stations_only(files, recent, tmp_path):
    assert dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept", stations=2)["speed"].tolist() == [2.5]
    assert archives_in(tmp_path / "kept") == [akt(2)]


def test_times_that_the_server_cannot_have(files, recent, tmp_path, today):
    with pytest.raises(InputError, match="a time that has been"):
        dwd.snapshot("2024-07-01T00:10", url=recent, cache=tmp_path / "kept")
    assert files.asked == []
    with pytest.raises(InputError, match="reach from 2024-05-01T11:50Z to 2024-05-01T12:10Z"):
        dwd.snapshot("2024-05-02T12:00", url=recent, cache=tmp_path / "kept")


def test_a_series_joins_all_kinds(files, recent, tmp_path):
    wind = dwd.series(1, url=recent, cache=tmp_path / "kept")
    assert wind["speed"].tolist() == [7.5, 9.0, 1.5, 9.0, 8.5]
    assert wind["time"].dt.strftime("%Y-%m-%dT%H:%M").iloc[0] == "1999-01-01T11:00"
    part = dwd.series(1, "2024-05-01", "2024-05-02", url=recent, cache=tmp_path / "part")
    assert part["speed"].tolist() == [9.0, 1.5, 9.0]
    assert archives_in(tmp_path / "part") == [akt(1)]
    with pytest.raises(InputError, match="no file of station 00009"):
        dwd.series(9, url=recent, cache=tmp_path / "kept")


def test_stations_from_the_server(files, recent, tmp_path):
    files.answers[f"/wind/historical/{LIST}"] = station_list([line(7, "Bad Möwe", "Hessen")]).encode(
        "latin-1"
    )
    assert dwd.stations(url=recent, cache=tmp_path / "kept")["name"].tolist() == ["Bad Möwe"]


def test_an_interrupt_keeps_nothing_half_written(files, recent, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    dwd.stations(url=recent, cache=tmp_path / "kept")
    monkeypatch.setattr(servers, "check_product", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dwd.snapshot(TIME, url=recent, cache=tmp_path / "kept")
    assert archives_in(tmp_path / "kept") == []
    assert clean(tmp_path / "kept")


def test_the_usual_cache(files, recent, tmp_path, monkeypatch):
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda name: str(tmp_path / name))
    dwd.stations(url=recent)
    assert list((tmp_path / "vmqp" / "dwd").rglob(LIST))


def test_without_pooch(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    for options in ({}, {"cache": tmp_path}):
        with pytest.raises(InputError, match=r'pip install "vmqp\[data\]"'):
            dwd.stations(url="http://127.0.0.1:9/", **options)
