"""A model of PyTorch's, or a text's tokens, as files that `headproof` reads."""

import argparse
import errno
import os
import sys
from typing import Any, Dict, List, Optional

from .files import read_json
from .program import HeadproofError
from .save import save
from .tokens import tokens


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m headproof", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "tokens", help="writes a text's tokens as headproof verify --tokens-file reads them")
    command.add_argument("model", help="a file of safetensors, or its folder")
    command.add_argument("text", help="a character a token; FILE.json: ids that a tokenizer gave")
    command.add_argument("-o", "--output", metavar="FILE", help="else stdout")
    command.add_argument("--characters", metavar="FILE.json", help="the characters in the order "
                         "of tokens; else characters.json beside the model")
    command = commands.add_parser(
        "save", help="writes a .pth, .pt, .bin or .ckpt, or a folder, as headproof verify reads it")
    command.add_argument("model")
    command.add_argument("-o", "--output", required=True, metavar="FILE.safetensors")
    command.add_argument("--config", metavar="FILE.json",
                         help="a config.json; else that of the checkpoint or the folder")
    command.add_argument("--names", metavar="FILE.json",
                         help='names of another kind: {"their.{l}.name": "attn.W_Q", ...}')
    command.add_argument("--heads", type=int, help="attention heads of a layer")
    command.add_argument("--sides", choices=("in-out", "out-in"),
                         help="of square matrices: x W, or as in torch.nn.Linear")
    command.add_argument("--eps", type=float, help="what norms add to the variance")
    for name in ("activation", "normalization", "normalization-place", "scale", "mask",
                 "positions", "blocks"):
        command.add_argument(f"--{name}")
    command.add_argument("--ignore-extra", action="store_true",
                         help="as of headproof verify, which then takes it, too")
    command.add_argument("--ignore-config", metavar="KEY,...", help="the same")
    command.add_argument("--witness", metavar="FILE.npz",
                         help="arrays tokens and logits, as the model itself answers")
    return parser


def _tokens(asked: Dict[str, Any]) -> None:
    """A sequence a line."""
    output = asked.pop("output")
    for name in ("text", "characters", "model"):
        if output is not None and os.path.exists(output) and asked[name] is not None \
                and os.path.samefile(output, asked[name]):
            raise ValueError(f"{output}: expected another file than the {name}")
    lines = "".join(" ".join(map(str, row)) + "\n" for row in tokens(**asked))
    if output is None:
        sys.stdout.write(lines)
        sys.stdout.flush()
    else:
        with open(output, "w", encoding="ascii") as file:
            file.write(lines)


def _save(asked: Dict[str, Any]) -> None:
    model, output, witness = asked.pop("model"), asked.pop("output"), asked.pop("witness")
    if asked["names"] is not None:
        asked["names"] = read_json(asked["names"])
    if witness is not None:
        import numpy as np
        with np.load(witness) as arrays:
            witness = arrays["tokens"], arrays["logits"]
    said = save(model, output, witness=witness,
                **{name.replace("-", "_"): value for name, value in asked.items()})
    print(f"{output}: " + ", ".join(f"{name} {value}" for name, value in said.items()
                                    if len(value) < 40))


def main(words: Optional[List[str]] = None) -> int:
    """0; after a message 2, or 99 where the machine failed."""
    asked = vars(_parser().parse_args(words))
    command, model = asked.pop("command"), asked["model"]
    try:
        (_tokens if command == "tokens" else _save)(asked)
    except (ValueError, OSError, KeyError, HeadproofError) as error:
        print(f"headproof: {model + ': ' if command == 'save' else ''}{error}", file=sys.stderr)
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        return 99 if full or getattr(error, "code", 2) == 99 else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
