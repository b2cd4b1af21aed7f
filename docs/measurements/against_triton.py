#!/usr/bin/env python3
"""Compile times beside Triton's own, and Weft's memory, into `against_triton.json` and
`against_triton_kernels.json`.

    pip install . && cargo build --profile dist --package weft-command
    python docs/measurements/against_triton.py

Needs `triton==3.9.0`, and no GPU. Both compile every kernel of `examples/` and `kernels/` from the same
file of Triton IR to PTX text for sm_90, in turn in this process, warm; `ptxas` and Triton's front end are
left out. Of each the best of several runs counts, side by side, so that other work on the machine
disturbs both alike. A column of its own tells what `weft compile --time` says, which starts cold
every time.

A sort of 8192 elements is timed for Weft alone: Triton takes minutes.
"""

import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples"))
from record import recorded

import weft

WEFT = Path(os.environ.get("WEFT", ROOT / "target/dist/weft"))
RUNS = 5


@triton.jit
def sort_8192(x, out):
    places = tl.arange(0, 8192)
    tl.store(out + places, tl.sort(tl.load(x + places)))


def triton_ms(source: Path) -> float | None:
    """The stages between the IR and the cubin; none where Triton does not compile the file."""
    times = []

    def listen(*, src, metadata, metadata_group, times: object, cache_hit):
        stages = dict(times.lowering_stages)
        seen.append(sum(us for name, us in stages.items() if name not in ("ttir", "cubin")) / 1e3)

    for _ in range(RUNS):
        seen = []
        knobs.compilation.listener = listen
        try:
            triton.compile(str(source), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
        except Exception as error:
            print(f"{source.stem}: {error}", file=sys.stderr)
            return None
        times.extend(seen)
    return min(times)


def weft_ms(source: Path) -> float:
    """From the text to PTX, in this process."""
    text, times = source.read_text(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        weft.compile(text, target="sm_90")
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


# A process begins with what the one that forked it holds, so a small one starts the command.
STARTER = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print("held", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def started(source: Path) -> tuple[float, float]:
    """What `weft compile --time` prints, in ms, and the most memory that it held, in MB."""
    times, memory = [], []
    for _ in range(RUNS):
        command = [WEFT, "compile", source, "--target", "sm_90", "-o", os.devnull, "--time"]
        start = [sys.executable, "-S", "-E", "-c", STARTER]
        said = subprocess.run(start + command, check=True, stderr=subprocess.PIPE, text=True).stderr
        words = said.split()
        times.append(float(words[words.index("compile") + 1]))
        memory.append(float(words[words.index("held") + 1]) / 1024)
    return min(times), max(memory)


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def write(name: str, what: str, rows: list) -> None:
    version = subprocess.run([WEFT, "--version"], check=True, capture_output=True, text=True).stdout
    measurement = {
        "what": f"{what}; Triton IR text to PTX text for sm_90, ptxas and Triton's front end apart, best "
        f"of {RUNS} runs, both warm in one process; the last two columns: the command, started anew each time",
        "command": "python docs/measurements/against_triton.py",
        "versions": f"{version.strip()}, triton {triton.__version__}",
        "machine": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": ["kernel", "Weft, ms", "Triton, ms", "ratio", "`weft compile`, ms", "its memory, MB"],
        "rows": rows,
    }
    path = Path(__file__).with_name(f"{name}.json")
    path.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    print(path.read_text())


def geometric(ratios: list[float]) -> str:
    return f"{math.exp(statistics.fmean(map(math.log, ratios))):.0f}"


def main() -> None:
    shown, rows, warm, cold, most = [], [], [], [], 0
    examples = sorted((ROOT / "examples").glob("*.ttir"))
    kernels = sorted(path for path in (ROOT / "kernels").glob("*.ttir") if ".3.6" not in path.name)
    for source in examples + kernels:
        theirs = triton_ms(source)
        ours = weft_ms(source)
        command, memory = started(source)
        most = max(most, memory)
        row = [f"`{source.stem}`", f"{ours:.2f}"]
        row += ["-", "-"] if theirs is None else [f"{theirs:.1f}", f"{theirs / ours:.0f}"]
        row += [f"{command:.2f}", f"{memory:.0f}"]
        if theirs is not None:
            warm.append(theirs / ours)
            cold.append(theirs / command)
        rows.append(row)
        if source in examples:
            shown.append(row)
        print(row, file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        long = Path(folder, "sort_8192.ttir")
        long.write_text(recorded(sort_8192, {"x": "*fp32:16", "out": "*fp32:16"}, 90, "ttir"))
        ours = weft_ms(long)
        command, memory = started(long)
    sort = ["`sort_8192`", f"{ours:.0f}", "-", "-", f"{command:.0f}", f"{memory:.0f}"]
    means = [geometric(warm), f"ratio {geometric(cold)}", f"{most:.0f}"]
    last = [f"geometric mean of {len(warm)} kernels, most memory", "", "", *means]
    write("against_triton", "Compile times of the examples, and the mean of all kernels", shown + [sort, last])
    write("against_triton_kernels", "Compile times", rows + [last])


if __name__ == "__main__":
    main()
