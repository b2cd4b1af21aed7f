"""Cases of `kernels/math.py`.

Functions of 32 bits are within the bounds of `docs/src/functions.md`, or those of the machine's
instructions where it says that one is taken.
"""

import math

import numpy as np

from kernels.functions import (
    exp2_error,
    exp_error,
    INVERSE_ROOT,
    log_error,
    philox,
    QUOTIENT,
    ROOT,
    sigmoid,
    sigmoid_error,
    softmax,
    softmax_error,
    uniform,
)  # fmt: skip
from kernels.table import blank, Case, case, f16, f32, f64, i32, near, U, U64, wide

# Two units in the last place: more than any function of 32 bits is off, of a result near one.
FUNCTION = 4 * U


@case(small=True)
def exponentials(draw):
    x, out = draw.normal(256), blank(256)
    values = wide(x) * 4
    parts = np.exp(values), np.exp2(values) * sigmoid(values), softmax(values)
    errors = exp_error(values), exp2_error(values) + sigmoid_error(values) + U, softmax_error(values)
    error = sum(part * off for part, off in zip(parts, errors, strict=True)) + 2 * U * sum(parts)
    return Case((1,), dict(x=x, out=out), dict(out=near(out, ..., sum(parts), error)))


@case
def logarithms(draw):
    x, out = draw.normal(256), blank(256)
    values = np.abs(x) + f32.type(0.01)
    first, second = np.log(wide(values)), np.log2(wide(values + f32.type(2)))
    error = log_error(first) * np.abs(second) + log_error(second) * np.abs(first) + U * np.abs(first * second)
    return Case((1,), dict(x=x, out=out), dict(out=near(out, ..., first * second, error)))


@case
def trigonometry(draw):
    x, sines, cosines = draw.normal(256), blank(256), blank(256)
    small, large, huge = (wide(x * f32.type(by)) for by in (3, 1e9, 1e30))
    expected = dict(
        sines=near(sines, ..., np.sin(small) + np.sin(large), 2 * FUNCTION),
        cosines=near(cosines, ..., np.cos(small) - np.cos(huge), 2 * FUNCTION),
    )
    return Case((1,), dict(x=x, sines=sines, cosines=cosines), expected)


@case
def roots(draw):
    x, out, precise = draw.normal(256), blank(256), blank(256)
    values = np.abs(x) + f32.type(0.5)
    v = wide(values)
    parts = np.sqrt(v), 1 / np.sqrt(v), v / wide(values + f32.type(1))
    error = parts[0] * ROOT + parts[1] * INVERSE_ROOT + parts[2] * QUOTIENT + U * sum(parts)
    expected = dict(out=near(out, ..., sum(parts), error), precise=np.sqrt(values) / (values * f32.type(3)))
    return Case((1,), dict(x=x, out=out, precise=precise), expected)


@case(small=True)
def gelu(draw):
    x, out = draw.normal(500, dtype=f16), blank(500, dtype=f16)
    values = wide(x) * 3
    result = 0.5 * values * (1 + np.vectorize(math.erf)(values * math.sqrt(0.5)))
    # Where the error function is near minus one, its last place is what is left; its argument was rounded.
    error = np.abs(0.5 * values) * (2 * FUNCTION + 4 * U) + 2 * U * np.abs(result)
    return Case((2,), dict(x=x, out=out, n=500), dict(out=near(out, ..., result, error)))


@case
def extremes(draw):
    x, y, out = draw.normal(256), draw.normal(256), blank(256)
    a, b = x, np.where(np.arange(256) % 5 == 0, f32.type(np.nan), y)
    number = np.fmax(a, b) + np.fmin(a, b)
    held = np.clip(a, f32.type(-0.5), f32.type(0.5)) + np.minimum(np.maximum(b, f32.type(0)), f32.type(0.25))
    product = wide(np.maximum(a, b)) * wide(np.minimum(b, a))
    rest = np.where(np.isnan(product), -100.0, product + held)
    error = np.nan_to_num(U * np.abs(product) + U * np.abs(rest))
    return Case((1,), dict(x=x, y=y, out=out), dict(out=near(out, ..., number + rest, error)))


@case
def rounding(draw):
    x, out, in_double = draw.normal(256), blank(256), blank(256, dtype=f64)
    values = x * f32.type(50)
    # The product is of small whole numbers, so that f64 holds the sum.
    fused = (np.floor(wide(values)) * np.ceil(wide(values)) + wide(values)).astype(f32)
    expected = dict(out=fused - np.abs(values), wide=np.floor(wide(values) * 1e10))
    return Case((1,), dict(x=x, out=out, wide=in_double), expected)


@case
def double_functions(draw):
    x, out = draw.normal(128, dtype=f64), blank(128, dtype=f64)
    positive = np.abs(x) + 1e-3
    parts = np.exp(x * 20), np.exp2(x), np.log(positive) * np.log2(positive)
    # Each is within two units, and the argument of the first was rounded.
    magnitude = parts[0] * (1 + np.abs(x * 20) / 8) + parts[1] + np.abs(parts[2]) * 3
    return Case((1,), dict(x=x, out=out), dict(out=near(out, ..., sum(parts), 8 * U64 * magnitude)))


@case
def float_remainder(draw):
    x, y, out = draw.normal(256), draw.normal(256), blank(256)
    return Case((1,), dict(x=x, y=y, out=out), dict(out=np.fmod(x * f32.type(1e6), y + f32.type(0.001))))


@case
def device_library(draw):
    x, y, out, kinds = draw.normal(256), draw.normal(256), blank(256), blank(256, dtype=i32)
    a, b = wide(x * f32.type(3)), wide(y)
    base = wide(np.abs(x * f32.type(3)) + f32.type(0.1))
    parts = [
        np.tanh(a), np.expm1(b), np.log1p(np.abs(b)), base**b, np.cosh(a), 10**b,
        np.log10(wide(np.abs(x * f32.type(3)) + f32.type(1))), np.rint(a), np.trunc(a * 2), np.copysign(a, b),
        np.fmod(a, wide(y + f32.type(2))), np.tan(b),
    ]  # fmt: skip
    # Each function, and each of the sums, whose parts may be large.
    error = (FUNCTION + len(parts) * U) * sum(np.abs(part) for part in parts)
    # None, infinite, none: of every three elements.
    wanted = np.resize(np.array([2, 1, 4], i32), 256)
    return Case((1,), dict(x=x, y=y, out=out, kinds=kinds), dict(out=near(out, ..., sum(parts), error), kinds=wanted))


@case
def random_numbers(draw):
    seed, uniforms, normals, whole = 42, blank(256), blank(256), blank(256, dtype=i32)
    first, second, _, _ = philox(seed, np.arange(256))
    u, v = uniform(first), uniform(second)
    # The transform of Box and Muller.
    log = np.log(np.maximum(wide(u), 1e-7))
    radius, angle = np.sqrt(-2 * log), 2 * math.pi * wide(v)
    error = log_error(log) / radius + radius * (ROOT + FUNCTION + 2 * U * angle)
    expected = dict(uniform=u, normal=near(normals, ..., radius * np.cos(angle), error), whole=first.view(i32))
    return Case((2,), dict(seed=seed, uniform=uniforms, normal=normals, whole=whole), expected)
