"""A driver of Triton's that launches on Weft's simulator."""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.driver import driver

from weft import _weft, invoke
from weft.errors import read
from weft.triton import _compiler
from weft.triton._arguments import Array, Storages, wrapped
from weft.triton._report import LaunchError, LaunchWarning, Report, report_of

# A run that has come this far, in warp instructions, is long enough for a bar.
BAR_AFTER = 1 << 21

_last: Report | None = None


def last_report() -> Report:
    """What the last launch on the simulator cost, and what was wrong with it."""
    if _last is None:
        raise RuntimeError("no kernel was launched on the simulator yet")
    return _last


class SimulatorDriver(DriverBase):  # type: ignore[misc]
    """Triton's driver for a machine that is not there."""

    def __init__(self, target: str, findings: str, equal_stores: str = "note") -> None:
        if not target.startswith("sm_"):
            raise ValueError(f"Triton's programs are simulated for NVIDIA's machines, and `{target}` is none")
        self.target = target
        self.capability = int(target.removeprefix("sm_"))
        self.utils = SimulatorUtils(target)
        self.findings = findings
        self.equal_stores = equal_stores
        self.launcher_cls = lambda source, _metadata: Launcher(source, self)

    @classmethod
    def is_active(cls) -> bool:
        # It is chosen by `install`, never found.
        return False

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> str:
        # Compiled kernels are kept by device.
        return f"simulator:{self.target}"

    def set_current_device(self, _device: Any) -> None:
        pass

    def get_current_stream(self, _device: Any) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        # Nothing is written in C for the simulator.
        return ty

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return measure

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, _cache: Any) -> None:
        pass


class SimulatorUtils:
    """What Triton asks of a device."""

    def __init__(self, target: str) -> None:
        (machine,) = invoke({"request": "machines", "target": target})["machines"]
        self.properties = {
            "max_shared_mem": machine["shared_bytes"],
            "max_num_regs": 65536,
            "multiprocessor_count": machine["multiprocessors"],
            "warpSize": 32,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }

    def get_device_properties(self, _device: Any) -> dict[str, int]:
        return self.properties

    def load_binary(self, _name: str, program: bytes, _shared: int, _device: Any) -> tuple[Any, ...]:
        kernel = _compiler.compiled(json.loads(program))
        # The module and the function, registers and spills of a thread, threads of a block.
        return kernel, kernel, 0, 0, 1024

    def unload_module(self, _module: Any) -> None:
        pass


class Launcher:
    """Launches one kernel."""

    def __init__(self, source: Any, made_for: SimulatorDriver) -> None:
        self.signature = tuple(source.signature.values())
        self.names = tuple(source.signature)
        self.made_for = made_for

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        _stream: int,
        kernel: _weft.Kernel,
        _packed: Any,
        launch_metadata: Any,
        enter: Callable[[Any], object] | None,
        leave: Callable[[Any], object] | None,
        *values: Any,
    ) -> None:
        global _last
        if x * y * z == 0:
            return
        flat = list(flatten(self.signature, values))
        names = [name for name, _ in kernel.parameters]
        arrays = [
            (name, value) for name, value in zip(names, flat, strict=False) if isinstance(value, Array)
        ]
        storages = Storages(arrays)
        arguments = [storages.pointer(v) if isinstance(v, Array) else v for v in flat]
        if enter is not None:
            enter(launch_metadata)
        # A kernel outlives what was installed when it was compiled.
        now = driver.active if isinstance(driver.active, SimulatorDriver) else self.made_for
        with bar() as watcher:
            answer = kernel.launch(
                (x, y, z), arguments, storages.bytes(), watcher, equal_stores=now.equal_stores
            )
        if leave is not None:
            leave(launch_metadata)
        _last = report = report_of(read(answer))
        for line in report.printed:
            print(line)
        if report.findings and now.findings == "raise":
            raise LaunchError(report)
        if report.findings and now.findings == "warn":
            warnings.warn(report.text_of_findings(), LaunchWarning, stacklevel=6)
        if report.unordered and now.findings != "keep":
            text = "\n".join(map(str, report.unordered))
            warnings.warn(text, LaunchWarning, stacklevel=6)


def flatten(signature: Any, values: Any) -> Iterator[Any]:
    """The values that a kernel's program takes: tuples and descriptors taken apart, constants left
    out."""
    for ty, value in zip(signature, values, strict=True):
        if isinstance(ty, tuple):
            yield from flatten(ty, value)
        elif ty == "constexpr":
            continue
        elif ty.startswith("tensordesc"):
            yield from of_descriptor(value)
        elif value is None:
            yield 0
        elif ty.startswith("*"):
            yield of_pointer(value)
        else:
            yield value


def of_pointer(value: Any) -> Any:
    """An array, or an address."""
    if isinstance(value, (Array, int)):
        return value
    # What `triton.reinterpret` makes.
    base = getattr(value, "base", value)
    return wrapped(base)


def of_descriptor(descriptor: Any) -> Iterator[Any]:
    """A descriptor as pointer, extents and strides, in the order in which Triton rewrites it."""
    extents, strides = list(descriptor.shape), list(descriptor.strides)
    yield of_pointer(descriptor.base)
    yield from extents
    yield from strides
    yield descriptor.padding == "nan"
    if hasattr(descriptor, "round_f32_to_tf32"):
        yield descriptor.round_f32_to_tf32
    yield from extents
    yield from strides


@contextlib.contextmanager
def bar() -> Iterator[Callable[[int, int, int], None]]:
    """What a run tells its progress to: a bar of tqdm's on a terminal, once the run is long."""
    shown: Any = None

    def watcher(ended: int, blocks: int, instructions: int) -> None:
        nonlocal shown
        if shown is None:
            if instructions < BAR_AFTER or not sys.stderr.isatty():
                return
            try:
                from tqdm import tqdm
            except ImportError:
                return
            shown = tqdm(total=blocks, unit="block", leave=False)
        shown.update(ended - shown.n)

    try:
        yield watcher
    finally:
        if shown is not None:
            shown.close()


def measure(launch: Callable[[], object], quantiles: Sequence[float] = (0.5,), **_: Any) -> list[float]:
    """The work of a launch on the simulator, for `triton.autotune`: the same each time."""
    launch()
    return [float(last_report().work)] * len(quantiles)


