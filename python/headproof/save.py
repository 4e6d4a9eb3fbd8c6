"""A model of PyTorch's as a file that headproof reads.

What a file may hold, and what its config may say, is known to the program alone: the tensors are
written as they are, with the config's keys as metadata, and the program judges the file before it
gets its name.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import json
import os
import re
import struct
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .files import Path, array_of, read_json, read_safetensors, write_safetensors
from .names import SidesUnknown, renamed, sides_of_module
from .program import HeadproofError, call

# ---- Where weights come from ---------------------------------------------------------------------


def _merged(path: str, *saying: Mapping[str, Any]) -> Dict[str, str]:
    """What a config and the metadata of files say, which must be the same where both say it."""
    said: Dict[str, str] = {}
    for fields in saying:
        for key, value in _metadata(fields).items():
            if said.setdefault(key, value) != value:
                raise ValueError(f"{path}: {key} {value!r}: expected {said[key]!r}, as its config "
                                 "or another file says")
    return said


def _load_parts(index: str, program: Optional[str]) -> "Tuple[Mapping[str, Any], Any]":
    """The tensors of several files, each in the one that their index names."""
    places: Mapping[str, str] = _json(index)["weight_map"]
    tensors: Dict[str, Any] = {}
    said: Dict[str, str] = {}
    for part in sorted(set(places.values())):
        own, more = _load_file(os.path.join(os.path.dirname(index), part), program)
        for name in own:
            if places.get(name) != part:
                raise ValueError(f"{index}: tensor {name!r}: expected it in {part}, which has it")
        tensors.update(own)
        said = _merged(index, said, more or {})
    missing = sorted(set(places) - set(tensors))
    if missing:
        raise ValueError(f"{index}: tensor {missing[0]!r}: missing in {places[missing[0]]}")
    return tensors, said


def _load(path: str, program: Optional[str]) -> "Tuple[Mapping[str, Any], Any]":
    """The tensors of a file of PyTorch or of safetensors or of a folder, and what is said of them
    by a config beside them, or in the file."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if os.path.isdir(path):
        names = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                 "pytorch_model.bin.index.json")
        there = [name for name in names if os.path.exists(os.path.join(path, name))]
        if len(there) != 1:
            raise ValueError(f"{path}: expected one of {', '.join(names)} in it, "
                             f"{'not ' + ' and '.join(there) if there else 'and there is none'}")
        path = os.path.join(path, there[0])
    tensors, own = (_load_parts if path.endswith(".json") else _load_file)(path, program)
    config = os.path.join(folder, "config.json")
    return tensors, _merged(path, _json(config) if os.path.lexists(config) else {},
                            _fields(own))


def _load_file(path: str, program: Optional[str]) -> "Tuple[Mapping[str, Any], Any]":
    if path.endswith(".safetensors"):
        try:
            return read_safetensors(path)
        except (ValueError, KeyError, struct.error) as error:
            raise ValueError(_judged(path, path, [], program)[0]
                             or f"{path}: expected a file of safetensors ({error})") from error
    import torch  # only who has such a file needs it
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle's own errors are of many kinds
        refusal = _judged(path, path, [], program)[0]
        if refusal and "PyTorch" not in refusal:  # the program knows what else it is
            raise ValueError(refusal) from None
        # Its own advice, to execute what the file holds, is left out.
        said = str(error).split("error: ")[-1].splitlines() or [type(error).__name__]
        raise ValueError(
            f"{path}: torch {torch.__version__} cannot load it as tensors alone ({said[0]}): "
            "expected a state_dict of tensors; torch before 2.0 takes no float beside them, later "
            "ones do, and none takes objects: headproof.save of the Module itself does without a "
            'file, as does headproof.save(checkpoint["model"], ...) of what your own program has '
            'loaded of it, {"model": state_dict, ...}') from None
    return _unwrapped(path, held)


def _unwrapped(called: str, held: Any) -> "Tuple[Mapping[str, Any], Any]":
    """The state_dict of a checkpoint, and the config that it has beside it."""
    if not isinstance(held, Mapping):
        raise ValueError(f"{called}: expected a state_dict, and it holds a {type(held).__name__}")
    for key in ("model", "state_dict", "model_state_dict"):
        if isinstance(held.get(key), Mapping):
            configs = (held.get(name) for name in ("model_args", "config", "hyper_parameters"))
            return held[key], next((config for config in configs if config is not None), None)
    return held, None


