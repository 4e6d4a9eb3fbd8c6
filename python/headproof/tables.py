"""Tables that headproof writes: exact decimals, logarithms, pandas."""

from __future__ import annotations

import csv
import decimal
import html
import io
import itertools
import math
import os
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

import numpy as np

from .files import Path

# Columns of words, of whatever table (docs/columns.md); all others hold numbers.
WORDS = frozenset(
    "construction activation mask arithmetic kernel reference weights options bounds status "
    "unfinished model preset bias ffn normalization normalization-place linear gelu sublayer_heads "
    "sublayer_score_ranks sublayer_value_ranks tokens kind from_term norm axis law why "
    "theory positions".split())

ERRORS = ("approximation", "construction", "rounding", "native", "total", "observed")

# Any exponent: the default context's ends at -999999.
_EXACT = decimal.Context(prec=30, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX,
                         traps=[decimal.InvalidOperation])

# What a page or a terminal shows: the rest is said to be there.
_ROWS_SHOWN = 20
_WIDTH_SHOWN = 100

# Keys that every command says of its points; figures for programs, or said by another.
_SAID = frozenset("construction n d omega seed".split())
_UNSEEN = frozenset(
    "bounds identical bias_row_max hidden_max score_max precision_bits difference_bits "
    "judged_log2 error_below error_min omega_below omega_above tau_below tau_above seed_rule "
    "seed_scores evaluations evaluations_inside censored residual_max other_residual seeds_below "
    "seeds_above end_slope".split())


# ---- Cells ---------------------------------------------------------------------------------------


def log10_of(text: str) -> float:
    """log10 of a cell: nan of a blank, -inf of a proven 0, inf of what is not finite."""
    if text in ("", "0"):
        return math.nan if text == "" else -math.inf
    if text.lstrip("-") in ("nan", "inf"):
        return math.inf
    digits, _, exponent = text.partition("e")
    mantissa = abs(float(digits))  # 0.0 is no zero of ours, which are 0
    return math.log10(mantissa) + int(exponent or 0) if mantissa > 0 else math.nan


def logs_of(texts: Sequence[str]) -> np.ndarray:
    """The same of many: what doubles hold at once, the others one by one."""
    values = np.array([float(text or "nan") for text in texts], dtype=np.float64)
    plain = (values > 1e-300) & (values < 1e300)
    logs = np.log10(values, where=plain, out=np.full(len(texts), np.nan))
    for i in np.flatnonzero(~plain):
        logs[i] = log10_of(texts[i])
    return logs


def size_text(log10: float, text: str, bound: bool) -> str:
    """A size with two digits, "<2.5e-14" of a bound, of any exponent."""
    if not math.isfinite(log10):
        return "-" if math.isnan(log10) else "0" if log10 < 0 else "not finite"
    digits, _, power = text.partition("e")
    exponent = math.floor(log10)
    if float(digits or 0) > 0:  # a logarithm of -8e16 has no digits behind its point
        shift = math.floor(math.log10(float(digits)))
        mantissa, exponent = float(digits) / 10.0**shift, int(power or 0) + shift
    else:
        mantissa = 10 ** (log10 - exponent)
    if mantissa >= 9.95:
        mantissa, exponent = 1.0, exponent + 1
    return f"{'<' if bound else ''}{mantissa:.1f}e{exponent:+03d}"


def shrinks(columns: Mapping[str, Sequence[str]]) -> bool:
    """Do the streams of a table's layers differ in size by more than a factor of 1000?"""
    sizes: List[float] = []
    for kind in ERRORS:
        if {"layer", f"{kind}_max", f"{kind}_rel"} <= {*columns}:
            with np.errstate(invalid="ignore"):
                size = logs_of(columns[f"{kind}_max"]) - logs_of(columns[f"{kind}_rel"])
            sizes += size[np.isfinite(size)].tolist()
    return len(sizes) > 0 and len({*columns["layer"]}) > 1 and max(sizes) - min(sizes) > 3


