"""headproof growth: the laws by which errors grow along Omega, tau, N, D, depth and layers.

The program reads and checks the command line, and starts this with what it says:

    growth [--norm=NORM] [--check=TABLE] [--predict=AXIS=X,...] [--evaluations=COUNT] [--quiet]
           [--] TABLE.csv... | [--] growth WORDS...

WORDS: of a grid, as they were typed, whose points stand on stdin, a command line each.  Rows go to
stdout, without a header, and behind them "# " and the last words.
"""

from __future__ import annotations

import dataclasses
import io
import math
import os
import shlex
import subprocess
import sys
from typing import Dict, Iterator, List, Optional, Sequence

import numpy as np

from . import laws as lawbook
from .command_line import Complaint, flags_and_files, shown
from .laws import Band, Floats, Law
from .program import HeadproofError, dump
from .series import AXES, Axis, Csv, Rows, Series, axes_of, each, read_whole
from .tables import size_text

SEEDS_FIRST = 3  # of the first round
NORMS = ("max", "rel")  # where none is asked for
OUTSIDE = 3  # the exit code where a verdict is FAIL: Python's own failures end with 1
PARTS = {"total": ("approximation", "construction", "rounding"),
         "observed": ("approximation", "construction")}


# ---- Rows that laws are fitted to ----------------------------------------------------------------


class Grid:
    """The points of a command line, and the tables that the program writes of some of them.

    points: their axes and flags, as text; ranks: which seed of its point each is, from 0."""

    def __init__(self, words: List[str], lines: Sequence[str]) -> None:
        self.words, self.evaluated = words, 0
        self.points: List[Dict[str, str]] = []
        self.ranks: List[int] = []
        seeds: Dict[str, Dict[str, int]] = {}
        for line in lines:
            typed = shlex.split(line)[2:]
            point = {flag: value for flag, value in zip(typed, typed[1:]) if flag[:2] == "--"}
            others = seeds.setdefault(_without(point, "--seed"), {})
            self.ranks.append(others.setdefault(point["--seed"], len(others)))
            self.points.append(point)

    def table(self, command: str, places: Sequence[int]) -> Csv:
        """What `headproof COMMAND` writes of the points at these places.  What the program
        says goes where ours does; points that fail are rows like others."""
        run = subprocess.run([os.environ["HEADPROOF"], *self.words], check=False, text=True,
                             input="".join(f"{place}\n" for place in places),
                             stdout=subprocess.PIPE, env={**os.environ, "HEADPROOF_ROWS": command})
        if run.returncode not in (0, 1):
            raise HeadproofError("", run.returncode)  # it has said why
        return Csv("swept", io.StringIO(run.stdout))

    def sweeps(self, most: Optional[int], axes: Sequence[Axis]) -> Iterator[Csv]:
        """Of all points; or of at most so many: the first seeds of each, then twice as many of
        those constructions that have a law that is not sure, and so on."""
        tables: List[Csv] = []
        unsure = {point["--construction"] for point in self.points}
        first, end = 0, len(self.points) if most is None else SEEDS_FIRST
        most = len(self.points) if most is None else most
        while self.evaluated < most:
            if tables:
                data = Rows(tables, axes, "rel")
                unsure = {series.value("construction") for series in _every(data, len(data.silent))
                          if any(map(lawbook.unsure, _laws(series)))}
                first, end = end, 2 * end
            asked = [place for place, (point, rank) in enumerate(zip(self.points, self.ranks))
                     if first <= rank < end and point["--construction"] in unsure]
            asked = asked[:most - self.evaluated]
            if not asked:
                return
            self.evaluated += len(asked)
            tables.append(self.table("sweep", asked))
            yield tables[-1]

    def searches(self) -> Iterator[Csv]:
        """One for each tolerance, of all but `masked`, which has no Omega."""
        places = {_without(point, "--omega"): place
                  for place, point in reversed(list(enumerate(self.points)))
                  if "--tolerance" in point and point["--construction"] != "masked"}
        if places:
            yield self.table("min-omega", sorted(places.values()))


def _without(point: Dict[str, str], flag: str) -> str:
    return str(sorted((name, value) for name, value in point.items() if name != flag))


def _every(data: Rows, fitted: int) -> Iterator[Series]:
    """All series, axis by axis; of searches each once."""
    for axis in AXES[:1] if data.searched else AXES:
        yield from each(data, fitted, axis)


def _laws(series: Series) -> List[Law]:
    return lawbook.find(series.points, series.axes, series.kind, series.data.searched)


