#!/usr/bin/env python3
"""Independent oracle: random points of every construction, recomputed from exported weights.

    python3 tests/oracle_random.py HEADPROOF COUNT [SEED]

Nothing is shared with the program but what `headproof export` writes.  Every head is the two full
matrices Q and V of docs/mathematics.md, section 1, in Python's decimal; T' by numbers of hundreds
of digits, or, where e^(-2 Omega) is too small for that, as a polynomial a + b e^(-2 Omega), what
is smaller being left out.  Compared: r(T), and the columns approximation, construction and native.
"""

import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, setcontext

sys.dont_write_bytecode = True
import safetensors_file

ZERO, ONE = Decimal(0), Decimal(1)
DIGITS, RESOLVED = 330, Decimal("1e-220")  # T' - T is believed where it is larger than that
SMALL = Decimal("1e-20")                   # leaks whose squares are left out
TOLERANCE = Decimal("1e-11")


def set_digits(digits):
    setcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[]))


def load(path):
    """Tensors of doubles, (shape, list of Decimal or None for what is not finite); metadata."""
    tensors, meta = safetensors_file.read(path)
    return {name: (shape, [Decimal(v) if abs(v) <= sys.float_info.max else None
                           for v in safetensors_file.doubles(data)])
            for name, (_, shape, data) in tensors.items()}, meta


def matrix(tensors, name, head=None):
    if name not in tensors:
        return None
    shape, values = tensors[name]
    if head is not None:
        shape, values = shape[1:], values[head * shape[1] * shape[2]:]
    columns = shape[-1]
    return [values[r * columns:(r + 1) * columns] for r in range(shape[0] if len(shape) > 1 else 1)]


def product(a, b):
    out = []
    for row in a:
        sums = [ZERO] * len(b[0])
        for x, line in zip(row, b):
            if x:
                for c, y in enumerate(line):
                    if y:
                        sums[c] += x * y
        out.append(sums)
    return out


def transposed(a):
    return [list(column) for column in zip(*a)]


def plus(a, b):
    return [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]


def zeros(rows, columns):
    return [[ZERO] * columns for _ in range(rows)]


def silu(x):
    t = (-abs(x)).exp()
    return x / (ONE + t) if x >= 0 else x * t / (ONE + t)


def softmax(scores):
    top = max(s for s in scores if s is not None)
    e = [ZERO if s is None else (s - top).exp() for s in scores]
    total = sum(e)
    return [x / total for x in e]


class Case:
    """A point's weights."""

    def __init__(self, tensors, meta, config):
        self.t, self.causal = tensors, meta.get("mask") == "causal"
        self.construction, self.depth = config["construction"], config["depth"]
        self.x = matrix(tensors, "X")
        self.rooted = meta.get("scale") == "1/sqrt(d_head)"
        self.parts = {"transformer": ["attention", "fused"], "transformer3": ["attention", "ffn3"]
                      }.get(self.construction, [self.construction])

    def weights(self, layer, name, head=None):
        return matrix(self.t, "blocks.%d.%s" % (layer, name), head)

    def heads(self, layer):
        """(Q, V) of the attention's heads."""
        at = "blocks.%d.attn." % layer
        merged = at + "QK" in self.t
        count = self.t[at + ("QK" if merged else "W_Q")][0][0]
        for h in range(count):
            if merged:
                yield self.weights(layer, "attn.QK", h), self.weights(layer, "attn.OV", h)
                continue
            q, k, v, o = (self.weights(layer, "attn.W_" + w, h) for w in "QKVO")
            scores = product(q, transposed(k))
            if self.rooted:
                root = Decimal(len(k[0])).sqrt()
                scores = [[x / root for x in row] for row in scores]
            yield scores, product(v, o)

    def ffn(self, layer):
        return [self.weights(layer, "mlp." + name) for name in ("W_in", "b_in", "W_out", "b_out")]


