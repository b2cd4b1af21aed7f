"""Cases of `kernels/matmul.py`."""

import numpy as np

from kernels.functions import ceil_div, product_error, rounds, sigmoid, sigmoid_error
from kernels.table import bf16, blank, Case, case, e4m3, f16, f32, i8, i32, near, U, u8, wide, zeros


def sizes(a, b, c, m, n, k):
    """What products are told of their arrays."""
    return dict(m=m, n=n, k=k, a_row=a.shape[-1], b_row=b.shape[-1], c_row=c.shape[-1])


def product_case(draw, grid, m, n, k, *, kind=f16, result=f16, columns=None, start=blank):
    """A product of ragged arrays whose rows lie further apart than they are long."""
    a, b = draw.normal(m, ceil_div(k, 16) * 16, dtype=kind), draw.normal(k, columns or n + 16, dtype=kind)
    c = start(m, columns or n + 16, dtype=result)
    left, right = wide(a[:, :k]), wide(b[:, :n])
    wanted = near(c, np.s_[:, :n], left @ right, product_error(left, right))
    return Case(grid, dict(a=a, b=b, c=c, **sizes(a, b, c, m, n, k)), dict(c=wanted))


@case
def gemm_f16(draw):
    return product_case(draw, (2,), 100, 144, 48)


@case
def linear_bf16(draw):
    m, n, k = 100, 60, 40
    a, b, c = draw.normal(m, 48, dtype=bf16), draw.normal(n, 48, dtype=bf16), blank(m, 64, dtype=bf16)
    left, right = wide(a[:, :k]), wide(b[:, :k]).T
    wanted = near(c, np.s_[:, :n], left @ right, product_error(left, right))
    return Case((2, 1), dict(a=a, b=b, c=c, **sizes(a, b, c, m, n, k)), dict(c=wanted))


def tf32_error(a, b):
    """Each factor is rounded to 11 bits before it is multiplied."""
    return 2 * 2.0**-11 * (np.abs(a) @ np.abs(b)) + product_error(a, b)


@case(small=True)
def gemm_tf32(draw):
    m, n, k = 60, 96, 48
    a, b, c = draw.normal(m, k), draw.normal(k, 112), blank(m, 112)
    left, right = wide(a), wide(b[:, :n])
    wanted = near(c, np.s_[:, :n], left @ right, tf32_error(left, right))
    return Case((1, 2), dict(a=a, b=b, c=c, **sizes(a, b, c, m, n, k)), dict(c=wanted))


@case
def gemm_i8(draw):
    m, n, k = 60, 96, 80
    a, b = draw.bits(m, k, dtype=i8), draw.bits(k, 112, dtype=i8)
    a_scale, b_scale, c = draw.uniform(0, 0.01, m), draw.uniform(0, 1, n), blank(m, 112, dtype=f16)
    exact = a.astype(int) @ b[:, :n].astype(int)
    result = exact * wide(a_scale)[:, None] * wide(b_scale)
    arguments = dict(a=a, b=b, a_scale=a_scale, b_scale=b_scale, c=c, **sizes(a, b, c, m, n, k))
    return Case((1, 2), arguments, dict(c=near(c, np.s_[:, :n], result, 2 * U * np.abs(result))))


@case
def gemm_f8(draw):
    m, n, k = 60, 48, 80
    a, b, c = draw.uniform(-4, 4, m, k, dtype=e4m3), draw.uniform(-4, 4, k, 64, dtype=e4m3), blank(m, 64, dtype=bf16)
    left, right = wide(a), wide(b[:, :n])
    wanted = near(c, np.s_[:, :n], 0.25 * (left @ right), 0.25 * product_error(left, right))
    shape = sizes(a, b, c, m, n, k)
    return Case((1, 1), dict(a=a, b=b, c=c, scale=0.25, **shape), dict(c=wanted))


@case(small=True)
def matmul_batched(draw):
    m, n, k = 30, 60, 40
    a, b, c = draw.normal(2, 32, 48, dtype=f16), draw.normal(2, 48, 64, dtype=f16), blank(2, 32, 64)
    left, right = wide(a[:, :m, :k]), wide(b[:, :k, :n])
    wanted = near(c, np.s_[:, :m, :n], left @ right, product_error(left, right))
    batches = dict(a_batch=a[0].size, b_batch=b[0].size, c_batch=c[0].size)
    shape = dict(a_row=48, b_row=64, c_row=64)
    return Case((1, 1, 2), dict(a=a, b=b, c=c, m=m, n=n, k=k, **batches, **shape), dict(c=wanted))


