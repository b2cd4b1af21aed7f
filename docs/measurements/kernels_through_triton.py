#!/usr/bin/env python3
"""The kernels of `kernels/`, launched through `@triton.jit` with Weft as the compiler, against NumPy.

    pip install . && python docs/measurements/kernels_through_triton.py --output FILE

Needs a GPU, PyTorch, Triton, NumPy, ml_dtypes and mpmath; with `--device simulator` no GPU and no
PyTorch. The cases are those of `crates/weft-py/tests/kernels`: small and ragged, with what NumPy says
that every array is to hold. A result is equal if no element differs from what NumPy has rounded, and
within bounds if all are as near as the case derives from the number of roundings and the functions'
errors. `--compiler triton` launches the same cases as Triton compiles them.
The cases are shared among `--workers` processes; after a fault a process is made anew, as a GPU answers
the old one no more.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "crates/weft-py/tests"))
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

from kernels import CASES
from kernels.launch import Cuda, launched, Simulator, verdicts

EQUAL, WITHIN = "equal", "within bounds"


def begin(device, compiler, cache):
    """What a process does first."""
    os.environ["TRITON_CACHE_DIR"] = cache
    if compiler == "weft":
        import weft.triton

        weft.triton.install(device=device)


def judged(name, device):
    """A kernel's verdict, its largest difference, and whether the process is still good."""
    case = CASES[name].case()
    try:
        results, printed = launched(name, case, Cuda() if device == "cuda" else Simulator())
    except Exception as error:
        said = " ".join(str(error).split())
        kind = getattr(error, "kind", None)
        if kind is not None:
            return f"refused: {said}", None, True
        return f"failed: {type(error).__name__}: {said}", None, "CUDA" not in said
    seen = verdicts(case, results)
    wrong = [f"`{array}`: {verdict.message}" for array, verdict in seen.items() if not verdict.right]
    # What a GPU prints does not come by way of Python.
    if device == "simulator" and case.printed is not None and not case.printed(printed):
        wrong.append("what it prints")
    difference = max((verdict.difference for verdict in seen.values()), default=0.0)
    if wrong:
        return f"wrong: {'; '.join(wrong)}", difference, True
    return EQUAL if all(verdict.exact for verdict in seen.values()) else WITHIN, difference, True


class Worker:
    """A process for launches, made anew after a fault."""

    def __init__(self, *setting):
        self.setting = setting
        self.pool = None

    def run(self, name, seconds):
        if self.pool is None:
            context = multiprocessing.get_context("spawn")
            self.pool = concurrent.futures.ProcessPoolExecutor(1, context, begin, self.setting)
        try:
            verdict, difference, good = self.pool.submit(judged, name, self.setting[0]).result(seconds)
        except concurrent.futures.TimeoutError:
            verdict, difference, good = f"failed: no end within {seconds} seconds", None, False
        except concurrent.futures.BrokenExecutor:
            verdict, difference, good = "failed: its process ended", None, False
        if not good:
            self.end()
        return verdict, difference

    def end(self):
        if self.pool is None:
            return
        for process in list((self.pool._processes or {}).values()):
            with contextlib.suppress(OSError):
                process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.pool = None


def versions(device, compiler):
    """What ran, and on which machine."""
    import importlib.metadata

    import numpy
    import triton

    parts = [f"weft {importlib.metadata.version('weft')}"] if compiler == "weft" else []
    parts += [f"triton {triton.__version__}", f"NumPy {numpy.__version__}"]
    if device == "simulator":
        return ", ".join(parts), "Weft's simulator, as sm_90"
    import torch

    return ", ".join([*parts, f"PyTorch {torch.__version__}"]), torch.cuda.get_device_name()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "simulator"], default="cuda")
    parser.add_argument("--compiler", choices=["weft", "triton"], default="weft")
    parser.add_argument("--only", type=lambda names: names.split(","), help="kernels, with commas")
    parser.add_argument("--workers", type=int, default=4, help="processes that share the cases")
    parser.add_argument("--seconds", type=float, default=60, help="how long one kernel may take")
    parser.add_argument("--output", type=Path, help="where the measurement goes, as JSON")
    options = parser.parse_args()
    if options.device == "simulator" and options.compiler == "triton":
        parser.error("the simulator runs what Weft compiles")
    names = [name for name in CASES if not options.only or name in options.only]
    found = {}
    with tempfile.TemporaryDirectory() as cache:

        def work(share):
            worker = Worker(options.device, options.compiler, cache)
            for name in share:
                found[name] = worker.run(name, options.seconds)
            worker.end()

        shares = [names[first :: options.workers] for first in range(options.workers)]
        with concurrent.futures.ThreadPoolExecutor(options.workers) as threads:
            list(threads.map(work, shares))
    rows, counts = [], {}
    for name in names:
        verdict, difference = found[name]
        told = "" if difference is None else f"{difference:.1e}" if difference else "0"
        rows.append([f"`{name}`", f"`{CASES[name].file}.py`", verdict, told])
        kind = verdict.partition(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
        print(f"{name:26} {told:8} {verdict}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    if options.output:
        what, machine = versions(options.device, options.compiler)
        who = "Weft" if options.compiler == "weft" else "Triton"
        command = f"python docs/measurements/kernels_through_triton.py --compiler {options.compiler} --device {options.device}"
        measurement = {
            "what": f"Kernels compiled by {who}, launched through `@triton.jit`, outputs against NumPy's; the largest "
            "difference of an output, of numbers above one relative to them",
            "command": command,
            "versions": what,
            "machine": machine,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "columns": ["kernel", "file", "verdict", "largest difference"],
            "rows": rows,
        }
        options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    return 0 if set(counts) <= {EQUAL, WITHIN} else 1


if __name__ == "__main__":
    sys.exit(main())
