"""Record layouts as Triton 3.9.0 computes them: `python record.py > layouts.jsonl`.

Needs `triton==3.9.0`, no GPU.  Attributes of every family are drawn at random (seeded, so that two
runs print the same), handed to Triton's binding, and printed with the bases that it returns, one
JSON object a line.  The first line says what made the file.

    python record.py [COUNT_PER_FAMILY [SEED]]

A record holds `family`, `attribute` (as Triton prints it), `shape` and `bases`: for each axis of the
layout, least significant first, the image of each bit as coordinates, `dim0` first.  Of partitioned
memory the binding returns all axes but `partition`.
"""

import json
import os
import random
import sys
import tempfile

import triton
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout

VERSION = "3.9.0"

context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
draw = random.Random()


# What random parameters are made of.


def power(low, high):
    return 1 << draw.randint(low, high)


def bits(number):
    return number.bit_length() - 1


def shape(rank, most=11, each=8, least=0):
    while True:
        sizes = [power(least, each) for _ in range(rank)]
        if sum(map(bits, sizes)) <= most:
            return sizes


def order(rank):
    return draw.sample(range(rank), rank)


def blocks(rank, chance=0.3):
    """Bases of the block number; none for a single block."""
    bases, next_part = [], [1] * rank
    if draw.random() < chance:
        for _ in range(draw.randint(1, 2)):
            basis = [0] * rank
            if draw.random() < 0.8:
                dim = draw.randrange(rank)
                basis[dim] = next_part[dim]
                next_part[dim] *= 2
            bases.append(basis)
    return bases


def split(total, rank):
    """Powers of two along each axis with this product."""
    sizes = [1] * rank
    for _ in range(bits(total)):
        sizes[draw.randrange(rank)] *= 2
    return sizes


def units(sizes):
    """The bits of a tensor as bases, in random order."""
    rank = len(sizes)
    bases = [
        [1 << bit if axis == dim else 0 for axis in range(rank)]
        for dim in range(rank)
        for bit in range(bits(sizes[dim]))
    ]
    draw.shuffle(bases)
    return bases


def mixed(bases, times):
    """The bases with sums of others added: still one to one."""
    bases = [list(basis) for basis in bases]
    for _ in range(times if len(bases) > 1 else 0):
        to, other = draw.sample(range(len(bases)), 2)
        bases[to] = [a ^ b for a, b in zip(bases[to], bases[other])]
    return bases


# How Triton is asked.  Each question returns the attribute's text and the bases.


def after(text, keyword):
    """The attribute in the text of a type, which ends before `keyword`."""
    start = text.index("#")
    return text[start : text.rindex(keyword)]


def ask_registers(attribute, sizes):
    text = after(str(builder.get_distributed_ty(builder.get_half_ty(), sizes, attribute)), ">")
    return text, register_bases(builder.to_linear_layout(attribute, sizes))


def register_bases(layout):
    return {
        "register": layout.reg_bases,
        "lane": layout.lane_bases,
        "warp": layout.warp_bases,
        "block": layout.block_bases,
    }


def ask_shared(attribute, sizes):
    memory = builder.get_shared_mem_desc_ty(builder.get_half_ty(), sizes, attribute, sizes)
    layout = builder.to_linear_layout(attribute, sizes)
    bases = {"offset": layout.offset_bases, "block": layout.block_bases}
    return after(str(memory), ", #ttg.shared_memory"), bases


def ask_tensor_memory(attribute, sizes, block):
    memory = builder.get_tensor_mem_desc_ty(builder.get_int8_ty(), sizes, attribute, sizes)
    layout = builder.to_linear_layout(attribute, sizes)
    bases = {"row": layout.rows, "col": layout.cols, "block": block}
    return after(str(memory), ", #ttng.tensor_memory,"), bases


def argument(type_text, clusters=1):
    """A value of this type, and a builder that stands after it."""
    text = f"""module attributes {{"ttg.num-ctas" = {clusters} : i32, "ttg.num-warps" = 4 : i32,
        ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
      tt.func @f(%x: {type_text}) {{ tt.return }}
    }}"""
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    value = module.get_function("f").args(0)
    found = []
    module.walk(lambda op: found.append(op) if op.get_name() == "tt.return" else None)
    builder.set_loc(value.get_loc())
    builder.set_insertion_point_to_start(found[0].get_block())
    # The module owns the value.
    return module, value


def times(sizes):
    return "x".join(map(str, sizes))


# The families.  Each draws parameters and returns a question and the shape.


