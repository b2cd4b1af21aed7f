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


def assembled(warps, first, second):
    """What is taken of two assemblies, and what the second one was asked for."""
    kernel = _weft.Kernel(COPY, target="sm_90", warps=warps)
    texts = []

    def assemble(text):
        texts.append(text)
        return module(*(first if len(texts) == 1 else second))

    usage = _assembler.usage_of(_assembler.assembled(assemble, kernel.ptx(), kernel))
    asked = [line for text in texts[1:] for line in text.splitlines() if ".minnctapersm" in line]
    return usage, asked


def test_a_module_says_what_its_threads_take():
    assert _assembler.usage_of(module(142, 12)) == (142, 12)
    for broken in (b"", b"ELF", module(1, 0)[:100], bytes(64)):
        assert _assembler.usage_of(broken) is None


@pytest.mark.parametrize(
    ("warps", "first", "second", "usage", "asked"),
    [
        # All registers, where values went to the stack.
        (16, (32, 1176), (128, 400), (128, 400), [".minnctapersm 1"]),
        (16, (32, 1176), (128, 1400), (32, 1176), [".minnctapersm 1"]),
        (16, (128, 1176), (0, 0), (128, 1176), []),
        # One more block, where it costs next to nothing.
        (8, (142, 0), (128, 12), (128, 12), [".minnctapersm 2"]),
        (8, (142, 0), (128, 96), (142, 0), [".minnctapersm 2"]),
        (8, (142, 0), (144, 0), (142, 0), [".minnctapersm 2"]),
        (8, (64, 0), (0, 0), (64, 0), []),
    ],
)
def test_the_better_of_two_assemblies_is_taken(warps, first, second, usage, asked):
    assert assembled(warps, first, second) == (usage, asked)


def test_a_text_of_another_tool_is_assembled_once():
    texts = []

    def assemble(text):
        texts.append(text)
        return module(32, 1176)

    _assembler.assembled(assemble, "// another text", None)
    assert texts == ["// another text"]
