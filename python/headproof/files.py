"""Files of tensors: safetensors, read and written."""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, Mapping, Tuple, Union

import numpy as np

Path = Union[str, "os.PathLike[str]"]

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def array_of(name: str, tensor: Any) -> np.ndarray:
    """Of a torch tensor or of numpy's, with the same values; bfloat16 becomes float32."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
        tensor = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    array = np.ascontiguousarray(tensor)
    if array.dtype.newbyteorder("<").str not in DTYPES.values():
        raise ValueError(f"{name}: numbers of type {array.dtype}: expected float64, float32 or "
                         "float16, or integers of 64 or 32 bits for tokens")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def write_safetensors(path: Path, tensors: Mapping[str, np.ndarray],
                       metadata: Mapping[str, str]) -> None:
    codes = {code: name for name, code in DTYPES.items()}
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


def read_safetensors(path: Path) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        kind = entry["dtype"]
        if kind == "BF16":  # the upper halves of float32's bits
            array = (np.frombuffer(data[begin:end], "<u2").astype("<u4") << 16).view("<f4")
        elif kind in DTYPES:
            array = np.frombuffer(data[begin:end], dtype=DTYPES[kind])
        else:
            raise ValueError(f"{name}: numbers of type {kind}: expected BF16, {', '.join(DTYPES)}")
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata
