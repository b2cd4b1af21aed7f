"""Configurations that an autotuner is about to measure, compiled side by side.

Triton compiles each when it measures it, one behind the other. Most of the wait is for the assembler, which is
a process of its own, and Weft compiles without the interpreter's lock: threads get through them sooner.
"""

import functools
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from triton.runtime._async_compile import AsyncCompileMode, active_mode

log = logging.getLogger("weft.triton")


def pruned(inner: Callable[..., Any], tuner: Any, kwargs: dict[str, Any]) -> Any:
    """`Autotuner.prune_configs`, whose result is measured next unless a cache on disk knows what came of it."""
    configs = inner(tuner, kwargs)
    if tuner.cache_results:
        tuner._weft_ahead = functools.partial(compile_together, tuner, configs, kwargs)
    else:
        compile_together(tuner, configs, kwargs)
    return configs


def looked_up(
    inner: Callable[..., bool], tuner: Any, key: Any, configs: Any, measure: Callable[[], None]
) -> bool:
    """`Autotuner.check_disk_cache`, which measures what the disk does not know."""
    ahead = vars(tuner).pop("_weft_ahead", None)

    def compile_and_measure() -> None:
        if ahead is not None:
            ahead()
        measure()

    return inner(tuner, key, configs, compile_and_measure)


def compile_together(tuner: Any, configs: Any, kwargs: dict[str, Any]) -> None:
    """Compiles the configurations for the call that an autotuner was made with; those that fail are told when
    they are measured."""
    # Hooks may change the arguments, and with them what is compiled.
    configs = [config for config in configs if config.pre_hook is None]
    if len(configs) < 2 or active_mode.get() is not None:
        return
    arguments = tuner.nargs.values()
    # The mode ends first: it waits for what the threads compile.
    with (
        ThreadPoolExecutor(min(len(configs), os.cpu_count() or 1)) as threads,
        AsyncCompileMode(threads, ignore_errors=True),
    ):
        for config in configs:
            try:
                tuner.fn.run(*arguments, **{**kwargs, **config.all_kwargs(), "warmup": True})
            except Exception as error:
                log.debug("a configuration is not compiled ahead: %s", error)
