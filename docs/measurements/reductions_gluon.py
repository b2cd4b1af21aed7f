"""The reduction of `reductions_triton.py` in Gluon: a tensor in a layout, summed along an axis."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def add(x, y):
    return x + y


@gluon.jit
def reduction(
    source,
    result,
    L: gl.constexpr,
    M: gl.constexpr,
    N: gl.constexpr,
    AXIS: gl.constexpr,
):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, L))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, L))
    x = gl.load(source + rows[:, None] * N + columns[None, :])
    y = gl.reduce(x, AXIS, add)
    if AXIS == 0:
        gl.store(result + columns, y)
    else:
        gl.store(result + rows, y)
