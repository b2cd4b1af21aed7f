"""Cases of `kernels/assembly.py`: what the instructions of the PTX ISA are defined to give."""

import numpy as np

from kernels.table import blank, Case, case, f16, f32, i8, i32, i64, near, put, U, u8, u16, u32, u64, wide


@case(small=True)
def assembly_words(draw):
    x, y, out = draw.bits(2, 128), draw.bits(2, 128), blank(2, 128, dtype=i32)
    a = x.view(u32).astype(u64)
    rotated = (a << u64.type(7) | a >> u64.type(25)) & u64.type(0xFFFFFFFF)
    product = rotated * y.view(u32).astype(u64)
    low = product.astype(u32) * u32.type(5) + u32.type(0x11)
    high = ~(product >> u64.type(32)).astype(u32)
    wanted = low + high * u32.type(3) + np.arange(2, dtype=u32)[:, None]
    return Case((2,), dict(x=x, y=y, out=out), dict(out=wanted.view(i32)))


@case
def assembly_bits(draw):
    x, y, out = draw.bits(64), draw.bits(64), blank(7, 64, dtype=i32)
    x[:3] = 0, -1, 1
    a, b = x.view(u32), y.view(u32)
    digits = [f"{each:032b}" for each in a.tolist()]
    turned = np.array([int(each[::-1], 2) for each in digits], u32)
    # `prmt` picks bytes of both words by number; 8 more repeats the byte's sign.
    bytes_of_both = np.concatenate([a.view(u8).reshape(64, 4), b.view(u8).reshape(64, 4)], 1)
    sign = np.where(bytes_of_both[:, 7] & 0x80, 0xFF, 0).astype(u8)
    permuted = np.stack([bytes_of_both[:, 2], bytes_of_both[:, 6], sign, bytes_of_both[:, 1]], 1)
    rows = [
        np.array([each.count("1") for each in digits], u32),
        np.array([len(each) - len(each.lstrip("0")) for each in digits], u32),
        turned,
        a >> u32.type(3) & u32.type(31),
        b & ~u32.type(0xFF0) | (a & u32.type(0xFF)) << u32.type(4),
        # The majority of three.
        a & b | a & turned | b & turned,
        permuted.reshape(-1).view(u32),
    ]
    return Case((1,), dict(x=x, y=y, out=out), dict(out=np.stack(rows).view(i32)))


@case
def assembly_floats(draw):
    x, out, sign = draw.normal(128), blank(128), blank(128, dtype=i32)
    power = np.exp2(wide(x))
    result = power / (2 * power + 1)
    direction = np.where(x > f32.type(0.5), 2, np.where(x < 0, -1, 1) + 10)
    expected = dict(out=near(out, ..., result, 6 * U * result), sign=direction.astype(i32))
    return Case((1,), dict(x=x, out=out, sign=sign), expected)


@case
def assembly_halves(draw):
    x, y, out = draw.normal(256, dtype=f16), draw.normal(256, dtype=f16), blank(2, 256, dtype=f16)
    fused = (wide(x) * wide(y) + wide(x)).astype(f16)
    return Case((1,), dict(x=x, y=y, out=out), dict(out=np.stack([fused, np.maximum(x, y)])))


@case
def assembly_bytes(draw):
    x, out = draw.bits(256, dtype=i8), blank(2, 256, dtype=i8)
    codes = x.view(u8)
    turned = ((codes & 0x7F) + u8.type(1)) ^ u8.type(0x80)
    return Case((1,), dict(x=x, out=out), dict(out=np.stack([turned, codes << 1]).view(i8)))


@case
def assembly_longs(draw):
    x, out, high = draw.bits(64, dtype=i64), blank(64, dtype=i64), blank(64, dtype=i32)
    squares = [(int(each) ** 2 >> 64) for each in x.view(u64)]
    expected = dict(out=np.array(squares, u64).view(i64), high=(x >> 32).astype(i32))
    return Case((1,), dict(x=x, out=out, high=high), expected)


@case
def small_floats(draw):
    codes = np.arange(256, dtype=u8)
    half, back = blank(256, dtype=f16), blank(256, dtype=i8)
    # Four bits of exponent, whose bias is that of half floats, and three of mantissa; no number is special.
    wanted = ((codes.astype(u16) & 0x80) << 8 | (codes.astype(u16) & 0x7F) << 7).view(f16)
    # The way back stops at 1.75, before the last code.
    expected = dict(half=wanted, back=put(codes, [127, 255], [126, 254]).view(i8))
    return Case((1,), dict(x=codes.view(i8), half=half, back=back), expected)
