"""Weights of four bits in groups of 32 with an exponent (mxfp4), by activations of sixteen: `out = codes @ xᵀ`.

An instruction of `mma.sync` wants of each row, in step s of 16 columns, four columns of a thread t:
16 s + 8 h + 2 t + p, for h and p zero or one. In memory a thread's codes then lie apart, two at a time.
But a sum may be taken in any order. Let thread t have the codes 32 t .. 32 t + 31 of 128 that lie
together: one load of 128 bits, and one exponent. The activations must follow, and their columns are
put in that order once, in memory: a reshape, a permutation and a reshape.

`preshuffle` does that, and `mxfp4_product` multiplies what it made. Both say the order in shape
operations, of which the compiler makes layouts: no thread asks another for a code or an exponent.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "preshuffle": dict(x="*bf16:16", out="*bf16:16", k="i32:16", ROWS=16),
    "mxfp4_product": dict(
        codes="*u8:16", exponents="*u8:16", x="*bf16:16", out="*fp32:16", m="i32", n="i32", k="i32:16",
        codes_row="i32:16", exponents_row="i32:16", TILE_M=64, TILE_N=32,
    ),
}  # fmt: skip


@triton.jit
def preshuffle(x, out, k, ROWS: tl.constexpr):
    """128 columns of some rows of activations in the order of the instructions' threads."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    at = rows * k + tl.program_id(1) * 128 + tl.arange(0, 128)[None, :]
    tile = tl.load(x + at).reshape(ROWS, 4, 8, 2, 2)  # thread, step, half, pair
    tl.store(out + at, tile.permute(0, 2, 3, 1, 4).reshape(ROWS, 128))


@triton.jit
def mxfp4_product(
    codes, exponents, x, out, m, n, k, codes_row, exponents_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr
):
    """`k` is a multiple of 128; `x` is pre-shuffled."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    codes_at = codes + rows * codes_row + tl.arange(0, 64)[None, :]
    exponents_at = exponents + rows * exponents_row + tl.arange(0, 4)[None, :]
    x_at = x + columns * k + tl.arange(0, 128)[:, None]
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for _ in range(0, k, 128):
        pairs = tl.load(codes_at, mask=rows < m, other=0)
        exponent = tl.load(exponents_at, mask=rows < m, other=0)
        code = tl.join(pairs & 15, pairs >> 4).reshape(TILE_M, 128).to(tl.int16)
        # A sign, two bits of exponent and one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
        size = code & 7
        bits = tl.where(size < 2, size * 0x3F00, (size + 252) << 6) | ((code & 8) << 12)
        scale = (exponent.to(tl.int16) << 7).to(tl.bfloat16, bitcast=True)
        scale = tl.broadcast_to(scale[:, :, None], [TILE_M, 4, 32]).reshape(TILE_M, 128)
        weights = bits.to(tl.bfloat16, bitcast=True) * scale
        weights = weights.reshape(TILE_M, 4, 8, 2, 2).permute(0, 2, 3, 1, 4).reshape(TILE_M, 128)
        sums = tl.dot(weights, tl.load(x_at, mask=columns < n, other=0.0), sums)
        codes_at += 64
        exponents_at += 4
        x_at += 128
    tl.store(out + rows * n + columns, sums, mask=(rows < m) & (columns < n))
