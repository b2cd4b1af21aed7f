"""Triton kernels compiled by Weft, on a GPU or on the simulator.

One line, before the first launch:

    >>> import weft.triton
    >>> weft.triton.install()                    # doctest: +SKIP

From then on `@triton.jit` functions are compiled by Weft: Triton's front end reads them and makes its
IR, Weft makes PTX of that, and Triton's own runtime assembles, caches, tunes and launches it. Without
a GPU, `install(device="simulator")` runs the same compiled programs on Weft's simulator, on NumPy
arrays and on PyTorch's tensors of the CPU; `last_report()` says what a launch cost and what was wrong
with it.

`uninstall()` ends it, `with enabled():` does it for a while, and `WEFT_DISABLE=1` in the environment
makes `install()` do nothing. `WEFT_TRITON=1` in the environment installs it in every process that
imports Triton; `status()` tells which kernels were compiled by whom.
"""

from weft.triton import _install
from weft.triton._arguments import Array, array
from weft.triton._compiler import KernelError
from weft.triton._install import enabled, install, installed, status, uninstall
from weft.triton._report import Finding, LaunchError, LaunchWarning, Report
from weft.triton._simulator import last_report
from weft.triton._status import Compilation, Status

__all__ = [
    "Array",
    "Compilation",
    "Finding",
    "KernelError",
    "LaunchError",
    "LaunchWarning",
    "Report",
    "Status",
    "array",
    "enabled",
    "install",
    "installed",
    "last_report",
    "status",
    "uninstall",
]

_install.install_as_asked()
