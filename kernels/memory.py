"""Kernels of memory: masks, cache behaviour, atomics, tensor descriptors."""

import triton
import triton.language as tl

SIGNATURES = {
    "masked_copy": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=256),
    "cache_hints": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", again="*fp32:16", BLOCK=256),
    "volatile_sum": dict(x="*i32:16", out="*i32:16", BLOCK=128),
    "scalar_memory": dict(x="*fp32:16", y="*i64", out="*fp32:16"),
    "pointers_as_integers": dict(x="*i32:16", out="*i64:16", BLOCK=64),
    "atomic_integers": dict(x="*i32:16", slots="*i32:16", BLOCK=128),
    "atomic_floats": dict(x="*fp32:16", sums="*fp32:16", halves="*fp16:16", largest="*fp32:16", BLOCK=128),
    "atomic_brains": dict(x="*bf16:16", sums="*bf16:16", places="*bf16:16", old="*bf16:16", BLOCK=128),
    "atomic_longs": dict(x="*i64:16", slots="*i64:16", BLOCK=128),
    "atomic_exchange": dict(slots="*i32:16", old="*i32:16", BLOCK=64),
    "compare_and_swap": dict(slots="*i32:16", old="*i32:16", BLOCK=64),
    "described_block": dict(x="*fp32:16", out="*fp32:16", m="i32", n="i32:16"),
    "described_loop": dict(x="*fp16:16", out="*fp16:16", m="i32", n="i32:16"),
    "described_sum": dict(x="*fp32:16", out="*fp32:16", m="i32", n="i32:16"),
    "described_extremes": dict(x="*fp16:16", y="*bf16:16", most="*fp16:16", least="*bf16:16", m="i32", n="i32:16"),
    "described_rows": dict(x="*fp32:16", rows="*i32:16", out="*fp32:16", m="i32", n="i32:16"),
}  # fmt: skip


@triton.jit
def masked_copy(x, out, n, BLOCK: tl.constexpr):
    """Masks with and without another value, and a mask with gaps."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask) + tl.load(x + offsets, mask=mask & (offsets % 3 != 0), other=-1.0)
    tl.store(out + offsets, values, mask=mask)


@triton.jit
def cache_hints(x, y, out, again, BLOCK: tl.constexpr):
    """Cache modifiers and eviction policies."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets, cache_modifier=".cg") + tl.load(y + offsets, eviction_policy="evict_first")
    b = tl.load(x + offsets, cache_modifier=".ca") * tl.load(y + offsets, eviction_policy="evict_last")
    c = tl.load(x + offsets, cache_modifier=".cv")
    tl.store(out + offsets, a + b, cache_modifier=".cs")
    tl.store(again + offsets, a - c, cache_modifier=".wt")


@triton.jit
def volatile_sum(x, out, BLOCK: tl.constexpr):
    """Loads that may not be shared."""
    offsets = tl.arange(0, BLOCK)
    total = tl.load(x + offsets, volatile=True)
    total += tl.load(x + offsets, volatile=True)
    tl.store(out + offsets, total + tl.load(x, volatile=True))


@triton.jit
def scalar_memory(x, y, out):
    """Loads and stores of one element, under scalar masks."""
    row = tl.program_id(0)
    at = tl.load(y + row)
    value = tl.load(x + at, mask=at < 4, other=-2.0)
    tl.store(out + row, value * 3)
    tl.store(out + row + 4, value, mask=row % 2 == 1)


@triton.jit
def pointers_as_integers(x, out, BLOCK: tl.constexpr):
    """Addresses as numbers and back."""
    offsets = tl.arange(0, BLOCK)
    addresses = (x + offsets).to(tl.int64)
    values = tl.load((addresses + 4).to(tl.pointer_type(tl.int32)), mask=offsets < BLOCK - 1, other=0)
    tl.store(out + offsets, addresses - x.to(tl.int64) + values)


