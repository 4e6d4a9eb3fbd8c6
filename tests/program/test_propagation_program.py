"""--propagation: columns behind the others, which stay what they are; in every row the parts
add up."""

import csv
import io

import pytest

GRID = ("sweep --construction all --mask none,causal --kernel dense,structured --n 4 --d 5 "
        "--d-ff 6 --heads 2 --depth 4 --seed 3 --digits 17 --format csv -q")
SLACK = 1e-15  # parts are printed to 17 digits


@pytest.fixture
def table(expect):
    def rows(line):
        return list(csv.DictReader(io.StringIO(expect(0, line))))
    return rows


def test_other_columns_stay(expect):
    """The same table, without the last columns, of the same bytes."""
    line = f"{GRID} --omega 6,20,1000 --precision 256"
    plain, split = [expect(0, text).split() for text in (line, f"{line} --propagation")]
    assert [row[:len(old) + 1] for old, row in zip(plain, split, strict=True)] \
        == [f"{old}," for old in plain]


def test_parts_add_up_in_every_row(table):
    """|inherited - injected| <= error <= inherited + injected; gain = inherited / the error before.
    The construction error at Omega = 1000 is smaller than any double: the next test has that."""
    before, checked = None, 0
    for row in table(f"{GRID} --omega 6,20,1000 --propagation"):
        assert (row["status"], row["bounds"]) == ("ok", "")
        for error in ("construction", "rounding"):
            if error == "construction" and row["omega"] == "1000":
                continue
            injected, inherited = [float(row[f"{error}_{part}_max"])
                                   for part in ("injected", "inherited")]
            whole, gain = float(row[f"{error}_max"]), row[f"{error}_gain"]
            slack = SLACK * (injected + inherited)
            assert abs(inherited - injected) - slack <= whole <= injected + inherited + slack
            if row["layer"] == "1":
                assert inherited == 0 and gain == "" and abs(whole - injected) <= slack
            elif float(before[f"{error}_max"]) > 0:
                assert float(gain) * float(before[f"{error}_max"]) == pytest.approx(
                    inherited, rel=4 * SLACK, abs=0)
            else:
                assert gain == ""
            checked += 1
        before = row
    assert checked == 8 * (2 * (7 * 3 * 2 + 1) - 7 * 2)


def test_gains_do_not_depend_on_a_large_omega(table):
    """e e^(2 Omega) is a constant beyond Omega = 20, and so are its parts."""
    rows = table("sweep --construction all --omega 20,1000 --n 4 --d 5 --depth 4 --arithmetic none "
                 "--digits 17 --propagation --format csv -q")
    assert len(rows) == 4 * (7 * 2 + 1)
    gains = {(row["construction"], row["layer"], row["omega"]): row["construction_gain"]
             for row in rows}
    pairs = [(gain, gains[name, layer, "1000"]) for (name, layer, omega), gain in gains.items()
             if omega == "20" and layer != "1"]
    assert len(pairs) == 7 * 3
    assert all(float(near) > 0 and float(far) == pytest.approx(float(near), rel=1e-12, abs=0)
               for near, far in pairs)
    assert {row["rounding_gain"] + row["rounding_injected_max"] for row in rows} == {""}


def test_what_is_too_small_is_a_bound(table):
    """What 64 bits do not show is a bound, and named; never 0."""
    row = table("sweep --construction transformer --omega 20 --n 4 --d 5 --depth 2 --max-bits 64 "
                "--digits 17 --propagation --format csv -q")[1]
    assert "construction_injected_max;construction_inherited_max" in row["bounds"]
    assert "rounding_injected_max" in row["bounds"]
    assert float(row["construction_inherited_max"]) > 0
