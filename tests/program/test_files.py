"""A command line's effect on files that are not its own, and on streams that are not there:
nothing that somebody has is changed, nothing hangs, and nothing is called a success that did not
arrive."""

import os
import shutil
import signal
import subprocess

import pytest
import tables

from conftest import LIBOMP, PROGRAM, REPORT, ROOT, own_end

MODEL = f"{ROOT}/cases/models/modadd53-silu.safetensors"
POINT = "--construction silu --n 2 --d 2 --omega 9"
VERIFY = f"verify {MODEL} --tokens 0/1/53 --omega 40"


@pytest.fixture
def shell(tmp_path):
    """shell(script): how it ends in the test's own folder, where $h is the program and $m a model;
    and what is said."""
    def runs(script, **options):
        ended = subprocess.run(["sh", "-c", script], cwd=tmp_path, text=True, timeout=60,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               env={**os.environ, "h": PROGRAM, "m": MODEL}, **options)
        assert not REPORT.search(ended.stdout), ended
        return ended.returncode, ended.stdout
    return runs


@pytest.fixture
def shell_says(shell):
    """shell_says(code, script, words): the script ends so and says that."""
    def expect(code, script, words):
        ended = shell(script)
        assert ended[0] == code and words in ended[1], (script, ended)
    return expect


# ---- Streams and machines ------------------------------------------------------------------------

def test_without_proc(shell, tmp_path):
    """A table is written where no /proc is."""
    hidden = "unshare -rm sh -c 'mount -t tmpfs none /proc && %s'"
    if shell(hidden % "true")[0] != 0:
        pytest.skip("no namespace of mounts is to be had")
    code, said = shell(hidden % f"$h sweep {POINT} -q -o t.csv")
    assert code == 0 and sorted(os.listdir(tmp_path)) == ["t.csv", "t.csv.json"], said


@pytest.mark.parametrize("line, code", [
    (f"sweep {POINT} -o t.csv --verbose >/dev/null 2>&-", 0),
    (f"sweep {POINT} -o t.csv --verbose <&- >&- 2>&-", 99),
    (f"sweep {POINT} -o t.csv --quiet <&- >&- 2>&-", 0),
    (f"{VERIFY} -o t.csv <&- >&- 2>&-", 99),
    (f"attribute {VERIFY[7:]} -o t.csv <&- >&-", 99),
    ("cost -o t.csv <&- >&- 2>&-", 0),
    (f"check {POINT} --save-baseline t.csv <&- >&- 2>&-", 99)])
def test_closed_streams(shell_says, tmp_path, line, code):
    """The table is there, and none of what was said is in it."""
    shell_says(code, f"$h {line}", "")
    header, *lines = tables.lines_of(tmp_path / "t.csv")
    assert lines and {len(line) for line in lines} == {len(header)}


# Scripts; their exit code, and what is said.
SAID = [
    (f"$h sweep {POINT} >&-", 99, "stdout: cannot be written: "),
    ("$h info >&-", 99, "stdout: cannot be written: "),
    # As /dev/stdout is: it stays the link that it is.
    (f"ln -s /proc/self/fd/1 out; $h sweep {POINT} -o out >&-", 2, "--output: token 'out'"),
    (f"ln -s /proc/self/fd/1 out; $h sweep {POINT} -o out | head -c 12; test -h out", 0,
     "construction"),
    (f"{{ $h sweep {POINT},10:3000; echo code $? >code; }} | head -n 1; cat code", 0, "code 141"),
    (f"ulimit -s 64; $h sweep {POINT}", 99, "headproof: the stack is small: 1 MiB is"),
    (f"ulimit -s 1024; $h sweep {POINT} -o x.csv", 0, "1 point in x.csv"),
    # A link that leads nowhere is not replaced; one to a file stays, and the file is replaced.
    (f"ln -s nowhere x.csv; $h sweep {POINT} -o x.csv", 2, "--output: token 'x.csv'"),
    (f"ln -s nowhere x.csv; $h sweep {POINT} -o x.csv; test -h x.csv && ls | wc -l", 0, "1\n"),
    (f"mkdir d; echo old >d/y; ln -s d/y y; $h check {POINT} --save-baseline y --force --quiet && "
     "test -h y && ls d", 0, "y\ny.json\n"),
    # A terminal or a device may be named twice.
    (f"$h check {POINT} --tolerance 1 --quiet --json /dev/null --markdown /dev/null", 0, ""),
    (f"$h check {POINT} --tolerance 1 --resume", 2, "expected --baseline FILE"),
    # Without a baseline nothing is written.
    (f"mkdir t; TMPDIR=$PWD/t $h check {POINT} --tolerance 1e-9 -q; ls -A t | wc -l", 0, "0\n"),
    (f"trap '' XFSZ; ulimit -f 1; $h check {POINT},10:20 --tolerance 1 --quiet", 0, ""),
]


