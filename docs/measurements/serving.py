#!/usr/bin/env python3
"""How long a server's first request takes, whose workers are forked or spawned: Triton and Weft.

    pip install . && python docs/measurements/serving.py --output docs/measurements/serving.json

Needs a GPU, PyTorch, Triton, NumPy, ml_dtypes and mpmath. The server is `crates/weft-py/tests/serving.py`: a front
process, an engine that it spawns, and workers that the engine forks or spawns. A request has every worker launch
nine kernels of a decoder's step, whose results are held against NumPy's. One server runs at a time. The first one
of each compiler finds the cache empty, the second one finds what the first has left there; all waits are those
of the front, until the last worker has answered. `WEFT_TRITON` brings Weft to the processes, and
`WEFT_TRITON_REPORT` tells who compiled what in them.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SERVER = ROOT / "crates/weft-py/tests/serving.py"
COMPILERS = ("triton", "weft")
REQUESTS = 5
# The longest that one server may take, in seconds.
LIMIT = 180


def served(compiler, method, workers, cache, report):
    """What a server with these workers found."""
    environment = os.environ | {
        "TRITON_CACHE_DIR": str(cache),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "OMP_NUM_THREADS": "1",
        "WEFT_TRITON": "1" if compiler == "weft" else "0",
        "WEFT_TRITON_REPORT": str(report),
    }
    command = [sys.executable, str(SERVER), "--method", method, "--workers", str(workers)]
    command += ["--requests", str(REQUESTS)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    if run.returncode != 0:
        raise RuntimeError((run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1][:300])
    return json.loads(run.stdout)


def made_by(report):
    """How many kernels of how many processes Weft compiled, and how many Triton."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    processes = {line["process"] for line in lines}
    by_weft = sum(line["compiler"] == "weft" for line in lines)
    return len(processes), by_weft, len(lines) - by_weft


def row_of(method, compiler, options, folder):
    """A row of the table, and whether all of it is right."""
    cache, report = folder / "cache", folder / "report"
    try:
        cold, warm = (served(compiler, method, options.workers, cache, report) for _ in range(2))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [method, compiler.capitalize(), *[""] * 6, f"failed: {error}"], False
    answers = [each for run in (cold, warm) for request in run["answers"] for each in request]
    wrong = sorted({line for answer in answers for line in answer["wrong"]})
    processes, by_weft, by_triton = made_by(report)
    # Every worker of both servers has every kernel of the step.
    expected = 2 * options.workers * kernels_of_a_step()
    found = (processes, by_weft, by_triton)
    right = not wrong and (compiler == "triton" or found == (2 * options.workers, expected, 0))
    seconds = [cold["ready"], cold["waits"][0], warm["ready"], warm["waits"][0]]
    cells = [f"{each:.2f}" for each in seconds] + [f"{1e3 * min(cold['waits'][1:]):.1f}"]
    told = f"{by_weft} in {processes} processes" if compiler == "weft" else ""
    if compiler == "weft" and by_triton:
        told += f", {by_triton} by Triton"
    return [method, compiler.capitalize(), *cells, told, "right" if not wrong else f"wrong: {'; '.join(wrong)}"], right


def kernels_of_a_step():
    sys.path.insert(0, str(SERVER.parent))
    import serving

    return len(serving.STEP)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", type=lambda names: names.split(","), default=["fork", "spawn"])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--output", type=Path, help="where the measurement goes, as JSON")
    options = parser.parse_args()
    columns = ["workers", "compiler", "ready, s", "first request, s", "ready again, s", "first request again, s"]
    columns += ["later request, ms", "kernels by Weft", "results"]
    rows, all_right = [], True
    for method in options.methods:
        for compiler in COMPILERS:
            with tempfile.TemporaryDirectory(prefix="weft-serving-") as folder:
                row, right = row_of(method, compiler, options, Path(folder))
            rows.append(row)
            all_right = all_right and right
    for line in (columns, *rows):
        print("  ".join(line))
    if options.output:
        import importlib.metadata

        import torch

        names = ("weft", "triton", "torch")
        measurement = {
            "what": f"A server of {options.workers} workers, each of which launches nine kernels for a request: the "
            "first request with an empty cache, and again by a new server with the cache of the first; the least of "
            f"{REQUESTS - 1} later requests; waits of the front process until all workers have answered",
            "command": "python docs/measurements/serving.py",
            "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names),
            "machine": torch.cuda.get_device_name(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "columns": columns,
            "rows": rows,
        }
        options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
