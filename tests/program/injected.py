"""Runs of the program in which one thing fails, or that end there: tests/inject/ makes it so,
these judge what came of it.

A program is started once, and forks as main begins for every run that is asked of it.  It works in
out/, beside in/."""

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess

from conftest import PROGRAM, start

OBJECT = os.environ.get("INJECT_OBJECT", pathlib.Path(PROGRAM).with_name("inject.so"))
NIGHTLY = "HEADPROOF_NIGHTLY" in os.environ
NOTHING = "end:1000000000:9"
ASKED, ENDED = 198, 199  # tests/inject/inject.h


def core():
    """What the core is called by OPENBLAS_CORETYPE: a program that restarted itself for another one
    would lose its injector's filter."""
    return re.search(r"^openblas_core +(\S+)", start("info").stdout, re.M)[1]


class Injected:
    """`headproof LINE`, again and again."""

    def __init__(self, folder, line, **environment):
        self.line, self.out, self.log = line, folder / "out", folder / "log"
        self.printed, self.said = folder / "printed", folder / "said"
        self.out.mkdir(exist_ok=True)
        (asked, self.ask), (self.told, told) = os.pipe(), os.pipe()

        def give():
            os.dup2(asked, ASKED)
            os.dup2(told, ENDED)
        with open(self.printed, "wb") as printed, open(self.said, "wb") as said:
            self.program = subprocess.Popen(
                [PROGRAM, *line.split()], cwd=self.out, stdout=printed, stderr=said,
                preexec_fn=give, close_fds=False,
                env={**os.environ, "OPENBLAS_CORETYPE": core(), "OPENBLAS_NUM_THREADS": "1",
                     "LD_PRELOAD": str(OBJECT), "HEADPROOF_INJECT_LOG": str(self.log),
                     "HEADPROOF_INJECT_DEPTH": os.environ.get("INJECT_DEPTH", "3"),
                     **environment})
        os.close(asked)
        os.close(told)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.ask)
        os.close(self.told)
        assert self.program.wait() == 0

    def run(self, asked):
        """Asks for that; the exit code, below 0 the signal that ended it."""
        self.log.unlink(missing_ok=True)
        os.write(self.ask, asked.encode())
        return os.waitstatus_to_exitcode(struct.unpack("i", os.read(self.told, 4))[0])

    def logged(self):
        return self.log.read_text() if self.log.exists() else ""

    def has_struck(self):
        return "struck" in self.logged()


def empty(folder):
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def lasting(data):
    """Bytes of a file, without the date and what was timed."""
    return re.sub(rb'("seconds":|"date":| time=")[^,\n>]*', rb"\1", data)


def files_of(folder):
    return {path.name: lasting(path.read_bytes()) for path in folder.iterdir()}


class Scenario(Injected):
    """The same, with what an undisturbed run does.  left: the file r.csv.partial as runs find it,
    whose rows no fault may lose."""

    def __init__(self, folder, line, left=None, **environment):
        super().__init__(folder, line, **environment)
        self.left = left
        self.code = self.disturbed("count")
        assert self.code in (0, 1), (line, self.said.read_text())
        self.counted = self.logged()
        assert "\nbeyond" not in self.counted
        self.output, self.published = lasting(self.printed.read_bytes()), files_of(self.out)

    def disturbed(self, asked):
        """A run from the beginning."""
        empty(self.out)
        if self.left is not None:
            (self.out / "r.csv.partial").write_bytes(self.left)
        return self.run(asked)

    def wrong(self, code):
        """What is wrong with how a run ended, or None: exit code 99 after a message, and no file
        but as the undisturbed run has it; or everything as that has it, its exit code too.  Some
        of OpenBLAS's kernels for AVX-512 do not look whether they got their memory: what they
        cannot become is a success."""
        there, did_without = files_of(self.out), code == self.code
        for name, text in self.published.items():
            if there.get(name, b"" if did_without else text) != text:
                return f"exit code {code}, and {name} differs or is missing"
        if self.left is not None and "r.csv" not in there:
            if not there.get("r.csv.partial", b"").startswith(lasting(self.left)):
                return "the rows that were there are lost"
        if did_without:
            same = lasting(self.printed.read_bytes()) == self.output
            return None if same else "did without, and printed otherwise"
        crashed = code == -signal.SIGSEGV and "by OpenBLAS" in self.logged()
        if crashed or (code == 99 and ": " in self.said.read_text(errors="replace")):
            return None
        return f"exit code {code}"

    def told_of(self, fault, why):
        """A line of what went wrong, with what is needed to look at it."""
        return f"{self.line}: {fault}: {why}\n{self.logged()}{self.said.read_text()[:300]}"

    def faults(self, met):
        """What can fail.  At night all of it, at first and at last; else once at each site that is
        not in `met`, which it then is, and at some of the others; of many calls some."""
        for i, found in enumerate(re.finditer(r"^site (\w+) (\d+) (\w+)$", self.counted, re.M), 1):
            site, count, caller = found.groups()
            if NIGHTLY or site not in met or i % 32 == 0:
                yield f"{site}:1@{caller}"
            if NIGHTLY:
                yield f"{site}:1+"
            if NIGHTLY and int(count) > 1:
                yield f"{site}:{count}"
            met.add(site)
        calls = len(re.findall("^call ", self.counted, re.M))
        for k in range(1, calls + 1, 1 if NIGHTLY or calls <= 60 else -(-calls // 4)):
            if not NIGHTLY or k <= 250 or k % 61 == 0:  # a model has thousands
                yield f"call:{k}"

    def failures(self, met):
        """Of all these runs those that ended otherwise than they may."""
        found, runs, struck, without = [], 0, 0, 0
        for fault in self.faults(met):
            code = self.disturbed(fault)
            runs, struck, without = (runs + 1, struck + self.has_struck(),
                                     without + (code == self.code))
            if why := self.wrong(code):
                found.append(self.told_of(fault, why))
        print(f"{self.line}: {runs} runs, {struck} struck, {without} did without")
        assert 0.9 * runs < struck > 4
        return found

    def ends_by(self, fault):
        """That strikes, and ends the run with 99 after a message; what is said."""
        code = self.disturbed(fault)
        why = self.wrong(code) or (None if code == 99 and self.has_struck() else f"code {code}")
        assert why is None, self.told_of(fault, why)
        return self.said.read_text()
