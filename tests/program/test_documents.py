"""The pages that users read first: every command in them is executed, as a reader would, and what it
prints is compared with what the page shows.  In a page,

    ```             a block whose first line begins with "$ " is a session on a terminal of 80
    $ command       columns: each command, and below it what it prints, on stdout and stderr;
    output          "..." stands for anything, and long lines may be broken
    ```
    ```sh           a script; every command in it must succeed, its output is not compared
    <!-- long -->   before a block: executed where HEADPROOF_NIGHTLY says so
    <!-- needs A -->  only where there is a program A
    <!-- executed by tests/A -->

Any other block in which a line begins like a command is a fault: nobody would execute it.  All
blocks of a page share one shell, in a copy of the tree where the program is built and installed.
`make`, `sudo` and `git` are stand-ins, which check what they are asked for.
"""

import os
import pty
import re
import shutil
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT, quick_python

STAND_INS = {"sudo": 'exec "$@"\n', "make": r"""
for goal; do
    case $goal in *=* | -*) continue ;; esac
    grep -q "^\([a-z]* \)*$goal\( [a-z]*\)*:.*##" "$PROJECT/Makefile" ||
        { echo "make: there is no goal $goal" >&2; exit 2; }
done
""", "git": """
case $1 in
clone) cp -R . "../${3:-clone}" && mv "../${3:-clone}" . ;;
add | commit | diff) ;;
*) echo "git: the stand-in does not know $1" >&2; exit 2 ;;
esac
"""}
COMMAND = r"((build/release/)?headproof|make|sudo|git) [-a-z]"
NUMBER = r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?"


# ---- A page as steps -----------------------------------------------------------------------------

class Step:
    """One command of a session, with the output that the page shows, or a script (said: None)."""

    def __init__(self, line, said):
        self.line, self.commands, self.said = line, [], said
        self.code = self.output = None


def blocks_of(text):
    """(number of its first line, kind, lines, is it executed) of each block; and the faults of what
    stands between them."""
    blocks, faults, inside, executed = [], [], None, True
    for number, line in enumerate(text.split("\n"), 1):
        if inside is not None and re.fullmatch(" *```", line):
            blocks.append(inside)
            inside, executed = None, True
        elif inside is not None:
            inside[2].append(line)
        elif fence := re.match(" *```(.*)", line):
            inside = (number + 1, fence[1], [], executed)
        elif mark := re.fullmatch("<!-- (long|executed by tests/[a-z_/.]+|needs ([a-z]+)) -->", line):
            executed = shutil.which(mark[2]) is not None if mark[2] else \
                mark[1] == "long" and bool(os.environ.get("HEADPROOF_NIGHTLY"))
        elif line:
            executed = True
            if re.match(f"    {COMMAND}", line):
                faults.append(f":{number}: a command that nobody executes: {line}")
    return blocks, faults + ([": a block does not end"] if inside else [])


def steps_of(text):
    """The steps that are executed, and faults."""
    steps, (blocks, faults) = [], blocks_of(text)
    for first, kind, lines, executed in blocks:
        session, more = kind == "" and lines and lines[0].startswith("$ "), False
        own = [Step(first, None)] if kind == "sh" else []
        for number, line in enumerate(lines, first):
            if kind == "sh":
                own[0].commands.append(line)
            elif not session:
                if re.match(f" *{COMMAND}", line):
                    faults.append(f":{number}: a command that nobody executes: {line}")
            elif more or line.startswith("$ "):
                if not more:
                    own.append(Step(number, ""))
                    line, end = line[2:], "END" if line.endswith("<<END") else None
                own[-1].commands.append(line)
                more = line != end if end else line.endswith("\\")
            else:
                own[-1].said += line + "\n"
        steps += own if executed else []
    return steps, faults


# ---- What is run ---------------------------------------------------------------------------------

def on_terminal(script, folder, env):
    """What a shell prints on a terminal, and on stderr.  The terminal stays open here until the
    mark behind the script is read: at the last close Linux may drop what was not read yet."""
    terminal, own = pty.openpty()
    text = b""
    with subprocess.Popen(["sh", "-c", "sh \"$0\"; printf '\\002'", script], cwd=folder, env=env,
                          stdin=own, stdout=own, stderr=own, start_new_session=True):
        while not text.endswith(b"\2"):
            text += os.read(terminal, 65536)
    os.close(own)
    os.close(terminal)
    return text[:-1].decode().replace("\r", "")