def draw_blocked(warp_size=32):
    rank = draw.randint(1, 3)
    return builder.get_blocked_layout(
        split(power(0, 3), rank),
        split(warp_size, rank),
        split(power(0, 3), rank),
        order(rank),
        blocks(rank),
    ), rank


def blocked():
    attribute, rank = draw_blocked(draw.choice([32, 32, 64]))
    sizes = shape(rank)
    return lambda: ask_registers(attribute, sizes), sizes


def slice_blocked():
    attribute, rank = draw_blocked()
    if rank == 1:
        return None
    for _ in range(draw.randint(1, rank - 1)):
        attribute = builder.get_slice_layout(draw.randrange(rank), attribute)
        rank -= 1
    sizes = shape(rank)
    return lambda: ask_registers(attribute, sizes), sizes


def draw_linear(sizes, mix):
    bases = units(sizes)
    if len(bases) < 8:
        return None
    lane, warp, register = bases[:5], bases[5:7], bases[7:]
    if draw.random() < 0.3:
        copied = draw.randrange(2)
        register.append(warp[copied])
        warp[copied] = [0] * len(sizes)
    if mix:
        for basis in warp:
            if any(basis) and register:
                basis[:] = [a ^ b for a, b in zip(basis, draw.choice(register + lane))]
    return register, lane, warp


def linear():
    sizes = shape(draw.randint(1, 3))
    drawn = draw_linear(sizes, mix=False)
    if drawn is None:
        return None
    attribute = builder.get_distributed_linear_layout(*drawn, [], sizes)
    return lambda: ask_registers(attribute, sizes), sizes


def generic_linear():
    sizes = shape(draw.randint(1, 3))
    drawn = draw_linear(sizes, mix=True)
    if drawn is None:
        return None
    register, lane, warp = drawn

    def ask():
        bases = f"register = {register}, lane = {lane}, warp = {warp}, block = []"
        tensor = f"tensor<{times(sizes)}xf16, #ttg.generic_linear<{{{bases}}}>>"
        _module, value = argument(tensor)
        bases = register_bases(builder.get_gluon_layout_from_tensor(value))
        return after(str(value.get_type()), ">"), bases

    return ask, sizes


def draw_mma(version):
    if version == 3:
        instruction = [16, power(3, 7), draw.choice([8, 16, 32])]
        warps, rank = [4 * power(0, 1), power(0, 1)], 2
    else:
        rank = draw.choice([2, 2, 3])
        instruction = [1, 16, 8][3 - rank :]
        warps = split(power(0, 3), rank)
    parts = blocks(rank, chance=0.25)
    return builder.get_mma_layout([version, 0], warps, parts, instruction), rank


def mma(version):
    def family():
        attribute, rank = draw_mma(version)
        sizes = shape(rank, most=13, least=0 if rank == 3 else 3)
        return lambda: ask_registers(attribute, sizes), sizes

    return family


def dot_mma(version):
    def family():
        parent, rank = draw_mma(version)
        operand = 0 if version == 3 else draw.randint(0, 1)
        attribute = builder.get_dot_operand_layout(operand, parent, draw.choice([1, 2, 4, 8]))
        sizes = shape(rank, most=12, least=0 if rank == 3 else 3)
        return lambda: ask_registers(attribute, sizes), sizes

    return family


def slice_mma():
    parent, rank = draw_mma(draw.choice([2, 3]))
    attribute = builder.get_slice_layout(draw.randrange(rank), parent)
    sizes = shape(rank - 1, each=7, least=1)
    return lambda: ask_registers(attribute, sizes), sizes


def dot_blocked():
    parent, rank = draw_blocked()
    if rank == 1:
        return None
    attribute = builder.get_dot_operand_layout(draw.randint(0, 1), parent, 0)
    sizes = shape(rank, most=9)
    return lambda: ask_registers(attribute, sizes), sizes


def draw_mfma(version):
    tile = draw.choice([[32, 32], [32, 32], [16, 16], [16, 16], [4, 64], [64, 4]])
    depths = {32: [8, 16], 16: [16, 32], 4: [4], 64: [4]}
    instruction = tile + [draw.choice(depths[tile[0]])]
    transposed = instruction[0] == 64 or draw.random() < 0.5
    tiles = draw.choice([[], [], [2, 1], [1, 2], [2, 2]])
    width = 64 if instruction[:2] == [16, 16] and draw.random() < 0.15 else 32
    warps = split(power(0, 3), 2)
    return builder.get_amd_mfma_layout(
        version, warps, instruction, transposed, blocks(2, chance=0.15), tiles, width
    )


