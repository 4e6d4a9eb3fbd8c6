"""Every error of every table has its logarithm, which is the one of what stands beside it: blank
where that is 0 or blank, a bound where that is one, and a number wherever a double would read 0."""

import collections
import decimal

import pytest
import tables
from conftest import ROOT

EXACT = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def look_at(row, seen):
    """Adds up what a row's logarithms are."""
    bounds = row["bounds"].split(";")
    for name in [name for name in row if name.endswith("_log10")]:
        stem = name.removesuffix("_log10")
        of = stem + "_max" if stem + "_max" in row else stem
        size, log, bound = row[of], row[name], of in bounds
        assert not bound or name in bounds
        seen["bounds"] += bound
        if size in ("", "0"):
            assert log == ""
            seen["blanks"] += 1
        elif size in ("nan", "inf"):
            assert log == size
            seen["strange"] += 1
        else:
            # What 12 digits of either leave open: half a unit, of a bound, rounded up, a whole one.
            exact = EXACT.log10(EXACT.create_decimal(size))
            room = (abs(exact) + EXACT.create_decimal("0.5")) * EXACT.create_decimal(
                "1.02e-11" if bound else "5.1e-12")
            assert abs(EXACT.create_decimal(log) - exact) <= room, (name, log, size)
            seen["numbers"] += 1
            seen["tiny"] += EXACT.create_decimal(size) < EXACT.create_decimal("1e-308")


@pytest.fixture
def table(expect, tmp_path):
    """What is seen in the table that a command leaves in t.csv, with so many columns."""
    def read(line, columns=6, code=0):
        expect(code, f"{line} -o t.csv")
        rows, seen = tables.rows_of(tmp_path / "t.csv"), collections.Counter()
        assert len([name for name in rows[0] if name.endswith("_log10")]) == columns
        for row in rows:
            look_at(row, seen)
        return seen
    return read


def test_sweeps(table):
    seen = table("sweep --construction silu,fused,masked --n 3 --d 2 --depth 2 --omega 1,1000,1e16 "
                 "--arithmetic f64,bf16,none -q")
    assert seen["numbers"] > 100 and seen["blanks"] > 50 and seen["tiny"] >= 12
    seen = table("sweep --construction fused --n 3 --d 2 --omega 1e300,20 --arithmetic bf16,f32 "
                 "--precision 256 -q", code=1)
    assert seen["bounds"] >= 2 and seen["strange"] >= 4
    seen = table("sweep --construction silu --n 3 --d 2 --omega 5,20 --reference none -q")
    assert (seen["numbers"], seen["blanks"]) == (2, 10)
    seen = table("sweep --construction silu --activation gelu --n 3 --d 2 --omega 5 -q")
    assert seen["numbers"] == 6


def test_propagations(table):
    seen = table("depth --construction silu --n 3 --d 2 --depth 3 --omega 1000 --propagation -q", 10)
    assert seen["tiny"] >= 8 and seen["blanks"] >= 2


VERIFY = f"verify {ROOT}/cases/models/modadd53-silu.safetensors --tokens 0:2/3/53 --omega 9 -q"


def test_trained_models(table, expect, tmp_path):
    """Of layers and of positions, and merged: each shard has the worst of some errors."""
    seen = table(f"{VERIFY} --positions all")
    assert (seen["numbers"], seen["blanks"]) == (10 * 5, 10)
    expect(0, f"{VERIFY} -o whole.csv")
    judged = {"--tolerance 1": "PASS", "": "evaluated, nothing judged: no tolerance"}
    for tolerance, verdict in judged.items():
        for shard in 1, 2, 3:
            expect(0, f"{VERIFY} {tolerance} --shard {shard}/3 -o s{shard}.csv")
        expect(0, "merge s1.csv s2.csv s3.csv -o m.csv", f"verdict: {verdict}\n")
    assert (tmp_path / "m.csv").read_text() == (tmp_path / "whole.csv").read_text()
    seen = table("merge s1.csv s2.csv s3.csv")
    assert (seen["numbers"], seen["blanks"]) == (5, 1)
    seen = table(f"{VERIFY} --reference subtract --max-bits 64")
    assert seen["bounds"] >= 1
