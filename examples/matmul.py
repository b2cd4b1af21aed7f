"""`c = a @ b` for row-major `a` (m by k) and `b` (k by n), a 64x64 tile of `c` a program.

The loop takes 16 columns of `a` and 16 rows of `b` at a time; what lies outside the arrays is
read as zero.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "matmul": dict(
        a="*fp32:16", b="*fp32:16", c="*fp32:16", m="i32:16", n="i32:16", k="i32:16",
        TILE_M=64, TILE_N=64, TILE_K=16,
    ),
}  # fmt: skip


@triton.jit
def matmul(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        inner_a = start + tl.arange(0, TILE_K)[None, :]
        inner_b = start + tl.arange(0, TILE_K)[:, None]
        tile_a = tl.load(a + rows * k + inner_a, mask=(rows < m) & (inner_a < k), other=0.0)
        tile_b = tl.load(b + inner_b * n + columns, mask=(inner_b < k) & (columns < n), other=0.0)
        total = tl.dot(tile_a, tile_b, total, input_precision="ieee")
    tl.store(c + rows * n + columns, total, mask=(rows < m) & (columns < n))
