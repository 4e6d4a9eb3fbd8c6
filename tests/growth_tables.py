#!/usr/bin/env python3
"""Tables of known laws, and of none, for `headproof growth`.

    python3 tests/growth_tables.py HEADPROOF FOLDER [TABLES]

All of them stand in one file, each with a number of heads of its own, and so with series of its own.

Powers and exponentials with seeds that differ, with gaps, zeros and bounds; arms and floors along
Omega; and tables in which there is no law: steps, waves, bounds below what the other points say,
zeros between values, points too few.  Each must be found as it was made: a slope within four of its
standard errors, more where points are few, of arms also 3 % (where they meet they add up).  Exits 1 where one is not, and
prints how many were found."""

import csv
import math
import os
import random
import subprocess
import sys

HEADER = ("construction,n,d,depth,heads,omega,seed,options,layer,construction_max,rounding_max,bounds,"
          "status").split(",")
SIZES = {"depth": [2, 3, 4, 6, 8, 12, 16, 24, 32, 48], "n": [5, 8, 13, 20, 32, 50, 80],
         "d": [8, 16, 32, 64, 128]}
OMEGAS = [4, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 50, 100, 200, 500, 1000, 3000, 10000, 30000,
          100000, 300000, 1000000]


def size(log10):
    """A cell, of any exponent."""
    exponent = math.floor(log10)
    return f"{10 ** (log10 - exponent):.11f}e{exponent:+d}"


class Table:
    """Rows of one error along one axis."""

    def __init__(self, axis, xs, seeds):
        self.axis, self.xs, self.seeds, self.rows = axis, xs, seeds, []

    def add(self, x, seed, cell, bounds="", status="ok"):
        row = dict(zip(HEADER, ["silu", "20", "30", "1", "", "20", str(seed), "", "1", cell, "",
                                bounds, status]))
        row[self.axis] = str(x)
        row["layer"] = row["depth"]
        self.rows.append(row)

    def fill(self, law, noise):
        for x in self.xs:
            for seed in range(self.seeds):
                self.add(x, seed, size(law(x) + random.gauss(0, noise)))


def sized():
    axis = random.choice(list(SIZES))
    xs = [x for x in SIZES[axis] if random.random() < 0.85]
    return Table(axis, xs if len(xs) > 3 else SIZES[axis], random.choice([1, 3, 5, 20]))


def near(row, slope, share=0.0):
    room = 4 * (1 + 5 / (int(row["points"]) - 2)) # as Student's t is wider than the normal law
    return abs(float(row["slope"]) - slope) <= (
        room * float(row["slope_error"]) + share * abs(slope) + 1e-9)


def censor(table, law):
    """A few cells become bounds or 0, or rows that say nothing: never half of a point's."""
    few = (table.seeds - 1) // 2
    for x in table.xs:
        rows = [r for r in table.rows if r[table.axis] == str(x)]
        rows.sort(key=lambda r: math.log10(float(r["construction_max"])))
        for row in rows[:random.randint(0, few)]:
            kind = random.choice(["bound", "zero"])
            row["construction_max"] = size(law(x) - 0.5) if kind == "bound" else "0"
            row["bounds"] = "construction_max" if kind == "bound" else ""
        for seed in range(table.seeds + 1): # more of them than others
            table.add(x, 100 + seed, size(random.uniform(-30, 3)), status="vacuous")
    # Where all is below what the precision resolves, beyond the others.
    for seed in range(table.seeds):
        table.add(2 * max(table.xs), seed, size(law(2 * max(table.xs)) + 5), "construction_max",
                  "unresolved")


def a_power():
    table, slope = sized(), random.choice([-1, 1]) * random.uniform(0.5, 3)
    law = lambda x: -15 + slope * math.log10(x)
    table.fill(law, random.choice([0, 0.01, 0.05]))
    if table.seeds > 2 and random.random() < 0.5:
        censor(table, law)
    row, = yield table
    return (row["law"] == "power" or row["why"] == "either") and (
        row["law"] != "power" or near(row, slope))


