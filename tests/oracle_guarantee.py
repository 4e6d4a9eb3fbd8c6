#!/usr/bin/env python3
"""Independent oracle for `headproof guarantee`: random small models of all options, written as
safetensors, and the bounds of docs/guarantee.md worked out from them again.

    python3 tests/oracle_guarantee.py HEADPROOF FOLDER [MODELS]

Nothing but the formulas is shared with the C programs: norms by Jacobi's method in floats, a slope
by a fine grid.  A bound of the program has to be at least the oracle's, but for 1e-9 of it, and at
most 1e-6 of it above.  Exits 1 where one is not.  Python's own library."""

import csv
import io
import json
import math
import random
import struct
import subprocess
import sys

MODELS, BELOW, ABOVE = 100, 1e-9, 1e-6


# ---- Matrices: lists of rows ----------------------------------------------------------------------

def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def plus(a, b, factor=1.0):
    return [[x + factor * y for x, y in zip(p, q)] for p, q in zip(a, b)]


def times(a, factor):
    return [[factor * x for x in row] for row in a]


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def eigenvalues(s):
    """Of a symmetric matrix, by cyclic Jacobi rotations."""
    a, n = [list(row) for row in s], len(s)
    for _ in range(60):
        off = sum(a[p][q] ** 2 for p in range(n) for q in range(p))
        if off <= 1e-32 * sum(x * x for row in a for x in row):
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p][q] == 0:
                    continue
                theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = math.copysign(1, theta) / (abs(theta) + math.hypot(theta, 1))
                c = 1 / math.hypot(t, 1)
                u = t * c
                for k in range(n):
                    x, y = a[k][p], a[k][q]
                    a[k][p], a[k][q] = c * x - u * y, u * x + c * y
                for k in range(n):
                    x, y = a[p][k], a[q][k]
                    a[p][k], a[q][k] = c * x - u * y, u * x + c * y
    return [a[i][i] for i in range(n)]


def norm(a):
    """The largest singular value."""
    if len(a) > len(a[0]):
        a = transposed(a)
    return math.sqrt(max(0.0, max(eigenvalues(product(a, transposed(a))))))


def length(v):
    return math.sqrt(sum(x * x for x in v))


def largest_column(a):
    return max(length(column) for column in zip(*a))


def row_times(v, a):
    return product([v], a)[0]


def add(*vectors):
    return [sum(entries) for entries in zip(*vectors)]


# ---- Imitations -----------------------------------------------------------------------------------

ERF = {1: (1.7729, [], []),
       2: (2.211650960743, [1.3099057684290702], [549755813888]),
       3: (2.509861819144, [2.602598846808862], [246942543959])}


def terms_of(model):
    """[(gate, shift, value)] of docs/activations.md."""
    activation, gelu = model["activation"], model["gelu"]
    if activation == "silu":
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


def sigma(u):
    return 1 / (1 + math.exp(-u)) if u > 0 else math.exp(u) / (1 + math.exp(u))


def slope_of(terms):
    """sup |(x F(x))'|, by a grid, and one within its best cell."""
    def derivative(x):
        total = 0.0
        for g, h, v in terms:
            s = sigma(g * x + h)
            total += v * (s + g * x * s * (1 - s))
        return abs(total)

    reach = max((30 + abs(h)) / g for g, h, _ in terms)
    low, high, best = -reach, reach, 0.0
    for _ in range(6):
        step = (high - low) / 2000
        best, at = max((derivative(low + i * step), low + i * step) for i in range(2001))
        low, high = at - step, at + step
    return max(best, 1.0)


# ---- The bounds -----------------------------------------------------------------------------------

