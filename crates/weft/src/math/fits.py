"""The polynomials of `fits.rs`: near-minimax fits in Chebyshev's nodes, made with mpmath.

Run as `python fits.py > fits.rs`. Each polynomial has the fewest coefficients with which its error stays
below 2^-57 (f64) and 2^-28 (f32) of the function's least value on the interval. Where a polynomial is a
correction to something larger, or stands in an exponent, `SINGLE` says by what its error counts, and f32
has minimax polynomials for that weight (E. Remez, *Sur le calcul effectif des polynomes d'approximation
de Tchebichef*, 1934).
"""

import sys

from mpmath import mp, mpf

mp.dps = 50

ZERO_J0 = [mp.besseljzero(0, k) for k in (1, 2, 3)]
ZERO_J1 = [mp.besseljzero(1, k) for k in (1, 2, 3)]


def at(limit, point=0):
    """A function whose value at one point is given, where its formula divides by zero."""

    def decorate(function):
        def whole(x):
            if abs(x - point) < mpf(10) ** -24:
                x = point + mpf(10) ** -24
            with mp.extradps(100):
                return function(mpf(x))

        return whole

    return decorate


def odd(function, z, terms):
    """What is left of an odd function of the root of `z` behind its first terms."""
    s = mp.sqrt(z)
    rest = function(s) - sum(c * s ** (2 * k + 1) for k, c in enumerate(terms))
    return rest / s ** (2 * len(terms) + 1)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfc_inverse(w):
    """The `x` with `-log(1 - erf(x)^2) = w`, over `erf(x)`."""
    y = -mp.expm1(mp.log1p(-mp.exp(-w)) / 2)
    if w < 40:
        x = mp.erfinv(1 - y)
    else:
        x = mp.sqrt(w)
        for _ in range(60):
            # Newton's step on log erfc.
            f = mp.erfc(x)
            step = (mp.log(f) - mp.log(y)) * f * mp.sqrt(mp.pi) * mp.exp(x * x) / 2
            x += step
            if abs(step) < mpf(10) ** -45:
                break
    return x / (1 - y)


