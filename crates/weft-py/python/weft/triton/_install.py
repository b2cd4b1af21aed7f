"""Putting Weft into Triton, and taking it out again."""

import contextlib
import dataclasses
import functools
import os
import sys
import weakref
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal

import triton.backends.nvidia.driver
import triton.runtime.autotuner
import triton.runtime.cache
from triton import knobs
from triton.backends.nvidia.compiler import CUDABackend
from triton.runtime.cache import FileCacheManager
from triton.runtime.driver import DriverConfig, driver
from triton.runtime.jit import JITFunction

from weft.triton import _cache, _compiler, _inductor, _key, _status, _tuning
from weft.triton._arguments import wrapped
from weft.triton._patches import Around
from weft.triton._simulator import SimulatorDriver

# The options of `install` for the processes that this one starts.
ENVIRONMENT = "WEFT_TRITON"


@dataclasses.dataclass(frozen=True)
class Settings:
    """How Weft stands in Triton."""

    device: str
    target: str | None
    fallback: str | None
    findings: str
    equal_stores: str
    processes: bool

    @functools.cached_property
    def key(self) -> str:
        """What kernels that are compiled so have in common, on disk and in memory."""
        parts = (_compiler.identity(), self.device, self.target, self.fallback)
        return "-".join(str(part) for part in parts)

    @property
    def text(self) -> str:
        """The options as the environment has them."""
        options = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        options.pop("processes")
        return ",".join(f"{name}={value}" for name, value in options.items())


def options_of(text: str) -> dict[str, Any]:
    """The options of `install` in a text of the environment: `1`, or `name=value` with commas between."""
    if text == "1":
        return {}
    options = dict(part.strip().partition("=")[::2] for part in text.split(","))
    for name in options:
        check(ENVIRONMENT, name, ("device", "target", "fallback", "findings", "equal_stores"))
    return options


_settings: Settings | None = None
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
    equal_stores: Literal["note", "race"] = "note",
    processes: bool = False,
) -> None:
    """Lets Weft compile every `@triton.jit` function from now on.

    `device="simulator"` runs them without a GPU, on NumPy arrays and PyTorch's tensors of the CPU, as
    the machine `target` would (`sm_90` where nothing is said). What a simulated launch does wrong is
    raised as a `LaunchError`, or with `findings="warn"` a `LaunchWarning`, or with `"keep"` only kept
    in `last_report()`. Stores of one value to one byte that nothing orders are one of the report's notes,
    or with `equal_stores="race"` a race.

    A kernel that Weft does not compile raises a `KernelError` with the line of its source; with
    `fallback="triton"` a GPU runs what Triton makes of it, and the reason is logged.

    `processes=True` does the same in every Python process that this one starts from now on, and has
    Inductor's workers start anew; `WEFT_TRITON` in the environment does it from outside.

    Where the environment says `WEFT_DISABLE=1`, nothing happens.
    """
    global _settings
    if os.environ.get("WEFT_DISABLE", "0") not in ("", "0"):
        return
    check("device", device, ("cuda", "simulator"))
    check("fallback", fallback, (None, "triton"))
    check("findings", findings, ("raise", "warn", "keep"))
    check("equal_stores", equal_stores, ("note", "race"))
    if device == "simulator" and fallback is not None:
        raise ValueError("the simulator has no other compiler to fall back to")
    if device == "cuda" and target is not None:
        raise ValueError("`target` is for the simulator; a GPU is what it is")
    if device == "simulator":
        target = target or "sm_90"
    processes = processes or asked() is not None
    chosen = Settings(device, target, fallback, findings, equal_stores, processes)
    simulator = SimulatorDriver(target, findings, equal_stores) if device == "simulator" and target else None
    uninstall()
    _settings = chosen
    for around in _AROUND:
        around.put()
    knobs.runtime.kernel_load_end_hook.add(_status.loaded)
    _inductor.enter(triton.runtime.cache.triton_key)
    _status.forget()
    _status.report_at_exit(status)
    if processes:
        os.environ[ENVIRONMENT] = chosen.text
        _inductor.restart_workers()
    if simulator is not None:
        driver.set_active(simulator)