class Norm:
    """What a sublayer reads through, or a norm by itself."""

    def __init__(self, model, gamma, beta):
        self.rms, self.gamma = model["normalization"] == "rmsnorm", gamma
        self.beta = beta if beta and not self.rms else [0.0] * len(gamma)
        self.d, self.eps = len(gamma), model["eps"]
        self.bias_row = model["normalize_bias_row"]

    def fold(self, w):
        """P diag(gamma) w."""
        scaled = [[g * x for x in row] for g, row in zip(self.gamma, w)]
        if self.rms:
            return scaled
        means = [sum(column) / self.d for column in zip(*scaled)]
        return [[x - m for x, m in zip(row, means)] for row in scaled]


    def apply(self, x):
        """norm(x), by the words."""
        mean = 0.0 if self.rms else sum(x) / self.d
        root = math.sqrt(sum((e - mean) ** 2 for e in x) / self.d + self.eps)
        return [g * (e - mean) / root + b for g, e, b in zip(self.gamma, x, self.beta)]


class Reader:
    """A matrix that reads the content, as tokens and as the bias row read it."""

    def __init__(self, norm_, w, bias):
        self.bias = list(bias)
        self.token = self.row = w
        if norm_:
            self.bias = add(self.bias, row_times(norm_.beta, w))
            self.token = norm_.fold(w)
            self.row = self.token if norm_.bias_row else w


