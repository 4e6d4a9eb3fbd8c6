"""A safetensors file as it lies on disk, for the programs of this folder.  Python's own library."""

import json
import struct


def read(path):
    """{name: (dtype, shape, bytes)} and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    assert size % 8 == 0, f"{path}: data at no multiple of 8"
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    said = header.pop("__metadata__", {})
    return {name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, said


def write(path, tensors, metadata):
    """tensors: {name: numpy array; uint16: bfloat16}, in that order; metadata: texts."""
    kinds = {"float64": "F64", "float32": "F32", "float16": "F16", "uint16": "BF16",
             "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint64": "U64",
             "uint32": "U32", "uint8": "U8", "bool": "BOOL"}
    header, offset = {"__metadata__": metadata} if metadata else {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.tobytes())


def doubles(data):
    """The numbers of an F64 tensor."""
    return struct.unpack(f"<{len(data) // 8}d", data)
