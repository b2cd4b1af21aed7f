#!/usr/bin/env python3
"""How long a user waits for a kernel's first result while no cache has anything: Triton and Weft.

    pip install . && python docs/measurements/first_result.py --output docs/measurements/first_result.json

Needs a GPU, PyTorch, Triton, NumPy, ml_dtypes and mpmath. Each kernel is launched by each compiler in a fresh process
with an empty cache of its own; the wait is from `import triton` until the result of the first launch is there.
PyTorch's import and the GPU's context come before it: they are the same on both sides, and told apart. Parts of the
wait are told too: imports; the front end; what makes PTX of its IR; `ptxas`, as often as it is asked; and the C
compiler, which builds Triton's helpers for the driver and for launches. Results are held against NumPy's, within
the bounds of each case of `crates/weft-py/tests/kernels`.

Processes run side by side, each lane of them on processors of its own. Of `--rounds` the median counts.
"""

import argparse
import datetime
import itertools
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "crates/weft-py/tests"))
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

# Every third kernel of these files, in the order in which they stand there.
FILES = ["flash", "indexed", "layers", "loss", "matmul", "normalisation"]
EVERY = 3
COMPILERS = ("triton", "weft")
PARTS = ("import", "front end", "to PTX", "ptxas", "C compiler")
# Processors of a lane: the process has one, its C compiler or assembler may have another.
PROCESSORS = 2
# The longest that one process may take, in seconds.
LIMIT = 120


def chosen():
    from kernels import CASES

    return [name for file in FILES for name in CASES if CASES[name].file == file][::EVERY]


def first_result(name, compiler):
    """What a process does: the seconds until the first result, by part, and the verdict."""
    began = time.perf_counter()
    import numpy  # noqa: F401 (not a part of the wait)
    from kernels import CASES
    from kernels.launch import Cuda, launched, verdicts

    case = CASES[name].case()
    device = Cuda()
    device.torch.zeros(1, device="cuda")
    device.finish()
    assert "triton" not in sys.modules
    ready = time.perf_counter()
    import triton

    if compiler == "weft":
        import weft.triton

        weft.triton.install()
    parts = dict.fromkeys(PARTS, 0.0)
    parts["import"] = time.perf_counter() - ready
    watch(triton, parts)
    results, _ = launched(name, case, device)
    whole = time.perf_counter() - ready
    wrong = [f"{array}: {verdict.message}" for array, verdict in verdicts(case, results).items() if not verdict.right]
    return {"before": ready - began, "whole": whole, "parts": parts, "wrong": wrong}


def watch(triton, parts):
    """Adds up what parts of Triton take."""
    import triton.runtime.build

    def listen(*, times, **_):
        stages = dict(times.lowering_stages)
        parts["front end"] += (times.ir_initialization + stages.pop("ttir")) / 1e6
        parts["ptxas"] += stages.pop("cubin") / 1e6
        parts["to PTX"] += sum(stages.values()) / 1e6

    triton.knobs.compilation.listener = listen
    build = triton.runtime.build._build

    def built(*arguments, **keywords):
        start = time.perf_counter()
        try:
            return build(*arguments, **keywords)
        finally:
            parts["C compiler"] += time.perf_counter() - start

    triton.runtime.build._build = built


