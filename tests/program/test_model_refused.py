"""Models under TransformerLens' names that are wrong, each in its own way: one message that names
the tensor, the layer or the metadata, and what was expected."""

import models
import numpy
import pytest


def zeros(kind, *shape):
    return numpy.zeros(shape, kind)


def heads(layer):
    return {f"blocks.{layer}.attn.W_{x}": zeros("f2", 1, 2, 2) for x in "QKVO"}


BASE = {**heads(0), **heads(1), "embed.W_E": zeros("f2", 3, 2),
        "pos_embed.W_pos": zeros("f2", 4, 2), "unembed.W_U": zeros("f2", 2, 5)}


@pytest.fixture
def model_refused(refused, tmp_path):
    """verify refuses a file of these tensors and metadata, whose name the message begins with."""
    def expect(words, tensors, metadata, *flags):
        path = tmp_path / "m.safetensors"
        models.write(path, tensors, metadata)
        refused(words, "verify", path, *flags, begin=f"{path}: ")
    return expect


# A tensor of the base, or one more, in F16; its shape, an array, or None: without it.
TENSORS = [
    ("blocks.0.ln1.w", (2,), "layer 'blocks.1': missing: expected also ln1.w"),
    ("blocks.1.ln2.b", (2,), "layer 'blocks.0': missing: expected also ln1.w"),
    ("ln_final.w", (2,), "layer 'blocks.0': missing: expected also ln1.w"),
    ("ln_f.weight", (2,), "'ln_f.weight': expected no layer norm"),
    ("blocks.0.mlp.ln", (2,), "'blocks.0.mlp.ln': expected no layer"),
    ("h.0.rmsnorm.g", (2,), "'h.0.rmsnorm.g': expected no layer norm"),
    ("blocks.0.attn.W_q", (2,), "unknown tensors: 'blocks.0.attn.W_q'"),
    ("blocks.00.attn.W_Q", (2,), "unknown tensors: 'blocks.00.attn"),
    ("lnx", (2,), "unknown tensors: 'lnx'"),
    ("blocks.1.attn.W_K", None, "layer 'blocks.1': missing: expected also attn.W_K"),
    ("blocks.3.attn.b_O", (2,), "layer 'blocks.2': missing"),
    ("blocks.999999999.attn.b_O", (2,), "layer 'blocks.2': missing"),
    ("blocks.2.attn.b_O", (2,),
     "layer 'blocks.2': missing: expected also attn.W_Q, attn.W_K, attn.W_V, attn.W_O"),
    ("blocks.2.mlp.b_in", (2,), "layer 'blocks.2': missing: expected also mlp.W_in, mlp.W_out"),
    ("blocks.2.linear.W", (2, 2), "layer 'blocks.2': has linear: expected attn, as blocks.0 has"),
    ("blocks.1.linear.W", (2, 2),
     "layer 'blocks.1': both linear.W and attn.W_Q: expected linear alone"),
    ("blocks.1.attn.QK", (1, 2, 2), "layer 'blocks.1': both attn.QK and attn.W_Q: expected either"),
    ("blocks.0.attn.b_Q", (3,), "'blocks.0.attn.b_Q': shape [3]: expected [heads d_head]"),
    ("blocks.0.attn.b_Q", (2, 2), "tensor 'blocks.0.attn.b_Q': shape [2, 2]: expected [heads, "
     "d_head] with heads = 1 as in 'blocks.0.attn.W_Q'"),
    ("unembed.b_U", (4,), "with classes = 5 as in 'unembed.W_U'"),
    ("unembed.b_U", (1, 5),
     "'unembed.b_U': shape [1, 5]: expected [classes] with classes = 5 as in 'unembed.W_U'\n"),
    ("blocks.0.ln1.w", (2, 1), "shape [2, 1]: expected [d] with d = 2"),
    ("blocks.0.mlp.b_in", (1, 3), "[1, 3]: expected [hidden]\n"),
    ("blocks.0.attn.QK", (2, 2), "expected [heads, d, d] with heads"),
    ("blocks.0.linear.W", (4,), "shape [4]: expected [d, other] with"),
    ("blocks.0.linear.b", (1, 4), "[1, 4]: expected [other]\n"),
    ("result.X_hidden", (4,), "shape [4]: expected [rows, other]\n"),
    ("X", (1, 1, 2), "[1, 1, 2]: expected [rows, d] with d = 2 as in"),
    ("X", (), "tensor 'X': shape []: expected [rows, d] with d = 2"),
    ("X", (4, 3), "tensor 'X': shape [4, 3]: expected [rows, d] with d"),
    ("X", (0, 2), "tensor 'X': shape [0, 2]: expected [rows, d], all"),
    ("X", zeros("i2", 1, 2), "tensor 'X': dtype I16: expected F64"),
    ("X", zeros("f2", 1, 2) * numpy.nan, "tensor 'X': index (0, 0): NaN"),
    ("blocks.0.attn.W_K", numpy.array([[[1, 2], [numpy.inf, 3]]], "f4"),
     "tensor 'blocks.0.attn.W_K': index (0, 1, 0): infinity"),
    ("embed.W_E", numpy.array([[1, 2], [3, 4], [5, numpy.nan]]), "index (2, 1): NaN"),
    ("tokens", zeros("u1", 1, 1, 2), "[1, 1, 2]: expected [tuples, length]\n"),
    ("tokens", zeros("f4", 1, 2), "tensor 'tokens': dtype F32: expected an integer"),
    ("tokens", zeros("u1", 2), "'tokens': shape [2]: expected [tuples, length]"),
    ("tokens", zeros("u1", 2, 4) + 3, "index (0, 0): 3: expected 0 to 2, a row of embed"),
    ("tokens", zeros("i1", 2, 4) - 1, "'tokens': index (0, 0): -1: expected 0 to 2"),
    ("tokens", zeros("u1", 2, 5), "'tokens': length 5: expected at most 4"),
    ("embed.W_E", None, "tensor 'embed.W_E': missing: expected it beside 'pos_embed.W_pos'"),
    ("blocks.0.attn.b_O", (2,), "tensor 'blocks.1.attn.b_O': missing: expected it, as there is "
     "blocks.0.attn.b_O (zeros, if"),
    ("blocks.1.attn.b_O", (2,),
     "tensor 'blocks.0.attn.b_O': missing: expected it, as there is blocks.1.attn.b_O"),
    ("blocks.1.attn.b_V", (1, 2),
     "tensor 'blocks.0.attn.b_Q': missing: expected it, as there is blocks.1.attn.b_V"),
]


