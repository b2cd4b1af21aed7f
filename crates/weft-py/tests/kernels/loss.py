"""Cases of `kernels/loss.py`."""

import numpy as np

from kernels.functions import exp_error, log_error, philox, QUOTIENT, ROOT, rounds, sum_error, uniform
from kernels.table import bf16, blank, Case, case, f16, f32, i32, i64, near, put, U, wide, zeros

# More than 32 bits, so that both words of Philox's key count.
SEED = 0x3_1234_5678


def logarithms(x):
    """The logarithm of the sum of exponentials of each row, and how far it may be off."""
    most = x.max(1)
    log = np.log(np.exp(x - most[:, None]).sum(1))
    spread = np.abs(x - most[:, None]).max(1)
    return most + log, log_error(log) + 2 * exp_error(spread) + rounds(x.shape[1]) * U + U * np.abs(most)


def rows_with_targets(draw, rows=3, columns=2010, stride=2016):
    """Logits, and a target each; the last row has none."""
    logits = draw.uniform(-5, 5, rows, stride, dtype=bf16)
    targets = draw.integers(0, columns, rows, dtype=i64)
    targets[-1] = -100
    return logits, targets


@case(small=True)
def cross_entropy_forward(draw):
    logits, targets = rows_with_targets(draw)
    losses, logs = blank(3), blank(3)
    inside = wide(logits[:, :2010])
    log, off = logarithms(inside)
    right = inside[np.arange(3), targets]
    loss = log - 0.9 * right - 0.1 * inside.mean(1)
    error = off + 0.1 * sum_error(inside, 1) / 2010 + 4 * U * (np.abs(log) + np.abs(right))
    arguments = dict(
        logits=logits, targets=targets, losses=losses, logs=logs, columns=2010, stride=2016, ignored=-100, smoothing=0.1
    )
    wanted = near(losses, ..., np.where(targets == -100, 0.0, loss), np.where(targets == -100, 0.0, error))
    return Case((3,), arguments, dict(losses=wanted, logs=near(logs, ..., log, off)))


@case
def cross_entropy_backward(draw):
    logits, targets = rows_with_targets(draw)
    inside = wide(logits[:, :2010])
    logs, gradients = logarithms(inside)[0].astype(f32), blank(3, 2016)
    weights = np.exp(inside - wide(logs)[:, None])
    gradient = weights - 0.1 / 2010
    gradient[np.arange(3), targets] -= 0.9
    error = weights * exp_error(inside - wide(logs)[:, None]) + 2 * U * np.abs(gradient) + QUOTIENT / 2010
    real = (targets != -100)[:, None]
    arguments = dict(
        logits=logits,
        targets=targets,
        logs=logs,
        gradients=gradients,
        columns=2010,
        stride=2016,
        ignored=-100,
        smoothing=0.1,
    )
    wanted = near(gradients, np.s_[:, :2010], gradient * real, error * real)
    return Case((3, 2), arguments, dict(gradients=wanted))


@case
def cross_entropy_in_place(draw):
    logits, targets, losses = draw.uniform(-5, 5, 2, 912), draw.integers(0, 900, 2), blank(2)
    inside = wide(logits[:, :900])
    log, off = logarithms(inside)
    weights = np.exp(inside - log[:, None])
    error = weights * (2 * exp_error(10) + rounds(900) * U + QUOTIENT) + 2 * U
    gradient = weights.copy()
    gradient[np.arange(2), targets] -= 1
    right = inside[np.arange(2), targets]
    expected = dict(
        logits=near(logits, np.s_[:, :900], gradient * 0.5, error * 0.5),
        losses=near(losses, ..., (log - right) * 0.5, off + 2 * U * (np.abs(log) + np.abs(right))),
    )
    return Case((2,), dict(logits=logits, targets=targets, losses=losses, columns=900, stride=912, share=0.5), expected)


@case
def divergence(draw):
    logs, target, losses = draw.uniform(-9, 0, 2, 912), draw.uniform(0, 1, 2, 912), blank(2)
    target[:, ::7] = 0
    log, share = wide(logs[:, :900]), wide(target[:, :900])
    own = np.log(np.where(share > 0, share, 1.0))
    terms = share * (own - log)
    error = sum_error(terms, 1) + (share * (log_error(own) + 2 * U * np.abs(own - log))).sum(1)
    arguments = dict(logs=logs, target=target, losses=losses, columns=900, stride=912)
    return Case((2,), arguments, dict(losses=near(losses, ..., terms.sum(1), error)))


def kept(x, draws):
    """What dropout leaves, and how far it may be off."""
    share = float(f32.type(0.8))
    result = np.where(draws < f32.type(0.8), wide(x) / share, 0.0)
    return result, QUOTIENT * np.abs(result)


@case(small=True)
def dropout(draw):
    x, out = draw.normal(2000, dtype=f16), blank(2000, dtype=f16)
    wanted = near(out, ..., *kept(x, uniform(philox(SEED, np.arange(2000))[0])))
    return Case((2,), dict(x=x, out=out, n=2000, seed=SEED, keep=0.8), dict(out=wanted))


@case
def dropout_words(draw):
    x, out = draw.normal(2000), blank(2000)
    draws = np.stack([uniform(word) for word in philox(SEED, np.arange(500))], -1).reshape(-1)
    return Case((2,), dict(x=x, out=out, n=2000, seed=SEED, keep=0.8), dict(out=near(out, ..., *kept(x, draws))))


