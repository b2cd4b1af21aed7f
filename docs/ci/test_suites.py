"""`docs/measurements/suites.py` on suites made up here: whatever a case does, it is counted once."""

import collections
import json
import sys

import pytest
from loading import load

suites = load("suites")
worker = load("suites_worker")

ENDINGS = """
import os, random, time
import numpy
import pytest

@pytest.mark.parametrize("n", range(20))
def test_passes(n):
    pass

@pytest.mark.parametrize("n", range(6))
def test_fails_when_odd(n):
    assert n % 2 == 0, f"{n} is odd"

@pytest.mark.parametrize("n", range(4))
def test_aborts(n):
    if n == 1:
        os.abort()
    if n == 2:
        os._exit(0)

@pytest.mark.parametrize("n", range(2))
def test_hangs(n):
    if n == 1:
        time.sleep(1000)

def test_skips():
    pytest.skip("not here")

@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False

@pytest.fixture
def broken():
    raise KeyError("no such thing")

def test_of_a_broken_fixture(broken):
    pass

@pytest.fixture
def leaving():
    yield
    raise KeyError("left behind")

def test_with_a_broken_end(leaving):
    pass

def test_skips_and_has_a_broken_end(leaving):
    pytest.skip("not here")

@pytest.mark.parametrize("n", range(8))
def test_environment_is_clean(n):
    assert "LEFT_BY_A_CASE" not in os.environ
    os.environ["LEFT_BY_A_CASE"] = "1"

DRAWN = os.environ["DRAWN"]

@pytest.mark.parametrize("n", range(4))
def test_draws(n):
    with open(DRAWN, "a") as out:
        out.write(f"{n} {random.random()} {numpy.random.rand()}\\n")
"""

# A GPU that answers nothing more after a fault, and has memory for one process at a time.
FAULTS = """
import os, sys, types
import pytest

faulted = False

def synchronize():
    if faulted:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

cuda = types.SimpleNamespace(is_initialized=lambda: True, is_available=lambda: False)
cuda.synchronize, cuda.empty_cache = synchronize, lambda: None
sys.modules["torch"] = types.SimpleNamespace(cuda=cuda, manual_seed=lambda seed: None)

@pytest.mark.parametrize("n", range(12))
def test_faults(n):
    global faulted
    faulted = n == 5

def test_wants_memory():
    try:
        with open(os.environ["DRAWN"], "x"):
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    except FileExistsError:
        pass
"""

KERNELS = """
import numpy as np
import pytest
import triton
import triton.language as tl

@triton.jit
def add(x, out, step, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + step)

def launched(step):
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    return x, out, add[(1,)](x, out, step, BLOCK=128)

@pytest.mark.parametrize("step", [2.0, 3.0])
def test_adds(step):
    x, out, _ = launched(step)
    np.testing.assert_array_equal(out, x + step)

def test_differs():
    x, out, _ = launched(2.0)
    np.testing.assert_array_equal(out, x)

def test_looks_at_texts():
    _, _, kernel = launched(2.0)
    assert kernel.asm["ttgir"]

def test_launches_nothing():
    pass

def test_takes_what_the_autotuner_keeps():
    tried = []
    configs = [triton.Config({}, num_warps=warps) for warps in (1, 2, 4, 8)]
    tuner = triton.autotune(configs, key=[])(add)
    kept = tuner.prune_configs({})
    assert len(kept) == 1
"""


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """A function that makes a suite of one file, and one that measures it and reads what was written."""
    folder = tmp_path / "suite"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_out.py").write_text("def test_out():\n    assert False\n")
    (folder / "tests" / "test_unreadable.py").write_text("import what_is_not_there\n")
    monkeypatch.setattr(
        suites,
        "SUITES",
        {"fake": suites.Suite("nobody/fake", "0" * 40, (".",), ("tests",), {"tests/test_out.py": "not wanted"})},
    )
    monkeypatch.setenv("DRAWN", str(tmp_path / "drawn"))

    def measure(text, *options, name="cases.jsonl"):
        (folder / "tests" / "test_fake.py").write_text(text)
        cases, output = tmp_path / name, tmp_path / "report.json"
        arguments = ["--fake", str(folder), "--cases", str(cases), "--output", str(output), "--workers", "2"]
        monkeypatch.setattr(sys, "argv", ["suites.py", *arguments, *options])
        suites.main()
        lines = [json.loads(line) for line in cases.read_text().splitlines()]
        return lines, json.loads(output.read_text())

    return measure


