"""GPT-NeoX, GPT-J and Phi; Llama, Mistral, Qwen2 and Gemma: random models under the names and
configs that their programs write, with answers of a program of numpy's, which knows nothing of
headproof's, as a witness."""

import csv
import json
import pathlib
import re

import families
import models
import numpy as np
import pytest
import safetensors_file
import transformer

D, HEADS, HIDDEN, LAYERS, CLASSES, N = 32, 4, 20, 2, 11, 12
TOKENS = np.random.default_rng(1).integers(0, CLASSES, size=(2, N))
GELU, TANH = "gelu_new", "gelu_pytorch_tanh"
SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "cases/models/llama"

SIZES = {"num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "hidden_size": D,
         "intermediate_size": HIDDEN, "vocab_size": CLASSES, "max_position_embeddings": 64}
OLDER = {**SIZES, "hidden_act": GELU, "layer_norm_eps": 1e-5, "tie_word_embeddings": False}
NEOX = {**OLDER, "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"],
        "use_parallel_residual": True, "attention_bias": True}
GPTJ = {"model_type": "gptj", "n_embd": D, "n_head": HEADS, "n_layer": LAYERS, "n_inner": HIDDEN,
        "n_positions": 64, "vocab_size": CLASSES, "activation_function": GELU, "rotary": True,
        "layer_norm_epsilon": 1e-5, "scale_attn_weights": True, "rotary_dim": 4}
PHI = {**OLDER, "model_type": "phi", "architectures": ["PhiForCausalLM"], "qk_layernorm": False,
       "num_key_value_heads": HEADS, "partial_rotary_factor": 0.5, "rope_theta": 10000.0,
       "rope_scaling": None}