@pytest.mark.parametrize("script, code, words", SAID)
def test_what_is_said(shell_says, script, code, words):
    if LIBOMP and "ulimit -f" in script:
        pytest.skip("clang's OpenMP wants a file")
    shell_says(code, script, words)


@pytest.mark.parametrize("line, made", [
    (f"sweep {POINT} -o x.csv", {"x.csv", "x.csv.json"}), (f"sweep {POINT}", set()),
    ("cost", set()), ("info", set()), (f"check {POINT} --tolerance 1 --json j", {"j"}),
    (f"{VERIFY} -o x.csv", {"x.csv", "x.csv.json"})])
def test_closed_pipes(tmp_path, line, made):
    """A pipe that nobody reads ends a run as it ends other programs, when what goes into files is
    there.  Who ignores the signal wants to be told."""
    for ignored, code in ((signal.SIG_DFL, -signal.SIGPIPE), (signal.SIG_IGN, 99)):
        read, write = os.pipe()
        os.close(read)
        ended = subprocess.run([PROGRAM, *line.split()], cwd=tmp_path, stdout=write,
                               stderr=subprocess.PIPE, restore_signals=False,
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, ignored))
        os.close(write)
        assert (ended.returncode, ended.stderr == b"") == (code, code < 0), ended
        assert set(os.listdir(tmp_path)) == made


@own_end
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_thread(shell, tmp_path, threads):
    """For OpenBLAS, which would end the process by a signal, and for OpenMP; root has no limit."""
    rootless = "setpriv --reuid 60123 --clear-groups" if os.geteuid() == 0 else ""
    if os.cpu_count() < 2 or shell(f"{rootless} prlimit true")[0] != 0:
        pytest.skip("no setpriv and prlimit, or no second core")
    own = shutil.copy(PROGRAM, f"/tmp/headproof.{os.getpid()}")
    ended = shell(f"unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS; {rootless} prlimit "
                  f"--nproc={threads} {own} sweep {POINT},10 --threads 2 -o /dev/null")
    os.remove(own)
    assert ended[0] == 99 and "thread" in ended[1], ended


# ---- Other people's files ------------------------------------------------------------------------

# What the program makes beside a file that was named.
BESIDE = [(line, name) for line, names in (
    (f"sweep {POINT} -o x.csv", "x.csv.partial x.csv.json x.csv.new x.csv.json.new"),
    (f"sweep {POINT} --resume -o x.csv", "x.csv.json.new x.csv.partial"),
    ("cost -o x.csv", "x.csv.partial x.csv.json x.csv.new x.csv.json.new"),
    (f"export {POINT} -o x.safetensors", "x.safetensors.partial x.safetensors.new"),
    (f"check {POINT} --tolerance 1 --json x", "x.partial"),
    (f"check {POINT} --save-baseline x", "x.json x.obtained x.obtained.json x.obtained.partial"),
) for name in names.split()]


