"""Every two options together: points that hold each two values of any two axes at least once,
against an independent program that evaluates full matrices (tests/oracle_pairs.py)."""

import csv
import functools
import io
import operator
import os
import random
import sys

import numpy
import pytest

sys.path.insert(0, "tests")
import oracle_pairs
import safetensors_file

SEEDS = range(1, 7) if os.environ.get("HEADPROOF_NIGHTLY") else [1]


def one_of(axis, *values):
    return lambda c: c[axis] in values


ATTENTION = one_of("construction", "attention", "transformer", "transformer3")
NETWORK = one_of("construction", "ffn3", "fused", "transformer", "transformer3", "masked")
LINEAR = one_of("construction", "linear")
NOT_MASKED = lambda c: c["construction"] != "masked"
TURNED = lambda c: c.get("rotary", "none") != "none"
GATED = lambda c: c.get("ffn") == "gated" and c["construction"] in ("fused", "transformer")
READ_OUT = lambda c: GATED(c) and c["activation"] != "sigmoid"
NORMED = lambda c: c["normalization"] != "none"

# Values of an axis, and where they matter: none elsewhere.
AXES = {
    "construction": (["silu", "linear", "attention", "ffn3", "fused", "transformer3",
                      "transformer", "masked"], None),
    "normalization": (["none", "layernorm", "rmsnorm"], None),
    "mask": (["none", "causal", "pseudo-causal", "pseudo-band"], NOT_MASKED),
    "omega": (["0.7", "9", "41.5", "372.9", "1e6", "3e17"], NOT_MASKED),
    "arithmetic": (["f64", "f32", "bf16", "fp16", "tf32", "bf16-flash", "fp16-flash",
                    "bf16-autocast"], None),
    "normalization-place": (["pre", "post"], NORMED),
    "normalize-bias-row": (["yes", "no"], NORMED),
    "eps": (["1e-5", "1"], NORMED),
    "ffn": (["plain", "gated"], one_of("construction", "fused", "transformer")),
    "activation": (["silu", "relu", "gelu", "gelu_new", "sigmoid", "none"],
                   lambda c: NETWORK(c) or c["construction"] == "silu"),
    "readout": (["1", "2", "3"], READ_OUT),
    "tau": (["auto", "0.125", "0.0009765625"], READ_OUT),
    "gelu": (["sigmoid", "minimax", "2", "3"], one_of("activation", "gelu", "gelu_new")),
    "score-scale": (["1", "30", "1e4", "1e22"], lambda c: not LINEAR(c)),
    "bias-row-content": (["none", "random"], None),
    "bias-self": (["2", "4"], lambda c: NOT_MASKED(c) and c["mask"] != "causal"),
    "penalty": (["positive", "negative"], NOT_MASKED),
    "kernel": (["dense", "structured"], None),
    "reference": (["auto", "subtract"], NOT_MASKED),
    "precision": (["auto", "300"], None),
    "bias": (["none", "random"], lambda c: NETWORK(c) or LINEAR(c)),
    "weights": (["stable", "normal"], None),
    "linear": (["in-place", "block", "clear"], LINEAR),
    "head-rank": (["none", "1"], LINEAR),
    "n": ([3, 1], None),
    "d": ([2, 3], None),
    "d-ff": ([2, 3], NETWORK),
    "heads": ([2, 1], ATTENTION),
    "d-head": ([0, 1, 4], ATTENTION),
    "scale": (["1", "1/sqrt(d_head)"], lambda c: ATTENTION(c) and c["d-head"]),
    "rotary": (["none", "half", "interleaved"], lambda c: ATTENTION(c) and c["d-head"] == 4),
    "rotary-dim": (["d-head", "2"], TURNED),
    "rope-theta": (["10000", "2.5"], TURNED),
    "rotary-tables": (["exact", "float32"], TURNED),
    "parallel": (["no", "yes"], one_of("construction", "transformer")),
    "depth": ([1, 2], None),
    "row": (["all", "2"], lambda c: c["n"] > 1),
    "seed": ([1, 2], None),
}


def allowed(c):
    """Not what the program refuses, nor what the oracle cannot decide."""
    before = c.get("normalization-place") == "pre"
    in_place = c["construction"] == "silu" or c.get("linear") in ("block", "clear")
    far = c.get("omega") in ("372.9", "1e6", "3e17")
    pseudo = c.get("mask", "none").startswith("pseudo")
    if c.get("parallel") == "yes" and c.get("normalization-place") != "pre":
        return False
    if c.get("parallel") == "yes" and READ_OUT(c) and c["activation"] != "none":
        return False
    full = TURNED(c) and c["kernel"] == "dense"
    alone = c.get("activation") in ("sigmoid", "none") and not GATED(c)
    undecided = far and (pseudo or c.get("reference") == "subtract")
    return not full and not alone and not (before and in_place) and not undecided


def drawn(r):
    """A point, each of whose axes matters."""
    while True:
        c = {axis: r.choice(values) for axis, (values, _) in AXES.items()}
        c = {axis: v for axis, v in c.items() if AXES[axis][1] is None or AXES[axis][1](c)}
        if allowed(c):
            return c


