"""Cases of `kernels/transposes.py`. Nothing is computed, so that every bit counts."""

import numpy as np

from kernels.table import bf16, blank, Case, case, e4m3, e5m2, f16, f32, i8, i64, put, u8, wide


def plane(draw, kind, rows, columns, m, n, x_row, out_row):
    """A ragged matrix of any bits, read by tiles of `rows` by `columns`."""
    x, out = (
        draw.bits(m, x_row, dtype=np.dtype(f"u{kind.itemsize}")),
        blank(n, out_row, dtype=np.dtype(f"u{kind.itemsize}")),
    )
    wanted = put(out, np.s_[:, :m], x[:, :n].T)
    grid = (-(-m // rows), -(-n // columns))
    arguments = dict(x=x.view(kind), out=out.view(kind), m=m, n=n, x_row=x_row, out_row=out_row)
    return Case(grid, arguments, dict(out=wanted.view(kind)))


@case
def transpose_bytes(draw):
    return plane(draw, i8, 128, 128, 200, 100, 112, 208)


@case
def transpose_f8(draw):
    return plane(draw, e5m2, 64, 128, 100, 110, 112, 112)


@case(small=True)
def transpose_halves(draw):
    return plane(draw, f16, 64, 64, 100, 50, 64, 112)


@case
def transpose_words(draw):
    return plane(draw, f32, 64, 64, 100, 70, 80, 112)


@case
def transpose_longs(draw):
    return plane(draw, i64, 32, 32, 50, 31, 32, 64)


@case
def transpose_batched(draw):
    x, out = draw.normal(2, 48, 64, dtype=bf16), blank(2, 64, 48, dtype=bf16)
    wanted = np.ascontiguousarray(x.swapaxes(1, 2))
    return Case((2, 1, 2), dict(x=x, out=out, m=48, n=64), dict(out=wanted))


@case
def transpose_quantized(draw):
    x, out, same = draw.uniform(-30, 30, 60, 112, dtype=bf16), blank(112, 64, dtype=e4m3), blank(60, 112, dtype=e4m3)
    # What is too large becomes the largest there is.
    numbers = np.clip(wide(x[:, :100]) * 20, -448, 448)
    expected = dict(out=put(out, np.s_[:100, :60], numbers.T), same=put(same, np.s_[:, :100], numbers))
    arguments = dict(x=x, out=out, same=same, scale=20.0, m=60, n=100, x_row=112, out_row=64)
    return Case((1, 2), arguments, expected)


@case(small=True)
def heads_first(draw):
    x, out = draw.normal(20, 6, 64, dtype=f16), blank(6, 20, 64, dtype=f16)
    return Case((2,), dict(x=x, out=out, tokens=20, heads=6), dict(out=x.swapaxes(0, 1).copy()))


@case
def channels_last(draw):
    x, out = draw.normal(2, 40, 80), blank(2, 80, 40)
    return Case((2, 2, 2), dict(x=x, out=out, channels=40, pixels=80), dict(out=x.swapaxes(1, 2).copy()))


@case
def shuffle_pixels(draw):
    x, out = draw.normal(2, 48, 16, 2, 2, dtype=f16), blank(4, 96, 16, dtype=f16)
    # line, pixel, channel, down, across: to line down, pixel across, channel.
    wanted = x.transpose(0, 3, 1, 4, 2).reshape(4, 96, 16)
    arguments = dict(x=x.reshape(2, 48, 64), out=out, width=48)
    return Case((2, 2), arguments, dict(out=np.ascontiguousarray(wanted)))


@case
def unpack_and_turn(draw):
    x, out = draw.bits(60, 64, dtype=u8), blank(100, 64, dtype=i8)
    codes = np.stack([x[:, :50] & 15, x[:, :50] >> 4], -1).reshape(60, 100)
    arguments = dict(x=x, out=out, m=60, n=50, x_row=64, out_row=64)
    return Case((1, 2), arguments, dict(out=put(out, np.s_[:, :60], codes.T)))
