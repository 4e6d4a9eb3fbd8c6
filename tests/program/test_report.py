"""Pages of results: the verdict and its reason, the picture, the rows that fail and the commands
that repeat them; what is refused; and, where there is Chromium, how a browser takes the page.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import PROGRAM, ROOT, quick_python

sys.path.insert(0, str(ROOT / "python"))
from headproof import command_report  # noqa: E402
from headproof.command_line import Complaint  # noqa: E402

SMALL = "sweep --construction silu --n 2 --d 2"
# Two points of three are above the tolerance.
SWEEP = f"{SMALL} --omega 1,20,1e9 --tolerance 1e-12 --quiet -o s.csv"
# One, of which there is no picture to draw.
POINT = f"{SMALL} --omega 1 --tolerance 1e-12 --quiet -o s.csv"
SEARCH = "min-omega --construction silu --n 2 --d 2 --quiet -o m.csv --tolerance"


@pytest.fixture
def page(expect, tmp_path, monkeypatch):
    """page(files): the page of files, made here; drawn: with its pictures, as the command writes
    it, which take most of the time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADPROOF", PROGRAM)
    drawing = command_report.drawing

    def made(files="s.csv", drawn=False):
        monkeypatch.setattr(command_report, "drawing", drawing if drawn else lambda *_: ())
        return "".join(command_report.page([command_report.Subject(path) for path in files.split()]))
    return made


