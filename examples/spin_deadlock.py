"""Like `spin_counter`, with a mistake: every program waits for one arrival more than will ever come.

On a GPU this kernel never ends. The simulator notices that every program waits and that none can
change what the others wait for, and reports the deadlock with this loop's source location.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "spin_deadlock": dict(arrivals="*i32:16", out="*i32:16"),
}


@triton.jit
def spin_deadlock(arrivals, out):
    programs = tl.num_programs(0)
    arrived = tl.atomic_add(arrivals, 1, sem="acq_rel") + 1
    while arrived < programs + 1:
        arrived = tl.atomic_add(arrivals, 0, sem="acquire")
    tl.store(out + tl.program_id(0), arrived)
