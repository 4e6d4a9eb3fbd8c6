"""Commands with all that the program says and writes: tests/data/outputs.txt.

    python3 tests/transcript.py PROGRAM [WORD...]    records anew the scenes that have one of the words

A scene is a line of shell and what came of it, two spaces in front of each line; `> NAME` is a file
or a stream.  The line begins with

    $  all of it is a function of the command
    ~  numbers are a machine's: each is within a factor of 1000 of what is written (near)
    ?  nothing is recorded; tests/tools/same_outputs runs it by two builds

No expected value of a test comes from here: what is recorded was read once, and shows what a change
of the program changes.  Of more than 100 lines there is a digest.
"""
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATH = ROOT / "tests" / "data" / "outputs.txt"
LONG = 100
TINY = Decimal("1e-40")  # below the square of what a double rounds

# What differs from run to run, between machines, or between two builds of one source.
PASSING = [
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?", "DATE"),
    (r'\n *"(commit|compiler|flags|system|cpu|cpu_cores|tiers?|openblas_\w+|\w+_header|\w+_runtime|mpi|'
     r'seconds)": .*', ""),
    (r'"digest": "[^"]*"', '"digest": "-"'),
    (r'time(stamp)?="[^"]*"', 'time=""'),
    (r"(about |less than )?\b(a second|\d+(\.\d+)?(e-\d+)? (s|ms|seconds?|minutes?|min))\b", "TIME"),
    (r"with \d+ threads?, up to [\d.]+ [MG]iB", "with THREADS, up to SIZE"),
    (r"of one thread, [\d.]+ [MG]iB", "of one thread, SIZE"),
    (r"largest difference \d\S+,", "largest difference D,"),  # digits behind a product's last one
    (r"allowed \d\S+", "allowed T"),  # by a witness, for what rounding is measured to explain
    (r"headproof 0\.\d+\.\d+\S*( \([^)]*\))?", "headproof VERSION"),
]
DIGEST = re.compile(r"(?<=(?:lines|bytes), )[0-9a-f]{16}")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")


class Scene(NamedTuple):
    mark: str
    command: str
    files: dict[str, list[str]]


def scenes() -> list[Scene]:
    """What is recorded."""
    found: list[Scene] = []
    for line in PATH.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[-1].files[name].append(line[2:])
        elif line.startswith("> "):
            name = line[2:]
            found[-1].files[name] = []
        elif line[:2] in ("$ ", "~ ", "? "):
            found.append(Scene(line[0], line[2:], {}))
        elif line and not line.startswith("#"):
            sys.exit(f"{PATH}: what is {line!r}?")
    return found


def lines(text: bytes) -> list[str]:
    """What a file says in any run of the command; of long ones, and of no text, a digest."""
    try:
        plain = text.decode()
    except UnicodeDecodeError:
        return [f"{len(text)} bytes, {hashlib.sha256(text).hexdigest()[:16]}"]
    for pattern, instead in PASSING:
        plain = re.sub(pattern, instead, plain)
    found = plain.splitlines()
    if len(found) > LONG:
        return [f"{len(found)} lines, {hashlib.sha256(plain.encode()).hexdigest()[:16]}"]
    return found


def run(program: str, command: str) -> dict[str, list[str]]:
    """What a scene says and leaves in an empty folder.  `hp` is the program, $M a model with tokens,
    $G one of GPT-2's kind with a witness, $L a gated one, $C the folder of cases."""
    with tempfile.TemporaryDirectory(prefix="scene.") as folder:
        environment = dict(os.environ, HP=program, C=f"{ROOT}/cases", LC_ALL="C", OMP_NUM_THREADS="2",
                           M=f"{ROOT}/cases/models/modadd53-silu.safetensors",
                           G=f"{ROOT}/cases/models/chargpt", L=f"{ROOT}/cases/models/llama")
        script = 'hp() { "$HP" "$@"; echo "exit $?" >&2; }\n' + command
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment,
                              capture_output=True, check=False)
        left = {"stdout": done.stdout, "stderr": done.stderr}
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file():
                left[str(path.relative_to(folder))] = path.read_bytes()
    places = ((program, b"headproof"), (folder, b"."), (str(ROOT), b"ROOT"))
    for place, name in places:
        left = {path: text.replace(place.encode(), name) for path, text in left.items()}
    return {path: lines(text) for path, text in left.items() if text}


def near(a: Decimal, b: Decimal) -> bool:
    """Are they a machine's same number?  A share, or an error of its rounding, is 0 on one and not on
    another; what is smaller, as the reference's errors are, is never 0 here and not there."""
    return a == b or max(a, b) < 1000 * min(a, b) or (min(a, b) == 0 and TINY <= max(a, b) <= 1)


def alike(ours: list[str], theirs: list[str]) -> bool:
    """Do they differ in a machine's numbers alone, and in where lines end?"""
    a, b = " ".join(ours), " ".join(theirs)
    if NUMBER.sub("#", DIGEST.sub("", a)).split() != NUMBER.sub("#", DIGEST.sub("", b)).split():
        return False
    return all(near(abs(Decimal(x)), abs(Decimal(y)))
               for x, y in zip(NUMBER.findall(DIGEST.sub("", a)), NUMBER.findall(DIGEST.sub("", b))))


def differences(mark: str, old: dict[str, list[str]], new: dict[str, list[str]]) -> list[str]:
    """Where what is written now is not what was."""
    told = []
    for name in sorted({*old, *new}):
        was, now = old.get(name, []), new.get(name, [])
        if was != now and not (mark == "~" and alike(was, now)):
            told += difflib.unified_diff(was, now, f"{name} recorded", f"{name} now", lineterm="", n=0)
    return told


def main() -> None:
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    program, words, text = os.path.abspath(sys.argv[1]), sys.argv[2:], ""
    head = [line for line in PATH.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    for scene in scenes():
        files = scene.files
        if scene.mark != "?" and (not words or any(word in scene.command for word in words)):
            files = run(program, scene.command)
        text += f"\n{scene.mark} {scene.command}\n"
        for name, said in files.items():
            text += "".join(f"{line}\n" for line in [f"> {name}", *(f"  {each}" for each in said)])
    PATH.write_text("\n".join(head) + "\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()
