"""The outcome of verify and min-omega for CI: the verdict, with -q too, its colour, and the reports
that check writes as well."""

import json
import os
import pty
import re
import select
import subprocess
import time

import pytest

import models
from conftest import PROGRAM, ROOT

MODEL = f"{ROOT}/cases/models/modadd53-silu.safetensors"
INPUTS = f"verify {MODEL} --tokens 0:52:26/1/53"
SMALL = "verify small.safetensors --tokens 0:4:2/1/5"
SEARCH = "min-omega --n 2 --d 2"
UNJUDGED = "evaluated, nothing judged: no tolerance"


@pytest.fixture(autouse=True)
def small(tmp_path):
    """A model of one layer, where it does not matter which one is verified."""
    models.write(tmp_path / "small.safetensors", models.lens_of(8, layers=1), models.NORMED)


def expect_reproduced(expect, finding):
    """The command that it names repeats it alone."""
    program, line = finding["reproduce"].split(" ", 1)
    assert program == "headproof"
    expect(1, line)


def test_a_model_has_a_case_a_layer_at_an_omega(expect, reports):
    """At Omega 5 the trained model's error is near 8e-4 = e^(-2 Omega) times its scores' scale, at
    20 that of its arithmetic."""
    junit, markdown, report, _ = reports(1, f"{INPUTS} --omega 5,20 --tolerance 1e-9 -q",
                                         "verdict: FAIL: ")
    assert (report["verdict"], report["command"]) == ("fail", "verify")
    assert [(case["status"], case["omega"]) for case in report["cases"]] == [
        ("fail", "5"), ("ok", "20")]
    assert 3e-15 < float(report["cases"][1]["error"]) < 4e-14
    (finding,) = report["findings"]
    assert 4e-4 < float(finding["obtained"]) < 2e-3
    assert (finding["reason"], finding["limit"]) == ("above its tolerance", "1e-09")
    expect_reproduced(expect, finding)
    assert '"headproof verify" tests="2" failures="1"' in junit
    assert "<system-out>tolerance 1e-09, judged total, norm max, error 8." in junit
    assert "### headproof verify: FAIL: 1 of 2 cases\n" in markdown
    assert "| total | max | 8." in markdown


@pytest.mark.parametrize("line", [
    "verify m.safetensors", "check --construction fused --n 20 --d 30 --depth 24"])
def test_layers_share_their_points_time(expect, tmp_path, line):
    """Cases of one thread took no longer together than the run."""
    expect(0, "export --construction fused --n 12 --d 16 --depth 24 --omega 20 -q "
           "-o m.safetensors")
    start = time.monotonic()
    expect(0, f"{line} --omega 20 --tolerance 1 --threads 1 -q --junit-xml j.xml")
    elapsed = time.monotonic() - start
    _, *cases = map(float, re.findall(' time="([^"]*)"', (tmp_path / "j.xml").read_text()))
    assert len(cases) == 24 and 0 < sum(cases) < elapsed, (elapsed, cases)


def test_a_model_that_passes(expect, reports):
    junit, *_ = reports(0, f"{INPUTS} --omega 20 --tolerance 1e-9 -q", "verdict: PASS: ")
    assert 'tests="1" failures="0"' in junit
    expect(0, "report j -o -", "PASS: 1 case")


def test_judged_logits_have_their_error(reports):
    """It is the last layer's: here 3e-3 at Omega 5."""
    _, _, report, _ = reports(
        1, f"{INPUTS} --omega 5 --judge logits --tolerance 1e-9 -q",
        "verdict: FAIL: at omega 5 the largest logit error is not within 1e-09")
    case = report["cases"][0]
    assert case["judged"] == "logits" and 1e-3 < float(case["error"]) < 1e-2


def test_a_search_is_a_case(expect, reports):
    """e^(-2 Omega) is 1e-3 near Omega 3.5; nothing in double is within 1e-40."""
    junit, markdown, report, _ = reports(
        1, f"{SEARCH} --seed 1,5:7 --tolerance 1e-3,1e-40 -q -o t")
    found, none = report["cases"]
    assert 1 < float(found["omega_min"]) < 6 and float(found["omega_max"]) > 1e12
    assert 9e-4 < float(found["error_min"]) <= 1e-3 and not none.get("omega_min")
    finding = report["findings"][0]
    assert finding["reason"] == "no omega was found"
    assert " --seed 1,5:7 " in finding["reproduce"]
    expect_reproduced(expect, finding)
    assert '"headproof min-omega" tests="2" failures="1"' in junit
    assert "### headproof min-omega: FAIL: 1 of 2 cases\n" in markdown


def test_what_is_not_judged_does_not_pass(run, expect, reports, tmp_path):
    """Without a tolerance no report says that anything passed."""
    junit, markdown, report, said = reports(
        0, f"{SMALL} --omega 20 -q --color always", f"verdict: {UNJUDGED}; at omega 20: ")
    assert report["verdict"] == "evaluated"
    assert f"### headproof verify: {UNJUDGED}: " in markdown
    assert '"headproof verify" tests="1" failures="0"' in junit and ' skipped="1" ' in junit
    assert f'<skipped message="{UNJUDGED}"/>' in junit
    expect(0, "report j -o -", UNJUDGED, "<title>nothing judged: ")
    # Neither rows that are ok nor the verdict.
    assert "\033" not in said + run(*f"{SMALL} --omega 20 --color always".split(),
                                    cwd=tmp_path).stdout


