"""Files that say what they are not: tables edited after they were written, sidecars that contradict
them, counts beyond sense, weights that changed in one byte."""

import re
import shutil

import numpy as np
import pytest

import safetensors_file
import tables
from conftest import ROOT

GRID = "sweep --construction silu,fused --n 4 --d 3 --depth 3 --omega 5,20 --seed 1:2 --quiet"
MODADD = ROOT / "cases/models/modadd53-silu.safetensors"
MERGE = "merge s1.csv s2.csv -o all.csv"


def edit(path, pattern, by):
    """Replaces what is there."""
    text, count = re.subn(pattern, by, path.read_text(), flags=re.M)
    assert count > 0
    path.write_text(text)


def shards(expect, line, code):
    for i in (1, 2):
        expect(code, f"{line} --shard {i}/2 -o s{i}.csv")


def test_edited_tables_are_not_resumed(expect, tmp_path):
    """Exit 1 stays exit 1, or becomes 2, and never 0."""
    line, table = f"{GRID} --tolerance 1e-7 -o t.csv", tmp_path / "t.csv"
    expect(1, line, "fail at")
    kept = table.read_text()
    expect(1, f"{line} --resume")
    edit(table, ",fail$", ",ok")
    edit(table, "e-0[2-6],", "e-09,")
    expect(2, f"{line} --resume", "its bytes are not those that its .json was written with")
    edit(tmp_path / "t.csv.json", '^ "digest".*\n', "")
    expect(2, f"{line} --resume", "its bytes are not those")
    expect(1, line)
    assert table.read_text() == kept


def test_merge_believes_rows(expect, tmp_path):
    """The verdict is theirs."""
    shards(expect, f"{GRID} --tolerance 1e-7", 1)
    expect(1, MERGE, "fails; reproduce: headproof")
    (tmp_path / "all.csv").unlink()
    sidecars = [tmp_path / f"s{i}.csv.json" for i in (1, 2)]
    kept = sidecars[1].read_text()
    for sidecar in sidecars:
        edit(sidecar, '"passed": false', '"passed": true')
    expect(2, MERGE, "its .json says another verdict for point ")
    # Edited rows, with the old digest and with the one that they have.
    sidecars[1].write_text(kept)
    edit(tmp_path / "s2.csv", ",fail$", ",ok")
    expect(2, MERGE, "its rows are not those that its .json names")
    tables.seal(tmp_path / "s2.csv")
    expect(2, MERGE)
    assert not (tmp_path / "all.csv").exists()


# What is judged, and how a sweep of it ends.
JUDGED = [
    ("--tolerance 1e-6 --judge construction --norm rms", 1),
    ("--tolerance 1 --judge observed --norm rel", 0),
    ("--tolerance 1e-30 --judge rounding", 1),
    ("--tolerance 1e-30 --judge approximation", 0),
    ("--tolerance 1 --arithmetic none", 0),
    ("--tolerance 1 --arithmetic none --judge construction", 0),
    ("--tolerance 1e-300 --judge construction --weights normal", 1),
    ("--weights normal", 0),
]


@pytest.mark.parametrize("flags, code", JUDGED)
def test_verdicts_of_merged_rows_are_one_runs(expect, tmp_path, flags, code):
    expect(code, f"{GRID} {flags} -o one.csv")
    for i in (1, 2):
        expect(code, f"{GRID} {flags} --shard {i}/2 -o s{i}.csv")
    expect(code, MERGE)
    assert (tmp_path / "all.csv").read_text() == (tmp_path / "one.csv").read_text()
    expect(code, f"{GRID} {flags} --resume -o all.csv")


# What a sidecar's counts become, and what is said at once.
BEYOND = [
    ({"count": 10**17}, "11/100000000000000000, and 99999999999999989 more\n"),
    ({"points": 10**17, "count": 1}, "its rows are not those that its .json names"),
]


@pytest.mark.parametrize("counts, words", BEYOND)
def test_counts_beyond_sense(expect, tmp_path, counts, words):
    expect(0, f"{GRID} --shard 1/2 -o s1.csv")
    for name, count in counts.items():
        edit(tmp_path / "s1.csv.json", f'"{name}": [28]\\b', f'"{name}": {count}')
    expect(2, "merge s1.csv -o all.csv", words)


@pytest.mark.parametrize("column", ["rounding_max", "kl_machine_max"])
@pytest.mark.parametrize("shard", ["s1.csv", "s2.csv"])
def test_nan_is_the_worst_of_all_shards(expect, tmp_path, shard, column):
    """Wherever it stands."""
    shards(expect, f"verify {MODADD} --tokens 0:26:26/0/53 --omega 20 --quiet", 0)
    tables.alter(tmp_path / shard, (1, column, "nan"))
    expect(0, MERGE)
    assert tables.rows_of(tmp_path / "all.csv")[0][column] == "nan"


def test_every_byte_of_the_weights_counts(expect, tmp_path):
    """It makes another file of it."""
    path = tmp_path / "w.safetensors"
    shutil.copy(MODADD, path)
    line = "sweep --weights ./w.safetensors --n 3 --omega 20 --arithmetic none --quiet -o w.csv " \
        "--witness-tolerance 1e9"
    expect(0, line)
    expect(0, f"{line} --resume")
    whole = path.read_bytes()
    data = 8 + int.from_bytes(whole[:8], "little")
    for place in (9, 1000, 65535, 65536, 65544, 70000):
        changed = bytearray(whole)
        changed[data + place] ^= 1
        path.write_bytes(changed)
        expect(2, f"{line} --resume", "other contents of the weights file")


@pytest.mark.parametrize("matrix", ["W_Q", "W_K", "W_V", "W_O"])
def test_heads_in_another_order_are_found(expect, tmp_path, matrix):
    """Of each matrix of a head: what mends it is said."""
    tensors, said = safetensors_file.read(MODADD)
    kinds = {"F32": "<f4", "I64": "<i8"}
    arrays = {name: np.frombuffer(data, kinds[dtype]).reshape(shape)
              for name, (dtype, shape, data) in tensors.items()}
    name = f"blocks.0.attn.{matrix}"
    arrays[name] = arrays[name][[2, 1, 0, 3]]
    safetensors_file.write(tmp_path / "m.safetensors", arrays, said)
    expect(2, "verify m.safetensors --tokens 0/1/53 --omega 20 -q", "this is another model",
           f"what mends it: heads 0 and 2 of {matrix}")
