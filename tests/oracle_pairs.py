"""Independent oracle: points of every construction and option, recomputed from exported weights.

Nothing is shared with the program but what `headproof export` writes.  Every head is the two full
matrices Q and V of docs/mathematics.md, section 1, in Python's decimal; T' by numbers of so many
digits that e^(-2 Omega) is seen, or, where that is too small, as a polynomial a + b e^(-2 Omega),
what is smaller being left out: a is T_infinity.  Compared are all six errors, by each norm, with
what `headproof sweep` prints; the machine's streams are the exported ones, and within what their
arithmetic rounds of the exact ones.
"""

import csv
import functools
import io
import json
import math
import os
import struct
import subprocess
import sys
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, setcontext

import numpy as np

sys.dont_write_bytecode = True
import safetensors_file

ZERO, ONE = Decimal(0), Decimal(1)
SMALL = Decimal("1e-20")       # leaks whose squares are left out
TOLERANCE = Decimal("1e-11")   # twelve digits are printed
UNHEARD = Decimal("1e-40")     # below that a difference of streams may be but their rounding
NUMBERS = 60                   # up to this Omega T' is evaluated by numbers
UNIT = {"f64": 53, "f32": 24, "tf32": 11, "bf16": 8, "fp16": 11, "bf16-flash": 8, "fp16-flash": 11,
        "bf16-autocast": 8}

# Slope, and for each pair of shifts: shift, weight of either of the two.  The rest of 1 is the
# weight of a term without a shift.
ERF = {
    "1": ("1.7729",),
    "2": ("2.211650960743", ("1.3099057684290702", 0.5)),
    "3": ("2.509861819144", ("2.602598846808862", 0.22459293537296893)),
    "4": ("2.740686568247", ("1.2509973575666027", 0.39368559915577256),
          ("3.767116261912345", 0.10631440084422747)),
    "8": ("3.373156460975", ("1.0599699958324384", 0.27229408758214346),
          ("3.1418455731836135", 0.15978699180886552), ("5.243582967513871", 0.05790872445685299),
          ("7.549421643141777", 0.010010196152138122)),
}
TANH = {
    "1": ("1.774496215925",),
    "2": ("2.221170335581", ("1.325436826138774", 0.5)),
    "3": ("2.538477767509", ("2.670395947293014", 0.22292454981109003)),
    "5": ("3.014986056198", ("2.4812727509004215", 0.24345513280772504),
          ("5.018176373385229", 0.05559853423541878)),
    "7": ("3.385368070583", ("2.301774282737977", 0.22852275759892168),
          ("4.576483526654558", 0.09309238953931799), ("7.012869209817888", 0.018668309362686063)),
}


def terms_of(activation, form, slope):
    """[(gate, shift, value)] of the imitation, all of them doubles."""
    if activation in ("silu", "relu", "sigmoid", "none"):
        return [(Decimal(float(slope)) if activation == "relu" else ONE, ZERO, ONE)]
    if form == "sigmoid":
        return [(Decimal(1.702), ZERO, ONE)]
    if form == "two":
        first = 0.9103671936 * 2.15006383
        return [(Decimal(2.15006383), ZERO, Decimal(first)),
                (Decimal(2.95015679), ZERO, Decimal(1 - first))]
    gate, *pairs = (ERF if activation == "gelu" else TANH)["1" if form == "minimax" else form]
    weights = [round(weight * 2**40) for _, weight in pairs]
    rest = 2**40 - 2 * sum(weights)
    if len(weights) * 2 == int(1 if form == "minimax" else form):  # no term without a shift
        weights[0] += rest // 2
        rest = 0
    gate, unit = Decimal(float(gate)), Decimal(2)**-40
    terms = [(gate, ZERO, rest * unit)] if rest else []
    for (shift, _), weight in zip(pairs, weights):
        terms += [(gate, sign * Decimal(float(shift)), weight * unit) for sign in (1, -1)]
    return terms


# ---- Functions ----------------------------------------------------------------------------------

def set_digits(digits):
    setcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[]))


@functools.lru_cache(1000)
def exp_of(x, digits):
    return x.exp()


def exp(x):
    """e^x, which many heads of a network have of the same scores."""
    return exp_of(x, getcontext().prec)


def sigma(x):
    t = exp(-abs(x))
    return ONE / (ONE + t) if x >= 0 else t / (ONE + t)


@functools.cache
def pi_of(digits):
    """Machin's formula, in the context of so many digits."""
    def arctangent(inverse):
        term, total, k = ONE / inverse, ZERO, 0
        while total + term / (2 * k + 1) != total:
            total += (-1)**k * term / (2 * k + 1)
            term, k = term / (inverse * inverse), k + 1
        return total
    return 16 * arctangent(5) - 4 * arctangent(239)


def pi():
    return pi_of(getcontext().prec)


