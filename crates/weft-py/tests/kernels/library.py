"""Cases of `kernels/library.py`.

Functions are held against numbers of 100 bits, within the bounds that `xtask/src/accuracy` holds each
to, in units of the last place: of f32 those that CUDA documents for libdevice, or fewer. What `docs/src/functions.md` calls exact is exact here.
"""

import math
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from kernels.approximate import BLOCK, of_both, of_numbers, Row
from kernels.exact import (
    directed,
    of_each,
    of_fraction,
    of_integers,
    permuted,
    rounded,
    roundings,
    sign,
    signed,
    WAYS,
    whole,
)
from kernels.functions import exp2_error, exp_error, INVERSE_ROOT, log_error, QUOTIENT, ROOT
from kernels.table import blank, Case, case, f32, f64, i32, i64, near, U, u32, u64, wide


@case
def library_trigonometry(draw):
    rows = [
        Row(lambda a, b, p, s: mp.tan(a), 3, 3.5),
        Row(lambda a, b, p, s: mp.sin(a), 2, 1.5),
        Row(lambda a, b, p, s: mp.cos(a), 2, 1.5),
        Row(lambda a, b, p, s: mp.sinpi(a), 2, 0.5),
        Row(lambda a, b, p, s: mp.cospi(a), 2, 0.5),
        Row(lambda a, b, p, s: mp.asin(s), 3, 1.5),
        Row(lambda a, b, p, s: mp.acos(s), 2, 1.5),
        Row(lambda a, b, p, s: mp.atan(a), 2, 1.5),
        Row(lambda a, b, p, s: mp.atan2(a, b), 3, 1.5),
    ]
    return of_both(draw, rows)


@case
def library_hyperbolics(draw):
    # The argument of the fifth is rounded once more, which counts most near one.
    rounded = lambda result, a, b, p, s: U * (p + 1) / np.sinh(result) + 2.5 * np.spacing(result.astype(f32))
    rows = [
        Row(lambda a, b, p, s: mp.sinh(a), 3, 2.5),
        Row(lambda a, b, p, s: mp.cosh(a), 3, 1.5),
        Row(lambda a, b, p, s: mp.tanh(a), 3, 1.5),
        Row(lambda a, b, p, s: mp.asinh(a), 4, 2.5),
        Row(lambda a, b, p, s: mp.acosh(p + 1), 4, rounded, lambda result, a, b, p, s: (p + 1) / np.sinh(result)),
        Row(lambda a, b, p, s: mp.atanh(s), 4, 2.5),
    ]
    return of_both(draw, rows)


def cube_root(x):
    return mp.sign(x) * mp.cbrt(abs(x))


@case(small=True)
def library_powers(draw):
    rows = [
        Row(lambda a, b, p, s: mp.exp(a), 1.5, lambda result, a, b, p, s: result * exp_error(a)),
        Row(lambda a, b, p, s: mpf(2) ** a, 1.5, lambda result, a, b, p, s: result * exp2_error(a)),
        Row(lambda a, b, p, s: mpf(10) ** a, 1.5, 1.5),
        Row(lambda a, b, p, s: mp.expm1(a), 2, 0.5),
        Row(lambda a, b, p, s: mp.log(p), 1.5, lambda result, a, b, p, s: log_error(result)),
        Row(lambda a, b, p, s: mp.log(p, 2), 1.5, lambda result, a, b, p, s: log_error(result)),
        Row(lambda a, b, p, s: mp.log10(p), 1.5, 1.5),
        Row(lambda a, b, p, s: mp.log1p(p), 2, 0.5),
        Row(lambda a, b, p, s: p**b, 1.5, 1),
        Row(lambda a, b, p, s: cube_root(a), 1.5, 0.5),
        Row(lambda a, b, p, s: 1 / cube_root(a), 1.5, 0.5),
        Row(lambda a, b, p, s: 1 / mp.sqrt(p), 1, lambda result, a, b, p, s: result * INVERSE_ROOT),
        Row(lambda a, b, p, s: mp.sqrt(p), 0, lambda result, a, b, p, s: result * ROOT),
    ]
    return of_both(draw, rows)


def length(*of):
    return mp.sqrt(sum(each * each for each in of))


@case
def library_lengths(draw):
    rows = [
        Row(lambda a, b, p, s: length(a, b), 2, 0.5),
        Row(lambda a, b, p, s: 1 / length(a, b), 3, 1.5),
        Row(lambda a, b, p, s: length(a, b, s), 2, 0.5),
        Row(lambda a, b, p, s: 1 / length(a, b, s), 3, 1.5),
        Row(lambda a, b, p, s: length(a, b, s, p), 2, 0.5),
        Row(lambda a, b, p, s: 1 / length(a, b, s, p), 3, 1.5),
    ]
    return of_both(draw, rows)


