"""Programs under `torch.compile` in its modes, each run by both compilers: the kernels and results of one against the
other's.

A program in a mode is a case. `run` starts a process for it with one compiler and empty caches, which this file is
the program of, and `judged` compares two of them. Both draw the same inputs. An output's error is the norm of its
difference from what PyTorch computes in f32 without compilation, over the norm of that.

`test_torch_compile.py` has the cases as tests, `docs/measurements/torch_modes.py` as a table.
"""

import argparse
import contextlib
import copy
import fcntl
import json
import os
import re
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# How far errors of two right results are apart: Weft's may be so many times Triton's, and this much more.
TIMES, MORE = 2.0, 1e-5
# Calls of a case: CUDA graphs are recorded in the second, and replayed from the third on.
CALLS = 4
# Calls that are timed.
TIMED = 20
# The longest that one process may take, in seconds.
LIMIT = 300

# Which programs run in which mode.
CASES = [
    ("default", "layer"),
    ("default", "rows"),
    ("default", "training"),
    ("reduce-overhead", "layer"),
    ("reduce-overhead", "training"),
    ("dynamic", "layer"),
    ("dynamic", "rows"),
    ("dynamic", "training"),
    ("cpp_wrapper", "layer"),
    ("cpp_wrapper", "training"),
    ("package", "layer"),
    ("package", "rows"),
    ("max-autotune", "product"),
    ("max-autotune", "attention"),
]


class Side(NamedTuple):
    """What a case was with one compiler."""

    # Of each output of each call.
    errors: list[float]
    # Seconds until the first call had its results, and milliseconds of a later one.
    first: float
    later: float
    # How many kernels Weft and Triton compiled, and of the latter the names and reasons.
    by_weft: int
    by_triton: list[str]
    # What says that the mode was what it is called; empty where it was not.
    shown: str


class Program(NamedTuple):
    """What is compiled, and what it is given."""

    # A module or a function of tensors, which gives a tensor or several.
    function: Any
    # What it should compute, of inputs in f32.
    precise: Any
    # Inputs for a batch of a size.
    draw: Callable[[int], tuple[Any, ...]]


