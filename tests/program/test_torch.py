"""PyTorch's own numbers: m(T) and m(T') in its float and bfloat16.

An exported model is evaluated with torch's operations on a CPU, one after the other, as a framework
runs it: T as it is written, T' as heads.  What an order of accumulation may change is an interval,
that of oracle_arithmetic.py; every entry of torch's has to lie in it, as has every one of the
machine's that the file holds, and the two differ by a few last bits of the largest at most.  So the
roundings of docs/findings.md are those of a framework.  Twice: with oneDNN, and without it, as on a
processor that it has no 16-bit products for.

Every product's second matrix is turned in memory, as a framework's `linear` has its weights.  Old
versions (1.13) sum any other 16-bit product in 16 bits, rounding after each term, where oneDNN does
not take it: on a processor without AVX-512 all of them, else those below about 16^3 multiplications.
Single columns they sum so in either case: here these are multiplied side by side.  Their silu rounds
within, e^-x and 1 + e^-x, where later ones evaluate in float: here it does too.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from oracle_arithmetic import Model  # noqa: E402
from torch.nn import functional  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


class Framework:
    """A model of oracle_arithmetic.py, whose layers torch evaluates."""

    def __init__(self, model, dtype):
        self.model, self.dtype = model, dtype
        self.stream = self.tensor(model.stream.low)
        self.sees = torch.tensor(model.sees)
        self.tokens = self.tensor(model.is_token().low)

    def tensor(self, numbers):
        return torch.tensor(np.asarray(numbers, dtype=np.float64)).to(self.dtype)

    def weight(self, layer, name):
        numbers = self.model.has(layer, name)
        return None if numbers is None else self.tensor(numbers)

    def position(self, coefficients):
        return self.tensor(self.model.position(coefficients).low)

    def softmax(self, scores):
        return functional.softmax(scores.masked_fill(~self.sees, -np.inf), dim=-1)

    @staticmethod
    def silu(x):
        return functional.silu(x.to(torch.float32)).to(x.dtype)

    @staticmethod
    def product(x, w):
        return functional.linear(x, w.T.contiguous())

    def linear(self, x, w, b):
        """On token rows: what a bias row holds is no token's."""
        if b is None:
            return self.product(x, w)
        return torch.addmm(self.tokens * b, x, w.T.contiguous().T)

    def pattern_of_gates(self, gates, coefficients):
        """[heads, rows, rows] of gates [rows, heads]."""
        scores = gates.T[:, :, None] * self.tokens.T
        return self.softmax(scores + self.position(coefficients))

    def own_columns(self, patterns, values):
        """[rows, heads]: head k's pattern times column k; a product of all columns each."""
        mixed = self.product(patterns.flatten(0, 1), values)
        return torch.diagonal(mixed.reshape(*patterns.shape[:2], -1), dim1=0, dim2=2)

    def self_attending(self):
        nothing = torch.zeros((self.model.rows, 1), dtype=self.dtype)
        return self.pattern_of_gates(nothing, (2, 0, 0, 2, 0))[0]

    def normed(self, layer, name):
        """Evaluated in float and rounded once: versions before 2.0 rounded mean and factor too."""
        x, gamma, beta = (t.float() for t in (self.stream, self.weight(layer, name + ".w"),
                                              self.weight(layer, name + ".b")))
        eps, tokens = float(self.model.said["eps"]), self.tokens.bool()
        ends = [functional.layer_norm(x, gamma.shape, gamma, shift, eps) for shift in (beta, None)]
        return torch.where(tokens, *ends).to(self.dtype)

    # ---- Sublayers: what is added to the stream, or takes its place ------------------------------

    def attention(self, layer):
        q, k, v, o = (self.weight(layer, "attn." + name) for name in ("W_Q", "W_K", "W_V", "W_O"))
        biases = [self.weight(layer, "attn." + name) for name in ("b_Q", "b_K", "b_V")]
        scale = 1 / np.sqrt(q.shape[2]) if self.model.scaled else 1
        x, mixed = self.normed(layer, "ln1") if self.model.pre else self.stream, []
        for h in range(q.shape[0]):
            left, right, inner = (self.linear(x, w[h], None if b is None else b[h])
                                  for w, b in zip((q, k, v), biases))
            scores = self.product(left, right.T) * scale + self.position((0, 0, -2, 2, 0))
            mixed.append(self.product(self.softmax(scores), inner))
        self.stream = self.stream + self.linear(torch.cat(mixed, dim=1), o.reshape(-1, o.shape[2]),
                                                self.weight(layer, "attn.b_O"))

    def network(self, layer):
        w1, w2, b1, b2 = (self.weight(layer, "mlp." + name) for name in
                          ("W_in", "W_out", "b_in", "b_out"))
        inner = self.linear(self.stream, w1, b1)
        if self.model.converted:
            patterns = self.pattern_of_gates(inner, (2, 0, 2, 2, 0))
            mixed = self.own_columns(patterns, inner)
        else:
            mixed = self.silu(inner)
        self.stream = self.stream + self.linear(mixed, w2, b2)

    def activation(self):
        x = self.stream
        if not self.model.converted:
            self.stream = self.silu(x)
            return
        patterns = self.pattern_of_gates(-x, (2, 0, 2, 2, 0))
        self.stream = x + self.own_columns(patterns, -x)

    def map(self, layer):
        """W - I as one product, of the pattern beside its negative."""
        x, w, b = self.stream, self.weight(layer, "linear.W"), self.weight(layer, "linear.b")
        if not self.model.converted:
            self.stream = self.linear(x, w, b)
            return
        pattern = self.self_attending()
        parts = torch.cat((self.product(x, w), x))
        self.stream = x + self.linear(torch.cat((pattern, -pattern), dim=1), parts, b)

    def run_layer(self, layer):
        name = self.model.construction
        if name in ("attention", "transformer"):
            self.attention(layer)
        if name in ("fused", "transformer"):
            self.network(layer)
        if name == "silu":
            self.activation()
        if name == "linear":
            self.map(layer)

    def compare(self, layer, name):
        view = self.model.stream[self.model.tokens]
        got = self.stream[self.model.tokens].to(torch.float64).numpy()
        machine = self.model.tensors[f"result.{layer}.{name}"].astype(np.float64)
        outside = np.sum(~((got >= view.low) & (got <= view.high)))
        apart = np.abs(got - machine).max() / np.abs(machine).max() / torch.finfo(self.dtype).eps
        print(f"torch's {name} layer {layer + 1}: {outside} of {got.size} outside, "
              f"{100 * np.mean(got == machine):.0f} % the machine's to the last bit")
        return outside == 0 and apart < 4


