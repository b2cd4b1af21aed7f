#!/usr/bin/env python3
"""Matrix instructions alone, and products of large matrices beside Triton, on a GPU.

    cargo build --release --package weft-command
    python docs/measurements/matrix_products.py [--weft PATH] [--output FOLDER]

Writes `matrix_instructions.json` (cycles of a multiprocessor for one instruction of one warp, with eight
independent sums in each of 16 warps) and `matrix_products.json`. Needs a GPU, PyTorch, Triton and
CuPy. Of products the first 256 rows are compared with PyTorch's in f64; times are medians of
`triton.testing.do_bench`.
"""

import argparse
import datetime
import importlib.util
import json
import subprocess
import tempfile
from pathlib import Path

import cupy
import torch
import triton

HERE = Path(__file__).resolve().parent
SIDE = 4096
# Numbers of a fragment that a register holds, by kind: name, registers of both factors and of the sum, constraints.
INSTRUCTIONS = [
    ("m16n8k16.f32.f16.f16", (4, 2, 4), "rf"),
    ("m16n8k8.f32.f16.f16", (2, 1, 4), "rf"),
    ("m16n8k16.f16.f16.f16", (4, 2, 2), "rr"),
    ("m16n8k16.f32.bf16.bf16", (4, 2, 4), "rf"),
    ("m16n8k8.f32.tf32.tf32", (4, 2, 4), "rf"),
    ("m16n8k4.f32.tf32.tf32", (2, 1, 4), "rf"),
    ("m16n8k32.s32.s8.s8", (4, 2, 4), "rr"),
    ("m16n8k16.s32.s8.s8", (2, 1, 4), "rr"),
    ("m16n8k16.f64.f64.f64", (8, 4, 4), "dd"),
    ("m16n8k8.f64.f64.f64", (4, 2, 4), "dd"),
    ("m16n8k4.f64.f64.f64", (2, 1, 4), "dd"),
    ("m8n8k4.f64.f64.f64", (1, 1, 2), "dd"),
]
TYPES = {"r": "unsigned", "f": "float", "d": "double"}
SOURCE = """
extern "C" __global__ void timed(double* out, long long* cycles, int rounds) {
  FACTOR a[8] = {}, b[8] = {};
  SUM d[8][4] = {};
  __syncthreads();
  long long begin = clock64();
  for (int round = 0; round < rounds; round++) {
#pragma unroll
    for (int i = 0; i < 8; i++) { BODY }
  }
  __syncthreads();
  long long end = clock64();
  double all = 0;
  for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) all += d[i][j];
  out[threadIdx.x] = all;
  if (threadIdx.x == 0) cycles[0] = end - begin;
}
"""


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder: Path, name: str, what: str, versions: str, columns: list, rows: list) -> None:
    measurement = {
        "what": what,
        "command": "python docs/measurements/matrix_products.py",
        "versions": versions,
        "machine": torch.cuda.get_device_name(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": columns,
        "rows": rows,
    }
    text = json.dumps(measurement, indent=2, ensure_ascii=False) + "\n"
    (folder / name).write_text(text)
    print(text)


def cycles(name: str, counts: tuple, kinds: str, warps: int = 16, rounds: int = 400) -> float:
    """Cycles of a multiprocessor for one instruction of one warp."""
    left, right, sums = counts
    shape, total, a, b = name.split(".")

    def registers(count: int, first: int) -> str:
        return "{" + ", ".join(f"%{first + index}" for index in range(count)) + "}"

    mnemonic = f"mma.sync.aligned.{shape}.row.col.{total}.{a}.{b}.{total}"
    text = ", ".join([
        registers(sums, 0), registers(left, sums), registers(right, sums + left), registers(sums, 0)
    ])  # fmt: skip
    outputs = ", ".join(f'"+{kinds[1]}"(d[i][{index}])' for index in range(sums))
    inputs = [f'"{kinds[0]}"({side}[{i}])' for side, count in (("a", left), ("b", right)) for i in range(count)]
    body = f'asm volatile("{mnemonic} {text};" : {outputs} : {", ".join(inputs)});'
    source = SOURCE.replace("FACTOR", TYPES[kinds[0]]).replace("SUM", TYPES[kinds[1]]).replace("BODY", body)
    major, minor = torch.cuda.get_device_capability()
    kernel = cupy.RawModule(code=source, options=(f"-arch=sm_{major}{minor}",)).get_function("timed")
    out, ticks = cupy.zeros(32 * warps, cupy.float64), cupy.zeros(1, cupy.int64)
    best = None
    for _ in range(5):
        kernel((1,), (32 * warps,), (out, ticks, cupy.int32(rounds)))
        best = min(best or int(ticks[0]), int(ticks[0]))
    return best / (rounds * 8 * warps)


def microseconds(launch) -> float:
    return triton.testing.do_bench(launch, warmup=20, rep=80, return_mode="median") * 1e3


def matrices(name: str, signature: dict):
    side = SIDE // 2 if name == "f64" else SIDE
    types = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "i8": torch.int8,
             "fp8e4nv": torch.float8_e4m3fn, "fp64": torch.float64, "i32": torch.int32}  # fmt: skip
    factor, total = (types[signature[key][1:].split(":")[0]] for key in ("a", "c"))
    if factor == torch.int8:
        a, b = (torch.randint(-100, 100, (side, side), device="cuda", dtype=factor) for _ in range(2))
    else:
        a, b = (torch.randn(side, side, device="cuda").to(factor) for _ in range(2))
    return side, a, b, torch.zeros(side, side, device="cuda", dtype=total)