@case
def matmul_split_k(draw):
    return product_case(draw, (1, 1, 2), 60, 48, 112, result=f32, start=zeros)


@case
def matmul_stream_k(draw):
    return product_case(draw, (3,), 60, 96, 80, result=f32, start=zeros)


@case
def matmul_persistent(draw):
    return product_case(draw, (2,), 60, 160, 48)


@case
def matmul_grouped(draw):
    n, k, rows = 48, 48, [40, 0, 17]
    a, b, c = draw.normal(60, k, dtype=f16), draw.normal(3, k, 64, dtype=f16), blank(60, 64, dtype=f16)
    result, error = np.zeros((57, n)), np.zeros((57, n))
    first = 0
    for group, count in enumerate(rows):
        left, right = wide(a[first : first + count]), wide(b[group, :, :n])
        result[first : first + count], error[first : first + count] = left @ right, product_error(left, right)
        first += count
    arguments = dict(
        a=a, b=b, c=c, sizes=np.array(rows, i32), groups=3, n=n, k=k, a_row=k, b_row=64, c_row=64, b_group=b[0].size
    )
    return Case((2,), arguments, dict(c=near(c, np.s_[:57, :n], result, error)))


@case
def matmul_experts(draw):
    count, top, n, k = 16, 2, 48, 48
    a, b, c = draw.normal(count, k, dtype=bf16), draw.normal(3, k, 64, dtype=bf16), blank(count * top, 64, dtype=bf16)
    weights = draw.uniform(0, 1, count * top)
    # A tile has 32 rows; those that are too many name a row behind the last.
    order = draw.order(count * top)
    tokens = np.concatenate([order[:20], np.full(12, 32), order[20:], np.full(20, 32)]).astype(i32)
    experts = np.array([2, 0], i32)
    of = np.empty(count * top, int)
    of[order[:20]], of[order[20:]] = 2, 0
    left, right = wide(a)[np.arange(count * top) // top][:, None], wide(b[:, :, :n])[of]
    scale = wide(weights)[:, None]
    result, error = (left @ right)[:, 0] * scale, product_error(left, right)[:, 0] * scale
    arguments = dict(
        a=a, b=b, c=c, tokens=tokens, experts=experts, weights=weights, count=count, n=n, k=k, a_row=k, b_row=64,
        c_row=64, b_expert=b[0].size,
    )  # fmt: skip
    return Case((2, 1), arguments, dict(c=near(c, np.s_[:, :n], result, error + U * np.abs(result))))


@case
def matmul_bias_gelu(draw):
    m, n, k = 60, 48, 48
    a, b, bias = draw.normal(m, k, dtype=f16), draw.normal(k, 64, dtype=f16, scale=0.2), draw.normal(n, dtype=f16)
    c = blank(m, 64, dtype=f16)
    left, right = wide(a), wide(b[:, :n])
    x = left @ right + wide(bias)
    inner = 2 * 0.7978845608 * (x + 0.044715 * x**3)
    result = x * sigmoid(inner)
    # How fast the result changes with the sum is below 1.13 everywhere.
    error = 1.13 * (product_error(left, right) + U * np.abs(x)) + np.abs(result) * (
        sigmoid_error(inner) + 4 * U * (1 + np.abs(inner))
    )
    arguments = dict(a=a, b=b, bias=bias, c=c, **sizes(a, b, c, m, n, k))
    return Case((1, 1), arguments, dict(c=near(c, np.s_[:, :n], result, error)))


@case
def matmul_swiglu(draw):
    m, n, k = 60, 48, 48
    a, c = draw.normal(m, k, dtype=bf16), blank(m, 64, dtype=bf16)
    gate, up = draw.normal(k, 64, dtype=bf16, scale=0.2), draw.normal(k, 64, dtype=bf16, scale=0.2)
    left = wide(a)
    gates, ups = left @ wide(gate[:, :n]), left @ wide(up[:, :n])
    error_gates, error_ups = product_error(left, wide(gate[:, :n])), product_error(left, wide(up[:, :n]))
    opened = gates * sigmoid(gates)
    error = 1.1 * error_gates * np.abs(ups) + np.abs(opened) * error_ups
    error = error + np.abs(opened * ups) * (sigmoid_error(gates) + 2 * U)
    arguments = dict(a=a, gate=gate, up=up, c=c, **sizes(a, gate, c, m, n, k))
    return Case((1, 2), arguments, dict(c=near(c, np.s_[:, :n], opened * ups, error)))


def nibbles(words):
    """Numbers of four bits, eight in a word, the lowest first; along a new last axis."""
    return (words.view(np.uint32)[..., None] >> (4 * np.arange(8, dtype=np.uint32)) & 15).astype(int)


@case
def matmul_int4(draw):
    m, n, k = 30, 48, 128
    a, b, c = draw.normal(m, k, dtype=f16), draw.bits(k // 8, 64), blank(m, 64, dtype=f16)
    scales, zero_words = draw.uniform(0, 0.1, k // 64, n, dtype=f16), draw.bits(k // 64, n // 8)
    codes = nibbles(b[:, :n]).transpose(0, 2, 1).reshape(k, n)
    nothing = nibbles(zero_words).reshape(k // 64, n)
    weights = (codes - nothing.repeat(64, 0)).astype(f16) * scales.repeat(64, 0)
    left, right = wide(a), wide(weights)
    arguments = dict(a=a, b=b, scales=scales, zeros=zero_words, c=c, **sizes(a, b, c, m, n, k))
    return Case((1, 1), arguments, dict(c=near(c, np.s_[:, :n], left @ right, product_error(left, right))))


def microscaled(draw):
    """A product with weights of four bits that share an exponent by 32."""
    m, n, k = 30, 48, 96
    a, b, c = draw.normal(m, k, dtype=bf16), draw.bits(n, k // 2, dtype=u8), blank(m, 64, dtype=bf16)
    scales = draw.integers(120, 130, n, k // 32, dtype=u8)
    sizes_of_codes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    codes = np.stack([b & 15, b >> 4], -1).reshape(n, k)
    weights = sizes_of_codes[codes & 7] * np.where(codes & 8, -1, 1) * 2.0 ** (scales.astype(int) - 127).repeat(32, 1)
    left, right = wide(a), weights.T
    arguments = dict(a=a, b=b, scales=scales, c=c, m=m, n=n, k=k, a_row=k, b_row=k // 2, c_row=64)
    return Case((1, 1), arguments, dict(c=near(c, np.s_[:, :n], left @ right, product_error(left, right))))


@case
def matmul_mxfp4(draw):
    return microscaled(draw)


@case
def matmul_mxfp4_by_bits(draw):
    return microscaled(draw)


@case(small=True)
def matmul_described(draw):
    m, n, k = 48, 112, 48
    a, b, c = draw.normal(m, k, dtype=f16), draw.normal(k, n, dtype=f16), blank(m, n, dtype=f16)
    wanted = near(c, ..., wide(a) @ wide(b), product_error(a, b))
    return Case((1, 2), dict(a=a, b=b, c=c, m=m, n=n, k=k), dict(c=wanted))


@case
def matrix_vector(draw):
    m, k = 30, 390
    a, x, y = draw.normal(m, 400, dtype=bf16), draw.normal(k, dtype=bf16), blank(m)
    matrix, vector = wide(a[:, :k]), wide(x)
    wanted = near(y, ..., matrix @ vector, rounds(k) * U * (np.abs(matrix) @ np.abs(vector)))
    return Case((2,), dict(a=a, x=x, y=y, m=m, k=k, a_row=400), dict(y=wanted))


@case
def convolution(draw):
    images, height, width, channels, outputs = 2, 6, 7, 48, 48
    x, weight = (
        draw.normal(images, height, width, channels, dtype=f16),
        draw.normal(9, channels, outputs, dtype=f16, scale=0.1),
    )
    out = blank(images, height, width, outputs, dtype=f16)
    around = np.pad(wide(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [around[:, line : line + height, column : column + width] for line in range(3) for column in range(3)]
    pixels = np.concatenate(taps, -1)
    matrix = wide(weight).reshape(9 * channels, outputs)
    arguments = dict(
        x=x, weight=weight, out=out, images=images, height=height, width=width, channels=channels, outputs=outputs
    )
    wanted = near(out, ..., pixels @ matrix, product_error(pixels, matrix))
    return Case((2, 2), arguments, dict(out=wanted))
