"""No input beats what `guarantee` proves: dense T and T' of small models, by the definitions of
docs/mathematics.md alone, of inputs that climb toward the worst within the ball.

A row of the stream is content, hidden columns and a one-hot position; the bias row comes first.
Inputs are evaluated many at a time.  HEADPROOF_NIGHTLY=1 attacks more models."""

import csv
import io
import os

import numpy as np
import pytest

import safetensors_file

MODELS = 400 if os.environ.get("HEADPROOF_NIGHTLY") == "1" else 8
INPUTS, STEPS = 16, 24
PAIRS = {1: [(1, 1)], 2: [(1, 4 / 3), (2, -1 / 3)], 3: [(1, 64 / 45), (2, -20 / 45), (4, 1 / 45)]}
NORMS = {"layernorm": ("w", "b"), "rmsnorm": ("w",)}
GELU = {"1": [(1.7729, 0, 1)],
        "2": [(2.211650960743, 1.3099057684290702, 0.5), (2.211650960743, -1.3099057684290702, 0.5)]}


def sigma(x):
    return 0.5 + 0.5 * np.tanh(x / 2)


def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Model:
    """A random model, its file and the flags that go with it."""

    def __init__(self, r, **fixed):
        self.r = r
        pick = lambda name, *words: fixed.get(name, words[r.integers(len(words))])
        self.n, self.d = pick("n", 1, 2, 3, 5), pick("d", 2, 3, 4)
        self.depth, self.heads = pick("depth", 1, 1, 2, 3), pick("heads", 1, 1, 2)
        self.d_head, self.hidden = pick("d_head", 2, 4), pick("hidden", 1, 2, 5)
        self.causal, self.biased = pick("causal", True, False), pick("biased", True, True, False)
        self.norm = pick("norm", "none", "rmsnorm", "layernorm")
        self.rotary = pick("rotary", None, "half", "interleaved")
        self.width = pick("width", 2, self.d_head)
        self.gated = pick("gated", True, False)
        self.parallel = self.norm != "none" and not self.gated and pick("parallel", True, False)
        self.activation = pick("activation", "silu", "silu", "relu", "gelu",
                               *["sigmoid", "none"] * self.gated)
        self.reads_out = self.gated and self.activation != "sigmoid"
        self.pairs, self.tau = pick("pairs", 1, 2, 3), 2.0 ** -pick("tau", 1, 2, 4, 7)
        self.gelu, self.eps = pick("gelu", "1", "2"), pick("eps", 1e-5, 0.1)
        self.bias_row_too = pick("bias_row_too", True, True, False)
        self.radius, size = pick("radius", 0.5, 1.5), pick("size", 0.3, 0.7)
        self.tables = pick("tables", "exact")
        self.layers = [self.layer(size) for _ in range(self.depth)]
        self.terms = {"relu": [(2, 0, 1)], "gelu": GELU[self.gelu]}.get(self.activation,
                                                                        [(1, 0, 1)])

    def layer(self, size):
        d, e, h = self.d, self.d_head, self.hidden
        draw = lambda *shape: self.r.normal(size=shape) * size
        bias = lambda *shape: draw(*shape) * (2 if self.biased else 0)
        tensors = {"attn.W_Q": draw(self.heads, d, e), "attn.W_K": draw(self.heads, d, e),
                   "attn.W_V": draw(self.heads, d, e), "attn.W_O": draw(self.heads, e, d),
                   "attn.b_Q": bias(self.heads, e), "attn.b_K": bias(self.heads, e),
                   "attn.b_V": bias(self.heads, e), "attn.b_O": bias(d), "mlp.W_in": draw(d, h),
                   "mlp.W_out": draw(h, d), "mlp.b_in": bias(h), "mlp.b_out": bias(d)}
        if self.gated:
            tensors.update({"mlp.W_gate": draw(d, h), "mlp.b_gate": bias(h)})
        for name in ("ln1", "ln2"):
            for part in NORMS.get(self.norm, ()):
                tensors[f"{name}.{part}"] = self.r.normal(part == "w", 0.4, d)
        return tensors

    def write(self, path):
        said = {"scale": "1/sqrt(d_head)", "mask": "causal" if self.causal else "none",
                "activation": self.activation, "normalization": self.norm,
                "blocks": "parallel" if self.parallel else "sequential"}
        if self.norm != "none":
            said.update({"eps": repr(self.eps), "normalization-place": "pre"})
        if self.rotary:
            said.update({"rotary-pairs": self.rotary, "rotary-dim": str(self.width),
                         "rope-theta": "9"})
        tensors = {f"blocks.{layer}.{name}": tensor for layer, tensors in enumerate(self.layers)
                   for name, tensor in tensors.items()}
        safetensors_file.write(path, tensors, said)

    def table(self, p):
        """cos and sin of pair p's angle in every position; float32: each operation rounded."""
        to = np.float32 if self.tables == "float32" else np.float64
        power = to(9.0 ** float(to(2 * p / self.width)))
        angle = np.array([to(to(1 / power) * to(i)) for i in range(self.n)]).astype(float)
        return tuple(f(angle).astype(to).astype(float) for f in (np.cos, np.sin))

    def only(self, layer, **tensors):
        """Zeros in the layer but for these, and no other head."""
        for name in self.layers[layer]:
            self.layers[layer][name] *= name.startswith("ln")
        for name, entries in tensors.items():
            tensor = self.layers[layer][name.replace("_", ".", 1)]
            for at, value in entries.items():
                tensor[at] = value

    def flags(self):
        flags = ["--n", self.n, "--input-norm", repr(self.radius)]
        if self.rotary and self.tables == "float32":
            flags += ["--rotary-tables", "float32"]
        if self.activation == "gelu":
            flags += ["--gelu", "minimax" if self.gelu == "1" else self.gelu]
        if self.activation == "relu":
            flags += ["--slope", "2"]
        if self.reads_out:
            flags += ["--readout", self.pairs, "--tau", repr(self.tau)]
        if self.norm != "none" and not self.causal and not self.bias_row_too:
            flags += ["--normalize-bias-row", "no"]
        return flags


