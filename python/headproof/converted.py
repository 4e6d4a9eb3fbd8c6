"""The attention-only model of a file that `headproof convert` wrote, evaluated by numpy or torch.

Arrays are numpy's or torch's: what follows uses what both have.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, List, Mapping, Sequence

import numpy as np

from .files import Path, read_safetensors


def _is_torch(array: Any) -> bool:
    return hasattr(array, "detach")


def _stack(arrays: List[Any]) -> Any:
    if _is_torch(arrays[0]):
        import torch
        return torch.stack(arrays)
    return np.stack(arrays)


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
        self.rotary = metadata.get("headproof.rotary", "none")
        none = ",".join("0" * self.layer_end[-1])
        self.turned = metadata.get("headproof.turned", none).split(",")
        self.beside = metadata.get("headproof.beside", none).split(",")
        self._is_token = self.X[:, :1] * 0 + 1  # [rows, 1]
        self._is_token[self.bias_row] = 0
        self._check()

    def _check(self) -> None:
        """That blocks have what is said of them."""
        blocks, rows = self.layer_end[-1], len(self.X)
        for name in ("turned", "beside"):
            if len(getattr(self, name)) != blocks:
                raise ValueError(f"headproof.{name}: expected a number for each of {blocks} blocks")
        if self.rotary not in ("none", "half", "interleaved"):
            raise ValueError(f"headproof.rotary: {self.rotary!r}: expected half or interleaved")
        if self.rotary == "none" and "1" in self.turned:
            raise ValueError("headproof.turned: expected it beside headproof.rotary")
        shape = getattr(self.tensors.get("rotary.cos"), "shape", None)
        for name in ("rotary.cos", "rotary.sin") if "1" in self.turned else ():
            table = self.tensors.get(name)
            if table is None or table.ndim != 2 or len(table) != rows or table.shape != shape:
                raise ValueError(f"{name}: expected a table of {rows} rows, of cos and of sin")
            if not (abs(table) < 1.001).all():
                raise ValueError(f"{name}: expected numbers of -1 to 1")

    def shorter(self, count: int) -> "Converted":
        """The same model of the first so many tokens and the bias row."""
        if not 0 < count <= len(self.token_rows):
            raise ValueError(f"{count} tokens: expected 1 to {len(self.token_rows)}")
        rows = sorted(self.token_rows[:count] + [self.bias_row])
        tensors = {}
        for name, array in self.tensors.items():
            plain = name == "pos_embed.W_pos" or name.endswith(".ln.b")
            if name in ("X", "rotary.cos", "rotary.sin") or (plain and not self.shared):
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
                self._add_bundle(out, bundle, y, s)
            return out
        w = self.blocks[s]
        q, k = (self._turn(s, _each(y, w[name])) for name in ("W_Q", "W_K"))
        scores = q @ k.swapaxes(1, 2)
        return _mix(_softmax_rows(scores, self.causal), _each(y, w["W_V"]), w["W_O"])

    def _turn(self, s: int, z: Any) -> Any:
        """Queries or keys [heads, rows, rank] of block s, by the positions of their rows."""
        if self.turned[s] != "1":
            return z
        cos, sin = self.tensors["rotary.cos"], self.tensors["rotary.sin"]
        pairs, step = cos.shape[1], 2 if self.rotary == "interleaved" else 1
        if 2 * pairs > z.shape[-1]:
            raise ValueError(f"rotary.cos: {pairs} pairs: expected no more than a head's entries, "
                             f"{z.shape[-1]}, have")
        first = slice(0, pairs * step, step)
        second = slice(1 if step == 2 else pairs, 2 * pairs, step)
        a, b, turned = z[..., first], z[..., second], z + 0
        turned[..., first], turned[..., second] = a * cos - b * sin, b * cos + a * sin
        return turned

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

    def _scores(self, score: Mapping[str, Any], y: Any, s: int) -> Any:
        scores, t = self._positions(score), self._is_token
        w = {name: self.tensors[value] if isinstance(value, str) else value
             for name, value in score.items()}
        query = y[:, slice(*w["query"])][None] if "query" in w else None
        y = y[:, slice(*w.get("read", (0, 0)))]
        num, den, root = w.get("scale", (1, 1, 1))
        scale = num / (den * math.sqrt(root))
        if "QK" in w:
            return scores + scale * ((y @ w["QK"]) @ y.T)
        if "W_Q" in w or "unit" in w or query is not None:
            if query is None:
                query = w["unit"] * y.T[:, :, None] if "unit" in w else _each(y, w["W_Q"])
            q = self._turn(s, self._with_bias(query, w.get("b_Q")))
            q = q * w["mix"].swapaxes(1, 2) if "mix" in w else q  # one query and key of all heads
            k = _each(y, w["W_K"]) if "W_K" in w else (t * 0)[None]
            k = self._turn(s, self._with_bias(k, w.get("b_K")))
            scores = scores + scale * (q @ k.swapaxes(1, 2))
        return scores + w["shift"][:, None, None] * (t @ t.T) if "shift" in w else scores

    def _add_bundle(self, out: Any, bundle: Mapping[str, Any], y: Any, s: int) -> None:
        pattern = _softmax_rows(self._scores(bundle["score"], y, s), self.causal)
        value = bundle["value"]
        w = {name: self.tensors[at] if isinstance(at, str) else at for name, at in value.items()}
        read, write = slice(*w["read"]), slice(*w["write"])
        y = y[:, read]
        if "W_V" in w:
            values = self._with_bias(_each(y, w["W_V"]), w.get("b_V"))
            out[:, write] += w["scale"] * (_mix(pattern, values, w["W_O"]) if "W_O" in w else
                                           (pattern @ values)[:, :, 0].T)
        elif "OV" in w:
            out[:, write] += (pattern @ (y @ w["OV"])).sum(0)
        elif "unit" in w:
            out[:, write] += w["unit"] * w["scale"] * (pattern @ y.T[:, :, None])[:, :, 0].T
        elif "sign" in w:  # of a token, and less of the bias row
            out[:, write] += w["sign"] * (pattern @ (2 * self._is_token - 1))[:, :, 0].T
        if "bias_row" in w:
            out[:, write] += w["bias_row"] * (pattern[0] @ (1 - self._is_token))
        if "bias" in w:
            out[:, write] += pattern[0] @ self._is_token * w["bias"]
        if "diagonal" in w:
            out[:, read] += w["diagonal"] * (pattern[0] @ y)

    def block(self, s: int, x: Any, read: Any = None) -> Any:
        """x + the heads of what block s reads, and their norm behind them; read: what a block
        beside the one before it reads, as that did, in place of x"""
        if read is None and self.beside[s] == "1":
            raise ValueError(f"block {s}: expected also what block {s - 1} reads, as it does")
        read = x if read is None else read
        x = x + self.heads(s, self.norm(s, read) if self.norm_place == "pre" else read)
        return self.norm(s, x) if self.norm_place == "post" else x

    def __call__(self, tokens: Any) -> Any:
        """The stream of the tokens, [N, D], after the last layer; of a batch, [B, N, D]."""
        if tokens.ndim == 3:
            return _stack([self(one) for one in tokens])
        if len(tokens) < len(self.token_rows):
            return self.shorter(len(tokens))(tokens)
        x = read = self.augment(tokens)
        for s in range(len(self.blocks)):
            read = read if self.beside[s] == "1" else x
            x = self.block(s, x, read)
        return x[self.token_rows, self.content]

    def embed(self, ids: Sequence[int]) -> Any:
        """The stream of token ids before the first layer, [N, D]."""
        if not 0 < len(ids) <= len(self.token_rows):
            raise ValueError(f"{len(ids)} tokens: expected 1 to {len(self.token_rows)}")
        w_e, w_pos = self.tensors["embed.W_E"], self.tensors.get("pos_embed.W_pos")
        x = w_e[ids][:, self.content]
        if w_pos is not None:
            positions = w_pos if self.shared else w_pos[self.token_rows]
            x = x + positions[:len(ids), self.content]
        return x

    def logits(self, ids: Any) -> Any:
        """Of every token, [N, classes], in a model with embeddings and an unembedding; of a batch,
        [B, N, classes]."""
        if len(ids) > 0 and np.ndim(ids[0]) == 1:
            return _stack([self.logits(one) for one in ids])
        x = self(self.embed(ids))
        if "ln_final.w" in self.tensors:
            x = _normed(x, self.normalization, self.eps) * self.tensors["ln_final.w"]
            x = x + self.tensors.get("ln_final.b", 0)
        return x @ self.tensors["unembed.W_U"][self.content] + self.tensors.get("unembed.b_U", 0)


def _slice(text: str) -> slice:
    first, end = text.split(":")
    return slice(int(first), int(end))


def load_converted(path: Path, torch: bool = False) -> Any:
    """The attention-only model of a file that `headproof convert` wrote, in either layout: a
    Converted; with torch=True a torch.nn.Module, from token ids to logits."""
    tensors, metadata = read_safetensors(path)
    if "headproof.content" not in metadata:
        raise ValueError(f"{os.fspath(path)}: expected a file of headproof convert")
    if torch:
        from .torch_module import AttentionOnly  # only who asks for it needs torch
        return AttentionOnly(tensors, metadata)
    return Converted(tensors, metadata)
