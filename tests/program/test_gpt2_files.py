"""Configs, indices and files of GPT-2 that are wrong, each in its own way: one message that names
the file, the key or tensor, and what was expected; and models of other architectures."""

import json
import os
import re

import models
import numpy
import pytest

INDEX = "model.safetensors.index.json"
ONE, TWO, THREE = (f"model-0000{i}-of-0000{max(2, i)}.safetensors" for i in (1, 2, 3))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a right model, in which a test writes its configs."""
    folder = tmp_path_factory.mktemp("whole")
    models.write(folder / "model.safetensors", models.gpt2("transformer.", buffers=True))
    return folder


@pytest.fixture(scope="module")
def set_up(tmp_path_factory):
    """A folder with a right config, in which a test writes its model."""
    folder = tmp_path_factory.mktemp("set_up")
    models.write_config(folder, "tie_word_embeddings", "false")
    return folder


@pytest.fixture
def read(run):
    """What verify says of a model that is right."""
    def expect(path, *flags):
        ended = run("verify", path, "--dry-run", *flags)
        assert ended.code == 0, ended
        return ended.stdout
    return expect


# ---- config.json ---------------------------------------------------------------------------------

CONFIGS = [
    ("n_head", "0", "key 'n_head': 0: expected an integer from 1 on"),
    ("n_head", "-2", "key 'n_head': -2: expected an integer from 1 on"),
    ("n_head", "2.0", "key 'n_head': 2.0: expected an integer from 1 on"),
    ("n_head", '"2"', "key 'n_head': \"2\": expected an integer from 1 on"),
    ("n_head", "3", "key 'n_head': 3: expected a divisor of the stream's width"),
    ("n_head", "9223372036854775807", "expected a divisor of the stream's width"),
    ("n_head", "99999999999999999999", "too big integer"),
    ("n_embd", "[4]", "key 'n_embd': [4]: expected an integer from 1 on"),
    ("n_layer", "true", "key 'n_layer': true: expected an integer from 1 on"),
    ("vocab_size", "{}", "key 'vocab_size': {}: expected an integer from 1 on"),
    ("layer_norm_epsilon", "0", "key 'layer_norm_epsilon': 0: expected a number above 0"),
    ("layer_norm_epsilon", "-1e-05", "expected a number above 0"),
    ("layer_norm_epsilon", '"1e-05"', '"1e-05": expected a number above 0'),
    ("layer_norm_epsilon", "NaN", "line 1, byte"),
    ("layer_norm_epsilon", "1e999", "real number overflow"),
    ("layer_norm_epsilon", "1e-310", "e-311': expected a number that does not underflow"),
    ("activation_function", '"tanh"',
     "key 'activation_function': 'tanh': expected one of silu, relu, gelu, gelu_new"),
    ("activation_function", '"gelu_fast"', "'gelu_fast': expected one of silu"),
    ("activation_function", '["gelu"]', '["gelu"]: expected a string'),
    ("scale_attn_weights", "1", "key 'scale_attn_weights': 1: expected false or true"),
    ("scale_attn_by_inverse_layer_idx", "1", "1: expected false or true"),
    ("tie_word_embeddings", '"yes"', '"yes": expected false or true'),
    ("add_cross_attention", "true", "attention to another stream"),
    ("bias", "false", "key 'bias': 'false': expected true, as there are tensors of biases"),
    ("architectures", '["GPT2LMHeadModel", "Other"]', "expected one of GPT2LMHeadModel "),
    ("model_type", '"llama"', "key 'model_type': \"llama\": expected one of gpt2 "),
    ("position_embedding_type", '"relative_key"', "'relative_key': expected 'learned', as family"),
    ("rope_theta", "10000.0", "key 'rope_theta': '10000': expected none: the names of its"),
    ("num_key_value_heads", "1", "key 'num_key_value_heads': 1: expected 2, the heads of qu"),
    ("multi_query", "true", "expected false: several queries share a key and a value"),
    ("num_experts", "8", "expected none: a router chooses among experts"),
    ("pruned_heads", '{"0": [1]}', '{"0":[1]}: expected {}: layers must have the same heads'),
    ("quantization_config", '{"bits": 4}', "expected none: weights must be numbers"),
    ("rotary", "true", "key 'rotary': 'yes': expected no, as the names of its tensors say"),
    ("sliding_window", "2", "key 'sliding_window': 2: expected none: no program of Hugging"),
    ("attention_types", '[[["local"], 2]]', "expected none: some layers see a window"),
    ("use_alibi", "true", "key 'use_alibi': true: expected false: scores have a bias"),
    ("n_experts", "2", "key 'n_experts': 2: expected none: a router"),
    ("use_parallel_residual", "true",
     "key 'use_parallel_residual': 'parallel': expected 'sequential'"),
    ("parallel_attn_mlp", "true", "'parallel': expected 'sequential', as family"),
    ("normalization", '"rms"', "key 'normalization': 'rms': expected 'layernorm', as family"),
    ("num_attention_heads", "1", "key 'num_attention_heads': 1: expected 2, as 'n_head' says"),
    ("hidden_size", "6", "key 'hidden_size': 6: expected 4, as 'n_embd' says"),
    ("num_hidden_layers", "3", "key 'num_hidden_layers': 3: expected 2, as '"),
    ("attention_dir", '"bidirectional"', "key 'attention_dir': 'none': expected 'causal'"),
]


@pytest.mark.parametrize("key, value, words", CONFIGS)
def test_config(refused, whole, key, value, words):
    models.write_config(whole, key, value)
    refused(words, "verify", whole / "model.safetensors", begin=whole / "config.json: ")


TEXTS = [
    ("", "unexpected token near end of file"),
    ("[]", "expected a JSON object, which begins with '{'"),
    ("3", "expected a JSON object"),
    ('{"n_head": 2', "'}' expected near end of file"),
    ('{"n_head": 2} x', "end of file expected near 'x'"),
    ('{"n_head": 2, "n_head": 4}', "duplicate object key near '\"n_head\"'"),
    ("{'n_head': 2}", "line 1, byte"),
    ("\ufeff{}", "line 1, byte"),
    ('{"n_head": "\udcff"}', "line 1, byte"),  # the byte ff
    ('{"a":' + "[" * 5000, "maximum parsing depth reached"),
    (" " * (2**20 + 1), "1048577 bytes of JSON: expected at most 1048576"),
]


@pytest.mark.parametrize("text, words", TEXTS)
def test_text_of_config(refused, whole, text, words):
    (whole / "config.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(words, "verify", whole / "model.safetensors", begin=whole / "config.json: ")


# What stands in the file's place, and what is said of it.
PLACES = [
    (os.mkfifo, "not a pipe or a device"),
    (lambda path: path.symlink_to("/dev/zero"), "not a pipe or a device"),
    (lambda path: path.symlink_to("config.json"), "expected a file that can be read"),
    (os.mkdir, "not a directory"),
]


@pytest.mark.parametrize("make, words", PLACES)
def test_place_of_config(refused, tmp_path, make, words):
    models.write(tmp_path / "model.safetensors", models.gpt2())
    make(tmp_path / "config.json")
    refused(words, "verify", tmp_path / "model.safetensors", begin=tmp_path / "config.json: ")


# Keys that are in no table, all of them in one message; flags for them, and what is said.
UNKNOWN = [
    ("ropes", "config.json: unknown key: 'tickle': expected"),
    ("ropes,tickle,no", "--ignore-config': 'no': expected a key of its metadata or"),
    (None, "config.json: unknown keys: 'ropes', 'tickle': expected"),
]
TICKLED = '{"n_head": 2, "ropes": 1, "tickle": {}, "none": null}'


@pytest.mark.parametrize("flag, words", UNKNOWN)
def test_unknown_keys(refused, whole, flag, words):
    (whole / "config.json").write_text(TICKLED)
    flags = ("--ignore-config", flag) if flag else ()
    refused(words, "verify", whole / "model.safetensors", *flags)


def test_unknown_keys_ignored(run, whole):
    (whole / "config.json").write_text(TICKLED)
    said = run("cost", whole / "model.safetensors", "--ignore-config", "ropes,tickle",
               "--activation", "gelu")
    assert said.code == 0 and "'ropes', 'tickle'" in said.stderr, said


# Sizes that the tensors do not have.
SIZES = [
    ("n_layer", "3", "2 layers: expected 3, as '"),
    ("n_layer", "1", "2 layers: expected 1, as '"),
    ("n_embd", "6", "expected [vocabulary, d] with d = 6 as in 'n_embd'"),
    ("n_positions", "4", "'transformer.wpe.weight': shape [3, 4]: expected [context, d] with "
     "context = 4 as in 'n_positions'"),
    ("n_inner", "16", "expected [d, hidden] with hidden = 16 as in 'n_inner'"),
    ("vocab_size", "6", "'transformer.wte.weight': shape [5, 4]: expected [vocabulary, d] with"),
    ("tie_word_embeddings", "false",
     "tensor 'lm_head.weight': missing: expected it, as tie_word_embeddings of '"),
]


@pytest.mark.parametrize("key, value, words", SIZES)
def test_sizes(refused, whole, key, value, words):
    models.write_config(whole, key, value)
    path = whole / "model.safetensors"
    refused(words, "verify", path, begin=f"{path}: ")


def test_another_split_is_another_model(read, whole):
    models.write_config(whole, "n_head", "4")
    assert "--d-head 1 " in read(whole / "model.safetensors")


# ---- Tensors -------------------------------------------------------------------------------------

ONES = "tensor 'h.1.attn.bias': expected ones on and below the diagonal"
# One of gpt2()'s tensors, in its place zeros of a shape, values, or nothing; and what is said.
TENSORS = [
    ("h.1.attn.bias", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], ONES),
    ("h.1.attn.bias", [[1, 0, 0], [1, 1, 0], [0, 1, 1]], ONES),
    ("h.1.attn.bias", [[1, 0, 0], [1, 1, 0], [1, 1, .5]], ONES),
    ("h.1.attn.bias", [[0, 0, 0], [1, 1, 0], [1, 1, 1]], ONES),
    ("h.1.attn.bias", [[0, 1, 0], [1, 1, 0], [1, 1, 1]], ONES),
    ("h.1.attn.bias", [[1, 1, 1], [1, 1, 1], [1, 1, 1]], "'none': expected 'causal', as family"),
    ("h.0.attn.bias", (7,), "tensor 'h.0.attn.bias': ...expected a square mask"),
    ("h.0.attn.masked_bias", -1,
     "'h.0.attn.masked_bias': ...expected one number of at most -10000"),
    ("h.0.attn.c_attn.weight", (12, 4),
     "[12, 4]: expected [d, 3 heads d_head] with d = 4...(it lies transposed)"),
    ("h.1.mlp.c_fc.weight", (6, 4), "expected [d, hidden] with d = 4 as in 'n_embd' (it lies"),
    ("h.1.mlp.c_proj.weight", (4, 6), "expected [hidden, d] with hidden = 6 as in 'n_inner' (it"),
    ("h.0.attn.c_attn.weight", (4, 13),
     "shape [4, 13]: expected [d, 3 heads d_head] with heads = 2 as in 'n_head' and d_head = 2"),
    ("h.0.attn.c_attn.weight", (4, 11), "expected [d, 3 heads d_head] with heads = 2"),
    ("h.0.attn.c_proj.weight", (3, 4), "expected [heads d_head, d] with heads = 2"),
    ("lm_head.weight", (4, 5),
     "[4, 5]: expected [classes, d] with classes = 5 as in...(it lies transposed)"),
    ("wpe.weight", (4, 4), "expected [context, d] with context = 3"),
    ("h.1.attn.c_attn.weight", None, "layer 'h.1': missing: expected also attn.c_attn.weight"),
    ("h.0.attn.c_attn.bias", None,
     "layer 'h.0': missing: expected also attn.c_attn.bias (zeros, if the model has none)"),
    ("ln_f.bias", None, "as Hugging Face's GPT-2 has it (zeros, if it has none)"),
    ("h.1.ln_2.weight", None, "layer 'h.1': missing: expected also ln_2.weight"),
    ("h.0.ln_1.bias", None, "layer 'h.0': missing: expected also ln_1.bias"),
    ("wpe.weight", None, "'wpe.weight': missing: expected it, as Hugging Face's GPT-2 has it"),
    ("ln_f.weight", None, "tensor 'ln_f.weight': missing"),
    ("wte.weight", None, "tensor 'wte.weight': missing"),
    ("transformer.h.0.ln_1.weight", (4,), "is there twice, with another prefix too (module., "),
    ("h.0.crossattention.c_attn.weight", (4,), "this is GPT-2 with attention to another stream: "),
    ("h.0.attn.rotary_emb.inv_freq", (4,), "expected no rotary position"),
    ("h.0.mlp.gate_proj.weight", (4,), "expected no gate"),
    ("h.0.ln_3.weight", (4,), "expected no layer norm"),
    ("blocks.0.attn.W_Q", (4,), "unknown tensors: 'blocks.0.attn.W_Q'"),
    ("h.1.attn.masked", (4,), "unknown tensors: 'h.1.attn.masked'"),
    ("h.2.attn.bias", (4,), "layer 'h.2': missing: expected layers"),
]


@pytest.mark.parametrize("name, change, words", TENSORS)
def test_tensor(refused, set_up, name, change, words):
    path = set_up / "model.safetensors"
    models.write(path, models.changed(models.gpt2(head=True, buffers=True), name, change))
    refused(words, "verify", path, begin=f"{path}: ")


def test_whole(read, set_up):
    """What the rows of TENSORS change."""
    models.write(set_up / "model.safetensors", models.gpt2(head=True, buffers=True))
    read(set_up)


# An unembedding of its own where the config says that there is none, or does not say.
TIED = [
    ("true", "'lm_head.weight': differs from wte.weight...as tie_word_embeddings of '"),
    (None, "'lm_head.weight': differs from wte.weight, and...which of them is the unembedding"),
]


@pytest.mark.parametrize("value, words", TIED)
def test_tied(refused, read, tmp_path, value, words):
    path, tensors = tmp_path / "model.safetensors", models.gpt2(head=True)
    models.write_config(tmp_path, "tie_word_embeddings", value)
    models.write(path, tensors)
    refused(words, "verify", path, begin=f"{path}: tensor ")
    models.write(path, tensors | {"lm_head.weight": tensors["wte.weight"]})
    read(path)


# Metadata that the config and the family contradict.
METADATA = [
    ("activation", "gelu", "expected 'gelu_new', as key 'activation_function' of '"),
    ("mask", "none", "expected 'causal', as family 'Hugging Face"),
    ("normalization", "none", "expected 'layernorm', as"),
    ("scale", "1", "expected '1/sqrt(d_head)', as key 'scale_attn"),
]


@pytest.mark.parametrize("key, value, words", METADATA)
def test_metadata(refused, set_up, key, value, words):
    path = set_up / "model.safetensors"
    models.write(path, models.gpt2(), {key: value})
    refused(f"metadata '{key}': '{value}': {words}", "verify", path, begin=f"{path}: ")


LLAMA = {"model.embed_tokens.weight": (3, 2), "model.layers.0.input_layernorm.weight": (2,),
         "model.layers.0.self_attn.q_proj.weight": (2, 2),
         "model.layers.0.self_attn.k_proj.weight": (1, 2),
         "model.layers.0.mlp.gate_proj.weight": (3, 2)}
MOE = "model.layers.0.block_sparse_moe.gate.weight"
PLAIN = {f"model.layers.0.self_attn.{x}_proj.weight": (2, 2) for x in "qk"}
NEOX = "gpt_neox.layers.0.attention.query_key_value.weight"
# Shapes, a config, and what is said of which file.
FOREIGN = [
    ({**LLAMA, MOE: (3, 2)}, None, f"model.safetensors: tensor '{MOE}'...this is a mixture of "
     "experts: a router that chooses among networks is not supported"),
    (LLAMA, None, "model.safetensors: key 'model_type'...missing: expected it in a config.json, as "
     "Llama, Mistral, Qwen2 and Gemma have the same names"),
    (LLAMA, '{"model_type": "qwen3"}',
     "config.json: key 'model_type'...this is Qwen3: norms of queries and keys are not supported"),
    (LLAMA, '{"model_type": "granite"}',
     "config.json: key 'model_type'...expected one of llama: what another kind of model computes"),
    (PLAIN, '{"model_type": "phi-msft", "rope_theta": 10000.0}',
     "config.json: key 'model_type'...this is Phi, as its first program wrote it"),
    (PLAIN, '{"use_cache": true}', "model.safetensors: ...how many heads there are is not said"),
    ({NEOX: (6, 2)}, None, "model.safetensors: "),
    ({"score.weight": (2, 2)}, None,
     "model.safetensors: tensor 'score.weight'...this is a classifier: "),
]


@pytest.mark.parametrize("shapes, config, words", FOREIGN)
def test_foreign(refused, tmp_path, shapes, config, words):
    models.write(tmp_path / "model.safetensors", models.filled(shapes))
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    refused(f"{tmp_path}/{words}", "verify", tmp_path / "model.safetensors")


def wrong_ranks():
    """Every tensor of two families with an axis too many, behind or in front, or too few."""
    for model, layer in ((models.lens(), "blocks.1."), (models.gpt2(head=True), "h.0.")):
        for name, array in model.items():
            shape = array.shape
            flat = (*shape[:-2], shape[-2] * shape[-1]) if len(shape) > 1 else ()
            # Heads may stand side by side, as in a vector of biases they do then.
            side = "attn.b_" in name and len(shape) == 2
            for other in ((*shape, 1), (1, *shape), flat):
                if not name.startswith(layer) and not (other == flat and (side or not flat)):
                    yield model, name, other


@pytest.mark.parametrize("model, name, shape", wrong_ranks())
def test_rank(refused, tmp_path, model, name, shape):
    path = tmp_path / "model.safetensors"
    models.write(path, models.changed(model, name, shape))
    said = refused(f"tensor '{name}': shape {list(shape)}: expected [", "verify", path, "--heads",
                   "2", begin=f"{path}: ")
    assert "transposed" not in said


# ---- Several files -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A right model in two files, with its config."""
    models.write_config(tmp_path, "tie_word_embeddings", "false")
    models.write_parts(tmp_path, models.gpt2(head=True))
    return tmp_path


