#!/usr/bin/env python3
"""The examples on a GPU beside Triton, in one run, into `device_speed.json`.

    cargo build --release --package weft-command
    python docs/measurements/device_speed.py [--weft PATH] [--output FILE]

Needs a GPU, PyTorch, Triton and CuPy (which loads the PTX). Both compute the same kernel on the same
arrays in global memory, several times larger than the caches; results are compared first. Times are
medians of three medians of `triton.testing.do_bench`, the two sides taking turns.
"""

import argparse
import datetime
import importlib.util
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

import cupy
import torch
import triton

ROOT = Path(__file__).resolve().parent.parent.parent
WARPS = 4


def source(name: str):
    """The example's Python module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(weft: Path, name: str, target: str, grid: tuple, arguments: list):
    """A launch of Weft's PTX."""
    command = [weft, "compile", ROOT / f"examples/{name}.ttir", "--target", target, "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.ptx")
        path.write_text(answer["ptx"])
        kernel = cupy.RawModule(path=str(path)).get_function(answer["name"])
    values = [
        cupy.uint64(argument.data_ptr()) if isinstance(argument, torch.Tensor) else cupy.int32(argument)
        for argument in arguments
    ]
    # Triton's launcher passes two scratch pointers after the arguments.
    values += [cupy.uint64(0)] * 2
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())

    def launch():
        with stream:
            kernel(grid, (32 * WARPS, 1, 1), tuple(values), shared_mem=answer["shared_bytes"])

    return launch


def theirs(name: str, grid: tuple, arguments: list):
    """The same launch through Triton."""
    module = source(name)
    constants = {key: value for key, value in module.SIGNATURES[name].items() if isinstance(value, int)}
    return lambda: getattr(module, name)[grid](*arguments, **constants, num_warps=WARPS)


def microseconds(launch) -> float:
    return triton.testing.do_bench(launch, warmup=25, rep=100, return_mode="median") * 1e3


def cases():
    """Name, size, grid, arguments, the output, and the work of one launch with its unit."""

    def array(*shape):
        return torch.randn(*shape, device="cuda")

    n = 1 << 26
    x, y, out = array(n), array(n), array(n)
    yield "vector_add", "2^26", (n // 1024, 1, 1), [x, y, out, n], out, (12 * n, "TB/s")
    rows, columns = 65536, 1024
    x, out = array(rows, columns), array(rows, columns)
    yield "row_softmax", f"{rows} x {columns}", (rows, 1, 1), [x, out, columns], out, (8 * rows * columns, "TB/s")
    side = 8192
    x, out = array(side, side), array(side, side)
    grid = (side // 64, side // 64, 1)
    yield "tiled_transpose", f"{side} x {side}", grid, [x, out, side, side], out, (8 * side**2, "TB/s")
    side = 2048
    a, b, c = array(side, side), array(side, side), array(side, side)
    grid = (side // 64, side // 64, 1)
    yield "matmul", f"{side}^3, f32", grid, [a, b, c, side, side, side], c, (2 * side**3, "TFLOP/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", type=Path, default=ROOT / "target/release/weft")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    major, minor = torch.cuda.get_device_capability()
    rows, ratios = [], []
    for name, size, grid, arguments, out, (work, unit) in cases():
        mine = ours(options.weft, name, f"sm_{major}{minor}", grid, arguments)
        other = theirs(name, grid, arguments)
        mine()
        result = out.clone()
        out.zero_()
        other()
        torch.testing.assert_close(result, out, rtol=1e-4, atol=1e-4)
        times = [(microseconds(mine), microseconds(other)) for _ in range(3)]
        weft, triton_time = (statistics.median(column) for column in zip(*times))
        ratios.append(triton_time / weft)
        rows.append([
            f"`{name}`, {size}",
            f"{weft:.1f}",
            f"{triton_time:.1f}",
            f"{triton_time / weft:.3f}",
            f"{work / weft / 1e6:.2f} {unit}",
        ])  # fmt: skip
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    rows.append(["geometric mean", "", "", f"{mean:.3f}", ""])
    version = subprocess.run([options.weft, "--version"], check=True, capture_output=True, text=True)
    measurement = {
        "what": "one launch, results equal, both sides in one run; a ratio above 1 means Weft is faster",
        "command": "python docs/measurements/device_speed.py",
        "versions": f"{version.stdout.strip()}, triton {triton.__version__}",
        "machine": torch.cuda.get_device_name(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": ["kernel", "Weft, µs", "Triton, µs", "ratio", "Weft's rate"],
        "rows": rows,
    }
    options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    print(options.output.read_text())


main()