def edit(path, old, new):
    """Replaces all that matches in a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(old, new, text, flags=re.M))


def test_a_sweep(expect, page, run):
    expect(1, SWEEP)
    expect(0, "report s.csv -o r.html", "report: r.html")
    written = open("r.html", encoding="utf-8").read()
    assert written == page(drawn=True)
    for words in ("<title>FAIL: headproof report</title>", "FAIL: 2 of 3 points; 2 rows fail</p>",
                  "<code>headproof sweep --construction silu --n 2 --d 2 --omega 1000000000 --seed 1 "
                  "--tolerance 1e-12</code>", "<dt>openblas_core</dt>", "<figure",
                  "T is the model, T\u2032 its rewrite with attention heads alone",
                  "</footer>\n</body>\n</html>\n"):
        assert words in written
    assert written.count("<td class=\"fail\">fail") == 2
    # No part of the page lets a cell break between two letters, as the page's own text may.
    assert "table{border-collapse:collapse;font-size:.85rem;overflow-wrap:normal}" in written
    assert "h2,h3,.verdict{break-after:avoid}" in written
    assert "th,td{white-space:normal" not in written.split("@media print")[1].split("</style>")[0]
    # The command beside the failures is one that fails by itself.
    words = re.search(r"<code>headproof (sweep --construction[^<]*)", written)[1].split()
    assert run(*words, "--quiet").code == 1


def test_a_page_of_standard_output(expect, page, run):
    expect(1, POINT)
    written = page(drawn=True)
    for output in ("-", "/dev/stdout"):
        ended = run("report", "s.csv", "-o", output, cwd=os.getcwd())
        assert (ended.stdout, ended.stderr) == (written, "") and not os.path.exists("-")
    full = subprocess.run(f"'{PROGRAM}' report s.csv -o - >/dev/full", shell=True, text=True,
                          capture_output=True,
                          env={**os.environ, "HEADPROOF_PYTHON": quick_python()})
    assert full.returncode == 99 and "stdout: cannot be written" in full.stderr


def test_the_beginning_of_a_page_is_its_own(expect, page):
    expect(1, POINT)
    with open("r.html.partial", "w", encoding="utf-8") as file:
        file.write(page()[:300])
    expect(0, "report s.csv -o r.html", "report: r.html")
    with open("r.html.partial", "w", encoding="utf-8") as file:
        file.write("mine")
    expect(2, "report s.csv -o r.html", "move it, or choose another name")


def test_rows(expect, page):
    """Rows that fail come before those that pass, of which forty are shown."""
    expect(0, f"{SMALL} --omega 11:60 --quiet -o s.csv")
    assert "40 of 50 rows" in page()
    expect(1, SWEEP)
    os.unlink("s.csv.json")
    assert "FAIL: 2 of 3 rows; 2 rows fail" in page() and "nothing is known of its run" in page()
    assert re.findall(r"<tr><td[^>]*>(\d+)", page()) == ["1", "1000000000", "20"]


def test_what_passes(expect, page):
    """A page is green where something was judged, and where a digest says that nobody changed it."""
    expect(0, f"{SMALL} --omega 1 --quiet -o s.csv")
    assert "<title>nothing judged: headproof report</title>" in page()
    assert 'class="pass"' not in page() and "verdict pass" not in page()
    assert ('verdict evaluated">evaluated, nothing judged: no tolerance: 1 point, 1 row</p>' in page())
    with open("c.case", "w", encoding="utf-8") as file:
        file.write("[a]\nconstruction=silu\nn=2\nd=2\nomega=20\n[b]\nconstruction=silu\nn=2\nd=2\n"
                   "omega=20\ntolerance=1e-9\n")
    expect(0, "sweep c.case -q -o t.csv")
    assert "<title>not all judged: headproof report</title>" in page("s.csv t.csv")
    assert "<title>PASS: headproof report</title>" in page("t.csv")
    assert "PASS: 2 points, 2 rows, 1 without a tolerance</p>" in page("t.csv")
    # Rows that fail, beside a sidecar that says all passed, and has no digest.
    edit("t.csv", "ok$", "fail")
    sidecar = json.load(open("t.csv.json", encoding="utf-8"))
    digest = sidecar.pop("digest")
    json.dump(sidecar, open("t.csv.json", "w", encoding="utf-8"))
    assert "FAIL: 2 of 2 rows; 2 rows fail" in page("t.csv")
    edit("t.csv", "fail$", "ok")
    assert "no failure in 2 rows, but no sidecar with their digest says that they are" in page("t.csv")
    json.dump({**sidecar, "digest": digest[::-1]}, open("t.csv.json", "w", encoding="utf-8"))
    with pytest.raises(Complaint, match="its rows are not those that its .json names"):
        page("t.csv")
    os.unlink("t.csv.json")
    assert "<title>nothing judged: headproof report</title>" in page("t.csv")


@pytest.mark.parametrize("passed", [None, False, True])
def test_points_of_a_sidecar(expect, page, passed):
    """What it says of a point counts; a point that was never judged has no verdict, and the rows are
    asked."""
    expect(1, SWEEP)
    edit("s.csv.json", '"passed": [a-z]*', f'"passed": {json.dumps(passed)}')
    said = {None: "2 of 3 points; 2 rows fail</p>", False: "3 of 3 points; 2 rows", True: "PASS: 3 p"}
    assert said[passed] in page()


@pytest.mark.parametrize("cell, shown", [
    ("9.9949e-03", "9.99e-03"), ("9.9951e-03", "1.00e-02"), ("9.999e-01", "1.00e+00"),
    ("-9.996e+99", "&minus;1.00e+100"), ("1.2345e-300", "1.23e-300"), ("<b>", "&lt;b&gt;"),
    ("1e-86858896380650365", "1.00e-86858896380650365"), ("12", "12"), ("0", "0")])
def test_numbers(cell, shown):
    """Three digits, never ten before the point."""
    assert command_report.value(cell) == shown


def test_checks(expect, page):
    with open("c.case", "w", encoding="utf-8") as file:
        file.write("[a]\nconstruction=silu\nn=2\nd=2\nomega=8,9\n")
    expect(0, "check c.case --save-baseline b.csv --quiet")
    expect(0, "check c.case --baseline b.csv --json c.json --quiet")
    assert "PASS: every row is as good as the baseline's" in page("c.json b.csv")
    edit("c.case", "8,9", "8,9,10")
    expect(1, "check c.case --baseline b.csv --json c.json --quiet")
    assert "FAIL: 1 row, 1 finding; the first:" in page("c.json")
    assert "<code>headproof sweep --construction silu --n 2 --d 2 --omega 10" in page("c.json")
    assert "<p>silu" in page("c.json") or "omega 10" in page("c.json")


@pytest.mark.parametrize("check, words", [
    ({"verdict": "fine", "findings": []}, None), ({"verdict": "pass", "findings": [{}]}, "<title>FAIL"),
    ({"verdict": "saved", "findings": []}, "saved, nothing compared")])
def test_words_of_checks(page, check, words):
    """A word that check has not, or that its findings belie."""
    with open("j", "w", encoding="utf-8") as file:
        json.dump(check, file)
    if words is None:
        with pytest.raises(Complaint, match="expected a table"):
            page("j")
    else:
        assert words in page("j")


def test_searches(expect, page):
    """What min-omega found: upright where few rows have many columns, drawn, and found again by
    itself; searches in vain are not drawn."""
    expect(0, "min-omega --construction silu,fused --n 2 --d 2 --tolerance 1e-6 --every-input "
              "--input-norm 2 --quiet -o m.csv")
    assert ('<tr><th scope="row">construction</th><td>silu</td><td>fused</td></tr>\n'
            in page("m.csv"))
    figure = re.search(r'<figure class="broad"><svg.*?</figure>', page("m.csv", drawn=True),
                       re.S)[0]
    assert re.findall(">(silu|fused)<", figure) == ["silu", "fused"]
    expect(0, "min-omega --construction silu --n 2:6 --d 2 --tolerance 1e-6 --quiet -o m.csv")
    assert '<th scope="col">omega_min</th>' in page("m.csv")
    expect(0, f"{SEARCH} 1e-6")
    assert '<th scope="row">omega_min</th>' in page("m.csv") and "PASS: 1 point, 1 row" in page("m.csv")
    expect(1, f"{SEARCH} 1e-300")
    written = page("m.csv", drawn=True)
    assert f"{SEARCH} 1e-300</code></pre>".replace("--quiet", "--quiet") in written
    assert "FAIL: 1 of 1 point; 1 row without an omega</p>" in written and "<figure" not in written
    assert "<p>One point" not in written


def test_laws_along_tau(expect, page):
    """Searches for tau, and laws: a row without a law is no failure, one outside its band is."""
    grid = "--construction fused --ffn gated --n 2 --d 2 --omega 40 --quiet"
    expect(1, f"min-omega --over tau {grid} --readout 1,2 --tolerance 1e-6,1e-300 -o m.csv")
    written = page("m.csv", drawn=True)
    assert ("FAIL: 2 of 4 points; 2 rows without a tau</p>" in written and "<figure" in written and
            '<th scope="col">tau_min</th>' in written and "tau_below</th>" not in written)
    expect(0, f"sweep {grid} --tau 1,2^-3,2^-6,2^-9 -o s.csv")
    expect(0, "growth s.csv --norm max --quiet -o g.csv")
    written = page("g.csv", drawn=True)
    assert "<title>nothing judged: headproof report</title>" in written and "<figure" not in written
    assert "<td>tau</td><td>power</td>" in written and ">agrees</td>" in written
    edit("g.csv", "ok$", "none")
    os.unlink("g.csv.json")
    assert "verdict evaluated" in page("g.csv")
    expect(1, f"sweep {grid} --tau 2^-3 --seed 9 --tolerance 1e-30 -o t.csv")
    expect(1, "growth s.csv --norm max --check t.csv -o g.csv")
    assert re.search(r"FAIL: \d of \d rows; \d rows? fail</p>", page("g.csv"))


def test_what_verify_found(expect, page):
    model = ROOT / "cases/models/modadd53-silu.safetensors"
    expect(1, f"verify {model} --tokens 0/0/53 --omega 0.5 --tolerance 1e-9 --quiet -o v.csv")
    written = page("v.csv", drawn=True)
    failures = written.split("<h3>Failures</h3>")[1]
    assert " --tokens 0/0/53 --omega 0.5 --tolerance 1e-9 --quiet -o v.csv</code></pre>" in failures
    assert "<figure" not in written


@pytest.mark.parametrize("line, code, words", [
    ("report", 2, "FILE... -o FILE.html"),
    ("report s.csv", 2, "FILE... -o FILE.html"),
    ("report s.csv --colour red -o r.html", 2, "--colour"),
    ("report none.csv -o r.html", 2, "none.csv"),
    ("report x.csv -o r.html", 2, "expected a table of sweep, depth, min-omega, verify or growth"),
    ("report s.csv.json -o r.html", 2, "expected a table"),
    ("report s.csv -o s.csv", 2, "--output"),
    ("report s.csv -o s.csv.json", 2, "--output"),
    ("report s.csv -o full", 99, "full"),
    ("report e.csv -o r.html", 2, "its rows are not those that its .json names")])
def test_refused(expect, page, line, code, words):
    expect(1, POINT)
    os.symlink("/dev/full", "full")
    with open("x.csv", "w", encoding="utf-8") as file:
        file.write("a,b\n1,2\n")
    shutil.copy("s.csv.json", "e.csv.json")
    shutil.copy("s.csv", "e.csv")
    edit("e.csv", "silu", "fused")
    before = open("s.csv", encoding="utf-8").read()
    expect(code, line, words)
    assert not os.path.exists("r.html") and open("s.csv", encoding="utf-8").read() == before


def test_text_is_text(page):
    """Cells and names are text, whatever they look like."""
    with open("<b>.csv", "w", encoding="utf-8") as file:
        file.write("construction,layer,construction_max,status\n<script>alert(1)</script>,1,1e-3,fail\n"
                   "silu,1,1e-3,ok\n")
    written = page("<b>.csv", drawn=True)
    assert "<b>" not in written and "<script" not in written and "&lt;script&gt;" in written


def test_names_are_once(expect, page):
    """Two pictures on a page share no name, and every name that is asked for is there."""
    expect(1, SWEEP)
    shutil.copy("s.csv", "t.csv")
    written = page("s.csv t.csv", drawn=True)
    names = re.findall(r' id="([^"]*)"', written)
    assert len(names) == len(set(names)) > 100
    assert {*re.findall(r'(?:href="#|url\(#)([^")]*)', written)} <= {*names}
    assert not re.search(r"<script|src=|@import", written)


def test_colours(expect, page):
    """Pictures of a page have one colour for an Omega."""
    for omegas in ("20,1000", "8,20", "8,9,10,11,12,13,14,20"):
        expect(0, f"{SMALL} --depth 12 --omega {omegas} -q -o s{omegas.count(',')}{omegas[0]}.csv")
    figures = re.findall(r'<figure class="broad">.*?</figure>',
                         page("s12.csv s18.csv s78.csv", drawn=True), re.S)
    colours = set()
    for figure in figures:
        legend = figure[figure.index('-legend_1"'):]
        lines = re.findall(r'<path d="[^"]*"[^>]*stroke: (#[0-9a-f]{6})', legend)
        labels = re.findall(r">([^<>]*)</text>", legend)
        colours.add(lines[labels.index("omega 20")])
    assert len(figures) == 3 and colours == {"#0072b2"}


def test_one_point(expect, page):
    """Of one point the page has a sentence."""
    expect(0, f"{SMALL} --omega 20 -q -o s.csv")
    written = page(drawn=True)
    assert "<p>One point, of which there is no picture: total" in written
    assert "<figure" not in written


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium")
def test_browser(expect, page, tmp_path):
    """No message on the console, nothing wider than a telephone or a window, in both themes; and
    paper takes it.  A window of a browser's own is never narrower than 500 pixels: a frame is."""
    expect(1, SWEEP)
    expect(0, f"{SEARCH} 1e-6")
    expect(0, "report s.csv m.csv -o r.html")
    chromium = ["timeout", "300", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                f"--user-data-dir={tmp_path}/.c", "--enable-logging=stderr",
                "--allow-file-access-from-files"]

    def browse(*words):
        return subprocess.run([*chromium, *words], capture_output=True, text=True,
                              env={**os.environ, "HOME": str(tmp_path)})
    for width in (375, 1400):
        with open("frame.html", "w", encoding="utf-8") as file:
            file.write(f"<iframe src='r.html' style='border:0;width:{width}px;height:800px'></iframe>"
                       "<p id='says'></p><script>onload = function () { var d = "
                       "frames[0].document.documentElement;document.getElementById('says')"
                       ".textContent = d.clientWidth + ' ' + d.scrollWidth; }</script>\n")
        ended = browse("--hide-scrollbars", "--dump-dom", f"file://{tmp_path}/frame.html")
        assert f'says">{width} {width}<' in ended.stdout and "CONSOLE" not in ended.stderr
    ended = browse("--blink-settings=preferredColorScheme=0", f"--print-to-pdf={tmp_path}/r.pdf",
                   f"file://{tmp_path}/r.html")
    assert "CONSOLE" not in ended.stderr and open("r.pdf", "rb").read(5) == b"%PDF-"
