"""Pictures of tables: what is read, which picture is chosen, what it shows and says, and what ends
without one.  Logarithms are those of the digits written here, worked out by hand.
"""

import contextlib
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
import xml.dom.minidom

import pytest

from conftest import PROGRAM, ROOT, quick_python, second_v

sys.path.insert(0, str(ROOT / "python"))
from headproof import pictures  # noqa: E402
from headproof.command_line import Complaint  # noqa: E402
from headproof.series import read_whole  # noqa: E402
from headproof.tables import ERRORS  # noqa: E402

HEADER = "construction,omega,seed,options,layer,construction_max,total_max,native_max,bounds"
SEARCHES = ("construction,n,seed,options,omega_below,omega_min,omega_max,omega_above,omega_best,"
            "status")
# A V curve over two seeds: the second one's errors are ten times the first one's.
CURVE = """fused,8,1,,1,1e-3,1e-3,1e-16,
fused,16,1,,1,2e-10,2e-10,1e-16,
fused,1000,1,,1,2.5e-868,1e-14,1e-16,
fused,1e6,1,,1,0,1e-9,1e-16,
fused,8,2,,1,1e-2,1e-2,1e-16,
fused,16,2,,1,2e-9,2e-9,1e-16,
fused,1000,2,,1,2.5e-867,1e-13,1e-16,construction_max
fused,1e6,2,,1,0,1e-8,1e-16,
"""
# Drawn in half the time, for what is about files.
FLAT = "fused,8,1,,1,1e-3,1e-3,1e-3,\nfused,16,1,,1,1e-3,1e-3,1e-3,\n"
JUDGED = "fused,8,1,tolerance=1e-9,1,1e-3,1e-3,1e-16,\nfused,16,1,tolerance=1e-9,1,2e-10,2e-10,1e-16,\n"
# Two panels, and depth; of one stream that shrinks the size of the second layer is SIZE.
DEPTH = """silu,8,1,,1,1e-5,1e-5,1e-16,,1e-5
silu,8,1,,2,1e-6,1e-6SIZE,1e-17,,1e-5
silu,20,1,,1,1e-15,1e-15,1e-16,,1e-15
silu,20,1,,2,1e-16,1e-16,1e-17,,1e-15
fused,8,1,,1,1e-5,1e-5,1e-16,,1e-5
fused,8,1,,2,1e-5,1e-5,1e-16,,1e-5
fused,20,1,,1,1e-15,1e-15,1e-16,,1e-15
fused,20,1,,2,1e-15,1e-15,1e-16,,1e-15
"""
RELATIVE = "construction,layer,construction_max,total_max,construction_rel,total_rel"
SIZES = "construction,omega,n,d,layer,construction_max,total_max,native_max"
GRID = "".join(f"fused,20,{n},{d},1,1e-20,1e-{n + d},1e-17\n" for n in range(1, 5)
               for d in range(1, 5))
CROSS = "".join(f"fused,20,{n},{d},1,1e-20,1e-{e},1e-17\n" for n, d, e in (
    (1, 3, 5), (2, 3, 6), (3, 3, 7), (4, 3, 8), (4, 5, 2), (4, 7, 1)))
# Ends at powers of ten: one interval that is closed, one open above, one below, and none.
ENDS = """silu,2,1,tolerance=1e-09,9,10,100000,200000,1000,ok
silu,4,1,tolerance=1e-09,99,100,1.7976931e+308,,1000,ok
silu,8,1,tolerance=1e-09,,1e-300,1000,1001,,ok
silu,16,1,tolerance=1e-09,,,,,5,none
"""
BOUND = "fused,8,1,,1,1e-3,1e-3,1e-16,\nfused,16,1,,1,{},1e-14,1e-16,construction_max\n"
INFINITE = "fused,8,1,,1,1e-3,1e-3,1e-16,\nfused,16,1,,1,1e-4,inf,1e-16,\nfused,32,1,,1,1e-4,,1e-16,\n"


