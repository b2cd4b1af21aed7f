"""Cases of `kernels/control.py`."""

import numpy as np

from kernels.table import blank, Case, case, f32, i32, put


@case(small=True)
def collatz(draw):
    x, out = np.array([0, 1, 6, 26, 9, 96], i32), blank(6, 2, dtype=i32)

    def run(number):
        steps, largest = 0, number
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps, largest = steps + 1, max(largest, number)
        return steps, largest

    return Case((6,), dict(x=x, out=out), dict(out=np.array([run(int(each) + 1) for each in x], i32)))


@case(small=True)
def nested_loops(draw):
    x, out = draw.integers(-999, 999, 7, 64), blank(64, dtype=i32)
    total = np.zeros(64, i32)
    for row in range(7):
        total += x[row] * sum(range(0, row + 1, 2))
        if row % 3 == 1:
            total ^= x[row]
    return Case((1,), dict(x=x, out=out, n=7), dict(out=total))


@case
def early_exit(draw):
    x, out = draw.normal(300), blank(300)
    wanted = x + f32.type(1)
    wanted[128:256] = -x[128:256]
    return Case((4,), dict(x=x, out=out, n=300), dict(out=wanted))


@case
def called_twice(draw):
    x, out, n = draw.integers(-999, 999, 4, 64), blank(4, 64, dtype=i32), 5
    weight = [row + 1 if row * 2 < n else n - row for row in range(5)]
    wanted = np.stack([x[row] * weight[row] + weight[row + 1] for row in range(4)]).astype(i32)
    return Case((4,), dict(x=x, out=out, n=n), dict(out=wanted))


@case
def mapped(draw):
    x, y, low, high = draw.normal(256), draw.normal(256), blank(256), blank(256)
    return Case((1,), dict(x=x, y=y, low=low, high=high), dict(low=np.minimum(x, y), high=np.maximum(x, y)))


@case
def mapped_pairs(draw):
    x, out = draw.integers(-999, 999, 128), blank(128, dtype=i32)
    wanted = put(x * 10 + (x + 7), np.s_[1::2], (x * 10 - (x + 7))[1::2])
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case
def mapped_returns(draw):
    x, y, out = draw.integers(-9, 9, 128), draw.integers(-9, 9, 128), blank(128, dtype=i32)
    ways = [x < y, x == y, x > 2 * y]
    return Case((1,), dict(x=x, y=y, out=out), dict(out=np.select(ways, [y - x, 1000, -x], -y).astype(i32)))


@case
def reduce_by_branches(draw):
    x, out = draw.integers(100, 900, 2, 128), blank(2, dtype=i32)
    # As far to both sides: the larger one.
    x[1, 17], x[1, 90] = 20, 980
    farthest = [max(row, key=lambda each: (abs(each - 500), each)) for row in x.tolist()]
    return Case((2,), dict(x=x, out=out), dict(out=np.array(farthest, i32)))


@case
def choose_pointer(draw):
    x, y, out = draw.normal(5, 64), draw.normal(5, 64), blank(64)
    wanted = np.zeros(64, f32)
    for row in y:
        wanted += row
    return Case((1,), dict(x=x, y=y, out=out, n=5), dict(out=wanted))
