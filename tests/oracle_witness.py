#!/usr/bin/env python3
"""Random small models of both families with a witness from transformer.py (numpy, in float64,
float32, float16 or bfloat16; windows of one token, last answers alone), each once as it is and once
with one thing wrong: right ones must be taken, wrong ones refused whose logits, in float64, are
further off than what Headproof asks for; of one that is taken the verdict must say that its witness
does not tell the wrong reading from another.  What is suggested is counted.

    python3 oracle_witness.py PROGRAM COUNT [SEED]

Prints a line for each that is not as it should be, and the counts; exits 1 on a false answer, or
where fewer than nine suggestions in ten are right.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import numpy as np

import families
from safetensors_file import write
from transformer import logits as evaluate

ACTIVATIONS = ["silu", "relu", "gelu", "gelu_new"]


def draw(rng):
    """A model as the dict of its tensors, and what is said of it."""
    gpt2 = rng.random() < 0.5
    heads, d_head = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    d = heads * d_head if gpt2 or rng.random() < 0.6 else int(rng.integers(4, 11))
    hidden = d if rng.random() < 0.3 else int(rng.integers(4, 17))
    vocabulary, context = int(rng.integers(6, 13)), int(rng.integers(4, 9))
    classes = vocabulary if gpt2 or rng.random() < 0.5 else int(rng.integers(3, 10))
    kind = "layernorm" if gpt2 else str(rng.choice(["none", "layernorm", "rmsnorm"]))
    said = {"activation": str(rng.choice(ACTIVATIONS)), "normalization": kind,
            "mask": "causal" if gpt2 or rng.random() < 0.7 else "none",
            "scale": str(rng.choice(["1", "1/sqrt(d_head)"])), "gpt2": gpt2,
            "eps": float(rng.choice([1e-5, 1e-6, 1e-3, 1e-12])),
            "tied": gpt2 and rng.random() < 0.5}
    inner, outer, mlp, of_norms = gpt2 or rng.random() < 0.6, gpt2 or rng.random() < 0.6, \
        gpt2 or rng.random() < 0.6, gpt2 or rng.random() < 0.6
    t = {}

    def put(name, *shape, scale=None):
        size = scale if scale is not None else 1.5 / np.sqrt(shape[-2] if len(shape) > 1 else 1)
        t[name] = (rng.standard_normal(shape) * size).astype(np.float32)

    def gain(name, beta):
        if kind != "none":
            t[name + ".w"] = (1 + 0.3 * rng.standard_normal(d)).astype(np.float32)
            if beta and kind == "layernorm":
                put(name + ".b", d, scale=0.3)

    put("embed.W_E", vocabulary, d, scale=1)
    if gpt2 or rng.random() < 0.8:
        put("pos_embed.W_pos", context, d, scale=0.7)
    for l in range(int(rng.integers(1, 4))):
        gain(f"blocks.{l}.ln1", of_norms)
        for c in "QKV":
            put(f"blocks.{l}.attn.W_{c}", heads, d, d_head)
            if inner:
                put(f"blocks.{l}.attn.b_{c}", heads, d_head, scale=0.5)
        put(f"blocks.{l}.attn.W_O", heads, d_head, d)
        if outer:
            put(f"blocks.{l}.attn.b_O", d, scale=0.5)
        gain(f"blocks.{l}.ln2", of_norms)
        put(f"blocks.{l}.mlp.W_in", d, hidden)
        put(f"blocks.{l}.mlp.W_out", hidden, d)
        if mlp:
            put(f"blocks.{l}.mlp.b_in", hidden, scale=0.5)
            put(f"blocks.{l}.mlp.b_out", d, scale=0.5)
    gain("ln_final", of_norms)
    if said["tied"]:
        t["unembed.W_U"] = t["embed.W_E"].T.copy()
    else:
        put("unembed.W_U", d, classes)
    if not gpt2 and rng.random() < 0.5:
        put("unembed.b_U", classes, scale=0.5)
    return t, said


def layers(t, name):
    return [key for key in t if re.fullmatch(r"blocks\.\d+\." + re.escape(name), key)]


def transposed(rng, t, said):
    def matrix(key):
        return families.flat(key, t[key])

    places = [name for name in ("attn.W_O", "attn.W_Q", "attn.W_K", "attn.W_V", "mlp.W_in",
                                "mlp.W_out") if len(set(matrix("blocks.0." + name).shape)) == 1]
    if not places:
        return None
    name = str(rng.choice(places))
    for key in layers(t, name):
        shape = t[key].shape
        t[key] = matrix(key).T if name[:3] == "mlp" else matrix(key).T.reshape(shape) \
            if name.endswith("W_O") else matrix(key).T.reshape(
                shape[1], shape[0], -1).swapaxes(0, 1)
    return re.escape(name.split(".")[1]) + r".*transposed|all square"


def activation(rng, t, said):
    was = said["activation"]
    said["activation"] = str(rng.choice([a for a in ACTIVATIONS if a != was]))
    return "activation " + was + "$"


def scale(rng, t, said):
    was = said["scale"]
    said["scale"] = "1" if was != "1" else "1/sqrt(d_head)"
    return re.escape("scale " + was)


def eps(rng, t, said):
    if said["normalization"] == "none":
        return None
    was = said["eps"]
    said["eps"] = float(rng.choice([e for e in (1e-5, 1e-6, 1e-3, 1e-12) if e != was]))
    return "eps"


def mask(rng, t, said):
    if said["gpt2"]:
        return None
    was = said["mask"]
    said["mask"] = "none" if was == "causal" else "causal"
    return "mask " + was


def heads(rng, t, said):
    name = "attn.W_" + str(rng.choice(list("QKVO")))
    count = t[layers(t, name)[0]].shape[0]
    if count < 2:
        return None
    a, b = rng.choice(count, 2, replace=False)
    for key in layers(t, name):
        t[key][[a, b]] = t[key][[b, a]]
    return "swapped|W_[QKVO]"


def n_head(rng, t, said):
    was, d, d_head = t["blocks.0.attn.W_Q"].shape
    others = [count for count in range(1, was * d_head + 1)
              if was * d_head % count == 0 and count != was]
    count = int(rng.choice(others))
    for c in "QKV":
        for key in layers(t, "attn.W_" + c):
            t[key] = families.flat(key, t[key]).reshape(d, count, -1).swapaxes(0, 1)
        for key in layers(t, "attn.b_" + c):
            t[key] = t[key].reshape(count, -1)
    for key in layers(t, "attn.W_O"):
        t[key] = t[key].reshape(count, -1, d)
    return f"heads {was}$"


def norm_kind(rng, t, said):
    if said["normalization"] == "none" or any(re.search(r"ln.*\.b$", name) for name in t):
        return None
    was = said["normalization"]
    said["normalization"] = "rmsnorm" if was == "layernorm" else "layernorm"
    return None if said["gpt2"] else "normalization " + was


def bias(rng, t, said):
    kinds = {"b_Q": ["attn.b_Q", "attn.b_K", "attn.b_V"], "b_O": ["attn.b_O"],
             "b_in": ["mlp.b_in", "mlp.b_out"]}
    there = [kind for kind in kinds if layers(t, kinds[kind][0])]
    if said["gpt2"] or (not there and "unembed.b_U" not in t):
        return None
    kind = str(rng.choice(there + (["b_U"] if "unembed.b_U" in t else [])))
    for key in ["unembed.b_U"] if kind == "b_U" else [k for n in kinds[kind] for k in layers(t, n)]:
        del t[key]
    return kind


def positions(rng, t, said):
    if "pos_embed.W_pos" not in t:
        return None
    t["pos_embed.W_pos"] = np.roll(t["pos_embed.W_pos"], int(rng.choice([-1, 1])), axis=0)
    return "positions"


def tied(rng, t, said):
    if not said["gpt2"]:
        return None
    if said["tied"]:  # a matrix of its own, where the model ran tied
        t["unembed.W_U"] = (t["unembed.W_U"] + 0.5 * rng.standard_normal(t["unembed.W_U"].shape)
                            ).astype(np.float32)
        said["tied"] = False
        return "tied"
    t["unembed.W_U"] = t["embed.W_E"].T.copy()
    said["tied"] = True
    return "tied"


FAULTS = [transposed, activation, scale, eps, mask, heads, bias, positions, tied, n_head, norm_kind]
# What a verdict says where the witness does not tell them.
UNTOLD = {"activation": "activation", "scale": "scale", "eps": "eps", "mask": "mask",
          "n_head": "heads", "norm_kind": "normalization"}


def answers(t, said, tokens, kind):
    """In the format, and as the file has them: bfloat16 as the upper halves of float32's bits."""
    if kind != "bfloat16":
        out = evaluate(t, said, tokens, getattr(np, kind))
        return out, out
    rounded = {name: halves(value) for name, value in t.items()}
    out = halves(evaluate(rounded, said, tokens, np.float32))
    return out, (out.view("<u4") >> 16).astype("<u2")


