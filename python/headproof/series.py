"""Series of tables: an error along one axis over all seeds, or the Omega that searches found along
N, D and depth, everything else being equal; and its median at every size.  (Searches for tau have
pictures alone.)

Errors are logarithms to the base of ten, made of a cell's digits and exponent: 1e-868 is no double.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

import numpy as np
import numpy.typing as npt

from .command_line import Complaint
from .laws import Bools, Floats, Ints, Points
from .tables import ERRORS, logs_of

CONSTANTS = {"omega": "an omega", "tau": "a tau"}  # that are searched
AXES = ("omega", "tau", "n", "d", "depth", "layer")  # along which errors grow
SIZES = ("n", "d", "depth")  # and the Omega needed
FREE = ("tolerance", "judge", "norm")  # rows of a sweep may differ in these
EVER_FREE = ("seed", "input", "layer")  # and any in these
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_SEARCH = ("below", "min", "max", "above", "best")  # columns of what is searched


# ---- Rows ----------------------------------------------------------------------------------------


class Csv:
    """A table that the program has found whole: its columns by name, of cells as they are written.

    path: for messages; rows: so many; constant: that was searched, or ""; faults: complaints about
    cells, with their rows."""

    def __init__(self, path: str, lines: Iterable[str]) -> None:
        rows = (line.rstrip("\r\n").split(",") for line in lines)
        names = next(rows, [""])
        self.path, self.names = path, [names[0].lstrip("\ufeff"), *names[1:]]
        columns = list(zip(*rows)) or [()] * len(names)
        self.rows = len(columns[0])
        self.columns: Dict[str, Sequence[str]] = dict(zip(self.names, columns))
        self.constant = next((constant for constant in CONSTANTS if {
            "construction", "status", *(f"{constant}_{end}" for end in _SEARCH)} <= {*names}), "")
        self.searched = self.constant != ""
        self.faults: List[Tuple[int, Complaint]] = []

    def __getitem__(self, name: str) -> Sequence[str]:
        """Blanks where the table has no such column."""
        return self.columns.get(name) or [""] * self.rows

    def complain(self, row: int, token: str, why: str) -> Complaint:
        """About a cell; row -1: the header."""
        return Complaint(why, token, file=self.path, line=row + 2)

    def fault(self, row: int, token: str, why: str) -> None:
        """The same, until all are known: the first row's is raised."""
        self.faults.append((row, self.complain(row, token, why)))


