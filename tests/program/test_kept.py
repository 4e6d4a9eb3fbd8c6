"""A table of verify survives what a sweep's does: cut short anywhere, out of disk, it goes on with
--resume; the file, what is printed and the exit code are those of a run that nothing happened to."""

import os
import re
import resource
import shlex
import signal
import subprocess
import time

import models
import pytest
import tables

from conftest import PROGRAM

SMALL = "verify small.safetensors --tokens 0:4:2/1:7:3/5"
SHORT = SMALL.replace("small", "short")

# What is verified, and how it ends.
RUNS = [
    (f"{SMALL} --omega 5,20 --tolerance 1e-6 --positions all -q", 1),
    (f"{SMALL} --omega 40 --arithmetic f32,bf16 --norm rms -q", 0),
    (f"{SMALL} --omega 20 --shard 2/3", 0),
    (f"{SMALL} --judge kl --tolerance 1e-9 --positions 0,2 --omega 30 --json j --markdown m", 0),
    # An Omega that is proven, and one that is chosen by the inputs.
    (f"{SHORT} -q", 0),
    (f"{SHORT} --judge rounding --tolerance 1e-9 -q", 0),
    ("verify gelu.safetensors --tokens-file ids.txt --window 3 --stride 2 --omega 3,40 --gelu 1 -q",
     0),
    ("verify gelu.safetensors --tokens 1/5,7,2/4 --omega 8 --tolerance 1e-3 --gelu 2 --certify -q",
     1),
]


def write_inputs(folder):
    """Models of eight tokens, of two layers or one, one with an imitated activation, and tokens."""
    kinds = {"small": (2, "silu"), "short": (1, "silu"), "gelu": (2, "gelu_new")}
    for name, (layers, activation) in kinds.items():
        models.write(folder / f"{name}.safetensors", models.lens_of(8, layers),
                     models.NORMED | {"activation": activation})
    (folder / "ids.txt").write_text("1 5 2 0 3 6 7\n2 2 2 2\n")


@pytest.fixture(autouse=True)
def small(tmp_path):
    write_inputs(tmp_path)


@pytest.fixture
def whole(run, tmp_path):
    """whole(line, name, **options): how it ends, run with -o NAME, and what NAME has then."""
    def runs(line, name="x.csv", **options):
        ended = run(*shlex.split(line), "-o", name, cwd=tmp_path, **options)
        file = tmp_path / name
        return ended, file.read_text() if file.exists() else None
    return runs


def kept(ended):
    """How many inputs a run that failed says that it left."""
    said = re.search(r"headproof: (\d+) inputs? (is|are) kept; go on with: ", ended.stderr)
    assert said is None or (said[1] == "1") == (said[2] == "is")
    return int(said[1]) if said else 0


def journal(run, folder, line, inputs):
    """The journal of a run whose disk was full behind so many inputs."""
    most = 5000
    while True:
        ended = run(*shlex.split(line), "-o", "x.csv", cwd=folder,
                    limits={resource.RLIMIT_FSIZE: most})
        assert (ended.code, "File too large" in ended.stderr) == (99, True), ended
        if kept(ended) >= inputs:
            return (folder / "x.csv.partial").read_bytes()
        most = most * 5 // 4


@pytest.mark.parametrize("line, code", RUNS)
def test_resumed_from_any_prefix(run, whole, tmp_path, line, code):
    """Of at least two inputs that are kept; where the disk is full again, it says so as before."""
    ended, table = whole(line, "w.csv")
    assert ended.code == code, ended
    left = journal(run, tmp_path, line, inputs=2)
    first = left.index(b"\n") + 1
    beside = {*os.listdir(tmp_path), "x.csv", "x.csv.json"} - {"x.csv.partial"}
    for share in (0, 0.3, 0.75, 1) if line is RUNS[0][0] else (0.75, 1):
        (tmp_path / "x.csv").unlink(missing_ok=True)
        length = first + int(share * (len(left) - first))
        (tmp_path / "x.csv.partial").write_bytes(left[:length])
        if share == 0.75:
            full, _ = whole(f"{line} --resume", limits={resource.RLIMIT_FSIZE: length + 100})
            assert full.code == 99 and kept(full) > 0, full
            assert full.stderr.count("--resume") == 1, full
            (tmp_path / "x.csv.partial").write_bytes(left[:length])
        again, resumed = whole(f"{line} --resume")
        assert (again.code, again.stdout, resumed) == (code, ended.stdout, table), share
        assert set(os.listdir(tmp_path)) == beside


def seal(left, point):
    """A journal, and behind its first line one point: its digest is right."""
    first = left[:left.index(b"\n") + 1]
    return first + tables.digest_of(first + point).encode() + point


def points(left):
    """What stands behind the digests of a journal's points: " INDEX LENGTH SECONDS", and rows."""
    at = left.index(b"\n") + 1
    while at < len(left):
        line = left[at:left.index(b"\n", at) + 1]
        end = at + len(line) + int(line.split()[2])
        yield left[at + 16:end]
        at = end


def longer(point):
    """With a line more behind it, and a length that says so."""
    line, rows = point.split(b"\n", 1)
    index, _, seconds = line.split()
    return b" %s %d %s\n%s7\n" % (index, len(rows) + 2, seconds, rows)


KEPT = f"{SMALL} --omega 20 --threads 1 -q"


@pytest.fixture(scope="module")
def left(run, tmp_path_factory):
    """What KEPT left behind three inputs."""
    folder = tmp_path_factory.mktemp("left")
    write_inputs(folder)
    return journal(run, folder, KEPT, inputs=3)


