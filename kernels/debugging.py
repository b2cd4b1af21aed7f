"""Kernels that print, and kernels that assert."""

import triton
import triton.language as tl

SIGNATURES = {
    "print_values": dict(x="*i32:16", y="*fp32:16", out="*i32:16", BLOCK=8),
    "print_everywhere": dict(x="*fp16:16", y="*i8:16", out="*fp32:16", n="i32"),
    "assert_in_range": dict(x="*i32:16", out="*i32:16", n="i32", BLOCK=64),
    "assert_while_adding": dict(x="*i32:16", total="*i32:16", running="*i32:16", BLOCK=512),
    "assert_uniform": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=64),
}  # fmt: skip


@triton.jit
def print_values(x, y, out, BLOCK: tl.constexpr):
    """Tensors of integers and floats, in decimal and hexadecimal."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    numbers, floats = tl.load(x + at), tl.load(y + at)
    tl.device_print("numbers", numbers)
    tl.device_print("bits", numbers.to(tl.uint32), floats, hex=True)
    tl.store(out + at, numbers + floats.to(tl.int32))


@triton.jit
def print_everywhere(x, y, out, n):
    """Inside a loop and a branch; scalars, narrow elements, two dimensions, truth values, pointers."""
    total = 0.0
    for i in range(0, n):
        value = tl.load(x + i).to(tl.float32)
        if value > 0:
            tl.device_print("positive: ", i, value)
        total += value
    at = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    block = tl.load(y + at)
    tl.device_print("block 100%", block, block > 0)
    tl.device_print("done")
    tl.store(out, total)


@triton.jit(debug=True)
def assert_in_range(x, out, n, BLOCK: tl.constexpr):
    """Each index is checked before it is used; sums are checked for overflow by the front end."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(x + at, mask=at < n, other=0)
    tl.device_assert((index >= 0) & (index < 1000), "index out of range", mask=at < n)
    tl.store(out + at, index + 1, mask=at < n)


@triton.jit(debug=True)
def assert_uniform(x, out, n, BLOCK: tl.constexpr):
    """A scalar condition, in a loop."""
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block = tl.load(x + at)
        largest = tl.max(block, 0)
        tl.device_assert(largest < 100.0, "the block has a large element")
        tl.store(out + at, block / largest)


@triton.jit
def add_checked(a, b):
    """A sum that fits into 32 bits."""
    wide = a.to(tl.int64) + b.to(tl.int64)
    tl.device_assert((wide >= -(2**31)) & (wide < 2**31), "a sum of 32 bits")
    return a + b


@triton.jit(debug=True)
def assert_while_adding(x, total, running, BLOCK: tl.constexpr):
    """Inside the function of a reduction and of a scan."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(total + tl.program_id(0), tl.reduce(values, 0, add_checked))
    tl.store(running + at, tl.associative_scan(values, 0, add_checked))
