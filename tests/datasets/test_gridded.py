"""Winds on grids: variables found by name, tables, times, and files."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from vmqp.datasets import gridded
from vmqp.datasets.gridded import add_direction, wind_table
from vmqp.errors import InputError

TIMES = pd.to_datetime(["2024-05-01 00:00", "2024-05-01 06:00", "2024-05-01 12:00"])
LON, LAT = np.array([0.0, 90.0, 180.0, 270.0]), np.array([60.0, 50.0, 40.0])


def era5(u="u10", v="v10", lon="longitude", lat="latitude", time="valid_time", **attributes):
    """A wind that turns with the place and the time, as float32 and with times first."""
    over = (time, lat, lon)
    turn = np.radians(10.0 * np.arange(36.0).reshape(3, 3, 4))
    attributes = {"units": "m s**-1"} | attributes
    return xr.Dataset(
        {
            u: (over, (5 * np.sin(turn)).astype("f4"), attributes),
            v: (over, (5 * np.cos(turn)).astype("f4"), attributes),
            "msl": (over, np.zeros((3, 3, 4))),
        },
        coords={time: TIMES, lat: LAT, lon: LON},
    )


def test_table():
    table = wind_table(era5(), convention="to")
    assert list(table) == ["lon", "lat", "time", "speed", "direction"]
    assert len(table) == 36
    np.testing.assert_allclose(table["speed"], 5.0, rtol=1e-6)
    np.testing.assert_allclose(table["direction"], 10.0 * np.arange(36.0), atol=1e-4)
    assert table["lon"].tolist() == [0.0, 90.0, 180.0, -90.0] * 9
    assert table["lat"].tolist() == np.tile(np.repeat(LAT, 4), 3).tolist()
    assert table["time"].tolist() == np.repeat(TIMES, 12).tolist()


@pytest.mark.parametrize(("convention", "of_east"), [("from", 270.0), ("to", 90.0), ("math", 0.0)])
def test_conventions(convention, of_east):
    wind = xr.Dataset(
        {"u": (("lat", "lon"), [[3.0]]), "v": (("lat", "lon"), [[0.0]])}, {"lon": [9.0], "lat": [5.0]}
    )
    assert wind_table(wind, convention=convention)["direction"].tolist() == [of_east]
    assert add_direction(wind, convention=convention)["direction"].item() == of_east
    assert wind_table(wind)["direction"].tolist() == [270.0]


@pytest.mark.parametrize(
    "names",
    [
        {"u": "u", "v": "v", "lon": "lon", "lat": "lat", "time": "time"},
        {"u": "10m_u_component_of_wind", "v": "10m_v_component_of_wind"},
        {"u": "uas", "v": "vas", "lon": "x", "lat": "y"},
        {"u": "U10", "v": "V10", "lon": "Longitude", "lat": "Latitude"},
    ],
)
def test_names_that_are_known(names):
    pd.testing.assert_frame_equal(wind_table(era5(**names)), wind_table(era5()))


def test_names_that_are_given_or_in_the_attributes():
    odd = era5(u="east", v="north", lon="meridian", lat="parallel")
    options = {"u": "east", "v": "north", "lon": "meridian", "lat": "parallel"}
    pd.testing.assert_frame_equal(wind_table(odd, **options), wind_table(era5()))
    for name, standard in (
        *(("east", "eastward_wind"), ("north", "northward_wind"), ("meridian", "longitude")),
        ("parallel", "latitude"),
    ):
        odd[name].attrs["standard_name"] = standard
    pd.testing.assert_frame_equal(wind_table(odd), wind_table(era5()))


def test_one_time():
    every = wind_table(era5())
    for time in ("2024-05-01 06:00", TIMES[1], np.datetime64("2024-05-01T06"), "2024-05-01T08:00+02:00"):
        table = wind_table(era5(), time=time)
        pd.testing.assert_frame_equal(table, every.iloc[12:24].reset_index(drop=True))
    # A dataset of one time keeps it, as a coordinate without a dimension.
    single = era5().isel(valid_time=1)
    pd.testing.assert_frame_equal(wind_table(single), every.iloc[12:24].reset_index(drop=True))
    assert len(wind_table(single, time=TIMES[1])) == 12
    with pytest.raises(InputError, match="the nearest is 2024-05-01 06:00:00"):
        wind_table(single, time=TIMES[0])


def test_every_so_many_rows_and_columns():
    table = wind_table(era5(), every=2, time=TIMES[0])
    assert table["lon"].tolist() == [0.0, 180.0, 0.0, 180.0]
    assert table["lat"].tolist() == [60.0, 60.0, 40.0, 40.0]
    whole = wind_table(era5(), time=TIMES[0])
    assert table["direction"].tolist() == whole["direction"][[0, 2, 8, 10]].tolist()
    assert len(wind_table(era5(), every=2)) == 12


def test_dimensions_in_another_order_and_of_length_one():
    turned = era5().transpose("longitude", "valid_time", "latitude").expand_dims(number=1)
    turned["v10"] = turned["v10"].transpose("latitude", "longitude", "valid_time", "number")
    both = [
        table.sort_values(["time", "lon", "lat"], ignore_index=True)
        for table in (wind_table(turned), wind_table(era5()))
    ]
    pd.testing.assert_frame_equal(*both)


def test_places_in_two_dimensions_and_in_a_row():
    lon, lat = np.meshgrid(LON, LAT)
    curved = era5(lon="x", lat="y").drop_vars(["x", "y"])
    curved = curved.assign_coords(lon=(("y", "x"), lon), lat=(("y", "x"), lat))
    pd.testing.assert_frame_equal(wind_table(curved), wind_table(era5()))
    stations = xr.Dataset(
        {"u": ("station", [1.0, 0.0]), "v": ("station", [0.0, 1.0])},
        {"lon": ("station", [8.0, 9.0]), "lat": ("station", [50.0, 51.0])},
    )
    assert wind_table(stations)[["lon", "lat", "direction"]].to_numpy().tolist() == [
        [8, 50, 270],
        [9, 51, 180],
    ]


def test_calms_and_missing_values_have_no_direction():
    wind = era5().isel(valid_time=0).load()
    wind["u10"][0, 0] = wind["v10"][0, 0] = 0.0
    wind["u10"][0, 1] = np.nan
    table = wind_table(wind)
    assert table["direction"].isna().sum() == 2
    assert table["speed"][0] == 0.0
    assert np.isnan(table["speed"][1])


def test_add_direction():
    wind = era5()
    more = add_direction(wind, convention="to")
    assert set(more.data_vars) == {"u10", "v10", "msl", "direction", "speed"}
    assert "direction" not in wind
    assert more["direction"].dims == wind["u10"].dims
    np.testing.assert_allclose(more["direction"].values.ravel(), 10.0 * np.arange(36.0), atol=1e-4)
    assert more["direction"].attrs["standard_name"] == "wind_to_direction"
    assert more["direction"].attrs["units"] == "degree"
    assert more["speed"].attrs["standard_name"] == "wind_speed"
    assert more["speed"].attrs["units"] == "m s-1"
    assert add_direction(wind, convention="from")["direction"].attrs["standard_name"] == "wind_from_direction"
    assert "standard_name" not in add_direction(wind, convention="math")["direction"].attrs
    assert add_direction(era5(units="knots"), convention="to")["speed"].attrs["units"] == "knots"


def test_add_direction_leaves_dask_arrays_for_later():
    pytest.importorskip("dask")
    more = add_direction(era5().chunk({"valid_time": 1}), convention="to")
    assert more["direction"].chunks is not None
    np.testing.assert_allclose(more["direction"].values.ravel(), 10.0 * np.arange(36.0), atol=1e-4)


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_files_are_read_and_closed(tmp_path, engine):
    path = tmp_path / "wind.nc"
    era5().to_netcdf(path, engine=engine)
    read = wind_table(path).astype({"time": "datetime64[us]"})
    pd.testing.assert_frame_equal(read, wind_table(era5()))
    more = add_direction(str(path), convention="to")
    path.unlink()
    np.testing.assert_allclose(more["direction"].values.ravel(), 10.0 * np.arange(36.0), atol=1e-4)
    more["msl"].load()
    back = tmp_path / "more.nc"
    more.to_netcdf(back, engine="h5netcdf")
    assert xr.load_dataset(back, engine="h5netcdf")["direction"].attrs["standard_name"] == "wind_to_direction"


def test_the_file_is_closed(tmp_path, monkeypatch):
    path = tmp_path / "wind.nc"
    era5().to_netcdf(path, engine="h5netcdf")
    closed = []
    close = xr.Dataset.close
    monkeypatch.setattr(xr.Dataset, "close", lambda self: (closed.append(1), close(self)))
    wind_table(path)
    assert closed
    closed.clear()
    with pytest.raises(InputError, match="there is no time"):
        wind_table(path, time="2020-01-01")
    assert closed


LEVELS = era5().expand_dims(level=[850, 500])
LEVEL_NAMES = xr.merge(
    era5(f"ua{level}", f"va{level}")
    .drop_vars("msl")
    .map(lambda part, by=level: part * by / 500, keep_attrs=True)
    for level in (850, 500)
)
for _name in ("ua850", "ua500", "va500", "va850"):
    LEVEL_NAMES[_name].attrs["standard_name"] = "eastward_wind" if _name[0] == "u" else "northward_wind"


def test_components_of_different_levels_are_never_mixed():
    table = wind_table(LEVEL_NAMES, u="ua500", v="va500")
    np.testing.assert_allclose(table["speed"], 5.0, rtol=1e-6)
    mixed = era5("u", "v").assign(u10=3 * era5()["u10"], v100=7 * era5()["v10"])
    np.testing.assert_allclose(wind_table(mixed)["speed"], 5.0, rtol=1e-6)
    np.testing.assert_allclose(wind_table(mixed, u="u")["speed"], 5.0, rtol=1e-6)


@pytest.mark.parametrize("units", ["m/s", "m s-1", "m s^-1", None])
def test_units_that_are_spelled_otherwise_or_missing(units):
    odd = era5()
    if units is None:
        del odd["v10"].attrs["units"]
    else:
        odd["v10"].attrs["units"] = units
    pd.testing.assert_frame_equal(wind_table(odd), wind_table(era5()))


def test_a_level_is_selected(tmp_path):
    level = LEVELS.assign(
        u10=LEVELS["u10"] * LEVELS["level"] / 500, v10=LEVELS["v10"] * LEVELS["level"] / 500
    )
    for name in ("u10", "v10"):
        level[name].attrs["units"] = "m s-1"
    for chosen, speed in ((500, 5.0), (850, 8.5)):
        table = wind_table(level, select={"level": chosen}, time=TIMES[1])
        assert len(table) == 12
        np.testing.assert_allclose(table["speed"], speed, rtol=1e-6)


ALONG = {"u": ("obs", [1.0, 0.0, -1.0]), "v": ("obs", [0.0, 1.0, 0.0])}
PLACES = {"lon": ("obs", [1.0, 2.0, 3.0]), "lat": ("obs", [50.0, 51.0, 52.0])}


@pytest.mark.parametrize("name", ["obs", "time"], ids=["points", "track"])
def test_places_and_times_along_one_dimension(name):
    points = xr.Dataset(ALONG, {**PLACES, "time": ("obs", TIMES)})
    if name == "time":
        points = points.swap_dims(obs="time")
    table = wind_table(points)
    assert table["lon"].tolist() == [1.0, 2.0, 3.0]
    assert table["time"].tolist() == TIMES.tolist()
    assert table["direction"].tolist() == [270.0, 180.0, 90.0]
    one = wind_table(points, time=TIMES[1])
    assert one.to_dict("records") == [
        {"lon": 2.0, "lat": 51.0, "time": TIMES[1], "speed": 1.0, "direction": 180.0}
    ]
    assert wind_table(points, every=2)["lon"].tolist() == [1.0, 3.0]


def test_several_points_of_one_time_and_points_of_unknown_time():
    times = [TIMES[1], pd.NaT, TIMES[1]]
    points = xr.Dataset(ALONG, {**PLACES, "time": ("obs", pd.DatetimeIndex(times))})
    assert wind_table(points, time=TIMES[1])["lon"].tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match="the nearest is 2024-05-01 06:00:00"):
        wind_table(points, time=TIMES[0])


def test_times_along_a_dimension_of_another_name():
    steps = era5(time="time").rename_dims(time="step")
    pd.testing.assert_frame_equal(wind_table(steps), wind_table(era5()))
    pd.testing.assert_frame_equal(wind_table(steps, time=TIMES[1]), wind_table(era5(), time=TIMES[1]))


def test_points_off_the_grid_are_left_out():
    lon, lat = np.meshgrid(LON, LAT)
    lon[0, 0] = lat[0, 0] = np.nan
    curved = era5(lon="x", lat="y").drop_vars(["x", "y"]).isel(valid_time=0).load()
    curved = curved.assign_coords(lon=(("y", "x"), lon), lat=(("y", "x"), lat))
    with pytest.raises(InputError, match="wind at points without longitude or latitude"):
        wind_table(curved)
    curved["u10"][0, 0] = np.nan
    assert len(wind_table(curved)) == 11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: wind_table(era5(u="wind_x")),
            r"known as the component to the east: give its name, u='….*'wind_x'",
        ),
        (lambda: wind_table(era5(lat="parallel")), "known as the latitude"),
        (lambda: wind_table(era5(), u="u11"), r"no variable 'u11': did you mean 'u10'.*'msl'"),
        (lambda: add_direction(era5(), v="w", convention="to"), "no variable 'w'"),
        (lambda: wind_table(LEVELS), r"also over 'level': .*select=\{'level': 850\}"),
        (
            lambda: wind_table(era5(), time="2024-05-01 05:00"),
            "nearest is 2024-05-01 06:00:00. Give one of its 3",
        ),
        (lambda: wind_table(era5(), time="noon"), "time is 'noon'"),
        (lambda: wind_table(era5().isel(valid_time=[]), time=TIMES[0]), "has no times"),
        (
            lambda: wind_table(LEVELS, select={"level": 700}),
            "level is 700 nowhere: its values are '850', '500'",
        ),
        (lambda: wind_table(era5(), select={"level": 850}), "no dimension 'level'.*'latitude'"),
        (lambda: wind_table(LEVEL_NAMES), "several components to the east, 'ua850', 'ua500': say which, u='"),
        (lambda: wind_table(era5(u="u10", v="v100")), "known as the component to the east"),
        (lambda: wind_table(era5().assign_coords(longitude=["a", "b", "c", "d"])), "longitudes are not from"),
        (
            lambda: wind_table(era5(lon="x").assign_coords(x=("x", LON, {"units": "km"}))),
            "longitude in degrees",
        ),
        (lambda: wind_table(era5().assign_coords(longitude=[0.0, 90.0, np.nan, 9.0])), "without longitude"),
        (lambda: wind_table(era5().isel(valid_time=0, drop=True), time=TIMES[0]), "has no times"),
        (lambda: wind_table(era5().assign_coords(valid_time=[0, 6, 12]), time=6), "are of type int64"),
        (lambda: wind_table(era5(), every=0), "every is 0"),
        (
            lambda: wind_table(era5().assign_coords(longitude=1e5 * LON)),
            "longitudes are not from -180 to 360",
        ),
        (lambda: wind_table(era5().assign_coords(latitude=2 * LAT)), "latitudes are not from -90 to 90"),
        (lambda: wind_table(era5(), convention="down"), "convention is 'down'"),
        (lambda: wind_table(era5()["u10"]), "an xarray Dataset or the path"),
        (lambda: wind_table("no_such_file.nc"), "no_such_file.nc cannot be read"),
        (
            lambda: wind_table(era5().assign(msl=era5()["msl"].assign_attrs(units="Pa")), v="msl"),
            "'u10' is in m s.*-1 and 'msl' in Pa",
        ),
        (lambda: add_direction(era5().rename(msl="speed"), convention="to"), "has 'speed' already"),
        (
            lambda: add_direction(era5().assign(v10=era5()["v10"][0]), convention="to"),
            "two components of one grid",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_file_of_another_kind(tmp_path):
    path = tmp_path / "wind.nc"
    path.write_text("lon,lat\n")
    with pytest.raises(InputError, match=r"wind\.nc cannot be read as NetCDF"):
        wind_table(path)


def test_import_is_light():
    code = "import sys, vmqp.datasets; print('xarray' in sys.modules, 'requests' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["False", "False"]
    assert gridded.__all__ == ["add_direction", "wind_table"]
