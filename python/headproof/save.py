"""A model of PyTorch's as a file that headproof reads."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .files import Path, array_of, read_safetensors, write_safetensors
from .names import (FAMILIES, SidesUnknown, bare_names, family_of, of_user, renamed,
                    sides_of_module)
from .program import HeadproofError, call
from .said import CHOICES, check_said, field, needed, said_by

_TENSORS = re.compile(
    r"embed\.W_E|pos_embed\.W_pos|unembed\.(W_U|b_U)|ln_final\.[wb]|X|tokens|"
    r"witness\.(tokens|logits|resid)|"
    r"blocks\.\d+\.(attn\.([Wb]_[QKVO]|QK|OV)|mlp\.(W_in|b_in|W_out|b_out)|linear\.[Wb]|"
    r"ln[12]\.[wb])")
# Their shapes: a letter a size, D and C in all of a file the same, the others in a layer.
_SHAPES = {"embed.W_E": "vD", "pos_embed.W_pos": "nD", "unembed.W_U": "DC", "unembed.b_U": "C",
           "ln_final.w": "D", "ln_final.b": "D", "ln1.w": "D", "ln1.b": "D", "ln2.w": "D",
           "ln2.b": "D", "attn.W_Q": "hDd", "attn.W_K": "hDd", "attn.W_V": "hDd",
           "attn.W_O": "hdD", "attn.b_Q": "hd", "attn.b_K": "hd", "attn.b_V": "hd",
           "attn.b_O": "D", "attn.QK": "hDD", "attn.OV": "hDD", "mlp.W_in": "DH",
           "mlp.b_in": "H", "mlp.W_out": "HD", "mlp.b_out": "D"}
# What TransformerLens keeps beside weights, and rebuilds.
_BUFFERS = re.compile(r"blocks\.\d+\.attn\.(mask|IGNORE)")
# Activations that are tried where nobody says which, and a witness can tell.
_ACTIVATIONS = sorted(set(CHOICES["activation"]) - {"none"})


def _check_shapes(arrays: Mapping[str, np.ndarray]) -> None:
    """Sizes of one name are the same, and every number is finite."""
    sizes: Dict[str, int] = {}
    for name, array in arrays.items():
        match = re.fullmatch(r"(blocks\.\d+)\.(.*)", name)
        layer, rest = match.groups() if match else ("", name)
        letters = _SHAPES.get(rest)
        if letters is not None:
            keys = [letter if letter in "DC" else f"{layer}{letter}" for letter in letters]
            expected = [sizes.get(key, "any") for key in keys]
            if len(array.shape) != len(keys) or any(
                    size not in ("any", given) for size, given in zip(expected, array.shape)):
                raise ValueError(f"{name}: shape {list(array.shape)}: expected "
                                 f"[{', '.join(map(str, expected))}]")
            sizes.update(zip(keys, array.shape))
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers")



def _witness_arrays(tokens: Any, answers: Any) -> "tuple[np.ndarray, np.ndarray]":
    """Answers of bfloat16 stay what they are: the upper halves of float32's bits."""
    said = array_of("witness", answers)
    if str(getattr(answers, "dtype", "")) == "torch.bfloat16":
        said = (said.view("<u4") >> 16).astype("<u2")
    read = array_of("witness.tokens", tokens)
    if read.dtype.kind != "i" or read.ndim != 2 or said.ndim != 3 or len(said) != len(read):
        raise ValueError(f"witness: tokens {list(read.shape)} of type {read.dtype} and answers "
                         f"{list(said.shape)}: expected integers [windows, n] and numbers "
                         "[windows, n or 1, classes]")
    return read, said



# ---- Where weights come from ---------------------------------------------------------------------


def _load(path: str) -> "Tuple[Mapping[str, Any], Any]":
    """The tensors of a file of PyTorch or of safetensors, and the config beside or in it."""
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in ("pytorch_model.bin", "model.safetensors")]
        found = [name for name in files if os.path.exists(name)]
        if not found:
            raise ValueError(f"{path}: expected pytorch_model.bin or model.safetensors in it")
        config = os.path.join(path, "config.json")
        return _load(found[0])[0], _json(config) if os.path.exists(config) else None
    if path.endswith(".safetensors"):
        return read_safetensors(path)[0], None
    import torch  # only who has such a file needs it
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle's own errors are of many kinds
        raise ValueError(f"{path}: expected a state_dict of tensors alone, as torch.save writes it "
                         f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); "
                         "what holds more is loaded in Python, and the Module saved") from error
    if not isinstance(held, Mapping):
        raise ValueError(f"{path}: expected a state_dict, and it holds a {type(held).__name__}")
    for key in ("model", "state_dict", "model_state_dict"):
        if isinstance(held.get(key), Mapping):
            return held[key], field(held, "model_args", "config", "hyper_parameters")
    return held, None


