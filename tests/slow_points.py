#!/usr/bin/env python3
"""Points that take far longer than others of their size: random points of every axis, timed.

    python3 tests/slow_points.py HEADPROOF [COUNT [SEED]]

Sizes are small, so that a point takes milliseconds; one that takes ten times the median's processor
time, and LEAST seconds at least, is ended and counts as slow.  What subtracts takes as many bits as
it may, SUBTRACT_BITS here.  Prints the WORST slowest as a table
of Markdown with the command that repeats each; exit 1 when one was ended, 0 otherwise.  What is
refused is drawn again.
"""

import math
import os
import random
import resource
import subprocess
import sys

LEAST, WORST, FIRST, SUBTRACT_BITS = 2, 10, 50, 4096

# Values that are equally likely, or a function of the generator; None: the flag is left out.
AXES = {
    "construction": ["silu", "linear", "attention", "ffn3", "fused", "transformer3",
                     "transformer", "transformer", "masked"],
    "activation": ["silu", "relu", "gelu", "gelu_new"],
    "mask": ["none", "causal", "pseudo-causal", "pseudo-band", "pseudo-random"],
    "n": lambda draw: draw.randint(1, 5),
    "d": lambda draw: draw.randint(1, 6),
    "d-ff": lambda draw: draw.randint(1, 8),
    "heads": lambda draw: draw.randint(1, 3),
    "d-head": lambda draw: draw.randint(0, 3),
    "depth": lambda draw: draw.randint(1, 8),
    "omega": lambda draw: f"{math.exp(draw.uniform(math.log(0.5), math.log(1e7))):.6g}",
    "weights": ["stable", "normal", "normal"],
    "seed": lambda draw: draw.randint(1, 999999),
    "bias": ["none", "random"],
    "scale": ["1", "1/sqrt(d_head)"],
    "normalization": [None, None, "layernorm", "rmsnorm"],
    "normalization-place": ["pre", "post"],
    "eps": [None, "1e-5", "1e-12"],
    "normalize-bias-row": [None, "no"],
    "bias-row": ["auto", "first", "last"],
    "bias-row-content": ["none", "random"],
    "linear": [None, "block", "clear"],
    "slope": [None, "10"],
    "gelu": ["sigmoid", "minimax", "two", "2", "8"],
    "head-rank": [None, None, "1"],
    "score-scale": [None, None, "0.01", "100"],
    "shrink": [None, None, "0.5"],
    "penalty": [None, "negative"],
    "dropout": [None, None, None, "0.2"],
    "weight-noise": [None, None, None, "1e-6"],
    "arithmetic": ["none", "f64", "f64", "f32", "bf16"],
    "kernel": ["structured", "dense"],
    "reference": [None, None, None, "subtract"],
    "digits": [None, None, "1", "17"],
    "tolerance": [None, None, "1e-30"],
    "judge": [None, None, "construction", "approximation"],
}
SWITCHES = {"certify": 0.2, "propagation": 0.2}


def draw_point(draw):
    """The words of one point's command line."""
    words = ["sweep"]
    for name, values in AXES.items():
        value = values(draw) if callable(values) else draw.choice(values)
        words += [f"--{name}", str(value)] if value is not None else []
    if "subtract" in words:
        words += ["--max-bits", str(SUBTRACT_BITS)]
    words += [f"--{name}" for name, share in SWITCHES.items() if draw.random() < share]
    return words


def time_point(program, words, limit):
    """Processor seconds and exit code; a point that takes longer than the limit is ended."""
    def limit_processor():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    process = subprocess.Popen([program, *words, "--quiet", "--threads", "1"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=limit_processor)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    times = []
    limit = LEAST
    while len(times) < count:
        words = draw_point(draw)
        seconds, code = time_point(program, words, limit)
        if code in (0, 1) or code < 0:
            times.append((seconds, code, words))
        elif code != 2:
            sys.exit(f"exit {code}: {program} {' '.join(words)}")
        if len(times) == FIRST:
            limit = max(LEAST, math.ceil(10 * sorted(times)[FIRST // 2][0]))
    times.sort(key=lambda found: -found[0])
    ended = sum(code < 0 for _, code, _ in times)
    print(f"{count} points, median {times[count // 2][0]:.3f} s, limit {limit} s, {ended} ended\n")
    print("| seconds | point |\n|---|---|")
    for seconds, code, words in times[:WORST]:
        print(f"| {'>' if code < 0 else ''}{seconds:.2f} | `{' '.join(words)}` |")
    return 1 if ended else 0


if __name__ == "__main__":
    sys.exit(main())
