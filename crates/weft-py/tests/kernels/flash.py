"""Cases of `kernels/flash.py`.

Scores are powers of two, so that a score which is off by some amount makes a weight that is off by it,
times the logarithm of two, relatively. Weights become factors of half floats.
"""

import math

import ml_dtypes
import numpy as np

from kernels.functions import ceil_div, exp2_error, LOG2_E, log_error, product_error, QUOTIENT, rounds, sum_error
from kernels.table import bf16, blank, Case, case, f16, f32, i32, near, put, U, unit, wide

DEPTH = 64
SCALE = 0.125 * LOG2_E


def heads(draw, count, rows, kind=f16, scale=1.0):
    return draw.normal(count, rows, DEPTH, dtype=kind, scale=scale)


def attend(q, k, v, seen, scale, kind, score=lambda x: x):
    """Attention in f64: results, logarithms of the sums, and the errors of both."""
    scale = float(f32.type(scale))
    raw = q @ k.swapaxes(-1, -2) * scale
    off = product_error(q, k.swapaxes(-1, -2)) * scale + 4 * U * np.abs(raw)
    scores = np.where(seen, score(raw), -np.inf)
    most = scores.max(-1, keepdims=True)
    weights = np.exp2(scores - most)
    total = weights.sum(-1, keepdims=True)
    result = weights @ v / total
    # A weight is rounded to `kind` before it is multiplied, the least ones to a multiple of the least.
    # Many such roundings do not agree: six standard deviations of their sum, where that is less than all.
    magnitude = weights @ np.abs(v) / total
    apart = np.sqrt(weights**2 @ v**2) / total
    rounding = unit(kind) * np.minimum(magnitude, 6 / math.sqrt(3) * apart)
    least = float(ml_dtypes.finfo(kind).smallest_subnormal) / 2 * np.abs(v).sum(-2, keepdims=True) / total
    share = np.where(seen, off, 0.0).max(-1, keepdims=True) * 2 + exp2_error(16) + rounds(k.shape[-2]) * U
    error = rounding + least + magnitude * (2 * share + k.shape[-2] * U) + QUOTIENT * np.abs(result)
    logs = (most + np.log2(total))[..., 0]
    return result, error, logs, log_error(logs) + 2 * share[..., 0]


def causal(rows, columns):
    return np.arange(columns)[None, :] <= np.arange(rows)[:, None]


@case
def flash_forward(draw):
    q, k, v, out, logs = (
        heads(draw, 2, 64),
        heads(draw, 2, 128),
        heads(draw, 2, 128),
        blank(2, 64, DEPTH, dtype=f16),
        blank(2, 50),
    )
    # Heads lie as far apart as the longest needs; queries have room that is not used.
    q = np.concatenate([q, q], 1)
    out = np.concatenate([out, out], 1)
    result, error, log, log_off = attend(wide(q[:, :50]), wide(k[:, :100]), wide(v[:, :100]), True, SCALE, f16)
    arguments = dict(q=q, k=k, v=v, out=out, logs=logs, queries=50, keys=100, head=128 * DEPTH, scale=SCALE)
    expected = dict(out=near(out, np.s_[:, :50], result, error), logs=near(logs, ..., log, log_off))
    return Case((1, 2), arguments, expected)


@case
def flash_causal(draw):
    q, k, v = (heads(draw, 2, 96, bf16) for _ in range(3))
    out, logs = blank(2, 96, DEPTH, dtype=bf16), blank(2, 90)
    inside = [wide(x[:, :90]) for x in (q, k, v)]
    result, error, log, log_off = attend(*inside, causal(90, 90), SCALE, bf16)
    arguments = dict(q=q, k=k, v=v, out=out, logs=logs, queries=90, keys=90, head=96 * DEPTH, scale=SCALE)
    expected = dict(out=near(out, np.s_[:, :90], result, error), logs=near(logs, ..., log, log_off))
    return Case((2, 2), arguments, expected)


