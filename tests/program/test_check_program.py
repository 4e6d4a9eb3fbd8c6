"""headproof check as CI runs it: exit codes, what is said, and what is left behind."""

import json
import subprocess
import time

import numpy
import pytest

import models
import safetensors_file
import tables
from conftest import PROGRAM, ROOT

# A sweep of 42 rows.
GRID = "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --n 3 --d 2 " \
    "--depth 2 --omega 2,20,1000 --bias random"
SMALL = "check --n 2 --d 2"
LONG = "check --n 2000 --d 900 --depth 96"
SILU = "check --construction silu --d 2 --omega 10"
DEEP = "check --n 2 --d 2 --depth 2"
TINY = "--construction silu --n 1 --d 1 --omega 1 --tolerance 1e-300"
PROVEN = "check --construction fused,attention --n 3 --d 4 --depth 2 --every-input"
INPUTS = f"{PROVEN} --omega 9,20 --input-norm 2"
TRAINED = f"{ROOT}/cases/models/modadd53-silu.safetensors --tolerance 1e-9"
OVER, BASE = "--tolerance 1e-9", {"b.csv", "b.csv.json"}
OBTAINED = {"b.csv.obtained", "b.csv.obtained.json"}

# What is done in a row: exit code, command and words; and the files that there are at the end.
RUNS = {
    "saved, and met": ([
        (0, f"check {GRID} --save-baseline b.csv --color always --json j",
         "saved, nothing compared: 42 rows\n"),
        (0, "report j -o -", '<span class="saved">saved, nothing compared</span>'),
        (0, f"check {GRID} --baseline b.csv", "PASS: 42 rows"),
        (0, f"check {GRID} --baseline b.csv --exact --factor 1", "PASS: 42 rows"),
    ], BASE | {"j"}),
    "saved once": ([
        (0, f"{DEEP} --save-baseline b.csv"),
        (2, "check --save-baseline b.csv", "--force"),
        (0, f"{DEEP} --baseline b.csv", "PASS: 2 rows"),  # still the old one
        (0, f"{SMALL} --save-baseline b.csv --force", "saved, nothing compared: 1 rows"),
        (0, f"{SMALL} --baseline b.csv", "PASS: 1 rows"),
        (1, f"{DEEP} --baseline b.csv", "FAIL: 3 of 3 rows"),
    ], BASE | OBTAINED),
    "saved, and judged": ([
        (0, f"{SMALL} --omega 20 {OVER} --save-baseline b.csv",
         "PASS: 1 of 1 rows within a tolerance, nothing compared\n"),
    ], BASE),
    # What could never pass is no baseline.
    "NaN is no baseline": ([
        (1, f"{SMALL} --omega 1e308 --save-baseline b.csv", "overflow"),
    ], OBTAINED),
    "what fails is no baseline": ([
        (1, f"{SMALL} --omega 1 {OVER} --save-baseline b.csv", "above the tolerance"),
    ], OBTAINED),
    "nor is it one of an update": ([
        (0, f"{SMALL} --omega 5,6 --save-baseline b.csv"),
        (0, f"{SMALL} --omega 5,6,7 --baseline b.csv --update", "updated: "),
        (0, f"{SMALL} --omega 5,6,7 --baseline b.csv", "PASS: 3 rows"),
        (1, f"{SMALL} --omega 5,6,7 {OVER} --baseline b.csv --update", "as a baseline:"),
    ], BASE | OBTAINED),
    "the old baseline stays": ([
        (0, f"{SMALL} --omega 5,6 --save-baseline b.csv"),
        (1, f"{SMALL} --omega 5,6 {OVER} --baseline b.csv --update"),
        (0, f"{SMALL} --omega 5,6 --baseline b.csv", "PASS: 2 rows"),
    ], BASE),
    # Rows of either table count once; that the case has changed is said, and what mends it; rows
    # are told apart by what varies, and a row that is alone by everything.
    "another case": ([
        (0, f"{SILU} --n 2 --save-baseline b.csv"),
        (1, f"{SILU} --n 3 --baseline b.csv",
         "note: the case has changed since the baseline was saved: 1 of its rows are new, and 1 of "
         "the baseline's are gone; if that is meant, --update saves the baseline anew\n  n=3\n"
         "    a row that the baseline does not have\n",
         "\n  n=2\n    a row that is missing\n", "FAIL: 2 of 2 rows, 2 findings"),
        (0, f"{SILU} --n 3 --baseline b.csv --update --markdown /dev/stdout",
         "1 of the baseline's are gone\n",
         "\n| n=3 |  | a row that the baseline does not have |"),
        (0, f"{SILU} --n 3 --baseline b.csv", "PASS: 1 rows"),
        (1, f"check --construction silu --n 2 --d 2 --omega 1 {OVER} --judge total",
         "  construction=silu activation=silu mask=none n=2 d=2 depth=1 omega=1 "),
    ], BASE),
    "new rows": ([
        (0, f"{DEEP} --omega 10,11 --save-baseline b.csv"),
        (1, f"{DEEP} --omega 10,11,12 --baseline b.csv",
         "2 of its rows are new, and 0 of the baseline's are gone; "),
    ], BASE | OBTAINED),
    # 256 is 0 to a shell that gets a count.
    "many fail": ([(1, f"check {TINY} --seed 1:256", "FAIL: 256 of 256 rows")], set()),
    "tolerances need no baseline": ([
        (0, f"{SMALL} --omega 20 --tolerance 1e-12", "PASS: 1 rows, 2 cells"),
        (1, f"{SMALL} --omega 20 --tolerance 1e-30", "above the tolerance"),
        (1, f"{SMALL} --omega 20 --tolerance 1e-30 --quiet", "FAIL: 1 of 1"),
    ], set()),
    # What is proven of every input is compared as what is evaluated is.
    "proven, and met": ([
        (0, f"{INPUTS} --save-baseline b.csv", "saved, nothing compared: 8 rows\n"),
        (0, f"{INPUTS} --baseline b.csv", "PASS: 8 rows, 84 cells compared\n"),
        (1, f"{INPUTS}.5 --baseline b.csv", " reproduce: headproof guarantee --construction "),
    ], BASE | OBTAINED),
    "a table of guarantee": ([
        (0, f"{INPUTS.replace('check', 'guarantee').replace(' --every-input', '')} -q -o b.csv"),
        (0, f"{INPUTS} --baseline b.csv", "PASS: 8 "),
        (2, f"{SMALL} --omega 9 --baseline b.csv", "with --every-input of guarantee"),
        (2, f"{PROVEN} --omega 9 --resume --baseline b.csv", "expected it without --every-input"),
    ], BASE),
    "proven, and judged": ([
        (0, f"{PROVEN} {OVER} --input-norm 2", "PASS: 4 rows, 8 cells compared"),
        (1, f"{PROVEN} {OVER} --omega 5 --input-norm 2",
         " --omega 5 --seed 1 --tolerance 1e-09 --input-norm 2"),
        (1, f"{PROVEN} {OVER} --input-norm 1e300", "failed by itself: none"),
    ], set()),
    # Of a model's file it is one row, for as many tokens as the model takes.
    "a model's guarantee": ([
        (0, f"guarantee {TRAINED} -q -o b.csv"),
        (0, f"check --construction transformer --every-input --weights {TRAINED} --baseline b.csv",
         "PASS: 1 rows, 15 cells compared\n"),
    ], BASE),
}


