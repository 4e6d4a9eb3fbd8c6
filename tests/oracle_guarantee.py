#!/usr/bin/env python3
"""Independent oracle for `headproof guarantee`: random small models of all options, written as
safetensors, and the bounds of docs/proof.md worked out from them again.

    python3 tests/oracle_guarantee.py HEADPROOF FOLDER [MODELS [floats]]

Nothing but the formulas is shared with the C programs.  With mpmath every number is an interval
that holds the exact one: eigenvalues are enclosed by Gershgorin's discs of a matrix that its
eigenvectors in floats have made nearly diagonal, slopes by branch and bound.  A bound of the
program must then not be below the exact one at all, and at most 1e-6 of it above.  Without mpmath,
or asked for floats, these serve, and 1e-9 is forgiven.  How much the program finds out of the rows
that the second norm reads (G25) is its own affair: such a bound must lie between that of the
shortest row that can be reached and that of none.  Exits 1 where a bound is not as it should be."""

import csv
import io
import math
import random
import subprocess
import sys

import numpy as np
import safetensors_file

try:
    import mpmath
except ImportError:
    mpmath = None

BITS, MODELS, ABOVE = 100, 100, 1e-6


# ---- Numbers: floats, or intervals ----------------------------------------------------------------

class Floats:
    """Numbers as they are; 1e-9 is forgiven."""
    below, name = 1e-9, "floats"
    number, sqrt, middle = float, math.sqrt, np.asarray

    @staticmethod
    def array(numbers):
        return numbers

    @staticmethod
    def least(*numbers):
        return min(numbers)

    @staticmethod
    def most(*numbers):
        return max(numbers)

    @staticmethod
    def exp(x):
        return math.exp(min(700.0, x))

    @staticmethod
    def ends(x):
        return x, x


class Intervals:
    """[a, b] that hold the exact number."""
    below, name = 0.0, "intervals"

    def __init__(self):
        self.iv = mpmath.iv
        self.iv.prec = mpmath.mp.prec = BITS
        self.number = self.iv.mpf
        self.array = np.vectorize(self.number, otypes=[object])
        self.middle = np.vectorize(lambda x: float(sum(self.ends(x)) / 2), otypes=[float])

    def ends(self, x):
        """As numbers that can be compared."""
        x = self.number(x)
        return mpmath.mpf(x.a), mpmath.mpf(x.b)

    def least(self, *numbers):
        ends = [self.ends(x) for x in numbers]
        return self.number([min(a for a, _ in ends), min(b for _, b in ends)])

    def most(self, *numbers):
        ends = [self.ends(x) for x in numbers]
        return self.number([max(a for a, _ in ends), max(b for _, b in ends)])

    def sqrt(self, x):
        return self.iv.sqrt(self.most(0, x))

    def exp(self, x):
        return self.iv.exp(self.least(10000, x))


of = Floats()


def taken(value):
    """Floats, in whatever, as numbers, but for those of imitations."""
    if isinstance(value, np.ndarray):
        return of.array(value)
    if isinstance(value, float):
        return of.number(value)
    return {k: v if k == "terms" else taken(v) for k, v in value.items()} \
        if isinstance(value, dict) else value


# ---- Matrices -------------------------------------------------------------------------------------

def largest_eigenvalue(s):
    """With x = Q y, Q nearly orthogonal, x S x / x x is y (Q S Q) y / y (Q Q) y."""
    values, vectors = np.linalg.eigh(of.middle(s))
    if isinstance(of, Floats):
        return values[-1]
    q = of.array(vectors)
    turned, near = q.T @ s @ q, q.T @ q

    def beside(m):
        """What lies beside the diagonal."""
        return [sum(abs(x) for j, x in enumerate(row) if j != i) for i, row in enumerate(m)]

    apart = max(of.ends(abs(c - 1) + r)[1] for c, r in zip(near.diagonal(), beside(near)))
    low = max(of.ends(c)[0] for c in turned.diagonal())
    high = max(of.ends(c + r)[1] for c, r in zip(turned.diagonal(), beside(turned)))
    return of.number([low, high]) / of.number([1 - apart, 1 + apart])


def norm(a):
    """The largest singular value."""
    a = a if len(a) <= len(a[0]) else a.T
    if len(a) == 1:
        return length(a[0])
    return of.sqrt(of.most(0.0, largest_eigenvalue(a @ a.T)))


def length(v):
    return of.sqrt(sum(x ** 2 for x in v))


def largest_column(a):
    return of.most(*map(length, a.T))


# ---- Imitations -----------------------------------------------------------------------------------

ERF = {1: (1.7729, [], []),
       2: (2.211650960743, [1.3099057684290702], [549755813888]),
       3: (2.509861819144, [2.602598846808862], [246942543959])}


def terms_of(model):
    """[(gate, shift, value)] of docs/findings.md."""
    activation, gelu = model["activation"], model["gelu"]
    if activation in ("silu", "sigmoid", "none"):
        return [(1.0, 0.0, 1.0)]
    if activation == "relu":
        return [(model["slope"], 0.0, 1.0)]
    if gelu == "sigmoid":
        return [(1.702, 0.0, 1.0)]
    if gelu == "two":
        v = 0.9103671936 * 2.15006383
        return [(2.15006383, 0.0, v), (2.95015679, 0.0, 1 - v)]
    gate, shifts, weights = ERF[int(gelu)]
    terms, rest = [], 1.0
    for shift, weight in zip(shifts, weights):
        value = weight * 2.0 ** -40
        terms += [(gate, shift, value), (gate, -shift, value)]
        rest -= 2 * value
    return terms + ([(gate, 0.0, rest)] if rest > 0 else [])


