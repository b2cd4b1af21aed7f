#!/usr/bin/env python3
"""The kernels of other projects' own benchmarks, compiled by Triton and by Weft, launch by launch.

    pip install . && python docs/measurements/launches.py --tritonbench DIR --fla DIR --liger DIR ...

Needs a GPU, PyTorch, Triton, what the projects ask for, and checkouts of them: TritonBench
(meta-pytorch/tritonbench), flash-linear-attention (fla-org/flash-linear-attention), Liger-Kernel
(linkedin/Liger-Kernel), conch (stackav-oss/conch), attorch (BobMcDear/attorch),
Cut Cross-Entropy (apple/ml-cross-entropy), GemLite (mobiusml/gemlite), FlagGems (FlagOpen/FlagGems, of a
version that supports the Triton in use). Nothing of them is changed. Each of their benchmark programs, or the
tests of those that have none, runs in two fresh processes, one for each compiler, with empty caches. What the
program measures is done once; instead every kernel that it launches is timed where it is launched, with the
arguments that it was given: many launches in a CUDA graph, the median of seven. One process at a time has the
GPU, in the order in which they ask for it, and none while it compiles.

A problem is a kernel with its arguments, apart from what Triton's autotuner chooses. Of each kernel with several
configurations the same `--configurations` are tried on both sides. A side's time of a problem is that of
the configuration it chose; the same configurations are compared as well. Problems below 3 µs on both sides
are left out. Sums of all arguments after a launch that differ by more than a hundredth of their magnitudes are
told: many of them are memory that nothing has written, so they are for looking at.
"""

import argparse
import contextlib
import datetime
import json
import math
import os
import queue
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

# Problems that take less on both sides are not compared.
LEAST_US = 3.0
# A problem at less than this share of Triton's speed is counted.
SLOW = 0.9
# The share of the magnitudes by which sums may differ.
DIFFERENT = 0.01
# Where processes ask for the GPU.
TURNS = "gpu.socket"