class State:
    def __init__(self, model, omega):
        self.model, self.omega, self.n = model, omega, model["n"]
        self.leaked = math.exp(-2 * omega)
        self.X = {"c": model["R"], "h": model["R"] if model["banked"] else 0.0}
        self.E = {"c": 0.0, "h": 0.0}
        self.b = {"c": 0.0, "h": 0.0}
        self.inputs = [[x + y for x, y in zip(e, p)] for e in model.get("W_E", [])
                       for p in model["W_pos"][:self.n]]

    def read(self, norm_, bank="c"):
        """R', X read in the limit, Lambda_nu, beta_b."""
        if norm_ is None:
            return self.X[bank] + self.E[bank], self.X[bank], 1.0, self.b[bank]
        root, steep = math.sqrt(norm_.d), 1 / math.sqrt(norm_.eps)
        b = min(root, self.b[bank] * steep) if norm_.bias_row else self.b[bank]
        return root, root, steep, b

    def bias_row(self, bank, content):
        self.b[bank] = 0.0 if self.model["mask"] == "causal" else content

    def weight(self, raised):
        return min(1.0, math.exp(min(700.0, raised - 2 * self.omega)))

    def attention(self, part, norm_):
        r, limit, steep, b = self.read(norm_)
        scale, d, leak, gain, grown, out, total = part["scale"], 0.0, 0.0, 0.0, 0.0, 0.0, None
        for h, head in enumerate(part["heads"]):
            q = Reader(norm_, head["W_Q"], head["b_Q"])
            k = Reader(norm_, head["W_K"], head["b_K"])
            v = product(head["W_V"], head["W_O"])
            own = add(row_times(head["b_V"], head["W_O"]),
                      part["b_O"] if h == 0 else [0.0] * len(v[0]))
            v = Reader(norm_, v, own)
            total = v.row if total is None else plus(total, v.row)
            scores = product(q.token, transposed(k.token))
            t = math.sqrt(norm(q.token) / norm(k.token))
            unlike = (norm(plus(times(q.token, 1 / t), k.token, -t)) * r +
                      length([x / t - t * y for x, y in zip(q.bias, k.bias)]))
            both = plus(product(q.token, transposed([k.bias])),
                        product(k.token, transposed([q.bias])))
            least = min(eigenvalues(times(plus(scores, transposed(scores)), 0.5)))
            seen = -math.inf
            s0 = min(scale / 4 * unlike ** 2,
                     scale * (max(0.0, -least) * r * r + norm(both) * r -
                              sum(x * y for x, y in zip(q.bias, k.bias))))
            for x in self.inputs:
                y = norm_.apply(x) if norm_ else x
                own = sum(a * b for a, b in zip(
                    add(row_times(y, head["W_Q"]), head["b_Q"]),
                    add(row_times(y, head["W_K"]), head["b_K"])))
                seen = max(seen, -scale * own)
            s0 = min(s0, seen) if self.inputs else s0
            sb = scale * (norm(product(q.token, transposed(k.row))) * r +
                          length(row_times(q.bias, transposed(k.row)))) * b
            w = self.weight(s0 + sb)
            rv, of_row = norm(v.token) * r + length(v.bias), norm(v.row) * b
            leak += w * (rv + of_row)
            gain += norm(v.token) * (scale * r * (2 * norm(scores) * r + length(
                row_times(q.bias, transposed(k.token)))) + 1)
            grown += norm(v.token) * limit + length(v.bias)
            raised = scale * b * (norm(product(q.row, transposed(k.token))) * r +
                                  length(row_times(k.bias, transposed(q.row))) +
                                  norm(product(q.row, transposed(k.row))) * b)
            out += min(1.0, self.n * math.exp(min(700.0, raised - 2 * self.omega))) * (rv + of_row)
        content = self.b["c"] + norm(total) * b + out
        self.inputs = []
        self.change({("c", "c"): 1 + gain * steep, ("h", "h"): 1.0}, {"c": leak, "h": d})
        self.X["c"] += grown
        self.bias_row("c", content)

    def change(self, kept, leak):
        for name in ("E", "F", "G"):
            old = getattr(self, name)
            new = {to: sum(kept.get((a, to), 0.0) * old[a] for a in "ch") for to in "ch"}
            if name != "G":
                new = {to: new[to] + leak[to] for to in "ch"}
            setattr(self, name, new)

    def fused(self, part, norm_):
        r, limit, steep, b = self.read(norm_)
        w1, w2 = Reader(norm_, part["W_in"], part["b_in"]), part["W_out"]
        values = sum(abs(v) for _, _, v in part["terms"])
        gate = max(g for g, _, _ in part["terms"])
        n1, n2, nr = norm(w1.token), norm(w2), norm(w1.row)
        hidden, b2 = n1 * r + length(w1.bias), length(part["b_out"])
        leak = ((2 * (self.n - 1) * self.leaked * hidden + b * nr) * n2 * values +
                self.leaked * b2)
        self.change({("c", "c"): 1 + part["slope"] * n1 * n2 * steep, ("h", "h"): 1.0},
                    {"c": leak, "h": 0.0})
        self.X["c"] += (n1 * limit + length(w1.bias)) * n2 * values + b2
        raised = gate * largest_column(w1.row) * b
        rho = min(1.0, self.n * math.exp(min(700.0, raised - 2 * self.omega)))
        self.bias_row("c", self.b["c"] + norm(product(w1.row, w2)) * b +
                      rho * (hidden + nr * b) * n2 * values + self.leaked * self.n * b2)

    def in_place(self, terms, slope, bank):
        values, gate = sum(abs(v) for _, _, v in terms), max(g for g, _, _ in terms)
        r, b = self.X[bank] + self.E[bank], self.b[bank]
        kept = {("c", "c"): 1.0, ("h", "h"): 1.0, (bank, bank): slope}
        leak = {"c": 0.0, "h": 0.0}
        leak[bank] = values * (2 * (self.n - 1) * self.leaked * r + b)
        self.change(kept, leak)
        self.X[bank] *= values
        rho = min(1.0, self.n * math.exp(min(700.0, gate * b - 2 * self.omega)))
        self.bias_row(bank, values * rho * (b + r))

    def linear(self, source, to, w, bias, diagonal, norm_):
        """x[to] += x[source] w + bias; x[source] += diagonal x[source]."""
        r, limit, steep, b = self.read(norm_, source)
        reader = Reader(norm_, w, bias)
        own = length(reader.bias)
        share = min(1.0, self.n * self.leaked)
        pairs = (2 * self.n - 1) * self.leaked
        kept = {("c", "c"): 1.0, ("h", "h"): 1.0}
        leak = {"c": 0.0, "h": 0.0}
        rows, content = dict(self.X), dict(self.b)
        if source == to:
            v = norm(plus(reader.token, identity(len(w)), diagonal))
            vr = norm(plus(reader.row, identity(len(w)), diagonal))
            if norm_:
                kept[(to, to)] = 1 + v * steep
                rows[to] += v * limit
                content[to] += vr * b
            else:
                stays = norm(plus(reader.token, identity(len(w)), diagonal + 1))
                kept[(to, to)] = stays
                rows[to] *= stays
                content[to] *= stays
        else:
            v, vr = norm(reader.token), norm(reader.row)
            kept[(source, to)] = v * steep
            rows[to] += v * limit
            content[to] += vr * b
            if diagonal:
                kept[(source, source)] = 0.0
                leak[source] = pairs * (self.X[source] + self.E[source]) + self.leaked * b
                rows[source] = 0.0
                content[source] = share * (self.X[source] + self.E[source] + b)
        leak[to] += pairs * v * r + self.leaked * (own + vr * b)
        content[to] += share * (v * r + vr * b + own)
        rows[to] += own
        self.change(kept, leak)
        self.X = rows
        for bank in "ch":
            self.bias_row(bank, content[bank])

    def norm_behind(self, norm_, bank):
        top = max(abs(g) for g in norm_.gamma)
        steep, longest = top / math.sqrt(norm_.eps), top * math.sqrt(norm_.d)
        self.change({("c", "c"): 1.0, ("h", "h"): 1.0, (bank, bank): steep}, {"c": 0.0, "h": 0.0})
        for name in ("E", "F"):
            getattr(self, name)[bank] = min(getattr(self, name)[bank], 2 * longest)
        self.X[bank] = longest + length(norm_.beta)
        if norm_.bias_row:
            self.bias_row(bank, min(longest, self.b[bank] * steep))

    def layer(self, layer, l):
        model = self.model
        self.F = {"c": 0.0, "h": 0.0}
        self.G = {"c": 1.0, "h": 1.0 if model["banked"] else 0.0}
        pre, post = model["place"] == "pre", model["place"] == "post"
        final = "c"
        if "heads" in layer:
            own = Norm(model, *layer["ln1"]) if "ln1" in layer else None
            self.attention(layer, own if pre else None)
            if own and post:
                self.norm_behind(own, "c")
        if "W_in" in layer:
            own = Norm(model, *layer["ln2"]) if "ln2" in layer else None
            if model["three"]:
                self.linear("c", "h", layer["W_in"], layer["b_in"], 0, own if pre else None)
                self.in_place(layer["terms"], layer["slope"], "h")
                self.linear("h", "c", layer["W_out"], layer["b_out"], -1, None)
            else:
                self.fused(layer, own if pre else None)
            if own and post:
                self.norm_behind(own, "c")
        if "linear" in layer:
            own = Norm(model, *layer["ln1"]) if "ln1" in layer else None
            if model["banked"]:
                source, final = ("c", "h") if l % 2 == 0 else ("h", "c")
                self.linear(source, final, layer["linear"], layer["linear_b"], 0, None)
            else:
                self.linear("c", "c", layer["linear"], layer["linear_b"],
                            0 if own and pre else -1, own if pre else None)
            if own and post:
                self.norm_behind(own, final)
        if "silu" in layer:
            self.in_place(layer["terms"], layer["slope"], "c")
        return {"rows": self.X[final], "bias_row": self.b[final], "gain": self.G[final],
                "leak": self.F[final], "error": self.E[final]}


