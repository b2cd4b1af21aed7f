"""Cases of `kernels/layers.py`."""

import math

import numpy as np

from kernels.functions import QUOTIENT, sigmoid, sigmoid_error
from kernels.table import bf16, blank, Case, case, e4m3, f16, i8, near, put, U, u8, whole_numbers, wide  # fmt: skip


def turned(low, high, cosine, sine):
    """Two numbers turned by an angle, and how far they may be off: two products and their sum."""
    first, second = low * cosine - high * sine, high * cosine + low * sine
    magnitude = np.abs(low * cosine) + np.abs(high * sine), np.abs(high * cosine) + np.abs(low * sine)
    return (first, second), (2 * U * magnitude[0], 2 * U * magnitude[1])


@case
def rope_halves(draw):
    x, out = draw.normal(3, 3, 112, dtype=bf16), blank(3, 3, 112, dtype=bf16)
    angles = draw.uniform(0, 6, 10, 56)
    cosines, sines, positions = np.cos(angles), np.sin(angles), draw.integers(0, 10, 3)
    cosine, sine = wide(cosines)[positions][:, None], wide(sines)[positions][:, None]
    values, errors = turned(wide(x[..., :56]), wide(x[..., 56:]), cosine, sine)
    arguments = dict(x=x, cosines=cosines, sines=sines, out=out, positions=positions, heads=3, depth=112)
    wanted = near(out, ..., np.concatenate(values, -1), np.concatenate(errors, -1))
    return Case((3,), arguments, dict(out=wanted))


@case(small=True)
def rope_pairs(draw):
    x, out = draw.normal(3, 6, 64, dtype=f16), blank(3, 6, 64, dtype=f16)
    angles = draw.uniform(0, 6, 3, 32)
    cosines, sines = np.cos(angles), np.sin(angles)
    values, errors = turned(wide(x[..., ::2]), wide(x[..., 1::2]), wide(cosines)[:, None], wide(sines)[:, None])
    paired = lambda pair: np.stack(pair, -1).reshape(3, 6, 64)
    arguments = dict(x=x, cosines=cosines, sines=sines, out=out, heads=6)
    return Case((3,), arguments, dict(out=near(out, ..., paired(values), paired(errors))))


@case
def swiglu_forward(draw):
    gate, up, out = draw.uniform(-4, 4, 2000, dtype=bf16), draw.normal(2000, dtype=bf16), blank(2000, dtype=bf16)
    opened = wide(gate)
    result = opened * sigmoid(opened) * wide(up)
    wanted = near(out, ..., result, np.abs(result) * (sigmoid_error(opened) + 2 * U))
    return Case((2,), dict(gate=gate, up=up, out=out, n=2000), dict(out=wanted))


@case
def swiglu_backward(draw):
    dy, gate, up = draw.normal(2000, dtype=bf16), draw.uniform(-4, 4, 2000, dtype=bf16), draw.normal(2000, dtype=bf16)
    dgate, dup = blank(2000, dtype=bf16), blank(2000, dtype=bf16)
    gradient, opened, passed = wide(dy), wide(gate), wide(up)
    share = sigmoid(opened)
    off = sigmoid_error(opened) + 5 * U
    silu = opened * share
    slope = share + silu * (1 - share)
    magnitude = share + np.abs(silu) * (2 - share)
    expected = dict(
        dgate=near(dgate, ..., gradient * passed * slope, np.abs(gradient * passed) * magnitude * off),
        dup=near(dup, ..., gradient * silu, np.abs(gradient * silu) * off),
    )
    return Case((2,), dict(dy=dy, gate=gate, up=up, dgate=dgate, dup=dup, n=2000), expected)


@case
def geglu_packed(draw):
    x, out = draw.uniform(-3, 3, 2, 608, dtype=f16), blank(2, 304, dtype=f16)
    gate, passed = wide(x[:, :304]), wide(x[:, 304:])
    one_more = 1 + np.vectorize(math.erf)(gate / math.sqrt(2))
    result = 0.5 * gate * one_more * passed
    # The error function is within three units of itself, and of what one is added to.
    error = np.abs(0.5 * gate * passed) * 6 * U + np.abs(result) * 4 * U
    return Case((2, 2), dict(x=x, out=out, columns=304), dict(out=near(out, ..., result, error)))


@case(small=True)
def add_bias_relu(draw):
    x, bias, out = draw.normal(12, 208, dtype=f16), draw.normal(208, dtype=f16), blank(12, 208, dtype=f16)
    return Case((2, 2), dict(x=x, bias=bias, out=out, m=12, n=208), dict(out=np.maximum(x + bias, f16.type(0))))


