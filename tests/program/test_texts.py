"""Texts through `verify`, as token ids: losses and divergences at every position, tolerances for
them, the first prediction that changes, shards put together, and what are no ids."""

import csv
import io
import re

import numpy
import pytest
import models
from conftest import ROOT

MODEL, MODADD = ROOT / "tests/data/texts.safetensors", ROOT / "cases/models/modadd53-silu.safetensors"
TEXT = "0 1 4 2 3 0 5 6 1"
OF_TEXT = f"verify {MODEL} --positions all --tokens-file"


@pytest.fixture(autouse=True)
def text(tmp_path):
    (tmp_path / "t.txt").write_text(TEXT)


@pytest.fixture
def table(run, tmp_path):
    """The rows that a command prints, with its exit code."""
    def read(line, code=0):
        ended = run(*f"{line} -q --format csv".split(), cwd=tmp_path)
        assert ended.code == code, ended
        return list(csv.DictReader(io.StringIO(ended.stdout)))
    return read


def after(text, words):
    """The number behind these words."""
    return float(re.search(re.escape(words) + r"(\S+?)[,;]? ", text)[1])


def test_means_are_of_the_cells(table):
    """The last row of an Omega is of all positions: means of the cells above, and the largest."""
    *rows, last = table(f"{OF_TEXT} t.txt --omega 3")
    assert len(rows) == 9
    for column in ("loss_original", "loss_converted", "loss_machine", "loss_native", "kl_converted",
                   "kl_machine", "kl_native"):
        values = [float(row[column]) for row in rows if row[column]]
        assert len(values) == (8 if "loss" in column else 9)
        mean = float(last[column])
        assert abs(mean - sum(values) / len(values)) <= 1e-11 * mean
        assert "loss" in column or float(last[f"{column}_max"]) == max(values)


def test_the_machine_s_are_of_their_size(table):
    """In double its divergences are those of its logits' errors, which the construction makes at
    Omega 2 and rounding at 400; and m(T) does not depend on Omega."""
    rows = table(f"{OF_TEXT} t.txt --omega 2,400")
    for near, far in zip(rows[:9], rows[10:19]):
        kl = float(near["kl_converted"])
        assert abs(float(near["kl_machine"]) - kl) < 1e-9 * kl
        assert 0 < float(far["kl_machine"]) <= float(far["logit_error"]) ** 2
        assert near["kl_native"] == far["kl_native"]


@pytest.mark.parametrize("judge, column, named", [
    ("logits", "logit_error", "the largest logit error"),
    ("kl", "kl_machine_max", "the largest KL divergence of m(T')")])
def test_tolerances(expect, table, judge, column, named):
    """At the ends of the interval found the largest is within the tolerance, and beyond them it is
    not; the verdict says what was judged."""
    line = f"verify {MODADD} --tokens 0:52:26/1/53 --tolerance 1e-6 --judge {judge} --omega"
    said = expect(0, f"{line} 20", f"verdict: PASS: at omega 20 {named} is within 1e-06",
                  "in the stream")
    omega = after(said, "omega from ")
    for factor, status in (1 + 1e-7, "ok"), (1 - 2e-6, "fail"):
        row, = table(f"{line} {omega * factor:.9g}", code=int(status == "fail"))
        assert row["status"] == status and (float(row[column]) > 1e-6) == (status == "fail")


def test_min_omega_finds_the_same(expect, table, tmp_path):
    """Over a file's own inputs, what verify finds, at all positions and at the last."""
    found = {}
    models.write(tmp_path / "m.safetensors", {
        "X": numpy.array([[.5, 3], [1, -2]]), "blocks.0.mlp.W_in": numpy.array([[1], [.5]]),
        "blocks.0.mlp.W_out": numpy.array([[.5, -.25]]),
        "unembed.W_U": numpy.array([[1, 2, -1], [.25, -1, 3]])}, models.ALONE)
    rest = "--construction fused --tolerance 1e-7 --judge kl --positions"
    for positions in "last", "all":
        said = expect(0, f"verify m.safetensors --omega 20 {rest} {positions}")
        row, = table(f"min-omega --weights ./m.safetensors --kernel structured {rest} {positions}")
        found[positions] = after(said, "omega from ")
        assert float(row["omega_min"]) == found[positions]
        assert float(row["error_min"]) <= 1e-7 < float(row["error_below"])
        assert float(row["floor"]) < 1e-25
    assert found["last"] < found["all"]


