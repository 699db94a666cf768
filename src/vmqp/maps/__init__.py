"""Maps: angles at many new places, drawn at parameters that were learned before."""

from vmqp.maps.task import MapTask
from vmqp.maps.totals import Moments

__all__ = ["MapTask", "Moments"]
