"""A Triton kernel under pytest, on a machine without a GPU."""

import numpy as np
import pytest
import triton
import triton.language as tl
import weft.triton


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    weights = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, weights / tl.sum(weights, axis=0), mask=at < columns)


@pytest.fixture(autouse=True)
def simulator():
    with weft.triton.enabled("simulator", target="sm_90"):
        yield


@pytest.mark.parametrize("columns", [1, 31, 1000, 1024])
def test_softmax(columns):
    x = np.random.default_rng(0).standard_normal((3, columns), np.float32)
    out = np.full_like(x, np.nan)
    softmax[(3,)](x, out, columns, BLOCK=1024)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, weights / weights.sum(axis=1, keepdims=True), rtol=1e-5)


def test_softmax_costs_what_it_must():
    x, out = np.ones((3, 1024), np.float32), np.empty((3, 1024), np.float32)
    softmax[(3,)](x, out, 1024, BLOCK=1024)
    report = weft.triton.last_report()
    assert report.sectors == report.ideal_sectors
    assert report.wavefronts == report.ideal_wavefronts


def test_a_missing_mask_is_found():
    @triton.jit
    def double(x, out, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, 2 * tl.load(x + at))

    x, out = np.ones(200, np.float32), np.empty(200, np.float32)
    with pytest.raises(weft.triton.LaunchError, match="out of range"):
        double[(2,)](x, out, BLOCK=128)
