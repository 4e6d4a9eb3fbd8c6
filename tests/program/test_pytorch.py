"""From a model of PyTorch's to the attention-only module with its logits.

Every model here is a small network of torch's own parts, drawn, under the names and with the sides
of the libraries that people have theirs from; expected logits are torch's.
"""

import json
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import PROGRAM, ROOT

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

sys.path.append(str(ROOT / "python"))
import headproof  # noqa: E402

VOCABULARY, CONTEXT, WIDTH, HEADS, HIDDEN = 7, 5, 8, 2, 12
torch.set_num_threads(1)
torch.manual_seed(1)
TOKENS = torch.randint(0, VOCABULARY, (4, CONTEXT))


class Conv1D(nn.Module):
    """Hugging Face's: x W + b, the matrix [in, out]."""

    def __init__(self, out, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, out) * 0.4)
        self.bias = nn.Parameter(torch.randn(out) * 0.1)

    def forward(self, x):
        return x @ self.weight + self.bias


def linear(conv, read, write):
    return Conv1D(write, read) if conv else nn.Linear(read, write)


class Attention(nn.Module):
    """Causal, of heads side by side in one matrix."""

    def __init__(self, conv):
        super().__init__()
        self.c_attn = linear(conv, WIDTH, 3 * WIDTH)
        self.c_proj = linear(conv, WIDTH, WIDTH)
        self.register_buffer("bias", torch.ones(CONTEXT, CONTEXT).tril()[None, None])

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in self.c_attn(x).split(WIDTH, -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH / HEADS)
        hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        mixed = scores.masked_fill(hidden, -math.inf).softmax(-1) @ v
        return self.c_proj(mixed.transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self, conv, gate):
        super().__init__()
        self.c_fc = linear(conv, WIDTH, HIDDEN)
        self.act = gate
        self.c_proj = linear(conv, HIDDEN, WIDTH)

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, conv, gate, norms):
        super().__init__()
        if norms:
            self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        else:
            self.ln_1 = self.ln_2 = nn.Identity()
        self.attn, self.mlp = Attention(conv), Network(conv, gate)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """nanoGPT's: logits and a loss; of Hugging Face's sides with conv."""

    def __init__(self, gate=None, norms=True, conv=False, last=False):
        super().__init__()
        self.last = last
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(VOCABULARY, WIDTH), "wpe": nn.Embedding(CONTEXT, WIDTH),
            "h": nn.ModuleList(Block(conv, gate or nn.GELU(), norms) for _ in range(2)),
            "ln_f": nn.LayerNorm(WIDTH) if norms else nn.Identity()})
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        for name, parameter in self.named_parameters():
            if "ln" in name:
                nn.init.normal_(parameter, 1.0 if name.endswith("weight") else 0.0, 0.2)

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.shape[-1]))
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        return (logits[:, -1:] if self.last else logits), None


# ---- From a file to the module -------------------------------------------------------------------


GELU, RELU = {"gelu": "8"}, {"slope": "1e5"}
SAID = {"activation": "gelu", "normalization": "layernorm", "normalization_place": "pre",
        "eps": 1e-5, "scale": "1/sqrt(d_head)", "mask": "causal", "blocks": "sequential"}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADPROOF", PROGRAM)


@pytest.fixture
def walk(run):
    """The verdict on a saved model, and the converted module whose logits are the model's."""
    def walked(path, model, gates={}):
        table = headproof.verify(path, omega=30, tolerance=1e-3, penalty="negative",
                                 tokens="/".join(map(str, TOKENS[0].tolist())), **gates)
        assert table.passed
        omega = ("--omega", "40") if gates else ()  # of gates the proof takes seconds
        done = run("convert", path, "-o", "rewritten.safetensors", "-q", *omega,
                   *(f"--{name}={value}" for name, value in gates.items()), cwd=None)
        assert done.code == 0, done.stderr
        module = headproof.load_converted("rewritten.safetensors", torch=True)
        with torch.no_grad():
            expected = model.double().eval()(TOKENS)[0]
            given = module(TOKENS)[:, -expected.shape[1]:]
        assert (given - expected).abs().max().item() < (1e-3 if gates else 1e-6)
        again = pickle.loads(pickle.dumps(module))
        assert torch.equal(again(TOKENS), module(TOKENS))
        assert torch.equal(module(TOKENS[1]), module(TOKENS)[1])
        refused(lambda: module(torch.zeros(CONTEXT + 1, dtype=torch.long)),
                f"{CONTEXT + 1} tokens: expected 1 to {CONTEXT}")
    return walked


