#!/usr/bin/env python3
"""Independent oracle for layer norms: T and T' of small models, by full matrices in mpmath.

    python3 tests/oracle_norms.py FILE

FILE is what tests/reference/test_norms_oracle.c writes: the sublayers of T, every number a double, and what
the program makes of r(T), of r(T') - r(T) and of the bias row.  T' is built here, from
docs/mathematics.md, section 1.  Exits 1 where 25 digits do not agree.
"""

import sys

from mpmath import erfc, exp, matrix, mp, mpf, nstr, sqrt

from oracle_dense import Stream, fused_head, linear_head, patched_head, silu_head

TOLERANCE = 1e-25


def read(path):
    """Models, each a dictionary: a line "begin", then lines NAME VALUE ..., and sublayers in
    order."""
    models = []
    for line in open(path):
        words = line.split()
        if words[0] == "begin":
            models.append({"sublayers": []})
        elif words[0] == "sublayer":
            models[-1]["sublayers"].append({"kind": words[1]})
        else:
            at = models[-1]["sublayers"][-1] if words[0].startswith("+") else models[-1]
            at[words[0].lstrip("+")] = words[1:]
    return models


def number(model, name):
    return int(model[name][0])


def tensor(words):
    """ROWS COLUMNS, then entries: doubles in hexadecimal, or decimals."""
    rows, columns = int(words[0]), int(words[1])
    entries = [mpf(float.fromhex(w)) if "x" in w else mpf(w) for w in words[2:]]
    return matrix([entries[r * columns:(r + 1) * columns] for r in range(rows)])


def normalise(norm, row, token):
    """A row's content by the words: the mean, the variance, eps."""
    d = len(row)
    rms = norm["norm"][0] == "rmsnorm"
    gamma, eps = tensor(norm["gamma"]), mpf(float.fromhex(norm["eps"][0]))
    mean = mpf(0) if rms else sum(row) / d
    root = sqrt(sum((x - mean) ** 2 for x in row) / d + eps)
    out = [gamma[0, c] * (row[c] - mean) / root for c in range(d)]
    if token and "beta" in norm:
        beta = tensor(norm["beta"])
        out = [y + beta[0, c] for c, y in enumerate(out)]
    return out


def activation(name, x):
    if name == "silu":
        return x / (1 + exp(-x))
    return x * erfc(-x / sqrt(2)) / 2


def original(model):
    """T, the stream after the last layer."""
    x = tensor(model["X"]).tolist()
    n, causal = len(x), number(model, "causal")
    for s in model["sublayers"]:
        if s["kind"] == "norm":
            x = [normalise(s, row, True) for row in x]
            continue
        y = [normalise(s, row, True) for row in x] if "norm" in s else x
        if s["kind"] == "attention":
            out = [list(row) for row in x]
            for h in range(number(s, "heads")):
                q, v = tensor(s["q%d" % h]), tensor(s["v%d" % h])
                for i in range(n):
                    seen = range(i + 1 if causal else n)
                    query = matrix([y[i]]) * q
                    weight = [exp((query * matrix([y[j]]).T)[0]) for j in seen]
                    for j in seen:
                        value = matrix([y[j]]) * v
                        for c in range(len(x[0])):
                            out[i][c] += weight[j] / sum(weight) * value[0, c]
            x = out
        elif s["kind"] == "ffn":
            w1, b1, w2, b2 = (tensor(s[w]) for w in ("w1", "b1", "w2", "b2"))
            for i in range(n):
                z = matrix([y[i]]) * w1 + b1
                out = matrix([[activation("silu", e) for e in z]]) * w2 + b2
                x[i] = [a + b for a, b in zip(x[i], out)]
        elif s["kind"] == "linear":
            out = [(matrix([row]) * tensor(s["w1"]) + tensor(s["b1"])).tolist()[0] for row in y]
            replace = number(s, "replace")
            x = [b if replace else [p + q for p, q in zip(a, b)] for a, b in zip(x, out)]
        else:
            x = [[activation("silu", e) for e in row] for row in x]
    return x


def norm_of(s, model, norm):
    """The stream that T' reads: norm(x) on the content columns, the one-hot columns as they are."""
    d = number(model, "d")
    y = s.x.copy()
    for i in range(s.n + 1):
        token = i != s.bias
        if token or not number(model, "tokens_only"):
            row = normalise(norm, [s.x[i, c] for c in range(d)], token)
            for c in range(d):
                y[i, c] = row[c]
    return y


def add(s, model, part, heads):
    """One sublayer of T', behind the norm of its part of T, once."""
    x = s.x
    if "norm" in part:
        s.x = norm_of(s, model, part)
    total = matrix(s.n + 1, s.width)
    for q, v in heads:
        total += s.head(q, v)
    s.x = x + total


def converted(model, omega):
    three, d = number(model, "three"), number(model, "d")
    hidden = number(model, "hidden") if three else 0
    tokens = [row + [0] * hidden for row in tensor(model["X"]).tolist()]
    s = Stream(tokens, [0] * (d + hidden), causal=number(model, "causal"))
    plain = {}
    for part in model["sublayers"]:
        kind = part["kind"]
        if kind == "norm":
            s.x = norm_of(s, model, part)
        elif kind == "attention":
            add(s, model, part, [patched_head(s, tensor(part["q%d" % h]), tensor(part["v%d" % h]),
                                              omega) for h in range(number(part, "heads"))])
        elif kind == "linear":
            add(s, model, part, [linear_head(s, tensor(part["w1"]), 0, 0, tensor(part["b1"]),
                                             number(part, "replace"), omega)])
        elif kind == "activation":
            add(s, model, part, [silu_head(s, k, omega) for k in range(d)])
        else:
            w1, b1, w2, b2 = (tensor(part[w]) for w in ("w1", "b1", "w2", "b2"))
            if three:
                add(s, model, part, [linear_head(s, w1, 0, d, b1, False, omega)])
                add(s, model, plain, [silu_head(s, d + k, omega) for k in range(hidden)])
                add(s, model, plain, [linear_head(s, w2, d, 0, b2, True, omega)])
            else:
                add(s, model, part, [fused_head(s, w1, b1, w2, k, omega) for k in range(w1.cols)] +
                    [linear_head(s, None, 0, 0, b2, False, omega)])
    return s


def compare(what, model, name, expected):
    """The worst distance, relative to the largest entry."""
    given = tensor(model[name])
    largest = max(abs(e) for row in expected for e in row)
    worst = max(abs(given[i, c] - e) for i, row in enumerate(expected) for c, e in enumerate(row))
    ratio = float(worst / largest) if largest else float(worst)
    print(f"{what} {name}: largest {nstr(largest, 5)}, off by {ratio:.2g} of it")
    return ratio <= TOLERANCE


def main():
    good = True
    for model in read(sys.argv[1]):
        omega = mpf(float.fromhex(model["omega"][0]))
        mp.prec = number(model, "bits")
        what, d = " ".join(model["what"]), number(model, "d")
        t, s = original(model), converted(model, omega)
        change = [[s.x[i, c] - t[k][c] for c in range(d)] for k, i in enumerate(s.tokens)]
        good &= compare(what, model, "original", t)
        good &= compare(what, model, "change", change)
        good &= compare(what, model, "bias", [[s.x[s.bias, c] for c in range(d)]])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
