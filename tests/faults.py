#!/usr/bin/env python3
"""The planted faults of tests/faults/: reads the records, and plants one in the sources.

    python3 tests/faults.py list            name, check, tier, file and sentence of each, by tabs
    python3 tests/faults.py stale           those that cannot be planted
    python3 tests/faults.py plant NAME      puts that mistake into the sources of this directory

Run in the project's directory.  docs/architecture.md shows a record.  Exit 1, and a line for each:
records that are not complete, or two that collide.  Exit 3: a fault is stale, which is to say
that its file does not hold the old text exactly once; the line that is nearest to it is named.
"""

import difflib
import glob
import os
import re
import sys

HEAD = re.compile(r"([a-z0-9-]+): (\S+), (check|test_[a-z0-9_]+)(?: on (avx2|avx512))?")
SENTENCE = re.compile(r"[A-Z0-9].{8,}\.")


class Fault:
    """A record: its lines, then what they say; wrong tells what is missing, if anything is."""

    def __init__(self, place, head):
        self.place = place
        self.wrong = None
        self.sentence = None
        found = HEAD.fullmatch(head)
        if found:
            self.name, self.file, self.check, self.tier = found.groups()
        else:
            self.wrong = f"not NAME: FILE, CHECK or NAME: FILE, CHECK on TIER: {head}"
        self.texts = {"-": [], "+": []}

    def take(self, line):
        """A line of the record behind its first."""
        sign, text = line[4:5], line[6:]
        if self.sentence is None:
            self.sentence = line.strip()
        elif line[:4] == "    " and sign in self.texts and line[5:6] in ("", " "):
            if sign == "-" and self.texts["+"]:
                self.wrong = self.wrong or "an old line behind a new one"
            self.texts[sign].append(text)
        else:
            self.wrong = self.wrong or f"neither an old line nor a new one: {line.strip()}"

    def close(self):
        """What is wrong with the record as a whole."""
        self.old, self.new = ("\n".join(self.texts[sign]) for sign in "-+")
        if self.wrong:
            return
        if not SENTENCE.fullmatch(self.sentence or ""):
            self.wrong = "its second line is no sentence"
        elif not self.old.strip() or self.old == self.new:
            self.wrong = "no old text, or a new one that is the same"
        elif self.check != "check" and not glob.glob(f"tests/*/{self.check}.*"):
            self.wrong = f"no such test: {self.check}"


def text_of(path):
    """A file's text, whatever its bytes are; none where there is no file."""
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def read_all():
    """Every record; None, and messages, where any is not in order."""
    faults = []
    for path in sorted(glob.glob("tests/faults/*.txt")):
        records = []
        for number, line in enumerate(text_of(path).split("\n"), 1):
            if line[:1].strip() or (line.strip() and not records):
                records.append(Fault(f"{path}:{number}", line))
            elif line.strip():
                records[-1].take(line)
        faults += records
    seen = {}
    for fault in faults:
        fault.close()
        if not fault.wrong:
            for key in fault.name, (fault.file, fault.old, fault.new):
                other = seen.setdefault(key, fault)
                if other is not fault:
                    fault.wrong = f"collides with {other.place}, {other.name}"
    broken = [fault for fault in faults if fault.wrong]
    for fault in broken:
        print(f"{fault.place}: {fault.wrong}")
    return None if broken else faults


def stale(fault, text):
    """Why a fault cannot be planted, with the nearest line or the file that the text is in now;
    nothing where it can."""
    count = text.count(fault.old)
    if count == 1:
        return None
    said = f"{fault.place}: {fault.file} holds the old text {count} times"
    if not text:
        said = f"{fault.place}: there is no {fault.file}"
    if count > 1:
        at = [m.start() for m in re.finditer(re.escape(fault.old), text)]
        return said + ", in lines " + ", ".join(str(text.count("\n", 0, i) + 1) for i in at)
    for path in sorted(glob.glob(fault.file.split("/")[0] + "/**/*.[ch]", recursive=True)):
        if text_of(path).count(fault.old) == 1:
            return f"{said}; {path} holds it"
    if not text:
        return said
    wanted = fault.old.strip().split("\n")[0]
    lines = [line.strip() for line in text.split("\n")]
    near = max(lines, key=lambda line: difflib.SequenceMatcher(None, line, wanted).ratio())
    return f"{said}; nearest is line {lines.index(near) + 1}: {near}"


def plant(faults, write):
    """Puts the new texts in place of the old ones, if write says so; 3 where one is stale."""
    status = 0
    for fault in faults:
        text = text_of(fault.file)
        why = stale(fault, text)
        if why:
            print(why)
            status = 3
        elif write:
            with open(fault.file, "w", encoding="utf-8", errors="surrogateescape",
                      newline="") as file:
                file.write(text.replace(fault.old, fault.new))
    return status


def main(words):
    sys.stdout.reconfigure(errors="surrogateescape")
    faults = read_all()
    if faults is None:
        return 1
    if words == ["list"]:
        for fault in faults:
            tier = fault.tier or "portable"
            print(fault.name, fault.check, tier, fault.file, fault.sentence, sep="\t")
        return 0
    if words == ["stale"]:
        return plant(faults, write=False)
    if len(words) == 2 and words[0] == "plant":
        named = [fault for fault in faults if fault.name == words[1]]
        if named:
            return plant(named, write=True)
        print(f"no such fault: {words[1]}")
        return 1
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
