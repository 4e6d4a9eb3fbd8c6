"""Gated networks: what is refused, files of them, and how their errors go with tau and Omega."""

import csv
import io
from decimal import Decimal

import numpy
import pytest

import safetensors_file

DRAWN = ("--construction", "transformer", "--ffn", "gated", "--n", "6", "--d", "4", "--d-ff", "7",
         "--mask", "causal", "--normalization", "rmsnorm", "--bias", "random")


def rows_of(run, *arguments):
    ended = run("sweep", *arguments, "-q")
    assert ended.code == 0, ended.stderr
    return list(csv.DictReader(io.StringIO(ended.stdout)))


def test_penalty_is_negative_where_a_product_is_read_out(run):
    """Omega beside tau y would absorb what is to be read."""
    [positive], [negative] = (
        rows_of(run, *DRAWN, "--omega", "30", "--kernel", "structured", *more)
        for more in (("--penalty", "positive"), ()))
    assert Decimal(positive["rounding_max"]) > 4 * Decimal(negative["rounding_max"])


@pytest.mark.parametrize("activation", ["silu", "sigmoid", "none", "gelu"])
def test_a_file_of_gated_networks(run, tmp_path, activation):
    """What is exported and read again is the same model, with as many heads."""
    path = tmp_path / "model.safetensors"
    flags = (*DRAWN, "--omega", "30", "--activation", activation, "--depth", "2")
    ended = run("export", *flags, "-o", path, "-q")
    assert ended.code == 0, ended.stderr
    same = ("--construction", "transformer", "--omega", "30", "--weights", path,
            "--readout", "1", "--gelu", "sigmoid")
    drawn, read = rows_of(run, *flags), rows_of(run, *same)
    for row in drawn + read:
        for column in ("weights", "seed", "options", "construction_seconds"):
            row.pop(column, None)
    assert drawn == read


SHAPES = {"mlp.W_gate": (3, 5), "mlp.W_in": (3, 5), "mlp.W_out": (5, 3)}


def model(**changes):
    """Tensors of two layers; changes: a shape, or None, of a layer's tensor."""
    r = numpy.random.default_rng(1)
    shapes = {f"blocks.{layer}.{name}": shape for layer in (0, 1) for name, shape in SHAPES.items()}
    shapes.update(("blocks." + name.replace("__", "."), shape) for name, shape in changes.items())
    tensors = {name: r.normal(size=shape) for name, shape in shapes.items() if shape is not None}
    return {**tensors, "X": r.normal(size=(4, 3))}


@pytest.mark.parametrize("tensors, flags, words", [
    (model(**{"0__mlp__W_in": None}), (), ["missing", "mlp.W_in"]),
    (model(**{"1__mlp__W_gate": None}), (), ["mlp.W_gate", "expected one"]),
    (model(**{"0__mlp__W_gate": None}), (), ["mlp.W_gate", "expected none"]),
    (model(**{"0__mlp__W_gate": (3, 4)}), (), ["mlp.W_"]),
    (model(), ("--ffn", "plain"), ["ffn", "gated"]),
    (model(), ("--construction", "ffn3"), ["gated"]),
], ids=["no up", "one layer's", "the other's", "shape", "flag", "ffn3"])
def test_files_that_are_refused(run, tmp_path, tensors, flags, words):
    path = tmp_path / "model.safetensors"
    safetensors_file.write(path, tensors, {"activation": "silu"})
    given = flags if "--construction" in flags else ("--construction", "fused", *flags)
    ended = run("sweep", *given, "--omega", "9", "--weights", path, "--normalization", "none")
    assert ended.code == 2 and ended.stderr.count("\n") == 1, ended.stderr
    for word in words:
        assert word in ended.stderr


