"""Weft in every process of a program, beside other tools, and what it says of the kernels there."""

import collections.abc
import concurrent.futures
import functools
import importlib.util
import json
import multiprocessing
import operator
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource

import weft.triton

TARGET = GPUTarget("cuda", 90, 32)


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


@triton.jit
def told(a, b):
    tl.device_print("sum", a + b)
    return a + b


@triton.jit
def told_sum(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, BLOCK)), 0, told))


def compiled(block=64):
    return triton.compile(ASTSource(double, dict(x="*fp32", BLOCK="constexpr"), {(1,): block}), target=TARGET)


def falls_back():
    return triton.compile(ASTSource(told_sum, dict(x="*i32", out="*i32", BLOCK="constexpr"), {(2,): 32}), target=TARGET)


def by_weft(kernel):
    return hasattr(kernel.metadata, "weft_compiler")


def worker(block):
    return by_weft(compiled(block))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def python(program, cache, **environment):
    here = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    environment = os.environ | {"TRITON_CACHE_DIR": str(cache)} | environment
    run = [sys.executable, "-c", here + textwrap.dedent(program)]
    return subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.small
@pytest.mark.parametrize(("value", "weft"), [("1", True), ("fallback=triton", True), ("0", False), ("", False)])
def test_the_environment_brings_weft_to_a_process(tmp_path, value, weft):
    program = """
        import sys, triton
        print("weft.triton" in sys.modules)
        import test_processes
        print(test_processes.by_weft(test_processes.compiled()))
    """
    run = python(program, tmp_path, WEFT_TRITON=value)
    assert run.stdout.split() == [str(weft), str(weft)], run.stderr


@pytest.mark.parametrize("first", ["triton", "weft", "weft.triton", "triton.language"])
def test_the_order_of_imports_is_free(tmp_path, first):
    program = f"""
        import {first}
        import triton, inspect, weft.triton
        assert weft.triton.installed()
        assert "def compile" in inspect.getsource(triton.compile)
        assert triton.__spec__.loader is triton.__loader__
        print(len([finder for finder in sys.meta_path if "weft" in type(finder).__module__]))
    """
    run = python(program, tmp_path, WEFT_TRITON="1")
    # Those of Inductor's two launchers wait.
    assert run.stdout.split() == ["2"], run.stderr


def test_a_process_without_triton_is_left_alone(tmp_path):
    program = "print(sorted(name for name in sys.modules if name.split('.')[0] in ('weft', 'triton')))"
    assert python(program, tmp_path, WEFT_TRITON="1").stdout.strip() == "[]"
    program = "print([type(finder).__name__ for finder in sys.meta_path].count('Watcher'))"
    assert python(program, tmp_path, WEFT_TRITON="1").stdout.strip() == "1"
    assert python(program, tmp_path, WEFT_TRITON="0").stdout.strip() == "0"
    environment = {name: value for name, value in os.environ.items() if name != "WEFT_TRITON"}
    run = [sys.executable, "-c", "import sys; print('weft_startup' in sys.modules)"]
    assert subprocess.run(run, env=environment, capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize("value", ["fallbak=triton", "device=gpu", "maybe"])
def test_what_the_environment_cannot_mean_is_told(tmp_path, value):
    run = python(
        "import triton; import test_processes as t; print(t.by_weft(t.compiled()))", tmp_path, WEFT_TRITON=value
    )
    assert "does not compile this process's kernels" in run.stderr
    assert value.partition("=")[0 if value != "device=gpu" else 2] in run.stderr


@pytest.mark.small
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_have_weft(cache, method):
    context = multiprocessing.get_context(method)
    with weft.triton.enabled(processes=True):
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(worker, [32, 128])) == [True, True]
    assert "WEFT_TRITON" not in os.environ


def test_workers_of_inductors_kind_have_weft(cache):
    # Inductor starts a process of its own, which forks the workers.
    program = """
        import concurrent.futures, multiprocessing
        import triton, test_processes
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            print(list(pool.map(test_processes.worker, [32, 128])))
    """
    with weft.triton.enabled(processes=True):
        run = python(program, cache)
    assert run.stdout.strip() == "[True, True]", run.stderr
    assert python(program, cache).stdout.strip() == "[False, False]"


def test_workers_compile_as_their_parent_does(cache):
    with weft.triton.enabled(fallback="triton", processes=True):
        spec = "device=cuda,fallback=triton,findings=raise,equal_stores=note"
        assert os.environ["WEFT_TRITON"] == spec
        # What was installed by hand inside is for the children, too.
        with weft.triton.enabled(device="simulator"):
            inner = "device=simulator,target=sm_90,findings=raise,equal_stores=note"
            assert os.environ["WEFT_TRITON"] == inner
        run = python("import test_processes as t; print(t.by_weft(t.compiled()), t.by_weft(t.falls_back()))", cache)
    assert run.stdout.split() == ["True", "False"], run.stderr


def count_stages(seen):
    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "counting", "counting"
        seen.append(list(stages))
        return None

    return hook


