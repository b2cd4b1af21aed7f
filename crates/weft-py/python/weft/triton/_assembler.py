"""What an assembler made of a kernel, and whether it is asked again."""

import struct
from collections.abc import Callable
from typing import NamedTuple

from weft import _weft

# Attributes of a kernel in the section `.nv.info` of a module: pairs of a symbol's number and a number.
REGISTERS = 0x2F
STACK = 0x11
# The form of an attribute that says how many bytes follow.
SIZED = 0x04
# Bytes of a stack that one more block makes up for: with 128 some norms of rows were slower on an H200.
LITTLE = 32


class Usage(NamedTuple):
    """What each thread of a kernel is given."""

    registers: int
    # Bytes of the stack, where what has no register lies.
    stack: int


class Assembled(NamedTuple):
    """A kernel's module, and the shared memory of a block of it in bytes."""

    module: bytes
    # None where it is what the kernel's own program takes.
    shared_bytes: int | None = None


def assembled(assemble: Callable[[str], bytes], ptx: str, kernel: _weft.Kernel | None) -> Assembled:
    """The module of a kernel's PTX, assembled again where that may be better: in another order, for another number
    of blocks, and with words in shared memory that have no register."""
    module = assemble(ptx)
    usage = usage_of(module) if kernel is not None else None
    if kernel is None or usage is None:
        return Assembled(module)
    sparing = False
    if (text := kernel.sparing_ptx(*usage)) is not None:
        other = assemble(text)
        if (found := usage_of(other)) is not None and has_more(kernel, found, usage):
            module, usage, sparing = other, found, True
    if (blocks := kernel.second_assembly(*usage)) is not None:
        other = assemble(kernel.second_ptx(blocks, sparing))
        if (found := usage_of(other)) is not None and is_better(kernel, found, usage):
            module, usage = other, found
        else:
            blocks = None
    if usage.stack > LITTLE and (parked := kernel.parked_ptx(*usage, blocks, sparing)) is not None:
        text, shared_bytes, each = parked
        other = assemble(text)
        # Each round loads what is parked: as many bytes must leave the stack for it, or all. Norms of rows were slower
        # on an H200 where fewer did.
        if (found := usage_of(other)) is not None and usage.stack - found.stack >= min(each, usage.stack):
            return Assembled(other, shared_bytes)
    return Assembled(module)


def is_better(kernel: _weft.Kernel, found: Usage, usage: Usage) -> bool:
    """Whether less lies on the stack, or so little that fewer registers make up for it, or more loads under way."""
    if usage.stack > 0:
        return found.stack < usage.stack
    if found.registers > usage.registers:
        return found.stack == 0 and kernel.loads_more(found.registers, usage.registers)
    return found.stack <= LITTLE and found.registers < usage.registers


def has_more(kernel: _weft.Kernel, found: Usage, usage: Usage) -> bool:
    """Whether less lies on the stack, or as much, and more blocks run without fewer loads under way."""
    if found.stack != usage.stack:
        return found.stack < usage.stack
    return kernel.has_more(found.registers, usage.registers)


def usage_of(module: bytes) -> Usage | None:
    """What the one kernel of a module of NVIDIA's takes, if the module says so in the form that is known."""
    try:
        found = dict(attributes(info(module)))
        return Usage(found[REGISTERS], found[STACK])
    except (struct.error, IndexError, KeyError, ValueError):
        return None


def info(module: bytes) -> bytes:
    """The section `.nv.info` of an ELF file of 64 bits."""
    (start,) = struct.unpack_from("<Q", module, 0x28)
    size, count, names = struct.unpack_from("<HHH", module, 0x3A)
    # Of a section's header: the name's place, and where in the file it lies.
    sections = [struct.unpack_from("<I20xQQ", module, start + index * size) for index in range(count)]
    _, strings, _ = sections[names]
    for name, place, length in sections:
        at = strings + name
        if module[at : module.index(0, at)] == b".nv.info":
            return module[place : place + length]
    raise ValueError("the module has no section `.nv.info`")


def attributes(section: bytes) -> list[tuple[int, int]]:
    """Of each attribute of a symbol its kind and its number."""
    found, at = [], 0
    while at < len(section):
        form, kind, length = struct.unpack_from("<BBH", section, at)
        at += 4
        if form == SIZED:
            if length == 8:
                found.append((kind, struct.unpack_from("<I", section, at + 4)[0]))
            at += length
    return found
