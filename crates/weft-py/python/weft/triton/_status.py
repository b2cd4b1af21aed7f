"""Which kernels this program has, and which compiler made them."""

import atexit
import dataclasses
import functools
import json
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

log = logging.getLogger("weft.triton")

# What Weft adds to a kernel's metadata in Triton's cache: itself where it made the kernel, else the reason.
# Processes that make one kernel at once must write the same bytes, so no times stand there.
COMPILER = "weft_compiler"
REASON = "weft_reason"


@dataclasses.dataclass(frozen=True)
class Compilation:
    """One kernel that a process compiled, or found compiled."""

    name: str
    """The kernel."""
    hash: str
    """Its key in Triton's cache."""
    compiler: str
    """`weft` or `triton`."""
    reason: str | None
    """Why Triton's own compiler made it."""
    cached: bool
    """Whether a cache had it."""
    seconds: float | None
    """What making PTX of Triton's IR took; nothing where a cache had it."""
    process: int
    """The process's number."""


@dataclasses.dataclass(frozen=True)
class Status:
    """Who compiles Triton's kernels, and who compiled those so far."""

    compiler: str
    """What compiles kernels now: Weft with its version and options, or Triton."""
    kernels: tuple[Compilation, ...]
    """The kernels of this process since `install()`; with `WEFT_TRITON_REPORT`, those of all processes that
    write to the same file."""

    @property
    def by_weft(self) -> tuple[Compilation, ...]:
        """The kernels that Weft made."""
        return tuple(kernel for kernel in self.kernels if kernel.compiler == "weft")

    @property
    def by_triton(self) -> tuple[Compilation, ...]:
        """The kernels that Triton's own compiler made, each with the reason."""
        return tuple(kernel for kernel in self.kernels if kernel.compiler == "triton")

    def __str__(self) -> str:
        lines = [
            f"compiler   {self.compiler}",
            f"by Weft    {amount(self.by_weft)}",
            f"by Triton  {amount(self.by_triton)}",
        ]
        lines += [f"  {each.name}: {each.reason}" for each in self.by_triton]
        return "\n".join(lines)


def amount(kernels: tuple[Compilation, ...]) -> str:
    """How many kernels, how many of them a cache had, and what the others took."""
    cached = sum(kernel.cached for kernel in kernels)
    seconds = sum(kernel.seconds or 0.0 for kernel in kernels)
    processes = len({kernel.process for kernel in kernels})
    text = f"{len(kernels)} kernels, {cached} from caches; {seconds:.3f} s from Triton's IR to PTX"
    return f"{text}; {processes} processes" if processes > 1 else text


ESCAPED = "compiled in a process, or at a time, without Weft"

_compilations: list[Compilation] = []
_seen: set[str] = set()
_seconds: dict[str, float] = {}
_warned = False


def record(metadata: dict[str, Any], cached: bool) -> None:
    """Remembers a kernel that Triton's compiler returned under Weft."""
    if COMPILER in metadata:
        remember(metadata, "weft", None, cached)
    else:
        remember(metadata, "triton", metadata.get(REASON, "in another language than Triton's"), cached)


def took(metadata: dict[str, Any], seconds: float) -> None:
    """Notes what making a kernel's PTX took."""
    _seconds[metadata["hash"]] = seconds


def remember(metadata: dict[str, Any], compiler: str, reason: str | None, cached: bool) -> None:
    name, key = str(metadata.get("name")), str(metadata.get("hash"))
    _seen.add(key)
    seconds = _seconds.pop(key, None)
    compilation = Compilation(name, key, compiler, reason, cached, seconds, os.getpid())
    _compilations.append(compilation)
    if (file := report_file()) is not None:
        # One write of one line: what several processes append does not mix.
        line = json.dumps(dataclasses.asdict(compilation)) + "\n"
        with open(file, "ab", buffering=0) as out:
            out.write(line.encode())


def loaded(_module: Any, _function: Any, _name: str, group: dict[str, str], key: str) -> None:
    """Triton's hook at the loading of a kernel, which sees those that other processes compiled, too."""
    if key not in _seen:
        examine(next((Path(path) for name, path in group.items() if name.endswith(".json")), None))


def examine(metadata: Path | None) -> None:
    """Warns once if a kernel that is loaded was made without Weft, and remembers it."""
    global _warned
    try:
        said = json.loads(metadata.read_bytes()) if metadata is not None else None
    except (OSError, ValueError):
        said = None
    if not isinstance(said, dict) or str(said.get("hash")) in _seen:
        return
    if COMPILER in said or REASON in said:
        record(said, cached=True)
        return
    remember(said, "triton", ESCAPED, cached=True)
    if not _warned:
        _warned = True
        warnings.warn(
            f"`{said.get('name')}` runs as Triton's own compiler made it: it was {ESCAPED}. "
            "`WEFT_TRITON=1` in the environment, or `install(processes=True)` before other processes "
            "start, brings Weft to all of them; `weft.triton.status()` lists the kernels.",
            RuntimeWarning,
            stacklevel=2,
        )


def seen() -> set[str]:
    """The keys of the kernels that were looked at."""
    return _seen


def compilations() -> tuple[Compilation, ...]:
    """The kernels so far: of every process with the same report, or of this one."""
    file = report_file()
    if file is None:
        return tuple(_compilations)
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return ()
    return tuple(Compilation(**json.loads(line)) for line in lines)


def report_file() -> str | None:
    """Where processes write their kernels to; the environment's `1` is the standard error at exit."""
    asked = os.environ.get("WEFT_TRITON_REPORT", "0")
    return None if asked in ("", "0", "1") else asked


@functools.cache
def report_at_exit(status: Any) -> None:
    """Has the status printed when this process ends, where the environment asks for that."""
    if os.environ.get("WEFT_TRITON_REPORT", "0") not in ("", "0"):
        process = os.getpid()
        atexit.register(lambda: report(status()) if os.getpid() == process else None)


def report(status: Status) -> None:
    if status.kernels:
        print(f"weft.triton, process {os.getpid()}\n{status}", file=sys.stderr)


def forget() -> None:
    """Begins anew, as a process does."""
    _compilations.clear()
    _seen.clear()


# A child that was forked has compiled nothing yet.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget)
