"""export: what it writes is the point, read back by --weights to the same digits; and the numbers
beside it are the errors' own, as another program makes them out of the file."""

import csv
import io
import json
import math
from decimal import Context, Decimal

import models
import pytest
import safetensors_file

OUT = "out.safetensors"
# Every kind, both forms, and what changes a model.
POINTS = [
    "transformer --n 3 --d 4 --depth 2 --omega 9 --bias random",
    "transformer3 --n 3 --d 4 --depth 2 --omega 9 --bias random",
    "transformer --n 3 --d 4 --d-head 3 --depth 2 --mask causal --omega 9",
    "transformer3 --n 3 --d 4 --d-head 3 --depth 2 --seed 5 --omega 9",
    "attention --n 5 --d 3 --d-head 2 --heads 3 --depth 3 --omega 40",
    "attention --n 5 --d 3 --depth 2 --omega 40 --weights normal",
    "fused --n 2 --d 3 --d-ff 7 --depth 2 --omega 1000 --bias random",
    "ffn3 --n 2 --d 3 --depth 2 --activation gelu --gelu two --bias random",
    "fused --n 2 --d 3 --d-ff 5 --activation relu --slope 50 --omega 12",
    "linear --n 4 --d 3 --depth 2 --omega 12 --bias random",
    "transformer --n 3 --d 4 --omega 9 --bias-row-content random --seed 3",
    "transformer --n 1 --d 1 --heads 1 --d-ff 1 --omega 2 --arithmetic none",
    "silu --n 3 --d 4 --depth 3 --omega 9",
    "silu --n 2 --d 3 --activation gelu --gelu two --mask causal --omega 12",
    "attention --n 3 --d 4 --d-head 3 --scale 1/sqrt(d_head) --omega 9",
    "linear --linear block --n 4 --d 3 --d-ff 5 --depth 2 --omega 9",
]


@pytest.fixture
def rows(expect):
    """The rows of a sweep that subtracts, as export does, from the column `layer` on."""
    def read(line):
        said = expect(0, f"sweep --reference subtract --digits 17 -q {line}")
        return [cells[16:] for cells in csv.reader(io.StringIO(said))]
    return read


@pytest.fixture
def exported(expect, tmp_path):
    """What export writes: {name: numbers}, shapes, and the metadata."""
    def read(line):
        expect(0, f"export {line} -q -o {OUT}")
        tensors, said = safetensors_file.read(tmp_path / OUT)
        return ({name: safetensors_file.doubles(data) for name, (_, _, data) in tensors.items()},
                {name: shape for name, (_, shape, _) in tensors.items()}, said)
    return read


@pytest.mark.parametrize("line", POINTS)
def test_reading_back(rows, exported, line):
    """Weights and biases come from the file, everything else as before."""
    exported(f"--construction {line}")
    rest = line.split(" --bias random")[0].split(" --weights")[0]
    assert rows(f"--construction {line}") == rows(f"--construction {rest} --weights ./{OUT}")


@pytest.mark.parametrize("kind", ["attention", "merged", "ffn", "linear"])
def test_writing_again(rows, exported, tmp_path, kind):
    """What was read from a file and is written again is the same point."""
    models.write(tmp_path / "given.safetensors", models.made(kind),
                 models.SAID if kind == "attention" else models.ALONE)
    exported("--omega 9 --weights given.safetensors")
    assert rows("--omega 9 --weights given.safetensors") == rows(f"--omega 9 --weights {OUT}")


def test_errors_are_those_of_the_file(expect, exported):
    """r(T') - r(T_infinity) and m(T) - r(T) of every layer, the first by the decimals beside the
    doubles, far below a double's last digit."""
    line = "--construction transformer --n 3 --d 4 --depth 2 --bias random --omega 300"
    numbers, _, said = exported(line)
    table = list(csv.DictReader(io.StringIO(expect(0, f"sweep -q --digits 17 {line}"))))
    exact = Context(prec=1000)
    for layer, row in enumerate(table):
        result = f"result.{layer}."
        decimals = {name: [Decimal(text) for text in json.loads(said[f"{result}{name}.text"])]
                    for name in ("r_Tprime", "r_Tinf")}
        for name, texts in decimals.items():
            assert [float(text) for text in texts] == list(numbers[result + name])
        largest = max(abs(exact.subtract(a, b)) for a, b in zip(*decimals.values()))
        assert 0 < largest < Decimal("1e-240")
        assert abs(largest / Decimal(row["construction_max"]) - 1) < Decimal("1e-13")
        native = max(abs(a - b) for a, b in zip(numbers[result + "m_T"], numbers[result + "r_T"]))
        assert native < float(row["native_max"]) + 1e-15 and native < 1e-14


def test_limit(exported):
    """x Phi(x) is not x sigma(1.702 x): r(T) and r(T_infinity)."""
    numbers, _, _ = exported("--construction silu --activation gelu --n 3 --d 4 --omega 30")
    for x, original, limit in zip(*(numbers[name] for name in (
            "X", "result.0.r_T", "result.0.r_Tinf"))):
        assert abs(original - x * math.erfc(-x / math.sqrt(2)) / 2) < 1e-15
        assert abs(limit - x / (1 + math.exp(-1.702 * x))) < 1e-15


def test_metadata(exported):
    numbers, _, said = exported("--construction ffn3 --n 3 --d 4 --omega 0.1 --activation gelu "
                                "--mask causal --precision 128 --arithmetic none")
    expected = {
        "scale": "1", "activation": "gelu", "mask": "causal", "normalization": "none",
        "omega": "0.1", "construction": "ffn3", "result.0.columns": "0:4", "precision_bits": "128",
        "command": "headproof sweep --construction ffn3 --activation gelu --mask causal --n 3 --d "
        "4 --omega 0.1 --arithmetic none --reference subtract --seed 1 --precision 128"}
    assert {name: said.get(name) for name in expected} == expected and "version" in said
    assert -128 < int(said["result.0.error_log2"]) < -80
    assert "result.0.m_T" not in numbers and "result.0.r_Tinf" in numbers


def test_shapes_of_results(exported):
    """A layer may compare other columns than the next, and a bias row may have content."""
    numbers, shapes, said = exported("--construction linear --linear block --n 3 --d 4 --d-ff 5 "
                                     "--depth 2 --bias-row-content random")
    assert [said[f"result.{layer}.columns"] for layer in (0, 1)] == ["4:9", "0:4"]
    assert shapes["result.X_hidden"][1] == 5 and len(numbers["result.bias_row"]) == 9


REFUSED = [
    ("--n 3 --d 4 --omega 5,6", "token '2 points': expected one point"),
    ("--n 100000 --d 4 --construction linear", "token '400000 entries': expected at most 200000"),
    ("--n 500 --d 100 --construction linear --omega 5 --precision 4096",
     "token '4096 bits': expected results whose decimals fill at most"),
    ("--omga 5", "expected a flag of export"),
]


@pytest.mark.parametrize("line, words", REFUSED)
def test_refused(refused, tmp_path, line, words):
    refused(words, "export", *line.split(), "-o", tmp_path / OUT)
    assert not list(tmp_path.iterdir())


def test_somewhere(refused):
    refused("--output: expected the name of the file", "export", "--n", "3")
