"""`python3 -m headproof tokens`: texts, and what a tokenizer gave, as lines of token ids; and
`python3 -m headproof save --names`: a table of names in a file."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT, quick_python

MODEL = ROOT / "tests/data/texts.safetensors"
CHARACTERS = ROOT / "tests/data/texts-characters.json"


@pytest.fixture
def tokens(tmp_path):
    """tokens(*arguments): code, stdout, stderr, in the test's own folder."""
    def run(*arguments, stdout=subprocess.PIPE, command="tokens"):
        ended = subprocess.run([quick_python(), "-m", "headproof", command, *map(str, arguments)],
                               cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "python"),
                                    "HEADPROOF": PROGRAM})
        return ended.returncode, ended.stdout, ended.stderr
    return run


# What is in the file of that name, and the lines of ids.
TEXTS = [
    ("t.txt", "ab\nc\u00e9a \u0436b", "0 1 4 2 3 0 5 6 1\n"),
    ("t.txt", "a", "0\n"),
    ("ids.json", "[3, 1, 2]", "3 1 2\n"),
    ("ids.json", "[[3, 1], [2]]", "3 1\n2\n"),
    ("ids.json", '{"input_ids": [[3, 1], [2]], "attention_mask": [[1, 1], [1]]}', "3 1\n2\n"),
]


@pytest.mark.parametrize("name, text, ids", TEXTS)
def test_ids(tokens, tmp_path, name, text, ids):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert tokens(MODEL, name, "--characters", CHARACTERS) == (0, ids, "")
    assert tokens(MODEL, name, "--characters", CHARACTERS, "-o", "out") == (0, "", "")
    assert (tmp_path / "out").read_text() == ids


@pytest.mark.parametrize("model", [".", "model.safetensors"])
def test_characters_lie_beside_the_model(tokens, tmp_path, model):
    (tmp_path / "model.safetensors").write_bytes(MODEL.read_bytes())
    (tmp_path / "characters.json").write_bytes(CHARACTERS.read_bytes())
    (tmp_path / "t.txt").write_text("abc")
    assert tokens(model, "t.txt") == (0, "0 1 2\n", "")


BAD_TEXTS = [
    (b"", "t.txt: is empty: expected at least one character"),
    (b"ab\ncaZ", "t.txt:2: column 3: 'Z', U+005A: expected a character of "),
    (b"ab\r\nc", "t.txt:1: column 3: '\\r', U+000D: expected a character"),
    (b"\xc3\xa9\0", "t.txt:1: column 2: '\\x00', U+0000: expected a character"),
    (b"a\xe2\x80\xae", "t.txt:1: column 2: '\\u202e', U+202E: expected a character"),
    (b"a\xff", "t.txt:1: column 2: expected UTF-8, found byte 0xff"),
    (b"a\nb\xc3", "t.txt:2: column 2: expected UTF-8, found byte 0xc3"),
    (b"\xc0\xaf", "t.txt:1: column 1: expected UTF-8"),
    (b"\xed\xa0\x80", "t.txt:1: column 1: expected UTF-8"),
    (b"\xf4\x90\x80\x80", "t.txt:1: column 1: expected UTF-8"),
]


@pytest.mark.parametrize("text, words", BAD_TEXTS)
def test_bad_text(tokens, tmp_path, text, words):
    (tmp_path / "t.txt").write_bytes(text)
    code, said, why = tokens(MODEL, "t.txt", "--characters", CHARACTERS)
    assert (code, said, why.count("\n")) == (2, "", 1)
    assert why.startswith(f"headproof: {words}")


BAD_LISTS = [
    ('["a","b","a","d","e","f","g"]', "character 'a': tokens 0 and 2: expected every character"),
    ('["a","b"]', "2 characters: expected as many as the model has tokens, 7"),
    ('["a","bb","c","d","e","f","g"]', "entry 2: expected a string of one character"),
    ('["a","","c","d","e","f","g"]', "entry 2: expected a string of one character"),
    ('["a",7,"c","d","e","f","g"]', "entry 2: expected a string of one character"),
    ("{}", "expected a JSON array of characters"),
    ('["a"', "expected a JSON array of characters"),
]


