from collections.abc import Callable, Sequence
from typing import Any

Axes = Sequence[tuple[str, int]]

__version__: str

def invoke(request: str) -> str:
    """Answers a request, both of them JSON texts."""

class Kernel:
    """A kernel that is compiled once and launched on the simulator as often as somebody asks.

    What is wrong is raised as a `weft.WeftError`.
    """

    def __init__(
        self,
        ttir: str,
        *,
        target: str,
        kernel: str | None = None,
        warps: int | None = None,
        stages: int | None = None,
        fp_fusion: bool | None = None,
        max_registers: int | None = None,
        line_info: bool = False,
        tensor_maps: str | None = None,
        scratch: bool = False,
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
    def scratch_bytes(self) -> int:
        """Bytes of global memory that a launch must give each block, at a multiple of 128, for tensor maps that it
        makes."""
    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The name of each parameter, and its type as Triton writes it."""
    @property
    def tensor_maps(self) -> list[tuple[str, int, list[int], int, bool] | None]:
        """For each descriptor that the kernel is given the tensor map that its program takes in the place of the
        descriptor's parts: the type of its elements and the bytes of one, the sides of a box, outermost first, the
        bytes within which a swizzle moves pieces of 16 bytes, and whether blocks are stored through it."""
    def ptx(self) -> str:
        """The PTX text."""
    def second_ptx(self, blocks: int, sparing: bool) -> str:
        """The PTX text for so many blocks on a multiprocessor, in the order that needs fewer registers or not."""
    def parked_ptx(
        self, registers: int, stack_bytes: int, blocks: int | None, sparing: bool
    ) -> tuple[str, int, int] | None:
        """The PTX text that parks words in shared memory, if there are words to park and each thread was given so many
        registers and so many bytes of a stack; then the bytes of shared memory that a block of it takes, and those
        that each thread parks."""
    def sparing_ptx(self, registers: int, stack_bytes: int) -> str | None:
        """The PTX text in the order that needs fewer registers, if there is one and more registers, or more
        blocks, would help where each thread was given so many registers and so many bytes of a stack."""
    def has_more(self, found: int, before: int) -> bool:
        """Whether more blocks run on a multiprocessor where each thread has `found` registers than where it has
        `before`, and no less of what they load is under way at once."""
    def loads_more(self, found: int, before: int) -> bool:
        """Whether more of what is loaded is under way at once on a multiprocessor where each thread has `found` registers
        than where it has `before`."""
    def second_assembly(self, registers: int, stack_bytes: int) -> int | None:
        """For how many blocks on a multiprocessor the PTX had better be assembled again, where each thread
        was given so many registers and so many bytes of a stack; `None` where that will do."""
    def launch(
        self,
        grid: tuple[int, int, int],
        arguments: Sequence[tuple[int, int] | int | float],
        buffers: Sequence[tuple[str, object]],
        watcher: Callable[[int, int, int], object] | None = None,
        *,
        equal_stores: str = "note",
    ) -> str:
        """Runs the kernel on the simulator, and returns the answer as a JSON text.

        A pointer is the number of a buffer and the byte in it; a buffer is its name in reports and
        an object with the buffer protocol. The watcher hears of the blocks that have ended, all
        blocks, and the warp instructions until then; what it raises ends the run. Stores of one value
        to one byte that nothing orders are a `note`, or a `race`.
        """


class Layout:
    """A linear layout: an F2-linear map between labelled spaces, such as from the registers, lanes and
    warps of a block to the places of a tensor.

    It is read from any text of a layout: bases, an attribute of Triton's or a layout of CuTe's; or from
    the image of each bit of each axis. An attribute and bases need the tensor's shape.
    """

    def __init__(
        self, source: str | Sequence[tuple[str, Sequence[Sequence[int]]]], shape: Sequence[int] | None = None
    ) -> None: ...
    @staticmethod
    def identity(bits: int, input: str, output: str) -> Layout:
        """The map that leaves every bit as it is, from one axis to another."""
    @staticmethod
    def zeros(ins: Axes, outs: Axes) -> Layout:
        """The map that takes everything to 0."""
    @property
    def ins(self) -> dict[str, int]:
        """The axes that it maps from, with the bits of each, the least significant first."""
    @property
    def outs(self) -> dict[str, int]:
        """The axes that it maps to, with the bits of each, the least significant first."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of what it maps to; of a tensor, its extents."""
    @property
    def bases(self) -> dict[str, list[list[int]]]:
        """The image of each bit of each axis: a list of coordinates, those of a tensor `dim0`
        first."""
    def matrix(self) -> Any:
        """The matrix, least significant bits first: an array of `numpy`'s of zeros and ones with a
        column for each bit of the input."""
    def apply(self, **coordinates: Any) -> dict[str, Any]:
        """Where a place goes: the coordinates along each output axis, by name. Coordinates are
        numbers or arrays of them; an axis that is not given is at 0."""
    def apply_flat(self, place: Any) -> Any:
        """Where a place goes, both as one number, first axes least significant; a tensor's is the
        row-major index. Numbers or arrays of them."""
    @property
    def rank(self) -> int:
        """The dimension of what it reaches."""
    def is_surjective(self) -> bool:
        """Whether it reaches every place."""
    def is_injective(self) -> bool:
        """Whether no two places go to one."""
    def is_invertible(self) -> bool:
        """Whether it has an inverse."""
    def is_distributed(self) -> bool:
        """Whether registers, lanes, warps and blocks hold a tensor: surjective, every basis a
        power of two or zero, none but zero twice."""
    def is_memory_layout(self) -> bool:
        """Whether it is a memory layout: invertible, each basis of one bit or two."""
    def is_identity_on(self, axis: str) -> bool:
        """Whether the axis of this name goes to the axis of the same name, bit by bit."""
    def free_mask(self, axis: str) -> int:
        """The bits of an input axis that make only copies."""
    def contiguous_run(self, input: str, output: str) -> int:
        """How many neighbours along the output axis neighbours along the input axis are."""
    def compose(self, outer: Layout) -> Layout:
        """This one first, then `outer`."""
    def product(self, other: Layout) -> Layout:
        """Both side by side: the bits of `other` above those of this one."""
    def __mul__(self, other: Layout) -> Layout: ...
    def divide_left(self, divisor: Layout) -> Layout:
        """The layout whose product with `divisor` on the left is this one."""
    def divide_right(self, divisor: Layout) -> Layout:
        """The layout whose product with `divisor` on the right is this one."""
    def invert(self) -> Layout:
        """Its inverse."""
    def right_inverse(self) -> Layout:
        """A map back from every place that it reaches all of, with the fewest bits."""
    def solve(self, to: Layout) -> Layout:
        """The map `x` with `x.compose(to) == self`, as local as there is one."""
    def quotient(self, axes: Sequence[str]) -> Layout:
        """What is left without axes that are the identity."""
    def sublayout(self, ins: Sequence[str], outs: Sequence[str]) -> Layout:
        """The part from some input axes to some output axes."""
    def restrict_ins(self, ins: Sequence[str]) -> Layout:
        """The layout on some of its input axes."""
    def concat_ins(self, other: Layout) -> Layout:
        """The input axes of both, side by side."""
    def concat_outs(self, other: Layout) -> Layout:
        """The output axes of both, side by side."""
    def transpose_ins(self, order: Sequence[str]) -> Layout:
        """Its input axes in another order."""
    def transpose_outs(self, order: Sequence[str]) -> Layout:
        """Its output axes in another order."""
    def reshape_ins(self, ins: Axes) -> Layout:
        """The same bits under other input axes."""
    def reshape_outs(self, outs: Axes) -> Layout:
        """The same bits under other output axes."""
    def rename_in(self, old: str, new: str) -> Layout:
        """An input axis under another name."""
    def rename_out(self, old: str, new: str) -> Layout:
        """An output axis under another name."""
    def resize_in(self, axis: str, bits: int) -> Layout:
        """An input axis with more or fewer bits; new ones make copies."""
    def resize_out(self, axis: str, bits: int) -> Layout:
        """An output axis with more or fewer bits."""
    def without_copies(self, axis: str) -> Layout:
        """Without the bits of an input axis that only make copies along it."""
    def transpose(self, order: Sequence[int]) -> Layout:
        """The layout of the tensor with its axes in another order."""
    def reshape(self, shape: Sequence[int]) -> Layout:
        """The layout of the tensor under another shape, its elements in row-major order."""
    def expand_dims(self, axis: int) -> Layout:
        """The layout of the tensor with a new axis of one element."""
    def slice(self, axis: int) -> Layout:
        """The layout of the tensor without an axis: what a reduction along it leaves."""
    def broadcast(self, shape: Sequence[int]) -> Layout:
        """The layout of the tensor with axes of one element repeated."""
    def join(self) -> Layout:
        """The layout of two such tensors joined along a new last axis."""
    def split(self) -> Layout:
        """The layout of each half of a tensor split along its last axis of two."""
    def cut_to(self, shape: Sequence[int]) -> Layout:
        """The layout of a tensor that is nowhere larger: what lies beyond it becomes copies."""
    def names(self, element_bits: int | None = None) -> list[tuple[str, str]]:
        """What it is called in the terms of others: `triton`, `cute`, `tma swizzle`, …"""
    def picture(
        self,
        kind: str = "grid",
        *,
        svg: bool = False,
        element: str | None = None,
        target: str | None = None,
        all: bool = False,
    ) -> str:
        """A picture of it, as the text of an SVG file or for a terminal: `kind` is `grid`,
        `hardware`, `banks` or `matrix`."""
    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
