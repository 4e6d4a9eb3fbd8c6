"""The text for a terminal, where a file gets a table: lines for a reader, with the numbers that the
table has."""

import re

import pytest

import tables
from conftest import ROOT

MODEL = ROOT / "cases/models/modadd53-silu.safetensors"


@pytest.fixture
def table(run, tmp_path):
    """table(line, code=0): the rows of the table that `headproof LINE` writes into a file."""
    def rows(line, code=0):
        ended = run(*line.split(), "-o", tmp_path / "t.csv")
        assert ended.code == code, ended
        return tables.rows_of(tmp_path / "t.csv")
    return rows


# ---- Rows ----------------------------------------------------------------------------------------


def is_shown(text, row, column):
    """Is the text what a reader sees of a cell: three digits, a bound rounded up?"""
    bound = column in row["bounds"].split(";")
    if row[column] in ("", "0"):
        return text == (row[column] or "-")
    value, read = float(row[column]), float(text.lstrip("<"))
    above = (read - value) / value
    within = -1e-11 <= above <= .01 if bound else abs(above) <= .00501
    return text == f"{'<' * bound}{read:.2e}" and within


def agrees(name, before, text, row, relative=False):
    """Is the text under a header's name, behind these others, what the row says?"""
    parts = {"injected": ("_injected_max", 1), "inherited": ("_inherited_max", 2),
             "gain": ("_gain", 3)}
    if text == row.get(name):  # layer, status and axes with a column of their own
        return True
    if name in parts:  # of the kind of error before it
        end, back = parts[name]
        return is_shown(text, row, before[-back] + end)
    if f"{name}_max" in row:
        return is_shown(text, row, name + ("_rel" if relative else "_max"))
    if name in row:
        return False
    options = dict(option.split("=") for option in row["options"].split(";") if option)
    return options.get(name, text) == text


def expect_rows(lines, rows, relative=False):
    names = lines[0].split()
    assert len(lines) == 1 + len(rows)
    for line, row in zip(lines[1:], rows):
        cells = line.split()
        assert len(cells) == len(names) and len(line) <= 80, line
        for i, (name, text) in enumerate(zip(names, cells)):
            assert agrees(name, names[:i], text, row, relative), (name, line, row)


# A sweep, its exit code and the header: the axes that vary, the layer of stacks, errors, status.
SWEEPS = [
    ("--construction fused,silu --n 2 --d 2 --depth 2 --omega 5,20 --bias random", 0,
     "construction  omega  layer  construction     native      total  status"),
    ("--construction silu --n 2 --d 2 --omega 5 --penalty positive,negative", 0,
     "penalty   construction   rounding     native      total   observed  status"),
    ("--construction ffn3 --n 3 --d 2 --omega 0.5 --arithmetic none", 0,
     "omega  approximation  construction  status"),
    # d_ff is 4D: it varies with d, and nobody chose it.
    ("--construction fused --n 2 --d 2,3 --omega 5 --arithmetic f32", 0,
     "d  construction   rounding     native      total   observed  status"),
    # Bounds, where no more bits may be taken.
    ("--construction fused --n 2 --d 2 --omega 5,200 --reference subtract --max-bits 128 "
     "--arithmetic f64,none", 0, "omega  arithmetic"),
    # What is judged comes first, whatever there is no room for.
    ("--construction transformer,silu --n 2,3 --d 2 --omega 5,20 --kernel dense,structured "
     "--tolerance 1e-300 --judge observed", 1,
     "construction  n  omega  kernel         native      total   observed  status"),
    # Two errors, and what each layer adds to them.
    ("--construction fused --n 2 --d 2 --omega 5 --depth 3 --propagation", 0,
     "omega  layer  construction   injected  inherited       gain  status"),
]


@pytest.mark.parametrize("line, code, header", SWEEPS)
def test_rows(shown, table, line, code, header):
    """A sweep's lines are its table's, in their order."""
    line = f"sweep {line} --quiet"
    lines = shown(line, code)
    assert lines[0].startswith(header)
    expect_rows(lines, table(line, code))


def test_streams_that_shrink(shown, table):
    """A stream of SiLU alone shrinks a thousandfold within 24 layers, one of networks does not:
    what comes behind it has a header of its own.  Of several stacks three layers are shown."""
    line = "sweep --construction fused,silu --n 3 --d 3 --omega 5 --depth 24"
    lines, rows = shown(line), table(line)
    rows = [row for row in rows if row["layer"] in ("1", "12", "24")]
    assert lines[4] == "relative to r(T):"
    assert lines.pop() == "42 more rows, of layers between; -o FILE.csv writes all"
    expect_rows(lines[:4], rows[:3])
    expect_rows(lines[5:], rows[3:], relative=True)