@pytest.fixture
def make(tmp_path, monkeypatch):
    """make(lines, header): the table t.csv, in the folder where the test is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADPROOF", PROGRAM)

    def table(lines, header=HEADER, name="t.csv"):
        (tmp_path / name).write_text(f"{header}\n{lines}")
        return str(tmp_path / name)
    return table


@pytest.fixture
def picture(make):
    """picture(lines, header, norm=, **wishes): what such a table shows."""
    def shows(lines, header=HEADER, norm=None, **wish):
        return pictures.picture_of([read_whole(os.path.relpath(make(lines, header)))],
                                   pictures.Wish(**wish), norm)
    return shows


def spots(picture, error):
    """What there is of an error in the first panel and curve: least, median, most; bound."""
    of = picture.spots[ERRORS.index(error)]
    return [end[0, 0].tolist() for end in (of.least, of.median, of.most)], of.bound[0, 0].tolist()


# ---- What is read --------------------------------------------------------------------------------

def test_logarithms_of_any_size(picture):
    (least, median, most), bound = spots(picture(CURVE), "construction")
    assert least[:3] == pytest.approx([-3, math.log10(2e-10), -867.60206], abs=1e-6)
    assert median[:3] == pytest.approx([-2.5, math.log10(2e-9) - 0.5, -867.10206], abs=1e-6)
    assert most[:3] == pytest.approx([-2, math.log10(2e-9), -866.60206], abs=1e-6)
    assert (least[3], most[3]) == (-math.inf, -math.inf)
    assert bound == [False, False, True, False]


def test_logarithms_of_others(picture):
    """As pandas writes what it has read: the size is 0.0, and its logarithm what it was; of a
    proven 0 that is blank."""
    shown = picture("fused,8,1,,1,0.001,0.001,1e-16,,-3.0\nfused,1000,1,,1,0.0,1e-14,1e-16,,-867.602\n"
                    "fused,1e6,1,,1,0.0,1e-9,1e-16,,\n", HEADER + ",construction_log10")
    assert spots(shown, "construction")[0][2] == [-3, -867.602, -math.inf]
    assert "The construction error is 0, which is proven, in 1 place, and" in shown.caption()


def test_the_smallest_error(picture):
    """An exponent that is 8e16 times that of the smallest double."""
    shown = picture("fused,1,1,,1,1e-1,,,\nfused,1e17,1,,1,6.48e-86858896380650365,,,\n")
    assert spots(shown, "construction")[0][1][1] == pytest.approx(-8.68588963806503e16)
    assert shown.low < -8.6e16


@pytest.mark.parametrize("lines, header, words", [
    ("fused,8,1,,1,1e-3,-1e-3,1e-16,\n", HEADER, "t.csv:2: token '-1e-3'"),
    ("fused,8,1,,1,1e-3,many,1e-16,\n", HEADER, "(column total_max)"),
    ("fused,8,1,,1,1e-3,1e999,1e-16,\n", HEADER, "token '1e999': expected an error of doubles"),
    ("fused,1e999,1,,1,1e-3,1e-3,1e-16,\n", HEADER, "token '1e999': expected a value of omega"),
    ("fused,8,1,widht=3,1,1e-3,1e-3,1e-16,\n", HEADER, "expected axes of options"),
    ("fused,8,1,penalty,1,1e-3,1e-3,1e-16,\n", HEADER, "expected axes of options, each with its"),
    ("", HEADER, "expected rows below the header"),
    ("1,2\n", "a,b", "expected a table of sweep, depth or min-omega"),
    ("fused,8,1,,1,0,0,0,\n", HEADER, "expected a finite error above 0"),
    ("fused,8,1,,1,0.0,1e-3,1e-16,,nan\n", HEADER + ",construction_log10",
     "token 'nan': expected a logarithm in the column construction_log10"),
    ("silu,2,1,,,,,,5,none\n", SEARCHES, "expected a search that found an omega"),
    ("silu,2,1,,,-3,5,,5,ok\n", SEARCHES, "2: token '-3': expected an omega in the column omega_min"),
    ("silu,2,1,,,3,nan,,5,ok\n", SEARCHES, "'nan': expected an omega in the column omega_max"),
    ("silu,2,1,,,1e-900,5,,5,ok\n", SEARCHES, "'1e-900': expected an omega in the column omega_min"),
    ("silu,2,1,,,3,1e900,,5,ok\n", SEARCHES, "'1e900': expected an omega in the column omega_max"),
    ("silu,2,1,,,5,3,,4,ok\n", SEARCHES, "t.csv:2: token '3': expected omega_min or more"),
    ("fused,2,1,,,-1,3,,4,ok\n", SEARCHES.replace("omega", "tau"),
     "2: token '-1': expected a tau in the column tau_min"),
    ("fused,2,1,,,,,,5,none\n", SEARCHES.replace("omega", "tau"), "expected a search that found a tau"),
    ("fused,-8,1,,1,1e-3,1e-3,1e-16,\n", HEADER, "token '-8': expected a value of omega"),
])
def test_refused_tables(make, refused, lines, header, words):
    make(lines, header)
    refused(words, "plot", "t.csv", "-o", "t.svg", cwd=os.getcwd())
    assert not os.path.exists("t.svg")


@pytest.mark.parametrize("line, words", [
    ("plot", "expected FILE.csv... -o FILE.svg|png|pdf"),
    ("plot t.csv", "expected --output FILE.svg, .png or .pdf: pictures as text are gone"),
    ("plot t.csv -o v.gp", "gnuplot's scripts are gone"),
    ("plot t.csv --colour red", "--colour"),
    ("plot t.csv --titel x", "did you mean --title?"),
    ("plot t.csv --title", "token '--title': expected a value after it"),
    ("plot t.csv -o v.jpeg", "--output: token 'v.jpeg': expected a name that ends in .svg"),
    ("plot t.csv -o .svg", "ends in .svg"),
    ("plot t.csv -o v.svg --x depth", "an axis that varies in the table, one of omega, seed"),
    ("plot t.csv -o v.svg --error none", "--error: token 'none': expected one of approximation"),
    ("plot t.csv -o v.svg --norm l1", "--norm: token 'l1': expected one of max, rms, rel"),
    ("plot t.csv --x omega --x=seed", "--x: token 'seed': expected the flag once"),
    ("plot t.csv -o v.svg --tolerance 0", "expected a number above 0"),
    ("plot t.csv -o v.svg --tolerance -1", "expected a number above 0"),
    ("plot none.csv -o v.svg", "none.csv"),
    ("plot t.svg -o t.svg", "--output: token 't.svg': expected another file than the operand"),
    ("plot t.csv -o link.svg", "expected another file than the operand 't.csv'"),
    ("plot t.csv -o beside.svg", "expected another file than the operand 't.csv'"),
    ("plot s.csv -o v.svg --tolerance 1", "--tolerance: token 's.csv': expected it with tables of sw"),
    ("plot s.csv -o v.svg --error total", "--error: token 's.csv'"),
    ("plot t.csv s.csv -o v.svg", "s.csv:1: token 'construction': expected tables of searches alone"),
    ("plot s.csv t.csv -o v.svg", "t.csv:1: token 'construction': expected tables of searches alone"),
    ("plot s.csv u.csv -o v.svg", "u.csv:1: token 'construction': expected tables of searches alone"),
    ("plot 1.csv -o v.svg", "token '1.csv': expected rows of more than one point: of one there is no"),
    *((f"plot t.csv -o v.svg --size {size}", "expected WIDTHxHEIGHT or WIDTH in pixels, from 240 to")
      for size in ("100", "1e3", "800x", "800x600x1", "x600", "-800", "99999")),
])
def test_refused_words(make, refused, line, words):
    make(CURVE)
    make(CURVE, name="t.svg")
    make(ENDS, SEARCHES, "s.csv")
    make(ENDS, SEARCHES.replace("omega", "tau"), "u.csv")
    make("fused,8,1,,1,1e-3,2e-3,1e-16,\n", name="1.csv")
    os.symlink("t.csv", "link.svg")
    make("", name="t.csv.json")
    os.symlink("t.csv.json", "beside.svg")
    refused(words, *line.split(), cwd=os.getcwd())
    assert not os.path.exists("v.svg") and os.path.getsize("t.svg") == os.path.getsize("t.csv")


# ---- What is chosen and said ---------------------------------------------------------------------

@pytest.mark.parametrize("lines, header, wish, title, said", [
    (CURVE, HEADER, {}, "The errors by omega", "Over 2 values of seed: the median, in a band"),
    (CURVE, HEADER, {}, "The errors by omega", "falls below the picture, to 1e-867."),
    (CURVE, HEADER, {}, "The errors by omega", "is 0, which is proven, in 1 place,"),
    (CURVE, HEADER, {"x": "seed"}, "The total error by seed and omega", "From t.csv."),
    (CURVE, HEADER, {"error": "construction"}, "The construction error by omega",
     "Open triangles are upper bounds"),
    (CURVE, HEADER, {"title": "Mine <&>", "caption": ""}, "Mine <&>", ""),
    (CURVE, HEADER, {"caption": "It is so."}, "The errors by omega", "It is so."),
    (CURVE, HEADER, {"tolerance": -300}, "The errors by omega",
     "The tolerance 1e-300 is below the picture."),
    (CURVE, HEADER, {"tolerance": -8.3}, "The errors by omega",
     "Shaded: every omega evaluated in this range has a total error within the tolerance."),
    (DEPTH.replace("SIZE", ""), HEADER + ",total_rel", {}, "The total error by omega and layer", ""),
    (GRID, SIZES, {}, "The total error by n and d", ""),
    (CROSS, SIZES, {}, "The errors by n", "d 3"),
    (BOUND.format("1e-15"), HEADER, {}, "The errors by omega", "Open triangles are"),
    (INFINITE, HEADER, {}, "The errors by omega", "Crosses at the top: not finite."),
    ("fused,8,1,,,1e-7\nfused,20,1,,,1e-15\n",
     "construction,omega,layer,construction_max,total_max,observed_max", {}, "The errors by omega", ""),
    (ENDS, SEARCHES, {}, "The omegas that meet the tolerance, by n",
     "A disc: the smallest error. An arrow: the interval goes on, as far as was tried or numbers "
     "reach. A red cross: no omega evaluated meets the tolerance."),
    (ENDS.split("\n")[0] + "\n" + ENDS.split("\n")[0].replace(",2,", ",3,") + "\n", SEARCHES, {},
     "The omegas that meet the tolerance, by n", "wherever it was evaluated.\nA disc: the smallest "
     "error.\nFrom"),
])
def test_titles_and_captions(picture, lines, header, wish, title, said):
    shown = picture(lines, header, **wish)
    assert shown.title() == title
    assert said in shown.caption()
    assert ("Open triangles" in shown.caption()) == ("Open" in said or lines == CURVE and
                                                     "error" in wish)


def test_errors_that_are_drawn(picture):
    labels = [curve.label for curve in picture(CURVE).curves]
    assert labels == ["total", "construction", "native"]
    shown = picture("fused,8,1,,,1e-7\nfused,20,1,,,1e-15\n",
                    "construction,omega,layer,construction_max,total_max,observed_max")
    assert [curve.label for curve in shown.curves] == ["observed"]


@pytest.mark.parametrize("tolerance, ends", [
    (5e-9, (1, 2)), (1e-8, (1, 3)), (1e-15, None), (1, (0, 3))])
def test_the_interval_that_meets(picture, tolerance, ends):
    """16 to 1000 for 5e-9: values that were evaluated and met it, with the largest."""
    assert picture(CURVE, tolerance=math.log10(tolerance)).meets(0) == ends


def test_the_table_has_a_tolerance(picture):
    shown = picture(JUDGED)
    assert shown.tolerance == pytest.approx(-9) and shown.has_tolerance()
    figure = pictures.figure_of(shown)
    assert "tolerance 1e-09" in [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize("lines, header, norm, unit", [
    (DEPTH.replace("SIZE", ""), HEADER + ",total_rel", None, "largest error of an entry"),
    (DEPTH.replace("SIZE", "1"), HEADER + ",total_rel", "max", "largest error of an entry"),
    ("silu,1,1e-20,1e-16,1e-20,1e-16\nsilu,2,1e-24,1e-20,1e-20,1e-16\n", RELATIVE, None,
     "error relative to the result"),
    ("silu,1,1e-20,1e-16,1e-20,1e-16\nsilu,2,1e-22,1e-18,1e-20,1e-16\n", RELATIVE, None,
     "largest error of an entry")])
def test_relative_errors_where_streams_shrink(picture, lines, header, norm, unit):
    assert picture(lines, header, norm).unit() == unit


def test_a_norm_that_is_not_there(picture):
    with pytest.raises(Complaint, match="construction_rel"):
        picture(DEPTH.replace("SIZE", "1"), HEADER + ",total_rel", "rel")


def test_series_and_panels(picture):
    shown = picture(DEPTH.replace("SIZE", ""), HEADER + ",total_rel")
    assert [shown.panel_words(panel) for panel in (0, 1)] == ["silu", "fused"]
    assert [curve.label for curve in shown.curves] == [
        "native", "", "construction (dotted)", "", "layer 1", "layer 2"]


def test_a_family(picture):
    """Many curves are a family from dark to light, the wider the farther below, of the one error."""
    shown = picture(GRID, SIZES)
    assert [curve.label for curve in shown.curves] == ["d 1", "d 2", "d 3", "d 4"]
    assert [curve.width for curve in shown.curves] == sorted((c.width for c in shown.curves),
                                                             reverse=True)
    assert shown.spots[ERRORS.index("total")].median[0, 1].tolist() == [-3, -4, -5, -6]


def test_what_was_swept_by_itself(picture):
    """No map, but the longer one, at the other's usual value."""
    shown = picture(CROSS, SIZES)
    assert shown.y == [""] and spots(shown, "total")[0][2] == [-5, -6, -7, -8]
    assert shown.caption().startswith("construction fused, d 3, omega 20, layer 1.\n")  # as drawn