def halves(x):
    """To nearest, ties to even."""
    bits = np.ascontiguousarray(x, "<f4").view("<u4").astype(np.uint64)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
    return bits.astype("<u4").view("<f4").reshape(x.shape)


def save(folder, t, said, tokens, logits):
    witness = {"witness.tokens": tokens, "witness.logits": logits}
    path = os.path.join(folder, "model.safetensors")
    if not said["gpt2"]:
        metadata = {k: said[k] for k in ("activation", "normalization", "mask", "scale")}
        metadata["blocks"] = "sequential"
        metadata["positions"] = "learned" if "pos_embed.W_pos" in t else "none"
        if said["normalization"] != "none":
            metadata.update({"normalization-place": "pre", "eps": repr(said["eps"])})
        write(path, {**t, **witness}, metadata)
        return path
    own = {name: array for name, array in t.items() if not said["tied"] or name != "unembed.W_U"}
    write(path, {**families.named(own, "gpt2"), **witness}, {})
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": "gpt2", "activation_function": said["activation"],
                   "layer_norm_epsilon": said["eps"], "n_layer": len(layers(t, "attn.W_Q")),
                   "n_head": t["blocks.0.attn.W_Q"].shape[0],
                   "scale_attn_weights": said["scale"] != "1",
                   "tie_word_embeddings": bool(said["tied"])}, file)
    return path


