"""--reference none: the machine's columns alone, the same as beside a reference, and nothing claimed
of what was not evaluated."""

import csv
import io

import pytest

MACHINE = ("observed_max", "observed_rms", "observed_log10", "identical")

# What is swept beside both, its exit code, and the status of the last row if it is of interest.
CASES = [
    ("silu --omega 1e5", 0, None),
    ("linear --linear block --depth 2 --bias random", 0, None),
    ("attention --d-head 2 --mask causal --omega 3", 0, None),
    ("ffn3 --kernel structured --omega 8", 0, None),
    ("fused --row 2 --omega 1000", 0, None),
    ("transformer3 --depth 3 --activation gelu", 0, None),
    ("transformer --mask pseudo-causal --penalty negative --digits 17", 0, None),
    ("masked --bias random --activation relu", 0, None),
    # Too large for the machine; nothing left of r(T), and of m(T); more than the tolerance.
    ("silu --omega 1e308", 1, "overflow"),
    ("silu --score-scale 2.3e-308 --depth 6", 0, "vacuous"),
    ("silu --omega 3 --tolerance 1e-9 --judge observed", 1, "fail"),
    ("silu --omega 20 --tolerance 1e-9 --judge observed", 0, "ok"),
]


@pytest.fixture
def rows(run):
    def read(line, code):
        ended = run(*f"sweep --n 4 --d 3 --d-ff 5 --quiet --construction {line}".split())
        assert ended.code == code, ended
        return list(csv.DictReader(io.StringIO(ended.stdout)))
    return read


@pytest.mark.parametrize("line, code, status", CASES)
def test_the_machine_says_the_same(rows, line, code, status):
    found = rows(f"{line} --reference none,auto", code)
    half = len(found) // 2
    for alone, beside in zip(found[:half], found[half:]):
        assert alone["reference"] == "none" != beside["reference"]
        cells = list(alone)
        own = {name: cell for name, cell in alone.items() if name in MACHINE}
        assert own == {name: beside[name] for name in MACHINE}
        # Only by the reference is anything unresolved.
        assert alone["status"] == beside["status"].replace("unresolved", "ok")
        blank = cells[cells.index("layer") + 1:cells.index("status")]
        assert not [name for name in blank if name not in MACHINE and alone[name]]
    assert status is None or found[half - 1]["status"] == status


def test_what_is_observed_is_judged(rows):
    """A tolerance is for what is observed: there is nothing else."""
    found = rows("silu --omega 3 --reference none --tolerance 1e-9", 1)
    assert [row["status"] for row in found] == ["fail"]


def test_such_tables_are_read_again(expect, tmp_path):
    """What shards wrote is put together, and a baseline is compared."""
    grid = "--construction silu,fused --n 3 --d 3 --omega 3,20 --reference none --quiet"
    expect(0, f"sweep {grid} -o whole.csv")
    for shard in 1, 2:
        expect(0, f"sweep {grid} --shard {shard}/2 -o {shard}.csv")
    expect(0, "merge 1.csv 2.csv -o both.csv")
    assert (tmp_path / "both.csv").read_text() == (tmp_path / "whole.csv").read_text()
    expect(0, f"check {grid} --save-baseline base.csv")
    said = expect(0, f"check {grid} --baseline base.csv --exact")
    assert said == "PASS: 4 rows, 20 cells compared\n"