def bounds(model, omega):
    """The program's columns, a dictionary a layer."""
    state = State(model, omega)
    rows = [state.layer(layer, l) for l, layer in enumerate(model["layers"])]
    if "W_U" in model:
        w = model["W_U"]
        final = Norm(model, *model["ln_final"]) if "ln_final" in model else None
        column = largest_column(final.fold(w) if final else w)
        steep = 1 / math.sqrt(final.eps) if final else 1.0
        rows[-1]["logit_error"] = rows[-1]["error"] * column * steep
    return rows


# ---- Random models --------------------------------------------------------------------------------

def draw(source, rows, columns, size):
    return [[source.gauss(0, size) for _ in range(columns)] for _ in range(rows)]


def draw_norm(source, d):
    return [source.gauss(1, 0.3) for _ in range(d)], [source.gauss(0, 0.3) for _ in range(d)]


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
    biased, scaled = source.random() < 0.6, source.random() < 0.5
    depth, terms = source.choice([1, 2, 2, 3]), terms_of(model)
    slope, layers = slope_of(terms), []
    for l in range(depth):
        layer = {"terms": terms, "slope": slope}

        def vector(count):
            return [source.gauss(0, 0.4) if biased else 0.0 for _ in range(count)]

        if kind in ("attention", "transformer"):
            size = source.choice([0.2, 0.6])
            layer["heads"] = [{"W_Q": draw(source, d, d_head, size),
                               "W_K": draw(source, d, d_head, size),
                               "W_V": draw(source, d, d_head, 0.4),
                               "W_O": draw(source, d_head, d, 0.4), "b_Q": vector(d_head),
                               "b_K": vector(d_head), "b_V": vector(d_head)}
                              for _ in range(heads)]
            layer["b_O"] = vector(d)
            layer["scale"] = 1 / math.sqrt(d_head) if scaled else 1.0
            if normed:
                layer["ln1"] = draw_norm(source, d)
        if kind in ("ffn", "transformer"):
            layer["W_in"], layer["b_in"] = draw(source, d, hidden, 0.5), vector(hidden)
            layer["W_out"], layer["b_out"] = draw(source, hidden, d, 0.5), vector(d)
            if normed:
                layer["ln2"] = draw_norm(source, d)
        if kind == "linear":
            rows, columns = (d, other or d) if l % 2 == 0 else (other or d, d)
            layer["linear"], layer["linear_b"] = draw(source, rows, columns, 0.5), vector(columns)
            if normed:
                layer["ln1"] = draw_norm(source, columns)
        if kind == "silu":
            layer["silu"] = True
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
        model["R"] = max(length([x + y for x, y in zip(e, p)])
                         for e in model["W_E"] for p in model["W_pos"][:n])
        model["W_U"] = draw(source, d, source.randint(1, 5), 1)
        if normed and model["place"] == "pre":
            model["ln_final"] = draw_norm(source, d)
    if normed and source.random() < 0.5:
        model["normalize_bias_row"] = False
        if model["mask"] == "none":
            model["flags"] += ["--normalize-bias-row", "no"]
    if model["three"]:
        model["flags"] += ["--form", "three"]
    if (model["three"] or kind == "linear") and source.random() < 0.5:
        model["flags"] += ["--head-rank", str(source.randint(1, 3))]
    if model["activation"] == "gelu" and kind in ("ffn", "transformer", "silu"):
        model["flags"] += ["--gelu", model["gelu"]]
    if model["activation"] == "relu" and kind in ("ffn", "transformer", "silu"):
        model["flags"] += ["--slope", repr(model["slope"])]