COMMON = {**SIZES, "hidden_act": "silu", "rms_norm_eps": 1e-5, "attention_dropout": 0.0,
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
GEMMA = {**COMMON, "model_type": "gemma", "architectures": ["GemmaForCausalLM"],
         "num_key_value_heads": 1, "head_dim": 10, "hidden_act": TANH, "hidden_activation": TANH,
         "rms_norm_eps": 1e-6, "use_bidirectional_attention": None, "tie_word_embeddings": True,
         "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}}
LINEAR = {"rope_type": "linear", "factor": 2.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
LONGER = {**LLAMA3, "original_max_position_embeddings": 32}


def without(config, *keys):
    return {key: value for key, value in config.items() if key not in keys}


def layernorms(width, theta=10000.0, scaling=None, **more):
    """What a model is, in metadata's words: of it `width` entries of a head turn."""
    return {"scale": "1/sqrt(d_head)", "mask": "causal", "normalization": "layernorm", "eps": 1e-5,
            "activation": GELU, "rotary-pairs": "half", "rotary-dim": width, "rope-theta": theta,
            "rope-scaling": scaling, "blocks": "parallel", **more}


def rmsnorms(theta=10000.0, scaling=None, width=8, **more):
    return layernorms(width, theta, scaling, **{
        "normalization": "rmsnorm", "activation": "silu", "blocks": "sequential", **more})


# How it is called: its family, config, which of its parts have biases, and what it is.
MODELS = {
    "neox": ("neox", {**NEOX, "rotary_pct": 0.25, "rotary_emb_base": 100}, "attn|mlp|ln",
             layernorms(2, 100.0)),
    "neox-new": ("neox", {**NEOX, "rope_parameters": {
        "rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 1.0}},
        "attn|mlp|ln", layernorms(8)),
    "neox-sequential": ("neox", {**NEOX, "use_parallel_residual": False, "rotary_pct": 0.5,
                                 "rotary_emb_base": 10000}, "attn|mlp|ln",
                        layernorms(4, blocks="sequential")),
    "gptj": ("gptj", GPTJ, "mlp|ln|unembed", layernorms(4, **{"rotary-pairs": "interleaved"})),
    "phi": ("phi", PHI, "", layernorms(4)),
    "phi-linear": ("phi", {**PHI, "rope_scaling": {"type": "linear", "factor": 2.0}}, "",
                   layernorms(4, scaling=LINEAR)),
    "phi-llama3": ("phi", {**PHI, "rope_scaling": LLAMA3, "partial_rotary_factor": 1.0}, "",
                   layernorms(8, scaling=LLAMA3)),
    "llama": ("llama", LLAMA, None, rmsnorms()),
    "llama-old": ("llama", {
        **without(LLAMA, "rope_theta", "num_key_value_heads", "attention_bias"),
        "architectures": ["LLaMAForCausalLM"], "max_sequence_length": 64}, None, rmsnorms()),
    "llama-linear": ("llama", {**LLAMA, "rope_scaling": {"type": "linear", "factor": 2.0}}, None,
                     rmsnorms(scaling=LINEAR)),
    "llama-3": ("llama", {**without(LLAMA, "rope_theta", "rope_scaling"),
                          "tie_word_embeddings": True,
                          "rope_parameters": {**LONGER, "rope_theta": 100.0}}, None,
                rmsnorms(100.0, LONGER)),
    "llama-biases": ("llama", {**LLAMA, "attention_bias": True, "mlp_bias": True}, "attn|mlp",
                     rmsnorms()),
    "mistral": ("llama", MISTRAL, None, rmsnorms(1e6, width=10)),
    "qwen2": ("llama", QWEN2, "attn.b_[QKV]", rmsnorms(1e6)),
    "gemma": ("llama", GEMMA, None, rmsnorms(width=10, eps=1e-6, activation=GELU)),
}


def brain(x):
    """The nearest bfloat16."""
    bits = np.atleast_1d(x).astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(np.float32).astype(float)


def model(called):
    """Tensors under TransformerLens' names, each a float, Gemma's as 16 bits of it."""
    family, config, biases, _ = MODELS[called]
    keys, width = config.get("num_key_value_heads", HEADS), config.get("head_dim", D // HEADS)
    shapes = families.shapes(D, HIDDEN, HEADS, width, LAYERS, CLASSES, keys=keys,
                             gated=family == "llama")
    t = families.drawn({name: shape for name, shape in shapes.items() if
                        name.rpartition(".")[2][0] != "b" or
                        biases is not None and re.search(biases, name)})
    if called == "gemma":  # its gains are about 0
        t = {name: (lambda a: 1 + brain(a - 1) if name.endswith(".w") else brain(a))(array)
             for name, array in t.items()}
    else:
        t = {name: np.float64(np.float32(array)) for name, array in t.items()}
    for name in [name for name in t if "ln2." in name and family in ("gptj", "phi")]:
        t[name] = t[name.replace("ln2", "ln1")]
    if config.get("tie_word_embeddings"):
        t["unembed.W_U"] = t["embed.W_E"].T
    return t


def evaluated(called):
    """The model as transformer.py takes it: Gemma's embeddings are multiplied by a root."""
    t = model(called)
    return {**t, "embed.W_E": t["embed.W_E"] * brain(np.sqrt(D))} if called == "gemma" else t


# What checkpoints have beside weights: the mask, and a score that counts for nothing.
MASK = {"bias": np.tril(np.ones((1, 1, 64, 64))), "masked_bias": np.float32(-1e9)}
BUFFERS = {"neox": ("gpt_neox.layers.{}.attention.", {**MASK, "rotary_emb.inv_freq": np.ones(2)}),
           "gptj": ("transformer.h.{}.attn.", {**MASK, "embed_positions": np.ones((64, 4))}),
           "phi": ("model.layers.{}.self_attn.", {"rotary_emb.inv_freq": np.ones(2)}),
           "llama-old": ("model.layers.{}.self_attn.", {"rotary_emb.inv_freq": np.ones(3)})}


def write(folder, called, change=(), lacks=(), answered=np.float32):
    """A model and its answers, as what answered makes of them, and a config that is changed; tensors
    whose names have a text of `lacks` are lost."""
    family, config, _, said = MODELS[called]
    t = model(called)
    if config.get("tie_word_embeddings"):
        t.pop("unembed.W_U")
    if called == "gemma":
        t = {name: array - name.endswith(".w") for name, array in t.items()}
    kept = {name: np.ascontiguousarray(array, np.float32) for name, array in
            families.named(t, family).items()}
    if called == "gemma":
        kept = {name: (a.view(np.uint32) >> 16).astype(np.uint16) for name, a in kept.items()}
    at, buffers = BUFFERS.get(called.partition("-")[0] if family != "llama" else called, ("", {}))
    kept.update({at.format(layer) + name: np.float32(buffer)
                 for layer in range(LAYERS) for name, buffer in buffers.items()})
    kept["witness.tokens"] = TOKENS
    kept["witness.logits"] = answered(transformer.logits(evaluated(called), said, TOKENS))
    kept = {name: array for name, array in kept.items() if not any(text in name for text in lacks)}
    if called == "llama-3":  # two files, and their index
        models.write_parts(folder, kept)
    else:
        safetensors_file.write(folder / "model.safetensors", kept, {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({**config, **dict(change)}))


def verify(run, folder, called, *more):
    gelu = () if MODELS[called][0] == "llama" else ("--gelu", "8")
    return run("verify", folder, "--omega", "20", "--tokens", "/".join(["0"] * N), *gelu, *more)


@pytest.mark.parametrize("called", MODELS)
def test_answers_are_the_model_s(run, tmp_path, called):
    write(tmp_path, called)
    ended = verify(run, tmp_path, called)
    untold = "not tell eps" if called == "gemma" else "same model as its witness"
    assert ended.code == 0, ended
    assert "same model as its witness" in ended.stdout or untold in ended.stdout, ended


OTHERS = [
    *(("neox-sequential", change) for change in (
        {"rotary_pct": 1.0}, {"rotary_emb_base": 9000}, {"use_parallel_residual": True},
        {"hidden_act": "gelu"})),
    ("llama", {"rope_theta": 9000.0}), ("llama", {"hidden_act": "relu"}),
    ("llama-linear", {"rope_scaling": {"type": "linear", "factor": 2.1}}),
    *(("llama-3", {"rope_parameters": {**LONGER, "rope_theta": 100.0, **scaled}}) for scaled in (
        {"factor": 7.0}, {"low_freq_factor": 2.0}, {"high_freq_factor": 3.0})),
    ("gemma", {"hidden_act": "gelu", "hidden_activation": None}),
    ("mistral", {"model_type": "llama", "architectures": None, "rope_theta": 10000.0})]


@pytest.mark.parametrize("called, change", OTHERS)
def test_another_model_is_told_from_it(run, tmp_path, called, change):
    write(tmp_path, called, change)
    ended = verify(run, tmp_path, called)
    assert ended.code == 2 and "this is another model" in ended.stderr, ended


NARROWER = " (as float32, not as the float64 it is)"


@pytest.mark.parametrize("answered, says", [
    (lambda logits: np.float64(np.float32(logits)), NARROWER),
    (lambda logits: logits + 1e-3, "this is another model")])
def test_float64_may_have_parts_in_float32(run, tmp_path, answered, says):
    write(tmp_path, "neox-sequential", answered=answered)
    ended = verify(run, tmp_path, "neox-sequential")
    words = " ".join((ended.stdout + ended.stderr).split())
    assert says in words and (NARROWER in words) == (says == NARROWER), ended


TURNED = "expected an even number of a head's 8 entries to turn"
# Of which model, how its config is changed and what is lost of its tensors; the words.
REFUSED = [
    ("neox", {"rope_theta": 7.0}, (),
     "key 'rotary_emb_base': '100': expected '7', as key 'rope_theta'"),
    ("neox", {"rotary_pct": 0.4}, (), TURNED),
    ("neox", {"rotary_pct": 2.0}, (), TURNED),
    ("neox", {"rotary_pct": None}, (),
     "key 'rotary_pct'...missing: expected how much of a head turns"),
    ("neox", {"rotary_emb_base": None}, (),
     "key 'rope_theta'...missing: expected it with rotary positions"),
    ("neox", {"rope_scaling": {"type": "yarn", "factor": 2.0}}, (),
     '"yarn": expected one of default linear llama3: rotary positions of another kind'),
    ("neox", {"rope_scaling": {"type": "linear"}}, (), "'linear': expected beside it factor"),
    ("neox", {"rope_scaling": {**LLAMA3, "high_freq_factor": 1.0}}, (), "above low_freq_factor"),
    ("neox", {"rope_scaling": {"factor": 2.0}}, (),
     "key 'factor': '2': expected a rope_type (or type) beside it"),
    ("llama", {"rope_scaling": {"low_freq_factor": 2.0}}, (),
     "key 'low_freq_factor': '2': expected a rope_type (or type) beside it"),
    ("gptj", {"rope_scaling": {"type": "linear", "factor": 2.0}}, (),
     "key 'type': 'linear': expected 'default', as family 'GPT-J' of"),
    ("gemma", {"hidden_act": "gelu", "hidden_activation": None}, ("witness.",),
     "key 'hidden_act': 'gelu': expected gelu_pytorch_tanh, which some of its programs take it"),
    ("neox", {"rope_scaling": "linear"}, (),
     "key 'rope_scaling': \"linear\": expected an object of keys"),
    ("neox", {"rotary": False}, (),
     "key 'rotary': 'no': expected yes, as the names of its tensors say"),
    ("neox", {"model_type": "gptj"}, (), "key 'model_type': \"gptj\": expected one of gpt_neox"),
    ("neox", {"sliding_window": 4}, (), "key 'sliding_window': 4: expected none"),
    ("neox", {"num_attention_heads": 3}, (), "key 'num_attention_heads': 3: expected a divisor"),
    ("llama", {"rope_parameters": {"rope_theta": 7.0}}, (),
     "key 'rope_theta': '7': expected '10000', as key 'rope_theta'"),
    ("llama", {"rope_scaling": LINEAR, "rope_parameters": {"rope_type": "default"}}, (),
     "key 'rope_type': 'default': expected 'linear', as key 'rope_type'"),
    ("llama", {"num_attention_heads": 32, "num_key_value_heads": 16}, (),
     "heads of 1: expected an even number of a head's 1 entries to turn"),
    ("llama", {"partial_rotary_factor": 1.5}, (), TURNED),
    ("llama", {"num_key_value_heads": 3}, (),
     "key 'num_key_value_heads': 3: expected a divisor of 4, the heads of queries"),
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
    t, said = evaluated(called), MODELS[called][3]
    ids = np.random.default_rng(3).integers(0, CLASSES, size=N)
    ended = run("attribute", tmp_path, "--tokens", "/".join(map(str, ids)), "--omega", "30",
                "--gelu", gelu, "--by", "head", "-q", "-o", tmp_path / "terms.csv")
    assert ended.code == 0, ended.stderr
    x, last = transformer.embedded(t, ids), f"blocks.{LAYERS - 1}."
    before = transformer.stream({name: array for name, array in t.items()
                                 if not name.startswith(last + "mlp")}, said, x)
    end, layer = transformer.stream(t, said, x)[-1], transformer.layers(t)[-1]
    logits = transformer.unembedded(t, said, end)
    root = np.sqrt((end ** 2).mean() + said["eps"])
    reads = t["ln_final.w"] * t["unembed.W_U"][:, logits.argmax()] / root
    hidden = transformer.hidden(transformer.norm(before, said, layer["ln2"]), layer["mlp"], said)
    expected = hidden[-1] * (layer["mlp"]["W_out"] @ reads)
    found, rest = np.zeros(HIDDEN), 0
    for row in csv.DictReader((tmp_path / "terms.csv").open()):
        assert int(row["logit"]) == logits.argmax()
        own = row["kind"] == "internal" and int(row["layer"]) == LAYERS
        if own and row["sublayer"] == "2":
            found[int(row["head"]) % HIDDEN] += float(row["contribution"])
        elif own:
            rest += abs(float(row["contribution"]))
    assert abs(found - expected).max() < most and 0 < rest < 1e-9


@pytest.mark.parametrize("called", ["neox", "gptj", "neox-sequential"])
def test_attribute_takes_turns_and_parallel_blocks(run, tmp_path, called):
    """The terms are the logit's, which is the model's but for its GELUs' heads."""
    write(tmp_path, called)
    ended = run("attribute", tmp_path, "--tokens", "/".join(map(str, TOKENS[0])), "--omega", "20",
                "--gelu", "8", "-q", "-o", tmp_path / "terms.csv")
    assert ended.code == 0, ended.stderr
    rows = list(csv.DictReader((tmp_path / "terms.csv").open()))
    contributions = [float(row["contribution"]) for row in rows]
    logits = transformer.logits(model(called), MODELS[called][3], TOKENS[0])
    assert abs(contributions[-1] - logits[-1].max()) < 1e-3
    assert abs(sum(contributions[:-1]) - contributions[-1]) < 1e-12
    assert {"external", "internal"} <= {row["kind"] for row in rows}


def test_the_shipped_model_keeps_its_predictions(expect, tmp_path):
    """Its witness is of Hugging Face's own program; K, tau and all but Omega are the defaults."""
    tensors, _ = transformer.load(SHIPPED / "model.safetensors")
    (tmp_path / "tokens").write_text(" ".join(f"{i:.0f}" for i in tensors["witness.tokens"][0, :8]))
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


@pytest.mark.parametrize("called", ["neox", "neox-sequential"])
def test_all_constructions_are_those_that_fit(expect, tmp_path, called):
    """Blocks beside each other are no three sublayers."""
    write(tmp_path, called)
    expect(0, "sweep --weights . --construction all --kernel structured --n 3 --omega 20 -q -o t.csv")
    with (tmp_path / "t.csv").open() as table:
        found = {row["construction"] for row in csv.DictReader(table)}
    assert found == {"transformer"} | ({"transformer3"} if called == "neox-sequential" else set())
