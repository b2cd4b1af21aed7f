"""Servers of many processes: each worker's kernels are Weft's, and right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

import serving
from kernels import FOLDER

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the kernels of the repository are not here")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_worker_of_a_server_has_weft(tmp_path, method):
    report = tmp_path / "report"
    environment = os.environ | {
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "WEFT_TRITON": "device=simulator",
        "WEFT_TRITON_REPORT": str(report),
    }
    command = [sys.executable, serving.__file__, "--device", "simulator", "--method", method]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    first, second = json.loads(run.stdout)["answers"]
    assert [answer["wrong"] for answer in [*first, *second]] == [[]] * 4
    workers = {answer["process"] for answer in first}
    assert len(workers) == 2 and {answer["process"] for answer in second} == workers
    kernels = [json.loads(line) for line in report.read_text().splitlines()]
    assert {kernel["compiler"] for kernel in kernels} == {"weft"}
    # Each has every kernel, from the compiler or from the other one's entry in the cache.
    compiled = sorted((kernel["process"], kernel["name"]) for kernel in kernels)
    assert compiled == sorted((worker, name) for worker in workers for name in serving.STEP)
    # The second request compiles nothing.
    assert "by Weft" in run.stderr