def run(program, path):
    """The exit code, what was said, and what was allowed."""
    done = subprocess.run([program, "convert", path, "-o", path + ".out", "--omega", "20", "--n",
                           "4", "--threads", "1"], capture_output=True, text=True)
    asked = re.search(r"allowed (\S+)|expected them within ([^ ]*) ", done.stdout +
                      done.stderr)
    said = done.stdout + done.stderr
    return done.returncode, said, float(asked[1] or asked[2]) if asked else None


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    np.seterr(all="ignore")  # float16 overflows
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 2026
    tally, by_fault, ratios = Counter(), {}, defaultdict(list)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        t, said = draw(rng)
        context = len(t.get("pos_embed.W_pos", np.zeros(6)))
        tokens = rng.integers(0, len(t["embed.W_E"]), (3, context if rng.random() < 0.8 else 1))
        kind = str(rng.choice(["float64", "float32", "float16", "bfloat16"]))
        logits, kept = answers(t, said, tokens, kind)
        if not np.isfinite(logits).all():
            logits, kept = answers(t, said, tokens, "float32")
        if rng.random() < 0.3:
            logits, kept = logits[:, -1:], np.ascontiguousarray(kept[:, -1:])
        with tempfile.TemporaryDirectory() as folder:
            path = save(folder, t, said, tokens, kept)
            code, text, asked = run(program, path)
            if code != 0:
                tally["right, refused"] += 1
                print(f"{i}: right, refused: {text.strip()}")
            double = evaluate(t, said, tokens)
            off = np.abs(double[:, -logits.shape[1]:] - logits.astype(float)).max()
            least = 2.2e-16 * np.abs(logits).max()
            ratios[str(logits.dtype)].append((asked or np.inf) / max(off, least))
            suggestion, wrong = None, i
            while suggestion is None:
                fault = FAULTS[wrong % len(FAULTS)]
                suggestion = fault(rng, t, said)
                wrong += 1
            double = evaluate(t, said, tokens)
            off = np.abs(double[:, -logits.shape[1]:] - logits.astype(float)).max()
            code, text, asked = run(program, save(folder, t, said, tokens, kept))
        kind = by_fault.setdefault(fault.__name__, Counter())
        kind["all"] += 1
        untold = f"(does not tell|,) {UNTOLD.get(fault.__name__, 'x')} .* from "
        silent = fault.__name__ in UNTOLD and not re.search(untold, text)
        # Two printed digits: nothing is known of what is closer to what was allowed.
        close = asked is not None and abs(off - asked) < 0.06 * asked
        if code not in (0, 2) or asked is None or ((code == 2) != (off > asked) and not close) or (
                code == 0 and silent):
            tally["wrong, and answered wrongly"] += 1
            print(f"{i}: {fault.__name__}: exit {code}, off by {off:.3g}: {text.strip()}")
        elif code == 0:
            kind["too small to tell"] += 1
            print(f"{i}: {fault.__name__}: off by {off:.3g}, within {asked:.3g}")
        else:
            kind["refused"] += 1
            hit = re.search(suggestion, text.strip().split("another model; ")[1])
            kind["suggested"] += hit is not None
            if hit is None:
                print(f"{i}: {fault.__name__}: suggested: {text.strip().split('model; ')[1]}")
    for name, kind in by_fault.items():
        print(name, dict(kind))
    refused = sum(kind["refused"] for kind in by_fault.values())
    suggested = sum(kind["suggested"] for kind in by_fault.values())
    print(f"{count} right models, {tally['right, refused']} refused; {count} wrong ones: "
          f"{refused} refused, {suggested} of them with the right suggestion, "
          f"{tally['wrong, and answered wrongly']} answered wrongly")
    for kind, of in ratios.items():
        print(f"{kind}: allowed is {np.median(of):.3g} times what right answers are off by")
        tally["right, refused"] += not np.median(of) < 200
    bad = tally["right, refused"] + tally["wrong, and answered wrongly"]
    return 1 if bad > 0 or refused == 0 or suggested < 0.9 * refused else 0


sys.exit(main())
