#!/usr/bin/env python3
"""What Inductor asks a Triton compiler for, as modules for `cargo xtask measure corpus`, without a GPU.

    python docs/measurements/torch_modules.py --folder DIR [--programs odd,gpt2] [--configurations 2]
    WEFT_CORPUS_DIR=DIR WEFT_PTXAS=... cargo xtask measure corpus

Needs what `torch_compile.py` needs, except a GPU: PyTorch is told of an H200 that is not there, and what is on it
has shapes alone. Each function and model of `torch_programs.py` is traced, without its gradients, and lowered by
Inductor; what it would compile, Triton compiles for sm_90, in each of the first `--configurations` configurations.
The folder gets a `NAME.ttir` for each, and `times.tsv` a row: its program, warps and stages, and what ptxas makes of
Triton's code. Times, and gradients, are for `torch_compile.py`.
"""

import argparse
import hashlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ARCHITECTURE = "sm_90a"
COLUMNS = ["model", "file", "warps", "stages", "triton_sass", "triton_registers", "triton_spill_bytes"]
# An H200 as the driver describes it.
PROPERTIES = SimpleNamespace(
    name="NVIDIA H200",
    major=9,
    minor=0,
    multi_processor_count=132,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    warp_size=32,
    total_memory=139 << 30,
    shared_memory_per_block=48 << 10,
    shared_memory_per_block_optin=227 << 10,
    shared_memory_per_multiprocessor=228 << 10,
    L2_cache_size=50 << 20,
    gcnArchName="",
)


def pretend_a_gpu():
    """Makes PyTorch and Triton believe that the device is there; nothing may run on it."""
    from torch._dynamo import device_interface
    from torch._inductor.runtime import triton_helpers

    cuda = torch.cuda
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "set_device": lambda device: None,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
        "synchronize": lambda device=None: None,
        "get_device_capability": lambda device=None: (PROPERTIES.major, PROPERTIES.minor),
        "get_device_properties": lambda device=None: PROPERTIES,
        "is_bf16_supported": lambda *_, **__: True,
        "get_rng_state": lambda *_, **__: torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": lambda *_, **__: None,
    }
    for name, answer in answers.items():
        setattr(cuda, name, answer)
        public = name.lstrip("_")
        if hasattr(device_interface.CudaInterface, public):
            setattr(device_interface.CudaInterface, public, staticmethod(answer))
    device_interface.CudaInterface.Worker.get_device_properties = staticmethod(lambda device=None: PROPERTIES)
    device_interface.CudaInterface.Worker.current_device = staticmethod(lambda: 0)
    device_interface.caching_worker_device_properties["cuda"] = [PROPERTIES]

    made = torch.tensor
    # These functions, and no operators, ask for the device themselves.
    torch.Tensor.__getitem__ = item
    torch.Tensor.contiguous = contiguous
    torch.tensor = lambda data, *others, **named: (
        torch.full((), data, *others, **named) if isinstance(data, (int, float)) else made(data, *others, **named)
    )
    torch.Tensor.copy_ = lambda tensor, source, *_: torch.ops.aten.copy_.default(tensor, source)
    torch._subclasses.fake_tensor.init_gpu_context = lambda device: None

    target = GPUTarget("cuda", 10 * PROPERTIES.major + PROPERTIES.minor, PROPERTIES.warp_size)
    properties = {
        "max_shared_mem": PROPERTIES.shared_memory_per_block_optin,
        "multiprocessor_count": PROPERTIES.multi_processor_count,
    }
    driver = SimpleNamespace(
        get_current_target=lambda: target,
        get_current_device=lambda: 0,
        get_active_torch_device=lambda: torch.device("cuda", 0),
        utils=SimpleNamespace(get_device_properties=lambda device: properties),
    )
    triton.runtime.driver.set_active(driver)
    triton_helpers.set_driver_to_gpu = lambda: None


