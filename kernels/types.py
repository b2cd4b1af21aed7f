"""Kernels of the element types: conversions between them, and arithmetic in each."""

import triton
import triton.language as tl

SIGNATURES = {
    "quantize_e4m3": dict(x="*fp32:16", scale="fp32", out="*fp8e4nv:16", n="i32", BLOCK=256),
    "quantize_e5m2": dict(x="*fp16:16", out="*fp8e5:16", chopped="*fp8e5:16", BLOCK=256),
    "dequantize": dict(x="*fp8e4nv:16", y="*fp8e5:16", single="*fp32:16", half="*fp16:16", brain="*bf16:16", BLOCK=256),
    "magnitudes_of_bytes": dict(x="*fp8e4nv:16", y="*fp8e5:16", out="*fp8e4nv:16", other="*fp8e5:16", BLOCK=256),
    "chop": dict(x="*fp32:16", half="*fp16:16", brain="*bf16:16", double="*fp64:16", BLOCK=128),
    "float_to_int": dict(x="*fp32:16", bytes="*i8:16", words="*i32:16", longs="*i64:16", unsigned="*u32:16", BLOCK=128),
    "int_to_float": dict(x="*i8:16", u="*u16:16", single="*fp32:16", half="*fp16:16", double="*fp64:16", BLOCK=128),
    "same_bits": dict(x="*fp32:16", y="*i16:16", words="*i32:16", halves="*fp16:16", BLOCK=128),
    "truth_values": dict(x="*i1:16", y="*i32:16", out="*i1:16", BLOCK=128),
    "bytes_and_shorts": dict(x="*i8:16", y="*i16:16", out="*i16:16", small="*u8:16", BLOCK=256),
    "long_integers": dict(x="*i64:16", y="*i64:16", out="*i64:16", high="*u32:16", BLOCK=128),
    "unsigned_integers": dict(x="*u32:16", y="*u32:16", out="*u32:16", truth="*i1:16", BLOCK=128),
    "doubles": dict(x="*fp64:16", y="*fp64:16", out="*fp64:16", BLOCK=128),
    "brain_floats": dict(x="*bf16:16", y="*bf16:16", out="*bf16:16", BLOCK=256),
}  # fmt: skip


@triton.jit
def quantize_e4m3(x, scale, out, n, BLOCK: tl.constexpr):
    """Floats of eight bits by a scale, saturating."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask) * scale
    tl.store(out + offsets, values.to(tl.float8e4nv), mask=mask)


@triton.jit
def quantize_e5m2(x, out, chopped, BLOCK: tl.constexpr):
    """To nearest even, and toward zero."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets) * 100
    tl.store(out + offsets, values.to(tl.float8e5))
    tl.store(chopped + offsets, values.to(tl.float32).to(tl.float8e5, fp_downcast_rounding="rtz"))


@triton.jit
def dequantize(x, y, single, half, brain, BLOCK: tl.constexpr):
    """Each of the 256 floats of eight bits in wider types."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    tl.store(single + offsets, a.to(tl.float32))
    tl.store(half + offsets, b.to(tl.float16))
    tl.store(brain + offsets, a.to(tl.bfloat16))


@triton.jit
def magnitudes_of_bytes(x, y, out, other, BLOCK: tl.constexpr):
    """The only thing that is done to floats of eight bits without making others of them."""
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.abs(tl.load(x + at)))
    tl.store(other + at, tl.abs(tl.load(y + at)))


@triton.jit
def chop(x, half, brain, double, BLOCK: tl.constexpr):
    """Narrower types toward zero, and the wider one."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.store(half + offsets, values.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(brain + offsets, values.to(tl.bfloat16, fp_downcast_rounding="rtz"))
    tl.store(double + offsets, values.to(tl.float64))


@triton.jit
def float_to_int(x, bytes, words, longs, unsigned, BLOCK: tl.constexpr):
    """Toward zero, into each width."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.store(bytes + offsets, (values * 100).to(tl.int8))
    tl.store(words + offsets, (values * 1e6).to(tl.int32))
    tl.store(longs + offsets, (values * 1e12).to(tl.int64))
    tl.store(unsigned + offsets, (tl.abs(values) * 4e9).to(tl.uint32))


@triton.jit
def int_to_float(x, u, single, half, double, BLOCK: tl.constexpr):
    """Signed and unsigned integers as floats."""
    offsets = tl.arange(0, BLOCK)
    signed = tl.load(x + offsets)
    unsigned = tl.load(u + offsets)
    tl.store(single + offsets, signed.to(tl.float32) + unsigned.to(tl.float32))
    tl.store(half + offsets, signed.to(tl.float16))
    tl.store(double + offsets, (unsigned.to(tl.int64) * 1234567).to(tl.float64))


@triton.jit
def same_bits(x, y, words, halves, BLOCK: tl.constexpr):
    """The same bits under another type."""
    offsets = tl.arange(0, BLOCK)
    bits = tl.load(x + offsets).to(tl.int32, bitcast=True)
    tl.store(words + offsets, (bits >> 23) & 0xFF)
    tl.store(halves + offsets, tl.load(y + offsets).to(tl.float16, bitcast=True) * 0.5)


@triton.jit
def truth_values(x, y, out, BLOCK: tl.constexpr):
    """Truth values from memory, combined and stored."""
    offsets = tl.arange(0, BLOCK)
    given = tl.load(x + offsets)
    even = tl.load(y + offsets) % 2 == 0
    tl.store(out + offsets, (given & even) | (~given & ~even) ^ (offsets < 7))


@triton.jit
def bytes_and_shorts(x, y, out, small, BLOCK: tl.constexpr):
    """Narrow integers wrap."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    tl.store(out + offsets, a * b - (b >> 3))
    tl.store(small + offsets, tl.maximum((a + a).to(tl.uint8), (b & 0x7F).to(tl.uint8)))


@triton.jit
def long_integers(x, y, out, high, BLOCK: tl.constexpr):
    """Products, quotients and shifts of 64 bits, and the upper half of a product of 32."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 0x123456789
    b = tl.load(y + offsets) + 1
    tl.store(out + offsets, (a // b) + (a % b) - ((a << 5) >> 7) + tl.abs(b - a))
    tl.store(high + offsets, tl.umulhi(a.to(tl.uint32), b.to(tl.uint32) + 0x87654321))


@triton.jit
def unsigned_integers(x, y, out, truth, BLOCK: tl.constexpr):
    """Unsigned quotients, remainders, shifts, minima and comparisons."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 0x9E3779B1
    b = tl.load(y + offsets) + 3
    tl.store(out + offsets, (a // b) ^ (a % b) ^ (a >> 5) ^ tl.minimum(a, b * 77777777) ^ tl.maximum(a, ~b))
    tl.store(truth + offsets, a >= (b << 27))


@triton.jit
def doubles(x, y, out, BLOCK: tl.constexpr):
    """Arithmetic of 64-bit floats."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets) + 2.0
    root = tl.sqrt(tl.abs(a * b))
    tl.store(out + offsets, tl.where(a > 0, a / b + root, tl.floor(a * 10) - tl.ceil(b * 10)))


@triton.jit
def brain_floats(x, y, out, BLOCK: tl.constexpr):
    """Arithmetic of bf16."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.load(y + offsets)
    tl.store(out + offsets, tl.where(a < b, a * b + a, tl.maximum(a - b, -b)))
