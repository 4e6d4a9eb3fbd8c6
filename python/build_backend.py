"""Builds the wheel of the package (PEP 517), from Python's own library: it is pure Python."""

import base64
import hashlib
import os
import re
import zipfile

_HERE = os.path.dirname(os.path.abspath(__file__))


def _project(name):
    """A line NAME = "VALUE" of pyproject.toml."""
    with open(os.path.join(_HERE, "pyproject.toml"), encoding="utf-8") as file:
        return re.search(rf'^{name} = "([^"]*)"$', file.read(), re.M)[1]


def _sources():
    folder = os.path.join(_HERE, "headproof")
    return sorted(f"headproof/{name}" for name in os.listdir(folder)
                  if name.endswith((".py", ".typed")))


def _metadata():
    return (f"Metadata-Version: 2.1\nName: {_project('name')}\nVersion: {_project('version')}\n"
            f"Summary: {_project('description')}\nRequires-Python: {_project('requires-python')}\n"
            "Requires-Dist: numpy\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel, and returns its name."""
    stem = f"{_project('name')}-{_project('version')}"
    name = f"{stem}-py3-none-any.whl"
    files = {}
    for source in _sources():
        with open(os.path.join(_HERE, source), "rb") as file:
            files[source] = file.read()
    files[f"{stem}.dist-info/METADATA"] = _metadata().encode()
    files[f"{stem}.dist-info/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: headproof\n"
                                        b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    """Refused: a wheel is all that there is."""
    raise NotImplementedError("expected a wheel to be asked for: pip install ./python")