def inverse_error(x):
    return mp.inf * x if abs(x) == 1 else mp.erfinv(x)


@case
def library_errors(draw):
    # An argument near one was rounded, or fused, before its inverse is looked for.
    slope = lambda y: math.sqrt(math.pi) / 2 * np.exp(y * y)
    last = lambda result: np.abs(np.spacing(result.astype(f32)))
    moved = lambda result, a, b, p, s: 2 * U * slope(result) + 3.5 * last(result)
    moved_half = lambda result, a, b, p, s: U * 2 * math.sqrt(2) * slope(result / math.sqrt(2)) + 4.5 * last(result)
    rows = [
        Row(lambda a, b, p, s: mp.erf(a), 2, 1.5),
        Row(lambda a, b, p, s: mp.erfc(a), 5, 3.5),
        Row(lambda a, b, p, s: mp.exp(a * a) * mp.erfc(a), 5, 3.5),
        Row(lambda a, b, p, s: mp.erfc(-a / mp.sqrt(2)) / 2, 6, 4.5),
        Row(lambda a, b, p, s: inverse_error(s), 4, 1.5),
        Row(lambda a, b, p, s: inverse_error(-s), 4, moved, lambda result, a, b, p, s: slope(result)),
        Row(
            lambda a, b, p, s: mp.sqrt(2) * inverse_error(s), 4, moved_half,
            lambda result, a, b, p, s: 2 * slope(result / math.sqrt(2)),
        ),
    ]  # fmt: skip
    return of_both(draw, rows)


def log_gamma(x):
    return mp.log(abs(mp.gamma(x)))


@case
def library_gammas(draw):
    # Beside its zeros the logarithm is off in units of one.
    of_one = lambda result, a, b, p, s: np.ones(BLOCK)
    rows = [
        Row(lambda a, b, p, s: mp.gamma(p), 5, 4.5),
        Row(lambda a, b, p, s: mp.gamma(a), 5, 4.5),
        Row(lambda a, b, p, s: log_gamma(p), 7, 5.5, of_one),
        Row(lambda a, b, p, s: log_gamma(times_ten(a)), 7, 5.5, of_one),
    ]
    return of_both(draw, rows)


def times_ten(x):
    """As the kernels multiply: rounded to the argument's type, which its bits tell."""
    kind = f32 if float(x) == float(f32.type(float(x))) else f64
    return mpf(float(kind.type(float(x)) * kind.type(10)))


@case
def library_bessels(draw):
    # Units of the modulus, around which they swing.
    modulus = lambda x: np.sqrt(2 / (np.pi * np.abs(x)))
    of_a, of_p = (lambda result, a, b, p, s: modulus(a)), (lambda result, a, b, p, s: modulus(p))
    of_ten_a, of_ten_p = (lambda result, a, b, p, s: modulus(10 * a)), (lambda result, a, b, p, s: modulus(10 * p))
    rows = [
        Row(lambda a, b, p, s: mp.besselj(0, a), 5, 5.5, of_a),
        Row(lambda a, b, p, s: mp.besselj(1, a), 5, 5.5, of_a),
        Row(lambda a, b, p, s: mp.bessely(0, p), 9, 8.5, of_p),
        Row(lambda a, b, p, s: mp.bessely(1, p), 9, 8.5, of_p),
        Row(lambda a, b, p, s: mp.besselj(0, times_ten(a)), 5, 5.5, of_ten_a),
        Row(lambda a, b, p, s: mp.besselj(1, times_ten(a)), 5, 5.5, of_ten_a),
        Row(lambda a, b, p, s: mp.bessely(0, times_ten(p)), 9, 8.5, of_ten_p),
        Row(lambda a, b, p, s: mp.bessely(1, times_ten(p)), 9, 8.5, of_ten_p),
        Row(lambda a, b, p, s: mp.besseli(0, a), 5, 5.5),
        Row(lambda a, b, p, s: mp.besseli(1, a), 5, 5.5),
        Row(lambda a, b, p, s: mp.besseli(0, times_ten(a)), 5, 5.5),
        Row(lambda a, b, p, s: mp.besseli(1, times_ten(a)), 5, 5.5),
    ]
    return of_both(draw, rows)


