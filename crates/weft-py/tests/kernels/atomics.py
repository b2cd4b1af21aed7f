"""Cases of `kernels/atomics.py`. What programs add in any order is allowed a rounding a term."""

import numpy as np

from kernels.functions import QUOTIENT, sum_error
from kernels.table import bf16, blank, Case, case, f16, f32, i32, near, put, U, wide, zeros


@case(small=True)
def extremes_of_all(draw):
    x, least, most = draw.normal(4000), np.array([np.inf], f32), np.array([-np.inf], f32)
    return Case(
        (3,), dict(x=x, least=least, most=most, n=4000), dict(least=x.min(keepdims=True), most=x.max(keepdims=True))
    )


@case
def sums_of_columns(draw):
    x, out = draw.normal(50, 112, dtype=bf16), zeros(100)
    terms = wide(x[:, :100])
    wanted = near(out, ..., terms.sum(0), sum_error(terms, 0) + 2 * U * np.abs(terms).sum(0))
    return Case((2, 2), dict(x=x, out=out, rows=50, columns=100, stride=112), dict(out=wanted))


@case
def sums_of_segments(draw):
    x, segments, sums, counts = draw.normal(500), draw.integers(0, 20, 500), zeros(20), zeros(20, dtype=i32)
    count = np.bincount(segments, minlength=20)
    total = np.bincount(segments, wide(x), 20)
    error = count * U * np.bincount(segments, np.abs(wide(x)), 20)
    arguments = dict(x=x, segments=segments, sums=sums, counts=counts, n=500)
    return Case((2,), arguments, dict(sums=near(sums, ..., total, error), counts=count.astype(i32)))


@case
def sums_by_last(draw):
    x, parts, arrived, out = draw.normal(1400), blank(3), zeros(1, dtype=i32), blank(1)
    blocks = [wide(x[start : start + 512]) for start in (0, 512, 1024)]
    sums, errors = np.array([block.sum() for block in blocks]), np.array([sum_error(block) for block in blocks])
    expected = dict(
        parts=near(parts, ..., sums, errors),
        arrived=np.array([3], i32),
        out=near(out, ..., sums.sum(), errors.sum() + 3 * U * np.abs(sums).sum()),
    )
    return Case((3,), dict(x=x, parts=parts, arrived=arrived, out=out, n=1400), expected)


@case(small=True)
def scan_look_back(draw):
    x, out, sums, flags = draw.integers(-9, 9, 2000), blank(2000, dtype=i32), blank(4, dtype=i32), zeros(4, dtype=i32)
    running = x.cumsum().astype(i32)
    ends = running[[511, 1023, 1535, 1999]]
    expected = dict(out=running, sums=ends, flags=np.ones(4, i32))
    return Case((4,), dict(x=x, out=out, sums=sums, flags=flags, n=2000), expected)


@case
def take_tiles(draw):
    x, out, taken = draw.normal(2000), blank(2000), zeros(1, dtype=i32)
    squares = wide(x) ** 2
    # Every program asks once more than it is given.
    expected = dict(out=near(out, ..., squares + 1, U * squares), next=np.array([8 + 3], i32))
    return Case((3,), dict(x=x, out=out, next=taken, tiles=8, n=2000), expected)


@case
def count_in_memory(draw):
    x, counts = draw.bits(1000), zeros(64, dtype=i32)
    return Case((2,), dict(x=x, counts=counts, n=1000), dict(counts=np.bincount(x & 63, minlength=64).astype(i32)))


@case
def scatter_largest(draw):
    x, places, out = draw.integers(-100, 100, 500), draw.integers(0, 20, 500), np.full(20, 95, i32)
    wanted = out.copy()
    np.maximum.at(wanted, places, x)
    return Case((2,), dict(x=x, places=places, out=out, n=500), dict(out=wanted))


@case
def append_matches(draw):
    x, out, length = draw.integers(-100, 100, 700), blank(700, dtype=i32), zeros(2, dtype=i32)
    matches = x[x >= 20]
    expected = dict(out=put(out, np.s_[: len(matches)], matches), length=np.array([len(matches), 3], i32))
    return Case((3,), dict(x=x, out=out, length=length, n=700, least=20), expected)


@case
def merge_variances(draw):
    x, means, squares, counts = draw.normal(1400), blank(3), blank(3), blank(3)
    arrived, out = zeros(1, dtype=i32), blank(2)
    blocks = [wide(x[start : start + 512]) for start in (0, 512, 1024)]
    lengths = np.array([len(block) for block in blocks], f32)
    # Nine merges within a program and four over all, each with a quotient and a few roundings.
    largest = np.abs(wide(x)).max()
    error = 13 * (QUOTIENT + 4 * U) * largest
    mean, square = [block.mean() for block in blocks], [block.var() * len(block) for block in blocks]
    expected = dict(
        means=near(means, ..., mean, error),
        squares=near(squares, ..., square, 2 * error * largest * wide(lengths)),
        counts=lengths,
        arrived=np.array([3], i32),
        out=near(out, ..., [wide(x).mean(), wide(x).var()], [error, 2 * error * largest]),
    )
    arguments = dict(x=x, means=means, squares=squares, counts=counts, arrived=arrived, out=out, n=1400)
    return Case((3,), arguments, expected)


@case
def dot_of_vectors(draw):
    x, y, out = draw.normal(5000, dtype=f16), draw.normal(5000, dtype=f16), zeros(1)
    products = wide(x) * wide(y)
    # Three blocks a lane, a tree over the lanes, and two programs.
    wanted = near(out, ..., products.sum(), (3 + 10 + 2) * U * np.abs(products).sum())
    return Case((2,), dict(x=x, y=y, out=out, n=5000), dict(out=wanted))