# By operator of TritonBench: its implementations in Triton, the mode, and what picks inputs of a useful size.
TRITONBENCH = [
    ("addmm", "triton_addmm,streamk_addmm", "fwd", "--m 4096 --n 4096 --k 4096"),
    ("bf16xint16_gemm", "bf16xint16", "fwd", ""),
    ("cross_entropy", "liger_cross_entropy_loss", "fwd_bwd", ""),
    ("embedding", "liger_embedding", "fwd_bwd", ""),
    ("flash_attention", "triton_tutorial_flash_v2", "fwd_bwd", "--d-head 128 --n-heads 16 --causal"),
    ("fp8_attention", "triton_flash_v2", "fwd", "--d-head 128 --n-heads 16 --embedding-dim 2048"),
    ("fp8_gemm", "triton_fp8_gemm,triton_persistent_fp8_gemm", "fwd", "--m 4096 --n 4096 --k 4096"),
    ("fused_linear_cross_entropy", "liger_lm_head_ce", "fwd", ""),
    ("fused_linear_jsd", "liger_lm_head_jsd", "fwd", ""),
    ("gather_gemv", "test_0", "fwd", ""),
    ("gdpa", "gdpa", "fwd_bwd", ""),
    ("geglu", "liger_geglu", "fwd_bwd", ""),
    (
        "gemm",
        "triton_tutorial_matmul,matmul_partition_k,triton_persistent_matmul,triton_ops_matmul,streamk_matmul",
        "fwd",
        "--m 4096 --n 4096 --k 4096",
    ),
    ("grouped_gemm", "triton", "fwd", ""),
    ("int4_gemm", "triton", "fwd", ""),
    ("jsd", "liger_jsd", "fwd_bwd", ""),
    ("kl_div", "liger_kl_div", "fwd_bwd", ""),
    ("layer_norm", "triton_layer_norm,liger_layer_norm", "fwd_bwd", "--input-id 14"),
    ("low_mem_dropout", "triton_dropout,seeded_dropout", "fwd", ""),
    ("ragged_attention", "hstu", "fwd_bwd", ""),
    ("rms_norm", "liger_rms", "fwd_bwd", ""),
    ("rope", "liger_rotary_pos_emb", "fwd_bwd", ""),
    ("softmax", "triton_softmax", "fwd", "--input-id 60"),
    ("sum", "triton_sum", "fwd", ""),
    ("swiglu", "liger_swiglu", "fwd_bwd", ""),
    ("template_attention", "test_no_exp2,test_with_exp2", "fwd", ""),
    ("vector_add", "triton_add", "fwd", "--input-id 10"),
    ("vector_exp", "triton_exp", "fwd", "--input-id 10"),
    ("welford", "test_welford,test_no_welford", "fwd", ""),
]
# Operators of flash-linear-attention's own register of benchmarks, and the shape that they run at.
FLA = [
    "chunk_retention", "chunk_linear_attn", "chunk_gla", "chunk_delta_rule", "chunk_gdn", "chunk_kda",
    "chunk_precond_gdn", "chunk_simple_gla", "chunk_rwkv6", "chunk_rwkv7", "chunk_comba", "fused_recurrent_hgrn",
    "chunk_dplr_delta_rule", "chunk_lightning_attn", "parallel_attn", "fused_attnres", "parallel_nsa",
]
FLA_SHAPE = dict(B=4, T=4096, H=16, D=128)
# Liger-Kernel's benchmark programs.
LIGER = [
    "cross_entropy", "dyt", "fused_add_rms_norm", "fused_linear_jsd", "fused_neighborhood_attention", "geglu",
    "group_norm", "grpo_loss", "jsd", "kl_div", "layer_norm", "llama4_rope", "mhc", "multi_token_attention",
    "poly_norm", "qwen2vl_mrope", "relu_squared", "rms_norm", "rope", "softmax", "sparsemax", "swiglu", "tvd",
]


# Projects whose folders hold programs by a pattern: each a benchmark, or a file of tests.
CONCH = "benchmarks/*_benchmark.py"
# What they compare with takes minutes.
CONCH_LEFT_OUT = {"bev_pool", "bev_pool_backward"}
ATTORCH = "tests/test_*.py"
CCE = "tests/test_*.py"
GEMLITE = "tests/test_*.py"
# FlagGems' programs are of many operators: each of their functions is run apart, for one type of numbers.
FLAGGEMS = "benchmark/test_*_perf.py"
FLAGGEMS_OPTIONS = ["--level", "core", "--warmup", "1", "--iter", "1", "--dtypes", "float16"]
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]


class Job:
    """A benchmark program, as it is started."""

    def __init__(self, name: str, root: Path, command: list[str], imports: list[Path]) -> None:
        self.name = name
        self.root = root
        self.command = command
        self.imports = [str(path) for path in imports]


