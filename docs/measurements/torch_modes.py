#!/usr/bin/env python3
"""Programs under `torch.compile` in its modes: results, kernels, the first call and later ones, by Triton and by Weft.

    pip install . && python docs/measurements/torch_modes.py --output docs/measurements/torch_modes.json

Needs a GPU, PyTorch, Triton, a C++ compiler and the CUDA toolkit (its stubs, for C++ wrappers). The cases are those of
`crates/weft-py/tests/torch_modes.py`. Each runs in two fresh processes, one for each compiler, with empty caches and
Inductor's own worker processes, which are there before the first call. `WEFT_TRITON` brings Weft to all of them.
Cases that tune run one behind the other on all processors, since what they measure decides what they choose;
the others side by side, each process on processors of its own, both compilers of a case at about the same time. Later
calls are timed by one process at a time.
"""

import argparse
import datetime
import json
import os
import queue
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "crates/weft-py/tests"))

import torch_modes

COMPILERS = ("triton", "weft")
TUNES = "max-autotune"


class Measured:
    """A case with both compilers."""

    def __init__(self, mode, program):
        self.mode, self.program = mode, program
        self.sides, self.failed = {}, {}

    def run(self, compiler, folder, lock, processors, until):
        own = folder / f"{self.mode}.{self.program}.{compiler}"
        own.mkdir()
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise torch_modes.Failed("no time was left")
            self.sides[compiler] = torch_modes.run(
                self.mode, self.program, compiler, own, limit=left, lock=lock, processors=processors
            )
        except torch_modes.Failed as error:
            self.failed[compiler] = str(error)
        if len(self.sides) + len(self.failed) == len(COMPILERS):
            print(self.line(), flush=True)

    def wrong(self):
        """What is wrong, a sentence each."""
        if self.failed:
            return [f"{compiler.capitalize()}: {error}" for compiler, error in self.failed.items()]
        return torch_modes.judged(*(self.sides[compiler] for compiler in COMPILERS))

    def row(self):
        cells = [self.mode, self.program]
        for told in (
            lambda side: f"{side.first:.1f}",
            lambda side: f"{side.later:.2f}",
            lambda side: f"{max(side.errors):.1e}",
        ):
            cells += [told(self.sides[compiler]) if compiler in self.sides else "" for compiler in COMPILERS]
        weft = self.sides.get("weft")
        cells += [str(weft.by_weft), str(len(weft.by_triton)), weft.shown] if weft else [""] * 3
        return [*cells, "; ".join(self.wrong()) or "right"]

    def line(self):
        return f"{self.mode} {self.program}: " + ", ".join(self.row()[2:])


def main():
    names = [f"{mode}:{program}" for mode, program in torch_modes.CASES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=names, help="cases, MODE:PROGRAM")
    parser.add_argument("--lanes", type=int, default=4, help="processes side by side")
    parser.add_argument("--seconds", type=float, default=900, help="how long all of it may take")
    parser.add_argument("--warm", action="store_true", help="PyTorch has run here before")
    parser.add_argument("--output", type=Path, help="where the measurement goes, as JSON")
    options = parser.parse_args()
    if unknown := set(options.only) - set(names):
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    until = time.monotonic() + options.seconds
    everywhere = sorted(os.sched_getaffinity(0))
    measured = [Measured(*name.split(":")) for name in names if name in options.only]
    with tempfile.TemporaryDirectory(prefix="weft-modes-") as temporary:
        folder = Path(temporary)
        lock = folder / "gpu.lock"
        if not options.warm:
            # What PyTorch reads from the disk for the first time is on nobody's account.
            Measured("default", "rows").run("first", folder, lock, set(everywhere), until)
        for at, each in enumerate(each for each in measured if each.mode == TUNES):
            # By turns the one and the other is first.
            for compiler in COMPILERS[:: -1 if at % 2 == 0 else 1]:
                each.run(compiler, folder, lock, set(everywhere), until)
        waiting = queue.SimpleQueue()
        for each in measured:
            for compiler in COMPILERS if each.mode != TUNES else ():
                waiting.put((each, compiler))

        def work(processors):
            while True:
                try:
                    each, compiler = waiting.get_nowait()
                except queue.Empty:
                    return
                each.run(compiler, folder, lock, processors, until)

        share = max(1, len(everywhere) // options.lanes)
        threads = [
            threading.Thread(target=work, args=(set(everywhere[first : first + share]),))
            for first in range(0, share * min(options.lanes, len(everywhere)), share)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    columns = ["mode", "program", "first call, Triton, s", "first call, Weft, s", "later, Triton, ms"]
    columns += ["later, Weft, ms", "error, Triton", "error, Weft", "by Weft", "by Triton", "the mode", "results"]
    rows = [each.row() for each in measured]
    print(" | ".join(columns))
    for row in rows:
        print(" | ".join(row))
    if options.output:
        import importlib.metadata

        import torch

        names = ("weft", "triton", "torch")
        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
        measurement = {
            "what": "Programs under `torch.compile` in its modes, a fresh process with empty caches for each compiler: "
            f"seconds until the first call had its results, the median of {torch_modes.TIMED} later calls, the largest "
            "error of an output (the norm of its difference from what PyTorch computes in f32 over the norm of that), "
            "and how many kernels each compiler made on Weft's side",
            "command": "python docs/measurements/torch_modes.py",
            "versions": versions,
            "machine": torch.cuda.get_device_name(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "columns": columns,
            "rows": rows,
        }
        options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    return 1 if any(each.wrong() for each in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
