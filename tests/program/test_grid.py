"""Grids: the points of flags and case files in their order, what is left out of them, which of them
are one, and what is wrong with a case file, to its line."""

import json

import pytest
from conftest import ROOT

SWEEP = "headproof sweep --construction"
TRANSFORMER = f"{SWEEP} transformer --n"
FUSED = f"{SWEEP} fused --n 20 --d 30 --omega 1000 --seed 1"
# Flags, and the commands of their points.
POINTS = [
    # What is a default is not said, nor what does not matter.
    ("sweep", [f"{TRANSFORMER} 20 --d 30 --omega 1000 --seed 1"]),
    ("sweep --judge observed --threads=2 -o out.csv -q --precision auto --max-bits 65536 --d-ff 4D",
     [f"{TRANSFORMER} 20 --d 30 --omega 1000 --seed 1"]),
    ("sweep --construction silu --heads 3:5 --d-ff 2D,7 --weights normal --bias random",
     [f"{SWEEP} silu --n 20 --d 30 --omega 1000 --seed 1"]),
    ("sweep --construction silu --heads 2000000000",
     [f"{SWEEP} silu --n 20 --d 30 --omega 1000 --seed 1"]),
    ("depth", [f"{TRANSFORMER} 20 --d 30 --depth 96 --omega 1000 --seed 1"]),
    ("depth --depth 3", [f"{TRANSFORMER} 20 --d 30 --depth 3 --omega 1000 --seed 1"]),
    ("min-omega --tolerance 1e-6 --seed 1:3 --construction silu",
     [f"headproof min-omega --construction silu --n 20 --d 30 --seed {seed} --tolerance 1e-06"
      for seed in (1, 2, 3)]),
    # The last flag of the table of axes is the fastest, whatever the order of the line.
    ("sweep --seed 2,1 --omega 30,20 --construction linear,silu --n 4,3",
     [f"{SWEEP} {construction} --n {n} --d 30 --omega {omega} --seed {seed}"
      for construction in ("linear", "silu") for n in (4, 3) for omega in (30, 20)
      for seed in (2, 1)]),
    ("sweep --d 10,20 --d-ff 2D,40",
     [f"{TRANSFORMER} 20 --d 10 --d-ff 20 --omega 1000 --seed 1",
      f"{TRANSFORMER} 20 --d 10 --omega 1000 --seed 1",
      f"{TRANSFORMER} 20 --d 20 --d-ff 40 --omega 1000 --seed 1"]),
    # No cap is below what begins.
    ("sweep --precision auto,128,100000 --max-bits 4096",
     [f"{TRANSFORMER} 20 --d 30 --omega 1000 --seed 1 {bits}" for bits in (
         "--max-bits 4096", "--precision 128 --max-bits 4096",
         "--precision 100000 --max-bits 100000")]),
    ("sweep --tolerance 1e-9 --norm rel --judge total",
     [f"{TRANSFORMER} 20 --d 30 --omega 1000 --seed 1 --tolerance 1e-09 --norm rel"]),
    ("sweep --tolerance 1e-9 --arithmetic none --judge construction",
     [f"{TRANSFORMER} 20 --d 30 --omega 1000 --arithmetic none --seed 1 --tolerance 1e-09"]),
    ("sweep --construction fused --normalization none --eps 3", [FUSED]),
    ("sweep --construction fused --normalization rmsnorm --normalization-place pre --eps 1e-5 "
     "--normalize-bias-row yes", [f"{FUSED} --normalization rmsnorm"]),
    ("sweep --construction fused --normalization layernorm --normalization-place post --eps 0.001 "
     "--normalize-bias-row no",
     [f"{FUSED} --normalization layernorm --normalization-place post --eps 0.001 "
      "--normalize-bias-row no"]),
]


@pytest.fixture
def commands(expect):
    """What --dry-run prints for the points of a line."""
    def read(line):
        said = expect(0, f"{line} --dry-run").splitlines()
        return [each for each in said if not each.startswith("headproof: ")]
    return read


@pytest.mark.parametrize("line, expected", POINTS)
def test_points(commands, line, expected):
    assert commands(line) == expected


