"""Pairs of layouts to convert between: those of a file, and random ones."""

import json
import random
from pathlib import Path

BITS = {"i1": 8, "i8": 8, "f8E4M3FN": 8, "f8E5M2": 8, "i16": 16, "f16": 16, "bf16": 16, "i32": 32, "f32": 32, "i64": 64, "f64": 64}
ELEMENTS = {64: "f64", 32: "f32", 16: "f16", 8: "i8"}
SHAPES = [(rows, columns) for rows in (32, 64, 128) for columns in (32, 64, 128)]


def of_file(path: Path) -> list[dict]:
    """The pairs of a file with one JSON object a line; an `i1` moves as a byte, a pointer as 64 bits."""
    pairs = []
    for line in path.read_text().splitlines():
        pair = json.loads(line)
        bits = 64 if pair["element"].startswith("!tt.ptr") else BITS[pair["element"]]
        pairs.append({**pair, "bits": bits, "origin": "file"})
    return pairs


def listed(numbers) -> str:
    return "[" + ", ".join(map(str, numbers)) + "]"


def spread(rng: random.Random, bits: int, bins: int) -> list[int]:
    """Powers of two whose logarithms add up to `bits`."""
    parts = [0] * bins
    for _ in range(bits):
        parts[rng.randrange(bins)] += 1
    return [1 << part for part in parts]


def blocked(rng, shape, warps, beyond=0) -> str:
    rank = len(shape) + beyond
    registers = spread(rng, rng.randrange(5), rank)
    lanes, warps = spread(rng, 5, rank), spread(rng, warps.bit_length() - 1, rank)
    order = rng.sample(range(rank), rank)
    return (
        f"#ttg.blocked<{{sizePerThread = {listed(registers)}, threadsPerWarp = {listed(lanes)}, "
        f"warpsPerCTA = {listed(warps)}, order = {listed(order)}}}>"
    )


def sliced(rng, shape, warps) -> str:
    parent = blocked(rng, shape, warps, 1)
    return f"#ttg.slice<{{dim = {rng.randrange(len(shape) + 1)}, parent = {parent}}}>"


def mma(rng, shape, warps) -> str:
    """The accumulator of a tensor core: `mma.sync`, or `wgmma` where there are four warps."""
    rows, columns = spread(rng, warps.bit_length() - 1, 2)
    if warps % 4 == 0 and rng.random() < 0.4:
        rows, columns = 4, warps // 4
        tile = [16, rng.choice([n for n in (16, 32, 64, 128) if n <= shape[1]]), 16]
        version = 3
    else:
        tile, version = [16, 8], 2
    return (
        f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, "
        f"warpsPerCTA = [{rows}, {columns}], instrShape = {listed(tile)}}}>"
    )


def operand(rng, shape, warps) -> str:
    rows, columns = spread(rng, warps.bit_length() - 1, 2)
    parent = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        f"warpsPerCTA = [{rows}, {columns}], instrShape = [16, 8]}}>"
    )
    width = rng.choice([1, 2, 4])
    return f"#ttg.dot_op<{{opIdx = {rng.randrange(2)}, parent = {parent}, kWidth = {width}}}>"


def linear(rng, shape, warps) -> str:
    """Each bit of a place moves along one axis by a power of two; in every third layout lanes and warps
    move by any number instead (registers must not, or Triton's compiler aborts); of the others every
    fourth repeats elements in lanes or warps."""
    columns = []
    for axis, extent in enumerate(shape):
        for bit in range(extent.bit_length() - 1):
            columns.append([1 << bit if axis == at else 0 for at in range(len(shape))])
    rng.shuffle(columns)
    threads = 5 + warps.bit_length() - 1
    dense = rng.random() < 1 / 3
    for _ in range(50 if dense else 0):
        to, other = rng.randrange(threads), rng.randrange(len(columns))
        same_axis = any(a and b for a, b in zip(columns[to], columns[other]))
        if to != other and same_axis:
            columns[to] = [a ^ b for a, b in zip(columns[to], columns[other])]
    if not dense and rng.random() < 1 / 4:
        copies = [[0] * len(shape)] * rng.randrange(1, 3)
        head = columns[: threads - len(copies)] + copies
        rng.shuffle(head)
        columns = head + columns[threads - len(copies) :]
    rows = [("register", columns[threads:]), ("lane", columns[:5]), ("warp", columns[5:threads]), ("block", [])]
    bases = ", ".join(f"{name} = {listed(map(listed, basis))}" for name, basis in rows)
    return f"#ttg.{'generic_linear' if dense else 'linear'}<{{{bases}}}>"


KINDS = [(blocked, 5), (linear, 6), (sliced, 2), (mma, 3), (operand, 2)]
PLAIN = KINDS[:3]


def at_random(count: int, seed: int) -> list[dict]:
    """As many pairs, always the same ones for a seed; more than half of them of narrow elements.

    Every seventh tensor has one axis: there such numbers mix all bits."""
    rng = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        bits = rng.choices([64, 32, 16, 8], [3, 4, 7, 7])[0]
        warps = rng.choices([1, 4, 8], [4, 4, 2])[0]
        shape = rng.choice(SHAPES)
        if shape[0] * shape[1] // (32 * warps) > 256:
            continue
        kinds = KINDS
        if rng.randrange(7) == 0:
            shape, kinds = (shape[0] * shape[1],), PLAIN
        makers, weights = zip(*kinds)
        sides = [maker(rng, shape, warps) for maker in rng.choices(makers, weights, k=2)]
        pair = dict(zip(("from", "to"), sides))
        pairs.append(
            {**pair, "shape": list(shape), "element": ELEMENTS[bits], "bits": bits, "origin": "random"}
        )
    return pairs
