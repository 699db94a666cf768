"""Every figure and table of the paper, made anew: a picture, its numbers, and what they say beside the paper.

>>> from vmqp import paper
>>> [name for name in paper.list_items() if name.startswith("fig")][0]
'fig1'

``paper.make("fig1", out="paper")`` writes ``paper/fig1/``; so does ``vmqp paper fig1``.
"""

from vmqp.paper.catalogue import Item, list_items
from vmqp.paper.frame import Outcome, Setting
from vmqp.paper.making import make

__all__ = ["Item", "Outcome", "Setting", "list_items", "make"]
