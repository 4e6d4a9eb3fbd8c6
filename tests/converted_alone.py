#!/usr/bin/env python3
"""Converted models evaluated by who has PyTorch alone: the program of docs/convert.md, as it is
printed there, and the package in python/.

    HEADPROOF=build/release/headproof PYTHONPATH=python python3 tests/converted_alone.py SCRATCH

Exit 1 with what is wrong.  Expected values: T's logits by other
programs (chargpt's expected.safetensors; tests/transformer.py from modadd53's own file), and
how far T' is off, where heads imitate GELU, by `headproof verify`.
"""

import csv
import os
import pathlib
import re
import shutil
import sys

import numpy
import torch

sys.path[:0] = [str(pathlib.Path(__file__).parent / room) for room in ("", "program")]
import headproof  # noqa: E402
import test_families  # noqa: E402
import transformer  # noqa: E402
from asked_program import SCRATCH, check, run_well  # noqa: E402

MODADD = "cases/models/modadd53-silu.safetensors"
CHARGPT = "cases/models/chargpt"


def printed():
    """The functions of the page."""
    with open("docs/convert.md", encoding="utf-8") as file:
        code = re.search(r"^```python\n(import json.*?)^```", file.read(), re.M | re.S)[1]
    names = {}
    exec(code, names)
    return names


def convert(model, name, *flags):
    path = os.path.join(SCRATCH, name)
    run_well("convert", model, "-o", path, "--quiet", *flags)
    return path


def by_all(plain, shared, ids):
    """Logits by the page, by numpy and by the module of either layout."""
    page = printed()
    said, tensors = page["load"](plain)
    yield "the page", page["logits"](said, tensors, list(ids)).numpy()
    for path in (plain, shared):
        yield f"numpy, {path}", headproof.load_converted(path).logits(ids)
        module = headproof.load_converted(path, torch=True)
        yield f"torch, {path}", module(torch.tensor(ids)).numpy()


def silu_is_exact():
    """Ω = 20 leaves 1e-17, the machine 2e-13 of logits up to 60; either way of writing Ω."""
    for penalty in ("positive", "negative"):
        flags = ("--omega", "20", "--penalty", penalty)
        plain = convert(MODADD, "modadd.safetensors", *flags)
        shared = convert(MODADD, "modadd-shared.safetensors", *flags, "--layout", "shared")
        for ids in ([0, 1, 53], [52, 7, 53]):
            expected = transformer.logits(*transformer.load(MODADD), ids)
            for who, got in by_all(plain, shared, ids):
                error = abs(got - expected).max()
                check(error < 2e-13, f"{who}: {ids}: a logit is {error} off")
                check(got[2].argmax() == (ids[0] + ids[1]) % 53, f"{who}: the sum of {ids}")


def a_model_without_mask():
    """The same numbers as another model: its bias row is the last one."""
    model = os.path.join(SCRATCH, "unmasked.safetensors")
    with open(MODADD, "rb") as file, open(model, "wb") as other:
        data = file.read()
        said = re.search(rb'"mask": ?"causal"', data)[0]
        other.write(data.replace(said, b'"mask":"none"'.ljust(len(said))))
    for place in ("last", "first"):
        flags = ("--omega", "20", "--bias-row", place)
        plain = convert(model, "unmasked-plain.safetensors", *flags)
        shared = convert(model, "unmasked-shared.safetensors", *flags, "--layout", "shared")
        expected = transformer.logits(*transformer.load(model), [3, 4, 53])
        for who, got in by_all(plain, shared, [3, 4, 53]):
            error = abs(got - expected).max()
            check(error < 2e-13, f"{who}: without a mask a logit is {error} off")


LENGTH = 16


def verified(windows, gelu):
    """The largest logit error of T' that verify finds in each position of each window."""
    tokens = os.path.join(SCRATCH, "tokens")
    table = os.path.join(SCRATCH, "verify.csv")
    with open(tokens, "w", encoding="utf-8") as file:
        file.writelines(",".join(map(str, ids)) + "\n" for ids in windows)
    run_well("verify", CHARGPT, "--tokens-file", tokens, "--window", str(LENGTH), "--positions",
             "all", "--gelu", gelu, "--omega", "20", "--format", "csv", "-q", "-o", table)
    with open(table, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["input"] != ""]
    return [float(row["logit_error"]) for row in rows if row["logit_error"] != ""]


def a_gpt2_with_norms():
    """Of a causal model the first tokens' logits do not hang on what comes."""
    tensors, _ = transformer.load(os.path.join(CHARGPT, "expected.safetensors"))
    windows = [[int(t) for t in window[:LENGTH]] for window in tensors["tokens"][:2]]
    flags = ("--omega", "20", "--gelu", "1", "--n", str(LENGTH))
    plain = convert(CHARGPT, "chargpt.safetensors", *flags)
    shared = convert(CHARGPT, "chargpt-shared.safetensors", *flags, "--layout", "shared")
    off = max(verified(windows, "1"))
    check(off > 0.1, f"verify: {off}")
    results = {}
    for ids, logits in zip(windows, tensors["logits"]):
        expected = logits[:LENGTH]
        for who, got in by_all(plain, shared, ids):
            error = abs(got - expected).max()
            results[who] = max(error, results.get(who, 0))
    for who, error in results.items():
        check(abs(error - off) < 1e-9, f"{who}: logits are {error} off, by verify {off}")
    short = headproof.load_converted(shared).logits(windows[0][:5])
    check(abs(short - headproof.load_converted(plain).logits(windows[0])[:5]).max() < 1e-11,
          "fewer tokens than the file has rows")


def gates_and_turns():
    """A Llama's and a GPT-J's, of other programs' answers, floats: gates of SiLU, which tau puts
    1e-11 off; and of GELU 8 heads."""
    for name, most in ("llama", 1e-6), ("gptj", 1e-3):
        folder = pathlib.Path(SCRATCH, name)
        folder.mkdir()
        test_families.write(folder, name)
        of, _ = transformer.load(folder / "model.safetensors")
        ids = [int(i) for i in of["witness.tokens"][0]]
        flags = ("--omega", "20", "--gelu", "8") if name == "gptj" else ("--omega", "20")
        plain = convert(str(folder), f"{name}.safetensors", "--n", str(len(ids)), *flags)
        shared = convert(str(folder), f"{name}-shared.safetensors", *flags, "--layout", "shared")
        shutil.rmtree(folder)
        expected = of["witness.logits"][0]
        own = headproof.load_converted(shared).logits(ids)
        for who, got in by_all(plain, shared, ids):
            check(abs(got - expected).max() < most, f"{who}: {abs(got - expected).max()} off")
            check(abs(got - own).max() < 1e-9, f"{who}: {abs(got - own).max()} off the others")


silu_is_exact()
a_model_without_mask()
gates_and_turns()
a_gpt2_with_norms()
print("all is well")