def execute(steps, work):
    """Of each step exit code and output, one shell for all; the mark before a step is a line."""
    lines = ["stty cols 80 -onlcr -echo; exec </dev/null; set +e"]
    for i, step in enumerate(steps):
        (work / f"{i}.sh").write_text("\n".join(step.commands) + "\n")
        lines += ["printf '\\001\\n'", f". '{work}/{i}.sh'" if step.said is not None else
                  f"(set -e; . '{work}/{i}.sh')", "printf '\\001%s\\n' $?"]
    (work / "session").write_text("\n".join(lines) + "\n")
    for name, text in STAND_INS.items():
        (work / "bin" / name).write_text(f"#!/bin/sh\n{text}")
        (work / "bin" / name).chmod(0o755)
    python = quick_python()
    env = {**os.environ, "PATH": f"{work}/bin:{os.environ['PATH']}", "PROJECT": str(ROOT),
           "TERM": "dumb", "COLUMNS": "80", "PYTHONPATH": f"{work}/tree/python",
           "HEADPROOF_PYTHON": python}
    env.pop("NO_COLOR", None)
    said = on_terminal(work / "session", work / "tree", env).split("\001")
    for step, output, code in zip(steps, said[1::2], said[2::2]):
        step.code, step.output = int(code.split("\n")[0]), output[1:]


# ---- What is compared ----------------------------------------------------------------------------

def alike(words, i, other):
    """Is the page's word i what was printed?  Numbers that depend on the machine need not be the
    same, of which the words before and behind tell: an error of which rounding is a part, or which
    lies between 1e-18 and 1e-7, may differ by a factor of 4, and a KL divergence of the machine's
    below 1e-20, the square of such errors, by 100; an end of an interval that was searched for by a
    hundredth.  Seconds, counts of evaluations and of steps, the best Omega and bars in letters are
    not compared, nor is that a run will take long."""
    word, (earlier, before, behind) = words[i], [
        words[k] if 0 <= k < len(words) else "" for k in (i - 2, i - 1, i + 1)]
    if word == other:
        return True
    if all(re.fullmatch("[#.A-Za-z]+", each) for each in (word, other)) and \
            re.search("[#.][#.]", word + other):
        return True
    word, other = (re.sub(r"^[(<[]+|[]),;:.]+$", "", each) for each in (word, other))
    if not (re.fullmatch(NUMBER, word) and re.fullmatch(NUMBER, other)):
        return False
    if re.match(r"(s|ms|min|h)[,;).]?$|evaluated|values", behind) or before == "is" or \
            (before, behind) == ("for", "of"):
        return True
    x, y = abs(float(word)), abs(float(other))
    if 1e-18 < x < 1e-7 or before in "rounding native total observed error leaves factor".split():
        most = 4
    elif x < 1e-20 and re.search(r"m\(T'?\)", f"{earlier} {before}"):
        most = 100
    elif before in ("from", "found", "to") or behind in ("to", "up") or \
            len(re.sub("e.*|[^0-9]", "", word)) >= 6:
        most = 1.01
    else:
        return False
    return x > 0 and 1 / most <= y / x <= most


def difference(expected, obtained):
    """The first difference, word by word, so that a page may break long lines; "" without one."""
    page, said = ([(word, line) for line in text.split("\n") for word in line.split()]
                  for text in (expected, obtained))
    words, i, j = [word for word, _ in page], 0, 0

    def shown(i, j):
        return (f"expected:  {page[i][1] if i < len(page) else 'no more'}\n"
                f"obtained:  {said[j][1] if j < len(said) else 'no such line'}")
    while i < len(page):
        anywhere = words[i] == "..."
        i += anywhere
        end = words.index("...", i) if "..." in words[i:] else len(words)
        if anywhere and i == len(page):
            return ""
        k = 0  # words from i on that are alike, from j on
        while i + k < end:
            if j + k < len(said) and alike(words, i + k, said[j + k][0]):
                k += 1
            elif anywhere and j + 1 < len(said):
                j, k = j + 1, 0
            else:
                return shown(i + k, len(said) if anywhere else j + k)
        i, j = end, j + k
    return shown(i, j) if j < len(said) else ""


def faults_of(text, work):
    """How many steps a page has, and what is wrong with it."""
    steps, faults = steps_of(text)
    execute(steps, work)
    for step in steps:
        command = step.commands[0]
        if step.code is None:
            faults.append(f":{step.line}: was not executed: {command}")
        elif step.said is None and step.code:
            faults.append(f":{step.line}: exit {step.code}: {command}\n{step.output[-500:]}")
        elif step.said is not None and (found := difference(step.said, step.output)):
            faults.append(f":{step.line}: $ {command}\n{found}")
    return len(steps), faults


@pytest.fixture
def work(tmp_path):
    """A folder with an empty tree, and the program and stand-ins in bin/."""
    for name in ("bin", "tree"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/headproof").symlink_to(PROGRAM)
    if subprocess.run(["python3", "-c", "import numpy"], capture_output=True).returncode:
        (tmp_path / "bin/python3").symlink_to("/usr/bin/python3")  # headproof takes numpy
    return tmp_path


def manual():
    """The examples of the manual page, as a page."""
    text = subprocess.run(f"'{PROGRAM}' help --json | '{sys.executable}' tools/manual man", cwd=ROOT,
                          shell=True, check=True, capture_output=True, text=True).stdout
    examples = re.search(r"^\.SH EXAMPLES.*?^\.nf\n(.*?)^\.fi", text, re.M | re.S)[1]
    return f"```sh\n{examples}```\n".replace("\\-", "-").replace("\\e", "\\")


FIRST = ["README.md", *(f"docs/{name}.md" for name in ("tutorial", "commands", "models", "ci"))]
PAGES = FIRST + [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))
                 if f"docs/{path.name}" not in FIRST]