def phi(x):
    """The normal distribution's, by its series with as many digits more as that cancels, or by that
    in 1/x^2 where its terms become small enough."""
    digits = getcontext().prec
    if x > 0 and x * x > 5 * digits:
        return ONE
    if x * x > 5 * digits:
        total, term, k = ZERO, ONE, 1
        while total + term != total:
            total += term
            term, k = -term * k / (x * x), k + 2
        return (-x * x / 2).exp() / (-x * (2 * pi()).sqrt()) * total
    set_digits(digits + 10 + int(x * x))
    total, term, k = ZERO, x, 0
    while total + term / (2 * k + 1) != total:
        total += term / (2 * k + 1)
        k += 1
        term *= -x * x / (2 * k)
    value = Decimal("0.5") + total / (2 * pi()).sqrt()
    set_digits(digits)
    return +value


ACTIVATIONS = {
    "silu": lambda x: x * sigma(x),
    "relu": lambda x: max(x, ZERO),
    "gelu": lambda x: x * phi(x),
    "gelu_new": lambda x: x * sigma(2 * (2 / pi()).sqrt() * (x + Decimal(0.044715) * x**3)),
    "sigmoid": sigma,
    "none": lambda x: x,
}

# Of K pairs that read a product out: the factor on tau, and numerator and denominator of what x is
# the sum of, as multiples of 2^-50 that add up to 1; and the exponents of tau where nobody says it.
READ_OUT = {1: [(1, 1)], 2: [(1, 4 / 3), (2, -1 / 3)], 3: [(1, 64 / 45), (2, -20 / 45), (4, 1 / 45)]}
TAU = {53: (-17, -10, -7), 24: (-7, -4, -3), 11: (-3, -1, -1), 8: (-2, -1, 0)}


def pairs_of(K, tau):
    """[(tau_j, c_j 2/tau_j)]"""
    unit, c = 2**50, [x for _, x in READ_OUT[K]]
    whole = [round(x * unit) for x in c[:-1]]
    whole.append(unit - sum(whole))
    return [(tau * times, 2 * Decimal(x) / unit / (tau * times))
            for (times, _), x in zip(READ_OUT[K], whole)]


# ---- Matrices: numpy's, of Decimals ---------------------------------------------------------------

def zeros(*shape):
    return np.full(shape, ZERO, dtype=object)


def largest(a):
    return np.abs(a).max(initial=ZERO)


def frobenius(a):
    return (a * a).sum(initial=ZERO).sqrt()


each = functools.partial(np.vectorize, otypes=[object])


def softmax(scores, seen):
    """Of each row's scores over what is seen."""
    rows = []
    for row, own in zip(scores, seen):
        top = max(row[own])
        e = np.array([exp(s - top) if there else ZERO for s, there in zip(row, own)])
        rows.append(e / e.sum())
    return np.array(rows)


def cosine_and_sine(x):
    """By their series."""
    sums = []
    for k, term in ((0, ONE), (1, x)):
        total = ZERO
        while total + term != total:
            total, k = total + term, k + 2
            term *= -x * x / (k * (k - 1))
        sums.append(total)
    return sums


