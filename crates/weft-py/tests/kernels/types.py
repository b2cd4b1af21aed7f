"""Cases of `kernels/types.py`: conversions, and arithmetic whose every bit is known."""

import numpy as np

from kernels.table import (
    bf16,
    blank,
    Case,
    case,
    e4m3,
    e5m2,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    near,
    toward_zero,
    u8,
    u16,
    u32,
    u64,
    unit,
    wide,
)  # fmt: skip


@case(small=True)
def quantize_e4m3(draw):
    x, out = draw.normal(500, scale=0.3), blank(500, dtype=e4m3)
    x[:6] = 0.0, -0.0, 1e-6, 0.5, -0.6, 448 / 900
    numbers = np.clip(x * f32.type(900), -448, 448)
    return Case((2,), dict(x=x, scale=900.0, out=out, n=500), dict(out=numbers.astype(e4m3)))


@case
def quantize_e5m2(draw):
    x, out, chopped = draw.normal(256, dtype=f16), blank(256, dtype=e5m2), blank(256, dtype=e5m2)
    numbers = x * f16.type(100)
    expected = dict(out=numbers.astype(e5m2), chopped=toward_zero(numbers, e5m2))
    return Case((1,), dict(x=x, out=out, chopped=chopped), expected)


@case(small=True)
def dequantize(draw):
    codes = np.arange(256, dtype=u8)
    x, y = codes.view(e4m3), codes.view(e5m2)
    single, half, brain = blank(256), blank(256, dtype=f16), blank(256, dtype=bf16)
    expected = dict(single=x.astype(f32), half=y.astype(f16), brain=x.astype(bf16))
    return Case((1,), dict(x=x, y=y, single=single, half=half, brain=brain), expected)


@case
def magnitudes_of_bytes(draw):
    codes = np.arange(256, dtype=u8)
    x, y, out, other = codes.view(e4m3), codes.view(e5m2), blank(256, dtype=e4m3), blank(256, dtype=e5m2)
    # Nothing but the sign is taken from them.
    positive = codes & u8.type(0x7F)
    expected = dict(out=positive.view(e4m3), other=positive.view(e5m2))
    return Case((1,), dict(x=x, y=y, out=out, other=other), expected)


@case
def chop(draw):
    x, half, brain, double = draw.normal(128), blank(128, dtype=f16), blank(128, dtype=bf16), blank(128, dtype=f64)
    # Beyond what half floats hold, and below their normal numbers.
    x[:8] = 65519, -70000, 1e30, 3e-6, -5e-8, 1e-9, 0.0, -0.0
    expected = dict(half=toward_zero(x, f16), brain=toward_zero(x, bf16), double=wide(x))
    return Case((1,), dict(x=x, half=half, brain=brain, double=double), expected)


@case
def float_to_int(draw):
    x = draw.uniform(-1, 1, 128)
    outs = dict(bytes=blank(128, dtype=i8), words=blank(128, dtype=i32), longs=blank(128, dtype=i64))
    outs["unsigned"] = blank(128, dtype=u32)
    expected = dict(
        bytes=(x * f32.type(100)).astype(i8),
        words=(x * f32.type(1e6)).astype(i32),
        longs=(x * f32.type(1e12)).astype(i64),
        unsigned=(np.abs(x) * f32.type(4e9)).astype(u32),
    )
    return Case((1,), dict(x=x, **outs), expected)


@case
def int_to_float(draw):
    x, u = draw.bits(128, dtype=i8), draw.bits(128, dtype=u16)
    single, half, double = blank(128), blank(128, dtype=f16), blank(128, dtype=f64)
    expected = dict(
        single=x.astype(f32) + u.astype(f32), half=x.astype(f16), double=(u.astype(i64) * 1234567).astype(f64)
    )
    return Case((1,), dict(x=x, u=u, single=single, half=half, double=double), expected)