def asked() -> str | None:
    """What the environment says of the processes that have it."""
    text = os.environ.get(ENVIRONMENT, "0")
    return None if text in ("", "0") else text


def install_as_asked() -> None:
    """Installs what the environment asks for."""
    if (text := asked()) is not None:
        install(**options_of(text))


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
    if _settings.processes:
        os.environ.pop(ENVIRONMENT, None)
        _inductor.restart_workers()
    _settings = None
    for around in reversed(_AROUND):
        around.take()
    knobs.runtime.kernel_load_end_hook.remove(_status.loaded)
    _inductor.leave(triton.runtime.cache.triton_key)
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
    equal_stores: Literal["note", "race"] = "note",
    processes: bool = False,
) -> Iterator[None]:
    """As `install`, for as long as the `with` lasts; what was installed before is so again after it."""
    before = _settings
    install(
        device,
        target=target,
        fallback=fallback,
        findings=findings,
        equal_stores=equal_stores,
        processes=processes,
    )
    try:
        yield
    finally:
        uninstall()
        if before is not None:
            install(**dataclasses.asdict(before))


def status() -> _status.Status:
    """Which compiler Triton's kernels have now, and which one made those so far, and why."""
    compiler = "triton" if _settings is None else _settings.key
    return _status.Status(compiler, _status.compilations())


def add_stages(inner: Any, backend: CUDABackend, stages: dict[str, Any], options: Any, language: Any) -> None:
    """`CUDABackend.add_stages`: Triton's own stages, what others' hooks make of them, and Weft's."""
    assert _settings is not None
    inner(backend, stages, options, language)
    capability = backend._parse_arch(options.arch)
    _compiler.replace_stages(_settings, backend, stages, options, language, capability)


def triton_key(inner: Any) -> str:
    """Triton's part of every key: of kernels on disk, tuned configurations, and Inductor's graphs."""
    assert _settings is not None
    return f"{_key.key() or inner()}-{_settings.key}"


def pruned(inner: Any, tuner: Any, kwargs: dict[str, Any]) -> Any:
    """`Autotuner.prune_configs`; on the simulator there is no assembler to wait for."""
    assert _settings is not None
    return inner(tuner, kwargs) if _settings.device == "simulator" else _tuning.pruned(inner, tuner, kwargs)


def create_driver(inner: Any) -> Any:
    """Triton's choice of a driver, which fails where there is no GPU."""
    try:
        return inner()
    except RuntimeError as error:
        error.add_note('Without a GPU, `weft.triton.install(device="simulator")` runs kernels on Weft\'s simulator.')
        raise


def run(inner: Any, function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
    """`JITFunction.run`, on the kernels that Weft compiled."""
    assert _settings is not None
    exchange(function, _settings.key)
    if _settings.device == "simulator" and not warmup:
        args = tuple(map(wrapped, args))
        kwargs = {name: wrapped(value) for name, value in kwargs.items()}
    return inner(function, *args, grid=grid, warmup=warmup, **kwargs)


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


_AROUND = (
    Around(CUDABackend, "add_stages", add_stages),
    Around(triton.backends.nvidia.driver, "make_tensordesc_arg", _compiler.described),
    Around(JITFunction, "run", run),
    # The module, whose name in its package is that of what it exports.
    Around(sys.modules[DriverConfig.__module__], "_create_driver", create_driver),
    Around(triton.runtime.cache, "triton_key", triton_key),
    Around(triton.runtime.autotuner, "triton_key", triton_key),
    Around(triton.runtime.autotuner.Autotuner, "prune_configs", pruned),
    Around(triton.runtime.autotuner.Autotuner, "check_disk_cache", _tuning.looked_up),
    Around(FileCacheManager, "__init__", _cache.begun),
    Around(FileCacheManager, "put", _cache.put),
    Around(FileCacheManager, "put_group", _cache.put_group),
    Around(FileCacheManager, "get_group", _cache.get_group),
)
