"""Transformers in plain numpy, in any of its formats: what a program that knows nothing of Headproof
answers.

A model is a dict of tensors under TransformerLens' names, and what is said of it beside them, as
metadata say it.  Keys and values may have fewer heads than queries, which share them in a row.
"""

import math

import numpy
import safetensors_file


def load(path):
    """{name: array of doubles}, without an export's results, and the metadata."""
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
    tensors, said = safetensors_file.read(path)
    return {name: numpy.frombuffer(data, kinds[dtype]).reshape(shape).astype(float)
            for name, (dtype, shape, data) in tensors.items()
            if not name.startswith("result.") and not name.endswith(("attn.mask", "IGNORE"))}, said


def norm(x, said, t):
    """Of each row; weights may be absent, where they are folded.  Half is normalised in single, as
    frameworks do."""
    if x.dtype == numpy.float16:
        return norm(x.astype(numpy.float32), said, t).astype(x.dtype)
    x = x - x.mean(-1, keepdims=True) if said["normalization"] == "layernorm" else x
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + float(said["eps"])) * t.get("w", 1) \
        + t.get("b", 0)


def attend(q, k, v, seen):
    """softmax_rows(q k^T) v over what is seen, head by head"""
    scores = numpy.where(seen, q @ k.swapaxes(-1, -2), q.dtype.type(-numpy.inf))
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def frequencies(said, width):
    """Of the pairs that turn; scaled, where positions are."""
    f = float(said["rope-theta"]) ** (-numpy.arange(0, width, 2) / width)
    scaling = said.get("rope-scaling") or {"rope_type": "default"}
    if scaling["rope_type"] == "linear":
        return f / scaling["factor"]
    if scaling["rope_type"] != "llama3":
        return f
    length, wave = scaling["original_max_position_embeddings"], 2 * numpy.pi / f
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    kept = numpy.clip((length / wave - low) / (high - low), 0, 1)
    return f * kept + f / scaling["factor"] * (1 - kept)


def turned(z, pairs, cos, sin):
    """Entries of z [..., rows, width], two by two, by the angles of their rows"""
    width = 2 * cos.shape[1]
    at = numpy.arange(width).reshape((-1, 2) if pairs == "interleaved" else (2, -1))
    a, b = at.T if pairs == "interleaved" else at
    out = z.copy()
    out[..., a] = z[..., a] * cos - z[..., b] * sin
    out[..., b] = z[..., b] * cos + z[..., a] * sin
    return out


def may_see(said, rows):
    return numpy.tri(rows, dtype=bool) | (said["mask"] != "causal")


ERF = numpy.vectorize(math.erf, otypes=[float])
ACTIVATIONS = {
    "silu": lambda z: z / (1 + numpy.exp(-z)),
    "relu": lambda z: numpy.maximum(z, 0),
    "gelu": lambda z: z * ((1 + ERF(z / math.sqrt(2))) / 2).astype(z.dtype),
    "gelu_new": lambda z: z * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (z + .044715 * z**3))) / 2,
    "sigmoid": lambda z: 1 / (1 + numpy.exp(-z)),
    "none": lambda z: z,
}


def attention(y, t, said, seen):
    if "QK" in t:
        return attend(y @ t["QK"], y, y @ t["OV"], seen).sum(0) + t.get("b_O", 0)
    q, k, v = (y @ t["W_" + x] + (t["b_" + x][:, None] if "b_" + x in t else 0) for x in "QKV")
    k, v = (numpy.repeat(z, len(q) // len(z), axis=0) for z in (k, v))
    scale = math.sqrt(q.shape[-1]) if said["scale"] == "1/sqrt(d_head)" else 1
    if "rotary-pairs" in said:
        f = frequencies(said, int(said.get("rotary-dim", q.shape[-1])))
        angles = numpy.arange(len(y))[:, None] * f
        q, k = (turned(z, said["rotary-pairs"], numpy.cos(angles), numpy.sin(angles))
                for z in (q, k))
    return (attend(q / scale, k, v, seen) @ t["W_O"]).sum(0) + t.get("b_O", 0)


def hidden(y, t, said):
    """What a network's hidden units hold."""
    act, z = ACTIVATIONS[said["activation"]], y @ t["W_in"] + t.get("b_in", 0)
    return act(y @ t["W_gate"] + t.get("b_gate", 0)) * z if "W_gate" in t else act(z)


def network(y, t, said, _):
    return hidden(y, t, said) @ t["W_out"] + t.get("b_out", 0)


def layers(tensors):
    """The tensors of every layer, by part: [{"attn": {"W_Q": ...}, "mlp": {...}}]"""
    found = {}
    for name, values in tensors.items():
        words = name.split(".")
        if words[0] == "blocks" and len(words) == 4:
            found.setdefault(int(words[1]), {}).setdefault(words[2], {})[words[3]] = values
    return [found[layer] for layer in sorted(found)]


def stream(tensors, said, x, seen=None):
    """Behind the last layer; seen: another mask than the metadata say."""
    seen = may_see(said, len(x)) if seen is None else seen
    place = said.get("normalization-place", "pre") if said["normalization"] != "none" else None
    for layer in layers(tensors):
        before = x
        for part, own, evaluate in ("attn", "ln1", attention), ("mlp", "ln2", network):
            if part in layer:
                x_read = before if said.get("blocks") == "parallel" else x
                y = norm(x_read, said, layer.get(own, {})) if place == "pre" else x_read
                x = x + evaluate(y, layer[part], said, seen)
                x = norm(x, said, layer.get(own, {})) if place == "post" else x
    return x


def embedded(tensors, tokens):
    x = tensors["embed.W_E"][tokens]
    return x + tensors["pos_embed.W_pos"][:len(x)] if "pos_embed.W_pos" in tensors else x


def unembedded(tensors, said, x):
    """Logits of a stream, by the tensors of a model's end."""
    if said["normalization"] != "none":
        x = norm(x, said, {key: tensors["ln_final." + key] for key in "wb"
                           if "ln_final." + key in tensors})
    return x @ tensors["unembed.W_U"] + tensors.get("unembed.b_U", 0)


def logits(tensors, said, tokens, dtype=float):
    """[n, classes] of tokens [n]; a row of them for each window of [windows, n]."""
    t = {name: array.astype(dtype) for name, array in tensors.items() if array.dtype.kind == "f"}
    if numpy.ndim(tokens) == 2:
        return numpy.stack([logits(t, said, window, dtype) for window in tokens])
    return unembedded(t, said, stream(t, said, embedded(t, tokens)))
