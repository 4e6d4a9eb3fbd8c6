#!/usr/bin/env python3
"""What large models take, by the clock, of the processor and of memory, beside what is foretold.

    bench_large.py HEADPROOF layer            a layer of 113 million weights, 16 and 64 tokens
    bench_large.py HEADPROOF stack            r(T), the construction error, m(T) and m(T') of a stack
                                              of GPT-2 small's size, into results/gpt2-small.csv
    bench_large.py HEADPROOF gated            a layer of GPT-2 small's width, plain and gated
    bench_large.py HEADPROOF SIZE[:INPUTS[:LAYERS]]...  published shapes, 64 tokens

A model is drawn in three files by model_sizes.py (numpy; xl: 6 GB in $TMPDIR).
Every further token of the layer takes what its multiply-adds take; the last line says how many
times as much 16 tokens take.
"""

import os
import random
import subprocess
import sys
import tempfile
import time

LAYER = ("sweep --construction transformer --n {} --d 3072 --heads 24 --d-head 128 --d-ff 12288 "
         "--omega 20 --arithmetic none")
STACK = ("sweep --construction transformer --depth 12 --n 1024 --d 768 --heads 12 --d-head 64 "
         "--d-ff 3072 --mask causal --omega 40 --kernel structured")
GATED = ("cost --construction transformer --n 1024 --d 768 --heads 12 --d-head 64 --d-ff 3072 "
         "--activation silu --ffn {} --measure")
FAMILY = "verify {} --tokens-file {} --omega 40"
TOKENS = 64


def run(program, arguments, ahead, output):
    """Runs it, prints a line, and returns its seconds of the processor."""
    command = [program, *arguments.split()]
    foretold = subprocess.run([*command, *ahead], stdout=subprocess.DEVNULL, text=True,
                              stderr=subprocess.PIPE, check=True).stderr.strip()
    began, child = time.time(), subprocess.Popen([*command, "--quiet", "-o", output],
                                                 stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"bench_large: {' '.join(command)}: status {status}")
    seconds = used.ru_utime + used.ru_stime
    print(f"{time.time() - began:.0f} s, {seconds:.1f} s of the processor, "
          f"{used.ru_maxrss / 1e6:.2f} GB;", foretold.splitlines()[-1], flush=True)
    return seconds


def layer(program, scratch):
    few, many = (run(program, LAYER.format(n), ["--dry-run"], f"{scratch}/{n}.csv")
                 for n in (16, 64))
    print(f"16 tokens take {few / ((many - few) / 3):.1f} times what their multiply-adds take")


def member(program, scratch, size, inputs=1, layers=None):
    import model_sizes  # numpy, which the others do without

    said = model_sizes.SIZES[size]
    model_sizes.main(scratch, size, layers, "3")
    drawn, tokens = random.Random(1), f"{scratch}/tokens"
    with open(tokens, "w", encoding="ascii") as file:
        for _ in range(int(inputs)):
            print(*(drawn.randrange(said["vocab_size"]) for _ in range(TOKENS)), file=file)
    print(f"{size}, {inputs} of {TOKENS} tokens: ", end="")
    gelu = "" if "silu" in said.values() else " --gelu 4"
    run(program, FAMILY.format(scratch, tokens) + gelu, ["--dry-run", "--shard", "1/1"],
        f"{scratch}/family.csv")


def main(program, *asked):
    for what in asked:
        with tempfile.TemporaryDirectory() as scratch:
            if what == "layer":
                layer(program, scratch)
            elif what == "gated":
                for ffn in ("plain", "gated"):
                    subprocess.run([program, *GATED.format(ffn).split()], check=True)
            elif what == "stack":
                run(program, STACK, ["--dry-run"], "results/gpt2-small.csv")
            else:
                member(program, scratch, *what.split(":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