@pytest.mark.parametrize("name", RUNS)
def test_run(expect, tmp_path, name):
    steps, left = RUNS[name]
    env = {"TMPDIR": str(tmp_path)}
    for code, line, *words in steps:
        expect(code, line, *words, env=env)
    assert {path.name for path in tmp_path.iterdir()} == left


def test_report_of_what_is_saved(expect, tmp_path):
    expect(0, f"{SMALL} --save-baseline b.csv --json j")
    report = json.loads((tmp_path / "j").read_text())
    assert (report["verdict"], report["cells"]) == ("saved", 0)


def test_edited_rows_are_pairs(expect, tmp_path):
    """Of the same models with another Omega or arithmetic rows are pairs, which say both errors;
    what only one table has is new or gone all the same.  Pages name the layer, and of a point's
    layers one command."""
    expect(0, f"{DEEP} --omega 10,11 --save-baseline b.csv")
    expect(1, f"{DEEP} --omega 8 --arithmetic f32 --baseline b.csv --markdown m --json j",
           "0 of its rows are new, and 2 of the baseline's are gone, and in 2 ",
           "\n  omega=8 arithmetic=f32 layer=2\n    omega: was edited: 8, baseline 10\n"
           "    arithmetic: was edited: f32, baseline f64\n    total_max: under the edit: ",
           "\n  omega=11 arithmetic=f64 layer=2\n    a row that is missing\n",
           "FAIL: 4 of 4 rows, 8 findings")
    markdown = (tmp_path / "m").read_text()
    page = expect(0, "report j -o -")
    assert "| omega=8 arithmetic=f32 layer=2 | total\\_max | under the " in markdown
    assert "omega=8 arithmetic=f32 layer=2: <strong>total_max</strong>" in page
    assert [text.count("headproof sweep") for text in (markdown, page)] == [2, 2]


@pytest.mark.parametrize("axis, before, now", [
    ("omega", "10", "11"), ("arithmetic", "f64", "f32"), ("kernel", "dense", "structured"),
    ("reference", "difference", "subtract")])
