"""Weft: a tile compiler whose layouts are matrices over F2.

A `Layout` is a linear map over F2 between labelled spaces, with every operator of the engine; what the
command answers is asked with functions of the same names:

    >>> import weft
    >>> tile = weft.Layout(
    ...     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], "
    ...     "warpsPerCTA = [1, 1], order = [1, 0]}>", shape=[8, 16])
    >>> tile.apply(register=1, lane=2)
    {'dim0': 0, 'dim1': 9}
    >>> weft.convert(tile, tile.transpose([1, 0]).transpose([1, 0])).cost
    0

`weft.triton` compiles and runs the kernels of a Triton program. `invoke` takes any request as a
dictionary and gives its answer as one, to the byte that of the command's `--json`.
"""

from weft._weft import Layout, __version__
from weft.errors import WeftError
from weft.questions import Answer, compile, conflicts, convert, explain, machines, port, swizzle
from weft.requests import invoke

__all__ = [
    "Answer",
    "Layout",
    "WeftError",
    "__version__",
    "compile",
    "conflicts",
    "convert",
    "explain",
    "invoke",
    "machines",
    "port",
    "swizzle",
]
