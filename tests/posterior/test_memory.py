"""A run of 100,000 kept draws at 500 places does not need more than 2 GB; its draws and fields alone are 0.8 GB."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "run_large.py"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is measured in kB on Linux alone")
def test_many_draws_at_many_places_fit_two_gigabytes():
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0.8 < float(done.stdout) < 2.0
