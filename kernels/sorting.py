"""Sorting: rows, keys with their places, the largest few, and what is chosen by order."""

import triton
import triton.language as tl

SIGNATURES = {
    "sort_rows": dict(x="*fp32:16", out="*fp32:16", stride="i32:16", BLOCK=1024),
    "sort_ragged": dict(x="*fp16:16", out="*fp16:16", columns="i32", stride="i32:16", ROWS=4, BLOCK=64),
    "sort_places": dict(x="*fp32:16", out="*fp32:16", places="*i32:16", columns="i32", stride="i32:16", BLOCK=128),
    "top_of_rows": dict(
        x="*fp32:16", out="*fp32:16", places="*i32:16", rows="i32", columns="i32", stride="i32:16", ROWS=4, BLOCK=64, K=8
    ),
    "route_to_experts": dict(
        logits="*fp32:16", weights="*fp32:16", experts="*i32:16", counts="*i32:16", rows="i32", EXPERTS=16, ROWS=16, K=2
    ),
    "sample_nucleus": dict(logits="*fp32:16", out="*i32:16", columns="i32", stride="i32:16", share="fp32", seed="i32", BLOCK=128),
    "rank_of_each": dict(x="*i32:16", out="*i32:16", BLOCK=128),
    "sort_by_digits": dict(x="*u32:16", out="*u32:16", spare="*u32:16", BLOCK=256),
    "merge_sorted": dict(x="*i32:16", y="*i32:16", out="*i32:16", BLOCK=128),
    "order_by_expert": dict(experts="*i32:16", starts="*i32:16", places="*i32:16", n="i32", EXPERTS=8, BLOCK=128),
}  # fmt: skip


