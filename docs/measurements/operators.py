#!/usr/bin/env python3
"""The operators of the layout algebra beside Triton's own, into `operators.json`.

    python docs/measurements/operators.py

Needs `triton==3.9.0`, `valgrind` and `gungraun-runner`, and no GPU. Ours are measured by `bench/`; Triton's
`LinearLayout` is called through its Python binding, and the time of a call that does nothing is subtracted
(for `apply`, the same call on a layout without bits, so that its dictionaries are subtracted too). Triton
keeps the layouts of attributes that it has seen: each of its families is built in a new context, and the
time of asking for it again is subtracted.
"""

import datetime
import json
import platform
import re
import statistics
import subprocess
import timeit
from pathlib import Path

import triton
from triton._C.libtriton import gluon_ir, ir
from triton._C.libtriton.linear_layout import LinearLayout

ROOT = Path(__file__).resolve().parent.parent.parent
TARGETS = {"apply": 5, "compose": 150, "product": 150, "divide": 150, "invert": 300, "solve": 500, "family": 1000, "parse": 3000}


def builder():
    context = ir.context()
    ir.load_dialects(context)
    return context, gluon_ir.GluonOpBuilder(context)


def per_call_ns(call) -> float:
    """The least of several means: what is above it is the machine's."""
    return min(timeit.repeat(call, number=5000, repeat=9)) / 5000 * 1e9


def linear(build, attribute, shape) -> LinearLayout:
    bases = build.to_linear_layout(attribute, shape)
    named = [
        ("register", bases.reg_bases),
        ("lane", bases.lane_bases),
        ("warp", bases.warp_bases),
        ("block", bases.block_bases),
    ]
    return LinearLayout.from_bases(named, ["dim0", "dim1"], shape, False)


def binding_ns() -> dict[str, float]:
    _context, build = builder()
    shape = [128, 128]
    rows = linear(build, build.get_blocked_layout([1, 4], [8, 4], [8, 1], [1, 0], []), shape)
    columns = linear(build, build.get_blocked_layout([4, 1], [4, 8], [1, 8], [0, 1], []), shape)
    inner = linear(build, build.get_blocked_layout([1, 4], [8, 4], [1, 1], [1, 0], []), [16, 128])
    single = linear(build, build.get_blocked_layout([1, 1], [1, 1], [1, 1], [1, 0], []), [1, 1])
    warps = [("register", []), ("lane", []), ("warp", [[1, 0], [2, 0], [4, 0]]), ("block", [])]
    outer = LinearLayout.from_bases(warps, ["dim0", "dim1"], [8, 1], True)
    inverse = columns.invert()
    nothing = per_call_ns(rows.is_surjective)
    place = {"register": 21, "lane": 13, "warp": 5, "block": 0}
    zero = dict.fromkeys(place, 0)
    times = {
        "apply": per_call_ns(lambda: rows.apply(place)) - per_call_ns(lambda: single.apply(zero)),
        "compose": per_call_ns(lambda: rows.compose(inverse)) - nothing,
        "product": per_call_ns(lambda: inner * outer) - nothing,
        "invert": per_call_ns(rows.invert) - nothing,
        "solve": per_call_ns(lambda: rows.invert_and_compose(columns)) - nothing,
    }
    families = []
    for _ in range(40):
        _context, build = builder()
        attribute = build.get_blocked_layout([1, 4], [8, 4], [8, 1], [1, 0], [])
        first, again = (
            timeit.timeit(lambda: build.to_linear_layout(attribute, shape), number=1) * 1e9
            for _ in range(2)
        )
        families.append(first - again)
    times["family"] = statistics.median(families)
    return times


def bench(name: str) -> str:
    command = ["cargo", "bench", "--quiet", "--package", "weft-bench", "--bench", name]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def ours_ns(name: str) -> float:
    path = ROOT / f"target/criterion/operators/{name}/new/estimates.json"
    return json.loads(path.read_text())["median"]["point_estimate"]


def instructions() -> dict[str, int]:
    text = re.sub(r"\x1b\[[0-9;]*m", "", bench("instructions"))
    found = re.findall(r"operators::(\w+).*?\n\s*Instructions:\s*(\d+)", text)
    return {name: int(count) for name, count in found}


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    bench("time")
    theirs, counts = binding_ns(), instructions()
    rows = []
    for name, target in TARGETS.items():
        ours, other = ours_ns(name), theirs.get(name)
        shown = "no such call" if other is None else f"{other:.0f}"
        ratio = "" if other is None else f"{other / ours:.0f}"
        rows.append([name, f"{ours:.1f}", str(target), f"{counts[name]}", shown, ratio])
    measurement = {
        "what": "one operator on the layouts of a 128x128 tile over 8 warps; median of criterion's "
        "samples, instructions by callgrind; Triton's `LinearLayout` through its Python binding, the "
        "overhead of a call subtracted",
        "command": "python docs/measurements/operators.py",
        "versions": f"weft-layout 0.1.0, triton {triton.__version__}",
        "machine": f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": ["operator", "Weft, ns", "target, ns", "instructions", "Triton, ns", "ratio"],
        "rows": rows,
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    print(path.read_text())


main()
