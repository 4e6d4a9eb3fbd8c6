"""The shell that other repositories' CI runs: the steps of action.yml and the lines of ci/gitlab.yml,
with the inputs that the examples of docs/ci.md give them, and that page's script for git bisect.
`make`, `git` and `apt-get` are stand-ins that check what they are asked for: the program is built.
"""

import os
import re
import shutil
import subprocess

import pytest

import tables
from conftest import PROGRAM, ROOT, quick_python

yaml = pytest.importorskip("yaml")
PAGE = (ROOT / "docs/ci.md").read_text()
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
TEMPLATE = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())[".headproof"]
WORKFLOW, PIPELINE = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S))
USED = WORKFLOW["jobs"]["headproof"]["steps"][1]
REPORTS = {"check.json", "junit.xml", "check.md", "report.html"}

# Goals that the Makefile has.
MAKE = r"""#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -C) cd "$2" && [ -e Makefile ] || exit 2; shift ;;
    PREFIX=*) prefix=${1#PREFIX=} ;;
    -*) ;;
    *)  goal=$1
        grep -q "^\([a-z]* \)*$goal\( [a-z]*\)*:.*##" "$PROJECT/Makefile" || exit 2
        echo "make $goal" >>"$CALLS" ;;
    esac
    shift
done
[ ! -e broken ] || exit 2
case $goal in
build) mkdir -p build/release && cp "$PROGRAM" build/release/headproof ;;
install)
    mkdir -p "$prefix/bin" "$prefix/lib/headproof" && cp "$PROGRAM" "$prefix/bin/headproof"
    cp "$PROJECT/python/command.py" "$prefix/lib/headproof"
    ln -sfn "$PROJECT/python/headproof" "$prefix/lib/headproof/headproof" ;;
esac
"""
GIT = """#!/bin/sh
case $* in
"init -q .headproof") mkdir .headproof ;;
"-C .headproof fetch -q --depth 1 https://example.org/headproof.git COMMIT") ;;
"-C .headproof checkout -q FETCH_HEAD") cp -r "$PROJECT/Makefile" "$PROJECT/python" .headproof ;;
*) echo "git: $*" >&2; exit 2 ;;
esac
"""
STAND_INS = {"make": MAKE, "apt-get": "#!/bin/sh\n", "sudo": '#!/bin/sh\n"$@"\n'}
FILES = ("PATH", "OUTPUT", "STEP_SUMMARY")


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Runner:
    """What CI gives to the repository of somebody who has a case file and a baseline."""

    def __init__(self, work):
        self.work, self.tree = work, work / "tree"
        (work / "bin").mkdir()
        for name, text in STAND_INS.items():
            write_program(work / "bin" / name, text)
        python = quick_python()
        self.env = {**os.environ, "PATH": f"{work}/bin:{os.environ['PATH']}", "HOME": str(work),
                    "PROJECT": str(ROOT), "PROGRAM": PROGRAM, "CALLS": str(work / "calls"),
                    "HEADPROOF_PYTHON": python, "GITHUB_ACTION_PATH": str(ROOT),
                    **{f"GITHUB_{name}": str(work / name) for name in FILES}}

    def said(self, name):
        return (self.work / name).read_text()

    def check_out(self):
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        (self.tree / "my.case").write_text("[small]\nconstruction = all\nn = 3\nd = 2\nomega = 2, 20\n")
        subprocess.run([PROGRAM, "check", "my.case", "--save-baseline", "my.csv"], cwd=self.tree,
                       check=True, capture_output=True)
        for name in (*FILES, "calls"):
            (self.work / name).write_text("")

    def alter(self):
        """One digit of an error."""
        rows = tables.rows_of(self.tree / "my.csv")
        row, text = next((i, cells["construction_max"]) for i, cells in enumerate(rows, 1)
                         if cells["construction_max"][0] in "12345678")
        tables.alter(self.tree / "my.csv", (row, "construction_max", f"{int(text[0]) + 1}{text[1:]}"))

    def run(self, steps):
        """The exit codes of steps, (script, variables) each, and what the last one says."""
        codes = []
        for script, variables in steps:
            path = ":".join([*self.said("PATH").split(), self.env["PATH"]])
            ended = subprocess.run(["sh", "-e", "-c", script], cwd=self.tree, text=True,
                                   env={**self.env, "PATH": path, **variables},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            codes.append(ended.returncode)
        return codes, ended.stdout

    def uploaded(self):
        return {path.name for path in (self.tree / "headproof").iterdir() if path.stat().st_size}


@pytest.fixture
def ci(tmp_path):
    return Runner(tmp_path)


def test_github(ci):
    steps = []
    for step in ACTION["runs"]["steps"]:
        variables = {name: USED["with"].get(re.search(r"inputs\.(\w+)", value)[1], "")
                     for name, value in step.get("env", {}).items()}
        steps += [(step["run"], variables)] if "run" in step else []
    ci.check_out()
    codes, said = ci.run(steps)
    assert codes == [0, 0, 0, 0], said
    assert ci.said("STEP_SUMMARY").startswith("### headproof check: PASS")
    assert re.fullmatch("digest=[0-9a-f]{16}\n", ci.said("OUTPUT"))
    assert "make install\n" in ci.said("calls") and ci.uploaded() == REPORTS
    ci.check_out()
    ci.alter()
    assert ci.run(steps)[0] == [0, 0, 1, 0]
    assert ci.said("STEP_SUMMARY").startswith("### headproof check: FAIL: 1 of")
    assert ci.uploaded() == REPORTS | {"my.csv.obtained", "my.csv.obtained.json"}
    assert "make install" not in ci.said("calls")  # it is in the cache
    for other in ("exit 127", "echo headproof 0.1.0"):  # of another image, and of another version
        ci.check_out()
        write_program(ci.work / ".cache/headproof/bin/headproof", f"#!/bin/sh\n{other}\n")
        assert ci.run(steps)[0] == [0, 0, 0, 0]
        assert "make install\n" in ci.said("calls")
    ci.check_out()
    (ci.tree / "my.csv").unlink()
    assert ci.run(steps)[0] == [0, 0, 2, 0] and ci.said("STEP_SUMMARY") == ""


def test_gitlab(ci):
    variables = {**TEMPLATE["variables"], **PIPELINE["headproof"]["variables"],
                 "HEADPROOF_OPTIONS": "--factor 10"}
    steps = [("\n".join(lines), variables) for lines in (
        TEMPLATE["before_script"] + TEMPLATE["script"], TEMPLATE["after_script"])]
    write_program(ci.work / "bin/git", GIT)
    for altered, verdict in ((False, "PASS"), (True, "FAIL: 1 of")):
        ci.check_out()
        if altered:
            ci.alter()
        codes, said = ci.run(steps)
        assert codes == [int(altered), 0] and f"\n### headproof check: {verdict}" in f"\n{said}", said
        assert ci.uploaded() == REPORTS
    # From the cache, of another image.
    write_program(ci.work / "bin/git", "#!/bin/sh\nexit 128\n")
    write_program(ci.tree / ".headproof/build/release/headproof", "#!/bin/sh\nexit 127\n")
    kept = ci.tree / ".headproof/build/of-another-image"
    kept.touch()
    assert ci.run(steps)[0] == [1, 0] and not kept.exists()


def test_files():
    """What the examples give is what there is to be given."""
    steps, text = ACTION["runs"]["steps"], (ROOT / "action.yml").read_text()
    assert ACTION["runs"]["using"] == "composite"
    assert all("shell" in step if "run" in step else re.search(r"@v\d+$", step["uses"])
               for step in steps)
    assert set(re.findall(r"inputs\.(\w+)", text)) == set(ACTION["inputs"])
    assert [step.get("if") for step in steps] == [None] * 4 + ["always()"] * 2
    assert {step.get("id") for step in steps} >= set(re.findall(r"steps\.(\w+)", text))
    assert [name for name, what in ACTION["inputs"].items() if what.get("required")] == ["case"]
    assert set(USED["with"]) <= set(ACTION["inputs"]) and "/headproof@" in USED["uses"]
    job = PIPELINE["headproof"]
    assert PIPELINE["include"] == "ci/gitlab.yml" and job["extends"] == ".headproof"
    assert set(job["variables"]) <= set(TEMPLATE["variables"])
    assert TEMPLATE["artifacts"]["reports"]["junit"] == "headproof/junit.xml"
    for name in "before_script", "script", "after_script":
        assert all(isinstance(line, str) for line in TEMPLATE[name])


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_bisect(ci, tmp_path):
    """Six commits: the third does not build, from the fifth on a figure is wrong."""
    (tmp_path / "bisect.sh").write_text(re.search(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)[1])
    write_program(tmp_path / "wrong", f'#!/bin/sh\n[ ! -e worse ] || set -- "$@" --omega 2.5\n'
                  f'exec "{PROGRAM}" "$@"\n')
    (tmp_path / "own.case").write_text("[own]\nconstruction = silu\nn = 2\nd = 2\nomega = 3\n")
    ci.tree.mkdir()
    (tmp_path / "PATH").touch()
    script = """
        headproof=$1
        $headproof check $CASE --save-baseline $BASELINE >/dev/null
        git init -q . && git config user.email a@example.org && git config user.name a
        for commit in 1 2 3 4 5 6; do
            rm -f broken
            [ $commit -ne 3 ] || : >broken
            [ $commit -lt 5 ] || echo worse >worse
            echo $commit >number
            git add -A && git commit -q -m $commit
        done
        git bisect start HEAD HEAD~5 >/dev/null
        git bisect run sh ../bisect.sh
        echo "found $(git show -s --format=%s refs/bisect/bad)"
        echo x >>$BASELINE  # damaged
        sh ../bisect.sh && exit 1 || [ $? -eq 125 ]"""
    variables = {"CASE": f"{tmp_path}/own.case", "BASELINE": f"{tmp_path}/own.csv",
                 "PROGRAM": f"{tmp_path}/wrong"}
    codes, said = ci.run([(script.replace("$1", PROGRAM), variables)])
    assert codes == [0] and "found 5\n" in said, said
