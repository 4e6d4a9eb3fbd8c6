"""headproof plot: a picture of tables in a file."""

from __future__ import annotations

import math
import re
from typing import List, Tuple

from .command_line import Complaint, flags_and_files, shown, write_whole
from .pictures import Wish, figure_of, picture_of
from .series import read_whole
from .tables import logs_of

KINDS = ("svg", "png", "pdf")
SIZE_LEAST, SIZE_MOST = 240, 20000


def _size(word: str) -> Tuple[float, float]:
    """"800x600", or "800": the height follows."""
    found = re.fullmatch(r"(\d{1,5})(?:x(\d{1,5}))?", word)
    sides = [int(side) for side in found.groups() if side] if found else []
    if not sides or not all(SIZE_LEAST <= side <= SIZE_MOST for side in sides):
        raise Complaint("expected WIDTHxHEIGHT or WIDTH in pixels, from "
                        f"{SIZE_LEAST} to {SIZE_MOST}", word, flag="size")
    return sides[0], (sides + [0])[1]


def _tolerance(word: str) -> float:
    """Its logarithm."""
    number = re.fullmatch(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,9})?", word)
    log10 = float(logs_of([word.lower()])[0]) if number else math.nan
    if not math.isfinite(log10):
        raise Complaint("expected a number above 0", word, flag="tolerance")
    return log10


def run(words: List[str]) -> int:
    """The command; its exit code."""
    flags, files = flags_and_files(words)
    output = flags.get("output")
    if output is None:
        raise Complaint("expected --output FILE.svg, .png or .pdf: pictures as text are gone",
                        "plot")
    name, _, kind = output.rpartition(".")
    if kind not in KINDS or not name:
        why = "; gnuplot's scripts are gone, Python's headproof.plot restyles" * (kind == "gp")
        raise Complaint(f"expected a name that ends in .svg, .png or .pdf{why}", output,
                        flag="output")
    wish = Wish(flags.get("x"), flags.get("error"), laws="laws" in flags)
    wish.title, wish.caption = ("" if flags.get(word) == "none" else flags.get(word)
                                for word in ("title", "caption"))
    if "tolerance" in flags:
        wish.tolerance = _tolerance(flags["tolerance"])
    if "size" in flags:
        wish.width, wish.height = _size(flags["size"])
    tables = [read_whole(path) for path in files]
    for flag in ("error", "norm", "tolerance", "laws"):
        if tables[0].searched and flag in flags:  # searches judge by themselves
            raise Complaint("expected it with tables of sweeps", files[0], flag=flag)
    picture = picture_of(tables, wish, flags.get("norm"))
    if picture.is_point():
        raise Complaint("expected rows of more than one point: of one there is no picture",
                        files[0])
    write_whole(output, figure_of(picture).image(kind))
    print(f"picture: {shown(output)}")
    return 0