def derivatives(terms, x):
    """Of x F(x): the first less 1/2, and the second."""
    one, two = of.number(-0.5), of.number(0)
    for g, h, v in terms:
        u = x * g + h
        up, down = 1 / (1 + of.exp(-u)), 1 / (1 + of.exp(u))
        one += v * (up + g * x * up * down)
        two += v * g * up * down * (2 + g * x * (down - up))
    return one, two


SWINGS = {}


def swing_of(terms):
    """sup |f|, f = (x F(x))' - 1/2: at most |f(m)| + |f'(m)| w/2 + M w^2/8 on a cell of width w
    about m, M >= |f''|.  For that |sigma''| <= 0.0963, and the third derivative is at most 1/8, or
    e^-|u|, so that |u| times it is at most 0.368.  Far out |f| is 1/2."""
    key = tuple(terms)
    if key not in SWINGS:
        curve = sum(abs(v) * g * g * (3 * 0.0963 + 0.368 + 0.125 * abs(h)) for g, h, v in terms)
        reach = max((60 + abs(h)) / g for g, h, _ in terms)
        cells = [(-reach + i * reach / 100, reach / 100) for i in range(200)]
        best = max(of.ends(abs(derivatives(terms, of.number(start))[0]))[0] for start, _ in cells)
        while cells:
            start, w = cells.pop()
            one, two = derivatives(terms, of.number(start + w / 2))
            best = max(best, of.ends(abs(one))[0])
            if (of.ends(abs(one))[1] + of.ends(abs(two))[1] * w / 2 + curve * w * w / 8 >
                    best + 1e-9):
                cells += [(start, w / 2), (start + w / 2, w / 2)]
        SWINGS[key] = of.number(best) + (of.number([0, 1.1e-9]) if of.below == 0 else 0)
    return SWINGS[key]


# ---- The bounds -----------------------------------------------------------------------------------

class Norm:
    """What a sublayer reads through, or a norm by itself."""

    def __init__(self, model, gamma, beta):
        self.rms, self.gamma = model["normalization"] == "rmsnorm", gamma
        self.beta = 0 * beta if self.rms else beta
        self.d, self.eps = len(gamma), model["eps"]
        self.bias_row = model["normalize_bias_row"]
        self.root, self.steep = of.sqrt(of.number(self.d)), 1 / of.sqrt(self.eps)

    def fold(self, w):
        """P diag(gamma) w."""
        scaled = self.gamma[:, None] * w
        return scaled if self.rms else scaled - scaled.sum(0) / self.d

    def centred(self, x):
        return x if self.rms else x - x.sum() / self.d

    def apply(self, x):
        """norm(x), by the words."""
        c = self.centred(x)
        return self.gamma * c / of.sqrt(sum(e ** 2 for e in c) / self.d + self.eps) + self.beta

    def steepness(self, error, spread):
        """1/sqrt(s), rows as spread as that, less the error."""
        apart = of.most(0.0, spread - error)
        return of.least(self.steep, 1 / of.sqrt(apart ** 2 / self.d + self.eps))


class Reader:
    """A matrix that reads the content, as tokens and as the bias row read it."""

    def __init__(self, norm_, w, bias):
        self.bias = bias
        self.token = self.row = w
        if norm_:
            self.bias = self.bias + norm_.beta @ w
            self.token = norm_.fold(w)
            self.row = self.token if norm_.bias_row else w


class Head:
    """What bounds know of a head; inputs: the rows that it reads, if they are known."""

    def __init__(self, head, b_o, scale, norm_, inputs, rotary):
        q = Reader(norm_, head["W_Q"], head["b_Q"])
        k = Reader(norm_, head["W_K"], head["b_K"])
        v, bias = head["W_V"] @ head["W_O"], head["b_V"] @ head["W_O"] + b_o
        self.v = v = Reader(norm_, v, bias)
        scores = q.token @ k.token.T
        self.both = length(q.token @ k.bias + k.token @ q.bias)
        self.negative = of.most(0.0, largest_eigenvalue(-0.5 * (scores + scores.T)))
        self.biases = q.bias @ k.bias
        self.scores, self.query_bias = norm(scores), length(k.token @ q.bias)
        self.toward, self.bias_toward = norm(q.token @ k.row.T), length(k.row @ q.bias)
        self.of_row, self.bias_of_row = norm(q.row @ k.token.T), length(q.row @ k.bias)
        self.within = norm(q.row @ k.row.T)
        self.turned = rotary is not None
        if self.turned:
            self.turn(q, k, rotary)
        self.values, self.values_row, self.bias = norm(v.token), norm(v.row), length(v.bias)
        self.own_scores = self.own_values = None
        for x in inputs:
            y = norm_.apply(x) if norm_ else x
            own = -scale * ((y @ head["W_Q"] + head["b_Q"]) @ (y @ head["W_K"] + head["b_K"]))
            value = length(y @ head["W_V"] @ head["W_O"] + bias)
            self.own_scores = of.most(own, self.own_scores if self.own_scores is not None else own)
            self.own_values = of.most(value, self.own_values or value)

    def turn(self, q, k, off):
        """(G26)"""
        wq, bq, rq = ((1 + off) * norm(m) for m in (q.token, q.bias[None], q.row))
        wk, bk, rk = ((1 + off) * norm(m) for m in (k.token, k.bias[None], k.row))
        self.scores, self.query_bias, self.key_bias = wq * wk, bq * wk, wq * bk
        self.toward, self.bias_toward, self.of_row, self.bias_of_row = wq * rk, bq * rk, rq * wk, rq * bk
        self.off, self.both_biases = off, bq * bk

    def gain(self, scale, r):
        """(G8), (G26)"""
        biases = self.query_bias + (self.key_bias if self.turned else 0)
        return self.values * (scale * r * (2 * self.scores * r + biases) + 1)

    def least_own(self, scale, r):
        """(G6), (G21), (G26)."""
        turned = scale * self.off * (self.scores * r ** 2 + (self.query_bias + self.key_bias) * r +
                                     self.both_biases) if self.turned else 0
        return self.least_unturned(scale, r) + turned

    def least_unturned(self, scale, r):
        s0 = scale * (self.negative * r ** 2 + self.both * r - self.biases)
        return s0 if self.own_scores is None else of.least(s0, self.own_scores)

    def value(self, r):
        bound = self.values * r + self.bias
        return bound if self.own_values is None else of.least(bound, self.own_values)