@case
def dropout_add_backward(draw):
    dy, dx = draw.normal(1990, dtype=f16), draw.normal(1990, dtype=f16)
    result, error = kept(dy, uniform(philox(SEED, np.arange(1990))[0]))
    wanted = near(dx, ..., result + wide(dx), error + U * np.abs(result + wide(dx)))
    return Case((2,), dict(dy=dy, dx=dx, n=1990, seed=SEED, keep=0.8), dict(dx=wanted))


@case
def embedding(draw):
    table, out = draw.normal(8, 304, dtype=f16), blank(5, 304, dtype=f16)
    # The first and the last are of other devices.
    tokens = np.array([1, 2, 9, 5, 10], i64)
    rows = np.where((tokens >= 2)[:, None] & (tokens < 10)[:, None], table[np.clip(tokens - 2, 0, 7)], f16.type(0))
    return Case((5, 2), dict(tokens=tokens, table=table, out=out, width=304, first=2, rows=8), dict(out=rows))


@case(small=True)
def embedding_backward(draw):
    tokens, gradients, table = draw.integers(0, 5, 7), draw.normal(7, 208), draw.normal(5, 208)
    total, magnitude = wide(table), np.abs(wide(table))
    np.add.at(total, tokens, wide(gradients))
    np.add.at(magnitude, tokens, np.abs(wide(gradients)))
    # A row may be added to by all seven.
    wanted = near(table, ..., total, 7 * U * magnitude)
    return Case((2, 2), dict(tokens=tokens, gradients=gradients, table=table, count=7, width=208), dict(table=wanted))


@case
def embedding_bag(draw):
    indices, table, out = draw.integers(0, 10, 10), draw.normal(10, 208), blank(4, 208)
    # The second bag is empty.
    starts = np.array([0, 3, 3, 4, 10], i32)
    bags = [wide(table[indices[low:high]]) for low, high in zip(starts[:-1], starts[1:], strict=True)]
    means = np.stack([bag.sum(0) / max(len(bag), 1) for bag in bags])
    error = np.stack([sum_error(bag, 0) / max(len(bag), 1) for bag in bags]) + QUOTIENT * np.abs(means)
    arguments = dict(indices=indices, starts=starts, table=table, out=out, width=208)
    return Case((4, 2), arguments, dict(out=near(out, ..., means, error)))


@case
def adam(draw):
    n, rate, beta_1, beta_2, epsilon, decay, step = 2000, 1e-3, 0.9, 0.999, 1e-8, 0.01, 10
    parameters, gradients = draw.normal(n), draw.normal(n, dtype=bf16)
    first, second, copy = draw.normal(n), draw.uniform(0, 1, n), blank(n, dtype=bf16)
    arguments = dict(
        parameters=parameters, gradients=gradients, first=first, second=second, copy=copy, n=n, rate=rate,
        beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, decay=decay, step=step,
    )  # fmt: skip
    rate, beta_1, beta_2, epsilon, decay = (float(f32.type(x)) for x in (rate, beta_1, beta_2, epsilon, decay))
    gradient = wide(gradients)
    mean, square = beta_1 * wide(first) + (1 - beta_1) * gradient, beta_2 * wide(second) + (1 - beta_2) * gradient**2
    corrected_1, corrected_2 = 1 - beta_1**step, 1 - beta_2**step
    change = rate * (mean / corrected_1) / (np.sqrt(square / corrected_2) + epsilon)
    value = wide(parameters) * (1 - rate * decay) - change
    # A logarithm of a number near one is off absolutely, `step` times that in the exponent.
    off = lambda beta, corrected: (step * log_error(np.log2(beta)) + 6 * U) / corrected
    error_mean = 3 * U * (np.abs(wide(first)) + np.abs(gradient))
    error = rate / corrected_1 * error_mean / np.sqrt(square / corrected_2)
    error = error + np.abs(change) * (off(beta_1, corrected_1) + off(beta_2, corrected_2) + 2 * QUOTIENT + ROOT + 8 * U)
    error = error + 3 * U * np.abs(wide(parameters))
    expected = dict(
        parameters=near(parameters, ..., value, error),
        copy=near(copy, ..., value, error),
        first=near(first, ..., mean, error_mean),
        second=near(second, ..., square, 4 * U * (square + gradient**2)),
    )
    return Case((2,), arguments, expected)


@case
def norm_of_gradients(draw):
    x, total = draw.normal(5000), zeros(1)
    squares = wide(x) ** 2
    # Sums of three blocks a lane, of the lanes, and of two programs.
    wanted = near(total, ..., squares.sum(), (3 + 10 + 2) * U * squares.sum())
    return Case((2,), dict(x=x, total=total, n=5000), dict(total=wanted))


@case
def any_not_finite(draw):
    x, found = draw.normal(2000, dtype=f16), zeros(1, dtype=i32)
    # Only in the second block.
    x[1500], x[1501] = np.inf, np.nan
    scaled = (x.astype(f32) * f32.type(0.001)).astype(f16)
    arguments = dict(x=x, found=found, n=2000, scale=0.001)
    return Case((2,), arguments, dict(x=put(x, ..., scaled), found=np.array([1], i32)))
