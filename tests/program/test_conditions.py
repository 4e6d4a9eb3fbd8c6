"""What a verdict is under: every command says what was let through, and every report has it."""

import json

import models
import numpy
import pytest
import safetensors_file
from conftest import ROOT

TRAINED = "cases/models/modadd53-silu.safetensors"
THROUGH = "under: tensors 'exp_avg' skipped (--ignore-extra); keys 'foo' not read " \
    "(--ignore-config); nothing in the file shows that "
FLAGS = "--ignore-extra --ignore-config foo"


@pytest.fixture(autouse=True)
def model(tmp_path):
    """A model with a tensor and a key beside it that it does not need, and one without."""
    (tmp_path / "file").mkdir()
    models.write(tmp_path / "file/extra.safetensors",
                 models.made("ffn") | {"exp_avg": numpy.zeros(4)}, models.ALONE)
    (tmp_path / "file/config.json").write_text('{"foo": 1}')
    models.write(tmp_path / "x.safetensors", models.made("ffn"), models.ALONE)


# Every command that reads a model, whether its rows go to a file or not.
COMMANDS = [
    "verify %s --omega 20 --tolerance 1", "sweep --weights %s --omega 20 --tolerance 1",
    "depth --weights %s --omega 20", "check --weights %s --omega 20 --tolerance 1",
    "min-omega --weights %s --tolerance 1", "guarantee %s --input-norm 9 --tolerance 1",
    "cost %s", "convert %s --omega 20 -o t", "export --weights %s --omega 20 -o t"]


@pytest.mark.parametrize("quiet", ["", "--quiet"])
@pytest.mark.parametrize("line", COMMANDS)
def test_commands_say_what_was_let_through(run, expect, tmp_path, line, quiet):
    """Once, and not in a table."""
    line %= "file/extra.safetensors"
    ended = run(*f"{line} {FLAGS} {quiet}".split(), cwd=tmp_path)
    assert ended.code == 0 and (ended.stdout + ended.stderr).count(THROUGH) == 1, ended
    assert THROUGH not in ended.stdout or ",status," not in ended.stdout
    expect(2, f"{line} --ignore-config foo {quiet}", "unknown tensors: 'exp_avg'")


@pytest.mark.parametrize("line", [
    "verify file/extra.safetensors --omega 20 --tolerance 1 -o t.csv",
    "min-omega --weights file/extra.safetensors --tolerance 1 -o t.csv",
    "check --weights file/extra.safetensors --omega 20 --tolerance 1 --save-baseline t.csv"])
def test_reports_have_what_was_let_through(expect, reports, tmp_path, line):
    junit, markdown, report, _ = reports(0, f"{line} {FLAGS} -q")
    assert THROUGH in junit and THROUGH in json.dumps(report)
    assert "skipped \\(--ignore-extra\\); keys " in markdown
    assert (tmp_path / "t.csv.json").read_text().count(THROUGH) == 1
    if "check" not in line:
        expect(0, "report t.csv j -o r.html")
        assert (tmp_path / "r.html").read_text().count(THROUGH) == 2


def test_a_conversion_has_it(expect, tmp_path):
    expect(0, f"convert file/extra.safetensors {FLAGS} --omega 20 -q -o T")
    assert safetensors_file.read(tmp_path / "T")[1]["headproof.conditions"].startswith(THROUGH)


def test_a_merge_has_its_shards_conditions(expect, tmp_path):
    for shard in 1, 2:
        expect(0, f"sweep --weights file/extra.safetensors --omega 10,20 {FLAGS} -q --shard {shard}/2 "
                  f"-o s{shard}")
    expect(0, "merge s1 s2 -o whole", THROUGH)
    assert (tmp_path / "whole.json").read_text().count(THROUGH) == 1


def test_a_witness_is_a_condition(run, expect, tmp_path):
    """Where nothing was let through, what a witness shows, or that there is none, is said; --quiet
    leaves it out of what has no verdict."""
    line = "sweep --weights ./x.safetensors --omega 20"
    ended = run(*line.split(), cwd=tmp_path)
    assert "x.safetensors: nothing in the file shows that it is" in ended.stderr
    assert "under: " not in ended.stderr
    assert run(*line.split(), "-q", cwd=tmp_path).stderr == ""
    expect(0, f"sweep --weights {TRAINED} --n 2 --omega 20 -q -o {tmp_path}/w.csv", cwd=ROOT)
    said = (tmp_path / "w.csv.json").read_text()
    assert said.count(f"{TRAINED}: agrees with its witness, which does not ") == 1
    assert run(*"sweep --construction silu --n 2 --omega 20".split()).stderr == ""