def _json(path: Path) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _answers(module: Any, inputs: Any) -> "Tuple[Any, Any]":
    """The witness that a module is of itself: tokens and logits."""
    import torch
    tokens = torch.as_tensor(np.asarray(inputs.cpu() if hasattr(inputs, "cpu") else inputs))
    device = next((parameter.device for parameter in module.parameters()), tokens.device)
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            out = module(tokens.to(device))
    finally:
        module.train(training)
    logits = out.logits if hasattr(out, "logits") else out[0] if isinstance(out, tuple) else out
    return tokens, logits


def _activation_of(module: Any) -> Optional[str]:
    """Where one class of activations alone is in a module, what it computes."""
    found = set()
    for part in module.modules():
        name = type(part).__name__
        if name == "GELU":
            tanh = getattr(part, "approximate", "none") == "tanh"
            found.add("gelu_new" if tanh else "gelu")
        elif name in ("ReLU", "SiLU", "NewGELU", "NewGELUActivation"):
            found.add({"ReLU": "relu", "SiLU": "silu"}.get(name, "gelu_new"))
    return found.pop() if len(found) == 1 else None


# ---- Names, and what is said ---------------------------------------------------------------------


def _complete(names: List[str], said: Dict[str, str]) -> None:
    """Says what is missing, all of it."""
    if "pos_embed.W_pos" in names:
        said.setdefault("positions", "learned")
    missing = [f"{name} ({', '.join(CHOICES[name]) if name in CHOICES else 'a number above 0'})"
               for name in needed(names, said) if name not in said]
    if missing:
        raise ValueError(f"{missing[0].split(' ')[0]} is missing: expected " + "; ".join(missing))
    norms = [name for name in names if re.search(r"(ln[12]|ln_final)\.", name)]
    if said["normalization"] in ("none", "LNPre", "RMSPre") and norms:
        raise ValueError(f"{norms[0]}: expected no tensor of a norm, as normalization is "
                         f"{said['normalization']}")


def _write(path: Path, tensors: Mapping[str, Any], said: Dict[str, str], witness: Any) -> None:
    names = [name for name in tensors if not _BUFFERS.fullmatch(name)]
    for name in names:
        if not _TENSORS.fullmatch(name):
            raise ValueError(f"{name}: expected a tensor that a construction has (docs/models.md), "
                             f"a name of {', '.join(family.called for family in FAMILIES)}, or "
                             "names= with a table")
    _complete(names, said)
    arrays = {name: array_of(name, tensors[name]) for name in names}
    if not arrays:
        raise ValueError("expected weights: there is no tensor")
    _check_shapes(arrays)
    if witness is not None:
        answers = "witness.logits" if "unembed.W_U" in arrays else "witness.resid"
        arrays.update(zip(("witness.tokens", answers), _witness_arrays(*witness)))
    write_safetensors(path, arrays, said)


def _refusal(path: str, names: List[str], program: Optional[str]) -> str:
    """What the program says of a file whose witness it does not agree with; "": it agrees."""
    attention, network = (any(part in name for name in names) for part in (".attn.", ".mlp."))
    construction = "transformer" if attention and network else "attention" if attention else "fused"
    try:
        call(program, ["sweep", "--weights", path, "--construction", construction, "--n", "1",
                       "--omega", "20", "--reference", "none", "--kernel", "structured"])
    except HeadproofError as error:
        if error.code != 2:
            raise
        return str(error)
    return ""


class _Model:
    """Tensors, names and all that is said of a model; what is open is tried."""

    def __init__(self, source: Any, config: Any, names: Optional[Mapping[str, str]],
                 heads: Optional[int], sides: Optional[str]) -> None:
        self.module = source if hasattr(source, "state_dict") else None
        if self.module is not None:
            self.state = self.module.state_dict()
            config = config if config is not None else field(source, "config", "cfg")
        elif isinstance(source, Mapping):
            self.state = source
        else:
            self.state, own = _load(os.fspath(source))
            config = config if config is not None else own
        self.config = _json(config) if isinstance(config, (str, os.PathLike)) else config
        self.family = family_of(bare_names(self.state)) if names is None else None
        self.names = of_user(names) if names is not None else getattr(self.family, "names", None)
        self.heads = heads if heads is not None else self._field("n_head", "n_heads")
        self.is_gpt2 = self._field("model_type") == "gpt2"
        self.sides = sides if sides is not None or not self.is_gpt2 else "in-out"
        self.told = sides_of_module(self.module, self.state) if self.module is not None else {}

    def _field(self, *names: str) -> Any:
        return field(self.config, *names) if self.config is not None else None

    def tensors(self, sides: Optional[str]) -> Mapping[str, Any]:
        """Under TransformerLens' names."""
        if self.names is None:
            return self.state
        return renamed(self.state, self.names, self.heads, self.told, sides)

    def said(self) -> Dict[str, str]:
        """What config and module say."""
        said = said_by(self.config) if self.config is not None else {}
        own = _activation_of(self.module) if self.module is not None else None
        if own is not None:
            said.setdefault("activation", own)
        return said


