"""Numbers of safetensors files: read exactly in every format, wherever they lie, or refused by their
index; and written again as doubles, by `convert`, which copies an embedding."""

import struct

import models
import numpy as np
import pytest
import safetensors_file

ONES = {f"blocks.0.mlp.W_{side}": np.ones((2, 2)) for side in ("in", "out")}
SAID = models.ALONE | {"activation": "relu", "positions": "none"}
DRAWN = np.random.default_rng(3)


def words(kind, count=100000):
    """Bits of numbers: any, near 0, and with no digits but their exponent's."""
    bits = np.frombuffer(DRAWN.bytes(count * np.dtype(kind).itemsize), kind).copy()
    width, exponent = 8 * bits.itemsize, 8 if bits.itemsize == 4 else 11
    bits[::8] &= ~np.array((1 << (width - 3)) - (1 << (width - 3 - exponent)), kind)
    bits[1::64] &= np.array(1 << (width - 1), kind)
    return bits


def single(bits):
    """What bits of bfloat16 are."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


EVERY = np.arange(65536, dtype=np.uint16)
# Every number of two bytes, and many of more: as they are written, and what they are.
NUMBERS = {"F16": (EVERY.view(np.float16), EVERY.view(np.float16)), "BF16": (EVERY, single(EVERY)),
           **{kind: (words(bits).view(number),) * 2
              for kind, bits, number in (("F32", "u4", "f4"), ("F64", "u8", "f8"))}}
for kind, pair in NUMBERS.items():
    finite = np.isfinite(pair[1])
    NUMBERS[kind] = [each[finite][:finite.sum() // 2 * 2].reshape(-1, 2) for each in pair]


@pytest.fixture
def converted(expect, tmp_path):
    """What convert makes of the embedding of m.safetensors."""
    def read():
        expect(0, "convert m.safetensors --omega 20 --n 2 -q -o out")
        kind, shape, data = safetensors_file.read(tmp_path / "out")[0]["embed.W_E"]
        assert kind == "F64"
        return np.frombuffer(data).reshape(shape)[:-1, :2]  # the last row is the bias row's
    return read


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers(converted, tmp_path, kind):
    written, expected = NUMBERS[kind]
    models.write(tmp_path / "m.safetensors", {**ONES, "embed.W_E": written}, SAID)
    assert converted().tobytes() == expected.astype(float).tobytes()


@pytest.mark.parametrize("spaces", range(8))
def test_alignment(converted, tmp_path, spaces):
    """Data at every place of a file."""
    path, numbers = tmp_path / "m.safetensors", NUMBERS["BF16"]
    models.write(path, {**ONES, "embed.W_E": numbers[0][-99:]}, SAID)
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    path.write_bytes(struct.pack("<Q", end - 8 + spaces) + data[8:end] + b" " * spaces + data[end:])
    assert (converted() == numbers[1][-99:]).all()


def bits(kind, *numbers):
    return [(np.array(number, kind[0]).view(kind[1]), what) for number, what in numbers]


INFINITE, NONE = "infinity", "NaN"
ODD = [*bits(("u2", "f2"), (0x7c00, INFINITE), (0x7c01, NONE), (0x7fff, NONE), (0xfc00, INFINITE)),
       *bits(("u2", "u2"), (0x7f80, INFINITE), (0x7f81, NONE), (0x7fff, NONE), (0xff80, INFINITE)),
       *bits(("u4", "f4"), (0x7f800000, INFINITE), (0x7f800001, NONE), (0xff800000, INFINITE)),
       *bits(("u8", "f8"), (0x7ff << 52, INFINITE), ((0x7ff << 52) + 1, NONE),
             (0xfff << 52, INFINITE))]


@pytest.mark.parametrize("number, what", ODD)
def test_what_is_not_finite(refused, tmp_path, number, what):
    """Behind many that are."""
    path, numbers = tmp_path / "m.safetensors", np.zeros((20000, 2), number.dtype)
    numbers[19000, 1] = number
    models.write(path, {**ONES, "embed.W_E": numbers}, SAID)
    refused(f"tensor 'embed.W_E': index (19000, 1): {what}", "verify", path, begin=f"{path}: ")


# A kind of integers, one of them, and what it is called if not by itself.
INTEGERS = [("i8", -2**63, None), ("i8", -1, None), ("i8", 2**63 - 1, None), ("i4", -2**31, None),
            ("i4", 53, None), ("i2", -2, None), ("i1", -128, None), ("i1", 127, None),
            ("u8", 2**63 - 1, None), ("u8", 2**63, "expected an integer below 2^63"),
            ("u4", 2**32 - 1, None), ("u2", 65535, None), ("u1", 255, None),
            ("?", 2, "expected 0 or 1")]


@pytest.mark.parametrize("kind, token, words", INTEGERS)
def test_integers(refused, tmp_path, kind, token, words):
    """Behind many others, which are tokens of the model."""
    path, tokens = tmp_path / "m.safetensors", np.zeros((1, 20011), kind.replace("?", "u1"))
    tokens[0, -1] = token
    models.write(path, {**ONES, "embed.W_E": np.ones((3, 2)), "tokens": tokens.view(kind)}, SAID)
    if kind == "u2":  # which is written as bfloat16
        path.write_bytes(path.read_bytes().replace(b'"BF16"', b'"U16" '))
    words = words or f"{token}: expected 0 to 2"
    refused(f"tensor 'tokens': index (0, 20010): {words}", "verify", path, begin=f"{path}: ")
