"""The command line: `vmqp fit`, `vmqp predict`, `vmqp resume`, `vmqp compare`, `vmqp data`."""

from vmqp.cli.app import app, main

__all__ = ["app", "main"]
