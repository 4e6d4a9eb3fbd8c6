#!/usr/bin/env python3
"""Independent oracle for GELU and its imitations by gated heads with shifts.

    headproof export ... --activation gelu|gelu_new --gelu K -o FILE
    python3 tests/oracle_gelu.py FILE...

Evaluates each model in mpmath: T with the very activation, T_infinity as T with the imitation in
its place, and T' from full matrices Q and V, as docs/mathematics.md, section 1, has them.  Nothing
is shared with the C programs but the weights of FILE; slopes, shifts and weights of the imitations
stand below once more.  Exit 1 where a number differs from FILE's by more than FILE says that it may
be off.
"""

import json
import sys

from mpmath import erfc, exp, matrix, mp, mpf, nstr, pi, sqrt, tanh

sys.dont_write_bytecode = True
import safetensors_file
from oracle_dense import Stream, fused_head, linear_head, patched_head, silu_head

mp.prec = 300

# Slope, and for each pair of shifts: shift, weight of either of the two.  The rest of 1 is the
# weight of a term without a shift.
ERF = {
    2: ("2.211650960743", ("1.3099057684290702", 0.5)),
    3: ("2.509861819144", ("2.602598846808862", 0.22459293537296893)),
    4: ("2.740686568247", ("1.2509973575666027", 0.39368559915577256),
        ("3.767116261912345", 0.10631440084422747)),
    8: ("3.373156460975", ("1.0599699958324384", 0.27229408758214346),
        ("3.1418455731836135", 0.15978699180886552), ("5.243582967513871", 0.05790872445685299),
        ("7.549421643141777", 0.010010196152138122)),
}
TANH = {
    2: ("2.221170335581", ("1.325436826138774", 0.5)),
    3: ("2.538477767509", ("2.670395947293014", 0.22292454981109003)),
    5: ("3.014986056198", ("2.4812727509004215", 0.24345513280772504),
        ("5.018176373385229", 0.05559853423541878)),
    7: ("3.385368070583", ("2.301774282737977", 0.22852275759892168),
        ("4.576483526654558", 0.09309238953931799), ("7.012869209817888", 0.018668309362686063)),
}
ONE = {("gelu", "sigmoid"): 1.702, ("gelu", "minimax"): 1.7729, ("gelu_new", "sigmoid"): 1.702,
       ("gelu_new", "minimax"): 1.774496215925}


def terms_of(activation, form):
    """[(slope, shift, weight)], all of them numbers that the program may use."""
    if (activation, form) in ONE:
        return [(mpf(ONE[activation, form]), mpf(0), mpf(1))]
    slope, *pairs = (ERF if activation == "gelu" else TANH)[int(form)]
    weights = [round(weight * 2**40) for _, weight in pairs]
    rest = 2**40 - 2 * sum(weights)
    if int(form) % 2 == 0:  # what rounding left over goes to the first pair
        weights[0] += rest // 2
        rest = 0
    slope, unit = mpf(float(slope)), mpf(2)**-40
    terms = [(slope, mpf(0), rest * unit)] if rest else []
    for (shift, _), weight in zip(pairs, weights):
        terms += [(slope, sign * mpf(float(shift)), weight * unit) for sign in (1, -1)]
    assert sum(weight for _, _, weight in terms) == 1 and len(terms) == int(form)
    return terms


def sigma(z):
    return 1 / (1 + exp(-z))


def gelu(x):
    return x * erfc(-x / sqrt(2)) / 2


def gelu_new(x):
    return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + mpf(0.044715) * x**3)))


