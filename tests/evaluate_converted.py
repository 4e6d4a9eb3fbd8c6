#!/usr/bin/env python3
"""A user's side of `headproof convert`: loads the converted model, evaluates it as the
attention-only model that it is, and compares with the original, evaluated from its own file as its
metadata say.  Python's own library is enough.

    headproof convert MODEL.safetensors -o CONVERTED.safetensors --omega 20
    python3 tests/evaluate_converted.py MODEL.safetensors CONVERTED.safetensors [0,1,53]

With tokens, the stream is made from the embedding; else from the tensor X.  What MODEL does not say
of itself is said by --activation, --scale, --mask, --normalization and its like, as for headproof;
what this program cannot evaluate it refuses.  What is compared is the stream, before the norm of an
unembedding.  Heads imitate ReLU and GELU: --tolerance is then what that may cost.  Exit 1 above it,
2 where there is nothing to compare.
"""

import argparse
import array
import json
import math
import struct
import sys
from fractions import Fraction

# A property of a model, and what it may be.
CHOICES = {
    "activation": ("silu", "relu", "gelu", "gelu_new", "none"),
    "scale": ("1", "1/sqrt(d_head)"),
    "mask": ("none", "causal"),
    "normalization": ("none", "layernorm", "rmsnorm"),
    "normalization-place": ("pre", "post"),
    "eps": None,
}


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


ACTIVATIONS = {
    "silu": lambda z: z * sigmoid(z),
    "relu": lambda z: max(z, 0.0),
    "gelu": lambda z: z * (1 + math.erf(z / math.sqrt(2))) / 2,
    "gelu_new": lambda z: z * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) / 2,
}


def refuse(text):
    print(f"evaluate_converted.py: {text}", file=sys.stderr)
    sys.exit(2)


# ---- Files ---------------------------------------------------------------------------------------


def floats(dtype, raw):
    """Every number as Python's float, exactly."""
    if dtype == "BF16":
        halves = struct.unpack(f"<{len(raw) // 2}H", raw)
        return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
    code = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i"}.get(dtype)
    if code is None:
        refuse(f"dtype {dtype} is not read here")
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))


def fold(values, shape):
    """A flat list as lists of lists."""
    if len(shape) <= 1:
        return values
    each = len(values) // shape[0]
    return [fold(values[i * each:(i + 1) * each], shape[1:]) for i in range(shape[0])]


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        if name.startswith("result.") or name.endswith(("attn.mask", "attn.IGNORE")):
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = fold(floats(entry["dtype"], data[8 + size + begin:8 + size + end]),
                             entry["shape"])
    return tensors, metadata


# ---- Matrices, as lists of rows ------------------------------------------------------------------


def product(a, b):
    columns = [array.array("d", column) for column in zip(*b)]
    return [[sum(map(float.__mul__, row, column)) for column in columns]
            for row in (array.array("d", row) for row in a)]


def transposed(a):
    return [list(column) for column in zip(*a)]


def add(a, b):
    return [[x + y for x, y in zip(row, other)] for row, other in zip(a, b)]


def add_row(a, row):
    return a if row is None else [[x + y for x, y in zip(line, row)] for line in a]


def softmax_rows(scores, causal):
    pattern = []
    for i, row in enumerate(scores):
        seen = row[:i + 1] if causal else row
        top = max(seen)
        weights = [math.exp(s - top) for s in seen]
        total = sum(weights)
        pattern.append([w / total for w in weights] + [0.0] * (len(row) - len(seen)))
    return pattern


# ---- Models --------------------------------------------------------------------------------------


def factored_head(x, t, h, scale, causal):
    """softmax_rows((x W_Q + b_Q)(x W_K + b_K)^T scale) (x W_V + b_V) W_O of head h"""
    q, k, v = (add_row(product(x, t["W_" + w][h]), t.get("b_" + w) and t["b_" + w][h])
               for w in "QKV")
    scores = product(q, transposed(k))
    if scale == "1/sqrt(d_head)":
        scores = [[s / math.sqrt(len(q[0])) for s in row] for row in scores]
    return product(product(softmax_rows(scores, causal), v), t["W_O"][h])


