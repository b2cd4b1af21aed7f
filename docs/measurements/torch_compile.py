#!/usr/bin/env python3
"""What `torch.compile` makes of whole programs, compiled by Triton and by Weft, kernel by kernel.

    pip install . && python docs/measurements/torch_compile.py --output docs/measurements/torch_compile.json

Needs a GPU, PyTorch, Triton, timm and transformers; `torch_programs.py` has the programs. One runs in two
fresh processes, one for each compiler, with empty caches, and Inductor compiles in the process itself, where
`weft.triton.install()` was called (its worker processes would not know of it).

Which configuration of a kernel runs is Inductor's choice, by its own measurements, and on the first side
alone: the second runs what the first chose, where it has it. With `--own-choices` each side runs what
it chose; then two equal sides differ by half in single kernels, as `--compilers triton,triton` shows.

A kernel's time is the median over `--iterations` steps as the profiler saw it, the mean over its launches
in a step where there are several. Kernels below 3 µs under both compilers are left out of every mean
and count. `kernels` are kernels of that file rather than of Inductor's, each timed in a CUDA graph.

Results are compared with PyTorch's in f32, without compilation: the second compiler's error, in the norm
of an output or a gradient, may be twice the first one's. Where a program drops at random, the two
compilers' results are compared with one another: both draw the same numbers, and may differ by a thousandth
and twice what the program's own precision makes of it without dropping.

`--compilers triton,triton` compares Triton with itself: how far apart two equal sides are. A program that
fails is told with its error, and the others go on. Many processes compile at a time, but one at a time measures:
Inductor's choices of configurations too are made alone on the GPU.
"""

import argparse
import contextlib
import datetime
import fcntl
import json
import logging
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

STARTED = time.monotonic()
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import torch
import triton
from torch_programs import PROGRAMS, cases

# Kernels that take less under both compilers are not compared.
LEAST_US = 3.0
# A kernel at less than this share of the first compiler's speed is counted.
SLOW = 0.9
# Bytes, more than a program allocates.
PLENTY = 16 << 30
# Elements of an output that are kept for the comparison.
KEPT = 1 << 20


# One side: a program with one compiler, in a process of its own.


class Gpu:
    """The GPU, which one process at a time has alone while it measures."""

    def __init__(self, folder):
        self.file = open(folder / "gpu.lock", "w")  # noqa: SIM115 (open as long as the process lives)
        self.depth = 0
        # Seconds of this process.
        self.spent = {"to begin": time.monotonic() - STARTED, "waiting": 0.0, "alone": 0.0}

    @contextlib.contextmanager
    def alone(self):
        self.depth += 1
        if self.depth == 1:
            start = time.monotonic()
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()
            self.spent["waiting"] += self.since - start
        try:
            yield
        finally:
            self.depth -= 1
            if self.depth == 0:
                torch.cuda.synchronize()
                fcntl.flock(self.file, fcntl.LOCK_UN)
                self.spent["alone"] += time.monotonic() - self.since


def stamp(phase):
    """What a process does from now on, for who waits for it."""
    print(f"phase: {phase} after {time.monotonic() - STARTED:.0f} s", file=sys.stderr, flush=True)