def modules() -> Any:
    """The modules of the programs: PyTorch is imported in the processes of the cases alone."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Layer(nn.Module):
        """A layer of a transformer."""

        def __init__(self, size: int = 512, heads: int = 8) -> None:
            super().__init__()
            self.heads = heads
            self.norms = nn.ModuleList([nn.RMSNorm(size, eps=1e-6), nn.LayerNorm(size)])
            self.enter, self.leave = nn.Linear(size, 3 * size), nn.Linear(size, size)
            self.up, self.down = nn.Linear(size, 8 * size), nn.Linear(4 * size, size)

        def forward(self, x: Any) -> Any:
            batch, length, size = x.shape
            parts = self.enter(self.norms[0](x)).view(batch, length, 3, self.heads, size // self.heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.leave(mixed.transpose(1, 2).reshape(batch, length, size))
            gate, up = self.up(self.norms[1](x)).chunk(2, dim=-1)
            return x + self.down(F.silu(gate) * up)

    class Rows(nn.Module):
        """What each row of a matrix is reduced to, and what becomes of it."""

        def forward(self, x: Any) -> Any:
            return torch.softmax(x, -1), x.argmax(-1), x.var(-1), x.cumsum(-1), F.gelu(x).sum(0)

    class Classifier(nn.Module):
        """The end of a language model, with its loss."""

        def __init__(self, size: int = 512, classes: int = 5000) -> None:
            super().__init__()
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, classes)

        def forward(self, x: Any, labels: Any) -> Any:
            return F.cross_entropy(self.head(self.norm(x)).float(), labels)

    return Layer, Rows, Classifier


def programs() -> dict[str, Callable[[], Program]]:
    """How to make each program."""
    import torch
    import torch.nn.functional as F

    Layer, Rows, Classifier = modules()
    half = torch.bfloat16

    def rand(*shape: int, dtype: Any = half) -> Any:
        return torch.randn(*shape, device=DEVICE).to(dtype)

    def layer() -> Program:
        module = Layer().to(DEVICE).to(half).eval().requires_grad_(False)
        return Program(module, copy.deepcopy(module).float(), lambda batch: (rand(batch, 256, 512),))

    def rows() -> Program:
        return Program(Rows(), Rows(), lambda batch: (rand(128 * batch, 3000, dtype=torch.float32),))

    def training() -> Program:
        module = Classifier().to(DEVICE).to(half)
        return Program(
            module,
            copy.deepcopy(module).float(),
            lambda batch: (rand(192 * batch, 512), torch.randint(0, 5000, (192 * batch,), device=DEVICE)),
        )

    def product() -> Program:
        weight, bias = rand(2048, 2048), rand(2048)

        def function(x: Any) -> Any:
            return F.relu(x @ weight.to(x.dtype) + bias.to(x.dtype))

        return Program(function, function, lambda batch: (rand(512 * batch, 2048),))

    def attention() -> Program:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        mask = create_block_mask(lambda b, h, query, key: query >= key, None, None, 2048, 2048, device=DEVICE)

        def function(query: Any, key: Any, value: Any) -> Any:
            return flex_attention(query, key, value, block_mask=mask)

        def precise(query: Any, key: Any, value: Any) -> Any:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True)

        return Program(
            function, precise, lambda batch: tuple(rand(batch, 8, 2048, 64) for _ in range(3))
        )

    return {make.__name__: make for make in (layer, rows, training, product, attention)}


# A GPU, but where the harness itself is looked at.
DEVICE = os.environ.get("WEFT_TORCH_MODES_DEVICE", "cuda")


def outputs(function: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """What a call gives; of one in training, the gradients too."""
    parameters = [each for each in getattr(function, "parameters", list)() if each.requires_grad]
    for parameter in parameters:
        parameter.grad = None
    found = function(*inputs)
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    if parameters:
        found[0].backward()
    # What CUDA graphs give lies where the next replay writes.
    return [each.detach().clone() for each in found] + [each.grad.clone() for each in parameters]


def error(found: Any, true: Any) -> float:
    """How far a tensor is from what it should be; of integers the share that differs."""
    if not found.is_floating_point():
        return float((found != true).double().mean().item())
    if not bool(found.isfinite().all()):
        return float("inf")
    return float(((found.double() - true.double()).norm() / true.double().norm()).item())


def compiled(mode: str, program: Program, inputs: tuple[Any, ...], folder: Path) -> Any:
    """The program as `torch.compile`, or as AOTInductor, makes it."""
    import torch
    import torch._inductor

    # Headers that are compiled ahead pay off where there are many programs.
    alone = {"cpp_cache_precompile_headers": False, "aot_inductor.precompile_headers": False}
    if mode == "package":
        exported = torch.export.export(program.function, inputs)
        file = str(folder / "program.pt2")
        package = torch._inductor.aoti_compile_and_package(exported, package_path=file, inductor_configs=alone)
        return torch._inductor.aoti_load_package(package)
    keywords: dict[str, Any] = {
        "default": {},
        "dynamic": {"dynamic": True},
        "cpp_wrapper": {"options": {"cpp_wrapper": True, **alone}},
    }.get(mode, {"mode": mode})
    if mode == "max-autotune":
        # Products in other libraries are no kernels of either compiler's.
        torch._inductor.config.max_autotune_gemm_backends = "TRITON"
    return torch.compile(program.function, **keywords)


def sizes(mode: str) -> list[int]:
    """The batch of each call."""
    return [4, 6, 3, 8] if mode == "dynamic" else [4] * CALLS


def synchronize() -> None:
    import torch

    if DEVICE == "cuda":
        torch.cuda.synchronize()


def shown(mode: str, folder: Path) -> str:
    """What of the process says that the mode was what it is called."""
    import torch
    from torch._dynamo.utils import counters

    if mode in ("reduce-overhead", "max-autotune") and DEVICE == "cuda":
        from torch._inductor.cudagraph_trees import get_manager

        manager = get_manager(torch.cuda.current_device(), create_if_none_exists=False)
        graphs = manager.new_graph_id().id if manager is not None else 0
        skips = counters["inductor"]["cudagraph_skips"]
        return f"CUDA graphs: {graphs}" if graphs and not skips else ""
    if mode == "cpp_wrapper":
        libraries = list((folder / "inductor").rglob("*.so"))
        return f"{len(libraries)} libraries in C++" if libraries else ""
    if mode == "package":
        kernels = [name for name in zipfile.ZipFile(folder / "program.pt2").namelist() if name.endswith(".cubin")]
        return f"{len(kernels)} kernels in the package, run by a process without compilers" if kernels else ""
    if mode == "dynamic":
        # More compilations would have failed.
        return f"sizes {', '.join(map(str, sizes(mode)))} by one compilation"
    return mode


@contextlib.contextmanager
def alone(lock: Path | None) -> Iterator[None]:
    """Holds a lock that several processes share, so that one of them measures at a time."""
    with open(lock, "w") if lock else contextlib.nullcontext() as file:
        if file is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def case(mode: str, name: str, folder: Path, lock: Path | None) -> None:
    """The process: runs a case and writes what it found into the folder."""
    import torch
    import torch._inductor.async_compile as workers

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    program = programs()[name]()
    drawn = [program.draw(batch) for batch in sizes(mode)]
    wide = [tuple(each.float() if each.is_floating_point() else each for each in inputs) for inputs in drawn]
    true = [outputs(program.precise, inputs) for inputs in wide]
    # What compiles in the background is there before it is needed, as in a program that runs for longer.
    workers.AsyncCompile.warm_pool()
    workers.AsyncCompile.wait_pool_ready()
    synchronize()
    began = time.perf_counter()
    run = compiled(mode, program, drawn[0], folder)
    found = [outputs_of(run, program, drawn[0])]
    synchronize()
    first = time.perf_counter() - began
    with torch.compiler.set_stance("fail_on_recompile"):
        found += [outputs_of(run, program, inputs) for inputs in drawn[1:]]
        with alone(lock):
            later = milliseconds(lambda: outputs_of(run, program, drawn[-1]))
    result = {
        "errors": [error(*pair) for ours, theirs in zip(found, true) for pair in zip(ours, theirs, strict=True)],
        "first": first,
        "later": later,
        "shown": shown(mode, folder),
    }
    if mode == "package":
        torch.save((drawn, found), folder / "package.pt")
    (folder / "found.json").write_text(json.dumps(result))


def outputs_of(run: Any, program: Program, inputs: tuple[Any, ...]) -> list[Any]:
    """What a compiled program gives, with the gradients of the program's own parameters."""
    import torch

    torch.compiler.cudagraph_mark_step_begin()
    if any(each.requires_grad for each in getattr(program.function, "parameters", list)()):
        return outputs(run, inputs)
    with torch.no_grad():
        found = run(*inputs)
    found = found if isinstance(found, (tuple, list)) else [found]
    return [each.clone() for each in found]