def merged_head(x, t, h, causal):
    """softmax_rows(x QK x^T) x OV of head h"""
    scores = product(product(x, t["QK"][h]), transposed(x))
    return product(softmax_rows(scores, causal), product(x, t["OV"][h]))


def attention(x, read, t, scale, causal):
    """x + the heads of what is read: x, or its norm"""
    out = add_row(x, t.get("b_O"))
    merged = "QK" in t
    for h in range(len(t["QK" if merged else "W_Q"])):
        head = (merged_head(read, t, h, causal) if merged else
                factored_head(read, t, h, scale, causal))
        out = add(out, head)
    return out


def network(x, read, t, activation):
    z = add_row(product(read, t["W_in"]), t.get("b_in"))
    a = [[ACTIVATIONS[activation](value) for value in row] for row in z]
    return add(x, add_row(product(a, t["W_out"]), t.get("b_out")))


def normed_row(row, kind, eps, gamma, beta):
    mean = sum(row) / len(row) if kind == "layernorm" else 0.0
    root = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + eps)
    return [(value - mean) / root * g + b for value, g, b in zip(row, gamma, beta)]


def normed(x, kind, eps, t):
    return [normed_row(row, kind, eps, t["w"], t.get("b", [0.0] * len(row))) for row in x]


def normed_part(x, metadata, block, t):
    """A converted block's norm: of its rows and columns, row i of ln.b added to row i."""
    columns = metadata["headproof.norm_columns"].split(",")[block]
    if columns == "-":
        return x
    first, end = (int(c) for c in columns.split(":"))
    x = [list(row) for row in x]
    for i in range(*(int(r) for r in metadata["headproof.norm_rows"].split(":"))):
        beta = t["b"][i] if "b" in t else [0.0] * (end - first)
        x[i][first:end] = normed_row(x[i][first:end], metadata["normalization"],
                                     float(metadata["eps"]), t["w"], beta)
    return x


# ---- Heads of the shared layout ------------------------------------------------------------------
#
# Over the columns of the plain layout, content and then a position column a row, a matrix is a list
# of terms (factor, left, right): the sum of factor left right^T.  factor, a Fraction, is exact but
# for irrational scales.


class Frame:
    """The plain layout's columns: those of X in the file, then one for each of so many rows"""

    def __init__(self, rows, content, bias_row, omega):
        self.rows, self.content, self.bias_row = rows, content, bias_row
        self.omega = Fraction(omega)
        self.tokens = [0.0 if i == bias_row else 1.0 for i in range(rows)]

    def vector(self, first=0, entries=(), token=0.0):
        """The entries from column first on, and a number in the position column of every token"""
        left = [0.0] * self.content
        left[first:first + len(entries)] = entries
        return left + [token * each for each in self.tokens]

    def position(self, entries):
        return [0.0] * self.content + list(entries)


def factor_of(scale):
    num, den, square = scale
    root = math.isqrt(square)
    exact = root * root == square
    return Fraction(num, den * root) if exact else Fraction(num / (den * math.sqrt(square)))


def position_terms(frame, score, h, t):
    """omega (position + extra), a term a row of the stream"""
    token_self, token_token, token_bias, bias_self, bias_token = score["position"]
    extra = t[score["extra"]] if "extra" in score else None
    for i in range(frame.rows):
        row = [bias_token if i == frame.bias_row else token_token] * frame.rows
        row[frame.bias_row] = token_bias
        row[i] = bias_self if i == frame.bias_row else token_self
        if extra is not None:
            row = [a + b for a, b in zip(row, extra[h if len(extra) > 1 else 0][i])]
        if any(row):
            one = [float(j == i) for j in range(frame.rows)]
            yield frame.omega, frame.position(one), frame.position(map(float, row))


def content_terms(frame, score, h, t):
    first, end = score.get("read", (0, 0))
    factor = factor_of(score.get("scale", (1, 1, 1)))
    if "QK" in score:
        for c, row in enumerate(t[score["QK"]][h]):
            yield factor, frame.vector(first + c, [1.0]), frame.vector(first, row)
        return
    columns = ([[float(score["unit"] * (c == h)) for c in range(end - first)]] if "unit" in score
               else transposed(t[score["W_Q"]][h]) if "W_Q" in score else [])
    for k, column in enumerate(columns):
        b_q = t[score["b_Q"]][h][k] if "b_Q" in score else 0.0
        b_k = score.get("b_K", 0.0)
        b_k = t[b_k][h][k] if isinstance(b_k, str) else b_k
        key = [row[k] for row in t[score["W_K"]][h]] if "W_K" in score else []
        yield factor, frame.vector(first, column, b_q), frame.vector(first, key, b_k)
    if "shift" in score:
        yield Fraction(1), frame.vector(token=t[score["shift"]][h]), frame.vector(token=1.0)


