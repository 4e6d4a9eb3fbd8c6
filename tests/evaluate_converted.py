"""A user's side of `headproof convert`: either layout of a converted model as docs/convert.md has
it.  numpy is all that it takes."""

import json
import math

import numpy
from transformer import attend, may_see, norm, turned

# ---- Heads of the shared layout ------------------------------------------------------------------
#
# Over the columns of the plain layout, content and then a position column a row, a matrix is a list
# of terms (factor, left, right): the sum of factor left right^T.


class Frame:
    """The plain layout's columns: those of X in the file, then one for each of so many rows."""

    def __init__(self, tensors, said):
        self.rows, self.content = tensors["X"].shape
        self.bias_row, self.omega = int(said["headproof.bias_row"]), said["headproof.omega"]
        self.tokens = numpy.arange(self.rows) != self.bias_row
        self.known = {}  # terms of positions, of which many heads have the same

    def vector(self, first=0, entries=(), token=0.0):
        """The entries from column first on, and a number in the position column of every token"""
        vector = numpy.zeros(self.content + self.rows)
        vector[first:first + len(entries)] = entries
        vector[self.content:] = token * self.tokens
        return vector

    def position(self, entries):
        vector = numpy.zeros(self.content + self.rows)
        vector[self.content:] = entries
        return vector


def factor_of(num, den, square):
    return num / (den * math.sqrt(square))


def score_terms(frame, score, h, t):
    """W_Q W_K^T of the plain layout"""
    first, end = score.get("read", (0, 0))
    factor = factor_of(*score.get("scale", (1, 1, 1)))
    own = 0 if "mix" in score else h
    if "QK" in score:
        for c, row in enumerate(t[score["QK"]][h]):
            yield factor, frame.vector(first + c, [1]), frame.vector(first, row)
    columns = (score["unit"] * numpy.eye(1, end - first, h) if "unit" in score
               else t[score["W_Q"]][own].T if "W_Q" in score
               else numpy.eye(score["query"][1] - score["query"][0]) if "query" in score else [])
    begin = score["query"][0] if "query" in score else first
    for k, column in enumerate(columns):
        b_q = t[score["b_Q"]][own, k] if "b_Q" in score else 0
        b_k = score.get("b_K", 0)
        b_k = t[b_k][own, k] if isinstance(b_k, str) else b_k
        key = t[score["W_K"]][own][:, k] if "W_K" in score else ()
        mix = t[score["mix"]][h][k, 0] if "mix" in score else 1
        yield factor * mix, frame.vector(begin, column, b_q), frame.vector(first, key, b_k)
    if "shift" in score:
        yield 1, frame.vector(token=t[score["shift"]][h]), frame.vector(token=1)
    many = "extra" in score and len(t[score["extra"]]) > 1
    of = (*score["position"], score.get("extra"), h if many else 0)
    if of not in frame.known:
        frame.known[of] = list(position_terms(frame, score, h, t))
    yield from frame.known[of]


def position_terms(frame, score, h, t):
    """omega (position + extra), a term a row of the stream"""
    token_self, token_token, token_bias, bias_self, bias_token = score["position"]
    for i in range(frame.rows):
        row = numpy.full(frame.rows, bias_token if i == frame.bias_row else token_token, float)
        row[frame.bias_row] = token_bias
        row[i] = bias_self if i == frame.bias_row else token_self
        if "extra" in score:
            extra = t[score["extra"]]
            row = row + extra[h if len(extra) > 1 else 0, i]
        if row.any():
            yield float(frame.omega), frame.position(numpy.eye(frame.rows)[i]), \
                frame.position(row)