# Products large enough that an old version sums them in float.
LARGER = [
    "--construction silu --n 20 --d 24 --omega 9",
    "--construction linear --n 20 --d 24 --mask causal --omega 12 --bias random",
    "--construction attention --n 24 --d 32 --d-head 20 --scale 1/sqrt(d_head) --omega 11",
    "--construction attention --n 20 --d 35 --d-head 20 --omega 11 --normalization layernorm",
    "--construction fused --n 18 --d 20 --d-ff 40 --bias random --omega 13",
    "--construction transformer --n 20 --d 20 --d-ff 24 --d-head 16 --heads 1 --bias random "
    "--mask causal --omega 12"]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.mark.parametrize("arithmetic", DTYPES)
@pytest.mark.parametrize("line", LARGER)
def test_a_framework_says_the_same(expect, tmp_path, line, arithmetic):
    expect(0, f"export {line} --arithmetic {arithmetic} --kernel structured --precision 128 -q "
              "-o m")
    for enabled in (True, False):
        for converted, name in ((False, "m_T"), (True, "m_Tprime")):
            with torch.backends.mkldnn.flags(enabled=enabled), np.errstate(all="ignore"):
                model = Model(tmp_path / "m", arithmetic, False)
                model.start(converted)
                framework, layer = Framework(model, DTYPES[arithmetic]), 0
                while f"result.{layer}.{name}" in model.tensors:
                    model.run_layer(layer)
                    framework.run_layer(layer)
                    assert model.compare(layer, name) and framework.compare(layer, name)
                    layer += 1
                assert layer > 0
