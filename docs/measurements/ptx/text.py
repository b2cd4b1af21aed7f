"""Reading PTX: instructions, the data among their operands, and the bytes that are used later."""

import re
from collections import Counter
from dataclasses import dataclass


class Refused(Exception):
    """The text does something that this reader does not know, or that no text may do."""


@dataclass
class Instruction:
    """One instruction: `@guard op outs, ins`."""

    guard: str | None
    op: list[str]
    outs: list[list[str]]
    ins: list[list[str]]
    text: str


NO_RESULT = {"st", "bar", "barrier", "sink", "stmatrix", "ret", "membar", "fence"}


def operands(text: str) -> list[list[str]]:
    """Operands at the outermost commas; those in braces are one operand of several registers."""
    found = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", text)
    return [
        [part.strip() for part in one[1:-1].split(",")] if one.startswith("{") else [one.strip()]
        for one in found
    ]


def read(text: str) -> list[Instruction]:
    """The instructions of the one kernel or function of a text."""
    body = re.sub(r"//[^\n]*", "", text)
    instructions = []
    for statement in re.split(r"[;\n]", body[re.search(r"^\{", body, re.MULTILINE).end() :]):
        statement = statement.strip()
        if statement == "ret":
            break
        if statement in ("", "{", "}") or statement.startswith(".") or statement.endswith(":"):
            continue
        guard, rest = None, statement
        if rest.startswith("@"):
            guard, rest = rest[1:].split(None, 1)
        op, _, rest = rest.replace("\t", " ").partition(" ")
        names, parts = op.split("."), operands(rest)
        if array := re.fullmatch(r"\[(from|to)\+(\d+)\]", " ".join(part[0] for part in parts if "[" in part[0])):
            kind, at = ("source", 0) if array[1] == "from" else ("sink", 1)
            names = [kind, f"b{width(names)}", str(int(array[2]) * 8 // width(names))]
            parts = [parts[at]]
        count = 0 if names[0] in NO_RESULT else 1
        outs = [[name.split("|")[0] for name in part] for part in parts[:count]]
        instructions.append(Instruction(guard, names, outs, parts[count:], statement))
    propagate(instructions)
    return instructions


def propagate(instructions: list[Instruction]) -> None:
    """Puts constants in the place of registers that are nothing else."""
    written = Counter(name for one in instructions for group in one.outs for name in group)
    known = {}
    for one in instructions:
        if one.op[0] in ("mov", "sink"):
            # What a kernel gives away may be constant; the reader looks at registers there.
            moved = one.ins[0][0]
            if one.op[0] == "mov" and one.guard is None and constant(moved) is not None:
                if len(one.outs[0]) == 1 and written[one.outs[0][0]] == 1:
                    known[one.outs[0][0]] = moved
            continue
        one.ins = [[known.get(name, name) for name in group] for group in one.ins]


def width(op: list[str]) -> int:
    """The bits of the last type in an opcode."""
    for name in reversed(op):
        found = re.fullmatch(r"[bsuf](8|16|32|64)", name)
        if found:
            return int(found[1])
    if "pred" in op:
        return 1
    raise Refused(f"no width in {'.'.join(op)}")


def constant(operand: str) -> int | None:
    """An integer literal."""
    try:
        return int(operand.rstrip("U"), 0)
    except ValueError:
        return None


def registers(instruction: Instruction) -> list[str]:
    """The registers that an instruction reads, addresses included."""
    found = []
    for group in instruction.ins:
        for part in group:
            found += re.findall(r"%[\w.]+", part)
    if instruction.guard:
        found.append(instruction.guard.lstrip("!"))
    return found


def tainted(instructions: list[Instruction]) -> list[bool]:
    """Which instructions have data among what they read, or define data."""
    data, marks = set(), []
    for one in instructions:
        kind = one.op[0]
        loads = kind in ("ld", "ldmatrix") and "param" not in one.op
        if kind in ("ld", "st", "ldmatrix", "stmatrix", "source", "sink"):
            mark = "param" not in one.op
        else:
            mark = any(name in data for name in registers(one))
        if mark and (loads or kind == "source" or kind not in NO_RESULT):
            data.update(name for group in one.outs for name in group)
        marks.append(mark)
    return marks


FULL = 0xFF


def demand(instructions: list[Instruction], data: list[bool]) -> list[list[int]]:
    """For each instruction and each register it defines, the bytes that somebody uses later: found
    backwards from what leaves the text or goes to memory."""
    wanted: dict[str, int] = {}
    found: list[list[int]] = []

    def want(register: str, bytes_: int) -> None:
        if register.startswith("%") and bytes_:
            wanted[register] = wanted.get(register, 0) | bytes_

    for one, mark in zip(reversed(instructions), reversed(data)):
        outs = [wanted.get(name, 0) for group in one.outs for name in group]
        found.append(outs)
        if not mark:
            continue
        kind = one.op[0]
        if kind in ("st", "sink"):
            for name in one.ins[-1]:
                want(name, (1 << (width(one.op) // 8)) - 1)
            continue
        if kind == "stmatrix":
            for name in one.ins[-1]:
                want(name, 0xF)
            continue
        if kind in ("ld", "ldmatrix", "source"):
            continue
        out = outs[0] if len(outs) == 1 else 0
        for register, bytes_ in uses(one, outs, out):
            want(register, bytes_)
    found.reverse()
    return found


def pieces(op: list[str], group: list[str]) -> tuple[int, int]:
    """The bytes of the whole of a `mov` with braces, and those of one of its registers."""
    total = width(op) // 8
    return total, total // len(group)


def uses(one: Instruction, outs: list[int], out: int) -> list[tuple[str, int]]:
    """The bytes of each operand that give the wanted bytes of the result."""
    kind, ins = one.op[0], [part[0] for part in one.ins]
    if kind == "mov" and one.outs and len(one.outs[0]) > 1:
        _, size = pieces(one.op, one.outs[0])
        return [(ins[0], sum(byte << (size * at) for at, byte in enumerate(outs)))]
    if kind == "mov" and len(one.ins[0]) > 1:
        _, size = pieces(one.op, one.ins[0])
        low = (1 << size) - 1
        return [(name, out >> (size * at) & low) for at, name in enumerate(one.ins[0])]
    if kind == "cvt":
        source = re.fullmatch(r"\D(\d+)", one.op[-1])
        return [(ins[0], out & ((1 << (int(source[1]) // 8)) - 1))]
    if kind == "mov":
        return [(ins[0], out)]
    if kind in ("shl", "shr") and (by := constant(ins[1])) is not None and by % 8 == 0:
        moved = out >> (by // 8) if kind == "shl" else out << (by // 8) & FULL
        return [(ins[0], moved)]
    if kind == "and" and (mask := constant(ins[1])) is not None:
        kept = sum(1 << b for b in range(8) if mask >> (8 * b) & 0xFF)
        return [(ins[0], out & kept)]
    if kind in ("and", "or", "xor", "not"):
        return [(name, out) for name in ins]
    if kind == "selp":
        return [(ins[0], out), (ins[1], out), (ins[2], FULL if out else 0)]
    if kind == "shfl":
        return [(ins[0], out), *((name, FULL if out else 0) for name in ins[1:])]
    if kind == "prmt" and (selector := constant(ins[2])) is not None:
        need = [0, 0]
        for byte in range(4):
            if out >> byte & 1:
                chosen = selector >> (4 * byte) & 7
                need[chosen // 4] |= 1 << (chosen % 4)
        return [(ins[0], need[0]), (ins[1], need[1])]
    return [(name, FULL if out else 0) for name in ins]
