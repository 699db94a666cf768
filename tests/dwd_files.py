"""Files in the form of the weather service's 10-minute wind, right ones and wrong ones."""

import io
import zipfile

HEAD = "STATIONS_ID;MESS_DATUM;  QN;FF_10;DD_10;eor"
LIST_HEAD = "Stations_id von_datum bis_datum Stationshoehe geoBreite geoLaenge Stationsname Bundesland"
DASHES = (
    "----------- --------- --------- ------------- --------- --------- --------------------------------- ----"
)
LIST = "zehn_min_ff_Beschreibung_Stationen.txt"


def row(station, stamp, ff, dd):
    return f"{int(station):11d};{stamp};    3;{ff:>6};{dd:>4};eor"


def product(station, rows, head=HEAD, end="\n"):
    return end.join([head, *(row(station, *one) for one in rows), ""])


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def member(station, kind="min", first="20240501", last="20240501"):
    return f"produkt_zehn_{kind}_ff_{first}_{last}_{int(station):05d}.txt"


def archive(station, rows, kind="min", **options):
    """An archive with a product and something else."""
    return zipped(
        {
            f"Metadaten_Geographie_{int(station):05d}.txt": "passed over",
            member(station, kind): product(station, rows, **options),
        }
    )


def line(
    station,
    name,
    state,
    *,
    lon=6.0941,
    lat=50.7827,
    elevation=202,
    begin="19930429",
    end="20240531",
    free="Frei",
):
    return f"{int(station):05d} {begin} {end:8} {elevation:14} {lat:11.4f} {lon:9.4f} {name:40} {state:40} {free:10}"


def station_list(lines, end="\r\n", head=LIST_HEAD + " Abgabe"):
    return end.join([head, DASHES, *lines, ""])


def write_folder(folder, archives, stations=None, encoding="latin-1"):
    """Write archives by name, and a list with their stations, or with those given as (number, name)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in archives.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if stations is None:
        stations = sorted({name.split("_")[2] for name in archives if "10minutenwerte" in name})
    lines = [line(number, f"Ort {number}", "Hessen", lon=5 + k) for k, number in enumerate(stations)]
    (folder / LIST).write_bytes(station_list(lines).encode(encoding))
    return folder


def page(names):
    """The page of a folder, as a server writes it."""
    links = "".join(f'<a href="{name}">{name}</a>  01-May-2024 12:00  7000\n' for name in names)
    return f'<html><head></head><body><h1>Index</h1><pre><a href="../">../</a>\n{links}</pre></body></html>'.encode()


def put_on_server(files, folder, root="/wind"):
    """Let a server answer with the files of a folder that has historical, recent and now in it."""
    for part in sorted(folder.iterdir()):
        if part.is_dir():
            files.answers[f"{root}/{part.name}/"] = page(sorted(path.name for path in part.iterdir()))
            for path in part.iterdir():
                files.answers[f"{root}/{part.name}/{path.name}"] = path.read_bytes()
    return f"{files.url}{root}/"
