"""Laws by which an error grows along an axis, and what they say of sizes that were not fitted.

A law is a line through the medians over seeds, by least squares (docs/findings.md):

    power, arm-right       log10 y = constant + slope log10 x
    exponential, arm-left  log10 y = constant + slope x log10 e
    floor                  log10 y = constant
    logarithm              y = constant + the sum of slope ln x over the terms
    linear                 the same with slope x of the last term

In the first five y is an error, which may be 1e-868, and all is done with its logarithm to the base
of ten; in the last two it is the Omega that searches found, and x are N, D and depth.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Callable, List, NamedTuple, Optional, Sequence, TYPE_CHECKING, Tuple, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

Floats: TypeAlias = "npt.NDArray[np.float64]"
Ints: TypeAlias = "npt.NDArray[np.int64]"
Bools: TypeAlias = "npt.NDArray[np.bool_]"

POINTS_LEAST = 3  # of a law
OFF = 0.1  # a point may be off its law by this, in powers of ten, ...
NOISES = 3.0  # ... or by so many standard errors of its median
TOLD = 2.0  # an exponential is told from a power whose residual is above so many times its own
OMEGA_OFF = 1.0  # a formula that is off by more is none: by 1 the error is another by e^2
COLLINEAR = 1e-12  # terms with a pivot below this, of 1, hang together

# Along a constant: the kinds of its left arm, its floor and its right arm; the squares that a point
# in no law counts for, and a number that was fitted; the slopes that make it an arm, from a quarter
# or half of what theory expects; what a double's last bits are off by.
ARMS = {"omega": ("arm-left", "floor", "arm-right"), "tau": ("power", "floor", "power")}
COST_POINT, COST_NUMBER = 9.0, 3.0
ARM_SLOPES = ((-math.inf, -0.5), (0, 0), (0.25, math.inf))
RESOLUTION = float(np.finfo(np.float64).eps) / 4
TIE = 1e-12  # costs that differ by less of themselves are the same

FORMULAS = ("logarithm", "linear")
LINES = ("floor", "power", "exponential", "arm-left", "arm-right") + FORMULAS
LOG10_E = math.log10(math.e)

# Student's t for 0, 1, ... degrees of freedom: so many standard errors to either side hold 95 %.
_STUDENT = (math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def student(freedom: int) -> float:
    """The same for any number of them; beyond ten within 0.02."""
    return _STUDENT[freedom] if freedom < len(_STUDENT) else 1.96 + 2.7 / freedom


@dataclasses.dataclass
class Points:
    """What is known of an error at each size of a series; arrays of so many points.

    x [points, terms]: the sizes; y [points, 3]: the median over seeds, and how far the smallest and
    the largest seed are below and above it; known: the median is a value, whatever cells are
    bounds, else it is at most that, -inf of a proven 0, inf where nothing is known; variance: of
    the values alone, of which there are `values`; seeds: rows that say something; row: the first.
    """

    x: Floats
    y: Floats
    known: Bools
    variance: Floats
    values: Ints
    seeds: Ints
    row: Ints

    def __getitem__(self, which: Union[slice, Bools]) -> Points:
        return Points(*(column[which] for column in vars(self).values()))

    def __len__(self) -> int:
        return len(self.known)

    def noise(self) -> Floats:
        """The variance of each median: pi/2 times that of a mean, of values that are normal."""
        noise: Floats = math.pi / 2 * self.variance / np.maximum(self.values, 1)
        return noise


# ---- Lines ---------------------------------------------------------------------------------------


def levers(kind: str, x: Floats) -> Floats:
    """u [..., terms], in which a law of that kind is a line, at x [..., terms]."""
    if kind == "floor":
        return x[..., :0]
    if kind in ("exponential", "arm-left"):
        return x * LOG10_E
    if kind not in FORMULAS:
        return np.log10(x)
    u = np.log(x)
    if kind == "linear":
        u[..., -1] = x[..., -1]
    return u


@dataclasses.dataclass
class Line:
    """y = y_mean + (u - u_mean) slope, by least squares; y may have several columns.

    slope = (U'U)^-1 U'Y, of U and Y less their means; inverse: (U'U)^-1 [terms, terms]."""

    kind: str
    u_mean: Floats
    y_mean: Floats
    inverse: Floats
    slope: Floats

    def at(self, x: Floats) -> Floats:
        """y [..., columns] at x [..., terms]."""
        return self.y_mean + (levers(self.kind, x) - self.u_mean) @ self.slope

    def spread(self, x: Floats) -> float:
        """u' (U'U)^-1 u of one x: how far it is from those fitted."""
        u = levers(self.kind, x) - self.u_mean
        return float(u @ self.inverse @ u)


def _mean(a: Floats) -> Floats:
    """Of the rows; exactly their value where all are the same."""
    mean: Floats = a[0] + (a - a[0]).sum(axis=0) / len(a)
    return mean


def fit(kind: str, x: Floats, y: Floats) -> Optional[Line]:
    """The line through y [points, columns] at x [points, terms]; None: there are no more points
    than terms, or terms that hang together."""
    u = levers(kind, x)
    if len(u) <= u.shape[1]:
        return None
    u_mean, y_mean = _mean(u), _mean(y)
    u = u - u_mean
    sums = u.T @ u
    try:
        pivots = np.linalg.cholesky(sums).diagonal() ** 2
    except np.linalg.LinAlgError:
        return None
    if (pivots <= COLLINEAR * sums.diagonal()).any():
        return None
    inverse = np.linalg.inv(sums)
    return Line(kind, u_mean, y_mean, inverse, inverse @ (u.T @ (y - y_mean)))


# ---- Laws ----------------------------------------------------------------------------------------


class Band(NamedTuple):
    """Where a measured value is expected, as logarithms to the base of ten."""
    low: float
    middle: float
    high: float


class Law:
    """A law of one kind through points, x ascending; `zero` is a proven 0, `none` no law.

    why: of `none`, `few-points`, `residual`, `bound` or `zero`, which contradict it; `either` where
    a power and an exponential both would do.  told [terms]: there are three sizes on the axis or
    more, so that it can be told what lies beyond.  ends: the same law through the larger half of
    the points alone; of a formula through all but the smallest size of each term, and its other
    form.  farthest: how far the smallest seed is below its median, and the largest above it,
    anywhere; seeds: of a point, at most.  residual = sqrt(sum of squares / freedom); misfit: the
    same of the residuals over what their points may be off by; noise: of a new point, the residual
    or the standard error of a median by its seeds, the larger.  other: the residual of the kind
    that was not chosen, or nan.
    """

    def __init__(self, kind: str, why: str, points: Points) -> None:
        self.kind, self.why, self.points, self.other = kind, why, len(points), math.nan
        x, half = points.x, max((len(points) + 1) // 2, POINTS_LEAST)
        self.first, self.last, self.seeds = x.min(axis=0), x.max(axis=0), int(points.seeds.max())
        self.told: Bools = ((x > self.first) & (x < self.last)).any(axis=0)
        self.farthest: List[float] = points.y[:, 1:].max(axis=0).tolist()
        self.ends: List[Line] = []
        self.line = fit(kind, x, points.y) if kind in LINES else None
        if self.line is None:
            return
        off, noise = points.y[:, 0] - self.line.at(x)[:, 0], points.noise()
        room = np.maximum(OFF, NOISES * np.sqrt(noise))
        self.freedom = len(points) - len(self.line.u_mean) - 1
        self.residual = self._spread(off)
        self.misfit = self._spread(off / room)
        self.worst = float(np.abs(off).max())
        self.seed_noise = math.sqrt(float(noise.sum()) / len(points))
        self.noise = max(self.residual, self.seed_noise)
        for k, first in enumerate(self.first):
            part = points[x[:, k] > first] if kind in FORMULAS else points[-half:]
            end = fit(kind, part.x, part.y)
            self.ends += [end] if end is not None else []

    def _spread(self, off: Floats) -> float:
        return math.sqrt(float(off @ off) / self.freedom) if self.freedom > 0 else 0.0

    def constant(self) -> float:
        """y of the line at u = 0."""
        assert self.line is not None
        return float(self.line.y_mean[0] - self.line.u_mean @ self.line.slope[:, 0])

    def slope(self, term: int) -> float:
        """0 of a floor."""
        return _slope(self.line, term)

    def slope_error(self, term: int) -> float:
        """noise sqrt((U'U)^-1), the standard error of the slope."""
        if self.line is None or len(self.line.inverse) == 0:
            return 0.0
        return self.noise * math.sqrt(self.line.inverse[term, term])

    def end_slope(self, term: int) -> float:
        """The slope through the larger half."""
        return _slope(self.ends[term] if term < len(self.ends) else None, term)

    def says(self, x: Floats) -> bool:
        """Not beyond sizes of which there are two, or which are a 0 there."""
        inside = (x >= self.first) & (x <= self.last)
        return self.kind != "none" and bool((self.told | inside).all())

    def band(self, x: Floats) -> Band:
        """middle -+ (sqrt((t e)^2 + b^2) + s): t Student's for 95 %, e = noise sqrt(1 + 1/points +
        u' (U'U)^-1 u), b^2 the sum of the squares of what each end differs by at x, s how far the
        smallest or the largest seed is from the median at any point, or by a line through these
        where that is more."""
        if self.line is None:
            return Band(-math.inf, -math.inf, -math.inf)
        middle, below, above = self.line.at(x).tolist()
        error = self.noise * math.sqrt(1 + 1 / self.points + self.line.spread(x))
        bends = sum((float(end.at(x)[0]) - middle) ** 2 for end in self.ends)
        room = math.sqrt((student(self.freedom) * error) ** 2 + bends)
        low = middle - room - max(self.farthest[0], below)
        high = middle + room + max(self.farthest[1], above)
        if self.kind in FORMULAS:  # of Omega itself
            return Band(*(math.log10(y) if y > 0 else -math.inf for y in (low, middle, high)))
        return Band(low, middle, high)


def _slope(line: Optional[Line], term: int) -> float:
    return float(line.slope[term, 0]) if line is not None and len(line.slope) > 0 else 0.0


def predict(laws: Sequence[Law], x: Floats) -> Tuple[Optional[Law], Band]:
    """By the law that says most at x [terms]; None: none says anything."""
    found: List[Tuple[Law, Band]] = [(law, law.band(x)) for law in laws if law.says(x)]
    nothing: Tuple[Optional[Law], Band] = (None, Band(math.nan, math.nan, math.nan))
    return max(found, key=lambda pair: pair[1].middle, default=nothing)


# ---- Which law -----------------------------------------------------------------------------------


def _one(points: Points, formula: bool, depth: bool) -> Law:
    """A power, or an exponential; of searches a sum of logarithms, or with the depth itself."""
    first, other = (Law(kind, "", points) for kind in
                    (FORMULAS if formula else ("power", "exponential")))
    if first.line is None:
        return Law("none", "few-points", points)
    two = other.line is not None and (depth or not formula)
    limit = other.residual if formula else TOLD * other.noise
    if two and first.residual > limit:
        first, other = other, first
    law, law.other = first, other.residual if two else math.nan
    if two and not formula and law.other <= TOLD * law.noise:
        law.why = "either"
    if two and formula:
        law.ends.append(other.line)  # type: ignore[arg-type]
    if law.residual > OMEGA_OFF if formula else law.misfit > 1:
        law.kind, law.why = "none", "residual"
    return law


def _stage_costs(kinds: Sequence[str], x: Floats, y: Floats, unit: float) -> Floats:
    """[kind, i, j]: the cost of the points i to j as one stage; inf: they are none.

    The residuals' squares over unit^2, and COST_NUMBER for each number of the line and for where it
    begins.  Squares are added up point by point, for all kinds and beginnings i at once: one more
    at lever du adds r^2 k/(k + 1) / (1 + k/(k + 1) du^2/suu), r being off the line of the k before
    it, without cancellation; and what the logarithm itself has lost, as one of 1e17 has no digits
    behind its point."""
    count, lost = len(y), (RESOLUTION * y) ** 2
    u = np.array([levers(kind, x).sum(axis=1) for kind in kinds])  # 0 of a floor
    flat = np.array([[kind == "floor"] for kind in kinds])
    least, most = np.array(ARM_SLOPES).T[:, :, None]
    costs, sums = np.full((len(kinds), count, count), np.inf), np.zeros((6, len(kinds), count))
    for k in range(count):
        u_mean, y_mean, suu, suy, squares, slope = sums[:, :, :count - k]
        du, dy, share = u[:, k:] - u_mean, y[k:] - y_mean, k / (k + 1)
        lever = np.divide(du * du, suu, out=np.zeros_like(du), where=suu > 0)
        added = share * (dy - slope * du) ** 2 / (1 + share * lever)
        squares += (added * flat if k < 2 else added) + lost[k:]  # a line goes through two
        u_mean += du / (k + 1)
        y_mean += dy / (k + 1)
        suu += share * du * du
        suy += share * du * dy
        slope[:] = np.divide(suy, suu, out=np.zeros_like(du), where=suu > 0)
        if k + 1 >= POINTS_LEAST:
            first = np.arange(count - k)
            own = squares / unit**2 + COST_NUMBER * np.where(flat, 2, 3)
            costs[:, first, first + k] = np.where((slope >= least) & (slope <= most), own, np.inf)
    return costs


def _arms(points: Points, kinds: Sequence[str]) -> List[Law]:
    """The left arm, the floor and the right arm, each if it is there, and what lies between them:
    of all ways to cut the points the one of least cost.

    stages: one after another, what lies between being `none`; best, begin [i, s]: the least cost of
    the first i points in the stages up to the s-th, and where that begins."""
    count, x, y = len(points), points.x, points.y[:, 0]
    costs = _stage_costs(kinds, x, y, max(OFF, math.sqrt(float(points.noise().sum()) / count)))
    length = np.arange(count) - np.arange(count)[:, None] + 1
    stages = [("none", np.where(length > 0, COST_POINT * length, np.inf))]
    for stage in zip(kinds, costs):
        stages += [stage, stages[0]]
    best = np.full((count + 1, len(stages) + 1), np.inf)
    begin = np.zeros(best.shape, dtype=np.int64)
    best[0, 0] = 0
    for i in range(count + 1):
        for s, (_, cost) in enumerate(stages, start=1):
            before = best[i, s - 1]
            if before <= best[i, s] * (1 + TIE):  # no stage rather than one that is as good
                best[i, s], begin[i, s] = before, i
            if i < count:
                after = before + cost[i]
                better = after < best[1:, s]
                best[1:, s][better], begin[1:, s][better] = after[better], i
    laws: List[Law] = []
    end = count
    for s in range(len(stages), 0, -1):
        first, kind = int(begin[end, s]), stages[s - 1][0]
        if first < end:
            laws.insert(0, Law(kind, "residual" if kind == "none" else "", points[first:end]))
        end = first
    return laws


def _contradiction(laws: Sequence[Law], points: Points) -> str:
    """The word for what contradicts the laws: a bound below their band, or a 0 between the sizes
    that they were fitted to; or ""."""
    if points.known.all() or laws[0].kind in ("zero", "none"):
        return ""
    first, last = laws[0].first[0], laws[-1].last[0]
    for x, median in zip(points.x[~points.known], points.y[~points.known, 0]):
        zero, inside = median == -math.inf, first <= x[0] <= last
        law, band = predict(laws, x) if inside or not zero else (None, Band(0, 0, 0))
        if law is not None and band.low > median:
            return "zero" if zero else "bound"
    return ""


def find(points: Points, axes: Sequence[str], what: str, searched: bool) -> List[Law]:
    """The laws of a series along these axes: arms and a floor along a constant, of searches one
    formula, along any other axis one law.  what: the error."""
    values = points if points.known.all() else points[points.known]
    if len(values) >= (len(axes) + 2 if searched else POINTS_LEAST):
        depth = axes[-1] == "depth"
        arms = ARMS.get(axes[0])
        laws = _arms(values, arms) if arms else [_one(values, searched, depth)]
    else:
        zeros = bool((points.y[:, 0] == -math.inf).all()) and len(points) >= POINTS_LEAST
        law = Law("zero" if zeros else "none", "" if zeros else "few-points", values if len(values)
                  else points)
        # A machine's 0 proves nothing of larger sizes: theory expects it of this error alone.
        law.told[0] &= not zeros or what == "approximation"
        laws = [law]
    why = "" if searched else _contradiction(laws, points)
    return [Law("none", why, values)] if why else laws


# ---- Theory --------------------------------------------------------------------------------------


class Theory(NamedTuple):
    """A slope that theory expects, from least to most times a power of an axis's value, of the laws
    along the axes of the errors that are named, of two arms of the one that goes its way; `but`,
    `of`: constructions.  Blank: of any."""

    laws: str
    slope: Tuple[float, float]
    times: Tuple[str, int] = ("", 0)
    arm: bool = False
    axes: str = ""
    errors: str = ""
    norm: str = ""
    of: str = ""
    but: str = ""
    weights: str = ""


LEAKS = "silu linear fused ffn3"  # come from the other N - 1 tokens alone
GROWING = "construction rounding native total observed"  # errors of which layers add their own

# The first that fits a law counts (docs/mathematics.md, the sections named).
THEORIES = (
    # 2, the master lemma: a head's leak falls as e^(-2 Omega), its score being -2 shrink Omega.
    Theory("arm-left", (-2, -2), ("shrink", 1)),
    # 3: a score 2 Omega + z is rounded by ulp(2 Omega), which is of the order of Omega.
    Theory("arm-right", (1, 1)),
    # 1: K pairs read a product out up to tau^(2K), what a pattern is off by counts 1/tau times, ...
    Theory("power", (2, 2), ("readout", 1), True, "tau", "approximation total observed"),
    # 2: ... as what the head leaks does.
    Theory("power", (-1, -1), arm=True, axes="tau", errors="construction rounding total observed"),
    # 2: a leak is the sum over N - 1 tokens, ...
    Theory("power", (1, 1), axes="n", errors="construction", of=LEAKS),
    # ... and so ln(N - 1) / (2 shrink) more Omega makes it as small as before.
    Theory("logarithm linear", (0.5, 0.5), ("shrink", -1), axes="n", of=LEAKS),
    # 5: what layers add is independent, or all of one sign; each layer of a stack of `stable`
    # weights writes 1/sqrt(2 depth) as much, but where a part replaces its stream.
    Theory("power exponential", (0, 0.5), axes="depth", errors=GROWING, norm="rel",
           but="silu linear", weights="stable"),
    Theory("power exponential", (0.5, 1), axes="depth layer", errors=GROWING, norm="rel"),
)


def expected(law: Law, term: int, error: str, norm: str, axis: str,
             of: Callable[[str], str]) -> Tuple[float, float, str]:
    """The slope that theory expects, from least to most, and in a word whether the one found is
    `below`, `agrees` or is `above`: within three of its standard errors and a tenth.  nan, nan and
    "": nothing is expected.  of: the series' value of an axis."""
    for theory in THEORIES:
        if law.kind not in theory.laws.split():
            continue
        fits = [theory.axes == "" or axis in theory.axes.split(),
                theory.errors == "" or error in theory.errors.split(), theory.norm in ("", norm),
                theory.of == "" or of("construction") in theory.of.split(),
                of("construction") not in theory.but.split(),
                theory.weights in ("", of("weights")), law.kind not in FORMULAS or law.told[term],
                not theory.arm or law.slope(term) * theory.slope[0] > 0]
        if all(fits):
            by, power = theory.times
            scale = float(of(by)) ** power if by else 1.0
            least, most = (slope * scale for slope in theory.slope)
            room = NOISES * law.slope_error(term) + 0.1 * abs(most)
            slope = law.slope(term)
            if law.kind == "exponential":  # it is faster than any power, or slower
                slope = math.copysign(math.inf, slope)
            word = "below" if slope < least - room else "above" if slope > most + room else "agrees"
            return least, most, word
    return math.nan, math.nan, ""


def unsure(law: Law) -> bool:
    """May its slope be off by more than 0.05, and than a tenth?"""
    return law.kind in LINES and law.slope_error(0) > max(0.05, abs(law.slope(0)) / 10)
