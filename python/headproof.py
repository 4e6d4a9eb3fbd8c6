"""Headproof's tables, sweeps and models in Python: one file, which needs numpy.

    import headproof
    table = headproof.sweep(construction="fused", omega=[10, 20, 1000])
    table.log10("construction_max")     # [-16.03, -24.7, -868.2]: no error reads as 0 that is none
    headproof.save(model.state_dict(), "model.safetensors", config=model.cfg)
    rewritten = headproof.load_converted("T.safetensors")
    stream = rewritten(tokens)          # [tokens, D] -> [tokens, D]

docs/python.md has the rest.
"""

from __future__ import annotations

import csv
import decimal
import io
import json
import math
import os
import re
import struct
import subprocess
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

__all__ = ["Converted", "HeadproofError", "Table", "load_converted", "read_csv", "save", "sweep"]

Path = Union[str, "os.PathLike[str]"]


class HeadproofError(RuntimeError):
    """What the program said when it refused or failed; code: its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


# ---- Tables --------------------------------------------------------------------------------------

# Columns of words, of whatever table (docs/columns.md); all others hold numbers.
WORDS = frozenset(
    "construction activation mask arithmetic kernel reference weights options bounds status "
    "unfinished model preset bias normalization normalization-place linear gelu sublayer_heads "
    "sublayer_score_ranks sublayer_value_ranks tokens kind from_term norm error axis "
    "law why theory".split())

# Any exponent: the default context's ends at -999999.
_EXACT = decimal.Context(prec=30, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX,
                         traps=[decimal.InvalidOperation])


class Table(Mapping[str, np.ndarray]):
    """A table's columns by name, in order: numbers as exact decimals (blank: NaN), words as str.

    passed: did the program that wrote it end with 0?  Of a file that is read it is not known.
    """

    def __init__(self, columns: Dict[str, np.ndarray], passed: Optional[bool] = None) -> None:
        self._columns = columns
        self.passed = passed

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def _numbers(self, name: str) -> np.ndarray:
        column = self._columns[name]
        if any(isinstance(cell, str) for cell in column):
            raise TypeError(f"the column {name} holds words")
        return column

    def log10(self, name: str) -> np.ndarray:
        """log10 |x| of a column of numbers, as float64: -inf for a 0 alone, NaN where blank."""
        return np.array([_log10(cell) for cell in self._numbers(name)], dtype=np.float64)

    def floats(self, name: str) -> np.ndarray:
        """The column as float64; a number that a double cannot hold raises OverflowError."""
        return np.array([_float(cell, name) for cell in self._numbers(name)], dtype=np.float64)

    def bounded(self, name: str) -> np.ndarray:
        """Where is the cell of that column only an upper bound?"""
        named = self._columns.get("bounds", np.full(self.rows, ""))
        return np.array([name in cell.split(";") for cell in named], dtype=bool)


def _log10(cell: decimal.Decimal) -> float:
    if cell.is_nan():
        return math.nan
    if cell.is_zero():
        return -math.inf
    return float(_EXACT.log10(_EXACT.abs(cell)))


def _float(cell: decimal.Decimal, name: str) -> float:
    value = float(cell)
    if cell.is_finite() and (math.isinf(value) or (value == 0 and not cell.is_zero())):
        raise OverflowError(f"{name}: {cell} is outside a double's range: use log10({name!r})")
    return value


def _column(name: str, cells: Sequence[str]) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    try:
        numbers = [] if name in WORDS else [decimal.Decimal(cell or "NaN") for cell in cells]
    except decimal.InvalidOperation:  # seeds as 1:5, in a table of min-omega
        numbers = []
    column[:] = numbers if numbers else list(cells)
    return column


def _table(file: Iterator[str], source: str, passed: Optional[bool] = None) -> Table:
    lines = list(csv.reader(file))
    if not lines:
        raise ValueError(f"{source}: expected a header")
    header, rows = lines[0], lines[1:]
    if len(set(header)) != len(header):
        raise ValueError(f"{source}: expected columns with names, each once")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"{source}:{number}: {len(row)} cells: expected {len(header)}")
    return Table({name: _column(name, [row[i] for row in rows]) for i, name in enumerate(header)},
                 passed)


def read_csv(path: Path) -> Table:
    """The table in a file of CSV that headproof wrote."""
    with open(path, newline="", encoding="utf-8") as file:
        return _table(file, os.fspath(path))


def _text(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{value}: expected a number or a word")
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def sweep(*cases: Path, command: str = "sweep", program: Optional[str] = None,
          **flags: Any) -> Table:
    """`headproof COMMAND CASES... --FLAG VALUE...` and the table that it writes.

    A flag is named with _ for -, a list is a list, and True stands for a flag without a value:
    sweep(construction="fused", d_ff=[8, 16], propagation=True).  command: of those that write a
    table.  program: else $HEADPROOF, else headproof.  Points that fail are rows like others, and
    .passed is then False; what is refused raises HeadproofError.
    """
    words = [program or os.environ.get("HEADPROOF") or "headproof", command, "-o", "-"]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={_text(value)}")
    words += ["--", *(os.fspath(case) for case in cases)]
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             encoding="utf-8")
    except OSError as error:
        raise HeadproofError(f"{words[0]}: {error.strerror}: expected the program; make installs "
                             "it, and program or $HEADPROOF says where it is", 99) from error
    if run.returncode not in (0, 1):
        raise HeadproofError(run.stderr.strip(), run.returncode)
    return _table(io.StringIO(run.stdout), command, run.returncode == 0)


# ---- Files of weights ----------------------------------------------------------------------------

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
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
# What Hugging Face's GPT-2 calls them, but for what is behind "h.{l}.attn.c_".
_GPT2 = {"wte.weight": "embed.W_E", "wpe.weight": "pos_embed.W_pos",
         "ln_f.weight": "ln_final.w", "ln_f.bias": "ln_final.b"}
_GPT2_LAYER = {"ln_1.weight": "ln1.w", "ln_1.bias": "ln1.b", "ln_2.weight": "ln2.w",
               "ln_2.bias": "ln2.b", "mlp.c_fc.weight": "mlp.W_in", "mlp.c_fc.bias": "mlp.b_in",
               "mlp.c_proj.weight": "mlp.W_out", "mlp.c_proj.bias": "mlp.b_out",
               "attn.c_proj.bias": "attn.b_O"}
_GPT2_BUFFERS = ("attn.bias", "attn.masked_bias")

_CHOICES = {
    "activation": ("silu", "relu", "gelu", "gelu_new", "none"),
    "normalization": ("none", "layernorm", "rmsnorm", "LN", "LNPre", "RMS", "RMSPre"),
    "normalization-place": ("pre", "post"),
    "scale": ("1", "1/sqrt(d_head)"),
    "mask": ("none", "causal"),
    "positions": ("learned", "none"),
    "blocks": ("sequential",),
}


def _array(name: str, tensor: Any) -> np.ndarray:
    """Of a torch tensor or of numpy's, with the same values; bfloat16 becomes float32."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        tensor = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    array = np.ascontiguousarray(tensor)
    if array.dtype.newbyteorder("<").str not in _DTYPES.values():
        raise ValueError(f"{name}: numbers of type {array.dtype}: expected float64, float32 or "
                         "float16, or integers of 64 or 32 bits for tokens")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _write_safetensors(path: Path, tensors: Mapping[str, np.ndarray],
                       metadata: Mapping[str, str]) -> None:
    codes = {code: name for name, code in _DTYPES.items()}
    codes["<u2"] = "BF16"
    header: Dict[str, Any] = {"__metadata__": dict(metadata)}
    offset = 0
    # The widest numbers first, so that all are aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    for name in order:
        array = tensors[name]
        header[name] = {"dtype": codes[array.dtype.str], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(tensors[name].tobytes())


def _read_safetensors(path: Path) -> "tuple[Dict[str, np.ndarray], Dict[str, str]]":
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        array = np.frombuffer(data[begin:end], dtype=_DTYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata


def _field(config: Any, *names: str) -> Any:
    """The first of these fields that a config has, be it an object or a dict."""
    for name in names:
        value = config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
        if value is not None:
            return value
    return None


# A field of a config, and what it may say of a model that can be rewritten.
_REFUSED: "List[tuple[str, Callable[[Any], bool], str]]" = [
    ("positional_embedding_type", lambda value: value == "standard", "standard"),
    ("position_embedding_type", lambda value: value == "absolute", "absolute"),
    ("parallel_attn_mlp", lambda value: not value, "False"),
    ("gated_mlp", lambda value: not value, "False"),
    ("use_local_attn", lambda value: not value, "False"),
    ("use_qk_norm", lambda value: not value, "False"),
    ("use_normalization_before_and_after", lambda value: not value, "False"),
    ("n_key_value_heads", lambda value: False, "None"),
    ("num_experts", lambda value: False, "None"),
    ("attn_scores_soft_cap", lambda value: value <= 0, "none"),
    ("output_logits_soft_cap", lambda value: value <= 0, "none"),
    ("scale_attn_by_inverse_layer_idx", lambda value: not value, "False"),
    ("add_cross_attention", lambda value: not value, "False"),
    ("rope_theta", lambda value: False, "none"),
]


def _said_by(config: Any) -> Dict[str, str]:
    """What a config of TransformerLens or Hugging Face says; what it leaves open is not there."""
    said: Dict[str, str] = {}
    for name, fits, expected in _REFUSED:
        value = _field(config, name)
        if value is not None and not fits(value):
            raise ValueError(f"the config's {name} is {value!r}: expected {expected}")
    activation = _field(config, "act_fn", "activation_function", "hidden_act")
    if activation is not None:
        said["activation"] = {"swish": "silu", "gelu_pytorch_tanh": "gelu_new"}.get(
            activation, activation)
    # TransformerLens says None where there is none; Hugging Face's models have theirs unsaid.
    has = "normalization_type" in config if isinstance(config, Mapping) else hasattr(
        config, "normalization_type")
    norm = _field(config, "normalization_type")
    eps = _field(config, "eps", "layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps")
    gpt2 = _field(config, "model_type") == "gpt2"
    if has:
        said["normalization"] = "none" if norm is None else str(norm)
    elif gpt2:
        said["normalization"] = "layernorm"
    elif eps is not None:
        said["normalization"] = "a layer norm"
    if said.get("normalization", "none") != "none" and (has or gpt2):
        said["normalization-place"] = "pre"
        if eps is not None:
            said["eps"] = repr(float(eps))
    if gpt2:
        said.update({"mask": "causal", "scale": "1/sqrt(d_head)", "blocks": "sequential"})
    if _field(config, "parallel_attn_mlp") is not None:  # a true one is refused
        said["blocks"] = "sequential"
    if _field(config, "positional_embedding_type", "position_embedding_type") is not None:
        said["positions"] = "learned"
    direction = _field(config, "attention_dir")
    if direction is not None:
        said["mask"] = {"causal": "causal", "bidirectional": "none"}.get(direction, direction)
    scaled = _field(config, "use_attn_scale", "scale_attn_weights")
    if scaled is not None:
        said["scale"] = "1/sqrt(d_head)" if scaled else "1"
    divisor, d_head = _field(config, "attn_scale"), _field(config, "d_head")
    if scaled and divisor is not None and d_head is not None and divisor > 0 and \
            not math.isclose(divisor, math.sqrt(d_head), rel_tol=1e-12):
        raise ValueError(f"the config's attn_scale is {divisor!r}: expected sqrt(d_head)")
    return said


def _needed(names: Sequence[str], said: Mapping[str, str]) -> List[str]:
    attention = any(".attn." in name for name in names)
    needed = ["activation"] if any(".mlp." in name for name in names) else []
    norms = ["normalization-place", "eps"] if said.get("normalization", "none") != "none" else []
    structure = ["positions"] if "embed.W_E" in names else []
    structure += ["blocks"] if attention and needed else []
    return needed + (["scale", "mask"] if attention else []) + ["normalization"] + norms + structure


def _gpt2_layer(layer: str, name: str, array: np.ndarray, heads: int) -> Dict[str, np.ndarray]:
    """One tensor of h.{l} under TransformerLens' names; its matrices are [in, out]."""
    prefix = f"blocks.{layer}."
    if name in _GPT2_LAYER:
        return {prefix + _GPT2_LAYER[name]: array}
    if name == "attn.c_proj.weight":
        return {prefix + "attn.W_O": array.reshape(heads, -1, array.shape[-1])}
    if name == "attn.c_attn.weight":
        parts = array.reshape(len(array), 3, heads, -1).transpose(1, 2, 0, 3)
        return {f"{prefix}attn.W_{part}": parts[i] for i, part in enumerate("QKV")}
    if name == "attn.c_attn.bias":
        parts = array.reshape(3, heads, -1)
        return {f"{prefix}attn.b_{part}": parts[i] for i, part in enumerate("QKV")}
    raise ValueError(f"h.{layer}.{name}: expected a tensor of GPT-2's")


def _from_gpt2(state: Mapping[str, Any], config: Any) -> Dict[str, np.ndarray]:
    """The weights of Hugging Face's GPT-2 under TransformerLens' names, heads apart."""
    heads = _field(config, "n_head")
    tensors: Dict[str, np.ndarray] = {}
    if not isinstance(heads, int) or heads < 1:
        raise ValueError("n_head is missing: expected it in the config, as GPT-2's matrices have "
                         "their heads side by side")
    for name, tensor in state.items():
        bare = name[len("transformer."):] if name.startswith("transformer.") else name
        match = re.fullmatch(r"h\.(\d+)\.(.*)", bare)
        if match and match[2] in _GPT2_BUFFERS:
            continue
        array = _array(name, tensor)
        if match:
            tensors.update(_gpt2_layer(match[1], match[2], array, heads))
        elif name.startswith("witness."):
            tensors[name] = array
        elif bare == "lm_head.weight":
            tensors["unembed.W_U"] = array.T
        elif bare in _GPT2:
            tensors[_GPT2[bare]] = array
        else:
            raise ValueError(f"{name}: expected a tensor of GPT-2's")
    tensors.setdefault("unembed.W_U", tensors["embed.W_E"].T)
    return {name: np.ascontiguousarray(array) for name, array in tensors.items()}


def _check_said(given: Mapping[str, Optional[str]], said: Dict[str, str]) -> None:
    """Adds what is given to what the config says; both must agree, and fit."""
    for name, value in given.items():
        if value is not None and said.get(name, value) != value:
            raise ValueError(f"{name} {value!r}: the config says {said[name]!r}")
        if value is not None:
            said[name] = value
    for name, value in said.items():
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ValueError(f"{name} {value!r}: expected {', '.join(_CHOICES[name])}")
    if "eps" in said and not 0 < float(said["eps"]) < math.inf:
        raise ValueError(f"eps {said['eps']}: expected a number above 0")


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


def save(state_dict: Mapping[str, Any], path: Path, activation: Optional[str] = None,
         normalization: Optional[str] = None, scale: Optional[str] = None,
         mask: Optional[str] = None, config: Any = None, eps: Optional[float] = None,
         normalization_place: Optional[str] = None, positions: Optional[str] = None,
         blocks: Optional[str] = None, witness: Any = None) -> None:
    """Writes weights under TransformerLens' names, of torch or numpy, as `headproof verify` wants
    them: activation silu, relu, gelu or gelu_new; normalization none, layernorm (LN, or LNPre
    where it is folded into other weights) or rmsnorm (RMS, RMSPre), with eps and its place pre or
    post; scale 1 or 1/sqrt(d_head); mask none or causal; positions learned or none; blocks
    sequential.  What is not given is taken from config, a TransformerLens or Hugging Face config.
    witness: (tokens, logits), as the model itself answers: integers [windows, n], and numbers
    [windows, n or 1, classes], or without an unembedding the stream [windows, n or 1, D].
    The weights may have the names of Hugging Face's GPT-2, beside its config.
    ValueError: something is missing, contradicts the config, or is outside the constructions.
    """
    given = {"activation": activation, "normalization": normalization, "scale": scale,
             "mask": mask, "normalization-place": normalization_place, "positions": positions,
             "blocks": blocks,
             "eps": None if eps is None else repr(float(eps))}
    said = _said_by(config) if config is not None else {}
    if any(name.endswith("wte.weight") for name in state_dict):
        state_dict = _from_gpt2(state_dict, config)
    names = [name for name in state_dict if not _BUFFERS.fullmatch(name)]
    for name in names:
        if not _TENSORS.fullmatch(name):
            raise ValueError(f"{name}: expected a tensor that a construction has (docs/models.md)")
    _check_said(given, said)
    if "pos_embed.W_pos" in names:
        said.setdefault("positions", "learned")
    for name in _needed(names, said):
        if name not in said:
            expected = ", ".join(_CHOICES[name]) if name in _CHOICES else "a number above 0"
            raise ValueError(f"{name} is missing: expected one of {expected}")
    norms = [name for name in names if re.search(r"(ln[12]|ln_final)\.", name)]
    if said["normalization"] in ("none", "LNPre", "RMSPre") and norms:
        raise ValueError(f"{norms[0]}: expected no tensor of a norm, as normalization is "
                         f"{said['normalization']}")
    arrays = {name: _array(name, state_dict[name]) for name in names}
    if not arrays:
        raise ValueError("expected weights: there is no tensor")
    _check_shapes(arrays)
    if witness is not None:
        answers = "witness.logits" if "unembed.W_U" in arrays else "witness.resid"
        arrays.update(zip(("witness.tokens", answers), _witness_arrays(*witness)))
    _write_safetensors(path, arrays, said)


def _witness_arrays(tokens: Any, answers: Any) -> "tuple[np.ndarray, np.ndarray]":
    """Answers of bfloat16 stay what they are: the upper halves of float32's bits."""
    said = _array("witness", answers)
    if str(getattr(answers, "dtype", "")) == "torch.bfloat16":
        said = (said.view("<u4") >> 16).astype("<u2")
    read = _array("witness.tokens", tokens)
    if read.dtype.kind != "i" or read.ndim != 2 or said.ndim != 3 or len(said) != len(read):
        raise ValueError(f"witness: tokens {list(read.shape)} of type {read.dtype} and answers "
                         f"{list(said.shape)}: expected integers [windows, n] and numbers "
                         "[windows, n or 1, classes]")
    return read, said


# ---- The rewritten model -------------------------------------------------------------------------

# Below, arrays are numpy's or torch's: what follows uses what both have.


def _is_torch(array: Any) -> bool:
    return hasattr(array, "detach")


def _softmax_rows(scores: Any, causal: bool) -> Any:
    """scores [heads, rows, rows]"""
    if _is_torch(scores):
        hidden = scores.new_ones(scores.shape[-2:]).triu(1).bool()
        return (scores.masked_fill(hidden, -math.inf) if causal else scores).softmax(-1)
    if causal:
        rows = scores.shape[-1]
        scores = np.where(np.tri(rows, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _each(y: Any, w: Any) -> Any:
    """y [rows, read] times every head's w [heads, read, rank]: [heads, rows, rank]"""
    heads, read, rank = w.shape
    flat = w.swapaxes(0, 1).reshape(read, heads * rank)
    return (y @ flat).reshape(len(y), heads, rank).swapaxes(0, 1)


def _mix(pattern: Any, values: Any, w_o: Any) -> Any:
    """sum over heads of pattern values W_O: [rows, write]"""
    heads, rank, write = w_o.shape
    mixed = (pattern @ values).swapaxes(0, 1)
    return mixed.reshape(len(mixed), heads * rank) @ w_o.reshape(heads * rank, write)


def _normed(x: Any, kind: str, eps: float) -> Any:
    x = x - x.mean(-1)[:, None] if kind == "layernorm" else x
    return x / ((x * x).mean(-1) + eps)[:, None] ** 0.5


class Converted:
    """A file of `headproof convert`, evaluated in float64.

    blocks: in the plain layout a list of {"W_Q", "W_K", "W_V": [heads, width, rank], "W_O": [heads,
    rank, width]}, in the shared one a list of lists of bundles; X [rows, width]: the augmented
    stream of the file's own input; metadata: as the file has them.
    """

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        self.tensors = dict(tensors)
        self.metadata = dict(metadata)
        self.X = tensors["X"]
        self.shared = metadata.get("headproof.layout") == "shared"
        if self.shared:
            self.blocks: Any = json.loads(metadata["headproof.heads"])
        else:
            count = 1 + max(int(name.split(".")[1]) for name in tensors if ".attn." in name)
            self.blocks = [{matrix: tensors[f"blocks.{s}.attn.{matrix}"]
                            for matrix in ("W_Q", "W_K", "W_V", "W_O")} for s in range(count)]
        self.omega = float(metadata["headproof.omega"])
        self.causal = metadata["mask"] == "causal"
        self.bias_row = int(metadata["headproof.bias_row"])
        self.content = _slice(metadata["headproof.content"])
        self.token_rows = [i for i in range(len(self.X)) if i != self.bias_row]
        self.layer_end = [int(s) for s in metadata["headproof.layer_end"].split(",")]
        self.normalization = metadata["normalization"]
        norms = self.normalization != "none"
        self.norm_place = metadata["normalization-place"] if norms else "none"
        self.eps = float(metadata["eps"]) if norms else math.nan
        self.norm_rows = _slice(metadata["headproof.norm_rows"]) if norms else slice(0)
        self.norm_columns = metadata["headproof.norm_columns"].split(",") if norms else []
        self._is_token = self.X[:, :1] * 0 + 1  # [rows, 1]
        self._is_token[self.bias_row] = 0

    def shorter(self, count: int) -> "Converted":
        """The same model of the first so many tokens and the bias row."""
        if not 0 < count <= len(self.token_rows):
            raise ValueError(f"{count} tokens: expected 1 to {len(self.token_rows)}")
        rows = sorted(self.token_rows[:count] + [self.bias_row])
        tensors = {}
        for name, array in self.tensors.items():
            plain = name == "pos_embed.W_pos" or name.endswith(".ln.b")
            if name == "X" or (plain and not self.shared):
                array = array[rows]
            elif name.endswith(".extra"):
                array = array[:, rows][:, :, rows]
            tensors[name] = array
        bias_row = rows.index(self.bias_row)
        both = self.norm_rows == slice(0, len(self.X))
        first = 0 if both else rows.index(self.token_rows[0])
        norm_rows = f"{first}:{first + count + both}"
        return Converted(tensors, {**self.metadata, "headproof.bias_row": str(bias_row),
                                   "headproof.norm_rows": norm_rows})

    def augment(self, tokens: Any) -> Any:
        """tokens [N, D] with the columns and the bias row that the heads need: [rows, width]"""
        shape = (len(self.token_rows), self.content.stop - self.content.start)
        if tuple(tokens.shape) != shape:
            raise ValueError(f"tokens of shape {tuple(tokens.shape)}: expected {shape}")
        x = self.X + 0
        x[self.token_rows, self.content] = tokens
        return x

    def norm(self, s: int, x: Any) -> Any:
        """What block s reads where its norm is before it, or leaves where that is behind it."""
        if self.norm_columns[s] == "-":
            return x
        rows, columns = self.norm_rows, _slice(self.norm_columns[s])
        y = x + 0
        normed = _normed(x[rows, columns], self.normalization, self.eps)
        y[rows, columns] = normed * self.tensors[f"blocks.{s}.ln.w"]
        beta = self.tensors.get(f"blocks.{s}.ln.b")
        if beta is not None:
            y[rows, columns] += self._is_token[rows] * beta if self.shared else beta[rows]
        return y

    def heads(self, s: int, y: Any) -> Any:
        """What the heads of block s add: of every one softmax_rows((y W_Q) (y W_K)^T) y W_V W_O"""
        if self.shared:
            out = y * 0
            for bundle in self.blocks[s]:
                self._add_bundle(out, bundle, y)
            return out
        w = self.blocks[s]
        scores = _each(y, w["W_Q"]) @ _each(y, w["W_K"]).swapaxes(1, 2)
        return _mix(_softmax_rows(scores, self.causal), _each(y, w["W_V"]), w["W_O"])

    def _positions(self, score: Mapping[str, Any]) -> Any:
        """Omega times the coefficients of a bundle: [1 or heads, rows, rows]"""
        token_self, token_token, token_bias, bias_self, bias_token = score["position"]
        t, b = self._is_token, 1 - self._is_token
        own = np.eye(len(t))
        own = t.new_tensor(own) if _is_torch(t) else own
        position = token_token * (t @ t.T) + (token_self - token_token) * own * t
        position = position + token_bias * (t @ b.T) + (bias_self * b + bias_token * t).T * b
        if "extra" in score:
            position = position + self.tensors[score["extra"]]
        return self.omega * (position if position.ndim == 3 else position[None])

    def _with_bias(self, product: Any, bias: Any) -> Any:
        """product [heads, rows, rank], and on token rows a bias [heads, rank], a number or none"""
        if bias is None:
            return product
        return product + self._is_token * (bias if isinstance(bias, float) else bias[:, None])

    def _scores(self, score: Mapping[str, Any], y: Any) -> Any:
        scores, t = self._positions(score), self._is_token
        w = {name: self.tensors[value] if isinstance(value, str) else value
             for name, value in score.items()}
        y = y[:, slice(*w.get("read", (0, 0)))]
        num, den, root = w.get("scale", (1, 1, 1))
        scale = num / (den * math.sqrt(root))
        if "QK" in w:
            return scores + scale * ((y @ w["QK"]) @ y.T)
        if "W_Q" in w or "unit" in w:
            q = w["unit"] * y.T[:, :, None] if "unit" in w else _each(y, w["W_Q"])
            q = self._with_bias(q, w.get("b_Q"))
            k = _each(y, w["W_K"]) if "W_K" in w else (t * 0)[None]
            scores = scores + scale * (q @ self._with_bias(k, w.get("b_K")).swapaxes(1, 2))
        return scores + w["shift"][:, None, None] * (t @ t.T) if "shift" in w else scores

    def _add_bundle(self, out: Any, bundle: Mapping[str, Any], y: Any) -> None:
        pattern = _softmax_rows(self._scores(bundle["score"], y), self.causal)
        value = bundle["value"]
        w = {name: self.tensors[at] if isinstance(at, str) else at for name, at in value.items()}
        read, write = slice(*w["read"]), slice(*w["write"])
        y = y[:, read]
        if "W_V" in w:
            values = self._with_bias(_each(y, w["W_V"]), w.get("b_V"))
            out[:, write] += w["scale"] * _mix(pattern, values, w["W_O"])
        elif "OV" in w:
            out[:, write] += (pattern @ (y @ w["OV"])).sum(0)
        elif "unit" in w:
            out[:, write] += w["unit"] * w["scale"] * (pattern @ y.T[:, :, None])[:, :, 0].T
        if "bias" in w:
            out[:, write] += pattern[0] @ self._is_token * w["bias"]
        if "diagonal" in w:
            out[:, read] += w["diagonal"] * (pattern[0] @ y)

    def block(self, s: int, x: Any) -> Any:
        """x + the heads of what block s reads, and their norm behind them"""
        x = x + self.heads(s, self.norm(s, x) if self.norm_place == "pre" else x)
        return self.norm(s, x) if self.norm_place == "post" else x

    def __call__(self, tokens: Any) -> Any:
        """The stream of the tokens, [N, D], after the last layer."""
        if len(tokens) < len(self.token_rows):
            return self.shorter(len(tokens))(tokens)
        x = self.augment(tokens)
        for s in range(len(self.blocks)):
            x = self.block(s, x)
        return x[self.token_rows, self.content]

    def embed(self, ids: Sequence[int]) -> Any:
        """The stream of token ids before the first layer, [N, D]."""
        w_e, w_pos = self.tensors["embed.W_E"], self.tensors.get("pos_embed.W_pos")
        x = w_e[ids][:, self.content]
        if w_pos is not None:
            positions = w_pos if self.shared else w_pos[self.token_rows]
            x = x + positions[:len(ids), self.content]
        return x

    def logits(self, ids: Sequence[int]) -> Any:
        """Of every token, [N, classes], in a model with embeddings and an unembedding."""
        x = self(self.embed(ids))
        if "ln_final.w" in self.tensors:
            x = _normed(x, self.normalization, self.eps) * self.tensors["ln_final.w"]
            x = x + self.tensors.get("ln_final.b", 0)
        return x @ self.tensors["unembed.W_U"][self.content] + self.tensors.get("unembed.b_U", 0)


def _slice(text: str) -> slice:
    first, end = text.split(":")
    return slice(int(first), int(end))


def _torch_module(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> Any:
    """The model as a torch.nn.Module whose buffers are the file's tensors."""
    import torch  # only who asks for it needs it

    class AttentionOnly(torch.nn.Module):
        """Token ids to logits; without embeddings, the stream before the first layer to the last"""

        def __init__(self) -> None:
            super().__init__()
            for name, array in tensors.items():
                self.register_buffer(name.replace(".", "_"), torch.from_numpy(array.copy()))

        def forward(self, tokens: Any) -> Any:
            model = Converted({name: getattr(self, name.replace(".", "_")) for name in tensors},
                              metadata)
            return model.logits(tokens) if "embed.W_E" in model.tensors else model(tokens)

    return AttentionOnly()


def load_converted(path: Path, torch: bool = False) -> Any:
    """The attention-only model of a file that `headproof convert` wrote, in either layout: a
    Converted; with torch=True a torch.nn.Module, from token ids to logits."""
    tensors, metadata = _read_safetensors(path)
    if "headproof.content" not in metadata:
        raise ValueError(f"{os.fspath(path)}: expected a file of headproof convert")
    return _torch_module(tensors, metadata) if torch else Converted(tensors, metadata)
