"""Triton's PTX for one `ttg.convert_layout`, kept in a folder so that each is compiled once.

The tensor comes from one opaque inline instruction an element and goes to another, so that nothing
else moves and nothing is folded. Triton aborts on some layouts; each is compiled in a process of its own.
"""

import hashlib
import multiprocessing
import os
import signal
import tempfile
import traceback
from functools import partial
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

CONSTRAINTS = {8: "h", 16: "h", 32: "r", 64: "l"}
KERNEL = """#from = {from}
#to = {to}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "cuda:{capability}", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @conversion() attributes {{noinline = false}} {{
    %none = arith.constant dense<0> : tensor<{shape}xi32, #from>
    %source = tt.elementwise_inline_asm "source.b{bits} $0;" {{constraints = "={letter},r", packed_element = 1 : i32, pure = false}} %none : tensor<{shape}xi32, #from> -> tensor<{shape}xi{bits}, #from>
    %target = ttg.convert_layout %source : tensor<{shape}xi{bits}, #from> -> tensor<{shape}xi{bits}, #to>
    %done = tt.elementwise_inline_asm "sink.b{bits} $1;" {{constraints = "=r,{letter}", packed_element = 1 : i32, pure = false}} %target : tensor<{shape}xi{bits}, #to> -> tensor<{shape}xi32, #to>
    tt.return
  }}
}}
"""


def kernel(pair: dict, capability: int) -> str:
    """TTGIR that converts a tensor of a pair's shape."""
    shape = "x".join(map(str, pair["shape"]))
    letter = CONSTRAINTS[pair["bits"]]
    return KERNEL.format_map({**pair, "shape": shape, "letter": letter, "capability": capability})


def compile_kernel(text: str, capability: int, path: Path) -> None:
    """From TTGIR to PTX by Triton's own stages; the text and its shared memory go to a file."""
    backend = make_backend(GPUTarget("cuda", capability, 32))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    module.context = context
    options = backend.parse_options({"num_warps": module.get_int_attr("ttg.num-warps")})
    metadata: dict = {}
    llvm = backend.make_llir(module, metadata, options, capability)
    ptx = backend.make_ptx(llvm, metadata, options, capability)
    half = path.with_suffix(".half")
    half.write_text(f"// shared {metadata['shared']}\n{ptx}")
    half.rename(path)


def attempt(source: str, capability: int, path: Path, said: Path) -> int:
    """Compiles in a process of its own and returns its status; what it prints goes to a file."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    try:
        compile_kernel(source, capability, path)
    except RuntimeError:
        # Its passes have said why on standard error.
        os.abort()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def text(pair: dict, capability: int, folder: Path) -> str | None:
    """Triton's PTX for a pair, or `None` where its compiler aborts."""
    source = kernel(pair, capability)
    name = hashlib.sha256(f"{triton.__version__}\n{source}".encode()).hexdigest()[:32]
    path, failed, said = (folder / f"{name}.{kind}" for kind in ("ptx", "failed", "said"))
    if not path.exists() and not failed.exists():
        status = attempt(source, capability, path, said)
        if status == -signal.SIGABRT:
            said.rename(failed)
        elif status != 0:
            raise OSError(f"compiling ended with {status}: {said.read_text()}\n{source}")
        else:
            said.unlink()
    return path.read_text() if path.exists() else None


def texts(pairs: list[dict], capability: int, folder: Path, processes: int = 2):
    """For each pair its PTX, or `None` where Triton fails, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(partial(text, capability=capability, folder=folder), pairs, chunksize=4)
