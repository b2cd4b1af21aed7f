#!/usr/bin/env python3
"""What Triton's own code makes of layouts of factors in shared memory for `wgmma`.

    python docs/measurements/operands_triton.py crates/weft-layout/src/tests/operands_triton.txt

Needs `triton==3.9.0`, and no GPU. For every rectangle of 16 to 256 elements a side, of 8, 16 and 32 bits, in every
layout `nvmma_shared`, as the left and as the right factor of a product: a line with the descriptor that Triton's
lowering to LLVM's IR writes, without the address, or `none` where it refuses the layout, which it does by ending the
process. A test of `weft-layout` holds `plan::operand::legal` against the lines.
"""

import itertools
import os
import re
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend

HEAD = (
    "# What Triton 3.9.0 makes of layouts of factors; docs/measurements/operands_triton.py writes this.\n"
    "# side, shape, bits, swizzle in bytes, what is contiguous, descriptor without address\n"
)
SIDES = [16, 32, 64, 128, 256]
TYPES = {8: ("f8E5M2", 32), 16: ("f16", 16), 32: ("f32", 8)}
# Four warps in a row have so many rows.
ROWS = 64
TEXT = """#mma = #ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, {n}, {step}]}}>
#left = #ttg.nvmma_shared<{{{left}}}>
#right = #ttg.nvmma_shared<{{{right}}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @product(%out: !tt.ptr<f32>) {{
    %a = ttg.local_alloc : () -> !ttg.memdesc<{m}x{k}x{type}, #left, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<{k}x{n}x{type}, #right, #smem, mutable>
    %none = arith.constant dense<0.000000e+00> : tensor<{m}x{n}xf32, #mma>
    %sums = ttng.warp_group_dot %a, %b, %none {{inputPrecision = 0 : i32, maxNumImpreciseAcc = 1073741824 : i32}} : !ttg.memdesc<{m}x{k}x{type}, #left, #smem, mutable> * !ttg.memdesc<{k}x{n}x{type}, #right, #smem, mutable> -> tensor<{m}x{n}xf32, #mma>
    %to = tt.splat %out : !tt.ptr<f32> -> tensor<{m}x{n}x!tt.ptr<f32>, #mma>
    tt.store %to, %sums : tensor<{m}x{n}x!tt.ptr<f32>, #mma>
    tt.return
  }}
}}
"""


def layout(swizzle: int, transposed: bool, bits: int) -> str:
    return f"swizzlingByteWidth = {swizzle}, transposed = {str(transposed).lower()}, elementBitWidth = {bits}"


def case(side: str, shape: list[int], bits: int, swizzle: int, transposed: bool) -> str:
    """A product with one factor in the layout, and the other one in one that it can read."""
    name, step = TYPES[bits]
    tested = layout(swizzle, transposed, bits)
    if side == "left":
        m, k = shape
        n = ROWS
        left, right = tested, layout(min(128, k * bits // 8), True, bits)
    else:
        k, n = shape
        m = ROWS
        left, right = layout(min(128, k * bits // 8), False, bits), tested
    return TEXT.format(m=m, n=n, k=k, step=step, type=name, left=left, right=right)


def lowered(text: str, folder: str) -> str | None:
    """LLVM's IR of a module, or nothing where Triton ends."""
    path = Path(folder, "result")
    path.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        try:
            source = Path(folder, "module.ttgir")
            source.write_text(text)
            backend = make_backend(GPUTarget("cuda", 90, 32))
            options = backend.parse_options({"num_warps": 4})
            context = ir.context()
            ir.load_dialects(context)
            backend.load_dialects(context)
            module = ir.parse_mlir_module(str(source), context)
            module.context = context
            path.write_text(str(backend.make_llir(module, {}, options, 90)))
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.waitpid(child, 0)
    return path.read_text() if path.exists() else None


ADDRESS = (1 << 14) - 1


def descriptor(text: str, side: str) -> int:
    """The descriptor of a factor of the first product of a text, without the address."""
    lines = (line.strip().partition(" = ") for line in text.splitlines())
    made = {name: what.partition(", !dbg")[0] for name, equals, what in lines if equals}
    call = next(line for line in text.splitlines() if "wgmma.mma_async" in line)
    factors = re.findall(r"i64 (%\d+)", call[call.rindex('"(') :])
    pair = made[re.search(r"%\d+", made[factors[side == "right"]])[0]]
    high, low = re.fullmatch(r"insertelement <2 x i32> <i32 poison, i32 (-?\d+)>, i32 (.*), i64 0", pair).groups()
    return (int(high) & 0xFFFF_FFFF) << 32 | number(low, made) & ~ADDRESS


def number(value: str, made: dict[str, str]) -> int:
    """A number of 32 bits, where shared memory begins at address 0."""
    if re.fullmatch(r"-?\d+", value):
        return int(value) & 0xFFFF_FFFF
    if "@global_smem" in value:
        offset = re.search(r"i32 (\d+)\)", value)
        return int(offset[1]) if offset else 0
    name, _, rest = made[value].partition(" ")
    left, right = re.fullmatch(r"(?:\w+ )*i32 (.*), (\S+)", rest).groups()
    x, y = number(left, made), number(right, made)
    return {"lshr": x >> y, "shl": x << y, "and": x & y, "or": x | y, "add": x + y}[name] & 0xFFFF_FFFF


def main() -> None:
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for rows, columns, bits in itertools.product(SIDES, SIDES, TYPES):
            for swizzle, transposed, side in itertools.product((0, 32, 64, 128), (False, True), ("left", "right")):
                lines += line(folder, side, [rows, columns], bits, swizzle, transposed)
    Path(sys.argv[1]).write_text(HEAD + "".join(f"{line}\n" for line in lines))
    read = sum(not line.endswith("none") for line in lines)
    print(f"{len(lines)} layouts, of which Triton reads {read}")


def line(folder: str, side: str, shape: list[int], bits: int, swizzle: int, transposed: bool) -> list[str]:
    """What is told of a layout; nothing where a factor has fewer rows than a product, its numbers can be summed along
    one axis only and are not, or a row is shorter than the swizzle."""
    summed = shape[side == "left"]
    rows = shape[side == "right"]
    along = (side == "left") != transposed
    row = shape[not transposed] * bits // 8
    if rows < (ROWS if side == "left" else 0) or summed < 256 // bits or not along and bits != 16 or row < swizzle:
        return []
    text = lowered(case(side, shape, bits, swizzle, transposed), folder)
    told = f"{descriptor(text, side):x}" if text else "none"
    contiguous = "columns" if transposed else "rows"
    return [f"{side} {shape[0]}x{shape[1]} {bits} {swizzle} {contiguous} {told}"]


if __name__ == "__main__":
    main()
