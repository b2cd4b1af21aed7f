"""Arguments of simulated kernels: which bytes an array has, and where in them its first element is."""

import ctypes
import sys
from typing import Any

# Simulated storages begin at multiples of this, so that alignment is that of the place within them.
ALIGNED = 1 << 40
# What Triton asks of an address is whether it is a multiple of this.
DIVISIBLE = 16


class Array:
    """A NumPy array, or a PyTorch tensor of the CPU, as an argument of a simulated kernel.

    Kernels take arrays and tensors as they are; an `Array` is needed where Triton itself looks at one,
    as in `TensorDescriptor(weft.triton.array(x), …)`. What the array has, it has too.
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        if is_numpy(array):
            bounds = sys.modules["numpy"].lib.array_utils.byte_bounds
            root = array
            while is_numpy(root.base):
                root = root.base
            first, _ = bounds(root)
            low, high = bounds(array)
            address = array.__array_interface__["data"][0]
            self.readonly = not array.flags.writeable
        else:
            first, low = array.untyped_storage().data_ptr(), array.data_ptr()
            steps = zip(array.shape, array.stride(), strict=True)
            last = sum((extent - 1) * step for extent, step in steps)
            high = low + (last + 1) * array.element_size() if array.numel() else low
            address = low
            self.readonly = False
        # What is before the view stays out, but for what keeps addresses aligned as in the whole array.
        low -= (low - first) % DIVISIBLE
        self.storage = (low, high)
        self.offset = address - low

    def data_ptr(self) -> int:
        """An address that is aligned as the simulated one will be."""
        return ALIGNED + int(self.offset)

    def stride(self, *axis: int) -> Any:
        """Steps in elements, as PyTorch counts them."""
        if not is_numpy(self.array):
            return self.array.stride(*axis)
        steps = tuple(step // self.array.itemsize for step in self.array.strides)
        return steps[axis[0]] if axis else steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __repr__(self) -> str:
        return f"Array({self.array!r})"


def array(value: Any) -> Array:
    """A NumPy array, or a PyTorch tensor of the CPU, as an argument of a simulated kernel."""
    if isinstance(value, Array):
        return value
    if not (is_numpy(value) or is_torch(value)):
        raise TypeError(f"a kernel's array is one of NumPy or PyTorch, not a {type(value).__name__}")
    if is_torch(value) and value.device.type != "cpu":
        raise ValueError(f"the simulator reads tensors of the CPU, and this one is of {value.device}")
    return Array(value)


def wrapped(value: Any) -> Any:
    """An argument of a launch with every array in it wrapped."""
    if is_numpy(value) or is_torch(value):
        return array(value)
    if type(value) is tuple:
        return tuple(map(wrapped, value))
    return value


def is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


class Storages:
    """The bytes behind a launch's pointers: arrays that share some are one buffer, and a view ends where
    it ends, not where its array does."""

    def __init__(self, arrays: list[tuple[str, Array]]) -> None:
        by_place = sorted(arrays, key=lambda named: named[1].storage)
        self.buffers: list[tuple[str, int, int, bool]] = []
        for name, each in by_place:
            low, high = each.storage
            if self.buffers and low < self.buffers[-1][2]:
                first, start, end, readonly = self.buffers[-1]
                self.buffers[-1] = (first, start, max(end, high), readonly or each.readonly)
            else:
                self.buffers.append((name, low, high, each.readonly))

    def pointer(self, array: Array) -> tuple[int, int]:
        """Which buffer an array is in, and at which byte it begins."""
        address = array.storage[0] + array.offset
        for index, (_, low, high, _) in enumerate(self.buffers):
            if low <= array.storage[0] and array.storage[1] <= high:
                return index, address - low
        raise AssertionError("every array's bytes are in one of the launch's buffers")

    def bytes(self) -> list[tuple[str, Any]]:
        """Each buffer's name, and its bytes as they are in memory."""
        seen = []
        for name, low, high, readonly in self.buffers:
            block = (ctypes.c_ubyte * (high - low)).from_address(low)
            view = memoryview(block).cast("B")
            seen.append((name, view.toreadonly() if readonly else view))
        return seen
