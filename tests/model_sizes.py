#!/usr/bin/env python3
"""A model of a published shape, under Hugging Face's names, its numbers drawn.

    model_sizes.py DIRECTORY [SIZE [LAYERS [SHARDS]]]

writes model.safetensors (F32; small: 124 million parameters, 498 MB), or as many files as SHARDS
says with their index, and config.json. SIZE: GPT-2's small, medium, large, xl, or one of
llama-3.2-1b, qwen2.5-0.5b, smollm-135m, pythia-160m. LAYERS: fewer than the model has. Weights are
drawn as GPT-2's are before training: N(0, 0.02), those that write into the stream
N(0, 0.02 / sqrt(2 layers)), gains 1 + N(0, 1/16), biases N(0, 1/16 of a weight).
"""

import json
import os
import re
import struct
import sys

import families
import numpy as np

ROWS = 1024  # drawn at a time


def gpt2(width, layers, heads):
    """The config of a GPT-2; each family's names a size as its own config does."""
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "n_layer": layers,
            "n_embd": width, "n_head": heads, "n_positions": 1024, "n_ctx": 1024,
            "vocab_size": 50257, "n_inner": None, "scale_attn_weights": True,
            "tie_word_embeddings": True}


def llama(width, layers, heads, groups, hidden, vocabulary, theta, **others):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
            "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": groups, "intermediate_size": hidden, "vocab_size": vocabulary,
            "rope_theta": theta, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
            "tie_word_embeddings": True, **others}


SIZES = {
    "small": gpt2(768, 12, 12), "medium": gpt2(1024, 24, 16), "large": gpt2(1280, 36, 20),
    "xl": gpt2(1600, 48, 25),
    "llama-3.2-1b": llama(2048, 16, 32, 8, 8192, 128256, 5e5, max_position_embeddings=131072,
                          rope_scaling={"rope_type": "llama3", "factor": 32.0,
                                        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                        "original_max_position_embeddings": 8192}),
    "smollm-135m": llama(576, 30, 9, 3, 1536, 49152, 1e4),
    "qwen2.5-0.5b": llama(896, 24, 14, 2, 4864, 151936, 1e6, rms_norm_eps=1e-6,
                          architectures=["Qwen2ForCausalLM"], model_type="qwen2",
                          max_position_embeddings=32768, use_sliding_window=False),
    "pythia-160m": {"architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox",
                    "hidden_act": "gelu", "hidden_size": 768, "num_hidden_layers": 12,
                    "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 50304,
                    "rotary_pct": 0.25, "rotary_emb_base": 10000, "layer_norm_eps": 1e-5,
                    "max_position_embeddings": 2048, "use_parallel_residual": True,
                    "tie_word_embeddings": False}}


def tensors_of(c):
    """(name, shape, scale of the draws, what they are around) of each tensor."""
    kind = c["model_type"]
    family = {"gpt2": "gpt2", "gpt_neox": "neox"}.get(kind, "llama")
    width, layers, heads = (c[key] for key in (
        ("n_embd", "n_layer", "n_head") if kind == "gpt2" else
        ("hidden_size", "num_hidden_layers", "num_attention_heads")))
    shapes = families.shapes(
        width, c.get("intermediate_size", 4 * width), heads, width // heads, 1, c["vocab_size"],
        context=c.get("n_positions"), keys=c.get("num_key_value_heads"), gated=family == "llama")
    biases = {"llama": "none", "qwen2": r"attn\.b_[QKV]"}.get(kind, r"ln|attn|mlp")
    layer = families.named({name: np.broadcast_to(np.int8(0), shape) for name, shape in shapes.items()
                            if (name != "unembed.W_U" or not c["tie_word_embeddings"]) and
                            (".b" not in name or re.search(biases, name))}, family)
    modules = families.FAMILIES[family][0]
    for name, zeros in layer.items():
        module, _, own = name.replace(".0.", ".{l}.").rpartition(".")
        part = modules[module]
        norm, writes = part.startswith("ln"), part in ("attn.O", "mlp.out")
        scale = 0.01 if part == "pos_embed.pos" else 0.02 / (2 * layers) ** 0.5 if writes else 0.02
        scale = 0.0625 if norm else scale if own == "weight" else scale / 16
        for l in range(layers if "{l}" in module else 1):
            yield (kind == "gpt2") * "transformer." + f"{module.format(l=l)}.{own}", zeros.shape, \
                scale, norm and own == "weight"


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
    said, shards = dict(SIZES[size]), int(shards)
    depth = "n_layer" if "n_layer" in said else "num_hidden_layers"
    said[depth] = int(layers or said[depth])
    tensors = list(tensors_of(said))
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
        json.dump(said, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
