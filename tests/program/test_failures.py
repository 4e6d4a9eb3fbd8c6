"""Exit code 1 is never silent: whatever becomes of stdout, stderr has a sentence and the command
that fails again."""

import re

import pytest

from conftest import ROOT

MODADD = f"{ROOT}/cases/models/modadd53-silu.safetensors"
POINT = "--construction fused --n 3 --d 3"
FAILS = f"{POINT} --omega 5 --tolerance 1e-9"
VERIFY = f"verify {MODADD} --omega 5 --tolerance 1e-9"
NOT_WITHIN = "verdict: FAIL: at omega 5 the error is not within 1e-09: scores up"
FEW = "headproof: no omega was found; reproduce: headproof min-omega "
SHARDS = [f"{line} -q -o s{i}.csv --shard {i}/2" for i in (1, 2) for line in (
    f"sweep {POINT} --omega 5,6 --tolerance 1e-9", f"{VERIFY} --tokens 0,1/1/53")]

# What was done before, with its exit code; the command that fails, and what is said of it.
FAILURES = [
    ([], f"sweep {FAILS} --quiet", "headproof: fail at layer 1; reproduce: "),
    ([], f"depth --depth 2 {FAILS} -o t.csv", "headproof: fail at layer 1"),
    ([], f"min-omega {POINT} --tolerance 1e-30", FEW),
    ([], f"min-omega {POINT} --tolerance 1e-30 --format markdown -q", FEW),
    ([], f"guarantee {MODADD} --tolerance 1e-9 --omega 5",
     "headproof: no such bound is proven; reproduce: headproof guarantee "),
    ([], f"{VERIFY} --tokens 0/1/53", f"headproof: {NOT_WITHIN}"),
    ([], f"{VERIFY} --tokens 0/1/53 -q -o -", NOT_WITHIN),
    ([], "check my.case -q", "headproof: FAIL: 1 of 1 rows"),
    ([(0, f"check {POINT} --omega 20 --save-baseline base.csv -q")],
     "check my.case --baseline base.csv --factor 1", "headproof: FAIL: "),
    ([(0, f"check {POINT} --omega 20 --save-baseline base.csv -q")],
     "check my.case --baseline base.csv --update", "headproof: FAIL: "),
    # Shards whose run failed, put together.
    ([(1, SHARDS[0]), (1, SHARDS[2])], "merge s1.csv s2.csv -o s.csv",
     "headproof: fails; reproduce: headproof sweep"),
    ([(1, SHARDS[1]), (1, SHARDS[3])], "merge s1.csv s2.csv -o s.csv",
     "headproof: the shards' verdict is FAIL; reproduce: "),
]


@pytest.fixture
def told(expect, run, tmp_path):
    """told(line, words): it fails, says so on stderr, and what reproduces that fails, too."""
    def fails(line, words):
        ended = run(*line.split(), cwd=tmp_path)
        assert ended.code == 1 and words in ended.stderr, ended
        expect(1, re.search(r"; reproduce: \S*headproof (.*)", ended.stderr)[1])
    return fails


@pytest.mark.parametrize("before, line, words", FAILURES)
def test_failure(expect, told, tmp_path, before, line, words):
    (tmp_path / "my.case").write_text(
        "[one]\nconstruction=fused\nn=3\nd=3\nomega=5\ntolerance=1e-9\n")
    for code, done in before:
        expect(code, done)
    told(line, words)


def test_errors_outside_their_bands(expect, told, tmp_path):
    """Which laws give for them."""
    expect(0, "sweep --construction silu --n 3 --d 2,3,4,5,6,8 --omega 5 --seed 1:3 -q "
           "--arithmetic none -o g.csv")
    (tmp_path / "h.csv").write_text((tmp_path / "g.csv").read_text().replace("e-0", "e+0"))
    told("growth g.csv --norm max --check h.csv -o l.csv",
         "headproof: errors are outside the bands of their laws; reproduce: ")
