"""Cases of `kernels/indexed.py`."""

import numpy as np

from kernels.functions import QUOTIENT, rounds
from kernels.table import blank, Case, case, f16, f64, i8, i16, i32, i64, near, U, u8, wide, zeros


@case(small=True)
def running_sum(draw):
    x, out = draw.normal(1500), blank(1500)
    blocks = [wide(x[:1024]), wide(x[1024:])]
    error = np.concatenate([rounds(1024) * U * np.abs(block).cumsum() for block in blocks])
    wanted = near(out, ..., np.concatenate([block.cumsum() for block in blocks]), error)
    return Case((2,), dict(x=x, out=out, n=1500), dict(out=wanted))


@case(small=True)
def running_integers(draw):
    x, out = draw.bits(8, 64), blank(3, 8, 64, dtype=i32)
    rows = x.astype(i64)
    # The order of additions is not that of memory, and 32 bits are kept of each.
    with np.errstate(over="ignore"):
        back = rows[:, ::-1].cumsum(1)[:, ::-1]
        wanted = np.stack([rows.cumsum(1), (rows | 1).cumprod(1), back]).astype(i32)
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case
def scan_columns(draw):
    x, out = draw.bits(64, 16, dtype=i16), blank(64, 16, dtype=i16)
    return Case((1,), dict(x=x, out=out), dict(out=np.maximum.accumulate(x, 0)))


@case
def scan_middle_back(draw):
    x, out = draw.bits(4, 32, 8), blank(4, 32, 8, dtype=i32)
    wanted = x[:, ::-1].astype(i64).cumsum(1)[:, ::-1].astype(i32)
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case
def running_extremes(draw):
    x, most, place = draw.normal(16, 32), blank(16, 32), blank(16, 32, dtype=i32)
    block = np.floor(x * 4)
    largest = np.maximum.accumulate(block, 1)
    # Of equal ones the first.
    first = (block[:, None, :] == largest[:, :, None]).argmax(2)
    expected = dict(most=largest, place=first.astype(i32))
    return Case((1,), dict(x=x, most=most, place=place), expected)


@case
def linear_recurrence(draw):
    a, b, out = draw.normal(256), draw.normal(256), blank(2, 256)
    factors, sums, magnitude = wide(a) * 0.5, np.zeros(256), np.zeros(256)
    carried = large = 0.0
    for place in range(256):
        carried = factors[place] * carried + b[place]
        large = abs(factors[place]) * large + abs(b[place])
        sums[place], magnitude[place] = carried, large
    products = factors.cumprod()
    # Each merge rounds a product and a sum.
    steps = rounds(256)
    expected = np.stack([sums, products])
    error = np.stack([2 * steps * U * magnitude, steps * U * np.abs(products)])
    return Case((1,), dict(a=a, b=b, out=out), dict(out=near(out, ..., expected, error)))


@case
def running_welford(draw):
    x, means, squares = draw.normal(3, 128), blank(3, 128), blank(3, 128)
    count = np.arange(1, 129)
    mean = wide(x).cumsum(1) / count
    variance = (wide(x) ** 2).cumsum(1) / count - mean**2
    # Seven merges, each with a quotient and a few roundings of numbers as large as the largest.
    largest = np.abs(wide(x)).max()
    error = 7 * (QUOTIENT + 4 * U) * largest
    expected = dict(means=near(means, ..., mean, error), squares=near(squares, ..., variance, 2 * error * largest))
    return Case((3,), dict(x=x, means=means, squares=squares), expected)


@case
def scan_half(draw):
    x, truth = draw.normal(256, dtype=f16), draw.integers(0, 121, 256, dtype=i8)
    truth[100] = truth[30] = 121
    out, seen = blank(256, dtype=f16), blank(256, dtype=i8)
    wanted = (np.arange(256) <= 100).astype(i8)
    return Case((1,), dict(x=x, truth=truth, out=out, seen=seen), dict(out=np.maximum.accumulate(x), seen=wanted))


@case
def scan_repeated(draw):
    x, out = draw.integers(-1000, 1000, 16), blank(16, 16, dtype=i32)
    return Case((1,), dict(x=x, out=out), dict(out=np.outer(np.arange(1, 17), x.cumsum()).astype(i32)))


@case
def scan_in_loop(draw):
    x, out = draw.integers(-(1 << 40), 1 << 40, 500, dtype=i64), blank(500, dtype=i64)
    return Case((1,), dict(x=x, out=out, n=500), dict(out=x.cumsum()))


@case
def compact(draw):
    x, out, count = draw.bits(2, 512), blank(2, 512, dtype=i32), blank(2, dtype=i32)
    wanted = out.copy()
    for block in range(2):
        positive = x[block][x[block] > 0]
        wanted[block, : len(positive)] = positive
    return Case((2,), dict(x=x, out=out, count=count), dict(out=wanted, count=(x > 0).sum(1).astype(i32)))


@case(small=True)
def gather_rows(draw):
    x, indices, out = draw.normal(16, 32), draw.bits(16, 32), blank(16, 32)
    return Case((1,), dict(x=x, indices=indices, out=out), dict(out=np.take_along_axis(x, indices & 31, 1)))


@case
def gather_columns(draw):
    x, indices, out = draw.normal(64, 32, dtype=f16), draw.bits(64, 32, dtype=i64), blank(64, 32, dtype=f16)
    return Case((1,), dict(x=x, indices=indices, out=out), dict(out=np.take_along_axis(x, indices & 63, 0)))


@case
def gather_few(draw):
    x, indices, out = draw.bits(8, 128, dtype=i8), draw.bits(8, 16, dtype=i16), blank(8, 16, dtype=i8)
    wanted = np.take_along_axis(x, (indices & 127).astype(int), 1)
    return Case((1,), dict(x=x, indices=indices, out=out), dict(out=wanted))


@case
def permute_block(draw):
    x, indices, out = draw.normal(512, dtype=f64), draw.bits(512), blank(2, 512, dtype=f64)
    return Case((1,), dict(x=x, indices=indices, out=out), dict(out=np.stack([x[indices & 511], x[::-1]])))


@case
def table_lookup(draw):
    table, codes, out = draw.normal(16), draw.bits(2048, dtype=i8), blank(2048)
    return Case((2,), dict(table=table, codes=codes, out=out), dict(out=table[codes & 15]))


@case
def count_numbers(draw):
    x, counts = draw.bits(4096), zeros(256, dtype=i32)
    wanted = np.bincount(x & 255, minlength=256).astype(i32)
    return Case((2,), dict(x=x, counts=counts), dict(counts=wanted))


@case(small=True)
def count_masked(draw):
    x, counts = draw.bits(1400), blank(3, 16, dtype=i32)
    blocks = [np.bincount(x[start : start + 512] & 15, minlength=16) for start in (0, 512, 1024)]
    return Case((3,), dict(x=x, counts=counts, n=1400), dict(counts=np.stack(blocks).astype(i32)))


@case
def count_bytes(draw):
    x, counts = draw.bits(1024, dtype=u8), blank(256, dtype=i32)
    return Case((1,), dict(x=x, counts=counts), dict(counts=np.bincount(x, minlength=256).astype(i32)))


@case
def count_odd(draw):
    x, counts = draw.bits(256, dtype=i64), blank(2, dtype=i32)
    low = x & 3
    return Case((1,), dict(x=x, counts=counts), dict(counts=np.array([(low == 1).sum(), (low == 2).sum()], i32)))
