"""The German weather service's 10-minute wind: the wind at all stations at one time, or at one station over time.

From files that you have, or fetched from the service's server. `write_example` writes files of the same form with
made-up stations, to try things on.

>>> import tempfile
>>> from vmqp.datasets import dwd
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = dwd.write_example(folder, "2024-05-01T12:00", stations=30)
...     table = dwd.snapshot("2024-05-01T12:00", folder=folder)
>>> table.columns.tolist()
['station', 'lon', 'lat', 'elevation', 'speed', 'direction']

The data of the service are free under the licence CC BY 4.0. Who publishes something made of them names their source:
"Deutscher Wetterdienst".
"""

from vmqp.datasets.dwd.at_time import snapshot
from vmqp.datasets.dwd.example import write_example
from vmqp.datasets.dwd.over_time import series, stations
from vmqp.datasets.dwd.server import DWD_URL

__all__ = ["DWD_URL", "series", "snapshot", "stations", "write_example"]