def _json(path: Path) -> Any:
    said = read_json(path)
    if not isinstance(said, Mapping):
        raise ValueError(f"{path}: expected a JSON object")
    return said


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
    if tokens.ndim != 2:
        raise ValueError(f"inputs: shape {list(tokens.shape)}: expected tokens [windows, n]")
    device = next((parameter.device for parameter in module.parameters()), tokens.device)
    training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            out = module(tokens.to(device))
    finally:
        for part, mode in training.items():
            part.training = mode
    if isinstance(out, Mapping):
        return tokens, out["logits"]
    return tokens, getattr(out, "logits", out[0] if isinstance(out, tuple) else out)


def _witness(names: Mapping[str, Any], witness: "Tuple[Any, Any]") -> Dict[str, np.ndarray]:
    """Its tensors: logits, or the stream where names of TransformerLens have no unembedding."""
    if not isinstance(witness, (tuple, list)) or len(witness) != 2:
        raise ValueError("witness: expected a pair (tokens, answers)")
    read, said = array_of("witness.tokens", witness[0]), array_of("witness", witness[1])
    if read.dtype.kind != "i" or read.ndim != 2 or said.ndim != 3 or len(said) != len(read):
        raise ValueError(f"witness: tokens {list(read.shape)} of type {read.dtype} and answers "
                         f"{list(said.shape)}: expected integers [windows, n] and numbers "
                         "[windows, n or 1, classes]")
    stream = "embed.W_E" in names and "unembed.W_U" not in names
    return {"witness.tokens": read, "witness.resid" if stream else "witness.logits": said}


# ---- What the program says of it -----------------------------------------------------------------


def _judged(path: str, shown: str, flags: "List[str]",
            program: Optional[str]) -> "Tuple[str, Dict[str, str]]":
    """What the program says against the file, under the name that it will have, or "", and what
    the witness shows it.  It is evaluated at one row."""
    words = ["sweep", "--weights", path, "--construction", "all", "--omega", "20", "--reference",
             "none", "--kernel", "structured", "-o", "-"]
    try:
        shows = re.search("its witness shows (.*)", call(program, words + flags).stderr)
    except HeadproofError as error:
        if error.code != 2:
            raise
        return str(error).replace(path, shown), {}
    return "", dict(pair.split(" ", 1) for pair in shows[1].split(", ")) if shows else {}


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
         sides: Optional[str] = None, ignore_extra: bool = False,
         ignore_config: Optional[str] = None, program: Optional[str] = None) -> Dict[str, str]:
    """Writes a model as `headproof verify` reads it, and returns the metadata of the file, and what
    a witness shows beside them.

    model: a torch.nn.Module, a state_dict (of torch or numpy), a file of torch.save (.pt, .pth,
    .bin, .ckpt), or a folder of Hugging Face's.  Names: TransformerLens', those of GPT-2 (Hugging
    Face, nanoGPT, minGPT), or any others with names={"their.{l}.name": "attn.W_Q", ...}; "" is
    what the model computes nothing with.  ignore_extra, ignore_config: as the flags --ignore-extra
    and --ignore-config KEY,..., which verify of the file then takes, too.
    activation silu, relu, gelu or gelu_new; normalization none, layernorm (LN, or LNPre where it is
    folded into other weights) or rmsnorm (RMS, RMSPre), with eps and its place pre or post; scale 1
    or 1/sqrt(d_head); mask none or causal; positions learned or none; blocks sequential: what is
    not given is taken from config (a file of JSON, an object or a dict; a Module's own else).
    heads: where matrices hold them side by side, and no config says how many.  sides, with names:
    of square matrices, in-out (x W) or out-in (torch.nn.Linear).
    inputs: tokens [windows, n], which the Module itself answers; witness: (tokens, logits) in place
    of them, as the model answers: integers [windows, n], and numbers [windows, n or 1, classes], or
    without an unembedding the stream [windows, n or 1, D].  With either, what is left open and what
    is usual of these names is tried with the program until its answers are the model's.
    ValueError: the program refuses the file, in its own words; nothing is written then.
    """
    if sides not in (None, "in-out", "out-in"):
        raise ValueError(f"sides {sides!r}: expected in-out or out-in")
    path = os.path.realpath(path)
    if os.path.isdir(path):
        raise ValueError(f"{path}: expected a file to be written, and it is a folder")
    module = model if hasattr(model, "state_dict") else None
    if module is not None:
        state, own = module.state_dict(), getattr(module, "config", getattr(module, "cfg", None))
        own = None if isinstance(own, (str, int, float)) else own
    else:
        state, own = (_unwrapped("model", model) if isinstance(model, Mapping)
                      else _load(os.fspath(model), program))
    if inputs is not None and (module is None or witness is not None):
        raise ValueError("inputs: expected a Module, which answers them, and no witness")
    witness = witness if inputs is None else _answers(module, inputs)
    given = {"activation": activation, "normalization": normalization, "scale": scale,
             "mask": mask, "normalization-place": normalization_place, "positions": positions,
             "blocks": blocks, "heads": heads, "eps": None if eps is None else repr(float(eps))}
    said = _metadata(_fields(config if config is not None else own))
    for key, value in _metadata({k: v for k, v in given.items() if v is not None}).items():
        if said.setdefault(key, value) != value:
            raise ValueError(f"{key} {value!r}: the config says {said[key]!r}")
    told = sides_of_module(module, state) if module is not None else {}
    flags = ["--ignore-extra"] if ignore_extra else []
    flags += ["--ignore-config", ignore_config] if ignore_config is not None else []
    try:
        readings = _readings(state, names, told, sides, witness is not None)
        found = _write(path, readings, said, witness, flags, program)
    except ValueError as error:
        hints = []
        if module is not None and witness is None:
            hints.append("inputs=tokens lets the Module show what is open")
        if module is not None and config is None and own is not None:
            hints.append("config={} leaves the Module's own config out")
        raise ValueError(f"{error} ({'; '.join(hints)})" if hints else str(error)) from None
    return {**found, **said}


