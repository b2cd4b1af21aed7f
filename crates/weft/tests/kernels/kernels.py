"""Small kernels whose recorded Triton IR the compiler's tests read.

`examples/record.py` writes `NAME.ttir` beside this file; it explains `SIGNATURES`.
Names that begin with `bad_` break a rule that the simulator reports.
"""

import triton
import triton.language as tl

SIGNATURES = {
    "softmax_rows": dict(x="*fp32:16", out="*fp32:16", m="i32", n="i32", ROWS=4, COLUMNS=128),
    "column_sum": dict(x="*fp32:16", out="*fp32:16", n="i32:16", ROWS=64, COLUMNS=32),
    "argmax": dict(x="*i32:16", values="*i32:16", indices="*i32:16", n="i32", BLOCK=256),
    "integer_mix": dict(x="*i32:16", y="*i32:16", out="*i32:16", n="i32", BLOCK=256),
    "cast_chain": dict(x="*fp32:16", halves="*fp16:16", brains="*bf16:16", sums="*fp32:16", BLOCK=256),
    "layer_norm": dict(
        x="*fp32:16", weight="*fp32:16", bias="*fp32:16", out="*fp32:16", n="i32", epsilon="fp32", BLOCK=128
    ),
    "count_digits": dict(x="*i32:16", counts="*i32:16", n="i32", BLOCK=256),
    "running_balance": dict(x="*i32:16", out="*i32:16", n="i32"),
    "add_transposed": dict(x="*fp32:16", y="*fp32:16", bias="*fp32:16", out="*fp32:16", M=32, N=64),
    "reverse_gather": dict(x="*fp32:16", indices="*i32:16", reversed="*fp32:16", gathered="*fp32:16", n="i32", BLOCK=128),
    "matmul_f16": dict(
        a="*fp16:16", b="*fp16:16", c="*fp32:16", n="i32:16", k="i32:16", TILE_M=64, TILE_N=32, TILE_K=32
    ),
    "early_return": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=128),
    "bad_out_of_range": dict(x="*fp32:16", out="*fp32:16", n="i32", BLOCK=128),
    "bad_race": dict(total="*i32:16"),
    "rows_in_steps": dict(x="*fp32:16", out="*fp32:16", n="i32:16", ROWS=100, STEP=16, COLUMNS=32),
    "means_in_steps": dict(x="*fp32:16", out="*fp32:16", n="i32", STEP=128),
}  # fmt: skip


