"""Triton's runtime on a GPU with Weft as its compiler; skipped where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

import triton
import triton.language as tl

import weft.triton


@pytest.fixture(autouse=True)
def installed():
    with weft.triton.enabled():
        yield


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def row_sums(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(out + row, tl.sum(tl.load(x + row * columns + at, mask=at < columns, other=0.0), 0))


@triton.jit
def product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + depth[None, :])
        right = tl.load(b + depth[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def test_a_kernel_runs_and_is_compiled_by_weft():
    x, y, out = random(100_000), random(100_000), torch.empty(100_000, device="cuda")
    kernel = add[(triton.cdiv(100_000, 1024),)](x, y, out, 100_000, BLOCK=1024)
    assert torch.equal(out, x + y)
    assert "ttgir" not in kernel.asm and kernel.asm["ptx"]


def test_numbers_are_specialised_as_by_triton():
    x, y, out = random(1), random(1), torch.empty(1, device="cuda")
    one = add[(1,)](x, y, out, 1, BLOCK=16)
    sixteen = add[(1,)](random(16), random(16), torch.empty(16, device="cuda"), 16, BLOCK=16)
    other = add[(1,)](random(17), random(17), torch.empty(17, device="cuda"), 17, BLOCK=32)
    assert len({one.hash, sixteen.hash, other.hash}) == 3
    assert torch.equal(out, x + y)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_warps_are_obeyed(warps):
    x, out = random(128, 1000), torch.empty(128, device="cuda")
    kernel = row_sums[(128,)](x, out, 1000, BLOCK=1024, num_warps=warps)
    assert f".reqntid {32 * warps}" in kernel.asm["ptx"]
    torch.testing.assert_close(out, x.sum(1), rtol=1e-5, atol=1e-4)


def test_stages_are_obeyed():
    a, b = random(256, 512, dtype=torch.float16), random(512, 256, dtype=torch.float16)
    shared = []
    for stages in (1, 2, 3, 4):
        out = torch.empty(256, 256, device="cuda", dtype=torch.float16)
        kernel = product[(4, 4)](a, b, out, 256, 256, 512, M=64, N=64, K=32, num_stages=stages)
        torch.testing.assert_close(out, a @ b, rtol=2e-3, atol=2e-2)
        shared.append(kernel.metadata.shared)
    assert shared == sorted(shared) and shared[0] < shared[-1]


def test_tuning_heuristics_and_timing_work():
    configurations = [triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 2048) for warps in (2, 8)]

    @triton.autotune(configurations, key=["n"])
    @triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
    @triton.jit
    def doubled(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(out + at, tl.load(x + at) * 2)
        else:
            tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

    for n in (1 << 20, (1 << 20) - 3):
        x, out = random(n), torch.empty(n, device="cuda")

        def launch(x=x, out=out, n=n):
            return doubled[lambda given: (triton.cdiv(n, given["BLOCK"]),)](x, out, n)

        launch()
        assert torch.equal(out, x * 2)
        assert doubled.best_config in configurations
        assert triton.testing.do_bench(launch, warmup=5, rep=20) > 0


@triton.jit
def told(a, b):
    tl.device_print("sum", a + b)
    return a + b


@triton.jit
def told_sum(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, BLOCK)), 0, told))


def test_triton_compiles_what_weft_does_not_when_asked(caplog):
    x, out = torch.ones(128, device="cuda", dtype=torch.int32), torch.zeros(1, device="cuda", dtype=torch.int32)
    with pytest.raises(weft.triton.KernelError, match="region that folds"):
        told_sum[(1,)](x, out, BLOCK=128)
    with weft.triton.enabled(fallback="triton"):
        told_sum[(1,)](x, out, BLOCK=128)
    assert out.item() == 128


def test_a_cluster_is_one_block():
    x, y, out = random(4096), random(4096), torch.empty(4096, device="cuda")
    add[(4,)](x, y, out, 4096, BLOCK=1024, num_ctas=2)
    assert torch.equal(out, x + y)


def test_triton_has_its_own_kernels_again_afterwards():
    x, y, out = random(1024), random(1024), torch.empty(1024, device="cuda")
    ours = add[(1,)](x, y, out, 1024, BLOCK=1024)
    weft.triton.uninstall()
    theirs = add[(1,)](x, y, out, 1024, BLOCK=1024)
    assert "ttgir" in theirs.asm and "ttgir" not in ours.asm
    weft.triton.install()
    assert add[(1,)](x, y, out, 1024, BLOCK=1024) is ours


def test_a_second_process_hits_the_cache(tmp_path):
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import torch, triton, weft.triton
from test_gpu import add, random
hits = []
triton.knobs.compilation.listener = lambda **said: hits.append(said["cache_hit"])
weft.triton.install()
x, out = random(64), torch.empty(64, device="cuda")
add[(1,)](x, x, out, 64, BLOCK=64)
assert torch.equal(out, x + x)
print(hits)
"""
    environment = dict(os.environ, TRITON_CACHE_DIR=str(tmp_path))
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["[False]", "[True]"]
