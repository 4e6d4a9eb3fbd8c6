"""The reports of headproof check: what they say of a table's findings, in every form, and of
what."""

import json
import re

import tables
from test_check_program import GRID, SMALL


def baseline_of(expect, tmp_path, line, *cells):
    """The check of line against its own table, of which cells are altered."""
    expect(0, f"{line} --save-baseline b.csv")
    tables.alter(tmp_path / "b.csv", *cells)
    return f"{line} --baseline b.csv"


def test_three_hundred_altered_digits_are_all_named(expect, reports, tmp_path):
    """In cells of the reference, in one of their first twelve digits."""
    line = f"check {GRID} --mask none,causal --seed 1:2"
    expect(0, f"{line} --save-baseline b.csv")
    rows, altered = tables.rows_of(tmp_path / "b.csv"), []
    for column in ("construction_max construction_rms construction_rel construction_log10 "
                   "bias_row_max score_max hidden_max").split():
        for row, cells in enumerate(rows, 1):
            if len(cells[column]) >= 16 and len(altered) < 300:
                at = re.search("[1-9]", cells[column]).start() + 2 + len(altered) % 10
                digit = str((int(cells[column][at]) + 1) % 10)
                altered.append((row, column, cells[column][:at] + digit + cells[column][at + 1:]))
    assert len(altered) == 300
    tables.alter(tmp_path / "b.csv", *altered)
    _, markdown, report, said = reports(1, f"{line} --baseline b.csv", "300 findings")
    keys = ("omega", "layer", "mask")
    named = {(f["column"], f["obtained"], f["baseline"], *(f["key"][key] for key in keys))
             for f in report["findings"]}
    for row, column, text in altered:
        cells = rows[row - 1]
        assert (column, cells[column], text, *(cells[key] for key in keys)) in named
    assert len(report["findings"]) == 300
    assert markdown.count("\n| ") == 11  # a header and ten
    assert "\n  and 290 more findings (--json FILE" in said, said[-300:]
    assert "|\n\nand 290 more.\n\nTo reproduce them:" in markdown


def test_a_row_is_named_by_options_that_others_lack(expect, tmp_path):
    line = baseline_of(expect, tmp_path, "check --construction linear --n 2 --d 2 --bias "
                       "none,random", (2, "construction_max", "1"))
    expect(1, line, "  options=bias=random\n    construction_max: differs: ")


def test_another_machine_is_mentioned(expect, reports, tmp_path):
    line = baseline_of(expect, tmp_path, f"check {GRID}")
    sidecar = tmp_path / "b.csv.json"
    said = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps({**said, "cpu": "Difference Engine No. 2"}))
    note = "the baseline's cpu is Difference Engine No. 2, "
    junit, markdown, report, _ = reports(0, line, f"note: {note}this one's ")
    assert f"<system-out>{note}" in junit and " cells compared\n\n* the baseline" in markdown
    assert len(report["notes"]) == 1 and note in report["notes"][0]


def test_a_foreign_column_is_the_tables_fault(expect, reports, tmp_path):
    """What this version does not write is no row's fault: the command that finds it is the check
    itself."""
    line = baseline_of(expect, tmp_path, SMALL)
    header, row = tables.lines_of(tmp_path / "b.csv")
    tables.write(tmp_path / "b.csv", [header + ["colour"], row + ["red"]])
    _, markdown, report, _ = reports(
        1, line, "  the tables\n    colour: a column that is missing\n"
        f"    reproduce: headproof {line}")
    assert "\n| the tables | colour | a column that is missing |" in markdown
    finding = report["findings"][0]
    assert finding["column"] == "colour"
    assert finding["reproduce"].startswith(f"headproof {SMALL} --baseline ")


