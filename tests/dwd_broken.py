"""Archives of one station that are broken, each with what should be said of it."""

import io
import zipfile

from dwd_files import HEAD, archive, member, product, row, zipped

STAMP = "202405011200"


def cut(content, keep):
    return content[:keep]


def locked():
    content = bytearray(archive(1, [(STAMP, "4.1", "230")]))
    # The flag of encryption, in each head and in the central directory.
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = 0
        while (found := content.find(mark, start)) >= 0:
            content[found + offset] |= 1
            start = found + 4
    return bytes(content)


def flipped():
    """Stored, not packed, so that only the checksum tells."""
    text = product(1, [(STAMP, "4.1", "230")]).encode()
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as file:
        file.writestr(member(1), text)
    return plain.getvalue().replace(b"4.1; 230", b"4.1; 240", 1)


GOOD = archive(1, [(STAMP, "4.1", "230")])
BROKEN = {
    "cut short": (cut(GOOD, len(GOOD) // 2), "broken or cut short"),
    "empty": (b"", "the file is empty"),
    "a page": (b"<!DOCTYPE html><html>503</html>", "a web page and not an archive"),
    "something else": (b"\x89PNG....", "not a zip archive"),
    "no product": (zipped({"Metadaten_x.txt": "x"}), r"should hold one file produkt.*'Metadaten_x.txt'"),
    "two products": (zipped({member(1): HEAD, member(1, "now"): HEAD}), "holds 2"),
    "of another station": (archive(2, [(STAMP, "4.1", "230")]), "should hold rows of station 00001"),
    "rows of another station": (zipped({member(1): product(2, [(STAMP, "4.1", "230")])}), "of station 00001"),
    "outside": (zipped({f"../{member(1)}": product(1, [])}), "land outside its folder"),
    "outside, other": (zipped({"..\\..\\x.txt": "", member(1): product(1, [])}), "land outside its folder"),
    "absolute": (zipped({"/etc/x.txt": "", member(1): product(1, [])}), "land outside its folder"),
    "locked": (locked(), "encrypted"),
    "changed": (flipped(), "broken or cut short.*CRC"),
    "no rows at all": (zipped({member(1): ""}), "product is empty"),
    "wrong header": (archive(1, [], head="STATIONS_ID;MESS_DATUM;QN;TT_10;eor"), "no column FF_10"),
    "page inside": (zipped({member(1): "<html></html>"}), "no column STATIONS_ID"),
    "fewer fields": (zipped({member(1): f"{HEAD}\n1;{STAMP};3;4.1\n"}), "should have 6 fields"),
    "cut row": (zipped({member(1): product(1, [(STAMP, "4.1", "230")]) + "          1;20240"}), "6 fields"),
    "words": (
        zipped({member(1): f"{HEAD}\n{row(1, STAMP, 'calm', '230')}\n"}),
        "cannot be read: FF_10 and DD_10",
    ),
    "blank": (
        zipped({member(1): f"{HEAD}\n{row(1, STAMP, '', '230')}\n"}),
        "cannot be read: FF_10 and DD_10",
    ),
    "direction of 400": (archive(1, [(STAMP, "4.1", "400")]), "cannot be read: FF_10 and DD_10"),
    "negative speed": (archive(1, [(STAMP, "-4.1", "40")]), "cannot be read: FF_10 and DD_10"),
    "endless line": (zipped({member(1): HEAD + "x" * 200_000}), "line of more than"),
    # As many fields together as there should be.
    "more and fewer fields": (
        zipped({member(1): f"{HEAD}\n1;{STAMP};3;4.1;230;eor;x\n1;202405011210;3;4.1;eor\n"}),
        "should have 6 fields",
    ),
    "a row of one field": (
        zipped({member(1): f"{HEAD}\n1\n1;{STAMP};3;4.1;230;eor;1;1;1;1;1\n"}),
        "should have 6 fields",
    ),
    "an end of line that is half one": (
        zipped({member(1): product(1, [(STAMP, "4.1", "230")]).replace(";eor", ";eor\rx")}),
        "should have 6 fields",
    ),
    "a column twice": (
        zipped({member(1): f"{HEAD};DD_10\n{row(1, STAMP, '4.1', '230')};230\n"}),
        "DD_10 more than once",
    ),
}