@pytest.mark.small
@pytest.mark.parametrize("earlier", [True, False])
def test_another_tool_keeps_its_hook_and_weft_stays(cache, monkeypatch, earlier):
    seen = []
    if earlier:
        monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", count_stages(seen))
    with weft.triton.enabled():
        if not earlier:
            monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", count_stages(seen))
        assert by_weft(compiled())
    assert seen == [["ttir", "ttgir", "llir", "ptx", "cubin"]]
    assert knobs.runtime.add_stages_inspection_hook is not None
    assert not by_weft(compiled()) and len(seen) == 2


def test_stages_of_another_tool_are_passed_or_told(cache, monkeypatch, caplog):
    passed = []

    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "passing", "passing"
        for name in ("ttir", "ttgir", "cubin"):

            def stage(module, metadata, name=name, given=stages[name]):
                passed.append(name)
                return given(module, metadata)

            stages[name] = stage

    monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", hook)
    with weft.triton.enabled():
        assert by_weft(compiled(256))
    assert passed == ["ttir", "cubin"]
    assert "stands at Triton's stage `ttgir`" in caplog.text


def test_a_tool_that_came_on_top_is_not_taken_away():
    own = CUDABackend.add_stages
    weft.triton.install()
    under = CUDABackend.add_stages

    def on_top(*arguments):
        return under(*arguments)

    CUDABackend.add_stages = on_top
    try:
        weft.triton.uninstall()
        assert CUDABackend.add_stages is on_top
        assert not by_weft(compiled(512))
        with weft.triton.enabled():
            assert by_weft(compiled(512))
    finally:
        CUDABackend.add_stages = under
    with weft.triton.enabled():
        pass
    assert CUDABackend.add_stages is own


@pytest.mark.small
def test_the_status_tells_who_compiled_what(cache):
    with weft.triton.enabled(fallback="triton"):
        compiled(), compiled(), falls_back()
        status = weft.triton.status()
        assert "weft-" in status.compiler and "cuda" in status.compiler
    first, again, fallen = status.kernels
    assert (first.name, first.compiler, first.cached, again.cached) == ("double", "weft", False, True)
    assert (fallen.name, fallen.compiler) == ("told_sum", "triton")
    assert "region that folds" in fallen.reason and 0 < first.seconds < fallen.seconds
    assert status.by_weft == (first, again) and status.by_triton == (fallen,)
    assert "2 kernels, 1 from caches" in str(status) and "told_sum: ttir" in str(status)
    with weft.triton.enabled(fallback="triton"):
        falls_back()
        (found,) = weft.triton.status().by_triton
    assert found.cached and found.reason == fallen.reason
    assert weft.triton.status().compiler == "triton"


def test_a_report_is_of_all_processes(tmp_path):
    program = """
        import concurrent.futures, multiprocessing
        import weft.triton, test_processes as t
        if __name__ == "__main__":
            t.compiled(16)
            context = multiprocessing.get_context("spawn")
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                list(pool.map(t.worker, [32, 128, 64]))
            print(len(weft.triton.status().kernels))
    """
    script = tmp_path / "program.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n" + textwrap.dedent(program))
    environment = os.environ | dict(
        TRITON_CACHE_DIR=str(tmp_path / "cache"), WEFT_TRITON="1", WEFT_TRITON_REPORT=str(tmp_path / "report")
    )
    run = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert run.stdout.strip() == "4" == str(len(lines)), run.stderr
    assert {line["compiler"] for line in lines} == {"weft"}
    assert len({line["process"] for line in lines}) in (2, 3)
    assert "by Weft    4 kernels" in run.stderr
    run = python("import test_processes as t; t.compiled()", tmp_path, WEFT_TRITON="1", WEFT_TRITON_REPORT="1")
    assert "by Weft    1 kernels" in run.stderr


@pytest.mark.small
def test_kernels_that_escape_are_told_once(cache):
    other, second = compiled(), compiled(128)
    with weft.triton.enabled():
        ours = compiled()
        hook = knobs.runtime.kernel_load_end_hook
        hook(None, None, ours.name, ours.metadata_group, ours.hash)
        assert not weft.triton.status().by_triton
        with pytest.warns(RuntimeWarning, match="`double` runs as Triton's own compiler made it") as warned:
            for kernel in (other, other, second):
                hook(None, None, kernel.name, kernel.metadata_group, kernel.hash)
        assert len(warned) == 1
        assert [each.hash for each in weft.triton.status().by_triton] == [other.hash, second.hash]
    assert not knobs.runtime.kernel_load_end_hook.calls


class Launched:
    """A kernel as Inductor's own launcher has it."""

    def __init__(self, kernel, raw=None):
        self.name, self.hash, self.cubin_raw = kernel.name, kernel.hash, raw
        paths = kernel.metadata_group
        self.cubin_path = next(path for name, path in paths.items() if name.endswith(".cubin"))

    def load_kernel(self, device):
        self.loaded = Path(self.cubin_path).read_bytes()
        self.cubin_path = None


