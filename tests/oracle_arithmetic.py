#!/usr/bin/env python3
"""Independent oracle: m(T) and m(T') in an arithmetic, every rounding explicit.

    headproof export ... --arithmetic bf16 --kernel dense -o FILE
    python3 tests/oracle_arithmetic.py FILE bf16 dense [FILE ARITHMETIC KERNEL]...

Evaluates the model of FILE in numpy's widest floats, each number as an interval: what a float (or
double) program may get, in whatever order it sums and with whatever last digit of exp.  A rounding
to storage takes both ends, so that where no tie is near nothing is left of the interval.  Every
entry of the machine's that FILE holds must lie in its interval.  Exit 1 where one does not, or
where intervals are so wide that they say nothing.
"""

import math
import sys

import numpy as np

sys.dont_write_bytecode = True
import safetensors_file

WIDE = np.longdouble

# Digits, exponent of the smallest normal number, and of what is beyond the largest.
FORMATS = {"f64": (53, -1022, 1024), "f32": (24, -126, 128), "bf16": (8, -126, 128),
           "fp16": (11, -14, 16), "tf32": (11, -126, 128)}
# Storage, stream, operands of products, scores, and what sums are made in.
ARITHMETICS = {
    "f64": ("f64", "f64", "f64", "f64", "f64"),
    "f32": ("f32", "f32", "f32", "f32", "f32"),
    "bf16": ("bf16", "bf16", "bf16", "bf16", "f32"),
    "fp16": ("fp16", "fp16", "fp16", "fp16", "f32"),
    "bf16-flash": ("bf16", "bf16", "bf16", "f32", "f32"),
    "fp16-flash": ("fp16", "fp16", "fp16", "f32", "f32"),
    "bf16-autocast": ("f32", "f32", "bf16", "f32", "f32"),
    "tf32": ("f32", "f32", "tf32", "f32", "f32"),
}
# Slope, shift and value of the terms that imitate an activation, and in which order.
TERMS = {
    "silu": [(1, 0, 1)],
    "gelu": [(1.702, 0, 1)],
    "gelu_new 3": [(2.538477767509, 2.670395947293014, 245108134634 / 2**40),
                   (2.538477767509, -2.670395947293014, 245108134634 / 2**40),
                   (2.538477767509, 0, 609295358508 / 2**40)],
}


def nearest(x, name):
    """x rounded to nearest, ties to even, with subnormal numbers and infinity."""
    digits, least, most = FORMATS[name]
    _, exponent = np.frexp(x)
    last = np.ldexp(WIDE(1), np.maximum(exponent - 1, least) - (digits - 1))
    rounded = np.rint(x / last) * last
    return np.where(np.abs(rounded) >= np.ldexp(WIDE(1), most), np.sign(x) * np.inf, rounded)


class Interval:
    def __init__(self, low, high=None):
        self.low = np.asarray(low, dtype=WIDE)
        self.high = self.low if high is None else np.asarray(high, dtype=WIDE)

    def to(self, name):
        return Interval(nearest(self.low, name), nearest(self.high, name))

    def size(self):
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def wider(self, by):
        return Interval(self.low - by, self.high + by)

    def __getitem__(self, key):
        return Interval(self.low[key], self.high[key])

    def __setitem__(self, key, other):
        self.low, self.high = self.low.copy(), self.high.copy()
        self.low[key], self.high[key] = other.low, other.high

    @property
    def T(self):
        return Interval(self.low.T, self.high.T)

    @property
    def shape(self):
        return self.low.shape