def modern(count):
    """Drawn points of gated networks, rotary positions or parallel parts."""
    r, chosen = random.Random(12), []
    while len(chosen) < count:
        c = drawn(r)
        if GATED(c) or TURNED(c) or c.get("parallel") == "yes":
            chosen.append(c)
    return chosen


PLACES = {(axis, value): place for place, (axis, value) in enumerate(
    (axis, value) for axis, (values, _) in AXES.items() for value in values)}


def pairs(c):
    """The pairs of values that a point holds, a bit each of a number."""
    places = [PLACES[one] for one in c.items()]
    all_of_them = sum(1 << place for place in places)
    return sum(all_of_them >> place + 1 << place * len(PLACES) for place in places)


def covering(seed):
    """Points that hold every pair that any of many drawn ones holds, the best of some each time."""
    r = random.Random(seed)
    pool = [(c, pairs(c)) for c in (drawn(r) for _ in range(800))]
    left, chosen = functools.reduce(operator.or_, (held for _, held in pool)), []
    while left:
        c, held = max(r.sample(pool, 60), key=lambda one: (one[1] & left).bit_count())
        if not held & left:
            c, held = next(one for one in pool if one[1] & left)
        chosen.append(c)
        left &= ~held
    return chosen


# What was wrong once: a SiLU that cancels all of the stream; scores near the end of MPFR's range.
ONCE = [{"construction": "silu", "n": 1, "d": 1, "depth": 1, "omega": omega, "seed": 991982445,
         "score-scale": scale} for omega, scale in (("134", "1000"), ("134.5", "1.1e17"))]
ONCE += [{"construction": "fused", "n": 2, "d": 1, "d-ff": 1, "depth": 1, "omega": "20", "seed": 5,
          "score-scale": "1e80", "reference": "subtract"}]
# Turns that a machine is held to, to the last digits, and angles that a float rounds.
ONCE += [{"construction": "attention", "n": 4, "d": 3, "heads": 2, "d-head": 4, "depth": 1,
          "omega": "20", "seed": 3, "score-scale": "30", "weights": "stable",
          "kernel": "structured", "rotary": pairs_, "rotary-dim": width, "rope-theta": "2.5",
          "rotary-tables": tables}
         for pairs_, width, tables in (("half", "d-head", "exact"),
                                       ("interleaved", "2", "float32"))]
# Products read out by either kernel: queries with biases, and what the bias row gets and gives back.
ONCE += [{"construction": "fused", "ffn": "gated", "activation": activation, "readout": "2",
          "tau": "0.125", "bias": "random", "n": 3, "d": 2, "d-ff": 3, "depth": 2, "omega": "20",
          "seed": 3, "weights": "stable", "kernel": kernel}
         for activation in ("silu", "none") for kernel in ("dense", "structured")]
# Bias rows that attend themselves with 4 Omega: each kind of head, either kernel and form.
ONCE += [{"construction": construction, "n": 3, "d": 2, "depth": 2, "omega": omega, "seed": 3,
          "bias-self": "4", "weights": "stable", "bias": "random", "kernel": kernel,
          "penalty": penalty, "normalization": "rmsnorm", "normalization-place": "post"}
         for construction, omega in (("silu", "9"), ("linear", "0.7"), ("ffn3", "0.7"),
                                     ("transformer", "9"), ("transformer", "41.5"))
         for kernel, penalty in (("dense", "positive"), ("structured", "negative"))]
# Attention with biases, which no drawn model has: all of them in a file.
ONCE += [{"weights": "tests/data/all-biases.safetensors", "construction": construction, "depth": 1,
          "omega": omega, "mask": "causal", "scale": "1/sqrt(d_head)", "kernel": kernel}
         for construction in ("transformer", "transformer3")
         for omega, kernel in (("5", "structured"), ("12", "dense"), ("60", "structured"))]
POINTS = [c for seed in SEEDS for c in covering(seed)] + ONCE
POINTS += modern(200 if os.environ.get("HEADPROOF_NIGHTLY") else 8)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """The rows of each point, all of them in one sweep."""
    return oracle_pairs.swept(os.environ["HEADPROOF"], [{"arithmetic": "f64", **c} for c in POINTS],
                              str(tmp_path_factory.mktemp("points")))


@pytest.mark.parametrize("number", range(len(POINTS)),
                         ids=[" ".join(map(str, c.values())) for c in POINTS])
def test_point(number, swept, tmp_path):
    c = POINTS[number]
    tame = c.get("weights") == "stable" and c.get("score-scale", "1") in ("1", "30")
    # Where a SiLU cancels x, a norm makes 1/sqrt(eps) of what is rounded.
    tame = tame and (c["construction"] != "silu" or c.get("normalization", "none") == "none")
    oracle_pairs.check(os.environ["HEADPROOF"], {"arithmetic": "f64", **c}, swept[number],
                       str(tmp_path), tame)


