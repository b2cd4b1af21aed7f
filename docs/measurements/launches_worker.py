"""One side of `launches.py`: runs a program with one compiler, and times every kernel that it launches.

    launches_worker.py JOB OUTPUT PROGRAM ARGUMENTS...

PROGRAM is a file, or `-m` and a module. JOB is a file of JSON. OUTPUT gets a line of JSON for each kernel that is launched with arguments that were
not seen before; what the program itself measures is done once, and says nothing.
"""

import contextlib
import hashlib
import importlib._bootstrap
import json
import runpy
import socket
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
import triton
import triton.testing
from triton.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

# Microseconds that the launches of one measurement take together, about.
TOGETHER_US = 1000
# Launches of one measurement at the most, and measurements.
MOST = 40
MEASUREMENTS = 7
# Bytes of arguments that are kept and put back, so that a kernel finds each time what it found first.
KEPT = 24 << 30


class Gpu:
    """The GPU, which one process at a time has alone: from a program's first use of it to its end, but
    for the time in which it compiles or imports modules."""

    def __init__(self, turns: str) -> None:
        self.turns = turns
        self.turn: socket.socket | None = None
        begin, load = torch.cuda._lazy_init, importlib._bootstrap._find_and_load

        def first() -> None:
            if not torch.cuda.is_initialized():
                self.take()
            begin()

        # Some programs ask for the GPU's name before they import what takes ten seconds.
        def loading(*args):
            with self.left():
                return load(*args)

        torch.cuda._lazy_init = first
        importlib._bootstrap._find_and_load = loading

    def take(self) -> None:
        self.turn = socket.socket(socket.AF_UNIX)
        self.turn.connect(self.turns)
        self.turn.recv(1)

    @contextlib.contextmanager
    def left(self):
        # A module imports others, and a thread of the program's may import while its kernels are timed.
        if self.turn is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        torch.cuda.synchronize()
        # Others need the memory.
        torch.cuda.empty_cache()
        self.turn.close()
        self.turn = None
        try:
            yield
        finally:
            self.take()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def described(value: Any) -> Any:
    """What of an argument decides how long a kernel takes."""
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), list(value.stride()), value.data_ptr() % 16]
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    if isinstance(value, (tuple, list)):
        return [described(part) for part in value]
    if (base := getattr(value, "base", None)) is not None:
        return [described(base), described(getattr(value, "block_shape", None))]
    return getattr(value, "__name__", type(value).__name__)


def tensors_of(values: Any) -> list[torch.Tensor]:
    found = {}
    for value in values:
        value = getattr(value, "base", value)
        for part in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(part, torch.Tensor) and part.is_cuda:
                found[part.data_ptr()] = part
    return list(found.values())


def summary(tensor: torch.Tensor) -> list[float] | None:
    """The sums of a tensor's numbers and of their magnitudes."""
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return None
    wide = tensor.detach().double() if tensor.numel() < 1 << 24 else tensor.detach().float()
    return [wide.sum().item(), wide.abs().sum().item()]


def milliseconds(step) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def timed(launch, tensors: list[torch.Tensor]) -> float:
    """Microseconds of a launch, among others of its kind in a CUDA graph."""
    kept = []
    if sum(tensor.numel() * tensor.element_size() for tensor in tensors) < KEPT:
        kept = [(tensor, tensor.detach().clone()) for tensor in tensors]
    launch()
    once = 1e3 * milliseconds(launch)
    count = int(min(max(TOGETHER_US / max(once, 1.0), 1), MOST))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            launch()
    graph.replay()
    times = [1e3 * milliseconds(graph.replay) / count for _ in range(MEASUREMENTS)]
    with torch.no_grad():
        for tensor, copy in kept:
            tensor.data.copy_(copy)
    torch.cuda.synchronize()
    return statistics.median(times)


