#!/usr/bin/env python3
"""Does the reference cost what its work is?  The processor's time of a point against N, D (with
H = 4 D), depth, bits and Omega, one of them at a time, and the exponents of these times: slopes of
log time over log value by least squares, over the larger half of each axis.

    bench_growth.py HEADPROOF TABLE.csv

A point is `sweep`'s, without a machine, r(T') subtracted from r(T) or as a difference; where an
axis does not say otherwise N = 64, D = 64, H = 256, depth 2, 256 bits, Omega = 1000.  One thread;
the median of up to three runs of SEEDS points, so that a program's start weighs little.
"""

import csv
import math
import os
import statistics
import subprocess
import sys

AXES = {"n": (16, 32, 64, 128, 256), "d": (16, 32, 64, 128, 256), "depth": (1, 2, 4, 8, 16),
        "precision": (64, 128, 256, 512, 1024, 2048),
        "omega": (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)}
MIDDLE = {"n": 64, "d": 64, "depth": 2, "precision": 256, "omega": 1e3}
CONSTRUCTIONS = {"silu": "", "fused": "", "transformer": "--mask causal --heads 2"}
SEEDS, RUNS, ENOUGH = 4, 3, 2  # runs at most, seconds of them


def milliseconds(program, construction, reference, sizes):
    """Of a point."""
    words = (f"sweep --construction {construction} {CONSTRUCTIONS[construction]} --reference "
             f"{reference} --arithmetic none --threads 1 --seed 1:{SEEDS} --quiet -o {os.devnull}")
    command = [program, *words.split(), *(f"--{name}={value:g}" for name, value in sizes.items()),
               f"--max-bits={sizes['precision']}"]
    taken = []
    while len(taken) < RUNS and sum(taken) < ENOUGH:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"bench_growth: {' '.join(command)}: status {status}")
        taken.append(used.ru_utime + used.ru_stime)
    return 1e3 * statistics.median(taken) / SEEDS


def main(program, path):
    rows = []
    for axis, values in AXES.items():
        for construction in CONSTRUCTIONS:
            for reference in "subtract", "difference":
                times = [milliseconds(program, construction, reference, {**MIDDLE, axis: value})
                         for value in values]
                half = len(values) // 2
                slope = statistics.linear_regression(*(
                    [math.log(x) for x in side[half:]] for side in (values, times))).slope
                print(f"{axis:10} {construction:12} {reference:11}",
                      *(f"{time:9.2f}" for time in times), f"  exponent {slope:.2f}", flush=True)
                rows += [[axis, construction, reference, f"{value:g}", f"{time:.4g}", f"{slope:.3f}"]
                         for value, time in zip(values, times)]
    with open(path, "w", newline="", encoding="ascii") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["axis", "construction", "reference", "value", "milliseconds", "exponent"], *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