def stirling(z):
    x = 1 / mp.sqrt(z)
    return (mp.loggamma(x) - ((x - mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def bessel_modulus(order, w):
    x = 8 / mp.sqrt(w)
    return mp.sqrt(mp.pi * x / 2 * (mp.besselj(order, x) ** 2 + mp.bessely(order, x) ** 2))


def bessel_phase(order, w):
    """The phase behind `x`, times `x`."""
    x = 8 / mp.sqrt(w)
    straight = x - mp.pi / 4 - order * mp.pi / 2
    j, y = mp.besselj(order, x), mp.bessely(order, x)
    # The angle between (j, y) and the straight phase, which is small.
    c, s = mp.cos(straight), mp.sin(straight)
    return mp.atan2(y * c - j * s, j * c + y * s) * x


def square(t):
    return 32 + 32 * t


def regular(order, t):
    """What the logarithm leaves of a Bessel function of the second kind."""
    x = mp.sqrt(square(t))
    if order == 0:
        return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def bessel_j(order, t):
    z = square(t)
    x = mp.sqrt(z)
    zeros = ZERO_J0 if order == 0 else ZERO_J1
    value = mp.besselj(order, x) / (x if order else 1)
    for zero in zeros:
        value /= z - zero**2
    return value


FITS = [
    ("EXP", "`(e^r - 1 - r) / r^2`, `|r|` up to half of ln 2", at(0)(lambda r: (mp.expm1(r) - r) / r**2), -mp.log(2) / 2, mp.log(2) / 2),
    ("LOG", "`(2 atanh s - 2 s - 2/3 s^3) / s^5` in `s^2`, `s` up to 0.1716", at(0)(lambda z: odd(lambda s: 2 * mp.atanh(s), z, [2, mpf(2) / 3])), 0, mpf("0.02945")),
    ("SIN", "`(sin r - r) / r^3` in `r^2`, `r` up to π/4", at(0)(lambda z: odd(mp.sin, z, [1])), 0, (mp.pi / 4) ** 2),
    ("COS", "`(cos r - 1 + r^2/2) / r^4` in `r^2`, `r` up to π/4", at(0)(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2), 0, (mp.pi / 4) ** 2),
    ("SINPI", "`(sin πt - πt) / t^3` in `t^2`, `t` up to 1/4", at(0)(lambda z: odd(lambda t: mp.sin(mp.pi * t), z, [mp.pi])), 0, mpf(1) / 16),
    ("COSPI", "`(cos πt - 1) / t^2` in `t^2`, `t` up to 1/4", at(0)(lambda z: (mp.cos(mp.pi * mp.sqrt(z)) - 1) / z), 0, mpf(1) / 16),
    ("ASIN", "`(asin s - s) / s^3` in `s^2`, `s` up to 1/2", at(0)(lambda z: odd(mp.asin, z, [1])), 0, mpf(1) / 4),
    ("ATAN", "`(atan s - s) / s^3` in `s^2`, `s` up to 1", at(0)(lambda z: odd(mp.atan, z, [1])), 0, 1),
    ("ERF", "`erf(s) / s` in `s^2`, `s` up to 1", at(0)(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z)), 0, 1),
    ("ERFCX", "`(1 + 2 x) erfcx(x)` in `(x - 4) / (x + 4)`, `x` from 0", at(0, 1)(lambda t: (1 + 8 * (1 + t) / (1 - t)) * erfcx(4 * (1 + t) / (1 - t)) if t < mpf("0.98") else scaled_tail(4 * (1 + t) / (1 - t))), -1, 1),
    ("ERFINV_NEAR", "`x / erf(x)` in `w - 1.5`, `w = -log(1 - erf(x)^2)` up to 6.25", at(0, mpf("-1.5"))(lambda t: erfc_inverse(t + mpf("1.5"))), mpf("-1.5"), mpf("4.75")),
    ("ERFINV_FAR", "the same in `sqrt(w) - 3.25`, `w` from 6.25 to 16", lambda t: erfc_inverse((t + mpf("3.25")) ** 2), mpf("-0.75"), mpf("0.75")),
    ("ERFINV_END", "the same in `sqrt(w) - 5`, `w` from 16 to 37", lambda t: erfc_inverse((t + 5) ** 2), mpf("-1.1"), mpf("1.1")),
    ("ERFINV_TAIL", "the same over `sqrt(w)` in `1 / sqrt(w) - 0.14`, `w` from 16 to 744", lambda t: erfc_inverse((1 / (t + mpf("0.14"))) ** 2) * (t + mpf("0.14")), mpf("-0.104"), mpf("0.111")),
    ("LGAMMA", "`log(Γ(2 + y)) / y`, `|y|` up to 1/2", at(0)(lambda y: mp.loggamma(2 + y) / y), mpf("-0.5"), mpf("0.5")),
    ("GAMMA", "`Γ(2 + y)`, `|y|` up to 1/2", lambda y: mp.gamma(2 + y), mpf("-0.5"), mpf("0.5")),
    ("STIRLING", "what Stirling's formula leaves of `log Γ(x)`, times `x`, in `1 / x^2`, `x` from 12", at(0)(lambda z: stirling(z) if z > mpf(10) ** -8 else mpf(1) / 12 - z / 360), 0, mpf(1) / 144),
    ("J0", "`J0(x)` over the factors with its first three zeros, in `x^2 / 32 - 1`", at(0, -1)(lambda t: bessel_j(0, t)), -1, 1),
    ("J1", "`J1(x) / x` over the factors with its first three zeros, in `x^2 / 32 - 1`", at(0, -1)(lambda t: bessel_j(1, t)), -1, 1),
    ("Y0", "`Y0(x) - 2/π log(x) J0(x)` in `x^2 / 32 - 1`", at(0, -1)(lambda t: regular(0, t)), -1, 1),
    ("Y1", "`(Y1(x) - 2/π (log(x) J1(x) - 1/x)) / x` in `x^2 / 32 - 1`", at(0, -1)(lambda t: regular(1, t)), -1, 1),
    ("MODULUS_0", "`sqrt(π x / 2 (J0^2 + Y0^2))` in `(8 / x)^2`, `x` from 8", at(0)(lambda w: bessel_modulus(0, w) if w > mpf(10) ** -6 else 1 - w / 1024), 0, 1),
    ("MODULUS_1", "`sqrt(π x / 2 (J1^2 + Y1^2))` in `(8 / x)^2`, `x` from 8", at(0)(lambda w: bessel_modulus(1, w) if w > mpf(10) ** -6 else 1 + 3 * w / 1024), 0, 1),
    ("PHASE_0", "`x (phase of J0 + i Y0 - x + π/4)` in `(8 / x)^2`, `x` from 8", at(0)(lambda w: bessel_phase(0, w) if w > mpf(10) ** -6 else mpf(-1) / 8 + 25 * w / 384 / 64), 0, 1),
    ("PHASE_1", "`x (phase of J1 + i Y1 - x + 3π/4)` in `(8 / x)^2`, `x` from 8", at(0)(lambda w: bessel_phase(1, w) if w > mpf(10) ** -6 else mpf(3) / 8 - 21 * w / 128 / 64), 0, 1),
    ("I0", "`I0(x)` in `x^2`, `x` up to 8", at(0)(lambda z: mp.besseli(0, mp.sqrt(z))), 0, 64),
    ("I1", "`I1(x) / x` in `x^2`, `x` up to 8", at(0)(lambda z: mp.besseli(1, mp.sqrt(z)) / mp.sqrt(z)), 0, 64),
    ("I0_FAR", "`sqrt(x) e^-x I0(x)` in `16 / x - 1`, `x` from 8", at(0, -1)(lambda t: bessel_i_far(0, t)), -1, 1),
    ("I1_FAR", "`sqrt(x) e^-x I1(x)` in `16 / x - 1`, `x` from 8", at(0, -1)(lambda t: bessel_i_far(1, t)), -1, 1),
]


def bessel_i_far(order, t):
    x = 16 / (t + 1)
    if x > 10**6:
        mu = 4 * order**2
        return (1 - (mu - 1) / (8 * x) + (mu - 1) * (mu - 9) / (2 * (8 * x) ** 2) - (mu - 1) * (mu - 9) * (mu - 25) / (6 * (8 * x) ** 3)) / mp.sqrt(2 * mp.pi)
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)


def scaled_tail(x):
    """`(1 + 2 x) erfcx(x)` by its continued fraction."""
    f = x
    for k in range(300, 0, -1):
        f = x + mpf(k) / 2 / f
    return (1 + 2 * x) / f / mp.sqrt(mp.pi)


def log2_of_complement(x):
    """`log2(1 - erf x) / x`."""
    return mp.log(mp.erfc(x), 2) / x


# How much an error of a polynomial for f32 is in the result, as a share of it, in the polynomial's
# variable; and the interval, where that is another.
SINGLE = {
    "EXP": (lambda r: abs(r) / 2 + mpf("0.01"),),
    "SIN": (lambda z: z,),
    "COS": (lambda z: z**2,),
    "SINPI": (lambda z: z / 3,),
    "COSPI": (lambda z: z,),
    "ASIN": (lambda z: z, 0, mpf("0.326")),
    "ATAN": (lambda z: z / mp.atan(mp.sqrt(z)) * mp.sqrt(z) if z else mpf(0),),
    "STIRLING": (lambda z: mpf("0.02"), 0, mpf(1) / 25),
}

# Polynomials that only f32 has: name, what, function, interval, weight.
SINGLES = [
    ("ERF_NEAR", "`erf(s) / s - 1` in `s^2`, `s` up to 0.95", at(0)(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), 0, mpf("0.95") ** 2, lambda z: 1),
    ("ERF_FAR", "`log2(1 - erf x) / x`, `x` from 0.95 to 4", log2_of_complement, mpf("0.95"), 4, lambda x: mp.erfc(x) * x),
    ("TANH", "`(tanh s - s) / s^3` in `s^2`, `s` up to 0.65", at(0)(lambda z: odd(mp.tanh, z, [1])), 0, mpf("0.65") ** 2, lambda z: z),
    ("EXPM1", "`(e^r - 1 - r) / r^2`, `|r|` up to 0.42", at(0)(lambda r: (mp.expm1(r) - r) / r**2), mpf("-0.42"), mpf("0.42"), lambda r: abs(r) / 2 + mpf("0.01")),
    ("LOG1P", "`(log(1 + f) - f) / f^2`, `1 + f` from √½ to 3/2", at(0)(lambda f: (mp.log1p(f) - f) / f**2), mp.sqrt(mpf(1) / 2) - 1, mpf("0.5"), lambda f: abs(f) + mpf("0.01")),
    ("LOG2_SERIES", "`2 log2(e) (atanh s - s) / s^3` in `s^2`, `s` up to 0.1716", at(0)(lambda z: 2 * odd(mp.atanh, z, [1]) / mp.log(2)), 0, mpf("0.02945"), lambda z: mpf("0.01")),
    ("EXP2", "`(2^r - 1) / r`, `|r|` up to 1/2", at(0)(lambda r: mp.expm1(r * mp.log(2)) / r), mpf("-0.5"), mpf("0.5"), lambda r: abs(r) + mpf("0.01")),
]


def remez(function, weight, low, high, count):
    """Coefficients, the highest power's first, of the polynomial whose weighted error is least, and that."""
    middle, half = (high + low) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * mpf(k) / 240) for k in range(241)]
    values = [(x, function(x), weight(x)) for x in grid]
    values = [(x, f, w) for x, f, w in values if w]
    last = len(values) - 1
    chosen = [values[round((1 - mp.cos(mp.pi * mpf(k) / count)) / 2 * last)] for k in range(count + 1)]
    for _ in range(12):
        rows = [[x**p for p in range(count)] + [mpf(-1) ** k / w] for k, (x, _, w) in enumerate(chosen)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f for _, f, _ in chosen]))
        coefficients = [solution[count - 1 - k] for k in range(count)]
        errors = [(f - mp.polyval(coefficients, x)) * w for x, f, w in values]
        # The largest error of each run of one sign; of the runs so many as there are unknowns.
        runs = []
        for index, error in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[runs[-1]]):
                    runs[-1] = index
            else:
                runs.append(index)
        while len(runs) > count + 1:
            del runs[0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1]
        if len(runs) < count + 1:
            break
        following = [values[index] for index in runs]
        if following == chosen:
            break
        chosen = following
    return coefficients, max(map(abs, errors))