class Machine:
    def __init__(self, arithmetic):
        self.storage, self.stream, self.operand, self.score, self.sums = ARITHMETICS[arithmetic]
        self.unit = WIDE(2) ** -FORMATS[self.sums][0]
        self.tiny = WIDE(2) ** (FORMATS[self.sums][1] - FORMATS[self.sums][0] + 1)

    def once(self, x):
        """x after an operation of the type that sums are made in."""
        return x.to(self.sums)

    def add(self, a, b):
        return self.once(Interval(a.low + b.low, a.high + b.high))

    def times(self, a, b):
        ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]
        return self.once(Interval(np.minimum.reduce(ends), np.maximum.reduce(ends)))

    def product(self, a, b, more=0):
        """a b, summed in any order; more: terms that are summed besides."""
        middle, other = (a.low + a.high) / 2, (b.low + b.high) / 2
        radius, around = (a.high - a.low) / 2, (b.high - b.low) / 2
        terms = a.shape[-1] + more + 4
        gamma = 2 * terms * self.unit
        spread = np.abs(middle) @ around + radius @ b.size() + gamma * (a.size() @ b.size())
        return Interval(middle @ other).wider(spread + terms * self.tiny)

    def weight(self, w):
        """As it is stored; and as products read it."""
        return Interval(w).to(self.storage)

    def read(self, x):
        return x.to(self.operand)

    def omega(self, coefficient, omega):
        return self.read(Interval(WIDE(coefficient * omega)))

    def softmax(self, scores, seen):
        """Rows' weights: e^(s_j - max) over their total; each rounded at the end."""
        n = scores.shape[-1]
        low, high = np.where(seen, scores.low, -np.inf), np.where(seen, scores.high, -np.inf)
        top = np.max(high, axis=-1, keepdims=True)
        ends = []
        for own, others in ((low, high), (high, low)):
            mine, theirs = np.exp(own - top), np.exp(others - top)
            rest = np.sum(theirs, axis=-1, keepdims=True) - theirs
            ends.append(mine / (mine + np.maximum(rest, 0)))
        slack = self.unit * (4 * n + 24 + 4 * np.minimum(np.abs(low - top), 800))
        slack = np.where(seen, slack, 0)
        low, high = ends[0] * (1 - slack), ends[1] * (1 + slack)
        pattern = Interval(low, high).wider(2 * self.tiny)
        pattern.low = np.where(seen, np.maximum(pattern.low, 0), 0)
        pattern.high = np.where(seen, np.minimum(pattern.high, 1), 0)
        return pattern.to(self.operand)

    def over(self, a, b):
        """a / b, b > 0."""
        ends = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high]
        return self.once(Interval(np.minimum.reduce(ends), np.maximum.reduce(ends)))

    def mean(self, x):
        """Of each row, summed in any order."""
        ones = Interval(np.ones((x.shape[1], 1), dtype=WIDE))
        return self.over(self.product(x, ones), Interval(WIDE(x.shape[1])))

    def norm(self, x, gamma, beta, centred, eps):
        """Each row's, as operations on sums' type; rounded to the stream's once."""
        if centred:
            mean = self.mean(x)
            x = self.add(x, Interval(-mean.high, -mean.low))
        crosses = (x.low < 0) & (x.high > 0)
        least = np.where(crosses, 0, np.minimum(np.abs(x.low), np.abs(x.high)))
        squares = self.once(Interval(least * least, x.size() * x.size()))
        total = self.add(self.mean(squares), Interval(WIDE(eps)).to(self.sums))
        total.low = np.maximum(total.low, 0)
        root = self.once(Interval(np.sqrt(total.low), np.sqrt(total.high)))
        factor = self.over(Interval(WIDE(1)), root)
        y = self.times(self.times(x, factor), gamma)
        return (y if beta is None else self.add(y, beta)).to(self.stream)

    def silu(self, x):
        ends = []
        for end in (x.low, x.high):
            ends.append(end / (1 + np.exp(-end)))
        low, high = np.minimum(*ends), np.maximum(*ends)
        dip = (x.low < -1.2784645) & (x.high > -1.2784645)
        low = np.where(dip, np.minimum(low, WIDE(-0.27846454276107395)), low)
        return Interval(low, high).wider(8 * self.unit * np.maximum(np.abs(low), np.abs(high)))

    def gelu(self, x):
        """x Phi(x), by a library's erfc in double: for arguments of a few units."""
        def at(end):
            return end * np.vectorize(math.erfc)((-end / np.sqrt(WIDE(2))).astype(np.float64)) / 2
        ends = at(x.low), at(x.high)
        low, high = np.minimum(*ends), np.maximum(*ends)
        dip = (x.low < -0.7517915) & (x.high > -0.7517915)
        low = np.where(dip, np.minimum(low, WIDE(-0.16997120747)), low)
        return Interval(low, high).wider(64 * self.unit * np.maximum(np.abs(low), np.abs(high)))

    def gelu_new(self, x):
        ends = []
        for end in (x.low, x.high):
            inner = np.sqrt(2 / (4 * np.arctan(WIDE(1)))) * (end + WIDE(0.044715) * end**3)
            ends.append(end / 2 * (1 + np.tanh(inner)))
        low, high = np.minimum(*ends), np.maximum(*ends)
        dip = (x.low < -0.7524) & (x.high > -0.7525)
        low = np.where(dip, np.minimum(low, WIDE(-0.17004075)), low)
        return Interval(low, high).wider(8 * self.unit * x.size())

    def times_scale(self, x, scale):
        return self.times(x, self.once(Interval(WIDE(scale))))


