#!/usr/bin/env python3
"""One reader: what `headproof` reads of a model's files, and `headproof.save` writes of the same.

    HEADPROOF=build/release/headproof PYTHONPATH=python python3 tests/models_read.py SCRATCH [--all]

A small model is drawn once, and written under the names of four families.  An independent
evaluation with numpy, by the definition of GPT-2, is the witness of each.

Right ones: every family, with its variants, is read and agrees with that evaluation.  Wrong ones:
each family with one thing wrong, in the config, among the tensors, or in the witness.  None may be
taken, by the program or by `save`, and both say the same of it.  --all: every wrong one in every
family, and the words of each; else one family in turn.
"""

import fcntl
import json
import math
import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headproof  # noqa: E402
from headproof.files import write_safetensors  # noqa: E402
from asked_program import SCRATCH, check, run  # noqa: E402

V, N, D, HEADS, H, DEPTH = 7, 5, 8, 2, 12, 2
RNG = np.random.default_rng(44)
TOKENS = RNG.integers(0, V, size=(4, N))


def draw(*shape):
    return RNG.normal(size=shape).astype(np.float32)


# The model, [in, out], heads side by side.
MODEL = {"E": draw(V, D), "P": draw(N, D), "fw": draw(D), "fb": draw(D)}
for layer in range(DEPTH):
    for part, shape in {"1w": (D,), "1b": (D,), "2w": (D,), "2b": (D,), "Q": (D, D), "K": (D, D),
                        "V": (D, D), "O": (D, D), "bQ": (D,), "bK": (D,), "bV": (D,), "bO": (D,),
                        "I": (D, H), "bI": (H,), "U": (H, D), "bU": (D,)}.items():
        MODEL[f"{layer}{part}"] = draw(*shape) * (0.5 if len(shape) == 2 else 1)


def norm(x, w, b):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w + b


def gelu_new(y):
    return y / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3)))