def tensors_of(model):
    """Names of TransformerLens, and shapes."""
    tensors = {}

    def put(name, array):
        flat, shape = array, [len(array)]
        while isinstance(flat[0], list):
            shape.append(len(flat[0]))
            flat = [x for part in flat for x in part]
        tensors[name] = (shape, flat)

    def put_norm(name, pair):
        put(name + ".w", pair[0])
        if model["normalization"] == "layernorm":
            put(name + ".b", pair[1])

    for l, layer in enumerate(model["layers"]):
        name = "blocks.%d." % l
        if "heads" in layer:
            for w in ("W_Q", "W_K", "W_V", "W_O") + (("b_Q", "b_K", "b_V") if model["biased"]
                                                     else ()):
                put(name + "attn." + w, [head[w] for head in layer["heads"]])
            if model["biased"]:
                put(name + "attn.b_O", layer["b_O"])
        for w in ("W_in", "W_out") + (("b_in", "b_out") if model["biased"] else ()):
            if w in layer:
                put(name + "mlp." + w, layer[w])
        if "linear" in layer:
            put(name + "linear.W", layer["linear"])
            if model["biased"]:
                put(name + "linear.b", layer["linear_b"])
        for w in ("ln1", "ln2"):
            if w in layer:
                put_norm(name + w, layer[w])
    for name, key in (("embed.W_E", "W_E"), ("pos_embed.W_pos", "W_pos"),
                      ("unembed.W_U", "W_U")):
        if key in model:
            put(name, model[key])
    if "ln_final" in model:
        put_norm("ln_final", model["ln_final"])
    return tensors


