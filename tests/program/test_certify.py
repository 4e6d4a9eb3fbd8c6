"""--certify from the command line: the same bytes, and what is said of them."""

import csv

import pytest

from conftest import ROOT

ALL = ("--construction silu,linear,attention,ffn3,fused,transformer3,transformer --n 5 --d 4 "
       "--heads 2")
GRID = f"sweep {ALL} --depth 3 --omega 3,20,1000 -q"
FUSED = "sweep --construction fused --n 5 --d 4 --omega 20 --certify --digits 17"
LARGE = ("sweep --construction transformer --n 7 --d 5 --heads 2 --omega 20 --score-scale 1e100 "
         "--certify")


def test_values_are_the_same(expect, tmp_path):
    """Rows, and the points of the sidecar; also of a run of which one part is certified."""
    for name, flags in ("plain", ""), ("proven", "--certify"):
        expect(0, f"{GRID} {flags} -o {name}")
    expect(0, f"{GRID} --shard 1/2 -o 1 --certify")
    expect(0, f"{GRID} --shard 2/2 -o 2")
    expect(0, "merge 1 2 -o merged")
    names = ("plain", "proven", "merged")
    plain, proven, merged = [(tmp_path / name).read_text() for name in names]
    assert plain == proven == merged and plain.count("\n") == 1 + 7 * 3 * 3
    points = [[line for line in (tmp_path / f"{name}.json").read_text().split("\n")
               if "command" in line] for name in ("plain", "proven")]
    assert points[0] == points[1] and len(points[0]) == 21


@pytest.mark.parametrize("line, words, bounds", [
    (FUSED, "1 point in a.csv, certified\n", ""),
    # What 64 bits prove of 17 digits is little; bits are raised from there until digits are proven.
    (f"{FUSED} --max-bits 64", "certified but for ",
     "construction_max;construction_rms;construction_rel;rounding_max"),
    (f"{FUSED} --precision 64", "1 point in a.csv, certified\n", ""),
    # Scores that are too large for 256 bits.
    (LARGE, "1 point in a.csv, certified\n", ""),
    (f"{LARGE} --max-bits 256", "certified but for ", "construction_max"),
])
def test_what_is_proven_is_said(expect, tmp_path, line, words, bounds):
    expect(0, f"{line} -o a.csv", words)
    *_, row = csv.DictReader((tmp_path / "a.csv").read_text().splitlines())
    assert row["bounds"].startswith(bounds) and (row["bounds"] == "") == (bounds == "")


def test_bits_are_raised_for_a_small_difference(expect, tmp_path):
    """64 bits do not show an error of 1e-43 by subtracting; it is no bound for all that."""
    expect(0, "sweep --construction silu --n 3 --d 2 --depth 2 --reference subtract --precision 64 "
              "--omega 50 --arithmetic none -o a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["bounds"] for row in rows] == ["", ""]
    assert all(0 < float(row["construction_max"]) < 1e-42 for row in rows)


def test_ends_of_omega_are_proven(expect):
    line = f"min-omega {ALL} --tolerance 1e-10 --judge construction -q"
    table = expect(0, line)
    assert expect(0, f"{line} --certify") == table and table.count(",,ok\n") == 7


@pytest.mark.parametrize("scales", ["1,1e30", "1e30,1"])
def test_bounds_of_all_points_are_counted(expect, scales):
    line = "verify cases/models/modadd53-silu.safetensors --tokens 0/0/53 --omega 20 -q --certify"
    said = expect(1, f"{line} --tolerance 1e-3 --max-bits 128 --score-scale {scales}", cwd=ROOT)
    assert "certified but for 4 cells, which are bounds" in said


@pytest.mark.parametrize("flag, said", [("--certify", True), ("", False)])
def test_verify_says_so(expect, flag, said):
    line = "verify cases/models/modadd53-silu.safetensors --tokens 0:1/0:1/53 --tolerance 1e-9"
    assert ("within 1e-09, certified" in expect(0, f"{line} --omega 20 {flag}", cwd=ROOT)) == said