@pytest.mark.parametrize("page", [*PAGES, "manual"])
def test_page(work, page):
    for name in ("cases", "results", "docs", "python"):
        shutil.copytree(ROOT / name, work / "tree" / name)
    (work / "tree/build/release").mkdir(parents=True)
    (work / "tree/build/release/headproof").symlink_to(PROGRAM)
    count, faults = faults_of(manual() if page == "manual" else (ROOT / page).read_text(), work)
    assert not faults, "\n".join(page + fault for fault in faults)
    assert count > 0 or page in PAGES[len(FIRST):]  # of the others some have no command


# A page's text, and what is said of it; "" where it is right.
TEXTS = [
    ("```\n$ echo a  b c\na\nb c\n```\n", ""),
    ("```\n$ echo 1 2 3 4 5\n1\n... 4 5\n```\n", ""),
    ("```\n$ echo 2.0e-12 takes 3 s, all 98 evaluated, to 2097150\n"
     "7.9e-12 takes 4 s, all 97 evaluated, to 2100000\n```\n", ""),
    ("```\n$ A=word\n$ echo $A \\\n   more\nword more\n```\n", ""),
    ("```\n$ echo \"m(T') 6.32e-35 1.7e-33,\"\nm(T') 7.68e-34 2.54e-32,\n```\n", ""),
    ("```\n$ echo \"r(T') 6.32e-35 1.7e-33,\"\nr(T') 6.32e-35 1.8e-33,\n```\n",
     "obtained:  r(T') 6.32e-35 1.7e-33,"),
    ("```\n$ echo 1.0e-12\n4.1e-12\n```\n", "obtained:  1.0e-12"),
    ("```\n$ echo 1.0e-20\n1.1e-20\n```\n", "obtained:  1.0e-20"),
    ("```\n$ echo 0.25\n0.26\n```\n", ":2: $ echo 0.25\nexpected:  0.26"),
    ("```\n$ echo 12\n13\n```\n", "obtained:  12"),
    ("```\n$ echo 0\n1.0e-12\n```\n", "obtained:  0"),
    ("```\n$ echo 1 2 3\n1 ... 4\n```\n", "obtained:  no such line"),
    ("```\n$ echo 1 2\n1\n```\n", "expected:  no more"),
    ("```\n$ echo 1\n1 2\n```\n", "obtained:  no such line"),
    ("one\n\n```sh\ntrue\nfalse\ntrue\n```\n", ":4: exit 1: true"),
    ("```sh\nmake nothing\n```\n", "there is no goal nothing"),
    ("```sh\nmake check run\n```\n", ""),
    ("```\nheadproof help\n```\n", ":2: a command that nobody executes"),
    ("    headproof help\n", ":1: a command that nobody executes"),
    ("```text\nbuild/release/headproof info\n```\n", "that nobody executes"),
    ("```\n$ wc -l <<END\nA\n$ B\nEND\n2\n```\n", ""),
    ("<!-- needs sh -->\n\n```sh\nfalse\n```\n", "exit 1: false"),
    ("<!-- needs nobodyhasthis -->\n\n```sh\nfalse\n```\n", ""),
    ("```\n$ echo rounding 1.0e-01, safety factor 3, error 1 from 3.165 to 65.24\n"
     "rounding 2.0e-01, safety factor 10, error 4 from 3.17 to 65\n```\n", ""),
    ("```\n$ echo construction 1.0e-01\nconstruction 1.1e-01\n```\n",
     "obtained:  construction 1.0e-01"),
    ("```\n$ echo from 3.165 up\nfrom 3.2 up\n```\n", "obtained:  from 3.165 up"),
    ("<!-- executed by tests/others -->\n\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n", ""),
    ("<!-- long -->\n\n```sh\nfalse\n```\n", ""),
    ("<!-- long -->\n\nA word.\n\n```sh\nfalse\n```\n", "exit 1: false"),
    ("```\n$ exit 3\n```\n\n```\n$ echo 1\n1\n```\n", "was not executed: echo 1"),
    ("```\n$ echo 1\n1\n", "a block does not end"),
]


@pytest.mark.parametrize("text, says", TEXTS)
def test_pages_that_are_wrong_are_caught(work, monkeypatch, text, says):
    monkeypatch.delenv("HEADPROOF_NIGHTLY", raising=False)
    faults = "\n".join(faults_of(text, work)[1])
    assert says in faults and bool(says) == bool(faults), faults


def test_the_readme_has_every_page():
    """Of docs/, and what lies elsewhere."""
    readme = (ROOT / "README.md").read_text()
    pages = {str(path.relative_to(ROOT)) for pattern in (
        "docs/*.md", "[A-Z]*.md", "*/README.md", "*/*/README.md") for path in ROOT.glob(pattern)}
    assert [page for page in sorted(pages - {"README.md"}) if not re.search(
        rf"^\| .*\[[^]]*\]\({re.escape(page)}\).* \| .", readme, re.M)] == []