class Original:
    """r(T), and the largest score on the way."""

    def __init__(self, case):
        self.case, self.x, self.score = case, case.x, ONE

    def layer(self, layer):
        for part in self.case.parts:
            getattr(self, "fused" if part == "ffn3" else part)(layer)
        return self.x

    def note(self, values):
        self.score = max([self.score] + [abs(v) for v in values])

    def silu(self, _):
        self.note(v for row in self.x for v in row)
        self.x = [[silu(v) for v in row] for row in self.x]

    def linear(self, layer):
        out = product(self.x, self.case.weights(layer, "linear.W"))
        bias = self.case.weights(layer, "linear.b")
        self.x = plus(out, bias * len(out)) if bias else out

    def attention(self, layer):
        total = self.x
        for q, v in self.case.heads(layer):
            scores = product(product(self.x, q), transposed(self.x))
            self.note(s for row in scores for s in row)
            pattern = [softmax([s if not self.case.causal or j <= i else None
                                for j, s in enumerate(row)]) for i, row in enumerate(scores)]
            total = plus(total, product(product(pattern, self.x), v))
        self.x = total

    def fused(self, layer):
        w1, b1, w2, b2 = self.case.ffn(layer)
        hidden = product(self.x, w1)
        hidden = plus(hidden, b1 * len(hidden)) if b1 else hidden
        self.note(v for row in hidden for v in row)
        out = product([[silu(v) for v in row] for row in hidden], w2)
        self.x = plus(self.x, plus(out, b2 * len(out)) if b2 else out)