def value_terms(frame, value, h, t):
    """W_V W_O of the plain layout"""
    read, write = value["read"], value["write"]
    factor = value.get("scale", 1.0)
    if "W_V" in value:
        column = write[0] + (0 if "W_O" in value else h)
        for k, row in enumerate(t[value["W_O"]][h] if "W_O" in value else [[1]]):
            b_v = t[value["b_V"]][h, k] if "b_V" in value else 0
            yield factor, frame.vector(read[0], t[value["W_V"]][h][:, k], b_v), \
                frame.vector(column, row)
    elif "OV" in value:
        for c, row in enumerate(t[value["OV"]][h]):
            yield factor, frame.vector(read[0] + c, [1]), frame.vector(write[0], row)
    elif "unit" in value:
        yield factor * value["unit"], frame.vector(read[0] + h, [1]), \
            frame.vector(write[0] + h, [1])
    elif "sign" in value:
        yield value["sign"], frame.position(2. * frame.tokens - 1), \
            frame.vector(write[0] + h, [1])
    if "bias_row" in value and h == 0:
        yield value["bias_row"], frame.position(1. * ~frame.tokens), \
            frame.vector(write[0], numpy.ones(write[1] - write[0]))
    if "bias" in value and h == 0:
        yield 1, frame.vector(token=1), frame.vector(write[0], t[value["bias"]])
    for c in range(*read) if value.get("diagonal", 0) != 0 else ():
        yield value["diagonal"], frame.vector(c, [1]), frame.vector(c, [1])


def shared_heads(y, frame, bundles, t, seen, turn):
    y = numpy.hstack((y, numpy.eye(frame.rows)))
    out = numpy.zeros_like(y)
    for bundle in bundles:
        for h in range(bundle["heads"]):
            (fs, ls, rs), (fv, lv, rv) = (map(numpy.array, zip(*terms)) for terms in (
                score_terms(frame, bundle["score"], h, t), value_terms(frame, bundle["value"], h, t)))
            q, k = turn(y @ ls.T * fs), turn(y @ rs.T)
            out += attend(q, k, y @ lv.T * fv, seen) @ rv
    return out[:, :frame.content]


# ---- The converted model -------------------------------------------------------------------------


def span(text):
    return slice(*map(int, text.split(":")))


def converted(t, said, tokens):
    """tokens [n, d]: the classical stream; of either layout."""
    frame, x = Frame(t, said), t["X"].copy()
    content, seen = span(said["headproof.content"]), may_see(said, len(x))
    x[frame.tokens, content] = tokens
    heads = json.loads(said.get("headproof.heads", "null"))
    count = int(said["headproof.layer_end"].split(",")[-1])
    columns, turns, beside = (said.get("headproof." + name, ",".join("-" * count)).split(",")
                              for name in ("norm_columns", "turned", "beside"))
    for s in range(count):
        def turn(z):
            return z if turns[s] != "1" else \
                turned(z, said["headproof.rotary"], t["rotary.cos"], t["rotary.sin"])

        def normed(x, place):
            if columns[s] == "-" or said["normalization-place"] != place:
                return x
            own = {k: t[f"blocks.{s}.ln.{k}"] for k in "wb" if f"blocks.{s}.ln.{k}" in t}
            if "b" in own:  # of the shared layout, which adds it to tokens alone, or of every row
                own["b"] = numpy.broadcast_to(own["b"] * frame.tokens[:, None] if heads else
                                              own["b"], (len(x), own["w"].size))
                own["b"] = own["b"][span(said["headproof.norm_rows"])]
            x, at = x.copy(), (span(said["headproof.norm_rows"]), span(columns[s]))
            x[at] = norm(x[at], said, own)
            return x
        read = read if beside[s] == "1" else x
        y = normed(read, "pre")
        if heads is not None:
            out = shared_heads(y, frame, heads[s], t, seen, turn)
        else:
            q, k, v, o = (t[f"blocks.{s}.attn.W_{name}"] for name in "QKVO")
            out = (attend(turn(y @ q), turn(y @ k), y @ v, seen) @ o).sum(0)
        x = normed(x + out, "post")
    return x[frame.tokens, content]
