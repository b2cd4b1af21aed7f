"""Shared memory of one block, byte by byte, with who touched what."""

import numpy as np

from .integers import ones
from .text import Refused

LANES = 32


def in_bytes(value: np.ndarray, size: int, passes: int, threads: int) -> np.ndarray:
    """The lowest bytes of a register: by pass, thread and byte."""
    parts = value[:, :, None] >> (np.uint64(8) * np.arange(size, dtype=np.uint64)) & ones(8)
    return np.broadcast_to(parts.astype(np.uint8), (passes, threads, size))


def joined(parts: np.ndarray) -> np.ndarray:
    """The registers that these bytes make."""
    value = np.zeros(parts.shape[:2], dtype=np.uint64)
    for byte in range(parts.shape[2]):
        value |= parts[:, :, byte].astype(np.uint64) << np.uint64(8 * byte)
    return value


class Memory:
    """Shared memory of one block, in every pass, with who wrote and read each byte last."""

    def __init__(self, passes: int, size: int, seed: int):
        noise = np.random.default_rng(seed)
        self.bytes = noise.integers(0, 256, (passes, size), dtype=np.uint8)
        self.writer = np.full(size, -1)
        self.written = np.full(size, -1)
        self.reader = np.full(size, -1)
        self.read = np.full(size, -1)

    def check(self, at: np.ndarray, threads: np.ndarray, who: np.ndarray, when: np.ndarray, fences) -> None:
        """Whether everybody who touched these bytes before is behind a barrier."""
        last, time = who[at], when[at]
        other = (last != threads) & (time >= 0)
        # Several readers are nobody in particular, of this warp or of others.
        same_warp = (last >= 0) & (last // LANES == threads // LANES) | (last <= -LANES) & (
            -last - LANES == threads // LANES
        )
        passed = np.where(same_warp, max(fences), fences[1])
        if np.any(other & (passed <= time)):
            raise Refused("two threads touch one byte without a barrier between them")
