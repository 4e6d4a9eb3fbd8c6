"""Shards of a sweep or of verify, and merge: the bytes of one run, or a refusal that names what is
wrong.  The scripts of docs/robustness.md, run as Slurm would run them."""

import json
import os
import re
import shlex
import shutil
import subprocess

import models
import pytest
import tables

from conftest import PROGRAM, ROOT

MODEL = f"{ROOT}/cases/models/modadd53-silu.safetensors"
GRID = "sweep --construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:3 -q"
OTHER = GRID.replace("5,20", "5,21")
VERIFY = f"verify {MODEL} --tokens 0:52:26/0:52:52/53 --omega 5,20 -q"
LESS = f"verify {MODEL} -q --tokens 0:52:13/0:52:13/53 --omega 5,20"
CHANGED = f"{VERIFY.replace('5,20', '0.01')} --network three"
TRIAL = f"verify {MODEL} -q --tokens 0:31/1/53"


@pytest.fixture
def made(run, tmp_path):
    """made(line, count, name): files NAME1.csv, ... of so many shards; they end so."""
    def make(line, count, name="s"):
        ended = [run(*shlex.split(line), "--shard", f"{i}/{count}", "-o", f"{name}{i}.csv",
                     cwd=tmp_path) for i in range(1, count + 1)]
        return [f"{name}{i}.csv" for i in range(1, count + 1)], ended
    return make


# What is run in shards, of which one run ends so; in how many; and what merge says.
WHOLE = [
    (GRID, 0, (1, 2, 15, 4, 12), "12 points of "),
    (f"{GRID} --propagation", 0, (3,), "12 points of 3 shards in all.csv"),
    (f"{VERIFY} --tolerance 0.01", 0, (1, 2, 5), "verdict: PASS"),  # a value as long as "none"
    (f"{VERIFY} --tolerance 1e-6", 1, (2,), "verdict: FAIL"),
    (f"{VERIFY} --tolerance 1e-13 --judge rounding --norm rel", 0, (2,), "verdict: PASS"),
    (f"{VERIFY} --network three --shrink 0.9,1", 0, (2,), "verdict: evaluated"),
    (f"{VERIFY} --reference subtract --max-bits 64", 0, (2,), "verdict: evaluated"),  # bounds
    # Errors below what MPFR holds unless it is asked for more.
    (f"verify {MODEL} -q --tokens 0:3/1/53 --omega 1e10", 0, (2,), "verdict: evaluated"),
    # From so many inputs on, verify times some before it begins; shards of fewer guess.
    (f"{TRIAL} --omega 5,20 --tolerance 1e-2", 0, (2,), ""),
    (f"{TRIAL} --omega 20 --shrink 0.9", 0, (2,), ""),
    # Where Omega is far too small, predictions change in both shards: all of them are counted.
    (CHANGED, 0, (2,), ""),
    # Without an unembedding there are no logits: their cells are blank.
    ("verify bare.safetensors -q --tokens 0:2/0:1 --omega 5,20 --tolerance 1", 0, (2,), ""),
]


@pytest.mark.parametrize("line, code, counts, words", WHOLE)
def test_merged_shards_are_one_run(expect, made, tmp_path, line, code, counts, words):
    if "bare" in line:
        tensors = {name: array for name, array in models.lens_of(3, 1).items()
                   if "embed" not in name or name == "embed.W_E"}
        models.write(tmp_path / "bare.safetensors", tensors, models.NORMED | {"positions": "none"})
    expect(code, f"{line} -o one.csv")
    one = (tmp_path / "one.csv").read_bytes()
    for count in counts:
        names, _ = made(line, count)
        expect(code, f"merge {' '.join(names)} -o all.csv", words)
        assert (tmp_path / "all.csv").read_bytes() == one
    if line == CHANGED:
        for name in names:
            assert int(tables.rows_of(tmp_path / name)[0]["predictions_changed"]) > 0


def test_what_is_merged_is_a_complete_sweep(expect, run, made, tmp_path):
    names, _ = made(GRID, 2)
    expect(0, f"merge {' '.join(names)} -o all.csv")
    said = (tmp_path / "all.csv.json").read_text()
    assert json.loads(said)["machines_differ"] is False
    assert said.count('"index"') == 1  # a single shard's points have no numbers
    # Without -o the table is on stdout, and nothing else.
    again = run("merge", "all.csv", cwd=tmp_path)
    assert again.stdout == (tmp_path / "all.csv").read_text()
    assert "12 points of 1 shard" in again.stderr
    expect(0, f"{GRID} --resume -o all.csv")


