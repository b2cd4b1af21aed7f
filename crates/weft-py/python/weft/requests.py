"""Requests and answers as the command's `--json` has them."""

import json
from typing import Any

from weft import _weft
from weft.errors import read


def invoke(request: dict[str, Any]) -> dict[str, Any]:
    """Answers a request, or raises `WeftError`.

    >>> weft.invoke({"request": "machines", "target": "sm_90"})["machines"][0]["name"]
    'sm_90'
    """
    return read(_weft.invoke(json.dumps(request)))