@triton.jit
def softmax_rows(x, out, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Softmax of rows of up to COLUMNS elements, several rows a program."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, COLUMNS)[None, :]
    mask = (rows < m) & (columns < n)
    tile = tl.load(x + rows * n + columns, mask=mask, other=-float("inf"))
    weights = tl.exp(tile - tl.max(tile, axis=1, keep_dims=True))
    tl.store(out + rows * n + columns, weights / tl.sum(weights, axis=1, keep_dims=True), mask=mask)


@triton.jit
def column_sum(x, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The sums of the columns of an array with ROWS rows: a reduction across warps."""
    rows = tl.arange(0, ROWS)[:, None]
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tile = tl.load(x + rows * n + columns[None, :])
    tl.store(out + columns, tl.sum(tile, axis=0))


@triton.jit
def argmax(x, values, indices, n, BLOCK: tl.constexpr):
    """The largest of a row's elements and the first place that holds it."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    elements = tl.load(x + row * n + columns, mask=columns < n, other=-2147483648)
    value, index = tl.max(elements, axis=0, return_indices=True)
    tl.store(values + row, value)
    tl.store(indices + row, index)


@triton.jit
def integer_mix(x, y, out, n, BLOCK: tl.constexpr):
    """Integer operations, signed and unsigned; `y` holds no zero."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0)
    b = tl.load(y + offsets, mask=mask, other=1)
    unsigned_a = a.to(tl.uint32, bitcast=True)
    unsigned_b = b.to(tl.uint32, bitcast=True)
    signed = (a // b) * 3 + a % b + (a >> 2) + (b << 3) - tl.minimum(a, b)
    unsigned = unsigned_a // unsigned_b + unsigned_a % unsigned_b + (unsigned_a >> 5)
    unsigned ^= tl.maximum(unsigned_a, unsigned_b) | 1
    mixed = tl.where((a < b) | (unsigned_a >= unsigned_b), signed, unsigned.to(tl.int32, bitcast=True))
    wide = (mixed.to(tl.int64) * a.to(tl.int64)) >> 7
    tl.store(out + offsets, wide.to(tl.int32) & ~b, mask=mask)


@triton.jit
def cast_chain(x, halves, brains, sums, BLOCK: tl.constexpr):
    """f32 rounded to f16 and to bf16, and what each rounding lost, through integers and back."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exact = tl.load(x + offsets)
    half = exact.to(tl.float16)
    brain = exact.to(tl.bfloat16)
    whole = half.to(tl.int32).to(tl.int8).to(tl.float32)
    tl.store(halves + offsets, half * half)
    tl.store(brains + offsets, brain)
    tl.store(sums + offsets, (exact - half.to(tl.float32)) + (exact - brain.to(tl.float32)) + whole)


@triton.jit
def layer_norm(x, weight, bias, out, n, epsilon, BLOCK: tl.constexpr):
    """Layer norm of one row of any length, three passes over its columns."""
    row = tl.program_id(0) * n
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        sums += tl.load(x + row + columns, mask=columns < n, other=0.0)
    mean = tl.sum(sums, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        element = tl.load(x + row + columns, mask=columns < n, other=0.0)
        distance = tl.where(columns < n, element - mean, 0.0)
        squares += distance * distance
    scale = tl.rsqrt(tl.sum(squares, axis=0) / n + epsilon)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        element = tl.load(x + row + columns, mask=mask)
        gain = tl.load(weight + columns, mask=mask)
        shift = tl.load(bias + columns, mask=mask)
        tl.store(out + row + columns, (element - mean) * scale * gain + shift, mask=mask)


@triton.jit
def count_digits(x, counts, n, BLOCK: tl.constexpr):
    """A histogram of last decimal digits, by masked atomic additions; `x` holds no negative."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    digits = tl.load(x + offsets, mask=mask, other=0) % 10
    tl.atomic_add(counts + digits, 1, mask=mask)


@triton.jit
def running_balance(x, out, n):
    """A scalar loop with a branch: an amount that would overdraw the balance is refused and fined 1."""
    start = tl.program_id(0) * n
    balance = 0
    refusals = 0
    for index in range(n):
        amount = tl.load(x + start + index)
        if balance + amount < 0:
            refusals += 1
        else:
            balance += amount
        tl.store(out + start + index, balance - refusals)


@triton.jit
def add_transposed(x, y, bias, out, M: tl.constexpr, N: tl.constexpr):
    """`out = x + y.T + bias` for x of M by N, y of N by M and one bias a column."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    left = tl.load(x + rows[:, None] * N + columns[None, :])
    right = tl.load(y + columns[:, None] * M + rows[None, :])
    shift = tl.load(bias + columns)
    tl.store(out + rows[:, None] * N + columns[None, :], left + tl.trans(right) + shift[None, :])


@triton.jit
def reverse_gather(x, indices, reversed, gathered, n, BLOCK: tl.constexpr):
    """A vector backwards, and the elements that a vector of indices names, both by pointers."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(reversed + offsets, tl.load(x + (n - 1 - offsets), mask=mask), mask=mask)
    chosen = tl.load(indices + offsets, mask=mask, other=0)
    tl.store(gathered + offsets, tl.load(x + chosen, mask=mask), mask=mask)


@triton.jit
def matmul_f16(a, b, c, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """`c = a @ b`, f16 operands and f32 sums; whole tiles only; the pointers are carried by the loop."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    tiles_a = a + rows[:, None] * k + inner[None, :]
    tiles_b = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, k, TILE_K):
        total = tl.dot(tl.load(tiles_a), tl.load(tiles_b), total)
        tiles_a += TILE_K
        tiles_b += TILE_K * n
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def early_return(x, out, n, BLOCK: tl.constexpr):
    """Programs past the end return before they touch memory."""
    start = tl.program_id(0) * BLOCK
    if start >= n:
        return
    offsets = start + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.sqrt(tl.abs(tl.load(x + offsets, mask=mask, other=0.0))), mask=mask)


@triton.jit
def bad_out_of_range(x, out, n, BLOCK: tl.constexpr):
    """The load is masked and the store is not: the tail is written past the end of `out`."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    element = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(out + offsets, element * 2.0)


@triton.jit
def bad_race(total):
    """Every program adds itself to one number by a load and a store, with no order between them."""
    tl.store(total, tl.load(total) + tl.program_id(0))


@triton.jit
def rows_in_steps(x, out, n, ROWS: tl.constexpr, STEP: tl.constexpr, COLUMNS: tl.constexpr):
    """The sums of the columns of an array, whose rows are no multiple of the rows that each round takes."""
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    sums = tl.zeros([STEP, COLUMNS], tl.float32)
    for first in range(0, ROWS, STEP):
        rows = first + tl.arange(0, STEP)[:, None]
        tile = tl.load(x + rows * n + columns, mask=rows < ROWS, other=0.0)
        sums = tl.where(rows < ROWS, sums + tile, sums)
    tl.store(out + columns, tl.sum(sums, axis=0)[None, :])


@triton.jit
def means_in_steps(x, out, n, STEP: tl.constexpr):
    """For each place of a step the mean of those of a row, and how many there are; the first step begins them."""
    places = tl.arange(0, STEP)
    mean = tl.zeros([STEP], tl.float32)
    count = tl.zeros([STEP], tl.float32)
    for first in range(0, n, STEP):
        mask = first + places < n
        value = tl.load(x + tl.program_id(0) * n + first + places, mask=mask, other=0.0)
        if first == 0:
            new_mean = value
            new_count = tl.full([STEP], 1.0, tl.float32)
        else:
            new_count = count + 1.0
            new_mean = mean + (value - mean) / new_count
        mean = tl.where(mask, new_mean, mean)
        count = tl.where(mask, new_count, count)
    tl.store(out + tl.program_id(0) * 2 * STEP + places, mean)
    tl.store(out + (tl.program_id(0) * 2 + 1) * STEP + places, count)