# Reports are files as any: complete or not at all, no input, and the machine's fault is its own.
FILES = [
    (99, f"{SMALL} --omega 20 -q --json /dev/full", "/dev/full"),
    (99, f"{SEARCH} --tolerance 1e-3 --markdown /dev/full", "/dev/full"),
    (2, f"{SMALL} --omega 20 --junit-xml no/such", "--junit-xml: token '"),
    (2, f"{SEARCH} --tolerance 1e-3 --markdown no/such", "--markdown: token '"),
    (2, f"{SEARCH} --tolerance 1e-3 --json no/such", "--json: token '"),
    (2, f"{SMALL} --omega 20 --json small.safetensors", "expected another file"),
    (2, f"{SMALL} --omega 20 --json j -o j", "expected another file"),
]


@pytest.mark.parametrize("code, line, words", FILES)
def test_files(expect, code, line, words):
    expect(code, line, words)


def test_a_verdict_that_cannot_be_written_is_none():
    """A check that fails, too, ends with the machine's fault where stdout takes nothing."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run([PROGRAM, *"check --n 2 --d 2 --omega 5 --tolerance 1e-30".split()],
                               stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 99 and "stdout: cannot be written" in ended.stderr


# Flags, and the stream of the verdict: stdout, or stderr where stdout is the table's.
QUIET = [("-q", "stdout"), ("-q -o -", "stderr"), ("-q -o /dev/stdout", "stderr")]


@pytest.mark.parametrize("flags, stream", QUIET)
def test_quiet_says_the_verdict(run, tmp_path, flags, stream):
    ended = run(*SMALL.split(), "--omega", "20", *flags.split(), cwd=tmp_path)
    begin = f"verdict: {UNJUDGED}; at omega 20: "
    assert getattr(ended, stream).startswith(begin) and getattr(ended, stream).count("\n") == 1
    assert ended.code == 0 and ("judged_log2" in ended.stdout) == (stream == "stderr")
    assert "verdict" not in (ended.stdout if stream == "stderr" else ended.stderr)


@pytest.mark.parametrize("flags, code, words", [
    ("20 --tolerance 1e-9 -q", 0, "\033[32mverdict: PASS: "),
    ("5 --tolerance 1e-9 -q", 1, "\033[31mverdict: FAIL: "),
    ("5 --tolerance 1e-9", 1, "  \033[31mfail\033[0m\n")])
def test_colours(expect, flags, code, words):
    expect(code, f"{SMALL} --color always --omega {flags}", words)


# The same of searches on a terminal.
ON_TERMINAL = [
    ("1e-3,1e-40 -q --color always", 1,
     "\033[31mverdict: FAIL: 1 of 2 searches found no omega\033[0m"),
    ("1e-3 -q --color always", 0, "\033[32mverdict: PASS: every search found an omega\033[0m"),
    ("1e-3 -q --color never", 0, "verdict: PASS: every search found an omega"),
]


@pytest.mark.parametrize("flags, code, words", ON_TERMINAL)
def test_colours_on_a_terminal(shown, flags, code, words):
    lines = shown(f"{SEARCH} --tolerance {flags}", code)
    assert words in lines and ("\033" in "".join(lines)) == ("\033" in words)


# Half a million bits take a single input a minute: before it is done, there is the time.  Of many
# inputs there is the time to go, in every phase.
LONG = [
    (f"verify {MODEL} --tokens 0/1/53 --omega 20 --precision 500000",
     [r"plan: 0 inputs, \d+ s so far"]),
    ("min-omega --n 20 --d 20 --tolerance 1e-9 --precision 500000",
     [r"0 evaluations, \d+ s so far"]),
    (f"verify {MODEL} --tokens 0:40/0:9/53 --omega 20",
     [r"omega 20: \d+/410 inputs, .*ETA \d+",
      r"search for predictions: \d+ evaluations, .*ETA \d+"]),
]


@pytest.mark.parametrize("line, told", LONG)
def test_work_is_waited_for_with_the_time(line, told):
    """What a terminal is told within a minute of work, which is then ended."""
    terminal, own = pty.openpty()
    with subprocess.Popen([PROGRAM, *line.split()], stdin=subprocess.DEVNULL, stdout=own,
                          stderr=own, env={**os.environ, "TERM": "xterm"}) as child:
        text, end = "", time.monotonic() + 60
        try:
            while not all(re.search(each, text) for each in told):
                left = max(0, end - time.monotonic())
                assert select.select([terminal], [], [], left)[0], text
                text += os.read(terminal, 4096).decode()
        finally:
            child.kill()
    os.close(own)
    os.close(terminal)
