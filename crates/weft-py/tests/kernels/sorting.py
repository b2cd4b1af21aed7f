"""Cases of `kernels/sorting.py`."""

import numpy as np

from kernels.functions import philox, softmax, softmax_error, uniform
from kernels.table import blank, Case, case, f16, f32, f64, i32, near, put, U, u32, wide, zeros


@case
def sort_rows(draw):
    x, out = draw.normal(2, 1024), blank(2, 1024)
    x[0, :3] = np.inf, -np.inf, -0.0
    return Case((2,), dict(x=x, out=out, stride=1024), dict(out=np.sort(x, 1)))


@case(small=True)
def sort_ragged(draw):
    x, out = draw.normal(4, 64, dtype=f16), blank(4, 64, dtype=f16)
    falling = -np.sort(-x[:, :50], 1)
    return Case((1,), dict(x=x, out=out, columns=50, stride=64), dict(out=put(out, np.s_[:, :50], falling)))


def with_ties(draw, *shape):
    """Numbers of which many are equal."""
    return np.round(draw.normal(*shape) * 8) / 8 + f32.type(0.0)


@case
def sort_places(draw):
    x, out, places = with_ties(draw, 2, 112), blank(2, 112), blank(2, 112, dtype=i32)
    order = np.argsort(x[:, :100], 1, kind="stable")
    expected = dict(
        out=put(out, np.s_[:, :100], np.take_along_axis(x, order, 1)), places=put(places, np.s_[:, :100], order)
    )
    return Case((2,), dict(x=x, out=out, places=places, columns=100, stride=112), expected)


@case
def top_of_rows(draw):
    # All are different, as the kernel leaves open which of equal ones it takes.
    x, out, places = draw.order(6 * 112, f32).reshape(6, 112) - f32.type(300), blank(6, 8), blank(6, 8, dtype=i32)
    order = np.argsort(-x[:, :100], 1)[:, :8]
    arguments = dict(x=x, out=out, places=places, rows=6, columns=100, stride=112)
    return Case((2,), arguments, dict(out=np.take_along_axis(x, order, 1), places=order.astype(i32)))


@case
def route_to_experts(draw):
    logits, weights, experts, counts = (
        with_ties(draw, 20, 16),
        blank(20, 2),
        blank(20, 2, dtype=i32),
        zeros(16, dtype=i32),
    )
    # The two best, of equal ones the first.
    chosen = np.argsort(-logits, 1, kind="stable")[:, :2]
    scores = np.take_along_axis(wide(logits), chosen, 1)
    share = softmax(scores)
    expected = dict(
        weights=near(weights, ..., share, share * softmax_error(scores)),
        experts=chosen.astype(i32),
        counts=np.bincount(chosen.reshape(-1), minlength=16).astype(i32),
    )
    return Case((2,), dict(logits=logits, weights=weights, experts=experts, counts=counts, rows=20), expected)


@case
def sample_nucleus(draw):
    rows, columns, seed = 8, 100, 7
    logits, out = draw.uniform(-4, 4, rows, 112), blank(rows, dtype=i32)
    order = np.argsort(-logits[:, :columns], 1)
    weights = softmax(np.take_along_axis(wide(logits), order, 1))
    before = weights.cumsum(1) - weights
    weights = np.where(before < f32.type(0.9), weights, 0.0)
    so_far = weights.cumsum(1)
    draws = uniform(philox(seed, np.arange(rows))[0]).astype(f64)[:, None] * so_far[:, -1:]
    chosen = (so_far <= draws).sum(1)
    # No draw is so near a bound that roundings decide.
    assert np.abs(so_far - draws).min() > columns * U
    wanted = order[np.arange(rows), chosen].astype(i32)
    arguments = dict(logits=logits, out=out, columns=columns, stride=112, share=0.9, seed=seed)
    return Case((rows,), arguments, dict(out=wanted))


@case(small=True)
def rank_of_each(draw):
    x, out = draw.integers(-30, 30, 2, 128), blank(2, 128, dtype=i32)
    order = np.argsort(x, 1, kind="stable")
    return Case((2,), dict(x=x, out=out), dict(out=np.argsort(order, 1).astype(i32)))


@case
def sort_by_digits(draw):
    x, out, spare = draw.bits(512, dtype=u32), blank(512, dtype=u32), blank(512, dtype=u32)
    wanted = np.sort(x.reshape(2, 256), 1).reshape(-1)
    # The spare array ends as the last pass leaves it: in order as well.
    return Case((2,), dict(x=x, out=out, spare=spare), dict(out=wanted, spare=wanted))


@case
def merge_sorted(draw):
    x, y = np.sort(draw.integers(-50, 50, 128)), np.sort(draw.integers(-50, 90, 128))
    out = blank(256, dtype=i32)
    return Case((1,), dict(x=x, y=y, out=out), dict(out=np.sort(np.concatenate([x, y]))))


@case
def order_by_expert(draw):
    experts, starts, places = draw.integers(0, 8, 300), blank(8, dtype=i32), blank(300, dtype=i32)
    # One has no tokens.
    experts[experts == 5] = 6
    counts = np.bincount(experts, minlength=8)
    expected = dict(
        starts=(counts.cumsum() - counts).astype(i32), places=np.argsort(experts, kind="stable").astype(i32)
    )
    return Case((1,), dict(experts=experts, starts=starts, places=places, n=300), expected)
