"""Pictures of tables: what of the rows goes where, its words, and how matplotlib draws it.

The axis with the most values runs along x.  A second one makes curves of its own.  Words
(constructions, arithmetics, masks) make panels that share their scales.  Over what is left, seeds
above all, a place has the smallest error, the median and the largest.  Sizes are logarithms to the
base of ten, so that 1e-868 has its place; of searches they are Omegas, or taus.
"""

from __future__ import annotations

import dataclasses
import difflib
import html
import io
import itertools
import math
import re
import textwrap
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, MultipleLocator

from . import laws
from .command_line import Complaint, shown
from .laws import Bools, Floats, Ints
from .program import dump
from .series import AXES, CONSTANTS, NUMBER, Csv, Rows, axes_of, each, medians
from .tables import ERRORS, logs_of, shrinks, size_text

MACHINE = ("rounding", "native", "total", "observed")  # errors that the scale has room for
BY_USE = ("total", "construction", "rounding", "native", "approximation", "observed")
# Beside the total error of each curve: what it comes from.
PARTS = {"tau": (("approximation", ":", "dotted"), ("rounding", "--", "dashed"))}
PART = (("construction", ":", "dotted"),)
UNITS = {"max": "largest error of an entry", "rms": "root mean square error of an entry",
         "rel": "error relative to the result"}
PANELS_MOST, PANEL_COLUMNS, SERIES_MOST, FAMILY_LEAST = 16, 4, 8, 4
GRID_SHARE = 0.6  # two axes are a grid where this share of their pairs is there
# The scale: room below the machine's smallest error, its length, how near a tolerance is that it
# reaches to, room beyond ends of intervals, how far crosses are above; Omegas so many powers of ten
# from 1 are where a machine's numbers end.
BELOW_MACHINE, SCALE_LEAST, TOLERANCE_NEAR, BEYOND, CROSSES_ABOVE, FAR = 2, 3, 4, 0.3, 0.08, 30
LOG_LEAST = 1.18  # x is a logarithmic axis when it spans so many powers of ten
EVEN_LEAST = 4  # unless so many values or more are evenly spaced
# Pixels: room around and between panels, a line of words, and sizes of a panel.
EDGE, LEFT, GAP, LINE, WIDTH_LEAST, HEIGHT_LEAST, HEIGHT_MOST = 24, 84, 16, 14, 190, 80, 330
WIDTHS = (0, 560, 350, 290, 230)  # of panels so many side by side
TITLE, TEXT, SMALL = 13, 11, 10  # sizes of letters
MARKS_MOST = 12  # marks of a curve; a mark of x has so many letters at most
LETTERS_MOST = 16

# Colours that the colour-blind can tell apart, none of them grey: that is the native error's.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
USUAL = (8, 20, 1000, 12, 30, 100, 300, math.inf)  # Omegas with a colour of their own
RED, GREY, SHADE = "#AA0000", "#444444", "#E8F3DC"
RING = {"marker": "o", "ls": "", "mfc": "none", "mec": "black", "mew": 1.2, "ms": 11}
CROSS = {"marker": "x", "ls": "", "color": RED, "ms": 7, "mew": 2, "zorder": 4}
TOLERANCE = {"color": "black", "lw": 1, "ls": "-."}
LAW = {"color": "black", "lw": 1.1, "ls": (0, (4, 2))}
STYLE = {"font.family": "DejaVu Sans", "svg.fonttype": "none", "svg.hashsalt": "headproof",
         "axes.unicode_minus": True, "path.simplify": False, "figure.dpi": 72,
         "axes.edgecolor": GREY, "axes.linewidth": 0.8, "axes.titlesize": TEXT, "axes.titlepad": 5,
         "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#DDDDDD", "grid.linewidth": 0.6,
         "axes.axisbelow": True, "xtick.color": GREY, "ytick.color": GREY,
         "xtick.labelsize": TEXT, "ytick.labelsize": TEXT, "legend.fontsize": TEXT,
         "legend.frameon": False, "legend.handlelength": 2.5, "legend.columnspacing": 1.6,
         "legend.labelspacing": 0.35, "legend.borderaxespad": 0, "legend.borderpad": 0,
         "legend.handletextpad": 0.6}


@dataclasses.dataclass
class Wish:
    """What a user wishes: the axis along the picture and the one error drawn (None: what fits),
    the logarithm of what is to be met (nan: what rows say), words ("": none), pixels (0: what it
    takes), and the Omegas of all pictures that are to have the same colours."""
    x: Optional[str] = None
    error: Optional[str] = None
    tolerance: float = math.nan
    laws: bool = False
    title: Optional[str] = None
    caption: Optional[str] = None
    width: float = 0
    height: float = 0
    omegas: Sequence[float] = ()


class Curve(NamedTuple):
    """A curve in every panel: of an error, or of a search's Omegas, and of one value of y."""
    kind: int
    y: int
    label: str  # "": it is not in the legend
    colour: str
    width: float = 1.8
    dash: str = "-"
    marker: str = "o"
    size: float = 5


# Where every error has a curve, by its label.
ERROR_CURVES = (Curve(0, 0, "total", "#BBBBBB", 7, "-", "o", 7),
                Curve(0, 0, "approximation", "#CC79A7", 1.6, "-", "D"),
                Curve(0, 0, "construction", "#0072B2", 1.8, "-", "s"),
                Curve(0, 0, "rounding", "#D55E00", 1.8, "-", "^"),
                Curve(0, 0, "native", "#009E73", 1.8, "--", "o", 3),
                Curve(0, 0, "observed", "#56B4E9", 1.6, "-.", "", 0))


def size_words(log10: float) -> str:
    """A number by its logarithm: "1e-12", of whatever size."""
    exponent = math.floor(log10 + 1e-12)
    if -300 < exponent < 300:
        return f"{10.0 ** log10:.3g}"
    return f"{10.0 ** (log10 - exponent):.3g}e{exponent:+d}"


def cut(text: str, most: int) -> str:
    """Dots in place of the middle of more letters: paths differ at their ends."""
    if len(text) <= most:
        return text
    head = (most - 3) // 2
    return f"{text[:head]}...{text[len(text) - (most - 3 - head):]}"


