#!/usr/bin/env python3
"""Independent oracle: the attention-only models, literally from docs/mathematics.md, section 1.

Every head is two full matrices Q and V, every sublayer X + sum of softmax_rows(X Q X^T) X V, in
mpmath; nothing is shared with the C programs but the drawn weights, which are below as the
doubles that they are.  Prints the numbers that tests/reference/test_oracles.c expects.  Needs mpmath;
run by hand:

    python3 tests/oracle_dense.py
"""

from mpmath import exp, matrix, mp, mpf, nstr

mp.prec = 3500  # e^(-2000) is 2^-2885

# Seed 5, n = 3, d = 2, d_ff = 3, weights normal, random biases and bias-row content; attention
# of 2 heads of 1, their matrices one below the other.  "LAYER.NAME", layers from 0.
DRAWS = {
    "X": """
        -0x1.b1f594fabbb66p-2 0x1.686b112969c14p-2
        0x1.7a312ee346ebbp+0 0x1.e243291a1c12ap-2
        0x1.3c5f9506e3bc1p+1 0x1.daee47a01a041p+0
    """,
    "bias_row": """
        0x1.72283f0da77a3p-1 -0x1.7511eb96a148p-1
    """,
    "0.W_Q": """
        -0x1.3c2828accb17ep+0
        0x1.db0fc670ca6b9p-8
        -0x1.6cc01af4b9177p-4
        0x1.8eaedcd2f3786p-2
    """,
    "0.W_K": """
        0x1.457746f3ddb5ep+0
        -0x1.5f8f6a4e8dc19p+0
        -0x1.6389aef22c464p-1
        0x1.5762dcf427f2cp-1
    """,
    "0.W_V": """
        0x1.5c86c1194c524p-1
        -0x1.845f0c624fb31p+0
        0x1.481aff3bc3016p-3
        0x1.139a59d929478p-1
    """,
    "0.W_O": """
        -0x1.10b92ea5f1418p+0 0x1.9c0b846e00ae9p-1
        -0x1.9419ba625f90cp-3 0x1.06ac26cec899fp+0
    """,
    "0.W1": """
        0x1.d669193221052p-1 0x1.0d790ef3e98e6p+0 0x1.ca4795816a837p-2
        0x1.bd450df21e986p+0 0x1.2f0d8a3482395p-1 -0x1.1da6a67a25eb8p-1
    """,
    "0.b1": """
        -0x1.19cf12d8088bfp+0 0x1.02bb9a987923bp-3 0x1.56108a1f4b949p+0
    """,
    "0.W2": """
        0x1.7bcc7a42d0ef8p+0 0x1.5583755fe6e0ep+0
        -0x1.383dbf9b1fac7p+0 -0x1.52919ead56316p+0
        0x1.2770d843de927p+1 0x1.696d43c49b0a6p-1
    """,
    "0.b2": """
        -0x1.5295f5929f9eap-2 0x1.01bec4c22f21ap-2
    """,
    "1.W_Q": """
        0x1.7160256b2282ep-2
        0x1.8fdeb2777bdbdp+0
        0x1.6268772687199p+0
        0x1.1e5e5a52b59eep+1
    """,
    "1.W_K": """
        0x1.359904042a562p+0
        -0x1.af38e04fa805dp+0
        0x1.59379e7c1a86dp-1
        -0x1.e10da096d3507p-2
    """,
    "1.W_V": """
        0x1.2c8f8d86af151p-1
        -0x1.ae6b4d2b6cee3p-5
        0x1.abd2ee2d07d2bp-3
        0x1.2b7dda2668227p-4
    """,
    "1.W_O": """
        0x1.498840b976af8p-1 0x1.2d48bedd781d7p-2
        0x1.46c360d9871afp-2 -0x1.8ce0642e43dabp+0
    """,
    "1.W1": """
        0x1.8e5e089112acap+0 -0x1.09f32fcaf8804p+1 0x1.5be5fd0d78edp+0
        -0x1.dd20e9f9feefap-1 0x1.535716ce1f421p-3 -0x1.f53091e6f8957p-4
    """,
    "1.b1": """
        -0x1.09c19f54469c5p-2 0x1.3867b0ce88e2dp-1 0x1.d7ee4253afd93p+0
    """,
    "1.W2": """
        0x1.ab3bd10b03757p-1 -0x1.3696410331fb9p+0
        0x1.10f6150e02971p+0 -0x1.fc1b15e9b1c86p-3
        -0x1.260a5bb9f6ee5p-2 -0x1.17f6810e17647p-3
    """,
    "1.b2": """
        -0x1.d7574e0113eecp+0 0x1.271edd28cbb69p-1
    """,
}


def draw(name):
    """The matrix of that name."""
    rows = [line.split() for line in DRAWS[name].split("\n") if line.strip()]
    return matrix([[mpf(float.fromhex(entry)) for entry in row] for row in rows])


class Stream:
    """X': token rows and a bias row, content columns, then one one-hot column a row."""

    def __init__(self, tokens, bias_row, causal):
        self.n, self.content, self.causal = len(tokens), len(bias_row), causal
        rows = [bias_row] + tokens if causal else tokens + [bias_row]
        self.bias = 0 if causal else self.n
        self.tokens = [i for i in range(self.n + 1) if i != self.bias]
        self.width = self.content + self.n + 1
        self.x = matrix(self.n + 1, self.width)
        for i, row in enumerate(rows):
            for c, entry in enumerate(row):
                self.x[i, c] = mpf(entry)
            self.x[i, self.p(i)] = mpf(1)

    def p(self, row):
        """The position column of a row."""
        return self.content + row

    def empty(self):
        return matrix(self.width, self.width)

    def head(self, q, v):
        """softmax_rows(X Q X^T) X V"""
        scores = self.x * q * self.x.T
        pattern = matrix(self.n + 1, self.n + 1)
        for i in range(self.n + 1):
            seen = [j for j in range(self.n + 1) if not self.causal or j <= i]
            total = sum(exp(scores[i, j]) for j in seen)
            for j in seen:
                pattern[i, j] = exp(scores[i, j]) / total
        return pattern * self.x * v

    def sublayer(self, heads):
        total = matrix(self.n + 1, self.width)
        for q, v in heads:
            total += self.head(q, v)
        self.x += total


