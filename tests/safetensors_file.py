"""A safetensors file as it lies on disk, for the programs of this folder.  Python's own library."""

import json
import struct


def read(path):
    """{name: (dtype, shape, bytes)} and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    said = header.pop("__metadata__", {})
    return {name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, said


def doubles(data):
    """The numbers of an F64 tensor."""
    return struct.unpack(f"<{len(data) // 8}d", data)
