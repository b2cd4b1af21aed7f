"""The softmax of each row of an array with `n <= 1024` columns, one row a program.

The row's maximum is subtracted before `exp`, so that nothing overflows; columns past the end are
`-inf` and weigh nothing.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "row_softmax": dict(x="*fp32:16", out="*fp32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def row_softmax(x, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    row = tl.load(x + start + columns, mask=mask, other=-float("inf"))
    weights = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + start + columns, weights / tl.sum(weights, axis=0), mask=mask)
