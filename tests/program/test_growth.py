"""growth: its statistics by hand, the laws of drawn points once more by the formulas of
docs/findings.md, tables whose laws are known, and what is held against them."""

import csv
import functools
import itertools
import math
import os
import sys
from types import SimpleNamespace

import numpy
import pytest
from conftest import ROOT, quick_python, second_v

sys.path.append(str(ROOT / "python"))
from headproof import laws, series, tables  # noqa: E402

INF, NAN, PI = math.inf, math.nan, math.pi

def test_digits_are_asked_for(expect):
    """Rows with more digits are taken, too."""
    line = "growth --construction linear --n 2 --d 2 --depth 1 --omega 4,8,16 --arithmetic none -o "
    expect(0, f"{line} a.csv")
    expect(0, f"{line} b.csv --digits 15")


# ---- Statistics ----------------------------------------------------------------------------------


def points(x, y, variance=0.0, values=1):
    """Points at x, of one term or of several, with medians y."""
    x, count = numpy.array(x, dtype=float), len(y)
    noise = numpy.full(count, variance, dtype=float)
    ones = numpy.full(count, values, dtype=int)
    return laws.Points(x.reshape(count, -1), numpy.array([y, numpy.zeros(count),
                                                          numpy.zeros(count)]).T.astype(float),
                       numpy.ones(count, dtype=bool), noise, ones, ones, ones)


@pytest.mark.parametrize("values, median", [
    ([3, -1, 7], 3), ([4, 1, 3, 2], 2.5), ([5], 5), ([1, -INF, 2], 1),
    ([2, -INF, -INF, 1], -INF),  # and no mean of it and 1
    ([INF, 2, 1, INF], INF)])
def test_a_median_is_in_the_middle(values, median):
    counts = numpy.array([len(values)])
    assert series.medians(numpy.sort(values).astype(float), numpy.array([0]), counts) == [median]


# y = 1, 3, 2 at x = 0, 1, 2: the mean is 2, the slope 1/2, the residuals -1/2, 1, -1/2.
def test_a_line_is_the_textbooks():
    law = laws.Law("linear", "", points([1, 2, 3], [1, 3, 2]))
    flat = laws.Law("floor", "", points([1, 2, 3], [1, 3, 2]))
    assert law.slope(0) == pytest.approx(0.5) and law.constant() == pytest.approx(1.0)
    assert (law.residual, law.worst) == pytest.approx((math.sqrt(1.5), 1))
    assert law.freedom == 1 and law.seed_noise == 0 and law.noise == law.residual
    assert law.slope_error(0) == pytest.approx(math.sqrt(1.5 / 2))
    # A new point at x = 5, three beyond the mean: 9/2 of the slope's variance.
    assert law.line.spread(numpy.array([5.0])) == pytest.approx(4.5)
    assert (flat.constant(), flat.freedom, flat.slope_error(0)) == (2, 2, 0)
    assert flat.residual == pytest.approx(1)
    assert laws.Law("linear", "", points([7, 7, 7], [1, 2, 3])).line is None
    assert laws.Law("linear", "", points([7], [1])).line is None


# A median of four seeds of variance 1/2 is off by sqrt(pi/2 / 8), more than by the residuals.
def test_seeds_are_a_noise():
    law = laws.Law("power", "", points([1, 10, 100], [0, 0, 0.1], 0.5, 4))
    assert law.residual < law.seed_noise and law.noise == pytest.approx(math.sqrt(PI / 16))


# Residuals -1/2, 1, -1/2: the middle one may be three times sqrt(pi/2 4/9/2) by its seeds, the
# others 1/10.
def test_a_point_is_judged_by_its_own_seeds():
    own = points([1, 2, 3], [1, 3, 2])
    own.variance[1], own.values[1] = 4 / 9, 2
    law = laws.Law("linear", "", own)
    assert law.misfit == pytest.approx(math.sqrt(25 + 1 / PI + 25))


# Student's distribution has closed forms for one and for two degrees: of one it is Cauchy's.
def test_student_holds_95_percent():
    assert laws.student(1) == pytest.approx(math.tan(0.475 * PI), abs=1e-3)
    assert laws.student(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), abs=1e-3)
    assert laws.student(20) == pytest.approx(2.086, abs=0.02) and math.isinf(laws.student(0))
    assert laws.student(10000) == pytest.approx(1.96, abs=1e-3)


# y = 2 + 3 ln a - ln b + 1/2 c exactly; then with residuals that no plane takes up.
def test_a_plane_is_found():
    corners = [(math.exp(i & 1), math.exp(i >> 1 & 1), 1 + (i >> 2)) for i in range(8)]
    y = [2 + 3 * (i & 1) - (i >> 1 & 1) + (i >> 2) / 2 for i in range(8)]
    law = laws.Law("linear", "", points(corners, y))
    assert [law.slope(k) for k in range(3)] == pytest.approx([3, -1, 0.5])
    assert law.constant() == pytest.approx(1.5) and law.worst < 1e-12
    parity = [(-1) ** (1 + i + (i >> 1) + (i >> 2)) for i in range(8)]  # orthogonal to all three
    law = laws.Law("linear", "", points(corners, numpy.add(y, parity)))
    assert (law.slope(0), law.worst, law.residual) == pytest.approx((3, 1, math.sqrt(2)))
    assert law.slope_error(1) == pytest.approx(1)  # 8 (1/2)^2 are 2
    assert law.line.spread(numpy.array([math.e, math.e, 2])) == pytest.approx(3 / 8)
    same = [(a, a) for a, _, _ in corners]
    assert laws.Law("logarithm", "", points(same, y)).line is None


