"""The attention-only models, literally from docs/mathematics.md, section 1, in mpmath.

Every head is two full matrices Q and V, every sublayer X + sum of softmax_rows(X Q X^T) X V: what
other oracles build T' of.
"""

from mpmath import exp, matrix, mpf


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
