"""Data to try things on: generated with known truth, read from files, or downloaded.

>>> from vmqp import datasets
>>> datasets.wind_field(stations=3, held_out=2, seed=1).frame.columns.tolist()
['station', 'longitude', 'latitude', 'direction']
>>> datasets.generated_gait(points=10).by
'gradient'
>>> datasets.hourly_wind(hours=200, seed=1).frame.columns.tolist()
['hour', 'direction']
>>> datasets.circadian_times(seed=1).frame.columns.tolist()
['subject', 'day_of_year', 'light', 'hour']
>>> datasets.headings(seed=1).frame.columns.tolist()
['place', 'east', 'north', 'heading']
>>> datasets.roulette().astype(int).tolist()
[43, 45, 52, 61, 75, 88, 88, 279, 357]
"""

from vmqp.datasets import dwd, gridded, ndbc
from vmqp.datasets.circadian import CircadianTimes, circadian_times
from vmqp.datasets.classical import roulette, turtles
from vmqp.datasets.gait import Gait, read_gait
from vmqp.datasets.germany import read_wind, wind_germany
from vmqp.datasets.homing import Headings, headings
from vmqp.datasets.hourly import HourlyWind, hourly_wind
from vmqp.datasets.running import gait_angles, generated_gait
from vmqp.datasets.windfield import WindField, wind_field

__all__ = [
    "CircadianTimes",
    "Gait",
    "Headings",
    "HourlyWind",
    "WindField",
    "circadian_times",
    "dwd",
    "gait_angles",
    "generated_gait",
    "gridded",
    "headings",
    "hourly_wind",
    "ndbc",
    "read_gait",
    "read_wind",
    "roulette",
    "turtles",
    "wind_field",
    "wind_germany",
]
