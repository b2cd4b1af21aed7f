"""Products of large matrices for `matrix_products.py`: one tile a block."""

import triton
import triton.language as tl


def signature(factors: str, sums: str, **tile) -> dict:
    return dict(a=f"*{factors}:16", b=f"*{factors}:16", c=f"*{sums}:16", n="i32:16", k="i32:16", **tile)


SIGNATURES = {
    "f16": signature("fp16", "fp16", M=128, N=128, K=32),
    "bf16": signature("bf16", "fp32", M=128, N=128, K=32),
    "tf32": signature("fp32", "fp32", M=128, N=128, K=32),
    "i8": signature("i8", "i32", M=128, N=128, K=64),
    "f8": signature("fp8e4nv", "fp16", M=128, N=128, K=64),
    "f64": signature("fp64", "fp64", M=64, N=64, K=16),
}


@triton.jit
def tile(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, dtype: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    columns = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    sums = tl.zeros([M, N], dtype)
    for start in range(0, k, K):
        x = tl.load(a + rows * k + start + tl.arange(0, K)[None, :])
        y = tl.load(b + (start + tl.arange(0, K)[:, None]) * n + columns)
        sums = tl.dot(x, y, sums, out_dtype=dtype)
    tl.store(c + rows * n + columns, sums.to(c.dtype.element_ty))


@triton.jit
def f16(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.float32)


@triton.jit
def bf16(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.float32)


@triton.jit
def tf32(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.float32)


@triton.jit
def i8(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.int32)


@triton.jit
def f8(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.float32)


@triton.jit
def f64(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile(a, b, c, n, k, M, N, K, tl.float64)
