"""Launches of cases through `@triton.jit`, on the simulator and on a GPU."""

import contextlib
import functools
import importlib.util
import io
from types import ModuleType
from typing import Any

import numpy as np

from kernels.table import blank, Case, CASES, compare, FOLDER, Verdict


@functools.cache
def source(file: str) -> ModuleType:
    """A file of kernels, with what `SIGNATURES` says of each."""
    spec = importlib.util.spec_from_file_location(f"kernels_of_{file}", FOLDER / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Simulator:
    """Kernels take NumPy's arrays as they are."""

    def given(self, array: np.ndarray) -> Any:
        return array

    def taken(self, argument: Any) -> np.ndarray:
        return argument

    def finish(self) -> None:
        pass


class Unaligned(Simulator):
    """Arrays begin one element behind a multiple of 16 bytes, and around them nothing may be written."""

    def __init__(self) -> None:
        self.around: list[np.ndarray] = []

    def given(self, array: np.ndarray) -> Any:
        # What is around an array is as `blank` leaves what is not written.
        room = blank(array.size + 16, dtype=array.dtype)
        inside = room[1 : 1 + array.size]
        inside[:] = array.reshape(-1)
        self.around += [room[:1], room[1 + array.size :]]
        return inside.reshape(array.shape)

    def finish(self) -> None:
        for part in self.around:
            if part.tobytes() != blank(part.size, dtype=part.dtype).tobytes():
                raise AssertionError("something was written around an array")


class Cuda:
    """Kernels take PyTorch's tensors of the GPU, made from the arrays' bytes."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.types = {"bool": torch.bool, "bfloat16": torch.bfloat16}
        for name in ("float8_e4m3fn", "float8_e5m2", "float16", "float32", "float64"):
            self.types[name] = getattr(torch, name)
        for bits in (8, 16, 32, 64):
            self.types[f"int{bits}"] = getattr(torch, f"int{bits}")
            self.types[f"uint{bits}"] = getattr(torch, f"uint{bits}")

    def given(self, array: np.ndarray) -> Any:
        flat = self.torch.from_numpy(array.reshape(-1).view(np.uint8).copy()).cuda()
        return flat.view(self.types[array.dtype.name]).reshape(array.shape)

    def taken(self, argument: Any) -> Any:
        return argument.reshape(-1).view(self.torch.uint8).cpu().numpy()

    def finish(self) -> None:
        self.torch.cuda.synchronize()


def launched(name: str, case: Case, device: Any) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays after a launch, and the lines that it printed (on the simulator)."""
    module = source(CASES[name].file)
    signature = module.SIGNATURES[name]
    taken = [argument for argument, kind in signature.items() if isinstance(kind, str)]
    if taken != list(case.arguments):
        raise ValueError(f"`{name}` takes {taken}, and its case gives {list(case.arguments)}")
    constants = {argument: kind for argument, kind in signature.items() if not isinstance(kind, str)}
    arrays = {key: value for key, value in case.arguments.items() if isinstance(value, np.ndarray)}
    given = {key: device.given(value.copy()) for key, value in arrays.items()}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        getattr(module, name)[case.grid](**(case.arguments | given), **constants)
        device.finish()
    results = {}
    for key, value in arrays.items():
        results[key] = np.ascontiguousarray(device.taken(given[key])).view(value.dtype).reshape(value.shape)
    return results, output.getvalue().splitlines()


def verdicts(case: Case, results: dict[str, np.ndarray]) -> dict[str, Verdict]:
    """How each array compares with what it is to hold."""
    seen = {}
    for name, found in results.items():
        given = case.arguments[name]
        if name in case.expected:
            seen[name] = compare(found, case.expected[name])
        else:
            same = found.tobytes() == given.tobytes()
            seen[name] = Verdict(same, same, 0.0, "" if same else "it was written to, and is only to be read")
    return seen