# docs/findings.md, "Theory", one by one: of a law, what it is of, and the slope that is expected.
@pytest.mark.parametrize("kind, error, norm, axis, of, least, most", [
    ("arm-left", "total", "max", "omega", {"shrink": "0.5"}, -1, -1),
    ("arm-right", "rounding", "rel", "omega", {"shrink": "0.5"}, 1, 1),
    ("floor", "total", "max", "omega", {}, NAN, NAN),
    ("power", "construction", "max", "n", {}, 1, 1),
    ("power", "construction", "max", "n", {"construction": "attention"}, NAN, NAN),
    ("power", "rounding", "max", "n", {}, NAN, NAN),
    ("power", "construction", "max", "d", {}, NAN, NAN),
    ("exponential", "construction", "max", "n", {}, NAN, NAN),
    ("logarithm", "omega_min", "max", "n", {"shrink": "0.5"}, 1, 1),
    ("logarithm", "omega_proven", "max", "n", {}, 0.5, 0.5),
    ("logarithm", "omega_min", "max", "n", {"construction": "attention"}, NAN, NAN),
    ("logarithm", "omega_min", "max", "d", {}, NAN, NAN),
    ("power", "native", "rel", "depth", {}, 0, 0.5),
    ("exponential", "native", "rel", "depth", {}, 0, 0.5),
    ("power", "native", "rel", "depth", {"weights": "normal"}, 0.5, 1),
    ("power", "native", "rel", "depth", {"construction": "linear"}, 0.5, 1),
    ("power", "native", "rel", "layer", {}, 0.5, 1),
    ("power", "native", "max", "depth", {}, NAN, NAN),
    ("power", "approximation", "rel", "depth", {}, NAN, NAN),
    ("power", "approximation", "max", "tau", {}, 2, 2),
    ("power", "total", "rel", "tau", {"readout": "3"}, 6, 6),
    ("power", "rounding", "max", "tau", {}, NAN, NAN),  # its arm falls
    ("floor", "total", "max", "tau", {}, NAN, NAN)])
def test_theory_expects(kind, error, norm, axis, of, least, most):
    values = {"construction": "fused", "weights": "stable", "shrink": "1", "readout": "1", **of}
    law = laws.Law(kind, "", points([1, 2, 4], [0, 3, 6]))
    found = laws.expected(law, 0, error, norm, axis, values.__getitem__)
    assert found[:2] == pytest.approx((least, most), nan_ok=True)
    slope = 3 / math.log10(2) if kind == "power" else math.inf if kind == "exponential" else None
    assert math.isnan(least) or slope is None or found[2] == "above"


@pytest.mark.parametrize("error, expects", [("construction", -1), ("rounding", -1), ("total", -1),
                                            ("observed", -1), ("approximation", NAN)])
def test_theory_expects_a_falling_arm(error, expects):
    law = laws.Law("power", "", points([1, 2, 4], [0, -math.log10(2), -math.log10(4)]))
    found = laws.expected(law, 0, error, "max", "tau", {"construction": "fused"}.get)
    assert found[:2] == pytest.approx((expects, expects), nan_ok=True)


@pytest.mark.parametrize("slope, said", [(-2, "agrees"), (-2.19, "agrees"), (-1.7, "above"),
                                         (-2.3, "below")])
def test_a_slope_agrees_within_a_tenth(slope, said):
    line = [slope * x * math.log10(math.e) for x in (5, 10, 20)]
    law = laws.Law("arm-left", "", points([5, 10, 20], line))
    assert laws.expected(law, 0, "total", "max", "omega", lambda axis: "1")[2] == said


@pytest.mark.parametrize("text, log10", [
    ("", NAN), ("0", -INF), ("nan", INF), ("-inf", INF), ("0.0", NAN), ("1e-900", -900),
    ("2.5e+17", math.log10(2.5) + 17), ("0.00012", math.log10(1.2) - 4),
    ("1e-30000000000000", -3e13), ("1e300", 300), ("1e301", 301)])
def test_a_logarithm_is_of_digits_and_exponent(text, log10):
    assert tables.log10_of(text) == pytest.approx(log10, nan_ok=True, rel=1e-15)
    assert tables.logs_of([text, "1"])[0] == pytest.approx(log10, nan_ok=True, rel=1e-15)


@pytest.mark.parametrize("log10, text, bound, said", [
    (-900, "1e-900", True, "<1.0e-900"), (NAN, "", False, "-"), (-INF, "0", False, "0"),
    (INF, "nan", False, "not finite"), (-1e16, "1.26e-10000000000000000", False,
                                        "1.3e-10000000000000000"),
    (math.log10(9.96) - 7, "9.96e-7", False, "1.0e-06"), (-900.5, "0.0", False, "3.2e-901")])
def test_a_size_is_said_with_two_digits(log10, text, bound, said):
    assert tables.size_text(log10, text, bound) == said


# ---- Drawn points --------------------------------------------------------------------------------

LEVERS = {"floor": numpy.zeros_like, **dict.fromkeys(("power", "arm-right"), numpy.log10),
          **dict.fromkeys(("exponential", "arm-left"), lambda x: x * math.log10(math.e))}
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
STAGES = {"omega": ("none", "arm-left", "none", "floor", "none", "arm-right", "none"),
          "tau": ("none", "power", "none", "floor", "none", "power", "none")}
near = functools.partial(pytest.approx, rel=1e-7, abs=1e-9, nan_ok=True)


def least_squares(kind, x, y):
    """A slope and a constant."""
    return (0, y.mean()) if kind == "floor" else numpy.polyfit(LEVERS[kind](x), y, 1)


