#!/usr/bin/env python3
"""Tutorials of Triton on matrix products and attention, compiled by Triton and by Weft, on a GPU.

    pip install . && python docs/measurements/tutorials.py FOLDER --output docs/measurements/tutorials.json

FOLDER holds `03-matrix-multiplication.py`, `06-fused-attention.py` and `09-persistent-matmul.py` of Triton's
`python/tutorials`, as they are; of each the part before it begins to run is used. Needs a GPU, PyTorch and
Triton. Each side runs in a process of its own and tunes every kernel over the tutorial's own
configurations, so that the best of one is compared with the best of the other. Times are medians of
`triton.testing.do_bench`, those of backward passes the time of their main kernel as the profiler saw it.
Results are compared with PyTorch's: a part of a product in f32, two heads of attention.
"""

import argparse
import ast
import datetime
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import torch
import triton

# The side of the matrices; the batch, heads and length of attention.
SIDE, BATCH, HEADS, LENGTH = 8192, 4, 32, 4096
# Of the largest result. Hopper's matrix units add products of f8 in fewer bits than f32 has.
MOST_ERROR = 1e-2
SCALE = 1 / 16
COLUMNS = ["kernel", "Weft, TFLOP/s", "Triton, TFLOP/s", "ratio", "largest error"]


def tutorial(folder: Path, name: str, scratch: Path, quick: bool):
    """A tutorial as a module, up to the first statement that does nothing but run."""
    text = (folder / f"{name}.py").read_text()
    statements = ast.parse(text).body
    runs = (at for at in statements[1:] if isinstance(at, ast.Expr))
    last = next((at.lineno - 1 for at in runs), None)
    path = scratch / f"tutorial_{name[:2]}.py"
    # Targets of Triton 3.6 have no such question.
    kept = "".join(text.splitlines(keepends=True)[:last]).replace(".is_cuda_backend()", ".backend == 'cuda'")
    path.write_text(kept)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if quick:
        keep_likely(module)
    return module


def keep_likely(module) -> None:
    """Leaves the configurations that neither side's best is among out of a module's tuners."""
    for kernel in vars(module).values():
        if isinstance(kernel, triton.runtime.Autotuner):
            kernel.configs = [config for config in kernel.configs if likely(config)]


def likely(config) -> bool:
    """Whether a configuration has at most three stages, and a thread at most 128 elements of the result and
    at least 32."""
    numbers = config.kwargs
    rows = numbers.get("BLOCK_SIZE_M") or numbers["BLOCK_M"]
    columns = numbers.get("BLOCK_SIZE_N") or numbers["BLOCK_N"]
    return config.num_stages <= 3 and 32 <= rows * columns // (32 * config.num_warps) <= 128


def error(got, expected) -> float:
    """The largest difference, of the largest result."""
    difference = (got.float() - expected.float()).abs().max() / expected.float().abs().max()
    return difference.item()


def rate(call, work: float) -> float:
    """TFLOP/s."""
    return work / triton.testing.do_bench(call, warmup=50, rep=200, return_mode="median") * 1e-9


def products(folder: Path, scratch: Path, quick: bool):
    """Names, rates and errors of products."""
    by_pointers = tutorial(folder, "03-matrix-multiplication", scratch, quick)
    persistent = tutorial(folder, "09-persistent-matmul", scratch, quick)
    left, right = (torch.randn(SIDE, SIDE, device="cuda", dtype=torch.float16) for _ in range(2))
    rows = SIDE // 16

    def told(name, call, expected):
        result = call()
        yield name, rate(call, 2 * SIDE**3), error(result[:rows], expected)

    expected = left[:rows].float() @ right.float()
    yield from told("product, f16", lambda: by_pointers.matmul(left, right), expected)
    x, y = left.to(torch.float8_e5m2), right.T.contiguous().to(torch.float8_e5m2).T
    expected = x[:rows].float() @ y.float()
    yield from told("product, f8", lambda: by_pointers.matmul(x, y), expected)
    expected = left[:rows].float() @ right.T.float()
    turned = right.T
    yield from told("product, right factor transposed", lambda: persistent.matmul(left, turned), expected)
    yield from told("product, persistent", lambda: persistent.matmul_persistent(left, turned), expected)
    for name, call in (
        ("product, host descriptors", lambda: persistent.matmul_tma(left, right, False)),
        ("product, host descriptors, persistent", lambda: persistent.matmul_tma_persistent(left, right, False)),
        ("product, device descriptors, persistent", lambda: persistent.matmul_descriptor_persistent(left, right, False)),
    ):
        yield from told(name, call, expected)


