"""Weft as stages of Triton's compiler: Triton's IR to PTX."""

import functools
import hashlib
import importlib.metadata
import json
import linecache
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton.backends.compiler import Language

from weft import _weft
from weft.errors import WeftError

log = logging.getLogger("weft.triton")

# Weft reads descriptors that a kernel makes; those that it is given Triton's own passes rewrite as
# pointers, below capability 90.
POINTERS_FOR_DESCRIPTORS = 80


class KernelError(WeftError):
    """A kernel that Weft does not compile; the message names the line of the kernel."""


@functools.cache
def identity() -> str:
    """What tells this build's code from any other's: it is part of every cache key."""
    compiled = hashlib.sha256(Path(_weft.__file__).read_bytes()).hexdigest()[:16]
    return f"weft-{importlib.metadata.version('weft')}-{compiled}"


def replace_stages(
    settings: Any, backend: Any, stages: dict[str, Any], options: Any, language: Any, capability: int
) -> None:
    """Puts Weft in the place of Triton's stages from its IR to PTX, and on the simulator the program
    itself in the place of the assembler's result."""
    given = dict(stages)
    if language != Language.TRITON:
        if settings.device == "cuda":
            return
        raise KernelError("language", f"{language.name} kernels do not run on the simulator")
    made: dict[str, Any] = {}

    def ttir(module: Any, metadata: dict[str, Any]) -> Any:
        as_if = capability
        if any(takes_descriptors(line) for line in str(module).splitlines()):
            as_if = min(capability, POINTERS_FOR_DESCRIPTORS)
        try:
            return backend.make_ttir(module, metadata, options, as_if)
        except RuntimeError as error:
            message = "Triton cannot rewrite this kernel's tensor descriptors as pointers"
            raise KernelError("ttir", f"{message}: {error}") from error

    def ptx(module: Any, metadata: dict[str, Any]) -> str:
        try:
            made.update(request(str(module), options, settings.target or f"sm_{capability}"))
            kernel = compiled(made)
            text: str = kernel.ptx()
        except KernelError as error:
            if settings.fallback is None:
                raise
            log.warning("Triton compiles this kernel instead of Weft: %s", error)
            for stage in ("ttgir", "llir", "ptx"):
                module = given[stage](module, metadata)
            return str(module)
        metadata.update(
            name=kernel.symbol,
            shared=kernel.shared_bytes,
            num_warps=kernel.warps,
            # A program runs on one block, whatever cluster it might have had.
            num_ctas=1,
            tmem_size=0,
            global_scratch_size=0,
            global_scratch_align=1,
            profile_scratch_size=0,
            profile_scratch_align=1,
            tensordesc_meta=[],
        )
        return text

    def program(_ptx: str, _metadata: dict[str, Any]) -> bytes:
        # The simulator compiles the text again when it loads it, which takes milliseconds.
        return json.dumps(made).encode()

    stages.clear()
    stages["ttir"] = ttir
    stages["ptx"] = ptx
    stages["cubin"] = given["cubin"] if settings.device == "cuda" else program


def takes_descriptors(line: str) -> bool:
    """Whether a line of Triton's IR begins a kernel that is given tensor descriptors."""
    return line.lstrip().startswith("tt.func public") and "!tt.tensordesc" in line


def request(ttir: str, options: Any, target: str) -> dict[str, Any]:
    """What `compiled` takes, of a kernel's text and Triton's options for it."""
    return {
        "ttir": ttir,
        "target": target,
        "warps": options.num_warps,
        "stages": max(options.num_stages, 1),
    }


def compiled(request: dict[str, Any]) -> _weft.Kernel:
    """The kernel of a request; what is wrong is told with the line of its source."""
    kernel: _weft.Kernel = told_with_source(request["ttir"], lambda: _weft.Kernel(**request))
    return kernel


def told_with_source(ttir: str, make: Callable[[], Any]) -> Any:
    """What `make` returns; its errors become `KernelError`s that name the place in the source."""
    try:
        return make()
    except WeftError as error:
        weft_error = error
    place = source_of(weft_error, ttir)
    message = weft_error.message
    if place is not None:
        file, line, column = place
        weft_error.details.update(file=file, source_line=line, source_column=column)
        source = linecache.getline(file, line)
        if source:
            pointer = " " * (column - 1) + "^"
            message += f"\n  {file}:{line}:{column}\n    {source.rstrip()}\n    {pointer}"
        else:
            message += f"\n  {file}:{line}:{column}"
    if hint := weft_error.details.get("hint"):
        message += f"\n  {hint}"
    raise KernelError(weft_error.kind, message, weft_error.details) from None


def source_of(error: WeftError, ttir: str) -> tuple[str, int, int] | None:
    """The file, line and column of the kernel's source that an error is about."""
    if "line" not in error.details:
        named = re.search(r"at (\S+):(\d+):(\d+)", error.message)
        return (named[1], int(named[2]), int(named[3])) if named else None
    lines = ttir.splitlines()
    # An operation that spans lines has its place on the last one.
    for line in lines[error.details["line"] - 1 :]:
        if found := re.search(r"loc\((#\w+|\".*)\)\s*$", line):
            return resolve(found[1], ttir)
    return None


def resolve(place: str, ttir: str) -> tuple[str, int, int] | None:
    """The innermost file, line and column of a place as MLIR writes it."""
    for _ in range(64):
        if found := re.match(r'"(.*?)":(\d+):(\d+)', place):
            return found[1], int(found[2]), int(found[3])
        # A named place, or a call's: the first one inside is the innermost.
        if not (name := re.search(r"#\w+", place)):
            return None
        defined = re.search(rf"^{re.escape(name[0])} = loc\((.*)\)$", ttir, re.MULTILINE)
        if not defined:
            return None
        place = defined[1]
    return None
