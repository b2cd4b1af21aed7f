#!/usr/bin/env python3
"""The reductions of table 3, and the loads and stores of shared memory that Triton prints for them.

    python docs/measurements/reductions_triton.py

Needs `triton==3.9.0`, and no GPU. Writes `crates/weft-api/src/paper/reductions.json`: the cases, in the
order of the paper's families, each with Triton's count for sm_90. `weft paper table3` compiles, simulates and counts
the same cases.
"""

import datetime
import json
import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reductions_gluon import reduction

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "crates/weft-api/src/paper/reductions.json"
SHAPES = [[16, 16], [32, 32], [64, 64], [128, 128], [32, 128]]
ELEMENTS = ["f32", "f16", "i32", "i8"]
SHARED = re.compile(r"\b(?:ld|st)\.shared|\b(?:ld|st)matrix")


def blocked(per_thread, lanes, warps, order):
    layout = gl.BlockedLayout(per_thread, lanes, warps, order)
    text = (
        f"#ttg.blocked<{{sizePerThread = {per_thread}, threadsPerWarp = {lanes}, "
        f"warpsPerCTA = {warps}, order = {order}}}>"
    )
    return layout, text


def mma(warps, instruction):
    layout = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=warps, instr_shape=instruction)
    text = (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        f"warpsPerCTA = {warps}, instrShape = {instruction}}}>"
    )
    return layout, text


def operand(parent, index, width):
    layout = gl.DotOperandLayout(operand_index=index, parent=parent[0], k_width=width)
    return layout, f"#ttg.dot_op<{{opIdx = {index}, parent = {parent[1]}, kWidth = {width}}}>"


def sliced(parent, dim):
    return gl.SliceLayout(dim, parent[0]), f"#ttg.slice<{{dim = {dim}, parent = {parent[1]}}}>"


def custom(shape, warps, turn):
    """Bits of rows and columns alternately, from another one on each time."""
    rows = [[1 << bit, 0] for bit in range(shape[0].bit_length() - 1)]
    columns = [[0, 1 << bit] for bit in range(shape[1].bit_length() - 1)]
    bits = []
    while rows or columns:
        bits += rows[:1] + columns[:1]
        rows, columns = rows[1:], columns[1:]
    bits = bits[turn:] + bits[:turn]
    threads = 5 + warps.bit_length() - 1
    registers = max(0, len(bits) - threads)
    bits += [[0, 0]] * (registers + threads - len(bits))
    parts = [bits[:registers], bits[registers : registers + 5], bits[registers + 5 :]]
    layout = gl.DistributedLinearLayout(*parts, [], shape)
    names = ["register", "lane", "warp"]
    bases = ", ".join(f"{name} = {part}" for name, part in zip(names, parts))
    return layout, f"#ttg.linear<{{{bases}, block = []}}>"


def cases():
    """Family, layout, text, shape, axis, warps."""
    both = [(shape, axis) for shape in SHAPES for axis in (0, 1)]
    for warps in (4, 8):
        for index, (shape, axis) in enumerate(both):
            order = [1, 0] if index % 4 < 2 else [0, 1]
            per_thread, lanes, across = [1, 4], [8, 4], [warps, 1]
            if order == [0, 1]:
                per_thread, lanes, across = [2, 2], [16, 2], [2, warps // 2]
            yield "Blocked", blocked(per_thread, lanes, across, order), shape, axis, warps
    for warps in (4, 8):
        for shape, axis in both:
            yield "MMA", mma([2, warps // 2], [16, 8]), shape, axis, warps
    for shape, axis in both:
        yield "MMA Input", operand(mma([2, 2], [16, 8]), axis, 2), shape, axis, 4
    for warps in (4, 8):
        for shape, axis in both:
            parent = blocked([1, 1, 4], [2, 4, 4], [2, warps // 2, 1], [2, 1, 0])
            yield "Sliced<Blocked>", sliced(parent, 0 if axis else 1), shape, axis, warps
    for shape, axis in both:
        yield "Sliced<MMA>", sliced(mma([2, 2, 1], [1, 16, 8]), 0), shape, axis, 4
    for shape, axis in both:
        parent = operand(mma([2, 2, 1], [1, 16, 8]), axis, 2)
        yield "Sliced<MMA Input>", sliced(parent, 0), shape, axis, 4
    for warps in (2, 4):
        for turn, (shape, axis) in enumerate(both):
            yield "Custom", custom(shape, warps, turn % 6), shape, axis, warps


def count(layout, shape, axis, element, warps):
    """Instructions of shared memory in Triton's PTX; why not, where it does not compile."""
    pointer = "*" + element.replace("f", "fp")
    signature = {"source": pointer, "result": pointer}
    constants = {"L": layout, "M": shape[0], "N": shape[1], "AXIS": axis}
    signature |= {name: "constexpr" for name in constants}
    constants = {(reduction.arg_names.index(name),): value for name, value in constants.items()}
    source = GluonASTSource(reduction, signature, constants)
    try:
        compiled = triton.compile(
            source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps}
        )
    except Exception as error:
        return None, " ".join(str(error).split())[:200]
    return len(SHARED.findall(compiled.asm["ptx"])), None


def main() -> None:
    rows = []
    for index, (family, (layout, text), shape, axis, warps) in enumerate(cases()):
        element = ELEMENTS[index % len(ELEMENTS)]
        shared, why = count(layout, shape, axis, element, warps)
        row = {"family": family, "layout": text, "shape": shape, "axis": axis}
        row |= {"element": element, "warps": warps, "triton_shared": shared}
        if why:
            row["triton_says"] = why
            print(row)
        rows.append(row)
    head = {
        "what": "loads and stores of shared memory in the PTX of Triton for sm_90",
        "command": "python docs/measurements/reductions_triton.py",
        "versions": f"triton {triton.__version__}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    text = json.dumps(head, indent=2)[:-2] + ',\n  "cases": [\n' + lines + "\n  ]\n}\n"
    OUTPUT.write_text(text)
    print(len(rows), "cases, instructions:", sum(row["triton_shared"] or 0 for row in rows))


main()