def test_two_files(make, run):
    """Two tables of the same grid are told apart by their files, which may be named like flags."""
    make(CURVE, name="-o")
    ended = run("plot", "-o", "v.svg", "--size=500", "--", "-o", cwd=os.getcwd())
    assert ended == (0, "picture: v.svg\n", "")
    assert "From -o." in open("v.svg").read()
    tables = [read_whole(os.path.relpath(make(CURVE, name=name))) for name in ("v.csv", "w.csv")]
    shown = pictures.picture_of(tables, pictures.Wish())
    assert [shown.panel_words(panel) for panel in (0, 1)] == ["v.csv", "w.csv"]


@pytest.mark.parametrize("lacks, panels", [("none", 6), ("f32,.,penalty", 5)])
def test_rows_and_columns(picture, lacks, panels):
    """Panels by two axes: a row a penalty, a column an arithmetic, in whatever order rows stand."""
    words = ["bf16", "f64", "f32"]
    lines = [f"silu,{words[2 - i % 3 if i // 3 % 2 else i % 3]},{i // 6 + 8},"
             f"{'' if i // 3 % 2 else 'penalty=negative'},1,1e-3,1e-3\n" for i in range(12)]
    shown = picture("".join(line for line in lines if not re.search(lacks, line)),
                    "construction,arithmetic,omega,options,layer,construction_max,total_max")
    named = [f"{word}, penalty {penalty}" for penalty in ("negative", "positive") for word in words]
    if panels == 6:
        assert [shown.panel_words(panel) for panel in range(6)] == named
    assert (len(shown.places.panel_rows), shown.places.columns) == (panels, 3 if panels == 6 else 0)