@pytest.mark.parametrize("line, name", BESIDE)
def test_others_files(shell, tmp_path, line, name):
    """A link, another name, a file, a pipe, a directory, an empty file."""
    precious = tmp_path / "precious"
    precious.write_text("precious\n")
    for made in ("ln -s precious N", "ln precious N", "cp precious N", "mkfifo N", "mkdir N",
                 ": >N"):
        shell(made.replace("N", name))
        before = os.lstat(tmp_path / name)
        code, said = shell(f"$h {line}")
        assert code == 2 and f"'{name}': expected" in said and said.count("\n") == 1, (made, said)
        assert sorted(os.listdir(tmp_path)) == sorted(["precious", name])
        after = os.lstat(tmp_path / name)
        assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size), made
        assert precious.read_text() == "precious\n"
        assert made[:2] not in ("ln", "cp") or (tmp_path / name).read_text() == "precious\n"
        shell(f"rm -r {name}")


@pytest.mark.parametrize("line", [
    f"{VERIFY} --quiet -o F", f"attribute {VERIFY[7:]} --quiet -o F", "cost -o F",
    "min-omega --construction silu --n 2 --d 2 --tolerance 1e-6 --quiet -o F",
    f"convert {MODEL} --omega 40 -o F --quiet", f"export {POINT} -o F",
    *(f"check {POINT} --tolerance 1 --{kind} F" for kind in ("json", "junit-xml", "markdown"))])
def test_own_files(shell, tmp_path, line):
    """What a killed run left is taken for what it is: F.partial says whose the others are."""
    assert shell(f"$h {line}")[0] == 0
    made = set(os.listdir(tmp_path))
    for name in made:
        (tmp_path / name).rename(tmp_path / f"{name}.new")
    (tmp_path / "F.partial").write_text('{"schema":')
    assert shell(f"$h {line}")[0] == 0
    assert set(os.listdir(tmp_path)) == made


# ---- Outputs that are inputs ---------------------------------------------------------------------

INPUTS = [
    *(f"check {POINT} --baseline b {flags}" for flags in (
        "--json b", "--junit-xml ./b", "--markdown link", "--markdown b.json",
        "--json b.obtained")),
    *(f"check {POINT} --tolerance 1 --json r --markdown {name}" for name in (
        "r", "../${PWD##*/}/r", "r.partial")),
    "check c.case --tolerance 1 --json c.case",
    f"check {POINT} --save-baseline n --json n", f"check {POINT} --save-baseline n --json n.json",
    "sweep c.case -o c.case", "sweep c.case -o hard", "depth c.case -o c.case --depth 2",
    "min-omega o.case --tolerance 1 -o o.case", "export c.case -o c.case",
    "convert ./m --omega 40 -o m", "convert ./m --omega 40 -o $PWD/m", "verify ./m -o m",
    "attribute ./m -o m", "cost ./m -o m", "sweep --weights ./m --omega 40 -o m",
    "min-omega --weights ./m --tolerance 1 -o m", "export --weights ./m --omega 40 -o m",
    "merge s1 s2 -o s1", "merge s1 s2 -o s2.json", f"sweep {POINT} -o t >t",
    f"sweep {POINT} -o t 2>t; code=$?; cat t; rm t; exit $code",
    "sweep /dev/stdin -o c.case <c.case",
]


@pytest.mark.parametrize("line", INPUTS)
def test_outputs_that_are_inputs(shell, shell_says, tmp_path, line):
    case = "[a]\nconstruction = silu\nn = 2\nd = 2\nomega = 9\n"
    (tmp_path / "c.case").write_text(case)
    (tmp_path / "o.case").write_text(case.replace("omega = 9\n", ""))
    shell_says(0, f"cp $m m; ln c.case hard; $h check c.case --save-baseline b -q && ln -s b link; "
               f"for i in 1 2; do $h sweep {POINT},10 --shard $i/2 -o s$i -q || exit; done", "")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, said = shell(f"$h {line}")
    assert code == 2 and said.count("\n") <= 1, said
    (tmp_path / "t").unlink(missing_ok=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