class Network:
    def __init__(self, part, norm_):
        w1, w2 = Reader(norm_, part["W_in"], part["b_in"]), part["W_out"]
        self.n1, self.n2, self.nr, self.b1 = norm(w1.token), norm(w2), norm(w1.row), length(w1.bias)
        self.b2, self.column = length(part["b_out"]), largest_column(w1.row)
        self.product_row = norm(w1.row @ w2)
        both = w1.token @ w2 + (0 if norm_ else 2 * np.eye(w2.shape[1], dtype=int))
        self.through, self.b1_through = norm(both) / 2, length(w1.bias @ w2) / 2


class Factor:
    """One of the two that a gated network multiplies."""

    def __init__(self, w, bias, norm_, out):
        reader = Reader(norm_, w, bias)
        self.w, self.c, self.row = norm(reader.token), length(reader.bias), norm(reader.row)
        self.column, self.row_column = largest_column(reader.token), largest_column(reader.row)
        self.entry = of.most(*np.abs(reader.bias))
        self.each = []
        for column in out.T:
            q = np.array([of.sqrt(abs(x)) for x in column])
            self.each.append((norm(reader.token * q), length(reader.bias * q), of.most(*q)))

    def length(self, r):
        return self.w * r + self.c

    def entries(self, r):
        return self.column * r + self.entry


class Map:
    """x W + bias; diagonal: what is added to W, of a map within a bank."""

    def __init__(self, w, bias, diagonal, norm_, within):
        reader = Reader(norm_, w, bias)
        more = lambda m, by: m + by * np.eye(len(m), dtype=int) if within else m
        self.v, self.vr = norm(more(reader.token, diagonal)), norm(more(reader.row, diagonal))
        self.stays = norm(more(reader.token, diagonal + 1))
        self.own = length(reader.bias)


