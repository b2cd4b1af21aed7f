"""Where the bytes of data stand, and what it takes to put them into words.

Elements narrower than 32 bits live in words: those of the two layouts in the order of their registers,
those of an access in the order of their addresses. So each byte of a register is a byte of some word, and
an instruction that only renames registers or moves bytes, the same way in every thread, moves nothing by
itself. Instructions are due where a word is needed as a whole (stored, sent, chosen, given out) whose bytes
stand elsewhere: none where it is a word already, one byte permute for bytes of two words, up to three for
bytes of four, of which two halves may serve another word too.

That is the least that an assembler must emit, whatever the text writes, and it is how the planner prices its
own steps; it is written here once more, from a text's instructions instead of a plan's steps.
"""

from .text import Instruction, constant, uses, width

WORD = 4
ZERO = -1
"""A byte that is zero in every thread. Other bytes are four times the number of their word and their place
in it; `None` is a byte that nobody looks at."""

Byte = int | None


class Words:
    """The bytes of all registers that hold data."""

    def __init__(self):
        self.count = 0
        self.bytes: dict[str, list[Byte]] = {}
        # The words that were put together, and the pairs of halves.
        self.made: set[tuple[Byte, ...]] = set()
        self.words: dict[object, int] = {}

    def number(self, name: object = None) -> int:
        """The number of a new word, or of the one with this name."""
        if name in self.words:
            return self.words[name]
        self.count += 1
        if name is not None:
            self.words[name] = self.count
        return self.count

    def fresh(self, size: int) -> list[Byte]:
        """Bytes one after the other in words of their own."""
        starts = [self.number() * WORD for _ in range(0, size, WORD)]
        return [starts[at // WORD] + at % WORD for at in range(size)]

    def source(self, register: str, index: int, size: int) -> None:
        """A register of the first layout, by its number there."""
        places = range(index * size, (index + 1) * size)
        self.bytes[register] = [
            self.number(("source", at // WORD)) * WORD + at % WORD for at in places
        ]

    def of(self, register: str, wanted: int, size: int) -> list[Byte]:
        """The bytes of a register of which some are wanted."""
        found = self.bytes.get(register)
        if found is None:
            value = constant(register)
            found = [ZERO] * size if value == 0 else []
        found = found + [ZERO] * (size - len(found))
        return [found[at] if wanted >> at & 1 else None for at in range(size)]

    def whole(self, bytes_: list[Byte]) -> int:
        """The instructions that make words of these bytes."""
        return sum(self.word(tuple(bytes_[at : at + WORD])) for at in range(0, len(bytes_), WORD))

    def word(self, bytes_: tuple[Byte, ...]) -> int:
        bytes_ += (None,) * (WORD - len(bytes_))
        words = words_of(bytes_)
        if words in ([], [ZERO // WORD]):
            return 0
        if len(words) == 1 and all(b is None or b % WORD == at for at, b in enumerate(bytes_)):
            return 0
        if bytes_ in self.made:
            return 0
        self.made.add(bytes_)
        taken = 1
        if len(words) > 2:
            for half in (bytes_[:2], bytes_[2:]):
                pair = with_neighbours(half)
                if len(words_of(half)) > 1 and pair not in self.made:
                    self.made.add(pair)
                    taken += 1
        return taken

    def loaded(self, registers: list[str], size: int) -> None:
        """Registers of `size` bytes come from memory one after the other."""
        bytes_ = self.fresh(size * len(registers))
        for at, register in enumerate(registers):
            self.bytes[register] = bytes_[size * at : size * (at + 1)]

    def stored(self, registers: list[str], size: int) -> int:
        """The instructions that put registers of `size` bytes one after the other into words."""
        every = (1 << size) - 1
        return self.whole([byte for register in registers for byte in self.of(register, every, size)])

    def shuffled(self, one: Instruction, outs: list[int]) -> int:
        """The instructions that make a word of what is exchanged."""
        taken = self.whole(self.of(one.ins[0][0], outs[0], WORD))
        self.bytes[one.outs[0][0]] = self.fresh(WORD)
        return taken

    def step(self, one: Instruction, outs: list[int]) -> tuple[int, int]:
        """What an instruction on data takes, of whose results these bytes are used: for the words of
        its operands, and itself."""
        if not any(outs):
            return 0, 0
        if moved := self.moved(one, outs):
            for register, bytes_ in zip(one.outs[0], moved):
                self.bytes[register] = bytes_
            return 0, 0
        size = max(1, width(one.op) // 8)
        packed = 0
        for register, wanted in uses(one, outs, outs[0]):
            if register in self.bytes:
                packed += self.whole(self.of(register, wanted, size))
        [result] = one.outs[0]
        self.bytes[result] = self.fresh(size)
        return packed, max(1, size // WORD)

    def moved(self, one: Instruction, outs: list[int]) -> list[list[Byte]] | None:
        """The bytes of the results, where the instruction only moves bytes."""
        kind, ins, op = one.op[0], [part[0] for part in one.ins], one.op
        if one.guard is not None:
            return None
        if kind == "mov":
            size = width(op) // 8
            each = size // len(one.ins[0])
            every = (1 << each) - 1
            whole = [byte for name in one.ins[0] for byte in self.of(name, every, each)]
            out = size // len(one.outs[0])
            return [whole[out * at : out * (at + 1)] for at in range(len(one.outs[0]))]
        if kind == "cvt":
            to, source = (int(name[1:]) // 8 for name in op[-2:])
            if op[-1][0] == "s" and to > source and outs[0] >> source:
                return None
            found = self.of(ins[0], (1 << source) - 1, source)
            return [[*found[:to], *[ZERO] * (to - source)]]
        size = width(op) // 8
        every = (1 << size) - 1
        if kind == "prmt" and (selector := constant(ins[2])) is not None:
            pair = [byte for name in ins[:2] for byte in self.of(name, 0xF, WORD)]
            chosen = [selector >> (4 * at) & 0xF for at in range(WORD)]
            signs = any(one > 7 for at, one in enumerate(chosen) if outs[0] >> at & 1)
            return None if signs else [[pair[one & 7] for one in chosen]]
        if kind in ("shl", "shr") and (by := constant(ins[1])) is not None and by % 8 == 0:
            if kind == "shr" and op[-1][0] == "s":
                return None
            found, gone = self.of(ins[0], every, size), min(by // 8, size)
            empty: list[Byte] = [ZERO] * gone
            return [(empty + found)[:size] if kind == "shl" else found[gone:] + empty]
        if kind == "and" and (mask := constant(ins[1])) is not None:
            parts = [mask >> (8 * at) & 0xFF for at in range(size)]
            if all(part in (0, 0xFF) for at, part in enumerate(parts) if outs[0] >> at & 1):
                found = self.of(ins[0], every, size)
                return [[byte if part else ZERO for byte, part in zip(found, parts)]]
        if kind in ("or", "xor", "add"):
            a, b = (self.of(name, every, size) for name in ins)
            known = all(name in self.bytes or constant(name) == 0 for name in ins)
            apart = all(
                ZERO in pair for at, pair in enumerate(zip(a, b)) if outs[0] >> at & 1
            )
            if known and apart:
                return [[y if x == ZERO else x for x, y in zip(a, b)]]
        return None


def words_of(bytes_) -> list[int]:
    """The different words of bytes."""
    return list(dict.fromkeys(byte // WORD for byte in bytes_ if byte is not None))


def with_neighbours(pair) -> tuple[Byte, ...]:
    """A pair of bytes of two words, and the pair beside it."""
    other = tuple(byte if byte in (None, ZERO) else byte ^ 1 for byte in pair)
    first = pair[0]
    odd = first is not None and first != ZERO and first & 1
    return other + tuple(pair) if odd else tuple(pair) + other