@case
def flash_window(draw):
    q, k, v, out = heads(draw, 1, 96), heads(draw, 1, 96), heads(draw, 1, 96), blank(1, 96, DEPTH, dtype=f16)
    behind = np.arange(90)[:, None] - np.arange(90)[None, :]
    inside = [wide(x[:, :90]) for x in (q, k, v)]
    # A hyperbolic tangent holds scores below the cap; it is made of an exponential near one.
    score = lambda x: 5 * np.tanh(x / 5) * LOG2_E
    result, error, _, _ = attend(*inside, (behind >= 0) & (behind < 20), 0.125, f16, score)
    error = error + 5 * 16 * U * LOG2_E * np.abs(inside[2]).max()
    arguments = dict(q=q, k=k, v=v, out=out, queries=90, keys=90, head=96 * DEPTH, scale=0.125, window=20, cap=5.0)
    return Case((3, 1), arguments, dict(out=near(out, np.s_[:, :90], result, error)))


@case
def flash_backward_rows(draw):
    out, dout, sums = heads(draw, 2, 128), heads(draw, 2, 128), blank(2, 70)
    terms = wide(out[:, :70]) * wide(dout[:, :70])
    arguments = dict(out=out, dout=dout, sums=sums, queries=70, head=128 * DEPTH)
    return Case((2, 2), arguments, dict(sums=near(sums, ..., terms.sum(-1), sum_error(terms, -1))))


def backward(draw, count=60):
    """Arguments of the gradients' kernels; the weights of every row, what moves its scores, and errors."""
    q, k, v, dout = (heads(draw, 1, 64) for _ in range(4))
    query, key, value, gradient = (wide(x[0, :count]) for x in (q, k, v, dout))
    scale = float(f32.type(SCALE))
    scores = np.where(causal(count, count), query @ key.T * scale, -np.inf)
    logs = np.log2(np.exp2(scores).sum(1)).astype(f32)
    sums = draw.normal(count, scale=0.3)
    weights = np.exp2(scores - wide(logs)[:, None])
    off = np.abs(product_error(query, key.T)) * scale + exp2_error(np.where(np.isfinite(scores), scores, 0))
    change = gradient @ value.T - wide(sums)[:, None]
    moved = weights * change
    off_moved = np.abs(moved) * off + weights * (product_error(gradient, value.T) + U * np.abs(change))
    arguments = dict(q=q, k=k, v=v, dout=dout, logs=logs[None], sums=sums[None])
    sizes = dict(queries=count, keys=count, head=64 * DEPTH, scale=SCALE)
    return arguments, sizes, (query, key, gradient), weights, weights * off, moved, off_moved


def rounded_product(a, off, b):
    """The error of a product whose left factor is off, and becomes half floats."""
    return (off + 2.0**-11 * np.abs(a)) @ np.abs(b) + product_error(a, b)


@case
def flash_backward_keys(draw):
    arguments, sizes, (query, _, gradient), weights, off, moved, off_moved = backward(draw)
    dk, dv = blank(1, 64, DEPTH, dtype=f16), blank(1, 64, DEPTH, dtype=f16)
    scale = float(f32.type(SCALE)) * 0.69314718
    error = rounded_product(moved.T, off_moved.T, query) * scale + 2 * U * np.abs(moved.T @ query) * scale
    expected = dict(
        dk=near(dk, np.s_[0, :60], moved.T @ query * scale, error),
        dv=near(dv, np.s_[0, :60], weights.T @ gradient, rounded_product(weights.T, off.T, gradient)),
    )
    return Case((1, 1), arguments | dict(dk=dk, dv=dv) | sizes, expected)


@case
def flash_backward_queries(draw):
    arguments, sizes, (_, key, _), _, _, moved, off_moved = backward(draw)
    dq = blank(1, 64, DEPTH, dtype=f16)
    scale = float(f32.type(SCALE)) * 0.69314718
    error = rounded_product(moved, off_moved, key) * scale + 2 * U * np.abs(moved @ key) * scale
    wanted = near(dq, np.s_[0, :60], moved @ key * scale, error)
    return Case((1, 1), arguments | dict(dq=dq) | sizes, dict(dq=wanted))