def of(**places):
    return json.dumps({"weight_map": places})


BESIDE = "expected a file beside the index, not a path"
INDICES = [
    ("", "unexpected token near end of file"),
    ("[]", "expected a JSON object"),
    ("{}", "key 'weight_map': expected an object: the name of a file for every tensor"),
    ('{"weight_map": {}}', "key 'weight_map': expected an object"),
    ('{"weight_map": ["%s"]}' % ONE, "key 'weight_map': expected an object"),
    ('{"metadata": 3, "weight_map": {"a": "%s"}}' % ONE, "key 'metadata': expected an object"),
    ('{"metadata": {"eps": 1e-5}, "weight_map": {}}', "key 'weight_map'"),
    (of(wte=1), "tensor 'wte': expected the name of a file, a string"),
    (of(wte=None), "tensor 'wte': expected the name of a file"),
    (of(wte=""), "'': expected a name that ends in .safetensors"),
    (of(wte=".safetensors"), BESIDE),
    (of(wte="weights.bin"), "'weights.bin': expected a name that ends in"),
    (of(wte="../" + ONE), BESIDE),
    (of(wte="/etc/passwd"), "'/etc/passwd': expected a file beside the index"),
    (of(wte="./" + ONE), BESIDE),
    (of(wte="sub/" + ONE), BESIDE),
    ('{"weight_map": {"a": "%s", "a": "%s"}}' % (ONE, TWO), "duplicate object key near '\"a\"'"),
    (of(a="x\0.safetensors"), "\\u0000 is not allowed"),
]