def mfma(version):
    def family():
        attribute = draw_mfma(version)
        sizes = shape(2, most=13, least=4)
        return lambda: ask_registers(attribute, sizes), sizes

    return family


def dot_mfma():
    parent = draw_mfma(draw.randint(1, 4))
    attribute = builder.get_dot_operand_layout(
        draw.randint(0, 1), parent, draw.choice([4, 8, 16])
    )
    sizes = shape(2, most=12, least=4)
    return lambda: ask_registers(attribute, sizes), sizes


def draw_wmma(version):
    register, warp, next_tile = [], [], [1, 1]
    for bases, most in [(register, 1), (warp, 3)]:
        for _ in range(draw.randint(0, most)):
            dim = draw.randrange(2)
            bases.append([next_tile[axis] if axis == dim else 0 for axis in range(2)])
            next_tile[dim] *= 2
    instruction = [16, 16, 16]
    if version == 3:
        rows, depth = draw.choice([(16, 4), (16, 32), (16, 64), (16, 128), (32, 128)])
        instruction = [rows, 16, depth]
    transposed = draw.random() < 0.5
    parts = blocks(2, chance=0.15)
    return builder.get_amd_wmma_layout(version, transposed, warp, register, parts, instruction, 2)


def wmma(version):
    def family():
        attribute = draw_wmma(version)
        sizes = shape(2, most=12, least=4)
        return lambda: ask_registers(attribute, sizes), sizes

    return family


def dot_wmma():
    version = draw.randint(1, 3)
    width = 16 if version == 1 else 8
    attribute = builder.get_dot_operand_layout(draw.randint(0, 1), draw_wmma(version), width)
    sizes = shape(2, most=12, least=4)
    return lambda: ask_registers(attribute, sizes), sizes


def draw_swizzled(rank, chance):
    return builder.get_swizzled_shared_layout(
        power(0, 4), power(0, 3), power(0, 3), order(rank), blocks(rank, chance)
    )


def swizzled_shared():
    rank = draw.randint(1, 4)
    attribute, sizes = draw_swizzled(rank, 0.3), shape(rank)
    return lambda: ask_shared(attribute, sizes), sizes


def rotating_shared():
    rank = draw.randint(1, 4)
    sizes, parts = shape(rank, least=1, each=6), blocks(rank)
    parameters = (
        f"vec = {power(0, 3)}, perPhase = {power(0, 2)}, maxPhase = {power(0, 3)}, "
        f"order = {order(rank)}" + (f", CGALayout = {parts}" if parts else "")
    )

    def ask():
        memory = (
            f"!ttg.memdesc<{times(sizes)}xf16, #ttg.amd_rotating_shared<{{{parameters}}}>, "
            "#ttg.shared_memory, mutable>"
        )
        _module, value = argument(memory, 1 << len(parts))
        # The binding has no such attribute; an axis of size 1 makes it one of bases.
        reshaped = builder.create_memdesc_reshape(value, sizes + [1])
        layout = builder.get_gluon_layout_from_memdesc(reshaped)
        bases = {
            "offset": [basis[:-1] for basis in layout.offset_bases],
            "block": [basis[:-1] for basis in layout.block_bases],
        }
        return after(str(value.get_type()), ", #ttg.shared_memory"), bases

    return ask, sizes


