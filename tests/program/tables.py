"""Tables in files: their cells, and how they are altered as if they had been written so."""

import json
import pathlib


def lines_of(path):
    """The lines as lists of cells, the header first; of any bytes."""
    text = pathlib.Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    return [line.split(",") for line in text.split("\n")[:-1]]


def rows_of(path):
    header, *lines = lines_of(path)
    return [dict(zip(header, line)) for line in lines]


def write(path, lines):
    text = "".join(",".join(line) + "\n" for line in lines)
    pathlib.Path(path).write_text(text, encoding="utf-8", errors="surrogateescape")
    seal(path)


def alter(path, *cells):
    """Other text in cells, (row from 1, column, text) each."""
    lines = lines_of(path)
    for row, column, text in cells:
        lines[row][lines[0].index(column)] = text
    write(path, lines)


def digest_of(data):
    """FNV-1a."""
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    return f"{digest:016x}"


def seal(path):
    """The sidecar says that the bytes are as they were saved."""
    sidecar = pathlib.Path(f"{path}.json")
    said = json.loads(sidecar.read_text())
    digest = digest_of(pathlib.Path(path).read_bytes())
    sidecar.write_text(json.dumps({**said, "digest": digest}))
