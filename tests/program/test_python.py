"""The package in python/.  Expected values: CSV written here; the program's own output, read as
text; and the evaluation of tests/transformer.py."""

import csv
import functools
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import venv
from decimal import Decimal
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import transformer
from conftest import PROGRAM, ROOT, start

sys.path.append(str(ROOT / "python"))
import headproof  # noqa: E402

MODEL = str(ROOT / "cases/models/modadd53-silu.safetensors")
CHARGPT = ROOT / "cases/models/chargpt"
TOKENS = "0:2/5/53"
run = functools.partial(start, cwd=None)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADPROOF", PROGRAM)


def refused(call, error, says):
    with pytest.raises(error, match=re.escape(says)):
        call()


# ---- Tables --------------------------------------------------------------------------------------

CELLS = ["1.22821574985e-868", "0", "", "nan", "3e-868589", "-2.5e-05"]
LOG10 = [math.log10(1.22821574985) - 868, -math.inf, math.nan, math.nan,
         math.log10(3) - 868589, math.log10(2.5) - 5]


def test_numbers_are_exact():
    path = "table.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("construction,activation,omega,construction_max,bounds,status\n")
        for i, cell in enumerate(CELLS):
            file.write(f"silu,,{i + 1},{cell},{'construction_max' if i == 4 else ''},ok\n")
    table = headproof.read_csv(path)
    column = table["construction_max"]
    assert table.rows == 6 and list(table)[2] == "omega", "rows and columns, in order"
    assert all(isinstance(cell, Decimal) for cell in column), "every number is exact"
    assert ([str(cell).lower() for cell in column] == [text or "nan" for text in
          ["1.22821574985e-868", "0", "", "nan", "3e-868589", "-0.000025"]])
    assert np.allclose(table.log10("construction_max"), LOG10, rtol=1e-12, equal_nan=True), \
        f"log10: {table.log10('construction_max')}, expected {LOG10}"
    assert list(table.floats("omega")) == [1, 2, 3, 4, 5, 6], "floats"
    refused(lambda: table.floats("construction_max"), OverflowError, "1.22821574985E-868")
    refused(lambda: table.floats("status"), TypeError, "holds words")
    assert list(table["activation"]) == [""] * 6, "a blank column of words holds words"
    assert list(table.bounded("construction_max")) == [False] * 4 + [True, False], "bounds"
    with open("two.csv", "w", encoding="utf-8") as file:
        file.write("error,logit_error,bounds\n1e-3,1e-2,logit_error\n1e-3,1e-2,error;logit_error\n")
    two = headproof.read_csv("two.csv")
    assert ([list(two.bounded(name)) for name in ("error", "logit_error")] ==
          [[False, True], [True, True]]), "a name that ends as another does"
    with open(path, "a", encoding="utf-8") as file:
        file.write("silu,1\n")
    refused(lambda: headproof.read_csv(path), ValueError, "table.csv:8: 2 cells: expected 6")
    with open(path, "w", encoding="utf-8") as file:
        file.write("omega,omega\n1,2\n")
    refused(lambda: headproof.read_csv(path), ValueError, "columns with names, each once")
    for bounds in ("", "total_max"):  # a double would be infinite; a bound may be as large
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"omega,total_max,bounds\n1,1e300,\n2,1e999,{bounds}\n")
        if bounds:
            assert headproof.read_csv(path)["total_max"][1] == Decimal("1e999"), "a bound"
        else:
            refused(lambda: headproof.read_csv(path), ValueError,
                    "table.csv:3: 1E+999: expected an")
    with open(path, "w", encoding="utf-8", newline="") as file:  # as others save it
        file.write("\ufeffomega,total_max\r\n1,2\r\n")
    assert list(headproof.read_csv(path)) == ["omega", "total_max"], "a byte order mark"


class Frame(dict):
    """What is asked of a pandas.DataFrame here, where there is no pandas."""
    columns = property(list)
    shape = property(lambda self: (len(next(iter(self.values()))), len(self)))


