"""Runs kernels on Weft's simulator, and fails where one is wrong or costs more than it may.

    python3 docs/ci/check.py        # `weft` on the path, or named by WEFT
"""

import json
import os
import subprocess
import sys

# A launch, and the most that it may cost. Every count is exact: the same on each machine, each time.
LAUNCHES = {
    "examples/row_softmax.ttir": (
        "--grid 8 --arg x=random:f32[8x1008] --arg out=empty:f32[8x1008] --arg n=1008",
        {"instructions": 3000, "shared_bytes": 32},
    ),
    "examples/tiled_transpose.ttir": (
        "--grid 3x2 --arg x=random:f32[160x112] --arg out=empty:f32[112x160] --arg m=160 --arg n=112",
        {"instructions": 6400, "shared_bytes": 16384},
    ),
}


def wrong(answer, budget):
    """What is wrong with a run, a sentence each."""
    counts = answer["counts"]
    for finding in answer["findings"]:
        yield f"{finding['kind']}: {finding['message']} ({finding['actor']['place']})"
    for buffer in answer["buffers"]:
        if not buffer["agrees"]:
            yield f"`{buffer['name']}` is not what the evaluator computes"
    if counts["shared_wavefronts"] > counts["ideal_shared_wavefronts"]:
        yield f"bank conflicts: {counts['shared_wavefronts']} wavefronts, {counts['ideal_shared_wavefronts']} would do"
    if counts["global_sectors"] > counts["ideal_global_sectors"]:
        yield f"uncoalesced: {counts['global_sectors']} sectors, {counts['ideal_global_sectors']} would do"
    for name, most in budget.items():
        if counts[name] > most:
            yield f"{counts[name]} {name}, at most {most} allowed"


failed = False
for kernel, (arguments, budget) in LAUNCHES.items():
    command = [os.environ.get("WEFT", "weft"), "run", kernel, *arguments.split(), "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    # 0: all is well, 1: something is wrong with the kernel, 2: with the command.
    if run.returncode == 2:
        sys.exit(run.stderr or run.stdout)
    answer = json.loads(run.stdout)
    faults = list(wrong(answer, budget))
    print("FAIL" if faults else "ok  ", answer["name"], *(f"\n     {fault}" for fault in faults))
    failed |= bool(faults)
sys.exit(failed)