# ---- Rows of the table ---------------------------------------------------------------------------


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.12g}"


@dataclasses.dataclass
class Place:
    """A size that a law is held against: the row whose axes it has, what the law says there, and
    the logarithm that was measured, nan where it was not, which may be a bound."""

    x: Floats
    row: int
    band: Band
    log10: float
    bound: bool

    def is_within(self) -> bool:
        """In the band, or a bound of what may be; nothing always is."""
        low, _, high = self.band
        return math.isnan(self.log10) or (low <= self.log10 and (self.log10 <= high or self.bound))


def _shared(series: Series, axis: str, term: int, place: Optional[Place]) -> str:
    """The value of an axis that all rows of the series share: "" where they differ in it, or may;
    of a size that one search has, its own."""
    if place is not None and series.data.searched and axis != series.axes[term]:
        return series.data.text(place.row, axis)
    return series.shared[axis]


def _cells(series: Series, law: Law, term: int, place: Optional[Place]) -> List[str]:
    """A row: what the series shares, the law, theory, and what the law says of one size."""
    searched, axis = series.data.searched, series.axes[term]
    known = [a for a in series.data.axes.values() if a.name != "layer"]
    said = {a.name: _shared(series, a.name, term, place) for a in known}
    options = [f"{a.name}={said[a.name]}" for a in known
               if a.standard and said[a.name] not in ("", a.standard)]
    cells = [said[a.name] for a in known if not a.standard and a.name != "seed"]
    cells += [";".join(options), "" if searched else series.data.norm, series.kind, axis]
    # Of a formula all terms but the last are logarithms; of two sizes no law can be told.
    is_line, kind, why = law.kind in lawbook.LINES, law.kind, law.why
    if is_line and not law.told[term]:
        kind, why = "none", "few-points"
    elif is_line and term + 1 < len(series.axes):
        kind = "logarithm"
    cells += [kind, why, _number(law.first[term]), _number(law.last[term]), str(law.points),
              "" if searched else str(law.seeds), str(series.censored)]
    line = [math.nan] * 9
    if kind in lawbook.LINES:
        line = [law.constant(), law.slope(term), law.slope_error(term),
                math.nan if searched else law.end_slope(term), law.residual, law.worst, law.other,
                *law.farthest]
    *theory, word = lawbook.expected(law, term, series.kind, series.data.norm, axis, series.value)
    cells += [*map(_number, line + theory), word]
    if place is None:
        cells += [""] * 7
    else:
        seed = "" if math.isnan(place.log10) else series.data.text(place.row, "seed")
        cells += [_number(place.x[term]), seed, *map(_number, [*place.band, place.log10]),
                  "measured_log10" if place.bound else ""]
    fails = place is not None and not place.is_within()
    return cells + ["fail" if fails else "none" if kind == "none" else "ok"]


# ---- The run -------------------------------------------------------------------------------------


