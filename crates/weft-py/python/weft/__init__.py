"""Weft: a tile compiler whose layouts are matrices over F2.

A request is a dictionary and so is its answer; they are those of the command's `--json` and of
every other shell, to the byte:

    >>> import weft
    >>> answer = weft.invoke({"request": "machines"})

`weft.triton` compiles and runs the kernels of a Triton program.
"""

import json
from typing import Any

from weft import _weft
from weft.errors import WeftError, read

__all__ = ["WeftError", "invoke"]


def invoke(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request, or raises `WeftError`."""
    return read(_weft.invoke(json.dumps(request)))
