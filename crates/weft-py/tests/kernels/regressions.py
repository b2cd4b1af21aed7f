"""Cases of `kernels/regressions.py`."""

import numpy as np

from kernels.flash import attend
from kernels.functions import LOG2_E, QUOTIENT, rounds, sum_error
from kernels.table import blank, Case, case, f16, i32, near, U, wide


@case(small=True)
def attention(draw):
    q, k, v = draw.normal(32, 32, dtype=f16), draw.normal(64, 32, dtype=f16), draw.normal(64, 32, dtype=f16)
    out = blank(32, 32, dtype=f16)
    result, error, _, _ = attend(wide(q), wide(k), wide(v), True, 0.17677669 * LOG2_E, f16)
    return Case((2,), dict(q=q, k=k, v=v, out=out, n=64), dict(out=near(out, ..., result, error)))


@case
def welford(draw):
    x, out = draw.normal(3, 128), blank(3, 2)
    # Seven merges, each with a quotient and a few roundings of numbers as large as the largest.
    largest = np.abs(wide(x)).max()
    error = 7 * (QUOTIENT + 4 * U) * largest
    wanted = near(out, ..., np.stack([wide(x).mean(1), wide(x).var(1)], 1), error * np.array([1, 2 * largest]))
    return Case((3,), dict(x=x, out=out), dict(out=wanted))


@case(small=True)
def reduce_over_all(draw):
    x, out = draw.normal(8, 16, 8), blank(2)
    wanted = near(out, ..., [wide(x).sum(), x.max()], [sum_error(x), 0.0])
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case
def reductions_of_each_kind(draw):
    x, out = draw.bits(2, 128), blank(2, 6, dtype=i32)
    # Of equal ones the first.
    x[1, 40] = x[1, 80] = 2**31 - 1
    columns = [
        x.astype(np.int64).sum(1).astype(i32), x.max(1), x.min(1), np.bitwise_xor.reduce(x, 1),
        np.bitwise_or.reduce(x, 1), x.argmax(1),
    ]  # fmt: skip
    return Case((2,), dict(x=x, out=out), dict(out=np.stack(columns, 1).astype(i32)))


@case
def argmin_of_rows(draw):
    x, values, places = draw.normal(8, 64), blank(8), blank(8, dtype=i32)
    block = np.floor(x * 4)
    expected = dict(values=block.min(1), places=block.argmin(1).astype(i32))
    return Case((1,), dict(x=x, values=values, places=places), expected)


@case
def reduce_middle(draw):
    x, out = draw.normal(4, 32, 16, dtype=f16), blank(4, 16)
    return Case((1,), dict(x=x, out=out), dict(out=near(out, ..., wide(x).sum(1), sum_error(x, 1))))


@case
def sums_of_running_sums(draw):
    k, v, out = draw.normal(16, 16), draw.normal(16, 16), blank(16, 16)
    products = wide(k)[:, :, None] * wide(v)[:, None, :]
    magnitude = np.abs(products).cumsum(0).sum(1)
    wanted = near(out, ..., products.cumsum(0).sum(1), (16 + 16 + 1) * U * magnitude)
    return Case((1,), dict(k=k, v=v, out=out), dict(out=wanted))


def recur(factors, parts):
    """y[i] = a[i] y[i-1] + b[i], and the products of all factors so far."""
    products, sums = [], []
    product, total = 1, 0
    for factor, part in zip(factors, parts, strict=True):
        product, total = product * factor, total * factor + part
        products.append(product)
        sums.append(total)
    return products, sums


@case
def recurrence_back(draw):
    # Odd factors, whose products do not become zero.
    a, b, factors, sums = draw.bits(256) | 1, draw.bits(256), blank(256, dtype=i32), blank(256, dtype=i32)
    kept = lambda numbers: np.array([number % 2**32 for number in numbers[::-1]], np.uint32).view(i32)
    products, totals = recur(a[::-1].tolist(), b[::-1].tolist())
    arguments = dict(a=a, b=b, factors=factors, sums=sums)
    return Case((1,), arguments, dict(factors=kept(products), sums=kept(totals)))


@case
def recurrence_in_place(draw):
    a, b = draw.uniform(0.9, 1.1, 128), draw.normal(128)
    factors, sums = (np.array(each[::-1]) for each in recur(wide(a)[::-1], wide(b)[::-1]))
    products, totals = (np.array(each) for each in recur(factors, sums))
    sizes = np.array(recur(np.abs(wide(a))[::-1], np.abs(wide(b))[::-1])[1][::-1])
    # A product of all that came before, each of which is a product as well.
    steps = rounds(128) * (np.arange(128) + 2)
    error = steps * U * np.array(recur(factors, sizes)[1])
    expected = dict(a=near(a, ..., products, steps * U * products), b=near(b, ..., totals, error))
    return Case((1,), dict(a=a, b=b), expected)