def weighted(function, weight, low, high, bits):
    for count in range(2, 20):
        coefficients, error = remez(function, weight, low, high, count)
        if error < mpf(2) ** -bits:
            return coefficients, error
    raise SystemExit("no fit")


def fitted(function, low, high, bits):
    points = [low + (high - low) * mpf(k) / 40 for k in range(41)]
    least = min(abs(function(p)) for p in points)
    for count in range(3, 45):
        coefficients, error = chebyshev(function, low, high, count)
        if error < least * mpf(2) ** -bits:
            return coefficients, error / least
    raise SystemExit("no fit")


CACHE = {}


def chebyshev(function, low, high, count):
    """Coefficients, the highest power's first, and an estimate of the error, of an interpolation."""
    key = id(function)
    if key not in CACHE:
        n = 64
        nodes = [mp.cos(mp.pi * (k + mpf(1) / 2) / n) for k in range(n)]
        values = [function((high - low) / 2 * t + (high + low) / 2) for t in nodes]
        series = [
            2 * sum(v * mp.cos(mp.pi * j * (k + mpf(1) / 2) / n) for k, v in enumerate(values)) / n for j in range(n)
        ]
        series[0] /= 2
        CACHE[key] = series
    series = CACHE[key]
    error = sum(abs(c) for c in series[count:])
    # Monomials in t, then in the variable.
    before, current = [mpf(1)], [mpf(0), mpf(1)]
    total = [mpf(0)] * count
    for j in range(count):
        polynomial = before
        for k, c in enumerate(polynomial):
            total[k] += series[j] * c
        following = [mpf(0)] + [2 * c for c in current]
        for k, c in enumerate(before):
            following[k] -= c
        before, current = current, following
    scale, shift = 2 / (high - low), -(high + low) / (high - low)
    result = [mpf(0)]
    for c in reversed(total):
        following = [mpf(0)] * (len(result) + 1)
        for k, r in enumerate(result):
            following[k] += r * shift
            following[k + 1] += r * scale
        following[0] += c
        result = following
    return list(reversed(result[:count])), error