def read_whole(path: str) -> Csv:
    """The table in such a file."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        return Csv(path, lines)


@dataclasses.dataclass
class Axis:
    """An axis: its column, or its name in `options`, and its default there, "": it has a column."""
    name: str
    standard: str = ""


def axes_of(known: Iterable[Dict[str, Any]]) -> List[Axis]:
    """Those that the program says it has."""
    return [Axis(axis["column"] or axis["name"], "" if axis["column"] else axis["default"])
            for axis in known]


class Rows:
    """The rows of tables, all of sweeps or all of searches.

    texts [axis]: the distinct values of an axis, numbers in order, words as they came, blanks
    first; values [axis][row]: places in them; numeric: are all numbers?  logs, bounds [kind][row]:
    what a row has of each error in a norm, or of a search; cells: as they are written; silent
    [row]: its status is vacuous or error.  fitted: so many rows at first; the rest is held."""

    def __init__(self, tables: Sequence[Csv], axes: Sequence[Axis], norm: str) -> None:
        self.constant, self.searched, self.norm = tables[0].constant, tables[0].searched, norm
        found = (f"{self.constant}_min", f"{self.constant}_proven")
        self.kinds = found if self.searched else ERRORS
        self.axes = {axis.name: axis for axis in [*axes, Axis("layer")]}
        for table in tables:
            for name in ("construction", "layer", f"construction_{norm}"):
                if name not in table.columns and not self.searched:
                    raise table.complain(-1, table.names[0], "expected a table of sweep, depth or "
                                         f"min-omega, with the column {name}")
        if sum(table.rows for table in tables) == 0:
            raise tables[0].complain(-1, tables[0].names[0], "expected rows below the header")
        options = [_options(table, axes) for table in tables]
        self.texts: Dict[str, List[str]] = {}
        self.values: Dict[str, Ints] = {}
        self.numeric: Set[str] = set()
        for axis in self.axes.values():
            columns = [_axis_cells(table, said, axis)
                       for table, said in zip(tables, options)]
            self.take_axis(axis.name, [text for column in columns for text in column])
        take = _take_search if self.searched else _take_errors
        parts = [take(table, norm) for table in tables]
        for _, complaint in sorted((fault for table in tables for fault in table.faults),
                                   key=lambda fault: fault[0]):
            raise complaint
        self.cells = [[text for part in parts for text in part[0][k]]
                      for k in range(len(self.kinds))]
        self.logs = np.concatenate([part[1] for part in parts], axis=1)
        self.bounds = np.concatenate([part[2] for part in parts], axis=1)
        self.silent = np.array([status in ("vacuous", "error") for table in tables
                                for status in table["status"]], dtype=bool)

    def take_axis(self, name: str, cells: List[str], numbers: bool = True) -> None:
        """Its distinct values in order, and where each row's is; numbers: may they be that?"""
        self.axes.setdefault(name, Axis(name))
        order = list(dict.fromkeys(cells))
        if numbers and all(NUMBER.fullmatch(text) for text in order if text):
            self.numeric.add(name)
        size = {text: float(text) if name in self.numeric else 0.0 for text in order if text}
        order.sort(key=lambda text: size.get(text, -math.inf))
        place = {text: place for place, text in enumerate(order)}
        self.texts[name] = order
        self.values[name] = np.array([place[text] for text in cells], dtype=np.int64)

    def text(self, row: int, axis: str) -> str:
        """The value that a row has of an axis."""
        return self.texts[axis][int(self.values[axis][row])]

    def numbers(self, axis: str) -> Floats:
        """The same of all rows, nan where it is blank or no number."""
        numbers = [float(text) if text and axis in self.numeric else math.nan
                   for text in self.texts[axis]]
        return np.array(numbers, dtype=np.float64)[self.values[axis]]


def _options(table: Csv, axes: Sequence[Axis]) -> Dict[str, Dict[str, str]]:
    """What each text of `options` says of axes that have no column."""
    known = {axis.name for axis in axes if axis.standard}
    said: Dict[str, Dict[str, str]] = {}
    for row, text in enumerate(table["options"]):
        if text not in said:
            pairs = [part.partition("=") for part in text.split(";") if part]
            if not all(equals and name in known for name, equals, _ in pairs):
                table.fault(row, text, "expected axes of options, each with its value")
            said[text] = {name: value for name, _, value in reversed(pairs)}
    return said


def _axis_cells(table: Csv, said: Dict[str, Dict[str, str]], axis: Axis) -> Sequence[str]:
    """A table's values of an axis: of its column, or of the rows' options or its default."""
    cells = table[axis.name]
    if axis.standard:  # a row always tells its tau, unless it has none
        known = {text: pairs.get(axis.name, axis.standard if axis.name != "tau" else "")
                 for text, pairs in said.items()}
        cells = [known[text] for text in table["options"]]
    for text in set(cells):
        try:
            wrong = not (0 if axis.name in CONSTANTS else -math.inf) < float(text) < math.inf
        except ValueError:
            wrong = False
        if wrong and axis.name != "layer":
            table.fault(cells.index(text), text, f"expected a value of {axis.name}")
    return cells


Part = Tuple[List[Sequence[str]], Floats, Bools]  # cells, logarithms and bounds, by kind


def _take_errors(table: Csv, norm: str) -> Part:
    """What rows of a sweep have of the errors in a norm."""
    columns = [f"{kind}_{norm}" for kind in ERRORS]
    cells = [table[column] for column in columns]
    logs = np.array([logs_of(texts) for texts in cells])
    named = {text: set(text.split(";")) for text in set(table["bounds"])}
    bounds = np.array([[column in named[text] for text in table["bounds"]] for column in columns])
    there = np.array([[text != "" for text in texts] for texts in cells], dtype=bool)
    for k, row in np.argwhere(np.isnan(logs) & there):
        # A program that has doubles alone wrote 1e-868 as 0.0: its logarithm is beside it.
        if norm == "max" and f"{ERRORS[k]}_log10" in table.columns:
            column = f"{ERRORS[k]}_log10"
            logs[k, row] = value = float(table[column][row] or "-inf")  # blank of a proven 0
            if math.isnan(value) or 1e18 < abs(value) < math.inf:
                table.fault(row, table[column][row], f"expected a logarithm in the column {column}")
    return cells, logs, bounds & there


