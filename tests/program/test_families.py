"""GPT-NeoX, GPT-J and Phi: random models under the names and configs that their programs write,
with answers of a program of numpy's, which knows nothing of headproof's, as a witness."""

import json

import numpy as np
import pytest

import safetensors_file

D, HEADS, HIDDEN, LAYERS, CLASSES, N = 16, 2, 24, 2, 11, 12
WIDTH = D // HEADS
GELU = "gelu_new"


def normed(x, w, b):
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * w + b


def gelu_new(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def frequencies(turned, theta, scaling):
    f = theta ** -(np.arange(0, turned, 2) / turned)
    if not scaling:
        return f
    if scaling["rope_type"] == "linear":
        return f / scaling["factor"]
    length, wave = scaling["original_max_position_embeddings"], 2 * np.pi / f
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    kept = np.clip((length / wave - low) / (high - low), 0, 1)
    return f * kept + f / scaling["factor"] * (1 - kept)


def turn(x, angles, neighbours):
    """x [n, WIDTH], of which as many entries turn as there are twice as many angles."""
    turned = 2 * angles.shape[1]
    first = slice(0, turned, 2) if neighbours else slice(0, turned // 2)
    second = slice(1, turned, 2) if neighbours else slice(turned // 2, turned)
    y, c, s = x.copy(), np.cos(angles), np.sin(angles)
    y[:, first] = x[:, first] * c - x[:, second] * s
    y[:, second] = x[:, second] * c + x[:, first] * s
    return y


def answers(m, tokens, turned, theta, scaling, neighbours, parallel):
    """Logits [N, CLASSES]; m: matrices [out, in] and biases by short names, layer by layer."""
    x = m["embed"][tokens]
    angles = np.arange(N)[:, None] * frequencies(turned, theta, scaling)[None]
    for layer in m["layers"]:
        y = normed(x, *layer["ln1"])
        added = np.zeros_like(x) + layer["o"][1]
        for h in range(HEADS):
            own = slice(h * WIDTH, (h + 1) * WIDTH)
            q, k, v = (y @ layer[p][0][own].T + layer[p][1][own] for p in "qkv")
            s = turn(q, angles, neighbours) @ turn(k, angles, neighbours).T / np.sqrt(WIDTH)
            s = np.where(np.tri(N) > 0, s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            added += p / p.sum(-1, keepdims=True) @ v @ layer["o"][0][:, own].T
        read = x if parallel else x + added
        hidden = gelu_new(normed(read, *layer["ln2"]) @ layer["in"][0].T + layer["in"][1])
        x = x + added + hidden @ layer["out"][0].T + layer["out"][1]
    return normed(x, *m["final"]) @ m["head"][0].T + m["head"][1]


def drawn(seed, biased, head_biased, one_norm):
    r = np.random.default_rng(seed)
    pair = lambda rows, columns, b=True: (r.normal(size=(rows, columns)) / np.sqrt(columns),
                                          r.normal(size=rows) / 4 * b)
    norm = lambda: (1 + r.normal(size=D) / 4, r.normal(size=D) / 4)
    layers = []
    for _ in range(LAYERS):
        layer = {p: pair(D, D, biased) for p in "qkvo"}
        layer.update({"in": pair(HIDDEN, D), "out": pair(D, HIDDEN), "ln1": norm()})
        layer["ln2"] = layer["ln1"] if one_norm else norm()
        layers.append(layer)
    return {"embed": r.normal(size=(CLASSES, D)), "layers": layers, "final": norm(),
            "head": pair(CLASSES, D, head_biased)}


def named(name, value, tensors, biased=True):
    tensors[name + ".weight"] = value[0]
    if biased:
        tensors[name + ".bias"] = value[1]


# What checkpoints of both kinds have beside weights: the mask, and a score that counts for nothing.
CAUSAL = np.tril(np.ones((1, 1, 64, 64), bool))


def neox(m):
    t = {"gpt_neox.embed_in.weight": m["embed"], "embed_out.weight": m["head"][0]}
    named("gpt_neox.final_layer_norm", m["final"], t)
    for i, layer in enumerate(m["layers"]):
        at = f"gpt_neox.layers.{i}."
        beside = [np.stack([layer[p][k].reshape(HEADS, WIDTH, *layer[p][k].shape[1:])
                            for p in "qkv"], 1) for k in (0, 1)]
        named(at + "attention.query_key_value", (beside[0].reshape(3 * D, D),
                                                 beside[1].reshape(3 * D)), t)
        for name, part in (("attention.dense", "o"), ("mlp.dense_h_to_4h", "in"),
                           ("mlp.dense_4h_to_h", "out"), ("input_layernorm", "ln1"),
                           ("post_attention_layernorm", "ln2")):
            named(at + name, layer[part], t)
        t[at + "attention.rotary_emb.inv_freq"] = np.ones(2)
        t[at + "attention.bias"] = CAUSAL
        t[at + "attention.masked_bias"] = np.float32(-1e9)
    return t


def gptj(m):
    t = {"transformer.wte.weight": m["embed"]}
    named("transformer.ln_f", m["final"], t)
    named("lm_head", m["head"], t)
    for i, layer in enumerate(m["layers"]):
        at = f"transformer.h.{i}."
        for name, part in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("out_proj", "o")):
            named(at + "attn." + name, layer[part], t, False)
        for name, part in (("mlp.fc_in", "in"), ("mlp.fc_out", "out"), ("ln_1", "ln1")):
            named(at + name, layer[part], t)
        t[at + "attn.bias"] = CAUSAL
        t[at + "attn.masked_bias"] = np.float32(-1e9)
        t[at + "attn.embed_positions"] = np.ones((64, 4), np.float32)
    return t


def phi(m):
    t = {"model.embed_tokens.weight": m["embed"]}
    named("model.final_layernorm", m["final"], t)
    named("lm_head", m["head"], t)
    for i, layer in enumerate(m["layers"]):
        at = f"model.layers.{i}."
        for name, part in (("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"), ("dense", "o")):
            named(at + "self_attn." + name, layer[part], t)
        for name, part in (("mlp.fc1", "in"), ("mlp.fc2", "out"), ("input_layernorm", "ln1")):
            named(at + name, layer[part], t)
        t[at + "self_attn.rotary_emb.inv_freq"] = np.ones(2)
    return t


SIZES = {"num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "hidden_size": D,
         "intermediate_size": HIDDEN, "vocab_size": CLASSES, "max_position_embeddings": 64,
         "hidden_act": GELU, "layer_norm_eps": 1e-5, "tie_word_embeddings": False}
NEOX = {**SIZES, "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"],
        "use_parallel_residual": True, "attention_bias": True}
GPTJ = {"model_type": "gptj", "n_embd": D, "n_head": HEADS, "n_layer": LAYERS, "n_inner": HIDDEN,
        "n_positions": 64, "vocab_size": CLASSES, "activation_function": GELU, "rotary": True,
        "layer_norm_epsilon": 1e-5, "scale_attn_weights": True, "rotary_dim": 4}
PHI = {**SIZES, "model_type": "phi", "architectures": ["PhiForCausalLM"], "qk_layernorm": False,
       "num_key_value_heads": HEADS, "partial_rotary_factor": 0.5, "rope_theta": 10000.0,
       "rope_scaling": None}
LINEAR = {"rope_type": "linear", "factor": 2.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}

# How it is called, its tensors, config, entries that turn, theta, scaling, parallel.
MODELS = [
    ("neox", neox, {**NEOX, "rotary_pct": 0.25, "rotary_emb_base": 100}, 2, 100.0, None, True),
    ("neox-new", neox, {**NEOX, "rope_parameters": {
        "rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 1.0}},
     8, 10000.0, None, True),
    ("neox-sequential", neox, {**NEOX, "use_parallel_residual": False, "rotary_pct": 0.5,
                               "rotary_emb_base": 10000}, 4, 10000.0, None, False),
    ("gptj", gptj, GPTJ, 4, 10000.0, None, True),
    ("phi", phi, PHI, 4, 10000.0, None, True),
    ("phi-linear", phi, {**PHI, "rope_scaling": {"type": "linear", "factor": 2.0}}, 4, 10000.0,
     LINEAR, True),
    ("phi-llama3", phi, {**PHI, "rope_scaling": LLAMA3, "partial_rotary_factor": 1.0}, 8, 10000.0,
     LLAMA3, True),
]


def write(folder, named_as, config, turned, theta, scaling, parallel, answered=np.float32):
    """The model as floats, and its answers as what answered makes of them."""
    m = drawn(len(config), named_as is not gptj, named_as is not neox, named_as is not neox)
    tokens = np.random.default_rng(1).integers(0, CLASSES, size=(2, N))
    f32 = lambda a: np.float64(np.float32(a))
    m["layers"] = [{k: tuple(map(f32, v)) for k, v in layer.items()} for layer in m["layers"]]
    m.update({k: tuple(map(f32, m[k])) for k in ("final", "head")}, embed=f32(m["embed"]))
    logits = [answers(m, t, turned, theta, scaling, named_as is gptj, parallel) for t in tokens]
    tensors = {k: np.ascontiguousarray(v, np.float32) for k, v in named_as(m).items()}
    tensors["witness.tokens"] = tokens
    tensors["witness.logits"] = answered(np.array(logits))
    safetensors_file.write(folder / "model.safetensors", tensors, {})
    (folder / "config.json").write_text(json.dumps(config))


def verify(run, folder, *more):
    return run("verify", folder, "--omega", "20", "--gelu", "8", "--tokens",
               "/".join(["0"] * N), *more)


@pytest.mark.parametrize("called, named_as, config, turned, theta, scaling, parallel", MODELS,
                         ids=[row[0] for row in MODELS])
def test_answers_are_the_model_s(run, tmp_path, called, named_as, config, turned, theta, scaling,
                                 parallel):
    write(tmp_path, named_as, config, turned, theta, scaling, parallel)
    ended = verify(run, tmp_path)
    assert ended.code == 0 and "same model as its witness" in ended.stdout, ended


@pytest.mark.parametrize("called", ["neox", "gptj", "neox-sequential"])
def test_attribute_takes_turns_and_parallel_blocks(run, tmp_path, called):
    """The terms are the logit's, which is the model's but for its GELUs' heads."""
    write(tmp_path, *next(row[1:] for row in MODELS if row[0] == called))
    of = safetensors_file.read(tmp_path / "model.safetensors")[0]
    tokens, logits = (np.frombuffer(of["witness." + name][2], kind)[:size] for name, kind, size in
                      (("tokens", "<i8", N), ("logits", "<f4", N * CLASSES)))
    ended = run("attribute", tmp_path, "--tokens", "/".join(map(str, tokens)), "--omega", "20",
                "--gelu", "8", "-q", "-o", tmp_path / "terms.csv")
    assert ended.code == 0, ended.stderr
    rows = [line.split(",") for line in (tmp_path / "terms.csv").read_text().splitlines()[1:]]
    assert abs(float(rows[-1][8]) - logits[-CLASSES:].max()) < 1e-3
    assert abs(sum(float(row[8]) for row in rows[:-1]) - float(rows[-1][8])) < 1e-12
    assert {"external", "internal"} <= {row[3] for row in rows}


@pytest.mark.parametrize("change", [{"rotary_pct": 1.0}, {"rotary_emb_base": 9000},
                                    {"use_parallel_residual": True}, {"hidden_act": "gelu"}])
def test_another_model_is_told_from_it(run, tmp_path, change):
    _, named_as, config, *rest = MODELS[2]
    write(tmp_path, named_as, config, *rest)
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    ended = verify(run, tmp_path)
    assert ended.code != 0 and "same model as its witness" not in ended.stdout, ended


NARROWER = " (as float32, not as the float64 it is)"


@pytest.mark.parametrize("answered, says", [
    (lambda logits: np.float64(np.float32(logits)), NARROWER),
    (lambda logits: logits + 1e-3, "this is another model")])
def test_float64_may_have_parts_in_float32(run, tmp_path, answered, says):
    write(tmp_path, *MODELS[2][1:], answered)
    ended = verify(run, tmp_path)
    words = " ".join((ended.stdout + ended.stderr).split())
    assert says in words and (NARROWER in words) == (says == NARROWER), ended


REFUSED = [
    ({"rope_theta": 7.0}, "key 'rotary_emb_base': '100': expected '7', as key 'rope_theta'"),
    ({"rotary_pct": 0.4}, "expected an even number of a head's 8 entries to turn"),
    ({"rotary_pct": 2.0}, "expected an even number of a head's 8 entries to turn"),
    ({"rotary_pct": None}, "key 'rotary_pct'...missing: expected how much of a head turns"),
    ({"rotary_emb_base": None}, "key 'rope_theta'...missing: expected it with rotary positions"),
    ({"rope_scaling": {"type": "yarn", "factor": 2.0}},
     '"yarn": expected one of default linear llama3: rotary positions of another kind'),
    ({"rope_scaling": {"type": "linear"}}, "'linear': expected beside it factor"),
    ({"rope_scaling": {**LLAMA3, "high_freq_factor": 1.0}}, "above low_freq_factor"),
    ({"rope_scaling": "linear"}, "key 'rope_scaling': \"linear\": expected an object of keys"),
    ({"rotary": False}, "key 'rotary': 'no': expected yes, as the names of its tensors say"),
    ({"model_type": "gptj"}, "key 'model_type': \"gptj\": expected one of gpt_neox"),
    ({"sliding_window": 4}, "key 'sliding_window': 4: expected none"),
    ({"num_attention_heads": 3}, "key 'num_attention_heads': 3: expected a divisor"),
]


@pytest.mark.parametrize("change, words", REFUSED)
def test_a_config_is_refused(run, tmp_path, change, words):
    _, named_as, config, *rest = MODELS[0]
    write(tmp_path, named_as, config, *rest)
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    ended = run("cost", tmp_path)
    said = ended.stderr
    for part in words.split("..."):
        assert part in said, ended
        said = said[said.index(part):]
    assert ended.code == 2, ended
