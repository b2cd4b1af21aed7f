"""Kernels of control: loops, conditions, calls, regions with conditions."""

import triton
import triton.language as tl

SIGNATURES = {
    "collatz": dict(x="*i32:16", out="*i32:16"),
    "nested_loops": dict(x="*i32:16", out="*i32:16", n="i32", BLOCK=64),
    "early_exit": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=128),
    "called_twice": dict(x="*i32:16", out="*i32:16", n="i32", BLOCK=64),
    "mapped": dict(x="*fp32:16", y="*fp32:16", low="*fp32:16", high="*fp32:16", BLOCK=256),
    "mapped_pairs": dict(x="*i32:16", out="*i32:16", BLOCK=128),
    "mapped_returns": dict(x="*i32:16", y="*i32:16", out="*i32:16", BLOCK=128),
    "reduce_by_branches": dict(x="*i32:16", out="*i32:16", BLOCK=128),
    "choose_pointer": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", n="i32", BLOCK=64),
}  # fmt: skip


@triton.jit
def collatz(x, out):
    """How many steps a number takes to one: a loop with several values and no known end."""
    number = tl.load(x + tl.program_id(0)) + 1
    steps = 0
    largest = number
    while number != 1:
        if number % 2 == 0:
            number = number // 2
        else:
            number = 3 * number + 1
        largest = tl.maximum(largest, number)
        steps += 1
    tl.store(out + 2 * tl.program_id(0), steps)
    tl.store(out + 2 * tl.program_id(0) + 1, largest)


@triton.jit
def nested_loops(x, out, n, BLOCK: tl.constexpr):
    """Loops in loops, with tensors carried and a condition inside."""
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.int32)
    for i in range(n):
        row = tl.load(x + i * BLOCK + offsets)
        for j in range(0, i + 1, 2):
            total += row * j
        if i % 3 == 1:
            total = total ^ row
    tl.store(out + offsets, total)


@triton.jit
def early_exit(x, out, n, BLOCK: tl.constexpr):
    """Two ways out."""
    start = tl.program_id(0) * BLOCK
    if start >= n:
        return
    offsets = start + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    if tl.program_id(0) == 1:
        tl.store(out + offsets, -values, mask=offsets < n)
        return
    tl.store(out + offsets, values + 1, mask=offsets < n)


@triton.jit(noinline=True)
def weight(row, n):
    if row * 2 < n:
        return row + 1
    return n - row


@triton.jit
def called_twice(x, out, n, BLOCK: tl.constexpr):
    """A function that is called, and not inlined by Triton."""
    row = tl.program_id(0)
    offsets = row * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) * weight(row, n) + weight(row + 1, n))


@triton.jit
def order(a, b):
    if a < b:
        low, high = a, b
    else:
        low, high = b, a
    return low, high


@triton.jit
def mapped(x, y, low, high, BLOCK: tl.constexpr):
    """A function of scalars, with a condition, on tensors."""
    offsets = tl.arange(0, BLOCK)
    small, large = tl.map_elementwise(order, tl.load(x + offsets), tl.load(y + offsets))
    tl.store(low + offsets, small)
    tl.store(high + offsets, large)


@triton.jit
def three_ways(a, b):
    if a < b:
        return b - a
    elif a == b:
        return 1000
    else:
        if a > 2 * b:
            return -a
    return -b


@triton.jit
def mapped_returns(x, y, out, BLOCK: tl.constexpr):
    """A function that returns early, on tensors."""
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.map_elementwise(three_ways, tl.load(x + offsets), tl.load(y + offsets)))


@triton.jit
def turn(a0, a1, b0, b1):
    return a0 * 10 + b0, a1 * 10 - b1


@triton.jit
def mapped_pairs(x, out, BLOCK: tl.constexpr):
    """A function of two elements at a time."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.store(out + offsets, tl.map_elementwise(turn, values, values + 7, pack=2)[0])


@triton.jit
def farther(a, b):
    if tl.abs(a - 500) > tl.abs(b - 500):
        return a
    elif tl.abs(a - 500) == tl.abs(b - 500):
        return tl.maximum(a, b)
    else:
        return b


@triton.jit
def reduce_by_branches(x, out, BLOCK: tl.constexpr):
    """A reduction whose function has conditions."""
    values = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0), tl.reduce(values, 0, farther))


@triton.jit
def choose_pointer(x, y, out, n, BLOCK: tl.constexpr):
    """Pointers that a condition chooses, and pointers carried through a loop."""
    offsets = tl.arange(0, BLOCK)
    if n % 2 == 0:
        source = x + offsets
    else:
        source = y + offsets
    total = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        total += tl.load(source)
        source += BLOCK
    tl.store(out + offsets, total)
