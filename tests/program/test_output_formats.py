"""What the program writes in each format of a table: the same cells, and nothing else on stdout."""

import csv
import io
import json
import re
import subprocess
from decimal import Decimal

import pytest

import models
import tables
from conftest import PROGRAM, ROOT

FORMATS = ["csv", "table", "json", "jsonl", "markdown"]
GRID = "sweep --construction silu,fused --n 3 --d 3 --depth 2 --omega 5,1000 --kernel structured -q"
MODEL = f"{ROOT}/cases/models/modadd53-silu.safetensors --omega 30 --tokens 0/1/53"
SWEEP = "sweep --construction silu,fused --n 2 --d 2 --omega 5"


@pytest.fixture
def out(run, tmp_path):
    """out(line): what `headproof LINE` writes to stdout."""
    def written(line):
        ended = run(*line.split(), cwd=tmp_path)
        assert ended.code == 0, ended
        return ended.stdout
    return written


def test_help_names_every_format(out):
    (entry,) = re.findall(r"^  --format FORMAT +((?:.*\n)+?)(?=  -|\n)", out("help sweep"), re.M)
    assert re.findall(r"\w+", entry.split(" as ")[1].replace("the default", "")) == [
        *FORMATS[:-1], "or", FORMATS[-1]]


def test_every_cell_is_the_same(out):
    """A cell of JSON says what the cell of CSV does: a number that a double holds, or its text."""
    rows, objects = list(csv.DictReader(io.StringIO(out(GRID)))), json.loads(
        out(f"{GRID} --format json"))
    assert [list(one) for one in objects] == [list(row) for row in rows]
    for row, one in zip(rows, objects):
        for name, text in row.items():
            bound = "<" * (name in row["bounds"].split(";"))
            assert one[name] == (None if not text else bound + text
                                 if isinstance(one[name], str) else float(text)), (name, text)
            assert not bound or isinstance(one[name], str)
    # At Omega 1000 it is about 1e-869.
    assert [isinstance(one["construction_max"], str) for one in objects].count(True) == 4


@pytest.mark.parametrize("line", [
    GRID, f"verify {MODEL}", f"attribute {MODEL}", f"guarantee {MODEL.split()[0]} --tolerance 1e-6",
    "cost --n 3 --construction transformer3",
    "min-omega --construction silu --n 3 --d 3 --tolerance 1e-8"])
def test_numbers_are_numbers(out, line):
    """A column of JSON holds numbers, unless its unit is one of words: bounds are text, and what no
    double holds.  The source of a term may be the bias row."""
    columns = {command["name"]: command["columns"] for command in
               json.loads(out("help --json"))["commands"]}[line.split()[0]]
    numbers = [one["name"] for one in columns if not re.search("word|path|integers", one["unit"])
               and one["name"] != "source"]
    for one in json.loads(out(f"{line} --format json")):
        texts = {name: one[name] for name in numbers if isinstance(one.get(name), str)}
        assert not any(re.fullmatch(r"-?[\d.]+(e-?\d\d?)?", text) for text in texts.values()), texts


# A line without -o, and what is said beside the table.
TO_STDOUT = [
    ("sweep --construction fused --n 3 --d 3 --omega 20", "1 point in stdout"),
    ("min-omega --construction silu --n 3 --d 3 --tolerance 1e-8", ""),
    ("cost --n 3", ""),
    (f"verify {MODEL}", "1 layer"),
    (f"attribute {MODEL}", "1 layer"),
]


@pytest.mark.parametrize("line, words", TO_STDOUT)
def test_stdout_is_the_table(run, out, tmp_path, line, words):
    """What is said of it goes to stderr then."""
    ended = run(*line.split(), "-o", "-", cwd=tmp_path)
    assert ended.code == 0 and words in ended.stderr, ended
    out(f"{line} -q -o t.csv")
    assert ended.stdout == (tmp_path / "t.csv").read_text() and ended.stdout.count("\n") > 1
    assert not (tmp_path / "-").exists()
    if "modadd" not in line:  # a model's table is written where one is asked for
        assert out(line) == ended.stdout


def test_a_file_in_a_format(expect, out, tmp_path):
    """It is no table that is read again."""
    out(f"{GRID} -o a.json --format json")
    assert (tmp_path / "a.json").read_text() == out(f"{GRID} --format json")
    assert json.loads((tmp_path / "a.json.json").read_text())["complete"] is True
    expect(2, f"{GRID} -o a.json --resume", "a.json:1: cannot be resumed")
    expect(2, "merge a.json -o b.csv", "expected the column construction here")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("grid", [GRID, GRID.replace("1000", "1e18")])
def test_merge_writes_every_format(expect, out, tmp_path, grid, form):
    for i in (1, 2):
        out(f"{grid} --shard {i}/2 -o s{i}.csv")
    whole = out(f"{grid} --format {form}")
    assert out(f"merge s2.csv s1.csv --format={form}") == whole
    expect(0, f"merge s2.csv s1.csv --format {form} -o -", whole,
           "4 points of 2 shards in stdout")
    out(f"merge s1.csv s2.csv --format {form} -o file")
    assert (tmp_path / "file").read_text() == whole


# Where stdout goes, and what is said of it.
STREAMS = [(">&-", "stdout: cannot be written: Bad file descriptor"),
           (">/dev/full", "stdout: cannot be written: No space left on device"),
           ("-o /dev/full", "/dev/full: cannot be written: No space left on device")]


