"""Reports: a posterior as one self-contained HTML page that says in words what is predicted and whether to trust it.

:func:`report` writes one. Its parts are :func:`make_content`, which says everything in plain values
(:mod:`vmqp.report.content`), and :func:`write`, which makes a page of any such values.
"""

from vmqp.report.build import make_content, report
from vmqp.report.content import Call, Content
from vmqp.report.page import render, write

__all__ = ["Call", "Content", "make_content", "render", "report", "write"]
