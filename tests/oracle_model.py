#!/usr/bin/env python3
"""Independent oracle for models from files: writes a one-layer model with every bias as
safetensors, and prints the construction error of both forms of its rewrite, from full matrices in
mpmath.  Shares nothing with the C programs.  Needs mpmath; run by hand, from this directory:

    python3 oracle_model.py

It writes data/all-biases.safetensors and prints the numbers that test_model_oracle.c expects.
"""

import json
import random
import struct

from mpmath import exp, matrix, mp, mpf, nstr, sqrt

from oracle_dense import Stream, fused_head, linear_head, patched_head, silu_head

mp.prec = 400

N, D, HEADS, D_HEAD, H = 3, 4, 2, 3, 5
SHAPES = {
    "X": (N, D),
    "blocks.0.attn.W_Q": (HEADS, D, D_HEAD),
    "blocks.0.attn.W_K": (HEADS, D, D_HEAD),
    "blocks.0.attn.W_V": (HEADS, D, D_HEAD),
    "blocks.0.attn.W_O": (HEADS, D_HEAD, D),
    "blocks.0.attn.b_Q": (HEADS, D_HEAD),
    "blocks.0.attn.b_K": (HEADS, D_HEAD),
    "blocks.0.attn.b_V": (HEADS, D_HEAD),
    "blocks.0.attn.b_O": (D,),
    "blocks.0.mlp.W_in": (D, H),
    "blocks.0.mlp.b_in": (H,),
    "blocks.0.mlp.W_out": (H, D),
    "blocks.0.mlp.b_out": (D,),
}


def draw():
    """Doubles in (-1, 1), a few tensors at half precision's spacing."""
    source = random.Random(2309)
    model = {}
    for name, shape in SHAPES.items():
        count = 1
        for extent in shape:
            count *= extent
        model[name] = [2 * source.random() - 1 for _ in range(count)]
    return model


def write(path, model):
    """The safetensors format: length, JSON, data."""
    header, offset = {}, 0
    header["__metadata__"] = {"scale": "1/sqrt(d_head)", "activation": "silu",
                              "blocks": "sequential",
                              "normalization": "none", "mask": "causal"}
    for name, values in model.items():
        end = offset + 8 * len(values)
        header[name] = {"dtype": "F64", "shape": SHAPES[name], "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in model.values():
            file.write(struct.pack(f"<{len(values)}d", *values))


def tensor(model, name, head=None):
    """A matrix; of one head where there are heads."""
    shape, values = SHAPES[name], model[name]
    if head is not None:
        shape = shape[1:]
        size = len(values) // HEADS
        values = values[head * size:(head + 1) * size]
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    return matrix(rows, columns) + matrix(
        [[mpf(values[r * columns + c]) for c in range(columns)] for r in range(rows)])


def attention_of(model, h):
    name = "blocks.0.attn."
    w_q, w_k, w_v, w_o = (tensor(model, name + w, h) for w in ("W_Q", "W_K", "W_V", "W_O"))
    b_q, b_k, b_v = (tensor(model, name + b, h) for b in ("b_Q", "b_K", "b_V"))
    return w_q, w_k, w_v, w_o, b_q, b_k, b_v


def original(model):
    """T, by the words: attention with biases, skip; network with biases, skip."""
    x = tensor(model, "X")
    out = x.copy()
    b_o = tensor(model, "blocks.0.attn.b_O")
    for h in range(HEADS):
        w_q, w_k, w_v, w_o, b_q, b_k, b_v = attention_of(model, h)
        for i in range(N):
            query = x[i, :] * w_q + b_q
            weights = [exp((query * (x[j, :] * w_k + b_k).T)[0] / sqrt(mpf(D_HEAD)))
                       for j in range(i + 1)]
            total = sum(weights)
            for j in range(i + 1):
                value = (x[j, :] * w_v + b_v) * w_o
                for c in range(D):
                    out[i, c] += weights[j] / total * value[0, c]
    for i in range(N):
        for c in range(D):
            out[i, c] += b_o[0, c]
    w1, b1 = tensor(model, "blocks.0.mlp.W_in"), tensor(model, "blocks.0.mlp.b_in")
    w2, b2 = tensor(model, "blocks.0.mlp.W_out"), tensor(model, "blocks.0.mlp.b_out")
    for i in range(N):
        z = out[i, :] * w1 + b1
        a = matrix(1, H)
        for k in range(H):
            a[0, k] = z[0, k] / (1 + exp(-z[0, k]))
        y = a * w2 + b2
        for c in range(D):
            out[i, c] += y[0, c]
    return out


def attention_sublayer(s, model, omega):
    """Patched heads; the biases ride on the token position rows and columns."""
    pairs = []
    scale = 1 / sqrt(mpf(D_HEAD))
    b_o = tensor(model, "blocks.0.attn.b_O")
    for h in range(HEADS):
        w_q, w_k, w_v, w_o, b_q, b_k, b_v = attention_of(model, h)
        q, v = patched_head(s, w_q * w_k.T * scale, w_v * w_o, omega)
        to_key, from_query, both = w_q * b_k.T * scale, b_q * w_k.T * scale, b_q * b_k.T * scale
        bias = b_v * w_o
        for i in s.tokens:
            for c in range(D):
                q[c, s.p(i)] += to_key[c, 0]
                q[s.p(i), c] += from_query[0, c]
                v[s.p(i), c] += bias[0, c] + (b_o[0, c] if h == 0 else 0)
            for j in s.tokens:
                q[s.p(i), s.p(j)] += both[0, 0]
        pairs.append((q, v))
    s.sublayer(pairs)


def converted(model, omega, three):
    hidden = H if three else 0
    tokens = [row + [0] * hidden for row in tensor(model, "X").tolist()]
    s = Stream(tokens, [0] * (D + hidden), causal=True)
    attention_sublayer(s, model, omega)
    w1, b1 = tensor(model, "blocks.0.mlp.W_in"), tensor(model, "blocks.0.mlp.b_in")
    w2, b2 = tensor(model, "blocks.0.mlp.W_out"), tensor(model, "blocks.0.mlp.b_out")
    if three:
        s.sublayer([linear_head(s, w1, 0, D, b1, False, omega)])
        s.sublayer([silu_head(s, D + k, omega) for k in range(H)])
        s.sublayer([linear_head(s, w2, D, 0, b2, True, omega)])
    else:
        heads = [fused_head(s, w1, b1, w2, k, omega) for k in range(H)]
        s.sublayer(heads + [linear_head(s, None, 0, 0, b2, False, omega)])
    return s


def main():
    model = draw()
    write("data/all-biases.safetensors", model)
    exact = original(model)
    for omega in (mpf(5), mpf(12), mpf(60)):
        for three in (False, True):
            s = converted(model, omega, three)
            errors = [abs(s.x[s.tokens[i], c] - exact[i, c]) for i in range(N) for c in range(D)]
            print("three" if three else "fused", nstr(omega), nstr(max(errors), 25))


if __name__ == "__main__":
    main()