def an_exponential():
    table, rate = sized(), random.choice([-1, 1]) * random.uniform(3, 30)
    rate /= max(table.xs)
    law = lambda x: -300 + rate * x * math.log10(math.e)
    table.fill(law, random.choice([0, 0.01, 0.03]))
    if table.seeds > 2 and random.random() < 0.5:
        censor(table, law)
    row, = yield table
    return row["law"] == "exponential" and near(row, rate)


def some_arms():
    xs = [x for x in OMEGAS if random.random() < 0.95]
    table, u = Table("omega", xs, random.choice([1, 5])), random.choice([-17, -14])
    left, rises = random.uniform(0, 3), random.random() < 0.7
    law = lambda x: math.log10(10 ** (left - 2 * x * math.log10(math.e)) + 10 ** (u + 3) +
                               (10 ** u * x if rises else 0))
    table.fill(law, random.choice([0, 0.02, 0.05]))
    rows = yield table
    laws = {r["law"]: r for r in rows}
    wanted = ["arm-left", "floor"] + (["arm-right"] if rises else [])
    return ([r["law"] for r in rows if r["law"] != "none"] == wanted and
            near(laws["arm-left"], -2, 0.03) and
            abs(float(laws["floor"]["constant"]) - u - 3) < 0.3 and
            (not rises or near(laws["arm-right"], 1, 0.15)))


def a_left_arm():
    table, left = Table("omega", OMEGAS, 5), random.uniform(-3, 5)
    table.fill(lambda x: left - 2 * x * math.log10(math.e), 0.01)
    row, = yield table
    return row["law"] == "arm-left" and near(row, -2)


def no_law():
    table, kind = sized(), random.choice(["step", "wave", "bound", "zero", "few", "random"])
    noise, first, last = 0.02, min(table.xs), max(table.xs)
    middle = sorted(table.xs)[len(table.xs) // 2]
    if kind == "step":
        table.fill(lambda x: -15 + (4 if x >= middle else 0), noise)
    elif kind == "wave":
        order = sorted(table.xs)
        table.fill(lambda x: -15 + 1.5 * (-1) ** order.index(x), noise)
    elif kind == "random":
        places = {x: random.choice([-15, -14, -13, -12]) for x in table.xs}
        places[middle], places[first], places[last] = -8, -15, -15
        table.fill(lambda x: places[x], noise)
    elif kind == "few":
        table.xs = [first, last]
        table.fill(lambda x: -15 + math.log10(x), noise)
    else:
        table.fill(lambda x: -15 + math.log10(x), 0.001)
        for row in table.rows:
            if kind == "bound" and row[table.axis] == str(middle):
                row["construction_max"], row["bounds"] = size(-17), "construction_max"
            elif kind == "zero" and row[table.axis] == str(middle):
                row["construction_max"] = "0"
    row, = yield table
    why = {"bound": "bound", "zero": "zero", "few": "few-points"}.get(kind, "residual")
    return row["law"] == "none" and row["why"] == why


def find_laws(program, path, tables):
    """The laws of the construction error along each table's axis."""
    with open(path, "w", encoding="ascii") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        for heads, table in enumerate(tables, start=1):
            random.shuffle(table.rows)
            writer.writerows({**row, "heads": heads} for row in table.rows)
    done = subprocess.run([program, "growth", path, "--norm", "max", "-o", "-", "--quiet"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{path}: exit {done.returncode}: {done.stderr}")
    found = [r for r in csv.DictReader(done.stdout.splitlines()) if r["kind"] == "construction"]
    return [[r for r in found if r["heads"] == str(heads) and r["axis"] == table.axis]
            for heads, table in enumerate(tables, start=1)]


def main(program, folder, count="200"):
    makers = [a_power, an_exponential, some_arms, a_left_arm, no_law]
    runs, tables, wrong = [], [], []
    for i in range(int(count)):
        random.seed(i)
        runs.append(makers[i % len(makers)]())
        tables.append(next(runs[-1]))
    for i, rows in enumerate(find_laws(program, os.path.join(folder, "tables.csv"), tables)):
        try:
            runs[i].send(rows)
        except StopIteration as judged:
            wrong += [] if judged.value else [f"{i + 1} heads ({makers[i % len(makers)].__name__})"]
    print(f"{int(count) - len(wrong)} of {count} tables found as they were made")
    if wrong:
        sys.exit("not found: " + ", ".join(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
