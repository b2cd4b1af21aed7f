#!/usr/bin/env python3
"""The grid of conversions that are timed on a GPU: `python conversions_grid.py > conversions_grid.jsonl`.

One JSON object a line: `class`, `pair`, `element`, `shape`, `warps`, and the two attributes `from` and
`to` as Triton writes them. 68 pairs, each for three element types and three tiles:

* `warp`: data stays in its warp. Every ordered pair of five ways to spread eight rows over a warp
  (vectors along rows or columns, 2 x 2 squares), and single bits of lanes and registers permuted.
* `block`: data changes warps. Every ordered pair of five coalesced layouts of rows, columns and
  squares, and slices of three-dimensional ones.
* `matrix`: what kernels with matrix instructions convert: accumulators for a coalesced store and
  back, operands from coalesced loads, accumulators to operands, one tiling of warps to another.

Pairs that move nothing in any type are left out; the ones that stay were not chosen by their times.
"""

import json

ELEMENTS = {"f32": 32, "f16": 16, "i8": 8}
# A tile, and the warps that leave a thread 32 or 64 elements.
TILES = [((64, 64), 4), ((128, 64), 4), ((128, 128), 8)]


def blocked(size, lanes, warps, order):
    return (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {lanes}, "
        f"warpsPerCTA = {warps}, order = {order}}}>"
    )


def sliced(dim, parent):
    return f"#ttg.slice<{{dim = {dim}, parent = {parent}}}>"


def linear(registers, lanes, warps):
    return f"#ttg.linear<{{register = {registers}, lane = {lanes}, warp = {warps}, block = []}}>"


def mma(warps):
    return f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = {warps}, instrShape = [16, 8]}}>"


def wgmma(warps, columns, bits):
    shape = [16, columns, 256 // bits]
    return f"#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = {warps}, instrShape = {shape}}}>"


def operand(index, parent, bits):
    return f"#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {max(32 // bits, 1)}}}>"


def in_a_warp(warps):
    """Eight rows a warp, spread in five ways; then lanes that change places."""
    spread = {
        "row4": blocked([1, 4], [8, 4], [warps, 1], [1, 0]),
        "row16": blocked([1, 16], [8, 4], [warps, 1], [1, 0]),
        "square": blocked([2, 2], [4, 8], [warps, 1], [1, 0]),
        "column4": blocked([4, 1], [2, 16], [warps, 1], [0, 1]),
        "column8": blocked([8, 1], [1, 32], [warps, 1], [0, 1]),
    }
    for start, source in spread.items():
        for end, target in spread.items():
            if start != end:
                yield f"{start} to {end}", source, target
    yield "lanes in the other order", blocked([1, 4], [8, 4], [warps, 1], [1, 0]), blocked([1, 4], [8, 4], [warps, 1], [0, 1])
    high = [[1 << bit, 0] for bit in range(3, 3 + warps.bit_length() - 1)]
    columns = [[0, 4], [0, 8], [0, 16], [0, 32]]
    lanes = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]
    turned = [[4, 0], [0, 2], [0, 1], [1, 0], [2, 0]]
    swapped = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 16]]
    yield "lanes turned", linear(columns, lanes, high), linear(columns, turned, high)
    yield "one bit swapped", linear(columns, lanes, high), linear([[0, 4], [0, 8], [4, 0], [0, 32]], swapped, high)


def across_warps(warps):
    """Five coalesced layouts; then vectors along slices."""
    half = warps // 2
    spread = {
        "rows4": blocked([1, 4], [2, 16], [warps, 1], [1, 0]),
        "rows16": blocked([1, 16], [8, 4], [warps, 1], [1, 0]),
        "columns4": blocked([4, 1], [16, 2], [1, warps], [0, 1]),
        "columns8": blocked([8, 1], [8, 4], [1, warps], [0, 1]),
        "squares": blocked([2, 2], [8, 4], [2, half], [1, 0]),
    }
    for start, source in spread.items():
        for end, target in spread.items():
            if start != end:
                yield f"{start} to {end}", source, target
    planes = blocked([1, 1, 8], [4, 1, 8], [warps, 1, 1], [2, 1, 0])
    depth = blocked([8, 1, 1], [8, 1, 4], [1, 1, warps], [0, 1, 2])
    yield "rows16 to slice", spread["rows16"], sliced(1, depth)
    yield "slice to columns8", sliced(1, planes), spread["columns8"]
    yield "slice to slice", sliced(1, planes), sliced(1, depth)


def with_matrices(warps, bits):
    """Accumulators and operands of `mma.sync` and `wgmma`."""
    half = warps // 2
    rows4 = blocked([1, 4], [2, 16], [warps, 1], [1, 0])
    rows8 = blocked([1, 8], [4, 8], [warps, 1], [1, 0])
    rows16 = blocked([1, 16], [8, 4], [warps, 1], [1, 0])
    columns8 = blocked([8, 1], [8, 4], [1, warps], [0, 1])
    square, tall, wide = mma([2, half]), mma([warps, 1]), mma([1, warps])
    group = wgmma([4, warps // 4], 64, bits)
    for name, accumulator in [("mma", square), ("tall mma", tall), ("wgmma", group)]:
        yield f"{name} to rows4", accumulator, rows4
        yield f"{name} to rows8", accumulator, rows8
        yield f"{name} to columns8", accumulator, columns8
        yield f"rows8 to {name}", rows8, accumulator
    for name, index, parent in [("left operand", 0, tall), ("right operand", 1, wide)]:
        yield f"rows16 to {name}", rows16, operand(index, parent, bits)
        yield f"rows4 to {name}", rows4, operand(index, parent, bits)
        yield f"columns8 to {name}", columns8, operand(index, parent, bits)
        yield f"mma to {name}", square, operand(index, parent, bits)
    yield "right operand to rows8", operand(1, wide, bits), rows8
    yield "mma to tall mma", square, tall
    yield "mma to wgmma", square, group
    yield "wgmma to mma", group, square


def points():
    for element, bits in ELEMENTS.items():
        for shape, warps in TILES:
            classes = [("warp", in_a_warp(warps)), ("block", across_warps(warps)), ("matrix", with_matrices(warps, bits))]
            for kind, pairs in classes:
                for pair, source, target in pairs:
                    yield {
                        "class": kind,
                        "pair": pair,
                        "element": element,
                        "shape": shape,
                        "warps": warps,
                        "from": source,
                        "to": target,
                    }


for point in points():
    print(json.dumps(point))