@triton.jit
def atomic_integers(x, slots, BLOCK: tl.constexpr):
    """Every operation on integers, in several orders and scopes."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    places = slots + values % 8
    tl.atomic_add(places, values, mask=values > 10, sem="relaxed")
    tl.atomic_max(places + 8, values, sem="acquire", scope="cta")
    tl.atomic_min(places + 16, values, sem="release", scope="sys")
    tl.atomic_and(places + 24, values | 15)
    tl.atomic_or(places + 32, values)
    tl.atomic_xor(places + 40, values, sem="acq_rel")
    tl.atomic_max((places + 48).to(tl.pointer_type(tl.uint32)), values.to(tl.uint32))
    tl.atomic_min((places + 56).to(tl.pointer_type(tl.uint32)), values.to(tl.uint32))


@triton.jit
def atomic_floats(x, sums, halves, largest, BLOCK: tl.constexpr):
    """Sums of floats, and extremes by their bits."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.atomic_add(sums + offsets % 4, values)
    tl.atomic_add(halves + offsets % 16, values.to(tl.float16), sem="relaxed")
    tl.atomic_max(largest + offsets % 2, values)
    tl.atomic_min(largest + 2 + offsets % 2, values)


@triton.jit
def atomic_brains(x, sums, places, old, BLOCK: tl.constexpr):
    """Sums of bf16 with a mask, and what was there before where each place is added to once."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.atomic_add(sums + offsets % 8, values, mask=offsets % 3 != 0)
    tl.store(old + offsets, tl.atomic_add(places + offsets, values, sem="relaxed"))
    tl.atomic_add(sums + 8, 0.5 * values.sum(0))


@triton.jit
def atomic_longs(x, slots, BLOCK: tl.constexpr):
    """64-bit operations."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.atomic_add(slots + values % 4, values * 0x100000001)
    tl.atomic_max(slots + 4 + values % 4, -values)
    tl.atomic_or(slots + 8 + values % 2, values)


@triton.jit
def atomic_exchange(slots, old, BLOCK: tl.constexpr):
    """What was there before."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(old + offsets, tl.atomic_xchg(slots + offsets, offsets * 3))


@triton.jit
def compare_and_swap(slots, old, BLOCK: tl.constexpr):
    """Swapped where it was expected."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    expected = offsets % 5
    tl.store(old + offsets, tl.atomic_cas(slots + offsets, expected, expected + 100))


@triton.jit
def described_block(x, out, m, n):
    """Blocks of an array through descriptors, beyond its edges too."""
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[16, 32])
    target = tl.make_tensor_descriptor(out, shape=[m, n], strides=[n, 1], block_shape=[16, 32])
    row, column = tl.program_id(0) * 16, tl.program_id(1) * 32
    target.store([row, column], source.load([row, column]) * 2 + 1)


@triton.jit
def described_loop(x, out, m, n):
    """A descriptor used in a loop: the sums of the columns' neighbours."""
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[8, 64])
    target = tl.make_tensor_descriptor(out, shape=[m, n], strides=[n, 1], block_shape=[8, 64])
    row = tl.program_id(0) * 8
    for column in range(0, n, 64):
        target.store([row, column], source.load([row, column]) + source.load([row, column + 1]))


@triton.jit
def described_sum(x, out, m, n):
    """Atomic sums through a descriptor."""
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[16, 16])
    target = tl.make_tensor_descriptor(out, shape=[16, n], strides=[n, 1], block_shape=[16, 16])
    block = source.load([tl.program_id(0) * 16, 0])
    target.atomic_add([0, 0], block)


@triton.jit
def described_extremes(x, y, most, least, m, n):
    """Atomic maxima and minima of halves through descriptors."""
    row = tl.program_id(0) * 16
    halves = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[16, 16])
    greatest = tl.make_tensor_descriptor(most, shape=[16, n], strides=[n, 1], block_shape=[16, 16])
    greatest.atomic_max([0, 0], halves.load([row, 0]))
    brains = tl.make_tensor_descriptor(y, shape=[m, n], strides=[n, 1], block_shape=[16, 16])
    lowest = tl.make_tensor_descriptor(least, shape=[16, n], strides=[n, 1], block_shape=[16, 16])
    lowest.atomic_min([0, 0], brains.load([row, 16]))


@triton.jit
def described_rows(x, rows, out, m, n):
    """Rows that lie apart, gathered through a descriptor."""
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[1, 32])
    which = tl.load(rows + tl.arange(0, 16))
    block = source.gather(which, 0)
    places = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.store(out + places, block)
