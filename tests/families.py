"""Small models of many families: drawn once under TransformerLens' names, and written under the
names and with the sides that a family's own program writes."""

import numpy


def shapes(d, hidden, heads, width, layers=2, classes=11, context=None, keys=None, gated=False):
    """Of every tensor that a model may have: keys: heads of keys and values, if not of queries."""
    found = {"embed.W_E": (classes, d), **({"pos_embed.W_pos": (context, d)} if context else {})}
    for at in (f"blocks.{layer}." for layer in range(layers)):
        found |= {at + "ln1.w": (d,), at + "ln1.b": (d,)}
        for name, count in ("Q", heads), ("K", keys or heads), ("V", keys or heads):
            found |= {f"{at}attn.W_{name}": (count, d, width), f"{at}attn.b_{name}": (count, width)}
        found |= {at + "attn.W_O": (heads, width, d), at + "attn.b_O": (d,),
                  at + "ln2.w": (d,), at + "ln2.b": (d,)}
        for name in ("gate", "in") if gated else ("in",):
            found |= {f"{at}mlp.W_{name}": (d, hidden), f"{at}mlp.b_{name}": (hidden,)}
        found |= {at + "mlp.W_out": (hidden, d), at + "mlp.b_out": (d,)}
    return found | {"ln_final.w": (d,), "ln_final.b": (d,), "unembed.W_U": (d, classes),
                    "unembed.b_U": (classes,)}


def drawn(of, seed=1):
    """Tensors of these shapes: gains about 1, and what adds up to numbers of size 1."""
    r = numpy.random.default_rng(seed)
    size = lambda shape, name: (1 if name.endswith(("W_E", "W_pos")) else
                                shape[-2]**-.5 if len(shape) > 1 and ".W_" in name else .25)
    return {name: r.normal(size=shape) * size(shape, name) + (name.endswith(".w"))
            for name, shape in of.items()}


# What a module of a family is: attn.Q has attn.W_Q as its weight and attn.b_Q as its bias, ln1
# has ln1.w and ln1.b.
GPT2 = {"wte": "embed.E", "wpe": "pos_embed.pos", "h.{l}.ln_1": "ln1",
        "h.{l}.attn.c_attn": "attn.QKV", "h.{l}.attn.c_proj": "attn.O", "h.{l}.ln_2": "ln2",
        "h.{l}.mlp.c_fc": "mlp.in", "h.{l}.mlp.c_proj": "mlp.out", "ln_f": "ln_final",
        "lm_head": "unembed.U"}
MINGPT = {"tok_emb": "embed.E", "blocks.{l}.ln1": "ln1", "blocks.{l}.attn.query": "attn.Q",
          "blocks.{l}.attn.key": "attn.K", "blocks.{l}.attn.value": "attn.V",
          "blocks.{l}.attn.proj": "attn.O", "blocks.{l}.ln2": "ln2", "blocks.{l}.mlp.0": "mlp.in",
          "blocks.{l}.mlp.2": "mlp.out", "ln_f": "ln_final", "head": "unembed.U"}
NEOX = {"gpt_neox.embed_in": "embed.E", "gpt_neox.layers.{l}.input_layernorm": "ln1",
        "gpt_neox.layers.{l}.attention.query_key_value": "attn.QKV",
        "gpt_neox.layers.{l}.attention.dense": "attn.O",
        "gpt_neox.layers.{l}.post_attention_layernorm": "ln2",
        "gpt_neox.layers.{l}.mlp.dense_h_to_4h": "mlp.in",
        "gpt_neox.layers.{l}.mlp.dense_4h_to_h": "mlp.out",
        "gpt_neox.final_layer_norm": "ln_final", "embed_out": "unembed.U"}
GPTJ = {"transformer.wte": "embed.E", "transformer.h.{l}.ln_1": "ln1",
        **{f"transformer.h.{{l}}.attn.{x.lower()}_proj": "attn." + x for x in "QKV"},
        "transformer.h.{l}.attn.out_proj": "attn.O", "transformer.h.{l}.mlp.fc_in": "mlp.in",
        "transformer.h.{l}.mlp.fc_out": "mlp.out", "transformer.ln_f": "ln_final",
        "lm_head": "unembed.U"}
PHI = {"model.embed_tokens": "embed.E", "model.layers.{l}.input_layernorm": "ln1",
       **{f"model.layers.{{l}}.self_attn.{x.lower()}_proj": "attn." + x for x in "QKV"},
       "model.layers.{l}.self_attn.dense": "attn.O", "model.layers.{l}.mlp.fc1": "mlp.in",
       "model.layers.{l}.mlp.fc2": "mlp.out", "model.final_layernorm": "ln_final",
       "lm_head": "unembed.U"}
LLAMA = {"model.embed_tokens": "embed.E", "model.layers.{l}.input_layernorm": "ln1",
         **{f"model.layers.{{l}}.self_attn.{x.lower()}_proj": "attn." + x for x in "QKVO"},
         "model.layers.{l}.post_attention_layernorm": "ln2",
         "model.layers.{l}.mlp.gate_proj": "mlp.gate", "model.layers.{l}.mlp.up_proj": "mlp.in",
         "model.layers.{l}.mlp.down_proj": "mlp.out", "model.norm": "ln_final",
         "lm_head": "unembed.U"}
# Their modules, and whether their matrices are [out, in], as torch's own are.
FAMILIES = {"gpt2": (GPT2, False), "nanogpt": (GPT2, True), "mingpt": (MINGPT, True),
            "neox": (NEOX, True), "gptj": (GPTJ, True), "phi": (PHI, True), "llama": (LLAMA, True)}


def flat(name, array):
    """Heads side by side in one matrix [in, out], or vector."""
    if array.ndim == 3:
        return numpy.concatenate(array, axis=0 if name.endswith("W_O") else 1)
    return array.reshape(-1) if ".attn.b_" in name else array


def tensor_of(tensors, name, by_head):
    """One that is there by itself, or queries, keys and values in one; None where there is none."""
    if not name.endswith("QKV"):
        return tensors.get(name)
    parts = [tensors.get(name[:-3] + x) for x in "QKV"]
    if parts[0] is None:
        return None
    beside = numpy.stack(parts, axis=1 if by_head else 0)
    return beside.reshape(-1, *beside.shape[2:])


def named(tensors, family):
    """A model's tensors as the family's program writes them."""
    modules, turned = FAMILIES[family]
    depth, out = 1 + max(int(name.split(".")[1]) for name in tensors if name[:6] == "blocks"), {}
    for module, part in modules.items():
        room, _, own = part.rpartition(".")
        for layer in range(depth if "{l}" in module else 1):
            for kind in "weight", "bias":
                first = kind[0] if not room else f"{room}.{'W' if kind == 'weight' else 'b'}_"
                name = (f"blocks.{layer}." if "{l}" in module else "") + (
                    first + own if room else f"{part}.{first}")
                array = tensor_of(tensors, name, family == "neox")
                if array is not None:
                    array = flat(name, array)
                    sided = array.ndim == 2 and room != "embed" and room != "pos_embed"
                    array = array.T if sided and (turned or room == "unembed") else array
                    out[f"{module.format(l=layer)}.{kind}"] = array
    return out