def test_a_panel_each(picture):
    words = "f64 f32 bf16 fp16 bf16-flash fp16-flash bf16-autocast tf32".split()
    shown = picture("".join(f"{'silu' if i < 16 else 'fused'},{words[i % 8]},{i // 8 % 2 + 8},1,1e-3,"
                            "1e-3\n" for i in range(32)),
                    "construction,arithmetic,omega,layer,construction_max,total_max")
    assert len(shown.places.panel_rows) == 16


def test_one_point(picture):
    shown = picture("fused,8,1,,1,1e-3,2e-3,1e-16,\nfused,8,2,,1,1e-5,2e-5,1e-16,\n")
    assert shown.is_point() and shown.point_words() == (
        "One point, of which there is no picture: total 2.0e-03 (2.0e-04), construction 1.0e-03 "
        "(1.0e-04), native 1.0e-16 (1.0e-16).\nconstruction fused, omega 8, layer 1.\n"
        "Over 2 values of seed: the largest, and the median.\n")
    shown = picture("silu,2,1,tolerance=0.1,9.999,10,10,10.001,10,ok\n", SEARCHES)
    assert shown.point_words() == ("One point, of which there is no picture: omega 10 to 10.\n"
                                   "construction silu, n 2, seed 1, tolerance 0.1.\n")


# ---- What is drawn -------------------------------------------------------------------------------

def lines_of(figure, marker):
    """Where the first panel has such marks, and no line through them."""
    return sorted(tuple(map(float, place)) for line in figure.axes[0].lines
                  if line.get_marker() == marker and line.get_linestyle() == "None"
                  for place in line.get_xydata() if not any(map(math.isnan, place)))


def test_ends_of_intervals(picture):
    """Logarithms: ends that are open lie 2 % within the scale, which is that of the others."""
    shown = picture(ENDS, SEARCHES)
    figure = pictures.figure_of(shown)
    assert (shown.low, shown.high) == (0, 6)
    assert lines_of(figure, "^") == [(1, pytest.approx(5.88))]
    assert lines_of(figure, "v") == [(2, pytest.approx(0.12))]
    assert lines_of(figure, "_") == [(0, 1), (0, 5), (1, 2), (2, 3)]
    assert lines_of(figure, "o") == [(0, 3), (1, 3)]
    assert lines_of(figure, "x") == [(3, pytest.approx(0.24))]


def test_bands_are_from_the_smallest_to_the_largest(picture):
    """Of two seeds' errors at four Omegas."""
    band, = pictures.figure_of(picture(CURVE, error="total")).axes[0].collections
    ends = {}
    for x, y in band.get_paths()[0].vertices.tolist():
        ends.setdefault(round(10**x), set()).add(round(y, 3))
    assert ends == {8: {-3, -2}, 16: {-9.699, -8.699}, 1000: {-14, -13}, 10**6: {-9, -8}}


