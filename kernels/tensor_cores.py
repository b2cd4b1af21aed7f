"""Kernels for matrix instructions: products in loops, thin products, and products that hand over."""

import triton
import triton.language as tl

SIGNATURES = {
    "matmul_f16": dict(a="*fp16:16", b="*fp16:16", c="*fp16:16", n="i32:16", k="i32:16", M=64, N=64, K=32),
    "matmul_bf16": dict(a="*bf16:16", b="*bf16:16", c="*fp32:16", n="i32:16", k="i32:16", M=64, N=32, K=64),
    "matmul_tf32": dict(a="*fp32:16", b="*fp32:16", c="*fp32:16", n="i32:16", k="i32:16", M=32, N=64, K=32),
    "matmul_i8": dict(a="*i8:16", b="*i8:16", c="*i32:16", n="i32:16", k="i32:16", M=64, N=64, K=64),
    "matmul_f8": dict(a="*fp8e4nv:16", b="*fp8e4nv:16", c="*fp16:16", n="i32:16", k="i32:16", M=64, N=64, K=64),
    "matmul_f64": dict(a="*fp64:16", b="*fp64:16", c="*fp64:16", n="i32:16", k="i32:16", M=32, N=32, K=16),
    "product_thin": dict(a="*fp16:16", b="*fp16:16", c="*fp32:16", M=4, N=32, K=64),
    "product_narrow": dict(a="*i8:16", b="*i8:16", c="*i32:16", M=64, N=4, K=32),
    "product_mixed": dict(a="*fp16:16", b="*i8:16", c="*fp32:16", M=32, N=32, K=64),
    "attention_f16": dict(q="*fp16:16", k="*fp16:16", v="*fp16:16", out="*fp16:16", n="i32", ROWS=64, COLUMNS=32, DEPTH=32),
    "attention_f8": dict(q="*fp16:16", k="*fp16:16", v="*fp8e5:16", out="*fp16:16", n="i32", ROWS=64, COLUMNS=64, DEPTH=32),
}  # fmt: skip


@triton.jit
def sums_of(a, b, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr, dtype: tl.constexpr):
    """One tile of a product: `a` by rows, `b` by rows or, turned, by columns."""
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    columns = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    sums = tl.zeros([M, N], dtype)
    for start in range(0, k, K):
        x = tl.load(a + rows * k + start + tl.arange(0, K)[None, :])
        along = start + tl.arange(0, K)[:, None]
        if TURNED:
            y = tl.load(b + columns * k + along)
        else:
            y = tl.load(b + along * n + columns)
        sums = tl.dot(x, y, sums, out_dtype=dtype)
    return sums


@triton.jit
def place(c, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    columns = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    return c + rows * n + columns


@triton.jit
def matmul_f16(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of f16, both by rows."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, False, tl.float32).to(tl.float16))


@triton.jit
def matmul_bf16(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of bf16, the right one by columns."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, True, tl.float32))


@triton.jit
def matmul_tf32(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of f32, rounded to tf32."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, False, tl.float32))


@triton.jit
def matmul_i8(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of bytes, the right one by columns."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, True, tl.int32))


@triton.jit
def matmul_f8(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Factors of eight bits, both by rows."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, False, tl.float32).to(tl.float16))


@triton.jit
def matmul_f64(a, b, c, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Doubles."""
    tl.store(place(c, n, M, N), sums_of(a, b, n, k, M, N, K, False, tl.float64))


@triton.jit
def product_thin(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Fewer rows than an instruction has."""
    x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.dot(x, y))


@triton.jit
def product_narrow(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Fewer columns than an instruction has."""
    x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.dot(x, y))


@triton.jit
def product_mixed(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Bytes in memory, widened to the other factor's type and scaled."""
    x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.dot(x, y.to(tl.float16) * 0.015625))


@triton.jit
def attended(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, narrow: tl.constexpr):
    """A block of rows of attention; the weights become a factor in the type `narrow`."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, DEPTH)
    query = tl.load(q + rows[:, None] * DEPTH + depth[None, :])
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, DEPTH], tl.float32)
    for start in range(0, n, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        keys = tl.load(k + columns[None, :] * DEPTH + depth[:, None])
        scores = tl.dot(query, keys) * 0.17677669
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new_largest[:, None])
        scale = tl.exp(largest - new_largest)
        total = total * scale + tl.sum(weights, 1)
        values = tl.load(v + columns[:, None] * DEPTH + depth[None, :])
        sums = tl.dot(weights.to(narrow), values, sums * scale[:, None])
        largest = new_largest
    tl.store(out + rows[:, None] * DEPTH + depth[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def attention_f16(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    """Rows of sums are the left factor of the next product as they are."""
    attended(q, k, v, out, n, ROWS, COLUMNS, DEPTH, tl.float16)


@triton.jit
def attention_f8(q, k, v, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    """The same with weights and values of eight bits."""
    attended(q, k, v, out, n, ROWS, COLUMNS, DEPTH, tl.float8e5)
