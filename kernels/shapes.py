"""Kernels of the shape operations: joins, splits, reshapes, transpositions, and what is built of them."""

import triton
import triton.language as tl

SIGNATURES = {
    "join_halves": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", BLOCK=256),
    "split_pairs": dict(x="*fp32:16", low="*fp32:16", high="*fp32:16", BLOCK=256),
    "complex_product": dict(x="*fp32:16", y="*fp32:16", out="*fp32:16", n="i32", BLOCK=128),
    "concatenate": dict(x="*fp16:16", y="*fp16:16", out="*fp16:16", BLOCK=128),
    "permute_4d": dict(x="*i16:16", out="*i16:16"),
    "bitonic_sort": dict(x="*i32:16", out="*i32:16", BLOCK=256),
    "sort_rows_down": dict(x="*fp32:16", out="*fp32:16", ROWS=8, COLUMNS=32),
    "largest_few": dict(x="*i32:16", out="*i32:16", BLOCK=128, K=8),
    "flip_block": dict(x="*fp32:16", out="*fp32:16", BLOCK=128),
    "single_element": dict(x="*fp32:16", out="*fp32:16"),
}  # fmt: skip


@triton.jit
def join_halves(x, y, out, BLOCK: tl.constexpr):
    """Two arrays, element by element in turn."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    joined = tl.join(tl.load(x + offsets), tl.load(y + offsets) * 2)
    places = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(out + places, tl.reshape(joined, [2 * BLOCK]))


@triton.jit
def split_pairs(x, low, high, BLOCK: tl.constexpr):
    """The even and the odd elements of an array, and their sums and differences."""
    offsets = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    even, odd = tl.split(tl.reshape(tl.load(x + offsets), [BLOCK, 2]))
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(low + places, even + odd)
    tl.store(high + places, even - odd)


@triton.jit
def complex_product(x, y, out, n, BLOCK: tl.constexpr):
    """The products of complex numbers that lie as pairs."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pairs = offsets[:, None] * 2 + tl.arange(0, 2)[None, :]
    mask = offsets[:, None] < n
    a, b = tl.split(tl.load(x + pairs, mask=mask, other=0.0))
    c, d = tl.split(tl.load(y + pairs, mask=mask, other=0.0))
    tl.store(out + pairs, tl.join(a * c - b * d, a * d + b * c), mask=mask)


@triton.jit
def concatenate(x, y, out, BLOCK: tl.constexpr):
    """The elements of two blocks, in an order that Triton leaves open."""
    offsets = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(x + offsets), tl.load(y + offsets), can_reorder=True)
    tl.store(out + tl.arange(0, 2 * BLOCK), both)


@triton.jit
def permute_4d(x, out):
    """A tensor of four dimensions, permuted."""
    block = tl.reshape(tl.load(x + tl.arange(0, 1024)), [4, 8, 2, 16])
    turned = tl.permute(block, (2, 0, 3, 1))
    tl.store(out + tl.arange(0, 1024), tl.reshape(turned, [1024]))


@triton.jit
def bitonic_sort(x, out, BLOCK: tl.constexpr):
    """A block of integers in rising order."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.sort(tl.load(x + offsets)))


@triton.jit
def sort_rows_down(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Each row in falling order."""
    places = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + places, tl.sort(tl.load(x + places), descending=True))


@triton.jit
def largest_few(x, out, BLOCK: tl.constexpr, K: tl.constexpr):
    """The K largest of a block."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * K + tl.arange(0, K), tl.topk(tl.load(x + offsets), K))


@triton.jit
def flip_block(x, out, BLOCK: tl.constexpr):
    """A block from its end."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.flip(tl.load(x + offsets), 0))


@triton.jit
def single_element(x, out):
    """Tensors of one element, and the element of one."""
    place = tl.arange(0, 1)
    row = tl.load(x + tl.arange(0, 32))
    total = tl.sum(tl.reshape(row, [1, 32]), axis=1)
    tl.store(out + place, total + tl.load(x + place))
    tl.store(out + 1, tl.sum(total, axis=0))
