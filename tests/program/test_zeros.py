"""0 is printed where there is a proof, and there alone."""

import csv
import io

import numpy
import pytest
import safetensors_file

ERRORS = ["construction_max", "construction_rms", "construction_rel"]
SAID = {"activation": "silu", "blocks": "sequential", "positions": "none", "scale": "1",
        "mask": "none", "normalization": "none"}


@pytest.fixture
def rows(expect):
    def swept(line):
        return list(csv.DictReader(io.StringIO(expect(0, f"sweep {line} --n 4 --omega 20 "
                                                         "--format csv -q"))))
    return swept


def check(rows, zero):
    """All construction errors are 0, or none is."""
    assert {row[error] == "0" for row in rows for error in ERRORS} == {zero}
    assert {row["status"] for row in rows} == {"ok"}


@pytest.mark.parametrize("flags, exact", [
    ("silu", True), ("silu --depth 3", True), ("fused --depth 3", True),
    ("silu --reference subtract", True), ("linear", False), ("fused --bias random", False),
    ("ffn3", False), ("attention", False), ("transformer", False)])
def test_the_first_causal_token(rows, flags, exact):
    line = f"--construction {flags} --d 3 --mask causal"
    check(rows(line + " --row 1"), exact)
    check(rows(line + " --row 2"), False)


def test_the_first_token_without_a_mask(rows):
    check(rows("--construction silu --d 3 --row 1"), False)


def write(folder, shapes, last):
    """The first tensor is the identity, all else 0 but for the very last number."""
    tensors = {f"blocks.{name}": numpy.zeros(shape) for name, shape in shapes}
    first, *_, end = tensors.values()
    first.reshape(3, 3)[:] = numpy.eye(3)
    end.flat[-1] = last
    safetensors_file.write(folder / "m.safetensors", tensors, SAID)


HEADS = [("0.attn.QK", (1, 3, 3)), ("0.attn.OV", (1, 3, 3))]
METHODS = pytest.mark.parametrize("method", ["difference", "subtract"])


@METHODS
@pytest.mark.parametrize("construction, shapes", [
    ("linear", [("0.linear.W", (3, 3)), ("0.linear.b", (3,))]),
    ("fused", [("0.mlp.W_in", (3, 3)), ("0.mlp.W_out", (3, 3)), ("0.mlp.b_in", (3,)),
               ("0.mlp.b_out", (3,))]),
    ("attention", HEADS)])
def test_heads_without_a_value_are_exact(rows, tmp_path, construction, shapes, method):
    """And not where one entry is other than a proof needs it."""
    for last in (0, 2**-40):
        write(tmp_path, shapes, last)
        check(rows(f"--construction {construction} --weights m.safetensors --reference {method}"),
              last == 0)


@METHODS
def test_what_is_given_has_no_error(rows, tmp_path, method):
    """A stream that no head changes is known to the last bit, and so are the machine's errors."""
    write(tmp_path, HEADS, 0)
    row, = rows(f"--construction attention --weights m.safetensors --reference {method}")
    assert {row[f"{error}_max"] for error in ("approximation", "construction", "rounding", "native",
                                              "total", "observed", "bias_row")} == {"0"}


def test_every_layer_has_its_own_proof(rows, tmp_path):
    """A layer without a value leaves the bias row empty, the next one leaks e^-20 of a token's entry
    times 2^-40 into it: the proof of the first says nothing of the second."""
    write(tmp_path, HEADS + [(name.replace("0", "1", 1), shape) for name, shape in HEADS], 2**-40)
    first, second = rows("--construction attention --weights m.safetensors")
    assert first["bias_row_max"] == "0" and 2**-120 < float(second["bias_row_max"]) < 2**-60
