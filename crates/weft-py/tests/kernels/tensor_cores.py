"""Cases of `kernels/tensor_cores.py`."""

import numpy as np

from kernels.flash import attend
from kernels.functions import LOG2_E, product_error, product_error_64
from kernels.matmul import tf32_error
from kernels.table import bf16, blank, Case, case, e4m3, e5m2, f16, f32, f64, i8, i32, near, wide


def tiles(draw, grid, shape, kind, result, *, turned=False, error=product_error):
    """A product of whole tiles: `b` by rows, or turned, by columns."""
    m, n, k = shape
    a, b, c = draw.normal(m, k, dtype=kind), draw.normal(k, n, dtype=kind), blank(m, n, dtype=result)
    wanted = near(c, ..., wide(a) @ wide(b), error(wide(a), wide(b)))
    arguments = dict(a=a, b=np.ascontiguousarray(b.T) if turned else b, c=c, n=n, k=k)
    return Case(grid, arguments, dict(c=wanted))


@case(small=True)
def matmul_f16(draw):
    return tiles(draw, (2, 1), (128, 64, 96), f16, f16)


@case
def matmul_bf16(draw):
    return tiles(draw, (1, 2), (64, 64, 128), bf16, f32, turned=True)


@case
def matmul_tf32(draw):
    return tiles(draw, (2, 1), (64, 64, 64), f32, f32, error=tf32_error)


@case
def matmul_i8(draw):
    a, b, c = draw.bits(64, 128, dtype=i8), draw.bits(64, 128, dtype=i8), blank(64, 64, dtype=i32)
    return Case((1, 1), dict(a=a, b=b, c=c, n=64, k=128), dict(c=a.astype(i32) @ b.astype(i32).T))


@case
def matmul_f8(draw):
    return tiles(draw, (1, 1), (64, 64, 128), e4m3, f16)


@case
def matmul_f64(draw):
    return tiles(draw, (2, 2), (64, 64, 32), f64, f64, error=lambda a, b: 2 * product_error_64(a, b))


@case(small=True)
def product_thin(draw):
    a, b, c = draw.normal(4, 64, dtype=f16), draw.normal(64, 32, dtype=f16), blank(4, 32)
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., wide(a) @ wide(b), product_error(a, b))))


@case
def product_narrow(draw):
    a, b, c = draw.bits(64, 32, dtype=i8), draw.bits(32, 4, dtype=i8), blank(64, 4, dtype=i32)
    return Case((1,), dict(a=a, b=b, c=c), dict(c=a.astype(i32) @ b.astype(i32)))


@case
def product_mixed(draw):
    a, b, c = draw.normal(32, 64, dtype=f16), draw.bits(64, 32, dtype=i8), blank(32, 32)
    left, right = wide(a), wide(b) / 64
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., left @ right, product_error(left, right))))


def attention_case(draw, rows, keys, kind):
    """Every query sees every key; weights and values are of one kind."""
    # Queries so large that a few keys have most of the weight: results are as different as values are.
    q = draw.normal(rows, 32, dtype=f16, scale=4)
    k, v = draw.normal(keys, 32, dtype=f16), draw.normal(keys, 32, dtype=kind)
    out = blank(rows, 32, dtype=f16)
    result, error, _, _ = attend(wide(q), wide(k), wide(v), True, 0.17677669 * LOG2_E, kind)
    return Case((rows // 64,), dict(q=q, k=k, v=v, out=out, n=keys), dict(out=near(out, ..., result, error)))


@case
def attention_f16(draw):
    return attention_case(draw, 128, 96, f16)


@case
def attention_f8(draw):
    return attention_case(draw, 64, 128, e5m2)