def test_tables_are_shown():
    """What differs from row to row, with its numbers, on a terminal, in a notebook, in pandas."""
    table = headproof.sweep(construction="silu", n=2, d=2, omega=[5, 20, 1000], bias="none")
    text, page = repr(table), table._repr_html_()
    large = f"{table['construction_max'][2]:.3e}"
    assert "1000" in text and large in text and "[3 rows; " in text and "silu" not in text, text
    assert max(map(len, text.splitlines())) <= 100, "100 columns"
    assert (text.split()[:6] == ["omega", "construction_max", "rounding_max", "native_max",
                               "total_max", "observed_max"] and "status" in text), text
    wide = headproof.sweep(construction="silu,fused", n=2, d="2,3", omega="5,6", penalty="negative",
                           mask="none,causal", arithmetic="f64,f32")
    assert repr(wide).split()[-1] == "shown]" and "total_max  status" in repr(wide), repr(wide)
    assert "observed" not in repr(wide) and "observed_max" in wide, "what is looked for last goes"
    if importlib.util.find_spec("matplotlib"):
        path = "table.csv"
        table.to_csv(path)
        figures = [headproof.plot(given) for given in (table, path)]
        marks = [figure.image("svg").count(b"<path") for figure in figures]
        assert marks[0] == marks[1] > 5 and len(figures[0].axes) == 1, \
            "a table at hand is drawn as its file is"
        drawn = headproof.plot(table, tolerance=1e-6).axes[0].lines
        levels = [line.get_ydata() for line in drawn if line.get_linestyle() == "-."]
        assert len(levels) == 1 and np.allclose(levels[0], -6), "a line at the tolerance"
        for given in ([table], [table, table], [table, path]):
            svg = headproof.plot(*given)._repr_svg_()
            named = "From a table." if len(given) == 1 else "From table 1, "
            assert named in svg and not re.search("/tmp[a-z0-9_]{8}/", svg), "no file of nobody's"
        with pytest.raises(headproof.HeadproofError, match="expected an axis that varies"):
            headproof.plot(table, x="depth")
        again = headproof.read_csv(path)
        assert all(list(map(str, again[name])) == list(map(str, table[name])) for name in table), \
            "a table that is written is the table"
    one = headproof.sweep(construction="silu", n=2, d=2, omega=5)
    assert repr(one).split()[:5] == ["construction", "n", "d", "omega", "seed"], repr(one)
    stack = headproof.sweep(construction="linear", n=2, d=2, omega=5, depth=4)
    assert repr(stack).split()[:3] == ["omega", "layer", "construction_max"], repr(stack)
    small = headproof.sweep(construction="silu", n=2, d=2, omega=5, depth=60)
    for shown in (repr(small), small._repr_html_()):
        assert "construction_rel" in shown and "construction_max" not in shown, shown
    assert f"<td>{large}</td>" in page and "<th>omega</th>" in page, page
    assert repr(headproof.Table({})) == "[0 rows; 0 columns, 0 shown]", "an empty table"
    wide = headproof.Table({"a": np.array(["<b>"], dtype=object)})
    assert "&lt;b&gt;" in wide._repr_html_(), "text is text"
    try:
        import pandas
    except ImportError:
        pandas = sys.modules["pandas"] = ModuleType("pandas")
        pandas.DataFrame = Frame
    frame = table.to_pandas()
    assert list(frame["omega"]) == [5, 20, 1000] and frame["n"].dtype == np.int64, "plain numbers"
    assert frame["construction_max"][2] == table["construction_max"][2] > 0, "exact decimals"
    assert abs(frame["bias_row_max_log10"][2] - table.log10("bias_row_max")[2]) == 0, "beside it"
    assert (frame["construction_log10"].dtype == np.float64 and
          abs(frame["construction_log10"][2] - table.log10("construction_max")[2]) < 1e-8), "floats"
    assert abs(frame["construction_rms_log10"][2] - table.log10("construction_rms")[2]) == 0, "rms"
    assert frame.shape[0] == 3 and "construction_max_log10" not in frame, "the table has that one"
    assert list(pandas.DataFrame(table).columns) == list(table), "columns are columns"


def test_words_are_those_of_the_schema():
    with open(ROOT / "docs/columns.md", encoding="utf-8") as file:
        units = re.findall(r"^\| `([\w-]+)` \| ([^|]+?) \|", file.read(), re.M)
    assert len(units) > 100, "docs/columns.md has columns"
    for name, unit in units:
        words = unit in ("word", "words", "path", "word or path", "word or integer")
        assert name in headproof.WORDS or not words, f"{name} holds words in docs/columns.md"
        assert words or unit == "integers" or name not in headproof.WORDS, \
            f"{name} holds numbers in docs/columns.md: {unit}"