@pytest.mark.parametrize("command, flags, words", [
    ("sweep", ("--activation", "sigmoid"), ["--ffn gated"]),
    ("sweep", ("--activation", "none"), ["--ffn gated"]),
    ("sweep", ("--ffn", "gated", "--tau", "0.3"), ["a power of two"]),
    ("sweep", ("--ffn", "gated", "--tau", "1e-30"), ["a power of two"]),
    ("sweep", ("--ffn", "gated", "--readout", "4"), ["readout", "3"]),
    ("sweep", ("--ffn", "gated", "--construction", "transformer", "--parallel", "yes",
               "--normalization", "rmsnorm"), ["parallel", "gated"]),
], ids=lambda v: v if isinstance(v, str) else " ".join(v))
def test_what_is_refused(run, command, flags, words):
    if "--construction" not in flags:
        flags = ("--construction", "fused", *flags)
    ended = run(command, "--n", "3", "--d", "2", "--omega", "9", *flags)
    assert ended.code == 2, (ended.code, ended.stderr)
    for word in words:
        assert word in ended.stderr


# ---- The search for tau --------------------------------------------------------------------------

SMALL = ("--construction", "fused", "--ffn", "gated", "--n", "4", "--d", "5", "--bias", "random",
         "--omega", "25")


@pytest.mark.parametrize("arithmetic, judge, tolerances", [
    ("f64", "total", ("1e-9", "1e-12")), ("f32", "total", ("1e-3", "3e-6")),
    ("f64", "approximation", ("1e-4", "1e-20"))])
@pytest.mark.parametrize("pairs", ["1", "2", "3"])
def test_the_interval_of_tau(run, pairs, arithmetic, judge, tolerances):
    """That of a sweep over all powers of two; the best is the sweep's."""
    more = ("--arithmetic", arithmetic, "--readout", pairs)
    swept = {2.0**e: error for e, error in zip(
        range(-40, 6), [Decimal(row[judge + "_max"]) for row in
                        rows_of(run, *SMALL, *more, "--tau", "2^-40:2^5:*2")])}
    ended = run("min-omega", "--over", "tau", *SMALL, *more, "--judge", judge, "--tolerance",
                ",".join(tolerances))
    found = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert len(found) == len(tolerances) and found[0]["omega"] == "25", ended.stderr
    assert ended.code == (1 if any(row["status"] == "none" for row in found) else 0)
    for row, tolerance in zip(found, tolerances):
        meets = [tau for tau, error in swept.items() if error <= Decimal(tolerance)]
        assert (row["status"] == "ok") == bool(meets)
        if judge != "approximation":
            assert float(row["tau_best"]) == min(swept, key=swept.get)
            assert Decimal(row["best_error"]) == min(swept.values())
        if not meets:
            assert not row["tau_min"]
            continue
        assert float(row["tau_max"]) == max(meets) and float(row["tau_above"]) == 2 * max(meets)
        if judge != "approximation":  # which falls without end
            assert float(row["tau_min"]) == min(meets) == 2 * float(row["tau_below"])
            assert int(row["evaluations_inside"]) == len(meets)
            assert Decimal(row["error_min"]) == swept[min(meets)]


@pytest.mark.parametrize("more, words", [
    ((), ["--over tau", "gated"]),
    (("--ffn", "gated", "--activation", "sigmoid"), ["sigmoid's product is exact"]),
    (("--ffn", "gated", "--tau", "2^-9"), ["no tau, which min-omega --over tau finds"]),
    (("--ffn", "gated", "--every-input"), ["--every-input", "no --over tau"]),
], ids=["plain", "sigmoid", "tau", "every input"])
def test_searches_for_tau_that_are_refused(run, more, words):
    ended = run("min-omega", "--over", "tau", "--construction", "fused", "--n", "3", "--d", "2",
                "--tolerance", "1", "--input-norm", "9", *more)
    assert ended.code == 2 and ended.stderr.count("\n") == 1, (ended.code, ended.stderr)
    for word in words:
        assert word in ended.stderr


@pytest.mark.parametrize("more, words", [
    (("--penalty", "positive", "--omega", "20", "--tau", "2^-17"), "by up to 4.7e-10; negative"),
    (("--penalty", "positive", "--omega", "20", "--tau", "2^-8", "--arithmetic", "f32"),
     "by up to 0.00049;"),
    (("--penalty", "positive", "--omega", "20", "--activation", "sigmoid"), None),
    (("--penalty", "negative", "--omega", "20"), None),
    (("--penalty", "positive", "--omega", "20", "--ffn", "plain"), None),
], ids=["f64", "f32", "exact", "negative", "plain"])
def test_a_positive_penalty_is_warned_of(run, more, words):
    """Half an ulp of 2 Omega = 40, over tau; once, whatever the points."""
    plain = () if "--ffn" in more else ("--ffn", "gated")
    ended = run("sweep", "--construction", "fused", "--n", "2,3", "--d", "2", *plain, *more)
    assert ended.code == 0
    assert [words in line for line in ended.stderr.splitlines() if "warning" in line] == \
        ([True] if words else [])


