"""--penalty negative: of the same function, and of a machine whose error does not grow with Omega;
and shifts of gates, of which nothing is then absorbed."""

import csv
import io

import pytest

ALL = "silu,linear,attention,ffn3,fused,transformer3,transformer"
BOTH = "--penalty positive,negative"
# All that is said of the reference, and of T's machine.
SAME = [f"{error}_{norm}" for error in ("approximation", "construction", "native")
        for norm in ("max", "rms", "rel")]
SAME += ["bounds", "bias_row_max", "hidden_max", "construction_log10", "score_max",
         "precision_bits", "difference_bits"]


@pytest.fixture
def points(expect):
    """Of a sweep the rows by their construction, mask, kernel and arithmetic, each by Omega and
    penalty."""
    def swept(line):
        found = {}
        for row in csv.DictReader(io.StringIO(expect(0, f"sweep {line} --format csv -q"))):
            key = tuple(row[axis] for axis in ("construction", "mask", "kernel", "arithmetic"))
            negative = "penalty=negative" in row["options"]
            assert found.setdefault(key, {}).setdefault((float(row["omega"]), negative), row) is row
        return found
    return swept


@pytest.mark.parametrize("flags, count", [
    (f"--construction {ALL}", 14),
    (f"--construction {ALL} --mask causal --bias random", 14),
    # Every key that a token may see has Omega in its score, in the usual form.
    ("--construction attention --mask pseudo-causal,pseudo-band,pseudo-random", 6)])
def test_errors_do_not_grow_with_omega(points, flags, count):
    """At Omega = 1e6 the usual form is off by about ulp(2e6), 2.3e-10; the other is off by what it is
    at 20.  Attention and maps have no Omega in what tokens see."""
    found = points(f"{flags} --kernel dense,structured --n 12 --d 8 --omega 20,1e6 {BOTH}")
    assert len(found) == count
    for key, rows in found.items():
        for omega in (20, 1e6):
            assert [rows[omega, True][name] for name in SAME] \
                == [rows[omega, False][name] for name in SAME], key
        for error in ("total_max", "total_rms", "total_rel", "rounding_max"):
            assert 0 < float(rows[1e6, True][error]) <= 1.5 * float(rows[20, True][error]), key
        assert float(rows[1e6, True]["total_max"]) < 4e-15, key
        grows = key[0] not in ("attention", "linear") or key[1].startswith("pseudo")
        assert not grows or 1e-13 < float(rows[1e6, False]["total_max"]) < 1e-9, key


def test_nor_do_they_in_narrow_formats(points):
    """With fewer digits than a leak at Omega = 20 shows, not by a bit."""
    found = points(f"--construction {ALL} --n 12 --d 8 --omega 20,1e4 --penalty negative "
                   "--arithmetic f32,bf16,fp16,bf16-flash,fp16-flash,bf16-autocast,tf32")
    assert len(found) == 7 * 7
    for rows in found.values():
        assert float(rows[20, True]["total_max"]) > 0
        assert rows[20, True]["total_max"] == rows[1e4, True]["total_max"]


def test_a_trained_model_is_verified(run):
    """Far beyond where the usual form gives up."""
    worst = []
    for penalty in ("positive", "negative"):
        ended = run("verify", "cases/models/modadd53-silu.safetensors", "--tokens", "1/2/53",
                    "--omega", "1e6", "--penalty", penalty, "-q", "--format", "csv")
        assert ended.code == 0, ended
        worst.append(float(list(csv.DictReader(io.StringIO(ended.stdout)))[-1]["total_max"]))
    assert worst[0] > 1e-11 and worst[1] < 1e-13


@pytest.mark.parametrize("construction", ["silu", "fused", "transformer3"])
def test_losses_keep_shifts(points, construction):
    """Where T' has lost entries of Omega, heads of groups and full matrices make the same of shifts
    beside extra coefficients: in the reference to all digits, in the machine to rounding."""
    found = points(f"--construction {construction} --activation gelu_new --gelu 3 --n 4 --d 3 "
                   "--d-ff 4 --omega 5 --dropout 0.2 --bias random --reference subtract "
                   "--precision 256 --kernel structured,dense")
    rows = [row for point in found.values() for row in point.values()]
    assert len(rows) == 2 and rows[0]["construction_max"] == rows[1]["construction_max"]
    assert all(float(row["rounding_max"]) < 1e-13 for row in rows)


def test_penalties_keep_shifts(points):
    """In the usual form they are absorbed by Omega."""
    found = points("--construction silu,fused,transformer3 --activation gelu --gelu 8 --n 4 --d 3 "
                   f"--d-ff 4 --omega 1e9 {BOTH} --kernel structured,dense")
    assert len(found) == 6
    for rows in found.values():
        assert float(rows[1e9, True]["rounding_max"]) < 1e-14 \
            <= float(rows[1e9, False]["rounding_max"])


def test_gelus_are_understood(run, expect):
    """One head has one spelling; and where half has no number for 2 Omega, a gate and its shift
    together it is never a pass."""
    def rows(code, line):
        ended = run("sweep", *line.split(), "--format", "csv", "-q")
        assert ended.code == code, ended
        return list(csv.DictReader(io.StringIO(ended.stdout)))
    said = rows(0, "--construction silu --activation gelu,gelu_new --gelu 1,minimax,8 --n 3 --d 2 "
                   "--omega 20")
    assert [row["options"] for row in said] == 2 * ["gelu=minimax", "gelu=8"]
    assert float(said[3]["approximation_max"]) < 1.3e-4
    half = "--construction silu --activation gelu --gelu 8 --kernel dense,structured --n 3 --d 2 " \
           "--omega 32752 --arithmetic fp16"
    for row in rows(0, half + ",fp16-flash"):
        assert row["status"] == "ok" and float(row["total_max"]) < float("inf")
    said = rows(1, half + " --score-scale 8 --tolerance 1e9")
    assert [row["status"] for row in said] == ["overflow", "overflow"]
