"""Cases of `kernels/debugging.py`: what is printed is right as well, in any order."""

import numpy as np

from kernels.functions import QUOTIENT
from kernels.table import blank, Case, case, f16, i8, i32, near, u32, wide


def in_any_order(wanted):
    return lambda found: sorted(found) == sorted(wanted)


@case(small=True)
def print_values(draw):
    x, y, out = draw.integers(-999, 999, 2, 8), draw.normal(2, 8, scale=9), blank(2, 8, dtype=i32)
    lines = []
    for program in range(2):
        for place in range(8):
            start = f"pid ({program}, 0, 0) idx ({place}) "
            lines.append(f"{start}numbers: {x[program, place]}")
            lines.append(f"{start}bits: (operand 0) 0x{x.view(u32)[program, place]:08x}")
            lines.append(f"{start}bits: (operand 1) 0x{y.view(u32)[program, place]:08x}")
    return Case((2,), dict(x=x, y=y, out=out), dict(out=x + y.astype(i32)), in_any_order(lines))


@case
def print_everywhere(draw):
    x, y, out = np.array([1.5, -2, 0.25, 3, 0, 2], f16), draw.integers(-99, 99, 4, 4, dtype=i8), blank(1)
    lines = ["pid (0, 0, 0) done"]
    for place in np.flatnonzero(x > 0):
        lines.append(f"pid (0, 0, 0) idx () positive: (operand 0) {place}")
        lines.append(f"pid (0, 0, 0) idx () positive: (operand 1) {x[place]:f}")
    for row, column in np.ndindex(4, 4):
        start = f"pid (0, 0, 0) idx ({row}, {column}) block 100%: "
        lines.append(f"{start}(operand 0) {y[row, column]}")
        lines.append(f"{start}(operand 1) {int(y[row, column] > 0)}")
    # The sums are exact.
    wanted = x.sum(keepdims=True).astype(np.float32)
    return Case((1,), dict(x=x, y=y, out=out, n=6), dict(out=wanted), in_any_order(lines))


@case
def assert_in_range(draw):
    x, out = draw.integers(0, 1000, 100), blank(100, dtype=i32)
    return Case((2,), dict(x=x, out=out, n=100), dict(out=x + 1))


@case
def assert_while_adding(draw):
    x, total, running = draw.integers(-1000, 1000, 2, 512), blank(2, dtype=i32), blank(2, 512, dtype=i32)
    expected = dict(total=x.sum(1, dtype=i32), running=np.cumsum(x, 1, dtype=i32))
    return Case((2,), dict(x=x, total=total, running=running), expected)


@case
def assert_uniform(draw):
    x, out = draw.uniform(1, 99, 128), blank(128)
    result = (wide(x).reshape(2, 64) / wide(x).reshape(2, 64).max(1, keepdims=True)).reshape(128)
    return Case((1,), dict(x=x, out=out, n=128), dict(out=near(out, ..., result, QUOTIENT * result)))