def write(path, model):
    header, offset = {"__metadata__": {
        "scale": "1/sqrt(d_head)" if model["scaled"] else "1", "mask": model["mask"],
        "activation": model["activation"], "blocks": "sequential",
        "normalization": model["normalization"], "positions": "learned"}}, 0
    said = header["__metadata__"]
    if model["normalization"] != "none":
        said.update({"normalization-place": model["place"], "eps": repr(model["eps"])})
    if model["kind"] not in ("attention", "transformer"):
        del said["scale"]
    if model["kind"] not in ("ffn", "transformer"):
        del said["activation"]
    if "W_pos" not in model:
        del said["positions"]
    if model["banked"]:
        said["linear"] = "block"
    if model["kind"] == "linear" and not model["banked"]:
        said["linear"] = "in-place"
    tensors = tensors_of(model)
    for name, (shape, flat) in tensors.items():
        end = offset + 8 * len(flat)
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, flat in tensors.values():
            file.write(struct.pack("<%dd" % len(flat), *flat))


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
    """The worst ratios below and above 1, and how many columns were compared."""
    asked = command(program, path, model, omegas)
    run = subprocess.run(asked, capture_output=True, text=True)
    if run.returncode != 0:
        print(" ".join(asked), "\n", run.stderr)
        return 0.0, math.inf, 0
    low, high, count = 1.0, 1.0, 0
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    expected = [(o, l, row) for o in omegas for l, row in enumerate(bounds(model, o))]
    for got, (omega, l, row) in zip(rows, expected, strict=True):
        assert float(got["omega"]) == omega and int(got["layer"]) == l + 1
        for name, value in row.items():
            cell = float(got[name])
            ratio = cell / value if value > 1e-290 else 1.0 if cell < 1e-280 else math.inf
            if not 1 - BELOW <= ratio <= 1 + ABOVE:
                print(" ".join(asked), "\n ", omega, l + 1, name, cell, "expected", value)
            low, high, count = min(low, ratio), max(high, ratio), count + 1
    return low, high, count


def leaks_unnormalised(model):
    """A bias row that fills, and that attention reads as it is."""
    return (model["kind"] == "transformer" and model["place"] == "pre" and
            model["mask"] == "none" and not model["normalize_bias_row"] and
            len(model["layers"]) > 1)


def main():
    program, folder = sys.argv[1:3]
    models = int(sys.argv[3]) if len(sys.argv) > 3 else MODELS
    source = random.Random(27)
    low, high, count = 1.0, 1.0, 0
    for m in range(models):
        model, path = make(source), "%s/%d.safetensors" % (folder, m)
        while m == 0 and not leaks_unnormalised(model):
            model = make(source)
        write(path, model)
        omegas = sorted(round(source.uniform(0.5, 40), 2) for _ in range(3))
        worst = compare(program, path, model, omegas)
        low, high, count = min(low, worst[0]), max(high, worst[1]), count + worst[2]
    print("%d models, %d bounds: from %.3g below the oracle's to %.3g above" %
          (models, count, 1 - low, high - 1))
    sys.exit(0 if 1 - low <= BELOW and high - 1 <= ABOVE else 1)


if __name__ == "__main__":
    main()
