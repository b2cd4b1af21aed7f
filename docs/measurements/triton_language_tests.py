#!/usr/bin/env python3
"""Triton's own tests of its language, run on Triton's compiler and on Weft's.

    python docs/measurements/triton_language_tests.py run FILE --compiler triton --output triton.jsonl
    python docs/measurements/triton_language_tests.py run FILE --compiler weft --output weft.jsonl
    python docs/measurements/triton_language_tests.py compare triton.jsonl weft.jsonl

`FILE` is `python/test/unit/language/test_core.py` of Triton's repository, at a commit of the time of the
Triton that is installed; it is not a part of this project. Needs a GPU, PyTorch, pytest and pytest-xdist;
`--compiler simulator` needs no GPU. Each line of an output is a case: its name, how it ended, why it
failed, and whether it looked at a text of Triton's own pipeline (`asm["ttgir"]`, `"llir"`, `"ptx"`),
which is no text of Weft's. `compare` counts the cases that Triton passes; those that fail only because they
look for words in such a text are counted apart.
"""

import argparse
import collections
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER = "WEFT_LANGUAGE_TESTS_COMPILER"
OUTPUT = "WEFT_LANGUAGE_TESTS_OUTPUT"
TEXTS = {"ttgir", "llir", "ptx", "sass"}
# What a case says that fails because a text of Triton's is not there, or has other words.
ABOUT_TEXT = re.compile(r"\.version \d|Unknown key|method count of str object")


