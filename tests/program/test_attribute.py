"""attribute: each term is a head's weight of a source times what its full matrices make of that; the
lines of a logit add up to it, by heads as by kinds, whatever logits are written; and the shares that
are printed are the table's."""

import csv
import io
import sys
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import safetensors_file

sys.path.insert(0, "tests")
import oracle_pairs

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


# ---- Terms by their definition ------------------------------------------------------------------

D, UNITS, HEADS, RANK, VOCABULARY, TOKENS = 4, 3, 2, 2, 5, [3, 0, 4]


class Traced(oracle_pairs.Converted):
    """The oracle's T', and what its heads write into the last token's row from each source, as
    themselves and as an output's bias: a list a sublayer."""

    def __init__(self, case):
        self.sublayers, self.attends = [], False
        super().__init__(case, False)

    def sublayer(self, *heads):
        self.sublayers.append([])
        super().sublayer(*heads)

    def row_pattern(self, *row):
        self.patterns.append(super().row_pattern(*row)[0])
        return super().row_pattern(*row)

    def head(self, a, b, q, omega, v, mask):
        self.patterns = []
        out = super().head(a, b, q, omega, v, mask)
        bias = a[:, self.content:] @ v[self.content:]
        if numpy.any(q):  # of others than linear heads inner biases are their own
            first = self.attends and not self.sublayers[-1]
            bias = a[:, self.p].sum(1)[:, None] * self.b_o * int(first)
        weights = self.patterns[self.tokens[-1]][:, None]
        self.sublayers[-1].append([(weights * each)[:, :D] for each in (a @ v - bias, bias)])
        return out

    def attention(self, layer):
        self.attends, self.b_o = True, numpy.pad(
            self.case.weights(layer, "attn.b_O", D), (0, self.width - D),
            constant_values=oracle_pairs.ZERO)
        super().attention(layer)
        self.attends = False


def model(biased):
    """The file's tensors, all biases or none."""
    r = numpy.random.default_rng(7)
    shapes = {"embed.W_E": (VOCABULARY, D), "pos_embed.W_pos": (len(TOKENS), D),
              "unembed.W_U": (D, VOCABULARY), "unembed.b_U": (VOCABULARY,)}
    for layer in range(2):
        shapes.update({f"blocks.{layer}.{name}": shape for name, shape in [
            ("attn.W_Q", (HEADS, D, RANK)), ("attn.W_K", (HEADS, D, RANK)),
            ("attn.W_V", (HEADS, D, RANK)), ("attn.W_O", (HEADS, RANK, D)),
            ("attn.b_Q", (HEADS, RANK)), ("attn.b_K", (HEADS, RANK)), ("attn.b_V", (HEADS, RANK)),
            ("attn.b_O", (D,)), ("mlp.W_in", (D, UNITS)), ("mlp.b_in", (UNITS,)),
            ("mlp.W_out", (UNITS, D)), ("mlp.b_out", (D,))]})
    return {name: r.normal(size=shape) for name, shape in shapes.items()
            if biased or ".b_" not in name}


@pytest.mark.parametrize("network", ["fused", "three"])
@pytest.mark.parametrize("mask, biased, activation, gelu", [
    ("none", False, "silu", 1), ("none", True, "gelu", 3), ("causal", True, "silu", 1),
    ("causal", False, "gelu", 3)])
def test_terms_are_patterns_times_circuits(run, tmp_path, network, mask, biased, activation, gelu):
    """At Omega = 2 every head attends every row it sees, and what leaks is as visible as the rest.
    Heads of one unit count together: their order is the program's own."""
    tensors = model(biased)
    said = {"scale": "1", "activation": activation, "normalization": "none", "mask": mask,
            "blocks": "sequential"}
    safetensors_file.write(tmp_path / "m.safetensors", tensors, said)
    ended = run("attribute", tmp_path / "m.safetensors", "--tokens", "/".join(map(str, TOKENS)),
                "--omega", "2", "--network", network, "--gelu", gelu, "--by", "head", "-q", "-o",
                "/dev/stdout")
    assert ended.code == 0, ended
    *rows, logit = csv.DictReader(io.StringIO(ended.stdout))
    oracle_pairs.set_digits(60)
    config = {"construction": "transformer" if network == "fused" else "transformer3", "depth": 2,
              "arithmetic": "f64", "omega": "2", "mask": mask, "scale": "1",
              "activation": activation, "gelu": "minimax" if gelu == 1 else str(gelu)}
    x = tensors["embed.W_E"][TOKENS] + tensors["pos_embed.W_pos"]
    case = oracle_pairs.Case({name: ("F64", array.shape, array.tobytes())
                              for name, array in {**tensors, "X": x}.items()}, said, config)
    traced, expected = Traced(case), {}
    reads = case.t["unembed.W_U"][:, int(logit["logit"])]
    for layer in (1, 2):
        before = len(traced.sublayers)
        traced.layer(layer - 1)
        for s, heads in enumerate(traced.sublayers[before:], 1):
            together = gelu if len(heads) >= UNITS else 1
            for h, (own, bias) in enumerate(heads):
                for j in range(len(TOKENS) + 1):
                    source = "bias_row" if j == traced.bias else str(traced.tokens.index(j))
                    for key, value in (((layer, s, h // together, source), own[j] @ reads),
                                       ((layer, s, "bias", source), bias[j] @ reads)):
                        expected[key] = expected.get(key, Decimal(0)) + value
    found = {}
    for row in rows:
        if row["layer"]:
            units = UNITS if int(row["head"] or 0) >= UNITS else 0
            unit = "bias" if row["kind"] == "bias" else int(row["head"]) % (units or VOCABULARY)
            key = int(row["layer"]), int(row["sublayer"]), unit, row["source"]
            found[key] = found.get(key, Decimal(0)) + Decimal(row["contribution"])
    assert len(found) >= 40
    for key in expected.keys() | found.keys():
        off = abs(found.get(key, Decimal(0)) - expected.get(key, Decimal(0)))
        assert off <= Decimal("1e-15") * max(1, abs(expected.get(key, Decimal(0)))), key