def literal(value):
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    whole, _, part = mantissa.partition(".")
    groups = "_".join(part[k : k + 3] for k in range(0, len(part), 3)) or "0"
    return f"{sign}{int(whole):_}.{groups}" + (f"e{int(exponent)}" if exponent else "")


def written(values, indent):
    return "".join(f"{indent}{literal(value)},\n" for value in values)


def main():
    print("//! Coefficients, written by `fits.py`: near-minimax polynomials, the highest power's first.\n")
    print("use super::expression::Fit;")
    for name, what, function, low, high in FITS:
        low, high = mpf(low), mpf(high)
        wide, wide_error = fitted(function, low, high, 57)
        if name in SINGLE:
            weight, *interval = SINGLE[name]
            first, last = interval or (low, high)
            narrow, narrow_error = weighted(function, weight, mpf(first), mpf(last), 27)
        else:
            narrow, narrow_error = fitted(function, low, high, 28)
        told(name, f"{len(narrow)} {len(wide)}", wide_error, narrow_error)
        print(f"\n/// {what[0].upper() + what[1:]}.")
        print(f"pub(super) const {name}: Fit = Fit {{")
        for key, values in (("single", narrow), ("double", wide)):
            print(f"    {key}: &[\n{written(values, ' ' * 8)}    ],")
        print("};")
    for name, what, function, low, high, weight in SINGLES:
        values, error = weighted(function, weight, mpf(low), mpf(high), 27)
        told(name, len(values), error)
        print(f"\n/// {what[0].upper() + what[1:]}, for f32.")
        print(f"pub(super) const {name}: &[f64] = &[\n{written(values, ' ' * 4)}];")


def told(name, counts, *errors):
    errors = " ".join(f"2^{float(mp.log(error, 2)):.1f}" for error in errors)
    print(f"{name}: {counts} coefficients, {errors}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
