"""Reductions and orders across programs: by atomic operations, flags and counters."""

import triton
import triton.language as tl

SIGNATURES = {
    "extremes_of_all": dict(x="*fp32:16", least="*fp32:16", most="*fp32:16", n="i32", BLOCK=512),
    "sums_of_columns": dict(x="*bf16:16", out="*fp32:16", rows="i32", columns="i32", stride="i32:16", ROWS=32, COLUMNS=64),
    "sums_of_segments": dict(x="*fp32:16", segments="*i32:16", sums="*fp32:16", counts="*i32:16", n="i32", BLOCK=256),
    "sums_by_last": dict(x="*fp32:16", parts="*fp32:16", arrived="*i32:16", out="*fp32:16", n="i32", MOST=16, BLOCK=512),
    "scan_look_back": dict(x="*i32:16", out="*i32:16", sums="*i32:16", flags="*i32:16", n="i32", BLOCK=512),
    "take_tiles": dict(x="*fp32:16", out="*fp32:16", next="*i32:16", tiles="i32", n="i32", BLOCK=256),
    "count_in_memory": dict(x="*i32:16", counts="*i32:16", n="i32", BINS=64, BLOCK=512),
    "scatter_largest": dict(x="*i32:16", places="*i32:16", out="*i32:16", n="i32", BLOCK=256),
    "append_matches": dict(x="*i32:16", out="*i32:16", length="*i32:16", n="i32", least="i32", BLOCK=256),
    "merge_variances": dict(
        x="*fp32:16", means="*fp32:16", squares="*fp32:16", counts="*fp32:16", arrived="*i32:16", out="*fp32:16",
        n="i32", MOST=8, BLOCK=512,
    ),
    "dot_of_vectors": dict(x="*fp16:16", y="*fp16:16", out="*fp32:16", n="i32", BLOCK=1024),
}  # fmt: skip


@triton.jit
def extremes_of_all(x, least, most, n, BLOCK: tl.constexpr):
    """The least and the largest of an array."""
    low = tl.full([BLOCK], float("inf"), tl.float32)
    high = tl.full([BLOCK], -float("inf"), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        low = tl.minimum(low, tl.load(x + at, mask=at < n, other=float("inf")))
        high = tl.maximum(high, tl.load(x + at, mask=at < n, other=-float("inf")))
    tl.atomic_min(least, tl.min(low, 0))
    tl.atomic_max(most, tl.max(high, 0))


@triton.jit
def sums_of_columns(x, out, rows, columns, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Tiles of a matrix added to one row of sums."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (row < rows) & (column[None, :] < columns)
    tile = tl.load(x + row * stride + column[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(out + column, tl.sum(tile, 0), mask=column < columns, sem="relaxed")


@triton.jit
def sums_of_segments(x, segments, sums, counts, n, BLOCK: tl.constexpr):
    """Elements added where a second array says."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    segment = tl.load(segments + at, mask=at < n, other=0)
    tl.atomic_add(sums + segment, tl.load(x + at, mask=at < n, other=0.0), mask=at < n, sem="relaxed")
    tl.atomic_add(counts + segment, 1, mask=at < n, sem="relaxed")


@triton.jit
def sums_by_last(x, parts, arrived, out, n, MOST: tl.constexpr, BLOCK: tl.constexpr):
    """Each program leaves a part; the last to arrive adds them in order, so that the sum is always the same."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))
    before = tl.atomic_add(arrived, 1, sem="acq_rel")
    if before == tl.num_programs(0) - 1:
        part = tl.arange(0, MOST)
        tl.store(out, tl.sum(tl.load(parts + part, mask=part < tl.num_programs(0), other=0.0), 0))


@triton.jit
def scan_look_back(x, out, sums, flags, n, BLOCK: tl.constexpr):
    """A running sum in one pass: each program waits for the sum of all before it and passes its own on."""
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0)
    before = 0
    if program > 0:
        while tl.atomic_cas(flags + program - 1, 1, 1, sem="acquire") == 0:
            pass
        before = tl.load(sums + program - 1)
    tl.store(sums + program, before + tl.sum(block, 0))
    tl.atomic_xchg(flags + program, 1, sem="release")
    tl.store(out + at, before + tl.cumsum(block, 0), mask=at < n)


@triton.jit
def take_tiles(x, out, next, tiles, n, BLOCK: tl.constexpr):
    """Programs take their work from a counter until there is none."""
    tile = tl.atomic_add(next, 1, sem="relaxed")
    while tile < tiles:
        at = tile * BLOCK + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < n, other=0.0)
        tl.store(out + at, block * block + 1.0, mask=at < n)
        tile = tl.atomic_add(next, 1, sem="relaxed")


@triton.jit
def count_in_memory(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """One atomic addition an element."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    number = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(counts + (number & (BINS - 1)), 1, mask=at < n, sem="relaxed")


@triton.jit
def scatter_largest(x, places, out, n, BLOCK: tl.constexpr):
    """The largest of all that go to one place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(places + at, mask=at < n, other=0)
    tl.atomic_max(out + place, tl.load(x + at, mask=at < n, other=0), mask=at < n, sem="relaxed")


@triton.jit
def append_matches(x, out, length, n, least, BLOCK: tl.constexpr):
    """Programs in turn keep what is large enough: one takes room for all its matches, when those before it have."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0)
    keep = (block >= least) & (at < n)
    count = tl.sum(keep.to(tl.int32), 0)
    # The length's second word says whose turn it is.
    while tl.atomic_add(length + 1, 0, sem="acquire") != tl.program_id(0):
        pass
    start = tl.atomic_add(length, count, sem="relaxed")
    tl.atomic_add(length + 1, 1, sem="release")
    tl.store(out + start + tl.cumsum(keep.to(tl.int32), 0) - 1, block, mask=keep)


@triton.jit
def merge(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    share = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * share, square_a + square_b + delta * delta * count_a * share, count


@triton.jit
def merge_variances(
    x, means, squares, counts, arrived, out, n, MOST: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Mean and variance of an array: Welford within each program, and by the last over all of them."""
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    inside = (at < n).to(tl.float32)
    mean, square, count = tl.reduce((tl.load(x + at, mask=at < n, other=0.0), tl.zeros([BLOCK], tl.float32), inside), 0, merge)
    tl.store(means + program, mean)
    tl.store(squares + program, square)
    tl.store(counts + program, count)
    before = tl.atomic_add(arrived, 1, sem="acq_rel")
    if before == tl.num_programs(0) - 1:
        part = tl.arange(0, MOST)
        mask = part < tl.num_programs(0)
        all_means = tl.load(means + part, mask=mask, other=0.0)
        all_squares = tl.load(squares + part, mask=mask, other=0.0)
        all_counts = tl.load(counts + part, mask=mask, other=0.0)
        mean, square, count = tl.reduce((all_means, all_squares, all_counts), 0, merge)
        tl.store(out, mean)
        tl.store(out + 1, square / count)


@triton.jit
def dot_of_vectors(x, y, out, n, BLOCK: tl.constexpr):
    """The sum of the products of two vectors."""
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) * tl.load(y + at, mask=at < n, other=0.0)
    tl.atomic_add(out, tl.sum(sums, 0), sem="relaxed")
