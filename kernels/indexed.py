"""Scans, gathers and histograms."""

import triton
import triton.language as tl

SIGNATURES = {
    "running_sum": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=1024),
    "running_integers": dict(x="*i32:16", out="*i32:16", ROWS=8, COLUMNS=64),
    "scan_columns": dict(x="*i16:16", out="*i16:16", ROWS=64, COLUMNS=16),
    "scan_middle_back": dict(x="*i32:16", out="*i32:16"),
    "running_extremes": dict(x="*fp32:16", most="*fp32:16", place="*i32:16", ROWS=16, COLUMNS=32),
    "linear_recurrence": dict(a="*fp32:16", b="*fp32:16", out="*fp32:16", BLOCK=256),
    "running_welford": dict(x="*fp32:16", means="*fp32:16", squares="*fp32:16", COLUMNS=128),
    "scan_half": dict(x="*fp16:16", truth="*i8:16", out="*fp16:16", seen="*i8:16", BLOCK=256),
    "scan_repeated": dict(x="*i32:16", out="*i32:16", ROWS=16, COLUMNS=16),
    "scan_in_loop": dict(x="*i64:16", out="*i64:16", n="i32", BLOCK=128),
    "compact": dict(x="*i32:16", out="*i32:16", count="*i32:16", BLOCK=512),
    "gather_rows": dict(x="*fp32:16", indices="*i32:16", out="*fp32:16", ROWS=16, COLUMNS=32),
    "gather_columns": dict(x="*fp16:16", indices="*i64:16", out="*fp16:16", ROWS=64, COLUMNS=32),
    "gather_few": dict(x="*i8:16", indices="*i16:16", out="*i8:16", ROWS=8, COLUMNS=128, FEW=16),
    "permute_block": dict(x="*fp64:16", indices="*i32:16", out="*fp64:16", BLOCK=512),
    "table_lookup": dict(table="*fp32:16", codes="*i8:16", out="*fp32:16", CODES=16, BLOCK=1024),
    "count_numbers": dict(x="*i32:16", counts="*i32:16", BLOCK=2048, BINS=256),
    "count_masked": dict(x="*i32:16", counts="*i32:16", n="i32", BLOCK=512, BINS=16),
    "count_bytes": dict(x="*u8:16", counts="*i32:16", BLOCK=1024),
    "count_odd": dict(x="*i64:16", counts="*i32:16", BLOCK=256),
}  # fmt: skip


@triton.jit
def running_sum(x, out, n, BLOCK: tl.constexpr):
    """A cumulative sum with a masked tail."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, tl.cumsum(block, 0), mask=at < n)


@triton.jit
def running_integers(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sums and products of rows, forward and back; integers, so that every bit counts."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    block = tl.load(x + at)
    tl.store(out + at, tl.cumsum(block, 1))
    tl.store(out + ROWS * COLUMNS + at, tl.cumprod(block | 1, 1))
    tl.store(out + 2 * ROWS * COLUMNS + at, tl.cumsum(block, 1, reverse=True))


@triton.jit
def scan_columns(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Along the first axis, whose elements are far apart in memory."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 0, larger))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def scan_middle_back(x, out):
    """The middle of three axes, from its end."""
    at = tl.arange(0, 4)[:, None, None] * 256 + tl.arange(0, 32)[None, :, None] * 8 + tl.arange(0, 8)[None, None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), 1, reverse=True))


@triton.jit
def first_most(a, place_a, b, place_b):
    """The larger one; of equals the one further left."""
    left = (a > b) | ((a == b) & (place_a < place_b))
    return tl.where(left, a, b), tl.where(left, place_a, place_b)


@triton.jit
def running_extremes(x, most, place, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The largest so far and where it was: two operands, with ties."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    block = tl.floor(tl.load(x + at) * 4)
    columns = tl.broadcast_to(tl.arange(0, COLUMNS)[None, :], [ROWS, COLUMNS])
    values, places = tl.associative_scan((block, columns), 1, first_most)
    tl.store(most + at, values)
    tl.store(place + at, places)


@triton.jit
def then(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def linear_recurrence(a, b, out, BLOCK: tl.constexpr):
    """y[i] = a[i] y[i-1] + b[i]: an operator that does not commute."""
    at = tl.arange(0, BLOCK)
    factors, sums = tl.associative_scan((tl.load(a + at) * 0.5, tl.load(b + at)), 0, then)
    tl.store(out + at, sums)
    tl.store(out + BLOCK + at, factors)


@triton.jit
def merge(mean_a, square_a, weight_a, mean_b, square_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = weight_b / weight
    return mean_a + delta * share, square_a + square_b + delta * delta * weight_a * share, weight


@triton.jit
def running_welford(x, means, squares, COLUMNS: tl.constexpr):
    """Mean and variance so far, by one scan of three values."""
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.load(x + at)
    zeros, ones = tl.zeros_like(row), tl.full([COLUMNS], 1.0, tl.float32)
    mean, square, weight = tl.associative_scan((row, zeros, ones), 0, merge)
    tl.store(means + at, mean)
    tl.store(squares + at, square / weight)


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def scan_half(x, truth, out, seen, BLOCK: tl.constexpr):
    """Half floats, and truth values from the end."""
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 0, larger))
    truths = tl.load(truth + at) > 120
    tl.store(seen + at, tl.associative_scan(truths, 0, either, reverse=True).to(tl.int8))


@triton.jit
def scan_repeated(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows that are all the same: copies are not counted twice."""
    row = tl.load(x + tl.arange(0, COLUMNS))
    block = tl.broadcast_to(row[None, :], [ROWS, COLUMNS])
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tl.cumsum(tl.cumsum(block, 0), 1))


