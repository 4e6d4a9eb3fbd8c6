#!/usr/bin/env python3
"""Independent oracle for texts: writes a model with an embedding, positions and an unembedding, and
its list of characters, and prints the loss and the divergence at every position of a text, of T and
of its rewrite as full matrices in mpmath.  A divergence is the sum of p (log p - log q) with 1800
digits.  Shares nothing with the C programs.  Needs mpmath; run by hand, from this directory:

    python3 oracle_texts.py

It writes data/texts.safetensors and data/texts-characters.json and prints the table that
test_texts.c expects.
"""

import json
import random

from mpmath import exp, log, mp, mpf, nstr

import oracle_model as base

mp.prec = 6000

CHARACTERS = ["a", "b", "c", "\u00e9", "\n", " ", "\u0436"]
TEXT = "ab\nc\u00e9a \u0436b"
CONTEXT, STRIDE = 4, 3
OMEGAS = (2, 20, 400)

base.N = CONTEXT
base.SHAPES["X"] = (CONTEXT, base.D)
base.SHAPES["embed.W_E"] = (len(CHARACTERS), base.D)
base.SHAPES["pos_embed.W_pos"] = (CONTEXT, base.D)
base.SHAPES["unembed.W_U"] = (base.D, len(CHARACTERS))
base.SHAPES["unembed.b_U"] = (len(CHARACTERS),)


def draw():
    """Doubles in (-1, 1), some of the unembedding's larger."""
    source = random.Random(1936)
    model = {}
    for name, shape in base.SHAPES.items():
        count = 1
        for extent in shape:
            count *= extent
        size = 3 if name == "unembed.W_U" else 1
        model[name] = [size * (2 * source.random() - 1) for _ in range(count)]
    return model


def embed(model, tokens):
    """The window's stream: each entry one sum of two doubles."""
    e, p, d = model["embed.W_E"], model["pos_embed.W_pos"], base.D
    return [e[token * d + c] + p[i * d + c] for i, token in enumerate(tokens) for c in range(d)]


def probabilities(model, row):
    """softmax of row W_U + b_U."""
    logits = row * base.tensor(model, "unembed.W_U") + base.tensor(model, "unembed.b_U")
    powers = [exp(z) for z in logits]
    return [power / sum(powers) for power in powers]


def windows(tokens):
    """(begin, first position that counts)"""
    begin, done = 0, 0
    while done < len(tokens):
        start = min(begin, len(tokens) - CONTEXT)
        yield start, done - start
        done = start + CONTEXT
        begin += STRIDE


def main():
    model = draw()
    written = {name: values for name, values in model.items() if name != "X"}
    base.write("data/texts.safetensors", written)
    with open("data/texts-characters.json", "w", encoding="utf-8") as file:
        json.dump(CHARACTERS, file)
        file.write("\n")
    tokens = [CHARACTERS.index(character) for character in TEXT]
    for begin, first in windows(tokens):
        model["X"] = embed(model, tokens[begin:begin + CONTEXT])
        exact = base.original(model)
        streams = [base.converted(model, mpf(omega), False) for omega in OMEGAS]
        for i in range(first, CONTEXT):
            p = probabilities(model, exact[i, :])
            follows = begin + i + 1
            cells = []
            cells.append(nstr(-log(p[tokens[follows]]), 20) if follows < len(tokens) else "")
            for s in streams:
                q = probabilities(model, s.x[s.tokens[i], :base.D])
                loss = nstr(-log(q[tokens[follows]]), 20) if follows < len(tokens) else ""
                kl = sum(a * (log(a) - log(b)) for a, b in zip(p, q))
                cells += [loss, nstr(kl, 20)]
            print("        {" + ", ".join(f'"{cell}"' for cell in cells) + "},")


if __name__ == "__main__":
    main()