def answers(tokens, by_layer=False, causal=True):
    """Logits [windows, n, V] in float64, by the definition of GPT-2."""
    m = {name: array.astype(np.float64) for name, array in MODEL.items()}
    x = m["E"][tokens] + m["P"][:tokens.shape[1]]
    later = causal * np.triu(np.ones((tokens.shape[1],) * 2), 1) > 0
    for l in range(DEPTH):
        y = norm(x, m[f"{l}1w"], m[f"{l}1b"])
        for h in range(HEADS):
            c = slice(h * D // HEADS, (h + 1) * D // HEADS)
            q, k, v = (y @ m[f"{l}{p}"][:, c] + m[f"{l}b{p}"][c] for p in "QKV")
            scores = q @ k.swapaxes(-1, -2) / math.sqrt(D // HEADS) / (l + 1 if by_layer else 1)
            weights = np.exp(np.where(later, -np.inf, scores))
            x = x + weights / weights.sum(-1, keepdims=True) @ v @ m[f"{l}O"][c]
        x = x + m[f"{l}bO"]
        y = norm(x, m[f"{l}2w"], m[f"{l}2b"])
        x = x + gelu_new(y @ m[f"{l}I"] + m[f"{l}bI"]) @ m[f"{l}U"] + m[f"{l}bU"]
    return norm(x, m["fw"], m["fb"]) @ m["E"].T


# ---- Families ------------------------------------------------------------------------------------


def gpt2(linear=False):
    t = np.transpose if linear else np.asarray
    tensors = {"wte.weight": MODEL["E"], "wpe.weight": MODEL["P"], "ln_f.weight": MODEL["fw"],
               "ln_f.bias": MODEL["fb"]}
    for l in range(DEPTH):
        m = {name[1:]: array for name, array in MODEL.items() if name[0] == str(l)}
        tensors.update({f"h.{l}.{name}": array for name, array in {
            "ln_1.weight": m["1w"], "ln_1.bias": m["1b"], "ln_2.weight": m["2w"],
            "ln_2.bias": m["2b"], "attn.c_attn.weight": t(np.hstack([m["Q"], m["K"], m["V"]])),
            "attn.c_attn.bias": np.hstack([m["bQ"], m["bK"], m["bV"]]),
            "attn.c_proj.weight": t(m["O"]), "attn.c_proj.bias": m["bO"],
            "mlp.c_fc.weight": t(m["I"]), "mlp.c_fc.bias": m["bI"],
            "mlp.c_proj.weight": t(m["U"]), "mlp.c_proj.bias": m["bU"]}.items()})
    return tensors


def mingpt():
    tensors = {"tok_emb.weight": MODEL["E"], "pos_emb": MODEL["P"][None],
               "ln_f.weight": MODEL["fw"], "ln_f.bias": MODEL["fb"], "head.weight": MODEL["E"]}
    for l in range(DEPTH):
        m = {name[1:]: array for name, array in MODEL.items() if name[0] == str(l)}
        tensors.update({f"blocks.{l}.{name}": array for name, array in {
            "ln1.weight": m["1w"], "ln1.bias": m["1b"], "ln2.weight": m["2w"],
            "ln2.bias": m["2b"], "attn.query.weight": m["Q"].T, "attn.query.bias": m["bQ"],
            "attn.key.weight": m["K"].T, "attn.key.bias": m["bK"],
            "attn.value.weight": m["V"].T, "attn.value.bias": m["bV"],
            "attn.proj.weight": m["O"].T, "attn.proj.bias": m["bO"], "mlp.0.weight": m["I"].T,
            "mlp.0.bias": m["bI"], "mlp.2.weight": m["U"].T, "mlp.2.bias": m["bU"]}.items()})
    return tensors


def lens(flat=False):
    tensors = {"embed.W_E": MODEL["E"], "pos_embed.W_pos": MODEL["P"], "ln_final.w": MODEL["fw"],
               "ln_final.b": MODEL["fb"], "unembed.W_U": MODEL["E"].T}
    for l in range(DEPTH):
        m = {name[1:]: array for name, array in MODEL.items() if name[0] == str(l)}
        apart = {"attn.W_" + p: m[p] if flat else m[p].reshape(D, HEADS, -1).swapaxes(0, 1)
                 for p in "QKV"}
        apart.update({"attn.b_" + p: m["b" + p] if flat else m["b" + p].reshape(HEADS, -1)
                      for p in "QKV"})
        tensors.update({f"blocks.{l}.{name}": array for name, array in {
            **apart, "ln1.w": m["1w"], "ln1.b": m["1b"], "ln2.w": m["2w"], "ln2.b": m["2b"],
            "attn.W_O": m["O"] if flat else m["O"].reshape(HEADS, -1, D), "attn.b_O": m["bO"],
            "mlp.W_in": m["I"], "mlp.b_in": m["bI"], "mlp.W_out": m["U"],
            "mlp.b_out": m["bU"]}.items()})
    return tensors


def early():
    """What Neel Nanda wrote before TransformerLens: [out, in], but for the unembedding."""
    tensors = lens()
    for name, array in tensors.items():
        if name.endswith("attn.W_O"):
            tensors[name] = array.reshape(-1, D).T
        elif name.endswith(("W_Q", "W_K", "W_V", "W_in", "W_out", "W_E")):
            tensors[name] = array.swapaxes(-1, -2)
    return tensors


HUGGING = {"model_type": "gpt2", "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
           "n_layer": DEPTH, "n_head": HEADS, "n_embd": D, "n_positions": N, "vocab_size": V}
NANO = {"n_layer": DEPTH, "n_head": HEADS, "n_embd": D, "block_size": N, "bias": True,
        "vocab_size": V, "dropout": 0.0, "activation": "gelu_new"}
LENS = {"n_layers": DEPTH, "d_model": D, "n_ctx": N, "d_head": D // HEADS, "n_heads": HEADS,
        "d_mlp": H, "d_vocab": V, "act_fn": "gelu_new", "normalization_type": "LN", "eps": 1e-5,
        "attention_dir": "causal", "use_attn_scale": True, "attn_scale": math.sqrt(D // HEADS),
        "positional_embedding_type": "standard", "parallel_attn_mlp": False}
FAMILIES = {"gpt2": (gpt2, HUGGING), "nanogpt": (lambda: gpt2(True), NANO),
            "mingpt": (mingpt, NANO), "lens": (lens, LENS), "early": (early, LENS)}
# What a name of GPT-2's is in the others.
NAMES = {
    "mingpt": {"wte.weight": "tok_emb.weight", "wpe.weight": "pos_emb", "h.": "blocks.",
               "ln_1": "ln1", "ln_2": "ln2", "c_attn": "key", "attn.c_proj": "attn.proj",
               "mlp.c_fc": "mlp.0", "mlp.c_proj": "mlp.2", "attn.bias": "attn.mask"},
    "lens": {"wte.weight": "embed.W_E", "wpe.weight": "pos_embed.W_pos", "h.": "blocks.",
             "ln_1.weight": "ln1.w", "ln_1.bias": "ln1.b", "ln_2.weight": "ln2.w",
             "ln_2.bias": "ln2.b", "attn.c_attn.weight": "attn.W_K", "attn.c_attn.bias": "attn.b_K",
             "attn.c_proj.weight": "attn.W_O", "attn.c_proj.bias": "attn.b_O",
             "mlp.c_fc.weight": "mlp.W_in", "mlp.c_fc.bias": "mlp.b_in",
             "mlp.c_proj.weight": "mlp.W_out", "mlp.c_proj.bias": "mlp.b_out",
             "ln_f.weight": "ln_final.w", "ln_f.bias": "ln_final.b", "attn.bias": "attn.mask",
             "attn.masked_bias": "attn.IGNORE"}}
NAMES["early"] = NAMES["lens"]


def own_name(family, name):
    for theirs, ours in NAMES.get(family, {}).items():
        name = name.replace(theirs, ours)
    return name


# ---- One thing wrong -----------------------------------------------------------------------------

CONFIGS = [
    ("rope_theta", 10000.0), ("rotary_pct", 0.25), ("rotary_dim", 4), ("sliding_window", 4),
    ("multi_query", True), ("num_experts", 4), ("num_key_value_heads", 1), ("n_key_value_heads", 1),
    ("attn_logit_softcapping", 30.0), ("final_logit_softcapping", 30.0),
    ("attn_scores_soft_cap", 30.0), ("use_qk_norm", True), ("gated_mlp", True),
    ("parallel_attn_mlp", True), ("use_parallel_residual", True), ("alibi", True),
    ("quantization_config", {"bits": 4}), ("load_in_4bit", True), ("load_in_8bit", True),
    ("n_heads", 4), ("n_head", 3), ("d_head", 3), ("hidden_size", 6), ("n_layer", 3),
    ("n_layers", 1), ("vocab_size", 9), ("n_vocab", 9), ("n_positions", 4), ("n_inner", 16),
    ("activation_function", "tanh"), ("hidden_act", "gelu_fast"), ("act_fn", "solu_ln"),
    ("normalization_type", "RMS"), ("normalization", "none"), ("layer_norm_epsilon", 0),
    ("eps", -1e-5), ("eps", 5e-324), ("is_causal", False), ("attention_dir", "bidirectional"),
    ("positional_embedding_type", "rotary"), ("position_embedding_type", "relative_key"),
    ("bias", False), ("auto_map", {"AutoModel": "own.Model"}), ("pruned_heads", {"0": [1]}),
    ("scale_attn_weights", "yes"), ("architectures", ["GPT2ForSequenceClassification"]),
    ("add_cross_attention", True), ("is_encoder_decoder", True),
    ("use_local_attn", True), ("attention_head_type", "multiquery"), ("n_special", 2),
    ("post_embedding_ln", True), ("scale", "2"), ("blocks", "parallel"), ("mask", "prefix"),
    ("normalization-place", "between"), ("positions", "rotary"), ("attn_only", True),
] + [("model_type", name) for name in (
    "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gpt_neox", "gptj", "phi", "opt",
    "bloom", "falcon", "bert", "t5", "mamba", "mpt", "gpt_bigcode", "gpt_neo", "mixtral", "foo")]

ONES = np.ones(D, np.float32)
CAUSAL = np.tri(N, dtype=bool)[None, None]
ADDED = {name: ONES for name in (
    "h.0.mlp.gate_proj.weight", "h.0.mlp.W_gate", "h.0.attn.lora_A", "h.0.ln_3.weight",
    "h.0.attn.q_norm.weight", "h.0.mlp.experts.0.weight", "h.0.attn.rotary_emb.inv_freq",
    "h.0.attn.qweight", "h.0.attn.weight_g", "h.0.attn.local_mask", "h.0.attn.head_mask",
    "h.0.attn.alibi_slopes", "h.0.attn.sinks", "h.0.crossattention.c_attn.weight",
    "model.layers.0.self_attn.q_proj.weight", "gpt_neox.layers.0.attention.query_key_value.weight",
    "encoder.layer.0.attention.self.query.weight", "score.weight", "classifier.weight",
    "h.0.attn.temperature", "token_type_embeddings.weight", "h.0.res_scale", "foo.weight")}
ADDED["h.2.attn.bias"] = CAUSAL                       # of a layer whose weights are lost
ADDED["h.0.attn.bias"] = ~CAUSAL
ADDED["h.1.attn.bias"] = np.ones((1, 1, N, N), np.uint8)
ADDED["module.h.0.ln_1.weight"] = ONES                # there twice
DROPPED = ["wpe.weight", "ln_f.weight", "ln_f.bias", "h.0.ln_1.weight", "h.1.ln_2.bias",
           "h.0.attn.c_attn.weight", "h.1.attn.c_attn.bias", "h.0.attn.c_proj.weight",
           "h.0.attn.c_proj.bias", "h.1.mlp.c_fc.weight", "h.0.mlp.c_fc.bias",
           "h.0.mlp.c_proj.weight", "h.1.mlp.c_proj.bias"]
CHANGED = {
    "h.1.mlp.c_fc.weight": [np.transpose, lambda a: a[1:], lambda a: a.astype(np.int32),
                            lambda a: a * np.nan, lambda a: a[None]],
    "wte.weight": [np.transpose, lambda a: a[:, 1:], lambda a: a * np.inf],
    "h.0.attn.c_attn.bias": [lambda a: a[:-1]], "h.0.ln_1.weight": [lambda a: a[:-1]],
    "h.0.attn.c_attn.weight": [lambda a: a[..., :-1], lambda a: a.astype(bool)],
    "wpe.weight": [lambda a: a[:, :-1] if a.ndim == 2 else a[:, :, :-1], lambda a: a[0]]}


def wrong_ones(family):
    """name, tensors and config of each."""
    make, config = FAMILIES[family]
    for key, value in CONFIGS:
        if (key, family) not in (("is_causal", ""), ("normalization_type", "")):
            yield f"config {key} {value}", make(), dict(config, **{key: value})
    for name, array in ADDED.items():
        yield f"added {name}", dict(make(), **{own_name(family, name): array}), config
    for name in DROPPED:
        tensors = make()
        if tensors.pop(own_name(family, name), None) is not None:
            yield f"dropped {name}", tensors, config
    for name, changes in CHANGED.items():
        for number, change in enumerate(changes):
            tensors, own = make(), own_name(family, name)
            if own in tensors:
                tensors[own] = change(tensors[own])
                yield f"changed {name} {number}", tensors, config
    square = own_name(family, "h.0.attn.c_proj.weight")
    if family != "lens":
        tensors = make()
        tensors[square] = tensors[square].T
        yield "square matrix transposed", tensors, config
    yield "another activation", make(), {**config, **{key: "relu" for key in (
        "activation_function", "act_fn", "activation") if key in config}}
    other = {"d_head": 2} if family in ("lens", "early") else {"n_head": 4}
    yield "heads", make(), dict(config, **other)


def folder_of(tensors, config):
    folder = os.path.join(SCRATCH, "model")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write_safetensors(os.path.join(folder, "model.safetensors"), arrays, {})
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    return folder


def verdict(tensors, config):
    """What the program says of a folder: exit code and words."""
    folder = folder_of(tensors, config)
    done = run("verify", folder, "--tokens", "1/2/3", "--omega", "20", "--tolerance", "1e9", "-q")
    words = done.stderr.strip()
    return done.returncode, re.sub(r"\S*/(model\.safetensors|config\.json)", r"FILE", words)


def saved(tensors, config, **given):
    """The same of headproof.save; "": it was taken."""
    path = os.path.join(SCRATCH, "saved.safetensors")
    if os.path.exists(path):
        os.remove(path)
    try:
        headproof.save(tensors, path, config=config, **given)
    except ValueError as error:
        check(not os.path.exists(path), f"{error}: something is written")
        return str(error).replace(path, "FILE")
    return ""


def comparable(words):
    """One reader says key of config.json where the other has metadata, and values as text."""
    words = re.sub(r"(unknown keys?)( of its metadata)?", r"\1", words)
    words = words.replace("metadata '", "key '").replace('"', "'").replace("''", "'")
    return re.sub(r"\(its? [^)]*\)|FILE: |headproof: ", "", words)[:60]


def right_ones_are_read():
    expected = answers(TOKENS)
    witness = {"witness.tokens": TOKENS, "witness.logits": expected}
    made = {name: make() for name, (make, _) in FAMILIES.items()}
    configs = {name: config for name, (_, config) in FAMILIES.items()}
    made["lens, heads side by side"], configs["lens, heads side by side"] = lens(True), LENS
    for prefix in ("transformer.", "_orig_mod.module.", "module.model.transformer."):
        made[prefix] = {prefix + name: array for name, array in gpt2().items()}
        configs[prefix] = HUGGING
    made["buffers"] = dict(gpt2(), **{"h.0.attn.bias": CAUSAL, "h.1.attn.bias": CAUSAL * np.uint8(1),
                                      "h.0.attn.masked_bias": np.float32(-1e4)})
    configs["buffers"] = HUGGING
    for name, tensors in made.items():
        code, words = verdict({**tensors, **witness}, configs[name])
        check(code == 0, f"{name}: {words}")
        words = saved(tensors, configs[name], witness=(TOKENS, expected))
        check(words == "", f"{name} saved: {words}")
    code, words = verdict(gpt2(), dict(HUGGING, n_ctx=N + 1))
    check(code == 0, f"n_ctx beside n_positions: {words}")
    bare = {name: array for name, array in lens().items() if "ln" not in name}
    code, words = verdict(bare, dict(LENS, normalization_type=None))
    check(code == 0, f"no norms: {words}")
    code, words = verdict(gpt2(True), NANO)
    check(code == 2 and "do not say: scale" in words, f"nanoGPT without a witness: {words}")
    done = run("verify", folder_of(made["buffers"], HUGGING), "--tokens", "1/2", "--omega", "20",
               "--tolerance", "1e9", "-q")
    check("under: scores of -10000, where the mask hides" in done.stdout + done.stderr, done.stdout)
    own = {"witness.tokens": TOKENS[:, :1], "witness.logits": expected[:, :1]}
    code, words = verdict({**gpt2(True), **own}, NANO)
    check(code == 2 and "answers that tell" in words and "mask causal from none" in words,
          f"nanoGPT, one token a window: {words}")
    by_layer = {"witness.tokens": TOKENS, "witness.logits": answers(TOKENS, True)}
    config = dict(HUGGING, scale_attn_by_inverse_layer_idx=True)
    code, words = verdict({**gpt2(), **by_layer}, config)
    check(code == 0, f"scores by layer: {words}")
    code, words = verdict({**gpt2(), **witness}, config)
    check(code == 2 and "witness" in words, f"scores by layer, refuted: {words}")


def a_mask_that_is_not_used():
    """A buffer of a causal mask beside a witness that none is applied."""
    unmasked = (TOKENS, answers(TOKENS, causal=False))
    tensors = dict(early(), **{f"blocks.{l}.attn.mask": CAUSAL[0, 0] for l in range(DEPTH)})
    config = {key: value for key, value in LENS.items() if key != "attention_dir"}
    for said, given, witness, says in (
            ({}, {"mask": "none"}, unmasked, ""),
            ({"scale": None}, {}, unmasked, ""),
            ({}, {}, unmasked, "what mends it: mask none"),
            ({}, {"mask": "none"}, (TOKENS, answers(TOKENS)), "what mends it: mask causal"),
            ({}, {"mask": "none"}, (TOKENS[:, :1], answers(TOKENS[:, :1])),
             "mask none from causal"),
            ({}, {"mask": "none"}, None, "to be removed if nothing is computed with it")):
        own = {key: value for key, value in config.items()
               if not said or key not in ("use_attn_scale", "attn_scale")}
        words = saved(tensors, own, witness=witness, **given)
        check(says in words and (says != "" or words == ""), f"{said}, {given}: '{words}'")


def what_is_left_open_is_shown_or_bounded():
    """save returns what its witness shows, but tries no readings for hours."""
    path = os.path.join(SCRATCH, "saved.safetensors")
    found = headproof.save(lens(True), path, witness=(TOKENS, answers(TOKENS)),
                           normalization="layernorm", blocks="sequential", config={})
    shown = {"scale": "1/sqrt(d_head)", "activation": "gelu_new", "heads": str(HEADS),
             "eps": "1e-05", "mask": "causal", "normalization": "layernorm",
             "normalization-place": "pre"}
    check({name: found.get(name) for name in shown} == shown, f"{found}")
    d, tokens = 256, np.zeros((1, 600), np.int64)
    large = {"embed.W_E": np.zeros((V, d), np.float16), "ln_final.w": np.ones(d, np.float16),
             "unembed.W_U": np.zeros((d, V), np.float16)}
    large.update({f"blocks.0.{name}": np.ones(shape, np.float16) for name, shape in {
        "ln1.w": d, "ln2.w": d, "attn.W_Q": (d, d), "attn.W_K": (d, d), "attn.W_V": (d, d),
        "attn.W_O": (d, d), "mlp.W_in": (d, 20 * d), "mlp.W_out": (20 * d, d)}.items()})
    words = saved(large, {}, witness=(tokens, np.zeros((1, 1, V), np.float16)))
    check("1728 readings" in words and "none was tried: expected one of scale (2), activation (4)"
          in words, words)


def what_was_left_by_a_kill_is_removed():
    left = [os.path.join(SCRATCH, f".saved.safetensors.{name}.tried.safetensors") for name in "ab"]
    for name in left:
        with open(name, "wb") as file:
            file.write(b"x")
    with open(left[1], "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        check(saved(lens(), LENS) == "", "saved beside what was left")
    there = [name for name in os.listdir(SCRATCH) if name.startswith(".saved")]
    check(there == [os.path.basename(left[1])], f"{there}: expected the one that is held")
    os.remove(left[1])


def wrong_ones_are_refused(every):
    families, count = list(FAMILIES), 0
    listed = {family: list(wrong_ones(family)) for family in families}
    witness = (TOKENS, answers(TOKENS))
    own = {"witness.tokens": TOKENS, "witness.logits": witness[1]}
    for at in range(max(map(len, listed.values()))):
        for which, family in enumerate(families):
            if at >= len(listed[family]) or not (every or at % len(families) == which):
                continue
            name, tensors, config = listed[family][at]
            code, words = verdict({**tensors, **own}, config)
            check(code == 2 and words, f"{family}, {name}: exit code {code}: {words}")
            said = saved(tensors, config, witness=witness)
            check(said != "", f"{family}, {name}: saved")
            if every:
                print(f"{family}, {name}: {words}")
                if comparable(said) != comparable(words):
                    print(f"    save: {said}")
            count += 1
    return count


# ---- Files, links and names ----------------------------------------------------------------------

KINDS = [(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "run git lfs pull"),
         (b"<!DOCTYPE html><html>", "a page of HTML"), (b"<html><head>", "a page of HTML"),
         (b"GGUF\x03\0\0\0" + bytes(40), "GGUF"), (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
         (b"PK\x03\x04\0\0\x08\x08" + bytes(40), "a zip archive, as PyTorch writes it"),
         (b"\x80\x02}q\0(X\x03" + bytes(40), "a pickle, as PyTorch writes it"),
         (b"\x1f\x8b\x08\x08abcd" + bytes(40), "gzip"), (b"\x93NUMPY\x01\0v\0", "numpy"),
         (b'{"weight_map": {}}', "JSON: expected the folder")]


def what_is_no_safetensors_is_told():
    for content, says in KINDS:
        folder = folder_of(gpt2(), HUGGING)
        with open(os.path.join(folder, "model.safetensors"), "wb") as file:
            file.write(content)
        done = run("verify", folder, "--tokens", "1", "--omega", "20")
        check(done.returncode == 2 and says in done.stderr, f"{says}: {done.stderr}")
    for name in ("config.json", "pytorch_model.bin"):
        folder = folder_of(gpt2(), HUGGING)
        if name != "config.json":
            os.remove(os.path.join(folder, "model.safetensors"))
        with open(os.path.join(folder, name), "wb") as file:
            file.write(KINDS[0][0])
        done = run("verify", folder, "--tokens", "1", "--omega", "20")
        check(done.returncode == 2 and KINDS[0][1] in done.stderr, f"{name}: {done.stderr}")


def a_config_is_found_where_links_lead():
    folder = folder_of(gpt2(), HUGGING)
    link = os.path.join(SCRATCH, "link.safetensors")
    if os.path.lexists(link):
        os.remove(link)
    os.symlink(os.path.join(folder, "model.safetensors"), link)
    done = run("verify", link, "--tokens", "1", "--omega", "20", "--tolerance", "1e9", "-q")
    check(done.returncode == 0, f"at a link's other end: {done.stderr}")
    os.rename(os.path.join(folder, "config.json"), os.path.join(folder, "moved"))
    os.symlink("nothing", os.path.join(folder, "config.json"))
    for path in (folder, link):
        done = run("verify", path, "--tokens", "1", "--omega", "20")
        check(done.returncode == 2 and "config.json: expected a file" in done.stderr,
              f"a link to nothing: {done.stderr}")
    os.remove(link)


def second_names_and_ties():
    """Of two names that share their numbers one is in the file, and the metadata have the other."""
    for kept, other in (("lm_head.weight", "transformer.wte.weight"),
                        ("transformer.wte.weight", "lm_head.weight")):
        tensors = {"transformer." + name: array for name, array in gpt2().items()}
        tensors[kept] = tensors.pop("transformer.wte.weight")
        folder = folder_of({}, HUGGING)
        arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        arrays.update({"witness.tokens": TOKENS, "witness.logits": answers(TOKENS)})
        write_safetensors(os.path.join(folder, "model.safetensors"), arrays, {other: kept})
        done = run("verify", folder, "--tokens", "1/2", "--omega", "20", "--tolerance", "1e9", "-q")
        check(done.returncode == 0, f"{other} is {kept}: {done.stderr}")
    own = dict(gpt2(), **{"lm_head.weight": MODEL["E"] + 1})
    code, words = verdict(own, HUGGING)
    check(code == 2 and "nothing says which of them is the unembedding" in words, words)
    code, words = verdict(own, dict(HUGGING, tie_word_embeddings=False))
    check(code == 0, words)


def the_one_that_lies_transposed_is_blamed():
    said = dict(LENS)
    del said["d_model"]
    code, words = verdict(dict(lens(), **{"embed.W_E": MODEL["E"].T}), said)
    check(code == 2 and "tensor 'embed.W_E'" in words and "transposed" in words, words)
    first = "blocks.0.attn.W_K"
    code, words = verdict(dict(lens(), **{first: lens()[first].swapaxes(1, 2)}), said)
    check(code == 2 and f"tensor '{first}': shape [2, 4, 8]: expected" in words, words)


def folders_of_several_files_are_saved():
    folder = folder_of({}, HUGGING)
    names, tensors = ["model-1.safetensors", "model-2.safetensors"], gpt2()
    for part, name in enumerate(names):
        own = {key: np.ascontiguousarray(array) for i, (key, array) in enumerate(tensors.items())
               if i % 2 == part}
        write_safetensors(os.path.join(folder, name), own, {})
    index = {"weight_map": {key: names[i % 2] for i, key in enumerate(tensors)}}
    os.remove(os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    words = saved(folder, None, witness=(TOKENS, answers(TOKENS)))
    check(words == "", f"a folder of two files: {words}")
    index["weight_map"]["wte.weight"] = names[1]
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    check("tensor 'wte.weight': expected it in" in saved(folder, None), "an index that lies")
    shutil.copy(os.path.join(folder, names[0]), os.path.join(folder, "model.safetensors"))
    check("expected one of model.safetensors" in saved(folder, None), "an index beside a file")


# A model of somebody's own: a matrix of one layer is named as in the file.
OWN = {"emb.weight": "embed.W_E", "pos.weight": "pos_embed.W_pos", "n.weight": "ln_final.w",
       "n.bias": "ln_final.b", "out.weight": "unembed.W_U", "b.{l}.n1.weight": "ln1.w",
       "b.{l}.n1.bias": "ln1.b", "b.{l}.n2.weight": "ln2.w", "b.{l}.n2.bias": "ln2.b",
       "b.{l}.qkv.weight": "attn.W_QKV", "b.{l}.qkv.bias": "attn.b_QKV",
       "b.{l}.o.weight": "attn.W_O", "b.{l}.o.bias": "attn.b_O", "b.{l}.i.weight": "mlp.W_in",
       "b.{l}.i.bias": "mlp.b_in", "b.{l}.u.weight": "mlp.W_out", "b.{l}.u.bias": "mlp.b_out",
       "b.{l}.mask": "attn.mask"}
SAID = {"activation": "gelu_new", "normalization": "layernorm", "normalization_place": "pre",
        "eps": 1e-5, "scale": "1/sqrt(d_head)", "mask": "causal", "blocks": "sequential"}


def own_model():
    tensors = {"emb.weight": MODEL["E"], "pos.weight": MODEL["P"], "n.weight": MODEL["fw"],
               "n.bias": MODEL["fb"], "out.weight": MODEL["E"]}
    short = {"ln_1": "n1", "ln_2": "n2", "attn.c_attn": "qkv", "attn.c_proj": "o", "mlp.c_fc": "i",
             "mlp.c_proj": "u"}
    for name, array in gpt2(True).items():
        if name.startswith("h."):
            for theirs, ours in short.items():
                name = name.replace(theirs, ours)
            tensors["b." + name[2:]] = array
    return tensors


def names_of_a_user_are_read():
    witness = (TOKENS, answers(TOKENS))
    gate, mask = {"b.0.gate.weight": ONES}, {"b.0.mask": CAUSAL}
    cases = [({}, OWN, {"sides": "out-in"}, ""), ({}, OWN, {"witness": witness}, ""), (mask, OWN, {"sides": "out-in"}, ""),
             ({}, {"module." + name: to for name, to in OWN.items()}, {"sides": "out-in"},
              "expected an embedding"),
             ({}, OWN, {}, "8 x 8: expected sides="), ({}, OWN, {"sides": "in-out"}, "is out-in"),
             ({}, OWN, {"sides": "in-out", "witness": witness}, "witness.logits"),
             (gate, OWN, {"sides": "out-in"}, "b.0.gate.weight"),
             (gate, dict(OWN, **{"b.{l}.gate.weight": ""}), {"sides": "out-in"}, "b.0.gate.weight"),
             (gate, dict(OWN, **{"b.{l}.gate.weight": ""}),
              {"witness": (TOKENS, witness[1] * 1.1)}, "witness.logits"),
             ({"b.0.mask": ~CAUSAL}, OWN, {"sides": "out-in"}, "a causal mask"),
             ({}, OWN, {"sides": "out-in", "config": {"n_head": 4}}, "4"),
             ({"position_table.weight": MODEL["P"]}, OWN, {"sides": "out-in"},
              "'position_table.weight'"),
             ({"position_embedding.weight": MODEL["P"]}, OWN, {"sides": "out-in"},
              "of another name: learned ones are read under the name that docs/models.md has"),
             ({"seg.weight": MODEL["E"]}, dict(OWN, **{"seg.weight": "embed.W_E"}),
              {"sides": "out-in"}, "becomes embed.W_E, which emb.weight is, too")]
    for added, names, given, says in cases:
        given = {"config": {}, **given}
        words = saved({**own_model(), **added}, given.pop("config"), names=names, heads=HEADS,
                      **SAID, **given)
        check(says in words and (says != "" or words == ""), f"{sorted(given)}: '{words}', not {says}")
        if not says:
            path = os.path.join(SCRATCH, "saved.safetensors")
            done = run("verify", path, "--tokens", "1/2", "--omega", "20", "--tolerance", "1e9")
            check(done.returncode == 0, done.stderr)
    prefixed = {"module." + name: array for name, array in own_model().items()}
    for names in (OWN, {"module." + name: to for name, to in OWN.items()}):
        words = saved(prefixed, {}, names=names, heads=HEADS, witness=witness, **SAID)
        check(words == "", f"names with and without a prefix: {words}")


def heads_that_are_modules_are_read():
    names = dict({name: to for name, to in OWN.items() if "qkv" not in name},
                 **{f"b.{{l}}.heads.{{h}}.{part}.{what}": f"attn.{letter}_{part.upper()}"
                    for part in "qkv" for what, letter in (("weight", "W"), ("bias", "b"))})
    tensors = {name: array for name, array in own_model().items() if "qkv" not in name}
    for l in range(DEPTH):
        for h in range(HEADS):
            own = slice(h * D // HEADS, (h + 1) * D // HEADS)
            for part in "QKV":
                name = f"b.{l}.heads.{h}.{part.lower()}"
                tensors[name + ".weight"] = MODEL[f"{l}{part}"][:, own].T
                tensors[name + ".bias"] = MODEL[f"{l}b{part}"][own]
    extra = {"b.0.heads.3.q.weight": tensors["b.0.heads.1.q.weight"]}
    for added, witness, says in (
            ({}, answers(TOKENS), ""), ({}, answers(TOKENS) * 1.1, "witness.logits"),
            (extra, answers(TOKENS), "'blocks.0.attn.W_Q.3'"),
            ({"b.0.heads.1.q.weight": MODEL["0Q"].T}, answers(TOKENS), "heads of shapes")):
        words = saved({**tensors, **added}, {}, names=names, witness=(TOKENS, witness), **SAID)
        check(says in words and (says != "" or words == ""), f"heads {list(added)}: '{words}'")


for part in (right_ones_are_read, a_mask_that_is_not_used, heads_that_are_modules_are_read,
             what_is_left_open_is_shown_or_bounded, what_was_left_by_a_kill_is_removed,
             what_is_no_safetensors_is_told, a_config_is_found_where_links_lead,
             second_names_and_ties, the_one_that_lies_transposed_is_blamed,
             folders_of_several_files_are_saved, names_of_a_user_are_read):
    part()
print(f"{wrong_ones_are_refused('--all' in sys.argv)} wrong models: none taken")
print("all is well")
