from collections.abc import Callable, Sequence

def invoke(request: str) -> str:
    """Answers a request, both of them JSON texts."""

class Kernel:
    """A kernel that is compiled once and launched on the simulator as often as somebody asks.

    What is wrong with a request is raised as a `ValueError` whose text is an error answer.
    """

    def __init__(
        self,
        ttir: str,
        *,
        target: str,
        kernel: str | None = None,
        warps: int | None = None,
        stages: int | None = None,
    ) -> None: ...
    @property
    def symbol(self) -> str:
        """The name under which a driver finds the kernel in its PTX."""
    @property
    def warps(self) -> int:
        """Warps in a block."""
    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory that a launch must give."""
    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The name of each parameter, and its type as Triton writes it."""
    def ptx(self) -> str:
        """The PTX text."""
    def launch(
        self,
        grid: tuple[int, int, int],
        arguments: Sequence[tuple[int, int] | int | float],
        buffers: Sequence[tuple[str, object]],
        watcher: Callable[[int, int, int], object] | None = None,
    ) -> str:
        """Runs the kernel on the simulator, and returns the answer as a JSON text.

        A pointer is the number of a buffer and the byte in it; a buffer is its name in reports and
        an object with the buffer protocol. The watcher hears of the blocks that have ended, all
        blocks, and the warp instructions until then; what it raises ends the run.
        """