class Watch:
    """What stands in the place of Triton's launches and of its measuring."""

    def __init__(self, gpu: Gpu, output: Path, most: int) -> None:
        self.gpu = gpu
        self.output = output
        self.most = most
        self.last = float("inf")
        # The names of what is tuned, of the tuners that are under way, and of every function that was.
        self.tuned: list[set[str]] = []
        self.tuned_of: dict[JITFunction, set[str]] = {}
        self.tuning = False
        # While a launch is looked at: what PyTorch computes meanwhile may itself be launches of the program's.
        self.looking = False
        self.seen: dict[str, float] = {}
        self.used: set[tuple[str, str]] = set()

    def write(self, **line: Any) -> None:
        with self.output.open("a") as out:
            out.write(json.dumps(line) + "\n")

    def install(self) -> None:
        run, compiled = JITFunction.run, JITFunction._do_compile
        direct = CompiledKernel.__getitem__
        prune = Autotuner.prune_configs
        watch = self

        def launched(function, *args, grid, warmup, **kwargs):
            kernel = run(function, *args, grid=grid, warmup=warmup, **kwargs)
            if not warmup and not torch.cuda.is_current_stream_capturing():
                watch.launched(
                    function, args, kwargs, grid, lambda: run(function, *args, grid=grid, warmup=False, **kwargs)
                )
            return kernel

        def compiling(*args, **kwargs):
            with watch.gpu.left():
                return compiled(*args, **kwargs)

        # Some programs keep what a launch returned, and launch that.
        def launcher(kernel, grid):
            launch = direct(kernel, grid)

            def launching(*args, **kwargs):
                result = launch(*args, **kwargs)
                if isinstance(kernel.src.fn, JITFunction) and not torch.cuda.is_current_stream_capturing():
                    watch.launched(kernel.src.fn, args, {}, grid, lambda: launch(*args))
                return result

            return launching

        def tuning_by(tune):
            def tuning(tuner, *args, **kwargs):
                watch.tuned.append(tuned_names(tuner))
                watch.tuned_of.setdefault(function_of(tuner), set()).update(watch.tuned[-1])
                try:
                    return tune(tuner, *args, **kwargs)
                finally:
                    watch.tuned.pop()

            return tuning

        # Libraries have tuners of their own.
        def derived(kind, **kwargs):
            super(Autotuner, kind).__init_subclass__(**kwargs)
            if "run" in vars(kind):
                kind.run = tuning_by(kind.run)

        def pruned(tuner, kwargs, *rest):
            found = prune(tuner, kwargs, *rest)
            return sorted(found, key=lambda config: digest(str(config)))[: watch.most]

        def measured(call, quantiles=None, **_others):
            was, watch.tuning = watch.tuning, True
            try:
                call()
            finally:
                watch.tuning = was
            return [watch.last / 1e3] * 3

        JITFunction.run = launched
        JITFunction._do_compile = compiling
        CompiledKernel.__getitem__ = launcher
        Autotuner.run = tuning_by(Autotuner.run)
        Autotuner.__init_subclass__ = classmethod(derived)
        Autotuner.prune_configs = pruned
        Autotuner.do_bench = property(lambda tuner: measured)
        for name in ("do_bench", "do_bench_cudagraph"):
            setattr(triton.testing, name, once)

    def launched(self, function, args, kwargs, grid, launch) -> None:
        if self.looking:
            return
        self.looking = True
        try:
            self.look(function, args, kwargs, grid, launch)
        finally:
            self.looking = False

    def look(self, function, args, kwargs, grid, launch) -> None:
        named = dict(zip(function.arg_names, args)) | kwargs
        size = grid(named) if callable(grid) else grid
        size = list(size) if isinstance(size, (tuple, list)) else [size]
        name = f"{function.__module__}.{function.__name__}"
        tuned = set(self.tuned_of.get(function, ())).union(*self.tuned)
        config = {key: described(value) for key, value in named.items() if key in tuned}
        rest = {key: described(value) for key, value in named.items() if key not in tuned}
        problem = digest(json.dumps([name, rest], sort_keys=True, default=str))
        # What a configuration does not decide is part of its name where nothing is tuned.
        spelled = json.dumps([config, [] if tuned else size], sort_keys=True, default=str)
        key = digest(problem + spelled)
        if key not in self.seen:
            tensors = tensors_of(named.values())
            torch.cuda.synchronize()
            sums = [summary(tensor) for tensor in tensors]
            try:
                self.seen[key] = timed(launch, tensors)
            except Exception as error:  # noqa: BLE001 (a kernel that no graph can hold is left out)
                self.write(name=name, problem=problem, key=key, error=str(error).splitlines()[0][:200])
                self.seen[key] = float("inf")
            else:
                self.write(
                    name=name, problem=problem, key=key, config=config, grid=size, us=self.seen[key], sums=sums,
                    compiler=compiler_of(), tuned=bool(tuned),
                )
        self.last = self.seen[key]
        if not self.tuning and (problem, key) not in self.used:
            self.used.add((problem, key))
            self.write(problem=problem, used=key)


def function_of(tuner: Autotuner) -> JITFunction:
    function = tuner.fn
    while not isinstance(function, JITFunction):
        function = function.fn
    return function


def tuned_names(tuner: Autotuner) -> set[str]:
    """What a configuration decides, directly or by what is computed of it."""
    names = {name for config in tuner.configs for name in config.all_kwargs()}
    function = tuner.fn
    while not isinstance(function, JITFunction):
        names |= set(getattr(function, "values", ()))
        function = function.fn
    return names


def once(call, *_args, quantiles=None, return_mode="mean", **_others):
    """In the place of a program's own measuring."""
    call()
    torch.cuda.synchronize()
    return [1.0] * len(quantiles) if quantiles is not None else [1.0] if return_mode == "all" else 1.0


def compiler_of() -> str:
    module = sys.modules.get("weft.triton")
    if module is None or not module.installed():
        return "triton"
    kernels = module.status().kernels
    return kernels[-1].compiler if kernels else "triton"


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    output = Path(sys.argv[2])
    torch.manual_seed(0)
    gpu = Gpu(job["turns"])
    began = time.monotonic()
    watch = Watch(gpu, output, job["configurations"])
    watch.install()
    # After that, so that it compiles ahead only what is measured.
    if job["compiler"] == "weft":
        import weft.triton

        weft.triton.install()
    program = sys.argv[3:]
    try:
        if program[0] == "-m":
            sys.argv = program[1:]
            sys.path.insert(0, "")
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = program
            sys.path.insert(0, str(Path(program[0]).parent))
            runpy.run_path(program[0], run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    finally:
        torch.cuda.synchronize()
        watch.write(done=time.monotonic() - began)


if __name__ == "__main__":
    main()
