"""Files of tensors, safetensors, read and written; files of JSON."""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, Mapping, Tuple, Union

import numpy as np

Path = Union[str, "os.PathLike[str]"]

# The upper halves of float32's bits, which numpy has no type for.
BF16 = np.dtype([("bfloat16", "<u2")])
DTYPES = {"F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": BF16,
          "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"),
          "I8": np.dtype("i1"), "U64": np.dtype("<u8"), "U32": np.dtype("<u4"),
          "U16": np.dtype("<u2"), "U8": np.dtype("u1"), "BOOL": np.dtype("?")}


def read_json(path: Path, expected: str = "JSON") -> Any:
    """What is in a file; a ValueError names it, and what was expected."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        raise ValueError(f"{path}: expected {expected} ({error})") from None


def array_of(name: str, tensor: Any) -> np.ndarray:
    """Of a torch tensor or of numpy's, with the same values."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        if str(tensor.dtype) == "torch.bfloat16":
            bits = np.ascontiguousarray(tensor.float().numpy()).view("<u4") >> 16
            return bits.astype("<u2").view(BF16)
        tensor = tensor.numpy()
    array = np.asarray(tensor)
    array = np.ascontiguousarray(array).reshape(array.shape)  # a scalar keeps its shape
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype not in DTYPES.values():
        raise ValueError(f"{name}: numbers of type {array.dtype}: expected one of "
                         f"{', '.join(DTYPES)}")
    return array


def write_safetensors(path: Path, tensors: Mapping[str, np.ndarray],
                       metadata: Mapping[str, str]) -> None:
    codes = {dtype: name for name, dtype in DTYPES.items()}
    header: Dict[str, Any] = {"__metadata__": dict(metadata)}
    offset = 0
    # The widest numbers first, so that all are aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    for name in order:
        array = tensors[name]
        header[name] = {"dtype": codes[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(tensors[name].tobytes())


def read_safetensors(path: Path) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"{name}: numbers of type {entry['dtype']}: expected one of "
                             f"{', '.join(DTYPES)}")
        array = np.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata
