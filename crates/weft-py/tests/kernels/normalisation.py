"""Cases of `kernels/normalisation.py`."""

import numpy as np

from kernels.functions import (
    exp_error,
    INVERSE_ROOT,
    log_error,
    QUOTIENT,
    ROOT,
    rounds,
    softmax,
    softmax_error,
    sum_error,
)
from kernels.table import bf16, blank, Case, case, f16, i32, near, put, U, wide, zeros


@case(small=True)
def softmax_several_rows(draw):
    x, out = draw.normal(10, 208), blank(10, 208)
    inside = wide(x[:, :200])
    weights = softmax(inside)
    arguments = dict(x=x, out=out, rows=10, columns=200, x_stride=208, out_stride=208)
    return Case((3,), arguments, dict(out=near(out, np.s_[:, :200], weights, weights * softmax_error(inside))))


@case
def softmax_online(draw):
    x, out = draw.normal(2, 1936, dtype=f16), blank(2, 1936, dtype=f16)
    inside = wide(x[:, :1930])
    weights = softmax(inside)
    # The largest grows from block to block, and each growth scales the sum once more.
    error = weights * 3 * softmax_error(inside)
    return Case(
        (2,), dict(x=x, out=out, columns=1930, stride=1936), dict(out=near(out, np.s_[:, :1930], weights, error))
    )


@case
def softmax_persistent(draw):
    x, out = draw.normal(5, 304), blank(5, 304)
    inside = wide(x[:, :300])
    weights = softmax(inside)
    arguments = dict(x=x, out=out, rows=5, columns=300, stride=304)
    return Case((2,), arguments, dict(out=near(out, np.s_[:, :300], weights, weights * softmax_error(inside))))


@case
def softmax_backward(draw):
    y, dy, dx = draw.uniform(0, 0.01, 2, 912), draw.normal(2, 912), blank(2, 912)
    weights, gradient = wide(y[:, :900]), wide(dy[:, :900])
    along = (weights * gradient).sum(1, keepdims=True)
    off = sum_error(weights * gradient, 1, keepdims=True) + 2 * U * (np.abs(gradient) + np.abs(along))
    wanted = near(dx, np.s_[:, :900], weights * (gradient - along), weights * off)
    return Case((2,), dict(y=y, dy=dy, dx=dx, columns=900, stride=912), dict(dx=wanted))


@case
def log_softmax(draw):
    x, out = draw.uniform(-4, 4, 2, 912, dtype=bf16), blank(2, 912)
    inside = wide(x[:, :900])
    inside = inside - inside.max(1, keepdims=True)
    total = np.exp(inside).sum(1, keepdims=True)
    log = np.log(total)
    error = log_error(log) + exp_error(8) + rounds(900) * U + U * np.abs(inside)
    return Case(
        (2,), dict(x=x, out=out, columns=900, stride=912), dict(out=near(out, np.s_[:, :900], inside - log, error))
    )


def about_mean(x, epsilon):
    """Mean, variance and one over the root of it, of each row; and how far the mean and, relatively,
    the root may be off."""
    count = x.shape[1]
    mean, variance = x.mean(1), x.var(1)
    off = sum_error(x, 1) / count + QUOTIENT * np.abs(mean)
    root = (rounds(count) + 4) * U + off**2 / variance + ROOT + QUOTIENT
    return mean, variance, 1 / np.sqrt(variance + epsilon), off, root


@case(small=True)
def layer_norm_forward(draw):
    x, weight, bias = draw.normal(2, 1504, dtype=f16), draw.normal(1500), draw.normal(1500)
    out, means, inverses = blank(2, 1504, dtype=f16), blank(2), blank(2)
    inside = wide(x[:, :1500])
    mean, _, inverse, off, root = about_mean(inside, 1e-5)
    normal = (inside - mean[:, None]) * inverse[:, None]
    error = np.abs(weight) * (off[:, None] * inverse[:, None] + (root[:, None] + 4 * U) * np.abs(normal)) + U * np.abs(
        bias
    )
    arguments = dict(
        x=x, weight=weight, bias=bias, out=out, means=means, inverses=inverses, columns=1500, stride=1504, epsilon=1e-5
    )
    expected = dict(
        out=near(out, np.s_[:, :1500], normal * weight + wide(bias), error),
        means=near(means, ..., mean, off),
        inverses=near(inverses, ..., inverse, inverse * root),
    )
    return Case((2,), arguments, expected)


