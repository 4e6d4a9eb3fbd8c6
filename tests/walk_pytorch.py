#!/usr/bin/env python3
"""From a model of PyTorch's to the attention-only module with its logits: exit 1 with what is
wrong.

    HEADPROOF=build/release/headproof PYTHONPATH=python python3 tests/walk_pytorch.py SCRATCH

Every model here is a small network of torch's own parts, drawn, under the names and with the sides
of the libraries that people have theirs from; expected logits are torch's.
"""

import json
import math
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import headproof  # noqa: E402
from asked_program import SCRATCH, check, run  # noqa: E402

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


def path_of(name):
    return os.path.join(SCRATCH, name)


def walk(path, model, gates=()):
    """The verdict, and the converted module whose logits are the model's."""
    table = headproof.verify(path, omega=30, tolerance=1e-3, penalty="negative",
                             tokens="/".join(map(str, TOKENS[0].tolist())), **dict(gates))
    check(table.passed, f"{path}: the verdict")
    rewritten = path_of("rewritten.safetensors")
    omega = ["--omega", "40"] if gates else []  # of gates the proof takes seconds
    done = run("convert", path, "-o", rewritten, "-q", *omega, *(f"--{k}={v}" for k, v in gates))
    check(done.returncode == 0, done.stderr)
    module = headproof.load_converted(rewritten, torch=True)
    with torch.no_grad():
        expected = model.double().eval()(TOKENS)[0]
        given = module(TOKENS)[:, -expected.shape[1]:]
    error = (given - expected).abs().max().item()
    check(error < (1e-3 if gates else 1e-6), f"{path}: logits are {error} off")
    again = pickle.loads(pickle.dumps(module))
    check(torch.equal(again(TOKENS), module(TOKENS)), f"{path}: pickled")
    check(torch.equal(module(TOKENS[1]), module(TOKENS)[1]), f"{path}: a batch")
    try:
        module(torch.zeros(CONTEXT + 1, dtype=torch.long))
        check(False, f"{path}: too many tokens")
    except ValueError as error_said:
        check(f"{CONTEXT + 1} tokens: expected 1 to {CONTEXT}" in str(error_said), str(error_said))


def refused(call, says):
    try:
        call()
    except ValueError as error:
        check(says in str(error), f"'{error}' does not say '{says}'")
    else:
        check(False, f"nothing was refused: {says}")


GELU, RELU = (("gelu", "8"),), (("slope", "1e5"),)
SAID = {"activation": "gelu", "normalization": "layernorm", "normalization_place": "pre",
        "eps": 1e-5, "scale": "1/sqrt(d_head)", "mask": "causal", "blocks": "sequential"}


def a_module_in_memory():
    path = path_of("module.safetensors")
    for gate, norms, gates in ((nn.SiLU(), False, ()), (nn.GELU(), True, GELU),
                               (nn.GELU(), False, GELU), (nn.ReLU(), True, RELU)):
        model = GPT(gate, norms)
        model.train()
        model.transformer.h[0].eval()  # as what is frozen: each part has a mode of its own
        modes = [part.training for part in model.modules()]
        said = headproof.save(model, path, inputs=TOKENS, heads=HEADS)
        check("normalization" not in said, f"{said}")
        check([part.training for part in model.modules()] == modes, "the parts' modes")
        walk(path, model, gates)
    model = GPT(nn.SiLU(), last=True)
    headproof.save(model, path, inputs=TOKENS, heads=HEADS)
    walk(path, model)


def a_nanogpt_checkpoint():
    """Its answers tell which side of its square matrices is read; without them it is asked."""
    model = GPT(nn.SiLU())
    checkpoint, path = path_of("ckpt.pth"), path_of("nano.safetensors")
    state = {f"_orig_mod.{name}": value for name, value in model.state_dict().items()}
    torch.save({"model": state, "model_args": {"n_head": HEADS, "n_layer": 2}}, checkpoint)
    refused(lambda: headproof.save(checkpoint, path), "lm_head.weight': differs from wte.weight")
    with torch.no_grad():
        witness = (TOKENS, model(TOKENS)[0])
    headproof.save(checkpoint, path, witness=witness)
    walk(path, model)
    wrong = (TOKENS, witness[1] + 1)
    refused(lambda: headproof.save(checkpoint, path_of("none"), witness=wrong), "witness.logits")
    check(not os.path.exists(path_of("none")), "nothing is written that is refused")
    torch.save(model, path_of("whole.pth"))
    refused(lambda: headproof.save(path_of("whole.pth"), path), 'headproof.save(checkpoint["model"]')
    with open(path_of("pointer.pth"), "w", encoding="utf-8") as file:
        file.write("version https://git-lfs.github.com/spec/v1\n")
    refused(lambda: headproof.save(path_of("pointer.pth"), path), "a Git LFS pointer")


def a_folder_of_hugging_face():
    model = GPT(nn.GELU("tanh"), conv=True)
    folder, path = path_of("folder"), path_of("hf.safetensors")
    os.makedirs(folder, exist_ok=True)
    torch.save(model.state_dict(), os.path.join(folder, "pytorch_model.bin"))
    config = {"model_type": "gpt2", "activation_function": "gelu_new", "n_head": HEADS,
              "layer_norm_epsilon": 1e-5, "n_layer": 2, "tie_word_embeddings": False}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    headproof.save(folder, path)
    walk(path, model, GELU)


def a_command_line():
    model = GPT(nn.SiLU(), norms=False)
    file, config, path = path_of("plain.pth"), path_of("config.json"), path_of("line.safetensors")
    torch.save(model.state_dict(), file)
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"n_head": HEADS}, out)
    with torch.no_grad():
        np.savez(path_of("witness.npz"), tokens=TOKENS.numpy(), logits=model(TOKENS)[0].numpy())
    words = [sys.executable, "-m", "headproof", "save", file, "--config", config, "-o", path]
    asked = subprocess.run(words, capture_output=True, check=False, encoding="utf-8")
    check(asked.returncode == 2 and "lm_head.weight" in asked.stderr, asked.stderr)
    done = subprocess.run(words + ["--witness", path_of("witness.npz")], capture_output=True,
                          check=False, encoding="utf-8")
    check(done.returncode == 0 and "n_head 2" in done.stdout, done.stderr)
    walk(path, model)


def a_transformer_lens_state():
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
    path = path_of("lens.safetensors")
    said = dict(SAID, normalization="none", activation="relu", normalization_place=None, eps=None)
    headproof.save(own, path, **said)
    walk(path, model, RELU)


for part in (a_module_in_memory, a_nanogpt_checkpoint, a_folder_of_hugging_face, a_command_line,
             a_transformer_lens_state):
    begun = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - begun:.1f} s")
print("all is well")
