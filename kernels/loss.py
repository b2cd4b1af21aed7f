"""Losses and what training needs beside products: dropout, embeddings, optimisers."""

import triton
import triton.language as tl

SIGNATURES = {
    "cross_entropy_forward": dict(
        logits="*bf16:16", targets="*i64:16", losses="*fp32:16", logs="*fp32:16", columns="i32", stride="i32:16",
        ignored="i64", smoothing="fp32", BLOCK=1024,
    ),
    "cross_entropy_backward": dict(
        logits="*bf16:16", targets="*i64:16", logs="*fp32:16", gradients="*fp32:16", columns="i32", stride="i32:16",
        ignored="i64", smoothing="fp32", BLOCK=1024,
    ),
    "cross_entropy_in_place": dict(
        logits="*fp32:16", targets="*i32:16", losses="*fp32:16", columns="i32", stride="i32:16", share="fp32", BLOCK=512
    ),
    "divergence": dict(logs="*fp32:16", target="*fp32:16", losses="*fp32:16", columns="i32", stride="i32:16", BLOCK=512),
    "dropout": dict(x="*fp16:16", out="*fp16:16", n="i32", seed="i64", keep="fp32", BLOCK=1024),
    "dropout_words": dict(x="*fp32:16", out="*fp32:16", n="i32:16", seed="i64", keep="fp32", BLOCK=256),
    "dropout_add_backward": dict(dy="*fp16:16", dx="*fp16:16", n="i32", seed="i64", keep="fp32", BLOCK=1024),
    "embedding": dict(tokens="*i64:16", table="*fp16:16", out="*fp16:16", width="i32:16", first="i64", rows="i64", BLOCK=256),
    "embedding_backward": dict(
        tokens="*i32:16", gradients="*fp32:16", table="*fp32:16", count="i32", width="i32:16", TOKENS=4, BLOCK=128
    ),
    "embedding_bag": dict(
        indices="*i32:16", starts="*i32:16", table="*fp32:16", out="*fp32:16", width="i32:16", BLOCK=128
    ),
    "adam": dict(
        parameters="*fp32:16", gradients="*bf16:16", first="*fp32:16", second="*fp32:16", copy="*bf16:16", n="i32",
        rate="fp32", beta_1="fp32", beta_2="fp32", epsilon="fp32", decay="fp32", step="i32", BLOCK=1024,
    ),
    "norm_of_gradients": dict(x="*fp32:16", total="*fp32:16", n="i32", BLOCK=1024),
    "any_not_finite": dict(x="*fp16:16", found="*i32:16", n="i32", scale="fp32", BLOCK=1024),
}  # fmt: skip


@triton.jit
def cross_entropy_forward(
    logits, targets, losses, logs, columns, stride, ignored, smoothing, BLOCK: tl.constexpr
):  # fmt: skip
    """The logarithm of the sum of exponentials, carried over blocks; a target of its own is left out."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    target = tl.load(targets + row)
    largest = tl.full([], -float("inf"), tl.float32)
    total = tl.zeros([], tl.float32)
    every = tl.zeros([], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(logits + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, tl.max(block, 0))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(block - higher), 0)
        every += tl.sum(tl.where(at < columns, block, 0.0), 0)
        largest = higher
    log = largest + tl.log(total)
    tl.store(logs + row, log)
    loss = 0.0
    if target != ignored:
        right = tl.load(logits + target).to(tl.float32)
        loss = log - (1 - smoothing) * right - smoothing * every / columns
    tl.store(losses + row, loss)


@triton.jit
def cross_entropy_backward(
    logits, targets, logs, gradients, columns, stride, ignored, smoothing, BLOCK: tl.constexpr
):  # fmt: skip
    """Weights less the target's, a block of columns a program."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < columns
    target = tl.load(targets + row)
    block = tl.load(logits + row * stride + at, mask=mask, other=-float("inf")).to(tl.float32)
    weights = tl.exp(block - tl.load(logs + row)) - smoothing / columns
    weights = tl.where(at == target, weights - (1 - smoothing), weights)
    tl.store(gradients + row * stride + at, tl.where(target == ignored, 0.0, weights), mask=mask)


@triton.jit
def cross_entropy_in_place(logits, targets, losses, columns, stride, share, BLOCK: tl.constexpr):
    """Loss and gradient in one kernel; the gradient replaces the logits."""
    row = tl.program_id(0)
    target = tl.load(targets + row)
    logits += row * stride
    right = tl.load(logits + target)
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(logits + at, mask=at < columns, other=-1e30)
        higher = tl.maximum(largest, block)
        total = total * tl.exp(largest - higher) + tl.exp(block - higher)
        largest = higher
    most = tl.max(largest, 0)
    total_all = tl.sum(total * tl.exp(largest - most), 0)
    tl.debug_barrier()
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(logits + at, mask=at < columns, other=0.0)
        weights = tl.exp(block - most) / total_all
        tl.store(logits + at, tl.where(at == target, weights - 1, weights) * share, mask=at < columns)
    tl.store(losses + row, (most + tl.log(total_all) - right) * share)


