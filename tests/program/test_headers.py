"""Headers of safetensors files that are wrong, each in its own way: one message, which names the
file, the tensor and what was expected."""

import os
import struct

import pytest


def tensor(name, shape="[1]", offsets="[0,4]", dtype='"F32"', rest=""):
    """A tensor of a header; what is empty is left out."""
    keys = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    return '"%s":{%s}' % (name, ",".join(f'"{k}":{v}' for k, v in keys.items() if v) + rest)


def at(name, begin, end):
    return tensor(name, offsets=f"[{begin},{end}]")


PRODUCT = "'a': key 'shape': expected extents whose product"

# The header, or its tensors; how many bytes of data there are, and what is said.
HEADERS = [
    # What is no header at all.
    ("", 4, "expected '{' at byte 8"),
    ("[]", 0, "expected '{' at byte 8"),
    (" {}", 0, "expected '{' at byte 8"),
    ("{", 0, "header: byte 9: "),
    ("{}x", 0, "header: byte 11: "),
    ('{"a":\x01}', 0, "header: byte 14: "),
    (b'{"a":"\xff"}', 0, "header: byte "),
    ([at("a", 0, 4), at("a", 4, 8)], 8, "duplicate object key near '\"a\"'"),
    ('{"a":' + "[" * 4000, 0, "maximum parsing depth reached"),
    # What a tensor lacks or has too much of.
    ('{"a":3}', 0, "tensor 'a': expected an object"),
    ([tensor("a", dtype="")], 4, "'a': key 'dtype': expected to be there"),
    ([tensor("a", shape="")], 4, "'a': key 'shape': expected to be there"),
    ([tensor("a", offsets="")], 4, "'a': key 'data_offsets': expected to be there"),
    ([tensor("a", rest=',"x":1')], 4, "'a': key 'x': expected dtype"),
    ([tensor("a", dtype="7")], 4, "'a': dtype '(not a string)'"),
    ([tensor("a", dtype='"F8"')], 4, "'a': dtype 'F8': expected F64"),
    ([tensor("a", "1")], 4, "'a': key 'shape': expected an array"),
    ([tensor("a", "[-1]")], 4, "'a': key 'shape': expected integers >= 0"),
    ([tensor("a", "[1.0]")], 4, "'a': key 'shape': expected integers >= 0"),
    ([tensor("a", "[1,1,1,1,1,1,1,1,1]")], 4, "at most 8"),
    ([tensor("a", "[4294967296,4294967296]")], 4, PRODUCT),
    ([tensor("a", "[4611686018427387904]", "[0,0]")], 0, PRODUCT),
    ([tensor("a", "[4294967296,0,4294967296]", "[0,0]")], 0, PRODUCT),
    ([tensor("a", "[99999999999999999999]")], 4, "too big integer"),
    ([tensor("a", offsets="4")], 4, "'a': key 'data_offsets': expected an array of two"),
    ([tensor("a", offsets="[0,4,4]")], 4, "'a': key 'data_offsets': expected an array of two"),
    ([tensor("a", offsets="[0]")], 4, "'a': key 'data_offsets': expected an array of two"),
    ([tensor("a", offsets="[-4,0]")], 4, "'a': key 'data_offsets': expected an array of two"),
    ([at("a", 0, 4)], 5, "data of 5 bytes: expected 4"),
    # Names and metadata.
    ([at("", 0, 4)], 4, "expected a name of 1 to 255 bytes"),
    ([at("n" * 256, 0, 4)], 4, "expected a name of 1 to 255 bytes"),
    ([at("n" * 255, 0, 4)], 4, "unknown tensors: 'nnn"),
    ([at("a\\nb", 0, 4)], 4, "'a\\x0ab': expected a name without control"),
    ([at("a\\u009bb", 0, 4)], 4, "'a\\u{9b}b': expected a name without control"),
    ([at("a\\u0000", 0, 4)], 4, "header: byte "),
    ('{"__metadata__":[]}', 0, "key '__metadata__': expected an object"),
    ('{"__metadata__":{"k":1}}', 0, "metadata 'k': expected a string"),
    ('{"__metadata__":{"k":"1","k":"2"}}', 0, "duplicate object key near '\"k\"'"),
]


def write(path, header, data):
    if isinstance(header, list):
        header = "{" + ",".join(header) + "}"
    header = header if isinstance(header, bytes) else header.encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"<" * data)


@pytest.mark.parametrize("header, data, words", HEADERS)
def test_header(refused, tmp_path, header, data, words):
    path = tmp_path / "m.safetensors"
    write(path, header, data)
    refused(words, "verify", path, begin=f"{path}: ")


# Where the tensors a and b are in how many bytes, and what is said of the last.
LAYOUTS = [
    ([(4, 0)], 4, "expected a range within"),
    ([(0, 4)], 3, "expected a range within the data, 0 to 3"),
    ([(0, 8)], 8, "expected a range of 4 bytes for shape [1] of F32"),
    ([(0, 4), (2, 6)], 6, "expected to begin at 4, after 'a' (an overlap)"),
    ([(0, 4), (0, 4)], 4, "expected to begin at 4"),
    ([(0, 4), (6, 10)], 10, "expected to begin at 4, after 'a' (a hole)"),
    ([(1, 5)], 5, "expected to begin at 0, after 'the header' (a hole)"),
]


@pytest.mark.parametrize("ranges, data, words", LAYOUTS)
def test_layout(refused, tmp_path, ranges, data, words):
    path = tmp_path / "m.safetensors"
    write(path, [at(name, *range_) for name, range_ in zip("ab", ranges)], data)
    refused(f"'{'ab'[len(ranges) - 1]}': data_offsets {list(ranges[-1])}: {words}", "verify", path)


# The length that the file begins with, what follows, and what is said.
BYTES = [
    (b"", "it is empty"),
    (b"\2\0\0\0\0\0\0", "7 bytes: expected at least 8"),
    (struct.pack("<Q", 0), "expected '{' at byte 8"),
    (struct.pack("<Q", 0) + b"{", "expected '{' at byte 8"),
    (struct.pack("<Q", 3) + b"{}", "header of 3 bytes: expected at most 2"),
    (struct.pack("<Q", 2**64 - 1) + b"{}", "header of 18446744073709551615 bytes: expected"),
    (struct.pack("<Q", 2 + 2**63) + b"{}", "expected at most 2"),
]


@pytest.mark.parametrize("data, words", BYTES)
def test_no_header(refused, tmp_path, data, words):
    path = tmp_path / "m.safetensors"
    path.write_bytes(data)
    refused(words, "verify", path, begin=f"{path}: ")


def test_header_too_long(refused, tmp_path):
    """A file that is large enough, without its blocks."""
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", 100000001) + b"{}")
    os.truncate(path, 200000000)
    refused("header of 100000001 bytes: expected at most 100000000", "verify", path)
