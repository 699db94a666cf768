"""The command line: `vmqp predict`, `vmqp resume`, `vmqp compare`."""

from vmqp.cli.app import app, main

__all__ = ["app", "main"]