def test_the_first_change_is_named(expect, table):
    """At Omega 0.1 some predictions change; the first in the table is the one that is named."""
    line = f"verify {MODADD} --tokens 0:52:13/0:52:13/53 --omega 0.1"
    first = next(row for row in table(f"{line} --positions last")
                 if row["predictions_changed"] == "1")
    expect(0, line, f"omega 0.1, the first change: input {first['input']}, position 3, from "
                    f"{first['prediction']} to {first['machine_prediction']}\n")


@pytest.mark.parametrize("line", [
    f"{OF_TEXT} t.txt --stride 1 --omega 2,30 -q",
    f"verify {MODADD} --tokens 0:52:26/0:52:26/53 --omega 2,30 -q"])
def test_parts_are_put_together(expect, tmp_path, line):
    """They are the bytes of one run, of texts and of inputs without positions; threads change
    nothing."""
    expect(0, f"{line} -o 0.csv --threads 1")
    for shard in 1, 2, 3:
        expect(0, f"{line} -o {shard}.csv --threads 3 --shard {shard}/3")
    expect(0, "merge 1.csv 2.csv 3.csv -o m.csv")
    assert (tmp_path / "m.csv").read_bytes() == (tmp_path / "0.csv").read_bytes()


def test_parts_of_other_texts_are_refused(expect, tmp_path):
    """Though all flags agree."""
    for shard, last in (1, 2), (2, 0):
        (tmp_path / "t.txt").write_text(f"0 1 2 0 1 2 0 1 {last}")
        expect(0, f"{OF_TEXT} t.txt --omega 5 -q -o {shard}.csv --shard {shard}/2")
    expect(2, "merge 1.csv 2.csv -o m.csv")


def test_short_texts_are_one_window(expect, table, tmp_path):
    """One token has none behind it, and no loss; what is printed says how windows lie."""
    (tmp_path / "one.txt").write_text("0")
    (tmp_path / "two.txt").write_text(f"{TEXT}\n0 1 4 2 3 0\n")
    _, last = table(f"{OF_TEXT} one.txt --omega 9")
    assert (last["inputs"], last["loss_original"]) == ("1", "") and float(last["kl_machine"]) > 0
    for name, count in ("t", 3), ("two", 5):
        expect(0, f"{OF_TEXT} {name}.txt --omega 9",
               f"{count} windows of 4 tokens, 4 apart, a last one up to 3 earlier, to be")


# Ids, flags, and what is said; a file is named with its bad line.
WRONG = [
    ("0 1\n2 7\n", "", "f:2: token '7': expected a token id from 0 to 6"),
    ("0 -1\n", "", "f:1: token '-1': expected a token id"),
    ("0,1,,2\n", "", "f:1: token '': expected a token id"),
    ("\n0,1,\n", "", "f:2: token '': expected a token id"),
    ("0 x1\n", "", "f:1: token 'x1': expected a token id"),
    ("0 1\0 2\n", "", "f:1: token '1\\x00': expected a token id"),
    ("99999999999999999999\n", "", "f:1: token '99999999999999999999': expected a token id"),
    ("0 1 2\n\n3 4\n", "", "f:3: 2 tokens: expected 3 or more, the window (--window)"),
    (" \n\t\r\n", "", "f: is empty: expected a line of token ids"),
    # Windows longer than the context, strides longer than the window.
    ("0 1 2 0 1", "--positions all --window 5",
     "--window: token '5': expected at most 4, the context length"),
    ("0 1 2 0 1", "--positions all --stride 5",
     "--stride: token '5': expected at most 4, the window"),
    ("0 1 2 0 1", "--positions all --window 2 --stride 3",
     "--stride: token '3': expected at most 2, the window"),
    ("0 1 2 0 1", "--positions all --window 0", "--window: token '0': expected an integer from 1"),
    ("0 1", "--positions 2", "f has 2 tokens"),
    # Of ten million tokens nothing is evaluated.
    ("0 1 2 0 " * 2500000, "--positions all --stride 1", "9999997 windows need "),
]


@pytest.mark.parametrize("ids, flags, words", WRONG)
def test_wrong(refused, tmp_path, ids, flags, words):
    (tmp_path / "f").write_text(ids, newline="")
    refused(words, "verify", MODEL, "--tokens-file", "f", "--omega", "9", *flags.split(),
            cwd=tmp_path)


def test_ids_are_tuples(table, tmp_path):
    """However lines of them are written, by an editor that begins with a byte order mark, too."""
    (tmp_path / "ids").write_bytes(b"\xef\xbb\xbf0, 1,53\r\n0\t27 53\n\n26 1 53 \n26,27, 53")
    line = f"verify {MODADD} --omega 9"
    assert table(f"{line} --tokens-file ids") == table(f"{line} --tokens 0,26/1,27/53")