@pytest.mark.parametrize("text, words", INDICES)
def test_index(refused, folder, text, words):
    (folder / INDEX).write_text(text)
    refused(words, "verify", folder / INDEX, begin=f"{folder / INDEX}: ")


# wte.weight is in the first, wpe.weight in the second.
AGAINST = [
    ({"wte.weight": TWO}, ONE, f"tensor 'wte.weight'...expected it in '{TWO}' alone, as the index"),
    ({"wpe.weight": ONE}, TWO, f"tensor 'wpe.weight'...expected it in '{ONE}' alone"),
    ({"wpe.weight": None, "wpe.other": TWO}, TWO,
     "tensor 'wpe.weight'...expected those alone that the index"),
    ({"extra": ONE}, ONE, "tensor 'extra'...missing: expected it, as the index"),
    ({"__metadata__": ONE}, ONE, "tensor '__metadata__'...missing: expected it, as the index"),
    ({"extra": THREE}, THREE, "(No such file or directory)"),
]


@pytest.mark.parametrize("places, file, words", AGAINST)
def test_index_against_files(refused, folder, places, file, words):
    models.write_parts(folder, models.gpt2(head=True), index=places)
    refused(words, "verify", folder, begin=f"{folder / file}: ")


def write_from(first, step=2):
    """Writes the file of every other tensor from there on."""
    return lambda path: models.write(path, dict(list(models.gpt2(head=True).items())[first::step]))