def refused(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


@pytest.mark.parametrize("gate, norms, last, gates", [
    (nn.SiLU(), False, False, {}), (nn.SiLU(), True, True, {}), (nn.GELU(), True, False, GELU),
    (nn.GELU(), False, False, GELU), (nn.ReLU(), True, False, RELU)])
def test_a_module_in_memory(walk, gate, norms, last, gates):
    model = GPT(gate, norms, last=last)
    model.train()
    model.transformer.h[0].eval()  # as what is frozen: each part has a mode of its own
    modes = [part.training for part in model.modules()]
    said = headproof.save(model, "module.safetensors", inputs=TOKENS, heads=HEADS)
    assert "normalization" not in said
    assert [part.training for part in model.modules()] == modes
    walk("module.safetensors", model, gates)


def test_a_nanogpt_checkpoint(walk, tmp_path):
    """Its answers tell which side of its square matrices is read; without them it is asked."""
    model, path = GPT(nn.SiLU()), "nano.safetensors"
    state = {f"_orig_mod.{name}": value for name, value in model.state_dict().items()}
    torch.save({"model": state, "model_args": {"n_head": HEADS, "n_layer": 2}}, "ckpt.pth")
    refused(lambda: headproof.save("ckpt.pth", path), "lm_head.weight': differs from wte.weight")
    with torch.no_grad():
        witness = (TOKENS, model(TOKENS)[0])
    wrong = (TOKENS, witness[1] + 1)
    refused(lambda: headproof.save("ckpt.pth", path, witness=wrong), "witness.logits")
    torch.save(model, "whole.pth")
    refused(lambda: headproof.save("whole.pth", path), 'headproof.save(checkpoint["model"]')
    (tmp_path / "pointer.pth").write_text("version https://git-lfs.github.com/spec/v1\n")
    refused(lambda: headproof.save("pointer.pth", path), "a Git LFS pointer")
    assert not (tmp_path / path).exists()
    headproof.save("ckpt.pth", path, witness=witness)
    walk(path, model)


def test_a_folder_of_hugging_face(walk, tmp_path):
    model = GPT(nn.GELU("tanh"), conv=True)
    (tmp_path / "folder").mkdir()
    torch.save(model.state_dict(), "folder/pytorch_model.bin")
    (tmp_path / "folder/config.json").write_text(json.dumps(
        {"model_type": "gpt2", "activation_function": "gelu_new", "n_head": HEADS,
         "layer_norm_epsilon": 1e-5, "n_layer": 2, "tie_word_embeddings": False}))
    headproof.save("folder", "hf.safetensors")
    walk("hf.safetensors", model, GELU)


def test_a_command_line(walk, tmp_path, monkeypatch):
    model = GPT(nn.SiLU(), norms=False)
    torch.save(model.state_dict(), "plain.pth")
    (tmp_path / "config.json").write_text(json.dumps({"n_head": HEADS}))
    with torch.no_grad():
        np.savez("witness.npz", tokens=TOKENS.numpy(), logits=model(TOKENS)[0].numpy())
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    words = [sys.executable, "-m", "headproof", "save", "plain.pth", "--config", "config.json",
             "-o", "line.safetensors"]
    asked, done = (subprocess.run([*words, *more], capture_output=True, encoding="utf-8")
                   for more in ([], ["--witness", "witness.npz"]))
    assert asked.returncode == 2 and "lm_head.weight" in asked.stderr
    assert done.returncode == 0 and "n_head 2" in done.stdout, done.stderr
    walk("line.safetensors", model)


def test_a_transformer_lens_state(walk):
    """The same numbers under TransformerLens' names, which say everything of heads and sides."""
    model = GPT(nn.ReLU(), norms=False)
    state, own = model.state_dict(), {}
    own["embed.W_E"] = state["transformer.wte.weight"]
    own["pos_embed.W_pos"] = state["transformer.wpe.weight"]
    own["unembed.W_U"] = state["lm_head.weight"].T
    for layer in range(2):
        theirs, ours = f"transformer.h.{layer}.", f"blocks.{layer}."
        packed = state[theirs + "attn.c_attn.weight"].T.reshape(WIDTH, 3, HEADS, -1)
        biases = state[theirs + "attn.c_attn.bias"].reshape(3, HEADS, -1)
        for i, part in enumerate("QKV"):
            own[f"{ours}attn.W_{part}"] = packed[:, i].transpose(0, 1)
            own[f"{ours}attn.b_{part}"] = biases[i]
        own[ours + "attn.W_O"] = state[theirs + "attn.c_proj.weight"].T.reshape(HEADS, -1, WIDTH)
        own[ours + "attn.b_O"] = state[theirs + "attn.c_proj.bias"]
        own[ours + "mlp.W_in"] = state[theirs + "mlp.c_fc.weight"].T
        own[ours + "mlp.b_in"] = state[theirs + "mlp.c_fc.bias"]
        own[ours + "mlp.W_out"] = state[theirs + "mlp.c_proj.weight"].T
        own[ours + "mlp.b_out"] = state[theirs + "mlp.c_proj.bias"]
    said = dict(SAID, normalization="none", activation="relu", normalization_place=None, eps=None)
    headproof.save(own, "lens.safetensors", **said)
    walk("lens.safetensors", model, RELU)
