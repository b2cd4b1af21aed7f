"""Cases of `kernels/memory.py`."""

import numpy as np

from kernels.table import bf16, blank, Case, case, f16, f32, i32, i64, near, put, U, u32, unit, wide, zeros


@case(small=True)
def masked_copy(draw):
    x, out = draw.normal(500), blank(500)
    wanted = x + np.where(np.arange(500) % 3 != 0, x, f32.type(-1))
    return Case((2,), dict(x=x, out=out, n=500), dict(out=wanted))


@case
def cache_hints(draw):
    x, y, out, again = draw.normal(256), draw.normal(256), blank(256), blank(256)
    product = wide(x) * wide(y)
    expected = dict(out=near(out, ..., wide(x + y) + product, U * np.abs(product)), again=(x + y) - x)
    return Case((1,), dict(x=x, y=y, out=out, again=again), expected)


@case
def volatile_sum(draw):
    x, out = draw.bits(128), blank(128, dtype=i32)
    with np.errstate(over="ignore"):
        wanted = x + x + x[0]
    return Case((1,), dict(x=x, out=out), dict(out=wanted))


@case
def scalar_memory(draw):
    x, y, out = draw.normal(4), np.array([2, 4, 0, 9], i64), blank(8)
    values = np.array([x[2], -2, x[0], -2], f32)
    wanted = put(out, np.s_[:4], values * f32.type(3))
    return Case((4,), dict(x=x, y=y, out=out), dict(out=put(wanted, [5, 7], values[[1, 3]])))


@case
def pointers_as_integers(draw):
    x, out = draw.bits(64), blank(64, dtype=i64)
    following = np.append(x[1:], 0).astype(i64)
    return Case((1,), dict(x=x, out=out), dict(out=4 * np.arange(64) + following))


@case(small=True)
def atomic_integers(draw):
    x, slots = draw.integers(0, 1000, 128), draw.bits(64)
    wanted = slots.reshape(8, 8).copy()
    unsigned = wanted.view(u32)
    for value in x:
        place = value % 8
        wanted[0, place] += value if value > 10 else 0
        wanted[1, place] = max(wanted[1, place], value)
        wanted[2, place] = min(wanted[2, place], value)
        wanted[3, place] &= value | 15
        wanted[4, place] |= value
        wanted[5, place] ^= value
        unsigned[6, place] = max(unsigned[6, place], u32.type(value))
        unsigned[7, place] = min(unsigned[7, place], u32.type(value))
    return Case((1,), dict(x=x, slots=slots), dict(slots=wanted.reshape(-1)))


@case
def atomic_floats(draw):
    x, sums, halves = draw.normal(256), zeros(4), zeros(16, dtype=f16)
    largest = np.array([-np.inf, -np.inf, np.inf, np.inf], f32)
    quarters, narrow, pairs = wide(x).reshape(64, 4), wide(x.astype(f16)).reshape(16, 16), x.reshape(128, 2)
    expected = dict(
        sums=near(sums, ..., quarters.sum(0), 64 * U * np.abs(quarters).sum(0)),
        halves=near(halves, ..., narrow.sum(0), 16 * unit(f16) * np.abs(narrow).sum(0)),
        largest=np.concatenate([pairs.max(0), pairs.min(0)]),
    )
    return Case((2,), dict(x=x, sums=sums, halves=halves, largest=largest), expected)


@case
def atomic_brains(draw):
    # Quarters, whose sums have few enough bits to be exact in any order.
    x, sums = (draw.integers(-4, 5, 256) / 4).astype(bf16), zeros(9, dtype=bf16)
    places, old = draw.normal(256, dtype=bf16), blank(256, dtype=bf16)
    kept = np.where(np.arange(256) % 3 != 0, wide(x), 0.0).reshape(32, 8)
    total = np.append(kept.sum(0), 0.5 * wide(x).sum())
    expected = dict(sums=total.astype(bf16), places=places + x, old=places)
    return Case((2,), dict(x=x, sums=sums, places=places, old=old), expected)


@case
def atomic_longs(draw):
    x, slots = draw.integers(0, 1 << 40, 256, dtype=i64), draw.bits(10, dtype=i64)
    wanted = slots.copy()
    with np.errstate(over="ignore"):
        for value in x:
            wanted[value % 4] += value * i64.type(0x100000001)
            wanted[4 + value % 4] = max(wanted[4 + value % 4], -value)
            wanted[8 + value % 2] |= value
    return Case((2,), dict(x=x, slots=slots), dict(slots=wanted))


@case
def atomic_exchange(draw):
    slots, old = draw.bits(128), blank(128, dtype=i32)
    return Case((2,), dict(slots=slots, old=old), dict(slots=3 * np.arange(128, dtype=i32), old=slots))


@case
def compare_and_swap(draw):
    slots, old = draw.integers(0, 5, 128), blank(128, dtype=i32)
    expected = np.arange(128) % 5
    swapped = np.where(slots == expected, expected + 100, slots).astype(i32)
    return Case((2,), dict(slots=slots, old=old), dict(slots=swapped, old=slots))


@case(small=True)
def described_block(draw):
    x, out = draw.normal(40, 48), blank(40, 48)
    return Case((3, 2), dict(x=x, out=out, m=40, n=48), dict(out=x * f32.type(2) + f32.type(1)))


@case
def described_loop(draw):
    x, out = draw.normal(12, 112, dtype=f16), blank(12, 112, dtype=f16)
    # Right of the last column there is zero.
    beside = np.concatenate([x[:, 1:], np.zeros((12, 1), f16)], 1)
    return Case((2,), dict(x=x, out=out, m=12, n=112), dict(out=x + beside))


@case
def described_sum(draw):
    x, out = draw.normal(40, 32), draw.normal(16, 32)
    terms = np.concatenate([wide(out)[None], np.pad(wide(x), ((0, 8), (0, 0))).reshape(3, 16, 32)])[..., :16]
    wanted = near(out, np.s_[:, :16], terms.sum(0), 3 * U * np.abs(terms).sum(0))
    return Case((3,), dict(x=x, out=out, m=40, n=32), dict(out=wanted))


@case(small=True)
def described_extremes(draw):
    x, y = draw.normal(40, 32, dtype=f16), draw.normal(40, 32, dtype=bf16)
    most, least = draw.normal(16, 32, dtype=f16), draw.normal(16, 32, dtype=bf16)
    # What is outside of a descriptor is read as zero.
    padded = [np.pad(each, ((0, 8), (0, 0))).reshape(3, 16, 32) for each in (x, y)]
    greatest, lowest = most.copy(), least.copy()
    greatest[:, :16] = np.maximum(most[:, :16], padded[0][..., :16].max(0))
    # Blocks from the right half go to the left one.
    lowest[:, :16] = np.minimum(least[:, :16], padded[1][..., 16:].min(0))
    arguments = dict(x=x, y=y, most=most, least=least, m=40, n=32)
    return Case((3,), arguments, dict(most=greatest, least=lowest))


@case
def described_rows(draw):
    x, rows, out = draw.normal(40, 32), draw.integers(0, 40, 16), blank(16, 32)
    # Rows that are not there are zero.
    rows[3] = 41
    wanted = np.where((rows < 40)[:, None], x[np.minimum(rows, 39)], f32.type(0))
    return Case((1,), dict(x=x, rows=rows, out=out, m=40, n=32), dict(out=wanted))
