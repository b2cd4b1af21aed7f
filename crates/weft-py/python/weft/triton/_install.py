"""Putting Weft into Triton, and taking it out again."""

import contextlib
import dataclasses
import os
import weakref
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal


from triton import knobs
from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from weft.triton import _compiler
from weft.triton._arguments import wrapped
from weft.triton._simulator import SimulatorDriver


@dataclasses.dataclass(frozen=True)
class Settings:
    """How Weft stands in Triton."""

    device: str
    target: str | None
    fallback: str | None
    findings: str

    @property
    def key(self) -> str:
        """What kernels that are compiled so have in common, on disk and in memory."""
        parts = (_compiler.identity(), self.device, self.target, self.fallback)
        return "-".join(str(part) for part in parts)


_settings: Settings | None = None
# What stood in Triton before.
_run = JITFunction.run
_hash = CUDABackend.hash
# Functions whose kernels in memory were exchanged for Weft's.
_exchanged: list[weakref.ref[Any]] = []


def installed() -> bool:
    """Whether Weft compiles Triton's kernels now."""
    return _settings is not None


def install(
    device: Literal["cuda", "simulator"] = "cuda",
    *,
    target: str | None = None,
    fallback: Literal["triton"] | None = None,
    findings: Literal["raise", "warn", "keep"] = "raise",
) -> None:
    """Lets Weft compile every `@triton.jit` function from now on.

    `device="simulator"` runs them without a GPU, on NumPy arrays and PyTorch's tensors of the CPU, as
    the machine `target` would (`sm_90` where nothing is said). What a simulated launch does wrong is
    raised as a `LaunchError`, or with `findings="warn"` a `LaunchWarning`, or with `"keep"` only kept
    in `last_report()`.

    A kernel that Weft does not compile raises a `KernelError` with the line of its source; with
    `fallback="triton"` a GPU runs what Triton makes of it, and the reason is logged.

    Where the environment says `WEFT_DISABLE=1`, nothing happens.
    """
    global _settings
    if os.environ.get("WEFT_DISABLE", "0") not in ("", "0"):
        return
    check("device", device, ("cuda", "simulator"))
    check("fallback", fallback, (None, "triton"))
    check("findings", findings, ("raise", "warn", "keep"))
    if device == "simulator" and fallback is not None:
        raise ValueError("the simulator has no other compiler to fall back to")
    if device == "cuda" and target is not None:
        raise ValueError("`target` is for the simulator; a GPU is what it is")
    if device == "simulator":
        target = target or "sm_90"
    chosen = Settings(device, target, fallback, findings)
    simulator = SimulatorDriver(target, findings) if device == "simulator" and target else None
    uninstall()
    if knobs.runtime.add_stages_inspection_hook is not None:
        raise RuntimeError("another hook stands at Triton's stages: remove it before `install()`")
    _settings = chosen
    knobs.runtime.add_stages_inspection_hook = hook
    JITFunction.run = run
    CUDABackend.hash = backend_hash
    if simulator is not None:
        driver.set_active(simulator)


def check(what: str, given: Any, known: tuple[Any, ...]) -> None:
    if given not in known:
        names = ", ".join(repr(name) for name in known)
        raise ValueError(f"`{what}` is one of {names}, not {given!r}")


def uninstall() -> None:
    """Gives Triton back to itself."""
    global _settings
    if _settings is None:
        return
    if _settings.device == "simulator":
        # Triton's own is looked for when it is next wanted: there may be none.
        driver.set_active(None)
    _settings = None
    knobs.runtime.add_stages_inspection_hook = None
    JITFunction.run = _run
    CUDABackend.hash = _hash
    for reference in _exchanged:
        if (function := reference()) is not None:
            exchange(function, None)
    _exchanged.clear()


@contextlib.contextmanager
def enabled(
    device: Literal["cuda", "simulator"] = "cuda",
    *,
    target: str | None = None,
    fallback: Literal["triton"] | None = None,
    findings: Literal["raise", "warn", "keep"] = "raise",
) -> Iterator[None]:
    """As `install`, for as long as the `with` lasts; what was installed before is so again after it."""
    before = _settings
    install(device, target=target, fallback=fallback, findings=findings)
    try:
        yield
    finally:
        uninstall()
        if before is not None:
            install(**dataclasses.asdict(before))


def hook(
    backend: Any = None,
    stages: dict[str, Any] | None = None,
    options: Any = None,
    language: Any = None,
    capability: int | None = None,
) -> tuple[str, str] | None:
    """Triton's hook at the stages of its compiler. Newer versions ask it, without arguments, for what
    it adds to the keys of caches."""
    assert _settings is not None
    if stages is None or capability is None:
        return _settings.key, _settings.key
    _compiler.replace_stages(_settings, backend, stages, options, language, capability)
    return None


def backend_hash(backend: CUDABackend) -> str:
    """The backend's part of the keys on disk, which older versions do not ask the hook for."""
    assert _settings is not None
    return f"{_hash(backend)}-{_settings.key}"


def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    """`JITFunction.run`, on the kernels that Weft compiled."""
    assert _settings is not None
    exchange(function, _settings.key)
    if _settings.device == "simulator" and not warmup:
        args = tuple(map(wrapped, args))
        kwargs = {name: wrapped(value) for name, value in kwargs.items()}
    return _run(function, *args, grid=grid, warmup=warmup, **kwargs)


def exchange(function: Any, key: str | None) -> None:
    """Puts the kernels in memory that were compiled so in the place of those that were not."""
    fields = vars(function)
    now = fields.get("_weft_key")
    if now == key:
        return
    if now is None:
        _exchanged.append(weakref.ref(function))
    kept = fields.setdefault("_weft_caches", {})
    kept[now] = function.device_caches
    function.device_caches = kept.get(key) or defaultdict(function.create_binder)
    function._weft_key = key



