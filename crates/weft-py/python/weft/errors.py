"""What a request that could not be answered raises."""

import json
from typing import Any


class WeftError(Exception):
    """A request that could not be answered."""

    kind: str
    """What sort of error it is, as a word for programs."""
    message: str
    """What is wrong and where, as a sentence for people."""
    details: dict[str, Any]
    """Whatever else the answer says of the error: places, limits, hints."""

    def __init__(self, kind: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.details = details or {}


def of_answer(answer: str) -> WeftError:
    """The exception of an error answer's text."""
    fields = dict(json.loads(answer)["error"])
    return WeftError(fields.pop("kind"), fields.pop("message"), fields)


def read(answer: str) -> Any:
    """An answer's text as a dictionary, that of an array as a list; an error answer is raised."""
    fields = json.loads(answer)
    if "error" in fields:
        raise of_answer(answer)
    return fields