def width_of(text: str, size: float) -> float:
    """Pixels that a line takes."""
    return float(text_to_path.get_text_width_height_descent(
        text, FontProperties(family="DejaVu Sans", size=size), False)[0])


def fitting(text: str, width: float) -> str:
    """As many of the letters as have room in so many pixels, about, but eight."""
    return cut(text, max(8, int(len(text) * width / max(width_of(text, TEXT), 1))))


def wrapped(text: str, width: float, size: float) -> List[str]:
    """Lines of at most so many pixels, about."""
    letters = max(10, int(width / width_of("naeiors t", size) * 9))
    return [line for part in text.split("\n")
            for line in textwrap.wrap(part, letters, break_on_hyphens=False) or [""]]


def typed(axis: str, text: str) -> str:
    """A value as a user types it: "2^-17" of tau."""
    half, exponent = math.frexp(float(text) if axis == "tau" and NUMBER.fullmatch(text) else 0)
    return f"2^{exponent - 1}" if half == 0.5 else shown(text)


def literal(text: str) -> str:
    """A text in which matplotlib sees no mathematics."""
    return text.replace("$", r"\$")


# ---- Places --------------------------------------------------------------------------------------


class Places:
    """Where each axis of the rows goes.

    x, y: along the picture, and a curve a value; panels: a panel a value; spans: all values are in
    one place; ones: drawn where it has that value, its most frequent.  What is left is fixed: it
    has one value, or hangs on another axis.  columns: of panels by two axes or more, row by row."""

    def __init__(self, data: Rows, wished: Optional[str]) -> None:
        self.data = data
        self.filled = {axis: sum(map(bool, texts)) for axis, texts in data.texts.items()}
        self.spans: List[str] = []
        for axis in data.texts:
            if self.filled[axis] > 1 and not any(self._hangs(axis, other) for other in self.spans
                                                 if self._free(other)):
                self.spans.append(axis)
        self.x = wished or self._longest(True) or self._longest(False) or "construction"
        self.spans = [axis for axis in self.spans if axis != self.x]
        self.ones: Dict[str, int] = {}
        self.y: Optional[str] = None
        self._place_y()
        self.drawn = self.there(self.x)
        for axis, value in self.ones.items():
            self.drawn &= ~self.there(axis) | (data.values[axis] == value)
        self.panels: List[str] = []
        self.columns = 0
        self._place_panels()

    def there(self, axis: str) -> Bools:
        """The rows that have a value of the axis."""
        filled = np.array([text != "" for text in self.data.texts[axis]], dtype=bool)
        return filled[self.data.values[axis]]

    def _free(self, axis: str) -> bool:
        """Does it vary by itself, and are its values not one place at once?"""
        sample = axis in ("seed", "input", "max-bits") or \
            (axis == "depth" and self.filled["layer"] > 1)
        return axis in self.spans and not sample

    def _pairs(self, a: str, b: str) -> Tuple[int, int]:
        """How many pairs of values of two axes rows have, blanks apart, and values of a in them."""
        both = self.there(a) & self.there(b)
        width = len(self.data.texts[b])
        pairs = np.unique(self.data.values[a][both] * width + self.data.values[b][both])
        return len(pairs), len(np.unique(pairs // width))

    def _hangs(self, b: str, a: str) -> bool:
        """Is there one value of b for every value of a?"""
        pairs, values = self._pairs(a, b)
        return pairs == values

    def _is_grid(self, axis: str) -> bool:
        """Have rows most of the pairs of values of x and another axis?"""
        return self._pairs(self.x, axis)[0] >= \
            GRID_SHARE * self.filled[self.x] * self.filled[axis]

    def _longest(self, numeric: bool) -> Optional[str]:
        """The free axis with the most values, a constant before others; of numbers, or of all."""
        axes = [axis for axis in self.spans
                if self._free(axis) and (not numeric or axis in self.data.numeric)]
        return max(axes, key=lambda axis: (self.filled[axis], axis in CONSTANTS)) if axes else None

    def _place_one(self, axis: str) -> None:
        counts = np.bincount(self.data.values[axis][self.there(axis)])
        self.ones[axis] = int(np.argmax(counts))
        self.spans.remove(axis)

    def _place_y(self) -> None:
        """The longest number that makes a grid with x.  What does not was swept by itself: the
        picture is of the value that it mostly has."""
        most = SERIES_MOST if self.data.searched else math.inf  # intervals side by side
        while self.y is None and (axis := self._longest(True)) is not None:
            if self._is_grid(axis) and self.filled[axis] <= most:
                self.y = axis
                self.spans.remove(axis)
            else:
                self._place_one(axis)
        for axis in list(self.spans):
            if axis not in ("construction", "file") and self._free(axis) and \
                    not self._is_grid(axis):
                self._place_one(axis)

    def _find_panels(self, axes: Sequence[str]) -> "Tuple[Ints, Ints]":
        """A row of each panel, in order, and which panel each drawn row is in."""
        rows = np.flatnonzero(self.drawn)
        keys = np.array([self.data.values[axis][rows] for axis in axes] or [0 * rows])
        _, first, panel = np.unique(keys.T, axis=0, return_index=True, return_inverse=True)
        return rows[first], panel.ravel()

    def _place_panels(self) -> None:
        """A panel a value of what is left, as long as there are few.  Panels that differ in the
        axis with the most values that fit beside each other are so."""
        count, column = 1, ""
        for axis in filter(self._free, list(self.spans)):
            now = len(self._find_panels([*self.panels, axis])[0])
            if now <= PANELS_MOST:
                self.spans.remove(axis)
                self.panels += [axis] if now > count else []
                count = max(count, now)
        for axis in self.panels:
            if self.columns < self.filled[axis] <= PANEL_COLUMNS:
                column, self.columns = axis, self.filled[axis]
        order = sorted(self.panels, key=lambda axis: axis == column)
        self.panel_rows, self.panel = self._find_panels(order)
        pairs = math.prod(self.filled[axis] for axis in self.panels)
        if pairs != len(self.panel_rows) or self.columns >= pairs:
            self.columns = 0


class Spots:
    """What rows have in each place [panel, y, x]: the largest, the smallest and the median, which
    are nan where nothing is known; bound: of the largest.  Of a search the ends of the interval and
    the best; below, above: it goes on beyond that end; none: no Omega meets the tolerance."""

    def __init__(self, shape: "Tuple[int, int, int]") -> None:
        self.most, self.least, self.median = (np.full(shape, np.nan) for _ in range(3))
        self.bound, self.below, self.above, self.none = (np.zeros(shape, dtype=bool)
                                                         for _ in range(4))


def _errors(shape: "Tuple[int, int, int]", place: Ints, logs: Floats, bounds: Bools) -> Spots:
    """Of an error, from rows in places."""
    spots = Spots(shape)
    known = np.flatnonzero(~np.isnan(logs))
    order = known[np.lexsort((bounds[known], logs[known], place[known]))]
    at, first, count = np.unique(place[order], return_index=True, return_counts=True)
    last = order[first + count - 1]
    spots.most.flat[at], spots.bound.flat[at] = logs[last], bounds[last]
    spots.least.flat[at] = logs[order[first]]
    spots.median.flat[at] = medians(logs[order], first, count)
    return spots


def _searches(shape: "Tuple[int, int, int]", place: Ints, tables: Sequence[Csv],
              rows: Ints) -> Spots:
    """Of searches: of several in a place what meets the tolerance in all."""
    spots, constant = Spots(shape), tables[0].constant
    least, most, best = (np.concatenate([logs_of(table[f"{constant}_{end}"]) for table in tables])
                         for end in ("min", "max", "best"))
    below, above = ([text == "" for table in tables for text in table[f"{constant}_{end}"]]
                    for end in ("below", "above"))
    for at in np.unique(place):
        own = rows[place == at]
        low, high = own[np.argmax(least[own])], own[np.argmin(most[own])]  # nan before others
        spots.none.flat[at] = not least[low] <= most[high]
        if not spots.none.flat[at]:
            spots.least.flat[at], spots.most.flat[at] = least[low], most[high]
            spots.below.flat[at] = below[low] or abs(least[low]) > FAR
            spots.above.flat[at] = above[high] or abs(most[high]) > FAR
            spots.median.flat[at] = best[low] if len(own) == 1 else np.nan  # each has its own
    return spots


# ---- The picture ---------------------------------------------------------------------------------


class Picture:
    """What a picture shows, and its words; figure() draws it.

    axes: what the program says of each axis, by its name in tables."""

    def __init__(self, data: Rows, tables: Sequence[Csv], axes: Dict[str, Any], wish: Wish) -> None:
        self.data, self.tables, self.axes, self.wish = data, tables, axes, wish
        self.places = places = Places(data, wish.x)
        rows = np.flatnonzero(places.drawn)
        self.x = [text for text in data.texts[places.x] if text]
        self.y = list(data.texts[places.y]) if places.y else [""]
        self.shape = (len(places.panel_rows), len(self.y), len(self.x))
        along = data.values[places.x][rows] - (len(data.texts[places.x]) - len(self.x))
        place = (places.panel * self.shape[1] + self.up(rows)) * self.shape[2] + along
        taken = np.bincount(place, minlength=math.prod(self.shape)).reshape(self.shape)
        self.taken, self.several = taken > 0, bool((taken > 1).any())
        self.undrawn = int((~places.there(places.x)).sum())
        self.categories = places.x not in data.numeric
        if data.searched:
            self.spots = [_searches(self.shape, place, tables, rows)]
        else:
            self.spots = [_errors(self.shape, place, logs[rows], bounds[rows])
                          for logs, bounds in zip(data.logs, data.bounds)]
        self.main, self.tolerance = (0, math.nan) if data.searched else self._judged()
        self.lines = not data.searched and not places.y  # a curve an error
        self.curves = list(self._curves())
        self._find_scale()

    def up(self, rows: Any) -> Any:
        """Which curve they are on."""
        return self.data.values[self.places.y][rows] if self.places.y else 0 * rows

    def is_point(self) -> bool:
        """Is there one place alone, and so nothing to draw?"""
        return math.prod(self.shape) == 1

    def has(self, kind: int) -> bool:
        """Is there any of the error that has a logarithm?"""
        return bool(np.isfinite(self.spots[kind].most).any())

    def _one_word(self, axis: str) -> str:
        texts = self.data.texts[axis]
        return texts[0] if len(texts) == 1 else ""

    def _judged(self) -> Tuple[int, float]:
        """The error that is judged: as the user asks, or as the rows say, or one that is there; and
        its tolerance, a logarithm."""
        said = self._one_word("tolerance")
        judged = said not in ("", "none")
        word = self._one_word("judge")
        main = self.wish.error or (word if judged and word in ERRORS else "total")
        kind = ERRORS.index(main)
        if self.wish.error is None and not self.has(kind):  # no reference, or no machine
            kind = ERRORS.index("observed")
            kind = kind if self.has(kind) else ERRORS.index(PARTS.get(self.places.x, PART)[0][0])
        tolerance = self.wish.tolerance
        return kind, math.log10(float(said)) if math.isnan(tolerance) and judged else tolerance

    def has_tolerance(self) -> bool:
        """Is it on the scale?"""
        return self.low < self.tolerance < self.high

    def best(self, panel: int, curve: Curve) -> int:
        """Where along tau a curve of the total error is lowest, or of the observed; -1: nowhere."""
        median = self.spots[curve.kind].median[panel, curve.y]
        there = np.isfinite(median)
        has = self.places.x == "tau" and curve.kind == self.main and \
            ERRORS[self.main] in ("total", "observed") and there.any()
        return int(np.argmin(np.where(there, median, np.inf))) if has else -1

    def meets(self, panel: int) -> Optional[Tuple[int, int]]:
        """The widest run of x whose main error, the largest in its place, is within the tolerance:
        its first and its last."""
        most = self.spots[self.main].most[panel, 0] if self.lines else np.empty(0)
        runs = [list(run) for within, run in
                itertools.groupby(range(len(most)), lambda x: bool(most[x] <= self.tolerance))
                if within]
        longest = max(runs, key=len, default=None)
        return (longest[0], longest[-1]) if longest else None

    def _each(self, what: str) -> List[Any]:
        """Of each curve, over panels and x."""
        return [getattr(self.spots[curve.kind], what)[:, curve.y] for curve in self.curves]

    # ---- Curves

    def _family(self) -> bool:
        """Has y so many values that their curves are a family in shades, of one error alone?"""
        usual = {"omega", "layer"} & {self.places.x, self.places.y}
        count = len(self.y)
        return not self.lines and (count > SERIES_MOST or (not usual and count >= FAMILY_LEAST))

    def _curves(self) -> Iterator[Curve]:
        self.family = self._family()
        all_errors = self.wish.error is None and not self.family
        if self.lines:
            for curve in ERROR_CURVES:
                kind = ERRORS.index(curve.label)
                if not all_errors:
                    curve = Curve(kind, 0, curve.label, COLOURS[1], marker="s")
                if self.has(kind) and (kind == self.main or (
                        all_errors and curve.label != "observed")):
                    yield curve._replace(kind=kind)
            return
        values = self._values()
        beside = [("native", "native", "#DDDDDD", 6.0, "-")] * (ERRORS[self.main] != "native")
        if ERRORS[self.main] == "total":
            beside += [(part, f"{part} ({word})", "", 1.8, dash)
                       for part, dash, word in PARTS.get(self.places.x, PART)]
        for error, label, colour, width, dash in beside:
            kind = ERRORS.index(error)
            if all_errors and not self.data.searched and self.has(kind):
                for curve in values:
                    yield Curve(kind, curve.y, "" if curve.y else label,
                                colour or curve.colour, width, dash, "", 0)
        yield from values

    def _values(self) -> List[Curve]:
        """The curves of the main error, or intervals.  An Omega has the colour that it prefers,
        whatever picture it is in, unless another one that is there has it.  Curves of a family,
        which may lie on each other, are the wider the farther below they lie."""
        if not self.places.y:
            return [Curve(self.main, 0, "meets the tolerance", COLOURS[1], 2.5, "-", "s")]
        count, curves = len(self.y), []
        apart = (count - 1) // SERIES_MOST + 1
        colours = list(range(count))
        if self.places.y == "omega":
            omegas = sorted({*map(float, self.wish.omegas), *map(_omega, self.y)})
            colours = [omega_colours(omegas)[_omega(text)] for text in self.y]
        for y, text in enumerate(self.y):
            label = self.name_value(self.places.y, text) if y % apart == 0 or y + 1 == count else ""
            colour, marker = colours[y] % len(COLOURS), sum(divmod(colours[y], len(COLOURS)))
            curve = Curve(self.main, y, label, COLOURS[colour], 1.8, "-",
                          MARKERS[marker % len(MARKERS)])
            if self.family:
                shade = matplotlib.colormaps["viridis"](0.95 * y / max(count - 1, 1))
                wide = 1.2 + (3.6 * (count - 1 - y) / (count - 1) if count > 1 else 0)
                curve = curve._replace(colour=matplotlib.colors.to_hex(shade), marker="o",
                                       width=wide, size=2 + wide)
            if self.data.searched:
                curve = curve._replace(width=2.5)
            curves.append(curve)
        return curves

    # ---- Scales

    def _find_scale(self) -> None:
        """The logarithms that the scale has room for: all of the machine's errors, and what the
        others have above them; without the machine, all; the ends of intervals that do not go on.
        It reaches to a tolerance that is near."""
        searched = self.data.searched
        every: List[float] = []
        machine: List[float] = []
        for curve in self.curves:
            spots = self.spots[curve.kind]
            values = np.array([np.where(spots.above, np.nan, spots.most), spots.median,
                               np.where(spots.below, np.nan, spots.least)])[:, :, curve.y]
            own = values[np.isfinite(values)].tolist()
            every += own
            machine += own if not searched and ERRORS[curve.kind] in MACHINE else []
        if not every and searched and self.has(0):
            every = [0.0]  # all are open
        if not every:
            found = f"a search that found {CONSTANTS[self.data.constant]}, in" if searched else \
                "a finite error above 0 in"
            raise Complaint(f"expected {found} a row that is drawn", self.tables[0].path)
        low, high = min(every), max(every)
        if machine:
            low = max(low, min(machine) - BELOW_MACHINE)
        if searched:
            low, high = low - BEYOND, high + BEYOND
        if abs(self.tolerance - low) < TOLERANCE_NEAR:
            low = min(low, self.tolerance - 0.5)
        if abs(self.tolerance - high) < TOLERANCE_NEAR:
            high = max(high, self.tolerance + 0.5)
        low, high = math.floor(low), math.ceil(high)
        if high - low < SCALE_LEAST:
            high += 1
            low = min(high - SCALE_LEAST, low)
        self.low, self.high = float(low), float(high)
        crosses = any(np.isposinf(most).any() for most in self._each("most"))
        self.top = self.high + (CROSSES_ABOVE * (high - low) if crosses else 0)

    # ---- Words

    def name(self, axis: str) -> str:
        """What a user calls it: its flag."""
        return str(self.axes[axis]["name"]) if axis in self.axes else axis

    def name_value(self, axis: str, text: str) -> str:
        """A value that says nothing by itself has its axis's name."""
        early = list(self.axes)[:list(self.axes).index("seed")]
        word = axis == "file" or (axis in early and self.axes[axis]["kind"] == "word")
        if text == "":
            return f"no {self.name(axis)}"
        text = typed(axis, text)
        return text if word and text != "none" else f"{self.name(axis)} {text}"

    def axis_words(self) -> str:
        """Of x, with what it means, unless that explains single values."""
        axis = self.places.x
        means = {"layer": "after which errors are measured", "file": "the table"}.get(axis) or \
            re.split("[;(]", self.axes[axis]["help"])[0].rstrip()
        return self.name(axis) + ("" if ":" in means else f": {means}")

    def unit(self) -> str:
        """In what is measured."""
        return self.data.constant or UNITS[self.data.norm]

    def title(self) -> str:
        """Of the picture."""
        by = " and ".join(map(self.name, filter(None, [self.places.x, self.places.y])))
        if self.wish.title is not None:
            return shown(self.wish.title)
        if self.data.searched:
            return f"The {self.data.constant}s that meet the tolerance, by {by}"
        if self.lines and self.wish.error is None:
            return f"The errors by {by}"
        return f"The {ERRORS[self.main]} error by {by}"

    def panel_words(self, panel: int) -> str:
        """Of a panel: "silu, causal"; "" where it is all."""
        row = int(self.places.panel_rows[panel])
        texts = {axis: self.data.text(row, axis) for axis in self.data.texts
                 if axis in self.places.panels}
        words = [self.name_value(axis, text) for axis, text in texts.items() if text]
        if self.places.y == "omega" and "" in self.y and \
                not self.taken[panel, [text != "" for text in self.y]].any():
            words.append("no omega")
        return ", ".join(words)

    def interval_words(self) -> str:
        """The first search's interval: "13.6 to 2.1e+06"."""
        spots = self.spots[0]
        low, high = (size_words(float(end.flat[0])) if np.isfinite(end.flat[0]) else "-"
                     for end in (spots.least, spots.most))
        below, above = bool(spots.below.flat[0]), bool(spots.above.flat[0])
        return "none" if spots.none.flat[0] else "all tried" if below and above else \
            f"{low} up" if above else f"to {high}" if below else f"{low} to {high}"

    def _fixed(self) -> str:
        """The values that all rows have in common, and those that hang on another axis; the default
        of an axis without a column is not worth a word."""
        said = []
        moving = {self.places.x, self.places.y, *self.places.panels}
        for axis, texts in self.data.texts.items():
            drawn = self.places.drawn & self.places.there(axis)
            found = [texts[value] for value in np.unique(self.data.values[axis][drawn])]
            fixed = axis not in moving or self.is_point()
            if axis == "file" or axis in self.places.spans or not fixed or not found:
                continue
            info = self.axes.get(axis, {"column": axis})
            if len(found) == 1 and info["column"] is None and found[0] == info["default"]:
                continue
            until = " to " if axis in self.data.numeric else " or "
            said.append(f"{self.name(axis)} " +
                        until.join(typed(axis, text) for text in
                                   dict.fromkeys((found[0], found[-1]))))
        return ", ".join(said) + ".\n" if said else ""

    def _spans(self, drawn: bool) -> str:
        """Over what a place was taken."""
        over = ", ".join(f"{self.places.filled[axis]} values of {self.name(axis)}"
                         for axis in self.data.texts if axis in self.places.spans)
        if not over:
            return ""
        if self.data.searched:
            return f"What meets it over all of {over}.\n"
        return f"Over {over}: " + ("the median, in a band from the smallest to the largest.\n"
                                   if drawn else "the largest, and the median.\n")

    def _unusual(self, kind: int) -> Iterator[str]:
        """Values of a curve that a logarithm cannot show."""
        most = self.spots[kind].most
        below, zeros = most[np.isfinite(most) & (most < self.low)], int(np.isneginf(most).sum())
        if len(below):
            least = math.floor(below.min())
            yield f"The {ERRORS[kind]} error falls below the picture, to 1e{least}."
        if zeros:
            yield (f"The {ERRORS[kind]} error is 0, which is proven, in {zeros} "
                   f"place{'s' if zeros > 1 else ''}, and has no logarithm.")

    def _best_words(self) -> Iterator[str]:
        """Which tau is best: of each curve, in its order, panel by panel."""
        panels = []
        for panel in range(self.shape[0]):
            places = [self.best(panel, curve) for curve in self.curves]
            words = ", ".join(typed("tau", self.x[place]) for place in places if place >= 0)
            name = self.panel_words(panel)
            panels += [words + (f" ({name})" if name else "")] if words else []
        if panels:
            yield (f"A ring: the smallest {ERRORS[self.main]} error of a curve, at tau "
                   f"{'; '.join(panels)}. Left of it rounding grows as 1/tau, right of it the "
                   "approximation error as tau^(2 readout).")

    def _notes(self) -> Iterator[str]:
        """What is not seen, or not by itself."""
        least, most, bound = map(self._each, ("least", "most", "bound"))
        if any(map(self.meets, range(self.shape[0]))):
            yield (f"Shaded: every {self.name(self.places.x)} evaluated in this range has a "
                   f"{ERRORS[self.main]} error within the tolerance.")
        if not math.isnan(self.tolerance) and not self.has_tolerance():
            yield (f"The tolerance {size_words(self.tolerance)} is "
                   f"{'below' if self.tolerance <= self.low else 'above'} the picture.")
        for kind in dict.fromkeys([self.main, *(curve.kind for curve in self.curves)]):
            yield from self._unusual(kind)
        yield from self._best_words()
        if any((is_bound & (log >= self.low)).any() for is_bound, log in zip(bound, most)):
            yield "Open triangles are upper bounds: the error is at most that."
        if any((np.isneginf(low) & np.isfinite(log)).any() for low, log in zip(least, most)):
            yield "Thin dotted lines: the largest, where the smallest is 0."
        if any(np.isposinf(log).any() for log in most):
            yield "Crosses at the top: not finite."

    def _signs(self) -> Iterator[str]:
        """The signs at intervals, as far as they are there."""
        spots, constant = self.spots[0], self.data.constant
        yield (f"From the smallest to the largest {constant} of an interval that meets the "
               "tolerance wherever it was evaluated.")
        signs = (("A disc: the smallest error.", np.isfinite(spots.median)),
                 ("An arrow: the interval goes on, as far as was tried or numbers reach.",
                  spots.below | spots.above),
                 (f"A red cross: no {constant} evaluated meets the tolerance.", spots.none))
        there = [words for words, where in signs if where.any()]
        yield from [" ".join(there)] if there else []

    def caption(self) -> str:
        """The text below the picture, a line a paragraph."""
        if self.wish.caption is not None:
            return shown(self.wish.caption)
        lines = [*(self._signs() if self.data.searched else self._notes())]
        if self.undrawn:
            lines.append(f"Not drawn: {self.undrawn} row{'s' if self.undrawn > 1 else ''} without "
                         f"a value of {self.name(self.places.x)}.")
        if self.wish.laws:
            lines.append("Black lines: laws of the medians, over pale curves.")
        lines.append("From " + ", ".join(map(shown, self.data.texts["file"])) + ".")
        return self._fixed() + self._spans(True) + "\n".join(lines)

    def point_words(self) -> str:
        """The numbers of a picture of one place."""
        said = []
        for kind in map(ERRORS.index, () if self.data.searched else BY_USE):
            spots = self.spots[kind]
            most, median = float(spots.most.flat[0]), float(spots.median.flat[0])
            if not math.isnan(most):
                beside = f" ({size_text(median, '', False)})" \
                    if self.several and math.isfinite(median) else ""
                bound = bool(spots.bound.flat[0])
                said.append(f"{ERRORS[kind]} {size_text(most, '', bound)}{beside}")
        if self.data.searched:
            said = [f"{self.data.constant} {self.interval_words()}"]
        return (f"One point, of which there is no picture: {', '.join(said)}.\n{self._fixed()}"
                f"{self._spans(False)}")


def _omega(text: str) -> float:
    return float(text) if text else math.inf  # a mask has none


def omega_colours(omegas: Sequence[float]) -> Dict[float, int]:
    """The place in the list of colours of each of several Omegas: usual ones have their own in
    every picture, others what is left, and prefer by their size; beyond as many as there are, a
    colour comes again with another mark."""
    taken: Dict[float, int] = {}
    for count, omega in enumerate(sorted(omegas, key=lambda one: (one not in USUAL, one))):
        lap = count // len(COLOURS) * len(COLOURS)
        free = {*range(lap, lap + len(COLOURS))} - {*taken.values()}
        wanted = USUAL.index(omega) if omega in USUAL else int(8 * math.log(omega))
        taken[omega] = min(free, key=lambda place: int((place - wanted) % len(COLOURS)))
    return taken


# ---- Drawing -------------------------------------------------------------------------------------


class Scale:
    """The axis along the picture: where its values are drawn, and which are marked."""

    def __init__(self, picture: Picture, width: float) -> None:
        self.categories = picture.categories
        apart = picture.categories or picture.data.searched
        words = [_mark(picture.places.x, text) for text in picture.x]
        numbers = np.arange(len(words)) if apart else np.array([float(text) for text in picture.x])
        self.dyadic = not apart and all(word.startswith("2^") for word in words)
        steps = np.diff(numbers)
        even = len(numbers) >= EVEN_LEAST and np.allclose(steps, steps[0], 1e-9, 0)
        self.log = self.dyadic or (
            not apart and not even and picture.places.x != "layer" and numbers[0] > 0 and
            math.log10(numbers[-1] / numbers[0]) >= LOG_LEAST)
        self.at = np.log10(numbers) if self.log else numbers.astype(np.float64)
        span = float(self.at[-1] - self.at[0])
        margin = 0.5 if apart else 0.03 * span if span > 0 else max(1.0, abs(self.at[0]) / 2)
        self.ends = float(self.at[0] - margin), float(self.at[-1] + margin)
        self.marks: Optional[List[Tuple[float, str]]] = None  # None: at round numbers
        if apart or self.dyadic or len(words) <= 8 or (self.log and span < 2.5):
            self.marks, last = [], -math.inf
            for place, word in zip(self.at, words):  # as they are written, where there is room
                room = width_of((max(words, key=len) if self.dyadic else word) + "0", TEXT)
                if self.categories or (place - last) * width >= room * (span + 2 * margin):
                    self.marks.append((float(place), word))
                    last = place

    def apply(self, ax: Axes, width: float) -> None:
        """Sets the axis's range and marks, on so many pixels."""
        ax.set_xlim(*self.ends)
        if self.marks is not None:
            ax.xaxis.set_major_locator(FixedLocator([place for place, _ in self.marks]))
            ax.xaxis.set_ticklabels([literal(word) for _, word in self.marks])
        else:
            ax.xaxis.set_major_locator(MaxNLocator(int(width / 34), integer=self.log,
                                                   steps=[1, 2, 5, 10]))
            ax.xaxis.set_major_formatter(_power(10) if self.log else "{x:g}")
        if self.dyadic:
            ax.xaxis.set_major_formatter(_power(2))
        if self.categories:
            for label in ax.get_xticklabels():
                label.set(rotation=35, ha="right", rotation_mode="anchor")


def _mark(axis: str, text: str) -> str:
    """A value of x in few letters: of a path the file's name alone."""
    name = typed(axis, text.rsplit("/", 1)[-1])
    return cut(name[:-len(".safetensors")] if name.endswith(".safetensors") else name, LETTERS_MOST)


def _power(base: int) -> FuncFormatter:
    return FuncFormatter(lambda log10, _: f"${base}^{{{log10 / math.log10(base):.0f}}}$")


class Law(NamedTuple):
    """A line over the curves of a panel: from a value of x to another, and its logarithms there."""
    panel: int
    first: int
    last: int
    log10: Floats


class Drawn(Figure):  # type: ignore[misc]
    """A matplotlib Figure, an Axes a panel, with the Picture that it shows.  Upwards its Axes have
    logarithms to the base of ten, and along x too where that is a logarithmic axis."""

    picture: Picture

    def image(self, kind: str) -> bytes:
        """It as svg, png or pdf: the same bytes whenever it is drawn."""
        told = {"svg": {"Title": f"headproof plot: {self.picture.title()}", "Date": None},
                "pdf": {"Title": self.picture.title(), "CreationDate": None}}.get(kind, {})
        with io.BytesIO() as stream, matplotlib.rc_context(STYLE):
            self.savefig(stream, format=kind, dpi=144 if kind == "png" else 72, metadata=told)
            image = stream.getvalue()
        if kind != "svg":
            return image
        text = re.sub(r'(<svg [^>]*?)width="([0-9.]+)pt" height="([0-9.]+)pt"',
                      r'\1width="\2" height="\3"', image.decode(), count=1, flags=re.S)
        words = html.escape(" ".join(self.picture.caption().split()))
        return text.replace("</title>", f"</title>\n <desc>{words}</desc>", 1).encode()

    def _repr_svg_(self) -> str:
        return self.image("svg").decode()


class _Page:
    """The figure of a picture: panels, legend and words on a page.  All is in pixels."""

    def __init__(self, picture: Picture, laws: Sequence[Law]) -> None:
        self.picture, wish = picture, picture.wish
        count = len(picture.places.panel_rows)
        columns = picture.places.columns or (count if count <= 3 else 2 if count == 4 else
                                             3 if count in (5, 6, 9) else PANEL_COLUMNS)
        if wish.width:
            columns = max(1, min(columns, int((wish.width - LEFT) // WIDTH_LEAST)))
        self.columns, self.rows = columns, (count - 1) // columns + 1
        self.width = wish.width or LEFT + EDGE + columns * (WIDTHS[columns] + GAP) - GAP
        self.wide = (self.width - LEFT - EDGE + GAP) / columns - GAP
        self.scale = Scale(picture, self.wide)
        self.title = wrapped(picture.title(), self.width - 2 * EDGE, TITLE)
        self.caption = wrapped(picture.caption(), self.width - 2 * EDGE, SMALL)
        legend = list(self._legend(bool(laws)))
        widest = max((width_of(label, TEXT) for label, _ in legend), default=1) + 58
        legend_columns = max(1, int((self.width - 2 * EDGE) // widest))
        legend_rows = math.ceil(len(legend) / legend_columns)
        self.head = 8 + 20 * len(self.title) + 17.5 * legend_rows + 30
        self.gap = 6 * LINE if picture.categories else 3.2 * LINE
        self.foot = self.gap + LINE + 13.8 * len(self.caption)
        around = self.head + self.foot + (self.rows - 1) * self.gap
        high = min(HEIGHT_MOST, max(2 * HEIGHT_LEAST, 0.7 * self.wide))
        self.high = (wish.height - around) / self.rows if wish.height else high
        if self.high < HEIGHT_LEAST:
            raise Complaint(f"expected a height of {math.ceil(around + self.rows * HEIGHT_LEAST)} "
                            "or more", flag="size")
        self.height = around + self.rows * self.high
        self.figure = Drawn(figsize=(self.width / 72, self.height / 72))
        self.figure.picture = picture
        self._words()
        self.figure.legend([Line2D([], [], **style) for _, style in legend],
                           [literal(label) for label, _ in legend], loc="upper left",
                           ncol=legend_columns,
                           bbox_to_anchor=self._at(EDGE + 12, 12 + 20 * len(self.title)))
        for panel in range(count):
            row, column = divmod(panel, columns)
            left = LEFT + column * (self.wide + GAP)
            bottom = self.height - self.head - (row + 1) * self.high - row * self.gap
            self._panel(panel, self.figure.add_axes((
                left / self.width, bottom / self.height, self.wide / self.width,
                self.high / self.height)))
        for law in laws:
            self.figure.axes[law.panel].plot(self.scale.at[law.first:law.last + 1], law.log10,
                                             zorder=3, **LAW)

    def _at(self, x: float, down: float) -> Tuple[float, float]:
        """A place on the page, from its upper left corner."""
        return x / self.width, 1 - down / self.height

    def _words(self) -> None:
        """Title, names of axes and caption, which stand on the page once."""
        page, picture, wide = self.figure, self.picture, self.width - LEFT - EDGE
        page.text(*self._at(EDGE, 8), literal("\n".join(self.title)), size=TITLE, va="top",
                  linespacing=1.3)
        panels = self.head + (self.height - self.head - self.foot) / 2
        page.text(*self._at(14, panels), picture.unit(), size=TEXT, rotation=90, ha="center",
                  va="center")
        under = self.height - self.foot + self.gap - 1.5 * LINE
        page.text(*self._at(LEFT + wide / 2, under), literal(fitting(picture.axis_words(), wide)),
                  size=TEXT, ha="center", va="top")
        page.text(*self._at(EDGE, under + 1.9 * LINE), literal("\n".join(self.caption)), size=SMALL,
                  va="top", color=GREY, linespacing=1.15)

    def _legend(self, laws: bool) -> Iterator[Tuple[str, Dict[str, Any]]]:
        """Words, and how their lines look."""
        picture = self.picture
        for curve in picture.curves:
            if curve.label:
                yield curve.label, self._style(curve)
        if picture.data.searched:
            yield "the smallest error", {"marker": "o", "ls": "", "color": GREY}
        if picture.has_tolerance():
            yield f"tolerance {size_words(picture.tolerance)}", TOLERANCE
        if any(picture.best(panel, curve) >= 0 for panel in range(picture.shape[0])
               for curve in picture.curves):
            yield "the best tau", RING
        if laws:
            yield "law", LAW

    def _style(self, curve: Curve) -> Dict[str, Any]:
        """Of a line; laws stand out from curves that are pale."""
        words = self.picture.categories and not self.picture.data.searched
        marker = curve.marker if not self.picture.data.searched else ""
        return {"color": curve.colour, "lw": curve.width, "ls": "" if words else curve.dash,
                "marker": marker or ("s" if words else ""), "ms": curve.size or (6 if words else 0),
                "mew": 0, "alpha": 0.45 if self.picture.wish.laws else 1}

    def _panel(self, panel: int, ax: Axes) -> None:
        picture, span = self.picture, self.picture.high - self.picture.low
        ax.set_title(literal(fitting(picture.panel_words(panel), self.wide)))
        margin = 0 if picture.data.searched else 0.04 * span
        ax.set_ylim(picture.low - margin, picture.top + margin)
        base, marks = 2 if picture.data.constant == "tau" else 10, max(3, int(self.high / 24))
        apart = math.ceil(span / math.log10(base) / marks) * math.log10(base)
        ax.yaxis.set_major_locator(MultipleLocator(apart) if base == 2 else MaxNLocator(
            marks, integer=True, steps=[1, 2, 5, 10]))
        ax.yaxis.set_major_formatter(_power(base))
        ax.tick_params(labelleft=panel % self.columns == 0)
        self.scale.apply(ax, self.wide)
        met = picture.meets(panel)
        if met is not None:
            wide = 0.4 if picture.categories else 0
            first, last = self.scale.at[list(met)]
            ax.axvspan(first - wide, last + wide, color=SHADE, lw=0, zorder=0.5)
        if picture.has_tolerance():
            ax.axhline(picture.tolerance, zorder=1.8, **TOLERANCE)
        for curve in picture.curves:
            (self._interval if picture.data.searched else self._curve)(ax, panel, curve)

    def _curve(self, ax: Axes, panel: int, curve: Curve) -> None:
        """The medians, in a band; marks of what is not finite, or a bound, at the largest."""
        picture, spots = self.picture, self.picture.spots[curve.kind]
        there = picture.taken[panel, curve.y]  # where no row is there is no gap
        at, most, least, median = (values[there] for values in (
            self.scale.at, spots.most[panel, curve.y], spots.least[panel, curve.y],
            spots.median[panel, curve.y]))
        if picture.several:
            self._band(ax, at, least, np.minimum(most, picture.top), curve)
        style = self._style(curve)
        ax.plot(at, np.where(np.isfinite(median), median, np.nan), zorder=2.2,
                markevery=max(1, math.ceil(len(at) / MARKS_MOST)) if len(at) > 48 else 1, **style)
        best = picture.best(panel, curve)
        if best >= 0:
            ax.plot(self.scale.at[best], spots.median[panel, curve.y, best], zorder=4, **RING)
        infinite = np.isposinf(most)
        ax.plot(at[infinite], np.full(int(infinite.sum()), picture.top), **CROSS)
        bound = spots.bound[panel, curve.y][there] & np.isfinite(most)
        colour = GREY if curve.width > 5 else curve.colour
        ax.plot(at[bound], most[bound], "v", mfc="white", mec=colour, ms=7, zorder=4)

    def _band(self, ax: Axes, at: Floats, least: Floats, most: Floats, curve: Curve) -> None:
        """From the smallest to the largest; where the smallest is 0, of the largest a thin line."""
        low = np.where(np.isfinite(least), least, np.nan)
        wide = most - low > 0
        ax.fill_between(at, low, most, where=wide, color=curve.colour, alpha=0.2, lw=0, zorder=1.2)
        ax.plot(at, np.where(np.isneginf(least), most, np.nan), color=curve.colour, lw=1, ls=":",
                zorder=1.9)

    def _interval(self, ax: Axes, panel: int, curve: Curve) -> None:
        """A line from Omega to Omega, with what is at its ends, and the best."""
        picture, spots, at = self.picture, self.picture.spots[0], (panel, curve.y)
        edge = (picture.high - picture.low) * 0.02
        place = self.scale.at + 0.7 * ((curve.y + 0.5) / len(picture.y) - 0.5)
        low = np.where(spots.below[at], picture.low + edge, spots.least[at])
        high = np.where(spots.above[at], picture.high - edge, spots.most[at])
        none = place[spots.none[at]]
        ax.plot(none, np.full(len(none), picture.low + 2 * edge), **CROSS)
        ax.plot((place, place), (low, high), color=curve.colour, lw=curve.width, zorder=2)
        style = {"color": curve.colour, "ls": "", "ms": 7, "zorder": 3}
        for end, goes_on, arrow in ((low, spots.below[at], "v"), (high, spots.above[at], "^")):
            ax.plot(place[goes_on], end[goes_on], marker=arrow, mew=0, **style)
            ax.plot(place[~goes_on], end[~goes_on], marker="_", mew=1.6, **style)
        ax.plot(place, spots.median[at], marker="o", **style)


# ---- From tables to a figure ---------------------------------------------------------------------


def picture_of(tables: Sequence[Csv], wish: Wish, norm: Optional[str] = None,
               program: Optional[str] = None) -> Picture:
    """What tables show, all of sweeps or all of searches."""
    known = {entry["column"] or entry["name"]: entry for entry in dump(program)["axes"]}
    if any(table.constant != tables[0].constant for table in tables):
        raise Complaint("expected tables of searches alone, for one constant, or of sweeps alone",
                        tables[1].names[0], file=tables[1].path, line=1)
    if norm is None:  # streams of many layers may shrink or grow
        columns = {name: [cell for table in tables for cell in table[name]]
                   for name in set.intersection(*(set(table.columns) for table in tables))}
        norm = "rel" if "construction_rel" in columns and shrinks(columns) else "max"
    data = Rows(tables, axes_of(known.values()), norm)
    data.take_axis("file", [table.path for table in tables for _ in range(table.rows)], False)
    if wish.x is not None:
        flags = {**{entry["name"]: axis for axis, entry in known.items()}, "layer": "layer"}
        varying = {flag: axis for flag, axis in flags.items()
                   if len(set(data.texts[axis]) - {""}) > 1}
        if wish.x not in varying:
            near = difflib.get_close_matches(wish.x, varying, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise Complaint("expected an axis that varies in the table, one of "
                            f"{', '.join(varying)}{meant}", wish.x, flag="x")
        wish = dataclasses.replace(wish, x=varying[wish.x])
    picture = Picture(data, tables, known, wish)
    wish.laws = wish.laws and not picture.categories and not data.searched
    return picture


def figure_of(picture: Picture) -> Drawn:
    """It drawn."""
    with matplotlib.rc_context(STYLE):
        return _Page(picture, list(laws_of(picture)) if picture.wish.laws else []).figure


def laws_of(picture: Picture) -> Iterator[Law]:
    """The laws that `headproof growth` finds, of every series that is one curve's: along a constant
    as far as each was fitted, else across the picture."""
    data, places = picture.data, picture.places
    if places.x not in AXES:
        return
    panels = dict(zip(np.flatnonzero(places.drawn).tolist(), places.panel.tolist()))
    drawn = {(ERRORS[curve.kind], curve.y) for curve in picture.curves}
    numbers = np.array([[float(text)] for text in picture.x])
    for series in each(data, len(data.silent), places.x):
        rows = [row for row in series.rows.tolist() if row in panels]
        told = {places.y, *places.panels} & series.free  # is it of several curves?
        if not rows or told or (series.kind, picture.up(rows[0])) not in drawn:
            continue
        for law in laws.find(series.points, series.axes, series.kind, False):
            if law.kind in laws.LINES and law.line is not None and law.told[0]:
                fitted = np.flatnonzero((numbers >= law.first) & (numbers <= law.last))
                whole = places.x not in CONSTANTS
                first, last = (0, len(numbers) - 1) if whole else (int(fitted[0]), int(fitted[-1]))
                yield Law(panels[rows[0]], first, last,
                          law.line.at(numbers[first:last + 1])[:, 0])
