"""Tables in files: their cells, and how they are altered as if they had been written so."""

import json
import pathlib
import re
import resource
import shlex

from conftest import start


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


def kept(said):
    """How many inputs or points a run that was stopped says that it left."""
    found = re.search(r"^headproof: (\d+) (of \d+ points are|(?<!: 1 )inputs are|(?<=: 1 )input is)"
                      " kept; go on with: ", said, re.M)
    return int(found[1]) if found else 0


def journal(folder, line, least):
    """What `headproof LINE`, ending with "-o FILE", leaves there in FILE.partial where the disk is
    full behind so many inputs or points, or some more."""
    *words, name = shlex.split(line)
    most = 3000
    while True:
        ended = start(*words, name, cwd=folder, limits={resource.RLIMIT_FSIZE: most})
        assert (ended.code, "File too large" in ended.stderr) == (99, True), ended
        if kept(ended.stderr) >= least:
            return (folder / f"{name}.partial").read_bytes()
        most = most * 5 // 4