@case
def quantize_rows(draw):
    x, out, scales = draw.normal(2, 912, dtype=bf16), blank(2, 912, dtype=i8), blank(2)
    # Nothing but zeros has a scale too.
    x[1] = 0
    inside = wide(x[:, :900])
    scale = np.maximum(np.abs(inside).max(1) / 127, 1e-10)
    number = inside / scale[:, None]
    number = number + np.where(number >= 0, 0.5, -0.5)
    expected = dict(
        scales=near(scales, ..., scale, QUOTIENT * scale),
        out=whole_numbers(out, np.s_[:, :900], number, (2 * QUOTIENT + U) * np.abs(number)),
    )
    return Case((2,), dict(x=x, out=out, scales=scales, columns=900, stride=912), expected)


@case
def quantize_groups(draw):
    x, out, scales = draw.normal(896, dtype=bf16), blank(896, dtype=e4m3), blank(7)
    groups = wide(x).reshape(7, 128)
    scale = np.maximum(np.abs(groups).max(1) / 448, 1e-10)
    number = (groups / scale[:, None]).reshape(-1)
    # Beyond 448 it is held there before it is rounded.
    wanted = near(out, ..., number, 2 * QUOTIENT * np.abs(number))
    wanted = wanted._replace(low=np.clip(wanted.low, -448, 448), high=np.clip(wanted.high, -448, 448))
    expected = dict(scales=near(scales, ..., scale, QUOTIENT * scale), out=wanted)
    return Case((1,), dict(x=x, out=out, scales=scales, n=896), expected)


@case
def quantize_mxfp4(draw):
    x, out, scales = draw.uniform(-9, 9, 64, 32, dtype=bf16), blank(64, 16, dtype=u8), blank(64, dtype=u8)
    # Groups of small numbers, and of numbers halfway between codes.
    x[1] *= bf16.type(2.0**-20)
    x[2] = np.resize([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, -0.25, -0.75, -5, 4], 32)
    groups = wide(x)
    exponent = np.floor(np.log2(np.abs(groups).max(1))).astype(int) - 2
    codes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    size = np.abs(groups) / 2.0 ** exponent[:, None]
    apart = np.abs(size[..., None] - codes)
    # The nearest code, and of two that are as near the even one.
    nearest = np.argmin(apart + (np.arange(8) % 2) * 1e-9, -1)
    code = nearest + 8 * np.signbit(groups)
    expected = dict(scales=put(scales, ..., exponent + 127), out=put(out, ..., code[:, ::2] | code[:, 1::2] << 4))
    return Case((2,), dict(x=x, out=out, scales=scales), expected)


@case
def dequantize_int4(draw):
    words, scales, out = draw.bits(200), draw.normal(25, dtype=f16), blank(1600, dtype=f16)
    nibbles = words.view(np.uint32)[:, None] >> (4 * np.arange(8, dtype=np.uint32)) & 15
    numbers = ((nibbles.astype(int) ^ 8) - 8).reshape(-1)
    arguments = dict(words=words, scales=scales, out=out, n=1600)
    return Case((2,), arguments, dict(out=numbers.astype(f16) * scales.repeat(64)))


@case(small=True)
def cast_copy(draw):
    x, out = draw.normal(2000), blank(2000, dtype=bf16)
    x[:4] = np.inf, -np.inf, np.nan, 3e38
    return Case((2,), dict(x=x, out=out, n=2000), dict(out=x.astype(bf16)))


@case(small=True)
def vector_triad(draw):
    x, y, out = draw.normal(2000), draw.normal(2000), blank(2000)
    result = wide(x) + 1.5 * wide(y)
    wanted = near(out, ..., result, U * np.abs(1.5 * wide(y)))
    return Case((2,), dict(x=x, y=y, out=out, factor=1.5, n=2000), dict(out=wanted))


@case
def concatenate_columns(draw):
    x, y, out = draw.normal(2, 208, dtype=f16), draw.normal(2, 112, dtype=f16), blank(2, 320, dtype=f16)
    arguments = dict(x=x, y=y, out=out, x_columns=208, y_columns=112)
    return Case((2, 2), arguments, dict(out=np.concatenate([x, y], 1)))


@case
def interpolate(draw):
    x, out = draw.normal(2, 9, 11), blank(2, 18, 20)

    def between(count, of):
        """Places along an axis: the two neighbours, and the share of the second."""
        place = np.maximum((np.arange(count) + 0.5) * (of / count) - 0.5, 0)
        first = place.astype(int)
        return first, np.minimum(first + 1, of - 1), place - first

    top, down, part_y = between(18, 9)
    left, right, part_x = between(20, 11)
    image = wide(x)
    mixed = lambda array: array[..., left] * (1 - part_x) + array[..., right] * part_x
    result = mixed(image[:, top]) * (1 - part_y)[:, None] + mixed(image[:, down]) * part_y[:, None]
    # A place is off by a few roundings of numbers up to 20, and a share as much.
    error = 20 * (QUOTIENT + 3 * U) * 4 * np.abs(image).max() + 6 * U * np.abs(image).max()
    arguments = dict(x=x, out=out, height=9, width=11, out_height=18, out_width=20)
    return Case((3, 2), arguments, dict(out=near(out, ..., result, error)))
