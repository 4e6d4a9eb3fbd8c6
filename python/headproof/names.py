"""Names of tensors, of whom they are, and how they become TransformerLens'.

A linear map's matrix is [in, out] (x W) or, as in torch.nn.Linear, [out, in]: its sides.  Where it
is square its shape does not tell them; they are then given, read off the module's class, or tried.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from .files import array_of

# A name, {l} for a layer's number, and what it is: a tensor as it is ("="), a linear map ("W"), one
# of torch.nn.Linear ("L"), or nothing ("-").  QKV: three side by side.
Names = Mapping[str, Tuple[str, str]]

_GPT2: Names = {
    "wte.weight": ("embed.W_E", "="), "wpe.weight": ("pos_embed.W_pos", "="),
    "ln_f.weight": ("ln_final.w", "="), "ln_f.bias": ("ln_final.b", "="),
    "lm_head.weight": ("unembed.W_U", "L"), "lm_head.bias": ("unembed.b_U", "="),
    "h.{l}.ln_1.weight": ("ln1.w", "="), "h.{l}.ln_1.bias": ("ln1.b", "="),
    "h.{l}.ln_2.weight": ("ln2.w", "="), "h.{l}.ln_2.bias": ("ln2.b", "="),
    "h.{l}.attn.c_attn.weight": ("attn.W_QKV", "W"), "h.{l}.attn.c_attn.bias": ("attn.b_QKV", "="),
    "h.{l}.attn.c_proj.weight": ("attn.W_O", "W"), "h.{l}.attn.c_proj.bias": ("attn.b_O", "="),
    "h.{l}.mlp.c_fc.weight": ("mlp.W_in", "W"), "h.{l}.mlp.c_fc.bias": ("mlp.b_in", "="),
    "h.{l}.mlp.c_proj.weight": ("mlp.W_out", "W"), "h.{l}.mlp.c_proj.bias": ("mlp.b_out", "="),
    "h.{l}.attn.bias": ("", "-"), "h.{l}.attn.masked_bias": ("", "-"),
}
# minGPT as it was first, whose queries, keys and values are maps of their own.
_MINGPT: Names = {
    "tok_emb.weight": ("embed.W_E", "="), "pos_emb": ("pos_embed.W_pos", "="),
    "ln_f.weight": ("ln_final.w", "="), "ln_f.bias": ("ln_final.b", "="),
    "head.weight": ("unembed.W_U", "L"), "head.bias": ("unembed.b_U", "="),
    "blocks.{l}.ln1.weight": ("ln1.w", "="), "blocks.{l}.ln1.bias": ("ln1.b", "="),
    "blocks.{l}.ln2.weight": ("ln2.w", "="), "blocks.{l}.ln2.bias": ("ln2.b", "="),
    "blocks.{l}.attn.query.weight": ("attn.W_Q", "W"), "blocks.{l}.attn.query.bias": ("attn.b_Q", "="),
    "blocks.{l}.attn.key.weight": ("attn.W_K", "W"), "blocks.{l}.attn.key.bias": ("attn.b_K", "="),
    "blocks.{l}.attn.value.weight": ("attn.W_V", "W"), "blocks.{l}.attn.value.bias": ("attn.b_V", "="),
    "blocks.{l}.attn.proj.weight": ("attn.W_O", "W"), "blocks.{l}.attn.proj.bias": ("attn.b_O", "="),
    "blocks.{l}.mlp.0.weight": ("mlp.W_in", "W"), "blocks.{l}.mlp.0.bias": ("mlp.b_in", "="),
    "blocks.{l}.mlp.2.weight": ("mlp.W_out", "W"), "blocks.{l}.mlp.2.bias": ("mlp.b_out", "="),
    "blocks.{l}.attn.mask": ("", "-"),
}


class Family(NamedTuple):
    """mark: a name that nobody else has; said: what its programs do, which a witness has to show."""
    called: str
    mark: str
    names: Names
    said: Mapping[str, str]


_AS_GPT2 = {"normalization": "layernorm", "normalization-place": "pre", "eps": "1e-05",
            "scale": "1/sqrt(d_head)", "mask": "causal", "positions": "learned",
            "blocks": "sequential"}
FAMILIES = (Family("GPT-2", "wte.weight", _GPT2, _AS_GPT2),
            Family("minGPT", "tok_emb.weight", _MINGPT, _AS_GPT2))

# What wrappers put before every name.
_PREFIXES = ("module.", "_orig_mod.", "model.", "transformer.")
# The side of D: of matrices that read the stream the first, of those that write to it the second.
_READS = ("attn.W_QKV", "attn.W_Q", "attn.W_K", "attn.W_V", "mlp.W_in", "unembed.W_U")


class SidesUnknown(ValueError):
    """A square matrix, of which nobody says which side is read."""


def bare_names(state: Mapping[str, Any]) -> Dict[str, str]:
    """For every name, the name without the prefixes of wrappers."""
    bare = {name: name for name in state}
    for prefix in _PREFIXES:
        if any(name.startswith(prefix) for name in bare.values()):
            bare = {name: rest[len(prefix):] if rest.startswith(prefix) else rest
                    for name, rest in bare.items()}
    return bare


def family_of(bare: Mapping[str, str]) -> Optional[Family]:
    """The family whose mark is among the names; None: TransformerLens, or nobody's."""
    present = set(bare.values())
    return next((family for family in FAMILIES if family.mark in present), None)


