"""How many elements of an array are positive, with a mistake: programs add to one counter without an
atomic operation.

Two programs may read the same old count, and one of the two sums is lost. Mostly the result looks right on a
GPU. The simulator sees that nothing orders the accesses, and reports the race with the lines of both.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "racing_count": dict(x="*fp32:16", count="*i32:16", n="i32:16", BLOCK=1024),
}


@triton.jit
def racing_count(x, count, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < n, other=0.0)
    positive = tl.sum((values > 0.0).to(tl.int32), axis=0)
    before = tl.load(count)
    tl.store(count, before + positive)
