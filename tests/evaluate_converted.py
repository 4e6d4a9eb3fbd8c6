#!/usr/bin/env python3
"""A user's side of `headproof convert`: loads the converted model with numpy, evaluates it as the
attention-only model that it is, and compares with the original, evaluated from its own file.

    headproof convert MODEL.safetensors -o CONVERTED.safetensors --omega 20
    python3 tests/evaluate_converted.py MODEL.safetensors CONVERTED.safetensors [0,1,53]

With tokens, the stream is made from the embedding; else from the tensor X.  Exit 1 above 1e-12.
"""

import json
import struct
import sys

import numpy as np

TYPES = {"F64": np.float64, "F32": np.float32, "I64": np.int64}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = data[8 + size + begin:8 + size + end]
        tensors[name] = np.frombuffer(raw, TYPES[entry["dtype"]]).reshape(entry["shape"]).astype(
            np.float64)
    return tensors, metadata


def attention(x, t, s, causal):
    """sum over heads of softmax_rows((x W_Q)(x W_K)^T) x W_V W_O"""
    q, k, v = (x @ t[f"blocks.{s}.attn.{w}"] for w in ("W_Q", "W_K", "W_V"))
    scores = q @ k.transpose(0, 2, 1)
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ v @ t[f"blocks.{s}.attn.W_O"]).sum(axis=0)


def converted(t, metadata, tokens):
    """tokens [n, d]: the classical stream."""
    x = t["X"].copy()
    first, end = (int(c) for c in metadata["headproof.content"].split(":"))
    rows = [i for i in range(len(x)) if i != int(metadata["headproof.bias_row"])]
    x[rows, first:end] = tokens
    sublayers = sum(name.endswith("W_Q") for name in t)
    for s in range(sublayers):
        x = x + attention(x, t, s, metadata["mask"] == "causal")
    return x[rows, first:end]


def original(t, metadata, x):
    layers = sum(name.endswith("W_in") for name in t)
    zero = {"b_Q": 0, "b_K": 0, "b_V": 0, "b_O": 0, "b_in": 0, "b_out": 0}
    for l in range(layers):
        a = {name: t.get(f"blocks.{l}.attn.{name}", zero.get(name))
             for name in ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")}
        per_head = lambda b: b[:, None, :] if isinstance(b, np.ndarray) else b
        q, k, v = (x @ a["W_" + w] + per_head(a["b_" + w]) for w in "QKV")
        scores = q @ k.transpose(0, 2, 1)
        if metadata.get("scale") == "1/sqrt(d_head)":
            scores /= np.sqrt(q.shape[-1])
        if metadata.get("mask") == "causal":
            scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        x = x + (weights @ v @ a["W_O"]).sum(axis=0) + a["b_O"]
        m = {name: t.get(f"blocks.{l}.mlp.{name}", zero.get(name))
             for name in ("W_in", "b_in", "W_out", "b_out")}
        z = x @ m["W_in"] + m["b_in"]
        x = x + z / (1 + np.exp(-z)) @ m["W_out"] + m["b_out"]
    return x


def main():
    t, metadata = load(sys.argv[1])
    c, converted_metadata = load(sys.argv[2])
    if len(sys.argv) > 3:
        tokens = [int(token) for token in sys.argv[3].split(",")]
        x = t["embed.W_E"][tokens] + t["pos_embed.W_pos"][:len(tokens)]
    else:
        x = t["X"]
    error = np.abs(converted(c, converted_metadata, x) - original(t, metadata, x)).max()
    print(f"largest difference {error:.3g}")
    return 0 if error <= 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
