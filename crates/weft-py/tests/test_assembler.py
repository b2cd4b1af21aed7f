"""The second assembly, with an assembler made up here."""

import struct

import pytest

triton = pytest.importorskip("triton")

from weft import _weft
from weft.triton import _assembler

COPY = """module {
  tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %from = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %value = tt.load %from : tensor<1024x!tt.ptr<f32>>
    tt.store %to, %value : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
"""


def module(registers, stack):
    """An ELF file with no more than a section `.nv.info`."""
    info = struct.pack("<BBHII", 4, 0x2F, 8, 1, registers) + struct.pack("<BBHII", 4, 0x11, 8, 1, stack)
    # An attribute of another form in between.
    info = struct.pack("<BBH", 1, 0x37, 0) + info
    names = b"\0.shstrtab\0.nv.info\0"
    sections = [(0, 0, 0), (1, 64, len(names)), (11, 64 + len(names), len(info))]
    head = bytearray(64)
    struct.pack_into("<Q", head, 0x28, 64 + len(names) + len(info))
    struct.pack_into("<HHH", head, 0x3A, 64, len(sections), 1)
    table = b"".join(struct.pack("<I20xQQ24x", *section) for section in sections)
    return bytes(head) + names + info + table


def assembled(source, warps, *usages):
    """What is taken of assemblies that give these, the shared memory that goes with it, and the texts of those."""
    kernel = _weft.Kernel(source, target="sm_90", warps=warps)
    texts = []

    def assemble(text):
        texts.append(text)
        return module(*usages[len(texts) - 1])

    found, shared_bytes = _assembler.assembled(assemble, kernel.ptx(), kernel)
    return _assembler.usage_of(found), shared_bytes, texts


def blocks_of(text):
    """For how many blocks a text is, if it says so."""
    return next((int(line.split()[1]) for line in text.splitlines() if ".minnctapersm" in line), None)


def loads_first(text):
    """The loads in front of the first sum."""
    return text.split("add.rn.f32")[0].count("ld.global")


def test_a_module_says_what_its_threads_take():
    assert _assembler.usage_of(module(142, 12)) == (142, 12)
    for broken in (b"", b"ELF", module(1, 0)[:100], bytes(64)):
        assert _assembler.usage_of(broken) is None


@pytest.mark.parametrize(
    ("warps", "first", "second", "usage", "asked"),
    [
        # All registers, where values went to the stack.
        (16, (32, 1176), (128, 400), (128, 400), [1]),
        (16, (32, 1176), (128, 1400), (32, 1176), [1]),
        (16, (128, 1176), (0, 0), (128, 1176), []),
        # One more block, where it costs next to nothing.
        (8, (142, 0), (128, 12), (128, 12), [2]),
        (8, (142, 0), (128, 96), (142, 0), [2]),
        (8, (142, 0), (144, 0), (142, 0), [2]),
        (8, (64, 0), (0, 0), (64, 0), []),
    ],
)
def test_the_better_of_two_assemblies_is_taken(warps, first, second, usage, asked):
    found, _, texts = assembled(COPY, warps, first, second)
    assert (found, [blocks_of(text) for text in texts[1:]]) == (usage, asked)


# Sixteen loads of four numbers for each thread, which are taken as they come: two blocks are enough.
SUM = COPY.replace("1024", "32768").replace("@copy", "@sum").replace(
    """    tt.store %to, %value : tensor<32768x!tt.ptr<f32>>
""",
    """    %sum = "tt.reduce"(%value) <{axis = 0 : i32}> ({
    ^bb0(%left: f32, %right: f32):
      %both = arith.addf %left, %right : f32
      tt.reduce.return %both : f32
    }) : (tensor<32768xf32>) -> f32
    tt.store %out, %sum : !tt.ptr<f32>
""",
)


@pytest.mark.parametrize(
    ("usages", "usage", "asked"),
    [
        # The order of the source where its registers let enough blocks run, and where the other gives no more.
        ([(32, 0)], (32, 0), []),
        ([(98, 0), (72, 0), (64, 16)], (64, 16), [(2, True), (2, False)]),
        # The other where more blocks run, and less lies on the stack.
        ([(98, 0), (64, 0)], (64, 0), [(2, True)]),
        ([(98, 0), (56, 8), (64, 0)], (64, 0), [(2, True), (2, False)]),
        ([(32, 900), (32, 400), (80, 0)], (80, 0), [(2, True), (1, True)]),
        ([(32, 900), (32, 1000), (80, 0)], (80, 0), [(2, True), (1, False)]),
    ],
)
def test_the_order_that_needs_fewer_registers_is_taken_where_more_blocks_run(usages, usage, asked):
    found, _, texts = assembled(SUM, 16, *usages)
    first = loads_first(texts[0])
    assert first == 16
    assert found == usage
    assert [(blocks_of(text), loads_first(text) < first) for text in texts[1:]] == asked


@pytest.mark.parametrize(
    ("first", "second", "usage", "asked"),
    [
        # 32 words of each thread, which 56 registers have room for.
        ((40, 0), (56, 0), (56, 0), [9]),
        # Not at the price of a stack, nor where the assembler does not take them.
        ((40, 0), (56, 8), (40, 0), [9]),
        ((40, 0), (40, 0), (40, 0), [9]),
        ((56, 0), (0, 0), (56, 0), []),
    ],
)
def test_fewer_blocks_run_where_more_loads_are_then_under_way(first, second, usage, asked):
    found, _, texts = assembled(SUM.replace("32768", "4096"), 4, first, second)
    assert (found, [blocks_of(text) for text in texts[1:]]) == (usage, asked)


def test_a_text_of_another_tool_is_assembled_once():
    texts = []

    def assemble(text):
        texts.append(text)
        return module(32, 1176)

    _assembler.assembled(assemble, "// another text", None)
    assert texts == ["// another text"]


# A loop that adds to each of 64 numbers of a thread another one, which is computed in front of it.
ROUNDS = """module {
  tt.func public @rounds(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
    %from = tt.addptr %xs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
    %to = tt.addptr %outs, %i : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
    %value = tt.load %from : tensor<32768x!tt.ptr<f32>>
    %root = math.sqrt %value : tensor<32768xf32>
    %sum = scf.for %k = %zero to %n step %one iter_args(%carried = %value) -> (tensor<32768xf32>) : i32 {
      %twice = arith.mulf %carried, %carried : tensor<32768xf32>
      %next = arith.addf %twice, %root : tensor<32768xf32>
      scf.yield %next : tensor<32768xf32>
    }
    tt.store %to, %sum : tensor<32768x!tt.ptr<f32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("usages", "usage", "shared_bytes"),
    [
        # Nothing lies on the stack, or next to nothing.
        ([(128, 0)], (128, 0), None),
        ([(128, 32)], (128, 32), None),
        # A word of 512 threads for each word of the stack, four at a time, where as much leaves that, or all.
        ([(128, 72), (128, 0)], (128, 0), 512 * 80),
        ([(128, 84), (128, 0)], (128, 0), 512 * 96),
        ([(128, 80), (128, 4)], (128, 80), None),
        ([(32, 400), (128, 64), (128, 0)], (128, 0), 512 * 64),
    ],
)
def test_words_are_parked_where_that_takes_them_off_the_stack(usages, usage, shared_bytes):
    found, shared, texts = assembled(ROUNDS, 16, *usages)
    assert (found, shared, len(texts)) == (usage, shared_bytes, len(usages))
    if shared is not None:
        assert "st.shared" not in texts[0]
        assert texts[-1].count("st.shared.v4") == texts[-1].count("ld.shared.v4") == shared // 512 // 16
