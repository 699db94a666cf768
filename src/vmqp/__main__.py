"""``python -m vmqp``: the same as the command ``vmqp``."""

import sys

from vmqp.cli import main

if __name__ == "__main__":
    sys.exit(main())
