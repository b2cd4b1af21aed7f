"""Element by element, as the layers of language models need it: rotations, gates, quantisation."""

import triton
import triton.language as tl

SIGNATURES = {
    "rope_halves": dict(
        x="*bf16:16", cosines="*fp32:16", sines="*fp32:16", out="*bf16:16", positions="*i32:16", heads="i32",
        depth="i32:16", HEADS=4, HALF=64,
    ),
    "rope_pairs": dict(x="*fp16:16", cosines="*fp32:16", sines="*fp32:16", out="*fp16:16", heads="i32", HEADS=8, HALF=32),
    "swiglu_forward": dict(gate="*bf16:16", up="*bf16:16", out="*bf16:16", n="i32", BLOCK=1024),
    "swiglu_backward": dict(
        dy="*bf16:16", gate="*bf16:16", up="*bf16:16", dgate="*bf16:16", dup="*bf16:16", n="i32", BLOCK=1024
    ),
    "geglu_packed": dict(x="*fp16:16", out="*fp16:16", columns="i32:16", BLOCK=256),
    "add_bias_relu": dict(x="*fp16:16", bias="*fp16:16", out="*fp16:16", m="i32", n="i32:16", ROWS=8, COLUMNS=128),
    "quantize_rows": dict(x="*bf16:16", out="*i8:16", scales="*fp32:16", columns="i32", stride="i32:16", BLOCK=1024),
    "quantize_groups": dict(x="*bf16:16", out="*fp8e4nv:16", scales="*fp32:16", n="i32:16", GROUPS=8, GROUP=128),
    "quantize_mxfp4": dict(x="*bf16:16", out="*u8:16", scales="*u8:16", GROUPS=32),
    "dequantize_int4": dict(words="*i32:16", scales="*fp16:16", out="*fp16:16", n="i32", GROUP=64, BLOCK=128),
    "cast_copy": dict(x="*fp32:16", out="*bf16:16", n="i32", BLOCK=1024),
    "vector_triad": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", factor="fp32", n="i32", BLOCK=1024),
    "concatenate_columns": dict(x="*fp16:16", y="*fp16:16", out="*fp16:16", x_columns="i32:16", y_columns="i32:16", BLOCK=256),
    "interpolate": dict(x="*fp32:16", out="*fp32:16", height="i32", width="i32", out_height="i32", out_width="i32", BLOCK=128),
}  # fmt: skip


