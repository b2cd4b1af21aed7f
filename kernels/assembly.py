"""Inline assembly: PTX that is read as operations of the tile program."""

import triton
import triton.language as tl

SIGNATURES = {
    "assembly_words": dict(x="*i32:16", y="*i32:16", out="*i32:16", BLOCK=128),
    "assembly_bits": dict(x="*i32:16", y="*i32:16", out="*i32:16", BLOCK=64),
    "assembly_floats": dict(x="*fp32:16", out="*fp32:16", sign="*i32:16", BLOCK=128),
    "assembly_halves": dict(x="*fp16:16", y="*fp16:16", out="*fp16:16", BLOCK=256),
    "assembly_bytes": dict(x="*i8:16", out="*i8:16", BLOCK=256),
    "assembly_longs": dict(x="*i64:16", out="*i64:16", high="*i32:16", BLOCK=64),
    "small_floats": dict(x="*i8:16", half="*fp16:16", back="*i8:16", BLOCK=256),
}  # fmt: skip


@triton.jit
def assembly_words(x, y, out, BLOCK: tl.constexpr):
    """Rotations, products of twice the width in registers of their own, several results."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    rotated = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [a], tl.int32, True, 1)
    low, high = tl.inline_asm_elementwise(
        """
        {
            .reg .b64 product;  // all of it
            .reg .b32 part<2>;
            mul.wide.u32 product, $2, $3;
            mov.b64 {part0, part1}, product;
            mad.lo.s32 $0, part0, 5, 0x11;
            xor.b32 $1, part1, -1; /* every bit */
        }
        """,
        "=r,=r,r,r", [rotated, b], (tl.int32, tl.int32), True, 1)  # fmt: skip
    block = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r", [], tl.int32, True, 1)
    tl.store(out + at, low + high * 3 + block)


@triton.jit
def assembly_bits(x, y, out, BLOCK: tl.constexpr):
    """Counts and fields of bits, tables of three."""
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    ones = tl.inline_asm_elementwise("popc.b32 $0, $1;", "=r,r", [a], tl.int32, True, 1)
    zeros = tl.inline_asm_elementwise("clz.b32 $0, $1;", "=r,r", [a], tl.int32, True, 1)
    turned = tl.inline_asm_elementwise("brev.b32 $0, $1;", "=r,r", [a], tl.int32, True, 1)
    field = tl.inline_asm_elementwise("bfe.u32 $0, $1, 3, 5;", "=r,r", [a], tl.int32, True, 1)
    placed = tl.inline_asm_elementwise("bfi.b32 $0, $1, $2, 4, 8;", "=r,r,r", [a, b], tl.int32, True, 1)
    table = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, $3, 0xe8;", "=r,r,r,r", [a, b, turned], tl.int32, True, 1)
    bytes = tl.inline_asm_elementwise("prmt.b32 $0, $1, $2, 0x1f62;", "=r,r,r", [a, b], tl.int32, True, 1)
    tl.store(out + at, ones)
    tl.store(out + BLOCK + at, zeros)
    tl.store(out + 2 * BLOCK + at, turned)
    tl.store(out + 3 * BLOCK + at, field)
    tl.store(out + 4 * BLOCK + at, placed)
    tl.store(out + 5 * BLOCK + at, table)
    tl.store(out + 6 * BLOCK + at, bytes)


@triton.jit
def assembly_floats(x, out, sign, BLOCK: tl.constexpr):
    """Floats, guards and comparisons."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    power = tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [a], tl.float32, True, 1)
    rational = tl.inline_asm_elementwise(
        "{ .reg .f32 t; fma.rn.f32 t, $1, 0f40000000, 0f3f800000; div.rn.f32 $0, $1, t; }",
        "=f,f", [power], tl.float32, True, 1)  # fmt: skip
    direction = tl.inline_asm_elementwise(
        """
        {
            .reg .pred below, large;
            setp.lt.f32 below, $1, 0f00000000;
            setp.gt.f32 large, $1, 0f3f000000;
            selp.b32 $0, -1, 1, below;
            @large mov.b32 $0, 2;
            @!large add.s32 $0, $0, 10;
        }
        """,
        "=r,f", [a], tl.int32, True, 1)  # fmt: skip
    tl.store(out + at, rational)
    tl.store(sign + at, direction)


@triton.jit
def assembly_halves(x, y, out, BLOCK: tl.constexpr):
    """Two halves in a register."""
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    both = tl.inline_asm_elementwise("fma.rn.f16x2 $0, $1, $2, $1;", "=r,r,r", [a, b], tl.float16, True, 2)
    tl.store(out + at, both)
    four = tl.inline_asm_elementwise(
        "max.f16x2 $0, $2, $4; max.f16x2 $1, $3, $5;", "=r,=r,r,r,r,r", [a, b], tl.float16, True, 4)  # fmt: skip
    tl.store(out + BLOCK + at, four)


@triton.jit
def assembly_bytes(x, out, BLOCK: tl.constexpr):
    """Four bytes in a register; the high bit of each is turned and none is carried into the next."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    text: tl.constexpr = "{ .reg .b32 t; and.b32 t, $1, 0x7f7f7f7f; add.u32 t, t, 0x01010101; xor.b32 $0, t, 0x80808080; }"
    tl.store(out + at, tl.inline_asm_elementwise(text, "=r,r", [a], tl.int8, True, 4))
    one = tl.inline_asm_elementwise("shl.b32 $0, $1, 1;", "=r,r", [a], tl.int8, True, 1)
    tl.store(out + BLOCK + at, one)


@triton.jit
def assembly_longs(x, out, high, BLOCK: tl.constexpr):
    """Long words, and halves of them."""
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    tl.store(out + at, tl.inline_asm_elementwise("mul.hi.u64 $0, $1, $1;", "=l,l", [a], tl.int64, True, 1))
    upper = tl.inline_asm_elementwise("{ .reg .b32 t; mov.b64 {t, $0}, $1; }", "=r,l", [a], tl.int32, True, 1)
    tl.store(high + at, upper)


@triton.jit
def small_floats(x, half, back, BLOCK: tl.constexpr):
    """A format of 8 bits that the front end converts by inline assembly, four at a time."""
    at = tl.arange(0, BLOCK)
    wide = tl.load(x + at).to(tl.float8e4b15, bitcast=True).to(tl.float16)
    tl.store(half + at, wide)
    tl.store(back + at, wide.to(tl.float8e4b15).to(tl.int8, bitcast=True))