def float32(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def turns(n, width, theta, framework):
    """cos and sin of every pair's angle at every position, doubles or what floats make of it."""
    digits, table = getcontext().prec, []
    set_digits(60)
    for i in range(n):
        row = []
        for p in range(width // 2):
            f = (-Decimal(theta).ln() * 2 * p / width).exp()
            if framework:
                power = float32((Decimal(theta).ln() * Decimal(float32(2 * p / width))).exp())
                f = Decimal(float32(1 / power))
            angle = Decimal(float32(f * i)) if framework else f * i
            rounded = float32 if framework else float
            row.append([Decimal(rounded(x)) for x in cosine_and_sine(angle)])
        table.append(row)
    set_digits(digits)
    return table


# ---- A point ------------------------------------------------------------------------------------

class Case:
    """A point's weights, and what it says of T and T'."""

    def __init__(self, tensors, said, config):
        self.said = said
        self.t = {name: np.array([Decimal(v) if math.isfinite(v) else None
                                  for v in safetensors_file.doubles(data)],
                                 dtype=object).reshape(shape)
                  for name, (_, shape, data) in tensors.items()}
        say = lambda name, other: config.get(name) or other
        self.construction, self.depth = config["construction"], config["depth"]
        self.mask, self.band = say("mask", "none"), int(say("band", 4))
        self.linear = say("linear", "in-place")
        self.scale = say("scale", "1")
        self.parallel = say("parallel", "no") == "yes"
        self.rotary, self.width = say("rotary", "none"), say("rotary-dim", "d-head")
        self.theta, self.tables = float(say("rope-theta", 10000)), say("rotary-tables", "exact")
        self.omega = Decimal(float(say("omega", 1000))) * Decimal(float(say("shrink", 1)))
        self.lost = int(say("drop-entry", 0))
        self.own = int(say("bias-self", 2)) * ONE  # Omegas of the bias row toward itself
        self.norm, self.eps = say("normalization", "none"), Decimal(float(say("eps", 1e-5)))
        self.pre = self.norm != "none" and say("normalization-place", "pre") == "pre"
        self.post = self.norm != "none" and not self.pre
        self.bias_row_too = say("normalize-bias-row", "yes") == "yes"
        activation = say("activation", "silu")
        self.gated = say("ffn", "plain") == "gated"
        self.glu, self.bilinear = activation == "sigmoid", activation == "none"
        self.readout = int(say("readout", 1))
        digits = UNIT[config["arithmetic"]]
        tau = say("tau", "auto")
        tau = 2.0**TAU[digits][self.readout - 1] if tau == "auto" else float(tau)
        self.pairs = pairs_of(self.readout, Decimal(tau))
        self.act = each(ACTIVATIONS[activation])
        self.terms = terms_of(activation, say("gelu", "sigmoid"), say("slope", 1000))
        self.x, hidden = self.t["X"], self.t.get("result.X_hidden")
        self.n, self.d = self.x.shape
        self.x = self.x if hidden is None else np.hstack((self.x, hidden))
        self.banks = self.x.shape[1] - self.d
        self.bias_row = self.t.get("result.bias_row", zeros(0)).reshape(-1)
        self.parts = {"transformer": ["attention", "network"], "ffn3": ["network"],
                      "transformer3": ["attention", "network"], "fused": ["network"],
                      "masked": ["network"]}.get(self.construction, [self.construction])
        self.seen = np.array([[self.sees(i, j) for j in range(self.n)] for i in range(self.n)])

    def weights(self, layer, name, *shape):
        """A tensor of a layer; zeros of a shape where there is none."""
        return self.t.get(f"blocks.{layer}.{name}", zeros(*shape) if shape else None)

    def heads(self, layer):
        """(Q, V) of the attention's heads, over the content and a column that is 1 on tokens."""
        w_q = self.weights(layer, "attn.W_Q")
        if w_q is None:
            for q, v in zip(self.weights(layer, "attn.QK"), self.weights(layer, "attn.OV")):
                yield np.pad(q, (0, 1), constant_values=ZERO), np.vstack((v, zeros(1, self.d)))
            return
        count, _, d_head = w_q.shape
        q, k, v = (np.concatenate((self.weights(layer, "attn.W_" + w), self.weights(
            layer, "attn.b_" + w, count, d_head)[:, None]), axis=1) for w in "QKV")
        b_o = self.weights(layer, "attn.b_O", self.d)
        q = q if self.scale == "1" else q / Decimal(d_head).sqrt()
        for h in range(count):
            values = v[h] @ self.weights(layer, "attn.W_O")[h]
            values[-1] += b_o if h == 0 else ZERO
            yield self.between(q[h], k[h]), values

    def between(self, q, k):
        """Q of a row toward another, by their tokens' numbers; None: the bias row."""
        if self.rotary == "none":
            return q @ k.T
        width = q.shape[1] if self.width == "d-head" else int(self.width)
        turned = {None: (q, k)}
        for i, row in enumerate(turns(self.n, width, self.theta, self.tables == "float32")):
            r = np.eye(q.shape[1], dtype=int).astype(object) * ONE
            for p, (c, s) in enumerate(row):
                a, b = (2 * p, 2 * p + 1) if self.rotary == "interleaved" else (p, p + width // 2)
                r[a, a], r[a, b], r[b, a], r[b, b] = c, s, -s, c
            turned[i] = q @ r, k @ r
        return lambda i, j: turned[i][0] @ turned[j][1].T

    def network(self, layer):
        w2 = self.weights(layer, "mlp.W_out")
        gate = "gate" if self.gated else "in"
        return (self.weights(layer, "mlp.W_" + gate),
                self.weights(layer, "mlp.b_" + gate, len(w2)), w2,
                self.weights(layer, "mlp.b_out", self.d))

    def up(self, layer):
        w = self.weights(layer, "mlp.W_in")
        return w, self.weights(layer, "mlp.b_in", w.shape[1])

    def banks_of(self, layer):
        """Of `linear` in a layer: where it reads, and where it writes."""
        content, hidden = slice(0, self.d), slice(self.d, self.d + self.banks)
        if self.linear == "in-place":
            return content, content
        even = layer % 2 == 0
        return (content, hidden) if even == (self.linear == "block") else (hidden, content)

    def compared(self, layer):
        return self.banks_of(layer)[1] if self.construction == "linear" else slice(0, self.d)

    def normalise(self, layer, part, row, token):
        """norm(row), and how it changes along another: rows of the columns that T has."""
        name = "ln2" if part == "network" else "ln1"
        gamma, beta = (self.weights(layer, f"{name}.{w}") for w in "wb")
        own = self.compared(layer)
        d = own.stop - own.start
        centre = (lambda x: x - x.sum() / d) if self.norm == "layernorm" else np.copy
        c = centre(row[own])
        s = (c * c).sum() / d + self.eps
        root, out = s.sqrt(), row.copy()
        out[own] = gamma * c / root + (beta if token and beta is not None else ZERO)

        def along(change):
            e, moved = centre(change[own]), change.copy()
            moved[own] = gamma * (e - c * ((c * e).sum() / (d * s))) / root
            return moved
        return out, along

    def sees(self, i, j):
        """T's mask: may token i attend to token j?"""
        near = j > i - self.band if self.mask == "pseudo-band" else True
        return self.mask == "none" or (j <= i and near)


def content(q, x, y, tokens):
    """x Q y^T, or of each row toward each other with a Q of their own."""
    if not callable(q):
        return x @ q @ y.T
    return np.array([[a @ q(i, j) @ b for j, b in zip(tokens, y)] for i, a in zip(tokens, x)])


class Original:
    """r(T), and the largest score on the way."""

    def __init__(self, case):
        self.case, self.x, self.score = case, case.x, max(ONE, largest(case.x))
        self.scores = []  # of the layer's heads, the largest of all

    def layer(self, layer):
        case = self.case
        self.scores.append(None)
        base, added = self.x, zeros(*self.x.shape)
        for part in case.parts:
            norm = lambda x: np.array([case.normalise(layer, part, row, True)[0] for row in x])
            y = norm(self.x) if case.pre else self.x
            getattr(self, part)(layer, y)
            if case.post:
                self.x = norm(self.x)
            if case.parallel:
                added, self.x = added + (self.x - base), base
        self.x = base + added if case.parallel else self.x
        return self.x[:, case.compared(layer)]

    def note(self, rows):
        self.score = max(self.score, largest(rows))

    def silu(self, _, y):
        self.note(y)
        self.x = self.case.act(y)

    def linear(self, layer, y):
        case = self.case
        read, write = case.banks_of(layer)
        w = case.weights(layer, "linear.W")
        out = y[:, read] @ w + case.weights(layer, "linear.b", w.shape[1])
        self.x = self.x.copy()
        if case.linear == "in-place" and not case.pre:
            self.x[:, write] = out
        else:
            self.x[:, write] += out
        if case.linear == "clear":
            self.x[:, read] = ZERO

    def attention(self, layer, y):
        case, total = self.case, self.x
        y = np.hstack((y, zeros(case.n, 1) + ONE))
        for q, v in case.heads(layer):
            scores = content(q, y, y, range(case.n))
            self.note(scores)
            self.scores[-1] = max(self.scores[-1] or ZERO, largest(scores[case.seen]))
            total = total + softmax(scores, case.seen) @ y @ v
        self.x = total

    def network(self, layer, y):
        w1, b1, w2, b2 = self.case.network(layer)
        hidden = y @ w1 + b1
        self.note(hidden)
        hidden = self.case.act(hidden)
        if self.case.gated:
            w3, b3 = self.case.up(layer)
            up = y @ w3 + b3
            self.note(up)
            hidden = hidden * up
            self.note(hidden)
        self.x = self.x + hidden @ w2 + b2


class Converted:
    """r(T') = a + b e^(-2 Omega) and what is smaller (first_order), or, b = 0, r(T') = a."""

    def __init__(self, case, first_order):
        self.case, self.omega, self.first_order = case, case.omega, first_order
        self.epsilon = (-2 * self.omega).exp()
        self.three = case.construction in ("ffn3", "transformer3")
        self.fills = self.three or (case.gated and not case.glu and not case.bilinear)
        self.masked = case.construction == "masked"
        self.d = case.d
        self.content = case.d + (case.network(0)[0].shape[1] if self.fills else case.banks)
        self.rows = case.n + 1
        self.width = self.content + (1 if self.masked else self.rows)
        self.bias = 0 if case.mask == "causal" else case.n
        self.tokens = [i for i in range(self.rows) if i != self.bias]
        self.numbers = [None if i == self.bias else self.tokens.index(i) for i in range(self.rows)]
        # Position columns of tokens and of the bias row; columns that are 1 on tokens alone.
        self.p, self.pb = [self.content + i for i in self.tokens], self.content + self.bias
        self.carriers = [self.content] if self.masked else self.p
        self.a, self.b = zeros(self.rows, self.width), zeros(self.rows, self.width)
        self.a[self.tokens, :case.x.shape[1]] = case.x
        self.a[self.bias, :len(case.bias_row)] = case.bias_row
        self.a[self.tokens, self.carriers] = ONE
        if not self.masked:
            self.a[self.bias, self.pb] = ONE
        self.cleared = slice(case.d, self.content) if self.fills else slice(0)
        self.largest_leak = ZERO  # of a weight, or of the change of a score
        self.entries = 0          # entries of Omega so far

    def layer(self, layer):
        case = self.case
        base, added = (self.a, self.b), [zeros(self.rows, self.width) for _ in range(2)]
        for part in case.parts:
            self.read = lambda: self.normed(layer, part) if case.pre else (self.a, self.b)
            getattr(self, part)(layer)
            if case.post:
                self.a, self.b = self.normed(layer, part)
            if case.parallel:
                added = [m + (x - y) for m, x, y in zip(added, (self.a, self.b), base)]
                self.a, self.b = base
        if case.parallel:
            self.a, self.b = (x + y for x, y in zip(base, added))
        return [m[self.tokens, case.compared(layer)] for m in (self.a, self.b)]

    def normed(self, layer, part):
        a, b = self.a.copy(), self.b.copy()
        for i in range(self.rows):
            if i != self.bias or self.case.bias_row_too:
                a[i], along = self.case.normalise(layer, part, self.a[i], i != self.bias)
                b[i] = along(self.b[i])
        self.leak(largest(b))
        return a, b

    def leaks(self, decided):
        """The largest entries where 0 is due: of the bias row, of columns that are cleared."""
        sums = self.a + self.b * self.epsilon
        cleared = sums[self.tokens, self.cleared]
        # Of first order, what is left in hidden columns is of second; and what the bias row drinks.
        hidden = decided and cleared.size and not self.first_order
        drinks = self.first_order and self.case.own != 2 and self.bias > 0
        return {"bias_row_max": largest(sums[self.bias, :self.content])
                if decided and not drinks else None,
                "hidden_max": largest(cleared) if hidden else None}

    def leak(self, size):
        self.largest_leak = max(self.largest_leak, abs(size) * self.epsilon)

    def row_pattern(self, seen, content, change, omegas):
        """A row's pattern, and the coefficient of e^(-2 Omega) in it."""
        if not self.first_order:
            there = np.array([j in seen for j in range(self.rows)])
            return softmax([content + omegas * self.omega], [there])[0], zeros(self.rows)
        best = max(omegas[seen])
        limit = [j for j in seen if omegas[j] == best]
        top = max(content[limit])
        e = zeros(self.rows)
        e[seen] = [exp(content[j] - top) for j in seen]
        total = e[limit].sum()
        p = zeros(self.rows)
        p[limit] = e[limit] / total
        moved = p * (change - (p * change).sum())
        self.leak(largest(change[limit]))
        for j in seen:
            w = e[j] / total if omegas[j] < best else ZERO
            self.leak(w)
            if omegas[j] == best - 2:
                moved = moved - w * p
                moved[j] += w
        return p, moved

    def lose(self, coefficients):
        """The entry of Omega that T' lacks, counted by sublayer, head, row and key."""
        for at, times_omega in np.ndenumerate(coefficients):
            if times_omega:
                self.entries += 1
                coefficients[at] = ZERO if self.entries == self.case.lost else times_omega

    def head(self, a, b, q, omega, v, mask):
        scores = content(q, a, a, self.numbers)
        coefficients = a @ omega @ a.T
        self.lose(coefficients)
        change = zeros(self.rows, self.rows)
        if self.first_order:
            change = content(q, b, a, self.numbers) + content(q, a, b, self.numbers)
        p, moved = map(np.array, zip(*(
            self.row_pattern([j for j in range(self.rows) if mask(i, j)], scores[i], change[i],
                             coefficients[i]) for i in range(self.rows))))
        out = p @ a @ v
        return out, moved @ a @ v + p @ b @ v if self.first_order else zeros(*out.shape)

    def sublayer(self, heads, read=None, mask=None):
        causal = self.case.mask == "causal"
        mask = mask or (lambda i, j: not causal or j <= i)
        a, b = self.a, self.b
        ra, rb = read() if read else (a, b)
        for q, omega, v, *own_mask in heads:
            da, db = self.head(ra, rb, q, omega, v, own_mask[0] if own_mask else mask)
            a, b = a + da, b + db
        self.a, self.b = a, b

    # ---- Heads, as section 1 has them -----------------------------------------------------------

    def matrices(self, keeps=False):
        """Q without Omega, Omega's coefficients in it, V; keeps: tokens to themselves and the bias
        row, the bias row to itself."""
        q, omega, v = (zeros(self.width, self.width) for _ in range(3))
        if keeps and not self.masked:
            omega[self.p, self.p] = omega[self.p, self.pb] = 2 * ONE
            omega[self.pb, self.pb] = self.case.own
        return q, omega, v

    def silu_heads(self, k):
        for gate, shift, value in self.case.terms:
            q, omega, v = self.matrices(keeps=True)
            q[k, self.p] = -gate
            q[np.ix_(self.p, self.p)] -= shift
            v[k, k] = -value
            yield q, omega, v

    def linear_head(self, w, read, write, bias, less):
        """w (or None) from columns to columns; less: minus the identity on those read."""
        q, omega, v = self.matrices()
        if not self.masked:
            omega[self.p, self.p] = 2 * ONE
            omega[self.pb, self.pb] = self.case.own
        if w is not None:
            v[read, write] = w
        if less:
            at = np.arange(self.width)[read]
            v[at, at] -= ONE
        if bias is not None:
            v[self.carriers, write] += bias
        return q, omega, v

    def gated_heads(self, w1, b1, out, inner=None):
        """Of a hidden unit: fused, or masked; out: what its value goes into, column by column;
        inner: the values' weights and bias, where they are not the gate's."""
        wv, bv = inner or (w1, b1)
        for gate, shift, value in self.case.terms:
            q, omega, v = self.matrices(keeps=True)
            q[:self.d, self.carriers] = gate * w1[:, None]
            q[np.ix_(self.carriers, self.carriers)] += gate * b1 + shift
            v[self.carriers] = value * bv * out
            v[:self.d] = value * wv[:, None] * out
            yield q, omega, v

    def read_out_head(self, layer, e, tau, value):
        """Of output e: the score of a token toward itself is tau times what a network writes."""
        wg, cg, w2, _ = self.case.network(layer)
        wu, cu = self.case.up(layer)
        q, omega, v = self.matrices(keeps=True)
        queries, keys = (zeros(self.width, len(w2)) for _ in range(2))
        keys[:self.d], keys[self.p] = wu, cu
        if self.case.bilinear:
            queries[:self.d], queries[self.p] = wg, cg
        else:
            queries[range(self.d, self.content), range(len(w2))] = ONE
        q += tau * (queries * w2[:, e]) @ keys.T
        v[self.p, e], v[self.pb, e] = value, -value
        return q, omega, v

    # ---- Parts ----------------------------------------------------------------------------------

    def silu(self, _):
        self.sublayer(h for k in range(self.d) for h in self.silu_heads(k))

    def linear(self, layer):
        case = self.case
        read, write = case.banks_of(layer)
        self.cleared = read if case.linear == "clear" else slice(0)
        less = case.linear == "clear" or (case.linear == "in-place" and not case.pre)
        self.sublayer([self.linear_head(case.weights(layer, "linear.W"), read, write,
                                        case.weights(layer, "linear.b"), less)], self.read)

    def attention(self, layer):
        heads, lift = [], zeros(self.d + 1, self.width)  # lift: of a head's columns onto all
        lift[range(self.d), range(self.d)] = lift[self.d, self.p] = ONE
        numbers = [(i, j) for i in self.numbers for j in self.numbers]
        for qc, vc in self.case.heads(layer):
            _, omega, v = self.matrices()
            v[:, :self.d] = lift.T @ vc
            omega[self.p, self.pb] = -2 * ONE
            if self.case.mask.startswith("pseudo"):
                omega[np.ix_(self.p, self.p)] += ONE * self.case.seen
            omega[self.pb, self.pb] = self.case.own
            q = {of: lift.T @ qc(*of) @ lift for of in numbers} if callable(qc) else None
            heads.append((lift.T @ qc @ lift if q is None else lambda i, j, q=q: q[i, j], omega, v))
        self.sublayer(heads, self.read)

    def network(self, layer):
        case, (w1, b1, w2, b2) = self.case, self.case.network(layer)
        content, hidden = slice(0, self.d), slice(self.d, self.content)
        if self.three:
            self.sublayer([self.linear_head(w1, content, hidden, b1, False)], self.read)
            self.sublayer(h for k in range(self.d, self.content) for h in self.silu_heads(k))
            self.sublayer([self.linear_head(w2, hidden, content, b2, True)])
            return
        if case.gated and not case.glu:
            self.read_out(layer)
            return
        wv, bv = case.up(layer) if case.glu else (w1, b1)
        heads = []
        for k, row in enumerate(w2):
            out = zeros(self.width)
            out[content] = row
            heads += self.gated_heads(w1[:, k], b1[k], out, (wv[:, k], bv[k]))
        b2_head = self.linear_head(None, (), content, b2, False)
        if self.masked:
            alone = (*b2_head, lambda i, j: i == j)
            self.sublayer(heads + [alone], self.read, lambda i, j: j in (i, self.bias))
        else:
            self.sublayer(heads + ([b2_head] if largest(b2) else []), self.read)

    def read_out(self, layer):
        """A gated network: the activated factor into hidden columns, then the product."""
        w1, b1, w2, b2 = self.case.network(layer)
        hidden, content = slice(self.d, self.content), slice(0, self.d)
        if not self.case.bilinear:
            unit = np.eye(self.width, dtype=int)[hidden] * ONE
            self.sublayer([h for k in range(len(w2))
                           for h in self.gated_heads(w1[:, k], b1[k], unit[k])], self.read)
        heads = []
        for j, (tau, value) in enumerate(self.case.pairs):
            heads += [self.read_out_head(layer, e, tau, value) for e in range(self.d)]
            back = self.linear_head(None, hidden if j == 0 else slice(0), content,
                                    b2 if j == 0 else None, True)
            back[2][self.pb, content] = value
            heads.append(back)
        self.sublayer(heads, self.read)


def windows(count, context, stride):
    """(where one begins, its first position that counts)"""
    done = 0
    for begin in range(0, count, stride):
        if done < count:
            start = min(begin, count - context)
            yield start, done - start
            done = start + context


def losses(path, tokens, stride, omega, digits):
    """Of a model of one layer, at every position of a text: the losses of r(T) and of r(T') where a
    token follows, and their divergence."""
    tensors, said = safetensors_file.read(path)
    config = {"construction": "transformer", "depth": 1, "arithmetic": "f64", "omega": omega,
              "mask": said["mask"], "scale": said["scale"]}
    embeddings, positions = (np.frombuffer(tensors[name][2]).reshape(tensors[name][1])
                             for name in ("embed.W_E", "pos_embed.W_pos"))
    context = len(positions)
    set_digits(digits)
    for begin, first in windows(len(tokens), context, stride):
        x = embeddings[tokens[begin:begin + context]] + positions
        case = Case({**tensors, "X": ("F64", x.shape, x.tobytes())}, said, config)
        streams = Original(case).layer(0), Converted(case, False).layer(0)[0]
        logits = [x @ case.t["unembed.W_U"] + case.t["unembed.b_U"] for x in streams]
        for i in range(first, context):
            p, q = (softmax(z[i:i + 1], np.ones((1, z.shape[1]), bool))[0] for z in logits)
            follows = tokens[begin + i + 1:begin + i + 2]
            yield [-r[token].ln() for r in (p, q) for token in follows], sum(
                a * (a / b).ln() for a, b in zip(p, q))


# ---- What the program says ----------------------------------------------------------------------

class Failure(Exception):
    pass


def noise(size):
    """What a difference of numbers of that size may be but for their rounding."""
    return size * Decimal(10)**(15 - getcontext().prec)


def heard(error, size):
    """A difference, without that."""
    return np.where(np.abs(error) > noise(size), error, ZERO)


def truth(tensors, said, config):
    """The case; of every layer r(T), r(T_infinity), their difference, r(T') - r(T_infinity) or None
    where that is not decided, and leaks."""
    set_digits(50)
    case = Case(tensors, said, config)
    sizes = Original(case)
    for layer in range(case.depth):
        sizes.layer(layer)
    more = max(0, sizes.score.adjusted()) + max(0, case.omega.adjusted())
    numbers = case.omega <= NUMBERS or case.construction == "masked"
    set_digits(70 + 2 * more + int(1.8 * min(float(case.omega), NUMBERS)))
    case = Case(tensors, said, config)
    original, limit = Original(case), Converted(case, True)
    number = Converted(case, False) if numbers else None
    layers = []
    for layer in range(case.depth):
        t = original.layer(layer)
        a, b = limit.layer(layer)
        if numbers:
            e = heard(number.layer(layer)[0] - a, original.score)
        else:
            e = b * limit.epsilon if limit.largest_leak < SMALL else None
        leaks = {"score_max": original.scores.pop(), **{
            cell: most if most is None or most > noise(original.score) else None
            for cell, most in (number or limit).leaks(e is not None).items()}}
        layers.append((t, a, heard(a - t, original.score), e, leaks))
    return case, layers


def near(what, printed, true, tolerance=TOLERANCE, size=ZERO):
    if not abs(printed - true) <= tolerance * max(size, abs(true)):
        raise Failure("%s is %s, the oracle says %s" % (what, printed, +true))


def check_error(row, name, error, size):
    """The three cells of one error, each a value or a bound."""
    measured = {"max": largest(error), "rel": frobenius(error) / size if size else None,
                "rms": frobenius(error) / Decimal(error.size).sqrt()}
    for norm, true in measured.items():
        cell = "%s_%s" % (name, norm)
        if row[cell] == "" or true is None:
            continue
        printed = Decimal(row[cell])
        if not printed.is_finite():
            raise Failure("%s is %s" % (cell, row[cell]))
        if cell in row["bounds"].split(";"):
            if true > printed * (1 + TOLERANCE) or printed == 0:
                raise Failure("%s is %s, the bound %s" % (cell, +true, printed))
        elif true != 0 or printed > UNHEARD:
            near(cell, printed, true)
    bound = name + "_max" in row["bounds"].split(";")
    if row[name + "_log10"] and not bound and measured["max"]:
        near(name + "_log10", Decimal(row[name + "_log10"]),
             Context(prec=30, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[]).log10(measured["max"]),
             size=ONE)


def check_machine(config, what, machine, exact, size):
    """Small models of weights of size 1: a machine is off by some roundings of what it adds up."""
    unit = Decimal(2)**-UNIT[config["arithmetic"]]
    holds_omega = config.get("penalty") != "negative" and what == "m(T')"
    scores = Decimal(float(config.get("omega", 0))) if holds_omega else ONE
    allowed = 64 * unit * max(ONE, scores) * max(ONE, size)
    off = largest(machine - exact)
    if allowed < 1 and off > allowed:
        raise Failure("%s is off by %.3E, with %s" % (what, off, config["arithmetic"]))


def check_layer(case, config, row, layer, known, limit):
    t, a, apart, e, leaks = known
    only = config.get("row", "all")
    rows = slice(None) if only == "all" else slice(int(only) - 1, int(only))
    t, a, apart, e = (None if m is None else m[rows] for m in (t, a, apart, e))
    for cell, true in leaks.items():
        if row[cell] and cell not in row["bounds"].split(";") and true is not None:
            near(cell, Decimal(row[cell]), true)
    size = frobenius(t)
    exact = case.said.get("result.%d.r_T.text" % layer)  # else doubles say it
    printed = json.loads(exact) if exact else case.t["result.%d.r_T" % layer].ravel()
    for one, true in zip(printed, known[0].ravel()):
        near("r(T)", Decimal(one), true, Decimal("1e-30" if exact else "1e-15"),
             frobenius(known[0]))
    check_error(row, "approximation", apart, size)
    if e is None:
        return
    check_error(row, "construction", e, size)
    m, moved = (case.t.get("result.%d.%s" % (layer, name)) for name in ("m_T", "m_Tprime"))
    if m is None or None in m.ravel().tolist() + moved.ravel().tolist():
        return
    m, moved, converted = m[rows], moved[rows], a + e
    for name, error in (("rounding", moved - converted), ("native", m - t), ("total", moved - t),
                        ("observed", moved - m)):
        check_error(row, name, error, size)
    same = sum(str(x) == str(y) for x, y in zip(m.ravel(), moved.ravel()))  # 0 is not -0
    near("identical", Decimal(row["identical"]), Decimal(same) / m.size)
    if limit is not None:
        reads = case.gated and not case.glu  # what is read out is off by what 2/tau makes of it
        gain = sum(abs(value) for _, value in case.pairs) if reads else ONE
        check_machine(config, "m(T)", m, t, limit)
        check_machine(config, "m(T')", moved, converted, max(ONE, limit) * max(ONE, gain))


def stored(x, arithmetic):
    """The double nearest to x that the format of an arithmetic's weights holds."""
    if arithmetic == "fp16":
        return struct.unpack("<e", struct.pack("<e", x))[0]
    bits = struct.unpack("<I", struct.pack("<f", x))[0]  # of a float, which is rounded once more
    low = bits & 0xffff
    bits = (bits >> 16) + (low > 0x8000 or (low == 0x8000 and bits >> 16 & 1))
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def exported(program, config, folder):
    """Every tensor of a model by its name, and what is no result of it."""
    path = os.path.join(folder, "exported.safetensors")
    out = run(program, "export", *flags_of(config), "-q", "-o", path)
    if out.returncode:
        raise Failure("export: " + out.stderr.strip())
    tensors, _ = safetensors_file.read(path)
    os.remove(path)
    return {name: safetensors_file.doubles(data) for name, (_, _, data) in tensors.items()
            if not name.startswith("result.") or name in ("result.X_hidden", "result.bias_row")}


def check_stored(program, config, arithmetics, folder):
    """Every tensor of a model of 16 bits is that of the same model, rounded; how many there are."""
    exact = exported(program, {**config, "arithmetic": "f64"}, folder)
    for arithmetic in arithmetics:
        made = exported(program, {**config, "arithmetic": arithmetic}, folder)
        for name, numbers in made.items():
            if [stored(x, arithmetic) for x in exact[name]] != list(numbers):
                raise Failure("%s is not rounded to %s" % (name, arithmetic))
    return len(exact)


def flags_of(config):
    return [word for k, v in config.items() if v is not None for word in ("--" + k, str(v))]


def run(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)


def swept(program, configs, folder):
    """The rows that one sweep has of each of these points."""
    path = os.path.join(folder, "points.case")
    with open(path, "w", encoding="ascii") as file:
        for number, config in enumerate(configs):
            file.write("[point-%d]\n" % number)
            file.writelines("%s = %s\n" % one for one in config.items() if one[1] is not None)
    out = run(program, "sweep", path, "-q")
    rows = list(csv.DictReader(io.StringIO(out.stdout)))
    if len(rows) != sum(config["depth"] for config in configs):
        raise Failure("sweep: " + out.stderr.strip())
    rows = iter(rows)
    return [[next(rows) for _ in range(config["depth"])] for config in configs]


def check(program, config, rows, folder, tame=False):
    """Raises Failure where the program's rows are not the oracle's; how many errors were decided.
    tame: weights and scores are of size 1, so that a machine is near the exact streams."""
    path = os.path.join(folder, "point.safetensors")
    exported = {k: v for k, v in config.items() if k not in ("reference", "row")}
    exported["mask"] = {"pseudo-band": "pseudo-causal"}.get(config.get("mask"), config.get("mask"))
    out = run(program, "export", *flags_of(exported), "-q", "-o", path)
    if out.returncode:
        raise Failure("export: " + out.stderr.strip())
    tensors, said = safetensors_file.read(path)
    os.remove(path)
    case, layers = truth(tensors, said, config)
    if config.get("mask") == "pseudo-band":  # a file has no such mask: the machine is another
        case.t = {name: t for name, t in case.t.items() if ".m_T" not in name}
    size = max(largest(t) for t, *_ in layers) if tame else None
    for layer, row in enumerate(rows):
        if row["status"] == "error":
            raise Failure("layer %d: status error" % (layer + 1))
        try:
            check_layer(case, config, row, layer, layers[layer], size)
        except Failure as failure:
            raise Failure("layer %d: %s" % (layer + 1, failure)) from None
    return sum(e is not None for _, _, _, e, _ in layers)