def run(arguments):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        environment[COMPILER] = arguments.compiler
        environment[OUTPUT] = folder
        environment["TRITON_CACHE_DIR"] = str(Path(folder) / "cache")
        here = str(Path(__file__).resolve().parent)
        environment["PYTHONPATH"] = os.pathsep.join([here, environment.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-p", Path(__file__).stem, "-p", "no:cacheprovider", "-q"]
        command += ["--no-header", "--tb=no", "-n", str(arguments.workers), "--dist", "worksteal", "-W", "ignore"]
        command += ["--max-worker-restart", "50", arguments.file]
        if arguments.select:
            command += ["-k", arguments.select]
        if arguments.sample > 1:
            environment["WEFT_LANGUAGE_TESTS_SAMPLE"] = str(arguments.sample)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, env=environment, timeout=arguments.timeout, check=False)
        lines = [line for part in sorted(Path(folder).glob("*.jsonl")) for line in part.read_text().splitlines()]
    Path(arguments.output).write_text("".join(line + "\n" for line in sorted(lines)))
    print(collections.Counter(json.loads(line)["outcome"] for line in lines))


def compare(arguments):
    def read(path):
        return {case["name"]: case for case in map(json.loads, Path(path).read_text().splitlines())}

    triton, weft = read(arguments.triton), read(arguments.weft)
    passed = [name for name, case in triton.items() if case["outcome"] == "passed"]
    ends = collections.Counter()
    groups = collections.defaultdict(list)
    for name in passed:
        case = weft.get(name, dict(outcome="not run", why=""))
        end = "asked for a text" if case["outcome"] == "failed" and ABOUT_TEXT.search(case["why"]) else case["outcome"]
        ends[end] += 1
        if end not in ("passed", "asked for a text"):
            groups[name.split("[")[0], without_numbers(case["why"])].append(name)
    counted = sum(ends.values()) - ends["asked for a text"]
    rows = [[f"`{test}`", str(len(names)), why] for (test, why), names in groups.items()]
    rows.sort(key=lambda row: (-int(row[1]), row[0]))
    measurement = {
        "what": "cases of Triton's tests of its language that Triton passes, compiled by Weft",
        "command": "python docs/measurements/triton_language_tests.py compare triton.jsonl weft.jsonl --output FILE",
        "passed_by_triton": len(passed),
        "asked_for_a_text_of_triton": ends["asked for a text"],
        "counted": counted,
        "passed_by_weft": ends["passed"],
        "columns": ["test", "cases not passed", "why"],
        "rows": rows,
    }
    print(json.dumps(measurement, indent=2, ensure_ascii=False))
    print(f"{ends['passed']} of {counted}, {ends['passed'] / counted:.2%}", file=sys.stderr)
    if arguments.output:
        Path(arguments.output).write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")


def without_numbers(why):
    """A reason without what differs from case to case and from machine to machine."""
    return re.sub(r"\d+", "N", re.sub(r"%\w+", "%…", re.sub(r"\s+/\S+", "", why)))[:200]


# The plugin.


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu" if os.environ.get(COMPILER) == "simulator" else "cuda")


def pytest_configure(config):
    config.addinivalue_line("markers", "interpreter: Triton's interpreter runs it too")
    compiler = os.environ.get(COMPILER)
    if compiler == "triton":
        return
    import weft.triton

    weft.triton.install("cuda" if compiler == "weft" else "simulator")


def pytest_collection_modifyitems(items):
    # A sample takes every so many-th case of each test.
    every = int(os.environ.get("WEFT_LANGUAGE_TESTS_SAMPLE", "1"))
    seen = collections.Counter()
    kept = []
    for item in items:
        if seen[item.originalname] % every == 0:
            kept.append(item)
        seen[item.originalname] += 1
    items[:] = kept


_texts = set()


def watch_texts():
    """Notes which texts of a compiled kernel a case looks at."""
    from triton.compiler.compiler import AsmDict

    class Watched(AsmDict):
        def __getitem__(self, key):
            _texts.add(key)
            return super().__getitem__(key)

    from triton.compiler import compiler

    plain = compiler.AsmDict
    if plain.__name__ != "Watched":
        compiler.AsmDict = Watched


def write(case):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with (Path(os.environ[OUTPUT]) / f"{worker}.jsonl").open("a") as out:
        out.write(json.dumps(case) + "\n")


try:
    import pytest
except ImportError:
    pytest = None

if pytest is not None and COMPILER in os.environ:

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        if report.when == "call" or report.outcome != "passed" and report.when == "setup":
            why = ""
            if call.excinfo is not None and report.outcome == "failed":
                lines = f"{call.excinfo.typename}: {call.excinfo.value}".splitlines()
                why = " ".join(lines[:2])[:400]
            texts = sorted(_texts & TEXTS)
            write(dict(name=item.nodeid.split("::", 1)[1], outcome=report.outcome, why=why, texts=texts))
        return report

    @pytest.fixture(autouse=True)
    def _no_texts_yet():
        watch_texts()
        _texts.clear()

    @pytest.fixture
    def device(request):
        return request.config.getoption("--device")

    @pytest.fixture
    def fresh_triton_cache(tmp_path):
        from triton import knobs

        with knobs.cache.scope(), knobs.runtime.scope():
            knobs.cache.dir = str(tmp_path)
            yield str(tmp_path)

    @pytest.fixture
    def fresh_knobs():
        from triton._internal_testing import _fresh_knobs_impl

        fresh, reset = _fresh_knobs_impl()
        try:
            yield fresh()
        finally:
            reset()

    @pytest.fixture
    def with_allocator():
        import triton
        from triton._internal_testing import default_alloc_fn
        from triton.runtime._allocation import NullAllocator

        triton.set_allocator(default_alloc_fn)
        try:
            yield
        finally:
            triton.set_allocator(NullAllocator())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("file")
    one.add_argument("--compiler", choices=["triton", "weft", "simulator"], required=True)
    one.add_argument("--output", required=True)
    one.add_argument("--workers", type=int, default=16)
    one.add_argument("--select", help="as pytest's -k")
    one.add_argument("--sample", type=int, default=1, help="every so many-th case of each test")
    one.add_argument("--timeout", type=int, default=540, help="seconds after which what ran is kept")
    one.set_defaults(do=run)
    both = commands.add_parser("compare")
    both.add_argument("triton")
    both.add_argument("weft")
    both.add_argument("--output")
    both.set_defaults(do=compare)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