NORMED = "--normalization layernorm --mask causal"
# Points that differ in nothing that matters are one, and so are two spellings of one.
COUNTS = [
    ("--construction silu,attention --heads 1:3", 4),
    ("--construction fused --linear in-place,block,clear", 1),
    ("--construction linear --linear in-place,block,clear --d-ff 1D,2D", 5),
    ("--arithmetic none,f64 --kernel dense,structured", 3),
    ("--judge rounding --norm rel", 1),
    ("--d-ff 4D,120", 1),
    ("--bias-row auto,last", 1),
    ("--bias-row auto,first", 2),
    ("--mask causal --bias-row auto,first", 1),
    # The bias row's random content is scaled as the weights are.
    ("--construction silu --weights stable,normal", 1),
    ("--construction silu --weights stable,normal --bias-row-content random", 2),
    ("--construction fused --normalization-place pre,post --eps 1,2 --normalize-bias-row yes,no", 1),
    ("--construction fused --normalization layernorm,rmsnorm --normalization-place pre,post "
     "--eps 1,2 --normalize-bias-row yes,no", 16),
    # A bias row that begins as zeros and sees itself alone has a norm of zero.
    (f"--construction fused,masked {NORMED} --normalize-bias-row yes,no", 2),
    ("--construction fused --normalization layernorm --mask pseudo-causal "
     "--normalize-bias-row yes,no", 2),
    (f"--construction attention {NORMED} --bias-row-content none,random "
     "--normalize-bias-row yes,no", 3),
    ("--construction linear --linear in-place,block,clear --normalization layernorm "
     "--normalization-place post", 3),
]


@pytest.mark.parametrize("line, count", COUNTS)
def test_counts(commands, line, count):
    assert len(commands(f"sweep {line}")) == count


# A point, and its key: the columns up to `options`.
KEYS = [
    ("", "transformer,silu,none,2,3,12,2,0,1,5,f64,dense,difference,stable,1,"),
    ("--reference subtract",
     "transformer,silu,none,2,3,12,2,0,1,5,f64,dense,subtract,stable,1,"),
    ("--construction silu --arithmetic none", "silu,silu,none,2,3,,,,1,5,none,,difference,,1,"),
    ("--construction linear --linear block --bias random",
     "linear,,none,2,3,12,,,1,5,f64,dense,difference,stable,1,bias=random;linear=block"),
    ("--construction attention --mask causal --d-head 3 --precision 128 --tolerance 1",
     "attention,,causal,2,3,,2,3,1,5,f64,dense,difference,stable,1,precision=128;tolerance=1"),
    ("--construction silu --bias-row first --bias-row-content random --reference subtract "
     "--max-bits 4096 --tolerance 1 --judge rounding --norm rel",
     "silu,silu,none,2,3,,,,1,5,f64,dense,subtract,stable,1,bias-row=first;bias-row-content=random;"
     "max-bits=4096;tolerance=1;judge=rounding;norm=rel"),
]


@pytest.mark.parametrize("line, key", KEYS)
def test_key(run, line, key):
    ended = run(*f"sweep --n 2 --d 3 --omega 5 -q {line}".split())
    assert ended.code == 0 and ended.stdout.splitlines()[1].startswith(f"{key},"), ended


# ---- Case files ----------------------------------------------------------------------------------

MARK = "\ufeff"
TRAINED = ROOT / "cases/models/modadd53-silu.safetensors"
COMMENTED = f"{MARK}# a comment\n\n[first]\r\nn = 3, 4  # tokens\r\nd: 5\n; another\n[second]\n" \
    "n=6\nomega = 8\t# Omega"
FILES = [
    ("[a]\nomega = 10:30:10\n[b]\nomega = 40,20,10\n", "a.case a.case",
     [f"{TRANSFORMER} 20 --d 30 --omega {omega} --seed 1" for omega in (10, 20, 30, 40)]),
    (COMMENTED, "a.case", [f"{TRANSFORMER} 3 --d 5 --omega 1000 --seed 1",
                           f"{TRANSFORMER} 4 --d 5 --omega 1000 --seed 1",
                           f"{TRANSFORMER} 6 --d 30 --omega 8 --seed 1"]),
    (COMMENTED, "--n 7 a.case --omega 9", [f"{TRANSFORMER} 7 --d 5 --omega 9 --seed 1",
                                           f"{TRANSFORMER} 7 --d 30 --omega 9 --seed 1"]),
    # Points of two sections are one, of files too.
    (f"[a]\nweights = {TRAINED}, stable\nomega = 5,6\n[b]\nweights={TRAINED}\nomega=6:7\n",
     "a.case --d 64 --mask causal --heads 4 --n 5",
     [f"{SWEEP} transformer --mask causal --n 5 --d 64 --heads 4 {rest} --seed 1" for rest in (
         f"--d-head 16 --omega 5 --weights {TRAINED}", "--omega 5",
         f"--d-head 16 --omega 6 --weights {TRAINED}", "--omega 6",
         f"--d-head 16 --omega 7 --weights {TRAINED}")]),
    # As long as a line may be.
    (f"[a]\nomega = {'0' * 190}7\n", "a.case", [f"{TRANSFORMER} 20 --d 30 --omega 7 --seed 1"]),
]