@case
def same_bits(draw):
    x, y, words, halves = (
        draw.bits(128).view(f32),
        draw.bits(128, dtype=i16),
        blank(128, dtype=i32),
        blank(128, dtype=f16),
    )
    expected = dict(words=x.view(i32) >> 23 & 0xFF, halves=y.view(f16) * f16.type(0.5))
    return Case((1,), dict(x=x, y=y, words=words, halves=halves), expected)


@case
def truth_values(draw):
    x, y, out = draw.integers(0, 2, 128).astype(i1), draw.bits(128), blank(128, dtype=i1)
    even = y % 2 == 0
    wanted = (x & even) | ((~x & ~even) ^ (np.arange(128) < 7))
    return Case((1,), dict(x=x, y=y, out=out), dict(out=wanted))


@case
def bytes_and_shorts(draw):
    x, y, out, small = draw.bits(256, dtype=i8), draw.bits(256, dtype=i16), blank(256, dtype=i16), blank(256, dtype=u8)
    a, b = x.astype(i64), y.astype(i64)
    expected = dict(out=(a * b - (b >> 3)).astype(i16), small=np.maximum((a + a).astype(u8), (b & 0x7F).astype(u8)))
    return Case((1,), dict(x=x, y=y, out=out, small=small), expected)


@case
def long_integers(draw):
    x, y = draw.bits(128, dtype=i64), draw.integers(-(10**6), 10**6, 128, dtype=i64)
    out, high = blank(128, dtype=i64), blank(128, dtype=u32)
    y[y == -1] = 1
    with np.errstate(over="ignore"):
        a, b = x * i64.type(0x123456789), y + 1
        # Quotients are cut off, and the remainder has the dividend's sign.
        quotient = [abs(int(p)) // abs(int(q)) * (1 if (p < 0) == (q < 0) else -1) for p, q in zip(a, b, strict=True)]
        quotient = np.array(quotient, i64)
        wanted = quotient + (a - quotient * b) - ((a << 5) >> 7) + np.abs(b - a)
        factor = b.astype(u32) + u32.type(0x87654321)
    upper = (a.astype(u32).astype(u64) * factor.astype(u64) >> u64.type(32)).astype(u32)
    return Case((1,), dict(x=x, y=y, out=out, high=high), dict(out=wanted, high=upper))


@case
def unsigned_integers(draw):
    x, y, out, truth = (
        draw.bits(128, dtype=u32),
        draw.integers(0, 1000, 128, dtype=u32),
        blank(128, dtype=u32),
        blank(128, dtype=i1),
    )
    with np.errstate(over="ignore"):
        a, b = x * u32.type(0x9E3779B1), y + u32.type(3)
        wanted = (a // b) ^ (a % b) ^ (a >> u32.type(5)) ^ np.minimum(a, b * u32.type(77777777)) ^ np.maximum(a, ~b)
        shifted = b << u32.type(27)
    return Case((1,), dict(x=x, y=y, out=out, truth=truth), dict(out=wanted, truth=a >= shifted))


@case
def doubles(draw):
    x, y, out = draw.normal(128, dtype=f64), draw.normal(128, dtype=f64), blank(128, dtype=f64)
    b = y + 2.0
    wanted = np.where(x > 0, x / b + np.sqrt(np.abs(x * b)), np.floor(x * 10) - np.ceil(b * 10))
    return Case((1,), dict(x=x, y=y, out=out), dict(out=wanted))


@case
def brain_floats(draw):
    x, y, out = draw.normal(256, dtype=bf16), draw.normal(256, dtype=bf16), blank(256, dtype=bf16)
    a, b = wide(x), wide(y)
    less = a < b
    # A product and a sum may be rounded once or twice; what is not multiplied is exact.
    values = np.where(less, a * b + a, np.maximum(wide(x - y), -b))
    return Case(
        (1,), dict(x=x, y=y, out=out), dict(out=near(out, ..., values, np.where(less, unit(bf16) * np.abs(a * b), 0.0)))
    )