def _look_up(name: str, names: Names) -> "Optional[Tuple[Optional[str], str, str]]":
    """Layer, target and kind of a name; None: the table does not have it."""
    for pattern, (target, kind) in names.items():
        match = re.fullmatch(re.escape(pattern).replace(r"\{l\}", r"(\d+)"), name)
        if match:
            return (match[1] if match.groups() else None), target, kind
    return None


def _read_first(name: str, array: np.ndarray, target: str, width: int,
                sides: Optional[str]) -> np.ndarray:
    """A linear map's matrix as [in, out]."""
    if array.ndim != 2:
        raise ValueError(f"{name}: shape {list(array.shape)}: expected a matrix")
    reads = target in _READS
    fits = {"in-out": array.shape[0 if reads else 1] == width,
            "out-in": array.shape[1 if reads else 0] == width}
    if not any(fits.values()):
        raise ValueError(f"{name}: shape {list(array.shape)}: expected a side of D = {width}")
    if all(fits.values()):
        if sides is None:
            raise SidesUnknown(
                f"{name} is {width} x {width}: expected sides='in-out' (x W, as Conv1D) or 'out-in' "
                "(as torch.nn.Linear), the Module itself, or inputs= or witness= to find out")
        fits = {"in-out": sides == "in-out", "out-in": sides == "out-in"}
    return array if fits["in-out"] else array.T


def _heads_apart(target: str, array: np.ndarray, heads: Optional[int]) -> Dict[str, np.ndarray]:
    """Matrices of attention that hold their heads side by side, a head each."""
    joined = re.fullmatch(r"attn\.([Wb])_(QKV|[QKVO])", target)
    flat = 2 if joined and joined[1] == "W" else 1
    if not joined or target == "attn.b_O" or array.ndim != flat:
        return {target: array}
    if not isinstance(heads, int) or heads < 1:
        raise ValueError("n_head is missing: expected it in the config, or heads=, as the matrices "
                         "have their heads side by side")
    side = array.shape[0] if joined[2] == "O" else array.shape[-1]
    if side % (heads * len(joined[2].replace("O", "1"))) != 0:
        raise ValueError(f"{target}: {side} columns: expected them to be shared by {heads} heads")
    if joined[2] == "O":
        return {target: array.reshape(heads, -1, array.shape[-1])}
    parts = len(joined[2])
    apart = array.reshape(*array.shape[:-1], parts, heads, -1)
    apart = np.moveaxis(apart, (-3, -2), (0, 1))
    return {f"attn.{joined[1]}_{part}": apart[i] for i, part in enumerate(joined[2])}


def renamed(state: Mapping[str, Any], names: Names, heads: Optional[int],
            sides: Mapping[str, str], other: Optional[str]) -> Dict[str, np.ndarray]:
    """The tensors under TransformerLens' names, heads apart, maps [in, out].  sides: of a tensor by
    its name; other: of those that it does not have."""
    bare = bare_names(state)
    found = {name: _look_up(bare[name], names) for name in state}
    embedding = [name for name, place in found.items() if place and place[1] == "embed.W_E"]
    if not embedding:
        raise ValueError("expected an embedding, and no name is that of one")
    width = int(state[embedding[0]].shape[-1])
    tensors: Dict[str, np.ndarray] = {}
    for name, tensor in state.items():
        place = found[name]
        if place is None and bare[name].startswith("witness."):
            tensors[bare[name]] = array_of(name, tensor)
        elif place is None:
            raise ValueError(f"{name}: expected a name that the table has: {_some(names)}")
        elif place[2] != "-":
            layer, target, kind = place
            array = array_of(name, tensor)
            array = array.reshape(array.shape[-2:]) if target == "pos_embed.W_pos" else array
            if kind != "=":
                own = "out-in" if kind == "L" else sides.get(name) or other
                array = _read_first(name, array, target, width, own)
            prefix = "" if layer is None else f"blocks.{layer}."
            for part, made in _heads_apart(target, array, heads).items():
                tensors[prefix + part] = made
    tensors.setdefault("unembed.W_U", tensors["embed.W_E"].T)
    return {name: np.ascontiguousarray(array) for name, array in tensors.items()}


def _some(names: Names) -> str:
    return ", ".join(list(names)[:3]) + ", ..."


def of_user(names: Mapping[str, str]) -> Names:
    """The table of a user: {"their.{l}.name": "attn.W_Q"}; maps are known by their W."""
    maps = ("attn.W_", "mlp.W_", "unembed.W_")
    return {theirs: (ours, "W" if ours.startswith(maps) else "-" if not ours else "=")
            for theirs, ours in names.items()}


def sides_of_module(module: Any, state: Mapping[str, Any]) -> Dict[str, str]:
    """Of the maps whose class tells: torch.nn.Linear, and Conv1D of Hugging Face."""
    classes: List[Tuple[str, str]] = []
    for path, part in module.named_modules():
        kinds = [kind.__name__ for kind in type(part).__mro__]
        if "Linear" in kinds:
            classes.append((f"{path}.weight", "out-in"))
        elif "Conv1D" in kinds:
            classes.append((f"{path}.weight", "in-out"))
    return {name: side for name, side in classes if name in state}
