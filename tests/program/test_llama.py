"""Llama, Mistral, Qwen2 and Gemma: random models under the names and configs that their programs
write, with answers of a program of numpy's, which knows nothing of headproof's, as a witness."""

import csv
import json
import pathlib

import numpy as np
import pytest

import safetensors_file
from test_families import frequencies, turn

D, HEADS, HIDDEN, LAYERS, CLASSES, N = 24, 4, 20, 2, 11, 12
GEMMA = "gelu_pytorch_tanh"
SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "cases/models/llama"


def act(x, name):
    if name == "silu":
        return x / (1 + np.exp(-x))
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def normed(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def answers(t, c, tokens, theta, scaling, seen=None):
    """Logits [N, CLASSES] of tensors by their names in the file; seen: what the last layer's hidden
    units hold, and the stream behind it."""
    gemma, width = c["model_type"] == "gemma", c.get("head_dim") or D // HEADS
    keys = c.get("num_key_value_heads") or HEADS
    gain = (lambda name: 1 + t[name]) if gemma else (lambda name: t[name])
    x = t["model.embed_tokens.weight"][tokens]
    if gemma:
        x = x * brain(np.sqrt(D))
    angles = np.arange(N)[:, None] * frequencies(width, theta, scaling)[None]
    for at in (f"model.layers.{i}." for i in range(LAYERS)):
        y = normed(x, gain(at + "input_layernorm.weight"), c["rms_norm_eps"])
        part = lambda name, y: y @ t[at + name + ".weight"].T + t.get(at + name + ".bias", 0)
        q, k, v = (part(f"self_attn.{p}_proj", y) for p in "qkv")
        heads = []
        for h in range(HEADS):
            own = slice(h * width, (h + 1) * width)
            shared = h * keys // HEADS
            of = slice(shared * width, (shared + 1) * width)
            s = turn(q[:, own], angles, False) @ turn(k[:, of], angles, False).T / np.sqrt(width)
            p = np.exp(np.where(np.tri(N) > 0, s - s.max(), -np.inf))
            heads.append(p / p.sum(-1, keepdims=True) @ v[:, of])
        x = x + part("self_attn.o_proj", np.concatenate(heads, 1))
        y = normed(x, gain(at + "post_attention_layernorm.weight"), c["rms_norm_eps"])
        hidden = act(part("mlp.gate_proj", y), c["hidden_act"]) * part("mlp.up_proj", y)
        x = x + part("mlp.down_proj", hidden)
    if seen is not None:
        seen.update(hidden=hidden, x=x)
    tied = c.get("tie_word_embeddings", gemma)
    head = t["model.embed_tokens.weight" if tied else "lm_head.weight"]
    return normed(x, gain("model.norm.weight"), c["rms_norm_eps"]) @ head.T


def brain(x):
    """The nearest bfloat16."""
    bits = np.atleast_1d(x).astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(np.float32).astype(float)


def drawn(c, biases=(), seed=1):
    r = np.random.default_rng(seed)
    width = c.get("head_dim") or D // HEADS
    keys = (c.get("num_key_value_heads") or HEADS) * width
    matrix = lambda rows, columns: r.normal(size=(rows, columns)) / np.sqrt(columns)
    gain = lambda: r.normal(size=D) / 4 + (c["model_type"] != "gemma")
    t = {"model.embed_tokens.weight": r.normal(size=(CLASSES, D)), "model.norm.weight": gain()}
    if not c.get("tie_word_embeddings", c["model_type"] == "gemma"):
        t["lm_head.weight"] = matrix(CLASSES, D)
    shapes = {"self_attn.q_proj": (HEADS * width, D), "self_attn.k_proj": (keys, D),
              "self_attn.v_proj": (keys, D), "self_attn.o_proj": (D, HEADS * width),
              "mlp.gate_proj": (HIDDEN, D), "mlp.up_proj": (HIDDEN, D),
              "mlp.down_proj": (D, HIDDEN)}
    for at in (f"model.layers.{i}." for i in range(LAYERS)):
        t[at + "input_layernorm.weight"] = gain()
        t[at + "post_attention_layernorm.weight"] = gain()
        for name, (rows, columns) in shapes.items():
            t[f"{at}{name}.weight"] = matrix(rows, columns)
            if name in biases:
                t[f"{at}{name}.bias"] = r.normal(size=rows) / 2
    return t


COMMON = {"hidden_size": D, "intermediate_size": HIDDEN, "num_attention_heads": HEADS,
          "num_hidden_layers": LAYERS, "vocab_size": CLASSES, "max_position_embeddings": 64,
          "hidden_act": "silu", "rms_norm_eps": 1e-5, "attention_dropout": 0.0,
          "initializer_range": 0.02, "use_cache": True, "bos_token_id": 1, "eos_token_id": [2, 3]}
LLAMA = {**COMMON, "model_type": "llama", "architectures": ["LlamaForCausalLM"],
         "num_key_value_heads": 2, "attention_bias": False, "mlp_bias": False, "pretraining_tp": 1,
         "rope_theta": 10000.0, "rope_scaling": None, "tie_word_embeddings": False}
MISTRAL = {**COMMON, "model_type": "mistral", "architectures": ["MistralForCausalLM"],
           "num_key_value_heads": 2, "head_dim": 10, "rope_theta": 1000000.0, "sliding_window": N,
           "tie_word_embeddings": False}
QWEN2 = {**COMMON, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
         "num_key_value_heads": 2, "rope_theta": 1000000.0, "use_sliding_window": False,
         "sliding_window": 4, "max_window_layers": 21, "use_mrope": False,
         "layer_types": ["full_attention"] * LAYERS, "tie_word_embeddings": True}
GEMMA1 = {**COMMON, "model_type": "gemma", "architectures": ["GemmaForCausalLM"],
          "num_key_value_heads": 1, "head_dim": 8, "hidden_act": GEMMA, "hidden_activation": GEMMA,
          "rms_norm_eps": 1e-6, "use_bidirectional_attention": None,
          "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}}
LINEAR = {"rope_type": "linear", "factor": 2.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
ATTENTION = tuple(f"self_attn.{x}_proj" for x in "qkv")
ALL = ATTENTION + ("self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")


def without(config, *keys):
    return {key: value for key, value in config.items() if key not in keys}


# How it is called, its config, what has biases, theta and scaling.
MODELS = [
    ("llama", LLAMA, (), 1e4, None),
    ("llama-old", {**without(LLAMA, "rope_theta", "num_key_value_heads", "attention_bias"),
                   "architectures": ["LLaMAForCausalLM"], "max_sequence_length": 64}, (), 1e4, None),
    ("llama-linear", {**LLAMA, "rope_scaling": {"type": "linear", "factor": 2.0}}, (), 1e4, LINEAR),
    ("llama-3", {**without(LLAMA, "rope_theta", "rope_scaling"), "tie_word_embeddings": True,
                 "rope_parameters": {**LLAMA3, "rope_theta": 100.0}}, (), 100.0, LLAMA3),
    ("llama-biases", {**LLAMA, "attention_bias": True, "mlp_bias": True}, ALL, 1e4, None),
    ("mistral", MISTRAL, (), 1e6, None),
    ("qwen2", QWEN2, ATTENTION, 1e6, None),
    ("gemma", GEMMA1, (), 1e4, None),
]
NAMED = {row[0]: row[1:] for row in MODELS}


def write(folder, called, change=(), lacks=()):
    """A model and its answers, as floats, Gemma's as 16 bits of them, and a config that is changed;
    tensors whose names have a text of `lacks` are lost."""
    config, biases, theta, scaling = NAMED[called]
    rounded = brain if called == "gemma" else lambda a: np.float64(np.float32(a))
    t = {name: rounded(array) for name, array in drawn(config, biases).items()}
    tokens = np.random.default_rng(2).integers(0, CLASSES, size=(2, N))
    logits = [answers(t, config, window, theta, scaling) for window in tokens]
    kept = {name: np.ascontiguousarray(array, np.float32) for name, array in t.items()
            if not any(text in name for text in lacks)}
    if called == "gemma":
        kept = {name: (a.view(np.uint32) >> 16).astype(np.uint16) for name, a in kept.items()}
    if called == "llama-old":
        kept["model.layers.0.self_attn.rotary_emb.inv_freq"] = np.ones(3, np.float32)
    kept.update({"witness.tokens": tokens, "witness.logits": np.float32(logits)})
    names = list(kept)
    if called == "llama-3":  # two files, and their index
        parts = {"model-00001-of-00002.safetensors": names[:9],
                 "model-00002-of-00002.safetensors": names[9:]}
        for part, own in parts.items():
            safetensors_file.write(folder / part, {name: kept[name] for name in own}, {})
        (folder / "model.safetensors.index.json").write_text(json.dumps(
            {"metadata": {}, "weight_map": {n: part for part, own in parts.items() for n in own}}))
    else:
        safetensors_file.write(folder / "model.safetensors", kept, {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({**config, **dict(change)}))


def verify(run, folder, *more):
    return run("verify", folder, "--omega", "20", "--tokens", "/".join(["0"] * N), *more)


@pytest.mark.parametrize("called", NAMED)
def test_answers_are_the_model_s(run, tmp_path, called):
    write(tmp_path, called)
    ended = verify(run, tmp_path)
    assert ended.code == 0, ended
    assert "same model as its witness" in ended.stdout or "not tell eps" in ended.stdout, ended


OTHERS = [("llama", {"rope_theta": 9000.0}), ("llama", {"hidden_act": "relu"}),
          ("llama-linear", {"rope_scaling": {"type": "linear", "factor": 2.1}}),
          ("llama-3", {"rope_parameters": {**LLAMA3, "rope_theta": 100.0, "factor": 7.0}}),
          ("llama-3", {"rope_parameters": {**LLAMA3, "rope_theta": 100.0, "low_freq_factor": 2.0}}),
          ("llama-3", {"rope_parameters": {**LLAMA3, "rope_theta": 100.0, "high_freq_factor": 3.}}),
          ("gemma", {"hidden_act": "gelu", "hidden_activation": None}),
          ("mistral", {"model_type": "llama", "architectures": None, "rope_theta": 10000.0})]


@pytest.mark.parametrize("called, change", OTHERS)
def test_another_model_is_told_from_it(run, tmp_path, called, change):
    write(tmp_path, called, change)
    ended = verify(run, tmp_path)
    assert ended.code == 2 and "this is another model" in ended.stderr, ended


GROUPED = "key 'num_key_value_heads': 3: expected a divisor of 4, the heads of queries"
# Of which model, how its config is changed and what is lost of its tensors; the words.
REFUSED = [
    ("llama", {"rope_parameters": {"rope_theta": 7.0}}, (),
     "key 'rope_theta': '7': expected '10000', as key 'rope_theta'"),
    ("llama", {"rope_scaling": LINEAR, "rope_parameters": {"rope_type": "default"}}, (),
     "key 'rope_type': 'default': expected 'linear', as key 'rope_type'"),
    ("llama", {"num_attention_heads": 8, "num_key_value_heads": 4}, (),
     "heads of 3: expected an even number of a head's 3 entries to turn"),
    ("llama", {"partial_rotary_factor": 1.5}, (),
     "expected an even number of a head's 6 entries to turn"),
    ("llama", {"num_key_value_heads": 3}, (), GROUPED),
    ("llama", {}, (".up_proj",), "layer 'layers.0': missing: expected also mlp.up_proj.weight"),
    ("llama", {}, (".gate_proj",), "layer 'layers.0': missing: expected also mlp.gate_proj.weight"),
    ("mistral", {"sliding_window": N - 1}, (),
     "tensor 'witness.tokens': length 12: expected at most 11, as sliding_window says"),
    ("qwen2", {"use_sliding_window": True}, (),
     "length 12: expected at most 4, as sliding_window says"),
    ("qwen2", {}, ("q_proj.bias", "k_proj.bias", "v_proj.bias"),
     "layer 'layers.0': missing: expected also self_attn.q_proj.bias, self_attn.k_proj.bias"),
    ("llama-biases", {}, ("self_attn.q_proj.bias", "self_attn.k_proj.bias", "v_proj.bias",
                          "o_proj.bias"),
     "key 'attention_bias': 'true': expected false, as there is no tensor of a bias"),
    ("llama", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32}}, (),
     "key 'rope_type': \"yarn\": expected one of default linear llama3: rotary positions of anoth"),
    ("llama", {"rope_scaling": {"type": "dynamic", "factor": 4.0}}, (),
     "key 'type': \"dynamic\": expected one of default linear llama3"),
    ("llama", {"rope_scaling": {"type": "linear"}}, (), "'linear': expected beside it factor"),
    ("llama", {"rope_theta": 1e-300}, (),
     "key 'rope_theta': 1e-300: expected one, and a factor that scales it, whose angles are fini"),
    ("llama", {"rope_scaling": {"type": "linear", "factor": 1e-40}}, (),
     "key 'rope_theta': 10000: expected one, and a factor that scales it, whose angles are finit"),
    ("llama", {"model_type": None}, (), "key 'model_type'...missing: expected it in a config.json"),
    ("llama", {"model_type": "qwen3"}, (), "this is Qwen3: norms of queries and keys are not"),
    ("llama", {"model_type": "gemma2"}, (), "this is Gemma 2 or 3: norms behind a sublayer, before "),
    ("llama", {"model_type": "olmo2"}, (), "this is OLMo 2: norms of queries and keys, and norms"),
    ("llama", {"model_type": "mixtral"}, (), "this is a mixture of experts: a router"),
    ("llama", {"alibi": True}, (), "key 'alibi': true: expected false: scores have a bias by dist"),
    ("llama", {"tie_word_embeddings": True}, (), "tensor 'lm_head.weight': differs from embed_tok"),
    ("llama", {}, ("lm_head",), "tensor 'lm_head.weight': missing: expected it beside 'witness.log"),
    ("gemma", {"use_bidirectional_attention": True}, (), "expected false: tokens see those that"),
    ("gemma", {"hidden_act": "gelu"}, (), "key 'hidden_activation': 'gelu_new': expected 'gelu'"),
    ("llama", {"layer_types": ["full_attention", "linear_attention"]}, (),
     "expected one of full_attention sliding_attention: some layers see a window"),
    ("llama", {"rope_interleaved": True}, (), "expected false: rotary positions of another kind"),
]


@pytest.mark.parametrize("called, change, lacks, words", REFUSED)
def test_a_model_is_refused(refused, tmp_path, called, change, lacks, words):
    write(tmp_path, called, change, lacks)
    refused(words, "verify", tmp_path, "--omega", "20", "--tokens", "/".join(["0"] * N))


COMMANDS = ["sweep --weights . --kernel structured --n 6 --omega 20 --quiet",
            "min-omega --weights . --kernel structured --n 6 --tolerance 1e-6 --quiet",
            "sweep --weights . --kernel structured --construction all --n 6 --omega 20 --quiet",
            "guarantee . --tolerance 1e-6",
            "convert . --omega 20 -o transformer", "convert . --layout shared -o transformer",
            "cost ."]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_take_it(expect, tmp_path, line):
    write(tmp_path, "llama")
    expect(0, line, "transformer")


@pytest.mark.parametrize("called, gelu, most", [("llama", 1, 1e-9), ("llama-biases", 1, 1e-9),
                                                ("qwen2", 1, 1e-9), ("gemma", 8, 1e-2)])
def test_attribute_knows_hidden_units(run, tmp_path, called, gelu, most):
    """What each of the last layer adds to the predicted logit, and how little is left to the heads
    that read the product out; the sum is checked by the program."""
    write(tmp_path, called)
    config, biases, theta, scaling = NAMED[called]
    t = {name: (brain if called == "gemma" else np.float32)(array).astype(float)
         for name, array in drawn(config, biases).items()}
    ids = np.random.default_rng(3).integers(0, CLASSES, size=N)
    ended = run("attribute", tmp_path, "--tokens", "/".join(map(str, ids)), "--omega", "30",
                "--gelu", gelu, "--by", "head", "-q", "-o", tmp_path / "terms.csv")
    assert ended.code == 0, ended.stderr
    seen, gain = {}, t["model.norm.weight"] + (called == "gemma")
    logit = answers(t, config, ids, theta, scaling, seen)[-1]
    head = t.get("lm_head.weight", t["model.embed_tokens.weight"])[logit.argmax()]
    reads = gain * head / np.sqrt((seen["x"][-1] ** 2).mean() + config["rms_norm_eps"])
    expected = seen["hidden"][-1] * (reads @ t[f"model.layers.{LAYERS - 1}.mlp.down_proj.weight"])
    found, rest = np.zeros(HIDDEN), 0
    for row in csv.DictReader((tmp_path / "terms.csv").open()):
        assert int(row["logit"]) == logit.argmax()
        own = row["kind"] == "internal" and int(row["layer"]) == LAYERS
        if own and row["sublayer"] == "2":
            found[int(row["head"]) % HIDDEN] += float(row["contribution"])
        elif own:
            rest += abs(float(row["contribution"]))
    assert abs(found - expected).max() < most and 0 < rest < 1e-9


def test_the_shipped_model_keeps_its_predictions(expect, tmp_path):
    """Its witness is of Hugging Face's own program; K, tau and all but Omega are the defaults."""
    _, shape, data = safetensors_file.read(SHIPPED / "model.safetensors")[0]["witness.tokens"]
    window = np.frombuffer(data, np.int64).reshape(shape)[0, :8]
    (tmp_path / "tokens").write_text(" ".join(map(str, window)) + "\n")
    said = expect(0, f"verify {SHIPPED} --tokens-file tokens --positions all --omega 20 "
                  "--arithmetic f64,f32 --tolerance 1e-3 -o t.csv",
                  "verdict: PASS", "same model as its witness")
    assert said.count("predictions: 0 of 8 changed") == 2
    with (tmp_path / "t.csv").open() as table:
        rows = list(csv.DictReader(table))
    for arithmetic, most in ("f64", 1e-9), ("f32", 1e-3):
        errors = [float(row["total_max"]) for row in rows if row["arithmetic"] == arithmetic]
        assert errors and 0 < max(errors) <= most


def test_trained_networks_have_more_heads(expect, tmp_path):
    """K is 2 where weights are trained, 1 where they are drawn; GELU has 8 heads in a gated one."""
    write(tmp_path, "llama")
    line = "sweep --kernel structured --n 6 --omega 20 -o t.csv"
    expect(0, f"{line} --weights .")
    expect(0, f"{line.replace('t.csv', 'u.csv')} --ffn gated --d 8 --depth 1")
    assert "readout=2" in (tmp_path / "t.csv").read_text()
    write(tmp_path, "gemma")
    expect(0, f"{line.replace('t.csv', 'g.csv')} --weights .")
    assert ";gelu=8;" in (tmp_path / "g.csv").read_text()
    assert "readout" not in (tmp_path / "u.csv").read_text().splitlines()[1]
