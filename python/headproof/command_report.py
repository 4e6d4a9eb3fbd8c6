"""headproof report: results as one page of HTML that needs no network and no script."""

from __future__ import annotations

import html
import json
import re
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence

from . import __version__
from .command_line import Complaint, flags_and_files, shell_word, shown, write_whole
from .pictures import SERIES_MOST, Wish, figure_of, picture_of
from .series import CONSTANTS, Csv, read_whole
from .tables import seen

ROWS_SHOWN, FAILURES_SHOWN = 40, 50  # the rest is counted
COLUMNS_MOST, UPRIGHT_MOST = 8, 4  # of more columns and few rows, a line a column
NARROW = 343  # the width of a picture for telephones of 375 pixels
# In this order a verdict names them; "none" is a search's without an Omega.
STATUSES = ("error", "overflow", "fail", "vacuous", "none")
CONCLUSIONS = {"fail": "FAIL", "evaluated": "evaluated, nothing judged: no tolerance",
               "saved": "saved, nothing compared", "pass": "PASS"}
FACTS = ("date version commit compiler flags system cpu cpu_cores tier openblas_core "
         "openblas_config mpfr_runtime gmp_runtime mpi digest").split()

# Colours of both themes have a contrast of 4.5 or more, and what was not judged is grey; a picture
# is drawn for wide and for narrow pages, a table that is wider scrolls by itself, and paper cuts
# nothing.
STYLE = """\
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--soft:#f1f3f5;--line:#c9ced3;
--pass:#146c2e;--fail:#b3261e;--quiet:#5c636a}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--soft:#23272c;
--line:#484f57;--pass:#7ddc93;--fail:#ff9c92;--quiet:#a6adb4}}
body{margin:0 auto;padding:1rem;max-width:72rem;color:var(--ink);background:var(--paper);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.2rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1rem}
.verdict{font-weight:700;font-size:1.1rem}.pass{color:var(--pass)}.fail{color:var(--fail)}
.evaluated,.saved{color:var(--quiet)}
a{color:inherit}
.wide,figure,pre{overflow-x:auto}figure{margin:1rem 0}
svg{display:block;width:100%;height:auto;background:#fff}.narrow{display:none}
@media screen and (max-width:48rem){.broad{display:none}.narrow{display:block}}
pre{background:var(--soft);padding:.5rem;margin:.5rem 0;font-size:.85rem;white-space:pre-wrap}
figure pre{white-space:pre}
table{border-collapse:collapse;font-size:.85rem;overflow-wrap:normal}
th,td{border:1px solid var(--line);padding:.2rem .5rem;text-align:left;white-space:nowrap}
th{background:var(--soft)}td.n{text-align:right;font-variant-numeric:tabular-nums}
td.fail{color:var(--fail)}.upright td{white-space:normal;text-align:left;min-width:7rem;
overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.1rem 1rem;font-size:.9rem}
dt{font-weight:600}dd{margin:0}
@media(max-width:40rem){dl{grid-template-columns:1fr}dd{margin:0 0 .5rem}}
@media print{:root{--ink:#000;--paper:#fff;--soft:#f1f3f5;--line:#999;--pass:#146c2e;
--fail:#b3261e;--quiet:#5c636a}body{max-width:none;padding:0;font-size:10pt}.wide,figure,
pre{overflow:visible}table{font-size:7.5pt}th,td{padding:.1rem .25rem}tr,figure,svg,
pre{break-inside:avoid}h2,h3,.verdict{break-after:avoid}}
"""
# The meaning of columns and curves; the words are those of the tables.
ERRORS = """\
<p>T is the model, T′ its rewrite with attention heads alone and T∞ that with an infinite Ω; r( )
is exact mathematics and m( ) the machine's. <strong>Approximation</strong> is r(T∞) beside r(T),
<strong>construction</strong> r(T′) beside r(T∞) (what a finite Ω costs),
<strong>rounding</strong> m(T′) beside r(T′), <strong>native</strong> m(T) beside r(T),
<strong>total</strong> m(T′) beside r(T), and <strong>observed</strong> m(T′) beside m(T), which
is all that a machine alone could see.</p>
"""


def text(value: Any) -> str:
    """A text, not of the program, as HTML has it; "" of what is none."""
    return html.escape(shown(value), quote=False) if isinstance(value, str) else ""


