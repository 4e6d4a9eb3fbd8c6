#!/usr/bin/env python3
"""The shared layout of `headproof convert` is the plain one: each head's W_Q W_K^T and W_V W_O, put
together from the shared tensors by tests/evaluate_converted.py, which follows docs/convert.md, is
that of the plain file in rational arithmetic, number by number; and evaluated, both are the model.

    HEADPROOF=build/release/headproof python3 tests/converted_layouts.py SCRATCH

Exit 1 with what is wrong.  Python's own library is enough.
"""

import os
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import evaluate_converted as independent  # noqa: E402
from asked_program import SCRATCH, check, run_well  # noqa: E402

MODEL, PLAIN, SHARED = (os.path.join(SCRATCH, name + ".safetensors")
                        for name in ("model", "plain", "shared"))

NET = "--construction transformer --d-ff 5 --heads 2 --d-head 4 --bias random"
ATTENTION = "--construction attention --heads 3 --bias random"
LINEAR = "--construction linear --bias random"
GELU = NET + " --activation gelu"
NORM = " --normalization layernorm --eps 0.25"
RMS = " --normalization rmsnorm --eps 0.25"
POST = " --normalization-place post"

# Of export, of convert, how far T' may be off (None: what heads imitate, or lose, is not small),
# and what the file does not say of itself.
VARIANTS = [
    (NET, "", 1e-12),
    (NET + " --mask causal", "--penalty negative", 1e-12),
    (NET + " --mask causal", "--network three", 1e-12),
    (NET + " --scale 1/sqrt(d_head)", "--network three --penalty negative --bias-row first", 1e-12),
    (NET + " --d-head 3 --scale 1/sqrt(d_head)", "", 1e-12),
    (NET + " --n 1", "", 1e-12),
    (GELU, "--gelu 1", None),
    (GELU, "--gelu 4 --bias-row last", None),
    (GELU + " --mask causal", "--gelu 3 --penalty negative --network three", None),
    (NET + " --activation relu", "--slope 1000", None),
    (NET + NORM, "", 1e-12),
    (NET + NORM + " --mask causal", "--normalize-bias-row no", 1e-12),
    (NET + NORM, "--normalize-bias-row no --network three --penalty negative", 1e-12),
    (NET + NORM + POST, "--network three", 1e-12),
    (NET + RMS + " --mask causal", "", 1e-12),
    (NET + RMS + POST, "--penalty negative", 1e-12),
    (NET + " --construction fused", "", 1e-12),
    (NET + " --construction ffn3", "--network three", 1e-12),
    (ATTENTION + " --d-head 0", "--bias-row-content random --penalty negative", 1e-12),
    (ATTENTION + " --d-head 4 --mask causal", "--bias-row-content random", 1e-12),
    (NET, "--bias-row-content random", None),
    (ATTENTION + " --d-head 2", "--mask pseudo-band --band 2", None, "mask"),
    (NET, "--mask pseudo-causal --penalty negative", None, "mask"),
    (NET, "--dropout 0.3 --penalty positive", None),
    (NET, "--score-scale 3 --weight-noise 0.01", None),
    (LINEAR, "", None),
    (LINEAR, "--head-rank 2 --penalty negative", None),
    (LINEAR + " --linear block --d-ff 3", "--head-rank 2", None),
]


def run(*words):
    run_well(*words, "--quiet")


def outer(terms):
    """The sum of factor left right^T, {(row, column): Fraction} of what is not zero."""
    found = {}
    for factor, left, right in terms:
        right = [(j, Fraction(b) * factor) for j, b in enumerate(right) if b]
        for i, a in enumerate(left):
            for j, b in right if a else ():
                found[i, j] = found.get((i, j), 0) + Fraction(a) * b
    return {at: value for at, value in found.items() if value}


def plain_terms(left, right):
    """left [width, rank], right [rank, width]"""
    return ((Fraction(1), column, row) for column, row in zip(zip(*left), right))


def same(got, expected, exact):
    if exact:
        return got == expected
    largest = max(map(abs, expected.values()))
    return got.keys() == expected.keys() and all(
        abs(got[at] - expected[at]) <= largest / 2**52 for at in expected)


def shared_is_plain(what):
    plain, said = independent.load(PLAIN)
    shared, shared_said = independent.load(SHARED)
    blocks = independent.json.loads(shared_said["headproof.heads"])
    content = len(shared["X"][0])
    frame = independent.Frame(len(shared["X"]), content, int(said["headproof.bias_row"]),
                              float(said["headproof.omega"]))
    exact = said["headproof.exact"] == "true"
    check(shared_said["headproof.exact"] == "true", f"{what}: shared is exact")
    check([row[:content] for row in plain["X"]] == shared["X"], f"{what}: X")
    for s, (block, bundles) in enumerate(zip(independent.layers(plain), blocks)):
        t, heads = block["attn"], [(b, h) for b in bundles for h in range(b["heads"])]
        for head, (bundle, h) in enumerate(heads):
            q = outer(plain_terms(t["W_Q"][head], independent.transposed(t["W_K"][head])))
            v = outer(plain_terms(t["W_V"][head], t["W_O"][head]))
            score = outer(independent.score_terms(frame, bundle["score"], h, shared))
            value = outer(independent.value_terms(frame, bundle["value"], h, shared))
            check(same(q, score, exact), f"{what}: Q of head {head} of sublayer {s}")
            check(same(v, value, True), f"{what}: V of head {head} of sublayer {s}")
        for head in range(len(heads), len(t["W_Q"])):
            check(not any(map(any, t["W_O"][head])), f"{what}: head {head} of {s} adds nothing")
        check(block.get("ln", {}).get("w") == shared.get(f"blocks.{s}.ln.w"), f"{what}: gamma")
        beta = shared.get(f"blocks.{s}.ln.b")
        rows = beta and [[b * is_token for b in beta] for is_token in frame.tokens]
        check(block.get("ln", {}).get("b") == rows, f"{what}: beta")
    check(len(blocks) == len(independent.layers(plain)), f"{what}: sublayers")
    for key in set(said) | set(shared_said):
        if key not in ("headproof.layout", "headproof.heads", "headproof.evaluate", "scale",
                       "headproof.augment", "headproof.exact", "headproof.inexact"):
            check(said.get(key) == shared_said.get(key), f"{what}: metadata {key}")