def test_every_edit_makes_pairs(expect, axis, before, now):
    """Of each of the four that are named: a row is not new beside one that is gone."""
    line = "check --construction fused --n 2 --d 2 "
    expect(0, f"{line} --{axis} {before} --save-baseline b.csv")
    said = expect(1, f"{line} --{axis} {now} --baseline b.csv")
    assert f"{axis}: was edited: {now}, baseline {before}" in said
    assert "is missing" not in said


def test_line_ends_are_no_edit(expect, tmp_path):
    """A byte order mark and CR LF, as git and editors may write them, change no table."""
    (tmp_path / "a.case").write_text("[a]\nn = 2\nd = 2\nomega = 10\n")
    expect(0, "check a.case --save-baseline b.csv")
    table = tmp_path / "b.csv"
    for path in (tmp_path / "a.case", table, tmp_path / "b.csv.json"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    expect(0, "check a.case --baseline b.csv", "PASS: 1 rows")
    expect(0, "merge b.csv --format json", '"construction"')
    table.write_bytes(table.read_bytes().replace(b",ok", b",ok "))  # any other edit is one
    expect(2, "check a.case --baseline b.csv", "'ok '")


def test_other_weights_are_said_first(expect, tmp_path):
    """A bit of a weight that no cell shows makes the file another one."""
    weights = tmp_path / "m.safetensors"
    models.write(weights, models.lens_of(5, layers=1), models.NORMED)
    line = "check --weights m.safetensors --n 3 --omega 10"
    expect(0, f"{line} --save-baseline b.csv")
    expect(0, f"{line} --baseline b.csv")
    data = bytearray(weights.read_bytes())
    data[-4] = 1
    weights.write_bytes(data)
    expect(1, f"{line} --baseline b.csv",
           "  the tables\n    m.safetensors: is not the baseline's (digest): ")


def test_update(expect, tmp_path):
    """Says what differs from the old baseline, in the reports too, and replaces it."""
    line = f"{SMALL} --omega 5,6"
    expect(0, f"{line} --save-baseline b.csv", "saved, nothing compared: 2 rows")
    tables.alter(tmp_path / "b.csv", (1, "construction_max", "1.00000000000e-01"))
    expect(0, f"{line} --baseline b.csv --update --markdown m", ", baseline 1.00000000000e-01, ")
    assert "FAIL: 1 of 2 rows" in (tmp_path / "m").read_text()
    assert {path.name for path in tmp_path.iterdir()} == BASE | {"m"}
    expect(0, f"{line} --baseline b.csv --exact", "PASS: 2 rows")


# Cells of a baseline that are altered, the check, and what is said of them.
WITH = f"{INPUTS} --baseline b.csv"
DIGIT = "check --n 4 --d 3 --omega 1000 --digits 1 --baseline b.csv"
ALTERED = [
    # One digit is enough to see an error that grew a hundredfold, and so its logarithm.
    (DIGIT, "total_max", "1.00000000000e-18", "above its limit"),
    (DIGIT, "total_log10", "-3.00000000000e+01", "above its limit"),
    # 10^0.8084 is more than four times 10^0.205; 0.8084 is less than four times 0.205.
    ("check --n 4 --d 3 --weights normal --omega .5 --baseline b.csv",
     "total_log10", "2.05000000000e-01", "above its limit"),
    # Of what is proven words count, too.
    (WITH, "leak", "1e-3", "baseline 1e-3"),
    (WITH, "from_term", "biases", "baseline biases"),
]


@pytest.mark.parametrize("line, column, text, words", ALTERED)
def test_altered(expect, tmp_path, line, column, text, words):
    expect(0, line.replace("--digits 1 ", "").replace("--baseline", "--save-baseline"))
    expect(0, line)
    tables.alter(tmp_path / "b.csv", (1, column, text))
    expect(1, line, words)


# What the sidecar of a baseline becomes, and what is said.
SIDECARS = [
    (None, "there is no .json beside it"),
    ("", "cannot be read as JSON"),
    ("[1]", "cannot be read as JSON"),
    ('{"schema": 9}', "has schema 9, this version reads schema 6"),
    ('{"complete": true}', "has no schema, this version reads schema 6"),
    ('{"schema": 6, "complete": false}', "not one of a complete run"),
    ('{"schema": 6}', "not one of a complete run"),
    ('{"schema": 6, "complete": true}', "no digest of it"),
    ('{"schema": 6, "complete": true, "digest": "0"}', "was it edited?"),
]


@pytest.mark.parametrize("text, words", SIDECARS)
def test_sidecar(expect, tmp_path, text, words):
    """A baseline counts as it was saved, whole, with its sidecar."""
    sidecar = tmp_path / "b.csv.json"
    expect(0, f"{SMALL} --save-baseline b.csv")
    sidecar.unlink()
    if text is not None:
        sidecar.write_text(text)
    expect(2, f"{SMALL} --baseline b.csv", words, "to accept new figures: --save-baseline FILE --force")
    assert not (tmp_path / "b.csv.obtained").exists()


def test_edited_by_hand(expect, tmp_path):
    """In one digit."""
    expect(0, f"{SMALL} --save-baseline b.csv")
    table = tmp_path / "b.csv"
    header, row = table.read_text().splitlines()
    assert "2" in row[200:]
    table.write_text(f"{header}\n{row[:200]}{row[200:].replace('2', '3', 1)}\n")
    expect(2, f"{SMALL} --baseline b.csv",
           "its bytes are not those that its .json was written with")


# A point, the exit code of its sweep, what check says of its table against itself, and the status
# of rows that fail: NaN is not equal to NaN; and of a stream that shrinks below the smallest normal
# double, by half a layer from 2^-960, nothing is said from there on.
ITSELF = [
    ("--n 2 --d 2 --omega 1e308", 1, "not a number", "overflow"),
    ("--construction silu --weights x.safetensors --depth 120 --omega 30", 0, "vacuous", "vacuous"),
]


@pytest.mark.parametrize("point, code, words, status", ITSELF)
def test_against_itself(expect, tmp_path, point, code, words, status):
    safetensors_file.write(tmp_path / "x.safetensors", {"X": numpy.array([[2.0**-960]])}, {})
    expect(code, f"sweep {point} -o b.csv")
    expect(1, f"check {point} --baseline b.csv --json j", words)
    report = json.loads((tmp_path / "j").read_text())
    failed = [row["status"] for row in tables.rows_of(tmp_path / "b.csv")].count(status)
    assert failed == 1 or failed > 50
    assert (report["verdict"], report["rows_failed"]) == ("fail", failed)


# Before any work: nothing is evaluated, and no report replaces an old one (j).
REFUSED = [
    (f"{LONG} --baseline none.csv --json j",
     "expected a baseline, and there is no such file; --save-baseline FILE makes one"),
    (f"{LONG} --baseline bad.csv --json j", "bad.csv:2: token '1'"),
    (f"{SMALL} --baseline none.csv --update", "no such file"),
    (f"{SMALL} --tolerance 1 --update", "expected --baseline FILE with it"),
    (f"{SMALL} --save-baseline c.csv --update", "--baseline FILE"),
    (f"{SMALL} --omega 20", "or a tolerance for every point"),
    (f"{PROVEN} --omega 9 --tolerance 1", "--input-norm R"),
    (f"{SMALL} --omega 9 --input-norm 2 --tolerance 1", "expected --every-input with it"),
    ("check --construction silu --tolerance 1 --resume", "--resume: "),
    ("check --baseline", "expected a value"),
    ("check --baseline ''", "expected a file name"),
    ("check --baseline b --factor 0.5", "at least 1"),
    ("check --baseline b --force", "--save-baseline"),
    ("check --baseline b --save-baseline c", "expected --baseline or --save-baseline"),
    ("check --baseline b -o c", "--output"),
    ("check --tolerance 1 --json no/such", "headproof: --json: token '"),
    ("check --tolerance 1 --markdown no/such", "headproof: --markdown: token '"),
    ("check --tolerance 1 --junit-xml no/such", "headproof: --junit-xml: token '"),
    ("check --n 2 --save-baseline no/such", "headproof: --save-baseline: token '"),
    ("check --baseline .", "expected a table"),
    ("check none.case --baseline b", "none.case"),
    ("sweep --n 2 --baseline b", "--baseline"),
]


@pytest.mark.parametrize("line, words", REFUSED)
def test_refused(expect, tmp_path, line, words):
    (tmp_path / "bad.csv").write_text("construction,layer\nsilu,1")
    (tmp_path / "j").write_text("old")
    expect(2, line, words)
    assert (tmp_path / "j").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv", "j"}


def test_an_interrupted_check_goes_on(expect, tmp_path):
    """Killed while it sweeps, a check leaves its points beside the baseline; with --resume it goes
    on with them to the verdict of a check that nothing happened to, and leaves nothing."""
    line = "check --construction fused --n 8 --d 6 --depth 30 --omega 8:20 --seed 1:2 --threads 1"
    partial = tmp_path / "b.csv.obtained.partial"
    expect(0, f"{line} --save-baseline b.csv", "saved: ")
    for _ in range(2):
        before = partial.stat().st_size + 20000 if partial.exists() else 0
        with subprocess.Popen(
                [PROGRAM, *line.split(), *"--baseline b.csv --resume -q".split()],
                cwd=tmp_path) as child:
            while child.poll() is None and not (partial.exists()
                                                and partial.stat().st_size > before):
                time.sleep(.001)
            child.kill()
        assert child.returncode == -9 and partial.stat().st_size > before
    expect(0, f"{line} --baseline b.csv --resume", " of 26 points are there already")
    assert {path.name for path in tmp_path.iterdir()} == BASE
