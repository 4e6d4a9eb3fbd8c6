"""Two of a thing: two values of any axis are the rows of each alone; and what is searched or judged
over two seeds, inputs or layers is the worse of the two, whichever comes first."""

import csv
import functools
import io

import pytest

import models
from test_pairs import AXES

TURNED = "--construction attention --d-head 4 --kernel structured"
HALF = f"{TURNED} --rotary half"

# Two values of an axis, and what makes it matter.
VALUES = {axis: (values[:2], "") for axis, (values, _) in AXES.items()}
VALUES |= {
    "n": ([3, 2], ""), "d": ([2, 3], ""), "d-ff": ([3, 2], ""), "heads": ([2, 1], ""),
    "omega": (["0.7", "9"], ""),
    "normalization-place": (["pre", "post"], "--normalization rmsnorm"),
    "eps": (["1e-5", "1"], "--normalization rmsnorm"),
    "normalize-bias-row": (["yes", "no"], "--normalization rmsnorm"),
    "gelu": (["sigmoid", "3"], "--activation gelu"), "slope": (["5", "9"], "--activation relu"),
    "band": (["1", "2"], "--mask pseudo-band"), "linear": (["in-place", "clear"], "--construction "
                                                           "linear"),
    "head-rank": (["none", "1"], "--construction linear"),
    "scale": (["1", "1/sqrt(d_head)"], "--d-head 2"), "shrink": (["1", "0.5"], ""),
    "dropout": (["0.2", "0.3"], ""), "drop-entry": (["1", "3"], ""),
    "weight-noise": (["1e-3", "1e-2"], ""), "bias-row": (["first", "last"], ""),
    "bias-self": (["2", "4"], ""),
    "parallel": (["no", "yes"], "--construction transformer --normalization rmsnorm"),
    "rotary": (["half", "interleaved"], TURNED),
    "rotary-dim": (["d-head", "2"], HALF),
    "rope-theta": (["10000", "2.5"], HALF),
    "rotary-tables": (["exact", "float32"], f"{HALF} --arithmetic f64"),
    "readout": (["1", "2"], "--ffn gated"), "tau": (["0.125", "0.5"], "--ffn gated"),
    "row": (["1", "3"], ""), "weights-rounded": (["no", "yes"], "--arithmetic f32"),
}


@functools.cache
def rows(run, line, code=0):
    ended = run(*line.split())
    assert ended.code == code, ended.stderr
    return list(csv.DictReader(io.StringIO(ended.stdout)))


@pytest.mark.parametrize("axis", sorted(VALUES))
def test_two_values(run, axis):
    (first, second), beside = VALUES[axis]
    others = [f"--{k} {v}" for k, v in (("n", 3), ("d", 2), ("d-ff", 3), ("omega", 3)) if k != axis]
    line = f"sweep {' '.join(others)} {beside} --quiet --{axis} "
    one, other = rows(run, f"{line}{first}"), rows(run, f"{line}{second}")
    assert rows(run, f"{line}{first},{second}") == one + other
    assert rows(run, f"{line}{second},{first}") == other + one


@pytest.mark.parametrize("construction, seeds", [  # masked has no Omega
    *((each, "2:3") for each in AXES["construction"][0][:-1]), ("silu", "3:4"), ("fused", "3:4")])
def test_two_seeds(run, construction, seeds):
    """Of one pair the first is the worse, of the other the second."""
    line = f"min-omega --construction {construction} --n 3 --d 2 --d-ff 3 --arithmetic none " \
           "--judge construction --tolerance 1e-9 --format csv --quiet --seed "
    both, = rows(run, line + seeds)
    alone = [rows(run, line + seed)[0] for seed in seeds.split(":")]
    for cell in ("omega_below", "omega_min", "seed_scores", "seed_rule"):
        assert both[cell] == max((one[cell] for one in alone), key=lambda text: float(text or 0))