def seen(columns: Mapping[str, Sequence[str]]) -> List[str]:
    """The columns that the program's own tables have: keys that vary, of one row those that every
    command says, and each figure once."""
    names, norm = list(columns), "_rel" if shrinks(columns) else "_max"
    keys = names.index("options") + 1 if "options" in names else 0
    keys += names[keys:keys + 1] == ["layer"]
    texts = {name: {*cells} - {""} for name, cells in columns.items()}
    stack = all(len(texts[name]) < 2 for name in names[:keys] if name != "layer")

    def is_shown(place: int, name: str) -> bool:
        if place < keys:
            return len(texts[name]) > 1 or (len(columns[name]) == 1 and name in _SAID) or (
                stack and name == "omega")
        other = re.sub("_(max|rms|rel|ulp|log10|log2)$", "", name)
        again = other != name and not name.endswith(norm) and {other, other + norm} & {*names}
        return bool(texts[name]) and not again and name not in _UNSEEN

    return [name for place, name in enumerate(names) if is_shown(place, name)]


# ---- The table -----------------------------------------------------------------------------------


def _csv(cell: Any) -> str:
    """A cell as the program reads it."""
    if isinstance(cell, str):
        return cell
    return {"NaN": ""}.get(str(cell), str(cell).lower().replace("infinity", "inf"))


