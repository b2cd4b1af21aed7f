"""Runs a text for all threads of a block, and counts."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .integers import compare, convert, ones, operate
from .memory import LANES, Memory, in_bytes, joined
from .text import Instruction, Refused, constant, demand, pieces, tainted, width
from .words import WORD, Words


@dataclass
class Counts:
    """What the text does, summed over the warps of a block."""

    warps: int
    wavefronts: int = 0
    accesses: Counter = field(default_factory=Counter)
    shuffles: int = 0
    alu: int = 0
    permutes: int = 0
    selects: int = 0
    instructions: int = 0
    warp_barriers: int = 0
    block_barriers: int = 0
    address_arithmetic: int = 0


def place(one: Instruction, count: int) -> int:
    """Which register of its layout a source defines, or a sink takes."""
    return int(one.op[2]) if len(one.op) > 2 else count


def cosets(basis: list[int]) -> list[np.ndarray]:
    """The lanes, cut into the cosets of the differences that these generate."""
    span = [0]
    for vector in basis:
        span += [other ^ vector for other in span]
    seen: set[int] = set()
    found = []
    for lane in range(LANES):
        if lane not in seen:
            found.append(np.array(sorted(lane ^ other for other in span)))
            seen.update(found[-1])
    return found


class Run:
    """One block that runs a text."""

    def __init__(self, instructions, warps: int, sources, places, size: int, machine, seed: int = 1):
        self.instructions = instructions
        self.machine = machine
        self.threads = LANES * warps
        self.warps = warps
        self.passes = sources[0].shape[0] if sources else 1
        self.sources = sources
        # The number that a source has among the registers of its layout.
        self.places = places
        # The register of each sink.
        self.sinks: dict[int, str] = {}
        self.words = Words()
        self.taken = 0
        self.memory = Memory(self.passes, size, seed)
        self.values: dict[str, np.ndarray] = {}
        self.counts = Counts(warps)
        self.time = 0
        self.fences = [0, 0]
        self.known: dict = {}
        thread = np.arange(self.threads, dtype=np.uint64)[None, :]
        zero = np.zeros((1, 1), dtype=np.uint64)
        self.special = {
            "%tid.x": thread,
            "%tid.y": zero,
            "%tid.z": zero,
            "%ctaid.x": zero,
            "%laneid": thread & np.uint64(31),
            "%ntid.x": zero + np.uint64(self.threads),
            "global_smem": zero,
            "[scratch]": zero,
        }

    def value(self, operand: str) -> np.ndarray:
        if operand in self.values:
            return self.values[operand]
        if operand in self.special:
            return self.special[operand]
        number = constant(operand)
        if number is None:
            raise Refused(f"{operand} has no value")
        return np.array([[number & (1 << 64) - 1]], dtype=np.uint64)

    def active(self, one: Instruction) -> np.ndarray:
        everyone = np.ones(self.threads, dtype=bool)
        if one.guard is None:
            return everyone
        value = self.value(one.guard.lstrip("!"))
        if value.shape[0] != 1:
            raise Refused("a guard depends on data")
        holds = np.broadcast_to(value[0] != 0, everyone.shape)
        return holds != one.guard.startswith("!")

    def run(self) -> Counts:
        data = tainted(self.instructions)
        wanted = demand(self.instructions, data)
        for one, mark, outs in zip(self.instructions, data, wanted):
            self.step(one, mark, outs)
        return self.counts

    def step(self, one: Instruction, mark: bool, outs: list[int]) -> None:
        kind, counts = one.op[0], self.counts
        if kind == "source":
            number = place(one, self.taken)
            self.define(one, self.sources[number])
            self.words.source(one.outs[0][0], self.places[number], width(one.op) // 8)
            self.taken += 1
        elif kind == "sink":
            self.sinks[place(one, len(self.sinks))] = one.ins[0][0]
        elif kind in ("bar", "barrier"):
            self.barrier(one)
        elif kind in ("ld", "st") and "shared" in "".join(one.op):
            self.access(one)
        elif kind in ("ldmatrix", "stmatrix"):
            self.matrix(one)
        elif kind == "shfl":
            self.shuffle(one)
            if mark and any(outs):
                self.permuted(self.words.shuffled(one, outs))
                counts.shuffles += self.warps
                counts.instructions += self.warps
        else:
            self.define(one, self.compute(one))
            if mark:
                packed, own = self.words.step(one, outs)
                self.permuted(packed)
                counts.alu += own * self.warps
                counts.instructions += own * self.warps
                counts.selects += own * self.warps if kind == "selp" else 0
                counts.permutes += own * self.warps if kind == "prmt" else 0
            else:
                counts.address_arithmetic += self.warps

    def permuted(self, count: int) -> None:
        """Byte permutes that fill words."""
        self.counts.permutes += count * self.warps
        self.counts.alu += count * self.warps
        self.counts.instructions += count * self.warps

    def define(self, one: Instruction, value) -> None:
        group = one.outs[0]
        values = value if isinstance(value, list) else [value]
        active = self.active(one)
        for name, part in zip(group, values):
            if name == "_":
                continue
            if not active.all() and name in self.values:
                part = np.where(active[None, :], part, self.values[name])
            self.values[name] = part

    def barrier(self, one: Instruction) -> None:
        self.time += 1
        if "warp" in one.op:
            self.fences[0] = self.time
            self.counts.warp_barriers += 1
        else:
            self.fences[1] = self.time
            self.counts.block_barriers += 1
        self.counts.instructions += self.warps

    # Integer operations, on 64 bits with the result cut to its width.

    def compute(self, one: Instruction):
        kind, op = one.op[0], one.op
        if kind == "mov" and len(one.outs[0]) > 1:
            total, size = pieces(op, one.outs[0])
            whole, bits = self.value(one.ins[0][0]), 8 * size
            return [whole >> np.uint64(bits * at) & ones(bits) for at in range(total // size)]
        if kind == "mov" and len(one.ins[0]) > 1:
            total, size = pieces(op, one.ins[0])
            whole = np.zeros((1, 1), dtype=np.uint64)
            for at, name in enumerate(one.ins[0]):
                whole = whole | (self.value(name) & ones(8 * size)) << np.uint64(8 * size * at)
            return whole
        ins = [self.value(part[0]) for part in one.ins]
        if kind == "setp":
            return compare(op, ins)
        if kind == "cvt":
            return convert(op, ins[0])
        bits = width(op)
        with np.errstate(over="ignore"):
            return operate(one, kind, op, ins, bits) & ones(bits)

    # Shared memory.

    def addresses(self, operand: str) -> np.ndarray:
        inside = operand.strip("[]")
        base, _, offset = inside.partition("+")
        value = self.value(base.strip())
        if value.shape[0] != 1:
            raise Refused("an address depends on data")
        with np.errstate(over="ignore"):
            value = value[0] + np.uint64(int(offset or "0", 0) & (1 << 64) - 1)
        return np.broadcast_to(value & ones(32), (self.threads,)).astype(np.int64)

    def access(self, one: Instruction) -> None:
        loads = one.op[0] == "ld"
        names = one.outs[0] if loads else one.ins[1]
        size = width(one.op) // 8
        total = size * len(names)
        at = self.addresses(one.ins[0][0])
        active = self.active(one)
        if np.any(at[active] % total) or np.any(at[active] + total > self.memory.bytes.shape[1]):
            raise Refused(f"an address is misaligned or outside: {one.text}")
        threads = np.arange(self.threads)
        if loads:
            whole = self.load(np.where(active, at, 0), threads, total, active)
            parts = [joined(whole[:, :, size * part : size * (part + 1)]) for part in range(len(names))]
            self.define(one, parts)
            self.words.loaded(names, size)
        else:
            self.permuted(self.words.stored(names, size))
            cut = [in_bytes(self.value(name), size, self.passes, self.threads) for name in names]
            self.store(at, threads, active, np.concatenate(cut, axis=2))
        counts = self.counts
        counts.accesses[f"{'load' if loads else 'store'} {8 * total}"] += self.warps
        counts.instructions += self.warps
        counts.wavefronts += self.wavefronts(loads, at, active, total)

    def load(self, at, threads, size: int, active) -> np.ndarray:
        """The bytes from these addresses on: by pass, thread and byte."""
        place = at[:, None] + np.arange(size)
        memory = self.memory
        touched, who = place[active].ravel(), np.repeat(threads[active], size)
        memory.check(touched, who, memory.writer, memory.written, self.fences)
        self.mark_read(touched, who)
        return memory.bytes[:, place]

    def mark_read(self, place: np.ndarray, threads: np.ndarray) -> None:
        memory = self.memory
        order = np.argsort(place, kind="stable")
        place, threads = place[order], threads[order]
        first = np.flatnonzero(np.diff(place, prepend=-1))
        low = np.minimum.reduceat(threads, first)
        high = np.maximum.reduceat(threads, first)
        where = place[first]
        # A reader, all of one warp (-32 - warp), or several warps (-2).
        warp = np.where(low // LANES == high // LANES, -LANES - low // LANES, -2)
        who = np.where(low == high, low, warp)
        # Who read since the last barrier still counts.
        recent = memory.read[where] >= self.fences[1]
        before = memory.reader[where]
        warp_of = lambda one: np.where(one >= 0, one // LANES, np.where(one <= -LANES, -one - LANES, -1))
        joined = np.where(
            before == who,
            who,
            np.where(
                (warp_of(before) == warp_of(who)) & (warp_of(who) >= 0), -LANES - warp_of(who), -2
            ),
        )
        memory.reader[where] = np.where(recent, joined, who)
        memory.read[where] = self.time

    def store(self, at, threads, active, value: np.ndarray) -> None:
        """Puts bytes, by pass, thread and byte, to these addresses and those that follow."""
        memory, size = self.memory, value.shape[2]
        place = (at[active][:, None] + np.arange(size)).ravel()
        who = np.repeat(threads[active], size)
        memory.check(place, who, memory.writer, memory.written, self.fences)
        memory.check(place, who, memory.reader, memory.read, self.fences)
        new = value[:, active].reshape(self.passes, -1)
        memory.bytes[:, place] = new
        # Two threads that write one byte must write the same.
        if np.any(memory.bytes[:, place] != new):
            raise Refused("two lanes write different values to one byte")
        memory.writer[place] = who
        memory.written[place] = self.time

    def wavefronts(self, loads: bool, at, active, total: int) -> int:
        """By brute force, phase after phase: the most distinct words in one bank."""
        counted = 0
        for warp in range(self.warps):
            lanes = slice(warp * LANES, (warp + 1) * LANES)
            key = (loads, total, at[lanes].tobytes(), active[lanes].tobytes())
            if key not in self.known:
                self.known[key] = self.warp_wavefronts(loads, at[lanes], active[lanes], total)
            counted += self.known[key]
        return counted

    def warp_wavefronts(self, loads: bool, at, active, total: int) -> int:
        phases, width = self.machine["phases"], total
        merging = phases["merging"]
        if loads and active.all() and merging and total >= merging["from_bytes"]:
            lanes = np.arange(LANES)
            if any(np.array_equal(at, at[lanes ^ 1 << bit]) for bit in merging["lane_bits"]):
                width //= 2
        counted = 0
        for together in cosets(phases["load" if loads else "store"][str(width)]):
            base = at[together][active[together]] // WORD
            counted += self.conflicts(base[:, None] + np.arange(max(1, total // WORD))[None, :])
        return counted

    def conflicts(self, words: np.ndarray) -> int:
        """The most distinct words in one bank."""
        banks = np.unique(words) % self.machine["banks"]
        return int(np.bincount(banks).max()) if len(banks) else 0

    # Matrices of 8 x 8 registers of 16 bits.

    def matrix(self, one: Instruction) -> None:
        loads = one.op[0] == "ldmatrix"
        if "m8n8" not in one.op or "b16" not in one.op:
            raise Refused(f"{one.text}: no such matrix move is known")
        names = one.outs[0] if loads else one.ins[1]
        at = self.addresses(one.ins[0][0])
        active = self.active(one)
        warps = np.flatnonzero(active[::LANES])
        if np.any(active != np.repeat(active[::LANES], LANES)):
            raise Refused("a matrix move that not all lanes of a warp take part in")
        trans = "trans" in one.op
        lanes = np.arange(self.threads)
        warp, lane = lanes // LANES, lanes % LANES
        high = lane // 4, lane % 4 * 2
        values = []
        counts = self.counts
        for index, name in enumerate(names):
            value = np.zeros((self.passes, self.threads), dtype=np.uint64)
            for half in range(2):
                # The lane holds elements (row, column) and (row, column + 1) of the matrix.
                row, column = high[0], high[1] + half
                if trans:
                    row, column = column, row
                giver = warp * LANES + 8 * index + row
                place = at[giver] + 2 * column
                outside = place + 2 > self.memory.bytes.shape[1]
                if np.any((at[giver] % 16 != 0) & active) or np.any(outside & active):
                    raise Refused(f"a row is misaligned or outside: {one.text}")
                if loads:
                    part = joined(self.load(place, lanes, 2, active))
                    value |= part << np.uint64(16 * half)
                else:
                    part = self.value(name) >> np.uint64(16 * half)
                    cut = in_bytes(part, 2, self.passes, self.threads)
                    self.store(place, lanes, active, cut)
            values.append(value)
            for one_warp in warps:
                rows = at[one_warp * LANES + 8 * index + np.arange(8)] // WORD
                counts.wavefronts += self.conflicts(rows[:, None] + np.arange(4)[None, :])
        if loads:
            self.define(one, values)
            self.words.loaded(names, WORD)
        else:
            self.permuted(self.words.stored(names, WORD))
        counts.accesses[f"{one.op[0]} x{len(names)}{' trans' if trans else ''}"] += self.warps
        counts.instructions += self.warps

    def shuffle(self, one: Instruction) -> None:
        value = self.value(one.ins[0][0])
        value = np.broadcast_to(value, (value.shape[0], self.threads))
        other = np.broadcast_to(self.value(one.ins[1][0])[0], (self.threads,)).astype(np.int64)
        if constant(one.ins[2][0]) not in (31, 0x1F):
            raise Refused(f"{one.text}: a shuffle within part of a warp")
        lanes = np.arange(self.threads)
        lane = lanes % LANES
        if "idx" in one.op:
            chosen = other & 31
        elif "bfly" in one.op:
            chosen = lane ^ other & 31
        else:
            raise Refused(f"{one.text}: no such shuffle is known")
        self.values[one.outs[0][0]] = value[:, lanes - lane + chosen]