def test_overflow_is_an_arrow(picture):
    """Where an arithmetic overflows a search ends, which is no place for a scale to reach to."""
    shown = picture("silu,2,1,,9,10,1000,1001,20,ok\nsilu,3,1,,9,10,8.99e307,8.991e307,20,ok\n",
                    SEARCHES)
    assert (shown.low, shown.high) == (0, 4)
    assert lines_of(pictures.figure_of(shown), "^") == [(1, pytest.approx(3.92))]


def test_several_searches(picture):
    """A second number's intervals stand side by side; several seeds leave what all of them meet."""
    row = "silu,{},{},tolerance={},{},1001,{},ok\n"
    shown = picture("".join(row.format(*cells) for cells in (
        (2, 1, 0.1, "9,10,1000", 20), (2, 2, 0.1, "99,100,10000", 300), (4, 1, 0.1, "9,10,20", 15),
        (4, 2, 0.1, "99,100,10000", 300), (2, 1, 0.2, "9,10,1000", 20), (4, 1, 0.2, "9,10,1000", 20),
        (8, 1, 0.1, "9,10,1000", 20), (8, 1, 0.2, "9,10,1000", 20))), SEARCHES)
    spots = shown.spots[0]
    assert (spots.least[0, 0, 0], spots.most[0, 0, 0]) == (2, 3)
    assert spots.none[0, 0].tolist() == [False, True, False]
    assert math.isnan(spots.median[0, 0, 0]) and spots.median[0, 0, 2] == pytest.approx(1.30103)
    assert lines_of(pictures.figure_of(shown), "x")[0][0] == pytest.approx(0.825)


def test_all_may_be_open(picture):
    shown = picture("silu,2,1,,,1e-300,1e300,,,ok\nsilu,3,1,,,1e-300,1e300,,,ok\n", SEARCHES)
    assert (shown.low, shown.high) == (-1, 2) and shown.interval_words() == "all tried"


def test_not_finite(picture):
    """The scale spans 13 powers of ten: a cross lies 8 % of them above the largest error, and 4 %
    more are free above it.  What is not known is no point, nor a 0."""
    shown = picture(INFINITE)
    figure = pictures.figure_of(shown)
    assert lines_of(figure, "x") == [(16, pytest.approx(-1.96))]
    assert figure.axes[0].get_ylim() == (pytest.approx(-16.52), pytest.approx(-1.44))
    assert math.isnan(spots(shown, "total")[0][1][2])


def test_bounds_below(picture):
    """A bound that is not in the picture is no triangle in its caption."""
    assert "triangles" not in picture(BOUND.format("1e-800")).caption()
    figure = pictures.figure_of(picture(BOUND.format("1e-15")))
    assert lines_of(figure, "v") == [(16, pytest.approx(-15))]


def test_laws_are_lines(picture):
    """T's own error is the same at every Omega: a floor.  An error without a curve has no line."""
    def laws(lines, header=HEADER, **wish):
        shown = picture(lines, header, laws=True, **wish)
        return [(law.panel, law.first, law.last, law.log10.tolist())
                for law in pictures.laws_of(shown)], shown.caption()
    found, caption = laws(CURVE)
    assert (0, 0, 3, [-16.0] * 4) in found and "laws of the medians" in caption
    found, caption = laws("fused,1,1,1e-12,1e-10,1e-16\nfused,2,1,2e-12,2e-10,1e-16\n"
                          "fused,4,1,4e-12,4e-10,1e-16\n",
                          "construction,n,layer,construction_max,total_max,native_max",
                          error="native")
    assert found == [(0, 0, 2, [-16.0] * 3)]


@pytest.mark.parametrize("values, marks", [
    ("1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 24", [(0, "1"), (0.30103, "2"), (0.477121, "3")]),
    ("1 2 3 4 5 6 7 8 9 1e3 1e6 1e9 1e12", None),
    ("1 8 400 500 1000000", [(0, "1"), (0.90309, "8"), (2.60206, "400"), (6, "1000000")]),
    ("10 20 30 1000", [(1, "10"), (1.30103, "20"), (1.477121, "30"), (3, "1000")]),
    ("10 340 670 1000", [(10, "10"), (340, "340"), (670, "670"), (1000, "1000")])])
def test_marks(picture, values, marks):
    """A logarithm is drawn, the value is said, where there is room: 500 lies 0.1 decades behind 400,
    of 6 on a panel of 560 pixels.  Values that are evenly spaced are drawn so."""
    lines = "".join(f"fused,{omega},1,,1,1e-3,1e-3,1e-16,\n" for omega in values.split())
    found = pictures.Scale(picture(lines), 560).marks
    assert (found is None) == (marks is None)
    for (place, word), (at, text) in zip(found or [], marks or []):
        assert (place, word) == (pytest.approx(at, abs=1e-6), text)
    assert marks is None or len(values.split()) > 8 or len(found) == len(marks)


def test_marks_of_paths(picture):
    """Of paths the names are marks; what differs at the end is not cut."""
    way = "/a/very/long/way/to/"
    shown = picture("".join(f"fused,{way}{name}.safetensors,1,1e-3,1e-3\n" for name in (
        "one", "the_first_of_a_long_name")), "construction,weights,layer,construction_max,total_max")
    assert pictures.Scale(shown, 560).marks == [(0, "one"), (1, "the_fi...ng_name")]
    assert shown.axis_words() == "weights"  # its help explains single values
    way = "/a/very/very/long/way/to/somewhere/else/which/is/far/away/and/no/one/knows/where/it/lies/"
    shown = picture("".join(f"fused,{omega},{way}except/{name}.csv,1,1e-3,1e-3\n" for omega in (1, 2)
                            for name in ("one", "two")),
                    "construction,omega,weights,layer,construction_max,total_max")
    titles = [ax.get_title() for ax in pictures.figure_of(shown).axes]
    assert [title.split("...")[1][-15:] for title in titles] == ["/except/one.csv", "/except/two.csv"]


