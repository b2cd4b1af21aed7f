"""Matrix multiplies as they are used: any sizes and strides, and what is fused before and behind them.

`a` is m by k, `b` is k by n and `c` is m by n; an array's strides say how far its rows and its columns
are apart. What lies outside is read as zero and not written.
"""

import triton
import triton.language as tl

# Sizes as launches usually have them, and such of which nothing is known.
TILE = dict(m="i32", n="i32:16", k="i32:16")
ANY = dict(m="i32", n="i32", k="i32")
STRIDES = dict(a_row="i32:16", b_row="i32:16", c_row="i32:16")

SIGNATURES = {
    "gemm_f16": dict(
        a="*fp16:16", b="*fp16:16", c="*fp16:16", **TILE, **STRIDES, TILE_M=128, TILE_N=128, TILE_K=32, GROUP=4
    ),
    "linear_bf16": dict(a="*bf16:16", b="*bf16:16", c="*bf16:16", **ANY, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32),
    "gemm_tf32": dict(a="*fp32:16", b="*fp32:16", c="*fp32:16", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32),
    "gemm_i8": dict(
        a="*i8:16", b="*i8:16", a_scale="*fp32:16", b_scale="*fp32:16", c="*fp16:16", **TILE, **STRIDES,
        TILE_M=64, TILE_N=64, TILE_K=64,
    ),
    "gemm_f8": dict(
        a="*fp8e4nv:16", b="*fp8e4nv:16", c="*bf16:16", scale="fp32", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=64
    ),
    "matmul_batched": dict(
        a="*fp16:16", b="*fp16:16", c="*fp32:16", **ANY, a_batch="i32:16", b_batch="i32:16", c_batch="i32:16",
        **STRIDES, TILE_M=32, TILE_N=64, TILE_K=32,
    ),
    "matmul_split_k": dict(a="*fp16:16", b="*fp16:16", c="*fp32:16", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32),
    "matmul_stream_k": dict(
        a="*fp16:16", b="*fp16:16", c="*fp32:16", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32
    ),
    "matmul_persistent": dict(
        a="*fp16:16", b="*fp16:16", c="*fp16:16", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32
    ),
    "matmul_grouped": dict(
        a="*fp16:16", b="*fp16:16", c="*fp16:16", sizes="*i32:16", groups="i32", n="i32:16", k="i32:16", **STRIDES,
        b_group="i32:16", TILE_M=32, TILE_N=64, TILE_K=32,
    ),
    "matmul_experts": dict(
        a="*bf16:16", b="*bf16:16", c="*bf16:16", tokens="*i32:16", experts="*i32:16", weights="*fp32:16",
        count="i32", n="i32:16", k="i32:16", **STRIDES, b_expert="i32:16", TOP=2, TILE_M=32, TILE_N=64, TILE_K=32,
    ),
    "matmul_bias_gelu": dict(
        a="*fp16:16", b="*fp16:16", bias="*fp16:16", c="*fp16:16", **TILE, **STRIDES, TILE_M=64, TILE_N=64, TILE_K=32
    ),
    "matmul_swiglu": dict(
        a="*bf16:16", gate="*bf16:16", up="*bf16:16", c="*bf16:16", **TILE, **STRIDES, TILE_M=64, TILE_N=32, TILE_K=32
    ),
    "matmul_int4": dict(
        a="*fp16:16", b="*i32:16", scales="*fp16:16", zeros="*i32:16", c="*fp16:16", **TILE, **STRIDES,
        GROUP=64, TILE_M=32, TILE_N=64, TILE_K=64,
    ),
    "matmul_mxfp4": dict(
        a="*bf16:16", b="*u8:16", scales="*u8:16", c="*bf16:16", **TILE, **STRIDES, TILE_M=32, TILE_N=64, TILE_K=64
    ),
    "matmul_mxfp4_by_bits": dict(
        a="*bf16:16", b="*u8:16", scales="*u8:16", c="*bf16:16", **TILE, **STRIDES, TILE_M=32, TILE_N=64, TILE_K=64
    ),
    "matmul_described": dict(
        a="*fp16:16", b="*fp16:16", c="*fp16:16", m="i32:16", n="i32:16", k="i32:16", TILE_M=64, TILE_N=64, TILE_K=32
    ),
    "matrix_vector": dict(
        a="*bf16:16", x="*bf16:16", y="*fp32:16", m="i32", k="i32", a_row="i32:16", ROWS=16, COLUMNS=256
    ),
    "convolution": dict(
        x="*fp16:16", weight="*fp16:16", out="*fp16:16", images="i32", height="i32", width="i32", channels="i32:16",
        outputs="i32:16", TILE_M=64, TILE_N=32, TILE_K=32,
    ),
}  # fmt: skip