def test_losses_and_divergences_of_a_text(run, tmp_path):
    """Three windows of four, three apart, the last one earlier; a position counts once."""
    model, tokens = "tests/data/texts.safetensors", [0, 1, 4, 2, 3, 0, 5, 6, 1]
    (tmp_path / "t.txt").write_text(" ".join(map(str, tokens)))
    said = run("verify", model, "--positions", "all", "--tokens-file", tmp_path / "t.txt",
               "--stride", "3", "--omega", "2,20,400", "-q", "--format", "csv")
    assert said.code == 0, said
    rows = [row for row in csv.DictReader(io.StringIO(said.stdout)) if row["position"]]
    assert [(row["input"], row["position"]) for row in rows] == 3 * [
        *(("1", str(i)) for i in range(1, 5)), *(("2", str(i)) for i in range(2, 5)), ("3", "3"),
        ("3", "4")]
    expected = [found for omega, digits in (("2", 60), ("20", 100), ("400", 800))
                for found in oracle_pairs.losses(model, tokens, 3, omega, digits)]
    for row, (losses, divergence) in zip(rows, expected, strict=True):
        cells = [row[name] for name in ("loss_original", "loss_converted") if row[name]]
        for cell, true in zip([*cells, row["kl_converted"]], [*losses, divergence], strict=True):
            oracle_pairs.near("the text's", oracle_pairs.Decimal(cell), true)
        assert row["bounds"] == ""


EVERY = {"normalization": "layernorm", "bias": "random", "d-head": 2, "bias-row-content": "random",
         "n": 3, "d": 4, "d-ff": 5, "depth": 2}
# Constructions with all the tensors that they can have, at least so many.
STORED = [({**EVERY, "construction": name, "linear": "block",
            "normalization-place": "post" if name in ("silu", "linear") else "pre"},
           {"silu": 6, "linear": 11}.get(name, 16)) for name in AXES["construction"][0]]
STORED += [({**EVERY, "construction": "transformer", "ffn": "gated", "kernel": "structured"}, 31),
           ({"weights": "tests/data/all-biases.safetensors", "kernel": "structured"}, 13)]


@pytest.mark.parametrize("config, tensors", STORED)
def test_every_tensor_is_stored(config, tensors, tmp_path):
    if "ffn" in config:  # read from a file, and not drawn
        given = str(tmp_path / "given.safetensors")
        made = oracle_pairs.run(os.environ["HEADPROOF"], "export", *oracle_pairs.flags_of(config),
                                "-q", "-o", given)
        assert made.returncode == 0, made.stderr
        config = {"weights": given, "kernel": "structured"}
    assert oracle_pairs.check_stored(os.environ["HEADPROOF"], config, ("bf16", "fp16"),
                                     str(tmp_path)) >= tensors


@pytest.mark.parametrize("construction", AXES["construction"][0])
def test_what_a_score_scale_is_on(construction, tmp_path):
    """Q, W1 and b1, and silu's X, and nothing else: times four, of which no double is rounded."""
    scaled = {"attn.QK", "mlp.W_in", "mlp.b_in"} | ({"X"} if construction == "silu" else set())
    exported = [oracle_pairs.exported(os.environ["HEADPROOF"], {
        "construction": construction, "bias": "random", "normalization": "layernorm",
        "normalization-place": "post", "score-scale": scale, "n": 3, "d": 2, "d-ff": 3},
        str(tmp_path)) for scale in ("1", "4")]
    for name, numbers in exported[0].items():
        factor = 4 if name.split("blocks.0.")[-1] in scaled else 1
        assert [factor * x for x in numbers] == list(exported[1][name]), name


@pytest.mark.parametrize("said, flags, factors", [
    ({}, "--score-scale 4", (4, 4)), ({"scale_attn_by_inverse_layer_idx": "true"}, "", (1, 0.5))])
def test_a_scale_is_on_a_file_s_queries(run, tmp_path, said, flags, factors):
    """W_Q and b_Q of each layer, so that a file with these times the factors is the same model."""
    r = numpy.random.default_rng(1)
    shapes = {"W_Q": (2, 3, 2), "W_K": (2, 3, 2), "W_V": (2, 3, 2), "W_O": (2, 2, 3),
              "b_Q": (2, 2), "b_K": (2, 2), "b_V": (2, 2), "b_O": (3,)}
    tensors = {f"blocks.{layer}.attn.{name}": r.normal(size=shape)
               for layer in range(2) for name, shape in shapes.items()}
    tensors["X"] = r.normal(size=(4, 3))
    scaled = {name: a * (factors[int(name[7])] if name[-2:] == "_Q" else 1)
              for name, a in tensors.items()}
    printed = []
    for model, metadata, more in ((tensors, said, flags), (scaled, {}, "")):
        path = tmp_path / "model.safetensors"
        safetensors_file.write(path, model, metadata)
        ended = run("sweep", "--construction", "attention", "--weights", path, "--omega", "5",
                    "--scale", "1", "--mask", "none", "--normalization", "none", "--quiet",
                    *more.split())
        assert ended.code == 0, ended.stderr
        rows = csv.DictReader(io.StringIO(ended.stdout))
        printed.append([{**row, "options": ""} for row in rows])
    assert printed[0] == printed[1]