@pytest.mark.parametrize("lines", [(1, 30), (30, 1)])
def test_two_inputs(expect, tmp_path, lines):
    """Every error is the larger one, every margin the smaller; KL's mean is of both."""
    models.write(tmp_path / "m.safetensors", models.lens_of(40, layers=1), models.NORMED)

    def judged(tokens):
        (tmp_path / "tokens").write_text("".join(f"{token} 2 39\n" for token in tokens))
        expect(0, "verify m.safetensors --omega 12 --quiet --tokens-file tokens --format csv "
               "-o out.csv")
        text = (tmp_path / "out.csv").read_text()
        for name in ("out.csv", "out.csv.json"):
            (tmp_path / name).unlink()
        return list(csv.DictReader(io.StringIO(text)))[0]
    both, alone = judged(lines), [judged([token]) for token in lines]
    worst = {cell: max for cell in both if cell.endswith("_max") or cell.endswith("_log10")}
    worst |= {"logit_error": max, "logit_margin": min}
    assert float(alone[0]["kl_machine_max"]) != float(alone[1]["kl_machine_max"])
    for cell, which in worst.items():
        assert both[cell] == which((one[cell] for one in alone), key=lambda t: float(t or 0)), cell
    quotient = float(both["logit_margin"]) / float(both["logit_error"])
    assert abs(float(both["safety_factor"]) / quotient - 1) < 1e-15
    at = max((0, 1), key=lambda i: float(alone[i]["construction_max"]))
    assert both["worst_input"] == str(at + 1)


@pytest.mark.parametrize("reference", ["", "--reference none --judge observed"])
@pytest.mark.parametrize("tolerance, statuses", [
    ("5e-3", ["fail", "fail", "ok", "ok"]), ("8e-3", ["ok"] * 4), ("1e-3", ["fail"] * 4)])
def test_layers(run, reference, tolerance, statuses):
    """A point passes where every layer does."""
    found = rows(run, f"sweep --construction silu --n 3 --d 2 --depth 4 --omega 3 --quiet "
                 f"--tolerance {tolerance} {reference}", code=int("fail" in statuses))
    assert [row["status"] for row in found] == statuses


def test_layers_of_a_model(expect):
    """The first layer's error is the larger one."""
    expect(0, "export --construction fused --n 4 --d 3 --d-ff 4 --depth 2 --omega 5 --seed 2 -q "
           "-o m.safetensors")
    for tolerance, code in (6e-5, 1), (7e-5, 1), (8e-5, 0):
        expect(code, f"verify m.safetensors --omega 5 --tolerance {tolerance} -q",
               "verdict: FAIL" if code else "verdict: PASS")


@pytest.mark.parametrize("omega", ["0.5", "50"])
def test_heads_whose_scores_change_by_much(run, omega):
    """Head by head what a subtraction finds."""
    line = "sweep --construction attention --depth 3 --n 3 --d 4 --heads 3 --d-head 2 --weights " \
           f"normal --score-scale 1e14 --arithmetic none --quiet --omega {omega} --reference "
    one, other = rows(run, f"{line}difference"), rows(run, f"{line}subtract")
    for cell in ("construction_max", "construction_rms", "bias_row_max"):
        assert [row[cell] for row in one] == [row[cell] for row in other]


def test_inputs_of_two_seeds(run, tmp_path):
    """A sample of a model's inputs, 256 of 40^3, is drawn by the seed; looked at are some of it."""
    path = tmp_path / "m.safetensors"
    models.write(path, models.lens_of(40, layers=1), models.NORMED)
    line = f"verify {path} --omega 22 --shard 3/16 --quiet -o - --seed "
    first, second = rows(run, f"{line}1"), rows(run, f"{line}2")
    assert first[0]["worst_input"] != second[0]["worst_input"]
    assert rows(run, f"{line}1,2") == first + second


@pytest.mark.parametrize("construction, term", [
    ("attention", "attention"), ("linear", "other-tokens"), ("fused", "biases")])
def test_terms_of_bounds(run, construction, term):
    """One token and no attention of the model's own: what a bound is largest by."""
    row, = rows(run, f"guarantee --construction {construction} --n 1 --d 2 --d-ff 3 --depth 1 "
                     "--input-norm 1 --tolerance 1e-9 --bias random -o -")
    assert row["from_term"] == term