def unsay(name):
    with open(MODEL, "rb") as file:
        data = file.read()
    nothing = {4: "name", 5: "title", 10: "model_name"}[len(name)]  # keys that say nothing
    key, other = f'"{name}":'.encode(), f'"{nothing}":'.encode()
    check(data.count(key) == 1, f"the metadata say {name} once")
    with open(MODEL, "wb") as file:
        file.write(data.replace(key, other))


def of_variant(export, flags, tolerance, unsaid=None):
    what = f"{export} | {flags}"
    words = export.split()
    words = words if "--n" in words else ["--n", "3"] + words
    once = {word: words[i + 1] for i, word in enumerate(words) if word.startswith("--")}
    words = [word for pair in once.items() for word in pair]
    run("export", "--d", "4", "--depth", "2", "--omega", "9", *words, "-o", MODEL)
    if unsaid is not None:
        unsay(unsaid)
    for path, layout in ((PLAIN, "plain"), (SHARED, "shared")):
        usual = "" if "--penalty" in flags else " --penalty positive"
        run("convert", MODEL, "--omega", "20.1", "--layout", layout, *(flags + usual).split(), "-o",
            path)
    shared_is_plain(what)
    if tolerance is not None:
        for path in (PLAIN, SHARED):
            done = subprocess.run(
                [sys.executable, "tests/evaluate_converted.py", MODEL, path, "--tolerance",
                 str(tolerance)], capture_output=True, encoding="utf-8", check=False)
            check(done.returncode == 0, f"{what}: {path}: {done.stdout}{done.stderr}")


def zeros(rows, columns):
    return [[0.0] * columns for _ in range(rows)]


def beside(a, b):
    return [row + other for row, other in zip(a, b)]


def ends_are_the_model_s():
    """Embeddings and unembedding of modadd53, over all columns and over the model's own."""
    model = "cases/models/modadd53-silu.safetensors"
    of, _ = independent.load(model)
    for n in (3, 2):
        for path, layout in ((PLAIN, "plain"), (SHARED, "shared")):
            run("convert", model, "--omega", "20", "--layout", layout, "--n", str(n),
                "--bias-row-content", "random", "-o", path)
        plain, said = independent.load(PLAIN)
        shared, _ = independent.load(SHARED)
        bias = int(said["headproof.bias_row"])
        check(bias == 0 and said["headproof.bias_token"] == "54", "the bias row's token")
        check(shared["embed.W_E"] == of["embed.W_E"], "W_E")
        check(shared["pos_embed.W_pos"] == of["pos_embed.W_pos"][:n], "W_pos, cut")
        check(shared["unembed.W_U"] == of["unembed.W_U"], "W_U")
        x_bias = plain["X"][bias][:64]
        check(any(x_bias) and plain["embed.W_E"] == beside(of["embed.W_E"] + [x_bias],
                                                           zeros(55, n + 1)), "wide W_E")
        ones = [[float(i == j) for j in range(n + 1)] for i in range(n + 1)]
        check(plain["pos_embed.W_pos"] == beside(zeros(1, 64) + of["pos_embed.W_pos"][:n], ones),
              "wide W_pos")
        check(plain["unembed.W_U"] == of["unembed.W_U"] + zeros(n + 1, 53), "wide W_U")


def a_gpt2_s_ends():
    """Of chargpt, whose W_U is its W_E, with its final norm."""
    of, _ = independent.load("cases/models/chargpt/model.safetensors")
    run("convert", "cases/models/chargpt", "--omega", "20", "--n", "5", "--layout", "shared", "-o",
        SHARED)
    shared, _ = independent.load(SHARED)
    of = {name[len("transformer."):]: values for name, values in of.items()}
    check(shared["embed.W_E"] == of["wte.weight"], "chargpt: W_E")
    check(shared["unembed.W_U"] == independent.transposed(of["wte.weight"]), "chargpt: W_U")
    check(shared["pos_embed.W_pos"] == of["wpe.weight"][:5], "chargpt: W_pos")
    check(shared["ln_final.w"] == of["ln_f.weight"], "chargpt: gamma")
    check(shared["ln_final.b"] == of["ln_f.bias"], "chargpt: beta")
    check(shared["blocks.2.ln.w"] == of["h.1.ln_1.weight"], "chargpt: a norm")


for variant in VARIANTS:
    of_variant(*variant)
ends_are_the_model_s()
a_gpt2_s_ends()
print("all is well")
