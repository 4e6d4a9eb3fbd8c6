"""A model's own answers: what agrees is said, what does not is refused with its likeliest cause,
and without them a verdict says that nothing shows what model it is.

Random small models of both families have a witness from transformer.py (numpy, in float64, float32,
float16 or bfloat16; windows of one token, last answers alone), each once as it is and once with one
thing wrong: right ones must be taken, wrong ones refused whose logits, in float64, are further off
than what Headproof asks for; of one that is taken the verdict must say that its witness does not
tell the wrong reading from another.  Of ten suggestions nine must be right.
"""

import json
import os
import re
from collections import Counter, defaultdict

import families
import numpy as np
import pytest
from conftest import ROOT
from safetensors_file import write
from transformer import logits as evaluate

MODADD = ROOT / "cases/models/modadd53-silu.safetensors"
CHARGPT = ROOT / "cases/models/chargpt"
TRAINED = CHARGPT / "model.safetensors"
VERIFY = f"verify {MODADD} --tokens 0/1/53 --omega 20 --tolerance 1e-9"
UNTOLD_MASK = "agrees with its witness, which does not tell mask causal from none: "
ANOTHER = "expected them within 1e-06 (--witness-tolerance): this is another model; "
READINGS = "convert m.st --n 4 --omega 20 -o c.st"
ALONE = ": expected names that begin with 'witness.' alone"

# In a folder where m.st is chargpt's file: a line, its exit code, and words.
LINES = [
    (f"{VERIFY}", 0, UNTOLD_MASK + "logits off by 2.4e-05, allowed "),
    (f"sweep --weights {MODADD} --n 3 --omega 20 -o s.csv", 0, UNTOLD_MASK),
    (READINGS, 0, "m.st: same model as its witness: logits off by 4.7e-07, allowed "),
    ("verify x.st --omega 20", 0,
     "; nothing in the file shows that it is the model you run: see docs/models.md"),
    # A tolerance of one's own decides, either way, and by every command that takes a model.
    (f"{VERIFY} --witness-tolerance 1e-6", 2, "tensor 'witness.logits': window "),
    (f"{VERIFY} --witness-tolerance 1e300", 0,
     "from 1, activation silu from relu or gelu or gelu_new, mask causal from none, heads 4 from 2 "
     "or 8: logits off by 2.4e-05, allowed 1.0e+300"),
    *((f"{command} --witness-tolerance 0.01 --dry-run", 0, " --witness-tolerance 0.01")
      for command in (VERIFY, f"sweep --weights {MODADD} --n 3 --omega 20")),
    *((f"{VERIFY} --witness-tolerance '{wrong}'", 2, "--witness-tolerance: token ")
      for wrong in ("0", "-1", "nan", "")),
    *((f"{command.replace(' ', f' {MODADD} ', 1)} --witness-tolerance 1e-6", 2, ANOTHER)
      for command in ("guarantee --tolerance 1e-9", "cost ", "convert -o c.st",
                      "attribute --tokens 0/1/53", "verify --tokens 0/1/53")),
    (f"cost {MODADD}", 0, ": agrees with its witness, "),
    # Unknown keys are a warning beside a witness that tells all readings, else refused.
    ("convert told/m.st --n 4 --omega 20 -o c.st", 0,
     "unknown keys 'colour' outweighed by the witness; same model as its witness: "),
    ("guarantee untold/m.st --tolerance 1e-9", 2,
     "'colour': expected those that docs/keys.md lists (--ignore-config KEY,... takes the "
     "responsibility for others), as its witness does not tell mask causal from none"),
    ("guarantee untold/m.st --tolerance 1e-9 --ignore-config colour", 0, ""),
    # What nobody says, a witness does, where one reading alone has its answers.
    (READINGS, 0, "m.st: its witness shows scale 1/sqrt(d_head), activation gelu_new, heads 4, eps "
     "1e-05\n"),
    (f"{READINGS} --heads 4", 0, "shows scale 1/sqrt(d_head), activation gelu_new, eps 1e-05\n"),
    (f"{READINGS} --activation silu", 2,
     "no reading of the open choices gives these answers: scale "),
    (f"{READINGS} --witness-tolerance 1e-2", 2,
     "heads 4, eps 1e-06; scale 1/sqrt(d_head), activation gelu_new, heads 4, eps 1e-05"),
    # It may be in a file of its own, which holds nothing else and is not there twice.
    (f"{VERIFY} --witness {CHARGPT}/expected.safetensors", 2, f"tensor 'tokens'{ALONE}"),
    (f"{VERIFY} --witness {MODADD}", 2, ALONE),
    (f"{VERIFY} --witness /no/such", 2, "/no/such: "),
    (f"{VERIFY} --witness ''", 2, "--witness: token '': expected a"),
    # A flag that nothing could follow is not taken in silence.
    *((f"sweep --n 2 --d 2 --omega 20 {flag}", 2, ": expected a weights file") for flag in (
        "--witness w.st", "--witness-tolerance 1", "--blocks sequential",
        "--position-embedding none", "--ignore-config rope")),
    (f"sweep --weights {ROOT}/cases/models/silu-x.safetensors --construction silu --omega 20 "
     "--normalization none --witness-tolerance 1", 2, "expected a weights file with a witness"),
    # A blank at an end of a path belongs to its name.
    ("verify 'm.safetensors ' --omega 20", 2,
     "token 'm.safetensors': expected a path without a blank before or behind"),
    ("verify ' ./m.st' --omega 20", 2, "expected a path without a blank before or behind it"),
]