def test_colours_of_omegas(picture):
    """An Omega has the same colour, whatever others are there, and none is grey, as native is."""
    def colours(there, **wish):
        shown = picture("".join(f"fused,{omega},1,,{layer},1e-3,1e-{layer + 3},1e-16,\n"
                                for omega in there for layer in (1, 2, 3, 4, 5, 6, 7, 8, 9)), **wish)
        return {curve.label: curve.colour for curve in shown.curves if "omega" in curve.label}
    few, many = colours([20, 1000]), colours([8, 12, 20, 30, 100, 300, 1000, ""])
    assert few.items() <= many.items() and len(set(many.values())) == 8
    assert not any(len({colour[1:3], colour[3:5], colour[5:7]}) == 1 for colour in many.values())
    assert colours([10, 40], omegas=[20, 50]) .keys() == {"omega 10", "omega 40"}


def test_panels_without_omega(picture):
    rows = [("fused", omega) for omega in (8, 20)] + [("masked", "")]
    shown = picture("".join(f"{name},{omega},1,,{layer},1e-3,1e-{layer},1e-16,\n"
                            for name, omega in rows for layer in (3, 4, 5, 6)))
    assert [shown.panel_words(panel) for panel in (0, 1)] == ["fused", "masked, no omega"]


# ---- Along tau -----------------------------------------------------------------------------------

# Intervals of 2^-30 to 2^-2, the best 2^-10; open below; and none.
TAUS = SEARCHES.replace("omega", "tau").replace("n,seed", "arithmetic,seed")
TAU_ENDS = """fused,f64,1,ffn=gated,4.6566128730773926e-10,9.313225746154785e-10,0.25,0.5,0.0009765625,ok
fused,f64,1,ffn=gated;readout=2,,1e-300,0.25,0.5,0.0009765625,ok
fused,f32,1,ffn=gated,,,,,0.5,none
fused,f32,1,ffn=gated;readout=2,0.03125,0.0625,0.25,0.5,0.125,ok
"""


def test_the_second_v(picture):
    """A curve for each K, its arms beside it, and a ring where A_K tau^(2K) + 2^-53/tau is least: at
    2^-17, 2^-10 and 2^-7 for K = 1, 2, 3."""
    header, lines = second_v().split("\n", 1)
    shown = picture(lines, header)
    figure = pictures.figure_of(shown)
    assert shown.title() == "The total error by tau and readout"
    assert ("readout" in shown.axis_words(), shown.axis_words()) == (
        False, "tau: the small constant of a gated network")
    assert [curve.label for curve in shown.curves if curve.label] == [
        "native", "approximation (dotted)", "rounding (dashed)", "readout 1", "readout 2", "readout 3"]
    assert "the best tau" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("A ring: the smallest total error of a curve, at tau 2^-17, 2^-10, 2^-7. Left of it rounding "
            "grows as 1/tau, right of it the approximation error as tau^(2 readout).") in shown.caption()
    sizes = [(k, 2.0**(2 * pairs * -k) * off + 2.0**(k - 53)) for k, pairs, off in (
        (17, 1, 1.01 / 12), (10, 2, 1 / 30), (7, 3, 1.01 * 17 / 315))]
    assert [place for place in lines_of(figure, "o")] == [
        (pytest.approx(-k * math.log10(2)), pytest.approx(math.log10(size))) for k, size in sizes]


@pytest.mark.parametrize("taus, marks", [
    (range(25), [f"$2^{{{k}}}$" for k in range(-24, 1, 2)]),
    ((0, 1, 2), ["$2^{-2}$", "$2^{-1}$", "$2^{0}$"])])
def test_marks_of_taus(picture, taus, marks):
    """Powers of two that were evaluated, as far apart as the widest; of whatever reach."""
    header, lines = second_v(taus).split("\n", 1)
    axis = pictures.figure_of(picture(lines, header)).axes[0].xaxis
    assert [text.get_text() for text in axis.get_ticklabels()] == marks
    assert axis.get_ticklocs()[0] == pytest.approx(-max(taus) * math.log10(2))


def test_a_panel_an_arithmetic(picture):
    """Each with rings of its own; of one K all errors; tau is said as it is typed; and a network
    without it is not drawn."""
    header, lines = second_v(readouts=[1]).split("\n", 1)
    shown = picture(lines + lines.replace("f64", "f32").replace(",1,0.08333", ",1,0.00008333") +
                    "fused,40,f64,,1,0,1e-34,1e-16,1e-16,1e-16,ok\n", header)
    assert [curve.label for curve in shown.curves] == ["total", "approximation", "construction",
                                                       "rounding", "native"]
    assert "of a curve, at tau 2^-17 (f64); 2^-17 (f32)." in shown.caption()
    assert "Not drawn: 1 row without a value of tau." in shown.caption()
    assert "The construction error falls below the picture, to 1e-34." in shown.caption()
    shown = picture("".join(f"{line.replace('omega', str(omega)).replace('fused,40', f'fused,{omega}')}\n"
                            for omega in range(40, 47) for line in lines.split("\n")[5:7]), header)
    assert [curve.label for curve in shown.curves][-2:] == ["tau 2^-6", "tau 2^-5"]


@pytest.mark.parametrize("wish, main, rings", [
    ({}, "total", True), ({"error": "rounding"}, "rounding", False)])
def test_rings_are_of_what_is_total(picture, wish, main, rings):
    header, lines = second_v(readouts=[1]).split("\n", 1)
    shown = picture(lines, header, **wish)
    assert (ERRORS[shown.main], "A ring" in shown.caption()) == (main, rings)


