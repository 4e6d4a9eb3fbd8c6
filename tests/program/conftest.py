"""What tests over the program share: starting it as a user does, and files to give it.

A test is a table: in a row stand its name, what is written, the command, the exit code and the
words expected.  HEADPROOF names the program; tests run in the project's directory:

    HEADPROOF=build/release/headproof python3 -m pytest -q tests/program/test_headers.py
"""

import atexit
import collections
import functools
import json
import os
import pathlib
import pty
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # safetensors_file, which writes one of numpy's arrays
PROGRAM = os.path.abspath(os.environ["HEADPROOF"])
# clang's OpenMP ends a program by itself, by a signal, where a thread, memory or a file is denied.
LIBOMP = "libomp" in subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
own_end = pytest.mark.skipif(LIBOMP, reason="clang's OpenMP ends the program itself")
REPORT = re.compile(r"Sanitizer|: runtime error: ")
# Where nobody else says what a sanitizer's report ends with: a code that headproof never uses.
os.environ.setdefault("ASAN_OPTIONS", "exitcode=86:allocator_may_return_null=1")
os.environ.setdefault("UBSAN_OPTIONS", "exitcode=86:print_stacktrace=1")


def pytest_make_parametrize_id(val):
    """Of a row's long texts the beginning names it."""
    return repr(val)[:40]


@functools.cache
def quick_python():
    """python3, but for its start: forks of one that has numpy and matplotlib loaded go on for it.  A
    row about that start itself names another in HEADPROOF_PYTHON."""
    folder = os.environ["QUICK_PYTHON"] = tempfile.mkdtemp(prefix="quick-python.")
    for name in ("asked", "ended"):
        os.mkfifo(os.path.join(folder, name))
    loaded = subprocess.Popen([sys.executable, ROOT / "tests/tools/loaded_python", folder],
                              stdin=subprocess.DEVNULL)
    atexit.register(shutil.rmtree, folder)
    atexit.register(loaded.wait)
    atexit.register(loaded.kill)  # the last is the first
    return str(ROOT / "tests/tools/quick_python")


def second_v(taus=range(25), readouts=(1, 2, 3)):
    """Rows of a sweep over tau = 2^-k, of a product of size 1: what K pairs are off by is by Taylor's
    series of (2/tau) tanh(tau/2), 1 % more where k is odd, and rounding is 2^-53/tau."""
    lines = ["construction,omega,arithmetic,options,layer,approximation_max,construction_max,"
             "rounding_max,native_max,total_max,status"]
    for pairs in readouts:
        for k in taus:
            tau, rounding = 2.0**-k, 2.0**(k - 53)
            off = (1 / 12, 1 / 30, 17 / 315)[pairs - 1] * tau**(2 * pairs) * (1 + k % 2 / 100)
            lines.append(f"fused,40,f64,ffn=gated;readout={pairs};tau={tau!r},1,{off!r},{1e-34 / tau!r},"
                         f"{rounding!r},1e-16,{off + rounding!r},ok")
    return "\n".join(lines) + "\n"


Run = collections.namedtuple("Run", "code stdout stderr")


def start(*arguments, cwd=ROOT, env=None, input="", limits=None):
    """How `headproof ARGUMENTS` ends; sentences are not broken into lines.  env: added to ours;
    limits: {resource.RLIMIT_...: the most}."""
    def limit():
        for what, most in limits.items():
            resource.setrlimit(what, (most, most))
    if arguments[:1] in (("growth",), ("plot",), ("report",)):
        env = {"HEADPROOF_PYTHON": quick_python(), **(env or {})}
    ended = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, input=input, text=True,
                           capture_output=True, errors="backslashreplace",
                           preexec_fn=limit if limits else None,
                           env={**os.environ, "COLUMNS": "1000", **(env or {})})
    run = Run(ended.returncode, ended.stdout, ended.stderr)
    assert 0 <= run.code < 86 or run.code in (99, 130, 143), run
    assert not REPORT.search(run.stderr), run.stderr
    return run


@pytest.fixture(scope="session")
def run():
    """run(*arguments, cwd=, env=, input=): code, stdout, stderr; a crash fails the test."""
    return start


@pytest.fixture
def expect(run, tmp_path):
    """expect(code, line, *words): `headproof LINE`, as a shell reads it, in the test's own folder
    ends so and says the words; all that it says."""
    def ends(code, line, *words, **options):
        ended = run(*shlex.split(line), **{"cwd": tmp_path, **options})
        said = ended.stdout + ended.stderr
        lacking = [word for word in words if word not in said]
        assert (ended.code, lacking) == (code, []), f"headproof {line}\n{said}"
        return said
    return ends


@pytest.fixture
def shown(tmp_path):
    """shown(line, code=0, env=): the lines that `headproof LINE` leaves on a terminal."""
    def on_terminal(line, code=0, env=None):
        terminal, own = pty.openpty()
        env = {**os.environ, "COLUMNS": "", "TERM": "dumb", **(env or {})}
        ended = subprocess.run([PROGRAM, *line.split()], cwd=tmp_path, env=env, text=True,
                               stdout=own, stderr=subprocess.PIPE)
        assert ended.returncode == code and not REPORT.search(ended.stderr), ended
        os.set_blocking(terminal, False)
        text = b""
        try:
            while more := os.read(terminal, 65536):  # all of it fits into the terminal's buffer
                text += more
        except BlockingIOError:
            pass
        os.close(own)
        os.close(terminal)
        lines = text.decode().split("\r\n")
        assert lines.pop() == "", lines
        return lines
    return on_terminal


@pytest.fixture
def reports(expect, tmp_path):
    """reports(code, line): the texts of JUnit, as Jenkins takes it (well-formed, where no xmllint
    is there), and Markdown; the JSON; and what is said."""
    def read(code, line, *words):
        said = expect(code, f"{line} --junit-xml x --markdown m --json j", *words)
        junit, markdown, report = [(tmp_path / name).read_text() for name in "xmj"]
        xml.dom.minidom.parseString(junit)
        if shutil.which("xmllint"):
            schema = ROOT / "tests/data/junit.xsd"
            subprocess.run(["xmllint", "--noout", "--schema", schema, tmp_path / "x"], check=True,
                           capture_output=True)
        return junit, markdown, json.loads(report), said
    return read


@pytest.fixture(scope="session")
def refused(run):
    """refused(words, *arguments, begin=""): exit code 2 behind one line, begun so, with the words;
    a ... among them stands for any others."""
    def expect(words, *arguments, begin="", **options):
        ended = run(*arguments, **options)
        assert (ended.code, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended
        assert says(ended.stderr, words), f"{ended.stderr}expected: {words}"
        assert ended.stderr.startswith(str(begin)), f"{ended.stderr}expected at first: {begin}"
        return ended.stderr
    return expect


def says(text, words):
    return re.search(".*".join(map(re.escape, words.split("..."))), text) is not None
