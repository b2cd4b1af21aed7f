"""Arithmetic that rounds as told, decided by exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np


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