def ran(name, compiler, processors):
    """Starts that process on some processors, with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="weft-first-") as cache:
        environment = os.environ | {"TRITON_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "WEFT_TRITON": "0"}
        command = [sys.executable, __file__, "--process", name, compiler]
        try:
            run = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                preexec_fn=lambda: os.sched_setaffinity(0, processors),
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no end within {LIMIT} seconds"}
    if run.returncode != 0:
        return {"error": (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1][:300]}
    return json.loads(run.stdout.splitlines()[-1])


def measured(names, options):
    """By kernel and compiler what each round's process found."""
    found = {(name, compiler): [] for name in names for compiler in COMPILERS}
    waiting = queue.SimpleQueue()
    for turn, name in itertools.product(range(options.rounds), names):
        # By turns the one and the other is first.
        waiting.put((name, COMPILERS if turn % 2 == 0 else COMPILERS[::-1]))
    until = time.monotonic() + options.seconds
    everywhere = sorted(os.sched_getaffinity(0))
    lanes = options.lanes or max(1, len(everywhere) // PROCESSORS)

    def work(processors):
        while time.monotonic() < until:
            try:
                name, compilers = waiting.get_nowait()
            except queue.Empty:
                return
            # Both sides of a round, on the same processors.
            seen = {compiler: ran(name, compiler, processors) for compiler in compilers}
            for compiler, result in seen.items():
                found[name, compiler].append(result)

    share = max(1, len(everywhere) // lanes)
    threads = [
        threading.Thread(target=work, args=(everywhere[lane * share : (lane + 1) * share],)) for lane in range(lanes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


class Waited:
    """A kernel's wait with one compiler: medians over the rounds."""

    def __init__(self, rounds):
        self.whole = statistics.median(each["whole"] for each in rounds)
        self.before = statistics.median(each["before"] for each in rounds)
        self.parts = {part: statistics.median(each["parts"][part] for each in rounds) for part in PARTS}
        self.wrong = sorted({line for each in rounds for line in each["wrong"]})

    def without(self, part):
        return self.whole - self.parts[part]

    def compiled(self):
        """From a kernel's source to the assembler's result."""
        return sum(self.parts[part] for part in ("front end", "to PTX", "ptxas"))


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def versions():
    import importlib.metadata

    names = ("weft", "triton", "torch")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda names: names.split(","), help="kernels, with commas")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each kernel and compiler")
    parser.add_argument("--lanes", type=int, help=f"processes side by side; one for each {PROCESSORS} processors")
    parser.add_argument("--seconds", type=float, default=480, help="no process begins after that")
    parser.add_argument("--output", type=Path, help="where the measurement goes, as JSON")
    parser.add_argument("--process", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.process:
        print(json.dumps(first_result(*options.process)))
        return 0
    names = options.only or chosen()
    found = measured(names, options)
    rows, ratios, failed = [], [], 0
    for name in names:
        sides = [found[name, compiler] for compiler in COMPILERS]
        errors = [each["error"] for side in sides for each in side if "error" in each]
        if errors or not all(sides):
            failed += 1
            print(f"{name}: {'; '.join(dict.fromkeys(errors)) or 'no time was left'}")
            continue
        theirs, ours = map(Waited, sides)
        if wrong := [*theirs.wrong, *ours.wrong]:
            failed += 1
            print(f"{name}: wrong: {'; '.join(wrong)}")
        ratios.append(
            (
                theirs.whole / ours.whole,
                theirs.without("C compiler") / ours.without("C compiler"),
                theirs.compiled() / ours.compiled(),
            )
        )
        print(f"{name}: " + "; ".join(f"{what} {pair[0]:.2f} {pair[1]:.2f}" for what, pair in paired(theirs, ours)))
        seconds = [theirs.whole, ours.whole, theirs.parts["import"], ours.parts["import"]]
        seconds += [theirs.parts["C compiler"], ours.parts["C compiler"], theirs.compiled(), ours.compiled()]
        rows.append([f"`{name}`", *(f"{each:.2f}" for each in seconds), *(f"{ratio:.2f}" for ratio in ratios[-1])])
    columns = ["kernel"]
    for part in ("wait", "imports", "C compiler", "kernel"):
        columns += [f"{part}, Triton, s", f"{part}, Weft, s"]
    columns += ["ratio", "without the C compiler", "kernel alone"]
    if ratios:
        means = [f"{mean(column):.2f}" for column in zip(*ratios, strict=True)]
        rows.append([f"mean of {len(ratios)}", *[""] * (len(columns) - 4), *means])
    print(" | ".join(columns))
    for line in rows:
        print(" | ".join(line))
    if options.output and rows:
        rounds = "once" if options.rounds == 1 else f"medians of {options.rounds}"
        measurement = {
            "what": "From `import triton` to the first launch's result, every cache empty, a fresh process each time, "
            f"{rounds}; PyTorch is imported and the GPU has its context before; beside the wait "
            "three parts of it: imports, the C compiler, and the kernel from its source to the assembler's result; "
            "ratios above 1 say that Weft is sooner, and their means are geometric",
            "command": f"python docs/measurements/first_result.py --rounds {options.rounds}",
            "versions": versions(),
            "machine": machine(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "columns": columns,
            "rows": rows,
        }
        options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    return 1 if failed or not ratios else 0


def paired(theirs, ours):
    """The whole wait, what comes before it, and each part of it, on both sides."""
    yield "wait", (theirs.whole, ours.whole)
    yield "before", (theirs.before, ours.before)
    for part in PARTS:
        yield part, (theirs.parts[part], ours.parts[part])


def machine():
    import torch

    return torch.cuda.get_device_name()


if __name__ == "__main__":
    sys.exit(main())
