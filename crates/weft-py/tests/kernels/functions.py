"""Functions that several cases have in common, and how far the machine's approximations may be off.

The bounds are those that the PTX ISA gives for `ex2.approx`, `lg2.approx`, `rsqrt.approx`,
`sqrt.approx` and `div.full`, and for a sum as many roundings as an addend goes through.
"""

from typing import Any

import numpy as np

from kernels.table import f32, f64, U, U64

LOG2_E = 1.4426950408889634

# Relative errors: of a quotient, of a root, of one over a root.
QUOTIENT, ROOT, INVERSE_ROOT = 4 * U, 4 * U, 4 * U


def exp_error(x: Any) -> Any:
    """The relative error of an exponential: two units of its own, and the roundings of the argument,
    which counts as often as it is large."""
    return (4 + 2 * np.abs(x)) * U


def exp2_error(x: Any) -> Any:
    """The same to the base two, of an argument that a rounding may have moved."""
    return (4 + np.abs(x)) * U


def log_error(y: Any) -> Any:
    """The error of a logarithm that is `y`: absolute near one, relative elsewhere."""
    return 4 * U * np.maximum(np.abs(y), 1.0)


def rounds(count: int) -> int:
    """How many roundings an addend goes through in a sum of so many: a thread adds up to sixteen one
    after the other, and what threads have is added in a tree."""
    return min(count, 16 + count.bit_length())


def sum_error(terms: Any, axis: Any = None, **how: Any) -> Any:
    """Of a sum of floats of 32 bits."""
    terms = np.asarray(terms, f64)
    count = terms.size if axis is None else terms.shape[axis]
    return rounds(count) * U * np.abs(terms).sum(axis, **how)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, f64)))


def sigmoid_error(x: Any) -> Any:
    """Relative."""
    return exp_error(x) + QUOTIENT + U


def softmax(x: Any) -> Any:
    """Of the last axis."""
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def softmax_error(x: Any) -> Any:
    """Relative."""
    return 2 * exp_error(x - x.max(-1, keepdims=True)) + (rounds(x.shape[-1]) + 1) * U + QUOTIENT


def product_error(a: Any, b: Any) -> Any:
    """Of a product of matrices whose sums are floats of 32 bits: a rounding a term. A tensor core may
    cut off what a rounding would keep, and adds several terms at once."""
    magnitude = np.abs(np.asarray(a, f64)) @ np.abs(np.asarray(b, f64))
    return np.shape(a)[-1] * U * magnitude


def product_error_64(a: Any, b: Any) -> Any:
    """The same in 64 bits."""
    return np.shape(a)[-1] * U64 * (np.abs(a) @ np.abs(b))


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def philox(seed: int, offsets: Any) -> list[np.ndarray]:
    """Philox4x32-10 (Salmon et al. 2011) of a key of 64 bits and a counter: four words an offset."""
    low = np.uint64(0xFFFFFFFF)
    counters = [np.asarray(offsets).astype(np.uint64) & low] + [
        np.zeros(np.shape(offsets), np.uint64) for _ in range(3)
    ]
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first = counters[0] * np.uint64(0xD2511F53)
        second = counters[2] * np.uint64(0xCD9E8D57)
        counters = [
            (second >> np.uint64(32)) ^ counters[1] ^ np.uint64(keys[0]),
            second & low,
            (first >> np.uint64(32)) ^ counters[3] ^ np.uint64(keys[1]),
            first & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [word.astype(np.uint32) for word in counters]


def uniform(words: Any) -> np.ndarray:
    """Words as floats of 32 bits from 0 up to 1, as Triton makes them: the sign folded away."""
    signed = words.view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(f32) * f32.type(4.6566127342e-10)