class State:
    """spread: how much that of the second sublayer's norm is known to be."""

    def __init__(self, model, omega, spread):
        self.model, self.omega, self.n = model, omega, model["n"]
        self.leaked, zero = of.exp(of.number(-2 * omega)), of.number(0)
        self.X = {"c": model["R"], "h": model["R"] if model["banked"] else zero}
        self.E, self.b, self.spread = {"c": zero, "h": zero}, {"c": zero, "h": zero}, spread
        self.A = {"c": zero, "h": zero}
        self.inputs, self.base = inputs_of(model), None

    def kept(self, part, name, make):
        """Norms of a part, worked out once."""
        if name not in part:
            part[name] = make()
        return part[name]

    def read(self, norm_, bank="c"):
        """R', X read in the limit, Lambda_nu, beta_b."""
        if self.base:
            return (norm_.root, norm_.root, norm_.steepness(self.base["E"]["c"], 0.0),
                    of.least(norm_.root, self.base["b"]["c"] * norm_.steep) if norm_.bias_row
                    else self.base["b"]["c"])
        if norm_ is None:
            return self.X[bank] + self.E[bank], self.X[bank], of.number(1), self.b[bank]
        b = (of.least(norm_.root, self.b[bank] * norm_.steep) if norm_.bias_row else self.b[bank])
        return norm_.root, norm_.root, norm_.steepness(self.E[bank], self.spread), b

    def bias_row(self, bank, content):
        self.b[bank] = of.number(0) if self.model["mask"] == "causal" else content

    def weight(self, raised):
        return of.least(1.0, of.exp(raised - 2 * self.omega))

    def weights(self, raised):
        return of.least(1.0, self.n * of.exp(raised - 2 * self.omega))

    def attention(self, part, norm_):
        r, limit, steep, b = self.read(norm_)
        scale, zero = part["scale"], of.number(0)
        own = [name for name in part if name[:2] in ("W_", "b_") and name != "b_O"]
        heads = self.kept(part, "heads", lambda: [
            Head({name: part[name][h] for name in own}, part["b_O"] if h == 0 else 0, scale, norm_,
                 self.inputs, turns_of(self.model)) for h in range(len(part["W_Q"]))])
        stacked = self.kept(part, "stacked", lambda: norm(np.vstack(
            [head.v.token / head.values for head in heads])))
        total = self.kept(part, "together", lambda: norm(sum(head.v.row for head in heads)))
        biases = self.kept(part, "biases", lambda: length(sum(head.v.bias for head in heads)))

        def together(sizes):
            return of.least(sum(sizes), stacked * length(sizes))

        w = [self.weight(head.least_own(scale, r) +
                         scale * (head.toward * r + head.bias_toward) * b) for head in heads]
        leak = of.least(sum(x * head.value(r) for x, head in zip(w, heads)),
                        together([x * head.values * r for x, head in zip(w, heads)]) +
                        sum(x * head.bias for x, head in zip(w, heads)))
        leak += sum(x * head.values_row * b for x, head in zip(w, heads))
        gain = together([head.gain(scale, r) for head in heads])
        out = sum(self.weights(scale * b * (head.of_row * r + head.bias_of_row + head.within * b)) *
                  (head.value(r) + head.values_row * b) for head in heads)
        content = self.b["c"] + total * b + out
        self.change({("c", "c"): 1 + gain * steep, ("h", "h"): 1.0}, {"c": leak, "h": zero})
        self.X["c"] += of.least(sum(head.value(limit) for head in heads),
                                together([head.values * limit for head in heads]) + biases)
        self.bias_row("c", content)

    def change(self, kept, leak):
        """Of errors; only rows behind the first sublayer are of X itself, behind the second of no
        known spread."""
        self.spread = self.spread if self.inputs else of.number(0)
        self.inputs = []
        for name in "EFGA":
            old = getattr(self, name)
            new = {to: sum(kept.get((a, to), 0.0) * old[a] for a in "ch") for to in "ch"}
            if self.base:  # what stays is of the stream, what is added of what was read
                new["c"] = old["c"] + (kept["c", "c"] - 1) * self.base[name]["c"]
            if name in "EF":
                new = {to: new[to] + leak[to] for to in "ch"}
            setattr(self, name, new)

    def fused(self, part, norm_):
        r, limit, steep, b = self.read(norm_)
        w = self.kept(part, "network", lambda: Network(part, norm_))
        values = sum(abs(v) for _, _, v in part["terms"])
        gate = max(g for g, _, _ in part["terms"])
        hidden = w.n1 * r + w.b1
        leak = ((2 * (self.n - 1) * self.leaked * hidden + b * w.nr) * w.n2 * values +
                self.leaked * w.b2)
        stays, slope, column = 1 if norm_ else 0, swing_of(part["terms"]) * w.n1, w.column
        if "W_gate" in part:  # (G28)
            own, up = self.factors(part, norm_)
            slope, column = w.n1 / 2 + own.w * up.entries(r) / 4, own.row_column
        self.change({("c", "c"): stays + (w.through + slope * w.n2) * steep,
                     ("h", "h"): 1.0}, {"c": leak, "h": of.number(0)})
        self.X["c"] = (stays * self.X["c"] + w.through * limit + w.b1_through +
                       (w.n1 * limit + w.b1) * w.n2 * values / 2 + w.b2)
        self.bias_row("c", self.b["c"] + w.product_row * b +
                      self.weights(gate * column * b) * (hidden + w.nr * b) * w.n2 * values +
                      self.leaked * self.n * w.b2)

    def factors(self, part, norm_):
        return self.kept(part, "factors", lambda: [
            Factor(part[w], part[b], norm_, part["W_out"])
            for w, b in (("W_gate", "b_gate"), ("W_in", "b_in"))])

    def into_hidden(self, part, norm_):
        """(G29)"""
        r, limit, steep, b = self.read(norm_)
        gate, _ = self.factors(part, norm_)
        values, steepest = (f(abs(x) for x in xs) for f, xs in (
            (sum, [v for _, _, v in part["terms"]]), (max, [g for g, _, _ in part["terms"]])))
        held = gate.length(r) + gate.row * b
        leak = values * (2 * (self.n - 1) * self.leaked * gate.length(r) + gate.row * b)
        self.change({("c", "c"): 1.0, ("h", "h"): 1.0,
                     ("c", "h"): (swing_of(part["terms"]) + 0.5) * gate.w * steep},
                    {"c": of.number(0), "h": leak})
        self.X["h"] += gate.length(limit) * (1 + values) / 2
        self.bias_row("h", self.b["h"] + gate.row * b +
                      self.weights(steepest * gate.row_column * b) * values * held)

    def read_out(self, part, norm_, direct):
        """(G29) to (G32)."""
        r, limit, steep, b = self.read(norm_)
        gate, up = self.factors(part, norm_)
        w, column, bias = self.kept(part, "out", lambda: (
            norm(part["W_out"]), largest_column(part["W_out"]), length(part["b_out"])))
        K, tau, reach = self.model["pairs"], self.model["tau"], 1
        if not direct:
            reach = sum(abs(v) for _, _, v in part["terms"])
        c = [of.number(x) / y for x, y in {1: [(1, 1)], 2: [(4, 3), (1, 3)],
                                           3: [(64, 45), (20, 45), (1, 45)]}[K]]
        inverses = sum(x / (tau * 2 ** j) for j, x in enumerate(c))
        spread = inverses * of.sqrt(of.number(len(part["b_out"])))
        e, h_row = (of.number(0), gate.row * b) if direct else (self.E["h"], self.b["h"])

        def largest(r, e):
            each = of.most(*[(reach * (g * r + gc) + q * e) * (u * r + uc)
                             for (g, gc, q), (u, uc, _) in zip(gate.each, up.each)])
            return of.least(each, column * longest(r, e))

        def longest(r, e):
            return of.least((reach * gate.entries(r) + e) * up.length(r),
                            (reach * gate.length(r) + e) * up.entries(r))

        h, key = reach * gate.entries(r) + e, up.row * b
        leak = of.least(4 * spread, spread * (self.n - 1) *
                        of.exp(2 ** K * tau * largest(r, e) - 2 * self.omega))
        leak += of.least(4 * spread, sum(c) * w * h * key) + self.leaked * (2 * spread + bias)
        left = self.X["h"] + self.E["h"]
        kept = {("c", "c"): 1 + w * (h * up.w + (up.entries(r) * gate.w if direct else 0)) * steep,
                ("h", "c"): w * up.entries(r) * (not direct)}
        rho = self.weights(2 ** (K - 1) * tau * column * h_row * (up.entries(r) + key))
        share, held = self.n * self.leaked, self.b["h"]
        self.change(kept, {"c": leak, "h": self.leaked * ((2 * self.n - 1) * left + held)})
        eta = tau * largest(limit, 0)
        share_apart = ({1: 1, 2: 1, 3: 17}[K] / of.number({1: 12, 2: 30, 3: 315}[K]) *
                       eta ** (2 * K) + (2.0 ** -46 * eta ** 2 if K > 1 else 0))
        self.A["c"] += share_apart * w * longest(limit, 0)
        self.X["c"] += w * longest(limit, 0) + bias
        self.X["h"] = of.number(0)
        self.bias_row("c", self.b["c"] + 4 * spread * rho + share * (2 * spread + bias))
        self.bias_row("h", self.weights(0.0) * (left + held))

    def in_place(self, terms, bank):
        values, gate = sum(abs(v) for _, _, v in terms), max(g for g, _, _ in terms)
        r, b = self.X[bank] + self.E[bank], self.b[bank]
        kept = {("c", "c"): 1.0, ("h", "h"): 1.0, (bank, bank): swing_of(terms) + 0.5}
        leak = {"c": of.number(0), "h": of.number(0)}
        leak[bank] = values * (2 * (self.n - 1) * self.leaked * r + b)
        self.change(kept, leak)
        self.X[bank] *= values
        self.bias_row(bank, values * self.weights(gate * b) * (b + r))

    def linear(self, part, name, to, w, bias, diagonal, norm_):
        """x[to] += x[source] w + bias; x[source] += diagonal x[source]."""
        source = name[0]
        r, limit, steep, b = self.read(norm_, source)
        m = self.kept(part, name, lambda: Map(w, bias, diagonal, norm_, source == to))
        share, pairs = self.weights(0.0), (2 * self.n - 1) * self.leaked
        kept = {("c", "c"): 1.0, ("h", "h"): 1.0}
        leak = {"c": of.number(0), "h": of.number(0)}
        rows, content = dict(self.X), dict(self.b)
        if source == to and not norm_:
            kept[(to, to)] = m.stays
            rows[to] *= m.stays
            content[to] *= m.stays
        elif source == to:
            kept[(to, to)] = 1 + m.v * steep
            rows[to] += m.v * limit
            content[to] += m.vr * b
        else:
            kept[(source, to)] = m.v * steep
            rows[to] += m.v * limit
            content[to] += m.vr * b
            if diagonal:
                kept[(source, source)] = 0.0
                leak[source] = pairs * (self.X[source] + self.E[source]) + self.leaked * b
                rows[source] = of.number(0)
                content[source] = share * (self.X[source] + self.E[source] + b)
        leak[to] += pairs * m.v * r + self.leaked * (m.own + m.vr * b)
        content[to] += share * (m.v * r + m.vr * b + m.own)
        rows[to] += m.own
        self.change(kept, leak)
        self.X = rows
        for bank in "ch":
            self.bias_row(bank, content[bank])

    def norm_behind(self, norm_, bank):
        top = of.most(*[abs(g) for g in norm_.gamma])
        longest, b = top * norm_.root, self.b[bank]
        steep = top * norm_.steepness(self.E[bank], self.spread)
        self.change({("c", "c"): 1.0, ("h", "h"): 1.0, (bank, bank): steep},
                    {"c": of.number(0), "h": of.number(0)})
        for name in "EFA":
            getattr(self, name)[bank] = of.least(getattr(self, name)[bank], 2 * longest)
        self.X[bank] = longest + length(norm_.beta)
        if norm_.bias_row:
            self.bias_row(bank, of.least(longest, b * top * norm_.steep))

    def layer(self, layer, l):
        model = self.model
        self.F = {"c": of.number(0), "h": of.number(0)}
        self.G = {"c": of.number(1), "h": of.number(1 if model["banked"] else 0)}
        pre, post = model["place"] == "pre", model["place"] == "post"
        final = "c"

        def norm_of(name):
            return self.kept(layer, "norm " + name,
                             lambda: Norm(model, layer[name]["w"], layer[name]["b"]))

        own = norm_of("ln1") if "ln1" in layer else None
        before = {name: dict(getattr(self, name)) for name in "EFGAb"}
        if "attn" in layer:
            self.attention(layer["attn"], own if pre else None)
            if own and post:
                self.norm_behind(own, "c")
        if "mlp" in layer:
            mlp, own = layer["mlp"], norm_of("ln2") if "ln2" in layer else None
            read = own if pre else None
            self.base = before if model["parallel"] else None
            if model["three"]:
                self.linear(mlp, "ch", "h", mlp["W_in"], mlp["b_in"], 0, read)
                self.in_place(mlp["terms"], "h")
                self.linear(mlp, "hc", "c", mlp["W_out"], mlp["b_out"], -1, None)
            elif model["reads_out"]:
                if model["activation"] != "none":
                    spread = self.spread
                    self.into_hidden(mlp, read)
                    self.spread = spread
                self.read_out(mlp, read, model["activation"] == "none")
            else:
                self.fused(mlp, read)
            self.base = None
            if own and post:
                self.norm_behind(own, "c")
        if "linear" in layer:
            source, read = "c", own if pre else None
            w, b = layer["linear"]["W"], layer["linear"]["b"]
            if model["banked"]:
                source, final = ("c", "h") if l % 2 == 0 else ("h", "c")
            self.linear(layer, source, final, w, b, 0 if model["banked"] or read else -1, read)
            if own and post:
                self.norm_behind(own, final)
        if "silu" in layer:
            self.in_place(layer["silu"], "c")
        apart = {"tau_error": self.A[final]} if model["reads_out"] else {}
        return {**apart, "rows": self.X[final], "bias_row": self.b[final], "gain": self.G[final],
                "leak": self.F[final], "error": self.E[final]}