@triton.jit
def scan_in_loop(x, out, n, BLOCK: tl.constexpr):
    """Sums over many blocks, each carried on from the one before."""
    carried = tl.zeros([BLOCK], tl.int64)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < n, other=0)
        tl.store(out + at, tl.cumsum(block, 0) + carried, mask=at < n)
        carried += tl.sum(block, 0)


@triton.jit
def compact(x, out, count, BLOCK: tl.constexpr):
    """The positive numbers side by side: a scan gives each its place."""
    block = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    keep = block > 0
    places = tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(out + tl.program_id(0) * BLOCK + places, block, mask=keep)
    tl.store(count + tl.program_id(0), tl.sum(keep.to(tl.int32), 0))


@triton.jit
def gather_rows(x, indices, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Within rows: one warp holds each."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(indices + at) & (COLUMNS - 1), 1))


@triton.jit
def gather_columns(x, indices, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Within columns: across warps, by wide indices."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(indices + at) & (ROWS - 1), 0))


@triton.jit
def gather_few(x, indices, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FEW: tl.constexpr):
    """Fewer indices than elements, both narrow."""
    rows = tl.arange(0, ROWS)[:, None]
    block = tl.load(x + rows * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    at = rows * FEW + tl.arange(0, FEW)[None, :]
    tl.store(out + at, tl.gather(block, tl.load(indices + at) & (COLUMNS - 1), 1))


@triton.jit
def permute_block(x, indices, out, BLOCK: tl.constexpr):
    """One axis over all warps, 64-bit elements; and back to front."""
    at = tl.arange(0, BLOCK)
    block = tl.load(x + at)
    tl.store(out + at, tl.gather(block, tl.load(indices + at) & (BLOCK - 1), 0))
    tl.store(out + BLOCK + at, tl.gather(block, BLOCK - 1 - at, 0))


@triton.jit
def table_lookup(table, codes, out, CODES: tl.constexpr, BLOCK: tl.constexpr):
    """A small table by the low bits of many bytes."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(table + tl.arange(0, CODES))
    tl.store(out + at, tl.gather(values, (tl.load(codes + at) & (CODES - 1)).to(tl.int32), 0))


@triton.jit
def count_numbers(x, counts, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """How often each number occurs; blocks add theirs up."""
    block = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) & (BINS - 1)
    tl.atomic_add(counts + tl.arange(0, BINS), tl.histogram(block, BINS))


@triton.jit
def count_masked(x, counts, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Fewer bins than numbers, and a mask."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0) & (BINS - 1)
    tl.store(counts + tl.program_id(0) * BINS + tl.arange(0, BINS), tl.histogram(block, BINS, mask=at < n))


@triton.jit
def count_bytes(x, counts, BLOCK: tl.constexpr):
    """All bytes."""
    block = tl.load(x + tl.arange(0, BLOCK)).to(tl.int32)
    tl.store(counts + tl.arange(0, 256), tl.histogram(block, 256))


@triton.jit
def count_odd(x, counts, BLOCK: tl.constexpr):
    """Two bins, where most lanes meet; numbers beyond them are not counted."""
    block = (tl.load(x + tl.arange(0, BLOCK)) & 3).to(tl.int32) - 1
    tl.store(counts + tl.arange(0, 2), tl.histogram(block, 2))
