"""What PyTorch's Inductor keeps of Triton and starts beside it, as far as it is there.

Facts from the sources of PyTorch 2.9 to 2.15: `torch/_inductor/async_compile.py`, `codecache.py`,
`runtime/triton_compat.py`, `runtime/static_triton_launcher.py` (until 2.9 `static_cuda_launcher.py`) and
`torch/utils/_triton.py`.
"""

import functools
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

from weft_startup import after_import

from weft.triton import _cache, _status
from weft.triton._patches import Around

log = logging.getLogger("weft.triton")

LAUNCHERS = {
    "torch._inductor.runtime.static_cuda_launcher": "StaticallyLaunchedCudaKernel",
    "torch._inductor.runtime.static_triton_launcher": "StaticallyLaunchedTritonKernel",
}

# What remembers, in a process, what Triton is or what it compiled.
CACHES = (
    ("torch._inductor.codecache", "CacheBase.get_system"),
    ("torch._inductor.codecache", "CacheBase.get_local_cache_path"),
    ("torch.utils._triton", "triton_hash_with_backend"),
    ("torch._inductor.async_compile", "CompiledTritonKernels"),
)

_launchers: dict[str, Around] = {}
_active = False


def enter(key: Any) -> None:
    """Has Inductor's caches ask `key` what Triton is, and sees the kernels that it launches without Triton."""
    global _active
    _active = True
    use_key(key)
    watch_imports()
    for launcher in _launchers.values():
        launcher.put()


def leave(key: Any) -> None:
    """Undoes `enter`."""
    global _active
    _active = False
    use_key(key)
    for launcher in _launchers.values():
        launcher.take()


def use_key(key: Any) -> None:
    """Has caches forget what they know: what Inductor made of a graph holds kernels, and would bring those
    that the other compiler made."""
    compat = sys.modules.get("torch._inductor.runtime.triton_compat")
    if compat is not None:
        compat.triton_key = key  # type: ignore[attr-defined]
    for module, name in CACHES:
        forget(module, name)


def forget(module: str, name: str) -> None:
    """Empties a cache in memory."""
    place: Any = sys.modules.get(module)
    for part in name.split("."):
        place = getattr(place, part, None)
    if place is not None:
        place.cache_clear()


def restart_workers() -> None:
    """Ends processes that compile and know another environment; new ones start when they are needed."""
    compiling = sys.modules.get("torch._inductor.async_compile")
    if compiling is not None and compiling._pool_set:
        compiling.shutdown_compile_workers()


@functools.cache
def watch_imports() -> None:
    """Sees to the launchers now, or when Inductor is imported."""
    for module in LAUNCHERS:
        after_import(module, functools.partial(watch, module))


def watch(module: str) -> None:
    kernel = getattr(sys.modules[module], LAUNCHERS[module], None)
    if kernel is not None:
        launcher = _launchers[module] = Around(kernel, "load_kernel", load_kernel)
        if _active:
            launcher.put()


def load_kernel(inner: Any, kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """`load_kernel` of a kernel that Inductor launches itself."""
    path = getattr(kernel, "cubin_path", None)
    if path is not None:
        repair(kernel, Path(path))
        if kernel.hash not in _status.seen():
            _status.examine(Path(path).with_suffix(".json"))
    return inner(kernel, *args, **kwargs)


def repair(kernel: Any, cubin: Path) -> None:
    """Puts what Inductor keeps of a damaged cubin in its place."""
    try:
        sums = json.loads(Path(_cache.sums_file(str(cubin.with_suffix(".json")))).read_bytes())
        whole = _cache.digest(cubin) == sums[cubin.name]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if whole:
        return
    if kernel.cubin_raw is None:
        raise RuntimeError(f"the compiled kernel {cubin} is damaged: remove its directory")
    log.info("a compiled kernel is damaged and written again: %s", cubin)
    with tempfile.NamedTemporaryFile(dir=cubin.parent, delete=False) as whole_again:
        whole_again.write(kernel.cubin_raw)
    Path(whole_again.name).replace(cubin)