def turns_of(model):
    """How far from 1 the squares of a cos and a sin add up to, of doubles nearest to them."""
    return of.number(2.0 ** -50) if model["rotary"] else None


def inputs_of(model):
    """Tokens at positions; their sums are rounded as X has them."""
    return [of.array(of.middle(e) + of.middle(p)) for e in model.get("W_E", [])
            for p in model["W_pos"][:model["n"]]]


def bounds(model, omega, spread=0.0):
    """The program's columns, a dictionary a layer."""
    state = State(model, omega, spread)
    rows = [state.layer(layer, l) for l, layer in enumerate(model["layers"])]
    if "W_U" in model:
        if "column" not in model:
            final = Norm(model, *model["ln_final"].values()) if "ln_final" in model else None
            model["column"] = largest_column(final.fold(model["W_U"]) if final else model["W_U"])
            model["column"] *= final.steep if final else 1
        rows[-1]["logit_error"] = rows[-1]["error"] * model["column"]
        if model["reads_out"]:
            rows[-1]["logit_tau_error"] = rows[-1]["tau_error"] * model["column"]
    return rows


def shortest_row(model):
    """Of the rows that the second sublayer's norm can read, in floats, about the shortest: none that
    is proven is longer.  Each is a row of X with all biases, and a mean of each head's values."""
    layer = model["layers"][0]
    if "W_E" not in model or model["place"] == "none" or model["parallel"]:
        return 0.0
    first = Norm(model, *layer["ln1"].values()) if model["place"] == "pre" else None
    second = Norm(model, *layer["ln2" if first else "ln1"].values())
    inputs, best, attn = inputs_of(model), math.inf, layer["attn"]
    read = np.array([first.apply(x) if first else x for x in inputs])
    biases = attn["b_O"] + sum(b @ w for b, w in zip(attn["b_V"], attn["W_O"]))
    sets = [[second.centred(x) for x in read @ v @ w] for v, w in zip(attn["W_V"], attn["W_O"])]
    for x in inputs:
        base = second.centred(x + biases)
        z = base + sum(s[0] for s in sets)
        for _ in range(80):
            apart = base + sum(min(s, key=lambda p: p @ z) for s in sets) - z
            size = apart @ apart
            by = -(apart @ z) / size if size else 0
            if by <= 0:
                break
            z = z + min(1, by) * apart
        best = min(best, math.sqrt(z @ z))
    return best * (1 + 1e-12)