def test_without_a_machine(picture):
    """Along tau it is the approximation that counts."""
    header, lines = second_v().split("\n", 1)
    rows = [line.split(",") for line in lines.splitlines()]
    shown = picture("".join(",".join(row[:7] + [""] * 3 + row[-1:]) + "\n" for row in rows), header)
    assert shown.title() == "The approximation error by tau and readout"


def test_intervals_of_tau(picture):
    """Marks are powers of two; what is not found is said of tau."""
    shown = picture(TAU_ENDS, TAUS)
    assert shown.title() == "The taus that meet the tolerance, by readout" and shown.unit() == "tau"
    assert "no tau evaluated meets the tolerance" in shown.caption()
    figure = pictures.figure_of(shown)
    assert [text.get_text() for text in figure.axes[0].yaxis.get_ticklabels()][-3:-1] == [
        "$2^{-4}$", "$2^{0}$"]
    assert lines_of(figure, "_") == [(x, pytest.approx(k * math.log10(2)))
                                     for x, k in ((0, -30), (0, -2), (1, -2))]
    assert lines_of(figure, "v")[0][0] == 1


# ---- Files ---------------------------------------------------------------------------------------

def test_pictures_are_whole(make, run):
    make(CURVE)
    kinds = (("svg", b"<?xml ", b"</svg>\n"), ("pdf", b"%PDF-", b"%%EOF\n"),
             ("png", b"\x89PNG", b"IEND\xae\x42\x60\x82"))
    made = []
    for seconds in (0, 1.1):  # a date would differ
        time.sleep(seconds)
        for kind, begin, end in kinds:
            assert run("plot", "t.csv", "-o", f"v.{kind}", cwd=os.getcwd()).code == 0
            made.append(open(f"v.{kind}", "rb").read())
            assert made[-1].startswith(begin) and made[-1].endswith(end)
    assert made[:3] == made[3:]
    svg = xml.dom.minidom.parse("v.svg")
    assert svg.getElementsByTagName("title")[0].firstChild.data == "headproof plot: The errors by omega"
    assert "seed: the median" in svg.getElementsByTagName("desc")[0].firstChild.data


def test_names_are_names(make, run):
    """A name may be anything, and no name is markup."""
    names = ("]]><b>&amp;", "$x^{2}$", "b\\frac{")
    make("".join(f"fused,{name},{omega},1,1e-3,1e-3\n" for name in names for omega in (8, 9)),
         "construction,weights,omega,layer,construction_max,total_max")
    assert run("plot", "t.csv", "-o", "v.svg", cwd=os.getcwd()).code == 0
    texts = [node.firstChild.data for node in xml.dom.minidom.parse("v.svg").getElementsByTagName("text")]
    assert {*names} <= {*texts}


