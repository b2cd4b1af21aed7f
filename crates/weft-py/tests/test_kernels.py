"""The repository's kernels, launched through `@triton.jit` on the simulator, against NumPy."""

import functools
import os

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import pytest

for package in ("numpy", "triton", "ml_dtypes", "mpmath"):
    pytest.importorskip(package)

import weft.triton

from kernels import CASES, FILES
from kernels.launch import launched, Simulator, source, Unaligned, verdicts


@pytest.fixture(autouse=True)
def simulator():
    with weft.triton.enabled(device="simulator"):
        yield


def parameters():
    for name, entry in CASES.items():
        marks = [pytest.mark.small] if entry.small else []
        yield pytest.param(name, id=f"{entry.file}-{name}", marks=marks)


@functools.cache
def case_of(name):
    return CASES[name].case()


def hold(name, device):
    case = case_of(name)
    results, printed = launched(name, case, device)
    wrong = [f"`{array}`: {verdict.message}" for array, verdict in verdicts(case, results).items() if not verdict.right]
    assert not wrong, "\n".join(wrong)
    assert case.printed is None or case.printed(printed), printed


@pytest.mark.parametrize("name", list(parameters()))
def test_a_kernel_leaves_what_numpy_says(name):
    hold(name, Simulator())


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_takes_arrays_that_begin_anywhere(name):
    hold(name, Unaligned())


@pytest.mark.small
def test_every_kernel_has_a_case():
    known = {name: file for file in FILES for name in source(file).SIGNATURES}
    assert {name: entry.file for name, entry in CASES.items()} == known