def item(tensor, index):
    """`tensor[index]` by operators alone."""
    index = index if isinstance(index, tuple) else (index,)
    taken = sum(part is not None and part is not Ellipsis for part in index)
    tensors, at = {}, 0
    for part in index:
        if part is Ellipsis:
            at = tensor.dim() - taken
        elif part is None:
            tensor, at = tensor.unsqueeze(at), at + 1
        elif isinstance(part, slice):
            if part != slice(None):
                tensor = torch.ops.aten.slice.Tensor(tensor, at, part.start, part.stop, part.step or 1)
            at += 1
        elif isinstance(part, torch.Tensor):
            tensors[at] = part
            at += 1
        else:
            tensor = tensor.select(at, part)
        taken -= part is not None and part is not Ellipsis
    if tensors:
        tensor = torch.ops.aten.index.Tensor(tensor, [tensors.get(axis) for axis in range(max(tensors) + 1)])
    return tensor


def contiguous(tensor, memory_format=torch.contiguous_format):
    """`tensor.contiguous()` by operators alone."""
    if tensor.is_contiguous(memory_format=memory_format):
        return tensor
    return torch.ops.aten.clone.default(tensor, memory_format=memory_format)


class Recorder:
    """Collects the kernels that Inductor would compile, each once."""

    def __init__(self):
        self.sources = {}
        self.program = ""

    def __enter__(self):
        from torch._inductor.async_compile import AsyncCompile

        def triton(_, name, source, device_str="cuda"):
            self.sources.setdefault(source, (self.program, name))
            return SimpleNamespace(run=lambda *_, **__: None)

        self.kept, AsyncCompile.triton = AsyncCompile.triton, triton
        return self

    def __exit__(self, *_):
        from torch._inductor.async_compile import AsyncCompile

        AsyncCompile.triton = self.kept


def stands_for(number, tensor, mode, dynamic):
    """What stands for an argument on the device that is not there; `dynamic` makes sizes symbols."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

    sizes, strides = tensor.size(), tensor.stride()
    if dynamic:
        context = StatelessSymbolicContext(
            dynamic_sizes=[DimDynamic.STATIC if size == 1 else DimDynamic.DYNAMIC for size in sizes]
        )
        sizes, strides, _ = mode.shape_env.create_symbolic_sizes_strides_storage_offset(
            tensor, ConstantSource(f"argument{number}"), symbolic_context=context
        )
    return torch.empty_strided(sizes, strides, dtype=tensor.dtype, device="cuda")


def lower(function, arguments, named, dynamic):
    """Traces a function or a model and lowers it by Inductor; what it would compile goes to the recorder."""
    from torch._functorch.aot_autograd import aot_function
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.fx_passes.replace_random import replace_random_passes
    from torch._inductor.virtualized import V
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv
    from torch.utils._pytree import tree_flatten, tree_unflatten

    state = {}
    if isinstance(function, torch.nn.Module):
        state = {**dict(function.named_parameters()), **dict(function.named_buffers())}
    leaves, shape = tree_flatten((state, arguments, named))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def flat(*tensors):
        for place, tensor in zip(places, tensors):
            leaves[place] = tensor
        state, arguments, named = tree_unflatten(leaves, shape)
        if isinstance(function, torch.nn.Module):
            # Models look at values while they run, but not where they are compiled.
            with mock.patch("torch.compiler.is_compiling", lambda: True):
                results = torch.func.functional_call(function, state, arguments, named)
        else:
            results = function(*arguments, **named)
        return [leaf for leaf in tree_flatten(results)[0] if isinstance(leaf, torch.Tensor)]

    def compile(graph, examples):
        with V.set_fake_mode(mode):
            replace_random_passes(graph)
        compile_fx_inner(graph, examples)
        return graph.forward

    traced = aot_function(flat, fw_compiler=compile, decompositions=select_decomp_table(), dynamic=dynamic)
    with FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()) as mode, torch.no_grad():
        traced(*(stands_for(place, leaves[place], mode, dynamic) for place in places))


def compiled(source, name, configurations):
    """Triton's IR and PTX of a kernel of Inductor's in its first configurations."""
    from torch._inductor.codecache import PyCodeCache

    tuner = getattr(PyCodeCache.load(source), name)
    for config in tuner.configs[:configurations]:
        meta = tuner._create_compile_meta(config)
        kernel = ASTSource(tuner.fn, meta["signature"], meta["constants"], meta["configs"][0])
        target = triton.runtime.driver.active.get_current_target()
        binary = triton.compile(kernel, target=target, options=tuner._create_compile_options(config, meta))
        yield config, binary.asm["ttir"], binary.asm["ptx"]


def assembled(ptx, assembler, folder):
    """Instructions but for NOP, registers, and bytes spilled, as `xtask measure corpus` counts them."""
    text, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    text.write_text(ptx)
    command = [assembler, "--gpu-name", ARCHITECTURE, "--verbose", "--output-file", cubin, text]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    disassembler = Path(assembler).with_name("cuobjdump")
    listing = subprocess.run([disassembler, "-sass", cubin], check=True, capture_output=True, text=True).stdout
    instructions = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+([^;]*);", listing, re.MULTILINE)
    return (
        sum("NOP" not in instruction for instruction in instructions),
        int(re.search(r"Used (\d+) registers", told)[1]),
        int(re.search(r"(\d+) bytes spill stores", told)[1]),
    )


def module_rows(program, name, source, options):
    """A kernel's modules, written to the folder, and their rows of `times.tsv`."""
    rows, seen = [], set()
    with tempfile.TemporaryDirectory() as scratch:
        for config, ttir, ptx in compiled(source, name, options.configurations):
            digest = hashlib.sha256((program + ttir + str(config.num_warps)).encode()).hexdigest()[:6]
            if digest in seen:
                continue
            seen.add(digest)
            file = f"{program}.{name.removeprefix('triton_')[:60]}.{digest}"
            (options.folder / f"{file}.ttir").write_text(ttir)
            counts = assembled(ptx, options.ptxas, Path(scratch))
            rows.append([program, file, config.num_warps, config.num_stages, *counts])
    return rows


