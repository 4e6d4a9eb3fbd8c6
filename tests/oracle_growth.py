#!/usr/bin/env python3
"""Independent oracle for `headproof growth`: from a sweep's table alone the laws again, by numpy's
medians and least squares and by trying every way to cut the points along Omega and tau, and bands.

    python3 tests/oracle_growth.py HEADPROOF TABLE.csv [CHECK.csv]

Every row that the program writes must be there with the same law, every slope, constant, residual
and end of a band within 1e-9 (where logarithms are of 1e7 and more, as their last bits allow).
Nothing is shared with the program but docs/findings.md.  Exits 1 where anything differs, and prints
how many rows and numbers were compared."""

import csv
import itertools
import math
import subprocess
import sys

import numpy

ERRORS = ["approximation", "construction", "rounding", "native", "total", "observed"]
KEYS = ["construction", "activation", "mask", "n", "d", "d_ff", "heads", "d_head", "depth", "omega",
        "arithmetic", "kernel", "reference", "weights"]
UNJUDGED = ("tolerance", "judge", "norm", "input")
STANDARD = ("penalty=positive", "normalization=none", "score-scale=1", "precision=auto")
AXES = ["omega", "tau", "n", "d", "depth", "layer"]
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
STAGES = {"omega": ["none", "arm-left", "none", "floor", "none", "arm-right", "none"],
          "tau": ["none", "power", "none", "floor", "none", "power", "none"]}
LOG_E = math.log10(math.e)


def log_of(text):
    """log10 of a size of any exponent."""
    if text in ("", "nan", "inf"):
        return math.nan if text == "" else math.inf
    mantissa, _, exponent = text.partition("e")
    return -math.inf if float(mantissa) == 0 else math.log10(float(mantissa)) + int(exponent or 0)


def options_of(row, axis):
    return tuple(sorted(o for o in row["options"].split(";")
                        if o and o not in STANDARD and o.split("=")[0] not in (*UNJUDGED, axis)))


def key_of(row, axis, widths):
    """What rows of one series share; a width that follows d is so many times d."""
    key = []
    for name in KEYS:
        value = "" if name == axis else row[name]
        if name == "d_ff" and axis == "d" and value and widths:
            value = str(float(value) / float(row["d"]))
        key.append(value)
    return tuple(key) + options_of(row, axis)


def in_axis(row, axis):
    return axis == "layer" or row["layer"] == row["depth"]


class Point:
    def __init__(self, x, cells):
        """cells: (log10, is it a bound) of the rows that say something."""
        self.x, self.seeds = x, len(cells)
        values = [v for v, bound in cells if not bound and math.isfinite(v)]
        self.values = len(values)
        self.variance = float(numpy.var(values, ddof=1)) if len(values) > 1 else 0.0
        self.low = min(values, default=math.inf)
        self.high = max(values, default=-math.inf)
        self.state = "unknown"
        if not cells:
            return
        lowest = median([-math.inf if bound else v for v, bound in cells])
        highest = median([v for v, _ in cells])
        bounds = max([v for v, bound in cells if bound], default=-math.inf)
        known = math.isfinite(lowest) and bounds <= lowest
        self.median = lowest if known else highest
        self.state = ("value" if known else "infinite" if highest == math.inf else "at most")


