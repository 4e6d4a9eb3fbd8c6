"""A table of sweep or verify survives anything: cut short anywhere, out of disk, told to stop, it
goes on with --resume; the file, what is printed and the exit code are those of a run that nothing
happened to.  Nothing that is not its own is gone on with, and nothing of it is lost."""

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
from injected import Injected, empty

# Twelve points of three layers; and 92 of six.
POINTS = "--construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:3"
SWEEP = f"sweep {POINTS} --threads 1 -q"
MANY = "sweep --construction silu,fused --n 8 --d 6 --depth 6 --omega 8:30 -q"
INPUTS = "verify small.safetensors --tokens 0:4:2/1:7:3/5"
VERIFY = f"{INPUTS} --omega 20 --threads 1 -q"
SHORT = INPUTS.replace("small", "short")

# What is run, and how it ends.
RUNS = [
    (f"{INPUTS} --omega 5,20 --tolerance 1e-6 --positions all -q", 1),
    (f"sweep {POINTS} --tolerance 1e-7 -q", 1),
    (f"sweep {POINTS}", 0),
    (f"{SWEEP} --propagation", 0),
    (f"{INPUTS} --omega 40 --arithmetic f32,bf16 --norm rms -q", 0),
    (f"{INPUTS} --omega 20 --shard 2/3", 0),
    (f"{INPUTS} --judge kl --tolerance 1e-9 --positions 0,2 --omega 30 --json j --markdown m", 0),
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
        return ended, file.read_text() if file.is_file() else None
    return runs


@pytest.mark.parametrize("line, code", RUNS)
def test_resumed_from_any_prefix(whole, tmp_path, line, code):
    """Of at least two that are kept; where the disk is full again, it says so as before."""
    ended, table = whole(line, "w.csv")
    assert ended.code == code, ended
    left = tables.journal(tmp_path, f"{line} -o x.csv", 2)
    first = left.index(b"\n") + 1
    beside = {*os.listdir(tmp_path), "x.csv", "x.csv.json"} - {"x.csv.partial"}
    for share in (0, 0.15, 0.3, 0.75, 0.9, 1) if (line, code) in RUNS[:2] else (0.75, 1):
        (tmp_path / "x.csv").unlink(missing_ok=True)
        length = first + int(share * (len(left) - first))
        (tmp_path / "x.csv.partial").write_bytes(left[:length])
        if share == 0.75:
            full, _ = whole(f"{line} --resume", limits={resource.RLIMIT_FSIZE: length + 100})
            assert full.code == 99 and tables.kept(full.stderr) > 0, full
            assert full.stderr.count("--resume") == 1, full
            (tmp_path / "x.csv.partial").write_bytes(left[:length])
        again, resumed = whole(f"{line} --resume")
        said = ended.stdout.replace("w.csv", "x.csv")
        assert (again.code, again.stdout, resumed) == (code, said, table), share
        assert not line.endswith("1e-7 -q") or again.stderr == ended.stderr  # what fails, once more
        assert set(os.listdir(tmp_path)) == beside


def points(left):
    """What stands behind the digests of a journal's points: " INDEX LENGTH SECONDS", and rows."""
    at, found = left.index(b"\n") + 1, []
    while at < len(left):
        line = left[at:left.index(b"\n", at) + 1]
        end = at + len(line) + int(line.split()[2])
        found.append(left[at + 16:end])
        at = end
    return found


def seal(left, *sealed):
    """A journal, and behind its first line these points: their digests are right."""
    first = left[:left.index(b"\n") + 1]
    return first + b"".join(tables.digest_of(first + point).encode() + point for point in sealed)


def first_point(change):
    """The first point alone, changed, and as if it had been written so."""
    return lambda left: seal(left, change(points(left)[0]))


def longer(point):
    """With a line more behind it, and a length that says so."""
    line, rows = point.split(b"\n", 1)
    index, _, seconds = line.split()
    return b" %s %d %s\n%s7\n" % (index, len(rows) + 2, seconds, rows)


def says(key, text):
    """The first line says something else for a key."""
    return lambda left: re.sub(rb'"%s":"[^"]*"' % key.encode(), f'"{key}":"{text}"'.encode(), left,
                               count=1)


def hours(left):
    """Every point took half a minute."""
    return seal(left, *(re.sub(rb"\S+\n", b"30.000\n", one, count=1) for one in points(left)))


def digit(left):
    """A digit of the second point is another."""
    at = left.index(points(left)[1])
    at = re.compile(rb".e-|0(?=x[01][.p])").search(left, at).start()
    return left[:at] + (b"6" if left[at:at + 1] == b"5" else b"5") + left[at + 1:]


AS_IT_IS = lambda left: left
CHANGED = ": cannot be resumed: the point's rows, or what is before them, were changed"
NOT_OURS, FOLDER = "(this run has not written it)", "expected nothing there (it is a directory)"
LIBRARIES = ("version commit cpu openblas_core mpfr_runtime gmp_runtime openblas_config").split()

# Whose journal it is, and what becomes of it; what is run then; what is said.
REFUSED = [(of, damage, line, words) for of, rows in {SWEEP: [
    (digit, f"{SWEEP} --resume", f"x.csv.partial:6{CHANGED}"),
    (digit, SWEEP, "3 rows of an interrupted run, nobody knows how much work: rm x.csv.partial"),
    (hours, SWEEP, "--resume goes on with them, rm "),
    (first_point(lambda one: one.replace(b"\nsilu", b"\nsolu")), f"{SWEEP} --resume",
     ".partial:2: cannot be resumed: the row is not the one expected there"),
    (AS_IT_IS, f"{SWEEP.replace('5,20', '5,21')} --resume", "other points"),
    (AS_IT_IS, f"{SWEEP.replace('5,20', '5')} --resume", "12 points"),
    (AS_IT_IS, f"{SWEEP} --propagation --resume", "other points"),
    (AS_IT_IS, f"{SWEEP} --shard 1/2 --resume", "shard 1/1, this is 1/2"),
    (AS_IT_IS, "cost", "expected no rows of an interrupted sweep"),
    (says("date", "2001-01-01T00:00:00Z"), f"{SWEEP} --resume", f":2{CHANGED}"),
    *((says(key, "of yore"), f"{SWEEP} --resume", f"{key} of yore, this is ") for key in LIBRARIES),
], f"{SWEEP} --propagation": [
    (AS_IT_IS, f"{SWEEP} --resume", "other points"),
], VERIFY: [
    (digit, f"{VERIFY} --resume", f"x.csv.partial:7{CHANGED}"),
    (first_point(lambda one: re.sub(rb"^ \d+", b" 99", one)), f"{VERIFY} --resume",
     "x.csv.partial:2: cannot be resumed: the row is not the one expected there"),
    (first_point(lambda one: re.sub(rb",(\d\.\d+)e-", rb",\1f-", one)), f"{VERIFY} --resume",
     "is not the one"),
    (first_point(lambda one: one.replace(b",1,,\n", b",7,,\n")), f"{VERIFY} --resume",
     "is not the one"),
    (first_point(longer), f"{VERIFY} --resume", "is not the one"),
    (lambda left: left + left[left.index(b"\n") + 1:], f"{VERIFY} --resume", "is not the one"),
    (AS_IT_IS, f"{INPUTS} --omega 21 -q --resume", "other points"),
    (AS_IT_IS, f"{VERIFY.replace('0:4:2', '0:4:4')} --resume", "other points"),
    (AS_IT_IS, f"{VERIFY} --positions 1 --resume", "other points"),
    (AS_IT_IS, f"{VERIFY} --shard 1/2 --resume", "shard 1/1, this is 1/2"),
    (lambda left: left[:11] + b"?" + left[12:], f"{VERIFY} --resume",
     "its first line does not say what run it is of"),
]}.items() for damage, line, words in rows]
# Beside the journal, too, lies something: a text, or a folder.
BESIDE = [(line, name, text, words) for line in (SWEEP, f"{SWEEP} --resume")
          for name, text, words in (
              ("x.csv.json", "notes\n", NOT_OURS), ("x.csv.json", None, FOLDER),
              ("x.csv.json.new", None, FOLDER))]


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """left(line): what it left behind three points or inputs."""
    known = {}

    def of(line):
        if line not in known:
            folder = tmp_path_factory.mktemp("left")
            write_inputs(folder)
            known[line] = tables.journal(folder, f"{line} -o x.csv", 3)
        return known[line]
    return of


@pytest.mark.parametrize("of, damage, line, words", REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_its_own_is_refused(whole, left, tmp_path, of, damage, line, words):
    damaged = damage(left(of))
    assert (damaged != left(of)) == (damage is not AS_IT_IS)
    (tmp_path / "x.csv.partial").write_bytes(damaged)
    ended, table = whole(line)
    assert (ended.code, ended.stdout, table) == (2, "", None), ended
    assert words in ended.stderr and ended.stderr.count("\n") <= 2, ended
    assert (tmp_path / "x.csv.partial").read_bytes() == damaged


@pytest.mark.parametrize("line, name, text, words", BESIDE)
def test_rows_outlive_a_refusal(whole, left, tmp_path, line, name, text, words):
    (tmp_path / "x.csv.partial").write_bytes(left(SWEEP))
    if text is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text(text)
    ended, table = whole(line)
    assert (ended.code, ended.stderr.count("\n"), table) == (2, 1, None) and words in ended.stderr
    assert (tmp_path / "x.csv.partial").read_bytes() == left(SWEEP)


@pytest.mark.parametrize("change, lost", [
    (lambda left, all_of_them: seal(left, *all_of_them[:1], *all_of_them[2:]), 1),
    (lambda left, all_of_them: seal(left, *all_of_them[:-1]) + b"x" * 2000, 1),
    (lambda left, all_of_them: left.rstrip(b"k\n") + b"0\n", 1)])
def test_what_is_left_out_is_evaluated(whole, left, tmp_path, change, lost):
    """And bytes that are no point, and a last point that is not as it was written."""
    journal = left(SWEEP)
    _, table = whole(SWEEP, "w.csv")
    (tmp_path / "x.csv.partial").write_bytes(change(journal, points(journal)))
    ended, resumed = whole(f"{SWEEP.removesuffix(' -q')} --resume")
    assert (ended.code, resumed) == (0, table)
    assert f"{len(points(journal)) - lost} of 12 points are there already" in ended.stderr


def test_what_is_there_is_taken(whole, left, tmp_path):
    """It is not evaluated again: an error that was changed, with its digest, is the worst."""
    _, table = whole(VERIFY, "w.csv")
    one = points(left(VERIFY))[0]
    rows = re.sub(rb"(,1,1,,,,0,)\d", rb"\g<1>9", one)
    assert rows != one and len(rows) == len(one)
    (tmp_path / "x.csv.partial").write_bytes(seal(left(VERIFY), rows))
    ended, resumed = whole(f"{VERIFY.removesuffix(' -q')} --resume")
    assert ended.code == 0 and "headproof: 1 input is there already" in ended.stderr, ended
    assert resumed is not None and resumed != table


@pytest.mark.parametrize("line, code, verdict", [
    (f"{INPUTS} --omega 20 --tolerance 1e-3", 0, "verdict: PASS\n"),
    (f"{INPUTS} --omega 20 --tolerance 1e-30", 1, "verdict: FAIL\n"),
    (f"{INPUTS} --omega 20", 0, "verdict: evaluated, nothing judged: no tolerance\n"),
    (f"sweep {POINTS} --tolerance 1e-7", 1, None), (f"sweep {POINTS}", 0, None)])
def test_complete_is_said(expect, run, tmp_path, line, code, verdict):
    first = run(*line.split(), *"-o x.csv".split(), cwd=tmp_path)
    line += " -o x.csv"
    whole = (tmp_path / "x.csv").read_text()
    again = run(*line.split(), "--resume", cwd=tmp_path)
    assert again.code == first.code == code and again.stderr.endswith("x.csv is complete\n")
    assert again.stdout == (first.stdout if verdict is None else verdict), again
    (tmp_path / "x.csv.partial").write_text('{"schema":')  # a run that was killed as it began
    expect(code, f"{line} --resume", "x.csv is complete\n")
    assert not (tmp_path / "x.csv.partial").exists()
    expect(2, f"{line} --resume --shrink 0.5", "it is complete, of other points")
    sidecar = tmp_path / "x.csv.json"
    said = sidecar.read_text()
    for key in LIBRARIES:
        sidecar.write_text(re.sub(f'"{key}": "[^"]*"', f'"{key}": "of yore"', said))
        expect(2, f"{line} --resume", f"it is complete, of {key} of yore, this is ")
    sidecar.write_text(said)
    assert (tmp_path / "x.csv").read_text() == whole
    if verdict is None:
        return
    expect(2, f"{line} --resume --json j", "--resume: token 'x.csv': expected no reports")
    sidecar.write_text(sidecar.read_text().replace('"passed": true', '"passed": false'))
    expect(1, f"{line} --resume -q", "verdict: FAIL")
    sidecar.write_text(sidecar.read_text().replace('"passed": false', '"passed": true'))
    expect(code, f"{line} --resume -q")


def test_another_header_is_refused(expect, tmp_path):
    """Rows are read by the columns of this version."""
    table = tmp_path / "x.csv"
    expect(0, f"{SWEEP} -o x.csv")
    header, *rows = tables.lines_of(table)
    tables.write(table, [[name.replace("score_max", "score_min") for name in header], *rows])
    before = table.read_text()
    expect(2, f"{SWEEP} -o x.csv --resume",
           "x.csv:1: cannot be resumed: the row is not the one expected")
    assert table.read_text() == before


@pytest.mark.parametrize("line, flags", [
    *((line, flags) for line in (SWEEP, VERIFY) for flags in ("", "-o -", "-o /dev/null")),
    ("min-omega --construction silu --tolerance 1e-9", "-o x.csv")])
def test_nothing_to_resume_is_refused(refused, tmp_path, line, flags):
    refused("--resume: ", *shlex.split(f"{line} --resume {flags}"), cwd=tmp_path)


@pytest.mark.parametrize("line", [SWEEP, VERIFY])
def test_without_resume_it_begins_anew(whole, left, tmp_path, line):
    _, table = whole(line, "w.csv")
    (tmp_path / "x.csv.partial").write_bytes(left(line))
    ended, anew = whole(line)
    assert (ended.code, anew) == (0, table)
    assert "rows of an interrupted run are dropped (--resume would have kept them)" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_at_a_point(expect, tmp_path, number):
    line = f"{MANY} --threads 2 --seed 1:2"
    with Injected(tmp_path, f"{line} -o x.csv") as program:
        assert program.run(f"end:60:{number}") == -number
        said = program.said.read_text()
        count = tables.kept(said)
        assert said.count("\n") == 1 and " of 92 points are kept; go on with: " in said
        assert 5 < count <= len(points((program.out / "x.csv.partial").read_bytes())) < 80
        command = re.search("headproof (sweep --resume .*)", said)[1]
        expect(0, command, cwd=program.out)
    expect(0, f"{line} -o ../w.csv", cwd=program.out)
    assert (program.out / "x.csv").read_text() == (tmp_path / "w.csv").read_text()


def test_one_run_writes_a_file(expect, tmp_path):
    line = f"{MANY} --threads 1 --seed 1:99 -o x.csv"
    partial = tmp_path / "x.csv.partial"
    with subprocess.Popen([PROGRAM, *line.split()], cwd=tmp_path) as other:
        try:
            while not partial.exists() or partial.stat().st_size < 9000:
                time.sleep(0.01)
            other.send_signal(signal.SIGSTOP)
            for flags in ("", " --resume"):
                expect(2, line + flags, "expected no other run to write it")
                assert partial.stat().st_size >= 9000
        finally:
            other.kill()
    expect(2, f"{SWEEP} -o x.csv --resume", "a grid of 4554 points, this one has 12")


@pytest.mark.parametrize("line", [SWEEP, VERIFY.replace("small", "../small")])
def test_what_was_left_goes_with_its_partial(tmp_path, line):
    """A run that drops what one before it left, and is stopped at any call, leaves all of that as it
    was, or a journal of its own with a point, or no journal and nothing that the next run takes for
    another program's."""
    left = {"x.csv.partial": b'{"schema":', "x.csv.new": b"half a table", "x.csv.json.new": b"half"}
    with Injected(tmp_path, f"{line} -o x.csv") as program:
        call, code, seen = 0, -signal.SIGINT, set()
        while code != 0:
            call += 1
            empty(program.out)
            for name, data in left.items():
                (program.out / name).write_bytes(data)
            code = program.run(f"end:{call}:{int(signal.SIGINT)}")
            files = {path.name: path.read_bytes() for path in program.out.iterdir()}
            kept = files == left or "x.csv.partial" in files and points(files["x.csv.partial"])
            assert kept or set(files) in (set(), {"x.csv", "x.csv.json"}), (call, set(files))
            seen.add(frozenset(files))
    assert len(seen) > 2 and call > 15


@pytest.mark.parametrize("damage, flags", [
    (hours, ""), (digit, ""), (says("version", "of yore"), " --resume")])
def test_the_command_that_discards_leaves_nothing(whole, left, tmp_path, damage, flags):
    """What is to be pasted removes what a run that was killed had begun to write, too."""
    (tmp_path / "x.csv.partial").write_bytes(damage(left(VERIFY)))
    for name in ("x.csv.new", "x.csv.json.new"):
        (tmp_path / name).write_text("")
    said = whole(f"{VERIFY}{flags}")[0].stderr
    subprocess.run(re.search(r"\brm( x\S+)+", said)[0], shell=True, check=True, cwd=tmp_path)
    assert whole(VERIFY)[0].code == 0, said


def test_memory_is_a_budget(expect, whole):
    """However little there is, the bytes are the same; what does not fit alone is refused."""
    line = f"sweep {POINTS} --threads 2 -q"
    _, table = whole(line)
    for flags in ("", " --dry-run"):  # 10 2^-20
        expect(2, f"{line} --memory 10KiB{flags}", " GiB, 9.54e-06 GiB may be used")
    expect(2, f"{line} --memory 10KB", "--memory: token '10KB'")
    # From where a point barely fits: there bases come and go.
    tight = [whole(f"{line} --memory {2**i}KiB") for i in range(4, 13)]
    fitting = [anew for ended, anew in tight if ended.code == 0]
    assert 2 < len(fitting) < len(tight) and {*fitting} == {table}