@triton.jit
def product(
    a, b, m, n, k, a_row, b_row, row, column, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):  # fmt: skip
    """The sums of one tile, by pointers that move along k."""
    rows = row * TILE_M + tl.arange(0, TILE_M)
    columns = column * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    a_at = a + rows[:, None] * a_row + inner[None, :]
    b_at = b + inner[:, None] * b_row + columns[None, :]
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        left = k - start
        tile_a = tl.load(a_at, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        tile_b = tl.load(b_at, mask=(inner[:, None] < left) & (columns[None, :] < n), other=0.0)
        sums = tl.dot(tile_a, tile_b, sums)
        a_at += TILE_K
        b_at += TILE_K * b_row
    return sums


@triton.jit
def put(c, sums, m, n, c_row, row, column, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    """Writes a tile where it is inside."""
    rows = row * TILE_M + tl.arange(0, TILE_M)[:, None]
    columns = column * TILE_N + tl.arange(0, TILE_N)[None, :]
    tl.store(c + rows * c_row + columns, sums.to(c.dtype.element_ty), mask=(rows < m) & (columns < n))


@triton.jit
def gemm_f16(
    a, b, c, m, n, k, a_row, b_row, c_row,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Tiles in groups of rows, so that programs that run together share what they read."""
    program = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    first = program // (GROUP * tiles_n) * GROUP
    high = min(tiles_m - first, GROUP)
    row = first + program % (GROUP * tiles_n) % high
    column = program % (GROUP * tiles_n) // high
    sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
    put(c, sums, m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def linear_bf16(
    a, b, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """With `b` in columns, as the weights of a linear layer lie."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        tile_b = tl.load(b + columns[None, :] * b_row + inner[:, None], mask=(columns[None, :] < n) & (inner[:, None] < k), other=0.0)
        sums = tl.dot(tile_a, tile_b, sums)
    put(c, sums, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def gemm_tf32(
    a, b, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """Floats rounded to 19 bits where the machine multiplies them so."""
    row, column = tl.program_id(0), tl.program_id(1)
    sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
    put(c, sums, m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def gemm_i8(
    a, b, a_scale, b_scale, c, m, n, k, a_row, b_row, c_row,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """Bytes with a scale for each row of `a` and each column of `b`."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.int32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0)
        tile_b = tl.load(b + inner[:, None] * b_row + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0)
        sums = tl.dot(tile_a, tile_b, sums, out_dtype=tl.int32)
    scale = tl.load(a_scale + rows, mask=rows < m)[:, None] * tl.load(b_scale + columns, mask=columns < n)[None, :]
    put(c, sums.to(tl.float32) * scale, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def gemm_f8(
    a, b, c, scale, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """Floats of eight bits, with one scale for all."""
    row, column = tl.program_id(0), tl.program_id(1)
    sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
    put(c, sums * scale, m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def matmul_batched(
    a, b, c, m, n, k, a_batch, b_batch, c_batch, a_row, b_row, c_row,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """One of many products a layer of the grid."""
    row, column, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    a += batch * a_batch
    b += batch * b_batch
    sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
    put(c + batch * c_batch, sums, m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def matmul_split_k(
    a, b, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """Several programs share a tile, each with its blocks of k, and add their sums up."""
    row, column, part, parts = tl.program_id(0), tl.program_id(1), tl.program_id(2), tl.num_programs(2)
    rows = row * TILE_M + tl.arange(0, TILE_M)
    columns = column * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(part * TILE_K, k, parts * TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        tile_b = tl.load(b + inner[:, None] * b_row + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0)
        sums = tl.dot(tile_a, tile_b, sums)
    at = c + rows[:, None] * c_row + columns[None, :]
    tl.atomic_add(at, sums, mask=(rows[:, None] < m) & (columns[None, :] < n), sem="relaxed")


@triton.jit
def matmul_stream_k(
    a, b, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """The blocks of k of all tiles in one row, cut evenly: a program may end one tile and begin another."""
    tiles_n = tl.cdiv(n, TILE_N)
    steps = tl.cdiv(k, TILE_K)
    every = tl.cdiv(m, TILE_M) * tiles_n * steps
    share = tl.cdiv(every, tl.num_programs(0))
    step = tl.program_id(0) * share
    last = min(step + share, every)
    while step < last:
        tile = step // steps
        stop = min((tile + 1) * steps, last)
        rows = tile // tiles_n * TILE_M + tl.arange(0, TILE_M)
        columns = tile % tiles_n * TILE_N + tl.arange(0, TILE_N)
        sums = tl.zeros([TILE_M, TILE_N], tl.float32)
        for block in range(step % steps, stop - tile * steps):
            inner = block * TILE_K + tl.arange(0, TILE_K)
            tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
            tile_b = tl.load(b + inner[:, None] * b_row + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0)
            sums = tl.dot(tile_a, tile_b, sums)
        at = c + rows[:, None] * c_row + columns[None, :]
        mask = (rows[:, None] < m) & (columns[None, :] < n)
        if (step % steps == 0) & (stop == (tile + 1) * steps):
            tl.store(at, sums, mask=mask)
        else:
            tl.atomic_add(at, sums, mask=mask, sem="relaxed")
        step = stop


@triton.jit
def matmul_persistent(
    a, b, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """A few programs take the tiles in turn."""
    tiles_n = tl.cdiv(n, TILE_N)
    for tile in range(tl.program_id(0), tl.cdiv(m, TILE_M) * tiles_n, tl.num_programs(0)):
        row, column = tile // tiles_n, tile % tiles_n
        sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
        put(c, sums, m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def matmul_grouped(
    a, b, c, sizes, groups, n, k, a_row, b_row, c_row, b_group,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """Products of groups of rows, each group with its own `b` and as many rows as `sizes` says."""
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(n, TILE_N)
    before = 0
    for group in range(groups):
        m = tl.load(sizes + group)
        tiles = tl.cdiv(m, TILE_M) * tiles_n
        while (tile >= before) & (tile < before + tiles):
            row, column = (tile - before) // tiles_n, (tile - before) % tiles_n
            sums = product(a, b + group * b_group, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
            put(c, sums, m, n, c_row, row, column, TILE_M, TILE_N)
            tile += tl.num_programs(0)
        before += tiles
        a += m * a_row
        c += m * c_row


@triton.jit
def matmul_experts(
    a, b, c, tokens, experts, weights, count, n, k, a_row, b_row, c_row, b_expert,
    TOP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """A mixture of experts: rows of `a` in the order of their experts, one expert a tile, TOP results a row."""
    rows = tl.load(tokens + tl.program_id(0) * TILE_M + tl.arange(0, TILE_M))
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    real = rows < count * TOP
    b += tl.load(experts + tl.program_id(0)).to(tl.int64) * b_expert
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + (rows // TOP)[:, None] * a_row + inner[None, :], mask=real[:, None] & (inner[None, :] < k), other=0.0)
        tile_b = tl.load(b + inner[:, None] * b_row + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0.0)
        sums = tl.dot(tile_a, tile_b, sums)
    sums *= tl.load(weights + rows, mask=real, other=0.0)[:, None]
    tl.store(c + rows[:, None] * c_row + columns[None, :], sums.to(tl.bfloat16), mask=real[:, None] & (columns[None, :] < n))


@triton.jit
def gelu(x):
    """The form with a hyperbolic tangent."""
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return x * tl.sigmoid(2 * inner)


@triton.jit
def matmul_bias_gelu(
    a, b, bias, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """The first half of a perceptron, in one kernel."""
    row, column = tl.program_id(0), tl.program_id(1)
    sums = product(a, b, m, n, k, a_row, b_row, row, column, TILE_M, TILE_N, TILE_K)
    columns = column * TILE_N + tl.arange(0, TILE_N)
    sums += tl.load(bias + columns, mask=columns < n, other=0.0)[None, :].to(tl.float32)
    put(c, gelu(sums), m, n, c_row, row, column, TILE_M, TILE_N)


@triton.jit
def matmul_swiglu(
    a, gate, up, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """Two products of the same rows, one of which opens the other."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    gates = tl.zeros([TILE_M, TILE_N], tl.float32)
    ups = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        at = inner[:, None] * b_row + columns[None, :]
        mask = (inner[:, None] < k) & (columns[None, :] < n)
        gates = tl.dot(tile_a, tl.load(gate + at, mask=mask, other=0.0), gates)
        ups = tl.dot(tile_a, tl.load(up + at, mask=mask, other=0.0), ups)
    put(c, gates * tl.sigmoid(gates) * ups, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def matmul_int4(
    a, b, scales, zeros, c, m, n, k, a_row, b_row, c_row,
    GROUP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """Weights of four bits, eight in a word along k, with a scale and a zero for GROUP of them."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        mask = (inner[:, None] < k) & (columns[None, :] < n)
        words = tl.load(b + (inner // 8)[:, None] * b_row + columns[None, :], mask=mask, other=0)
        group = start // GROUP
        scale = tl.load(scales + group * n + columns, mask=columns < n, other=0.0)
        zero = tl.load(zeros + group * tl.cdiv(n, 8) + columns // 8, mask=columns < n, other=0)
        zero = (zero >> (columns % 8 * 4)) & 15
        codes = (words >> (inner % 8 * 4)[:, None]) & 15
        weights = (codes - zero[None, :]).to(tl.float16) * scale[None, :]
        sums = tl.dot(tile_a, weights, sums)
    put(c, sums, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def matmul_mxfp4(
    a, b, scales, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """Weights of four bits in columns, two in a byte along k; 32 of them share an exponent."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        pairs = start // 2 + tl.arange(0, TILE_K // 2)
        groups = start // 32 + tl.arange(0, TILE_K // 32)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        tile_b = tl.load(b + columns[None, :] * b_row + pairs[:, None], mask=(columns[None, :] < n) & (pairs[:, None] < k // 2), other=0)
        scale = tl.load(scales + columns[:, None] * (k // 32) + groups[None, :], mask=(columns[:, None] < n) & (groups[None, :] < k // 32), other=0)
        sums = tl.dot_scaled(tile_a, None, "bf16", tile_b, scale, "e2m1", sums)
    put(c, sums, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def matmul_mxfp4_by_bits(
    a, b, scales, c, m, n, k, a_row, b_row, c_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    """The same, with the codes and the exponents made floats by integer operations and shape operations."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        inner = start + tl.arange(0, TILE_K)
        pairs = start // 2 + tl.arange(0, TILE_K // 2)
        groups = start // 32 + tl.arange(0, TILE_K // 32)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        codes = tl.load(b + columns[:, None] * b_row + pairs[None, :], mask=(columns[:, None] < n) & (pairs[None, :] < k // 2), other=0)
        codes = tl.join(codes & 15, codes >> 4).reshape(TILE_N, TILE_K).to(tl.int32)
        # One bit of sign, two of exponent, one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
        size = codes & 7
        bits = tl.where(size < 2, size * 0x3F000000, ((size + 252) << 22)) | ((codes & 8) << 28)
        exponents = tl.load(scales + columns[:, None] * (k // 32) + groups[None, :], mask=(columns[:, None] < n) & (groups[None, :] < k // 32), other=0)
        scale = (exponents.to(tl.int32) << 23).to(tl.float32, bitcast=True)
        scale = tl.broadcast_to(scale[:, :, None], [TILE_N, TILE_K // 32, 32]).reshape(TILE_N, TILE_K)
        weights = (bits.to(tl.float32, bitcast=True) * scale).to(tl.bfloat16)
        sums = tl.dot(tile_a, tl.trans(weights), sums)
    put(c, sums, m, n, c_row, tl.program_id(0), tl.program_id(1), TILE_M, TILE_N)


@triton.jit
def matmul_described(
    a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):  # fmt: skip
    """By descriptors of whole arrays."""
    all_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [TILE_M, TILE_K])
    all_b = tl.make_tensor_descriptor(b, [k, n], [n, 1], [TILE_K, TILE_N])
    all_c = tl.make_tensor_descriptor(c, [m, n], [n, 1], [TILE_M, TILE_N])
    row, column = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        sums = tl.dot(all_a.load([row, start]), all_b.load([start, column]), sums)
    all_c.store([row, column], sums.to(tl.float16))


@triton.jit
def matrix_vector(a, x, y, m, k, a_row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A matrix by a vector: as fast as the matrix is read."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in range(0, k, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        mask = (rows[:, None] < m) & (columns[None, :] < k)
        tile = tl.load(a + rows[:, None] * a_row + columns[None, :], mask=mask, other=0.0).to(tl.float32)
        sums += tile * tl.load(x + columns, mask=columns < k, other=0.0).to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(sums, 1), mask=rows < m)


@triton.jit
def convolution(
    x, weight, out, images, height, width, channels, outputs,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    """A convolution of 3 by 3 with zeros around, as a product of pixels and weights; channels lie last."""
    places = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    outs = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    image, place = places // (height * width), places % (height * width)
    line, column = place // width, place % width
    sums = tl.zeros([TILE_M, TILE_N], tl.float32)
    for tap in range(0, 9):
        from_line, from_column = line + tap // 3 - 1, column + tap % 3 - 1
        inside = (image < images) & (from_line >= 0) & (from_line < height) & (from_column >= 0) & (from_column < width)
        pixels = (image * height + from_line) * width + from_column
        for start in range(0, channels, TILE_K):
            inner = start + tl.arange(0, TILE_K)
            tile = tl.load(x + pixels[:, None] * channels + inner[None, :], mask=inside[:, None] & (inner[None, :] < channels), other=0.0)
            taps = tl.load(weight + (tap * channels + inner)[:, None] * outputs + outs[None, :], mask=(inner[:, None] < channels) & (outs[None, :] < outputs), other=0.0)
            sums = tl.dot(tile, taps, sums)
    mask = (places[:, None] < images * height * width) & (outs[None, :] < outputs)
    tl.store(out + places[:, None] * outputs + outs[None, :], sums.to(tl.float16), mask=mask)
