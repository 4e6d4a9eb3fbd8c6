"""Texts as token ids, for `headproof verify --tokens-file`."""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, List, Optional

from .files import Path, read_json

# An embedding [vocabulary, D], in whichever family.
EMBEDDINGS = ("embed.W_E", "wte.weight")


def vocabulary_of(model: Path) -> Optional[int]:
    """How many tokens a model's file of safetensors has; None: it does not say, or is several."""
    path = os.path.join(model, "model.safetensors") if os.path.isdir(model) else model
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        return next(entry["shape"][0] for name, entry in header.items()
                    if name.endswith(EMBEDDINGS))
    except (OSError, ValueError, struct.error, StopIteration, KeyError, MemoryError,
            OverflowError):
        return None


def read_characters(path: Path, tokens: Optional[int] = None) -> Dict[str, int]:
    """The token that each character is, by a JSON array of them in the order of tokens."""
    characters = read_json(path, "a JSON array of characters")
    if not isinstance(characters, list):
        raise ValueError(f"{path}: expected a JSON array of characters")
    if tokens is not None and len(characters) != tokens:
        raise ValueError(f"{path}: {len(characters)} characters: expected as many as the model "
                         f"has tokens, {tokens}")
    found: Dict[str, int] = {}
    for token, character in enumerate(characters):
        if not isinstance(character, str) or len(character) != 1:
            raise ValueError(f"{path}: entry {token + 1}: expected a string of one character")
        if character in found:
            raise ValueError(f"{path}: character {character!r}: tokens {found[character]} and "
                             f"{token}: expected every character once")
        found[character] = token
    return found


def _ids(path: Path, value: Any) -> List[List[int]]:
    """What a tokenizer gave as JSON: ids, lists of them, or what it calls input_ids."""
    ids = value.get("input_ids") if isinstance(value, dict) else value
    rows = ids if isinstance(ids, list) and ids and isinstance(ids[0], list) else [ids]
    for row in rows:
        if not isinstance(row, list) or not row or any(type(token) is not int for token in row):
            raise ValueError(f"{path}: expected ids of tokens, [1, 2, ...], lists of them, or an "
                             "object that has them as input_ids")
    return rows


def tokens(model: Path, text: Path, characters: Optional[Path] = None) -> List[List[int]]:
    """The token ids of a text, a character a token, line ends too; or of a file of JSON (.json)
    those that any tokenizer gave.

    characters: a JSON array of characters in the order of tokens, else characters.json beside the
    model.  ValueError names what is no character of it, by line and column.
    """
    if os.fspath(text).endswith(".json"):
        return _ids(text, read_json(text))
    if characters is None:
        folder = model if os.path.isdir(model) else os.path.dirname(model)
        characters = os.path.join(folder, "characters.json")
    token_of = read_characters(characters, vocabulary_of(model))
    with open(text, "rb") as file:
        held = file.read()
    try:
        letters = held.decode("utf-8")
    except UnicodeDecodeError as error:
        before = held[:error.start].decode("utf-8")
        raise ValueError(f"{_place(text, before)}: expected UTF-8, found byte "
                         f"0x{held[error.start]:02x}") from None
    if not letters:
        raise ValueError(f"{text}: is empty: expected at least one character")
    try:
        return [[token_of[letter] for letter in letters]]
    except KeyError as error:
        letter = error.args[0]
        raise ValueError(f"{_place(text, letters[:letters.index(letter)])}: "
                         f"{ascii(letter)}, U+{ord(letter):04X}: expected a character of "
                         f"{characters}") from None


def _place(path: Path, before: str) -> str:
    """FILE:LINE, column COLUMN of what follows."""
    column = len(before) - (before.rfind("\n") + 1) + 1
    return f"{os.fspath(path)}:{before.count(chr(10)) + 1}: column {column}"
