#!/usr/bin/env python3
"""A model of GPT-2 small's shapes, under Hugging Face's names, its numbers drawn.

    gpt2_small.py DIRECTORY

writes model.safetensors (F32, 124 million parameters, 498 MB) and config.json. Weights are drawn as
GPT-2's are before training: N(0, 0.02), those that write into the stream N(0, 0.02 / sqrt(24)),
gains 1 + N(0, 1/16), biases N(0, 1/16 of a weight). Exits with 77 without NumPy.
"""

import json
import os
import struct
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

D, HIDDEN, LAYERS, HEADS, VOCABULARY, CONTEXT = 768, 3072, 12, 12, 50257, 1024
CONFIG = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
          "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "n_layer": LAYERS,
          "n_embd": D, "n_head": HEADS, "n_positions": CONTEXT, "n_ctx": CONTEXT,
          "vocab_size": VOCABULARY, "n_inner": None, "scale_attn_weights": True,
          "tie_word_embeddings": True}


def shapes():
    """(name, shape, scale of the draws, what they are around)."""
    writes = 0.02 / (2 * LAYERS) ** 0.5
    yield "transformer.wte.weight", (VOCABULARY, D), 0.02, 0
    yield "transformer.wpe.weight", (CONTEXT, D), 0.01, 0
    for layer in range(LAYERS):
        at = f"transformer.h.{layer}."
        for norm in ("ln_1", "ln_2"):
            yield at + norm + ".weight", (D,), 0.0625, 1
            yield at + norm + ".bias", (D,), 0.0625, 0
        for name, size, scale in (("attn.c_attn", (D, 3 * D), 0.02), ("attn.c_proj", (D, D), writes),
                                  ("mlp.c_fc", (D, HIDDEN), 0.02), ("mlp.c_proj", (HIDDEN, D), writes)):
            yield at + name + ".weight", size, scale, 0
            yield at + name + ".bias", size[1:], scale / 16, 0
    yield "transformer.ln_f.weight", (D,), 0.0625, 1
    yield "transformer.ln_f.bias", (D,), 0.0625, 0


def main(directory):
    os.makedirs(directory, exist_ok=True)
    header, end = {}, 0
    for name, shape, _, _ in shapes():
        begin, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    draws = np.random.default_rng(1)
    with open(os.path.join(directory, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, scale, mean in shapes():
            numbers = mean + scale * draws.standard_normal(shape)
            file.write(numbers.astype("<f4").tobytes())
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
