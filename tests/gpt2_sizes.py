#!/usr/bin/env python3
"""A model of the shapes of GPT-2's family, under Hugging Face's names, its numbers drawn.

    gpt2_sizes.py DIRECTORY [small|medium|large|xl [LAYERS [SHARDS]]]

writes model.safetensors (F32; small: 124 million parameters, 498 MB), or as many files as SHARDS
says with their index, and config.json. LAYERS: fewer than the model has. Weights are drawn as
GPT-2's are before training: N(0, 0.02), those that write into the stream N(0, 0.02 / sqrt(2 layers)),
gains 1 + N(0, 1/16), biases N(0, 1/16 of a weight).
"""

import json
import os
import struct
import sys

import numpy as np

VOCABULARY, CONTEXT = 50257, 1024
ROWS = 1024  # drawn at a time
SIZES = {"small": (768, 12, 12), "medium": (1024, 24, 16), "large": (1280, 36, 20),
         "xl": (1600, 48, 25)}


def config(width, layers, heads):
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "n_layer": layers,
            "n_embd": width, "n_head": heads, "n_positions": CONTEXT, "n_ctx": CONTEXT,
            "vocab_size": VOCABULARY, "n_inner": None, "scale_attn_weights": True,
            "tie_word_embeddings": True}


def shapes(width, layers):
    """(name, shape, scale of the draws, what they are around)."""
    writes, hidden = 0.02 / (2 * layers) ** 0.5, 4 * width
    yield "transformer.wte.weight", (VOCABULARY, width), 0.02, 0
    yield "transformer.wpe.weight", (CONTEXT, width), 0.01, 0
    for layer in range(layers):
        at = f"transformer.h.{layer}."
        for norm in ("ln_1", "ln_2"):
            yield at + norm + ".weight", (width,), 0.0625, 1
            yield at + norm + ".bias", (width,), 0.0625, 0
        for name, size, scale in (("attn.c_attn", (width, 3 * width), 0.02),
                                  ("attn.c_proj", (width, width), writes),
                                  ("mlp.c_fc", (width, hidden), 0.02),
                                  ("mlp.c_proj", (hidden, width), writes)):
            yield at + name + ".weight", size, scale, 0
            yield at + name + ".bias", size[1:], scale / 16, 0
    yield "transformer.ln_f.weight", (width,), 0.0625, 1
    yield "transformer.ln_f.bias", (width,), 0.0625, 0


def write_file(path, tensors, draws):
    header, end = {}, 0
    for name, shape, _, _ in tensors:
        begin, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, scale, mean in tensors:
            for first in range(0, shape[0], ROWS):
                rows = (min(ROWS, shape[0] - first),) + shape[1:]
                numbers = mean + scale * draws.standard_normal(rows)
                file.write(numbers.astype("<f4").tobytes())
    return end


def main(directory, size="small", layers=None, shards="1"):
    width, depth, heads = SIZES[size]
    depth, shards = int(layers or depth), int(shards)
    tensors = list(shapes(width, depth))
    os.makedirs(directory, exist_ok=True)
    draws = np.random.default_rng(1)
    where, total = {}, 0
    for i in range(shards):
        name = f"model-{i + 1:05}-of-{shards:05}.safetensors" if shards > 1 else "model.safetensors"
        part = tensors[i * len(tensors) // shards:(i + 1) * len(tensors) // shards]
        total += write_file(os.path.join(directory, name), part, draws)
        where.update((tensor[0], name) for tensor in part)
    if shards > 1:
        with open(os.path.join(directory, "model.safetensors.index.json"), "w",
                  encoding="utf-8") as file:
            json.dump({"metadata": {"total_size": total}, "weight_map": where}, file, indent=1)
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config(width, depth, heads), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