def formulas(kind, p):
    """What docs/findings.md has of a law of a kind through points."""
    x, (y, below, above), u = p.x[:, 0], p.y.T, LEVERS[kind](p.x[:, 0])
    half, freedom = max(3, (len(x) + 1) // 2), len(x) - 1 - (kind != "floor")
    slope, constant = least_squares(kind, x, y)
    end_slope, end_constant = least_squares(kind, x[-half:], y[-half:])
    off, errors = y - constant - slope * u, PI / 2 * p.variance / p.values
    residual, spread = math.sqrt(off @ off / freedom), ((u - u.mean()) ** 2).sum() or INF
    noise = max(residual, math.sqrt(errors.mean()))

    def band(place):
        lever = LEVERS[kind](numpy.array([place]))[0]
        middle = constant + slope * lever
        error = noise * math.sqrt(1 + 1 / len(x) + (lever - u.mean()) ** 2 / spread)
        room = math.hypot(STUDENT[freedom - 1] * error, end_constant + end_slope * lever - middle)
        low, high = (max(far.max(), numpy.dot(least_squares(kind, x, far), (lever, 1)))
                     for far in (below, above))
        return middle - room - low, middle, middle + room + high
    rooms = numpy.maximum(.1, 3 * numpy.sqrt(errors))
    return SimpleNamespace(
        kind=kind, why="", first=x[0], last=x[-1], points=len(x), other=NAN, band=band, noise=noise,
        slope=slope, residual=residual, squares=off @ off, misfit=sum((off / rooms)**2) / freedom,
        numbers=[constant, slope, noise / math.sqrt(spread), end_slope, residual, abs(off).max(),
                 below.max(), above.max()])


def no_law(p):
    return SimpleNamespace(kind="none", why="residual", first=p.x[0, 0], last=p.x[-1, 0],
                           points=len(p))


def one_law(p):
    """A power, unless an exponential is told from it."""
    law, other = (formulas(kind, p) for kind in ("power", "exponential"))
    if law.residual > 2 * other.noise:
        law, other = other, law
    law.other, law.why = other.residual, "either" if other.residual <= 2 * law.noise else ""
    return [law if law.misfit <= 1 else no_law(p)]


def cheapest_cut(p, kinds):
    """Of every way to cut the points into stages that follow each other."""
    unit = max(.1, math.sqrt(PI / 2 * (p.variance / p.values).mean()))

    def law_of(stage, part):
        """And its cost."""
        if kinds[stage] == "none":
            return 9 * len(part), no_law(part)
        law = formulas(kinds[stage], part) if len(part) > 2 else None
        fits = law and (stage != 1 or law.slope <= -.5) and (stage != 5 or law.slope >= .25)
        return law.squares / unit**2 + (6 if kinds[stage] == "floor" else 9) if fits else INF, law

    @functools.cache
    def rest(stage, i):
        """Of the points from the i-th on, in the stages from this one on."""
        if stage == len(kinds):
            return 0 if i == len(p) else INF, []
        ways = [rest(stage + 1, i)]
        for j in range(i + 1, len(p) + 1):
            (cost, law), (more, others) = law_of(stage, p[i:j]), rest(stage + 1, j)
            ways.append((cost + more, [law, *others]))
        return next(way for way in ways if way[0] <= min(cost for cost, _ in ways) + 1e-9)
    return rest(0, 0)[1]


def drawn(seed):
    """Points about a law, their axis, and the kinds and the slope of what they were made by."""
    r = numpy.random.default_rng(seed)
    name = ("power", "exponential", "arms", "left", "tau", "nothing")[seed % 6]
    axis = {"power": "n", "exponential": "n", "tau": "tau"}.get(name, "omega")
    x = numpy.sort(r.choice({"n": numpy.arange(2., 90), "tau": 2.**numpy.arange(-24, 0),
                             "omega": numpy.geomspace(5, 30, 9)}[axis], r.integers(7, 10), False))
    if name == "arms":
        x = numpy.array((4, 8, 12, 16, 30, 60, 100, 1e4, 1e5, 1e6))
    slope = {"n": r.uniform(.5, 3), "tau": 2 * r.integers(1, 4)}.get(axis, -2)
    left, right, line = r.uniform(0, 3), r.choice([.4, 1]), slope * LEVERS["exponential"](x)
    y, kinds = {
        "power": (-15 + slope * numpy.log10(x), ["power"]),
        "exponential": (-300 + line / 20, ["exponential"]),
        "arms": (numpy.log10(10**(left + line) + 1e-16 * (1 + (x / 2000)**right)),
                 ["arm-left", "floor", "arm-right"]),
        "left": (left + line, ["arm-left"]),
        "tau": (numpy.log10(x**slope + 1e-16 / x), None),
        "nothing": (r.choice([-15., -14, -13], len(x)), None)}[name]
    noise, seeds, wild = r.choice([.001, .02]), r.integers(1, 6, len(x)), r.choice([1, 300])
    below, above = abs(r.normal(0, noise, (2, len(x))))
    p = points(x, y + r.normal(0, noise, len(x)))
    p.variance, p.values = noise**2 * wild * r.uniform(.5, 2, len(x)) * (seeds > 1), seeds
    p.y[:, 1:] = numpy.array([below, above]).T
    kinds = kinds if wild == 1 else None  # seeds that differ by so much excuse another law
    return p, axis, kinds, slope / 20 if name == "exponential" else slope


# And what is told of them is what they were made by.  In the last two a gap costs as much as one
# point and the others of it do, but for the last bit.
@pytest.mark.parametrize("seed", [*range(120), 1295, 5621])
def test_laws_of_drawn_points(seed):
    p, axis, kinds, slope = drawn(seed)
    found = laws.find(p, [axis], "total", False)
    expected = cheapest_cut(p, STAGES[axis]) if axis in STAGES else one_law(p)
    assert [(law.kind, law.why, law.first[0], law.last[0], law.points) for law in found] == [
        (law.kind, law.why, law.first, law.last, law.points) for law in expected]
    for law, own in zip(found, expected):
        if law.kind == "none":
            continue
        assert [law.constant(), law.slope(0), law.slope_error(0), law.end_slope(0), law.residual,
                law.worst, *law.farthest, law.other] == near([*own.numbers, own.other])
        for place in (p.x[0, 0] / 2, p.x[-1, 0] * 3):
            assert law.band(numpy.array([place])) == near(own.band(place))
    if kinds and found[0].why != "either":
        assert [law.kind for law in found if law.kind != "none"] == kinds
        room = 4 * (1 + 5 / (found[0].points - 2)) * found[0].slope_error(0)
        assert abs(found[0].slope(0) - slope) <= room + .03 * abs(slope)


# Three seeds of each size, 0.1 apart, whose medians are a power: of values' variance, 0.01, and not
# of its root.
def test_what_seeds_differ_by(grow):
    seeds = [f"{x} {s} {x * 10**(s / 10 - 9.2):.17g}" for x in (1, 2, 4) for s in (1, 2, 3)]
    row, = grow(0, "t.csv --norm max", t=made("|".join(seeds)))
    found = [float(row[name]) for name in ("slope", "slope_error", "seeds_below", "seeds_above")]
    error = math.sqrt(PI / 2 * 0.01 / 3) / (math.sqrt(2) * math.log10(2))
    assert found == pytest.approx([1, error, 0.1, 0.1])


# A network's width is as many times d, and stacks are compared behind their last layers.
def test_series_differ_in_one_axis(grow):
    grid = {"construction": ["fused", "attention"], "n": ["3", "5"], "d": ["2", "4"],
            "depth": ["1", "2"], "omega": ["10", "20"], "options": ["", "score-scale=8"]}
    rows = grow(0, "--construction fused,attention --n 3,5 --d 2,4 --depth 1,2 --omega 10,20 "
                   "--seed 1:2 --score-scale 1,8 --arithmetic none --norm max")
    for axis in ("n", "d", "depth", "omega", "layer"):
        of = {**grid, axis: [""]} | ({"depth": ["2"]} if axis == "layer" else {})
        of.pop("layer", None)
        found = [row for row in rows if (row["axis"], row["kind"]) == (axis, "construction")]
        assert sorted(cells(found, *of)) == sorted(itertools.product(*of.values()))
        assert set(cells(found, "points", "seeds")) == {("2", "2")}


# ---- Tables --------------------------------------------------------------------------------------

SWEPT = "construction,depth,omega,seed,options,layer,construction_max,bounds,status\n"
SMALL = "1 1 1e-900|2 1 2e-900|4 1 4e-900|8 1 8e-900"
SEARCHED = ("construction,n,d,depth,options,omega_below,omega_min,omega_max,omega_above,omega_best,"
            "status\n")
# Searches that follow 5 + ln(n)/2 + depth/4.
NEEDED = SEARCHED + "".join(f"silu,{n},4,{depth},,1,{5 + math.log(n) / 2 + depth / 4:.17g},1e9,,,ok\n"
                            for n in (4, 8, 16) for depth in (1, 2, 4))


def made(rows):
    """A table of rows "depth seed error what-is-a-bound"."""
    text = SWEPT
    for row in filter(None, rows.split("|")):
        depth, seed, error, *bounds = row.split()
        text += f"silu,{depth},20,{seed},,{depth},{error},{''.join(bounds)},ok\n"
    return text


def also(table, error):
    """The same with another error, as large."""
    head, *lines = table.splitlines()
    lines = [",".join([*line.split(",")[:7], *line.split(",")[6:]]) for line in lines]
    return "\n".join([head.replace("n_max", f"n_max,{error}_max"), *lines]) + "\n"


@pytest.fixture
def grow(expect, tmp_path):
    """grow(code, line, *words, t=...): `growth LINE`, of tables t.csv, ...: its rows."""
    def grown(code, line, *words, **tables):
        for name, text in tables.items():
            (tmp_path / f"{name}.csv").write_text(text)
        said = expect(code, f"growth {line} -o out.csv", *words)
        assert "Traceback" not in said
        if code > 1:
            assert said.count("\n") == 1, said
            return []
        with open(tmp_path / "out.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    return grown


def cells(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


# Tables, and what is said of the one row: the law, and more.
LAWS = {
    "below all doubles": (made(SMALL), {"law": "power", "from": "1", "constant": "-900",
                                        "slope": "1", "points": "4"}),
    # The third seed may be between the others, or below both: no median is known at 8.
    "a bound in the middle is no value": (
        made("1 1 1e-9|2 1 2e-9|4 1 4e-9|8 1 7e-9|8 2 9e-9|8 3 8.5e-9 construction_max"),
        {"law": "power", "to": "4", "points": "3", "censored": "1"}),
    # 10^-10, -9, -9, -9 is no power, however much the seeds of the last differ.
    "noise excuses its own point alone": (
        made("|".join(f"{d} {s} {e}" for s in (1, 2, 3) for d, e in
                      ((1, "1e-10"), (2, "1e-9"), (4, "1e-9"), (8, f"1e-{5 * s - 1}")))),
        {"law": "none", "why": "residual", "slope": ""}),
    "nothing is finite": (made("1 1 nan|2 1 nan|4 1 nan"), {"law": "none", "why": "few-points"}),
    "a proven zero": (made("1 1 0|2 1 0|4 1 0"), {"law": "zero", "status": "ok"}),
    "two zeros": (made("1 1 0|2 1 0"), {"law": "none", "why": "few-points", "status": "none"}),
    "a zero between": (made("1 1 1e-9|2 1 0|4 1 4e-9|8 1 8e-9"), {"law": "none", "why": "zero"}),
    "a bound below": (made("1 1 1e-9|2 1 2e-9|4 1 4e-9|8 1 1e-12 construction_max"),
                      {"law": "none", "why": "bound"}),
    "flat": (made("1 1 1e-9|2 1 1e-9|4 1 1e-9|8 1 1e-9"),
             {"law": "power", "why": "either", "slope": "0", "residual": "0"}),
    "a row that says nothing": (made(SMALL).replace("4e-900,,ok", "9e-100,,vacuous"),
                                {"points": "3", "censored": "1", "slope": "1"}),
    "without bounds and status": (made(SMALL).replace(",bounds,status", "").replace(",,ok", ""),
                                  {"law": "power", "constant": "-900"}),
    "of the logarithm, where doubles wrote it anew": (
        "construction,depth,omega,options,layer,construction_max,construction_log10\n"
        "silu,1,20,,1,0.0,-900\nsilu,2,20,,2,0.0,-899\nsilu,4,20,,4,0.0,-898\n",
        {"law": "power", "constant": "-900", "slope": f"{math.log2(10):.12g}"}),
    "a default that is said": (made(SMALL).replace("20,1,,2", "20,1,penalty=positive,2"),
                               {"points": "4", "options": ""}),
    "an end that is open": (
        SEARCHED + "".join(f"silu,{n},4,1,,,{n},1e9,,,ok\n" for n in (4, 8, 16, 32)),
        {"kind": "omega_min", "axis": "n", "law": "none", "why": "few-points", "censored": "4"}),
}


@pytest.mark.parametrize("table, expected", LAWS.values(), ids=LAWS)
def test_a_law_is(grow, table, expected):
    row, = grow(0, "t.csv --norm max", t=table)
    assert {name: row[name] for name in expected} == expected


# The V of K pairs: approximation rises as tau^(2K) from A_K, rounding falls as 1/tau from 2^-53, and
# what is total has both arms; T's own error is a floor.
@pytest.mark.parametrize("pairs, off", [(1, 1 / 12), (2, 1 / 30), (3, 17 / 315)])
def test_the_second_v(grow, pairs, off):
    rows = grow(0, "v.csv --norm max", v=second_v(readouts=[pairs]))
    assert {(row["axis"], row["options"]) for row in rows} == {
        ("tau", "ffn=gated" + f";readout={pairs}" * (pairs > 1))}
    arms = [(row["kind"], row["law"], float(row["constant"]), float(row["slope"]), row["theory_least"],
             row["theory"]) for row in rows if row["law"] != "none"]
    rising, falling = math.log10(off), -53 * math.log10(2)
    near = functools.partial(pytest.approx, abs=0.3)
    assert arms == [("approximation", "power", near(rising), near(2 * pairs), str(2 * pairs), "agrees"),
                    ("construction", "power", near(-34), near(-1), "-1", "agrees"),
                    ("rounding", "power", near(falling), near(-1), "-1", "agrees"),
                    ("native", "floor", -16, 0, "", ""),
                    ("total", "power", near(falling), near(-1), "-1", "agrees"),
                    ("total", "power", near(rising), near(2 * pairs), str(2 * pairs), "agrees")]


# Where tau has one value alone, and where a network has none, nothing is along it.
def test_what_has_no_tau(grow):
    plain = "".join(f"fused,40,f64,,1,0,1e-34,{k}e-16,1e-16,{k}e-16,ok\n" for k in (1, 2, 3))
    rows = grow(0, "v.csv --norm max", v=second_v(readouts=[1]) + plain)
    assert {row["options"] for row in rows} == {"ffn=gated"}
    grow(2, "v.csv --norm max", "of omega, tau, n, d, depth or layer (three for a law)",
         v=second_v(taus=[4], readouts=[1]) + plain)


# 1e-7 where total was 1e-16 or so: the arm of approximation, far beyond what total was fitted to.
def test_an_arm_is_foreseen(grow):
    small, large = second_v(taus=range(18, 25)), second_v(taus=[5], readouts=[1])
    rows = grow(0, "s.csv --norm max --check l.csv", "0 of 5 errors outside their bands", s=small,
                l=large)
    assert rows[-1]["kind"] == "total" and float(rows[-1]["slope"]) == pytest.approx(2, abs=1e-3)
    total = second_v(taus=[5], readouts=[1]).splitlines()[1].split(",")[-2]
    rows = grow(0, "s.csv --norm max --predict tau=2^-5", s=small)
    assert [(row["at"], float(row["predicted_log10"])) for row in rows
            if (row["kind"], row["options"]) == ("total", "ffn=gated")] == [
                ("0.03125", pytest.approx(math.log10(float(total)), abs=0.01))]


# Of the program's own sweep: no law is off what theory expects, and the construction error has one.
def test_a_sweep_over_tau(grow):
    rows = grow(0, "--construction fused --ffn gated --n 3 --d 4 --omega 40 --readout 1,2 --norm max "
                   "--tau 2^-2,2^-4,2^-6,2^-8,2^-10,2^-12,2^-14,2^-16,2^-18,2^-20 --seed 1:3")
    assert {row["theory"] for row in rows if row["theory_least"]} == {"agrees"}
    assert cells(rows, "kind", "options", "law", "theory_least").count(
        ("construction", "ffn=gated;readout=2", "power", "-1")) == 1


# What is held, against SMALL or another table: the exit code, and what is said.
HELD = {
    "in the band": (made(SMALL), made("32 1 3.2e-899"), 0,
                    "verdict: PASS: 0 of 1 errors outside their bands, 0 without a law"),
    "outside": (made(SMALL), made("32 1 3.2e-899|32 2 3.3e-899"), 1,
                "l.csv:3: silu: construction max along depth: expected 10^-898.495 to 10^-898.495 "
                "by its law, not 3.3e-899"),
    "a bound above": (made(SMALL), made("32 1 1e-800 construction_max"), 0, "verdict: PASS"),
    "a bound below": (made(SMALL), made("32 1 1e-950 construction_max"), 1,
                      "verdict: FAIL: 1 of 1"),
    "an error": (made(SMALL), made("32 1 3.2e-899|64 1 6.4e-899").replace(
        "6.4e-899,,ok", "6.4e-899,,error"), 1, "verdict: FAIL: 0 of 1 errors outside their bands, "
        "0 without a law, 1 of rows that say nothing (vacuous or error)"),
    # A machine's 0 at 1, 2 and 4 is expected between them, and says nothing of 32; that T is
    # imitated exactly is no matter of sizes.
    "a zero of a machine": (also(made("1 1 0|2 1 0|4 1 0"), "observed"),
                            also(made("2 2 0|32 1 1e-20"), "observed"), 0,
                            "verdict: PASS: 0 of 2 errors outside their bands, 2 without a law"),
    "a zero of a machine between": (also(made("1 1 0|2 1 0|4 1 0"), "observed"),
                                    also(made("2 2 1e-30"), "observed"), 1,
                                    "l.csv:2: silu: observed max along depth: expected 10^-inf to "
                                    "10^-inf by its law, not 1.0e-30"),
    "a zero of the approximation": (also(made("1 1 0|2 1 0|4 1 0"), "approximation"),
                                    also(made("32 1 1e-20"), "approximation"), 1,
                                    "l.csv:2: silu: approximation max along depth"),
    # 5 + ln(64)/2 + 16/4 is 11.0794.  The band goes to what the other form says: its line in
    # ln depth through 1/4, 1/2, 1 at 1, 2, 4 is 1.7083 at 16, which is 2.2917 less than 4.
    "a search": (NEEDED, SEARCHED + "silu,64,4,16,,1,13.37,1e9,,,ok\n", 0,
                 "verdict: PASS: 0 of 1 errors outside their bands, 0 without a law"),
    "a search above": (NEEDED, SEARCHED + "silu,64,4,16,,1,13.38,1e9,,,ok\n", 1,
                       "l.csv:2: silu: omega_min along n: expected 10^0.944 to 10^1.126 by its "
                       "law, not 1.3e+01"),
    "a search below": (NEEDED, SEARCHED + "silu,64,4,16,,1,8.78,1e9,,,ok\n", 1,
                       "verdict: FAIL: 1 of 1 errors"),
    "a search that found none": (NEEDED, SEARCHED + "silu,64,4,16,,1,,1e9,,,ok\n", 1,
                                 "0 without a law, 1 of rows that say nothing"),
    # Of a width that no search fitted has nothing is known.
    "a search elsewhere": (NEEDED, SEARCHED + "silu,64,5,16,,1,11.0794415,1e9,,,ok\n", 2,
                           "expected sizes that some law is about"),
    "another construction": (made(SMALL), made(SMALL).replace("silu", "fused"), 2,
                             "expected sizes that some law is about"),
}


@pytest.mark.parametrize("fitted, held, code, words", HELD.values(), ids=HELD)
def test_a_row_is_held_against_laws(grow, fitted, held, code, words):
    grow(code, "t.csv --norm max --check l.csv", words, t=fitted, l=held)


def sums(*sizes):
    """Rounding stays at 1e-15, the construction error is n 1e-17, and what is total or observed is
    the larger of them."""
    return ("construction,n,omega,seed,options,layer,construction_max,rounding_max,total_max,"
            "observed_max,bounds,status\n" + "".join(
                f"silu,{n},20,1,,1,{n}e-17,1e-15,{max(n, 100)}e-17,{max(n, 100)}e-17,,ok\n"
                for n in sizes))


# 1e-15 up to 32 is no law of 1000, where the construction error has passed it.
def test_a_sum_follows_the_part_that_passes_it(grow):
    rows = grow(0, "s.csv --norm max --check l.csv", "0 of 4 errors outside their bands",
                s=sums(4, 8, 16, 32), l=sums(1000))
    assert cells(rows, "kind", "slope", "predicted_log10") == [
        ("construction", "1", "-14"), ("rounding", "0", "-15"), ("total", "1", "-14"),
        ("observed", "1", "-14")]


# Where the part is not in the table, nothing foresees it.
def test_a_sum_without_its_part_is_not_foreseen(grow):
    def alone(table):
        rows = [line.split(",") for line in table.splitlines()]
        return "".join(",".join(row[:6] + ([row[6]] if not i else [""]) + row[7:]) + "\n"
                       for i, row in enumerate(rows))
    grow(1, "s.csv --norm max --check l.csv", "verdict: FAIL: 2 of 3 errors outside their bands",
         s=alone(sums(4, 8, 16, 32)), l=alone(sums(1000)))


def test_a_formula_has_a_row_a_term(grow):
    rows = grow(0, "n.csv", n=NEEDED)
    assert cells(rows, "n", "depth", "kind", "axis", "law", "slope", "theory_least") == [
        ("", "", "omega_min", "n", "logarithm", "0.5", "0.5"),
        ("", "", "omega_min", "depth", "linear", "0.25", "")]
    rows = grow(0, "n.csv --predict depth=64", n=NEEDED)
    assert ("16", "4", "64", "1.34998221007") in cells(rows, "n", "d", "at", "predicted_log10")


# What is proven of attention grows with the depth faster than any formula of it.
def test_a_formula_far_off_is_none(expect, grow):
    expect(0, "min-omega --construction attention --n 2,3,4 --d 3 --depth 1,3,6 --tolerance 1e-6 "
              "--arithmetic none --reference subtract --every-input --input-norm 9 -o a.csv -q")
    assert cells(grow(0, "a.csv"), "kind", "axis", "law", "why")[1:3] == [
        ("omega_min", "depth", "logarithm", ""), ("omega_proven", "n", "none", "residual")]


# Of two sizes no law can be told, though the formula has a term for them.
def test_two_sizes_tell_no_formula(expect, grow):
    search = "min-omega --construction silu --depth 1,2,4 --tolerance 1e-6 --arithmetic none " \
        "--reference subtract -q"
    expect(0, f"{search} --n 3,6 --d 3 -o m.csv")
    expect(0, f"{search} --n 9 --d 3 -o l.csv")
    assert ("omega_min", "n", "none", "few-points") in cells(grow(0, "m.csv"), "kind", "axis",
                                                             "law", "why")
    grow(0, "m.csv --check m.csv", "verdict: PASS: 0 of 6 errors outside their bands")
    expect(2, "growth m.csv --check l.csv -o c.csv", "headproof: --check: token 'l.csv': expected "
           "sizes that some law is about")


# 2^7 1e-900, and 1e3 times that.
def test_sizes_are_predicted(grow):
    rows = grow(0, "s.csv --norm max --predict depth=128,1000", s=made(SMALL))
    assert cells(rows, "at", "predicted_log10", "status") == [("128", "-897.89279003", "ok"),
                                                              ("1000", "-897", "ok")]
    rows = grow(0, "s.csv --norm max --predict depth=16:64:*2", s=made(SMALL))
    assert cells(rows, "at", "measured_log10") == [("16", ""), ("32", ""), ("64", "")]
    rows = grow(0, "--construction silu --n 3,5,9 --d 3,4,5 --predict n=20")
    assert set(cells(rows, "axis")) == {("n",)}


# ---- Rows of the program -------------------------------------------------------------------------


# A row for each tolerance, and masked, which has no Omega, apart.
def test_a_tolerance_asks_for_the_omega_needed(expect, grow):
    grid = "--n 2,3,4 --d 2 --depth 1,2,3 --tolerance 1e-6 --arithmetic none " \
        "--reference subtract -q"
    rows = grow(0, f"--construction silu,masked {grid} --omega 10,20")
    expect(0, f"min-omega --construction silu {grid} -o m.csv")
    needed = [row for row in rows if row["kind"] == "omega_min"]
    assert len(needed) == 2 and needed == grow(0, "m.csv")


def test_what_was_swept_is_the_same_as_its_table(expect, grow):
    grid = "--construction silu --n 3,5,9 --d 4 --seed 1:2"
    expect(0, f"sweep {grid} -q -o t.csv")
    for shard in (1, 2):
        expect(0, f"sweep {grid} -q --shard {shard}/2 -o {shard}.csv")
    assert grow(0, "t.csv") == grow(0, grid, "; 6 points evaluated") == grow(0, "2.csv 1.csv")
    assert '"law"' in expect(0, "growth t.csv --format json")


# Three seeds of all, then more of what is not sure; never more than asked, nor than there are.
def test_seeds_come_where_laws_ask(grow):
    grow(0, "--construction silu,attention --n 4,8,16 --d 4 --omega 20 --seed 1:40 "
            "--evaluations 70", "; 70 points evaluated")
    rows = grow(0, "--construction attention --arithmetic none --mask causal --n 4 --d 4 "
                   "--omega 10:30:5 --seed 1:40 --evaluations 1000", "; 15 points evaluated")
    assert cells(rows, "axis", "law", "to", "seeds").count(("omega", "arm-left", "30", "3")) == 2
    grid = "--construction silu --n 4,8,16 --d 4 --omega 20 --seed 1:5"
    assert grow(0, f"{grid} --evaluations 999") == grow(0, grid)
    grow(2, "s.csv --evaluations 9", "nothing of a table is evaluated", s=made(SMALL))


# Each section has seeds of its own, and the first of them are in the first round.
def test_seeds_are_counted_in_their_section(grow, tmp_path):
    (tmp_path / "g.case").write_text("".join(
        f"[{name}]\nconstruction = {name}\nn = 4,8,16\nd = 4\nseed = {seed}:{seed + 8}\n"
        for name, seed in (("silu", 1), ("linear", 11))))
    rows = grow(0, "g.case --evaluations 18")
    assert {name: cells(rows, "construction", "seeds").count((name, "3"))
            for name in ("silu", "linear")} == {"silu": 12, "linear": 12}


@pytest.mark.parametrize("norm", ["max", "rms", "rel"])
def test_one_norm_is_fitted(grow, norm):
    rows = grow(0, f"--construction silu --n 3,5,9 --d 3 --norm {norm}")
    assert set(cells(rows, "norm")) == {(norm,)}


def test_two_norms_are_fitted_where_none_is_asked_for(grow):
    rows = grow(0, "--construction silu --n 3,5,9 --d 3")
    assert [norm for norm, in dict.fromkeys(cells(rows, "norm"))] == ["max", "rel"]


def test_a_terminal_gets_a_table_for_eyes(shown, expect):
    lines = shown("growth --construction silu --n 3,5,9 --d 3 --norm rel -q",
                  env={"HEADPROOF_PYTHON": quick_python()})
    assert lines[0].startswith("kind           axis  law    constant ")
    assert any(line.startswith("construction   n     power  ") for line in lines)
    said = expect(0, "growth --construction silu --n 3,5,9 --d 3 -q")
    assert said.startswith("construction,activation,mask,")


# The arms say between which Omegas a tolerance is met, and so do searches.
@pytest.mark.parametrize("name", ["silu", "fused", "ffn3"])
def test_arms_agree_with_min_omega(expect, grow, tmp_path, name):
    rows = grow(0, f"--construction {name} --kernel structured --norm max "
                   "--omega 6:26:2,1e3,1e4,1e5,1e6")
    left, right = [[float(row[c]) for c in ("constant", "slope")] for row in rows
                   if row["kind"] == "total" and row["law"].startswith("arm")]
    expect(0, f"min-omega --construction {name} --kernel structured --tolerance 1e-10 -o m.csv -q")
    with open(tmp_path / "m.csv", encoding="utf-8") as file:
        search, = csv.DictReader(file)
    least, most = (-10 - left[0]) * math.log(10) / left[1], 10 ** ((-10 - right[0]) / right[1])
    assert least == pytest.approx(float(search["omega_min"]), abs=0.05)
    assert abs(math.log2(most / float(search["omega_max"]))) < 1  # a step of ulp(2 Omega)


# ---- What is refused -----------------------------------------------------------------------------

FEW = "growth: expected at least two values of omega, tau, n, d, depth or layer (three for a law)"


@pytest.mark.parametrize("line, words, table", [
    ("s.csv --n 4", "--n: token 's.csv': expected a table, or axes", made(SMALL)),
    ("s.csv x.case", "expected tables, or case files, not both", made(SMALL)),
    ("s.csv --dry-run", "nothing of a table is evaluated", made(SMALL)),
    ("s.csv --predict depth=128,x", "--predict: token 'x'", made(SMALL)),
    ("s.csv --predict width=3", "expected omega, tau, n, d, depth or layer, = and a list",
     made(SMALL)),
    ("s.csv --predict depth", "expected omega, tau, n", made(SMALL)),
    ("s.csv --predict tau=auto", "--predict: token 'auto': expected", made(SMALL)),
    ("s.csv --norm max", "s.csv:2: token '0': expected a value of tau",
     second_v().replace("tau=1.0", "tau=0")),
    ("s.csv", "s.csv:1: token 'construction': expected a sweep over --tau, for laws along it",
     SEARCHED.replace("omega", "tau") + "fused,4,4,1,ffn=gated,1e-9,2e-9,1e-3,2e-3,1e-6,ok\n"),
    ("v.csv --norm max --check s.csv", "s.csv:1: token 'construction': expected a sweep over --tau",
     SEARCHED.replace("omega", "tau") + "fused,4,4,1,ffn=gated,1e-9,2e-9,1e-3,2e-3,1e-6,ok\n"),
    ("s.csv --norm max --predict n=5", "--predict: token 'n=5': expected sizes that some law is "
     "about", made(SMALL)),
    ("s.csv", "s.csv:1: token 'construction': expected a table of sweep, depth or min-omega, with "
     "the column construction_rel", made(SMALL)),
    ("s.csv --norm max", f"headproof: token 's.csv': {FEW}", made("1 1 1e-9")),
    ("s.csv", "s.csv:2: token 'x': expected a number", made("1 1 x")),
    ("s.csv --norm max", "s.csv:3: token 'strange=1': expected axes of options, each with its "
     "value", made(SMALL).replace("1,,2", "1,strange=1,2")),
    ("--construction silu --n 2 --d 2 --omega 10 -q", f"headproof: {FEW}", ""),
    ("--construction silu --n 2 --d 2 --tolerance 1e-6 -q", f"headproof: {FEW}", ""),
    # And the rows that are not there are not read.
    ("--construction silu --n 3,90 --depth 50 --memory 2MiB", "may be used: headproof sweep", "")])
def test_is_refused(grow, line, words, table):
    grow(2, line, words, s=table, v=second_v())


def test_its_table_is_no_input(grow, expect, tmp_path):
    (tmp_path / "s.csv").write_text(made(SMALL))
    expect(2, "growth s.csv --check s.csv -o s.csv", "s.csv")


# Of a Python that is absent or fails nothing passes, and no file is left.
@pytest.mark.parametrize("python, code, words", [
    ("/nowhere/python3", 77, "headproof: growth needs Python, and /nowhere/python3 cannot be "
     "started"),
    ("/bin/false", 99, "headproof: growth: its part in Python failed")])
def test_without_python(expect, tmp_path, python, code, words):
    (tmp_path / "s.csv").write_text(made(SMALL))
    expect(code, "growth s.csv --norm max -o out.csv", words, env={"HEADPROOF_PYTHON": python})
    assert os.listdir(tmp_path) == ["s.csv"]


def test_a_full_disk_is_said_once(expect, tmp_path):
    (tmp_path / "s.csv").write_text(made(SMALL))
    said = expect(99, "growth s.csv --norm max -o /dev/full")
    assert said == "headproof: /dev/full: cannot be written: No space left on device\n"