class Converted:
    """r(T') = a + b e^(-2 Omega) and what is smaller (first_order), or, b = 0, r(T') = a."""

    def __init__(self, case, omega, first_order):
        self.case, self.omega, self.first_order = case, omega, first_order
        self.epsilon = (-2 * omega).exp()
        self.n, self.d = len(case.x), len(case.x[0])
        deep = any(part == "ffn3" for part in case.parts)
        self.hidden = len(case.weights(0, "mlp.W_in")[0]) if deep else 0
        self.content = self.d + self.hidden
        self.width = self.content + self.n + 1
        self.bias = 0 if case.causal else self.n
        self.tokens = [i for i in range(self.n + 1) if i != self.bias]
        self.a = zeros(self.n + 1, self.width)
        for i, row in zip(self.tokens, case.x):
            self.a[i][:self.d] = row
        for i in range(self.n + 1):
            self.a[i][self.p(i)] = ONE
        self.b = zeros(self.n + 1, self.width)
        self.largest_leak = ZERO  # of a weight, or of the change of a score

    def p(self, row):
        return self.content + row

    def layer(self, layer):
        for part in self.case.parts:
            getattr(self, part)(layer)
        take = lambda m: [m[i][:self.d] for i in self.tokens]
        return take(self.a), take(self.b)

    def matrices(self):
        """Q without Omega, Omega's coefficients in it, V."""
        return (zeros(self.width, self.width) for _ in range(3))

    def leak(self, size):
        self.largest_leak = max(self.largest_leak, abs(size) * self.epsilon)

    def row_pattern(self, i, content, change, omegas):
        """Row i's pattern, and the coefficient of e^(-2 Omega) in it."""
        seen = [j for j in range(self.n + 1) if not self.case.causal or j <= i]
        if not self.first_order:
            scores = [content[j] + omegas[j] * self.omega if j in seen else None
                      for j in range(self.n + 1)]
            return softmax(scores), [ZERO] * (self.n + 1)
        best = max(omegas[j] for j in seen)
        limit = [j for j in seen if omegas[j] == best]
        p = softmax([content[j] if j in limit else None for j in range(self.n + 1)])
        mean = sum(p[j] * change[j] for j in limit)
        moved = [p[j] * (change[j] - mean) for j in range(self.n + 1)]
        top = max(content[j] for j in limit)
        total = sum((content[j] - top).exp() for j in limit)
        for j in limit:
            self.leak(change[j])
        for j in seen:
            if omegas[j] == best - 2:
                w = (content[j] - top).exp() / total
                self.leak(w)
                moved = [m - w * q for m, q in zip(moved, p)]
                moved[j] += w
        return p, moved

    def head(self, q, omega, v):
        a, b = self.a, self.b
        aq = product(a, q)
        content = product(aq, transposed(a))
        coefficients = product(product(a, omega), transposed(a))
        change = zeros(self.n + 1, self.n + 1)
        if self.first_order:
            change = plus(product(product(b, q), transposed(a)), product(aq, transposed(b)))
        rows = [self.row_pattern(i, content[i], change[i], coefficients[i])
                for i in range(self.n + 1)]
        p, moved = [r[0] for r in rows], [r[1] for r in rows]
        out = product(product(p, a), v)
        if not self.first_order:
            return out, zeros(self.n + 1, self.width)
        return out, plus(product(product(moved, a), v), product(product(p, b), v))

    def sublayer(self, heads):
        a, b = self.a, self.b
        for q, omega, v in heads:
            da, db = self.head(q, omega, v)
            a, b = plus(a, da), plus(b, db)
        self.a, self.b = a, b

    def silu_head(self, k):
        q, omega, v = self.matrices()
        for i in self.tokens:
            q[k][self.p(i)] = -ONE
            omega[self.p(i)][self.p(i)] = omega[self.p(i)][self.p(self.bias)] = 2 * ONE
        omega[self.p(self.bias)][self.p(self.bias)] = 2 * ONE
        v[k][k] = -ONE
        return q, omega, v

    def linear_head(self, w, read, write, bias, less):
        """w (or None) from columns read, ... to write, ...; less: minus the identity."""
        q, omega, v = self.matrices()
        for i in range(self.n + 1):
            omega[self.p(i)][self.p(i)] = 2 * ONE
        for c, row in enumerate(w or []):
            for e, entry in enumerate(row):
                v[read + c][write + e] = entry
            if less:
                v[read + c][read + c] -= ONE
        for i in self.tokens:
            for e, entry in enumerate(bias[0] if bias else []):
                v[self.p(i)][write + e] += entry
        return q, omega, v

    def silu(self, _):
        self.sublayer([self.silu_head(k) for k in range(self.d)])

    def linear(self, layer):
        weights = self.case.weights(layer, "linear.W")
        self.sublayer([self.linear_head(weights, 0, 0, self.case.weights(layer, "linear.b"), True)])

    def attention(self, layer):
        heads = []
        for qc, vc in self.case.heads(layer):
            q, omega, v = self.matrices()
            for a in range(self.d):
                q[a][:self.d], v[a][:self.d] = qc[a], vc[a]
            for i in self.tokens:
                omega[self.p(i)][self.p(self.bias)] = -2 * ONE
            omega[self.p(self.bias)][self.p(self.bias)] = 2 * ONE
            heads.append((q, omega, v))
        self.sublayer(heads)

    def fused(self, layer):
        w1, b1, w2, b2 = self.case.ffn(layer)
        heads = []
        for k in range(len(w2)):
            q, omega, v = self.matrices()
            for i in self.tokens:
                for c in range(self.d):
                    q[c][self.p(i)] = w1[c][k]
                for j in self.tokens:
                    q[self.p(j)][self.p(i)] += b1[0][k] if b1 else ZERO
                omega[self.p(i)][self.p(i)] = omega[self.p(i)][self.p(self.bias)] = 2 * ONE
                for e in range(self.d):
                    v[self.p(i)][e] += b1[0][k] * w2[k][e] if b1 else ZERO
            omega[self.p(self.bias)][self.p(self.bias)] = 2 * ONE
            for c in range(self.d):
                for e in range(self.d):
                    v[c][e] = w1[c][k] * w2[k][e]
            heads.append((q, omega, v))
        if b2:
            heads.append(self.linear_head(None, 0, 0, b2, False))
        self.sublayer(heads)

    def ffn3(self, layer):
        w1, b1, w2, b2 = self.case.ffn(layer)
        self.sublayer([self.linear_head(w1, 0, self.d, b1, False)])
        self.sublayer([self.silu_head(self.d + k) for k in range(self.hidden)])
        self.sublayer([self.linear_head(w2, self.d, 0, b2, True)])


def largest(rows):
    return max(abs(x) for row in rows for x in row)


def minus(a, b):
    return [[x - y for x, y in zip(r, s)] for r, s in zip(a, b)]