def count(number: int, what: str) -> str:
    """ "3 rows", "1 row"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def value(cell: str) -> str:
    """A number with an exponent has three digits, as on a terminal."""
    found = re.fullmatch(r"(-?)(\d+(?:\.\d*)?)[eE]([-+]?\d+)", cell)
    if not found or float(found[2]) == 0:
        return text(cell)
    digits, power = f"{float(found[2]):.15e}".split("e")
    exponent, mantissa = int(found[3]) + int(power), float(digits)
    if mantissa >= 9.995:
        exponent, mantissa = exponent + 1, 1.0
    return f"{'&minus;' if found[1] else ''}{mantissa:.2f}e{exponent:+03d}"


class Subject:
    """A file that a report is about: what it holds, and the verdict that follows from it.

    good: statuses that are no failure.  Tables of sweeps, or of other commands, with the sidecar
    beside them, or what check --json wrote.  A point fails where a sidecar says so that is of these
    very rows; without its word, a row does by its status."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.check: Dict[str, Any] = {}
        self.sidecar: Optional[Dict[str, Any]] = None
        self.csv = Csv(path, [""])
        self.points: List[Any] = []  # that the sidecar names, or findings
        self.judged = self.failed = 0
        self.proven = self.drawn = False
        with open(path, "rb") as file:
            data = file.read()
        (self._read_check if data.startswith(b"{") else self._read_table)(data)

    def _refuse(self) -> Complaint:
        return Complaint("expected a table of sweep, depth, min-omega, verify or growth, or what "
                         "check --json wrote", self.path)

    def _read_check(self, data: bytes) -> None:
        try:
            self.check = json.loads(data)
        except ValueError as error:
            raise self._refuse() from error
        self.conclusion = self.check.get("verdict", "")
        if self.conclusion not in CONCLUSIONS or not isinstance(self.check.get("findings"), list):
            raise self._refuse()
        self.points = self.check["findings"]
        self.failed = max(0, int(self.check.get("rows_failed", 0)))
        self.conclusion = "fail" if self.points else self.conclusion

    def _read_table(self, data: bytes) -> None:
        self.csv = csv = read_whole(self.path)
        sweep = csv.names[0] == "construction" and {"layer", "construction_max"} <= {*csv.names}
        laws = "law" in csv.columns
        if not (sweep or laws or csv.searched or {"omega_min", "judged_log2"} & {*csv.names}) or \
                csv.rows == 0 or "status" not in csv.columns:
            raise self._refuse()
        self.sweep, self.good = sweep, ("ok", "unresolved") + ("none",) * laws
        self.drawn = sweep or (csv.searched and any(map("".__ne__, csv[f"{csv.constant}_min"])))
        self._read_sidecar(data)
        said = [point.get("passed") for point in self.points if self.proven]
        self.points = self.points if self.proven else []
        self.failed = said.count(False)
        if not {True, False} & {*said}:
            self.failed = sum(map(self.row_fails, range(csv.rows)))
        judges = re.compile(r"(?:^|;)tolerance=(?!none(?:;|$))")
        self.judged = csv.rows if "tolerance" in csv.columns else \
            sum(judges.search(options) is not None for options in csv["options"])
        self.conclusion = "fail" if self.failed else \
            "pass" if self.judged and self.proven else "evaluated"

    def _read_sidecar(self, data: bytes) -> None:
        """The sidecar, where there is one; it must be of these very bytes."""
        try:
            with open(self.path + ".json", encoding="utf-8-sig") as file:
                sidecar = json.load(file)
        except (FileNotFoundError, ValueError):
            return
        if not isinstance(sidecar, dict):
            return
        self.sidecar, self.points = sidecar, sidecar.get("points", [])
        digest = 0xCBF29CE484222325  # FNV-1a
        for byte in data:
            digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        self.proven = sidecar.get("digest") == f"{digest:016x}"
        if sidecar.get("digest") and not self.proven:
            raise Complaint("its rows are not those that its .json names", file=self.path)

    def row_fails(self, row: int) -> bool:
        """By its status."""
        return self.csv["status"][row] not in self.good

    def verdict(self) -> str:
        """ "FAIL: 3 of 12 points; 4 rows fail", as text."""
        fails, words = self.conclusion == "fail", CONCLUSIONS[self.conclusion]
        if self.check:
            return self._check_verdict(fails, words)
        rows = self.csv.rows
        total, what = (len(self.points), "point") if self.points else (rows, "row")
        if not fails and self.judged and not self.proven:
            return (f"no failure in {count(rows, 'row')}, but no sidecar with their digest says "
                    "that they are as they were written")
        if not fails:
            rest = f", {rows - self.judged} without a tolerance" * (0 < self.judged < rows)
            return f"{words}: {count(total, what)}, {count(rows, 'row')}{rest}"
        found = "" if not self.csv.searched else f"without {CONSTANTS[self.csv.constant]}"
        reasons = [(self.csv["status"].count(status), {"none": found}.get(status, status))
                   for status in STATUSES]
        named = [f"{count(number, 'row')} {word}" for number, word in reasons if number and word]
        said = "; " * bool(named) + ", ".join(named)
        return f"FAIL: {self.failed} of {count(total, what)}{said}"

    def _check_verdict(self, fails: bool, words: str) -> str:
        if not fails and "cases" in self.check:  # of verify, min-omega
            return f"{words}: {count(len(self.check['cases']), 'case')}"
        if self.conclusion == "pass":
            good = "as good as the baseline's" if self.check.get("baseline") else \
                "within its tolerance"
            return f"PASS: every row is {good}"
        if not fails:
            return words
        first = self.points[0] if self.points else {}
        return (f"FAIL: {count(self.failed, 'row')}, {count(len(self.points), 'finding')}; the "
                f"first: {(first.get('column') or '')[:40]} {(first.get('reason') or '')[:60]}")


