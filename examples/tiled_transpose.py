"""`out[j, i] = x[i, j]` for an `m` by `n` array, a tile of 64x64 elements a program.

The tile is loaded along the rows of `x` and stored along the rows of `out`, so that both sides of
global memory are coalesced; the data changes hands between the two, through shared memory.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "tiled_transpose": dict(x="*fp32:16", out="*fp32:16", m="i32:16", n="i32:16", TILE=64),
}


@triton.jit
def tiled_transpose(x, out, m, n, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    loaded = tl.load(
        x + rows[:, None] * n + columns[None, :],
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )
    tl.store(
        out + columns[:, None] * m + rows[None, :],
        tl.trans(loaded),
        mask=(columns[:, None] < n) & (rows[None, :] < m),
    )