def milliseconds(call: Callable[[], Any]) -> float:
    """The median of calls, each waited for."""
    times = []
    for _ in range(TIMED):
        synchronize()
        began = time.perf_counter()
        call()
        synchronize()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def again(folder: Path) -> None:
    """Another process: a package runs by itself, without a compiler, and gives the same bytes."""
    import torch
    import torch._inductor

    drawn, found = torch.load(folder / "package.pt", weights_only=True)
    run = torch._inductor.aoti_load_package(str(folder / "program.pt2"))
    for inputs, expected in zip(drawn, found, strict=True):
        given = run(*inputs)
        given = given if isinstance(given, (tuple, list)) else [given]
        assert all(torch.equal(*pair) for pair in zip(given, expected, strict=True))
    assert "weft" not in sys.modules


class Failed(Exception):
    """A process that did not end well; the message is the last that it said."""


def started(arguments: list[str], environment: dict[str, str], limit: float, processors: set[int]) -> None:
    """Runs this file in a process of its own."""
    try:
        run = subprocess.run(
            [sys.executable, __file__, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            preexec_fn=lambda: os.sched_setaffinity(0, processors),
        )
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"no end within {limit:.0f} seconds") from expired
    if run.returncode != 0:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Failure)\b", line)]
        raise Failed((errors or lines or [f"exit status {run.returncode}"])[-1][:300])


def run(
    mode: str,
    name: str,
    compiler: str,
    folder: Path,
    *,
    limit: float = LIMIT,
    lock: Path | None = None,
    processors: set[int] | None = None,
) -> Side:
    """Runs a case with a compiler, in an empty folder with its own caches; on some processors, and timed while it has
    a lock, where others run beside it."""
    processors = processors or os.sched_getaffinity(0)
    report = folder / "report"
    environment = os.environ | {
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "WEFT_TRITON": "fallback=triton" if compiler == "weft" else "0",
        "WEFT_TRITON_REPORT": str(report),
    }
    if home := cuda_home():
        environment["CUDA_HOME"] = home
    locked = ["--lock", str(lock)] if lock else []
    started([mode, name, str(folder), *locked], environment, limit, processors)
    if mode == "package":
        started(["again", name, str(folder)], environment | {"WEFT_TRITON": "0"}, limit, processors)
    found = json.loads((folder / "found.json").read_text())
    kernels = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    by_triton = {f"{each['name']}: {each['reason']}" for each in kernels if each["compiler"] == "triton"}
    # A process without Weft reports nothing, but what it made lies in the cache.
    by_triton |= {f"{file.stem}: LLVM printed it" for file in (folder / "triton").rglob("*.ptx") if is_of_llvm(file)}
    by_weft = len({each["hash"] for each in kernels if each["compiler"] == "weft"})
    return Side(by_weft=by_weft, by_triton=sorted(by_triton), **found)


def is_of_llvm(ptx: Path) -> bool:
    return "Generated by LLVM" in ptx.read_text(errors="replace")[:400]


def cuda_home() -> str | None:
    """Where the CUDA toolkit is whose stubs C++ wrappers are linked with."""
    from torch.utils.cpp_extension import CUDA_HOME

    return CUDA_HOME


def judged(triton: Side, weft: Side) -> list[str]:
    """What is wrong with a case, a sentence each."""
    wrong = []
    if len(triton.errors) != len(weft.errors):
        wrong.append(f"{len(triton.errors)} outputs with Triton, {len(weft.errors)} with Weft")
    for at, (theirs, ours) in enumerate(zip(triton.errors, weft.errors)):
        if not ours <= TIMES * theirs + MORE:
            wrong.append(f"output {at} is off by {ours:.1e}, with Triton by {theirs:.1e}")
    if weft.by_triton:
        wrong.append(f"not by Weft: {'; '.join(weft.by_triton)}")
    if not weft.by_weft:
        wrong.append("Weft compiled nothing")
    for side, name in ((triton, "Triton"), (weft, "Weft")):
        if not side.shown:
            wrong.append(f"with {name} the mode was not in effect")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode")
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lock", type=Path)
    options = parser.parse_args()
    if options.mode == "again":
        again(options.folder)
    else:
        case(options.mode, options.program, options.folder, options.lock)


if __name__ == "__main__":
    main()
