"""The sum of two vectors of `n` elements; the last program's tail is masked."""

import triton
import triton.language as tl

SIGNATURES = {
    "vector_add": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)