@case
def decode_paged(draw):
    pages, share, most = 6, 4, 3
    q = draw.normal(2, 2, share, DEPTH, dtype=f16)
    k, v = draw.normal(pages, 16, 2, DEPTH, dtype=f16), draw.normal(pages, 16, 2, DEPTH, dtype=f16)
    table, lengths = draw.order(pages).reshape(2, most), np.array([33, 10], i32)
    out = blank(2, 2, share, DEPTH, dtype=f16)
    result, error = np.zeros(out.shape), np.zeros(out.shape)
    for sequence, length in enumerate(lengths):
        keys, values = (wide(x[table[sequence]].reshape(most * 16, 2, DEPTH)[:length].swapaxes(0, 1)) for x in (k, v))
        # Weights stay floats of 32 bits here, and are allowed as much as half floats would be.
        result[sequence], error[sequence], _, _ = attend(wide(q[sequence]), keys, values, True, 0.18, f16)
    arguments = dict(q=q, k=k, v=v, pages=table, lengths=lengths, out=out, most_pages=most, kv_heads=2, scale=0.18)
    return Case((2, 2), arguments, dict(out=near(out, ..., result, error)))


@case
def decode_split(draw):
    share, parts, most = 8, 2, 80
    q, lengths = draw.normal(2, share, DEPTH, dtype=f16), np.array([75, 20], i32)
    k, v = draw.normal(2, most, DEPTH, dtype=f16), draw.normal(2, most, DEPTH, dtype=f16)
    sums, logs = blank(2, share, parts, DEPTH), blank(2, share, parts)
    result, error = np.zeros(sums.shape), np.zeros(sums.shape)
    log, log_off = np.full(logs.shape, -np.inf), np.zeros(logs.shape)
    for sequence, length in enumerate(lengths):
        # A part is as many whole blocks of 32 keys as an even share needs.
        each = ceil_div(ceil_div(length, parts), 32) * 32
        for part in range(parts):
            keys = slice(part * each, min((part + 1) * each, length))
            # One without keys has zeros, and no weight.
            if keys.start < length:
                of = attend(wide(q[sequence]), wide(k[sequence, keys]), wide(v[sequence, keys]), True, 0.18, f16)
                (
                    result[sequence, :, part],
                    error[sequence, :, part],
                    log[sequence, :, part],
                    log_off[sequence, :, part],
                ) = of
    arguments = dict(q=q, k=k, v=v, lengths=lengths, sums=sums, logs=logs, kv_heads=1, most=most, scale=0.18)
    expected = dict(sums=near(sums, ..., result, error), logs=near(logs, ..., log, log_off))
    return Case((2, 1, parts), arguments, expected)


@case(small=True)
def decode_merge(draw):
    sums, logs, out = draw.normal(4, 5, DEPTH), draw.normal(4, 5), blank(4, DEPTH, dtype=f16)
    weights = np.exp2(wide(logs) - wide(logs).max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    terms = wide(sums) * weights[..., None]
    error = sum_error(terms, 1) + np.abs(terms).sum(1) * (2 * exp2_error(8) + 8 * U + QUOTIENT)
    return Case((4,), dict(sums=sums, logs=logs, out=out, parts=5), dict(out=near(out, ..., terms.sum(1), error)))


@case
def append_to_pages(draw):
    width, page = 304, 16
    k, v = draw.normal(4, width, dtype=f16), draw.normal(4, width, dtype=f16)
    keys, values = blank(3, width, page, dtype=f16), blank(3, page, width, dtype=f16)
    slots = np.array([5, -1, 47, 16], i32)
    real = slots >= 0
    pages, places = slots[real] // page, slots[real] % page
    expected = dict(keys=keys.copy(), values=put(values, (pages, places), v[real]))
    expected["keys"][pages, :, places] = k[real]
    arguments = dict(k=k, v=v, keys=keys, values=values, slots=slots, width=width)
    return Case((4, 2), arguments, expected)