# What becomes of a journal's first point, or of its bytes; what is run; what is said.
DAMAGES = [
    (lambda left, one: left.replace(b" 0x1.", b" 0x1,", 1), KEPT,
     "x.csv.partial:2: cannot be resumed: the point's rows, or what is before them, were changed"),
    (lambda left, one: seal(left, re.sub(rb"^ \d+", b" 99", one)), KEPT,
     "x.csv.partial:2: cannot be resumed: the row is not the one expected there"),
    (lambda left, one: seal(left, re.sub(rb" 0x1\.", b" 0y1.", one)), KEPT, "is not the one"),
    (lambda left, one: seal(left, one.replace(b"\n 0x1p+0\n", b"\n 0x7p+0\n")), KEPT,
     "is not the one"),
    (lambda left, one: seal(left, longer(one)), KEPT, "is not the one"),
    (lambda left, one: left + left[left.index(b"\n") + 1:], KEPT, "is not the one"),
    (lambda left, one: left, f"{SMALL} --omega 21 -q", "other points"),
    (lambda left, one: left, KEPT.replace("0:4:2", "0:4:4"), "other points"),
    (lambda left, one: left, f"{KEPT} --positions 1", "other points"),
    (lambda left, one: left, f"{KEPT} --shard 1/2", "shard 1/1, this is 1/2"),
    (lambda left, one: left[:11] + b"?" + left[12:], KEPT, "its first line does not say what run it is of"),
]


@pytest.mark.parametrize("damage, line, words", DAMAGES, ids=range(len(DAMAGES)))
def test_what_is_not_its_own_is_refused(whole, left, tmp_path, damage, line, words):
    damaged = damage(left, next(points(left)))
    assert damaged != left or line != KEPT
    (tmp_path / "x.csv.partial").write_bytes(damaged)
    ended, table = whole(f"{line} --resume")
    assert (ended.code, ended.stdout, table) == (2, "", None), ended
    assert words in ended.stderr and ended.stderr.count("\n") <= 2, ended
    assert (tmp_path / "x.csv.partial").read_bytes() == damaged


def test_what_is_there_is_taken(whole, left, tmp_path):
    """It is not evaluated again: an error that was changed, with its digest, is the worst."""
    _, table = whole(KEPT, "w.csv")
    one = next(points(left))
    rows = re.sub(rb"(p\+\d -\d+ 0x)\w", rb"\1f", one)
    assert rows != one and len(rows) == len(one)
    (tmp_path / "x.csv.partial").write_bytes(seal(left, rows))
    ended, resumed = whole(f"{KEPT.removesuffix(' -q')} --resume")
    assert ended.code == 0 and "headproof: 1 input is there already" in ended.stderr, ended
    assert resumed is not None and resumed != table


@pytest.mark.parametrize("tolerance, code, verdict", [("--tolerance 1e-3", 0, "PASS"), (
    "--tolerance 1e-30", 1, "FAIL"), ("", 0, "evaluated, nothing judged: no tolerance")])
def test_complete_is_said(expect, tmp_path, tolerance, code, verdict):
    line = f"{SMALL} --omega 20 {tolerance} -o x.csv"
    expect(code, f"{line} -q")
    table = (tmp_path / "x.csv").read_text()
    said = expect(code, f"{line} --resume")
    assert said == f"verdict: {verdict}\nheadproof: x.csv is complete\n"
    expect(2, f"{line} --resume --json j", "--resume: token 'x.csv': expected no reports")
    expect(2, f"{line} --resume --seed 2", "it is complete, of other points")
    assert (tmp_path / "x.csv").read_text() == table
    sidecar = tmp_path / "x.csv.json"
    sidecar.write_text(sidecar.read_text().replace('"passed": true', '"passed": false'))
    expect(1, f"{line} --resume -q", "verdict: FAIL")
    sidecar.write_text(sidecar.read_text().replace('"passed": false', '"passed": true'))
    expect(code, f"{line} --resume -q")


@pytest.mark.parametrize("flags", ["", "-o -", "-o /dev/null"])
def test_nothing_to_resume_is_refused(refused, tmp_path, flags):
    refused("--resume: token...expected rows in a regular file, -o FILE.csv",
            *shlex.split(f"{KEPT} --resume {flags}"), cwd=tmp_path)


def test_without_resume_it_begins_anew(whole, left, tmp_path):
    _, table = whole(KEPT, "w.csv")
    (tmp_path / "x.csv.partial").write_bytes(left)
    ended, anew = whole(KEPT)
    assert (ended.code, anew) == (0, table)
    assert "rows of an interrupted run are dropped (--resume would have kept them)" in ended.stderr


def test_what_was_left_goes_with_its_partial(tmp_path):
    """A run that drops what one before it left, and is stopped before its first point, leaves
    nothing that the next one takes for another program's."""
    before = os.listdir(tmp_path)
    (tmp_path / "x.csv.partial").write_text('{"schema":')
    for name in ("x.csv.new", "x.csv.json.new"):
        (tmp_path / name).write_text("half a table")
    line = "sweep --construction fused --n 200 --d 300 --arithmetic none --omega 900 -o x.csv -q"
    with subprocess.Popen([PROGRAM, *line.split()], cwd=tmp_path) as started:
        while (tmp_path / "x.csv.partial").stat().st_size < 100:
            time.sleep(0.01)
        started.send_signal(signal.SIGINT)
    assert (started.returncode, os.listdir(tmp_path)) == (-signal.SIGINT, before)
