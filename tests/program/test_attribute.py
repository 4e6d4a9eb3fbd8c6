"""attribute: the lines of a logit add up to it, by heads as by kinds, whatever logits are written;
and the shares that are printed are the table's."""

import csv
import io
from fractions import Fraction

import numpy
import pytest
import safetensors_file

MODADD = "cases/models/modadd53-silu.safetensors"
SUMMANDS = [(a, b) for a in (0, 17, 34, 51) for b in (7, 31)]
KINDS = ("direct", "external", "internal", "bias")
ROWS = 4


@pytest.fixture
def logits(run):
    """What a table has: of every logit its row, and the rows before it."""
    def table(flags, tokens="0:52:17/7,31/53"):
        ended = run("attribute", MODADD, "--tokens", tokens, "--omega", "20", "-q", "-o",
                    "/dev/stdout", *flags.split())
        assert ended.code == 0, ended
        found, lines = [], []
        for row in csv.DictReader(io.StringIO(ended.stdout)):
            if row["kind"] == "logit":
                found.append((row, lines))
                lines = []
            else:
                lines.append(row)
        assert not lines
        return found
    return table


def by_kind_and_source(lines):
    sums = {}
    for row in lines:
        assert row["kind"] in KINDS
        at = row["kind"], row["source"] or "bias_row"
        sums[at] = sums.get(at, 0) + Fraction(row["contribution"])
    return sums


def assert_alike(a, b, size):
    """17 digits of every line."""
    assert a.keys() == b.keys()
    assert all(abs(a[at] - b[at]) <= Fraction(1, 10**16) * size for at in a)


def check_sums(found, classes, count):
    """Of all inputs, so many logits each (1: the answer's), of so many lines each."""
    assert len(found) == len(SUMMANDS) * classes
    for seen, (logit, lines) in enumerate(found):
        (a, b), number = SUMMANDS[seen // classes], seen // classes + 1
        answer = (a + b) % 53 if classes == 1 else seen % classes
        assert (logit["input"], logit["tokens"], logit["logit"]) \
            == (str(number), f"{a} {b} 53", str(answer))
        assert len(lines) == count
        terms = [Fraction(row["contribution"]) for row in lines]
        assert_alike({0: sum(terms)}, {0: Fraction(logit["contribution"])}, sum(map(abs, terms)))
        assert abs(float(logit["residual"])) <= float(logit["bound"]) < 1e-40


def test_coarser_tables_have_the_sums_of_finer_ones(logits):
    finest, *others = (logits("--by " + by) for by in ("head", "sublayer", "kind"))
    check_sums(finest, 1, 1 + (4 + 256 + 1) * ROWS)
    for found in others:
        check_sums(found, 1, 1 + 3 * ROWS)
        for (_, fine), (_, coarse) in zip(finest, found):
            size = sum(abs(Fraction(row["contribution"])) for row in fine)
            assert_alike(by_kind_and_source(fine), by_kind_and_source(coarse), size)


@pytest.mark.parametrize("flags, count", [
    ("--threads 2", 1 + 3 * ROWS),
    # Three sublayers: the clear is in the second linear head, b1 and b2 are of linear heads.
    ("--network three", 1 + 6 * ROWS)])
def test_every_logit_is_a_sum(logits, flags, count):
    check_sums(logits("--logits all " + flags), 53, count)


def test_threads_change_nothing(logits):
    assert logits("--threads 1") == logits("--threads 3")


@pytest.mark.parametrize("flags", ["", "--logits all"])
def test_shares_are_the_table_s(run, logits, flags):
    """The least, the lower of the middle two and the largest, of the predicted logit of four inputs,
    over the mean logit and of all absolute terms; whether or not other logits are written."""
    tokens = "0:51:17/7/53"
    said = run("attribute", MODADD, "--tokens", tokens, "--omega", "20", "-o", "/dev/null",
               *flags.split())
    printed = {words[0]: words[1:] for words in map(str.split, (said.stdout + said.stderr).splitlines())
               if words and words[0] in KINDS}
    shares = {kind: ([], []) for kind in KINDS}
    for (logit, lines), (_, heads) in zip(logits("--by kind", tokens), logits("--by head", tokens)):
        for kind in KINDS:
            own = sum(Fraction(row["centred"]) for row in lines if row["kind"] == kind)
            sizes = [abs(Fraction(row["centred"])) * (row["kind"] == kind) for row in heads]
            shares[kind][0].append(own / Fraction(logit["centred"]))
            shares[kind][1].append(sum(sizes) / sum(abs(Fraction(row["centred"])) for row in heads))
    for kind, (relative, absolute) in shares.items():
        expected = [sorted(each)[i] for each in (relative, absolute) for i in (0, 1, 3)]
        assert [float(word) for word in printed[kind]] \
            == pytest.approx(list(map(float, expected)), abs=5.01e-5), kind


def test_what_cannot_be_attributed_or_written(run, expect, tmp_path):
    safetensors_file.write(tmp_path / "headless.safetensors",
                           {"X": numpy.ones((1, 2)), "blocks.0.linear.W": numpy.ones((2, 2))},
                           {"normalization": "none"})
    expect(2, "attribute headless.safetensors --omega 20",
           "headless.safetensors: expected unembed.W_U: attribution is of logits")
    ended = run("attribute", MODADD, "--tokens", "1/2/53", "--omega", "20", "-q", "-o", "/dev/full")
    assert ended.code == 99 and "/dev/full: cannot be written" in ended.stderr
