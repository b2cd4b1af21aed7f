"""What a case is made of, the table of all, and how results are held against what is expected."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).resolve().parents[4] / "kernels"

i8, i16, i32, i64 = (np.dtype(name) for name in ("int8", "int16", "int32", "int64"))
u8, u16, u32, u64 = (np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64"))
f16, f32, f64, i1 = (np.dtype(name) for name in ("float16", "float32", "float64", "bool"))
bf16 = np.dtype(ml_dtypes.bfloat16)
e4m3, e5m2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)

# What one rounding to f32 may be off, of a number near one; and of f64.
U = 2.0**-24
U64 = 2.0**-53


class Near(NamedTuple):
    """Numbers that are computed in floating point: each may be any between two bounds."""

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Shuffled(NamedTuple):
    """Values that are right in any order."""

    values: np.ndarray


class Case(NamedTuple):
    """One launch of a kernel."""

    grid: tuple[int, ...]
    arguments: dict[str, Any]
    """Arrays and numbers by name, in the kernel's order; the constants are those of `SIGNATURES`."""
    expected: dict[str, Any]
    """What arrays hold afterwards: exactly, or `Near` it, or `Shuffled`. Every other array stays as it is."""
    printed: Callable[[list[str]], bool] | None = None
    """Whether the lines that the kernel prints are right."""


class Entry(NamedTuple):
    """A kernel's place in the table."""

    file: str
    make: Callable[["Draw"], Case]
    small: bool

    def case(self) -> Case:
        return self.make(Draw(zlib.crc32(self.make.__name__.encode())))


CASES: dict[str, Entry] = {}


def case(make: Any = None, *, small: bool = False) -> Any:
    """Puts a case into the table; those that are `small` are also run where time is short."""
    if make is None:
        return lambda function: case(function, small=small)
    CASES[make.__name__] = Entry(make.__module__.rpartition(".")[2], make, small)
    return make


class Draw:
    """Arguments at random, the same each time."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def normal(self, *shape: int, dtype: np.dtype = f32, scale: float = 1.0) -> np.ndarray:
        return (self.random.standard_normal(shape) * scale).astype(dtype)

    def uniform(self, low: float, high: float, *shape: int, dtype: np.dtype = f32) -> np.ndarray:
        return self.random.uniform(low, high, shape).astype(dtype)

    def integers(self, low: int, high: int, *shape: int, dtype: np.dtype = i32) -> np.ndarray:
        """From `low` up to, but without, `high`."""
        return self.random.integers(low, high, shape).astype(dtype)

    def bits(self, *shape: int, dtype: np.dtype = i32) -> np.ndarray:
        """Every pattern of bits alike."""
        return np.frombuffer(self.random.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()

    def order(self, count: int, dtype: np.dtype = i32) -> np.ndarray:
        """The numbers below `count`, shuffled."""
        return self.random.permutation(count).astype(dtype)


def blank(*shape: int, dtype: np.dtype = f32) -> np.ndarray:
    """An array that is to be written; what is not shows by its bytes."""
    size = int(np.prod(shape))
    return np.full(size * dtype.itemsize, 0 if dtype == i1 else 0x5A, np.uint8).view(dtype).reshape(shape)


def zeros(*shape: int, dtype: np.dtype = f32) -> np.ndarray:
    return np.zeros(shape, dtype)


def unit(kind: np.dtype) -> float:
    """What one rounding to a type may be off, of a number near one."""
    return float(ml_dtypes.finfo(kind).eps) / 2


def toward_zero(array: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Rounded toward zero: the nearest, or where that is further from zero its neighbour there."""
    with np.errstate(over="ignore"):
        nearest = array.astype(kind)
    too_far = np.abs(wide(nearest)) > np.abs(wide(array))
    bits = nearest.view(f"u{kind.itemsize}")
    return np.where(too_far, bits - bits.dtype.type(1), bits).view(kind)


def wide(array: np.ndarray) -> np.ndarray:
    """In f64, which holds every narrower float."""
    return array.astype(f64)


def put(array: np.ndarray, where: Any, values: Any) -> np.ndarray:
    """The array with values in a part of it, rounded to nearest where they have more bits."""
    result = array.copy()
    with np.errstate(over="ignore"):
        result[where] = np.asarray(values).astype(array.dtype)
    return result


def near(array: np.ndarray, where: Any, values: Any, error: Any = 0.0) -> Near:
    """The array with values in a part of it that may be off by `error` before they are rounded to its
    type; the rest is as it was."""
    values = np.asarray(values, f64)
    whole = wide(array)
    whole[where] = values
    low, high = put(array, where, values - error), put(array, where, values + error)
    return Near(whole, wide(low), wide(high))


def whole_numbers(array: np.ndarray, where: Any, values: Any, error: Any) -> Near:
    """As `near`, of floats that are cut off to integers: their neighbours are right only where the
    error reaches them."""
    values = np.asarray(values, f64)
    return Near(*(wide(put(array, where, np.trunc(each))) for each in (values, values - error, values + error)))


class Verdict(NamedTuple):
    """How a result compares with what is expected."""

    right: bool
    exact: bool
    difference: float
    """The largest, of numbers above one relative to them."""
    message: str


def compare(found: np.ndarray, wanted: Any) -> Verdict:
    """Holds what an array has against what it is to have."""
    if isinstance(wanted, Near):
        values, low, high = wanted
        found = wide(found)
    elif isinstance(wanted, Shuffled):
        found = np.sort(found, None)
        values = low = high = np.sort(wanted.values, None)
    else:
        values = low = high = wanted
    nothing = np.isnan(values) if values.dtype.kind not in "biu" else np.zeros(values.shape, bool)
    is_none = np.isnan(found) if found.dtype.kind not in "biu" else np.zeros(found.shape, bool)
    with np.errstate(invalid="ignore", over="ignore"):
        right = (nothing & is_none) | ((found >= low) & (found <= high))
        same = (nothing & is_none) | (found == values)
        apart = np.abs(wide(found) - wide(values)) / np.maximum(np.abs(wide(values)), 1.0)
    apart = np.where(same, 0.0, apart)
    difference = float(np.max(apart, initial=0.0))
    message = ""
    if not right.all():
        place = tuple(int(axis[0]) for axis in np.nonzero(~right))
        message = (
            f"{int((~right).sum())} of {right.size} differ; at {list(place)} there is {found[place]} "
            f"instead of {values[place]}, or {low[place]} to {high[place]}"
        )
    return Verdict(bool(right.all()), bool(same.all()), difference, message)