def test_a_bound_is_said_to_be_one(expect, reports, tmp_path):
    """The baseline's cell alone is."""
    line = baseline_of(expect, tmp_path, SMALL, (1, "construction_max", "1.2e-9000"),
                       (1, "bounds", "construction_max"))
    _, markdown, report, said = reports(1, line, ", baseline at most 1.2e-9000, ratio ")
    obtained = report["findings"][0]["obtained"]
    assert f" above the baseline's bound | {obtained} | at most 1.2e-9000 | " in markdown, said


def test_what_passes(expect, reports, tmp_path):
    """Every test case has seconds, and the suite their sum."""
    junit, markdown, _, _ = reports(0, baseline_of(expect, tmp_path, f"check {GRID}"))
    assert (junit.count("<testcase "), junit.count("<failure ")) == (42, 0)
    assert 'tests="42" failures="0"' in junit and "PASS: 42 rows" in markdown
    suite, *cases = map(float, re.findall(' time="([^"]*)"', junit))
    assert len(cases) == 42 and min(cases) >= 0 and suite > 0
    assert abs(suite - sum(cases)) < 1e-4


def test_what_fails(expect, reports, tmp_path):
    line = baseline_of(expect, tmp_path, f"check {GRID}", (3, "construction_max", "1e-900"),
                       (3, "total_max", "1e-900"),
                       (5, "options", "bias=<&>'|`\x01\udcff;x=]]>"))
    junit, markdown, report, _ = reports(1, line)
    findings = report["findings"]
    # A row too many, and one that is missing, have no column and no limit; all others have.
    assert [f for f in findings if (f["limit"] is None) != (f["column"] is None)] == []
    assert [f["limit"] for f in findings].count(None) == 2 and len(findings) > 3
    assert "" not in [f["limit"] for f in findings]
    # A row counts once, however many of its cells differ.
    assert 'tests="43" failures="3"' in junit and junit.count("<testcase ") == 43
    assert junit.count("<failure ") == len(findings)
    assert "bias=&lt;&amp;&gt;'|`\\x01\\xff;x=]]&gt;" in junit
    assert markdown.count("\nheadproof sweep ") == 3
    assert "headproof sweep --construction silu" in markdown and "construction\\_max" in markdown


def test_any_text(expect, reports, tmp_path):
    """Cells, and the names of files, of any bytes that those can have: every report is what it
    should be, and says none of it as it stands."""
    evil = "\uf000\uffff\udcff\x1b[2J\u202e\u009b|`<&\u00e9"
    expect(0, f"{SMALL} --save-baseline '{evil}.csv'")
    tables.alter(tmp_path / f"{evil}.csv", (1, "options", f"{evil}={evil}"), (1, "weights", evil))
    junit, markdown, _, said = reports(1, f"{SMALL} --baseline '{evil}.csv'")
    for text, shown in [(junit, "\\xff\\x1b[2J\\u{202e}"), (said, "\\xff\\x1b[2J\\u{202e}"),
                        (markdown, "\\\\xff\\\\x1b\\[2J\\\\u\\{202e\\}"),
                        ((tmp_path / "j").read_text(), "\\\\xff\\\\x1b[2J\\\\u{202e}")]:
        assert shown in text and not set(text) & set("\x1b\u202e\uffff")


def test_reproducing_lines_reproduce(expect, reports, tmp_path):
    """The line that a report gives for a failing row evaluates that row, in both layers."""
    line = baseline_of(expect, tmp_path, f"check {GRID}", (8, "seed", "77"))
    lines = tables.lines_of(tmp_path / "b.csv")
    row = dict(zip(lines[0], lines[8]))
    _, _, report, _ = reports(1, line, "2 findings")  # missing, and one too many
    for finding, seed in zip(report["findings"], ("1", "77")):
        begin, _, sweep = finding["reproduce"].partition(" ")
        assert begin == "headproof" and sweep.startswith("sweep ")
        expect(0, f"{sweep} -q -o t.csv")
        found = tables.rows_of(tmp_path / "t.csv")
        keys = ("construction", "omega", "options")
        assert [one["seed"] for one in found] == [seed] * 2
        assert [one[key] for one in found for key in keys] == [row[key] for key in keys] * 2