def sample(tensor):
    """Some of a tensor's elements, the same of equal tensors."""
    flat = tensor.detach().reshape(-1)
    flat = flat[:: max(1, flat.numel() // KEPT)]
    return (flat.float() if flat.is_floating_point() else flat.clone()).cpu()


def difference(seen, true):
    """How far results are from others: the norm of the difference over that of the others; of integers,
    the share that differs."""
    if not seen.is_floating_point():
        return (seen != true).double().mean().item()
    if not torch.equal(seen.isfinite(), true.isfinite()):
        return math.inf
    seen, true = (tensor.double().nan_to_num(0.0, 0.0, 0.0) for tensor in (seen, true))
    return ((seen - true).norm() / true.norm().clamp_min(1e-30)).item()


def on_the_device(step, iterations):
    """What each step ran on the GPU, as the profiler saw it: names and microseconds, in order."""
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(iterations):
            step()
        torch.cuda.synchronize()
    events = [
        (event.start_ns(), event.name(), event.duration_ns() / 1e3)
        for event in seen.profiler.kineto_results.events()
        if event.device_type() == DeviceType.CUDA
        and not (hasattr(event, "is_user_annotation") and event.is_user_annotation())
    ]
    events.sort()
    return [(name, micros) for _, name, micros in events]


def medians(events, iterations):
    """By kernel the launches of a step and the mean of their medians; and the medians' sum over a step."""
    names = [name for name, _ in events]
    length = len(names) // iterations
    found = defaultdict(list)
    if len(names) == length * iterations and names == names[:length] * iterations:
        for at in range(length):
            found[names[at]].append(statistics.median(micros for _, micros in events[at::length]))
        kernels = {name: (len(times), statistics.fmean(times)) for name, times in found.items()}
    else:
        # Steps that differ: what a name takes in all of them.
        for name, micros in events:
            found[name].append(micros)
        kernels = {name: (len(times) / iterations, statistics.median(times)) for name, times in found.items()}
    return kernels, sum(count * micros for count, micros in kernels.values())


def spelled(config):
    sizes = ", ".join(f"{name} {value}" for name, value in config.kwargs.items())
    return f"{sizes}, {config.num_warps} warps"


def watch_inductor(gpu, wanted, choices, tuned):
    """Has what Inductor compiled alone on the GPU while it runs, so that it measures configurations by
    themselves; keeps which one runs of each kernel that has several, the wanted one where there is one, and the
    microseconds of all of them."""
    from torch._inductor.output_code import CompiledFxGraph
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    run = CompiledFxGraph.__call__
    choose, benchmark = CachingAutotuner.autotune_to_one_config, CachingAutotuner.benchmark_all_configs

    def ran(graph, inputs):
        with gpu.alone():
            return run(graph, inputs)

    def benchmarked(kernel, *arguments, **keywords):
        times = benchmark(kernel, *arguments, **keywords)
        found = tuned.setdefault(kernel.fn.__name__, {})
        for launcher, milliseconds in times.items():
            if math.isfinite(milliseconds):
                found[spelled(launcher.config)] = 1e3 * milliseconds
        return times

    def chosen(kernel, *arguments, **keywords):
        name = kernel.fn.__name__
        given = [launcher for launcher in kernel.launchers if spelled(launcher.config) == wanted.get(name)]
        result = choose(kernel, *arguments, **keywords)
        if given:
            kernel.launchers = given[:1]
        with contextlib.suppress(AttributeError, IndexError):
            choices[name] = spelled(kernel.launchers[0].config)
        return result

    CompiledFxGraph.__call__ = ran
    CachingAutotuner.autotune_to_one_config = chosen
    CachingAutotuner.benchmark_all_configs = benchmarked


class Results(NamedTuple):
    """Samples of what a side computed, by name."""

    seen: dict
    # Of the first side: what it should be, where that is known.
    true: dict
    # Of the first side: by how much the program's own precision makes two right results differ.
    noise: dict


def of_inductor(build, gpu, is_first, iterations):
    """A program's times and results."""
    stamp("building")
    with gpu.alone():
        program = build()
    true, noise = {}, {}
    if is_first:
        stamp("running without compilation")
        with gpu.alone():
            precise = [sample(tensor) for tensor in program.precise()]
            if program.drops:
                plain = [sample(tensor) for tensor in program.plain()]
                noise = dict(enumerate(map(difference, plain, precise)))
            else:
                true = dict(enumerate(precise))
        torch.cuda.empty_cache()
    # By the most that was ever allocated Inductor tells how much memory there is: where there seems to be little,
    # it measures kernels with copies of their arguments on the host.
    with gpu.alone():
        torch.empty(PLENTY, dtype=torch.uint8, device="cuda")
        torch.cuda.empty_cache()
    stamp("compiling")
    program.compiled()
    on_the_device(lambda: None, 1)  # The profiler's own beginning.
    stamp("measuring")
    with gpu.alone():
        torch.manual_seed(1)
        seen = dict(enumerate(map(sample, program.compiled())))
        for _ in range(5):
            program.compiled()
        kernels, step = medians(on_the_device(program.compiled, iterations), iterations)
    kernels = {name: times for name, times in kernels.items() if name.startswith("triton_")}
    return kernels, step, Results(seen, true, noise)


def of_kernels(gpu, is_first):
    """The times and results of kernels as people write them, and what failed."""
    kernels, seen, true, failed = {}, {}, {}, []
    for case in cases():
        stamp(case.name)
        try:
            case.launch()
            # It is timed on a stream of its own, which does not wait for what is still being drawn on this one.
            torch.cuda.synchronize()
            with gpu.alone():
                micros = triton.testing.do_bench_cudagraph(case.launch, rep=20, return_mode="median") * 1e3
                outputs = [sample(tensor) for tensor in case.outputs]
                expected = [sample(tensor) for tensor in case.expected()] if is_first and case.expected else []
        except Exception as error:
            failed.append(f"{case.name}: {one_line(error)}")
            continue
        kernels[case.name] = (1, micros)
        seen.update({(case.name, at): tensor for at, tensor in enumerate(outputs)})
        true.update({(case.name, at): tensor for at, tensor in enumerate(expected)})
    return kernels, sum(micros for _, micros in kernels.values()), Results(seen, true, {}), failed


def one_line(error):
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return said[:300]


def made_by_triton(folder):
    """The kernels in a cache of Triton's, and those of them that LLVM printed."""
    all_of_them, by_llvm = set(), set()
    for path in folder.rglob("*.ptx"):
        all_of_them.add(path.stem)
        if "Generated by LLVM" in path.read_text(errors="replace")[:400]:
            by_llvm.add(path.stem)
    return sorted(all_of_them), sorted(by_llvm)


def side(options):
    """Runs a program with one compiler and writes what it saw."""
    reasons = []

    class Reasons(logging.Handler):
        def emit(self, record):
            reasons.append(" ".join(record.getMessage().split())[:300])

    logging.getLogger("weft.triton").addHandler(Reasons())
    if options.compilers == ["weft"]:
        import weft.triton

        weft.triton.install(fallback="triton")
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(0)
    gpu = Gpu(options.folder)
    name = options.programs[0]
    choices, tuned, failed = {}, {}, []
    if name == "kernels":
        kernels, step, results, failed = of_kernels(gpu, options.first)
    else:
        wanted = json.loads(options.choices.read_text())["choices"] if options.choices else {}
        watch_inductor(gpu, wanted, choices, tuned)
        kernels, step, results = of_inductor(PROGRAMS[name], gpu, options.first, options.iterations)
    stamp("writing")
    modules, by_llvm = made_by_triton(Path(os.environ["TRITON_CACHE_DIR"]))
    torch.save(tuple(results), options.output.with_suffix(".pt"))
    seen = {
        "kernels": kernels,
        "step": step,
        "failed": failed,
        "modules": modules,
        "by_llvm": by_llvm,
        "reasons": reasons,
        "choices": choices,
        "tuned": tuned,
        "spent": gpu.spent,
    }
    options.output.write_text(json.dumps(seen))


# Both sides.


class Run(NamedTuple):
    """What became of one side."""

    # What the process wrote, or `None`.
    seen: Any
    # The line of its error.
    error: str
    seconds: float


def run_side(name, compiler, number, options, folder, until, first):
    """Starts a process for one side and waits for it; before that for the first side, whose choices it takes."""
    output = folder / f"{name}.{number}.json"
    environment = dict(
        os.environ,
        TORCHINDUCTOR_COMPILE_THREADS="1",
        TORCHINDUCTOR_FX_GRAPH_CACHE="0",
        TORCHINDUCTOR_AUTOGRAD_CACHE="0",
        TORCHINDUCTOR_CACHE_DIR=str(folder / f"{name}.{number}" / "inductor"),
        TRITON_CACHE_DIR=str(folder / f"{name}.{number}" / "triton"),
        # Measured while others compile, the choice could differ between the sides.
        TORCHINDUCTOR_SHAPE_PADDING="0",
        OMP_NUM_THREADS="1",
        TOKENIZERS_PARALLELISM="false",
        HF_HUB_OFFLINE="1",
    )
    command = [sys.executable, __file__, "--side", "--programs", name, "--compilers", compiler]
    command += ["--first"] if number == 0 else []
    if first is not None and first.result().seen is not None:
        command += ["--choices", str(folder / f"{name}.0.json")]
    command += ["--folder", str(folder), "--output", str(output), "--iterations", str(options.iterations)]
    start = time.monotonic()
    left = until - start
    if left <= 0:
        return Run(None, "not begun: no time was left", 0.0)
    try:
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=left
        )
    except subprocess.TimeoutExpired as error:
        said = error.stderr or b""
        said = (said if isinstance(said, str) else said.decode(errors="replace")).splitlines()
        phase = ([line for line in said if line.startswith("phase: ")] or ["phase: beginning"])[-1]
        return Run(None, f"ended after {left:.0f} s, no time was left; {phase}", left)
    seconds = time.monotonic() - start
    if ran.returncode != 0 or not output.exists():
        said = [line.strip() for line in ran.stderr.splitlines() if line.strip() and line[:7] != "phase: "]
        if options.verbose:
            print(ran.stderr[-6000:], flush=True)
        errors = [line for line in said if "Error" in line.split(":")[0]]
        return Run(None, (errors or said or [f"exit status {ran.returncode}"])[-1][:300], seconds)
    return Run(json.loads(output.read_text()), "", seconds)


class Compared(NamedTuple):
    """A program under both compilers."""

    name: str
    # By kernel: launches of a step, and both times in microseconds.
    kernels: dict
    # Kernels that only one side ran.
    alone: list
    # Both times of a step on the GPU, in microseconds.
    steps: tuple
    verdict: str
    # Of the second side: kernels that Weft did not compile, and why not.
    by_llvm: list
    reasons: list
    # By kernel: Inductor's configurations on both sides, where they differ.
    choices: dict
    # By kernel and configuration that Inductor measured on both sides: both times in microseconds.
    tuned: dict

    def large(self):
        """Ratios of the kernels that count."""
        return {
            name: first / second
            for name, (_, first, second) in self.kernels.items()
            if max(first, second) >= LEAST_US
        }

    def totals(self):
        """What all kernels take in a step, on both sides."""
        return [sum(row[0] * row[at] for row in self.kernels.values()) for at in (1, 2)]


def verdict_of(first, second):
    """Whether the second side's results are as good as the first's."""
    wrong, errors, apart = [], [(0.0, 0.0)], []
    for name in first.seen.keys() | second.seen.keys():
        if name not in first.seen or name not in second.seen:
            wrong.append(name)
        elif (true := first.true.get(name)) is not None:
            theirs, ours = (difference(side.seen[name], true) for side in (first, second))
            errors.append((theirs, ours))
            if not ours <= 2 * theirs + 1e-5:
                wrong.append(name)
        else:
            apart.append(difference(second.seen[name], first.seen[name]))
            if not apart[-1] <= 2 * first.noise.get(name, 0.0) + 1e-3:
                wrong.append(name)
    told = [f"errors {max(error[0] for error in errors):.1e}, {max(error[1] for error in errors):.1e}"]
    if apart:
        told.append(f"apart {max(apart):.1e}")
    return f"wrong: {sorted(wrong)}, {', '.join(told)}" if wrong else f"right, {', '.join(told)}"


def compared(name, runs, folder, options):
    first, second = (run.seen for run in runs)
    kernels = {
        kernel: (max(count, second["kernels"][kernel][0]), micros, second["kernels"][kernel][1])
        for kernel, (count, micros) in first["kernels"].items()
        if kernel in second["kernels"]
    }
    alone = sorted(set(first["kernels"]) ^ set(second["kernels"]))
    results = [
        Results(*torch.load(folder / f"{name}.{number}.pt", weights_only=False)) for number in (0, 1)
    ]
    verdict = verdict_of(*results)
    failed = [*first["failed"], *second["failed"]]
    verdict = "; ".join([verdict, *failed])
    weft = options.compilers[1] == "weft"
    by_llvm = second["by_llvm"] if weft else []
    return Compared(
        name,
        kernels,
        alone,
        (first["step"], second["step"]),
        verdict,
        by_llvm,
        second["reasons"],
        {
            name: (first["choices"].get(name, ""), second["choices"].get(name, ""))
            for name in kernels
            if first["choices"].get(name) != second["choices"].get(name)
        },
        {
            (name, config): (micros, second["tuned"][name][config])
            for name in first["tuned"].keys() & second["tuned"].keys()
            for config, micros in first["tuned"][name].items()
            if config in second["tuned"][name]
        },
    )


def mean_of(ratios):
    ratios = list(ratios)
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def told(found):
    """A program's lines."""
    ratios = found.large()
    first, second = found.totals()
    lines = [
        f"{found.name}: {len(ratios)} kernels, ratio {mean_of(ratios.values()):.3f}, {first:.0f} and {second:.0f} µs "
        f"in kernels, {found.steps[0]:.0f} and {found.steps[1]:.0f} µs a step; {found.verdict}"
    ]
    for kernel, ratio in sorted(ratios.items(), key=lambda item: item[1])[:5]:
        count, theirs, ours = found.kernels[kernel]
        lines.append(f"    {ratio:.3f}  {theirs:8.1f} {ours:8.1f} µs  x{count:g}  {kernel}")
        if kernel in found.choices:
            lines.append(f"           {' against '.join(found.choices[kernel])}")
    if found.alone:
        lines.append(f"    on one side alone: {', '.join(found.alone)}")
    if found.by_llvm:
        lines.append(f"    not compiled by Weft: {', '.join(found.by_llvm)}")
        lines += [f"      {reason}" for reason in dict.fromkeys(found.reasons)]
    return "\n".join(lines)


def rows_of(all_found, failures, labels):
    """The table: a row a program, then one of all."""
    columns = ["program", "kernels", f"{labels[0]}, µs", f"{labels[1]}, µs", "ratio", "below 0.9", "the worst"]
    columns += [f"step, {labels[0]}, µs", f"step, {labels[1]}, µs", "not by Weft", "results"]
    rows = []

    def row(name, kernels, totals, ratios, worst, steps, by_llvm, verdict):
        slow = sum(ratio < SLOW for ratio in ratios)
        shown = [name, str(kernels), *(f"{total:.0f}" for total in totals), f"{mean_of(ratios):.3f}", str(slow)]
        rows.append([*shown, worst, *(f"{step:.0f}" for step in steps), str(by_llvm), verdict])

    every = []
    for found in all_found:
        ratios = found.large()
        every += ratios.values()
        worst = min(ratios, key=ratios.get, default="")
        shown = f"`{worst}` {ratios[worst]:.2f}" if worst else ""
        row(
            found.name,
            len(ratios),
            found.totals(),
            list(ratios.values()),
            shown,
            found.steps,
            len(found.by_llvm),
            found.verdict,
        )
    for name, error in failures.items():
        rows.append([name, *[""] * (len(columns) - 2), f"does not run: {error}"])
    if all_found:
        totals = [sum(found.totals()[at] for found in all_found) for at in (0, 1)]
        steps = [sum(found.steps[at] for found in all_found) for at in (0, 1)]
        by_llvm = sum(len(found.by_llvm) for found in all_found)
        right = sum(found.verdict.startswith("right") for found in all_found)
        row("all", len(every), totals, every, "", steps, by_llvm, f"{right} of {len(all_found)} right")
    return columns, rows


def measurement(what, options, columns, rows):
    import importlib.metadata

    versions = [f"triton {triton.__version__}", f"PyTorch {torch.__version__}"]
    for package in ("transformers", "timm"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{package} {importlib.metadata.version(package)}")
    if "weft" in options.compilers:
        versions.insert(0, f"weft {importlib.metadata.version('weft')}")
    return {
        "what": what,
        "command": f"python docs/measurements/torch_compile.py --compilers {','.join(options.compilers)}"
        + (" --own-choices" if options.own_choices else ""),
        "versions": ", ".join(versions),
        "machine": torch.cuda.get_device_name(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": columns,
        "rows": rows,
    }


def write(options, labels, columns, rows, all_found):
    """The table, and a file of all kernels beside it."""
    what = (
        f"GPU time of kernels from {LEAST_US:g} µs on that torch.compile makes, medians of {options.iterations} "
        "steps, both compilers in one run, "
        + (
            "each in the configurations that Inductor chose with it; "
            if options.own_choices
            else "in the configurations that Inductor chose with the first; "
        )
        + "a ratio above 1 means that the second is faster, and its mean is geometric; kernels' sums and steps are "
        "of one step"
    )
    options.output.write_text(
        json.dumps(measurement(what, options, columns, rows), indent=2, ensure_ascii=False) + "\n"
    )
    what = f"GPU time of every kernel that torch.compile makes, medians of {options.iterations} steps"
    columns = ["kernel", "program", "launches of a step", f"{labels[0]}, µs", f"{labels[1]}, µs", "ratio"]
    columns.append("configurations, where they differ")
    rows = [
        [
            f"`{name}`",
            found.name,
            f"{count:g}",
            f"{first:.2f}",
            f"{second:.2f}",
            f"{first / second:.3f}",
            " against ".join(found.choices.get(name, ())),
        ]
        for found in all_found
        for name, (count, first, second) in found.kernels.items()
    ]
    path = options.output.with_name(options.output.stem + "_kernels.json")
    path.write_text(json.dumps(measurement(what, options, columns, rows), indent=2, ensure_ascii=False) + "\n")
    what = "GPU time of every configuration that Inductor measured under both compilers, as it measured it"
    columns = ["kernel", "program", "configuration", f"{labels[0]}, µs", f"{labels[1]}, µs", "ratio"]
    rows = [
        [f"`{name}`", found.name, config, f"{first:.2f}", f"{second:.2f}", f"{first / second:.3f}"]
        for found in all_found
        for (name, config), (first, second) in sorted(found.tuned.items())
    ]
    path = options.output.with_name(options.output.stem + "_configurations.json")
    path.write_text(json.dumps(measurement(what, options, columns, rows), indent=2, ensure_ascii=False) + "\n")


def tell_configurations(all_found):
    """How configurations that Inductor measured on both sides compare, whichever it chose then."""
    ratios = [
        (first / second, first, second, f"{found.name} {name} ({config})")
        for found in all_found
        for (name, config), (first, second) in found.tuned.items()
        if max(first, second) >= LEAST_US
    ]
    if ratios:
        mean = mean_of(ratio for ratio, *_ in ratios)
        slow = sum(ratio < SLOW for ratio, *_ in ratios)
        print(f"{len(ratios)} configurations that both sides measured: ratio {mean:.3f}, {slow} below {SLOW}")
    for ratio, first, second, name in sorted(ratios)[:12]:
        print(f"    {ratio:.3f}  {first:8.1f} {second:8.1f} µs  {name}")


def main():
    names = ["kernels", *PROGRAMS]

    def some(text):
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in names]:
            raise argparse.ArgumentTypeError(f"no program {', '.join(unknown)}; there are {', '.join(names)}")
        return chosen

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=some, default=names, help=f"with commas; all of {', '.join(names)}")
    parser.add_argument(
        "--compilers", type=lambda text: text.split(","), default=["triton", "weft"], help="two of triton and weft"
    )
    parser.add_argument(
        "--own-choices", action="store_true", help="each side runs the configurations that it chose itself"
    )
    parser.add_argument("--iterations", type=int, default=20, help="steps that are timed")
    parser.add_argument("--workers", type=int, help="processes at a time; as many as cores, at most 16")
    parser.add_argument("--seconds", type=float, default=480, help="how long all of it may take")
    parser.add_argument("--output", type=Path, help="where the measurement goes, as JSON")
    parser.add_argument("--keep", type=Path, help="a folder where what was compiled stays")
    parser.add_argument("--verbose", action="store_true", help="whole errors, and where the time went")
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--choices", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side(options)
        return 0
    if len(options.compilers) != 2 or not set(options.compilers) <= {"triton", "weft"}:
        parser.error("two compilers, each triton or weft")
    until = time.monotonic() + options.seconds
    labels = [name.capitalize() for name in options.compilers]
    if labels[0] == labels[1]:
        labels[1] += " again"
    workers = options.workers or max(2, min(16, len(os.sched_getaffinity(0))))
    all_found, failures = [], {}
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        pool = stack.enter_context(ThreadPoolExecutor(workers))

        def begin(name, number, waits_for=None):
            compiler = options.compilers[number]
            return pool.submit(run_side, name, compiler, number, options, folder, until, waits_for)

        # All first sides stand in front of the second ones, which may wait for them.
        ones = {name: begin(name, 0) for name in options.programs}
        begun = {
            name: (one, begin(name, 1, None if options.own_choices else one)) for name, one in ones.items()
        }
        for name, futures in begun.items():
            runs = [future.result() for future in futures]
            errors = [f"{label}: {run.error}" for label, run in zip(labels, runs) if run.seen is None]
            if errors:
                failures[name] = "; ".join(errors)
                print(f"{name}: {failures[name]}", flush=True)
                continue
            try:
                found = compared(name, runs, folder, options)
            except Exception as error:
                traceback.print_exc()
                failures[name] = one_line(error)
                continue
            all_found.append(found)
            print(told(found), flush=True)
            if options.verbose:
                for run in runs:
                    spent = ", ".join(f"{name} {seconds:.0f}" for name, seconds in run.seen["spent"].items())
                    print(f"    {run.seconds:.0f} s: {spent}", flush=True)
    columns, rows = rows_of(all_found, failures, labels)
    if options.output:
        write(options, labels, columns, rows, all_found)
    print()
    shown = [columns, *rows]
    short = [0, 1, 2, 3, 4, 5, 7, 8, 9]
    widths = [max(len(line[at]) for line in shown) for at in short]
    for line in shown:
        print("  ".join(line[at].rjust(width) if at else line[at].ljust(width) for at, width in zip(short, widths)))
    ratios = sorted(ratio for found in all_found for ratio in found.large().values())
    if ratios:
        spread = [ratios[int(share * (len(ratios) - 1))] for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)]
        names = ("least", "5 %", "25 %", "50 %", "75 %", "95 %", "most")
        print("ratios: " + ", ".join(f"{name} {ratio:.3f}" for name, ratio in zip(names, spread)))
    tell_configurations(all_found)
    print(f"{options.seconds - until + time.monotonic():.0f} s in all")
    wrong = [found.name for found in all_found if not found.verdict.startswith("right")]
    for name in wrong:
        print(f"wrong: {name}")
    return 1 if wrong or failures else 0


if __name__ == "__main__":
    sys.exit(main())