def cut(size):
    return lambda path: os.truncate(path, size)


def put(make):
    """Something else in a file's place."""
    return lambda path: (path.unlink(), make(path))


LINK = "expected a file in its folder, not a link"
# What becomes of one file, and what is said of which.
FILES = [
    (TWO, os.unlink, TWO, "(No such file or directory)"),
    (THREE, write_from(1), INDEX,
     f"file '{THREE}': is beside the index, which does not list it"),
    (TWO, write_from(0, 1), TWO, f"tensor 'wte.weight': ...expected it in '{ONE}' alone"),
    (TWO, write_from(3), TWO, "tensor 'wpe.weight': ...missing: expected it, as the"),
    (ONE, cut(500), ONE, "header of"),
    (ONE, cut(1800), ONE, "expected a range within the data"),
    (ONE, cut(0), ONE, "it is empty"),
    (ONE, put(os.mkdir), ONE, "not a directory"),
    *((ONE, put(lambda path, to=to: path.symlink_to(to)), ONE, LINK) for to in (
        "/dev/zero", "../x.safetensors", "sub/x.safetensors", "../../blobs/../x.safetensors",
        "hop.safetensors")),
]


@pytest.mark.parametrize("file, damage, blamed, words", FILES)
def test_file_of_several(refused, folder, file, damage, blamed, words):
    (folder / "hop.safetensors").symlink_to(TWO)  # a link to it leads on twice
    damage(folder / file)
    refused(words, "verify", folder / INDEX, begin=f"{folder / blamed}: ")