def _take_search(table: Csv, _: str) -> Part:
    """What rows of min-omega have found, an open end being only as low as was tried; and proven."""
    columns, constant = {}, table.constant
    for end in ("min", "max", "best", "proven"):
        none = "none" if end == "proven" else ""
        columns[end] = ["" if text == none else text for text in table[f"{constant}_{end}"]]
        for row, text in enumerate(columns[end]):
            if text and not (NUMBER.fullmatch(text) and 0 < float(text) < math.inf):
                table.fault(row, text, f"expected {CONSTANTS[constant]} in the column "
                                       f"{constant}_{end}")
    least, most = (logs_of(columns[end]) for end in ("min", "max"))
    for row in np.flatnonzero(least > most):
        table.fault(row, columns["max"][row], f"expected {constant}_min or more")
    open_end = np.array([text == "" for text in table[f"{constant}_below"]], dtype=bool)
    return ([columns["min"], columns["proven"]], np.array([least, logs_of(columns["proven"])]),
            np.array([open_end, np.zeros(table.rows, dtype=bool)]))


# ---- Series --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Series:
    """An error, or what searches found, of rows that are equal in all but `free`.

    axes: along which it is; rows: those that are fitted, by their sizes, then `held`; shared: the
    value of each axis, "" where rows may differ in it; first: of the kinds that they have;
    censored: rows that are no value."""

    data: Rows
    axes: List[str]
    free: Set[str]
    rows: Ints
    held: Ints
    shared: Dict[str, str]
    kind: str
    first: bool
    points: Points
    censored: int

    def place(self, row: int) -> Floats:
        """The numbers that a row has on the axes."""
        return np.array([float(self.data.text(row, axis)) for axis in self.axes])

    def value(self, axis: str) -> str:
        """The value of an axis that all its rows share, if they do."""
        return self.data.text(int(self.rows[0]), axis)

    def has(self, row: int) -> bool:
        """Has a search the sizes that all that are fitted have?"""
        return all(self.data.values[axis][row] == self.data.values[axis][self.rows[0]]
                   for axis in SIZES if self.data.searched and axis not in self.free)


def _follower(data: Rows, axis: str) -> Optional[str]:
    """A network's width, where there are several, is as many times D."""
    return "d" if axis == "d_ff" and len(set(data.texts[axis]) - {""}) > 1 else None


def _keys(data: Rows, free: Set[str]) -> List[npt.NDArray[Any]]:
    """The columns in which rows of a series are equal, as numbers; those that never differ are left
    out."""
    keys: List[npt.NDArray[Any]] = []
    for axis in data.axes:
        key: npt.NDArray[Any] = data.values[axis]
        if axis in free or len(data.texts[axis]) < 2:
            continue
        if _follower(data, axis) in free:
            ratio = data.numbers(axis) / data.numbers("d")
            key = np.where(np.isnan(ratio), key, ratio)
        keys.append(key)
    return keys


def _starts(rows: Ints, keys: Sequence[npt.NDArray[Any]]) -> Ints:
    """Where rows begin that differ from those before in one of the keys."""
    differs = np.zeros(len(rows), dtype=bool)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[rows[1:]] != key[rows[:-1]]
    return np.flatnonzero(differs)


def each(data: Rows, fitted: int, axis: str) -> Iterator[Series]:
    """Every series along the axis in the first `fitted` rows that has two points or more, with the
    other rows that belong to it; of searches every one along N, D and depth."""
    axes = list(SIZES) if data.searched else [axis]
    free = {*axes, *EVER_FREE, *(() if data.searched else FREE)}
    takes = np.ones(len(data.silent), dtype=bool)
    if not data.searched and axis != "layer":  # of a stack the last layer
        depth, layer = (np.array(data.texts[name], dtype=object)[data.values[name]]
                        for name in ("depth", "layer"))
        takes &= (depth == "") | (depth == layer)
    takes &= axes[0] in data.numeric and ~np.isnan(data.numbers(axes[0]))
    rows = np.flatnonzero(takes)
    if len(rows) == 0:
        return
    keys, sizes = _keys(data, free), [data.values[name] for name in axes]
    held = np.arange(len(data.silent)) >= fitted
    rows = rows[np.lexsort([key[rows] for key in reversed([*keys, held, *sizes])])]
    begins = [*_starts(rows, keys), len(rows)]
    place = _starts(rows, [*keys, held, *sizes])
    points = [_points(data, kind, rows, place, axes) for kind in range(len(data.kinds))]
    for begin, end in zip(begins, begins[1:]):
        own = rows[begin:end]
        count = int(np.count_nonzero(~held[own]))
        if count > 0:
            which = slice(int(np.searchsorted(place, begin)),
                          int(np.searchsorted(place, begin + count)))
            yield from _series(data, axes, free, own, count, [part[which] for part in points])