class Table(Dict[str, np.ndarray]):
    """A table's columns by name, in order: numbers as exact decimals (blank: NaN), words as str.

    passed: did the program that wrote it end with 0?  Of a file that is read it is not known.
    """

    def __init__(self, columns: Dict[str, np.ndarray], passed: Optional[bool] = None) -> None:
        super().__init__(columns)
        self.passed = passed

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()))) if self else 0

    def _numbers(self, name: str) -> np.ndarray:
        column = self[name]
        if any(isinstance(cell, str) for cell in column):
            raise TypeError(f"the column {name} holds words")
        return column

    def log10(self, name: str) -> np.ndarray:
        """log10 |x| of a column of numbers, as float64: -inf for a 0 alone, NaN where blank."""
        return np.array([_log10(cell) for cell in self._numbers(name)], dtype=np.float64)

    def floats(self, name: str) -> np.ndarray:
        """The column as float64; a number that a double cannot hold raises OverflowError."""
        return np.array([_float(cell, name) for cell in self._numbers(name)], dtype=np.float64)

    def bounded(self, name: str) -> np.ndarray:
        """Where is the cell of that column only an upper bound?"""
        named = self.get("bounds", np.full(self.rows, ""))
        return np.array([name in cell.split(";") for cell in named], dtype=bool)

    def lines(self) -> Iterator[str]:
        """Its lines as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self)
        writer.writerows(map(_csv, row) for row in zip(*self.values()))
        return iter(text.getvalue().splitlines())

    def to_csv(self, path: Path) -> None:
        """Writes the table as CSV, the same numbers, without a sidecar."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(line + "\n" for line in self.lines())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: words as str, numbers as exact Decimals, and beside each column of
        numbers that doubles do not hold exactly a column NAME_log10 of float64, unless the table
        has it.  Logarithms, and integers and fractions that doubles hold, are float64, or int64."""
        import pandas  # only who asks for it needs it
        frame: Dict[str, Any] = {}
        for name, column in self.items():
            words = any(isinstance(cell, str) for cell in column)
            plain = None if words else _plain(column)
            if name.endswith("_log10") and not words:
                plain = self.floats(name)
            frame[name] = column if plain is None else plain
            logs = {f"{name}_log10", re.sub("_max$", "", name) + "_log10"}
            if plain is None and not words and not logs & set(self):
                frame[f"{name}_log10"] = self.log10(name)
        return pandas.DataFrame(frame)

    def _shown(self) -> List[str]:
        """The columns for eyes; the errors that are looked for last go where a line is long."""
        texts = {name: [*map(_csv, column)] for name, column in self.items()}
        names, norm = seen(texts), "_rel" if shrinks(texts) else "_max"
        for kind in ("approximation", "observed", "rounding", "native"):
            name = kind + norm
            if sum(self._width(shown) for shown in names) > _WIDTH_SHOWN and name in names:
                names.remove(name)
        return names or list(self)

    def _width(self, name: str) -> int:
        return 2 + max([len(name)] + [len(_cell(cell)) for cell in self[name][:_ROWS_SHOWN]])

    def __repr__(self) -> str:
        names = self._shown()
        widths = itertools.accumulate(map(self._width, names))
        names = names[:max(1, sum(width <= _WIDTH_SHOWN for width in widths))]
        columns = [[cell.rjust(self._width(name)) for cell in
                    [name, *map(_cell, self[name][:_ROWS_SHOWN])]] for name in names]
        return "\n".join([*map("".join, zip(*columns)), self._rest(len(names))])

    def _rest(self, shown: int) -> str:
        more = f", the first {_ROWS_SHOWN} shown" if self.rows > _ROWS_SHOWN else ""
        return f"[{self.rows} rows{more}; {len(self)} columns, {shown} shown]"

    def _repr_html_(self) -> str:
        names = self._shown()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(self[name][row]))}</td>" for name in names) +
            "</tr>" for row in range(min(self.rows, _ROWS_SHOWN)))
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                f"<p>{html.escape(self._rest(len(names)))}</p>")


def _cell(cell: Any) -> str:
    """As it is shown: of a number that is long, four digits."""
    if isinstance(cell, str):
        return cell
    if cell.is_nan():
        return ""
    text = str(cell).lower()
    return text if len(text) <= 8 else f"{cell:.3e}"


def _log10(cell: decimal.Decimal) -> float:
    if cell.is_nan():
        return math.nan
    if cell.is_zero():
        return -math.inf
    return float(_EXACT.log10(_EXACT.abs(cell)))


def _float(cell: decimal.Decimal, name: str) -> float:
    value = float(cell)
    if cell.is_finite() and (math.isinf(value) or (value == 0 and not cell.is_zero())):
        raise OverflowError(f"{name}: {cell} is outside a double's range: use log10({name!r})")
    return value


def _plain(column: np.ndarray) -> Optional[np.ndarray]:
    """As int64 or float64, where that is every number of the column exactly, else None."""
    floats = np.array([float(cell) for cell in column], dtype=np.float64)
    same = all(cell.is_nan() or cell == decimal.Decimal(value)
               for cell, value in zip(column, floats))
    if not same or len(column) == 0:
        return None if len(column) else floats
    whole = np.isfinite(floats).all() and (floats == np.floor(floats)).all() and \
        (np.abs(floats) < 2**53).all()
    return floats.astype(np.int64) if whole else floats


# Machine errors, differences of two doubles: only a bound is larger.
_MEASURED = re.compile("(rounding|native|total|observed)_(max|rms)")
_DIFFERENCE = decimal.Decimal("1e309")


def _check_sizes(table: Table, source: str) -> None:
    for name in filter(_MEASURED.fullmatch, table):
        column = table[name]
        for row in np.flatnonzero(~table.bounded(name)):
            cell = column[row]
            if not isinstance(cell, str) and cell.is_finite() and cell >= _DIFFERENCE:
                raise ValueError(f"{source}:{row + 2}: {cell}: expected an error of doubles: only "
                                 f"a bound, named in bounds, is larger (column {name})")


def _column(name: str, cells: Sequence[str]) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    try:
        column[:] = [cell if name in WORDS else decimal.Decimal(cell or "NaN") for cell in cells]
    except decimal.InvalidOperation:  # seeds as 1:5, in a table of min-omega
        column[:] = list(cells)
    return column


def read_table(file: Iterator[str], source: str, passed: Optional[bool] = None) -> Table:
    lines = list(csv.reader(file))
    if not lines:
        raise ValueError(f"{source}: expected a header")
    header, rows = lines[0], lines[1:]
    if len(set(header)) != len(header):
        raise ValueError(f"{source}: expected columns with names, each once")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{source}:{number}: {len(row)} cells: expected {len(header)}")
    table = Table({name: _column(name, [row[i] for row in rows]) for i, name in enumerate(header)},
                  passed)
    _check_sizes(table, source)
    return table


def read_csv(path: Path) -> Table:
    """The table in a file of CSV that headproof wrote."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return read_table(file, os.fspath(path))