# ---- Bias rows that attend themselves with 4 Omega -----------------------------------------------

@pytest.mark.parametrize("said, more, words", [
    ({"normalization": "rmsnorm"}, (), ["attends itself with 4 Omega"]),
    ({"normalization": "rmsnorm"}, ("--bias-self", "2"), []),
    ({"normalization": "none"}, (), []),
], ids=["norms", "asked", "no norms"])
def test_a_model_s_bias_row_attends_itself_more_behind_norms(run, tmp_path, said, more, words):
    """By default, and that is said."""
    path = tmp_path / "model.safetensors"
    tensors = {"blocks.0.attn.W_" + w: numpy.eye(4) for w in "QKVO"}
    tensors = {name: a[None] for name, a in tensors.items()}
    if said["normalization"] == "rmsnorm":
        tensors["blocks.0.ln1.w"] = numpy.ones(4)
    tensors["X"] = numpy.eye(3, 4)
    safetensors_file.write(path, tensors, {})
    norms = [word for name in said for word in ("--" + name, said[name])]
    norms += ["--normalization-place", "pre", "--eps", "1e-5"] if words or more else []
    ended = run("convert", path, "--omega", "20", "--scale", "1", "--mask", "none", *norms, *more,
                "-o", tmp_path / "heads.safetensors", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert ("attends itself" in ended.stderr) == bool(words), ended.stderr
    for word in words:
        assert word in ended.stderr


# ---- What is proven of tau -----------------------------------------------------------------------

TAU_OF_THREE = 2.0 ** -7  # which is not said, as it is what three pairs have anyway


def proven(run, code, *arguments):
    ended = run("guarantee", *DRAWN, "--input-norm", "2", *arguments, "--format", "csv")
    assert ended.code == code, ended.stderr
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    options = dict(option.split("=") for option in rows[0]["options"].split(";"))
    return rows, float(options.get("tau", TAU_OF_THREE)), ended.stderr


@pytest.mark.parametrize("pairs", ["1", "2", "3"])
def test_tau_and_omega_are_proven_together(run, pairs):
    """The largest tau that takes half of the tolerance, the smallest Omega that keeps the rest."""
    asked = ("--readout", pairs, "--tolerance", "1e-6")
    [row], tau, _ = proven(run, 0, *asked)
    assert float(row["tau_error"]) <= 5e-7
    assert 0.999e-6 < float(row["tau_error"]) + float(row["error"]) <= 1e-6
    [twice], _, _ = proven(run, 0, "--readout", pairs, "--tau", repr(2 * tau), "--omega", "30")
    assert 5e-7 < float(twice["tau_error"])
    [same], _, _ = proven(run, 0, *asked, "--tau", repr(tau))
    assert same["omega"] == row["omega"]
    [less], _, said = proven(run, 1, *asked, "--omega", str(float(row["omega"]) - 0.01))
    assert less["status"] == "fail"


def test_a_tau_that_takes_more_than_the_tolerance(run, shown):
    rows, _, said = proven(run, 1, "--tau", "0.125", "--tolerance", "1e-6")
    assert rows[0]["status"] == "none" and "tau alone takes more" in said
    lines = " ".join(shown(" ".join(("guarantee", *DRAWN, "--input-norm 2 --tau 0.125",
                                     "--tolerance 1e-6")), code=1)).split()
    text = " ".join(lines)
    assert "which alone is above the tolerance" in text
    _, tau, _ = proven(run, 0, "--readout", "2", "--tolerance", "1e-6")
    assert f"--readout 2 --tau {tau:.18g}" in text or f"--readout 2 --tau {tau!r}" in text


def test_a_gate_of_sigma_has_no_tau(run):
    [row], tau, _ = proven(run, 0, "--activation", "sigmoid", "--tolerance", "1e-6")
    assert tau == TAU_OF_THREE and row["tau_error"] == "" and row["status"] == "ok"