def jobs_of(options: argparse.Namespace) -> list[Job]:
    found = []
    if options.fla:
        for operator in FLA:
            shape = json.dumps({"shape": FLA_SHAPE})
            command = ["benchmarks/ops/run.py", "--op", operator, "--custom-shapes", shape]
            found.append(Job(f"fla {operator}", options.fla, command, [options.fla]))
    if options.tritonbench:
        inputs = str(options.inputs)
        # Some of its operators are Liger-Kernel's.
        imports = [options.tritonbench, *([options.liger / "src"] if options.liger else [])]
        for operator, only, mode, more in TRITONBENCH:
            command = ["run.py", "--op", operator, "--only", only, "--mode", mode, "--metrics", "latency"]
            command += ["--num-inputs", inputs, "--bypass-fail", *more.split()]
            found.append(Job(f"tritonbench {operator}", options.tritonbench, command, imports))
    if options.liger:
        for kernel in LIGER:
            command = [f"benchmark/scripts/benchmark_{kernel}.py", "--overwrite"]
            found.append(Job(f"liger {kernel}", options.liger, command, [options.liger / "src", options.liger]))
    if options.conch:
        for path in sorted(options.conch.glob(CONCH)):
            name = path.stem.removesuffix("_benchmark")
            if name not in CONCH_LEFT_OUT:
                found.append(Job(f"conch {name}", options.conch, [str(path)], [options.conch]))
    for project, pattern in (("attorch", ATTORCH), ("cce", CCE), ("gemlite", GEMLITE)):
        if root := getattr(options, project):
            for path in sorted(root.glob(pattern)):
                name = path.stem.removeprefix("test_")
                found.append(Job(f"{project} {name}", root, [*PYTEST, str(path)], [root]))
    if options.flaggems:
        for path in sorted(options.flaggems.glob(FLAGGEMS)):
            for function in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE):
                name = function.removeprefix("test_").removesuffix("_perf")
                command = [*PYTEST, f"{path}::{function}", *FLAGGEMS_OPTIONS]
                found.append(Job(f"flaggems {name}", options.flaggems, command, [options.flaggems / "src", options.flaggems]))
    chosen = options.select.split(",") if options.select else None
    return [job for job in found if chosen is None or any(part in job.name for part in chosen)]


class Turns:
    """Lends the GPU to one process at a time, first come, first served. A connection asks for it, a byte lends it, and
    the end of the connection, or of the process, gives it back. (Who waits for a lock on a file may wait forever.)"""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(256)
        threading.Thread(target=self.lend, daemon=True).start()

    def lend(self) -> None:
        while True:
            asking, _ = self.listener.accept()
            with asking, contextlib.suppress(OSError):
                asking.sendall(b"1")
                asking.recv(1)


def run_side(job: Job, compiler: str, folder: Path, options: argparse.Namespace) -> dict:
    """Runs a job with a compiler: the lines that it wrote, and its error."""
    stem = folder / f"{job.name.replace(' ', '.')}.{compiler}"
    described, output, log = (stem.with_name(stem.name + end) for end in (".job", ".jsonl", ".log"))
    turns = str(folder / TURNS)
    described.write_text(json.dumps(dict(compiler=compiler, turns=turns, configurations=options.configurations)))
    output.touch()
    left = options.until - time.monotonic()
    if left <= 1:
        return dict(lines=[], error="not begun: no time was left")
    worker = Path(__file__).resolve().with_name("launches_worker.py")
    environment = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([*job.imports, *filter(None, [os.environ.get("PYTHONPATH")])]),
        PYTHONDONTWRITEBYTECODE="1",
        TRITON_CACHE_DIR=str(stem) + ".cache",
        TORCHINDUCTOR_CACHE_DIR=str(stem) + ".inductor",
        TORCHINDUCTOR_COMPILE_THREADS="1",
        FLA_BENCH_OP_WARMUP_ITERS="1",
        FLAGGEMS_CACHE_DIR=str(stem) + ".flaggems",
        OMP_NUM_THREADS="1",
        HF_HUB_OFFLINE="1",
    )
    command = [sys.executable, str(worker), str(described), str(output), *job.command]
    start = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(
            command, cwd=job.root, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=min(left, options.each))
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    error = ""
    if status != 0:
        errors = [line for line in said if "Error" in line.split(":")[0]]
        ended = f"took longer than {time.monotonic() - start:.0f} s" if status is None else f"status {status}"
        error = f"{ended}: {(errors or said or ['no word'])[-1][:160]}"
    elif not any("us" in line for line in lines):
        errors = [line for line in said if "Error" in line or "failed" in line.lower()]
        error = f"launched nothing: {(errors or said or ['no word'])[-1][:160]}"
    return dict(lines=lines, error=error, seconds=time.monotonic() - start, words=said[-40:])