def product(weft: Path, text: str, name: str, kernels, warps: int) -> list:
    signature = kernels.SIGNATURES[name]
    side, a, b, c = matrices(name, signature)
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = Path(folder, "kernel.ttir"), Path(folder, "kernel.ptx")
        source.write_text(text)
        major, minor = torch.cuda.get_device_capability()
        command = [weft, "compile", source, "--target", f"sm_{major}{minor}", "--warps", str(warps), "--json"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        ptx.write_text(answer["ptx"])
        kernel = cupy.RawModule(path=str(ptx)).get_function(answer["name"])
    kernel.max_dynamic_shared_size_bytes = max(answer["shared_bytes"], 1)
    values = [cupy.uint64(x.data_ptr()) for x in (a, b, c)] + [cupy.int32(side)] * 2 + [cupy.uint64(0)] * 2
    grid = (side // signature["M"], side // signature["N"], 1)
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())

    def mine():
        with stream:
            kernel(grid, (32 * warps, 1, 1), tuple(values), shared_mem=answer["shared_bytes"])

    tile = {key: signature[key] for key in "MNK"}
    mine()
    expected = a[:256].double() @ b.double()
    error = (c[:256].double() - expected).abs().max() / expected.abs().max()
    assert error < 2e-3, f"{name}: {error}"
    times = microseconds(mine), microseconds(lambda: getattr(kernels, name)[grid](a, b, c, side, side, **tile, num_warps=warps))
    rate = 2 * side**3 / times[0] / 1e6
    return [f"{name}, {side}^3", str(warps), f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[1] / times[0]:.3f}", f"{rate:.1f}", f"{error:.1e}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", type=Path, default=HERE.parent.parent / "target/release/weft")
    parser.add_argument("--output", type=Path, default=HERE)
    options = parser.parse_args()
    version = subprocess.run([options.weft, "--version"], check=True, capture_output=True, text=True)
    rows = [[f"`mma.{name}`", f"{cycles(name, counts, kinds):.2f}"] for name, counts, kinds in INSTRUCTIONS]
    what = "cycles of a multiprocessor for one instruction of one warp, sixteen warps at work"
    written(options.output, "matrix_instructions.json", what, f"cupy {cupy.__version__}", ["instruction", "cycles"], rows)
    recorder, kernels = load(HERE.parent.parent / "examples/record.py"), load(HERE / "matrix_kernels.py")
    texts = {
        name: recorder.recorded(getattr(kernels, name), signature, 90, "ttir")
        for name, signature in kernels.SIGNATURES.items()
    }
    # Recording leaves a driver behind that knows a target alone.
    triton.runtime.driver.reset_active()
    rows = [
        product(options.weft, text, name, kernels, warps) for name, text in texts.items() for warps in (4, 8)
    ]
    what = "one product, with loads ahead, and as Triton compiles it; a ratio above 1 means Weft is faster"
    versions = f"{version.stdout.strip()}, triton {triton.__version__}"
    columns = ["factors", "warps", "Weft, µs", "Triton, µs", "ratio", "Weft, TFLOP/s", "largest error, of the largest result"]
    written(options.output, "matrix_products.json", what, versions, columns, rows)


main()