class Truth:
    """What every layer's rows must say: r(T), and the largest construction error or None."""

    def __init__(self, case, omega, digits):
        set_digits(60)
        sizes = Original(case)
        for layer in range(case.depth):
            sizes.layer(layer)
        more = max(0, sizes.score.adjusted()) + max(0, omega.adjusted())
        set_digits(digits + 2 * more)
        original, number = Original(case), Converted(case, omega, False)
        first = Converted(case, omega, True)
        self.original, self.construction = [], []
        for layer in range(case.depth):
            t = original.layer(layer)
            e = largest(minus(number.layer(layer)[0], t))
            a, b = first.layer(layer)
            size = max(largest(t), ONE)
            if e > RESOLVED * size:
                error = e
            elif first.largest_leak < SMALL:
                error = largest(b) * first.epsilon
                assert largest(minus(a, t)) < RESOLVED * size, "T_infinity is not T"
            else:
                error = None
            self.original.append(t)
            self.construction.append(error)


def run(arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def flags_of(config):
    names = [(k, v) for k, v in config.items() if v is not None]
    return [word for k, v in names for word in ("--" + k.replace("_", "-"), str(v))]


class Failure(Exception):
    pass


def near(what, printed, true, worst, tolerance=TOLERANCE):
    """|printed - true| relative to what is true."""
    off = abs(printed - true) / abs(true) if true else abs(printed)
    worst[what] = max(worst.get(what, ZERO), off)
    if not off <= tolerance:
        raise Failure("%s is %.17E, the oracle says %.17E" % (what, printed, true))


def is_bound(row, column, printed, size):
    """Is the cell a bound: so named, or, in a table that names none, a small power of two?"""
    if "bounds" in row:
        return column in row["bounds"].replace(";", " ").replace("|", " ").split()
    if printed > size * Decimal("1e25"):
        return True  # what a plan says that has given up
    return printed < size * Decimal("1e-25") and math.frexp(float(printed))[0] == 0.5


def check_row(row, t, error, machine, worst, counts):
    layer = "layer " + row["layer"] + ": "
    if row["status"] == "error" or row["approximation_max"] != "0":
        raise Failure(layer + "status %s, approximation %s" % (
            row["status"], row["approximation_max"]))
    printed = Decimal(row["construction_max"])
    if not printed.is_finite():
        raise Failure(layer + "construction " + row["construction_max"])
    if error is None:
        counts["undecided"] += 1
    elif row["status"] == "unresolved":
        counts["bounds"] += 1
        if error > printed * (1 + TOLERANCE) or printed == 0:
            raise Failure(layer + "construction is %.17E, the bound %.17E" % (error, printed))
    elif row["status"] in ("ok", "vacuous"):
        counts["values"] += 1
        near(layer + "construction", printed, error, worst)
    if machine is not None and row["native_max"] != "":
        true = largest(minus(machine, t))
        native = Decimal(row["native_max"])
        if native.is_finite() and is_bound(row, "native_max", native, largest(t)):
            if true > native:
                raise Failure(layer + "native is %.17E, the bound %.17E" % (true, native))
            return
        counts["native"] += 1
        near(layer + "native", native, true, worst)


def check(program, config, scratch, worst, counts, digits=DIGITS):
    path = os.path.join(scratch, "point.safetensors")
    if os.path.exists(path):
        os.remove(path)
    exported = {k: v for k, v in config.items() if k != "reference"}
    out = run([program, "export"] + flags_of(exported) + ["-q", "-o", path])
    if not os.path.exists(path):
        raise Failure("export: " + out.stderr.strip())
    tensors, meta = load(path)
    out = run([program, "sweep"] + flags_of(config) + ["-q", "--arithmetic", "none,f64"])
    rows = list(csv.DictReader(io.StringIO(out.stdout)))
    if len(rows) != 2 * config["depth"]:
        raise Failure("sweep: " + out.stderr.strip())
    case = Case(tensors, meta, config)
    truth = Truth(case, Decimal(float(config["omega"])), digits)
    local = {}
    for l in range(config["depth"]):
        t, error = truth.original[l], truth.construction[l]
        if Decimal(2) ** int(meta["result.%d.error_log2" % l]) < SMALL * largest(t):
            check_original(tensors, meta, l, t, local)
        machine = matrix(tensors, "result.%d.m_T" % l)
        if machine is not None and any(x is None for row in machine for x in row):
            machine = None
        check_row(rows[l], t, error, None, local, counts)
        if rows[config["depth"] + l]["status"] not in ("overflow",):
            check_row(rows[config["depth"] + l], t, error, machine, local, counts)
    for what, off in local.items():
        kind = what.split(": ")[1]
        worst[kind] = max(worst.get(kind, ZERO), off)


def check_original(tensors, meta, l, t, worst):
    """r(T), as doubles or, where those do not hold it, as text."""
    name = "result.%d.r_T" % l
    text = meta.get(name + ".text")
    entries = [Decimal(x) for x in json.loads(text)] if text else tensors[name][1]
    size = largest(t)
    off = max(abs(a - b) for a, b in zip(entries, (x for row in t for x in row)))
    near("layer %d: r(T)" % (l + 1), size + off, size, worst, Decimal("1e-15"))


CONSTRUCTIONS = ["silu", "linear", "attention", "ffn3", "fused", "transformer3", "transformer"]


# What was wrong once: a SiLU that cancels all of the stream; scores near the end of MPFR's range.
FIXED = [
    {"construction": "silu", "n": 1, "d": 1, "depth": 1, "omega": "134", "seed": 991982445,
     "score-scale": "1000"},
    {"construction": "silu", "n": 1, "d": 1, "depth": 1, "omega": "134.5", "seed": 991982445,
     "score-scale": "1.1e17"},
    {"construction": "fused", "n": 2, "d": 1, "d-ff": 1, "depth": 1, "omega": "20", "seed": 5,
     "score-scale": "1e80", "reference": "subtract"},
]


def random_config(r, i, short):
    construction = CONSTRUCTIONS[i % len(CONSTRUCTIONS)]
    has_scores = construction != "linear"
    deep = 3 if short else 12
    config = {
        "construction": construction,
        "n": r.randint(1, 2 if short else 3),
        "d": r.randint(1, 2),
        "depth": r.choice([1, 1, 2, r.randint(1, deep)]),
        "omega": r.choice([repr(r.uniform(0.01, 8)), repr(r.uniform(8, 200)),
                           repr(10 ** r.uniform(-2, 3)), repr(10 ** r.uniform(2, 18)),
                           repr(10 ** r.uniform(18, 300))]),
        "weights": r.choice(["stable", "normal"]),
        "seed": r.randint(1, 10 ** 9),
        "mask": r.choice(["none", "causal"]),
        "bias": r.choice(["none", "random"]) if construction not in ("silu", "attention") else None,
        "heads": None, "d-ff": None, "d-head": None, "score-scale": None,
    }
    if construction in ("attention", "transformer", "transformer3"):
        config["heads"] = r.randint(1, 2)
        config["d-head"] = r.randint(0, config["d"])
    if construction in ("ffn3", "fused", "transformer", "transformer3"):
        config["d-ff"] = r.randint(1, 2 if short else 4)
    if has_scores:
        config["score-scale"] = r.choice(
            [None, None, repr(10 ** r.uniform(0, 3)), repr(10 ** r.uniform(3, 25)),
             repr(10 ** r.uniform(15, 22)), repr(10 ** r.uniform(22, 100))])
    if float(config["omega"]) <= 300 and r.random() < 0.4:
        config["reference"] = "subtract"
    return config


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    r = random.Random(seed)
    worst, failed = {}, 0
    counts = {"values": 0, "bounds": 0, "undecided": 0, "native": 0}
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(-len(FIXED), count):
            config = FIXED[i] if i < 0 else random_config(r, i, count <= 60)
            try:
                check(program, config, scratch, worst, counts)
            except Failure as failure:
                failed += 1
                print("FAIL headproof sweep " + " ".join(flags_of(config)))
                print("     " + str(failure))
    print("%d points (%d random, seed %d): %d construction errors agree, %d bounds hold, "
          "%d were not decided, %d native errors agree; %d points failed" % (
              len(FIXED) + count, count, seed, counts["values"], counts["bounds"],
              counts["undecided"], counts["native"], failed))
    for what in sorted(worst):
        print("  worst disagreement of %s: %.2E" % (what, worst[what]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
