"""Kernels of matrix products: every element type, batches, and factors with scales."""

import triton
import triton.language as tl

SIGNATURES = {
    "product_f32": dict(a="*fp32:16", b="*fp32:16", c="*fp32:16", M=32, N=64, K=32),
    "product_modes": dict(a="*fp32:16", b="*fp32:16", c="*fp32:16", M=16, N=16, K=32),
    "product_f64": dict(a="*fp64:16", b="*fp64:16", c="*fp64:16", M=16, N=32, K=16),
    "product_bf16": dict(a="*bf16:16", b="*bf16:16", c="*bf16:16", M=32, N=32, K=64),
    "product_f16_sums": dict(a="*fp16:16", b="*fp16:16", c="*fp16:16", M=32, N=16, K=16),
    "product_i8": dict(a="*i8:16", b="*i8:16", c="*i32:16", M=32, N=32, K=64),
    "product_f8": dict(a="*fp8e4nv:16", b="*fp8e5:16", c="*fp32:16", M=32, N=32, K=32),
    "product_batched": dict(a="*fp16:16", b="*fp16:16", c="*fp32:16", B=4, M=16, N=32, K=16),
    "product_scaled_f8": dict(a="*u8:16", b="*u8:16", s="*u8:16", t="*u8:16", c="*fp32:16", M=32, N=32, K=64),
    "product_scaled_f4": dict(a="*u8:16", b="*u8:16", s="*u8:16", c="*fp32:16", M=32, N=32, K=64),
    "product_scaled_one": dict(a="*bf16:16", b="*u8:16", t="*u8:16", c="*fp32:16", M=16, N=32, K=64),
}  # fmt: skip


@triton.jit
def places(ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]


@triton.jit
def product_f32(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product of floats, added to what was there."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N))
    sums = tl.full([M, N], 0.5, tl.float32)
    tl.store(c + places(M, N), tl.dot(x, y, sums, input_precision="ieee"))


@triton.jit
def product_modes(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The ways to treat factors of f32."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N))
    total = tl.dot(x, y, input_precision="tf32")
    total += tl.dot(x, y, input_precision="tf32x3")
    total += tl.dot(x, y, input_precision="bf16x3")
    total += tl.dot(x, y, input_precision="bf16x6")
    tl.store(c + places(M, N), total)


@triton.jit
def product_f64(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product of doubles."""
    tl.store(c + places(M, N), tl.dot(tl.load(a + places(M, K)), tl.load(b + places(K, N)), out_dtype=tl.float64))


@triton.jit
def product_bf16(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of bf16, one of them transposed, sums of f32."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(N, K))
    tl.store(c + places(M, N), tl.dot(x, tl.trans(y)).to(tl.bfloat16))


@triton.jit
def product_f16_sums(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors and sums of f16."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N))
    tl.store(c + places(M, N), tl.dot(x, y, out_dtype=tl.float16))


@triton.jit
def product_i8(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of bytes, exact sums."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N))
    tl.store(c + places(M, N), tl.dot(x, y, out_dtype=tl.int32))


@triton.jit
def product_f8(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of eight bits, of two kinds."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N)).to(tl.float16).to(tl.float8e4nv)
    tl.store(c + places(M, N), tl.dot(x, y))


@triton.jit
def product_batched(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Several products at once."""
    batch = tl.arange(0, B)[:, None, None]
    x = tl.load(a + batch * M * K + places(M, K)[None, :, :])
    y = tl.load(b + batch * K * N + places(K, N)[None, :, :])
    tl.store(c + batch * M * N + places(M, N)[None, :, :], tl.dot(x, y))


@triton.jit
def product_scaled_f8(a, b, s, t, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of eight bits, of which 32 along the summed axis share a scale."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K, N))
    x_scale = tl.load(s + places(M, K // 32))
    y_scale = tl.load(t + places(N, K // 32))
    tl.store(c + places(M, N), tl.dot_scaled(x, x_scale, "e4m3", y, y_scale, "e5m2"))


@triton.jit
def product_scaled_f4(a, b, s, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of four bits, two in a byte."""
    x = tl.load(a + places(M, K // 2))
    y = tl.load(b + places(K // 2, N))
    scale = tl.load(s + places(M, K // 32))
    tl.store(c + places(M, N), tl.dot_scaled(x, scale, "e2m1", y, scale, "e2m1"))


@triton.jit
def product_scaled_one(a, b, t, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Only one factor has scales."""
    x = tl.load(a + places(M, K))
    y = tl.load(b + places(K // 2, N))
    scale = tl.load(t + places(N, K // 32))
    tl.store(c + places(M, N), tl.dot_scaled(x, None, "bf16", y, scale, "e2m1"))
