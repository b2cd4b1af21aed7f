"""Triton's cache on disk, made safe: what is damaged is made again, what cannot be written is kept aside."""

import atexit
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.triton import _status

log = logging.getLogger("weft.triton")

_aside: str | None = None


def sums_file(group: str) -> str:
    """The name of the file with the digests of a group's files."""
    return f"{group}.sha256"


def begun(
    inner: Callable[..., None], manager: Any, key: str, override: bool = False, dump: bool = False
) -> None:
    """`FileCacheManager.__init__`, where Triton's directory may be one that cannot be written."""
    if override or dump:
        inner(manager, key, override, dump)
        return
    manager.may_move = True
    try:
        inner(manager, key)
    except OSError as error:
        set_aside(manager, error)
    if _aside is not None and os.path.exists(os.path.join(_aside, key)):
        manager.cache_dir = os.path.join(_aside, key)


def put(inner: Callable[..., str], manager: Any, *args: Any, **kwargs: Any) -> str:
    """`FileCacheManager.put`, where the disk may be full or the directory read-only."""
    try:
        return inner(manager, *args, **kwargs)
    except OSError as error:
        if not getattr(manager, "may_move", False):
            raise
        set_aside(manager, error)
        return inner(manager, *args, **kwargs)


def set_aside(manager: Any, error: OSError) -> None:
    """Lets a manager keep its files in a directory of this process alone."""
    global _aside
    if _aside is None:
        _aside = tempfile.mkdtemp(prefix="weft-triton-")
        atexit.register(remove, _aside, os.getpid())
        log.warning("Triton's cache cannot be written, kernels are kept for this process alone: %s", error)
    manager.cache_dir = os.path.join(_aside, manager.key)
    manager.lock_path = os.path.join(manager.cache_dir, "lock")
    os.makedirs(manager.cache_dir, exist_ok=True)
    manager.may_move = False


def remove(directory: str, process: int) -> None:
    """Removes what a process kept aside; those that it forked leave that to it."""
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)


def put_group(inner: Callable[..., str], manager: Any, name: str, group: dict[str, str]) -> str:
    """`FileCacheManager.put_group`, with the digests of the files beside them."""
    if not is_kernel(name, group):
        return inner(manager, name, group)
    put_digests(manager, name, group)
    written = inner(manager, name, group)
    if not Path(manager.cache_dir, sums_file(name)).exists():
        # The group alone was set aside.
        put_digests(manager, name, group)
    _status.record(metadata(name, group), cached=False)
    return written


def put_digests(manager: Any, name: str, group: dict[str, str]) -> None:
    manager.put(json.dumps(digests(group)), sums_file(name), binary=False)


def get_group(inner: Callable[..., Any], manager: Any, name: str) -> dict[str, str] | None:
    """`FileCacheManager.get_group`, which finds nothing where something is damaged."""
    try:
        group: dict[str, str] | None = inner(manager, name)
        if not group or not is_kernel(name, group):
            return group
        sums = json.loads(Path(manager.cache_dir, sums_file(name)).read_bytes())
        whole = digests(group) == sums
        said = metadata(name, group)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        log.info("an entry of Triton's cache is damaged and made again: %s", error)
        return None
    if not whole:
        log.info("an entry of Triton's cache is damaged and made again: %s", manager.cache_dir)
        return None
    _status.record(said, cached=True)
    return group


def is_kernel(name: str, group: dict[str, str]) -> bool:
    """Whether a group of files is a compiled kernel."""
    return name in group and name.endswith(".json")


def digests(group: dict[str, str]) -> dict[str, str]:
    """What each file's bytes hash to."""
    return {name: digest(Path(path)) for name, path in group.items()}


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def metadata(name: str, group: dict[str, str]) -> dict[str, Any]:
    """What Triton says of a compiled kernel."""
    said: dict[str, Any] = json.loads(Path(group[name]).read_bytes())
    return said
