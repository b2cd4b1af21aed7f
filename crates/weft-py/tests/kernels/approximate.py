"""Functions of 32 and of 64 bits held against numbers of 100 bits."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

from kernels.table import blank, Case, f32, f64, near, U, U64, wide

BLOCK = 128
mp.prec = 100


class Row(NamedTuple):
    """What one row of a kernel's results is to be."""

    function: Callable[..., Any]
    """Of `a`, `b`, `p` and `s`, as the kernels call them."""
    units: float
    """How far a result of f64 may be off, in units of the last place."""
    narrow: Any = 0.05
    """How much further than half a unit one of f32 may be off; or the error of results and arguments."""
    scale: Callable[..., Any] = lambda result, *given: np.zeros_like(result)
    """What the units are of where that is more than the result, given results and arguments."""


def of_numbers(function: Callable[..., Any], *arguments: np.ndarray) -> np.ndarray:
    """A function of numbers of 100 bits, of each element; NaN where it has no real value."""

    def value(*of: Any) -> float:
        try:
            result = function(*of)
        except ValueError:
            return math.nan
        return math.nan if isinstance(result, mp.mpc) and result.imag != 0 else float(mp.re(result))

    return np.array([value(*(mpf(float(each)) for each in of)) for of in zip(*arguments, strict=True)])


def held(out: np.ndarray, rows: list[Row], a: np.ndarray, b: np.ndarray) -> Any:
    """The results of all rows, near what they are."""
    kind = out.dtype
    given = a, b, np.abs(a) + kind.type(0.01), b * kind.type(0.2)
    values, errors = [], []
    for function, units, narrow, scale in rows:
        result = of_numbers(function, *given)
        with np.errstate(invalid="ignore", over="ignore"):
            unit = np.abs(np.spacing(result.astype(kind))).astype(f64)
        unit = np.maximum(unit, (2 * U if kind == f32 else 2 * U64) * scale(result, *map(wide, given)))
        if kind == f64:
            error = math.ceil(units + 0.5) * unit
        else:
            error = narrow(result, *map(wide, given)) if callable(narrow) else narrow * unit
        values.append(result)
        errors.append(np.where(np.isfinite(error), error, 0.0))
    with np.errstate(over="ignore"):
        return near(out, ..., np.stack(values), np.stack(errors))


def of_both(draw: Any, rows: list[Row]) -> Case:
    """A case of functions of f32 and of f64."""
    x, y, out = draw.normal(BLOCK), draw.normal(BLOCK), blank(len(rows), BLOCK)
    v, w, broad = draw.normal(BLOCK, dtype=f64), draw.normal(BLOCK, dtype=f64), blank(len(rows), BLOCK, dtype=f64)
    expected = dict(out=held(out, rows, x * f32.type(5), y * f32.type(4)), wide=held(broad, rows, v * 5, w * 4))
    return Case((1,), dict(x=x, y=y, out=out, v=v, w=w, wide=broad), expected)
