"""The loops of `conversions_device.py` in Gluon: with a conversion, and without.

`plain` is the element's type, and what `source` points to is that, or the integer as wide; `step` is 1, which the compiler does
not know, so that it does not unroll a loop and merge what two rounds do.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def change(x, i):
    if x.dtype == gl.float32:
        return x + 1.0
    else:
        return x ^ i.to(x.dtype)


@gluon.jit
def consume(total, x):
    if x.dtype == gl.float32:
        return total + x
    else:
        return total ^ x


@gluon.jit
def conversion(
    source,
    result,
    n,
    step,
    A: gl.constexpr,
    B: gl.constexpr,
    M: gl.constexpr,
    N: gl.constexpr,
    plain: gl.constexpr,
):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, A))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, A))
    x = gl.load(source + rows[:, None] * N + columns[None, :])
    total = gl.zeros([M, N], x.dtype, B)
    for i in range(0, n, step):
        x = change(x, i)
        y = gl.convert_layout(x.to(plain, bitcast=True), B)
        total = consume(total, y.to(x.dtype, bitcast=True))
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, B))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, B))
    result += gl.program_id(0) * (M * N)
    gl.store(result + rows[:, None] * N + columns[None, :], total)


@gluon.jit
def empty(
    source,
    result,
    n,
    step,
    A: gl.constexpr,
    M: gl.constexpr,
    N: gl.constexpr,
    plain: gl.constexpr,
):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, A))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, A))
    x = gl.load(source + rows[:, None] * N + columns[None, :])
    total = gl.zeros([M, N], x.dtype, A)
    for i in range(0, n, step):
        x = change(x, i)
        total = consume(total, x)
    result += gl.program_id(0) * (M * N)
    gl.store(result + rows[:, None] * N + columns[None, :], total)
