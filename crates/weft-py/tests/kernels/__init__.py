"""A case for every kernel of the repository's folder `kernels`: a launch on small ragged arrays, and
what NumPy says it is to leave in them.

A module here has the cases of the file of its name there. A case is a function named as its kernel:

    @case
    def vector_triad(draw):
        x, y, out = draw.normal(1500), draw.normal(1500), blank(1500)
        wanted = near(out, ..., x + 1.5 * y, …)
        return Case((2,), dict(x=x, y=y, out=out, factor=1.5, n=1500), dict(out=wanted))

`tests/test_kernels.py` launches them on the simulator, `docs/measurements/kernels_through_triton.py`
on a GPU.
"""

import importlib

from kernels.table import CASES, Entry, FOLDER

FILES = sorted(path.stem for path in FOLDER.glob("*.py"))
for file in FILES:
    importlib.import_module(f"{__name__}.{file}")

__all__ = ["CASES", "FILES", "FOLDER", "Entry"]
