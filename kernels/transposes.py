"""Transpositions of every element size, and reorderings of more axes."""

import triton
import triton.language as tl

PLANE = dict(m="i32", n="i32", x_row="i32:16", out_row="i32:16")

SIGNATURES = {
    "transpose_bytes": dict(x="*i8:16", out="*i8:16", **PLANE, ROWS=128, COLUMNS=128),
    "transpose_f8": dict(x="*fp8e5:16", out="*fp8e5:16", **PLANE, ROWS=64, COLUMNS=128),
    "transpose_halves": dict(x="*fp16:16", out="*fp16:16", **PLANE, ROWS=64, COLUMNS=64),
    "transpose_words": dict(x="*fp32:16", out="*fp32:16", **PLANE, ROWS=64, COLUMNS=64),
    "transpose_longs": dict(x="*i64:16", out="*i64:16", **PLANE, ROWS=32, COLUMNS=32),
    "transpose_batched": dict(x="*bf16:16", out="*bf16:16", m="i32:16", n="i32:16", ROWS=32, COLUMNS=64),
    "transpose_quantized": dict(x="*bf16:16", out="*fp8e4nv:16", same="*fp8e4nv:16", scale="fp32", **PLANE, ROWS=64, COLUMNS=64),
    "heads_first": dict(x="*fp16:16", out="*fp16:16", tokens="i32", heads="i32", TOKENS=16, HEADS=8, DEPTH=64),
    "channels_last": dict(x="*fp32:16", out="*fp32:16", channels="i32", pixels="i32:16", CHANNELS=32, PIXELS=64),
    "shuffle_pixels": dict(x="*fp16:16", out="*fp16:16", width="i32:16", BY=2, CHANNELS=16, PIXELS=32),
    "unpack_and_turn": dict(x="*u8:16", out="*i8:16", **PLANE, ROWS=64, COLUMNS=32),
}  # fmt: skip


@triton.jit
def turned(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A tile that is read along rows and written along columns."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    block = tl.load(x + row[:, None] * x_row + column[None, :], mask=(row[:, None] < m) & (column[None, :] < n))
    at = out + column[:, None] * out_row + row[None, :]
    tl.store(at, tl.trans(block), mask=(column[:, None] < n) & (row[None, :] < m))


@triton.jit
def transpose_bytes(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Eight bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)


@triton.jit
def transpose_f8(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Floats of eight bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)


@triton.jit
def transpose_halves(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sixteen bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)


@triton.jit
def transpose_words(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """32 bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)


@triton.jit
def transpose_longs(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """64 bits."""
    turned(x, out, m, n, x_row, out_row, ROWS, COLUMNS)


@triton.jit
def transpose_batched(x, out, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """One of many matrices a layer of the grid."""
    start = tl.program_id(2) * m * n
    turned(x + start, out + start, m, n, n, m, ROWS, COLUMNS)


@triton.jit
def transpose_quantized(x, out, same, scale, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Eight bits of sixteen, once as they lie and once turned, as products forward and backward want them."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    at = row[:, None] * x_row + column[None, :]
    mask = (row[:, None] < m) & (column[None, :] < n)
    block = (tl.load(x + at, mask=mask, other=0.0).to(tl.float32) * scale).to(tl.float8e4nv)
    tl.store(same + at, block, mask=mask)
    turned_at = column[:, None] * out_row + row[None, :]
    tl.store(out + turned_at, tl.trans(block), mask=(column[:, None] < n) & (row[None, :] < m))


@triton.jit
def heads_first(x, out, tokens, heads, TOKENS: tl.constexpr, HEADS: tl.constexpr, DEPTH: tl.constexpr):
    """Tokens by heads by depth to heads by tokens by depth."""
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    head = tl.arange(0, HEADS)
    depth = tl.arange(0, DEPTH)[None, None, :]
    at = (token[:, None, None] * heads + head[None, :, None]) * DEPTH + depth
    block = tl.load(x + at, mask=(token[:, None, None] < tokens) & (head[None, :, None] < heads))
    to = (head[:, None, None] * tokens + token[None, :, None]) * DEPTH + depth
    mask = (token[None, :, None] < tokens) & (head[:, None, None] < heads)
    tl.store(out + to, tl.permute(block, (1, 0, 2)), mask=mask)


@triton.jit
def channels_last(x, out, channels, pixels, CHANNELS: tl.constexpr, PIXELS: tl.constexpr):
    """Images whose channels lie apart to images whose channels lie together."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    pixel = tl.program_id(1) * PIXELS + tl.arange(0, PIXELS)
    image = tl.program_id(2) * channels * pixels
    block = tl.load(
        x + image + channel[:, None] * pixels + pixel[None, :],
        mask=(channel[:, None] < channels) & (pixel[None, :] < pixels),
    )
    to = out + image + pixel[:, None] * channels + channel[None, :]
    tl.store(to, tl.trans(block), mask=(pixel[:, None] < pixels) & (channel[None, :] < channels))


@triton.jit
def shuffle_pixels(x, out, width, BY: tl.constexpr, CHANNELS: tl.constexpr, PIXELS: tl.constexpr):
    """Channels become pixels: one line of an image, BY times as high and as wide."""
    line = tl.program_id(0)
    pixel = tl.program_id(1) * PIXELS + tl.arange(0, PIXELS)
    channel = tl.arange(0, CHANNELS * BY * BY)
    block = tl.load(x + (line * width + pixel)[:, None] * (CHANNELS * BY * BY) + channel[None, :], mask=pixel[:, None] < width)
    block = tl.permute(block.reshape(PIXELS, CHANNELS, BY, BY), (2, 0, 3, 1)).reshape(BY, PIXELS * BY, CHANNELS)
    lines = line * BY + tl.arange(0, BY)[:, None, None]
    column = tl.program_id(1) * PIXELS * BY + tl.arange(0, PIXELS * BY)[None, :, None]
    to = (lines * width * BY + column) * CHANNELS + tl.arange(0, CHANNELS)[None, None, :]
    tl.store(out + to, block, mask=tl.broadcast_to(column < width * BY, [BY, PIXELS * BY, CHANNELS]))


@triton.jit
def unpack_and_turn(x, out, m, n, x_row, out_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Pairs of four bits along a row to bytes along a column."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    pair = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    block = tl.load(x + row[:, None] * x_row + pair[None, :], mask=(row[:, None] < m) & (pair[None, :] < n), other=0)
    codes = tl.join(block & 15, block >> 4).reshape(ROWS, 2 * COLUMNS).to(tl.int8)
    column = tl.program_id(1) * 2 * COLUMNS + tl.arange(0, 2 * COLUMNS)
    at = out + column[:, None] * out_row + row[None, :]
    tl.store(at, tl.trans(codes), mask=(column[:, None] < 2 * n) & (row[None, :] < m))
