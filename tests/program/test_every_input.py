"""The proof for every input in other commands: verify, min-omega."""

import csv
import io
import json

import pytest
from conftest import ROOT

MODADD = ROOT / "cases/models/modadd53-silu.safetensors"
SOME = f"verify {MODADD} --tokens 0/1/53"
ALONE = f"verify {ROOT}/tests/data/all-biases.safetensors --omega 30 --tolerance 1e-9"
BEGIN = "every input of up to 3 tokens: omega "
ENOUGH = " is proven to keep all logits within 1e-09 of an infinite omega's, in exact arithmetic; "


@pytest.fixture
def proven(expect):
    """The smallest Omega that the command `guarantee` finds."""
    def by(line):
        row, = csv.DictReader(io.StringIO(expect(0, f"guarantee {line} --format csv -q")))
        return float(row["omega"])
    return by


def test_verify_ends_with_what_is_proven(expect, proven):
    said = expect(1, f"{SOME} --omega 5,30 --tolerance 1e-9",  # of Omega 5, by what is evaluated
                  f"{ENOUGH}5 is too small for that; 30 is enough\nverdict: FAIL: ")
    _, end = said.split(f"\n{BEGIN}")
    assert float(end.split(" ")[0]) == proven(f"{MODADD} --tolerance 1e-9")
    assert "for every input" not in end
    expect(0, f"{SOME} --omega 30", "tokens: omega 30 is proven to keep all logits within ")
    # Of as many tokens as the model takes, whatever the inputs have.
    expect(0, f"verify {MODADD} --tokens 0/1 --omega 30", f"\n{BEGIN}30 is proven to keep")
    # Once of one model, whatever evaluates it; another if its weights are rounded.
    said = expect(0, f"{SOME} --omega 30 --tolerance 1 --arithmetic f64,f32,bf16 --penalty negative",
                  "\nevery input of up to 3 tokens, weights in bf16: omega ")
    assert said.count(BEGIN) == 1


@pytest.mark.parametrize("line", [
    f"{SOME} --omega 30 --tolerance 1e-9 --quiet",
    f"{SOME} --omega 30 --tolerance 1 --dropout 0.1 --penalty positive",
    f"verify {MODADD} --tokens 0:52:26/1/53 --omega 30 --tolerance 1e-9 --shard 1/2",
    ALONE])
def test_what_is_not_proven_is_not_said(run, line):
    ended = run(*line.split())
    assert ended.code <= 1 and "every input" not in ended.stdout, ended


def test_a_length_of_rows_is_missing(expect):
    expect(0, f"{ALONE} --input-norm 4", "tokens, rows of X no longer than 4: omega ")


def test_it_is_part_of_the_verdict(expect, reports):
    """Reports hold a case of it, with its bound, and what repeats it fails as well."""
    junit, markdown, report, _ = reports(
        1, f"{SOME} --omega 14 --tolerance 1e-9 --every-input",
        "; not proven for every input: try omega 16.")
    assert (report["verdict"], report["rows_failed"]) == ("fail", 1)
    assert "every-input" in [case["judged"] for case in report["cases"]]
    assert "| every-input | max | 8." in markdown
    assert '<failure message="error: above its tolerance; obtained at most 8.' in junit
    finding, = report["findings"]
    program, line = finding["reproduce"].split(" ", 1)
    assert program == "headproof" and " --every-input" in line
    expect(1, line)
    expect(0, f"{SOME} --omega 14 --tolerance 1e-9")  # of those evaluated it passes


# What is asked, the exit code, and what is said.
VERDICTS = [
    ("20 --tolerance 1e-9 --quiet", 0, "; proven for every input"),
    ("16.22165 --tolerance 1e-9", 0, "; 16.22165 is enough"),  # printed as 16.2217
    ("1e-3 --tolerance 1e300 --quiet", 0, ""),
    ("300 --tolerance 1e-300 --judge construction --quiet", 1,
     "; not proven for every input: try omega 35"),
]


@pytest.mark.parametrize("flags, code, words", VERDICTS)
def test_verdict(expect, flags, code, words):
    expect(code, f"{SOME} --every-input --omega {flags}", words)


def test_each_omega_has_its_own(expect, tmp_path):
    expect(1, f"{SOME} --omega 14,20 --tolerance 1e-9 --every-input -q -o v.csv",
           "; not proven for every input: try omega 16.2217")
    points = json.loads((tmp_path / "v.csv.json").read_text())["points"]
    assert [point["passed"] for point in points] == [False, True]


# ---- min-omega -----------------------------------------------------------------------------------

DRAWN = "--construction fused --n 3 --d 4 --d-ff 5 --bias random --input-norm 9"
TINY = "min-omega --construction silu --n 2 --d 2 --tolerance 1e-3 --judge construction " \
    "--every-input --input-norm 4 --color never -q"


def test_searches_have_what_is_proven_beside_them(expect, shown, proven):
    """Of several seeds the largest; the command `guarantee` knows of one."""
    def search(line):
        return list(csv.DictReader(io.StringIO(expect(0, f"min-omega {line} -q"))))
    largest = max(proven(f"{DRAWN} --seed {seed} --tolerance 1e-9") for seed in (1, 2, 3))
    rows = search(f"{DRAWN} --seed 1:3 --tolerance 1e-6,1e-9,1e-300 --judge construction "
                  "--every-input")
    assert len(rows) == 3 and float(rows[1]["omega_proven"]) == largest
    assert all(float(row["omega_proven"]) > float(row["omega_min"]) for row in rows)
    # --input-norm by itself would change nothing.
    expect(2, f"min-omega {DRAWN} --tolerance 1e-9", "--input-norm: expected --every-input with it")
    assert search(f"{DRAWN.partition(' --input-norm')[0]} --tolerance 1e-9")[0]["omega_proven"] == ""
    row, = search("--construction attention --n 3 --d 3 --d-head 2 --input-norm 1e300 --tolerance "
                  "1e-9 --every-input")
    assert row["omega_proven"] == "none"
    assert " For every input " in " ".join(line.strip() for line in ["", *shown(TINY)])
