#!/usr/bin/env python3
"""Compile times of the examples beside Triton's own, into `against_triton.json`.

    cargo build --release --package weft-command
    python docs/measurements/against_triton.py

Needs `triton==3.9.0`, and no GPU. Both start from the same file of Triton IR and end with PTX text for
sm_90; `ptxas` and Triton's front end are left out. Triton runs warm, in this process; the command
starts cold every time and times itself.
"""

import datetime
import json
import math
import os
import platform
import statistics
import subprocess
from pathlib import Path

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget

ROOT = Path(__file__).resolve().parent.parent.parent
WEFT = ROOT / "target/release/weft"
RUNS = 7


def triton_ms(source: Path) -> float:
    """The stages between the IR and the cubin, the median of several runs."""
    times = []

    def listen(*, src, metadata, metadata_group, times: object, cache_hit):
        stages = dict(times.lowering_stages)
        seen.append(sum(us for name, us in stages.items() if name not in ("ttir", "cubin")) / 1e3)

    for _ in range(RUNS):
        seen = []
        knobs.compilation.listener = listen
        triton.compile(str(source), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
        times.extend(seen)
    return statistics.median(times)


def weft_ms(source: Path) -> float:
    """What `weft compile --time` prints, the median of several starts."""
    times = []
    for _ in range(RUNS):
        command = [WEFT, "compile", source, "--target", "sm_90", "-o", os.devnull, "--time"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        times.append(float(said.split()[1]))
    return statistics.median(times)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    rows, ratios = [], []
    for source in sorted((ROOT / "examples").glob("*.ttir")):
        ours, theirs = weft_ms(source), triton_ms(source)
        ratios.append(theirs / ours)
        rows.append([f"`{source.stem}`", f"{ours:.2f}", f"{theirs:.1f}", f"{theirs / ours:.0f}"])
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    rows.append(["geometric mean", "", "", f"{mean:.0f}"])
    version = subprocess.run([WEFT, "--version"], check=True, capture_output=True, text=True).stdout
    measurement = {
        "what": "Triton IR text to PTX text for sm_90, ptxas and Triton's front end apart, "
        f"median of {RUNS} runs; Triton warm in one process, weft started anew each time",
        "command": "python docs/measurements/against_triton.py",
        "versions": f"{version.strip()}, triton {triton.__version__}",
        "machine": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": ["kernel", "Weft, ms", "Triton, ms", "ratio"],
        "rows": rows,
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    print(path.read_text())


main()