def median(values):
    values = sorted(values)
    middle = [values[(len(values) - 1) // 2], values[len(values) // 2]]
    for value in middle:
        if math.isinf(value):
            return value
    return float(numpy.median(values))


class Line:
    def __init__(self, kind, u, y):
        self.n = len(y)
        u, y = numpy.array(u), numpy.array(y)
        if kind == "floor":
            self.slope, self.constant, self.freedom = 0.0, float(numpy.mean(y)), self.n - 1
            self.mean, self.spread = 0.0, 0.0
        else:
            self.mean = float(numpy.mean(u))
            design = numpy.column_stack([u - self.mean, numpy.ones(self.n)])
            (self.slope, middle), *_ = numpy.linalg.lstsq(design, y, rcond=None)
            self.constant, self.freedom = float(middle - self.slope * self.mean), self.n - 2
            self.spread = float(numpy.sum((u - self.mean) ** 2))
        left = y - self.constant - self.slope * u
        self.squares, self.worst = float(numpy.sum(left ** 2)), float(numpy.max(numpy.abs(left)))
        self.residual = math.sqrt(self.squares / self.freedom)

    def at(self, u):
        return self.constant + self.slope * u


def u_of(kind, x):
    return x * LOG_E if kind in ("exponential", "arm-left") else math.log10(x)


class Law:
    def __init__(self, kind, points, why="", line=True):
        self.kind, self.why, self.points, self.other = kind, why, points, math.nan
        self.has_line = line
        if not line:
            return
        u, y = [u_of(kind, p.x) for p in points], [p.median for p in points]
        half = max(3, (len(points) + 1) // 2)
        self.line, self.end = Line(kind, u, y), Line(kind, u[-half:], y[-half:])
        below = [p.median - p.low for p in points]
        above = [p.high - p.median for p in points]
        self.below, self.above = max(below), max(above)
        self.below_line, self.above_line = Line(kind, u, below), Line(kind, u, above)
        self.noise = noise_of(points)
        self.scatter = max(self.noise, self.line.residual)
        left = [p.median - self.line.at(u_of(kind, p.x)) for p in points]
        rooms = [max(0.1, 3 * noise_of([p])) for p in points]
        self.misfit = math.sqrt(sum((r / room) ** 2 for r, room in zip(left, rooms))
                                / self.line.freedom)

    def band(self, x):
        u = u_of(self.kind, x)
        middle, n = self.line.at(u), self.line.n
        tilt = (u - self.line.mean) ** 2 / self.line.spread if self.line.spread else 0
        freedom = self.line.freedom
        student = STUDENT[freedom - 1] if freedom <= 10 else 1.96 + 2.7 / freedom
        room = math.hypot(student * self.scatter * math.sqrt(1 + 1 / n + tilt),
                          self.end.at(u) - middle)
        return (middle - room - max(self.below, self.below_line.at(u)), middle,
                middle + room + max(self.above, self.above_line.at(u)))


def noise_of(points):
    return math.sqrt(math.pi / 2 * sum(p.variance / p.values for p in points) / len(points))


def one_law(points):
    """A power, unless an exponential is told from it."""
    power, exponential = (Law(kind, points) for kind in ("power", "exponential"))
    told = power.line.residual > 2 * exponential.scatter
    law, other = (exponential, power) if told else (power, exponential)
    law.other = other.line.residual
    law.why = "either" if law.other <= 2 * law.scatter else ""
    if law.misfit > 1:
        return Law("none", points, "residual", line=False)
    return law


def stage_cost(stage, kind, points, unit):
    if kind == "none":
        return 9.0 * len(points)
    if len(points) < 3:
        return math.inf
    line = Line(kind, [u_of(kind, p.x) for p in points], [p.median for p in points])
    if (stage == 1 and line.slope > -0.5) or (stage == 5 and line.slope < 0.25):
        return math.inf
    return line.squares / unit ** 2 + 3.0 * (2 if kind == "floor" else 3)


def arms(points, kinds):
    """Every way to cut the points into the seven stages, one after another."""
    unit, count = max(0.1, noise_of(points)), len(points)
    memory = {}

    def cost(stage, i, j):
        if (stage, i, j) not in memory:
            memory[stage, i, j] = stage_cost(stage, kinds[stage], points[i:j], unit)
        return memory[stage, i, j]

    best = (math.inf, None)
    for used in itertools.product([False, True], repeat=7):
        stages = [s for s in range(7) if used[s]]
        if not stages:
            continue
        for cuts in itertools.combinations(range(1, count), len(stages) - 1):
            ends = (0,) + cuts + (count,)
            total = 0
            for stage, i, j in zip(stages, ends, ends[1:]):
                total += cost(stage, i, j)
                if total > best[0] + 1e-9:
                    break
            else:
                if total < best[0] - 1e-9:
                    best = (total, [(kinds[s], i, j) for s, i, j in zip(stages, ends, ends[1:])])
    return [Law(kind, points[i:j], "residual" if kind == "none" else "", kind != "none")
            for kind, i, j in best[1]]


def laws_of(axis, points, error):
    values = [p for p in points if p.state == "value"]
    if not values:
        zero = all(p.state == "at most" and p.median == -math.inf for p in points)
        if zero and len(points) >= 3:
            law = Law("zero", points, line=False)
            law.everywhere = error == "approximation"
            return [law]
        return [Law("none", points, "few-points", line=False)]
    if len(values) < 3:
        return [Law("none", values, "few-points", line=False)]
    laws = arms(values, STAGES[axis]) if axis in STAGES else [one_law(values)]
    first, last = laws[0].points[0].x, laws[-1].points[-1].x
    for p in points:
        inside = first <= p.x <= last
        if p.state == "at most" and (inside or p.median > -math.inf):
            _, band = predict(laws, p.x)
            if band is not None and band[0] > p.median:
                why = "zero" if p.median == -math.inf else "bound"
                return [Law("none", values, why, line=False)]
    return laws


def predict(laws, x):
    bands = [(law, law.band(x)) for law in laws if law.has_line]
    if not bands:
        zero = [law for law in laws if law.kind == "zero" and (
            law.everywhere or law.points[0].x <= x <= law.points[-1].x)]
        return (zero[0], (-math.inf,) * 3) if zero else (None, None)
    return max(bands, key=lambda pair: pair[1][1])


def series_of(rows, norm):
    """{(axis, key, error): points in order}."""
    found = {}
    for axis in AXES:
        numeric = [r for r in rows if in_axis(r, axis) and r[axis] != ""]
        widths = len({r["d_ff"] for r in rows if r["d_ff"]}) > 1
        groups = {}
        for row in numeric:
            groups.setdefault(key_of(row, axis, widths), []).append(row)
        for key, members in groups.items():
            places = sorted({float(r[axis]) for r in members})
            for error in ERRORS:
                points = []
                for x in places:
                    cells = []
                    for r in members:
                        name = f"{error}_{norm}"
                        value = log_of(r[name])
                        silent = r["status"] in ("vacuous", "error")
                        if float(r[axis]) == x and not math.isnan(value) and not silent:
                            cells.append((value, name in r["bounds"].split(";")))
                    points.append(Point(x, cells))
                if len(points) > 1 and any(p.state != "unknown" for p in points):
                    found[axis, key, error] = points
    return found


COMPARED = 0


def near(what, ours, theirs, size=0.0):
    """1e-9, of a number or of 1, and what the last bits of logarithms of that size may do."""
    global COMPARED
    COMPARED += 1
    theirs = math.nan if theirs == "" else float(theirs)
    if ours == theirs or (math.isnan(ours) and math.isnan(theirs)):
        return
    if not abs(ours - theirs) <= 1e-9 * max(1, abs(ours)) + 1e-15 * size:
        sys.exit(f"{what}: {ours!r} here, {theirs!r} there")


def compare_law(what, law, row):
    if (law.kind, law.why) != (row["law"], row["why"]):
        sys.exit(f"{what}: {law.kind} {law.why} here, {row['law']} {row['why']} there")
    near(what + " from", law.points[0].x, row["from"])
    near(what + " to", law.points[-1].x, row["to"])
    near(what + " points", len(law.points), row["points"])
    near(what + " seeds", max(p.seeds for p in law.points), row["seeds"])
    line = law.line if law.has_line else None
    size = max(abs(p.median) for p in law.points) if line else 0
    error = law.scatter / math.sqrt(line.spread) if line and line.spread else 0
    for name, ours in {
            "constant": line and line.constant, "slope": line and line.slope,
            "slope_error": error, "end_slope": line and law.end.slope,
            "residual": line and line.residual, "residual_max": line and line.worst,
            "other_residual": law.other, "seeds_below": line and law.below,
            "seeds_above": line and law.above}.items():
        near(f"{what} {name}", ours if line else math.nan, row[name], size)


def options_cell(row):
    return tuple(sorted(o for o in row["options"].split(";") if o))


def run(program, *arguments):
    done = subprocess.run([program, "growth", *arguments, "-o", "-", "--quiet"],
                          capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def formulas(program, path, rows):
    """The Omega needed, of a table of min-omega: numpy's least squares, with ln depth or depth."""
    groups, count = {}, 0
    widths = len({r["d_ff"] for r in rows if r["d_ff"]}) > 1
    for row in rows:
        kept = [row[k] for k in KEYS if k not in ("n", "d", "depth", "d_ff", "omega")]
        wide = str(float(row["d_ff"]) / float(row["d"])) if widths and row["d_ff"] else row["d_ff"]
        options = tuple(o for o in row["options"].split(";") if o and o not in STANDARD)
        groups.setdefault((tuple(kept), wide, options), []).append(row)
    theirs = run(program, path)
    for (kept, _, options), members in groups.items():
        axes = [a for a in ("n", "d", "depth") if len({r[a] for r in members}) > 1]
        for what in ("omega_min", "omega_proven"):
            found = [r for r in members if r[what] not in ("", "none") and
                     (what != "omega_min" or r["omega_below"] != "")]
            lines = [r for r in theirs if r["kind"] == what and options_cell(r) == options and
                     tuple(r[k] for k in KEYS if k not in ("n", "d", "depth", "d_ff", "omega"))
                     == kept]
            if len(found) < len(axes) + 2:
                if any(r["law"] != "none" for r in lines):
                    sys.exit(f"{what}: a formula of {len(found)} searches there")
                continue
            y, tried = numpy.array([float(r[what]) for r in found]), []
            for linear in (False, True) if "depth" in axes else (False,):
                columns = [[float(r[a]) if linear and a == "depth" else math.log(float(r[a]))
                            for r in found] for a in axes]
                design = numpy.column_stack(columns + [numpy.ones(len(y))])
                best, *_ = numpy.linalg.lstsq(design, y, rcond=None)
                left = y - design @ best
                residual = math.sqrt(float(left @ left) / (len(y) - len(axes) - 1))
                inverse = numpy.linalg.inv(design.T @ design)
                tried.append((residual, linear, best, inverse))
            residual, linear, best, inverse = min(tried, key=lambda t: t[0])
            if residual > 1:
                if any((r["law"], r["why"]) != ("none", "residual") for r in lines):
                    sys.exit(f"{what}: a formula that is off by {residual} there")
                continue
            if len(lines) != len(axes):
                sys.exit(f"{what} of {kept}: {len(axes)} terms here, {len(lines)} there")
            for i, (axis, row) in enumerate(zip(axes, lines)):
                law = "linear" if linear and axis == "depth" else "logarithm"
                if (axis, law, str(len(found))) != (row["axis"], row["law"], row["points"]):
                    sys.exit(f"{what}: {axis} {law} here, {row['axis']} {row['law']} there")
                near(f"{what} {axis} slope", float(best[i]), row["slope"])
                near(f"{what} {axis} constant", float(best[-1]), row["constant"])
                near(f"{what} {axis} residual", residual, row["residual"])
                near(f"{what} {axis} slope_error", residual * math.sqrt(float(inverse[i, i])),
                     row["slope_error"])
                count += 1
    print(f"{count} rows, {COMPARED} numbers: the same")


def main(program, path, check=None):
    global COMPARED
    COMPARED = 0
    rows = list(csv.DictReader(open(path)))
    if "omega_min" in rows[0]:
        formulas(program, path, rows)
        return
    held = list(csv.DictReader(open(check))) if check else []
    for row in rows + held:
        row["tau"] = dict(o.split("=") for o in row["options"].split(";") if o).get("tau", "")
    widths = len({r["d_ff"] for r in rows + held if r["d_ff"]}) > 1
    theirs = run(program, path, *(["--check", check] if check else []))
    count = 0
    for norm in ("max", "rel"):
        ours = series_of(rows, norm)
        laws = {name: laws_of(name[0], points, name[2]) for name, points in ours.items()}
        written = {}
        for row in theirs:
            if row["norm"] == norm:
                blank = tuple("" if k == "d_ff" and row["axis"] == "d" and widths else row[k]
                              for k in KEYS)
                key = blank + options_cell(row)
                written.setdefault((row["axis"], key, row["kind"]), []).append(row)
        names = {}
        for name in laws:
            key = list(name[1])
            if name[0] == "d" and widths:
                key[KEYS.index("d_ff")] = ""
            names[name[0], tuple(key), name[2]] = name
        if set(written) - set(names) or (not check and set(names) - set(written)):
            sys.exit(f"{len(names)} series here, {len(written)} there")
        for short, lines in written.items():
            name = names[short]
            what = f"{norm} {name[2]} along {name[0]} of {name[1][0]}"
            if not check:
                if len(lines) != len(laws[name]):
                    sys.exit(f"{what}: {len(laws[name])} laws here, {len(lines)} there")
                for law, row in zip(laws[name], lines):
                    compare_law(what, law, row)
            for row in lines if check else []:
                law, band = predict(laws[name], float(row["at"]))
                compare_law(what, law, row)
                for column, end in zip(("low_log10", "predicted_log10", "high_log10"), band):
                    near(f"{what} {column}", end, row[column])
                size = float(row["measured_log10"])
                bound = row["bounds"] != ""
                fits = size >= band[0] and (size <= band[2] or bound)
                if row["status"] != ("ok" if fits else "fail"):
                    sys.exit(f"{what}: {row['status']} there")
            count += len(lines)
    print(f"{count} rows, {COMPARED} numbers: the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