def _write(path: str, readings: "List[Tuple[str, Mapping[str, Any]]]", said: Dict[str, str],
           witness: Any, flags: "List[str]", program: Optional[str]) -> Dict[str, str]:
    """Writes the one reading that the program takes, under its name when it has been taken; returns
    as what it is read.  Until then it lies beside it, where it will be read, with the config.json
    that may be there, and locked: one that nobody holds was left by a save that was killed."""
    folder, name = os.path.split(os.path.abspath(path))
    prefix, suffix = f".{name}.", ".tried.safetensors"
    for left in glob.glob(glob.escape(os.path.join(folder, prefix)) + "*" + suffix):
        with contextlib.suppress(OSError), open(left, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(left)
    fitting: "Dict[str, Tuple[str, Dict[str, str]]]" = {}
    refusals: "List[str]" = []
    files: Dict[str, int] = {}
    try:
        for called, tensors in readings:
            arrays = {key: array_of(key, tensor) for key, tensor in tensors.items()}
            arrays.update({} if witness is None else _witness(arrays, witness))
            handle, tried = tempfile.mkstemp(suffix, prefix, folder)
            files[tried] = handle
            fcntl.flock(handle, fcntl.LOCK_EX)
            write_safetensors(tried, arrays, said)
            drawn = [] if {"X", "tokens"} & set(arrays) else ["--n", "1"]
            refusal, found = _judged(tried, path, flags + drawn, program)
            refusals.append(refusal)
            fitting.update({} if refusal else {called: (tried, found)})
        if not fitting:
            raise ValueError(refusals[0])
        if len(fitting) > 1:
            raise ValueError(f"the witness does not tell readings apart: {'; '.join(fitting)}")
        mask = os.umask(0)
        os.umask(mask)
        ((tried, found),) = fitting.values()
        os.chmod(tried, 0o666 & ~mask)  # as any file that a program writes
        os.replace(tried, path)
        return found
    finally:
        for tried, handle in files.items():
            os.close(handle)
            if os.path.exists(tried):
                os.remove(tried)
