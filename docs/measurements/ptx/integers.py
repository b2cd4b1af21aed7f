"""The integer operations of PTX, on 64 bits with the result cut to its width."""

import numpy as np

from .text import Instruction, Refused, width


def ones(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def signed(value: np.ndarray, bits: int) -> np.ndarray:
    shift = np.uint64(64 - bits)
    return (value << shift).view(np.int64) >> np.int64(64 - bits)


def compare(op: list[str], ins: list[np.ndarray]) -> np.ndarray:
    bits = width(op)
    a, b = ins[0] & ones(bits), ins[1] & ones(bits)
    if op[-1].startswith("s"):
        a, b = signed(a, bits), signed(b, bits)
    tests = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    if op[1] not in tests or len(ins) != 2:
        raise Refused(f"{'.'.join(op)} is not known")
    return tests[op[1]](a, b).astype(np.uint64)


def convert(op: list[str], value: np.ndarray) -> np.ndarray:
    to, source = op[-2], op[-1]
    if to[0] not in "bus" or source[0] not in "bus":
        raise Refused(f"{'.'.join(op)} is not known")
    bits = int(source[1:])
    value = value & ones(bits)
    if source[0] == "s":
        value = signed(value, bits).view(np.uint64)
    return value & ones(int(to[1:]))


def operate(one: Instruction, kind: str, op: list[str], ins: list[np.ndarray], bits: int) -> np.ndarray:
    cut = [value & ones(bits) for value in ins]
    if kind in ("mov", "cvta") or (kind == "ld" and "param" in op):
        return cut[0]
    if kind == "not":
        return ~cut[0]
    if kind == "neg":
        return np.uint64(0) - cut[0]
    if kind in ("and", "or", "xor", "add", "sub"):
        a, b = cut
        return {"and": a & b, "or": a | b, "xor": a ^ b, "add": a + b, "sub": a - b}[kind]
    if kind in ("mul", "mad"):
        if "wide" in op:
            raise Refused(f"{one.text} is not known")
        product = cut[0] * cut[1]
        return product + cut[2] if kind == "mad" else product
    if kind in ("shl", "shr"):
        by = np.minimum(ins[1] & ones(32), np.uint64(63))
        gone = (ins[1] & ones(32)) >= np.uint64(bits)
        if kind == "shl":
            return np.where(gone, np.uint64(0), cut[0] << by)
        if op[-1].startswith("s"):
            by = np.minimum(by, np.uint64(bits - 1))
            return (signed(cut[0], bits) >> by.astype(np.int64)).view(np.uint64)
        return np.where(gone, np.uint64(0), cut[0] >> by)
    if kind == "bfe":
        start, length = ins[1] & np.uint64(0xFF), ins[2] & np.uint64(0xFF)
        part = cut[0] >> start & ((np.uint64(1) << length) - np.uint64(1))
        if op[-1].startswith("s"):
            top = np.uint64(1) << (length - np.uint64(1))
            return (part ^ top) - top
        return part
    if kind == "bfi":
        start, length = ins[2] & np.uint64(0xFF), ins[3] & np.uint64(0xFF)
        mask = ((np.uint64(1) << length) - np.uint64(1)) << start
        return cut[1] & ~mask | cut[0] << start & mask
    if kind == "selp":
        return np.where(ins[2] != 0, cut[0], cut[1])
    if kind == "prmt" and op == ["prmt", "b32"]:
        pair = cut[0] | cut[1] << np.uint64(32)
        result = np.zeros((1, 1), dtype=np.uint64)
        for byte in range(4):
            chosen = ins[2] >> np.uint64(4 * byte) & np.uint64(0xF)
            part = pair >> (np.uint64(8) * (chosen & np.uint64(7))) & ones(8)
            sign = np.where(part >> np.uint64(7) != 0, np.uint64(0xFF), np.uint64(0))
            part = np.where(chosen >= 8, sign, part)
            result = result | part << np.uint64(8 * byte)
        return result
    if kind == "lop3":
        table = int(one.ins[3][0], 0)
        a, b, c = cut[:3]
        result = np.zeros((1, 1), dtype=np.uint64)
        for row in range(8):
            if table >> row & 1:
                parts = [x if row >> at & 1 else ~x for x, at in ((a, 2), (b, 1), (c, 0))]
                result = result | parts[0] & parts[1] & parts[2]
        return result
    raise Refused(f"{one.text} is not known")