@triton.jit
def sort_rows(x, out, stride, BLOCK: tl.constexpr):
    """A row in rising order."""
    at = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def sort_ragged(x, out, columns, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Short rows in falling order; what is no element goes to the end."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    block = tl.load(x + row * stride + column, mask=column < columns, other=-float("inf"))
    tl.store(out + row * stride + column, tl.sort(block, descending=True), mask=column < columns)


@triton.jit
def rising(x):
    """The bits of a float as an integer whose order is the float's."""
    bits = x.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def with_places(x, places):
    """A number of 64 bits: the float above, its place below, so that equal ones stay in order."""
    return (rising(x).to(tl.int64) << 32) | places.to(tl.int64)


@triton.jit
def value_of(packed):
    bits = (packed >> 32).to(tl.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


@triton.jit
def sort_places(x, out, places, columns, stride, BLOCK: tl.constexpr):
    """A row in rising order and where each element was."""
    column = tl.arange(0, BLOCK)
    start = tl.program_id(0) * stride
    block = tl.load(x + start + column, mask=column < columns, other=float("inf"))
    packed = tl.sort(with_places(block, column))
    tl.store(out + start + column, value_of(packed), mask=column < columns)
    tl.store(places + start + column, packed.to(tl.int32), mask=column < columns)


@triton.jit
def top_of_rows(
    x, out, places, rows, columns, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    """The K largest of each row and their places, a block of columns after the other."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    best = tl.full([ROWS, K], -(1 << 63), tl.int64)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        block = tl.load(x + row * stride + column, mask=(row < rows) & (column < columns), other=-float("inf"))
        few = tl.topk(with_places(block, tl.broadcast_to(column, [ROWS, BLOCK])), K)
        best = tl.topk(tl.join(best, few).reshape(ROWS, 2 * K), K)
    at = row * K + tl.arange(0, K)[None, :]
    tl.store(out + at, value_of(best), mask=row < rows)
    tl.store(places + at, best.to(tl.int32), mask=row < rows)


@triton.jit
def route_to_experts(
    logits, weights, experts, counts, rows, EXPERTS: tl.constexpr, ROWS: tl.constexpr, K: tl.constexpr
):
    """The K best experts of each token with softmax weights, and how many tokens each expert has."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, EXPERTS)[None, :]
    block = tl.load(logits + row * EXPERTS + column, mask=row < rows, other=0.0)
    best = tl.topk(with_places(block, tl.broadcast_to(EXPERTS - 1 - column, [ROWS, EXPERTS])), K)
    scores = value_of(best)
    share = tl.exp(scores - tl.max(scores, axis=1, keep_dims=True))
    share /= tl.sum(share, axis=1, keep_dims=True)
    chosen = EXPERTS - 1 - best.to(tl.int32)
    at = row * K + tl.arange(0, K)[None, :]
    tl.store(weights + at, share, mask=row < rows)
    tl.store(experts + at, chosen, mask=row < rows)
    tl.atomic_add(counts + chosen, 1, mask=tl.broadcast_to(row < rows, [ROWS, K]), sem="relaxed")


@triton.jit
def sample_nucleus(logits, out, columns, stride, share, seed, BLOCK: tl.constexpr):
    """Draws among the likeliest that together have a share of the probability."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    block = tl.load(logits + row * stride + column, mask=column < columns, other=-float("inf"))
    packed = tl.sort(with_places(block, column), descending=True)
    scores = value_of(packed)
    weights = tl.exp(scores - tl.max(scores, 0))
    weights /= tl.sum(weights, 0)
    before = tl.cumsum(weights, 0) - weights
    weights = tl.where(before < share, weights, 0.0)
    so_far = tl.cumsum(weights, 0)
    draw = tl.rand(seed, row) * tl.sum(weights, 0)
    # The first whose sum is above the draw: as many are not as come before it.
    chosen = tl.minimum(tl.sum((so_far <= draw).to(tl.int32), 0), columns - 1)
    token = tl.sum(tl.where(column == chosen, packed.to(tl.int32), 0), 0)
    tl.store(out + row, token)


@triton.jit
def rank_of_each(x, out, BLOCK: tl.constexpr):
    """How many elements come before each, by comparing all with all."""
    place = tl.arange(0, BLOCK)
    start = tl.program_id(0) * BLOCK
    block = tl.load(x + start + place)
    less = (block[None, :] < block[:, None]) | ((block[None, :] == block[:, None]) & (place[None, :] < place[:, None]))
    tl.store(out + start + place, tl.sum(less.to(tl.int32), 1))


@triton.jit
def sort_by_digits(x, out, spare, BLOCK: tl.constexpr):
    """A radix sort of one block: eight passes of four bits, each a count, a scan and a scatter through memory."""
    start = tl.program_id(0) * BLOCK
    place = start + tl.arange(0, BLOCK)
    tl.store(out + place, tl.load(x + place))
    for digit in range(0, 8):
        tl.debug_barrier()
        words = tl.load(out + place)
        ours = ((words >> (4 * digit)) & 15).to(tl.int32)
        single = (ours[:, None] == tl.arange(0, 16)[None, :]).to(tl.int32)
        before = tl.cumsum(single, 0) - single
        counts = tl.sum(single, 0)
        first = tl.cumsum(counts, 0) - counts
        rank = tl.sum(single * (before + first[None, :]), 1)
        tl.store(spare + start + rank, words)
        tl.debug_barrier()
        tl.store(out + place, tl.load(spare + place))


@triton.jit
def merge_sorted(x, y, out, BLOCK: tl.constexpr):
    """Two sorted blocks made one, each element's place found by bisection."""
    place = tl.arange(0, BLOCK)
    left, right = tl.load(x + place), tl.load(y + place)
    low_left = tl.zeros([BLOCK], tl.int32)
    low_right = tl.zeros([BLOCK], tl.int32)
    step = BLOCK
    while step > 0:
        to = low_left + step
        low_left = tl.where((to <= BLOCK) & (tl.load(y + to - 1, mask=to <= BLOCK, other=0) < left), to, low_left)
        to = low_right + step
        low_right = tl.where((to <= BLOCK) & (tl.load(x + to - 1, mask=to <= BLOCK, other=0) <= right), to, low_right)
        step = step // 2
    tl.store(out + place + low_left, left)
    tl.store(out + place + low_right, right)


@triton.jit
def order_by_expert(experts, starts, places, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    """A stable order of tokens by expert: counts, their running sum, and a running count of each."""
    every = tl.arange(0, EXPERTS)
    counts = tl.zeros([EXPERTS], tl.int32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        expert = tl.load(experts + at, mask=at < n, other=-1)
        counts += tl.sum((expert[:, None] == every[None, :]).to(tl.int32), 0)
    first = tl.cumsum(counts, 0) - counts
    tl.store(starts + every, first)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        expert = tl.load(experts + at, mask=at < n, other=-1)
        single = (expert[:, None] == every[None, :]).to(tl.int32)
        before = tl.cumsum(single, 0) - single
        place = tl.sum(single * (before + first[None, :]), 1)
        tl.store(places + place, at, mask=at < n)
        first += tl.sum(single, 0)