@pytest.fixture
def files(expect, tmp_path):
    expect(0, "export --construction transformer --n 3 --d 4 --omega 20 -q -o x.st")
    (tmp_path / "m.st").write_bytes(TRAINED.read_bytes())
    for name, model in ("told", TRAINED), ("untold", MODADD):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.st").write_bytes(model.read_bytes())
        (tmp_path / name / "config.json").write_text('{"colour": 3}')


@pytest.mark.parametrize("line, code, words", LINES)
def test_what_is_said(expect, files, line, code, words):
    expect(code, line, words)


def test_what_is_shown_is_as_if_it_were_said(expect, files, tmp_path):
    expect(0, READINGS)
    expect(0, "convert m.st --n 4 --omega 20 -o d.st --heads 4 --activation gelu_new "
              "--scale 1/sqrt(d_head) --eps 1e-5 -q")
    assert (tmp_path / "c.st").read_bytes() == (tmp_path / "d.st").read_bytes()


# ---- Random models -------------------------------------------------------------------------------

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
    path, config = folder / "model.safetensors", folder / "config.json"
    config.unlink(missing_ok=True)
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
    config.write_text(json.dumps(
        {"model_type": "gpt2", "activation_function": said["activation"],
         "layer_norm_epsilon": said["eps"], "n_layer": len(layers(t, "attn.W_Q")),
         "n_head": t["blocks.0.attn.W_Q"].shape[0], "scale_attn_weights": said["scale"] != "1",
         "tie_word_embeddings": bool(said["tied"])}))
    return path


@pytest.fixture
def judged(run, tmp_path):
    """The exit code, what is said, and what is allowed of such a model."""
    def judge(*model):
        path = save(tmp_path, *model)
        done = run("convert", path, "-o", "c.st", "--omega", "20", "--n", "4", "--threads", "1",
                   cwd=tmp_path)
        said = done.stdout + done.stderr
        asked = re.search(r"allowed (\S+)|expected them within ([^ ]*) ", said)
        return done.code, said, float(asked[1] or asked[2]) if asked else None
    return judge


def test_random_models_are_told_apart(judged):
    np.seterr(all="ignore")  # float16 overflows
    tally, wrongly, ratios = Counter(), [], defaultdict(list)
    for i in range(300 if os.environ.get("HEADPROOF_NIGHTLY") else 40):
        rng = np.random.default_rng([2026, i])
        t, said = draw(rng)
        context = len(t.get("pos_embed.W_pos", np.zeros(6)))
        tokens = rng.integers(0, len(t["embed.W_E"]), (3, context if rng.random() < 0.8 else 1))
        kind = str(rng.choice(["float64", "float32", "float16", "bfloat16"]))
        logits, kept = answers(t, said, tokens, kind)
        if not np.isfinite(logits).all():
            logits, kept = answers(t, said, tokens, "float32")
        if rng.random() < 0.3:
            logits, kept = logits[:, -1:], np.ascontiguousarray(kept[:, -1:])

        def off():
            double = evaluate(t, said, tokens)
            return np.abs(double[:, -logits.shape[1]:] - logits.astype(float)).max()

        code, text, asked = judged(t, said, tokens, kept)
        wrongly += [f"{i}: right, refused: {text}"] * (code != 0)
        ratios[str(logits.dtype)].append(
            (asked or np.inf) / max(off(), 2.2e-16 * np.abs(logits).max()))
        suggestion, wrong = None, i
        while suggestion is None:
            fault = FAULTS[wrong % len(FAULTS)]
            suggestion, wrong = fault(rng, t, said), wrong + 1
        code, text, asked = judged(t, said, tokens, kept)
        name = fault.__name__
        silent = name in UNTOLD and not re.search(
            f"(does not tell|,) {UNTOLD[name]} .* from ", text)
        # Two printed digits: nothing is known of what is closer to what was allowed.
        close = asked is not None and abs(off() - asked) < 0.06 * asked
        if asked is None or code not in (0, 2) or (code == 0 and silent) or (
                not close and (code == 2) != (off() > asked)):
            wrongly.append(f"{i}: {name}: exit {code}, off by {off():.3g}: {text}")
        elif code == 2:
            tally["refused"] += 1
            tally["suggested"] += re.search(
                suggestion, text.strip().split("another model; ")[1]) is not None
    assert wrongly == []
    assert tally["suggested"] >= 0.9 * tally["refused"] > 0, tally
    assert max(map(np.median, ratios.values())) < 200, ratios