@pytest.mark.parametrize("name, change, words", TENSORS)
def test_tensor(model_refused, name, change, words):
    change = zeros("f2", *change) if isinstance(change, tuple) else change
    model_refused(words, models.changed(BASE, name, change), {})


NORMS = "expected one of none, layernorm, rmsnorm, LN, LNPre, RMS, RMSPre"
METADATA = [
    ({"scale": "0.125"}, "metadata 'scale': '0.125': expected one of 1, 1/sqrt(d_head)"),
    ({"scale": "1.0"}, "metadata 'scale': '1.0': expected one of 1, 1/sqrt"),
    ({"scale": 1}, "metadata 'scale': expected a string"),
    ({"activation": "GELU"}, "metadata 'activation': 'GELU': expected one of silu"),
    ({"activation": ["silu"]}, "metadata 'activation': expected a string"),
    ({"positional_embedding_type": "rotary"},
     "metadata 'positional_embedding_type': 'rotary': expected one of learned, none"),
    ({"positions": "none"}, "'none': expected learned, as there is a tensor of"),
    ({"blocks": "beside"}, "metadata 'blocks': 'beside': expected one of sequential, parallel"),
    ({"heads": "7"}, "[heads, d, d_head] with heads = 7 as in 'heads'"),
    ({"n_heads": "1", "heads": "2"}, "2: expected 1, as 'n_heads' says"),
    ({"attention_dir": "bidirectional", "mask": "causal"}, "'none': expected 'causal', as"),
    ({"attn_only": "false"}, "'no': expected yes, as there are no feed-forward"),
    ({"use_attn_scale": "true", "attn_scale": "3"},
     "metadata 'attn_scale': '3': expected the square root of d_head"),
    ({"Mask": "causal", "task": "x", "ropes": "2"},
     "unknown keys of its metadata: 'Mask', 'ropes': expected those that"),
    ({"mask": ""}, "metadata 'mask': '': expected one of none, causal"),
    ({"mask": "NONE"}, "metadata 'mask': 'NONE': expected one of none, causal"),
    ({"mask": None}, "metadata 'mask': expected a string"),
    ({"normalization": False}, "metadata 'normalization': expected a string"),
    ({"normalization": "layernorm"},
     "metadata 'normalization': 'layernorm': expected tensors of norms in the file, or LNPre"),
    ({"normalization": "RMS"}, "'RMS': expected tensors of norms in the file"),
    ({"normalization": ""}, f"'normalization': '': {NORMS}"),
    ({"normalization": "NONE"}, f"'normalization': 'NONE': {NORMS}"),
    ({"normalization-place": "before"}, "'before': expected one of pre, post"),
    ({"eps": "0"}, "metadata 'eps': \"0\": expected a number above 0"),
    ({"eps": "-1e-5"}, "metadata 'eps': \"-1e-5\": expected a number above 0"),
    ({"eps": "nan"}, "metadata 'eps': \"nan\": expected a number above 0"),
    ({"eps": "1e999"}, "metadata 'eps': \"1e999\": expected a number above 0"),
    ({"eps": "5e-324"},
     "metadata 'eps': '4.94065645841247e-324': expected a number that does not underflow"),
    ({"eps": 1e-5}, "metadata 'eps': expected a string"),
]