def test_links_and_folders(refused, read, folder, tmp_path_factory):
    """A link within the folder leads on; of two models in a folder none is chosen."""
    (folder / ONE).rename(folder / "kept.safetensors")
    (folder / ONE).symlink_to("kept.safetensors")
    read(folder / ONE)
    empty = tmp_path_factory.mktemp("empty")
    refused("expected model.safetensors or model.safetensors.index.json", "verify", empty)
    models.write(folder / "model.safetensors", models.gpt2(head=True))
    refused("has model.safetensors and model.safetensors.index.json", "verify", folder)
    (folder / INDEX).unlink()
    refused(f"{TWO}: is one of several files: expected '{INDEX}' beside", "verify", folder / TWO)
    read(folder)


def test_metadata_of_several(refused, folder):
    models.write_parts(folder, models.lens(), ({"mask": "causal"}, {"mask": "none"}))
    refused("metadata 'mask': 'none': expected 'causal', as metadata 'mask' of '", "verify",
            folder / INDEX, begin=f"{folder / TWO}: ")
    models.write_parts(folder, models.lens())
    index = (folder / INDEX).read_text()
    (folder / INDEX).write_text(index.replace('"total_size": 12345', '"eps": [1e-5]'))
    refused("metadata 'eps': [", "verify", folder / INDEX, begin=f"{folder / INDEX}: ")


def test_packed_weights_are_foretold(run, tmp_path):
    """They take 2.5 times the doubles of an embedding and an unembedding, 9.1 MiB, or a sixteenth of
    100 MiB."""
    path = tmp_path / "m.safetensors"
    models.write(path, models.lens_of(150000), models.NORMED)

    def foretold(memory):
        ended = run("verify", path, *"--tokens 0/1 --omega 40 --dry-run --memory".split(), memory)
        return float(re.search(r"up to ([\d.]+) MiB in all", ended.stderr)[1])
    assert foretold("8GiB") - foretold("100MiB") >= 2.5 * 9.1 - 100 / 16