def exactly_both(draw, function, rows):
    """A case of functions of f32 and of f64 whose every bit is known."""
    x, y, out = draw.normal(BLOCK), draw.normal(BLOCK), blank(rows, BLOCK)
    v, w, broad = draw.normal(BLOCK, dtype=f64), draw.normal(BLOCK, dtype=f64), blank(rows, BLOCK, dtype=f64)
    # Some lie halfway between whole numbers.
    x[:8] = v[:8] = np.array([0.5, 1.5, -0.5, -1.5, 2.5, 3.5, 0.1, -2.5]) / 5
    expected = dict(out=function(x * f32.type(5), y * f32.type(4)), wide=function(v * 5, w * 4))
    return Case((1,), dict(x=x, y=y, out=out, v=v, w=w, wide=broad), expected)


@case
def library_roundings(draw):
    return exactly_both(draw, roundings, 15)


@case(small=True)
def library_directed(draw):
    return exactly_both(draw, directed, 28)


@case
def library_powers_whole(draw):
    x, v, n = draw.normal(BLOCK), draw.normal(BLOCK, dtype=f64), draw.integers(0, 99, BLOCK)
    out, broad = blank(2, BLOCK), blank(2, BLOCK, dtype=f64)
    expected = {}
    for name, array, base in (("out", out, x * f32.type(3)), ("wide", broad, v * 3)):
        power = of_numbers(lambda b, e: b**e, base, n % 20)
        unit = np.abs(np.spacing(power.astype(array.dtype))).astype(f64)
        values = np.stack([power, np.frexp(base)[1] - 1])
        expected[name] = near(array, ..., values, np.stack([unit * (0.5 if array is out else 3), np.zeros(BLOCK)]))
    return Case((1,), dict(x=x, v=v, n=n, out=out, wide=broad), expected)


@case
def library_questions(draw):
    x, v = draw.normal(BLOCK), draw.normal(BLOCK, dtype=f64)
    out, longs = blank(8, BLOCK, dtype=i32), blank(4, BLOCK, dtype=i64)
    x[:3] = v[:3] = 0.0, -0.0, 1.0
    # Halfway between whole numbers after they are multiplied.
    x[3:6] = v[3:6] = 2.0**-7, -3 * 2.0**-7, 5 * 2.0**-7
    odd = np.resize(np.array([np.inf, np.nan, -1.5], f32), BLOCK)
    with np.errstate(invalid="ignore"):
        a, b = x * odd, v * odd
    questions = [
        np.isnan(a),
        np.isinf(a),
        np.isfinite(a),
        np.signbit(x),
        np.isnan(b),
        np.isinf(b),
        np.isfinite(b),
        np.signbit(v),
    ]
    large = x * f32.type(1e6), v * 1e6
    away = lambda number: np.trunc(number) + np.where(np.abs(number - np.trunc(number)) >= 0.5, np.sign(number), 0)
    whole_numbers = [function(number) for number in large for function in (np.rint, away)]
    expected = dict(out=np.stack(questions).astype(i32), longs=np.stack(whole_numbers).astype(i64))
    return Case((1,), dict(x=x, v=v, out=out, longs=longs), expected)


@case
def library_integers(draw):
    x, y, z = draw.bits(BLOCK), draw.bits(BLOCK), draw.bits(BLOCK) & 0x7777
    v, w = draw.bits(BLOCK, dtype=i64), draw.bits(BLOCK, dtype=i64)
    x[:4], v[:4] = [0, 1, -1, 8], [0, 1, -1, 1 << 40]
    out, longs = blank(19, BLOCK, dtype=i32), blank(4, BLOCK, dtype=i64)
    a, b, c, d, e = x.view(u32), y.view(u32), z.view(u32), v.view(u64), w.view(u64)
    digits = lambda number, bits: f"{number:0{bits}b}"
    first_one = lambda number: (number & -number).bit_length()
    turned = lambda bits: lambda number: int(digits(number, bits)[::-1], 2)
    words = lambda function, *of: of_integers(32, function, *of)
    mean, mean_up = (lambda p, q: p + q >> 1), (lambda p, q: p + q + 1 >> 1)
    apart = lambda p, q, r: abs(p - q) + r
    rows = [
        words(lambda p: 32 - p.bit_length(), a), words(int.bit_count, a), words(first_one, a), words(turned(32), a),
        words(permuted, a, b, c), words(lambda p, q: p * q >> 32, x, y), words(lambda p, q: p * q >> 32, a, b),
        words(lambda p, q: signed(p, 24) * signed(q, 24), x, y), words(lambda p, q: (p & 0xFFFFFF) * (q & 0xFFFFFF), a, b),
        words(apart, x, y, c), words(apart, a, b, c), words(mean, x, y), words(mean, a, b), words(mean_up, x, y),
        words(mean_up, a, b), words(abs, x), words(lambda p: 64 - p.bit_length(), d), words(int.bit_count, d),
        words(first_one, d),
    ]  # fmt: skip
    high = lambda p, q: p * q >> 64
    long_rows = [
        of_integers(64, turned(64), d), of_integers(64, high, v, w), of_integers(64, high, d, e), of_integers(64, abs, v),
    ]  # fmt: skip
    arguments = dict(x=x, y=y, z=z, v=v, w=w, out=out, longs=longs)
    return Case((1,), arguments, dict(out=np.stack(rows), longs=np.stack(long_rows)))


