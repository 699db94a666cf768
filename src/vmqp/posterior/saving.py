"""Posteriors as NetCDF files: groups of arrays that other programs can read, and no pickle."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import xarray as xr

from vmqp._version import __version__
from vmqp.errors import InputError
from vmqp.kernels import Kernel, parse
from vmqp.posterior.facts import Facts

__all__ = ["FORMAT", "read_kernel", "read_tree", "write_tree"]

FORMAT = 2
_READABLE = (1, 2)  # joint draws are as they were
_HDF5 = b"\x89HDF\r\n\x1a\n"


def write_tree(tree: xr.DataTree, facts: Facts, path: str | PathLike[str]) -> None:
    """Write a file that is whole or not there: another one is written beside it and renamed."""
    target = Path(path)
    labelled = tree.copy(deep=False)
    labelled.attrs = {**tree.attrs, "vmqp_format": FORMAT, "vmqp_facts": facts.to_text()}
    beside: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
        beside = Path(name)
        labelled.to_netcdf(beside, engine="h5netcdf", encoding=_compressed(labelled))
        # Files made by mkstemp are for their owner alone; a result has the rights of any new file.
        beside.chmod(0o666 & ~_umask())
        os.replace(beside, target)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({error.strerror or error}): give a path in a folder that is there and that "
            "you may write to."
        ) from error
    finally:
        if beside is not None:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)


def read_tree(path: str | PathLike[str]) -> tuple[xr.DataTree, Facts]:
    """Read a file that `write_tree` wrote; any other is refused in words."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            start = file.read(len(_HDF5))
    except OSError as error:
        raise InputError(f"{source} cannot be read ({error.strerror or error}): check the path.") from error
    if start != _HDF5:
        raise InputError(f"{source} is not a NetCDF file: give one that Posterior.save wrote.")
    try:
        with xr.open_datatree(source, engine="h5netcdf") as tree:
            attributes = dict(tree.attrs)
            _check_origin(source, attributes)
            loaded = tree.load()
    except InputError:
        raise
    except Exception as error:  # what a damaged file raises depends on which of its bytes are wrong
        raise InputError(
            f"{source} is damaged or cut short ({error!r}): restore it, or run again."
        ) from error
    facts = Facts.from_text(attributes.pop("vmqp_facts"))
    attributes.pop("vmqp_format")
    loaded.attrs = attributes
    return loaded, facts


def read_kernel(tree: xr.DataTree, path: str, given: Kernel | None) -> Kernel:
    """The kernel of a file, from its text; one with a function of the user's has to be given again."""
    text = str(tree.attrs["kernel"])
    if given is not None:
        if repr(given) != text:
            raise InputError(
                f"the kernel {given!r} was given, but {path} was learned with {text}: give that one."
            )
        return given
    try:
        return parse(text)
    except InputError as error:
        raise InputError(
            f"the kernel of {path} holds a function, which no file can hold: give it again, as in "
            f"vmqp.load({path!r}, kernel=kernel). It reads {text}."
        ) from error


def _check_origin(source: Path, attributes: Mapping[Any, object]) -> None:
    maker = attributes.get("creation_library")
    if maker != "vmqp" or "vmqp_facts" not in attributes:
        by = f"was written by {maker}" if maker not in (None, "vmqp") else "is of another kind"
        raise InputError(f"{source} {by}, not a posterior of vmqp: give a file that Posterior.save wrote.")
    kind = attributes.get("vmqp_format")
    if kind not in _READABLE:
        raise InputError(
            f"{source} has format {kind}, written by vmqp {attributes.get('creation_library_version')}, but vmqp "
            f"{__version__} reads format {FORMAT}: load it with the version that wrote it."
        )


def _compressed(tree: xr.DataTree) -> dict[str, dict[str, dict[str, object]]]:
    """Fast compression of what is large; draws are noise, so more of it would gain little."""
    return {
        node.path: {
            str(name): {"compression": "gzip", "compression_opts": 1, "shuffle": True}
            for name, array in node.data_vars.items()
            if array.size > 10_000
        }
        for node in tree.subtree
    }


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
