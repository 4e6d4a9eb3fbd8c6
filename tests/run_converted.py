#!/usr/bin/env python3
"""Converted models in PyTorch, each from its file alone: prints the answer, a row a token.

    headproof convert MODEL.safetensors -o CONVERTED.safetensors --omega 20
    python3 tests/run_converted.py CONVERTED.safetensors...
"""

import sys

import torch

sys.dont_write_bytecode = True
import safetensors_file


def load(path):
    tensors, said = safetensors_file.read(path)
    return said, {name: torch.tensor(safetensors_file.doubles(data), dtype=torch.float64)
                  .reshape(shape) for name, (_, shape, data) in tensors.items()}


def norm(x, said, t, s):
    columns = said["headproof.norm_columns"].split(",")[s]
    if columns == "-":
        return x
    (r0, r1), (c0, c1) = (map(int, word.split(":")) for word in
                          (said["headproof.norm_rows"], columns))
    y, z = x.clone(), x[r0:r1, c0:c1]
    z = z - z.mean(1, keepdim=True) if said["normalization"] == "layernorm" else z
    z = z / (z.square().mean(1, keepdim=True) + float(said["eps"])).sqrt() * t[f"blocks.{s}.ln.w"]
    y[r0:r1, c0:c1] = z + t[f"blocks.{s}.ln.b"][r0:r1] if f"blocks.{s}.ln.b" in t else z
    return y


def answer(said, t):
    x, place = t["X"].clone(), said.get("normalization-place")
    hidden = torch.ones(len(x), len(x)).triu(1).bool() & (said["mask"] == "causal")
    for s in range(int(said["headproof.layer_end"].split(",")[-1])):
        q, k, v, o = (t[f"blocks.{s}.attn.W_{letter}"] for letter in "QKVO")
        y = norm(x, said, t, s) if place == "pre" else x
        scores = ((y @ q) @ (y @ k).transpose(1, 2)).masked_fill(hidden, -torch.inf)
        x = x + (scores.softmax(-1) @ (y @ v) @ o).sum(0)
        x = norm(x, said, t, s) if place == "post" else x
    first, end = map(int, said["headproof.content"].split(":"))
    return [x[i, first:end] for i in range(len(x)) if i != int(said["headproof.bias_row"])]


for path in sys.argv[1:]:
    for row in answer(*load(path)):
        print(*(float(value).hex() for value in row))