def score_terms(frame, score, h, t):
    """W_Q W_K^T of the plain layout"""
    yield from content_terms(frame, score, h, t)
    yield from position_terms(frame, score, h, t)


def value_terms(frame, value, h, t):
    """W_V W_O of the plain layout"""
    read, write = value["read"], value["write"]
    factor = Fraction(value.get("scale", 1.0))
    if "W_V" in value:
        for k, row in enumerate(t[value["W_O"]][h]):
            b_v = t[value["b_V"]][h][k] if "b_V" in value else 0.0
            column = [line[k] for line in t[value["W_V"]][h]]
            yield factor, frame.vector(read[0], column, b_v), frame.vector(write[0], row)
    elif "OV" in value:
        for c, row in enumerate(t[value["OV"]][h]):
            yield factor, frame.vector(read[0] + c, [1.0]), frame.vector(write[0], row)
    elif "unit" in value:
        one = frame.vector(read[0] + h, [1.0])
        yield factor * value["unit"], one, frame.vector(write[0] + h, [1.0])
    if "bias" in value and h == 0:
        yield Fraction(1), frame.vector(token=1.0), frame.vector(write[0], t[value["bias"]])
    for c in range(*read) if value.get("diagonal", 0) != 0 else ():
        yield Fraction(value["diagonal"]), frame.vector(c, [1.0]), frame.vector(c, [1.0])


def shared_block(x, y, frame, bundles, t, causal):
    """x + the heads of y: x and y [rows, content]"""
    y = [row + [float(i == j) for j in range(frame.rows)] for i, row in enumerate(y)]
    for bundle in bundles:
        for h in range(bundle["heads"]):
            out = None
            for which, terms in (("scores", score_terms(frame, bundle["score"], h, t)),
                                 ("values", value_terms(frame, bundle["value"], h, t))):
                factors, left, right = zip(*terms)
                inner = product(y, transposed(left))
                inner = [[float(f) * a for f, a in zip(factors, row)] for row in inner]
                if which == "scores":
                    scores = product(inner, transposed(product(y, transposed(right))))
                    pattern = softmax_rows(scores, causal)
                else:
                    out = product(product(pattern, inner), right)
            x = add(x, [row[:frame.content] for row in out])
    return x


def layers(t, one=None):
    """The tensors of every layer, by part: [{"attn": {"W_Q": ...}, "mlp": {...}}], or of one"""
    found = {}
    for name, values in t.items():
        words = name.split(".")
        if words[0] == "blocks" and len(words) == 4:
            found.setdefault(int(words[1]), {}).setdefault(words[2], {})[words[3]] = values
    return [found[l] for l in sorted(found)] if one is None else found.get(one, {})


def converted(t, metadata, tokens):
    """tokens [n, d]: the classical stream."""
    x = [list(row) for row in t["X"]]
    first, end = (int(c) for c in metadata["headproof.content"].split(":"))
    bias_row = int(metadata["headproof.bias_row"])
    rows = [i for i in range(len(x)) if i != bias_row]
    if len(rows) != len(tokens) or end - first != len(tokens[0]):
        refuse(f"the converted model has {len(rows)} tokens of {end - first} columns, not "
               f"{len(tokens)} of {len(tokens[0])}")
    for i, token in zip(rows, tokens):
        x[i][first:end] = token
    place = metadata.get("normalization-place")
    causal = metadata["mask"] == "causal"
    heads = json.loads(metadata.get("headproof.heads", "null"))
    frame = Frame(len(x), len(x[0]), bias_row, float(metadata["headproof.omega"]))
    stack = layers(t) if heads is None else [layers(t, s) for s in range(len(heads))]
    for number, layer in enumerate(stack):
        norm = layer.get("ln")
        if norm is not None and heads is not None and "b" in norm:
            norm = {**norm, "b": [[b * is_token for b in norm["b"]] for is_token in frame.tokens]}
        read = normed_part(x, metadata, number, norm) if place == "pre" else x
        x = (attention(x, read, layer["attn"], metadata["scale"], causal) if heads is None else
             shared_block(x, read, frame, heads[number], t, causal))
        x = normed_part(x, metadata, number, norm) if place == "post" else x
    return [x[i][first:end] for i in rows]


