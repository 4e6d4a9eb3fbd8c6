"""A model of PyTorch's as a file that headproof reads.

What a file may hold, and what its config may say, is known to the program alone: the tensors are
written as they are, with the config's keys as metadata, and the program judges the file before it
gets its name.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .files import Path, array_of, read_safetensors, write_safetensors
from .names import SidesUnknown, renamed, sides_of_module
from .program import HeadproofError, call

# ---- Where weights come from ---------------------------------------------------------------------


def _load_folder(folder: str) -> "Tuple[Mapping[str, Any], Any]":
    config = os.path.join(folder, "config.json")
    said = _json(config) if os.path.lexists(config) else None
    for name in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        index = os.path.join(folder, name)
        if os.path.exists(index):
            tensors: Dict[str, Any] = {}
            for part in sorted(set(_json(index)["weight_map"].values())):
                tensors.update(_load(os.path.join(folder, part))[0])
            return tensors, said
    for name in ("model.safetensors", "pytorch_model.bin"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return _load(path)[0], said
    raise ValueError(f"{folder}: expected model.safetensors or pytorch_model.bin in it, or the "
                     "index of several")


def _load(path: str) -> "Tuple[Mapping[str, Any], Any]":
    """The tensors of a file of PyTorch or of safetensors, and the config beside or in it."""
    if os.path.isdir(path):
        return _load_folder(path)
    if path.endswith(".safetensors"):
        tensors, metadata = read_safetensors(path)
        beside = os.path.join(os.path.dirname(path), "config.json")
        return tensors, {**(_json(beside) if os.path.lexists(beside) else {}), **metadata}
    import torch  # only who has such a file needs it
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle's own errors are of many kinds
        # Its own advice, to execute what the file holds, is left out.
        said = str(error).split("error: ")[-1].splitlines() or [type(error).__name__]
        raise ValueError(
            f"{path}: torch {torch.__version__} cannot load it as tensors alone ({said[0]}): "
            "expected a state_dict of tensors; torch before 2.0 takes no float beside them, later "
            "ones do, and none takes objects: headproof.save of the Module itself does without a "
            "file") from None
    if not isinstance(held, Mapping):
        raise ValueError(f"{path}: expected a state_dict, and it holds a {type(held).__name__}")
    for key in ("model", "state_dict", "model_state_dict"):
        if isinstance(held.get(key), Mapping):
            configs = (held.get(name) for name in ("model_args", "config", "hyper_parameters"))
            return held[key], next((config for config in configs if config is not None), None)
    return held, None


def _json(path: Path) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _fields(config: Any) -> Dict[str, Any]:
    """All that a config says, be it a dict, a file of JSON or an object."""
    if config is None:
        return {}
    if isinstance(config, (str, os.PathLike)):
        config = _json(config)
    if not isinstance(config, Mapping):
        config = config.to_dict() if hasattr(config, "to_dict") else {
            name: getattr(config, name) for name in dir(config)
            if not name.startswith("_") and not callable(getattr(config, name))}
    return dict(config)


def _metadata(fields: Mapping[str, Any]) -> Dict[str, str]:
    """As safetensors hold it: every value a text, those that are none as JSON."""
    return {str(key): value if isinstance(value, str) else json.dumps(value, default=str)
            for key, value in fields.items()}


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


def _witness(names: Mapping[str, Any], witness: "Tuple[Any, Any]") -> Dict[str, np.ndarray]:
    """Its tensors: logits, or the stream where names of TransformerLens have no unembedding."""
    read, said = array_of("witness.tokens", witness[0]), array_of("witness", witness[1])
    if read.dtype.kind != "i" or read.ndim != 2 or said.ndim != 3 or len(said) != len(read):
        raise ValueError(f"witness: tokens {list(read.shape)} of type {read.dtype} and answers "
                         f"{list(said.shape)}: expected integers [windows, n] and numbers "
                         "[windows, n or 1, classes]")
    stream = "embed.W_E" in names and "unembed.W_U" not in names
    return {"witness.tokens": read, "witness.resid" if stream else "witness.logits": said}


# ---- What the program says of it -----------------------------------------------------------------


def _refusal(path: str, shown: str, drawn: bool, program: Optional[str]) -> str:
    """What the program says against the file, under the name that it will have; "": nothing.  It is
    evaluated at one row, which is drawn where the file has none."""
    words = ["sweep", "--weights", path, "--construction", "all", "--omega", "20", "--reference",
             "none", "--kernel", "structured", "-q", "-o", "-"]
    try:
        call(program, words + (["--n", "1"] if drawn else []))
    except HeadproofError as error:
        if error.code != 2:
            raise
        return str(error).replace(path, shown)
    return ""


def _readings(state: Mapping[str, Any], names: Optional[Mapping[str, str]],
              told: Mapping[str, str], sides: Optional[str],
              witnessed: bool) -> "List[Tuple[str, Mapping[str, Any]]]":
    """Ways to read the tensors, and what each is called."""
    if names is None:
        return [("", state)]
    try:
        return [("", renamed(state, names, told, sides, witnessed))]
    except SidesUnknown:
        if not witnessed:
            raise
        return [(f"sides {side}", renamed(state, names, told, side, True))
                for side in ("out-in", "in-out")]


def save(model: Any, path: Path, activation: Optional[str] = None,
         normalization: Optional[str] = None, scale: Optional[str] = None,
         mask: Optional[str] = None, config: Any = None, eps: Optional[float] = None,
         normalization_place: Optional[str] = None, positions: Optional[str] = None,
         blocks: Optional[str] = None, witness: Any = None, inputs: Any = None,
         names: Optional[Mapping[str, str]] = None, heads: Optional[int] = None,
         sides: Optional[str] = None, program: Optional[str] = None) -> Dict[str, str]:
    """Writes a model as `headproof verify` reads it, and returns the metadata of the file.

    model: a torch.nn.Module, a state_dict (of torch or numpy), a file of torch.save (.pt, .pth,
    .bin, .ckpt), or a folder of Hugging Face's.  Names: TransformerLens', those of GPT-2 (Hugging
    Face, nanoGPT, minGPT), or any others with names={"their.{l}.name": "attn.W_Q", ...}; "" is
    what the model computes nothing with.
    activation silu, relu, gelu or gelu_new; normalization none, layernorm (LN, or LNPre where it is
    folded into other weights) or rmsnorm (RMS, RMSPre), with eps and its place pre or post; scale 1
    or 1/sqrt(d_head); mask none or causal; positions learned or none; blocks sequential: what is
    not given is taken from config (a file of JSON, an object or a dict; a Module's own else) and
    from the Module.  heads: where matrices hold them side by side, and no config says how many.
    sides, with names: of square matrices, in-out (x W) or out-in (torch.nn.Linear).
    inputs: tokens [windows, n], which the Module itself answers; witness: (tokens, logits) in place
    of them, as the model answers: integers [windows, n], and numbers [windows, n or 1, classes], or
    without an unembedding the stream [windows, n or 1, D].  With either, what is left open and what
    is usual of these names is tried with the program until its answers are the model's.
    ValueError: the program refuses the file, in its own words; nothing is written then.
    """
    if sides not in (None, "in-out", "out-in"):
        raise ValueError(f"sides {sides!r}: expected in-out or out-in")
    module = model if hasattr(model, "state_dict") else None
    if module is not None:
        state, own = module.state_dict(), getattr(module, "config", getattr(module, "cfg", None))
    else:
        state, own = (model, None) if isinstance(model, Mapping) else _load(os.fspath(model))
    if inputs is not None and (module is None or witness is not None):
        raise ValueError("inputs: expected a Module, which answers them, and no witness")
    witness = witness if inputs is None else _answers(module, inputs)
    given = {"activation": activation, "normalization": normalization, "scale": scale,
             "mask": mask, "normalization-place": normalization_place, "positions": positions,
             "blocks": blocks, "heads": heads, "eps": None if eps is None else repr(float(eps))}
    if module is not None and activation is None:
        given["activation"] = _activation_of(module)
    said = _metadata(_fields(config if config is not None else own))
    for key, value in _metadata({k: v for k, v in given.items() if v is not None}).items():
        if said.setdefault(key, value) != value:
            raise ValueError(f"{key} {value!r}: the config says {said[key]!r}")
    told = sides_of_module(module, state) if module is not None else {}
    readings = _readings(state, names, told, sides, witness is not None)
    _write(os.fspath(path), readings, said, witness, program)
    return said


def _write(path: str, readings: "List[Tuple[str, Mapping[str, Any]]]", said: Dict[str, str],
           witness: Any, program: Optional[str]) -> None:
    """Writes the one reading that the program takes, under its name when it has been taken.  Until
    then it lies beside it, where it will be read, with the config.json that may be there."""
    folder, name = os.path.split(os.path.abspath(path))
    fitting: Dict[str, str] = {}
    refusals, files = [], []
    try:
        for called, tensors in readings:
            arrays = {key: array_of(key, tensor) for key, tensor in tensors.items()}
            arrays.update({} if witness is None else _witness(arrays, witness))
            handle, tried = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=".safetensors")
            os.close(handle)
            files.append(tried)
            write_safetensors(tried, arrays, said)
            drawn = not {"X", "tokens"} & set(arrays)
            refusals.append(_refusal(tried, path, drawn, program))
            fitting.update({} if refusals[-1] else {called: tried})
        if not fitting:
            raise ValueError(refusals[0])
        if len(fitting) > 1:
            raise ValueError(f"the witness does not tell readings apart: {'; '.join(fitting)}")
        mask = os.umask(0)
        os.umask(mask)
        (tried,) = fitting.values()
        os.chmod(tried, 0o666 & ~mask)  # as any file that a program writes
        os.replace(tried, path)
    finally:
        for tried in files:
            if os.path.exists(tried):
                os.remove(tried)