def test_a_sweep_is_the_program_s():
    flags = {"construction": "silu", "n": 3, "d": 2, "omega": [10, 20.5, 1000]}
    table = headproof.sweep(propagation=True, **flags)
    output = run("sweep", "--construction", "silu", "--n", "3", "--d", "2", "--omega",
                 "10,20.5,1000", "--propagation", "-q").stdout
    lines = list(csv.reader(output.splitlines()))
    assert list(table) == lines[0] and table.rows == 3 and table.passed is True, "a sweep"
    for i, name in enumerate(lines[0]):
        for cell, line in zip(table[name], lines[1:]):
            same = cell == line[i] if isinstance(cell, str) else (
                cell.is_nan() if line[i] == "" else cell == Decimal(line[i]))
            assert same, f"{name}: {cell} for '{line[i]}'"
    assert -870 < table.log10("construction_max")[2] < -866, "1e-868 is not 0"
    logs = [name for name in table if name.endswith("_log10")]
    assert len(logs) == 10, f"logarithms of six errors and of four parts: {logs}"
    for name in logs:  # doubles will do: -inf of a proven 0 alone, which is blank there
        sizes = table.log10(name.replace("_log10", "_max"))
        sizes[np.isneginf(sizes)] = np.nan
        assert np.allclose(table.floats(name), sizes, rtol=1e-11, equal_nan=True), name
    assert float(table.floats("construction_log10")[2]) < -866, "-868 is a double"
    assert headproof.sweep(tolerance=1e-300, **flags).passed is False, "a sweep that fails"
    table = headproof.sweep(command="min-omega", tolerance=1, seed=range(1, 3), n=2, d=2,
                            construction="silu", judge="construction")
    assert list(table["seed"]) == ["1:2"] and table["evaluations"][0] > 1, "min-omega"
    refused(lambda: headproof.sweep(construction="sillu"), headproof.HeadproofError, "silu?")
    refused(lambda: headproof.sweep("missing.case"), headproof.HeadproofError, "missing.case")
    refused(lambda: headproof.sweep(program="/nowhere/headproof"), headproof.HeadproofError,
            "/nowhere/headproof: No such file or directory: expected the program")
    killed = os.path.abspath("killed")
    with open(killed, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho construction,n\nkill -9 $$\n")
    os.chmod(killed, 0o755)
    refused(lambda: headproof.sweep(program=killed), headproof.HeadproofError,
            f"{killed}: ended by signal 9")


# ---- Models --------------------------------------------------------------------------------------

CONFIG = {"act_fn": "silu", "normalization_type": None, "attention_dir": "causal",
          "use_attn_scale": True, "attn_scale": 4.0, "d_head": 16, "n_layers": 1,
          "positional_embedding_type": "standard", "gated_mlp": False, "parallel_attn_mlp": False}


class Tensor:
    """What save asks of a torch tensor."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return Tensor(self.array.astype(np.float32), "torch.float32")

    def numpy(self):
        assert self.dtype != "torch.bfloat16", "numpy has no bfloat16"
        return self.array


def verify(path):
    """The rows of verify, but for the file's name."""
    output = run("verify", path, "--tokens", TOKENS, "--omega", "20", "--format", "csv", "-q")
    assert output.code == 0, output.stderr
    return [row[1:] for row in csv.reader(output.stdout.splitlines())]


def test_a_saved_model_is_the_model():
    tensors, _ = transformer.load(MODEL)
    arrays = {name: np.array(values) for name, values in tensors.items()
              if not name.startswith("witness.")}
    expected = verify(MODEL)
    path = "saved.safetensors"
    config = SimpleNamespace(**CONFIG)
    headproof.save(arrays, path, config=config)
    assert verify(path) == expected, "what is saved by a config is the model"
    said = {"activation": "silu", "normalization": "none", "scale": "1/sqrt(d_head)",
            "mask": "causal", "blocks": "sequential"}
    headproof.save(arrays, path, **said)
    assert verify(path) == expected, "what is saved by words is the model"
    torch = {name: Tensor(array, "torch.float64") for name, array in arrays.items()}
    torch["blocks.0.attn.mask"] = Tensor(np.tri(3, dtype=bool), "torch.bool")
    headproof.save(torch, path, config=config)
    assert verify(path) == expected, "torch's tensors, and a buffer"
    metadata = headproof.files.read_safetensors(path)[1]
    assert metadata["act_fn"] == "silu" and metadata["normalization_type"] == "null", \
        f"the config's own words: {metadata}"
    assert set(headproof.files.read_safetensors(path)[0]) == set(torch), "names stay"
    config.act_fn = "gelu_pytorch_tanh"
    headproof.save(arrays, path, config=config)
    halves = {name: Tensor(array, "torch.bfloat16") for name, array in arrays.items()}
    headproof.save(halves, path, **said)
    upper = np.float32(arrays["embed.W_E"][1, 1]).view("<u4") >> 16
    assert headproof.files.read_safetensors(path)[0]["embed.W_E"][1, 1]["bfloat16"] == upper, \
        "bfloat16 stays what it is"


def test_a_witness_is_saved():
    tensors, _ = transformer.load(MODEL)
    arrays = {name: np.array(values) for name, values in tensors.items()
              if not name.startswith("witness.")}
    tokens = np.array(tensors["witness.tokens"], dtype=np.int64)
    logits = np.array(tensors["witness.logits"], dtype=np.float32)
    short = (logits.view("<u4") & 0xffff0000).view("<f4")
    path = "witness.safetensors"
    for answers, says in [(logits, "off by 2.4e-05, allowed 9.3e-05"),
                          (Tensor(short, "torch.bfloat16"), "off by 2.5e-01, allowed "),
                          (logits.astype(np.float64) + 1e-9, "(as float32, not as"),
                          (logits.astype(np.float64) + 1e-2, "within")]:
        if says == "within":
            refused(lambda: headproof.save(arrays, path, config=CONFIG, witness=(tokens, answers)),
                    ValueError, "witness.safetensors: tensor 'witness.logits': window ")
            continue
        headproof.save(arrays, path, config=CONFIG, witness=(tokens, answers))
        output = run("verify", path, "--tokens", "0/1/53", "--omega", "20")
        assert output.code == 0, output.stderr
        assert says in " ".join((output.stdout + output.stderr).split()), \
            output.stdout + output.stderr
    for tokens_given, answers in [(tokens, logits[0]), (tokens[0], logits), (tokens[1:], logits),
                                  (tokens.astype(float), logits)]:
        refused(lambda: headproof.save(arrays, path, config=CONFIG,
                                       witness=(tokens_given, answers)), ValueError, "witness: ")


def test_what_does_not_fit_is_refused():
    tensors, _ = transformer.load(MODEL)
    arrays = {name: np.array(values) for name, values in tensors.items()
              if not name.startswith("witness.")}
    path = "refused.safetensors"
    said = {"activation": "silu", "normalization": "none", "scale": "1", "mask": "causal",
            "blocks": "sequential"}
    for name in said:
        others = {key: value for key, value in said.items() if key != name}
        refused(lambda: headproof.save(arrays, path, **others), ValueError, f"do not say: {name} (")
    extra = dict(arrays, **{"ln_final.w": np.ones(3)})
    refused(lambda: headproof.save(extra, path, **said), ValueError, "ln_final.w")
    wrong = dict(arrays, **{"embed.W_E": np.ones((54, 64), dtype=np.complex64)})
    refused(lambda: headproof.save(wrong, path, **said), ValueError, "complex64")
    cut = dict(arrays, **{"blocks.0.mlp.W_out": arrays["blocks.0.mlp.W_out"][1:]})
    hidden, width = arrays["blocks.0.mlp.W_out"].shape
    refused(lambda: headproof.save(cut, path, **said), ValueError,
            f"shape [{hidden - 1}, {width}]: expected [hidden, d] with hidden = {hidden}")
    flat = dict(arrays, **{"blocks.0.attn.W_Q": arrays["blocks.0.attn.W_Q"][0]})
    refused(lambda: headproof.save(flat, path, **said), ValueError, "blocks.0.attn.W_")
    lost = dict(arrays, **{"embed.W_E": arrays["embed.W_E"] * np.nan})
    refused(lambda: headproof.save(lost, path, **said), ValueError, "embed.W_E")
    refused(lambda: headproof.save({}, path, **said), ValueError, "missing: expected layers")
    refused(lambda: headproof.save(arrays, path, config=CONFIG, mask="none"), ValueError,
            "'causal'")
    hugging = {"activation_function": "gelu", "layer_norm_epsilon": 1e-5}
    refused(lambda: headproof.save(arrays, path, config=hugging), ValueError, "do not say: ")
    gpt2 = dict(model_type="gpt2", activation_function="gelu_new", layer_norm_epsilon=1e-5)
    joined = {"wte.weight": np.ones((3, 2)), "h.0.attn.c_attn.weight": np.ones((2, 6))}
    refused(lambda: headproof.save(joined, path, config=gpt2), ValueError, "expected n_head")
    refused(lambda: headproof.save({"wte.weight": np.ones((2, 2)), "h.0.x": np.ones(2)}, path,
                                   config=dict(gpt2, n_head=1)), ValueError, "h.0.x")
    refused(lambda: headproof.save(arrays, path, **said, eps=-1.0), ValueError, "-1.0")
    assert not os.path.exists(path), "nothing is written that is refused"


def test_a_gpt2_is_saved_as_it_is():
    """Its tensors, its config's keys and the buffer, from a folder too; every verdict's row is the
    same as of the folder."""
    folder = os.path.join(os.path.dirname(MODEL), "chargpt")
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    state, _ = transformer.load(os.path.join(folder, "model.safetensors"))
    state = {name: np.array(values, dtype=np.float32) for name, values in state.items()
             if not name.startswith("witness.")}
    state["transformer.h.0.attn.bias"] = np.tri(64, dtype=bool)[None, None]
    path = "gpt2.safetensors"
    headproof.save(state, path, config=config)
    metadata = headproof.files.read_safetensors(path)[1]
    names = set(headproof.files.read_safetensors(path)[0])
    assert (names == set(state) and metadata["n_head"] == "4" and
          metadata["activation_function"] == "gelu_new"), \
        f"metadata: {metadata}"
    row = [run("verify", given, "--tokens", "1/2/3", "--omega", "20", "--format", "csv", "-q")
           .stdout.splitlines()[-1].split(",", 1)[1] for given in (folder, path)]
    assert row[0].split(",")[5:] == row[1].split(",")[5:]
    state["transformer.h.0.attn.bias"][0, 0, 0, 1] = True
    refused(lambda: headproof.save(state, path, config=config), ValueError, "a causal mask")


def test_a_converted_model_gives_the_model_s_answers():
    path = "converted.safetensors"
    assert run("convert", MODEL, "-o", path, "--omega", "20").code == 0, "convert"
    rewritten = headproof.load_converted(path)
    tensors, metadata = transformer.load(MODEL)
    for tokens in ([0, 1, 53], [52, 7, 53]):
        x = transformer.embedded(tensors, tokens)
        expected = transformer.stream(tensors, metadata, x)
        error = np.abs(rewritten(x) - expected).max()
        assert error < 1e-12, f"{tokens}: the rewrite is {error} off"
    stream = rewritten.augment(x)
    for s in range(len(rewritten.blocks)):
        stream = rewritten.block(s, stream)
    assert np.abs(stream[rewritten.token_rows, rewritten.content] - expected).max() < 1e-12, \
        "block by block"
    assert stream[rewritten.bias_row, rewritten.content.stop:].sum() == 1, "the bias row's one"
    refused(lambda: rewritten(np.zeros((2, 2))), ValueError, "expected (2, 64)")
    refused(lambda: rewritten(np.zeros((4, 64))), ValueError, "expected (3, 64)")
    refused(lambda: rewritten(np.zeros((0, 64))), ValueError, "0 tokens: expected 1 to 3")
    refused(lambda: headproof.load_converted(MODEL), ValueError, "headproof convert")


# What becomes of a file's tensors and metadata, and the words.
SPOILT = [
    (lambda t, m: t.pop("rotary.cos"), "rotary.cos: expected a table of 4 rows"),
    (lambda t, m: t.update({"rotary.sin": t["rotary.sin"][:3]}), "rotary.sin: expected a table of"),
    (lambda t, m: t.update({"rotary.sin": t["rotary.sin"][:, :1]}), "rotary.sin: expected a table"),
    (lambda t, m: t.update({"rotary.cos": t["rotary.cos"] * np.nan}),
     "rotary.cos: expected numbers"),
    (lambda t, m: t.update({name: np.tile(t[name], (1, 9)) for name in ("rotary.cos",
                                                                        "rotary.sin")}),
     "rotary.cos: 18 pairs: expected no more than"),
    (lambda t, m: m.pop("headproof.rotary"), "headproof.turned: expected it beside"),
    (lambda t, m: m.update({"headproof.rotary": "thirds"}), "headproof.rotary: 'thirds': expected"),
    (lambda t, m: m.update({"headproof.turned": "1,0,1"}),
     "headproof.turned: expected a number for"),
    (lambda t, m: m.update({"headproof.beside": "0"}), "headproof.beside: expected a number for"),
]


def test_files_that_lack_what_they_say():
    model, path = (name + ".safetensors" for name in ("drawn", "rewritten"))
    words = ("--construction transformer --d-head 4 --d-ff 5 --heads 2 --rotary half --parallel yes"
             " --normalization layernorm --n 3 --d 4 --depth 2 --omega 9 "
             "--kernel structured").split()
    assert run("export", *words, "-q", "-o", model).code == 0, "export"
    for layout in ("plain", "shared"):
        assert (run("convert", model, "--omega", "3", "--layout", layout, "-q", "-o",
                  path).code == 0), layout
        for spoil, words in SPOILT:
            tensors, metadata = headproof.files.read_safetensors(path)
            spoil(tensors, metadata)
            refused(lambda: headproof.Converted(tensors, metadata)(tensors["X"][:3, :4]),
                    ValueError, words)
    rewritten = headproof.load_converted(path)
    x = rewritten.augment(np.ones((3, 4)))
    refused(lambda: rewritten.block(1, x), ValueError, "block 1: expected also what block 0 reads")


# ---- Files by any name, versions, and pip --------------------------------------------------------

def test_files_are_found_by_any_name(tmp_path):
    """What is there is a path, whatever it is called; of PyTorch's own files is said what to do."""
    shutil.copytree(CHARGPT, "hf")
    shutil.copy("hf/model.safetensors", "plain")
    os.mkdir("old")
    for name in ("m.pth", "old/pytorch_model.bin"):
        (tmp_path / name).write_text("x\n")
    assert run("cost", "hf").code == 0
    for name in ("m.pth", "old"):
        ended = run("verify", name)
        assert (ended.code, ended.stderr) == (
            2, f"{name}: a file of PyTorch's own: expected one of safetensors, which python3 -m "
            f"headproof save {name} -o MODEL.safetensors writes (docs/python.md)\n")
    ended = run("verify", "none.pth")
    assert (ended.code, ended.stderr) == (
        2, "headproof: token 'none.pth': expected a safetensors file, or a folder that has one; "
        "there is nothing of that name (python3 -m headproof save makes one of a model of "
        "PyTorch's)\n")
    said = run("cost", "plain").stderr
    assert said.startswith("plain: its witness shows scale 1/sqrt(d_head), activation "), said


def test_versions_are_one():
    """The version is the program's, wherever it is written."""
    version = run("--version").stdout.split()[1]
    changes = (ROOT / "CHANGELOG.md").read_text()
    date, = re.findall(rf"^## \[{re.escape(version)}\] \S+ (\S+)", changes, re.M)
    assert re.search(r"^## .\d\S*", changes, re.M)[0] == f"## [{version}]"
    for name, line in (("python/headproof/__init__.py", f'__version__ = "{version}"'),
                       ("python/pyproject.toml", f'version = "{version}"'),
                       ("CITATION.cff", f"version: {version}"),
                       ("CITATION.cff", f"date-released: {date}")):
        assert line in (ROOT / name).read_text().splitlines()


def test_pip_installs_it(tmp_path):
    """Without a network, beside the system's packages."""
    pytest.importorskip("pip")
    shutil.copytree(ROOT / "python", "source")
    venv.create("v", system_site_packages=True)
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def python(*words):
        return subprocess.run([tmp_path / "v/bin/python", *words], cwd="v", check=True, text=True,
                              env=env, stdout=subprocess.PIPE).stdout
    python("-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check",
           tmp_path / "source")
    where = python("-c", "import headproof; print(headproof.__file__, headproof.__version__)")
    assert where.startswith(str(tmp_path / "v"))
    assert python("-m", "headproof", "save", "-h").startswith("usage: python3 -m headproof save")