def test_many_rows_are_folded(run, shown, tmp_path):
    """Of laws a terminal has twenty, those that fail first; a summary has as many lines."""
    grid = "sweep --construction fused,silu --n 2,3 --d 2,3 --omega 5:24 --arithmetic none"
    lines = shown(f"{grid} -o t.csv")
    assert lines[-2:] == ["and 140 more lines, whose rows the table has", "160 points in t.csv"]
    assert len(lines) == 24 and max(map(len, lines)) <= 80
    whole = run(*"growth t.csv --norm max -q".split(), cwd=tmp_path).stdout.splitlines()
    lines = shown("growth t.csv --norm max -q")
    assert re.fullmatch(f"20 of {len(whole) - 1} rows, without \\d columns; -o FILE.csv writes all",
                        lines[-1])
    assert len(lines) == 22 and max(map(len, lines)) <= 80
    tables.alter(tmp_path / "t.csv", (160, "construction_max", "0.9"))
    (tmp_path / "u.csv").write_text((tmp_path / "t.csv").read_text())
    tables.alter(tmp_path / "t.csv", (160, "construction_max", "1e-20"))
    lines = shown("growth t.csv --check u.csv --norm max -q", 1)
    assert lines[20].endswith(" fail") and [line.endswith(" ok") for line in lines[1:20]]


# Whatever is printed without -o, and the exit code.
WIDE = [
    ("cost --preset gpt3 --construction transformer3 --bias random --normalization layernorm", 0),
    (f"guarantee {MODEL} --tolerance 1e-9", 0),
    ("guarantee --n 4 --d 6 --depth 3 --input-norm 3 --tolerance 1e-9 --construction transformer "
     "--bias random", 0),
    ("min-omega --n 2 --d 2 --tolerance 1e-6,1e-7 --construction silu,fused --penalty "
     "positive,negative -q", 0),
    ("growth --construction fused --n 2 --d 2 --depth 1,2,4 --omega 5,20 --normalization "
     "none,layernorm --seed 1:2 -q", 0),
    ("sweep --n 2 --d 2 --omega 5,1e300 --propagation --construction fused --depth 2", 0),
]


@pytest.mark.parametrize("line, code", WIDE)
def test_no_line_is_wider_than_the_terminal(shown, line, code):
    lines = shown(line, code)
    assert len(lines) > 2 and max(map(len, lines)) <= 80, lines


@pytest.mark.parametrize("depth, layers", [
    (24, [*range(1, 25)]), (25, [1, 2, 3, 4, 8, 16, 24, 25]), (32, [1, 2, 3, 4, 8, 16, 24, 32])])
def test_deep_stacks_are_shown_in_part(shown, depth, layers):
    """All layers of 24; of more the first four, every eighth and the last."""
    lines = shown(f"sweep --construction silu --n 1 --d 1 --omega 5 -q --depth {depth}")
    rows = [line.split() for line in lines]
    assert [int(row[1]) for row in rows if row[0] == "5"] == layers  # Omega, as nothing varies


@pytest.mark.parametrize("depth, columns", [(11, "1 11"), (12, "1 12"), (13, "1 12 13")])
def test_summaries_have_each_layer_once(expect, depth, columns):
    said = expect(0, f"sweep --construction silu --n 1 --d 1 --omega 5,9 --depth {depth} -o f.csv")
    assert f"\nomega {columns} {columns} " in re.sub(" +", " ", said)


# ---- Colours -------------------------------------------------------------------------------------

# TERM, NO_COLOR and a flag, and whether there are escape sequences.
COLOURS = [
    ("xterm", "", "", True),
    ("xterm", "", "--color auto", True),
    ("xterm", "1", "", False),
    ("dumb", "", "", False),
    ("xterm", "", "--color never", False),
    ("dumb", "1", "--color always", True),
]


@pytest.mark.parametrize("term, no_color, flag, colours", COLOURS)
def test_colours(shown, term, no_color, flag, colours):
    header, fails, passes = shown(
        f"sweep --construction silu --n 2 --d 2 --omega 5,20 -q --tolerance 1e-9 {flag}", 1,
        {"TERM": term, "NO_COLOR": no_color})
    assert fails.endswith("  \033[31mfail\033[0m" if colours else "  fail")
    assert passes.endswith("  \033[32mok\033[0m" if colours else "  ok")
    assert "\033" not in header


