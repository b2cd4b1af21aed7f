"""Cases of `kernels/shapes.py`."""

import numpy as np

from kernels.functions import sum_error
from kernels.table import blank, Case, case, f16, i16, i32, near, Shuffled, U, wide


@case(small=True)
def join_halves(draw):
    x, y, out = draw.normal(512), draw.normal(512), blank(1024)
    return Case((2,), dict(x=x, y=y, out=out), dict(out=np.stack([x, y * 2], -1).reshape(-1)))


@case
def split_pairs(draw):
    x, low, high = draw.normal(1024), blank(512), blank(512)
    return Case((2,), dict(x=x, low=low, high=high), dict(low=x[::2] + x[1::2], high=x[::2] - x[1::2]))


@case
def complex_product(draw):
    x, y, out = draw.normal(200, 2), draw.normal(200, 2), blank(200, 2)
    (a, b), (c, d) = wide(x).T, wide(y).T
    result = np.stack([a * c - b * d, a * d + b * c], -1)
    magnitude = np.stack([np.abs(a * c) + np.abs(b * d), np.abs(a * d) + np.abs(b * c)], -1)
    return Case((2,), dict(x=x, y=y, out=out, n=200), dict(out=near(out, ..., result, U * magnitude)))


@case
def concatenate(draw):
    x, y, out = draw.normal(128, dtype=f16), draw.normal(128, dtype=f16), blank(256, dtype=f16)
    return Case((1,), dict(x=x, y=y, out=out), dict(out=Shuffled(np.concatenate([x, y]))))


@case
def permute_4d(draw):
    x, out = draw.bits(1024, dtype=i16), blank(1024, dtype=i16)
    wanted = x.reshape(4, 8, 2, 16).transpose(2, 0, 3, 1).reshape(-1)
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case(small=True)
def bitonic_sort(draw):
    x, out = draw.bits(3, 256), blank(3, 256, dtype=i32)
    return Case((3,), dict(x=x, out=out), dict(out=np.sort(x, 1)))


@case
def sort_rows_down(draw):
    x, out = draw.normal(8, 32), blank(8, 32)
    return Case((1,), dict(x=x, out=out), dict(out=-np.sort(-x, 1)))


@case
def largest_few(draw):
    x, out = draw.bits(2, 128), blank(2, 8, dtype=i32)
    return Case((2,), dict(x=x, out=out), dict(out=np.sort(x, 1)[:, :-9:-1].copy()))


@case
def flip_block(draw):
    x, out = draw.normal(2, 128), blank(2, 128)
    return Case((2,), dict(x=x, out=out), dict(out=x[:, ::-1].copy()))


@case
def single_element(draw):
    x, out = draw.normal(32), blank(2)
    total = wide(x).sum()
    wanted = near(out, ..., [total + x[0], total], sum_error(x) + U * np.abs(x[0]))
    return Case((1,), dict(x=x, out=out), dict(out=wanted))