@case
def layer_norm_backward(draw):
    rows, columns, groups = 4, 900, 2
    x, dy = draw.normal(rows, 912, dtype=f16), draw.normal(rows, 912, dtype=f16)
    weight, means, inverses = draw.normal(columns), draw.normal(rows, scale=0.1), draw.uniform(1, 2, rows)
    dx, dw, db = blank(rows, 912, dtype=f16), blank(groups, columns), blank(groups, columns)
    locks = zeros(2 * groups, dtype=i32)
    gradient, inverse = wide(dy[:, :columns]), wide(inverses)[:, None]
    normal = (wide(x[:, :columns]) - wide(means)[:, None]) * inverse
    scaled = gradient * weight
    along, mean = (normal * scaled).mean(1, keepdims=True), scaled.mean(1, keepdims=True)
    off = (
        sum_error(normal * scaled, 1, keepdims=True) * np.abs(normal) + sum_error(scaled, 1, keepdims=True)
    ) / columns
    off = off + 8 * U * (np.abs(scaled) + np.abs(normal * along) + np.abs(mean))
    part = gradient * normal
    by_group = lambda array: array.reshape(rows // groups, groups, columns).sum(0)
    arguments = dict(
        x=x,
        weight=weight,
        dy=dy,
        means=means,
        inverses=inverses,
        dx=dx,
        dw=dw,
        db=db,
        locks=locks,
        columns=columns,
        stride=912,
    )
    expected = dict(
        dx=near(dx, np.s_[:, :columns], (scaled - (normal * along + mean)) * inverse, off * inverse),
        dw=near(dw, ..., by_group(part), 5 * U * by_group(np.abs(part))),
        db=near(db, ..., by_group(gradient), 2 * U * by_group(np.abs(gradient))),
        # Nobody holds a lock, and every sum was begun.
        locks=np.array([0, 0, 1, 1], i32),
    )
    return Case((rows,), arguments, expected)


@case
def layer_norm_weights(draw):
    dw, db, weight, bias = draw.normal(40, 200), draw.normal(40, 200), blank(200), blank(200)
    expected = dict(
        weight=near(weight, ..., wide(dw).sum(0), sum_error(dw, 0)),
        bias=near(bias, ..., wide(db).sum(0), sum_error(db, 0)),
    )
    return Case((2,), dict(dw=dw, db=db, weight=weight, bias=bias, rows=40, columns=200), expected)


@case
def layer_norm_welford(draw):
    x, out, means, variances = draw.normal(2, 912), blank(2, 912), blank(2), blank(2)
    inside = wide(x[:, :900])
    mean, variance, inverse, off, root = about_mean(inside, 1e-5)
    # A merge has a quotient and a few roundings, and there are ten of them and two steps a lane.
    off, root = off + 12 * QUOTIENT * np.abs(inside).max(1), root + 12 * (QUOTIENT + 4 * U)
    normal = (inside - mean[:, None]) * inverse[:, None]
    arguments = dict(x=x, out=out, means=means, variances=variances, columns=900, stride=912, epsilon=1e-5)
    expected = dict(
        out=near(out, np.s_[:, :900], normal, off[:, None] * inverse[:, None] + root[:, None] * np.abs(normal)),
        means=near(means, ..., mean, off),
        variances=near(variances, ..., variance, 2 * root * variance),
    )
    return Case((2,), arguments, expected)


def over_root_mean_square(x, epsilon):
    """One over the root of the mean of squares of each row, and how far, relatively, it may be off."""
    inverse = 1 / np.sqrt((x * x).mean(1, keepdims=True) + epsilon)
    return inverse, (rounds(x.shape[1]) + 3) * U + QUOTIENT + INVERSE_ROOT


@case(small=True)
def rms_norm_forward(draw):
    x, weight = draw.normal(2, 912, dtype=bf16), draw.normal(900, dtype=bf16)
    out, inverses = blank(2, 912, dtype=bf16), blank(2)
    inside = wide(x[:, :900])
    inverse, off = over_root_mean_square(inside, 1e-6)
    result = inside * inverse * wide(weight)
    arguments = dict(x=x, weight=weight, out=out, inverses=inverses, columns=900, stride=912, epsilon=1e-6)
    expected = dict(
        out=near(out, np.s_[:, :900], result, np.abs(result) * (off + 2 * U)),
        inverses=near(inverses, ..., inverse[:, 0], inverse[:, 0] * off),
    )
    return Case((2,), arguments, expected)


@case
def rms_norm_backward(draw):
    x, weight, dy = draw.normal(2, 912, dtype=bf16), draw.normal(900, dtype=bf16), draw.normal(2, 912, dtype=bf16)
    inverses, dx, dw = draw.uniform(1, 2, 2), blank(2, 912, dtype=bf16), zeros(900)
    gradient, inverse = wide(dy[:, :900]), wide(inverses)[:, None]
    normal = wide(x[:, :900]) * inverse
    scaled = gradient * wide(weight)
    along = (normal * scaled).mean(1, keepdims=True)
    off = sum_error(normal * scaled, 1, keepdims=True) / 900 * np.abs(normal)
    off = off + 8 * U * (np.abs(scaled) + np.abs(normal * along))
    part = gradient * normal
    arguments = dict(x=x, weight=weight, dy=dy, inverses=inverses, dx=dx, dw=dw, columns=900, stride=912)
    expected = dict(
        dx=near(dx, np.s_[:, :900], (scaled - normal * along) * inverse, off * inverse),
        dw=near(dw, ..., part.sum(0), 4 * U * np.abs(part).sum(0)),
    )
    return Case((2,), arguments, expected)


@case
def add_rms_norm(draw):
    x, residual = draw.normal(2, 912, dtype=f16), draw.normal(2, 912, dtype=f16)
    weight, out = draw.normal(900, dtype=f16), blank(2, 912, dtype=f16)
    total = x[:, :900] + residual[:, :900]
    inverse, off = over_root_mean_square(wide(total), 1e-6)
    result = wide(total) * inverse * wide(weight)
    arguments = dict(x=x, residual=residual, weight=weight, out=out, columns=900, stride=912, epsilon=1e-6)
    expected = dict(
        residual=put(residual, np.s_[:, :900], total),
        out=near(out, np.s_[:, :900], result, np.abs(result) * (off + 2 * U)),
    )
    return Case((2,), arguments, expected)


@case
def group_norm(draw):
    x, weight, bias, out = draw.normal(2, 6, 200), draw.normal(6), draw.normal(6), blank(2, 6, 200)
    groups = wide(x).reshape(4, 600)
    mean, _, inverse, off, root = about_mean(groups, 1e-5)
    normal = ((groups - mean[:, None]) * inverse[:, None]).reshape(2, 6, 200)
    off = (off * inverse)[:, None].repeat(600, 1).reshape(2, 6, 200) + (root.max() + 4 * U) * np.abs(normal)
    scale, shift = wide(weight)[:, None], wide(bias)[:, None]
    arguments = dict(x=x, weight=weight, bias=bias, out=out, channels=6, groups=2, pixels=200, epsilon=1e-5)
    wanted = near(out, ..., normal * scale + shift, off * np.abs(scale) + U * np.abs(shift))
    return Case((2, 2), arguments, dict(out=wanted))


@case
def batch_statistics(draw):
    x, means, variances = draw.normal(100, 48), blank(48), blank(48)
    inside = wide(x)
    mean, squares = inside.mean(0), (inside**2).mean(0)
    off = sum_error(inside, 0) / 100 + QUOTIENT * np.abs(mean)
    error = ((rounds(100) + 1) * U + QUOTIENT) * squares + 2 * off * np.abs(mean) + 2 * U * squares
    expected = dict(means=near(means, ..., mean, off), variances=near(variances, ..., squares - mean**2, error))
    return Case((2,), dict(x=x, means=means, variances=variances, rows=100, columns=48), expected)