@pytest.mark.parametrize("metadata, words", METADATA)
def test_metadata(model_refused, metadata, words):
    model_refused(words, BASE, metadata)


def of(**shapes):
    """Zeros of those shapes in F16: attn_QK of layer 0, X."""
    names = {"X": "X", "X_hidden": "result.X_hidden", "W_E": "embed.W_E"}
    return {names.get(name, "blocks.0." + name.replace("_", ".", 1)): zeros("f2", *shape)
            for name, shape in shapes.items()}


MERGED = of(attn_QK=(1, 2, 2), attn_OV=(1, 2, 2))
OBLONG = of(linear_W=(2, 3), X=(4, 2), X_hidden=(4, 3))
FFN = of(mlp_W_in=(2, 5), mlp_W_out=(5, 2))
# Whole files.
WHOLES = [
    ({name: BASE[name] for name in ("embed.W_E", "pos_embed.W_pos", "unembed.W_U")}, {},
     "layer 'blocks.0': missing"),
    ({}, {}, "layer 'blocks.0': missing"),
    (of(X=(3, 2), W_E=(3, 2)), {}, "layer 'blocks.0': missing"),
    (MERGED | of(attn_b_V=(1, 2)), {}, "both attn.QK and attn.b_V"),
    (MERGED, {"scale": "1/sqrt(d_head)"},
     "metadata 'scale': '1/sqrt(d_head)': expected 1, as attn.QK has no"),
    (of(attn_QK=(1, 2, 2)), {}, "layer 'blocks.0': missing: expected also attn.OV"),
    (MERGED | heads(1), {}, "'blocks.1': has attn: expected attn (merged), as blocks.0 has"),
    (heads(0) | of(W_E=(3, 2), X=(3, 2)) | {"tokens": zeros("u1", 3, 2)}, {},
     "tensor 'tokens': expected either tokens or X, not both"),
    ({name: BASE[name] for name in BASE if name != "unembed.W_U"} |
     {"unembed.b_U": zeros("f2", 4)}, {}, "tensor 'unembed.W_U': missing"),
    ({name: BASE[name] for name in BASE if name != "pos_embed.W_pos"}, {"positions": "learned"},
     "'learned': expected none, as there is no tensor of them"),
    (FFN, {"activation": "none"},
     "'none': expected one of silu, relu, gelu, gelu_new, as there"),
    # Where linear maps write is said beside an export's hidden columns, and fits their shapes.
    (OBLONG, {}, "metadata 'linear': expected block beside result.X_hidden"),
    (OBLONG, {"linear": "clear"}, "metadata 'linear': 'clear': expected one of in-place, block"),
    (of(linear_W=(2, 3), X=(4, 2)), {"linear": "in-place"},
     "'in-place': expected block, as linear.W is not square"),
    (OBLONG | of(X_hidden=(4, 2)), {"linear": "block"},
     "shape [4, 2]: expected [rows, other] with other = 3"),
    (FFN | of(X=(4, 2), X_hidden=(4, 3)), {"linear": "block"},
     "'result.X_hidden': expected it beside linear maps alone"),
    (of(X=(4, 2), X_hidden=(4, 3)), {"linear": "block"}, "layer 'blocks.0': missing"),
]


@pytest.mark.parametrize("tensors, metadata, words", WHOLES)
def test_whole(model_refused, tensors, metadata, words):
    model_refused(words, tensors, metadata)