@pytest.mark.parametrize("size, width, height", [("800x600", 800, 600), ("375", 375, None)])
def test_sizes(make, run, size, width, height):
    make(DEPTH.replace("SIZE", ""), HEADER + ",total_rel")
    assert run("plot", "t.csv", "-o", "v.svg", "--size", size, cwd=os.getcwd()).code == 0
    found = re.search(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', open("v.svg").read(), re.S)
    assert float(found[1]) == width and height in (None, float(found[2]))


def test_the_height_that_it_needs(make, run):
    make(DEPTH.replace("SIZE", ""), HEADER + ",total_rel")

    def needs(height):
        said = run("plot", "t.csv", "-o", "v.svg", "--size", f"400x{height}", cwd=os.getcwd()).stderr
        return re.findall(r"--size: expected a height of (\d+) or more", said)
    least = int(needs(250)[0])
    assert needs(least - 1) == [str(least)] and needs(least) == []


@pytest.mark.parametrize("output, before, code, words", [
    ("full.svg", "ln -s /dev/full full.svg", 99, "full.svg: cannot be written: No space left"),
    ("v.svg", "echo mine >v.svg.partial", 2, "v.svg.partial': expected nothing there (this run"),
    ("v.svg", ": >v.svg.partial", 2, "move it, or choose another name"),
    ("v.svg", "ln -s nowhere v.svg.partial", 2, "move it, or choose another name"),
    ("v.svg", "printf '<?xml version=' >v.svg.partial", 0, "picture: v.svg"),
    ("v.svg", "mkdir v.svg", 2, "v.svg': expected a file that can be written (Is a directory)"),
    ("no/v.svg", ":", 2, "expected a file that can be written (No such file or directory)"),
    ("v.svg", "ln -s nowhere v.svg", 2, "expected a file that can be written (No such file"),
    ("v.svg", "echo old >there.svg; ln -s there.svg v.svg", 0, "picture: v.svg")])
def test_files_in_the_way(make, run, output, before, code, words):
    make(FLAT)
    subprocess.run(before, shell=True, check=True)
    ended = run("plot", "t.csv", "-o", output, cwd=os.getcwd())
    assert (ended.code, words in ended.stdout + ended.stderr) == (code, True), ended
    assert code == 0 or not os.path.isfile(output)
    assert "ln -s there" not in before or (os.path.islink("v.svg") and
                                           "</svg>" in open("there.svg").read())


@pytest.mark.parametrize("stdout, code, words", [
    (">/dev/full", 99, "stdout: cannot be written: No space left on device"),
    (">&-", 99, "stdout: cannot be written: Bad file descriptor"),
    (">&- 2>&- <&-", 99, ""),
    ("| (sleep 1; true)", 0, ""),
    ("2>&1 | true; test ${PIPESTATUS[0]} -eq 141 -o ${PIPESTATUS[0]} -eq 0", 0, "")])
def test_streams(make, stdout, code, words):
    make(FLAT)
    python = sys.executable if ">&-" in stdout else quick_python()  # which needs them open
    ended = subprocess.run(["bash", "-c", f"'{PROGRAM}' plot t.csv -o v.svg {stdout}"], text=True,
                           capture_output=True, env={**os.environ, "HEADPROOF_PYTHON": python})
    assert (ended.returncode, words in ended.stderr) == (code, True), ended
    assert os.path.exists("v.svg")


def test_a_signal_leaves_nothing(make, tmp_path, monkeypatch):
    """Whenever it comes: to the program, to imports, to the drawing, and to a Python that starts,
    whose sitecustomize sends it."""
    make("".join(f"fused,{i + 1},1,,1,1e-3,1e-3,1e-16,\n" for i in range(20000)))

    def ends(wait):
        started = subprocess.Popen([PROGRAM, "plot", "t.csv", "-o", "v.svg"],
                                   stderr=subprocess.PIPE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(wait)
        started.send_signal(signal.SIGINT)
        said = started.communicate()[1]
        assert (started.returncode, said) == (-signal.SIGINT, b"")
        assert not [name for name in os.listdir() if name.startswith("v.svg")]
    ends(0)
    ends(0.15)
    ends(0.3)
    (tmp_path / "sitecustomize.py").write_text("import os\nos.kill(os.getpid(), 2)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ends(30)


def test_many_rows(make, run):
    """Four times the rows take four times as long, and not sixteen: the program, which looks at all
    of them before it starts Python (true here), and Python up to the figure."""
    def seconds(rows):
        make("".join(f"fused,{7919 * i % rows + 1},1,,1,1e-3,1e-3,1e-16,\n" for i in range(rows)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        assert run("plot", "t.csv", "-o", "v.png", cwd=os.getcwd(),
                   env={"HEADPROOF_PYTHON": "/bin/true"}).code == 0
        program, before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, \
            time.process_time()
        pictures.figure_of(pictures.picture_of([read_whole("t.csv")], pictures.Wish(), None))
        return program, time.process_time() - before
    seconds(100)  # loads what the others do not load again
    few, many = seconds(5000), seconds(20000)
    assert many[0] < 8 * few[0] + 0.1 and many[1] < 8 * few[1]


# ---- What is not installed -----------------------------------------------------------------------

INSTALL = "apt-get install python3-matplotlib"


@pytest.mark.parametrize("lacks", ["numpy", "matplotlib"])
@pytest.mark.parametrize("line", ["plot t.csv -o v.svg", "report t.csv -o v.html"])
def test_without_a_module(make, run, lacks, line):
    """In 77 ends what lacks one, behind the one command that installs it; help needs none."""
    make(CURVE.replace("\n", ",ok\n"), HEADER + ",status")
    os.mkdir("stub")
    with open(f"stub/{lacks}.py", "w", encoding="utf-8") as stub:
        stub.write(f"raise ModuleNotFoundError(\"No module named '{lacks}'\", name='{lacks}')\n")
    env = {"PYTHONPATH": "stub", "HEADPROOF_PYTHON": "/usr/bin/python3"}
    ended = run(*line.split(), cwd=os.getcwd(), env=env)
    assert (ended.code, ended.stdout, ended.stderr.count("\n")) == (77, "", 1)
    assert f"No module named '{lacks}'" in ended.stderr and (
        INSTALL in ended.stderr or "-m pip install" in ended.stderr)
    assert run("help", line.split()[0], env=env).code == 0


def test_another_python_has_it(make, run):
    """Where python3 lacks matplotlib, and the user names none, Debian's is asked."""
    make(FLAT)
    os.mkdir("bin")
    with open("bin/python3", "w", encoding="utf-8") as wrapper:
        wrapper.write('#!/bin/sh\nexec /usr/bin/env -u HEADPROOF_PYTHON /usr/bin/python3 -S -c "\n'
                      "import runpy, sys; sys.executable = 'bin/python3'\n"
                      'sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name=\'__main__\')" '
                      '"$@"\n')
    os.chmod("bin/python3", 0o755)
    env = {**os.environ, "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}
    env.pop("HEADPROOF_PYTHON", None)
    assert subprocess.run([PROGRAM, "plot", "t.csv", "-o", "v.svg"], env=env, text=True,
                          capture_output=True).stdout == "picture: v.svg\n"
    env["HEADPROOF_PYTHON"] = os.path.abspath("bin/python3")
    assert os.path.exists("v.svg")


@pytest.mark.parametrize("env", [{"PATH": "/nowhere"}, {"HEADPROOF_PYTHON": "/nowhere/python3"}])
def test_without_python(make, env):
    make(CURVE)
    ended = subprocess.run([PROGRAM, "plot", "t.csv", "-o", "v.svg"], env={"HOME": "/", **env},
                           text=True, capture_output=True)
    assert (ended.returncode, ended.stderr.count("\n"), INSTALL in ended.stderr) == (77, 1, True)


def test_modules_of_the_folder_are_not_run(make, run):
    """What lies where a user works is no part of the program."""
    make(FLAT)
    for name in ("csv.py", "headproof.py", "random.py"):
        with open(name, "w", encoding="utf-8") as file:
            file.write("raise SystemExit('not this one')\n")
    env = {"HEADPROOF_PYTHON": sys.executable}
    assert run("plot", "t.csv", "-o", "v.svg", cwd=os.getcwd(), env=env).code == 0


def test_a_program_by_itself(make, tmp_path):
    """A copy that has no Python beside it says so."""
    make(CURVE)
    alone = tmp_path / "bin/headproof"
    alone.parent.mkdir()
    alone.write_bytes(open(PROGRAM, "rb").read())
    alone.chmod(0o755)
    ended = subprocess.run([alone, "plot", "t.csv", "-o", "v.svg"], text=True, capture_output=True)
    assert ended.returncode == 77 and "make install puts it there" in ended.stderr