def test_what_nothing_judges_is_not_good(shown):
    _, row = shown("sweep --n 2 --d 2 --omega 1 -q --color always")
    assert row.endswith("  ok")


# What check is asked beside a point, the exit code, and how its verdict begins.
VERDICTS = [
    ("1e-9 --color always", 1, "\033[31mFAIL: 1 of 1 rows"),
    ("1 --color always", 0, "\033[32mPASS: 1 rows"),
    ("1", 0, "PASS: 1 rows"),
    ("1 --color red", 2, "headproof: --color: token 'red': expected one of auto, always, never"),
]


@pytest.mark.parametrize("flags, code, words", VERDICTS)
def test_verdicts(expect, flags, code, words):
    said = expect(code, f"check --n 2 --d 2 --omega 5 --tolerance {flags}", words)
    assert ("\033" in said) == ("always" in flags)


# ---- The sentence of a search --------------------------------------------------------------------

# A search, its exit code, what is said, and what is not.  {COLUMN} is the cell of the row that a
# file gets; with a form, as a number.
SEARCHES = [
    ("--construction attention --n 3 --d 2 --tolerance 1e-6", 0,
     ["attention, N=3: omega from {omega_min} to {omega_max} meets 1e-06 at all "
      "{evaluations_inside} omegas evaluated in this range ({omega_below} and {omega_above} do "
      "not); an omega between two that were", "ln(N/tolerance) = 14.91 or more",  # ln 3e6 = 14.914
      "largest score, {seed_scores:.4g}. ",
      "The best omega evaluated is {omega_best}, with error {best_error:.2e}",
      "; the original itself loses {floor:.2e}"], []),
    # Of the exact construction alone no Omega is too large.
    ("--construction linear --n 3 --d 3 --tolerance 1e-6 --judge construction", 0,
     [" omega from {omega_min} up meets 1e-06 at all ",
      " ({omega_below} does not); an omega between two"], ["The best omega"]),
    # Where no Omega is too small, one is too large for 16 bits.
    ("--construction silu --n 4 --d 3 --arithmetic fp16 --tolerance 3", 0,
     [" omega up to {omega_max} meets 3 at all ", " ({omega_above} does not); an omega between"],
     []),
    # One row of one number is its own at every Omega.
    ("--construction silu --n 1 --d 1 --tolerance 1 --judge construction", 0,
     ["silu, N=1: omega of any size meets 1 at all ",
      " evaluated in this range; an omega between two that were evaluated may "], []),
    ("--construction fused --ffn gated --over tau --omega 40 --n 2 --d 2 --tolerance 1e-6", 0,
     ["omega 40, readout 1: tau from 2^-", " meets 1e-06 at all {evaluations_inside} taus evaluated "
      "in this range (2^-", "The best tau evaluated is 2^-"], ["omegas"]),
    # Below what f64 can do.
    ("--construction silu --n 2 --d 2 --tolerance 1e-30", 1,
     ["silu, N=2: none of ", ", meets 1e-30. The best omega evaluated is {omega_best}, with error ",
      "; the original itself loses {floor:.2e}"], ["ln(N/tolerance)"]),
]


@pytest.mark.parametrize("line, code, words, absent", SEARCHES)
def test_searches(shown, table, line, code, words, absent):
    line = f"min-omega {line} --quiet"
    lines = shown(line, code)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines).replace("\n  ", " ")
    (row,) = table(line, code)
    for word in words:
        for name, form in re.findall(r"{(\w+)([^}]*)}", word):
            assert row[name] != ""
            cell = f"{float(row[name]):{form[1:]}}" if form else row[name]
            word = word.replace(f"{{{name}{form}}}", cell)
        assert word in text, (word, text)
    assert text.startswith(line.split()[2] + ", N=") and not [w for w in absent if w in text]


def test_proven_omegas_are_rounded_up(shown, table):
    """In the matrix of several searches, to 4 digits, which are thousandths of these: none is below
    what is proven."""
    line = ("min-omega --construction linear,fused --n 2,3,5 --d 2 --tolerance 1e-3,1e-6 "
            "--every-input --input-norm 9 -q")
    said = [float(omega) for text in shown(line) if " proven " in text
            for omega in re.findall(r"(\S+) up", text)]
    proven = [float(row["omega_proven"]) for row in table(line)]
    assert len(said) == len(proven) == 12
    for omega, least in zip(said, proven):
        assert least <= omega < least + 1e-3