# Norms, gates and positions are refused, and named, also where extras are skipped.
STRUCTURE = {
    "layer norm": "blocks.0.ln3.w blocks.1.LN2.b ln_final.g transformer.h.0.ln_1.weight "
    "model.layers.0.input_layernorm.weight encoder.LayerNorm.gamma blocks.0.attn.q_norm RMSNORM "
    "x.rms-1 bn1.running_mean layers.0.heads.0.W_K.norm",
    "gate": "blocks.0.mlp.W_Gate mlp.GATEPROJ",
    "router of experts": "blocks.0.mlp.expert.0.W_in",
    "rotary position": "blocks.0.attn.rotary_sin blocks.0.attn.rotary_cos "
    "model.layers.0.self_attn.rotary_emb.inv_freq rope RoPE.table ropeFreqs",
    "position bias": "blocks.0.attn.rel_pos blocks.0.attn.relPos.W rel_pos_bias.W ALiBi.slopes "
    "blocks.0.attn.alibi block.0.layer.0.Attention.relative_attention_bias.weight",
    "position embedding of another name: learned ones are read":
    "transformer.wpe.weight pos_embed.weight",
    "keys that several queries share": "blocks.0.attn._W_K",
    "values that several queries share": "blocks.0.attn._W_V",
    "queries, keys and values in one, as with rotary positions or ALiBi":
    "gpt_neox.layers.0.attention.query_key_value.weight",
    "embedding of token types": "token_type_embeddings.weight",
    "attention to another stream": "cross_attn.W_K",
    "scale": "blocks.0.attn.W_Q_scale h.0.res_scale h.0.attn.temperature x.softcap",
    "attention sink": "blocks.0.attn.sinks",
    "adapter": "blocks.0.attn.W_Q.loRA_A",
}


@pytest.mark.parametrize("what, name", [
    (what, name) for what, names in STRUCTURE.items() for name in names.split()])
def test_structure(model_refused, what, name):
    model_refused(f"tensor '{name}': expected no {what}{'' if ':' in what else ': it changes'}",
                  BASE | {name: zeros("f2", 2)}, {}, "--ignore-extra")


# What is not known to be no part of a model is refused, too, however harmless it looks.
@pytest.mark.parametrize("name", """
    local_mask weight_g blocks.0.mlp.W_in.qweight head_mask h.0.attn.bias blocks.0.attn.bias
    blocks.0.attn.step optimizers xoptimizer.lr blocks.0.exp_avg.w lnx europe exp_avg_ steps
    layers.0.fc1.weight blocks.0.step my.global_step loss.weight v.weight optim.lr""".split())
def test_not_skipped(model_refused, name):
    model_refused(f"'{name}'", BASE | {name: zeros("f2", 2)}, {}, "--ignore-extra")


@pytest.mark.parametrize("name", """
    optimizer.state.0.exp_avg blocks.0.ln1.w.exp_avg blocks.0.mlp.W_in.momentum_buffer
    bn.num_batches_tracked step criterion.weight v_head.summary.weight""".split())
def test_skipped(run, model_refused, tmp_path, name):
    model_refused(f"unknown tensors: '{name}'", BASE | {name: zeros("f2", 2)}, models.SAID)
    ended = run("cost", tmp_path / "m.safetensors", "--ignore-extra")
    assert ended.code == 0 and f"under: tensors '{name}' skipped" in ended.stderr, ended


# Positions that are skipped are those that there are.
@pytest.mark.parametrize("ids", [(0, 1, 2), (0, 2, 1), (1, 2, 3), (0, 0, 0)])
def test_position_ids(run, model_refused, tmp_path, ids):
    tensors = BASE | {"embeddings.position_ids": numpy.array([ids], "u1")}
    if ids != (0, 1, 2):
        model_refused("expected 0, 1, 2, ...", tensors, {}, "--ignore-extra")
        return
    models.write(tmp_path / "m.safetensors", tensors, models.SAID)
    assert run("verify", tmp_path / "m.safetensors", "--ignore-extra", "--dry-run").code == 0


def test_many_unknown(model_refused, run, tmp_path):
    """A list of names ends where the message does; what is left over is counted."""
    names = [f"somebody.else.{i:03}" for i in range(299)] + ["z"]  # which alone would fit
    tensors = {name: zeros("u1", 0) for name in names}
    model_refused("unknown tensors: 'somebody.else.000', 'somebody.else.001', ", tensors, {})
    said = run("verify", tmp_path / "m.safetensors").stderr
    shown = said.count("somebody")
    assert 30 < shown < 300 and f" and {300 - shown} more: expected" in said
