"""Arithmetic whose every bit is known: that which rounds as told, by exact fractions, and of whole numbers."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kernels.table import i32, i64

# To nearest, ties to even; toward zero; down; up.
WAYS = ("rn", "rz", "rd", "ru")


def rounded(guess: float, beyond: Callable[[Fraction], int], kind: np.dtype, way: str) -> Any:
    """The number of a type that a real number is rounded to.

    The real number is given by a guess, which is it or beside it, and by the sign of how far it is
    beyond a fraction.
    """
    with np.errstate(over="ignore"):
        first = kind.type(guess)
    side = beyond(Fraction(float(first)))
    if side == 0:
        return first
    other = np.nextafter(first, kind.type(side * np.inf))
    low, high = (first, other) if side > 0 else (other, first)
    if way == "rd":
        return low
    if way == "ru":
        return high
    if way == "rz":
        return low if low >= 0 else high
    half = beyond((Fraction(float(low)) + Fraction(float(high))) / 2)
    even = low if int(low.view(f"i{kind.itemsize}")) % 2 == 0 else high
    return {-1: low, 0: even, 1: high}[half]


def sign(number: Any) -> int:
    return (number > 0) - (number < 0)


def of_fraction(exact: Fraction, kind: np.dtype, way: str = "rn") -> Any:
    """A fraction rounded."""
    return rounded(float(exact), lambda other: sign(exact - other), kind, way)


def of_root(square: Fraction, kind: np.dtype, way: str = "rn") -> Any:
    """The root of a positive fraction rounded."""
    return rounded(float(square) ** 0.5, lambda other: 1 if other < 0 else sign(square - other * other), kind, way)


def of_each(function: Callable[..., Any], kind: np.dtype, *arguments: np.ndarray) -> np.ndarray:
    """A function of fractions, of each element."""
    fractions = ([Fraction(each.item()) for each in array] for array in arguments)
    return np.array([function(*of) for of in zip(*fractions, strict=True)], kind)


def whole(number: Fraction, way: str) -> int:
    """A fraction as a whole number."""
    if way == "rn":
        return round(number)
    low = number.numerator // number.denominator
    exact = number.denominator == 1
    up = way == "ru" or (way == "rz" and number < 0)
    return low if exact or not up else low + 1


def roundings(a, b):
    kind = a.dtype
    s, n = b * kind.type(0.2), np.arange(len(a)) * 3 - 190
    fused = of_each(lambda x, y, z: of_fraction(x * y + z, kind), kind, a, b, s)
    away = np.trunc(a) + np.where(np.abs(a - np.trunc(a)) >= 0.5, np.sign(a), 0).astype(kind)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(a, n)
    return np.stack([
        np.floor(a), np.ceil(a), np.trunc(a), np.rint(a), np.rint(a), away, (np.frexp(a)[1] - 1).astype(kind),
        np.nextafter(a, b), np.copysign(a, b), np.maximum(a - b, kind.type(0)), np.fmod(a, b),
        np.array([math.remainder(*of) for of in zip(a.tolist(), b.tolist(), strict=True)], kind), fused, scaled, scaled,
    ])  # fmt: skip


def directed(a, b):
    kind = a.dtype
    p, s = np.abs(a) + kind.type(0.01), b * kind.type(0.2)
    rows = []
    for way in WAYS:
        result = lambda function, *of, way=way: of_each(
            lambda *each: of_fraction(function(*each), kind, way), kind, *of
        )
        rows += [
            result(lambda x, y: x + y, a, b), result(lambda x, y: x - y, a, b), result(lambda x, y: x * y, a, b),
            result(lambda x, y: x / y, a, b), result(lambda x: 1 / x, a),
            of_each(lambda x, way=way: of_root(x, kind, way), kind, p), result(lambda x, y, z: x * y + z, a, b, s),
        ]  # fmt: skip
    return np.stack(rows)


def signed(number, bits):
    """The low bits of a number as one with a sign."""
    return (number & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)


def of_integers(bits, function, *arguments):
    """A function of whole numbers, of each element; as many bits are kept of the result."""
    kind = i32 if bits == 32 else i64
    return np.array(
        [signed(int(function(*of)), bits) for of in zip(*(each.tolist() for each in arguments), strict=True)], kind
    )


def permuted(a, b, selectors):
    """The bytes of two words that four selectors pick."""
    both = a | b << 32
    return sum((both >> 8 * (selectors >> 4 * place & 7) & 255) << 8 * place for place in range(4))