def run_all(jobs: list[Job], folder: Path, options: argparse.Namespace) -> dict:
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    for job in jobs:
        for compiler in ("triton", "weft"):
            waiting.put((job, compiler))
    sides: dict = {}

    def work() -> None:
        while True:
            try:
                job, compiler = waiting.get_nowait()
            except queue.Empty:
                return
            side = run_side(job, compiler, folder, options)
            sides[job.name, compiler] = side
            timed = sum("us" in line for line in side["lines"])
            print(f"{job.name}, {compiler}: {timed} launches, {side.get('seconds', 0):.0f} s {side['error']}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(options.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sides


def times_of(lines: list[dict]) -> tuple[dict, dict]:
    """By key the launch, and by problem the key of what was used last."""
    return (
        {line["key"]: line for line in lines if "us" in line},
        {line["problem"]: line["used"] for line in lines if "used" in line},
    )


def differs(first: dict, second: dict) -> bool:
    pairs = [(a, b) for a, b in zip(first["sums"], second["sums"]) if a is not None and b is not None]
    for a, b in pairs:
        if all(map(math.isfinite, (*a, *b))):
            if max(abs(a[0] - b[0]), abs(a[1] - b[1])) > DIFFERENT * max(a[1], b[1]):
                return True
        elif any(map(math.isfinite, a)) != any(map(math.isfinite, b)):
            return True
    return False


def compared(job: str, triton: list[dict], weft: list[dict]) -> dict:
    """What a job's sides have in common."""
    ours, our_choice = times_of(weft)
    theirs, their_choice = times_of(triton)
    same = [
        dict(key=key, name=theirs[key]["name"], config=theirs[key]["config"], triton=theirs[key]["us"], weft=ours[key]["us"],
             grid=ours[key]["grid"], differs=differs(theirs[key], ours[key]), by=ours[key]["compiler"])
        for key in theirs.keys() & ours.keys()
    ]
    problems = []
    for problem in their_choice.keys() & our_choice.keys():
        first, second = theirs.get(their_choice[problem]), ours.get(our_choice[problem])
        if first is not None and second is not None:
            problems.append(
                dict(problem=problem, name=first["name"], triton=first["us"], weft=second["us"],
                     triton_config=first["config"], weft_config=second["config"], grid=second["grid"])
            )
    return dict(job=job, problems=long_enough(problems), same=long_enough(same))


def long_enough(found: list[dict]) -> list[dict]:
    return [one for one in found if max(one["triton"], one["weft"]) >= LEAST_US]


def mean_of(found: list[dict]) -> float:
    return statistics.geometric_mean(one["triton"] / one["weft"] for one in found) if found else math.nan


def short(name: str) -> str:
    return name.rpartition(".")[2]


def show(comparisons: list[dict]) -> list[list[str]]:
    rows = []
    for one in comparisons:
        if not one["problems"]:
            continue
        worst = min(one["problems"], key=lambda found: found["triton"] / found["weft"])
        slow = sum(found["triton"] / found["weft"] < SLOW for found in one["problems"])
        rows.append([
            one["job"], str(len(one["problems"])), f"{mean_of(one['problems']):.3f}", str(slow),
            f"{short(worst['name'])} {worst['triton'] / worst['weft']:.2f}",
            f"{mean_of(one['same']):.3f}", str(len(one["same"])),
        ])
    problems = [found for one in comparisons for found in one["problems"]]
    same = [found for one in comparisons for found in one["same"]]
    if problems:
        slow = sum(found["triton"] / found["weft"] < SLOW for found in problems)
        rows.append(["all", str(len(problems)), f"{mean_of(problems):.3f}", str(slow), "", f"{mean_of(same):.3f}", str(len(same))])
    return rows


def tell_slow(comparisons: list[dict], most: int) -> None:
    """The kernels of which a launch is slow, the worst launch of each, worst first."""
    worst: dict = {}
    for one in comparisons:
        for found in one["same"]:
            ratio = found["triton"] / found["weft"]
            place = (one["job"], found["name"])
            if place not in worst or ratio < worst[place][0]:
                worst[place] = (ratio, found)
    ordered = sorted(worst.items(), key=lambda item: item[1][0])
    for (job, name), (ratio, found) in ordered[:most]:
        if ratio >= 1.0:
            break
        config = ", ".join(f"{key} {value}" for key, value in found["config"].items())
        print(f"  {ratio:.2f}  {found['weft']:9.1f} / {found['triton']:9.1f} us  {job}: {short(name)} {found['grid']} {config}")
    different = defaultdict(int)
    for one in comparisons:
        for found in one["same"]:
            different[one["job"], short(found["name"])] += found["differs"]
    for (job, name), count in different.items():
        if count:
            print(f"  sums differ: {job}: {name}, {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tritonbench", type=Path, help="TritonBench's checkout")
    parser.add_argument("--fla", type=Path, help="flash-linear-attention's checkout")
    parser.add_argument("--liger", type=Path, help="Liger-Kernel's checkout")
    parser.add_argument("--conch", type=Path, help="conch's checkout")
    parser.add_argument("--attorch", type=Path, help="attorch's checkout")
    parser.add_argument("--cce", type=Path, help="Cut Cross-Entropy's checkout")
    parser.add_argument("--gemlite", type=Path, help="GemLite's checkout")
    parser.add_argument("--flaggems", type=Path, help="FlagGems' checkout")
    parser.add_argument("--select", help="parts of jobs' names, with commas")
    parser.add_argument("--inputs", type=int, default=6, help="inputs of each operator of TritonBench")
    parser.add_argument("--configurations", type=int, default=3, help="configurations that are tried of each kernel")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--seconds", type=float, default=3600, help="after which all is ended")
    parser.add_argument("--each", type=float, default=600, help="seconds that a process may take")
    parser.add_argument("--folder", type=Path, help="where logs and Triton's caches are kept, with every kernel's texts")
    parser.add_argument("--launches", type=Path, help="a file of JSON lines for every line of every process")
    parser.add_argument("--output", type=Path, help="the measurement")
    options = parser.parse_args()
    options.until = time.monotonic() + options.seconds
    for name in ("tritonbench", "fla", "liger", "conch", "attorch", "cce", "gemlite", "flaggems"):
        if (root := getattr(options, name)) is not None:
            setattr(options, name, root.resolve())
    jobs = jobs_of(options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        Turns(folder / TURNS)
        sides = run_all(jobs, folder.resolve(), options)
    if options.launches:
        with options.launches.open("w") as file:
            for (job, compiler), side in sides.items():
                for line in side["lines"]:
                    file.write(json.dumps(dict(job=job, side=compiler, **line)) + "\n")
                if side["error"]:
                    words = side.get("words", [])
                    file.write(json.dumps(dict(job=job, side=compiler, failed=side["error"], words=words)) + "\n")
    comparisons = [
        compared(job.name, sides[job.name, "triton"]["lines"], sides[job.name, "weft"]["lines"]) for job in jobs
    ]
    rows = show(comparisons)
    columns = ["program", "kernels", "geometric mean", "below 0.9", "worst", "same configuration", "launches"]
    print()
    tell_slow(comparisons, 60)
    print()
    for row in [columns, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, (34, 8, 16, 10, 60, 20, 8))))
    if options.output:
        import torch
        import triton

        import weft

        options.output.write_text(json.dumps(dict(
            what="kernels of other projects' own benchmarks: Weft's speed over Triton's, each problem in the configuration that a side chose",
            command="python docs/measurements/launches.py --tritonbench DIR --fla DIR --liger DIR ...",
            versions=f"weft {weft.__version__}, triton {triton.__version__}, torch {torch.__version__}",
            machine=torch.cuda.get_device_name(),
            date=str(datetime.date.today()),
            columns=columns,
            rows=rows,
        ), indent=1) + "\n")


if __name__ == "__main__":
    main()