# ---- Random models --------------------------------------------------------------------------------

def draw(source, rows, columns, size):
    return np.array([[source.gauss(0, size) for _ in range(columns)] for _ in range(rows)])


def draw_norm(source, d):
    return {"w": np.array([source.gauss(1, 0.3) for _ in range(d)]),
            "b": np.array([source.gauss(0, 0.3) for _ in range(d)])}


def make(source):
    kind = source.choice(["attention", "ffn", "transformer", "transformer", "transformer",
                          "linear", "linear", "silu"])
    n, d, hidden = source.randint(1, 7), source.randint(2, 6), source.randint(1, 7)
    heads, d_head = source.randint(1, 3), source.randint(1, 4)
    model = {"kind": kind, "n": n, "d": d, "mask": source.choice(["none", "none", "causal"]),
             "eps": source.choice([1e-5, 0.01]), "flags": [], "three": False, "banked": False,
             "normalization": "none" if kind == "silu" else
             source.choice(["none", "layernorm", "rmsnorm"]),
             "place": source.choice(["pre", "pre", "post"]), "normalize_bias_row": True,
             "activation": source.choice(["silu", "relu", "gelu"]), "slope": 1000.0,
             "gelu": source.choice(["sigmoid", "1", "2", "3", "two"])}
    normed = model["normalization"] != "none"
    model["place"] = model["place"] if normed else "none"
    if kind in ("ffn", "transformer") and source.random() < 0.4:
        model["three"] = True
    other = 0
    if kind == "linear" and source.random() < 0.5 and model["place"] != "pre":
        other = d if normed else hidden
    model["banked"] = other > 0
    attends = kind in ("attention", "transformer")
    model["parallel"] = (kind == "transformer" and model["place"] == "pre" and
                         not model["three"] and source.random() < 0.4)
    model["gated"] = (kind in ("ffn", "transformer") and not model["parallel"] and
                      not model["three"] and source.random() < 0.5)
    if model["gated"]:
        model["activation"] = source.choice(["silu", "silu", "gelu", "relu", "sigmoid", "none"])
    model["reads_out"] = model["gated"] and model["activation"] != "sigmoid"
    model.update(pairs=source.randint(1, 3), tau=2.0 ** -source.randint(1, 12))
    model["rotary"] = source.choice(["half", "interleaved"]) * (attends and d_head > 1 and
                                                                source.random() < 0.5)
    model["width"] = 2 * source.randint(1, d_head // 2) if model["rotary"] else 0
    biased, scaled = source.random() < 0.6, source.random() < 0.5
    depth, terms = source.choice([1, 2, 2, 3]), terms_of(model)
    layers = []
    for l in range(depth):
        layer = {}

        def vector(count):
            return np.array([source.gauss(0, 0.4) if biased else 0.0 for _ in range(count)])

        if attends:
            size = source.choice([0.2, 0.6])
            drawn = [{"W_Q": draw(source, d, d_head, size), "W_K": draw(source, d, d_head, size),
                      "W_V": draw(source, d, d_head, 0.4), "W_O": draw(source, d_head, d, 0.4),
                      **{name: vector(d_head) for name in ("b_Q", "b_K", "b_V")}}
                     for _ in range(heads)]
            layer["attn"] = {name: np.stack([head[name] for head in drawn]) for name in drawn[0]}
            layer["attn"].update(b_O=vector(d), scale=1.0)
            if normed:
                layer["ln1"] = draw_norm(source, d)
        if kind in ("ffn", "transformer"):
            layer["mlp"] = {"W_in": draw(source, d, hidden, 0.5), "b_in": vector(hidden),
                            "W_out": draw(source, hidden, d, 0.5), "b_out": vector(d),
                            "terms": terms}
            if model["gated"]:
                layer["mlp"].update(W_gate=draw(source, d, hidden, 0.5), b_gate=vector(hidden))
            if normed:
                layer["ln2"] = draw_norm(source, d)
        if kind == "linear":
            rows, columns = (d, other or d) if l % 2 == 0 else (other or d, d)
            layer["linear"] = {"W": draw(source, rows, columns, 0.5), "b": vector(columns)}
            if normed:
                layer["ln1"] = draw_norm(source, columns)
        if kind == "silu":
            layer["silu"] = terms
        layers.append(layer)
    model.update(layers=layers, biased=biased, scaled=scaled, R=source.choice([0.5, 2.0]))
    decorate(model, source, normed, d, n)
    return model


def decorate(model, source, normed, d, n):
    """Ends of the model, and flags."""
    kind = model["kind"]
    if kind == "transformer" and source.random() < 0.5:
        vocabulary, context = source.randint(1, 9), n + source.randint(0, 2)
        model["W_E"], model["W_pos"] = draw(source, vocabulary, d, 1), draw(source, context, d, 0.3)
        model["R"] = max(length(e + p) for e in model["W_E"] for p in model["W_pos"][:n])
        model["W_U"] = draw(source, d, source.randint(1, 5), 1)
        if normed and model["place"] == "pre":
            model["ln_final"] = draw_norm(source, d)
    if normed and source.random() < 0.5:
        model["normalize_bias_row"] = False
        if model["mask"] == "none":
            model["flags"] += ["--normalize-bias-row", "no"]
    if model["reads_out"]:
        model["flags"] += ["--readout", str(model["pairs"]), "--tau", repr(model["tau"])]
    if model["three"]:
        model["flags"] += ["--network", "three"]
    if (model["three"] or kind == "linear") and source.random() < 0.5:
        model["flags"] += ["--head-rank", str(source.randint(1, 3))]
    if model["activation"] == "gelu" and kind in ("ffn", "transformer", "silu"):
        model["flags"] += ["--gelu", model["gelu"]]
    if model["activation"] == "relu" and kind in ("ffn", "transformer", "silu"):
        model["flags"] += ["--slope", repr(model["slope"])]


def write(path, model):
    """Names of TransformerLens, and what is said."""
    parts = {f"blocks.{l}.{part}": named for l, layer in enumerate(model["layers"])
             for part, named in layer.items() if isinstance(named, dict)}
    if "ln_final" in model:
        parts["ln_final"] = model["ln_final"]
    tensors = {f"{part}.{name}": array for part, named in parts.items()
               for name, array in named.items() if isinstance(array, np.ndarray) and
               (name[0] != "b" or
                (model["normalization"] == "layernorm" if ".ln" in part or part == "ln_final"
                 else model["biased"]))}
    tensors.update({name: model[key] for name, key in (
        ("embed.W_E", "W_E"), ("pos_embed.W_pos", "W_pos"), ("unembed.W_U", "W_U")) if key in model})
    said = {"mask": model["mask"], "normalization": model["normalization"],
            "blocks": "parallel" if model["parallel"] else "sequential"}
    if model["normalization"] != "none":
        said.update({"normalization-place": model["place"], "eps": repr(model["eps"])})
    if model["kind"] in ("attention", "transformer"):
        said["scale"] = "1/sqrt(d_head)" if model["scaled"] else "1"
    if model["kind"] in ("ffn", "transformer"):
        said["activation"] = model["activation"]
    if model["rotary"]:
        said.update({"rotary-pairs": model["rotary"], "rotary-dim": str(model["width"]),
                     "rope-theta": "100"})
    if "W_pos" in model:
        said["positions"] = "learned"
    if model["kind"] == "linear":
        said["linear"] = "block" if model["banked"] else "in-place"
    safetensors_file.write(path, tensors, said)


# ---- The comparison -------------------------------------------------------------------------------

def command(program, path, model, omega):
    flags = [program, "guarantee"]
    if model["kind"] == "silu":
        flags += ["--construction", "silu", "--d", str(model["d"]), "--depth",
                  str(len(model["layers"])), "--mask", model["mask"],
                  "--activation", model["activation"]]
    else:
        flags += [path]
    flags += ["--n", str(model["n"]), "--omega", ",".join(repr(o) for o in omega)]
    if "W_E" not in model:
        flags += ["--input-norm", repr(model["R"])]
    return flags + model["flags"] + ["--format", "csv"]


def compare(program, path, model, omegas):
    """How far a bound is below the oracle's at most, how far above, and how many were compared."""
    global of
    asked = command(program, path, model, omegas)
    run = subprocess.run(asked, capture_output=True, text=True)
    if run.returncode != 0:
        print(" ".join(asked), "\n", run.stderr)
        return math.inf, math.inf, 0
    below, above, count = 0.0, 0.0, 0
    numbers, of = of, Floats()
    known, of = shortest_row(model), numbers
    exact = taken({k: v for k, v in model.items() if k not in ("flags", "slope", "layers")})
    exact["layers"] = [taken(layer) for layer in model["layers"]]
    for attn in (layer["attn"] for layer in exact["layers"] if "attn" in layer):
        if model["scaled"]:
            attn["scale"] = 1 / of.sqrt(of.number(attn["W_Q"].shape[2]))
    if "W_E" in model:
        exact["R"] = of.most(*[length(x) for x in inputs_of(exact)])
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    expected = [(o, l, low, high) for o in omegas for l, (low, high) in enumerate(
        zip(bounds(exact, o, of.number(known)), bounds(exact, o)))]
    for got, (omega, l, lows, highs) in zip(rows, expected, strict=True):
        assert float(got["omega"]) == omega and int(got["layer"]) == l + 1
        for name in lows:
            cell, low, high = of.ends(got_number(got[name])), of.ends(lows[name])[0], highs[name]
            less, more = apart(low, cell[1]), apart(cell[1], of.ends(high)[1])
            if less > of.below or more > ABOVE:
                print(" ".join(asked), "\n ", omega, l + 1, name, got[name], "expected", low, high)
            below, above, count = max(below, less), max(above, more), count + 1
    return below, above, count


def got_number(cell):
    return float(cell) if of.below else of.number(cell)


def apart(a, b):
    """By how much of b a is above it; what floats hardly hold is nothing."""
    if a <= b or of.below and a < 1e-280:
        return 0.0
    return float(a / b - 1) if b > 0 else math.inf


def leaks_unnormalised(model, kind):
    """A bias row that fills, and that its sublayers read as it is."""
    return (model["kind"] == kind and model["place"] == "pre" and
            model["mask"] == "none" and not model["normalize_bias_row"] and
            len(model["layers"]) > 1)


def is_turned(model):
    """Keys with biases are turned, in blocks that are parallel."""
    return bool(model["rotary"] and model["parallel"] and model["biased"] and
                model["mask"] == "none" and len(model["layers"]) > 1)


def wanted(m, models):
    """What model m has to have, as not all of a few models would."""
    return {1: lambda model: is_turned(model) and "W_E" not in model,
            3: lambda model: (model["reads_out"] and model["biased"] and model["mask"] == "none" and
                              model["activation"] != "none" and len(model["layers"]) > 1),
            4: lambda model: (model["reads_out"] and model["activation"] == "none" and
                              model["mask"] == "none" and len(model["layers"]) > 1),
            5: lambda model: (model["gated"] and not model["reads_out"] and model["biased"] and
                              model["mask"] == "none" and len(model["layers"]) > 1),
            2: lambda model: model["parallel"] and len(model.get("W_E", "")) == 1,
            0: lambda model: leaks_unnormalised(model, "transformer"),
            models: lambda model: (model["reads_out"] and model["biased"] and
                                   model["activation"] != "none" and
                                   leaks_unnormalised(model, model["kind"])),
            models - 1: lambda model: leaks_unnormalised(model, "linear"),
            models - 2: lambda model: (model["kind"] == "silu" and model["gelu"] == "two" and
                                       model["activation"] == "gelu"),
            models - 3: lambda model: (model["place"] == "post" and len(model["layers"]) > 1 and
                                       model["normalization"] == "layernorm")
            }.get(m, lambda model: True)


def main():
    global of
    program, folder = sys.argv[1:3]
    models = int(sys.argv[3]) if len(sys.argv) > 3 else MODELS
    if mpmath is not None and sys.argv[4:] != ["floats"]:
        of = Intervals()
    source = random.Random(27)
    below, above, count = 0.0, 0.0, 0
    for m in range(models + 1):
        model, path = make(source), "%s/%d.safetensors" % (folder, m)
        while not wanted(m, models)(model):
            model = make(source)
        write(path, model)
        omegas = sorted(round(source.uniform(0.5, 40), 2) for _ in range(3))
        worst = compare(program, path, model, omegas)
        below, above, count = max(below, worst[0]), max(above, worst[1]), count + worst[2]
    print("%d models, %d bounds, by %s: from %.3g below the exact ones to %.3g above" %
          (models + 1, count, of.name, below, above))
    sys.exit(0 if below <= of.below and above <= ABOVE else 1)


if __name__ == "__main__":
    main()
