"""The text inside an archive, piece by piece: nothing is unpacked to disk, and there is a bound on what comes out."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path
from typing import IO

from vmqp.datasets.dwd.names import Source, source_of
from vmqp.errors import InputError
from vmqp.tables.words import listed

__all__ = ["LARGEST_UNPACKED", "pieces"]

LARGEST_UNPACKED = 400_000_000  # bytes; the largest real product has some 30,000,000
_PIECE = 1 << 20
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    RuntimeError,  # also a way of packing that is not known
    OSError,
    ValueError,
)


def pieces(source: Source) -> Iterator[bytes]:
    """Yield the text of a product from an archive or an unpacked file; an error says what is wrong with the file."""
    try:
        if source.path.suffix != ".zip":
            with open(source.path, "rb") as file:
                yield from _bounded(file)
            return
        with zipfile.ZipFile(source.path) as archive:
            member = _product(archive, source)
            with archive.open(member) as file:
                yield from _bounded(file)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error
    except _BROKEN as error:
        raise InputError(f"{source.path}: {_what(source.path, error)}") from error


def _product(archive: zipfile.ZipFile, source: Source) -> zipfile.ZipInfo:
    members = archive.infolist()
    for member in members:
        # Nothing is written under these names, but an archive that has one is not what it seems.
        if member.filename.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", member.filename):
            raise InputError(f"it holds {member.filename!r}, which would land outside its folder.")
    products = [member for member in members if source_of(Path(Path(member.filename).name)) is not None]
    products = [member for member in products if member.filename.endswith(".txt")]
    if len(products) != 1:
        raise InputError(
            f"it should hold one file produkt_zehn_..._ff_....txt and holds {len(products)}. Its files are "
            f"{listed(member.filename for member in members) or 'none'}."
        )
    (product,) = products
    inner = source_of(Path(Path(product.filename).name))
    if inner is not None and inner.station != source.station:
        raise InputError(f"it should hold rows of station {source.station} and holds {product.filename!r}.")
    if product.flag_bits & _ENCRYPTED:
        raise InputError("it is encrypted; the weather service's archives are not.")
    if product.file_size > LARGEST_UNPACKED:
        raise _too_large()
    return product


def _bounded(file: IO[bytes]) -> Iterator[bytes]:
    total = 0
    while piece := file.read(_PIECE):
        total += len(piece)
        if total > LARGEST_UNPACKED:
            raise _too_large()
        yield piece


def _too_large() -> InputError:
    return InputError(
        f"it unpacks to more than {LARGEST_UNPACKED:,} bytes, which no product of a station does."
    )


def _what(path: Path, error: Exception) -> str:
    """Say why an archive could not be read."""
    if isinstance(error, OSError):
        return f"it could not be read ({error.strerror or error})."
    with open(path, "rb") as file:
        start = file.read(200).lstrip().lower()
    if not start:
        return "the file is empty."
    if start.startswith((b"<", b"\xef\xbb\xbf<")):
        return "it is a web page and not an archive, such as a server sends with an error."
    if not start.startswith(b"pk"):
        return "it is not a zip archive."
    return f"the archive is broken or cut short ({error})."