@triton.jit
def rope_halves(
    x, cosines, sines, out, positions, heads, depth, HEADS: tl.constexpr, HALF: tl.constexpr
):  # fmt: skip
    """Rotary positions: the first half of a head turns with the second."""
    token = tl.program_id(0)
    position = tl.load(positions + token)
    head = tl.arange(0, HEADS)[:, None]
    place = tl.arange(0, HALF)[None, :]
    mask = (head < heads) & (place < depth // 2)
    cosine = tl.load(cosines + position * (depth // 2) + place, mask=place < depth // 2, other=0.0)
    sine = tl.load(sines + position * (depth // 2) + place, mask=place < depth // 2, other=0.0)
    at = (token * heads + head) * depth + place
    low = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    high = tl.load(x + at + depth // 2, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + at, (low * cosine - high * sine).to(tl.bfloat16), mask=mask)
    tl.store(out + at + depth // 2, (high * cosine + low * sine).to(tl.bfloat16), mask=mask)


@triton.jit
def rope_pairs(x, cosines, sines, out, heads, HEADS: tl.constexpr, HALF: tl.constexpr):
    """Rotary positions: neighbours turn with each other."""
    token = tl.program_id(0)
    head = tl.arange(0, HEADS)[:, None]
    at = (token * heads + head) * (2 * HALF) + tl.arange(0, 2 * HALF)[None, :]
    place = token * HALF + tl.arange(0, HALF)
    cosine, sine = tl.load(cosines + place)[None, :], tl.load(sines + place)[None, :]
    pairs = tl.load(x + at, mask=head < heads, other=0.0).to(tl.float32).reshape(HEADS, HALF, 2)
    even, odd = tl.split(pairs)
    turned = tl.join(even * cosine - odd * sine, odd * cosine + even * sine).reshape(HEADS, 2 * HALF)
    tl.store(out + at, turned.to(tl.float16), mask=head < heads)


@triton.jit
def swiglu_forward(gate, up, out, n, BLOCK: tl.constexpr):
    """silu(gate) up."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    opened = tl.load(gate + at, mask=mask, other=0.0).to(tl.float32)
    passed = tl.load(up + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + at, (opened * tl.sigmoid(opened) * passed).to(tl.bfloat16), mask=mask)


@triton.jit
def swiglu_backward(dy, gate, up, dgate, dup, n, BLOCK: tl.constexpr):
    """Its gradients."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    gradient = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
    opened = tl.load(gate + at, mask=mask, other=0.0).to(tl.float32)
    passed = tl.load(up + at, mask=mask, other=0.0).to(tl.float32)
    sigmoid = tl.sigmoid(opened)
    silu = opened * sigmoid
    tl.store(dup + at, (gradient * silu).to(tl.bfloat16), mask=mask)
    tl.store(dgate + at, (gradient * passed * (sigmoid + silu * (1 - sigmoid))).to(tl.bfloat16), mask=mask)


@triton.jit
def geglu_packed(x, out, columns, BLOCK: tl.constexpr):
    """gelu of one half of a row by the other."""
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < columns
    gate = tl.load(x + row * 2 * columns + at, mask=mask, other=0.0).to(tl.float32)
    passed = tl.load(x + row * 2 * columns + columns + at, mask=mask, other=0.0).to(tl.float32)
    opened = 0.5 * gate * (1 + tl.erf(gate * 0.70710678))
    tl.store(out + row * columns + at, (opened * passed).to(tl.float16), mask=mask)


@triton.jit
def add_bias_relu(x, bias, out, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A bias for each column."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    mask = (row < m) & (column < n)
    shift = tl.load(bias + column, mask=column < n, other=0.0)
    tile = tl.load(x + row * n + column, mask=mask, other=0.0) + shift
    tl.store(out + row * n + column, tl.maximum(tile, 0.0), mask=mask)


@triton.jit
def quantize_rows(x, out, scales, columns, stride, BLOCK: tl.constexpr):
    """Bytes with one scale a row."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    block = tl.load(x + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(block), 0) / 127.0, 1e-10)
    tl.store(scales + row, scale)
    number = block / scale
    number += tl.where(number >= 0, 0.5, -0.5)
    tl.store(out + row * stride + at, number.to(tl.int8), mask=at < columns)


@triton.jit
def quantize_groups(x, out, scales, n, GROUPS: tl.constexpr, GROUP: tl.constexpr):
    """Floats of eight bits with one scale for a group of neighbours."""
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    at = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    block = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(block), 1) / 448.0, 1e-10)
    tl.store(scales + group, scale, mask=group * GROUP < n)
    number = tl.clamp(block / scale[:, None], -448.0, 448.0)
    tl.store(out + at, number.to(tl.float8e4nv), mask=at < n)


@triton.jit
def quantize_mxfp4(x, out, scales, GROUPS: tl.constexpr):
    """Codes of four bits, two in a byte, and an exponent for 32 of them."""
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    at = group[:, None] * 32 + tl.arange(0, 32)[None, :]
    block = tl.load(x + at).to(tl.float32)
    most = tl.max(tl.abs(block), 1)
    # The exponent of the largest, less that of 4, the largest power of two that the codes hold.
    exponent = tl.maximum((most.to(tl.int32, bitcast=True) >> 23) - 2, 0)
    tl.store(scales + group, exponent.to(tl.uint8))
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    size = tl.abs(block * inverse[:, None])
    # Halfway cases go to the even code.
    code = (size > 0.25).to(tl.int32) + (size >= 0.75).to(tl.int32) + (size > 1.25).to(tl.int32)
    code += (size >= 1.75).to(tl.int32) + (size > 2.5).to(tl.int32) + (size >= 3.5).to(tl.int32) + (size > 5).to(tl.int32)
    code |= (block.to(tl.int32, bitcast=True) >> 28) & 8
    low, high = tl.split(code.reshape(GROUPS, 16, 2))
    pairs = group[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + pairs, (low | (high << 4)).to(tl.uint8))


@triton.jit
def dequantize_int4(words, scales, out, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Eight numbers of four bits, with sign, from each word."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(words + at, mask=at * 8 < n, other=0)
    codes = (word[:, None] << (28 - 4 * tl.arange(0, 8))[None, :]) >> 28
    scale = tl.load(scales + at * 8 // GROUP, mask=at * 8 < n, other=0.0)
    places = at[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + places, codes.to(tl.float16) * scale[:, None], mask=places < n)


@triton.jit
def cast_copy(x, out, n, BLOCK: tl.constexpr):
    """Half as many bits."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n).to(tl.bfloat16), mask=at < n)


@triton.jit
def vector_triad(x, y, out, factor, n, BLOCK: tl.constexpr):
    """x + factor y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + factor * tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def concatenate_columns(x, y, out, x_columns, y_columns, BLOCK: tl.constexpr):
    """Rows of two arrays side by side."""
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    columns = x_columns + y_columns
    left = tl.load(x + row * x_columns + at, mask=at < x_columns, other=0.0)
    right = tl.load(y + row * y_columns + at - x_columns, mask=(at >= x_columns) & (at < columns), other=0.0)
    tl.store(out + row * columns + at, tl.where(at < x_columns, left, right), mask=at < columns)


@triton.jit
def interpolate(x, out, height, width, out_height, out_width, BLOCK: tl.constexpr):
    """An image in another size: four neighbours, weighted."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < out_height * out_width
    line = ((at // out_width).to(tl.float32) + 0.5) * (height / out_height) - 0.5
    column = ((at % out_width).to(tl.float32) + 0.5) * (width / out_width) - 0.5
    line, column = tl.maximum(line, 0.0), tl.maximum(column, 0.0)
    top, left = line.to(tl.int32), column.to(tl.int32)
    down, right = tl.minimum(top + 1, height - 1), tl.minimum(left + 1, width - 1)
    part_y, part_x = line - top.to(tl.float32), column - left.to(tl.float32)
    image = x + tl.program_id(1) * height * width
    upper = tl.load(image + top * width + left, mask=mask) * (1 - part_x) + tl.load(image + top * width + right, mask=mask) * part_x
    lower = tl.load(image + down * width + left, mask=mask) * (1 - part_x) + tl.load(image + down * width + right, mask=mask) * part_x
    tl.store(out + tl.program_id(1) * out_height * out_width + at, upper * (1 - part_y) + lower * part_y, mask=mask)