def attention(folder: Path, scratch: Path, quick: bool):
    """Names, rates and errors of attention, forward and backward."""
    kernels = tutorial(folder, "06-fused-attention", scratch, quick)
    for width in (64, 128):
        shape = (BATCH, HEADS, LENGTH, width)
        inputs = [torch.randn(shape, device="cuda", dtype=torch.float16, requires_grad=True) for _ in range(3)]
        for causal in (False, True):
            work = 4 * BATCH * HEADS * LENGTH**2 * width * (0.5 if causal else 1)
            kind = f"{width} wide, {'causal' if causal else 'full'}"

            def call(causal=causal, inputs=inputs):
                return kernels.attention(*inputs, causal, SCALE, False)

            some = [each[:1, :2].detach().clone().requires_grad_() for each in inputs]
            expected = torch.nn.functional.scaled_dot_product_attention(*some, is_causal=causal, scale=SCALE)
            result = call()
            yield f"attention, {kind}", rate(call, work), error(result[:1, :2], expected)
            gradient = torch.randn_like(result)
            expected.backward(gradient[:1, :2])
            result.backward(gradient, retain_graph=True)
            worst = max(error(mine.grad[:1, :2], other.grad) for mine, other in zip(inputs, some))
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                for _ in range(10):
                    result.backward(gradient, retain_graph=True)
                torch.cuda.synchronize()
            events = {event.key: event for event in profile.key_averages()}
            event = events["_attn_bwd"]
            seconds = event.device_time_total / event.count * 1e-6
            for each in inputs:
                each.grad = None
            yield f"attention backward, {kind}", 2.5 * work / seconds * 1e-12, worst


def measured(compiler: str, folder: Path, quick: bool) -> None:
    """Prints the rows of one side, a line each."""
    versions = f"triton {triton.__version__}, PyTorch {torch.__version__}"
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = str(Path(scratch, "cache"))
        if compiler == "weft":
            import weft
            import weft.triton

            weft.triton.install()
            versions = f"weft {weft.__version__}, {versions}"
        print(json.dumps({"versions": versions, "machine": torch.cuda.get_device_name()}), flush=True)
        for rows in (products, attention):
            for name, speed, worst in rows(folder, Path(scratch), quick):
                assert worst < MOST_ERROR, f"{name}: {worst}"
                print(json.dumps({"name": name, "rate": speed, "error": worst}), flush=True)


def side(compiler: str, folder: Path, quick: bool) -> tuple[dict, dict]:
    """What a process of its own measures: what it says of itself, and its rows by name."""
    command = [sys.executable, __file__, str(folder), "--compiler", compiler, *["--quick"] * quick]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        rows = []
        for line in process.stdout:
            print(compiler, line, end="", file=sys.stderr, flush=True)
            rows.append(json.loads(line))
    if process.returncode != 0:
        raise SystemExit(f"{compiler} failed")
    first, *rest = rows
    return first, {row["name"]: row for row in rest}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--compiler", choices=["weft", "triton"], help="measure one side and print its rows")
    parser.add_argument("--quick", action="store_true", help="tune over the likely configurations alone")
    options = parser.parse_args()
    if options.compiler:
        measured(options.compiler, options.folder, options.quick)
        return
    _, theirs = side("triton", options.folder, options.quick)
    about, ours = side("weft", options.folder, options.quick)
    rows = []
    for name, row in ours.items():
        speeds = row["rate"], theirs[name]["rate"]
        ratio = speeds[0] / speeds[1]
        rows.append([name, f"{speeds[0]:.0f}", f"{speeds[1]:.0f}", f"{ratio:.3f}", f"{row['error']:.1e}"])
    measurement = {
        "what": f"Tutorials of Triton, f16 unless said, matrices of {SIDE} by {SIDE}, attention of {BATCH} by"
        f" {HEADS} heads and {LENGTH} tokens; the best configuration of each side; a ratio above 1 means Weft is"
        f" faster; errors of the largest result{'; tuned over likely configurations' * options.quick}",
        "command": f"python docs/measurements/tutorials.py FOLDER{' --quick' * options.quick}",
        "versions": about["versions"],
        "machine": about["machine"],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": COLUMNS,
        "rows": rows,
    }
    text = json.dumps(measurement, indent=2, ensure_ascii=False) + "\n"
    if options.output:
        options.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