def told(name, error):
    """A failure in a line; where it was goes to the log."""
    logging.debug("%s", "".join(traceback.format_exception(error)))
    return f"{name}: {str(error).splitlines()[0]:.200}"


class Traced(Exception):
    """A model has been traced, and the rest of its program is not wanted."""


def run_program(name):
    """Traces all that a program compiles: a function at a time, so that one that fails stands alone."""
    import torch_programs

    failures = []

    def compile(function, dynamic=None):
        def run(*arguments, **named):
            try:
                lower(function, arguments, named, bool(dynamic))
            except Exception as error:
                failures.append(told(name, error))
            if isinstance(function, torch.nn.Module):
                raise Traced
            return ()

        return run

    kept, torch.compile = torch.compile, compile
    try:
        torch_programs.PROGRAMS[name]().compiled()
    except Traced:
        pass
    except Exception as error:
        failures.append(told(name, error))
    finally:
        torch.compile = kept
    return failures


def main():
    import torch_programs

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where modules and times.tsv go")
    every = ",".join(torch_programs.PROGRAMS)
    parser.add_argument("--programs", default=every, help="names of torch_programs.py, by commas")
    parser.add_argument("--configurations", type=int, default=2, help="of a kernel, at most")
    parser.add_argument("--ptxas", default=os.environ.get("WEFT_PTXAS", "ptxas"), help="with cuobjdump beside it")
    parser.add_argument("--verbose", action="store_true", help="where a program fails, show where")
    options = parser.parse_args()
    unknown = [name for name in options.programs.split(",") if name not in torch_programs.PROGRAMS]
    if unknown:
        parser.error(f"no program {', '.join(unknown)}: there are {', '.join(torch_programs.PROGRAMS)}")
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger().setLevel(logging.DEBUG if options.verbose else logging.ERROR)
    options.folder.mkdir(parents=True, exist_ok=True)

    from torch._inductor import config

    config.fx_graph_cache, config.compile_threads = False, 1
    pretend_a_gpu()
    torch_programs.DEVICE = "cpu"
    failures = []
    with Recorder() as recorder:
        for recorder.program in options.programs.split(","):
            failures += run_program(recorder.program)
    rows = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        of_kernels = [
            pool.submit(module_rows, program, name, source, options)
            for source, (program, name) in recorder.sources.items()
        ]
        for of_kernel, (program, name) in zip(of_kernels, recorder.sources.values()):
            try:
                rows += of_kernel.result()
            except Exception as error:
                failures.append(told(f"{program} {name}", error))
    lines = ["\t".join(map(str, row)) for row in [COLUMNS, *rows]]
    (options.folder / "times.tsv").write_text("\n".join(lines) + "\n")
    print(f"{len(recorder.sources)} kernels, {len(rows)} modules in {options.folder}")
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
