"""Weft: a tile compiler whose layouts are matrices over F2.

A request is a dictionary and so is its answer; they are those of the command's `--json` and of
every other shell, to the byte:

    >>> import weft
    >>> answer = weft.invoke({"request": "machines"})
"""

import json
from typing import Any

from weft import _weft

__all__ = ["WeftError", "invoke"]


class WeftError(Exception):
    """A request that could not be answered."""

    kind: str
    """What sort of error it is, as a word for programs."""
    message: str
    """What is wrong and where, as a sentence for people."""
    details: dict[str, Any]
    """Whatever else the answer says of the error: places, limits, hints."""

    def __init__(self, kind: str, message: str, details: dict[str, Any]) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.details = details


def invoke(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request, or raises `WeftError`."""
    answer: dict[str, Any] = json.loads(_weft.invoke(json.dumps(request)))
    if "error" in answer:
        details = dict(answer["error"])
        raise WeftError(details.pop("kind"), details.pop("message"), details)
    return answer