class Model:
    """What FILE holds, evaluated by one machine."""

    def __init__(self, path, arithmetic, dense):
        tensors, self.said = safetensors_file.read(path)
        self.tensors = {name: np.frombuffer(data, dtype="<f8").reshape(shape).astype(WIDE)
                        for name, (dtype, shape, data) in tensors.items() if dtype == "F64"}
        self.m, self.dense = Machine(arithmetic), dense
        self.omega = float(self.said["omega"])
        self.pseudo = "--mask pseudo-causal" in self.said["command"]
        self.causal = self.said["mask"] == "causal" and not self.pseudo
        self.construction = self.said["construction"]
        self.scaled = self.said["scale"] != "1"
        self.kind = self.said["normalization"]
        self.pre = self.said.get("normalization-place") == "pre"
        self.post = self.said.get("normalization-place") == "post"
        self.bias_row_too = "--normalize-bias-row no" not in self.said["command"]
        activation = self.said.get("activation", "silu")
        self.act = {"silu": self.m.silu, "gelu": self.m.gelu, "gelu_new": self.m.gelu_new}[activation]
        words = self.said["command"].split()
        form = f" {words[words.index('--gelu') + 1]}" if "--gelu" in words else ""
        self.terms = TERMS[activation + form]

    def has(self, layer, name):
        return self.tensors.get(f"blocks.{layer}.{name}")

    def stored(self, layer, name):
        w = self.has(layer, name)
        return None if w is None else self.m.weight(w)

    # ---- The streams ------------------------------------------------------------------------

    def start(self, converted):
        m, x = self.m, self.tensors["X"]
        self.converted, self.n, self.d = converted, x.shape[0], x.shape[1]
        self.rows = self.n + converted
        self.bias = (0 if self.causal else self.n) if converted else None
        self.tokens = [i for i in range(self.rows) if i != self.bias]
        stream = np.zeros((self.rows, self.d), dtype=WIDE)
        stream[self.tokens] = x
        self.stream = self.reading = Interval(stream).to(m.storage)
        self.sees = np.ones((self.rows, self.rows), dtype=bool)
        if self.causal or (self.pseudo and not converted):
            self.sees = np.tril(self.sees)

    def position(self, coefficients):
        """Omega's part of every score: token to self, token, bias; bias to self, token."""
        self_, token, to_bias, own, other = (self.m.omega(c, self.omega) for c in coefficients)
        table = Interval(np.zeros((self.rows, self.rows), dtype=WIDE))
        if not self.converted:
            return table
        for i in range(self.rows):
            for j in range(self.rows):
                if self.pseudo and coefficients[1] == 0 and i < self.n and j <= i:
                    table[i, j] = self.m.omega(1, self.omega)
                elif i == self.bias:
                    table[i, j] = own if j == i else other
                else:
                    table[i, j] = to_bias if j == self.bias else self_ if j == i else token
        return table

    def is_token(self):
        mask = np.zeros((self.rows, 1), dtype=WIDE)
        mask[self.tokens] = 1
        return Interval(mask)

    def normed(self, layer, name):
        """The norm of every row, beta on token rows alone."""
        gamma, beta = self.stored(layer, name + ".w"), self.stored(layer, name + ".b")
        if beta is not None:
            beta = self.m.times(self.is_token(), beta)
        result = self.m.norm(self.stream, gamma, beta, self.kind == "layernorm",
                             float(self.said["eps"]))
        if self.converted and not self.bias_row_too:
            result[self.bias] = self.stream[self.bias]
        return result

    def part(self, layer, name, evaluate):
        """A part of a layer, its norm before it or behind."""
        self.reading = self.normed(layer, name) if self.pre else self.stream
        evaluate()
        if self.post:
            self.stream = self.normed(layer, name)

    def end_sublayer(self, total):
        m = self.m
        self.stream = m.add(self.stream, total.to(m.stream)).to(m.stream)

    # ---- Heads by their structure -------------------------------------------------------------

    def biased(self, product, bias):
        """+ bias on the token rows, before the one rounding of a projection."""
        if bias is not None:
            product = self.m.add(product, self.m.times(self.is_token(), bias))
        return self.m.read(product)

    def turned(self, product, bias):
        """Queries or keys [rows, d_head], the pair p of a token from (a, b) to (a c - b s, b c + a s):
        all of them numbers as weights are stored."""
        if "rotary-pairs" not in self.said:
            return self.biased(product, bias)
        m, width = self.m, int(self.said["rotary-dim"])
        half, storage = width // 2, m.storage
        u = product if bias is None else m.add(product, m.times(self.is_token(), bias))
        u = u.to("f32" if m.operand == "tf32" else m.operand)
        for token, row in enumerate(self.tokens):
            for p in range(half):
                angle = token * WIDE(float(self.said["rope-theta"])) ** (-2 * WIDE(p) / width)
                c, s = (m.weight(WIDE(np.float64(f(angle)))) for f in (np.cos, np.sin))
                first, second = ((p, p + half) if self.said["rotary-pairs"] == "half"
                                 else (2 * p, 2 * p + 1))
                a, b = u[row, first], u[row, second]
                ac, bc, bs, as_ = (m.times(x, y).to(storage)
                                   for x, y in ((a, c), (b, c), (b, s), (a, s)))
                u[row, first] = m.add(ac, Interval(-bs.high, -bs.low)).to(storage)
                u[row, second] = m.add(bc, as_).to(storage)
        return m.read(u)

    def mix(self, pattern, values):
        return self.m.product(pattern, values, more=self.rows)

    def attention(self, layer):
        m, x = self.m, self.m.read(self.reading)
        position = self.position((0, 0, -2, 2, 0))
        q, k, v, o = (self.stored(layer, "attn." + name) for name in ("W_Q", "W_K", "W_V", "W_O"))
        b = {name: self.stored(layer, "attn." + name) for name in ("b_Q", "b_K", "b_V", "b_O")}
        scale = 1 / np.sqrt(WIDE(q.shape[2])) if self.scaled else WIDE(1)
        total = None
        for h in range(q.shape[0]):
            bias = {name: None if b[name] is None else b[name][h:h + 1] for name in
                    ("b_Q", "b_K", "b_V")}
            left = self.turned(m.product(x, m.read(q[h])), bias["b_Q"])
            right = self.turned(m.product(x, m.read(k[h])), bias["b_K"])
            inner = self.biased(m.product(x, m.read(v[h])), bias["b_V"])
            scores = m.product(left, right.T, more=2).to(m.score)
            scores = m.times(scores, Interval(scale).to(m.sums)).to(m.score)
            scores = m.add(scores, position).to(m.score)
            pattern = m.softmax(scores, self.sees)
            mixed = m.read(self.mix(pattern, inner))
            out = m.product(mixed, m.read(o[h]), more=q.shape[0] * q.shape[2])
            if h == 0 and b["b_O"] is not None:
                out = self.add_bias(out, pattern, b["b_O"])
            total = out if total is None else m.add(total, out)
        return total

    def add_bias(self, out, pattern, bias):
        m = self.m
        mass = m.product(pattern, self.is_token(), more=self.rows)
        return m.add(out, m.times(mass, bias))

    def gates(self, content, values, coefficients, scale=1, shift=0):
        """One head with content scores [rows, 1], its mixture."""
        m = self.m
        keys = self.is_token().T
        content = m.times_scale(content, scale).to(m.score)
        if shift != 0:
            shifts = m.times(self.is_token(), m.weight(WIDE(shift)))
            content = m.add(content, shifts).to(m.score)
        scores = m.times(content, keys)
        scores = m.add(scores, self.position(coefficients)).to(m.score)
        pattern = m.softmax(scores, self.sees)
        return pattern, None if values is None else self.mix(pattern, values)

    def silu_heads(self):
        m, x = self.m, self.m.read(self.reading)
        total = Interval(np.zeros((self.rows, self.d), dtype=WIDE))
        for slope, shift, value in self.terms:
            for c in range(self.d):
                column = x[:, c:c + 1]
                content = m.times(column, Interval(WIDE(-1)))
                mixed = self.gates(content, content, (2, 0, 2, 2, 0), slope, -shift)[1]
                total[:, c:c + 1] = m.add(total[:, c:c + 1], m.times_scale(mixed, value))
        return total

    def self_attending(self):
        zeros = Interval(np.zeros((self.rows, 1), dtype=WIDE))
        return self.gates(zeros, None, (2, 0, 0, 2, 0))[0]

    def linear_head(self, layer):
        m, x = self.m, self.m.read(self.reading)
        w, b = self.stored(layer, "linear.W"), self.stored(layer, "linear.b")
        pattern = self.self_attending()
        out = self.mix(pattern, m.read(m.product(x, m.read(w))))
        if b is not None:
            out = self.add_bias(out, pattern, b)
        if self.pre:
            return out
        minus = self.mix(pattern, x)
        return m.add(out, Interval(-minus.high, -minus.low))

    def fused_heads(self, layer):
        m, x = self.m, self.m.read(self.reading)
        w1, w2, b1, b2 = (self.stored(layer, "mlp." + name) for name in
                          ("W_in", "W_out", "b_in", "b_out"))
        units = w1.shape[1]
        product = m.product(x, m.read(w1))
        inner = self.biased(product, b1)
        total = None
        for slope, shift, value in self.terms:
            mixed = Interval(np.zeros((self.rows, units), dtype=WIDE))
            for k in range(units):
                own = inner[:, k:k + 1]
                mixed[:, k:k + 1] = self.gates(own, own, (2, 0, 2, 2, 0), slope, shift)[1]
            out = m.times_scale(m.product(m.read(mixed), m.read(w2), more=2), value)
            total = out if total is None else m.add(total, out)
        if b2 is not None:
            total = self.add_bias(total, self.self_attending(), b2)
        return total

    # ---- Heads as full matrices ---------------------------------------------------------------

    def augmented(self):
        x = np.zeros((2, self.rows, self.d + (self.rows if self.converted else 0)), dtype=WIDE)
        x[0, :, :self.d], x[1, :, :self.d] = self.reading.low, self.reading.high
        if self.converted:
            x[:, :, self.d:] = np.eye(self.rows)
        return Interval(x[0], x[1])

    def matrix(self):
        width = self.d + (self.rows if self.converted else 0)
        return Interval(np.zeros((width, width), dtype=WIDE))

    def dense_head(self, x, q, v):
        m = self.m
        left = m.read(m.product(x, m.read(q)))
        scores = m.product(left, x.T).to(m.score)
        pattern = m.softmax(scores, self.sees)
        return m.product(m.read(m.product(pattern, x)), m.read(v), more=64)

    def dense_position(self, coefficients):
        table = self.position(coefficients)
        q = self.matrix()
        if self.converted:
            q[self.d:, self.d:] = table
        return q

    def dense_heads(self, heads):
        x, total = self.m.read(self.augmented()), None
        for q, v in heads:
            out = self.dense_head(x, q, v)
            total = out if total is None else self.m.add(total, out)
        return total[:, :self.d]

    def dense_attention(self, layer):
        m = self.m
        q, k, v, o = (self.stored(layer, "attn." + name) for name in ("W_Q", "W_K", "W_V", "W_O"))
        scale = Interval(1 / np.sqrt(WIDE(q.shape[2])) if self.scaled else WIDE(1)).to(m.sums)
        heads = []
        for h in range(q.shape[0]):
            full = self.dense_position((0, 0, -2, 2, 0))
            full[:self.d, :self.d] = m.times(m.product(q[h], k[h].T), scale)
            value = self.matrix()
            value[:self.d, :self.d] = m.product(v[h], o[h])
            heads.append((full, value))
        return self.dense_heads(heads)

    def columns(self):
        return [self.d + i for i in self.tokens]

    def dense_silu(self):
        m, heads = self.m, []
        for slope, shift, value in self.terms:
            for c in range(self.d):
                q, v = self.dense_position((2, 0, 2, 2, 0)), self.matrix()
                self.dense_shift(q, Interval(WIDE(0)), -shift)
                for i in self.columns():
                    q[c, i] = m.once(Interval(WIDE(-slope)))
                v[c, c] = m.once(Interval(WIDE(-value)))
                heads.append((q, v))
        return self.dense_heads(heads)

    def dense_shift(self, q, bias, shift):
        """Position rows and columns of tokens: Omega's part + (a gate's bias + its shift)."""
        m = self.m
        constant = m.add(bias, m.weight(WIDE(shift))) if shift != 0 else bias
        for i in self.columns():
            for j in self.columns():
                q[j, i] = m.add(q[j, i], constant)

    def dense_linear(self, layer):
        m = self.m
        w, b = self.stored(layer, "linear.W"), self.stored(layer, "linear.b")
        q, v = self.dense_position((2, 0, 0, 2, 0)), self.matrix()
        v[:self.d, :self.d] = w if self.pre else m.add(w, Interval(-np.eye(self.d, dtype=WIDE)))
        for i in self.columns() if b is not None else []:
            v[i, :self.d] = b
        return self.dense_heads([(q, v)])

    def dense_fused(self, layer):
        m = self.m
        w1, w2, b1, b2 = (self.stored(layer, "mlp." + name) for name in
                          ("W_in", "W_out", "b_in", "b_out"))
        heads = []
        for slope, shift, value in self.terms:
            for k in range(w1.shape[1]):
                q, v = self.dense_position((2, 0, 2, 2, 0)), self.matrix()
                outer = m.times(w1[:, k:k + 1], w2[k:k + 1, :])
                v[:self.d, :self.d] = m.times_scale(outer, value)
                zero = Interval(WIDE(0))
                self.dense_shift(q, zero if b1 is None else m.times_scale(b1[k], slope), shift)
                for i in self.columns():
                    q[:self.d, i] = m.times_scale(w1[:, k], slope)
                    if b1 is not None:
                        row = m.product(b1[k:k + 1][None, :], w2[k:k + 1, :])[0]
                        v[i, :self.d] = m.times_scale(row, value)
                heads.append((q, v))
        if b2 is not None:
            q, v = self.dense_position((2, 0, 0, 2, 0)), self.matrix()
            for i in self.columns():
                v[i, :self.d] = b2
            heads.append((q, v))
        return self.dense_heads(heads)

    # ---- The original's own operations ----------------------------------------------------------

    def affine(self, x, w, b):
        m = self.m
        y = m.product(x, m.read(w))
        return (y if b is None else m.add(y, b)).to(m.stream)

    def network(self, layer):
        m = self.m
        w1, w2, b1, b2 = (self.stored(layer, "mlp." + name) for name in
                          ("W_in", "W_out", "b_in", "b_out"))
        hidden = m.read(self.act(self.affine(m.read(self.reading), w1, b1)))
        return self.affine(hidden, w2, b2)

    def attention_heads(self, layer):
        biased = self.has(layer, "attn.b_Q") is not None
        dense = self.dense and (self.converted or not biased)
        return self.dense_attention(layer) if dense else self.attention(layer)

    def network_heads(self, layer):
        return self.dense_fused(layer) if self.dense else self.fused_heads(layer)

    def attention_part(self, layer):
        self.end_sublayer(self.attention_heads(layer))

    def ffn_part(self, layer):
        m = self.m
        if not self.converted:
            self.stream = m.add(self.stream, self.network(layer)).to(m.stream)
        else:
            self.end_sublayer(self.network_heads(layer))

    def both_parts(self, layer):
        """Attention and a network on the same stream: heads' sums are one sum; a network's result is
        added to what attention's was stored as."""
        m = self.m
        self.reading = self.normed(layer, "ln1") if self.pre else self.stream
        total = self.attention_heads(layer)
        self.reading = self.normed(layer, "ln2") if self.pre else self.stream
        if self.converted:
            total = m.add(total, self.network_heads(layer))
        else:
            total = m.add(total.to(m.stream), self.network(layer)).to(m.stream)
        self.end_sublayer(total)

    def silu_part(self, layer):
        if not self.converted:
            self.stream = self.act(self.stream).to(self.m.stream)
        else:
            self.end_sublayer(self.dense_silu() if self.dense else self.silu_heads())

    def linear_part(self, layer):
        m = self.m
        if self.converted:
            self.end_sublayer(self.dense_linear(layer) if self.dense else self.linear_head(layer))
            return
        y = self.affine(m.read(self.reading), self.stored(layer, "linear.W"),
                        self.stored(layer, "linear.b"))
        self.stream = m.add(self.stream, y).to(m.stream) if self.pre else y

    def run_layer(self, layer):
        if self.said.get("blocks") == "parallel":
            self.both_parts(layer)
            return
        parts = {"attention": ("attention",), "fused": ("ffn",), "silu": ("silu",),
                 "linear": ("linear",), "transformer": ("attention", "ffn")}
        for name in parts[self.construction]:
            self.part(layer, "ln2" if name == "ffn" else "ln1",
                      lambda: getattr(self, name + "_part")(layer))

    # ---- The comparison -------------------------------------------------------------------------

    def compare(self, result, name):
        """Entries outside, the widest interval in ulps of the largest, the share without width."""
        got, view = self.tensors[f"result.{result}.{name}"], self.stream[self.tokens]
        outside = ~((got >= view.low) & (got <= view.high))
        digits = FORMATS[self.m.operand][0]
        ulp = np.ldexp(WIDE(1), np.frexp(np.max(view.size()))[1] - digits)
        width = np.max(view.high - view.low) / ulp
        exact = np.mean(view.high == view.low)
        worst = np.max(np.where(outside, np.maximum(view.low - got, got - view.high), 0)) / ulp
        print(f"{name} layer {result + 1}: {np.sum(outside)} of {got.size} outside (by {worst:.3g} "
              f"ulp), widest {width:.3g} ulp, {100 * exact:.0f} % without width")
        return np.sum(outside) == 0 and width < (4 if digits < 24 else 5e4)


def main():
    good = True
    for path, arithmetic, kernel in zip(*[iter(sys.argv[1:])] * 3):
        print(path, arithmetic, kernel)
        for converted, name in ((False, "m_T"), (True, "m_Tprime")):
            model = Model(path, arithmetic, kernel == "dense")
            model.start(converted)
            layer = 0
            while f"result.{layer}.{name}" in model.tensors:
                model.run_layer(layer)
                good = model.compare(layer, name) and good
                layer += 1
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
