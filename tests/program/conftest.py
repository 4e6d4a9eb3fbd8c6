"""What tests over the program share: starting it as a user does, and files to give it.

A test is a table: in a row stand its name, what is written, the command, the exit code and the
words expected.  HEADPROOF names the program; tests run in the project's directory:

    HEADPROOF=build/release/headproof python3 -m pytest -q tests/program/test_headers.py
"""

import collections
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # safetensors_file, which writes one of numpy's arrays
PROGRAM = os.path.abspath(os.environ["HEADPROOF"])
REPORT = re.compile(r"Sanitizer|: runtime error: ")
# Where nobody else says what a sanitizer's report ends with: a code that headproof never uses.
os.environ.setdefault("ASAN_OPTIONS", "exitcode=86:allocator_may_return_null=1")
os.environ.setdefault("UBSAN_OPTIONS", "exitcode=86:print_stacktrace=1")


def pytest_make_parametrize_id(val):
    """Of a row's long texts the beginning names it."""
    return repr(val)[:40]


Run = collections.namedtuple("Run", "code stdout stderr")


def start(*arguments, cwd=ROOT, env=None, input="", limits=None):
    """How `headproof ARGUMENTS` ends; sentences are not broken into lines.  env: added to ours;
    limits: {resource.RLIMIT_...: the most}."""
    def limit():
        for what, most in limits.items():
            resource.setrlimit(what, (most, most))
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
