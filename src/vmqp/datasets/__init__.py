"""Data to try things on: generated, read from files, or downloaded.

>>> from vmqp import datasets
>>> datasets.wind_field(stations=3, held_out=2, seed=1).frame.columns.tolist()
['station', 'longitude', 'latitude', 'direction']
>>> datasets.generated_gait(points=10).by
'gradient'
>>> datasets.hourly_wind(hours=200, seed=1).frame.columns.tolist()
['hour', 'direction']
"""

from vmqp.datasets.gait import Gait, read_gait
from vmqp.datasets.germany import read_wind, wind_germany
from vmqp.datasets.hourly import HourlyWind, hourly_wind
from vmqp.datasets.running import gait_angles, generated_gait
from vmqp.datasets.windfield import WindField, wind_field

__all__ = [
    "Gait",
    "HourlyWind",
    "WindField",
    "gait_angles",
    "generated_gait",
    "hourly_wind",
    "read_gait",
    "read_wind",
    "wind_field",
    "wind_germany",
]
