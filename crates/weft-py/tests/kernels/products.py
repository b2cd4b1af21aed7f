"""Cases of `kernels/products.py`."""

import numpy as np

from kernels.functions import product_error, product_error_64
from kernels.table import bf16, blank, Case, case, e4m3, e5m2, f16, f64, i8, i32, near, u8, unit, wide  # fmt: skip


@case(small=True)
def product_f32(draw):
    a, b, c = draw.normal(32, 32), draw.normal(32, 64), blank(32, 64)
    wanted = near(c, ..., wide(a) @ wide(b) + 0.5, product_error(a, b))
    return Case((1,), dict(a=a, b=b, c=c), dict(c=wanted))


@case
def product_modes(draw):
    a, b, c = draw.normal(16, 32), draw.normal(32, 16), blank(16, 16)
    magnitude = np.abs(wide(a)) @ np.abs(wide(b))
    # Factors of one tf32, of three sums of it, of three and of six products of bf16: what is left out.
    left_out = 2 * 2.0**-11 + 2.0**-20 + 2.0**-14 + 2.0**-20
    wanted = near(c, ..., 4 * (wide(a) @ wide(b)), left_out * magnitude + 8 * product_error(a, b))
    return Case((1,), dict(a=a, b=b, c=c), dict(c=wanted))


@case
def product_f64(draw):
    a, b, c = draw.normal(16, 16, dtype=f64), draw.normal(16, 32, dtype=f64), blank(16, 32, dtype=f64)
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., a @ b, 2 * product_error_64(a, b))))


@case
def product_bf16(draw):
    a, b, c = draw.normal(32, 64, dtype=bf16), draw.normal(32, 64, dtype=bf16), blank(32, 32, dtype=bf16)
    left, right = wide(a), wide(b).T
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., left @ right, product_error(left, right))))


@case
def product_f16_sums(draw):
    a, b, c = draw.normal(32, 16, dtype=f16), draw.normal(16, 16, dtype=f16), blank(32, 16, dtype=f16)
    # An instruction adds sixteen products, or eight of them and then eight.
    error = 2 * unit(f16) * (np.abs(wide(a)) @ np.abs(wide(b)))
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., wide(a) @ wide(b), error)))


@case(small=True)
def product_i8(draw):
    a, b, c = draw.bits(32, 64, dtype=i8), draw.bits(64, 32, dtype=i8), blank(32, 32, dtype=i32)
    return Case((1,), dict(a=a, b=b, c=c), dict(c=a.astype(i32) @ b.astype(i32)))


@case
def product_f8(draw):
    a, b, c = draw.normal(32, 32, dtype=e4m3), draw.normal(32, 32, dtype=e5m2), blank(32, 32)
    # The right one becomes floats of the left one's kind first.
    left, right = wide(a), wide(wide(b).astype(e4m3))
    return Case((1,), dict(a=a, b=b, c=c), dict(c=near(c, ..., left @ right, product_error(left, right))))


@case
def product_batched(draw):
    a, b, c = draw.normal(4, 16, 16, dtype=f16), draw.normal(4, 16, 32, dtype=f16), blank(4, 16, 32)
    wanted = near(c, ..., wide(a) @ wide(b), product_error(a, b))
    return Case((1,), dict(a=a, b=b, c=c), dict(c=wanted))


def powers(codes, axis):
    """The scales that 32 elements along an axis share."""
    return (2.0 ** (codes.astype(int) - 127)).repeat(32, axis)


def of_four_bits(pairs, axis):
    """The numbers of pairs of four bits along an axis, the low one first."""
    codes = np.stack([pairs & 15, pairs >> 4], axis + 1)
    codes = codes.reshape(*(2 * size if dim == axis else size for dim, size in enumerate(pairs.shape)))
    return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1)


@case
def product_scaled_f8(draw):
    a, b, c = draw.normal(32, 64, dtype=e4m3), draw.normal(64, 32, dtype=e5m2), blank(32, 32)
    s, t = draw.integers(120, 134, 32, 2, dtype=u8), draw.integers(120, 134, 32, 2, dtype=u8)
    left, right = wide(a) * powers(s, 1), wide(b) * powers(t, 1).T
    arguments = dict(a=a.view(u8), b=b.view(u8), s=s, t=t, c=c)
    return Case((1,), arguments, dict(c=near(c, ..., left @ right, product_error(left, right))))


@case
def product_scaled_f4(draw):
    a, b, c = draw.bits(32, 32, dtype=u8), draw.bits(32, 32, dtype=u8), blank(32, 32)
    s = draw.integers(120, 134, 32, 2, dtype=u8)
    left, right = of_four_bits(a, 1) * powers(s, 1), of_four_bits(b, 0) * powers(s, 1).T
    wanted = near(c, ..., left @ right, product_error(left, right))
    return Case((1,), dict(a=a, b=b, s=s, c=c), dict(c=wanted))


@case
def product_scaled_one(draw):
    a, b, c = draw.normal(16, 64, dtype=bf16), draw.bits(32, 32, dtype=u8), blank(16, 32)
    t = draw.integers(120, 134, 32, 2, dtype=u8)
    left, right = wide(a), of_four_bits(b, 0) * powers(t, 1).T
    wanted = near(c, ..., left @ right, product_error(left, right))
    return Case((1,), dict(a=a, b=b, t=t, c=c), dict(c=wanted))