class Growth:
    """What is said of every series: its laws, or what they say of sizes.

    parts: laws of the errors that were met of the rows of a series.  Counted are series, and those
    without a law; rows that are put; of those that are checked the ones that are held against a
    law, fail, have none, or say nothing."""

    def __init__(self, flags: Dict[str, str]) -> None:
        self.check = flags.get("check")
        self.predict, _, sizes = flags.get("predict", "").partition("=")
        self.sizes = [float(size) for size in sizes.split(",") if size]
        self.parts: Dict[str, List[Law]] = {}
        self.fitted = 0
        self.series = self.without = self.put = 0
        self.held = self.failed = self.lawless = self.silent = 0

    def take(self, series: Series) -> None:
        """A series."""
        laws = _laws(series)
        self.parts = {} if series.first else self.parts
        self.parts[series.kind] = laws
        self.series += 1
        self.without += [law.kind for law in laws] == ["none"]
        if self.predict in series.axes:
            self._predict(series, laws)
        if self.check is not None:
            self._check(series, laws)
        for law in laws if self.check is None and not self.predict else []:
            for term in range(len(series.axes)):
                self._put(_cells(series, law, term, None))

    def _put(self, cells: Sequence[str]) -> None:
        print(",".join(cells))
        self.put += 1

    def _predict(self, series: Series, laws: Sequence[Law]) -> None:
        """The sizes asked for, each beside all others that there are."""
        term = series.axes.index(self.predict)
        points = series.points
        for x, row in zip(points.x, points.row):
            for size in self.sizes if x[term] == points.x[0, term] else []:
                place = x.copy()
                place[term] = size
                self._hold(series, laws, term, place, int(row), False)

    def _check(self, series: Series, laws: Sequence[Law]) -> None:
        """Every other row of the series, but for cells that are not there; a blank omega_min is: a
        search that found none."""
        told = [*laws[0].told[:-1], True]
        logs = series.data.logs[series.data.kinds.index(series.kind)]
        for row in map(int, series.held):
            if (series.kind == "omega_min" or not math.isnan(logs[row])) and series.has(row):
                self._hold(series, laws, told.index(True), series.place(row), row, True)

    def _band(self, series: Series, laws: Sequence[Law], x: Floats) -> "tuple[Optional[Law], Band]":
        """total = approximation + construction + rounding, and observed has the first two in it:
        where a part's law says more, the sum cannot stay below, and the band has both."""
        law, band = lawbook.predict(laws, x)
        for kind in PARTS.get(series.kind, ()) if law is not None else ():
            part, own = lawbook.predict(self.parts.get(kind, []), x)
            if part is not None and own.middle > band.middle:
                law, band = part, Band(min(band.low, own.low), own.middle, max(band.high, own.high))
        return law, band

    def _hold(self, series: Series, laws: Sequence[Law], term: int, x: Floats, row: int,
              measured: bool) -> None:
        """What the laws say at a place, and whether a value measured there is within."""
        law, band = self._band(series, laws, x)
        data, kind = series.data, series.data.kinds.index(series.kind)
        log10 = float(data.logs[kind][row]) if measured else math.nan
        place = Place(x, row, band, log10, measured and bool(data.bounds[kind][row]))
        silent = measured and (bool(data.silent[row]) or math.isnan(log10))
        if measured:
            self.lawless += law is None
            self.silent += law is not None and silent
            self.held += law is not None and not silent
        if law is None or silent:  # it compares nothing, and so never passes
            return
        if not place.is_within():
            self.failed += 1
            what = series.kind if data.searched else f"{series.kind} {data.norm}"
            size = size_text(log10, data.cells[kind][row], place.bound)
            print(f"{shown(self.check or '')}:{row - self.fitted + 2}: "
                  f"{series.value('construction')}: {what} along {series.axes[term]}: expected "
                  f"10^{band.low:.3f} to 10^{band.high:.3f} by its law, not {size}",
                  file=sys.stderr)
        self._put(_cells(series, law, term, place))

    def conclude(self, flags: Dict[str, str], tables: Sequence[str], evaluated: int) -> int:
        """The last words, which the program says once it has all rows; the exit code."""
        if self.series == 0:
            raise Complaint(f"growth: expected at least two values of {', '.join(AXES[:-1])} or "
                            f"{AXES[-1]} (three for a law) in rows that are otherwise equal but "
                            "for seeds", *tables[:1])
        flag = "predict" if self.check is None else "check"
        token = flags.get(flag)
        if token is not None and self.put + self.silent == 0:
            raise Complaint("expected sizes that some law is about", token, flag=flag)
        failed = self.failed + self.silent
        if self.check is not None:
            print(f"# verdict: {'FAIL' if failed else 'PASS'}: {self.failed} of {self.held} errors "
                f"outside their bands, {self.lawless} without a law, {self.silent} of rows that "
                "say nothing (vacuous or error)")
        elif "quiet" not in flags:
            print(f"# {self.series} series, {self.without} of them without a law; {evaluated} "
                  "points evaluated")
        return OUTSIDE if failed else 0


def run(words: List[str]) -> int:
    """The command; its exit code."""
    flags, named = flags_and_files(words)
    axes = axes_of(dump()["axes"])
    grid = Grid(named, list(sys.stdin) if named[0] == "growth" else [])
    if grid.points:
        most = int(flags["evaluations"]) if "evaluations" in flags else None
        tables = [*grid.sweeps(most, axes), *grid.searches()]
    else:
        tables = [read_whole(path) for path in named]
    growth = Growth(flags)
    held = [] if growth.check is None else [read_whole(growth.check)]
    for table in [*tables, *held]:
        if table.constant == "tau":
            raise table.complain(-1, table.names[0], "expected a sweep over --tau, for laws along "
                                 "it: a search for tau has none (plot draws its intervals)")
    for searched, norms in ((False, (flags["norm"],) if "norm" in flags else NORMS),
                            (True, ("max",))):
        own = [table for table in [*tables, *held] if table.searched == searched]
        growth.fitted = sum(table.rows for table in tables if table.searched == searched)
        for norm in norms if own else ():
            for series in _every(Rows(own, axes, norm), growth.fitted):
                growth.take(series)
    return growth.conclude(flags, [] if grid.points else named, grid.evaluated)