@case
def library_conversions(draw):
    x, v, n, m = (
        draw.normal(BLOCK),
        draw.uniform(-1, 1, BLOCK, dtype=f64),
        draw.bits(BLOCK),
        draw.bits(BLOCK, dtype=i64),
    )
    outs = dict(out=blank(24, BLOCK), wide=blank(13, BLOCK, dtype=f64))
    outs |= dict(words=blank(20, BLOCK, dtype=i32), longs=blank(17, BLOCK, dtype=i64))
    a, b = x * f32.type(1e5), v * 1e9
    out, wide_rows, words, longs = [], [], [], []
    number = lambda kind, way, of: of_each(lambda each: of_fraction(each, kind, way), kind, of)
    for way in WAYS:
        integer = lambda kind, of, way=way: np.array([whole(Fraction(each), way) for each in of.tolist()]).astype(kind)
        for rows, kinds in ((words, (i32, u32)), (longs, (i64, u64))):
            for of in (a, b):
                rows.append(integer(kinds[0], of).view(kinds[0]))
                rows.append(integer(kinds[1], np.abs(of)).view(kinds[0]))
        out += [number(f32, way, of) for of in (n, n.view(u32), m, m.view(u64), b)]
        wide_rows += [number(f64, way, of) for of in (m, m.view(u64))]
    halves = np.stack([n + 1, n], 1).view(f64)[:, 0]
    inverse = 1 / b
    wide_rows += [n.astype(f64), n.view(u32).astype(f64), halves, m.view(f64), inverse]
    one_over_root = lambda p: rounded(float(p) ** -0.5, lambda f: sign(1 - f * f * p), f32, "rn")
    share = a * f32.type(1e-5)
    out += [n.view(f32), n.view(f32), of_each(one_over_root, f32, np.abs(a)), np.clip(share, f32.type(0), f32.type(1))]
    upper_and_lower = b.view(i32).reshape(BLOCK, 2)
    words += [a.view(i32), a.view(i32), upper_and_lower[:, 0], upper_and_lower[:, 1]]
    longs.append(b.view(i64))
    # Of the inverse only the upper word is made.
    error = np.zeros((13, BLOCK))
    error[12] = np.abs(inverse) * 2.0**-20
    broad = near(outs["wide"], ..., np.stack(wide_rows), error)
    expected = dict(out=np.stack(out), wide=broad, words=np.stack(words), longs=np.stack(longs))
    return Case((1,), dict(x=x, v=v, n=n, m=m, **outs), expected)


@case
def library_fast(draw):
    x, y, out = draw.normal(BLOCK), draw.normal(BLOCK), blank(10, BLOCK)
    narrow_a, narrow_b = x * f32.type(3), y * f32.type(3)
    a, b, p = wide(narrow_a), wide(narrow_b), wide(np.abs(narrow_a) + f32.type(0.01))
    ten = math.log2(10)
    unit = lambda result: np.abs(np.spacing(result.astype(f32))).astype(f64)
    tangent, log = np.tan(a), np.log2(p)
    power = b * log
    # Each result, and its error.
    rows = [
        (np.sin(a), unit(np.sin(a))),
        (np.cos(a), unit(np.cos(a))),
        # A quotient of the two, each within one and a half units.
        (tangent, np.abs(tangent) * (2 * 3 * U + QUOTIENT)),
        (np.log(p), log_error(np.log(p))),
        (log, log_error(log)),
        (np.log10(p), log_error(np.log10(p))),
        (np.exp(a), np.exp(a) * exp_error(a)),
        (10**a, 10**a * exp_error(a * ten)),
        (p**b, p**b * (exp2_error(power) + np.abs(b) * log_error(log))),
        (a / p, np.abs(a / p) * QUOTIENT),
    ]
    values, errors = zip(*rows, strict=True)
    return Case((1,), dict(x=x, y=y, out=out), dict(out=near(out, ..., np.stack(values), np.stack(errors))))