def test_shards_are_a_partition(run):
    """Every point is in one shard; those of a base in one shard while there are bases enough."""
    points = lambda *more: run(*GRID.split(), "--dry-run", *more).stdout.splitlines()
    shards = [points("--shard", f"{i}/5") for i in range(1, 6)]
    assert sorted(sum(shards, [])) == sorted(points())
    assert len([one for one in points("--shard", "2/6") if re.search("silu.*--seed 2$", one)]) == 2


def test_many_failures_are_counted(run, made, tmp_path):
    """Of fifteen points that fail ten are named."""
    names, ended = made("sweep --construction silu --n 1 --d 1 --omega 1 --seed 1:15 "
                        "--tolerance 1e-300 -q", 2)
    assert [one.code for one in ended] == [1, 1]
    merged = run("merge", *names, "-o", "all.csv", cwd=tmp_path)
    *failing, last = merged.stderr.splitlines()
    assert (merged.code, last) == (1, "headproof: and 5 more points fail")
    assert len(failing) == 10 == sum("fails; reproduce: headproof sweep " in one for one in failing)
    assert len(tables.rows_of(tmp_path / "all.csv")) == 15


# ---- Refusals ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def shards(run, tmp_path_factory):
    """Shards of sweeps: s, o of another grid, p with more columns, t two of s's; of verify: v, w of
    other inputs, and j, which are judged."""
    folder = tmp_path_factory.mktemp("shards")
    for name, line, count in (("s", GRID, 3), ("o", OTHER, 3), ("t", GRID, 2), ("v", VERIFY, 2),
                              ("w", LESS, 2), ("j", f"{VERIFY} --tolerance 1", 2),
                              ("p", f"{GRID} --propagation", 3)):
        for i in range(1, count + 1):
            ended = run(*line.split(), *f"--shard {i}/{count} -o {name}{i}.csv".split(), cwd=folder)
            assert ended.code == 0, ended
    return folder


def edited(name, old, new, sealed=False, count=1):
    """The file has another text in place of the first."""
    def edit(folder):
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, count))
        if sealed:
            tables.seal(path)
    return edit


def said(name, key, value):
    """Its sidecar says something else."""
    def edit(folder):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    return edit


def cut(name):
    """Without the last line."""
    def edit(folder):
        path = folder / name
        path.write_text("".join(path.read_text().splitlines(True)[:-1]))
    return edit


def rows(change):
    """j2.csv's lines are others, as if they had been written so."""
    def edit(folder):
        lines = tables.lines_of(folder / "j2.csv")
        tables.write(folder / "j2.csv", change([line[:] for line in lines]))
    return edit


def no_bounds(folder):
    for i in (1, 2, 3):
        edited(f"s{i}.csv", "bounds,", "", sealed=True)(folder)


NOTHING, NOT_THOSE = (lambda folder: None), "its rows are not those that its .json names"
S, V, J = ("merge " + " ".join(f"{of}{i}.csv" for i in range(1, n + 1)) + " -o all.csv"
           for of, n in (("s", 3), ("v", 2), ("j", 2)))
