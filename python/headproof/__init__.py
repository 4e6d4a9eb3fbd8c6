"""Headproof's tables, commands and models in Python; needs numpy.

    import headproof
    table = headproof.sweep(construction="fused", omega=[10, 20, 1000])
    table.log10("construction_max")     # [-16.03, -24.7, -868.2]: no error reads as 0 that is none
    headproof.save(model, "model.safetensors", inputs=tokens)
    headproof.verify("model.safetensors", tolerance=1e-9).passed
    rewritten = headproof.load_converted("T.safetensors")
    stream = rewritten(tokens)          # [tokens, D] -> [tokens, D]

docs/python.md has the rest.
"""

from .converted import Converted, load_converted
from .program import HeadproofError, guarantee, min_omega, plot, sweep, verify
from .save import save
from .tables import WORDS, Table, read_csv
from .tokens import tokens

__version__ = "0.2.0"

__all__ = ["Converted", "HeadproofError", "Table", "WORDS", "guarantee", "load_converted",
           "min_omega", "plot", "read_csv", "save", "sweep", "tokens", "verify"]
