"""The package answers as the command does, and its errors are exceptions that programs can read."""

import json

import pytest

import weft
from weft import _weft


def test_a_request_is_answered():
    answer = weft.invoke({"request": "machines"})
    assert answer == json.loads(_weft.invoke('{"request": "machines"}'))
    assert "sm_90" in json.dumps(answer)


def test_a_request_that_nobody_knows_is_refused():
    with pytest.raises(weft.WeftError) as caught:
        weft.invoke({"request": "no such request"})
    assert caught.value.kind
    assert "no such request" in caught.value.message
    assert str(caught.value) == f"{caught.value.kind}: {caught.value.message}"


def test_a_text_that_is_no_json_is_answered_with_an_error():
    assert set(json.loads(_weft.invoke("{"))["error"]) >= {"kind", "message"}
