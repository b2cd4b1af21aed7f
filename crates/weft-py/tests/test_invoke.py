"""The package answers as the command does, and its errors are exceptions that programs can read."""

import concurrent.futures
import json
import os
import signal
import threading
import time

import pytest

import weft
from weft import _weft


def test_a_request_is_answered():
    answer = weft.invoke({"request": "machines"})
    assert answer == json.loads(_weft.invoke('{"request": "machines"}'))
    assert "sm_90" in json.dumps(answer)


def test_several_requests_are_answered_each_for_itself():
    machines = {"request": "machines", "target": "sm_90"}
    answers = weft.invoke([machines, {"request": "no such request"}, machines])
    assert answers[0] == answers[2] == weft.invoke(machines)
    assert answers[1]["error"]["kind"] == "request"
    with pytest.raises(weft.WeftError, match="at most 256 requests"):
        weft.invoke(257 * [machines])


def test_a_request_that_nobody_knows_is_refused():
    with pytest.raises(weft.WeftError) as caught:
        weft.invoke({"request": "no such request"})
    assert caught.value.kind
    assert "no such request" in caught.value.message
    assert str(caught.value) == f"{caught.value.kind}: {caught.value.message}"


def test_a_text_that_is_no_json_is_answered_with_an_error():
    assert set(json.loads(_weft.invoke("{"))["error"]) >= {"kind", "message"}


# A loop of 2^31 rounds, each of which changes something.
ENDLESS = """module {
  tt.func public @endless(%out: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
      %next = arith.addi %sum, %i : i32
      scf.yield %next : i32
    }
    tt.store %out, %sum : !tt.ptr<i32>
    tt.return
  }
}"""


def chain(operations):
    """A kernel that takes the compiler a while."""
    sines = "\n".join(f"%v{i + 1} = math.sin %v{i} : tensor<1024xf32>" for i in range(operations))
    return f"""module {{
  tt.func public @chain(%x: !tt.ptr<f32>) {{
    %r = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %a = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %v0 = tt.load %a : tensor<1024x!tt.ptr<f32>>
    {sines}
    tt.store %a, %v{operations} : tensor<1024x!tt.ptr<f32>>
    tt.return
  }}
}}"""


def a_run():
    arguments = {"out": "empty:i32[1]", "n": 2**31 - 1}
    weft.invoke({"request": "run", "ttir": ENDLESS, "grid": 1, "args": arguments})


def a_compile():
    limits = {"operations": 2**30}
    weft.invoke({"request": "compile", "ttir": chain(2000), "emit": ["ptx"], "limits": limits})


def a_kernel():
    _weft.Kernel(chain(10_000).replace("math.sin", "math.absf"), target="sm_90")


def a_launch():
    # Whether a division is by zero the evaluator finds, before the simulator begins.
    divides = ENDLESS.replace("arith.addi %sum, %i", "arith.divsi %sum, %i")
    kernel = _weft.Kernel(divides, target="sm_90")
    kernel.launch((1, 1, 1), [(0, 0), 2**31 - 1], [("out", bytearray(4))])


@pytest.mark.parametrize("work", [a_run, a_compile, a_kernel, a_launch])
def test_an_interrupt_ends_the_work(work):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Timer(0.1, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - sent[0] < 1.0
    finally:
        signal.signal(signal.SIGINT, before)
    # What was interrupted leaves nothing behind.
    assert weft.invoke({"request": "machines", "target": "sm_90"})


def links(count):
    """A kernel in which so many operations hang on one another."""
    names = ("muli", "addi", "xori", "minsi")
    lines = "\n".join(f"%v{i + 1} = arith.{names[i % 4]} %v{i}, %c : tensor<128xi32>" for i in range(count))
    return f"""module {{
  tt.func public @links(%x: !tt.ptr<i32>) {{
    %r = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
    %c = arith.constant dense<5> : tensor<128xi32>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %a = tt.addptr %p, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %v0 = tt.load %a : tensor<128x!tt.ptr<i32>>
    {lines}
    tt.store %a, %v{count} : tensor<128x!tt.ptr<i32>>
    tt.return
  }}
}}"""


def test_chains_of_operations_need_no_stack():
    """A million where `WEFT_LONG` is set."""
    count = 1_000_000 if "WEFT_LONG" in os.environ else 20_000
    limits = {"operations": 4 * count + 1000, "text_bytes": 2**32, "memory_bytes": 2**33, "milliseconds": 3_600_000}
    request = {"ttir": links(count), "target": "sm_90", "limits": limits}

    def work():
        compiled = weft.invoke(request | {"request": "compile", "emit": ["ptx"]})
        explained = weft.invoke(request | {"request": "explain"})
        ran = weft.invoke(request | {"request": "run", "grid": 1, "args": {"x": "random:i32[128]"}})
        # What Python holds is dropped here, too. A kernel has no limits of its own.
        kernel = _weft.Kernel(links(min(count, 200_000)), target="sm_90")
        return compiled["ptx"].count("\n"), explained["name"], ran["passed"], kernel.symbol

    before = threading.stack_size(512 << 10)
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=1) as threads:
            lines, *answers = threads.submit(work).result()
    finally:
        threading.stack_size(before)
    assert lines > count
    assert answers == ["links", True, "links"]


def test_limits_are_told_and_raised():
    request = {"request": "compile", "ttir": chain(4), "emit": ["ptx"]}
    with pytest.raises(weft.WeftError) as caught:
        weft.invoke(request | {"limits": {"operations": 50}})
    assert caught.value.kind == "limit"
    assert weft.invoke(request | {"limits": {"operations": 5000}}) == weft.invoke(request)


def test_a_number_that_does_not_fit_is_refused():
    text = """module {
      tt.func public @put(%out: !tt.ptr<i32>, %n: i32, %flag: i1) {
        tt.store %out, %n : !tt.ptr<i32>
        tt.return
      }
    }"""
    kernel, out = _weft.Kernel(text, target="sm_90"), bytearray(4)
    for arguments, name in [
        ([(0, 0), -(2**100), 0], "n"),
        ([(0, 0), -(2**31) - 1, 0], "n"),
        ([(0, 0), 2**32, 0], "n"),
        ([(0, 0), 0, 2], "flag"),
        ([(0, 0), 0, -1], "flag"),
        ([-1, 0, 0], "out"),
        ([2**64, 0, 0], "out"),
    ]:
        with pytest.raises(OverflowError, match=f"does not fit `{name}`, which takes "):
            kernel.launch((1, 1, 1), arguments, [("out", out)])
    # Either sign's reading of the bits will do.
    for n in (-(2**31), -1, 2**31, 2**32 - 1):
        kernel.launch((1, 1, 1), [(0, 0), n, True], [("out", out)])
        assert int.from_bytes(out, "little") == n % 2**32