@triton.jit
def divergence(logs, target, losses, columns, stride, BLOCK: tl.constexpr):
    """The divergence of Kullback and Leibler, of logarithms from probabilities that may be zero."""
    row = tl.program_id(0)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        log = tl.load(logs + row * stride + at, mask=at < columns, other=0.0)
        share = tl.load(target + row * stride + at, mask=at < columns, other=0.0)
        sums += tl.where(share > 0, share * (tl.log(tl.maximum(share, 1e-30)) - log), 0.0)
    tl.store(losses + row, tl.sum(sums, 0))


@triton.jit
def dropout(x, out, n, seed, keep, BLOCK: tl.constexpr):
    """Elements kept with a probability, by Philox's numbers of their places."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    kept = tl.where(tl.rand(seed, at) < keep, block / keep, 0.0)
    tl.store(out + at, kept.to(tl.float16), mask=at < n)


@triton.jit
def dropout_words(x, out, n, seed, keep, BLOCK: tl.constexpr):
    """All four words that Philox gives, for elements that lie together."""
    group = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, group)
    draws = tl.join(tl.join(a, c), tl.join(b, d)).reshape(4 * BLOCK)
    at = tl.program_id(0) * 4 * BLOCK + tl.arange(0, 4 * BLOCK)
    block = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(draws < keep, block / keep, 0.0), mask=at < n)


@triton.jit
def dropout_add_backward(dy, dx, n, seed, keep, BLOCK: tl.constexpr):
    """The same numbers again, so that no mask was kept; added to what is there."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    gradient = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
    kept = tl.where(tl.rand(seed, at) < keep, gradient / keep, 0.0)
    kept += tl.load(dx + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(dx + at, kept.to(tl.float16), mask=mask)


@triton.jit
def embedding(tokens, table, out, width, first, rows, BLOCK: tl.constexpr):
    """Rows of a table, of which this device holds some; the others are zero."""
    token = tl.load(tokens + tl.program_id(0)) - first
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    held = (token >= 0) & (token < rows)
    row = tl.load(table + token * width + at, mask=held & (at < width), other=0.0)
    tl.store(out + tl.program_id(0) * width + at, row, mask=at < width)


@triton.jit
def embedding_backward(tokens, gradients, table, count, width, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    """Gradients of a few tokens added to their rows, which others may add to as well."""
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (token < count)[:, None] & (at < width)[None, :]
    rows = tl.load(tokens + token, mask=token < count, other=0)
    tile = tl.load(gradients + token[:, None] * width + at[None, :], mask=mask, other=0.0)
    tl.atomic_add(table + rows[:, None] * width + at[None, :], tile, mask=mask, sem="relaxed")


@triton.jit
def embedding_bag(indices, starts, table, out, width, BLOCK: tl.constexpr):
    """The mean of the rows of a bag, of any number."""
    bag = tl.program_id(0)
    low, high = tl.load(starts + bag), tl.load(starts + bag + 1)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], tl.float32)
    for place in range(low, high):
        row = tl.load(indices + place)
        sums += tl.load(table + row * width + at, mask=at < width, other=0.0)
    count = tl.maximum(high - low, 1)
    tl.store(out + bag * width + at, sums / count, mask=at < width)


@triton.jit
def adam(
    parameters, gradients, first, second, copy, n, rate, beta_1, beta_2, epsilon, decay, step, BLOCK: tl.constexpr
):  # fmt: skip
    """A step of Adam with decoupled decay, and a copy of the parameters in half as many bits."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    gradient = tl.load(gradients + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.load(first + at, mask=mask, other=0.0)
    square = tl.load(second + at, mask=mask, other=0.0)
    value = tl.load(parameters + at, mask=mask, other=0.0)
    mean = beta_1 * mean + (1 - beta_1) * gradient
    square = beta_2 * square + (1 - beta_2) * gradient * gradient
    corrected_1 = 1 - tl.exp2(step * tl.log2(beta_1))
    corrected_2 = 1 - tl.exp2(step * tl.log2(beta_2))
    value = value * (1 - rate * decay)
    value -= rate * (mean / corrected_1) / (tl.sqrt(square / corrected_2) + epsilon)
    tl.store(first + at, mean, mask=mask)
    tl.store(second + at, square, mask=mask)
    tl.store(parameters + at, value, mask=mask)
    tl.store(copy + at, value.to(tl.bfloat16), mask=mask)


@triton.jit
def norm_of_gradients(x, total, n, BLOCK: tl.constexpr):
    """The sum of squares: blocks in turn, then one atomic addition a program."""
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at, mask=at < n, other=0.0)
        sums += block * block
    tl.atomic_add(total, tl.sum(sums, 0))


@triton.jit
def any_not_finite(x, found, n, scale, BLOCK: tl.constexpr):
    """Takes a loss's scale out of gradients, and says whether one of them is infinite or none."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    block = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) * scale
    bad = (block != block) | (tl.abs(block) == float("inf"))
    tl.store(x + at, block.to(tl.float16), mask=at < n)
    tl.atomic_or(found, tl.max(bad.to(tl.int32), 0), sem="relaxed")