def named(lines, compiler="triton"):
    """The cases, each of which must be there once."""
    found = {}
    for line in lines:
        if line["compiler"] == compiler and "name" in line:
            name = line["name"].split("::")[1]
            assert name not in found
            found[name] = line
    return found


def test_every_case_is_counted_once_however_it_ends(suite, tmp_path):
    lines, _ = suite(ENDINGS, "--compilers", "triton", "--case-seconds", "3")
    cases = named(lines)
    outcomes = collections.Counter((name.split("[")[0], case["outcome"]) for name, case in cases.items())
    assert outcomes == {
        ("test_passes", "passed"): 20,
        ("test_fails_when_odd", "passed"): 3,
        ("test_fails_when_odd", "failed"): 3,
        ("test_aborts", "passed"): 2,
        ("test_aborts", "killed"): 2,
        ("test_hangs", "passed"): 1,
        ("test_hangs", "killed"): 1,
        ("test_skips", "skipped"): 1,
        ("test_is_expected_to_fail", "skipped"): 1,
        ("test_of_a_broken_fixture", "failed"): 1,
        ("test_with_a_broken_end", "failed"): 1,
        ("test_skips_and_has_a_broken_end", "failed"): 1,
        ("test_environment_is_clean", "passed"): 8,
        ("test_draws", "passed"): 4,
    }
    assert cases["test_fails_when_odd[3]"]["why"].startswith("AssertionError: 3 is odd")
    assert cases["test_of_a_broken_fixture"]["why"] == "KeyError: 'no such thing'"
    for name in ("test_with_a_broken_end", "test_skips_and_has_a_broken_end"):
        assert cases[name]["why"] == "KeyError: 'left behind'"
    assert cases["test_skips"]["why"] == "Skipped: not here"
    assert cases["test_is_expected_to_fail"]["why"].startswith("AssertionError")
    assert cases["test_aborts[1]"]["why"] == "ended by SIGABRT"
    assert cases["test_aborts[2]"]["why"] == "ended with status 0"
    assert cases["test_hangs[1]"]["why"] == "ran longer than 3 s"
    (about,) = [line for line in lines if "collected" in line]
    assert (about["collected"], about["chosen"]) == (49, 49)
    assert about["uncollected"] == {
        "tests/test_unreadable.py": "ModuleNotFoundError: No module named 'what_is_not_there'"
    }


def test_a_fault_fails_its_own_case_and_want_of_memory_none(suite):
    lines, report = suite(FAULTS, "--compilers", "triton")
    *first, last = [line for line in lines if "name" in line]
    cases = named(first)
    failed = {name: case["why"] for name, case in cases.items() if case["outcome"] != "passed"}
    assert failed == {
        "test_faults[5]": "RuntimeError: CUDA error: an illegal memory access was encountered",
        "test_wants_memory": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
    }
    assert len(cases) == 13
    # It ran again when the others had ended.
    assert (last["name"], last["outcome"]) == ("tests/test_fake.py::test_wants_memory", "passed")
    assert report["rows"][0][2:4] == ["13", "12"]


def test_unseeded_numbers_are_the_same_every_time(suite, tmp_path):
    drawn = []
    for name in ("first.jsonl", "second.jsonl"):
        (tmp_path / "drawn").write_text("")
        suite(ENDINGS, "--compilers", "triton", "--select", "test_draws", name=name)
        drawn.append(sorted((tmp_path / "drawn").read_text().splitlines()))
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 4


def test_what_is_not_begun_in_time_did_not_run(suite):
    slow = "import time, pytest\n@pytest.mark.parametrize('n', range(99))\ndef test_slow(n):\n    time.sleep(0.5)\n"
    lines, report = suite(slow, "--compilers", "triton", "--seconds", "8")
    cases = named(lines)
    assert 0 < len(cases) < 99
    assert {case["outcome"] for case in cases.values()} == {"passed"}
    assert report["rows"][0][:4] == ["fake", "99", str(len(cases)), str(len(cases))]


