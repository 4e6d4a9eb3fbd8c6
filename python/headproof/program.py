"""The program's commands, called from Python."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import subprocess
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from .files import Path
from .tables import Table, read_csv, read_table


class HeadproofError(RuntimeError):
    """What the program said when it refused or failed; code: its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _text(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{value}: expected a number or a word")
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _flags(flags: Any) -> List[str]:
    words = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={_text(value)}")
    return words


def call(program: Optional[str], words: List[str]) -> "subprocess.CompletedProcess[str]":
    """Runs it; what is refused or fails (any exit code but 0 and 1) raises HeadproofError."""
    name = program or os.environ.get("HEADPROOF") or "headproof"
    words = [os.path.abspath(name) if os.sep in name else name, *words]
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             encoding="utf-8")
    except OSError as error:
        raise HeadproofError(f"{words[0]}: {error.strerror}: expected the program; make installs "
                             "it, and program or $HEADPROOF says where it is", 99) from error
    if run.returncode < 0:
        raise HeadproofError(f"{run.stderr}{words[0]}: ended by signal {-run.returncode}",
                             run.returncode)
    if run.returncode > 1:
        raise HeadproofError(run.stderr.strip(), run.returncode)
    return run


def sweep(*cases: Path, command: str = "sweep", program: Optional[str] = None,
          **flags: Any) -> Table:
    """`headproof COMMAND CASES... --FLAG VALUE...` and the table that it writes.

    A flag is named with _ for -, a list is a list, and True stands for a flag without a value:
    sweep(construction="fused", d_ff=[8, 16], propagation=True).  command: of those that write a
    table.  program: else $HEADPROOF, else headproof.  Points that fail are rows like others, and
    .passed is then False; what is refused raises HeadproofError.
    """
    words = [command, "-o", "-", *_flags(flags), "--", *(os.fspath(case) for case in cases)]
    run = call(program, words)
    return read_table(io.StringIO(run.stdout), command, run.returncode == 0)


def verify(model: Path, program: Optional[str] = None, **flags: Any) -> Table:
    """`headproof verify MODEL`: a row a layer and Omega, worst of all inputs; .passed: the verdict.
    Errors in the units of the stream, logits in their own.  The searches for other Omegas, of which
    a table says nothing, are left out."""
    return sweep(model, command="verify", program=program, **{"quiet": True, **flags})


def min_omega(*cases: Path, program: Optional[str] = None, **flags: Any) -> Table:
    """`headproof min-omega`: for each search the interval of Omega that meets the tolerance."""
    return sweep(*cases, command="min-omega", program=program, **flags)


def guarantee(*model: Path, program: Optional[str] = None, **flags: Any) -> Table:
    """`headproof guarantee [MODEL]`: an Omega that is proven for every input, a row a layer."""
    return sweep(*model, command="guarantee", program=program, **flags)


@functools.lru_cache(maxsize=None)
def dump(program: Optional[str] = None) -> Dict[str, Any]:
    """What the program's tables hold: `headproof help --json`."""
    return dict(json.loads(call(program, ["help", "--json"]).stdout))


def plot(*tables: Union[Table, Path], program: Optional[str] = None, x: Optional[str] = None,
         error: Optional[str] = None, norm: Optional[str] = None,
         tolerance: Optional[float] = None, size: Tuple[float, float] = (0, 0),
         title: Optional[str] = None, caption: Optional[str] = None, laws: bool = False) -> Any:
    """A picture of tables, of files or at hand, as a matplotlib Figure with an Axes a panel.

    The flags are those of `headproof plot`; size: (width, height) in pixels, 0: what it takes;
    title, caption: "": none.  plot(table).savefig("picture.svg") writes it; a notebook shows it.
    """
    from . import pictures, series  # only who asks for it needs matplotlib
    met = math.nan if tolerance is None else math.log10(tolerance)
    wish = pictures.Wish(x, error, met, laws, title, caption, *size)
    read: List[series.Csv] = []
    for count, table in enumerate(tables, start=1):
        if isinstance(table, Table):  # the caption says what it is of
            name = f"table {count}" if len(tables) > 1 else "a table"
            read.append(series.Csv(name, table.lines()))
        else:
            read_csv(table)  # which refuses what is no table
            read.append(series.read_whole(os.fspath(table)))
    return pictures.figure_of(pictures.picture_of(read, wish, norm, program))
