"""Softmax and the normalisations, forward and backward, of rows longer than a block and of many short ones.

Rows lie `stride` elements apart, and `columns` is any number: the last block of a row is masked.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "softmax_several_rows": dict(
        x="*fp32:16", out="*fp32:16", rows="i32", columns="i32", x_stride="i32:16", out_stride="i32:16", ROWS=4, COLUMNS=256
    ),
    "softmax_online": dict(x="*fp16:16", out="*fp16:16", columns="i32", stride="i32:16", BLOCK=1024),
    "softmax_persistent": dict(x="*fp32:16", out="*fp32:16", rows="i32", columns="i32", stride="i32:16", BLOCK=512),
    "softmax_backward": dict(
        y="*fp32:16", dy="*fp32:16", dx="*fp32:16", columns="i32", stride="i32:16", BLOCK=1024
    ),
    "log_softmax": dict(x="*bf16:16", out="*fp32:16", columns="i32", stride="i32:16", BLOCK=1024),
    "layer_norm_forward": dict(
        x="*fp16:16", weight="*fp32:16", bias="*fp32:16", out="*fp16:16", means="*fp32:16", inverses="*fp32:16",
        columns="i32", stride="i32:16", epsilon="fp32", BLOCK=1024,
    ),
    "layer_norm_backward": dict(
        x="*fp16:16", weight="*fp32:16", dy="*fp16:16", means="*fp32:16", inverses="*fp32:16", dx="*fp16:16",
        dw="*fp32:16", db="*fp32:16", locks="*i32:16", columns="i32", stride="i32:16", GROUPS=2, BLOCK=1024,
    ),
    "layer_norm_weights": dict(
        dw="*fp32:16", db="*fp32:16", weight="*fp32:16", bias="*fp32:16", rows="i32", columns="i32", ROWS=32, COLUMNS=128
    ),
    "layer_norm_welford": dict(
        x="*fp32:16", out="*fp32:16", means="*fp32:16", variances="*fp32:16", columns="i32", stride="i32:16",
        epsilon="fp32", BLOCK=512,
    ),
    "rms_norm_forward": dict(
        x="*bf16:16", weight="*bf16:16", out="*bf16:16", inverses="*fp32:16", columns="i32", stride="i32:16",
        epsilon="fp32", BLOCK=1024,
    ),
    "rms_norm_backward": dict(
        x="*bf16:16", weight="*bf16:16", dy="*bf16:16", inverses="*fp32:16", dx="*bf16:16", dw="*fp32:16",
        columns="i32", stride="i32:16", BLOCK=1024,
    ),
    "add_rms_norm": dict(
        x="*fp16:16", residual="*fp16:16", weight="*fp16:16", out="*fp16:16", columns="i32", stride="i32:16",
        epsilon="fp32", BLOCK=1024,
    ),
    "group_norm": dict(
        x="*fp32:16", weight="*fp32:16", bias="*fp32:16", out="*fp32:16", channels="i32", groups="i32", pixels="i32",
        epsilon="fp32", CHANNELS=4, PIXELS=256,
    ),
    "batch_statistics": dict(
        x="*fp32:16", means="*fp32:16", variances="*fp32:16", rows="i32", columns="i32:16", ROWS=64, COLUMNS=32
    ),
}  # fmt: skip


@triton.jit
def softmax_several_rows(x, out, rows, columns, x_stride, out_stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Several short rows a program."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    mask = (row < rows) & (column < columns)
    tile = tl.load(x + row * x_stride + column, mask=mask, other=-float("inf"))
    weights = tl.exp(tile - tl.max(tile, axis=1, keep_dims=True))
    weights = tl.where(row < rows, weights, 1.0)
    tl.store(out + row * out_stride + column, weights / tl.sum(weights, axis=1, keep_dims=True), mask=mask)


@triton.jit
def softmax_online(x, out, columns, stride, BLOCK: tl.constexpr):
    """A long row in two passes: the largest and the sum of weights so far are carried together."""
    x += tl.program_id(0).to(tl.int64) * stride
    out += tl.program_id(0).to(tl.int64) * stride
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < columns, other=-float("inf"), eviction_policy="evict_last").to(tl.float32)
        higher = tl.maximum(largest, block)
        # Where nothing finite has been seen the sum stays zero.
        scale = tl.where(higher == -float("inf"), 0.0, tl.exp(largest - higher))
        total = total * scale + tl.where(block == -float("inf"), 0.0, tl.exp(block - higher))
        largest = higher
    most = tl.max(largest, 0)
    inverse = 1.0 / tl.sum(total * tl.exp(largest - most), 0)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < columns, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(out + at, (tl.exp(block - most) * inverse).to(tl.float16), mask=at < columns)


@triton.jit
def softmax_persistent(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    """Few programs take many rows in turn."""
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        block = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
        weights = tl.exp(block - tl.max(block, 0))
        tl.store(out + row * stride + at, weights / tl.sum(weights, 0), mask=at < columns)


@triton.jit
def softmax_backward(y, dy, dx, columns, stride, BLOCK: tl.constexpr):
    """dx = y (dy - y · dy)."""
    start = tl.program_id(0) * stride
    at = tl.arange(0, BLOCK)
    mask = at < columns
    weights = tl.load(y + start + at, mask=mask, other=0.0)
    gradient = tl.load(dy + start + at, mask=mask, other=0.0)
    along = tl.sum(weights * gradient, 0)
    tl.store(dx + start + at, weights * (gradient - along), mask=mask)


@triton.jit
def log_softmax(x, out, columns, stride, BLOCK: tl.constexpr):
    """The logarithms of the weights."""
    start = tl.program_id(0) * stride
    at = tl.arange(0, BLOCK)
    block = tl.load(x + start + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    block -= tl.max(block, 0)
    tl.store(out + start + at, block - tl.log(tl.sum(tl.exp(block), 0)), mask=at < columns)


@triton.jit
def layer_norm_forward(
    x, weight, bias, out, means, inverses, columns, stride, epsilon, BLOCK: tl.constexpr
):  # fmt: skip
    """Mean, then variance about it, then the row, each in a pass over blocks."""
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, 0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < columns, other=0.0).to(tl.float32)
        block = tl.where(at < columns, block - mean, 0.0)
        squares += block * block
    inverse = 1 / tl.sqrt(tl.sum(squares, 0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(inverses + row, inverse)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        block = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        normal = (block - mean) * inverse
        scaled = normal * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask)
        tl.store(out + at, scaled.to(tl.float16), mask=mask)


@triton.jit
def layer_norm_backward(
    x, weight, dy, means, inverses, dx, dw, db, locks, columns, stride, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    """The row's gradient, and its part of the weights' and the biases', added under a lock to one of a few sums."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    block = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(weight + at, mask=mask, other=0.0)
    inverse = tl.load(inverses + row)
    normal = tl.where(mask, (block - tl.load(means + row)) * inverse, 0.0)
    scaled = tl.where(mask, scale * gradient, 0.0)
    along = tl.sum(normal * scaled, 0) / columns
    mean = tl.sum(scaled, 0) / columns
    tl.store(dx + row * stride + at, ((scaled - (normal * along + mean)) * inverse).to(tl.float16), mask=mask)
    # A group's first program finds nothing to add to.
    group = row % GROUPS
    lock = locks + group
    seen = locks + GROUPS + group
    dw += group * columns + at
    db += group * columns + at
    part_w = gradient * normal
    part_b = gradient
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(seen) == 0:
        tl.store(seen, 1)
    else:
        part_w += tl.load(dw, mask=mask)
        part_b += tl.load(db, mask=mask)
    tl.store(dw, part_w, mask=mask)
    tl.store(db, part_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_weights(dw, db, weight, bias, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The sums of the columns of two arrays."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    sums_w = tl.zeros([ROWS, COLUMNS], tl.float32)
    sums_b = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < rows) & (column[None, :] < columns)
        at = row[:, None] * columns + column[None, :]
        sums_w += tl.load(dw + at, mask=mask, other=0.0)
        sums_b += tl.load(db + at, mask=mask, other=0.0)
    tl.store(weight + column, tl.sum(sums_w, 0), mask=column < columns)
    tl.store(bias + column, tl.sum(sums_b, 0), mask=column < columns)


@triton.jit
def merge(mean_a, square_a, weight_a, mean_b, square_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, square_a + square_b + delta * delta * weight_a * share, weight


@triton.jit
def layer_norm_welford(x, out, means, variances, columns, stride, epsilon, BLOCK: tl.constexpr):
    """Mean and variance in one pass by Welford's recurrence, lane by lane and then together."""
    row = tl.program_id(0)
    mean = tl.zeros([BLOCK], tl.float32)
    square = tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        block = tl.load(x + row * stride + at, mask=mask, other=0.0)
        delta = block - mean
        count += mask.to(tl.float32)
        mean += tl.where(mask, delta / count, 0.0)
        square += tl.where(mask, delta * (block - mean), 0.0)
    mean, square, count = tl.reduce((mean, square, count), 0, merge)
    variance = square / count
    tl.store(means + row, mean)
    tl.store(variances + row, variance)
    inverse = tl.rsqrt(variance + epsilon)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + row * stride + at, mask=at < columns, other=0.0)
        tl.store(out + row * stride + at, (block - mean) * inverse, mask=at < columns)


@triton.jit
def rms_norm_forward(x, weight, out, inverses, columns, stride, epsilon, BLOCK: tl.constexpr):
    """The row over the root of the mean of its squares."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    block = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    inverse = tl.rsqrt(tl.sum(block * block, 0) / columns + epsilon)
    tl.store(inverses + row, inverse)
    scale = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * stride + at, (block * inverse * scale).to(tl.bfloat16), mask=mask)


@triton.jit
def rms_norm_backward(x, weight, dy, inverses, dx, dw, columns, stride, BLOCK: tl.constexpr):
    """The row's gradient; its part of the weights' is added atomically."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    block = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    gradient = tl.load(dy + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    inverse = tl.load(inverses + row)
    normal = block * inverse
    scaled = gradient * scale
    along = tl.sum(normal * scaled, 0) / columns
    tl.store(dx + row * stride + at, ((scaled - normal * along) * inverse).to(tl.bfloat16), mask=mask)
    tl.atomic_add(dw + at, gradient * normal, mask=mask, sem="relaxed")


@triton.jit
def add_rms_norm(x, residual, weight, out, columns, stride, epsilon, BLOCK: tl.constexpr):
    """The sum with a residual, kept in its place, and that normalised."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    total = tl.load(x + row * stride + at, mask=mask, other=0.0) + tl.load(residual + row * stride + at, mask=mask, other=0.0)
    tl.store(residual + row * stride + at, total, mask=mask)
    block = total.to(tl.float32)
    inverse = tl.rsqrt(tl.sum(block * block, 0) / columns + epsilon)
    scale = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * stride + at, (block * inverse * scale).to(tl.float16), mask=mask)


@triton.jit
def group_norm(
    x, weight, bias, out, channels, groups, pixels, epsilon, CHANNELS: tl.constexpr, PIXELS: tl.constexpr
):  # fmt: skip
    """One group of channels of one image: a tile whose both axes are masked."""
    image, group = tl.program_id(0), tl.program_id(1)
    each = channels // groups
    channel = tl.arange(0, CHANNELS)
    pixel = tl.arange(0, PIXELS)
    mask = (channel[:, None] < each) & (pixel[None, :] < pixels)
    at = (image * channels + group * each + channel[:, None]) * pixels + pixel[None, :]
    tile = tl.load(x + at, mask=mask, other=0.0)
    count = each * pixels
    mean = tl.sum(tile) / count
    tile = tl.where(mask, tile - mean, 0.0)
    inverse = tl.rsqrt(tl.sum(tile * tile) / count + epsilon)
    scale = tl.load(weight + group * each + channel, mask=channel < each)
    shift = tl.load(bias + group * each + channel, mask=channel < each)
    tl.store(out + at, tile * inverse * scale[:, None] + shift[:, None], mask=mask)


@triton.jit
def batch_statistics(x, means, variances, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Mean and variance of columns: sums across warps, in a loop over blocks of rows."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    squares = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)[:, None]
        tile = tl.load(x + row * columns + column, mask=(row < rows) & (column < columns), other=0.0)
        sums += tile
        squares += tile * tile
    mean = tl.sum(sums, 0) / rows
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(means + at, mean, mask=at < columns)
    tl.store(variances + at, tl.sum(squares, 0) / rows - mean * mean, mask=at < columns)