@pytest.mark.parametrize("characters, words", BAD_LISTS)
def test_bad_list(tokens, tmp_path, characters, words):
    (tmp_path / "t.txt").write_text("a")
    (tmp_path / "c.json").write_text(characters)
    code, said, why = tokens(MODEL, "t.txt", "--characters", "c.json")
    assert (code, said) == (2, "") and why.startswith(f"headproof: c.json: {words}")


@pytest.mark.parametrize("ids", ["[]", "3", "[1, true]", "[1.5]", '["1"]', "[[1], 2]", "[[1], []]",
                                 '{"ids": [1]}', "[1"])
def test_bad_ids(tokens, tmp_path, ids):
    (tmp_path / "ids.json").write_text(ids)
    code, said, why = tokens(MODEL, "ids.json")
    assert (code, said) == (2, "") and why.startswith("headproof: ids.json: expected ")


def test_files(tokens, tmp_path):
    """Those that are not there, a full disk, and none that is written over."""
    (tmp_path / "t.txt").write_text("a")
    for arguments in [(MODEL, "no.txt"), (MODEL, "t.txt"), (MODEL, "t.txt", "-o", "no/out")]:
        own = arguments[1:2] != ("t.txt",) or len(arguments) > 2
        code, _, why = tokens(*arguments, *(["--characters", CHARACTERS] if own else []))
        assert code == 2 and "No such file or directory" in why
    with open("/dev/full", "w") as full:
        assert tokens(MODEL, "t.txt", "--characters", CHARACTERS, stdout=full)[0] == 99
    for name, source in ("c.json", CHARACTERS), ("m.safetensors", MODEL):
        (tmp_path / name).write_bytes(source.read_bytes())
    for name, what in ("t.txt", "text"), ("c.json", "characters"), ("m.safetensors", "model"):
        assert tokens("m.safetensors", "t.txt", "--characters", "c.json", "-o", name)[2] == \
            f"headproof: {name}: expected another file than the {what}\n"
    assert (tmp_path / "t.txt").read_text() == "a"


def test_the_program_reads_them(tokens, run, tmp_path):
    """Losses of a text of GPT-2's kind are those of its tokens."""
    model = ROOT / "cases/models/chargpt/model.safetensors"
    (tmp_path / "t.txt").write_text("It is a truth universally acknowledged.\n")
    assert tokens(model, "t.txt", "-o", "ids")[0] == 0
    characters = json.loads((model.parent / "characters.json").read_text())
    text = "".join(characters[int(token)] for token in (tmp_path / "ids").read_text().split())
    assert text == (tmp_path / "t.txt").read_text()
    said = run("verify", model, "--tokens-file", tmp_path / "ids", "--omega", "20", "--gelu", "1",
               "--positions", "all", "--format", "csv", "-q")
    rows = [row for row in csv.DictReader(io.StringIO(said.stdout)) if row["position"]]
    assert len(rows) == len(text) and all(row["loss_original"] for row in rows[:-1])


def test_names_in_a_file(tokens, run, tmp_path):
    """A model under foreign names is saved by their table, and agrees with its witness."""
    whole = (ROOT / "cases/models/modadd53-silu.safetensors").read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    foreign, names = {}, {}
    for name, tensor in json.loads(whole[8:start]).items():
        kept = name.startswith(("__metadata__", "witness."))
        foreign[name if kept else f"my.{name.lower()}"] = tensor
        if not kept:
            names[f"my.{name.lower()}".replace("blocks.0", "blocks.{l}")] = \
                name.removeprefix("blocks.0.")
    header = json.dumps(foreign).encode()
    (tmp_path / "m").mkdir()
    (tmp_path / "m/model.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + whole[start:])
    (tmp_path / "names.json").write_text(json.dumps(names))
    code, _, why = tokens("m", "-o", "out.safetensors", "--names", "names.json", command="save")
    assert (code, why) == (0, "")
    ended = run("verify", tmp_path / "out.safetensors", "--tokens", "1/2/53", "--omega", "20",
                "--tolerance", "1e-9")
    assert ended.code == 0 and "PASS" in ended.stdout and "agrees with its witness" in ended.stdout
    (tmp_path / "bad.json").write_text("{bad")
    code, _, why = tokens("m", "-o", "two.safetensors", "--names", "bad.json", command="save")
    assert (code, why.count("\n")) == (2, 1) and "bad.json: expected JSON" in why