REFUSED = [
    (NOTHING, "merge s1.csv s3.csv -o all.csv", "missing: shard 2/3\n"),
    (NOTHING, "merge s1.csv s2.csv s2.csv s3.csv -o all.csv", "s2.csv: shard 2/3 twice"),
    (NOTHING, "merge s1.csv o2.csv s3.csv -o all.csv", "o2.csv: of another grid than s1.csv"),
    (NOTHING, "merge s1.csv t2.csv s3.csv -o all.csv", "t2.csv: shard 2 of 2, s1.csv is of 3"),
    (NOTHING, "merge p1.csv s2.csv p3.csv -o all.csv", "s2.csv"),
    (NOTHING, "merge s1.csv s9.csv -o all.csv", "s9.csv: cannot be read"),
    (NOTHING, "merge -o all.csv", "expected SHARD.csv... [-o FILE.csv]"),
    (NOTHING, f"{S.replace('-o', '--out')}", "(did you mean --output?)"),
    (lambda folder: (folder / "d").mkdir(), "merge d -o x.csv", "cannot be read: Is a directory"),
    (said("s3.csv", "version", "another"), S, "s3.csv: of version another"),
    (said("s3.csv", "schema", 3), S, "s3.csv: schema 3, this version reads schema 6"),
    (edited("s2.csv", "e-", "e-1"), S, NOT_THOSE),
    (cut("s2.csv"), S, f"s2.csv: {NOT_THOSE}"),
    (no_bounds, S, "s1.csv:1: token 'identical': expected the column bounds here"),
    (NOTHING, f"{GRID} --shard 3/2 -o x.csv", "--shard: token "),
    (NOTHING, f"{GRID} --shard 0/2 -o x.csv", "--shard: token "),
    (NOTHING, f"{GRID} --shard 1 -o x.csv", "--shard: token "),
    (NOTHING, "min-omega --shard 1/2", "--shard: token "),
    # A shard is resumed as that shard alone.
    (NOTHING, f"{GRID} --shard 2/3 --resume -o s1.csv", "shard 1/3, this is 2/3"),
    (NOTHING, f"{VERIFY} --shard 7/7", "expected at most 6 parts"),
    (NOTHING, "merge v1.csv -o all.csv", "missing: shard 2/2\n"),
    (NOTHING, "merge v1.csv w2.csv -o all.csv", "of another grid"),
    (NOTHING, "merge v1.csv t2.csv -o all.csv", "of another grid"),
    *((said("v2.csv", key, "another"), V, f"of {key} another, v1.csv of ")
      for key in ("version", "commit")),
    (cut("v2.csv"), V, f"v2.csv: {NOT_THOSE}"),
    # What only damage, or another program, writes.
    (edited("j2.csv", "layer", "level", sealed=True), J, f"j2.csv: {NOT_THOSE}"),
    (rows(lambda lines: [lines[0], lines[1][:-1], *lines[2:]]), J, f"j2.csv: {NOT_THOSE}"),
    (rows(lambda lines: [lines[0], ["x", *lines[1][1:]], *lines[2:]]), J, f"j2.csv: {NOT_THOSE}"),
    (rows(lambda lines: [*lines, lines[-1]]), J, f"j2.csv: {NOT_THOSE}"),
    (rows(lambda lines: [lines[0], [*lines[1][:-1], "fail"], *lines[2:]]), J,
     "says another verdict for point 1 than its rows"),
]


@pytest.mark.parametrize("damage, line, words", REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_whole_is_refused(expect, shards, tmp_path, damage, line, words):
    folder = tmp_path / "shards"
    shutil.copytree(shards, folder)
    damage(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    expect(2, line, words, cwd=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_another_machine_is_said(expect, shards, tmp_path):
    folder = tmp_path / "shards"
    shutil.copytree(shards, folder)
    said("s3.csv", "cpu", "Z80")(folder)
    expect(0, S, "warning: s3.csv: cpu Z80", cwd=folder)
    assert json.loads((folder / "all.csv.json").read_text())["machines_differ"] is True


@pytest.mark.parametrize("bound", [1, 2])
def test_equal_errors_are_a_bound(expect, shards, tmp_path, bound):
    """Of two shards with equal errors of which one is a bound, the bound is merged."""
    folder = tmp_path / "shards"
    shutil.copytree(shards, folder)
    for i in (1, 2):
        tables.alter(folder / f"v{i}.csv", (1, "construction_max", "5e-1"),
                     (1, "bounds", "construction_max" if i == bound else ""))
    expect(0, V, cwd=folder)
    assert tables.rows_of(folder / "all.csv")[0]["bounds"] == "construction_max"


def test_a_shard_of_verify_leaves_searches_out(expect):
    expect(0, f"verify {MODEL} --tokens 1:2/3/53 --shard 1/2 --omega 20",
           "shard 1/2: 1 input of 3 tokens", "a shard leaves them out")


def test_the_documented_scripts_run(tmp_path):
    page = (ROOT / "docs/robustness.md").read_text()
    for name in ("array.sh", "merge.sh"):
        (tmp_path / name).write_text(re.search(f"```sh {name}\n(.*?)```", page, re.S)[1])
    assert (tmp_path / "array.sh").read_text().count("SBATCH") == 5
    (tmp_path / "headproof").symlink_to(PROGRAM)
    (tmp_path / "sweep.case").write_text(
        "[a]\nconstruction = silu,fused\nn = 4\nd = 3\nomega = 5,20\n")
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_CPUS_PER_TASK": "2",
           "SLURM_ARRAY_TASK_COUNT": "4"}
    for script, task in [(name, str(i)) for i in range(1, 5) for name in ("array.sh", "array.sh")]:
        subprocess.run(["sh", script], cwd=tmp_path, env={**env, "SLURM_ARRAY_TASK_ID": task},
                       check=True)
    for line in ("sh merge.sh", f"{PROGRAM} sweep sweep.case -q -o one"):
        subprocess.run(line.split(), cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "all.csv").read_bytes()
