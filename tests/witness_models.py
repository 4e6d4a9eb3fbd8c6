"""Transformers evaluated in plain numpy, in float32 or another dtype: what a program that knows
nothing of Headproof answers.  Shares nothing with the C programs.

A model is a dict of tensors under TransformerLens' names, and what is said of it beside them:
activation, scale, mask, normalization, eps.
"""

import numpy as np
from math import erf, pi, sqrt

_ERF = np.vectorize(erf, otypes=[float])


def act(x, kind):
    """The four activations, in x's dtype but for erf, which is double's."""
    if kind == "silu":
        return x / (1 + np.exp(-x))
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "gelu":
        return (x * 0.5 * (1 + _ERF(x / sqrt(2)))).astype(x.dtype)
    inner = x.dtype.type(sqrt(2 / pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return x * x.dtype.type(0.5) * (1 + np.tanh(inner))


def norm(x, w, b, kind, eps):
    """Of each row; w and b may be None, where they are folded.  Half is normalised in single, as
    frameworks do."""
    if x.dtype == np.float16:
        return norm(x.astype(np.float32), w, b, kind, eps).astype(np.float16)
    if kind == "layernorm":
        x = x - x.mean(-1, keepdims=True)
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(eps))
    y = y if w is None else y * w
    return y if b is None else y + b


def attention(x, layer, said):
    """layer(name): a tensor of it, or None."""
    total = np.zeros_like(x)
    n = len(x)
    for h in range(layer("attn.W_Q").shape[0]):
        q, k, v = (x @ layer("attn.W_" + c)[h] +
                   (0 if layer("attn.b_" + c) is None else layer("attn.b_" + c)[h]) for c in "QKV")
        scores = q @ k.T
        if said["scale"] != "1":
            scores = scores / np.sqrt(x.dtype.type(q.shape[1]))
        if said["mask"] == "causal":
            scores = np.where(np.tri(n, dtype=bool), scores, -np.inf).astype(x.dtype)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        total += (weights / weights.sum(-1, keepdims=True)) @ v @ layer("attn.W_O")[h]
    b = layer("attn.b_O")
    return total if b is None else total + b


def network(x, layer, said):
    b_in, b_out = layer("mlp.b_in"), layer("mlp.b_out")
    hidden = x @ layer("mlp.W_in") + (0 if b_in is None else b_in)
    out = act(hidden, said["activation"]) @ layer("mlp.W_out")
    return out if b_out is None else out + b_out


def evaluate(tensors, said, tokens, dtype=np.float32):
    """tokens [n]: logits [n, classes], or the stream [n, d] without an unembedding."""
    t = {name: np.asarray(value, dtype) for name, value in tensors.items()
         if value.dtype.kind == "f"}
    norms = said["normalization"] != "none"
    x = t["embed.W_E"][tokens]
    if "pos_embed.W_pos" in t:
        x = x + t["pos_embed.W_pos"][:len(tokens)]
    depth = 1 + max(int(name.split(".")[1]) for name in t if name.startswith("blocks."))
    for l in range(depth):
        def layer(name, l=l):
            return t.get(f"blocks.{l}.{name}")

        for part, gains, weights in ((attention, "ln1", "attn.W_Q"), (network, "ln2", "mlp.W_in")):
            if layer(weights) is not None:
                y = norm(x, layer(gains + ".w"), layer(gains + ".b"), said["normalization"],
                         said["eps"]) if norms else x
                x = x + part(y, layer, said)
    if "unembed.W_U" not in t:
        return x
    if norms:
        x = norm(x, t.get("ln_final.w"), t.get("ln_final.b"), said["normalization"], said["eps"])
    logits = x @ t["unembed.W_U"]
    return logits + t["unembed.b_U"] if "unembed.b_U" in t else logits