class Rewrite:
    """T' at an Omega, or None: in the limit.  x [inputs, 1 + n, columns]."""

    def __init__(self, model, x, omega):
        self.m, self.omega, rows = model, omega, model.n + 1
        self.d, self.end = model.d, model.d + model.hidden
        self.x = np.zeros((len(x), rows, self.end + rows))
        self.x[:, 1:, :self.d] = x
        self.x[:, :, self.end:] = np.eye(rows)
        self.sees = np.tril(np.ones((rows, rows), bool)) if model.causal else True
        self.score = 0

    def on_tokens(self, w, bias):
        """W [columns, ...] of a matrix that reads content, and a bias that rides on tokens."""
        whole = np.zeros((self.x.shape[-1], w.shape[-1]))
        whole[:self.d] = w
        whole[self.end + 1:] = bias
        return whole

    def normed(self, layer, name):
        m, x = self.m, self.x.copy()
        if m.norm != "none":
            c = x[..., :self.d]
            c = c - c.mean(-1, keepdims=True) if m.norm == "layernorm" else c
            y = layer[name + ".w"] * c / np.sqrt((c ** 2).mean(-1, keepdims=True) + m.eps)
            y[:, 1:] += layer.get(name + ".b", 0)
            first = 0 if m.bias_row_too or m.causal else 1
            x[:, first:, :self.d] = y[:, first:]
        return x

    def pattern(self, scores, own, other, toward, back):
        """Coefficients of Omega: of a token toward itself, others, the bias row; of the bias row
        toward itself 0, toward tokens `back`."""
        rows = scores.shape[-1]
        position = np.full((rows, rows), float(other))
        np.fill_diagonal(position, own)
        position[1:, 0], position[0, 1:], position[0, 0] = toward, back, 0
        position = np.where(self.sees, position, -np.inf)
        if self.omega is None:
            return softmax(np.where(position == position.max(-1, keepdims=True), scores, -np.inf))
        return softmax(scores + self.omega * position)

    def turned(self, k):
        """Of each token by its position, the first one's being 0; not of the bias row."""
        m, k = self.m, k.copy()
        for p in range(m.width // 2 if m.rotary else 0):
            a, b = (2 * p, 2 * p + 1) if m.rotary == "interleaved" else (p, p + m.width // 2)
            c, s, old = *m.table(p), k[:, 1:].copy()
            k[:, 1:, a] = old[..., a] * c - old[..., b] * s
            k[:, 1:, b] = old[..., b] * c + old[..., a] * s
        return k

    def attention(self, layer, y):
        m, out = self.m, np.zeros_like(self.x)
        for h in range(m.heads):
            w = {s: self.on_tokens(layer["attn.W_" + s][h], layer["attn.b_" + s][h]) for s in "QKV"}
            q, k = self.turned(y @ w["Q"]), self.turned(y @ w["K"])
            scores = q @ k.swapaxes(1, 2) / np.sqrt(m.d_head)
            self.score = max(self.score, np.abs((scores * self.sees)[:, 1:, 1:]).max())
            v = y @ w["V"] @ layer["attn.W_O"][h]
            v[:, 1:] += layer["attn.b_O"] if h == 0 else 0
            out[..., :self.d] += self.pattern(scores, 0, 0, -2, -2) @ v
        return out

    def gates(self, layer, y, names, value_names):
        """Of every hidden unit what its heads put out, [inputs, rows, hidden]."""
        w, b = (layer["mlp." + name] for name in names)
        gate, v = y @ self.on_tokens(w, b), y @ self.on_tokens(*(layer["mlp." + name]
                                                                 for name in value_names))
        out = np.zeros_like(gate)
        for slope, shift, value in self.m.terms:
            for k in range(w.shape[1]):
                scores = np.zeros((len(y),) + (y.shape[1],) * 2)
                scores[..., 1:] = slope * gate[..., k:k + 1]
                scores[:, 1:, 1:] += shift
                out[..., k] += value * (self.pattern(scores, 0, -2, 0, -2) @ v[..., k:k + 1])[..., 0]
        return out

    def keeps(self, y, values):
        """A head that attends to itself."""
        scores = np.zeros((len(y),) + (y.shape[1],) * 2)
        return self.pattern(scores, 0, -2, -2, -2) @ values

    def network(self, layer, y):
        out, b = np.zeros_like(self.x), np.zeros(self.x.shape[1:])
        names = ("W_in", "b_in")
        gates = ("W_gate", "b_gate") if self.m.gated else names
        out[..., :self.d] = self.gates(layer, y, gates, names) @ layer["mlp.W_out"]
        b[1:, :self.d] = layer["mlp.b_out"]
        return out + self.keeps(y, b)

    def read_out(self, layer):
        """act(a) into hidden columns, then the score of a row with itself is tau times an output."""
        m, hidden, names = self.m, slice(self.d, self.end), ("W_gate", "b_gate")
        if m.activation != "none":
            y = self.normed(layer, "ln2")
            self.x = self.x.copy()
            self.x[..., hidden] += self.gates(layer, y, names, names)
        y = self.normed(layer, "ln2")
        h = y[..., hidden]
        if m.activation == "none":
            h = y @ self.on_tokens(layer["mlp.W_gate"], layer["mlp.b_gate"])
        k = y @ self.on_tokens(layer["mlp.W_in"], layer["mlp.b_in"])
        out, sign = np.zeros_like(self.x), np.where(np.arange(m.n + 1) > 0, 1.0, -1.0)
        back = np.zeros_like(self.x)
        for times, c in PAIRS[m.pairs]:
            tau, value = times * m.tau, 2 * c / (times * m.tau)
            for e in range(self.d):
                scores = tau * (h * layer["mlp.W_out"][:, e]) @ k.swapaxes(1, 2)
                out[..., e] += self.pattern(scores, 0, -2, 0, -2) @ (value * sign)
            back[:, 0, :self.d] += value
        back[:, 1:, :self.d] = layer["mlp.b_out"]
        back[..., hidden] = -self.x[..., hidden]
        self.x = self.x + out + self.keeps(y, back)

    def run(self, layer):
        m = self.m
        if m.reads_out:
            self.x = self.x + self.attention(layer, self.normed(layer, "ln1"))
            self.read_out(layer)
            return
        first = self.attention(layer, self.normed(layer, "ln1"))
        if not m.parallel:
            self.x = self.x + first
        second = self.network(layer, self.normed(layer, "ln2"))
        self.x = self.x + second + (first if m.parallel else 0)


class Original(Rewrite):
    """T, its activation being as heads imitate it: a limit whose network is not heads."""

    def __init__(self, model, x):
        super().__init__(model, x, None)

    def read_out(self, layer):
        y = self.normed(layer, "ln2")[:, 1:, :self.d]
        a, b = (y @ layer["mlp.W_" + w] + layer["mlp.b_" + w] for w in ("gate", "in"))
        act = a if self.m.activation == "none" else sum(
            v * a * sigma(g * a + h) for g, h, v in self.m.terms)
        self.x = self.x.copy()
        self.x[:, 1:, :self.d] += (act * b) @ layer["mlp.W_out"] + layer["mlp.b_out"]


def length(rows):
    return np.sqrt((rows ** 2).sum(-1))


def proven(run, path, model, omegas, *flags):
    """The table's rows by Omega and layer."""
    ended = run("guarantee", path, *model.flags(), *flags, "--omega",
                ",".join(map(repr, omegas)), "--format", "csv")
    assert ended.code == 0, ended.stderr
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert len(rows) == len(omegas) * model.depth
    return {omega: rows[i * model.depth:(i + 1) * model.depth] for i, omega in enumerate(omegas)}


def found(model, x, omega):
    """Of every layer, by the table's columns, the largest of each input."""
    near, far, true, cells = (Rewrite(model, x, omega), Rewrite(model, x, None),
                              Original(model, x), [])
    for layer in model.layers:
        far.score = 0
        near.run(layer)
        far.run(layer)
        e = (near.x - far.x)[:, 1:, :model.d]
        cells.append({"error": length(e).max(-1), "bias_row": length(near.x[:, 0, :model.d]),
                      "rows": length(far.x[:, 1:, :model.d]).max(-1),
                      "scores": np.full(len(x), far.score)})
        if model.reads_out:
            true.run(layer)
            cells[-1]["tau_error"] = length((true.x - far.x)[:, 1:, :model.d]).max(-1)
    return cells


def within(x, radius):
    return x * np.minimum(1, radius / np.maximum(length(x), 1e-300))[..., None]


class Attack:
    """Inputs of one model that climb toward a cell each; all are compared on the way."""

    def __init__(self, model, bounds):
        self.m, self.bounds, self.r = model, bounds, model.r
        self.compared, self.closest = 0, {}

    def ratios(self, x, omega):
        out = {}
        for l, (cells, row) in enumerate(zip(found(self.m, x, omega), self.bounds[omega])):
            for name, values in cells.items():
                bound = float(row[name] or 0)
                heard = 1e-13 * (float(row["rows"]) + 2 / self.m.tau)  # what doubles round
                ratio = np.maximum(0, values - heard) / bound if bound > 0 else values / 1e-300
                assert (ratio <= 1 + 1e-9).all(), (name, l, omega, ratio.max(), bound)
                out[l, name] = ratio
                self.compared += len(ratio)
                self.closest[name] = max(self.closest.get(name, 0), ratio.max())
        return out

    def climb(self, omega, targets, inputs=INPUTS, steps=STEPS):
        """targets: (layer, column), toward each of which so many inputs climb."""
        m = self.m
        x = within(self.r.normal(size=(len(targets) * inputs, m.n, m.d)), 1) * m.radius
        x[::inputs] = np.abs(x[::inputs])

        def ratio_of(x):
            ratios = self.ratios(x, omega)
            return np.concatenate([ratios[target][i * inputs:(i + 1) * inputs]
                                   for i, target in enumerate(targets)])
        best = ratio_of(x)
        for step in range(steps):
            size = m.radius * 0.8 * 0.9 ** step
            moved = self.r.normal(size=x.shape) * size * (self.r.random(x.shape[:2] + (1,)) < 0.6)
            tried = within((x + moved) * self.r.choice([1, 1, 4], (len(x), 1, 1)), m.radius)
            ratio = ratio_of(tried)
            better = ratio > best
            x[better], best[better] = tried[better], ratio[better]


def attack(run, tmp_path, model):
    path = tmp_path / "model.safetensors"
    model.write(path)
    omegas = [float(x) for x in np.round(model.r.uniform(2, 8, 2), 2)]
    one = Attack(model, proven(run, path, model, omegas))
    for omega in omegas:
        one.climb(omega, [(int(model.r.integers(model.depth)), name) for name in (
            "error", "error", "bias_row", *["tau_error"] * model.reads_out)])
    return one


# One term of a bound alone is large, of the model and the input at hand: which cell is then at least
# how much of its bound.

def turned_scores():
    """W_Q W_K^T is 0, W_Q R W_K^T is not: (G26)."""
    m = Model(np.random.default_rng(1), **PLAIN, n=2, d=2)
    m.only(0, attn_W_Q={(0, 0, 0): 1}, attn_W_K={(0, 0, 1): 1})
    return m, [[1, 0], [1, 0]], "scores", 0.84


def biases_of_turned_keys():
    """An error of b_out moves queries toward biases of keys, which tokens turn differently; entries
    that are not turned hold scores above what the bias row gets."""
    m = Model(np.random.default_rng(1), **{**PLAIN, "depth": 2, "d_head": 4}, n=4, d=3, width=2)
    m.only(0, mlp_b_out={1: 1e-5})
    m.only(1, attn_W_Q={(0, 1, 0): 1}, attn_b_K={(0, 0): 1000, (0, 2): 100},
           attn_b_Q={(0, 2): 20}, attn_W_V={(0, 0, 0): 1}, attn_W_O={(0, 0, 2): 1})
    return m, [[1, 0, 0], [1, 0, 0], [-1, 0, 0], [-1, 0, 0]], "error", 0.7


def tables_that_are_no_turns():
    """Where c^2 + s^2 is not 1, a row's score with itself falls below 0, which W_Q and W_K alone do
    not let it; the other rows' are far below."""
    fixed = {**PLAIN, "d_head": 4, "width": 4, "tables": "float32", "causal": True}
    m = Model(np.random.default_rng(1), **fixed, n=8, d=2)
    (c0, s0), (c1, s1) = m.table(0), m.table(1)
    apart = c0 ** 2 + s0 ** 2 - c1 ** 2 - s1 ** 2
    i = int(np.abs(apart).argmax())
    a, sign = 1e4, 1 if apart[i] < 0 else -1
    m.only(0, attn_W_Q={(0, 0, 0): a, (0, 0, 1): a}, attn_b_O={1: 1},
           attn_W_K={(0, 0, 0): sign * a, (0, 0, 1): -sign * a})
    x = np.zeros((m.n, 2))
    by = np.arange(i)
    toward = sign * (np.cos(i - by) - np.cos((i - by) / 3))
    x[i, 0], x[:i, 0] = 1, -np.sign(toward)
    return m, x, "error", 0.01


def what_tau_leaves(pairs):
    """y = x_0^2, off by A (tau y)^(2 K) y: (G31)."""
    def case():
        m = Model(np.random.default_rng(1), **{**READ, "tau": 4, "pairs": pairs}, n=1, d=1)
        m.only(0, mlp_W_gate={(0, 0): 1}, mlp_W_in={(0, 0): 1}, mlp_W_out={(0, 0): 1})
        return m, [[1]], "tau_error", 0.97
    return case


def other_tokens():
    """A token whose score with itself is -tau Y sees others that have tau Y: (G30)."""
    m = Model(np.random.default_rng(1), **{**READ, "tau": 0}, n=40, d=2)
    m.only(0, mlp_W_gate={(0, 0): 1}, mlp_W_in={(0, 0): 1}, mlp_W_out={(0, 1): 1})
    m.layers[0]["mlp.W_in"] *= -1
    x = np.full((m.n, 2), [-1, 0])
    x[-1, 0] = 1
    return m, x, "error", 0.45


def what_the_bias_row_gets_back():
    """A token alone: what gives the bias row back what it wrote leaks into every column."""
    m = Model(np.random.default_rng(1), **{**READ, "tau": 4}, n=1, d=3)
    m.only(0)
    return m, [[1, 0, 0]], "error", 0.99


def bias_rows_that_write():
    """They write their constants but for what tokens take, and get them back: (G32)."""
    m = Model(np.random.default_rng(1), **{**READ, "tau": 4, "causal": False}, n=5, d=2)
    m.only(0)
    return m, np.ones((5, 2)) / 2, "bias_row", 0.3


def gains(activation, slope, at):
    """An error of b_out in a row of nearly 0 behind a norm, times 1/sqrt(eps), moves gates."""
    def case():
        fixed = {**READ, "norm": "rmsnorm", "eps": 1e-5, "depth": 2, "tau": 4, "radius": 1000.0,
                 "activation": activation}
        m = Model(np.random.default_rng(1), **fixed, n=1, d=2)
        m.only(0, mlp_b_out={0: 1000})
        m.only(1, mlp_W_gate={(0, 0): 1}, mlp_b_gate={0: at}, mlp_b_in={0: 10},
               mlp_W_out={(0, 1): 0.1})
        for layer in m.layers:
            layer.update({"ln1.w": np.ones(2), "ln2.w": np.ones(2)})
        return m, [[-1000, 0]], "error", slope
    return case


PLAIN = {"d_head": 2, "heads": 1, "hidden": 1, "depth": 1, "norm": "none", "causal": False,
         "rotary": "half", "activation": "silu", "radius": 1.0, "gated": False}
READ = {**PLAIN, "rotary": None, "gated": True, "activation": "none", "pairs": 1, "causal": True}


@pytest.mark.parametrize("case", [
    turned_scores, biases_of_turned_keys, tables_that_are_no_turns, what_tau_leaves(1),
    what_tau_leaves(2), what_tau_leaves(3), other_tokens, what_the_bias_row_gets_back,
    bias_rows_that_write, gains("silu", 0.9, 2.4), gains("sigmoid", 0.9, 0), gains("none", 0.9, 0)])
def test_terms_are_needed(run, tmp_path, case):
    model, x, name, least = case()
    path = tmp_path / "model.safetensors"
    model.write(path)
    x = np.array([x], float)
    omega = 12.0 if model.norm != "none" else 3.0
    ratios = Attack(model, proven(run, path, model, [omega])).ratios(x, omega)
    assert ratios[model.depth - 1, name].max() >= least, ratios


def test_no_input_beats_a_bound(run, tmp_path):
    r = np.random.default_rng(48)
    compared, closest = 0, {}
    for _ in range(MODELS):
        one = attack(run, tmp_path, Model(r))
        compared += one.compared
        for name, ratio in one.closest.items():
            closest[name] = max(closest.get(name, 0), ratio)
    print(compared, closest)
    assert compared > MODELS * 4000