@pytest.mark.parametrize("text, line, expected", FILES)
def test_file(commands, tmp_path, text, line, expected):
    (tmp_path / "a.case").write_text(text, newline="")
    assert commands(f"sweep {line}") == expected


SECTIONS = ":1: token '': expected at least one [section]"
# A case file, and what is said behind its name.
WRONG = [
    ("[a]\nomgea = 3\n",
     ":2: token 'omgea': expected the name of an axis (did you mean omega?)"),
    ("[a]\nomega = 3\n\nomega = 4\n", ":4: token '4': expected omega once"),
    ("# c\nomega = 3\n", ":2: token 'omega': expected a [section]"),
    ("[a]\nn = 3\n[b]\n[c]\nn = 3\n", ":3: token 'b': expected a section with at least one"),
    ("[a]\n", ":1: token 'a': expected a section with at least one"),
    ("", SECTIONS),
    ("# only a comment\n", SECTIONS),
    ("[a]\nn = 3\n[a]\nn = 4\n", ":3: token '[a]': expected every section once"),
    ("[a]\nn = 3,\n  4\n", ":2: token '': expected a value"),
    ("[a]\nn = 3\n  4\n", ":3: token '4': expected a line that begins without blanks"),
    ("[a]\nfoo\n", ":2: token 'foo': expected [section] or key = value"),
    ("[a]\nfoo", ":2: token 'foo': expected [section] or key = value"),
    ("[a]\nfoo\nn = 10:5\n", ":2: token 'foo': expected [section] or key = value"),
    ("[a] b\nn = 3\n", ":1: token '[a] b': expected [name] and nothing after it"),
    ("[a\nn = 3\n", ":1: token '[a': expected [name]"),
    ("[]\nn = 3\n", ":1: token '[]': expected a section name"),
    (f"[{'0' * 50}]\nn = 3\n", "expected a section name of 1 to 49 characters"),
    ("[a]\nn =\n", ":2: token '': expected a value"),
    ("[a]\n\n\nomega = 10:5\n", ":4: token '10:5': expected a range that ascends"),
    ("[a]\nn = 3\n[b]\nn = 1:5:0\n", ":4: token '1:5:0': expected a step"),
    ("[a]\nd = 3;x\n", ":2: token '3;x'"),
    (f"[a]\n{MARK}n = 3\n", ":2: token '\\u{feff}n'"),
    ("[a]\nn = 3\0\nd = 5\n", ":2: token 'n = 3': expected text"),
    (f"[a]\nn = 3\nomega = {'0' * 299}7\n",
     ":3: token 'omega = 00...expected a line of at most 199 characters"),
    ("[a]\noutput = x\n", ":2: token 'output': expected the name of an axis"),
    ("[a]\nreference-form = dense\n", ":2: token 'reference-form': this key is gone: leave it out"),
    ("[a]\nmask = causal\n\nbias-row = last\n", ":4: token 'last': expected auto or first"),
    ("[a]\nn = 3\nd = 2147483647\n", ":3: token '2147483647'"),
    # In a file keys have no dashes, and so what is meant has none.
    ("[a]\nnorm = none\n", "expected one of max, rms, rel (did you mean normalization?)"),
    ("[a]\ntolerence = 1\n", "expected the name of an axis (did you mean tolerance?)"),
    ("[a]\nmask = casual\n", "(did you mean causal?)"),
    ("[a]\nomega = 5\nd = 32\nweights = %s\n" % TRAINED,
     f":3: token '32': the weights file {TRAINED} has d = 64"),
]


@pytest.mark.parametrize("text, words", WRONG)
def test_wrong_file(refused, tmp_path, text, words):
    path = tmp_path / "a.case"
    path.write_text(text)
    refused(words, "sweep", path, begin=f"{path}:")


def test_wrong_file_of_a_search(refused, tmp_path):
    path = tmp_path / "a.case"
    path.write_text("[a]\ntolerance = 1\nomega = 3\n")
    refused(":3: token", "min-omega", path, begin=f"{path}:")


def test_sections_are_told(expect, tmp_path):
    (tmp_path / "a.case").write_text("[a]\nomega = 10,20\n[b]\nomega = 30\n")
    expect(0, "sweep a.case --construction silu --n 2 --d 2 -q -o t.csv")
    points = json.loads((tmp_path / "t.csv.json").read_text())["points"]
    assert [point["section"] for point in points] == ["a", "a", "b"]
