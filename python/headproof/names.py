"""Names of tensors that a user's table gives, brought to TransformerLens' with matrices [in, out].

A linear map's matrix is [in, out] (x W) or, as in torch.nn.Linear, [out, in]: its sides.  Where it
is square its shape does not tell them; they are then given, read off the module's class, or tried.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

import numpy as np

from .files import array_of

# What wrappers put before every name.
_PREFIXES = re.compile(r"(module\.|_orig_mod\.|model\.|transformer\.)+")
# The side of D: of matrices that read the stream the first, of those that write to it the second.
_MAPS = {**dict.fromkeys(("attn.W_QKV", "attn.W_Q", "attn.W_K", "attn.W_V", "mlp.W_in",
                          "unembed.W_U"), 0), "attn.W_O": 1, "mlp.W_out": 1}


class SidesUnknown(ValueError):
    """A square matrix, of which nobody says which side is read."""


def _target(name: str, names: Mapping[str, str]) -> Optional[str]:
    """What a table {"their.{l}.name": "attn.W_Q"} makes of a name, as it stands in the file or
    without what wrappers put before it; with its number behind it where it is a head's, {h}; None:
    the table does not have it."""
    for asked in (name, _PREFIXES.sub("", name, count=1) if _PREFIXES.match(name) else name):
        for pattern, target in names.items():
            numbered = re.escape(pattern)
            for letter in "lh":
                numbered = numbered.replace(rf"\{{{letter}\}}", rf"(?P<{letter}>\d+)", 1)
            match = re.fullmatch(numbered, asked)
            if match:
                layer, head = (match.groupdict().get(letter) for letter in "lh")
                return target and ((f"blocks.{layer}." if layer else "") + target +
                                   (f".{head}" if head else ""))
    return None


def _sides_of(name: str, shape: Tuple[int, ...], target: str, width: int) -> Optional[str]:
    """Which side of a matrix is read, by its shape; None: it is square."""
    if len(shape) != 2:
        raise ValueError(f"{name}: shape {list(shape)}: expected a matrix")
    first = _MAPS[target]
    fits = [side for side, axis in (("in-out", first), ("out-in", 1 - first))
            if shape[axis] == width]
    if not fits:
        raise ValueError(f"{name}: shape {list(shape)}: expected a side of D = {width}")
    return fits[0] if len(fits) == 1 else None


def _read_first(maps: Mapping[str, Tuple[str, np.ndarray]], width: int, told: Mapping[str, str],
                sides: Optional[str], witnessed: bool) -> Dict[str, np.ndarray]:
    """Every linear map as [in, out].  told: sides of a tensor by its name."""
    known = {name: told.get(name) or _sides_of(name, array.shape, target, width)
             for name, (target, array) in maps.items()}
    other = next((name for name, side in known.items() if side not in (None, sides)), None)
    square = next((name for name, side in known.items() if side is None), None)
    if square is not None and sides is None:
        raise SidesUnknown(
            f"{square} is {width} x {width}: expected sides='in-out' (x W, as Conv1D) or 'out-in' "
            "(as torch.nn.Linear), the Module itself, or inputs= or witness= to find out")
    if square is not None and other is not None and not witnessed:
        raise ValueError(f"sides {sides!r} of {square}: {other} is {known[other]}: expected the "
                         "same, or the Module itself, inputs= or witness=, which show it")
    return {name: array if (known[name] or sides) == "in-out" else array.T
            for name, (_, array) in maps.items()}


def _with_heads(tensors: Dict[str, Any], targets: Iterable[Optional[str]]) -> None:
    """Heads that are tensors of their own become one, [heads, ...].  A number behind a gap keeps
    its name, which the program does not know."""
    numbered = (target.rpartition(".") for target in targets if target)
    for name in sorted({base for base, _, head in numbered if head.isdigit()}):
        heads: List[np.ndarray] = []
        while f"{name}.{len(heads)}" in tensors:
            heads.append(array_of(name, tensors.pop(f"{name}.{len(heads)}")))
        if name in tensors or len({head.shape for head in heads}) > 1:
            raise ValueError(f"{name}: heads of shapes {[list(head.shape) for head in heads]}: "
                             "expected one shape, and nothing else that becomes it")
        if heads:
            tensors[name] = np.stack(heads)


def renamed(state: Mapping[str, Any], names: Mapping[str, str], told: Mapping[str, str],
            sides: Optional[str], witnessed: bool) -> Dict[str, Any]:
    """The tensors under TransformerLens' names.  What the table does not have keeps its name, for
    the program to judge; what it has as "" is left out where a witness will show that nothing was
    lost, and kept else."""
    targets = {name: _target(name, names) for name in state}
    if not any(names.values()):  # a table of what is left out alone
        return {name: tensor for name, tensor in state.items()
                if targets[name] is None or not witnessed}
    first: Dict[str, str] = {}
    for name, target in targets.items():
        if target and first.setdefault(target, name) != name:
            raise ValueError(f"{name}: becomes {target}, which {first[target]} is, too: expected "
                             "names= to give each its own (add or join them before)")
    embedding = [name for name, target in targets.items() if target == "embed.W_E"]
    if not embedding:
        raise ValueError("names: expected an embedding among the tensors, and none becomes "
                         "embed.W_E")
    tensors: Dict[str, Any] = {}
    maps: Dict[str, Tuple[str, np.ndarray]] = {}
    for name, target in targets.items():
        own = re.sub(r"blocks\.\d+\.|\.\d+$", "", target or "")
        if own in _MAPS:
            maps[name] = own, array_of(name, state[name])
        elif own == "pos_embed.W_pos":
            tensors[own] = array_of(name, state[name]).reshape(state[name].shape[-2:])
        elif target or not witnessed or target is None:
            tensors[target or name] = state[name]
    width = int(state[embedding[0]].shape[-1])
    # With an axis of heads all lie as the program's families have them, but those of Linear.
    if any(array.ndim == 3 for _, array in maps.values()):
        read = {name: array.T if told.get(name) == "out-in" else array
                for name, (_, array) in maps.items()}
    else:
        read = _read_first(maps, width, told, sides, witnessed)
    tensors.update((targets[name] or name, array) for name, array in read.items())
    _with_heads(tensors, targets.values())
    for name in [name for name in tensors if name.endswith("_QKV")]:
        parts = np.split(array_of(name, tensors.pop(name)), 3, axis=-1)
        tensors.update((name[:-3] + part, array) for part, array in zip("QKV", parts))
    return tensors


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
