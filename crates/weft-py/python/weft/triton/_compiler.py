"""Weft as stages of Triton's compiler: Triton's IR to PTX."""

import functools
import hashlib
import importlib.metadata
import json
import linecache
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton import knobs
from triton.backends import driver
from triton.backends.compiler import Language
from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime import _allocation
from triton.tools.tensor_descriptor import TensorDescriptor

from weft import _weft
from weft.errors import WeftError
from weft.triton import _assembler, _status

log = logging.getLogger("weft.triton")

# Weft reads descriptors; where Triton compiles in its place, its own passes rewrite them as pointers below
# capability 90.
POINTERS_FOR_DESCRIPTORS = 80
DESCRIPTORS = 90
# The padding, and from Triton 3.7 on the rounding to tf32.
DESCRIPTOR_FLAGS = 2 if hasattr(TensorDescriptor, "round_f32_to_tf32") else 1
# Triton's launcher encodes descriptors as tensor maps, where the compiler says so: each for itself, or, from the
# version on in which one function serves all backends, all of a kernel's or none.
TENSOR_MAPS = "all" if hasattr(driver, "expand_signature") else "each"
# What a tensor map calls its elements, by their bytes and, where it tells numbers apart, by their names: the
# enumeration that Triton's launcher translates for the driver.
ELEMENTS_BY_BYTES = {1: 0, 2: 1, 4: 2}
ELEMENTS_BY_NAME = {"f16": 6, "f32": 7, "bf16": 10}
# And what it calls swizzles, by the bytes within which they move pieces.
SWIZZLES = {16: 0, 32: 1, 64: 2, 128: 3}
# Where maps lie that blocks make, in bytes.
MAP_ALIGN = 128
# Bytes that a copy engine writes at once, up to which it overwrites what is behind a row.
PIECE = 16


class KernelError(WeftError):
    """A kernel that Weft does not compile; the message names the line of the kernel."""


@functools.cache
def identity() -> str:
    """What tells this build's code from any other's: it is part of every cache key."""
    library = Path(_weft.__file__)
    package = importlib.metadata.distribution("weft")
    # These files have a say in the code, too.
    files = (Path(__file__), Path(_assembler.__file__))
    stages = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
    # A wheel says what its files hash to; an editable installation has the library elsewhere.
    for line in (package.read_text("RECORD") or "").splitlines():
        file, _, rest = line.partition(",")
        if file.endswith(library.name) and Path(str(package.locate_file(file))) == library:
            return f"weft-{package.version}-{rest.partition(',')[0].partition('=')[2][:16]}-{stages}"
    compiled = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
    return f"weft-{package.version}-{compiled}-{stages}"


def replace_stages(
    settings: Any, backend: Any, stages: dict[str, Any], options: Any, language: Any, capability: int
) -> None:
    """Puts Weft in the place of Triton's stages from its IR to PTX, and on the simulator the program
    itself in the place of the assembler's result."""
    given = dict(stages)
    warn_of_lost(given)
    if language != Language.TRITON:
        if settings.device == "cuda":
            return
        raise KernelError("language", f"{language.name} kernels do not run on the simulator")
    made: dict[str, Any] = {}
    printed: dict[str, _weft.Kernel] = {}

    def ttir(module: Any, metadata: dict[str, Any]) -> Any:
        if capability < DESCRIPTORS and takes_descriptors(module):
            return backend.make_ttir(module, metadata, options, DESCRIPTORS)
        return given["ttir"](module, metadata)

    def with_pointers(module: Any, metadata: dict[str, Any]) -> Any:
        try:
            return backend.make_ttir(module, metadata, options, min(capability, POINTERS_FOR_DESCRIPTORS))
        except RuntimeError as error:
            message = "Triton cannot rewrite this kernel's tensor descriptors as pointers"
            raise KernelError("ttir", f"{message}: {error}") from error

    def ptx(module: Any, metadata: dict[str, Any]) -> str:
        try:
            tell_flags(module)
            made.update(request(str(module), options, settings.target or f"sm_{capability}"))
            made["scratch"] = settings.device == "simulator" or gives_scratch()
            kernel = compiled(made)
            text: str = told_with_source(kernel.ptx)
            printed[text] = kernel
        except KernelError as error:
            if settings.fallback is None:
                raise
            log.warning("Triton compiles this kernel instead of Weft: %s", error)
            metadata[_status.REASON] = str(error)
            if capability < DESCRIPTORS and takes_descriptors(module):
                module = with_pointers(module, metadata)
            for stage in ("ttgir", "llir", "ptx"):
                module = given[stage](module, metadata)
            return str(module)
        metadata[_status.COMPILER] = identity()
        metadata.update(
            name=kernel.symbol,
            shared=kernel.shared_bytes,
            num_warps=kernel.warps,
            # A program runs on one block, whatever cluster it might have had.
            num_ctas=1,
            tmem_size=0,
            global_scratch_size=kernel.scratch_bytes,
            global_scratch_align=MAP_ALIGN if kernel.scratch_bytes else 1,
            profile_scratch_size=0,
            profile_scratch_align=1,
            tensordesc_meta=tensor_maps(kernel),
        )
        return text

    def measured_ptx(module: Any, metadata: dict[str, Any]) -> str:
        began = time.perf_counter()
        text = ptx(module, metadata)
        _status.took(metadata, time.perf_counter() - began)
        return text

    def cubin(ptx: str, metadata: dict[str, Any]) -> bytes:
        # Another tool's stage may have written another text.
        module, shared_bytes = _assembler.assembled(
            lambda text: given["cubin"](text, metadata), ptx, printed.get(ptx)
        )
        if shared_bytes is not None:
            metadata["shared"] = shared_bytes
        return module

    def program(_ptx: str, _metadata: dict[str, Any]) -> bytes:
        # The simulator compiles the text again when it loads it, which takes milliseconds.
        return json.dumps(made).encode()

    stages.clear()
    stages["ttir"] = ttir
    stages["ptx"] = measured_ptx
    stages["cubin"] = cubin if settings.device == "cuda" else program


