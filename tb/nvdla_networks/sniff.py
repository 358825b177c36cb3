"""Files that are not what their names say: a refusal names what they are."""

from __future__ import annotations

import re

import onnx
from google.protobuf.message import DecodeError

_HEAD = 512


def what_else(data: bytes) -> str | None:
    """Return what a file holds that is neither a loadable nor a network, None when it is not known."""
    head = data[:_HEAD].lstrip().lower()
    if not data:
        return "it is empty"
    if head.startswith(b"version https://git-lfs"):
        return "it is a pointer of Git LFS; fetch the file itself with git lfs pull"
    if re.match(rb"<(!doctype|html|\?xml)", head):
        return "it is a page of the web"
    return None


def is_onnx(data: bytes) -> bool:
    """Return whether a file holds an ONNX network, whatever its name."""
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        return False
    return bool(model.ir_version and model.graph.node)
