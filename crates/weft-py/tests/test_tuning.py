"""Configurations of an autotuner, compiled side by side before they are measured."""

import threading
import types

import pytest

np = pytest.importorskip("numpy")
triton = pytest.importorskip("triton")

import triton.language as tl
from test_processes import TARGET
from triton.compiler import CompiledKernel
from triton.runtime.driver import driver

import weft.triton
from weft.triton import _compiler, _tuning


@pytest.fixture
def no_gpu(tmp_path, monkeypatch):
    """Weft as for a GPU, with as much of a driver as compiling asks for."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    device = types.SimpleNamespace(
        get_current_device=lambda: 0, get_current_stream=lambda _device: 0, get_current_target=lambda: TARGET
    )
    driver.set_active(device)
    with weft.triton.enabled():
        yield
    driver.set_active(None)


def tuned(measure, configs, **options):
    """An autotuner that measures by `measure(kernels)`, and what it tunes."""

    @triton.jit
    def scale(x, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at) * 3)

    def do_bench(_call, quantiles):
        return [measure(kernels(scale))] * len(quantiles)

    return triton.autotune(configs, key=[], do_bench=do_bench, **options)(scale), scale


def kernels(function):
    return [kernel for cache in function.device_caches.values() for kernel in cache[0].values()]


def call(tuner):
    """As a launch, but for the launch."""
    tuner.run(weft.triton.array(np.zeros(256, np.float32)), grid=(1,), warmup=True)


def configs(blocks=(16, 32, 64, 128), **options):
    return [triton.Config({"BLOCK": block}, **options) for block in blocks]


@pytest.mark.small
@pytest.mark.parametrize("on_disk", [False, True])
def test_all_are_compiled_before_one_is_measured(no_gpu, on_disk):
    seen = []

    def measure(found):
        seen.append([type(kernel) for kernel in found])
        return float(len(seen))

    tuner, _ = tuned(measure, configs(), cache_results=on_disk)
    call(tuner)
    assert seen == [[CompiledKernel] * 4] * 4
    assert tuner.best_config.kwargs == {"BLOCK": 16}
    assert [each.compiler for each in weft.triton.status().kernels] == ["weft"] * 4
    # What the disk knows is neither measured nor compiled.
    again, scale = tuned(measure, configs(), cache_results=on_disk)
    call(again)
    assert len(seen) == (4 if on_disk else 8) and len(kernels(scale)) == (1 if on_disk else 4)


def test_they_are_compiled_by_threads_of_their_own(no_gpu, monkeypatch):
    monkeypatch.setattr(_tuning.os, "cpu_count", lambda: 4)
    tuner, scale = tuned(lambda found: 1.0, configs())
    compiled, threads, several = _compiler.compiled, set(), threading.Event()

    def compiled_beside_others(request):
        threads.add(threading.get_ident())
        if len(threads) > 1:
            several.set()
        several.wait(timeout=60)
        return compiled(request)

    monkeypatch.setattr(_compiler, "compiled", compiled_beside_others)
    call(tuner)
    assert several.is_set() and threading.get_ident() not in threads
    assert len(kernels(scale)) == 4


def test_one_that_fails_is_told_when_it_is_measured(no_gpu):
    told = []

    def measure(found):
        told.append(len(found))
        return 1.0

    # No block has 48 elements along an axis.
    tuner, scale = tuned(measure, configs((16, 48, 64)))
    call(tuner)
    assert told == [2, 2, 2]
    with pytest.raises(Exception, match="power of 2"):
        scale.run(weft.triton.array(np.zeros(256, np.float32)), grid=(1,), warmup=True, BLOCK=48)


def test_one_with_a_hook_waits_for_it(no_gpu):
    counts = []
    hooked = configs((32, 64), pre_hook=lambda arguments: None)
    tuner, _ = tuned(lambda found: float(counts.append(len(found)) or 1), [*configs((16, 128)), *hooked])
    call(tuner)
    assert counts == [2] * 4


def test_without_weft_nothing_is_compiled_ahead(no_gpu):
    counts = []
    with weft.triton.enabled():
        pass
    weft.triton.uninstall()
    tuner, _ = tuned(lambda found: float(counts.append(len(found)) or 1), configs())
    call(tuner)
    assert counts == [0] * 4