@pytest.mark.parametrize("form", FORMATS)
def test_streams_fail_as_elsewhere(tmp_path, form):
    for stream, words in STREAMS:
        line = f"'{PROGRAM}' sweep {GRID[6:]} --format {form} {stream}"
        ended = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (99, f"headproof: {words}\n"), ended
    line = f"{{ '{PROGRAM}' sweep --n 2 --d 2 --omega 1:400 -q --format {form}; echo $? >code; }}"
    subprocess.run(["sh", "-c", f"{line} | true"], cwd=tmp_path, check=True)
    assert (tmp_path / "code").read_text() == "141\n"


REFUSED = [
    ("sweep --format xml", f"--format: token 'xml': expected one of {', '.join(FORMATS)}\n"),
    ("merge --format xml a.csv", "--format: token 'xml': expected one of csv"),
    ("sweep --format json --resume -o none.json", "expected csv with --resume, which reads rows"),
    ("sweep --format jsonl --shard 1/2", "expected csv with --shard: merge reads parts"),
    ("check --format json --tolerance 1", "expected a flag of check, which has no --format"),
    ("export -o -", "--output: token '-': expected a file name"),
    ("merge --format csv", "token 'merge': expected SHARD.csv..."),
    # Who reads rows again refuses columns that only some tables have.
    (f"{SWEEP} --expand -o t.csv --resume",
     "expected it without --resume, which reads rows"),
    (f"{SWEEP} --expand -o t.csv --shard 1/2", "expected it without --shard"),
]


@pytest.mark.parametrize("line, words", REFUSED)
def test_refused(expect, line, words):
    assert expect(2, line, words).count("\n") == 1


# ---- --expand: columns of their own for the axes that share `options` ----------------------------

CASE = "[a]\nconstruction = silu\nn = 2\nd = 2\nomega = 5\npenalty = positive\n" \
    "[b]\nconstruction = silu\nn = 2\nd = 2\nomega = 6\nshrink = 1\n"
# A sweep, and its columns `construction`, `options` and those behind `status`.
EXPANDED = [
    (f"{SWEEP} --penalty positive,negative --bias none",
     [["construction", "options", "bias", "penalty"],
      ["silu", "", "", "positive"],
      ["silu", "penalty=negative", "", "negative"],
      ["fused", "", "none", "positive"],
      ["fused", "penalty=negative", "none", "negative"]]),
    ("sweep a.case", [["construction", "options", "shrink", "penalty"],
                      ["silu", "", "1", "positive"],
                      ["silu", "", "1", "positive"]]),
]


@pytest.mark.parametrize("line, columns", EXPANDED)
def test_what_is_given_has_a_column(out, tmp_path, line, columns):
    """Default or not; blank where it does not matter."""
    (tmp_path / "a.case").write_text(CASE)
    lines = [text.split(",") for text in out(f"{line} --expand -q").splitlines()]
    end, options = lines[0].index("status") + 1, lines[0].index("options")
    assert [[one[0], one[options], *one[end:]] for one in lines] == columns


def test_expanded_in_another_format(out):
    rows = out(f"{SWEEP} --penalty negative --expand --format jsonl").splitlines()
    assert [json.loads(row)["penalty"] for row in rows] == ["negative"] * 2


def test_the_other_columns_stay(out):
    """Whatever the number of threads."""
    line = f"{SWEEP} --seed 1:4 -q"
    plain = out(line)
    assert out(f"{line} --expand --threads 2") == plain
    lines = [text.split(",") for text in out(f"{line} --bias none --expand").splitlines()]
    without = "".join(",".join(one[:-1]) + "\n" for one in lines)
    assert lines[0][-1] == "bias" and without == plain


def test_expanded_is_no_baseline(expect, tmp_path):
    expect(0, f"{SWEEP} --bias none --expand -o t.csv -q")
    assert tables.lines_of(tmp_path / "t.csv")[0][-1] == "bias"
    expect(1, "check --n 2 --d 2 --baseline t.csv", "bias: a column that is missing")


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("axes, seen", [
    ("--bias none,random", ["", "bias=random"]),
    ("--bias random --penalty positive,negative", ["", "penalty=negative"])])
def test_options_at_their_default_vary(out, form, axes, seen):
    """Rows of which some have no options, or none but those of every row."""
    lines = out(f"sweep --construction linear --n 1 --d 2 --omega 20 -q {axes} --format {form}")
    cells = [re.split(" [|] |  ", line.removeprefix("| "))[0].strip()
             for line in lines.splitlines()]
    assert (cells[0].split()[0], cells[-2:]) == ("options", seen)


def test_bounds_for_eyes_are_bounds(out, tmp_path):
    """A bound with three digits is not below the one with all of them: verify's lines."""
    models.write(tmp_path / "m.safetensors", models.lens(), models.NORMED)
    lines = out("verify m.safetensors --omega 1000 --reference subtract --tokens 1/2/4 "
                "--max-bits 128 -o rows.csv")
    shown = re.findall(r"^ +\d+ +\S+ +<(\S+) ", lines, re.M)
    with open(tmp_path / "rows.csv", encoding="utf-8") as file:
        exact = [Decimal(row["construction_max"]) for row in csv.DictReader(file)]
    assert len(shown) == len(exact) == 2
    assert all(e <= Decimal(s) < e * Decimal("1.01") for s, e in zip(shown, exact))


def test_seconds_stand_at_a_search_s_first_point(expect, tmp_path):
    expect(0, "min-omega --n 2 --d 2 --construction silu,fused --seed 1:2 --tolerance 1e-3 --judge "
              "construction -q -o t.csv")
    points = json.loads((tmp_path / "t.csv.json").read_text())["points"]
    assert [point["seconds"] > 0 for point in points] == [True, False, True, False]
