"""Kernels of the mathematical functions, of `tl.math` and of `libdevice`."""

import triton
import triton.language as tl
from triton.language.extra import libdevice

SIGNATURES = {
    "exponentials": dict(x="*fp32:16", out="*fp32:16", BLOCK=256),
    "logarithms": dict(x="*fp32:16", out="*fp32:16", BLOCK=256),
    "trigonometry": dict(x="*fp32:16", sines="*fp32:16", cosines="*fp32:16", BLOCK=256),
    "roots": dict(x="*fp32:16", out="*fp32:16", precise="*fp32:16", BLOCK=256),
    "gelu": dict(x="*fp16:16", out="*fp16:16", n="i32", BLOCK=256),
    "extremes": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", BLOCK=256),
    "rounding": dict(x="*fp32:16", out="*fp32:16", wide="*fp64:16", BLOCK=256),
    "double_functions": dict(x="*fp64:16", out="*fp64:16", BLOCK=128),
    "float_remainder": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", BLOCK=256),
    "device_library": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", kinds="*i32:16", BLOCK=256),
    "random_numbers": dict(seed="i32", uniform="*fp32:16", normal="*fp32:16", whole="*i32:16", BLOCK=128),
}  # fmt: skip


@triton.jit
def exponentials(x, out, BLOCK: tl.constexpr):
    """Exponentials, a sigmoid and a softmax."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets) * 4
    tl.store(out + offsets, tl.exp(values) + tl.exp2(values) * tl.sigmoid(values) + tl.softmax(values))


@triton.jit
def logarithms(x, out, BLOCK: tl.constexpr):
    """Logarithms of positive numbers."""
    offsets = tl.arange(0, BLOCK)
    values = tl.abs(tl.load(x + offsets)) + 0.01
    tl.store(out + offsets, tl.log(values) * tl.log2(values + 2))


@triton.jit
def trigonometry(x, sines, cosines, BLOCK: tl.constexpr):
    """Sines and cosines of small and of large numbers."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.store(sines + offsets, tl.sin(values * 3) + tl.sin(values * 1e9))
    tl.store(cosines + offsets, tl.cos(values * 3) - tl.cos(values * 1e30))


@triton.jit
def roots(x, out, precise, BLOCK: tl.constexpr):
    """Roots and quotients, approximate and precise."""
    offsets = tl.arange(0, BLOCK)
    values = tl.abs(tl.load(x + offsets)) + 0.5
    tl.store(out + offsets, tl.sqrt(values) + tl.rsqrt(values) + values / (values + 1))
    tl.store(precise + offsets, tl.div_rn(tl.sqrt_rn(values), values * 3))


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    """The error function in an activation, by f32 and back."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0).to(tl.float32) * 3
    tl.store(out + offsets, 0.5 * values * (1 + tl.erf(values * 0.70710678)), mask=offsets < n)


@triton.jit
def extremes(x, y, out, BLOCK: tl.constexpr):
    """Minima, maxima and clamping with each rule for NaN."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.where(offsets % 5 == 0, float("nan"), tl.load(y + offsets))
    number = tl.maximum(a, b) + tl.minimum(a, b)
    nan = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL) * tl.minimum(b, a, propagate_nan=tl.PropagateNan.ALL)
    held = tl.clamp(a, -0.5, 0.5) + tl.clamp(b, 0.0, 0.25, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + offsets, number + tl.where(nan == nan, nan + held, -100.0))


@triton.jit
def rounding(x, out, wide, BLOCK: tl.constexpr):
    """Floor, ceiling, and a fused product."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets) * 50
    tl.store(out + offsets, tl.fma(tl.floor(values), tl.ceil(values), values) - tl.abs(values))
    tl.store(wide + offsets, tl.floor(values.to(tl.float64) * 1e10))


@triton.jit
def double_functions(x, out, BLOCK: tl.constexpr):
    """Exponentials and logarithms of doubles."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    positive = tl.abs(values) + 1e-3
    tl.store(out + offsets, tl.exp(values * 20) + tl.exp2(values) + tl.log(positive) * tl.log2(positive))


@triton.jit
def float_remainder(x, y, out, BLOCK: tl.constexpr):
    """What a division leaves."""
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, (tl.load(x + offsets) * 1e6) % (tl.load(y + offsets) + 0.001))


@triton.jit
def device_library(x, y, out, kinds, BLOCK: tl.constexpr):
    """Functions of NVIDIA's library."""
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets) * 3
    b = tl.load(y + offsets)
    total = libdevice.tanh(a) + libdevice.expm1(b) + libdevice.log1p(tl.abs(b)) + libdevice.pow(tl.abs(a) + 0.1, b)
    total += libdevice.cosh(a) + libdevice.exp10(b) + libdevice.log10(tl.abs(a) + 1) + libdevice.rint(a)
    total += libdevice.trunc(a * 2) + libdevice.copysign(a, b) + libdevice.fmod(a, b + 2) + libdevice.tan(b)
    tl.store(out + offsets, total)
    odd = tl.where(offsets % 3 == 0, float("inf"), tl.where(offsets % 3 == 1, float("nan"), a))
    kind = libdevice.isnan(odd).to(tl.int32) + 2 * libdevice.isinf(odd).to(tl.int32)
    tl.store(kinds + offsets, kind + 4 * libdevice.finitef(odd).to(tl.int32))


@triton.jit
def random_numbers(seed, uniform, normal, whole, BLOCK: tl.constexpr):
    """Triton's own random numbers: products of 32 bits, and a normal distribution."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(uniform + offsets, tl.rand(seed, offsets))
    tl.store(normal + offsets, tl.randn(seed, offsets))
    tl.store(whole + offsets, tl.randint(seed, offsets))
