"""Requests and answers as the command's `--json` has them."""

import json
from typing import Any, overload

from weft import _weft
from weft.errors import read


@overload
def invoke(request: dict[str, Any]) -> dict[str, Any]: ...
@overload
def invoke(request: list[dict[str, Any]]) -> list[dict[str, Any]]: ...
def invoke(request: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Answers a request, or raises `WeftError`.

    Several requests are answered in their order; one that cannot be answered has `error` in its answer's
    place, and nothing is raised.

    >>> weft.invoke({"request": "machines", "target": "sm_90"})["machines"][0]["name"]
    'sm_90'
    """
    return read(_weft.invoke(json.dumps(request)))
