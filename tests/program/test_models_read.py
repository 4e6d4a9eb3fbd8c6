"""One reader: what `headproof` reads of a model's files, `headproof.save` writes of the same.

A small model is drawn once, and written under the names of its families.  An independent evaluation
with numpy is the witness of each.  Right ones: every family, with its variants, is read and agrees
with that evaluation.  Wrong ones: each family with one thing wrong, in the config, among the
tensors, or in the witness.  None may be taken, by the program or by `save`."""

import fcntl
import functools
import itertools
import json
import math
import os
import re
import shutil
import sys

import conftest
import families
import models
import numpy as np
import pytest
import safetensors_file
import transformer

sys.path.append(str(conftest.ROOT / "python"))
import headproof  # noqa: E402

V, N, D, HEADS, H, DEPTH = 7, 5, 8, 2, 12, 2
TOKENS = np.random.default_rng(44).integers(0, V, size=(4, N))
GPT2 = {"activation": "gelu_new", "normalization": "layernorm", "eps": 1e-5, "mask": "causal",
        "scale": "1/sqrt(d_head)"}


def coarse(array):
    """In single, but with seven bits of a fraction, which every format has."""
    return (array.astype(np.float32).view(np.uint32) & 0xffff0000).view(np.float32)


MODEL = {name: coarse(array) for name, array in families.drawn(
    families.shapes(D, H, HEADS, D // HEADS, DEPTH, V, N), seed=44).items() if name[-3:] != "b_U"}
TIED = {name: array for name, array in MODEL.items() if name != "unembed.W_U"}
MODEL["unembed.W_U"] = MODEL["embed.W_E"].T


def answers(tokens, by_layer=False, **said):
    """Logits [windows, n, V] in float64; by_layer: scores are divided by the layer's number."""
    m = {name: array / (int(name[7]) + 1 if by_layer and name.endswith("_Q") else 1)
         for name, array in MODEL.items()}
    return transformer.logits(m, {**GPT2, **said}, tokens)


# ---- Families ------------------------------------------------------------------------------------


def gpt2(family="gpt2"):
    return families.named(TIED, family)


def mingpt():
    return families.named(MODEL, "mingpt") | {"pos_emb": MODEL["pos_embed.W_pos"][None]}


def lens(flat=False):
    return {name: families.flat(name, array) if flat else array for name, array in MODEL.items()}


def early():
    """What Neel Nanda wrote before TransformerLens: [out, in], but for the unembedding."""
    return {name: families.flat(name, array).T if name.endswith("attn.W_O") else
            array.swapaxes(-1, -2) if re.search("W_([QKVE]|in|out)$", name) else array
            for name, array in MODEL.items()}


HUGGING = {"model_type": "gpt2", "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
           "n_layer": DEPTH, "n_head": HEADS, "n_embd": D, "n_positions": N, "vocab_size": V}
NANO = {"n_layer": DEPTH, "n_head": HEADS, "n_embd": D, "block_size": N, "bias": True,
        "vocab_size": V, "dropout": 0.0, "activation": "gelu_new"}
LENS = {"n_layers": DEPTH, "d_model": D, "n_ctx": N, "d_head": D // HEADS, "n_heads": HEADS,
        "d_mlp": H, "d_vocab": V, "act_fn": "gelu_new", "normalization_type": "LN", "eps": 1e-5,
        "attention_dir": "causal", "use_attn_scale": True, "attn_scale": math.sqrt(D // HEADS),
        "positional_embedding_type": "standard", "parallel_attn_mlp": False}
FAMILIES = {"gpt2": (gpt2, HUGGING), "nanogpt": (lambda: gpt2("nanogpt"), NANO),
            "mingpt": (mingpt, NANO), "lens": (lens, LENS), "early": (early, LENS)}


# ---- One thing wrong -----------------------------------------------------------------------------

# Keys that test_gpt2_files has not.
CONFIGS = [
    ("rotary_pct", 0.25), ("rotary_dim", 4), ("n_key_value_heads", 1), ("alibi", True),
    ("attn_logit_softcapping", 30.0), ("final_logit_softcapping", 30.0), ("gated_mlp", True),
    ("attn_scores_soft_cap", 30.0), ("use_qk_norm", True), ("load_in_4bit", True),
    ("load_in_8bit", True), ("n_heads", 4), ("d_head", 3), ("n_layers", 1), ("n_vocab", 9),
    ("hidden_act", "gelu_fast"), ("act_fn", "solu_ln"), ("normalization_type", "RMS"),
    ("normalization", "none"), ("eps", -1e-5), ("eps", 5e-324), ("is_causal", False),
    ("positional_embedding_type", "rotary"), ("auto_map", {"AutoModel": "own.Model"}),
    ("is_encoder_decoder", True), ("use_local_attn", True), ("attention_head_type", "multiquery"),
    ("n_special", 2), ("post_embedding_ln", True), ("scale", "2"), ("blocks", "parallel"),
    ("mask", "prefix"), ("normalization-place", "between"), ("positions", "rotary"),
    ("attn_only", True), ("architectures", ["GPT2ForSequenceClassification"]),
] + [("model_type", name) for name in (
    "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gpt_neox", "gptj", "phi", "opt",
    "bloom", "falcon", "bert", "t5", "mamba", "mpt", "gpt_bigcode", "gpt_neo", "mixtral", "foo")]

ONES = np.ones(D, np.float32)
CAUSAL = np.tri(N, dtype=bool)[None, None]
CHANGED = {"cut": lambda a: a[:-1], "of integers": lambda a: a.astype(np.int32),
           "not a number": lambda a: a * np.nan, "of another rank": lambda a: a[None, None]}


def wrong_ones(family):
    """name, tensors and config of each."""
    make, config = FAMILIES[family]
    for key, value in CONFIGS:
        yield f"config {key} {value}", make(), dict(config, **{key: value})
    yield "an unknown one", {**make(), "foo.weight": ONES}, config
    for (name, array), (how, change) in zip(make().items(), itertools.cycle(CHANGED.items())):
        yield f"dropped {name}", models.changed(make(), name, None), config
        yield f"{how} {name}", {**make(), name: change(array)}, config
        if array.ndim == 2 and array.shape[0] == array.shape[1]:
            yield f"transposed {name}", {**make(), name: array.T}, config
    yield "another activation", make(), {**config, **{key: "relu" for key in (
        "activation_function", "act_fn", "activation") if key in config}}
    other = {"d_head": 2} if family in ("lens", "early") else {"n_head": 4}
    yield "heads", make(), dict(config, **other)


def folder_of(path, tensors, config):
    """A folder with a model, whatever was there."""
    shutil.rmtree(path / "model", ignore_errors=True)
    (path / "model").mkdir()
    safetensors_file.write(path / "model/model.safetensors",
                           {name: np.asarray(array) for name, array in tensors.items()}, {})
    (path / "model/config.json").write_text(json.dumps(config))
    return path / "model"


@pytest.fixture
def verdict(run, tmp_path):
    """What the program says of a model, or of a path: exit code and words."""
    def said(tensors, config=None):
        model = tensors if config is None else folder_of(tmp_path, tensors, config)
        ended = run("verify", model, "--tokens", "1/2/3", "--omega", "20", "--tolerance", "1e9", "-q")
        return ended.code, ended.stdout + ended.stderr
    return said


@pytest.fixture
def saved(tmp_path):
    """The same of headproof.save; "": it was taken."""
    def said(tensors, config, **given):
        path = tmp_path / "saved.safetensors"
        path.unlink(missing_ok=True)
        try:
            headproof.save(tensors, str(path), config=config, **given)
        except ValueError as error:
            assert not path.exists(), f"{error}: something is written"
            return str(error)
        return ""
    return said


def says(words, expected):
    """The words, or none where none are expected."""
    assert expected in words and (expected != "" or words == ""), words


def witness(answered, tokens=TOKENS):
    return {"witness.tokens": tokens, "witness.logits": answered}

# ---- Right ones ----------------------------------------------------------------------------------

ANSWERS = answers(TOKENS)
SAID = {**GPT2, "normalization_place": "pre", "blocks": "sequential"}
BUFFERS = dict(gpt2(), **{"h.0.attn.bias": CAUSAL, "h.1.attn.bias": CAUSAL * np.uint8(1),
                          "h.0.attn.masked_bias": np.float32(-1e4)})
RIGHT = {name: (make(), config) for name, (make, config) in FAMILIES.items()} | {
    "lens, heads side by side": (lens(True), LENS), "buffers": (BUFFERS, HUGGING),
    **{prefix: ({prefix + name: array for name, array in gpt2().items()}, HUGGING)
       for prefix in ("transformer.", "_orig_mod.module.", "module.model.transformer.")}}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_one_is_read(verdict, saved, name):
    tensors, config = RIGHT[name]
    code, words = verdict({**tensors, **witness(ANSWERS)}, config)
    assert code == 0, words
    says(saved(tensors, config, witness=(TOKENS, ANSWERS)), "")

# A format, and numbers in it.
FORMATS = {"F64": lambda a: a.astype(np.float64), "F16": lambda a: a.astype(np.float16),
           "BF16": lambda a: (np.ascontiguousarray(a).view(np.uint32) >> 16).astype(np.uint16)}


@pytest.mark.parametrize("number", FORMATS)
def test_every_format_is_read(verdict, number):
    tensors = {name: FORMATS[number](array) for name, array in gpt2().items()}
    code, words = verdict({**tensors, **witness(ANSWERS)}, HUGGING)
    assert code == 0, words


# What says how a model is read: its config, metadata of each file, or of the index.
@pytest.mark.parametrize("family, place", [
    ("gpt2", "config"), ("lens", "config"), ("lens", "files"), ("lens", "index")])
def test_parts(run, verdict, tmp_path, family, place):
    """An index, any of its files and their folder, from within it, too."""
    make, config = FAMILIES[family]
    said = {key: str(value) for key, value in SAID.items() if key != "normalization_place"}
    said |= {"normalization-place": "pre", "positions": "learned"}
    folder, index = folder_of(tmp_path, {}, config), "model.safetensors.index.json"
    (folder / "model.safetensors").unlink()
    models.write_parts(folder, {**make(), **witness(ANSWERS)},
                       (said, said) if place == "files" else ({}, {}))
    if place != "config":
        (folder / "config.json").unlink()
    if place == "index":
        places = json.loads((folder / index).read_text())
        (folder / index).write_text(json.dumps({**places, "metadata": said}))
    for path in (*folder.glob("model*"), folder):
        code, words = verdict(path)
        assert code == 0, words
    for path in index, ".":
        ended = run("verify", path, "--tokens", "1/2/3", "--omega", "20", cwd=folder)
        assert ended.code == 0, ended


# Of a norm that is one in name, the least and the largest gain, wherever they are.
@pytest.mark.parametrize("at, name", enumerate(
    [name for name in gpt2() if re.search(r"ln_\w\.weight$", name)]))
def test_norms_in_name(run, tmp_path, at, name):
    gains = {each: array * 0 + 1e6 for each, array in gpt2().items()
             if re.search(r"ln_\w\.weight$", each)}
    gains[name][[at % D, (at + 1) % D]] = 0.5e6, -2e6
    for eps, said in (1e12, True), (1e-5, False):
        folder = folder_of(tmp_path, {**gpt2(), **gains}, dict(HUGGING, layer_norm_epsilon=eps))
        ended = run("verify", folder, "--tokens", "1/2/3", "--omega", "20")
        assert ended.code < 2, ended
        assert ("gamma / sqrt(eps) is between 0.5 and 2\n" in ended.stdout) == said


BY_LAYER = dict(HUGGING, scale_attn_by_inverse_layer_idx=True)
OWN_HEAD = dict(gpt2(), **{"lm_head.weight": MODEL["embed.W_E"] + 1})
FOLDED = {name: array for name, array in lens().items() if "ln" not in name}
# A key of a config, its value, and what it says.
SAYS = [("activation_function", "gelu", {"activation": "gelu"}),
        ("activation_function", "swish", {"activation": "silu"}),
        ("activation_function", "gelu_pytorch_tanh", {}),
        ("layer_norm_epsilon", 1e12, {"eps": 1e12}), ("layer_norm_epsilon", 10**12, {"eps": 1e12}),
        ("layer_norm_epsilon", 1e300, {"eps": 1e300}),
        ("scale_attn_weights", False, {"scale": "1"}), ("scale_attn_weights", True, {}),
        ("n_inner", None, {}), ("tie_word_embeddings", True, {}), ("pruned_heads", {}, {})]
UNSIZED = {key: value for key, value in LENS.items() if key != "d_model"}
# Tensors, a config, the exit code and words.
READ = [
    (gpt2(), dict(HUGGING, n_ctx=N + 1), 0, ""),
    (FOLDED, dict(LENS, normalization_type=None), 0, ""),
    # Gains of 1 and shifts of 0, and a norm behind the last layer.
    *(({**FOLDED, **witness(transformer.logits(FOLDED, {**GPT2, "normalization": norm}, TOKENS))},
       dict(LENS, normalization_type=said), 0, "")
      for norm, said in (("layernorm", "LNPre"), ("rmsnorm", "RMSPre"))),
    *(({**gpt2(), **witness(answers(TOKENS, **said))}, dict(HUGGING, **{key: value}), 0, "")
      for key, value, said in SAYS),
    (gpt2("nanogpt"), NANO, 2, "do not say: scale"),
    (BUFFERS, HUGGING, 0, "under: scores of -10000, where the mask hides"),
    ({**gpt2("nanogpt"), **witness(ANSWERS[:, :1], TOKENS[:, :1])}, NANO, 2,
     "answers that tell...mask causal from none"),
    ({**gpt2(), **witness(answers(TOKENS, True))}, BY_LAYER, 0, ""),
    ({**gpt2(), **witness(ANSWERS)}, BY_LAYER, 2, "witness"),
    (OWN_HEAD, HUGGING, 2, "nothing says which of them is the unembedding"),
    (OWN_HEAD, dict(HUGGING, tie_word_embeddings=False), 0, ""),
    # The one that lies transposed is blamed.
    ({**lens(), "embed.W_E": MODEL["embed.W_E"].T}, UNSIZED, 2,
     "tensor 'embed.W_E'...transposed"),
    ({**lens(), "blocks.0.attn.W_K": MODEL["blocks.0.attn.W_K"].swapaxes(1, 2)}, UNSIZED, 2,
     "tensor 'blocks.0.attn.W_K': shape [2, 4, 8]: expected"),
]


@pytest.mark.parametrize("tensors, config, code, words", READ)
def test_what_is_said(verdict, tensors, config, code, words):
    ended = verdict(tensors, config)
    assert ended[0] == code and conftest.says(ended[1], words), ended


UNMASKED = (TOKENS, answers(TOKENS, mask="none"))


@pytest.mark.parametrize("scaled, given, answered, words", [
    (True, {"mask": "none"}, UNMASKED, ""),
    (False, {}, UNMASKED, ""),
    (True, {}, UNMASKED, "what mends it: mask none"),
    (True, {"mask": "none"}, (TOKENS, ANSWERS), "what mends it: mask causal"),
    (True, {"mask": "none"}, (TOKENS[:, :1], answers(TOKENS[:, :1])), "mask none from causal"),
    (True, {"mask": "none"}, None, "to be removed if nothing is computed with it")])
def test_a_mask_that_is_not_used(saved, scaled, given, answered, words):
    """A buffer of a causal mask beside a witness that none is applied."""
    tensors = dict(early(), **{f"blocks.{l}.attn.mask": CAUSAL[0, 0] for l in range(DEPTH)})
    config = {key: value for key, value in LENS.items() if key != "attention_dir" and
              (scaled or key not in ("use_attn_scale", "attn_scale"))}
    says(saved(tensors, config, witness=answered, **given), words)


def test_what_is_left_open_is_shown(tmp_path):
    found = headproof.save(lens(True), str(tmp_path / "saved"), witness=(TOKENS, ANSWERS),
                           normalization="layernorm", blocks="sequential", config={})
    shown = {"scale": "1/sqrt(d_head)", "activation": "gelu_new", "heads": str(HEADS),
             "eps": "1e-05", "mask": "causal", "normalization": "layernorm",
             "normalization-place": "pre"}
    assert {name: found.get(name) for name in shown} == shown


def test_no_readings_are_tried_for_hours(saved):
    d, half = 256, np.float16
    shapes = {"ln1.w": d, "ln2.w": d, "mlp.W_in": (d, 20 * d), "mlp.W_out": (20 * d, d),
              **{"attn.W_" + part: (d, d) for part in "QKVO"}}
    large = {"embed.W_E": np.zeros((V, d), half), "ln_final.w": np.ones(d, half),
             "unembed.W_U": np.zeros((d, V), half),
             **{f"blocks.0.{name}": np.ones(shape, half) for name, shape in shapes.items()}}
    words = saved(large, {}, witness=(np.zeros((1, 600), np.int64), np.zeros((1, 1, V), half)))
    assert "1728 readings" in words
    assert "none was tried: expected one of scale (2), activation (4)" in words


def test_what_was_left_by_a_kill_is_removed(saved, tmp_path):
    left, held = (tmp_path / f".saved.safetensors.{name}.tried.safetensors" for name in "ab")
    left.write_bytes(b"x")
    held.write_bytes(b"x")
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        says(saved(lens(), LENS), "")
    assert list(tmp_path.glob(".saved*")) == [held]

# ---- Wrong ones ----------------------------------------------------------------------------------


def all_wrong_ones():
    """Of every family at night, else of one in turn."""
    every = [list(wrong_ones(family)) for family in FAMILIES]
    for at, row in enumerate(itertools.zip_longest(*every)):
        for which, (family, wrong) in enumerate(zip(FAMILIES, row)):
            if wrong and (os.environ.get("HEADPROOF_NIGHTLY") or at % len(FAMILIES) == which):
                yield pytest.param(*wrong[1:], id=f"{family}, {wrong[0]}")


@pytest.mark.parametrize("tensors, config", all_wrong_ones())
def test_a_wrong_one_is_refused(verdict, saved, tensors, config):
    code, words = verdict({**tensors, **witness(ANSWERS)}, config)
    assert code == 2 and words
    assert saved(tensors, config, witness=(TOKENS, ANSWERS)) != ""

# ---- Files, links and names ----------------------------------------------------------------------

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
POINTER = "run git lfs pull"
KINDS = [("model.safetensors", content, words) for content, words in (
    (LFS, POINTER), (b"<!DOCTYPE html><html>", "a page of HTML"), (b"<html><head>", "a page of HTML"),
    (b"GGUF\x03\0\0\0" + bytes(40), "GGUF"), (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
    (b"PK\x03\x04\0\0\x08\x08" + bytes(40), "a zip archive, as PyTorch writes it"),
    (b"\x80\x02}q\0(X\x03" + bytes(40), "a pickle, as PyTorch writes it"),
    (b"\x1f\x8b\x08\x08abcd" + bytes(40), "gzip"), (b"\x93NUMPY\x01\0v\0", "numpy"),
    (b'{"weight_map": {}}', "JSON: expected the folder"))]
KINDS += [("config.json", LFS, POINTER), ("pytorch_model.bin", LFS, POINTER)]


@pytest.mark.parametrize("name, content, words", KINDS)
def test_what_is_no_safetensors_is_told(verdict, tmp_path, name, content, words):
    folder = folder_of(tmp_path, gpt2(), HUGGING)
    if name == "pytorch_model.bin":
        (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(content)
    code, said = verdict(folder)
    assert code == 2 and words in said, said


def test_a_config_is_found_where_links_lead(verdict, tmp_path):
    folder, link = folder_of(tmp_path, gpt2(), HUGGING), tmp_path / "link.safetensors"
    link.symlink_to(folder / "model.safetensors")
    assert verdict(link)[0] == 0
    (folder / "config.json").rename(folder / "moved")
    (folder / "config.json").symlink_to("nothing")
    for path in (folder, link):
        code, words = verdict(path)
        assert code == 2 and "config.json: expected a file" in words, words


@pytest.mark.parametrize("kept, other", itertools.permutations(
    ("lm_head.weight", "transformer.wte.weight")))
def test_of_two_names_metadata_have_one(verdict, tmp_path, kept, other):
    tensors = {"transformer." + name: array for name, array in gpt2().items()}
    tensors[kept] = tensors.pop("transformer.wte.weight")
    folder = folder_of(tmp_path, {}, HUGGING)
    safetensors_file.write(folder / "model.safetensors", {**tensors, **witness(ANSWERS)},
                           {other: kept})
    code, words = verdict(folder)
    assert code == 0, words


def test_folders_of_several_files_are_saved(saved, tmp_path):
    folder = folder_of(tmp_path, {}, HUGGING)
    (folder / "model.safetensors").unlink()
    models.write_parts(folder, gpt2())
    says(saved(str(folder), None, witness=(TOKENS, ANSWERS)), "")
    second = "model-00002-of-00002.safetensors"
    models.write_parts(folder, gpt2(), index={"wte.weight": second})
    assert "tensor 'wte.weight': expected it in" in saved(str(folder), None)
    shutil.copy(folder / second, folder / "model.safetensors")
    assert "expected one of model.safetensors" in saved(str(folder), None)

# A model of somebody's own: a matrix of one layer is named as in the file.
OWN = {"emb.weight": "embed.W_E", "pos.weight": "pos_embed.W_pos", "n.weight": "ln_final.w",
       "n.bias": "ln_final.b", "out.weight": "unembed.W_U", "b.{l}.n1.weight": "ln1.w",
       "b.{l}.n1.bias": "ln1.b", "b.{l}.n2.weight": "ln2.w", "b.{l}.n2.bias": "ln2.b",
       "b.{l}.qkv.weight": "attn.W_QKV", "b.{l}.qkv.bias": "attn.b_QKV",
       "b.{l}.o.weight": "attn.W_O", "b.{l}.o.bias": "attn.b_O", "b.{l}.i.weight": "mlp.W_in",
       "b.{l}.i.bias": "mlp.b_in", "b.{l}.u.weight": "mlp.W_out", "b.{l}.u.bias": "mlp.b_out",
       "b.{l}.mask": "attn.mask"}
SHORT = {"h.": "b.", "ln_1": "n1", "ln_2": "n2", "attn.c_attn": "qkv", "attn.c_proj": "o",
         "mlp.c_fc": "i", "mlp.c_proj": "u", "wte": "emb", "wpe": "pos", "ln_f": "n",
         "lm_head": "out"}


def own_model():
    return {functools.reduce(lambda name, short: name.replace(*short), SHORT.items(), name): array
            for name, array in families.named(MODEL, "nanogpt").items()}

OUT_IN, TOLD = {"sides": "out-in"}, {"witness": (TOKENS, ANSWERS)}
GATE, GATED = {"b.0.gate.weight": ONES}, {**OWN, "b.{l}.gate.weight": ""}
NAMED = [
    ({}, OWN, OUT_IN, ""), ({}, OWN, TOLD, ""), ({"b.0.mask": CAUSAL}, OWN, OUT_IN, ""),
    ({}, {"module." + name: to for name, to in OWN.items()}, OUT_IN, "expected an embedding"),
    ({}, OWN, {}, "8 x 8: expected sides="), ({}, OWN, {"sides": "in-out"}, "is out-in"),
    ({}, OWN, {"sides": "in-out", **TOLD}, "witness.logits"),
    (GATE, OWN, OUT_IN, "b.0.gate.weight"), (GATE, GATED, OUT_IN, "b.0.gate.weight"),
    (GATE, GATED, {"witness": (TOKENS, ANSWERS * 1.1)}, "witness.logits"),
    ({"b.0.mask": ~CAUSAL}, OWN, OUT_IN, "a causal mask"),
    ({}, OWN, {**OUT_IN, "config": {"n_head": 4}}, "4"),
    ({"position_table.weight": MODEL["pos_embed.W_pos"]}, OWN, OUT_IN, "'position_table.weight'"),
    ({"position_embedding.weight": MODEL["pos_embed.W_pos"]}, OWN, OUT_IN,
     "of another name: learned ones are read under the name that docs/models.md has"),
    ({"seg.weight": MODEL["embed.W_E"]}, {**OWN, "seg.weight": "embed.W_E"}, OUT_IN,
     "becomes embed.W_E, which emb.weight is, too")]


@pytest.mark.parametrize("added, names, given, words", NAMED)
def test_names_of_a_user_are_read(verdict, saved, tmp_path, added, names, given, words):
    given = {"config": {}, **given}
    says(saved({**own_model(), **added}, names=names, heads=HEADS, **SAID, **given), words)
    if not words:
        code, said = verdict(tmp_path / "saved.safetensors")
        assert code == 0, said


@pytest.mark.parametrize("prefix", ["", "module."])
def test_names_with_and_without_a_prefix(saved, prefix):
    prefixed = {"module." + name: array for name, array in own_model().items()}
    names = {prefix + name: to for name, to in OWN.items()}
    says(saved(prefixed, {}, names=names, heads=HEADS, **TOLD, **SAID), "")

APART = {f"b.{l}.heads.{h}.{part.lower()}.{what}": MODEL[f"blocks.{l}.attn.{letter}_{part}"][h].T
         for l in range(DEPTH) for h in range(HEADS) for part in "QKV"
         for what, letter in (("weight", "W"), ("bias", "b"))}


@pytest.mark.parametrize("added, answered, words", [
    ({}, ANSWERS, ""), ({}, ANSWERS * 1.1, "witness.logits"),
    ({"b.0.heads.3.q.weight": APART["b.0.heads.1.q.weight"]}, ANSWERS, "'blocks.0.attn.W_Q.3'"),
    ({"b.0.heads.1.q.weight": families.flat("W_Q", MODEL["blocks.0.attn.W_Q"]).T}, ANSWERS,
     "heads of shapes")])
def test_heads_that_are_modules_are_read(saved, added, answered, words):
    names = {**OWN, **{f"b.{{l}}.heads.{{h}}.{part}.{what}": f"attn.{letter}_{part.upper()}"
                       for part in "qkv" for what, letter in (("weight", "W"), ("bias", "b"))}}
    keep = lambda table: {name: value for name, value in table.items() if "qkv" not in name}
    says(saved({**keep(own_model()), **APART, **added}, {}, names=keep(names),
               witness=(TOKENS, answered), **SAID), words)