# ---- A section -----------------------------------------------------------------------------------


def section(subject: Subject, wish: Wish, number: int) -> Iterator[str]:
    """Of one file: verdict, picture, rows, failures, where it was run."""
    yield (f'<section id="file-{number + 1}">\n<h2>{text(subject.path)}</h2>\n'
           f'<p class="verdict {subject.conclusion}">{text(subject.verdict())}</p>\n')
    facts = subject.check or subject.sidecar or {}
    for note in facts.get("notes" if subject.check else "conditions", []):
        yield f"<p>Note: {text(note)}</p>\n"
    if subject.drawn:
        yield from drawing(subject, wish, number)
    if subject.check:
        yield from findings(subject.points)
    else:
        yield from listing(subject)
        if subject.conclusion == "fail":
            yield from failures(subject)
    yield "<h3>Where it was run</h3>\n<dl>\n" + fact("file", subject.path)
    if isinstance(facts.get("argv"), list):
        words = " ".join(map(shell_word, facts["argv"]))
        yield f"<dt>command</dt><dd><code>{text(words)}</code></dd>\n"
    yield from (fact(name, facts.get(name, "")) for name in FACTS)
    yield fact("baseline", subject.check.get("baseline", "")) + "</dl>\n"
    if not facts:
        yield "<p>No sidecar lies beside the table: nothing is known of its run.</p>\n"
    yield "</section>\n"


def fact(name: str, said: Any) -> str:
    """A line of what was run where; none of what is not known."""
    return f"<dt>{name}</dt><dd>{text(said)}</dd>\n" if said and isinstance(said, str) else ""


def drawing(subject: Subject, wish: Wish, number: int) -> Iterator[str]:
    """The picture of a table, for wide pages and for narrow ones; of one point a sentence.  No two
    parts of the page have one name."""
    for place, (kind, width) in enumerate((("broad", 0), ("narrow", NARROW))):
        try:
            picture = picture_of([subject.csv], Wish(width=width, omegas=wish.omegas))
        except Complaint as complaint:  # there is nothing to draw
            print(complaint, file=sys.stderr)
            return
        if picture.is_point():
            yield f"<p>{html.escape(picture.point_words())}</p>\n"
            return
        svg = figure_of(picture).image("svg").decode()
        svg = svg[svg.index("<svg "):]
        own = re.sub(r'( id="|="#|url\(#)', rf"\1f{2 * number + place + 1}-", svg)
        wide = re.search(r'width="([0-9.]+)"', svg)
        assert wide is not None
        yield (f'<figure class="{kind}"><svg role="img" style="max-width:{float(wide[1]):.0f}px"'
               f"{own[len('<svg'):]}</figure>\n")


def listing(subject: Subject) -> Iterator[str]:
    """The first rows, those that fail before others, in the columns that say something."""
    csv, names = subject.csv, seen(subject.csv.columns)
    rows = sorted(range(csv.rows), key=lambda row: not subject.row_fails(row))[:ROWS_SHOWN]

    def cell(name: str, row: int) -> str:
        number = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", csv[name][row])
        kinds = " ".join(["n"] * bool(number) + ["fail"] * subject.row_fails(row))
        kind = f' class="{kinds}"' if kinds else ""
        return f"<td{kind}>{value(csv[name][row])}</td>"

    yield "<h3>Rows</h3>\n"
    body = [[cell(name, row) for name in names] for row in rows]
    upright = len(rows) <= UPRIGHT_MOST and len(names) > COLUMNS_MOST
    head = [f'<th scope="{"row" if upright else "col"}">{text(name)}</th>' for name in names]
    if upright:
        body = [list(line) for line in zip(head, *body)]
    yield '<div class="wide"><table class="upright">\n' if upright else \
        f'<div class="wide"><table>\n<thead><tr>{"".join(head)}</tr></thead>\n'
    yield from ("<tbody>\n", *(f"<tr>{''.join(line)}</tr>\n" for line in body),
                "</tbody>\n</table></div>\n")
    if csv.rows > ROWS_SHOWN:
        yield f"<p>{ROWS_SHOWN} of {csv.rows} rows, those that fail first.</p>\n"
    yield "<p>Keys that do not vary are left out; the file has them.</p>\n"