def silu_head(s, k, omega):
    q, v = s.empty(), s.empty()
    for i in s.tokens:
        q[k, s.p(i)] = -1
        q[s.p(i), s.p(i)] = 2 * omega
        q[s.p(i), s.p(s.bias)] = 2 * omega
    q[s.p(s.bias), s.p(s.bias)] = 2 * omega
    v[k, k] = -1
    return q, v


def linear_head(s, w, read, write, b, clear, omega):
    """w (or None) from columns read, ... to write, ...; b on the token position rows."""
    q, v = s.empty(), s.empty()
    for i in s.tokens + [s.bias]:
        q[s.p(i), s.p(i)] = 2 * omega
    for c in range(w.rows if w is not None else 0):
        for e in range(w.cols):
            v[read + c, write + e] = w[c, e]
        if clear:
            v[read + c, read + c] = -1
    for i in s.tokens:
        for e in range(b.cols):
            v[s.p(i), write + e] += b[0, e]
    return q, v


def patched_head(s, qc, vc, omega):
    q, v = s.empty(), s.empty()
    for a in range(qc.rows):
        for b in range(qc.cols):
            q[a, b], v[a, b] = qc[a, b], vc[a, b]
    for i in s.tokens:
        q[s.p(i), s.p(s.bias)] = -2 * omega
    q[s.p(s.bias), s.p(s.bias)] = 2 * omega
    return q, v


def fused_head(s, w1, b1, w2, k, omega):
    q, v = s.empty(), s.empty()
    for i in s.tokens:
        for c in range(w1.rows):
            q[c, s.p(i)] = w1[c, k]
        for j in s.tokens:
            q[s.p(j), s.p(i)] += b1[0, k]
        q[s.p(i), s.p(i)] += 2 * omega
        q[s.p(i), s.p(s.bias)] = 2 * omega
        for e in range(w2.cols):
            v[s.p(i), e] += b1[0, k] * w2[k, e]
    q[s.p(s.bias), s.p(s.bias)] = 2 * omega
    for c in range(w1.rows):
        for e in range(w2.cols):
            v[c, e] = w1[c, k] * w2[k, e]
    return q, v


def attention(s, layer, heads, omega):
    pairs = []
    d = s.content
    for h in range(heads):
        w_q, w_k, w_v = (draw(f"{layer}.{name}")[h * d:(h + 1) * d, :]
                         for name in ("W_Q", "W_K", "W_V"))
        w_o = draw(f"{layer}.W_O")[h, :]
        pairs.append(patched_head(s, w_q * w_k.T, w_v * w_o, omega))
    s.sublayer(pairs)


def ffn(layer):
    return (draw(f"{layer}.{name}") for name in ("W1", "b1", "W2", "b2"))


def show(title, s, digits=40):
    print(title)
    for i in range(s.n + 1):
        for c in range(s.content):
            print(f"  row {i} column {c}  {nstr(s.x[i, c], digits)}")


def silu_of_two():
    """SiLU of X = (1, -1) at Omega = 1000: r(T') - SiLU(x)."""
    s = Stream([[1], [-1]], [0], causal=False)
    s.sublayer([silu_head(s, 0, mpf(1000))])
    for i, x in enumerate((mpf(1), mpf(-1))):
        print(f"silu of two, row {i}: r(T') - r(T) = {nstr(s.x[i, 0] - x / (1 + exp(-x)), 40)}")
    print(f"silu of two, bias row: {nstr(s.x[2, 0], 40)}")


def ffn3(omega):
    """One layer, three sublayers: linear, SiLU heads, linear with clear."""
    w1, b1, w2, b2 = ffn(0)
    d, hidden = w1.rows, w1.cols
    tokens = [row + [0] * hidden for row in draw("X").tolist()]
    s = Stream(tokens, [0] * (d + hidden), causal=False)
    s.sublayer([linear_head(s, w1, 0, d, b1, False, omega)])
    s.sublayer([silu_head(s, d + k, omega) for k in range(hidden)])
    s.sublayer([linear_head(s, w2, d, 0, b2, True, omega)])
    show(f"ffn3, Omega = {nstr(omega)}", s)


def transformer(omega, causal):
    """Two layers, fused form, with content in the bias row."""
    s = Stream(draw("X").tolist(), draw("bias_row").tolist()[0], causal)
    for layer in range(2):
        attention(s, layer, 2, omega)
        w1, b1, w2, b2 = ffn(layer)
        heads = [fused_head(s, w1, b1, w2, k, omega) for k in range(w1.cols)]
        s.sublayer(heads + [linear_head(s, None, 0, 0, b2, False, omega)])
    show(f"transformer, {'causal' if causal else 'no mask'}, Omega = {nstr(omega)}", s)


if __name__ == "__main__":
    silu_of_two()
    ffn3(mpf(3))
    transformer(mpf(3), causal=True)
    transformer(mpf(3), causal=False)
