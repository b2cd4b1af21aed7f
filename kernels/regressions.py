"""Kernels that compilers got wrong, or that only large ones reach.

`attention` has the shape of Triton's issue 4310: two products with a softmax between, in a loop.
`sums_of_running_sums` has that of issue 3017: a sum over one axis of a scan along another.
`recurrence_back` and `recurrence_in_place` have that of issue 4362: a scan from the end, of two
operands, by an operator that does not commute.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "attention": dict(q="*fp16:16", k="*fp16:16", v="*fp16:16", out="*fp16:16", n="i32", ROWS=16, COLUMNS=16, DEPTH=32),
    "welford": dict(x="*fp32:16", out="*fp32:16", COLUMNS=128),
    "reduce_over_all": dict(x="*fp32:16", out="*fp32:16"),
    "reductions_of_each_kind": dict(x="*i32:16", out="*i32:16", BLOCK=128),
    "argmin_of_rows": dict(x="*fp32:16", values="*fp32:16", places="*i32:16", ROWS=8, COLUMNS=64),
    "reduce_middle": dict(x="*fp16:16", out="*fp32:16"),
    "sums_of_running_sums": dict(k="*fp32:16", v="*fp32:16", out="*fp32:16"),
    "recurrence_back": dict(a="*i32:16", b="*i32:16", factors="*i32:16", sums="*i32:16", BLOCK=256),
    "recurrence_in_place": dict(a="*fp32:16", b="*fp32:16", BLOCK=128),
}  # fmt: skip


@triton.jit
def attention(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    """One block of rows of attention, its softmax carried through a loop."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    query = tl.load(q + rows[:, None] * DEPTH + depth[None, :])
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DEPTH], tl.float32)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        keys = tl.load(k + columns[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(query, keys) * 0.17677669
        scores = tl.where(columns[None, :] < n, scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new_largest[:, None])
        scale = tl.exp(largest - new_largest)
        total = total * scale + tl.sum(weights, 1)
        values = tl.load(v + columns[:, None] * DEPTH + depth[None, :])
        sums = sums * scale[:, None] + tl.dot(weights.to(tl.float16), values)
        largest = new_largest
    tl.store(out + rows[:, None] * DEPTH + depth[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def combine(mean_a, square_a, weight_a, mean_b, square_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = weight_b / weight
    return mean_a + delta * share, square_a + square_b + delta * delta * weight_a * share, weight


@triton.jit
def welford(x, out, COLUMNS: tl.constexpr):
    """Mean and variance by one reduction of three values."""
    row = tl.load(x + tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS))
    mean, square, weight = tl.reduce((row, tl.zeros_like(row), tl.full([COLUMNS], 1.0, tl.float32)), 0, combine)
    tl.store(out + tl.program_id(0) * 2, mean)
    tl.store(out + tl.program_id(0) * 2 + 1, square / weight)


@triton.jit
def reduce_over_all(x, out):
    """A sum over all axes of a tensor of three."""
    places = tl.arange(0, 8)[:, None, None] * 128 + tl.arange(0, 16)[None, :, None] * 8 + tl.arange(0, 8)[None, None, :]
    block = tl.load(x + places)
    tl.store(out, tl.sum(block))
    tl.store(out + 1, tl.max(tl.max(tl.max(block, 2), 1), 0))


@triton.jit
def reductions_of_each_kind(x, out, BLOCK: tl.constexpr):
    """Every reduction that Triton has a name for, on integers."""
    values = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    start = out + tl.program_id(0) * 6
    tl.store(start, tl.sum(values))
    tl.store(start + 1, tl.max(values, 0))
    tl.store(start + 2, tl.min(values, 0))
    tl.store(start + 3, tl.xor_sum(values, 0))
    tl.store(start + 4, tl.reduce_or(values, 0))
    tl.store(start + 5, tl.argmax(values, 0))


@triton.jit
def argmin_of_rows(x, values, places, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The least of each row and where it is, ties to the left."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    block = tl.floor(tl.load(x + at) * 4)
    least, place = tl.min(block, 1, return_indices=True)
    tl.store(values + tl.arange(0, ROWS), least)
    tl.store(places + tl.arange(0, ROWS), place)


@triton.jit
def reduce_middle(x, out):
    """A sum along the middle of three axes."""
    places = tl.arange(0, 4)[:, None, None] * 512 + tl.arange(0, 32)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :]
    sums = tl.sum(tl.load(x + places).to(tl.float32), 1)
    tl.store(out + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], sums)


@triton.jit
def sums_of_running_sums(k, v, out):
    """Linear attention: outer products, summed up to each row, then over the columns of the first."""
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    keys, values = tl.load(k + at), tl.load(v + at)
    products = keys[:, :, None] * values[:, None, :]
    tl.store(out + at, tl.sum(tl.cumsum(products, 0), 1))


@triton.jit
def recurrence(factor_a, sum_a, factor_b, sum_b):
    return factor_a * factor_b, sum_a * factor_b + sum_b


@triton.jit
def recurrence_back(a, b, factors, sums, BLOCK: tl.constexpr):
    """y[i] = a[i] y[i+1] + b[i], on integers, so that every bit counts."""
    at = tl.arange(0, BLOCK)
    factor, value = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, recurrence, reverse=True)
    tl.store(factors + at, factor)
    tl.store(sums + at, value)


@triton.jit
def recurrence_in_place(a, b, BLOCK: tl.constexpr):
    """The same, both ways, written over its operands."""
    at = tl.arange(0, BLOCK)
    factor, value = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, recurrence, reverse=True)
    factor, value = tl.associative_scan((factor, value), 0, recurrence)
    tl.store(a + at, factor)
    tl.store(b + at, value)