def warn_of_lost(stages: dict[str, Any]) -> None:
    """Tells that a stage of another tool's has no place where Weft compiles."""
    for name in ("ttgir", "llir", "ptx"):
        function = stages.get(name)
        if function is not None and function.__module__ != CUDABackend.__module__:
            tell_lost(name, f"{function.__module__}.{getattr(function, '__qualname__', 'a function')}")


@functools.cache
def tell_lost(stage: str, function: str) -> None:
    """Warns once of each."""
    message = "`%s` stands at Triton's stage `%s`, which kernels do not pass that Weft compiles"
    log.warning(message, function, stage)


def takes_descriptors(module: Any) -> bool:
    """Whether the kernel of a module of Triton's IR is given tensor descriptors."""
    return bool(described_arguments(module))


def described_arguments(module: Any) -> list[int]:
    """The numbers of the arguments of a module's kernel that are tensor descriptors."""
    kernel = module.get_function(module.get_entry_func_name())
    types = module.get_function_signature(kernel)
    return [index for index, ty in enumerate(types) if "tensordesc" in ty]


def tell_flags(module: Any) -> None:
    """Says at each tensor descriptor that the kernel of a module is given how many truth values Triton's
    launcher hands over behind its strides."""
    kernel = module.get_function(module.get_entry_func_name())
    for index in described_arguments(module):
        kernel.set_arg_attr(index, "weft.flags", DESCRIPTOR_FLAGS)


def gives_scratch() -> bool:
    """Whether Triton's launcher can give kernels global memory: `triton.set_allocator` was called, which Triton asks of
    programs whose kernels make tensor descriptors."""
    return not isinstance(_allocation._allocator.get(), _allocation.NullAllocator)


def tensor_maps(kernel: _weft.Kernel) -> list[dict[str, Any] | None]:
    """What Triton's launcher encodes each descriptor as that a kernel is given; nothing where it takes all apart."""
    maps = kernel.tensor_maps
    return [map and encoded(*map) for map in maps] if any(maps) else []


def encoded(element: str, size: int, box: list[int], span: int, stores: bool) -> dict[str, Any]:
    """What Triton's launcher takes of a tensor map, and what `described` does."""
    return {
        "swizzle": SWIZZLES[span],
        "elem_size": size,
        "elem_type": ELEMENTS_BY_NAME.get(element, ELEMENTS_BY_BYTES[size]),
        "block_size": box,
        "fp4_padded": False,
        "stores": stores,
    }


def described(inner: Callable[..., Any], descriptor: Any, encoding: Any, *rest: Any) -> Any:
    """What Triton's launcher passes for a descriptor: with a tensor map that blocks are stored through, rows of the
    tensor have to end with a whole piece."""
    if encoding and encoding.get("stores"):
        row = descriptor.shape[-1] * encoding["elem_size"]
        if row % PIECE:
            raise ValueError(
                f"rows of {row} bytes are stored through a tensor descriptor, whose last piece of {PIECE} bytes "
                "would overwrite what is behind them, here as with Triton's own code; give the descriptor a last "
                f"extent of whole {PIECE} bytes"
            )
    return inner(descriptor, encoding, *rest)


def request(ttir: str, options: Any, target: str) -> dict[str, Any]:
    """What `compiled` takes, of a kernel's text and Triton's options for it."""
    return {
        "ttir": ttir,
        "target": target,
        "warps": options.num_warps,
        "stages": max(options.num_stages, 1),
        "fp_fusion": options.enable_fp_fusion,
        "max_registers": options.maxnreg,
        "line_info": not knobs.compilation.disable_line_info,
        "tensor_maps": TENSOR_MAPS,
    }


def compiled(request: dict[str, Any]) -> _weft.Kernel:
    """The kernel of a request; what is wrong is told with the line of its source."""
    kernel: _weft.Kernel = told_with_source(lambda: _weft.Kernel(**request))
    return kernel


def told_with_source(make: Callable[[], Any]) -> Any:
    """What `make` returns; its errors become `KernelError`s that name the place in the source."""
    try:
        return make()
    except WeftError as error:
        weft_error = error
    message = weft_error.message
    if (place := weft_error.details.get("source")) is not None:
        file, line, column = place["file"], place["line"], place["column"]
        source = linecache.getline(file, line)
        if source:
            pointer = " " * (column - 1) + "^"
            message += f"\n  {file}:{line}:{column}\n    {source.rstrip()}\n    {pointer}"
        else:
            message += f"\n  {file}:{line}:{column}"
    if hint := weft_error.details.get("hint"):
        message += f"\n  {hint}"
    raise KernelError(weft_error.kind, message, weft_error.details) from None