def test_weft_runs_what_triton_passed(suite, tmp_path):
    passed = ["test_adds[2.0]", "test_adds[3.0]", "test_differs", "test_looks_at_texts", "test_launches_nothing"]
    passed += ["test_takes_what_the_autotuner_keeps", "test_that_is_gone"]
    earlier = [dict(name=name, outcome="passed", why="", by_triton=int("nothing" not in name)) for name in passed]
    earlier += [dict(name="test_that_triton_fails", outcome="failed", why="", by_triton=1)]
    for line in earlier:
        line.update(suite="fake", compiler="triton", name=f"tests/test_fake.py::{line['name']}", seconds=1.0)
    earlier.append(dict(suite="fake", compiler="triton", collected=9))
    against = tmp_path / "against.jsonl"
    against.write_text("".join(json.dumps(line) + "\n" for line in earlier))
    options = ("--compilers", "simulator", "--against", str(against), "--configurations", "1")
    lines, report = suite(KERNELS, *options)
    cases = named(lines, "simulator")
    assert set(cases) == set(passed) - {"test_that_is_gone"}
    kernels = {name: (case["by_weft"], case["by_triton"]) for name, case in cases.items()}
    assert kernels["test_adds[2.0]"] == kernels["test_adds[3.0]"] == kernels["test_differs"] == (1, 0)
    assert kernels["test_launches_nothing"] == (0, 0)
    assert cases["test_takes_what_the_autotuner_keeps"]["outcome"] == "passed"
    row = dict(zip(report["columns"], report["rows"][0], strict=True))
    assert row == {
        "suite": "fake",
        "cases": "9",
        "run": "8",
        "passed by Triton": "7",
        "without kernels": "1",
        "about Triton's texts": "1",
        "compared": "4",
        "passed by Weft": "3",
        "by Triton alone": "1",
        "Triton's kernels in them": "0",
        "not run": "1",
        "Triton, s": "3",
        "Weft, s": row["Weft, s"],
    }
    ((name, test, count, why),) = report["failures"]["rows"]
    assert (name, test, count) == ("fake", "`tests/test_fake.py::test_differs`", "1")
    assert why.startswith("AssertionError")
    # The lines of both make the same report, without running anything.
    both = tmp_path / "both.jsonl"
    both.write_text(against.read_text() + (tmp_path / "cases.jsonl").read_text())
    made = suites.Lines()
    made.read(both, set())
    assert suites.report(made, "simulator", "")["rows"] == report["rows"]


def test_a_case_whose_kernel_triton_compiled_is_not_passed_by_weft():
    one = dict(outcome="passed", why="", seconds=1.0, by_weft=0, by_triton=1)
    other = dict(one, by_weft=1)
    ends, failures, _ = suites.compared({"test_a[1]": one}, {"test_a[1]": other})
    assert ends == {"escaped": 1}
    assert list(failures.values()) == [["test_a[1]"]]


def test_a_case_that_found_no_memory_did_not_run():
    one = dict(outcome="passed", why="", seconds=1.0, by_weft=0, by_triton=1)
    memory, shared = "OutOfMemoryError: CUDA out of memory.", "OutOfResources: out of resource: shared memory"
    for why, end in ((memory, "not run"), (shared, "failed")):
        other = dict(one, outcome="failed", why=why)
        assert suites.compared({"test_a": one}, {"test_a": other})[0] == {end: 1}


def test_a_share_has_some_of_every_test_and_the_same_every_time():
    names = [f"test_a[{n}]" for n in range(100)] + [f"test_b[{n}]" for n in range(3)] + ["test_c"]
    kept = worker.chosen(names, 1 / 10, 0)
    assert collections.Counter(name.split("[")[0] for name in kept) == {"test_a": 10, "test_b": 1, "test_c": 1}
    assert kept == worker.chosen(names[::-1], 1 / 10, 0)
    assert kept != worker.chosen(names, 1 / 10, 1)
    # A smaller share is a part of a larger one, and the first cases are of different tests.
    assert set(worker.chosen(names, 1 / 20, 0)) < set(kept) < set(worker.chosen(names, 1, 0))
    assert {name.split("[")[0] for name in kept[:3]} == {"test_a", "test_b", "test_c"}