def draw_nvmma(swizzle, chance):
    rank = draw.choice([2, 2, 2, 3, 3, 4, 5] if swizzle else [1, 2, 2, 3, 4])
    padded = swizzle == 128 and draw.random() < 0.25
    width = 8 if padded else draw.choice([8, 16, 32, 64])
    transposed = draw.random() < 0.4
    attribute = builder.get_nvmma_shared_layout(
        swizzle, width, transposed, padded, blocks(rank, chance), rank
    )
    # The contiguous axis has to hold a row, the others eight.
    sizes = shape(rank, most=13)
    if swizzle:
        sizes[0 if transposed else -1] = max(2 * swizzle * 8 // width, sizes[-1])
        sizes[-1 if transposed else 0] = max(8, sizes[0])
    return attribute, sizes


def nvmma_shared(swizzle):
    def family():
        attribute, sizes = draw_nvmma(swizzle, 0.25)
        return lambda: ask_shared(attribute, sizes), sizes

    return family


def shared_linear():
    sizes = shape(draw.randint(1, 4), most=8, each=5)
    bases = mixed(units(sizes), draw.randint(0, 5))
    if not bases:
        return None
    cut = draw.choice([0, 0, 1]) if len(bases) > 1 else 0
    offset, block = bases[cut:], bases[:cut]
    if draw.random() < 0.2:
        offset.insert(draw.randrange(len(offset)), [0] * len(sizes))
    attribute = builder.get_shared_linear_layout(offset, block, power(0, 7))
    return lambda: ask_shared(attribute, sizes), sizes


def partitioned_shared():
    partitions, groups = power(1, 2), power(0, 2)
    if draw.random() < 0.7:
        rank = draw.randint(1, 3)
        inner, sizes = draw_swizzled(rank, 0.2), shape(rank, most=9)
    else:
        inner, sizes = draw_nvmma(draw.choice([0, 32]), 0.2)
    dim = draw.randrange(len(sizes))
    sizes[dim] *= partitions * groups
    attribute = builder.get_partitioned_shared_layout(partitions, groups, dim, inner)
    return lambda: ask_shared(attribute, sizes), sizes


def tensor_memory():
    tile = [draw.choice([64, 128]), power(1, 5)]
    stride = draw.choice([1, 1, 2, 4])
    padded = stride == 1 and draw.random() < 0.2
    parts = blocks(2, chance=0.4)
    if draw.random() < 0.3:
        parts = [[1, 0]] + [[0, 0], [2, 0], [0, 1]][: draw.randint(0, 1)]
    two = parts[:1] == [[1, 0]] and draw.random() < 0.7
    attribute = builder.get_tensor_memory_layout(tile, stride, parts, two, padded)
    sizes = [tile[0] * power(0, 3), tile[1] * power(0, 3)]

    def ask():
        block = []
        if parts:
            # The binding leaves the blocks out; those of a load's registers are the same.
            layout = TensorMemoryLayout(tuple(tile), stride, parts, two, padded)
            element = ttgl.float32 if stride == 1 and not padded else ttgl.int8
            for variant in ["32x32b", "16x64b"]:
                load = gluon_ir.compute_tmem_reg_layout(element, sizes, sizes, layout, 4, variant)
                if load is not None:
                    block = load.block_bases
                    break
            else:
                return None
        return ask_tensor_memory(attribute, sizes, block)

    return ask, sizes


def tensor_memory_scales():
    attribute = builder.get_tensor_memory_scales_layout([], draw.choice(["mnThenK", "kThenMn"]))
    sizes = [power(0, 9), power(0, 6)]
    return lambda: ask_tensor_memory(attribute, sizes, []), sizes


FAMILIES = {
    "blocked": blocked,
    "slice_blocked": slice_blocked,
    "dot_blocked": dot_blocked,
    "linear": linear,
    "generic_linear": generic_linear,
    "mma2": mma(2),
    "dot_mma2": dot_mma(2),
    "mma3": mma(3),
    "dot_mma3": dot_mma(3),
    "slice_mma": slice_mma,
    "mfma1": mfma(1),
    "mfma2": mfma(2),
    "mfma3": mfma(3),
    "mfma4": mfma(4),
    "dot_mfma": dot_mfma,
    "wmma1": wmma(1),
    "wmma2": wmma(2),
    "wmma3": wmma(3),
    "dot_wmma": dot_wmma,
    "swizzled_shared": swizzled_shared,
    "rotating_shared": rotating_shared,
    "nvmma_shared_0": nvmma_shared(0),
    "nvmma_shared_32": nvmma_shared(32),
    "nvmma_shared_64": nvmma_shared(64),
    "nvmma_shared_128": nvmma_shared(128),
    "shared_linear": shared_linear,
    "partitioned_shared": partitioned_shared,
    "tensor_memory": tensor_memory,
    "tensor_memory_scales": tensor_memory_scales,
}


def attempt(family, seed):
    """A record, or none where Triton refuses the parameters.

    It may refuse them by aborting the process, so that each attempt is one of its own.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            draw.seed(seed)
            drawn = FAMILIES[family]()
            answer = drawn and drawn[0]()
            if answer:
                record = {"family": family, "attribute": answer[0]}
                record |= {"shape": drawn[1], "bases": answer[1]}
                os.write(writer, json.dumps(record, separators=(",", ":")).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if triton.__version__ != VERSION:
        sys.exit(f"triton {VERSION} is needed, {triton.__version__} is installed")
    print(json.dumps({"made_by": "record.py", "triton": VERSION, "count": count, "seed": first}))
    for family in FAMILIES:
        seen = set()
        for number in range(100 * count):
            text = attempt(family, f"{family} {first} {number}")
            if text and text not in seen:
                seen.add(text)
                print(text)
            if len(seen) == count:
                break
        else:
            print(f"{family}: {len(seen)} of {count}", file=sys.stderr)


if __name__ == "__main__":
    main()
