"""Programs that wait for one another: each publishes a number, then sums what all have published.

A program stores into its own slot, adds itself to `arrivals` (release) and reads `arrivals`
(acquire) until every program has arrived. Only then does it read all slots. It returns at all only
if waiting programs let others run, and its sum is right only if the stores before a release are
seen after the acquire that observed it. `arrivals` must be zero at the start; up to 256 programs.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "spin_counter": dict(slots="*i32:16", arrivals="*i32:16", out="*i32:16", BLOCK=256),
}


@triton.jit
def spin_counter(slots, arrivals, out, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(slots + program, (program + 1) * (program + 1))
    tl.atomic_add(arrivals, 1, sem="release")
    while tl.atomic_add(arrivals, 0, sem="acquire") < programs:
        pass
    others = tl.arange(0, BLOCK)
    published = tl.load(slots + others, mask=others < programs, other=0)
    tl.store(out + program, tl.sum(published, axis=0))