def save(model: Any, path: Path, activation: Optional[str] = None,
         normalization: Optional[str] = None, scale: Optional[str] = None,
         mask: Optional[str] = None, config: Any = None, eps: Optional[float] = None,
         normalization_place: Optional[str] = None, positions: Optional[str] = None,
         blocks: Optional[str] = None, witness: Any = None, inputs: Any = None,
         names: Optional[Mapping[str, str]] = None, heads: Optional[int] = None,
         sides: Optional[str] = None, program: Optional[str] = None) -> Dict[str, str]:
    """Writes a model as `headproof verify` wants it, and returns what the file says of it.

    model: a torch.nn.Module, a state_dict (of torch or numpy), a file of torch.save (.pt, .pth,
    .bin, .ckpt), or a folder of Hugging Face's.  Names: TransformerLens', those of GPT-2 (Hugging
    Face, nanoGPT, minGPT), or any others with names={"their.{l}.name": "attn.W_Q", ...}.
    activation silu, relu, gelu or gelu_new; normalization none, layernorm (LN, or LNPre where it is
    folded into other weights) or rmsnorm (RMS, RMSPre), with eps and its place pre or post; scale 1
    or 1/sqrt(d_head); mask none or causal; positions learned or none; blocks sequential: what is
    not given is taken from config (a file of JSON, an object or a dict; a Module's own else) and
    from the Module.  heads: where matrices hold them side by side, and no config says how many.
    sides: of square matrices, in-out (x W) or out-in (torch.nn.Linear).
    inputs: tokens [windows, n], which the Module itself answers; witness: (tokens, logits) in place
    of them, as the model answers: integers [windows, n], and numbers [windows, n or 1, classes], or
    without an unembedding the stream [windows, n or 1, D].  With either, what is left open and what
    is usual of these names is tried with the program until its answers are the model's.
    ValueError: something is missing, contradicts the config, or is outside the constructions.
    """
    given = {"activation": activation, "normalization": normalization, "scale": scale,
             "mask": mask, "normalization-place": normalization_place, "positions": positions,
             "blocks": blocks, "eps": None if eps is None else repr(float(eps))}
    if sides not in (None, "in-out", "out-in"):
        raise ValueError(f"sides {sides!r}: expected in-out or out-in")
    read = _Model(model, config, names, heads, sides)
    if inputs is not None:
        if read.module is None or witness is not None:
            raise ValueError("inputs: expected a Module, which answers them, and no witness")
        witness = _answers(read.module, inputs)
    said = read.said()
    check_said(given, said)
    if witness is None:
        _write(path, read.tensors(read.sides), said, None)
        return said
    return _try(path, read, said, witness, program)


def _open_sides(read: _Model) -> "List[Optional[str]]":
    try:
        read.tensors(read.sides)
    except SidesUnknown:
        return ["out-in", "in-out"]
    return [read.sides]


def _try(path: Path, read: _Model, said: Dict[str, str], witness: Any,
         program: Optional[str]) -> Dict[str, str]:
    """The one reading whose answers are the witness's."""
    sides = _open_sides(read)
    names = list(read.tensors(sides[0]))
    usual = dict(read.family.said) if read.family is not None else {}
    if not any(re.search(r"ln[12_]", name) for name in names):
        usual.update({"normalization": "none"} if usual else {})
    asked = needed(names, {**usual, **said})
    whole = {**{key: value for key, value in usual.items() if key in asked}, **said}
    is_open = "activation" in asked and "activation" not in said
    readings = [(side, {**whole, **chosen}) for side in sides
                for chosen in ([{"activation": name} for name in _ACTIVATIONS] if is_open else [{}])]
    if len(readings) == 1 and whole == said:
        _write(path, read.tensors(sides[0]), said, witness)
        return said  # nothing is tried: whoever evaluates the file makes sure of it
    with tempfile.TemporaryDirectory() as folder:
        tried = os.path.join(folder, "tried.safetensors")
        refusals = []
        for side, own in readings:
            _write(tried, read.tensors(side), own, witness)
            refusals.append(_refusal(tried, names, program))
    fitting = [reading for reading, refusal in zip(readings, refusals) if refusal == ""]
    if len(fitting) != 1:
        raise ValueError(f"no reading of the model gives its answers: {refusals[0]}" if not fitting
                         else "the inputs do not tell readings apart: " + "; ".join(
                             f"sides {side}, activation {own.get('activation')}"
                             for side, own in fitting))
    _write(path, read.tensors(fitting[0][0]), fitting[0][1], witness)
    return fitting[0][1]
