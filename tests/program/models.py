"""Small models that tests give to the program, and their files, whole or not as they should be."""

import json

import families
import numpy
import safetensors_file

# What a config.json says of gpt2(), as JSON.
CONFIG = {"architectures": '["GPT2LMHeadModel"]', "model_type": '"gpt2"', "n_layer": "2",
          "activation_function": '"gelu_new"', "layer_norm_epsilon": "1e-05", "n_embd": "4",
          "n_head": "2", "n_positions": "3", "n_inner": "6", "vocab_size": "5",
          "scale_attn_weights": "true"}


def filled(shapes):
    """Arrays in F32 of these shapes, no two of them alike."""
    return {name: ((numpy.arange(numpy.prod(shape)) + 17 * m) % 251 / 256).astype("f4")
            .reshape(shape) for m, (name, shape) in enumerate(shapes.items(), 1)}


def lens():
    """A model of two layers under TransformerLens' names."""
    shapes = families.shapes(d=4, hidden=6, heads=2, width=2, classes=5, context=3)
    return filled({name: shape for name, shape in shapes.items() if name != "unembed.b_U"})


def gpt2(prefix="", head=False, buffers=False):
    """The same as Hugging Face's GPT-2 names it; head: an unembedding of its own."""
    tensors = families.named(lens(), "gpt2")
    unembedding = tensors.pop("lm_head.weight")
    for h in ("h.0.", "h.1.") if buffers else ():
        tensors[h + "attn.bias"] = numpy.tril(numpy.ones((1, 3, 3), "f4"))
        tensors[h + "attn.masked_bias"] = numpy.array(-16384, "f4")
    tensors = {prefix + name: array for name, array in tensors.items()}
    return tensors | {"lm_head.weight": unembedding} if head else tensors


def lens_of(tokens, layers=2):
    """lens() with so many tokens and layers; its embedding and unembedding are drawn."""
    drawn = numpy.random.default_rng(1)
    return {name: array for name, array in lens().items()
            if name[:6] != "blocks" or int(name[7]) < layers} | {
        "embed.W_E": drawn.normal(size=(tokens, 4)).astype("f4"),
        "unembed.W_U": drawn.normal(size=(4, tokens)).astype("f4")}


# Metadata of made() that say what its models are.
SAID = {"scale": "1/sqrt(d_head)", "mask": "causal", "activation": "silu", "normalization": "none",
        "blocks": "sequential"}
NORMED = SAID | {"normalization": "layernorm", "eps": "1e-5", "normalization-place": "pre"}
SAID_BUT_NORMS = {key: value for key, value in SAID.items() if key != "normalization"}
ALONE = SAID | {"scale": "1", "mask": "none"}
HEADS = {**{f"attn.W_{x}": (2, 3, 2) for x in "QKV"}, "attn.W_O": (2, 2, 3),
         **{f"attn.b_{x}": (2, 2) for x in "QKV"}, "attn.b_O": (3,)}
NETWORK = {"mlp.W_in": (3, 5), "mlp.b_in": (5,), "mlp.W_out": (5, 3), "mlp.b_out": (3,)}
LAYERS = {"attention": HEADS, "transformer": HEADS | NETWORK, "ffn": NETWORK, "input": {},
          "merged": {"attn.QK": (2, 3, 3), "attn.OV": (2, 3, 3)}, "linear": {"linear.W": (3, 3)}}


def made(kind, rows=4):
    """Two layers of a kind: d 3, heads 2, d_head 2, hidden 5; rows of X, where there are any."""
    tensors = filled({f"blocks.{layer}.{name}": shape for layer in (0, 1)
                      for name, shape in LAYERS[kind].items()} | ({"X": (rows, 3)} if rows else {}))
    return {name: array - numpy.float32(.4) for name, array in tensors.items()}


def write(path, tensors, metadata=None):
    safetensors_file.write(path, tensors, {"format": "pt"} if metadata is None else metadata)


def write_parts(folder, tensors, metadata=({}, {}), index=None):
    """Every second tensor in either of two files, and their index; index: changes of it."""
    files = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    places = {name: files[t % 2] for t, name in enumerate(tensors)} | (index or {})
    for i, file in enumerate(files):
        write(folder / file, dict(list(tensors.items())[i::2]), metadata[i])
    (folder / "model.safetensors.index.json").write_text(json.dumps(
        {"metadata": {"total_size": 12345},
         "weight_map": {name: file for name, file in places.items() if file is not None}}))


def changed(tensors, name, change):
    """With zeros of that shape or those values for a tensor, or with one more; None: without it."""
    if change is None:
        return {other: array for other, array in tensors.items() if other != name}
    array = numpy.zeros(change, "f4") if isinstance(change, tuple) else numpy.asarray(change)
    return {**tensors, name: array.astype("f4") if array.dtype == int else array}


def write_config(folder, key=None, value=None):
    """That of gpt2(), with another value for the key (JSON); None: without it."""
    config = {**CONFIG, **({key: value} if key else {})}
    said = ", ".join(f'"{key}": {value}' for key, value in config.items() if value is not None)
    (folder / "config.json").write_text("{" + said + "}\n")