@triton.jit
def multiply_add(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(x + at, value * value + 3)


@pytest.mark.small
@pytest.mark.parametrize(
    ("environment", "asked", "fused"),
    [
        # Triton 3.10 leaves products and sums apart where nobody asks; until then the environment does so.
        ({"TRITON_DEFAULT_FP_FUSION": "1"}, None, True),
        ({"TRITON_DEFAULT_FP_FUSION": "0"}, None, False),
        ({"TRITON_DEFAULT_FP_FUSION": "0"}, True, True),
        ({"TRITON_DEFAULT_FP_FUSION": "1"}, False, False),
        ({"TRITON_FORCE_DISABLE_FP_FUSION": "1"}, True, False),
    ],
)
def test_products_are_fused_into_sums_where_triton_would_do_it(cache, monkeypatch, environment, asked, fused):
    if "TRITON_FORCE_DISABLE_FP_FUSION" in environment and not hasattr(knobs.language, "force_disable_fp_fusion"):
        pytest.skip("this Triton does not ask for it")
    for name in ("TRITON_DEFAULT_FP_FUSION", "TRITON_FORCE_DISABLE_FP_FUSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    options = {} if asked is None else {"enable_fp_fusion": asked}
    source = ASTSource(multiply_add, dict(x="*fp32", BLOCK="constexpr"), {(1,): 64})
    with weft.triton.enabled():
        kernel = triton.compile(source, target=TARGET, options=options)
    assert by_weft(kernel)
    assert ("fma.rn" in kernel.asm["ptx"]) == fused


def test_what_inductor_launches_itself_is_seen_and_repaired(cache, monkeypatch):
    from weft.triton import _inductor, _status

    launcher = types.ModuleType("launcher")
    launcher.StaticallyLaunchedCudaKernel = Launched
    name = "torch._inductor.runtime.static_cuda_launcher"
    monkeypatch.setitem(sys.modules, name, launcher)
    monkeypatch.setattr(_inductor, "_launchers", {})
    monkeypatch.setattr(_status, "_warned", False)
    own = Launched.load_kernel
    other = compiled()
    with weft.triton.enabled():
        _inductor.watch(name)
        ours = compiled()
        with pytest.warns(RuntimeWarning, match="double"):
            Launched(other).load_kernel(0)
        cubin = ours.asm["cubin"]
        damaged = Launched(ours, cubin)
        Path(damaged.cubin_path).write_bytes(cubin[:100])
        damaged.load_kernel(0)
        assert damaged.loaded == cubin
        damaged = Launched(ours)
        Path(damaged.cubin_path).write_bytes(cubin[:-1] + b"!")
        with pytest.raises(RuntimeError, match="damaged"):
            damaged.load_kernel(0)
    assert Launched.load_kernel is own


def test_inductors_keys_know_weft(monkeypatch):
    import triton.runtime.cache as triton_cache

    own = triton_cache.triton_key
    compat, codecache = types.ModuleType("compat"), types.ModuleType("codecache")
    compat.triton_key = own

    class CacheBase:
        @staticmethod
        @functools.cache
        def get_system():
            return compat.triton_key()

    codecache.CacheBase = CacheBase
    monkeypatch.setitem(sys.modules, "torch._inductor.runtime.triton_compat", compat)
    monkeypatch.setitem(sys.modules, "torch._inductor.codecache", codecache)
    keys = [CacheBase.get_system()]
    for options in (dict(), dict(fallback="triton"), dict(device="simulator")):
        with weft.triton.enabled(**options):
            keys.append(CacheBase.get_system())
            assert triton.runtime.autotuner.triton_key() == triton_cache.triton_key() == keys[-1]
    assert len(set(keys)) == 4 and all("weft-" in key for key in keys[1:])
    assert CacheBase.get_system() == keys[0] and compat.triton_key is own


def test_running_workers_of_inductor_start_anew(monkeypatch):
    ended = []
    compiling = types.ModuleType("async_compile")
    compiling._pool_set = {"pool"}
    compiling.shutdown_compile_workers = lambda: ended.append(os.environ.get("WEFT_TRITON"))
    monkeypatch.setitem(sys.modules, "torch._inductor.async_compile", compiling)
    with weft.triton.enabled():
        assert ended == []
    with weft.triton.enabled(processes=True):
        assert ended == ["device=cuda,findings=raise,equal_stores=note"]
    assert ended[1:] == [None]


def test_this_pytorch_has_what_weft_looks_for_in_it():
    torch = pytest.importorskip("torch")
    from weft.triton import _inductor

    for module, name in _inductor.CACHES:
        assert callable(operator.attrgetter(f"{name}.cache_clear")(importlib.import_module(module)))
    assert importlib.import_module("torch._inductor.runtime.triton_compat").triton_key
    compiling = importlib.import_module("torch._inductor.async_compile")
    assert isinstance(compiling._pool_set, collections.abc.Set) and callable(compiling.shutdown_compile_workers)
    found = []
    for module, name in _inductor.LAUNCHERS.items():
        if importlib.util.find_spec(module) is not None:
            found.append(getattr(importlib.import_module(module), name).load_kernel)
    assert found, torch.__version__