def properties(stack, metadata, arguments):
    """What the model says of itself, or its user; nothing is assumed."""
    said = {}
    needed = {"activation": any("mlp" in layer for layer in stack),
              "scale": any("attn" in layer for layer in stack),
              "mask": any("attn" in layer for layer in stack),
              "normalization": True}
    for name, choices in CHOICES.items():
        flag, own = getattr(arguments, name.replace("-", "_")), metadata.get(name)
        norms = said.get("normalization", "none") != "none"
        needed.setdefault(name, norms)
        if flag is not None and own is not None and flag != own:
            refuse(f"--{name} {flag}: the model's metadata say {own}")
        said[name] = own if own is not None else flag
        if needed[name] and said[name] is None:
            values = ", ".join(choices) if choices is not None else "a number above 0"
            refuse(f"the model does not say its {name} (--{name}: {values})")
        if choices is not None and said[name] is not None and said[name] not in choices:
            refuse(f"{name} '{said[name]}' is not evaluated here ({', '.join(choices)})")
    if needed["activation"] and said["activation"] not in ACTIVATIONS:
        refuse("the model has feed-forward networks and the activation none")
    return said


def part(x, said, norm, evaluate):
    """evaluate(x, what it reads), with a norm before or behind it"""
    if said["normalization"] == "none":
        return evaluate(x, x)
    if norm is None:
        refuse(f"the normalization is {said['normalization']}, and a part has no norm")
    kind, eps = said["normalization"], float(said["eps"])
    if said["normalization-place"] == "pre":
        return evaluate(x, normed(x, kind, eps, norm))
    return normed(evaluate(x, x), kind, eps, norm)


def original(stack, said, x):
    for number, layer in enumerate(stack):
        unknown = set(layer) - {"attn", "mlp", "ln1", "ln2"}
        if unknown:
            refuse(f"blocks.{number}.{unknown.pop()} is not evaluated here (attn, mlp, ln1, ln2)")
        if "attn" in layer:
            x = part(x, said, layer.get("ln1"), lambda x, read: attention(
                x, read, layer["attn"], said["scale"], said["mask"] == "causal"))
        if "mlp" in layer:
            x = part(x, said, layer.get("ln2"),
                     lambda x, read: network(x, read, layer["mlp"], said["activation"]))
    return x


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("converted")
    parser.add_argument("tokens", nargs="?")
    parser.add_argument("--tolerance", type=float, default=1e-12)
    for name in CHOICES:
        parser.add_argument("--" + name)
    return parser.parse_args()


def stream(t, tokens):
    if tokens is None:
        if "X" not in t:
            refuse("the model has no X: tokens are expected, as 0,1,53")
        return t["X"]
    numbers = [int(token) for token in tokens.split(",")]
    if "embed.W_E" not in t or not all(0 <= k < len(t["embed.W_E"]) for k in numbers):
        refuse("tokens are expected that embed.W_E has")
    x = [t["embed.W_E"][token] for token in numbers]
    return add(x, t["pos_embed.W_pos"]) if "pos_embed.W_pos" in t else x


def main():
    arguments = read_arguments()
    t, metadata = load(arguments.model)
    c, converted_metadata = load(arguments.converted)
    stack = layers(t)
    if not stack:
        refuse("the model has no layers")
    said = properties(stack, metadata, arguments)
    x = stream(t, arguments.tokens)
    expected = original(stack, said, x)
    got = converted(c, converted_metadata, x)
    error = max(abs(a - b) for row, other in zip(got, expected) for a, b in zip(row, other))
    norms = "" if said["normalization"] == "none" else f", {said['normalization']}"
    print(f"{said['activation']}, scale {said['scale']}, mask {said['mask']}{norms}: "
          f"largest difference {error:.3g}")
    return 0 if error <= arguments.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
