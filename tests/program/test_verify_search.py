"""Omegas that `verify` and `min-omega` print, asked again: every one of them is evaluated as it is
printed, by the program's own rows at that Omega.  And verify's reasons."""

import csv
import io
import math
import re

import pytest
from conftest import ROOT

MODADD = ROOT / "cases/models/modadd53-silu.safetensors"
SOME = f"verify {MODADD} --tokens 0/0,26/53"
CONFUSED = f"verify {MODADD} --tokens 45/0/53"  # by a small Omega


@pytest.fixture
def table(run, tmp_path):
    """The rows that a command prints, with its exit code if that is of interest."""
    def read(line, code=None):
        ended = run(*f"{line} -q --format csv".split(), cwd=tmp_path)
        assert code in (None, ended.code), ended
        return list(csv.DictReader(io.StringIO(ended.stdout)))
    return read


def printed(said, line, *words):
    """Of the line of what is said with these words, the Omegas behind others, in their order."""
    text, = [each for each in said.splitlines() if line in each]
    found = re.search(".*?".join(re.escape(word) + r"([^ ,;)]+)" for word in words), text)
    return found.groups()


def test_both_ends_keep_the_predictions(expect, table):
    """At 1e17 predictions change, at 20 none.  The printed interval agrees with the program's own
    rows at both of its ends, and just outside of it; one that is not said is as low as any."""
    said = expect(0, f"{SOME} --omega 20,1e17 --penalty positive")
    high, above = printed(said, "keeps every prediction", "omega up to ",
                          " evaluated in this range (")
    assert 1e15 < float(high) < 1e17 and 1 < float(above) / float(high) < 1.0011
    rows = table(f"{SOME} --penalty positive --omega 1e-307,{high},{above}")
    assert [row["predictions_changed"] != "0" for row in rows] == [False, False, True]


def test_the_lower_end_has_two_sides(expect, table):
    said = expect(0, f"{CONFUSED} --omega 20")
    low, below = printed(said, "keeps every prediction", "omega from ", " evaluated in this range (")
    assert 0.9989 < float(below) / float(low) < 1
    rows = table(f"{CONFUSED} --omega {below},{low}", 0)
    assert [row["predictions_changed"] != "0" for row in rows] == [True, False]


def test_printed_ends_meet_the_tolerance(expect, table):
    said = expect(0, f"{SOME} --omega 20 --tolerance 1e-9 --penalty positive")
    low, high, below, above = printed(said, "meets the tolerance 1e-09", "omega from ", " to ",
                                      " evaluated in this range (", "and ")
    rows = table(f"{SOME} --penalty positive --tolerance 1e-9 --omega {below},{low},{high},{above}")
    assert [row["status"] for row in rows] == ["fail", "ok", "ok", "fail"]


def test_the_margin_is_the_smallest(table):
    """Of several inputs the least of their own."""
    one, other, both = (float(table(f"verify {MODADD} --tokens {tokens} --omega 20")[0][
        "logit_margin"]) for tokens in ("0/0/53", "0/26/53", "0/0,26/53"))
    assert one != other and both == min(one, other) and math.isfinite(both)


# What limits a verdict, and what to try.
REASONS = [
    ("8 --tolerance 1e-9", ": the construction leaves ...; try an omega from 11."),
    ("2 --tolerance 1e-9", ": scores up to ... are above omega, and "),
    ("1e12 --tolerance 1e-9 --penalty positive",
     ": the machine's rounding leaves ...; try an omega from 11."),
    ("20 --tolerance 1e-15", ": the machine loses ... in the original itself; try a larger "
     "tolerance; agrees with its witness, "),
    ("1e308 --tolerance 1e-9 --penalty positive",
     ": the machine's numbers overflow; try an omega from "),
    ("20", ": the machine's rounding leaves ...; try a --tolerance; agrees with its witness, "),
]


@pytest.mark.parametrize("flags, words", REASONS)
def test_verdicts_end_with_their_reason(run, flags, words):
    said = run(*f"verify {MODADD} --tokens 0/26/53 --omega {flags}".split()).stdout
    verdict = said[said.index("verdict: "):]
    assert re.search(".*".join(map(re.escape, words.split("..."))), verdict), said


def test_an_imitation_is_named(expect, tmp_path):
    """No Omega reaches 1e-9 where a GELU is imitated; of a file that leaves the activation to a flag
    it is the flag's."""
    path = tmp_path / "gelu.safetensors"
    expect(0, f"export --construction transformer --activation gelu --n 3 --d 4 --omega 20 -o {path}")
    expect(1, f"verify {path} --omega 2,20 --tolerance 1e-9", "the imitation of gelu leaves ",
           "; try --gelu with more heads, up to 8, or a larger tolerance; nothing", "none of ")
    path.write_bytes(path.read_bytes().replace(b'activation":', b'model_name":'))
    expect(1, f"verify {path} --activation gelu_new --gelu 8 --omega 20 --tolerance 1e-9",
           "the imitation of gelu_new leaves ", "; try a larger tolerance; nothing in the file")


@pytest.mark.parametrize("case, lower", [
    ("--n 2 --d 1 --tolerance 10", True), ("--n 8 --d 6 --tolerance 3", False)])
def test_a_search_ends(table, case, lower):
    """Every Omega meets a tolerance of 10, and some cases' one of 3: it says how far it looked."""
    rows = table("min-omega --construction silu,linear,fused,attention --arithmetic none " + case, 0)
    assert len(rows) == 4
    for row in rows:
        ends = {"omega_above": "", "omega_max": "1.7976931e+308", "unfinished": "", "status": "ok"}
        ends |= {"omega_below": "", "omega_min": "2.2250739e-308"} if lower else {}
        assert {name: row[name] for name in ends} == ends and int(row["evaluations"]) <= 200


def test_a_known_failure_is_not_in_the_interval(table):
    """128.886579961 fails for this tolerance, as do half of the Omegas from 128.47 to 129: whatever
    the interval is, none of them is in it, and so many in it were evaluated."""
    point = "--construction transformer --n 4 --d 3 --seed 338 --kernel structured --tolerance " \
        "3.13616e-15"
    found, = table(f"min-omega {point}", 0)
    assert int(found["evaluations_inside"]) >= 96
    rows = table(f"sweep {point} --omega 128.5:129:0.01", 1)
    assert len(rows) == 51
    for row in rows:
        within = float(found["omega_min"]) <= float(row["omega"]) <= float(found["omega_max"])
        assert not within or float(row["total_max"]) <= 3.13616e-15