def _series(data: Rows, axes: List[str], free: Set[str], rows: Ints, count: int,
            points: List[Points]) -> Iterator[Series]:
    """One for each kind of error that the rows have; of searches along the sizes that differ."""
    kept = list(range(len(axes)))
    if data.searched:
        kept = [k for k in kept if len(set(data.values[axes[k]][rows[:count]])) > 1]
        free = free - set(SIZES) | {axes[k] for k in kept}
    shared: Dict[str, str] = {}
    first = True
    for kind, part in zip(data.kinds, points):
        said = kind == "omega_min" or part.seeds.any()
        if len(part) > 1 and said and kept:
            part.x = part.x[:, kept]
            shared = shared or {
                axis: "" if (_follower(data, axis) or axis) in free else
                data.text(int(rows[0]), axis) for axis in data.axes}
            yield Series(data, [axes[k] for k in kept], free, rows[:count], rows[count:], shared,
                         kind, first, part, count - int(part.values.sum()))
            first = False


def medians(values: Floats, starts: Ints, counts: Ints) -> Floats:
    """The medians of groups of values that are in order, of the first so many of each: of an even
    number the mean of the two in the middle, of an infinite one and another the infinite one."""
    last = len(values) - 1
    low = values[np.minimum(starts + np.maximum(counts - 1, 0) // 2, last)]
    high = values[np.minimum(starts + counts // 2, last)]
    with np.errstate(invalid="ignore"):  # -inf + inf
        mean = np.where(np.isinf(low), low, np.where(np.isinf(high), high, (low + high) / 2))
    return np.where(counts > 0, mean, np.inf)


def _points(data: Rows, kind: int, rows: Ints, starts: Ints, axes: Sequence[str]) -> Points:
    """The points of the rows, one from each of the starts to the next.

    A 0 and a bound are below any value: where no bound is above the median, they cannot move it."""
    value, bound = data.logs[kind][rows], data.bounds[kind][rows]
    value = 10.0**value if data.searched else value
    says = ~np.isnan(value) & ~data.silent[rows]
    is_value = says & np.isfinite(value) & ~bound
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, len(rows)]))

    def sums(of: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.add.reduceat(of, starts)

    def middle(of: Floats) -> Floats:
        of = np.where(says, of, np.nan)
        return medians(of[np.lexsort((of, group))], starts, seeds)  # nan behind all others

    def extreme(of: Any, at: Bools, empty: float) -> Floats:
        reduced: Floats = of.reduceat(np.where(at, value, empty), starts)
        return reduced

    seeds, values = sums(says.astype(np.int64)), sums(is_value.astype(np.int64))
    median, lowest = middle(value), middle(np.where(bound, -np.inf, value))
    known = np.isfinite(lowest) & (extreme(np.maximum, says & bound, -np.inf) <= lowest)
    median = np.where(known, lowest, median)
    mean = sums(np.where(is_value, value, 0.0)) / np.maximum(values, 1)
    squares = sums(np.where(is_value, value - mean[group], 0.0) ** 2)
    least, most = extreme(np.minimum, is_value, np.inf), extreme(np.maximum, is_value, -np.inf)
    off = np.array([np.subtract(median, least, where=known, out=np.zeros(len(known))),
                    np.subtract(most, median, where=known, out=np.zeros(len(known)))])
    x = np.array([data.numbers(axis)[rows[starts]] for axis in axes]).T
    return Points(x, np.array([median, *off]).T, known, squares / np.maximum(values - 1, 1),
                  values, seeds, rows[starts])