def code(words: str) -> str:
    """A command."""
    return f"<pre><code>{text(words)}</code></pre>\n"


def more(number: int) -> str:
    """Those that are not shown."""
    return f"<p>and {number - FAILURES_SHOWN} more</p>\n" if number > FAILURES_SHOWN else ""


def failures(subject: Subject) -> Iterator[str]:
    """The points that fail, each with the command that evaluates it again; what is no point of a
    sweep the whole command finds again."""
    yield "<h3>Failures</h3>\n"
    words = (subject.sidecar or {}).get("argv")
    if not subject.sweep and isinstance(words, list):
        yield code(" ".join(map(shell_word, words)))
        return
    failed = [point.get("command", "") for point in (subject.sidecar or {}).get("points", [])
              if point.get("passed") is False]
    yield from map(code, failed[:FAILURES_SHOWN])
    yield more(subject.failed) if failed else \
        "<p>No sidecar names the commands; the rows above say which.</p>\n"


def findings(found: Sequence[Dict[str, Any]]) -> Iterator[str]:
    """What a check found; a command that several share is said once."""
    yield "<h3>Failures</h3>\n" if found else ""
    first: List[Dict[str, Any]] = [*found[:FAILURES_SHOWN], {}]
    for finding, following in zip(first, first[1:]):
        row = text(finding.get("row"))
        said = "".join(f", {key} {value(finding[key])}"
                       for key in ("obtained", "baseline", "ratio", "limit") if finding.get(key))
        yield (f"<p>{row}{': ' if row else ''}<strong>{text(finding.get('column'))}</strong> "
               f"{text(finding.get('reason'))}{said}</p>\n")
        if finding.get("reproduce") != following.get("reproduce"):
            yield code(finding.get("reproduce") or "")
    yield more(len(found))


# ---- The page ------------------------------------------------------------------------------------


def omegas_of(csv: Csv) -> List[float]:
    """The Omegas of a table in which few of them can be curves."""
    found = {float(omega) for omega in set(csv["omega"]) if omega}
    return sorted(found) if len(found) <= SERIES_MOST else []


def page(subjects: Sequence[Subject]) -> Iterator[str]:
    """The verdict over all, its reason, and where each file is; then file by file."""
    of = [subject.conclusion for subject in subjects]
    verdict = "fail" if "fail" in of else "pass" if {*of} == {"pass"} else "evaluated"
    words = CONCLUSIONS[verdict] if verdict != "evaluated" else \
        "not all judged" if "pass" in of else "nothing judged"
    yield ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
           '<meta name="generator" content="headproof report">\n'
           '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
           f"<title>{words}: headproof report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
           f'<h1>Headproof: <span class="{verdict}">{words}</span></h1>\n<ul>\n')
    for number, subject in enumerate(subjects, start=1):
        yield (f'<li><a href="#file-{number}">{text(subject.path)}</a>: '
               f'<span class="{subject.conclusion}">{text(subject.verdict())}</span></li>\n')
    yield f"</ul>\n{ERRORS}"
    wish = Wish(omegas=sorted({omega for each in subjects for omega in omegas_of(each.csv)}))
    for number, subject in enumerate(subjects):
        yield from section(subject, wish, number)
    yield (f"<footer><p>Written by headproof {__version__}.</p></footer>\n</body>\n</html>\n")


def run(words: List[str]) -> int:
    """The command: 0 where the page is written, whatever its verdict."""
    flags, files = flags_and_files(words)
    output = flags.get("output")
    if output is None:
        raise Complaint("expected FILE... -o FILE.html", "report")
    written = "".join(page([Subject(path) for path in files]))
    if output in ("-", "/dev/stdout"):
        sys.stdout.write(written)
        return 0
    write_whole(output, written.encode("utf-8", "backslashreplace"))
    print(f"report: {shown(output)}")
    return 0
