"""Data to try things on.

>>> from vmqp import datasets
>>> datasets.wind_field(stations=3, held_out=2, seed=1).frame.columns.tolist()
['station', 'longitude', 'latitude', 'direction']
"""

from vmqp.datasets.windfield import WindField, wind_field

__all__ = ["WindField", "wind_field"]
