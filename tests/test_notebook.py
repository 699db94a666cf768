"""In a notebook: progress in its place, a posterior that shows itself, pictures.

The kernel is the interpreter of these tests, described in a folder of the test's own, so that neither other kernels nor
settings of the user matter.
"""

import base64
import json
import sys

import nbclient
import nbformat
import pytest

CELLS = {
    "data": """
import warnings
import numpy as np
import vmqp
warnings.simplefilter("error")
warnings.simplefilter("ignore", vmqp.ConvergenceWarning)
X = np.linspace(0.0, 7.0, 12)[:, None]
y = np.mod(40.0 * X[:, 0] + 300.0, 360.0)
short = dict(period=360, chains=2, draws=20, warmup=20)
""",
    "run": "post = vmqp.regress(X, y, [[2.5], [3.5], [9.0]], **short)",
    "asked": "vmqp.regress(X, y, [[2.5], [3.5], [9.0]], progress=True, **short);",
    "silent": "vmqp.regress(X, y, [[2.5], [3.5], [9.0]], progress=False, **short);",
    "warned": """
with warnings.catch_warnings():
    warnings.simplefilter("always")
    vmqp.regress(X, y, [[2.5]], progress=False, **short);
    vmqp.CircularRegressor(progress=False, **short).fit(X, y).simulate([[2.5]], 10);
""",
    "shown": "post",
    "plot": "post.plot();",
    "rose": "post.plot_rose([0, 1]);",
    "estimator": "vmqp.CircularRegressor(progress=False, **short).fit(X, y)",
}


def run(home):
    """What each cell puts out."""
    folder = home / "kernels" / "these-tests"
    folder.mkdir(parents=True)
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    description = {"argv": launch, "display_name": "these tests", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(description))
    cells = {name: nbformat.v4.new_code_cell(source.strip()) for name, source in CELLS.items()}
    notebook = nbformat.v4.new_notebook(cells=list(cells.values()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(home))
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(home / name.lower()))
        client = nbclient.NotebookClient(notebook, kernel_name="these-tests", timeout=300, allow_errors=True)
        client.execute(cwd=str(home))
    return {name: cell.outputs for name, cell in cells.items()}


def only(outputs, kind):
    """The one output of a cell, as the notebook shows it in this kind."""
    assert len(outputs) == 1, outputs
    return outputs[0]["data"][kind]


def test_a_notebook(tmp_path):
    """One test, for the notebook takes its time and should run once."""
    outputs = run(tmp_path)
    every = [output for cell in outputs.values() for output in cell]
    failed = [line for output in every if output.output_type == "error" for line in output.traceback]
    assert not failed, "\n".join(failed)
    for name in ("run", "asked"):
        check_progress(outputs[name])
    assert outputs["data"] == outputs["silent"] == []
    check_warnings(outputs["warned"])
    check_posterior(outputs["shown"])
    for name in ("plot", "rose"):
        check_picture(outputs[name])
    assert "CircularRegressor" in only(outputs["estimator"], "text/html")


def check_progress(outputs):
    """One table, not one more each time it is drawn; no codes of a terminal, and no advice to install something."""
    page = only(outputs, "text/html")
    assert page.startswith("<table>")
    assert page.count("40/40") == 2, "at the end it shows the end of both chains"
    assert "\x1b" not in page + outputs[0]["data"]["text/plain"]


def check_warnings(outputs):
    text = "".join(output.text for output in outputs)
    assert text.count("ConvergenceWarning") >= 2, "of two runs"
    assert "TransductiveWarning" not in text
    assert "run_chains(" not in text, "a warning shows the line of the cell, and not one of ours"


def check_posterior(outputs):
    page = only(outputs, "text/html")
    assert "Do not trust these numbers yet." in page, "after twenty draws"
    for part in ("lengthscale", "Predictions in degrees", "<table", "2.5", "3.5"):
        assert part in page
    plain = outputs[0]["data"]["text/plain"]
    assert plain.startswith("Posterior(3 new locations given 12, 2 chains of 20 draws")


def check_picture(outputs):
    picture = base64.b64decode(only(outputs, "image/png"))
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000, "a picture with nothing in it is smaller"
