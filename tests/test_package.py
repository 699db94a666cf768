"""The package as a whole: light import, names, version, typing marker, and the order of its rooms."""

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import vmqp

SOURCE = Path(vmqp.__file__).parent

# From the ground up: a room imports only from floors below its own.
ROOMS = (
    ("_version", "chain", "errors"),
    ("checks", "circle", "linalg"),
    ("arcs", "laws", "priors"),
    ("kernels",),
    ("precision", "model"),
    ("sampling",),
    ("learning", "run"),
    ("tables", "scores"),
    ("convert",),
    ("datasets", "plots"),
    ("posterior",),
    ("regression",),
    ("peers",),
    ("files",),
    ("comparison", "report"),
    ("paper",),
    ("demo",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light():
    loaded = run("import sys, vmqp; print(*sys.modules)").split()
    assert "vmqp" in loaded
    heavy = {"numba", "llvmlite", "scipy", "matplotlib", "vmqp.sampling"}
    assert not heavy & set(loaded)


def test_heavy_parts_are_loaded_on_first_use():
    assert run("import sys, vmqp; vmqp.sample_angles; print('numba' in sys.modules)").strip() == "True"


def test_import_of_the_samplers_does_not_load_matplotlib():
    assert run("import sys, vmqp.sampling; print('matplotlib' in sys.modules)").strip() == "False"


@pytest.mark.parametrize("name", vmqp.__all__)
def test_public_name_resolves(name):
    assert getattr(vmqp, name) is not None
    assert name in dir(vmqp)


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'sample_angels'"):
        _ = vmqp.sample_angels


def test_every_room_names_what_exists():
    for room in (
        "circle",
        "arcs",
        "laws",
        "priors",
        "kernels",
        "precision",
        "model",
        "sampling",
        "learning",
        "run",
        "tables",
        "scores",
        "convert",
        "datasets",
        "datasets.dwd",
        "datasets.gridded",
        "datasets.ndbc",
        "plots",
        "posterior",
        "regression",
        "peers",
        "peers.baselines",
        "comparison",
        "paper",
        "report",
        "errors",
    ):
        module = __import__(f"vmqp.{room}", fromlist=["__all__"])
        missing = [name for name in module.__all__ if not hasattr(module, name)]
        assert not missing, (room, missing)


def test_version_is_the_one_installed():
    assert vmqp.__version__ == version("vmqp")
    assert [part.isdigit() for part in vmqp.__version__.split(".")[:2]] == [True, True]


def test_typing_marker_is_there():
    assert (SOURCE / "py.typed").is_file()


def imported_rooms(file: Path) -> set[str]:
    """Rooms of vmqp that a file imports, wherever in it the import stands."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            names = [node.module or ""]
            if node.module == "vmqp":
                names = [f"vmqp.{alias.name}" for alias in node.names]
        else:
            continue
        rooms.update(name.split(".")[1] for name in names if name.startswith("vmqp."))
    return rooms


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_lower_rooms_do_not_import_higher_ones(file):
    room = room_of(file)
    assert room in FLOOR, f"give the new room {room!r} its place in ROOMS"
    for other in imported_rooms(file) - {room}:
        assert other in FLOOR, f"import {other} from the room where it is made"
        assert FLOOR[other] < FLOOR[room], f"{room} must not import {other}"


def test_the_order_of_rooms_would_notice_a_wrong_import(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text("def late():\n    from vmqp.sampling import sample_angles\n    import vmqp.model\n")
    assert imported_rooms(file) == {"sampling", "model"}
    file.write_text("from vmqp import kernels as k, __version__\n")
    assert imported_rooms(file) == {"kernels", "__version__"}
