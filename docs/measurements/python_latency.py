#!/usr/bin/env python3
"""How long a kernel takes to compile, as Python sees it: Weft and Triton behind Triton's front end.

    pip install . && python docs/measurements/python_latency.py    # into python_latency.json

Needs Triton, and no GPU. Each kernel is compiled for sm_90 as for its first launch, in turn by Triton
and by Weft, with no cache; the times are those that Triton's own listener tells of its stages, of each the best
of `ROUNDS`, so that other work on the machine disturbs both alike. The front end is all before the stages and the passes on Triton's IR; behind it stand Triton's
passes and LLVM, or Weft: the text of the IR printed and read, homes, lane program, PTX. `ptxas` is apart.
"""

import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import sys
from pathlib import Path

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import weft.triton

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 9
KERNELS = {
    "kernels/matmul.py": ["gemm_f16", "linear_bf16", "matmul_bias_gelu", "matmul_int4"],
    "kernels/tensor_cores.py": ["matmul_f16", "attention_f16"],
    "kernels/flash.py": ["flash_forward", "flash_causal", "flash_backward_keys", "decode_paged"],
    "kernels/normalisation.py": ["softmax_online", "layer_norm_forward"],
    "kernels/sorting.py": ["sort_rows"],
}
FRONT, ASSEMBLER = "ttir", "cubin"


def source_of(module, name):
    types, constants, attributes = {}, {}, {}
    for index, (argument, spelled) in enumerate(module.SIGNATURES[name].items()):
        if isinstance(spelled, str):
            types[argument], _, divisor = spelled.partition(":")
            if divisor:
                attributes[(index,)] = [["tt.divisibility", int(divisor)]]
        else:
            types[argument], constants[(index,)] = "constexpr", spelled
    return ASTSource(fn=getattr(module, name), signature=types, constexprs=constants, attrs=attributes)


def times_of(module, name):
    """Milliseconds of the front end, of what stands behind it, and of the assembler."""
    told = []
    knobs.compilation.listener = lambda **said: told.append(said["times"])
    triton.compile(source_of(module, name), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    knobs.compilation.listener = None
    stages = dict(told[0].lowering_stages)
    front = told[0].ir_initialization + stages.pop(FRONT)
    assembler = stages.pop(ASSEMBLER)
    return [microseconds / 1e3 for microseconds in (front, sum(stages.values()), assembler)]


def measured(module, name):
    rounds = {"triton": [], "weft": []}
    for _ in range(ROUNDS):
        rounds["triton"].append(times_of(module, name))
        with weft.triton.enabled():
            rounds["weft"].append(times_of(module, name))
    (front, theirs, _), (_, ours, assembler) = (
        [min(column) for column in zip(*rounds[compiler], strict=True)]
        for compiler in ("triton", "weft")
    )
    middle = statistics.median(behind for _, behind, _ in rounds["weft"])
    times = [f"{time:.1f}" for time in (front, ours, middle, theirs)]
    row = [f"`{name}`", *times, f"{theirs / ours:.0f}", f"{assembler:.0f}"]
    print(row, file=sys.stderr)
    return row


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def main():
    rows = []
    for file, names in KERNELS.items():
        specification = importlib.util.spec_from_file_location(Path(file).stem, ROOT / file)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        rows += [measured(module, name) for name in names]
    measurement = {
        "what": "Compiling a kernel for sm_90 from Python: the front end, what makes PTX behind it, the assembler; "
        f"best of {ROUNDS} runs in turn",
        "command": "python docs/measurements/python_latency.py",
        "versions": f"weft {importlib.metadata.version('weft')}, triton {triton.__version__}, "
        f"Python {platform.python_version()}",
        "machine": f"one core of {processor()}",
        "date": datetime.date.today().isoformat(),
        "columns": ["kernel", "front end, ms", "Weft, ms", "its median", "Triton, ms", "ratio", "`ptxas` for Weft, ms"],
        "rows": rows,
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