class Model:
    def __init__(self, path):
        tensors, self.said = safetensors_file.read(path)
        self.tensors = {name: (shape, [mpf(x) for x in safetensors_file.doubles(data)])
                        for name, (dtype, shape, data) in tensors.items() if dtype == "F64"}
        words = self.said["command"].split()
        flags = dict(zip(words[2::2], words[3::2]))
        self.kind = self.said["construction"]
        self.omega = mpf(self.said["omega"]) if "omega" in self.said else mpf(0)
        self.act = {"gelu": gelu, "gelu_new": gelu_new}[self.said["activation"]]
        self.terms = terms_of(self.said["activation"], flags.get("--gelu", "sigmoid"))
        self.mask = flags.get("--mask", "none")
        self.depth = int(flags.get("--depth", 1))

    def tensor(self, name, head=None):
        """A matrix, a row where there is one extent; zeros (None) where FILE has none."""
        if name not in self.tensors:
            return None
        shape, numbers = self.tensors[name]
        if head is not None:
            shape, count = shape[1:], len(numbers) // shape[0]
            numbers = numbers[head * count:(head + 1) * count]
        rows, columns = shape if len(shape) == 2 else (1, shape[0])
        return matrix([numbers[r * columns:(r + 1) * columns] for r in range(rows)])

    def network(self, layer):
        w1, b1, w2, b2 = (self.tensor(f"blocks.{layer}.mlp.{name}")
                          for name in ("W_in", "b_in", "W_out", "b_out"))
        b1 = matrix(1, w1.cols) if b1 is None else b1
        return w1, b1, w2, matrix(1, w2.cols) if b2 is None else b2

    def heads(self, layer):
        name = f"blocks.{layer}.attn."
        count = self.tensors[name + "QK"][0][0] if name + "QK" in self.tensors else 0
        return [(self.tensor(name + "QK", h), self.tensor(name + "OV", h)) for h in range(count)]

    def imitation(self, x):
        return x * sum(weight * sigma(slope * x + shift) for slope, shift, weight in self.terms)

    # ---- T, and T_infinity ----------------------------------------------------------------------

    def attention(self, x, layer):
        out = x.copy()
        for q, v in self.heads(layer):
            for i in range(x.rows):
                seen = range(x.rows if self.mask == "none" else i + 1)
                weights = [exp((x[i, :] * q * x[j, :].T)[0]) for j in seen]
                for j, weight in zip(seen, weights):
                    value = x[j, :] * v
                    for c in range(x.cols):
                        out[i, c] += weight / sum(weights) * value[0, c]
        return out

    def layer(self, x, layer, act):
        if self.kind == "silu":
            return x.apply(act)
        w1, b1, w2, b2 = self.network(layer)
        if self.kind.startswith("transformer"):
            x = self.attention(x, layer)
        ones = matrix([[mpf(1)]] * x.rows)
        return x + (x * w1 + ones * b1).apply(act) * w2 + ones * b2

    # ---- T', with every matrix written out ------------------------------------------------------

    def in_place(self, s, column):
        """The terms of a SiLU head: gates -(g x + h), values -w."""
        pairs = []
        for slope, shift, weight in self.terms:
            q, v = silu_head(s, column, self.omega)
            for i in s.tokens:
                q[column, s.p(i)] *= slope
                for j in s.tokens:
                    q[s.p(j), s.p(i)] -= shift
            pairs.append((q, v * weight))
        return pairs

    def fused(self, s, network, k):
        w1, b1, w2, _ = network
        pairs = []
        for slope, shift, weight in self.terms:
            q, _ = fused_head(s, w1 * slope, b1 * slope, w2, k, self.omega)
            _, v = fused_head(s, w1, b1, w2, k, self.omega)
            for i in s.tokens:
                for j in s.tokens:
                    q[s.p(j), s.p(i)] += shift
            pairs.append((q, v * weight))
        return pairs

    def converted_layer(self, s, layer):
        if self.kind == "silu":
            s.sublayer([pair for c in range(s.content) for pair in self.in_place(s, c)])
            return
        if self.kind.startswith("transformer"):
            s.sublayer([patched_head(s, q, v, self.omega) for q, v in self.heads(layer)])
        w1, b1, w2, b2 = network = self.network(layer)
        d, hidden = w1.rows, w1.cols
        if self.kind in ("ffn3", "transformer3"):
            s.sublayer([linear_head(s, w1, 0, d, b1, False, self.omega)])
            s.sublayer([pair for k in range(hidden) for pair in self.in_place(s, d + k)])
            s.sublayer([linear_head(s, w2, d, 0, b2, True, self.omega)])
        else:
            heads = [pair for k in range(hidden) for pair in self.fused(s, network, k)]
            s.sublayer(heads + [linear_head(s, None, 0, 0, b2, False, self.omega)])

    def converted(self, x):
        """The stream behind every layer; None where no matrix says what T' is."""
        if self.kind == "masked" or self.mask.startswith("pseudo"):
            return None
        more = self.network(0)[0].cols if self.kind in ("ffn3", "transformer3") else 0
        rows = [row + [mpf(0)] * more for row in x.tolist()]
        s = Stream(rows, [mpf(0)] * (x.cols + more), self.mask == "causal")
        streams = []
        for layer in range(self.depth):
            self.converted_layer(s, layer)
            streams.append(matrix([[s.x[i, c] for c in range(x.cols)] for i in s.tokens]))
        return streams

    def streams(self):
        x = self.tensor("X")
        original, limit = [x], [x]
        for layer in range(self.depth):
            original.append(self.layer(original[-1], layer, self.act))
            limit.append(self.layer(limit[-1], layer, self.imitation))
        found = {"r_T": original[1:], "r_Tinf": limit[1:]}
        if self.kind == "masked":
            found["r_Tprime"] = limit[1:]
        converted = self.converted(x)
        if converted is not None:
            found["r_Tprime"] = converted
        return found


def check(path):
    model, worst = Model(path), mpf(0)
    for name, streams in model.streams().items():
        for layer, stream in enumerate(streams):
            numbers = json.loads(model.said[f"result.{layer}.{name}.text"])
            off = mpf(2)**int(model.said[f"result.{layer}.error_log2"]) + mpf(10)**-38
            if len(numbers) != stream.rows * stream.cols:
                sys.exit(f"{path}: {name} has {len(numbers)} numbers")
            for number, expected in zip(numbers, stream):
                ratio = abs(mpf(number) - expected) / off
                worst = max(worst, ratio)
                if not ratio <= 1:
                    print(f"{path}: {name} after layer {layer + 1} has {number}, expected "
                          f"{nstr(expected, 35)}")
                    return False
    print(f"{path}: {', '.join(model.streams())}: worst ratio {nstr(worst, 3)}")
    return True


if __name__ == "__main__":
    sys.exit(0 if all([check(path) for path in sys.argv[1:]]) else 1)
