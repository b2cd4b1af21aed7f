"""Runs the PTX of one conversion for all lanes and warps of a block, and counts what it does.

A kernel gets its data from `source.bN %r;` (the k-th one defines register k of the first layout) and
gives it away by `sink.bN %r;` (the k-th one takes register k of the second); a device function gets them
as the array `from` and leaves them in the array `to`. Every byte of every element has a
number; a pass gives each one eight bits of its number as its value, and as many passes run side by side
as the numbers have bytes. A text that leaves every number in its place has moved every byte rightly.

What is counted, for both sides alike:

* accesses of shared memory with their wavefronts, from the addresses that the lanes really had, by brute
  force under the machine's phase rule; matrix moves take their rows matrix by matrix;
* shuffles of data, a word each;
* arithmetic on data: selects, and whatever else depends on the thread, one a 32-bit word; and the byte
  permutes that must put bytes into words before they are stored, sent, chosen or given out (`words`);
* barriers of warps and of blocks.

An operation whose result nobody uses is free. Address arithmetic does not depend on the data and leaves loops: it is
counted apart and has no price. A read of a byte that another thread wrote, without a barrier between the
two, is an error, and so are a write over what may still be read, and an address outside or misaligned.
"""

from collections import Counter

import numpy as np

from .integers import ones
from .memory import LANES
from .run import Counts, Run
from .text import Refused, read
def patterns(elements: np.ndarray, bits: int, size: int) -> list[np.ndarray]:
    """For each register of a layout its values in every pass, from the element of each thread."""
    bytes_ = bits // 8
    passes = next(p for p in range(1, 9) if 256**p > size * bytes_)
    number = elements[:, None, :] * bytes_ + 1
    shift = (8 * np.arange(passes))[None, :, None]
    value = np.zeros((elements.shape[0], passes, elements.shape[1]), dtype=np.uint64)
    for byte in range(bytes_):
        part = (number + byte >> shift & 0xFF).astype(np.uint64)
        value |= part << np.uint64(8 * byte)
    return list(value)


def in_text(registers: list[np.ndarray], count: int) -> list[int]:
    """The registers of a layout as a text counts them: all, or the first of those that are alike."""
    if count == len(registers):
        return list(range(count))
    first: dict[bytes, int] = {}
    for number, register in enumerate(registers):
        first.setdefault(register.tobytes(), number)
    if count != len(first):
        raise Refused(f"{count} registers instead of {len(registers)}")
    return list(first.values())


def judge(
    text: str, bits: int, source: np.ndarray, target: np.ndarray, size: int, shared: int, machine: dict
) -> Counts:
    """Runs a text that moves `size` elements of `bits` bits and says what it cost.

    `source` and `target` say which element each register (row) of each thread (column) holds. Raises
    `Refused` where an element ends in a wrong place."""
    instructions = read(text)
    kinds = Counter(one.op[0] for one in instructions)
    given, wanted = patterns(source, bits, size), patterns(target, bits, size)
    numbered = any(len(one.op) > 2 for one in instructions if one.op[0] == "source")
    places = list(range(len(given))) if numbered else in_text(given, kinds["source"])
    run = Run(instructions, source.shape[1] // LANES, [given[at] for at in places], places, shared, machine)
    counts = run.run()
    # The sink that has what each register of the layout should hold.
    sinks = {}
    for number, register in enumerate(in_text(wanted, kinds["sink"])):
        if np.any((run.value(run.sinks[number]) & ones(bits)) != wanted[register]):
            raise Refused(f"register {register} of the result holds other elements")
        sinks[wanted[register].tobytes()] = run.sinks[number]
    run.permuted(run.words.stored([sinks[register.tobytes()] for register in wanted], bits // 8))
    return counts


def price(counts: Counts, prices: dict) -> float:
    """Hundredths of a cycle a warp: the busiest pipe, and barriers; a warp has its share of a block's."""
    warps = counts.warps
    memory = counts.wavefronts * prices["wavefront"] + counts.shuffles * prices["shuffle"]
    pipes = max(memory, counts.alu * prices["alu"], counts.instructions * prices["issue"]) / warps
    block = (prices["block_barrier"] + prices["block_barrier_per_warp"] * warps) // warps
    return pipes + counts.warp_barriers * prices["warp_barrier"] + counts.block_barriers * block
