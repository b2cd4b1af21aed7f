"""What a process does for Weft before its program begins.

`weft_startup.pth` calls `begin` where the environment has `WEFT_TRITON`. Every Python process with it
pays for importing this, those without Triton too: so it imports nothing that is not there already.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_begun = False


def begin() -> None:
    """Lets Weft into Triton as soon as this process imports it."""
    global _begun
    # A virtual environment's files are read twice.
    if not _begun and os.environ["WEFT_TRITON"] not in ("", "0"):
        _begun = True
        after_import("triton", enter)


def enter() -> None:
    """Imports `weft.triton`, which installs itself where the environment says so."""
    try:
        import weft.triton  # noqa: F401
    except Exception as error:
        import warnings

        message = f"WEFT_TRITON is set, and Weft does not compile this process's kernels: {error}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def after_import(name: str, action: Callable[[], object]) -> None:
    """Calls `action` once the module `name` is there: now, or when it is imported."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, Watcher(name, action))


class Watcher:
    """A finder that finds what the other finders find, and calls `action` once that is executed."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self.name = name
        self.action = action

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        # Another watcher of the same module has its turn here, too.
        later = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(name, path, target) for finder in later if hasattr(finder, "find_spec"))
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self.follow(spec.loader)
        return spec

    def follow(self, loader: Any) -> None:
        """Has the loader call `action` behind the module's own code, this once."""
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.action()

        # The module keeps its own loader, which others ask for its sources and data.
        loader.exec_module = exec_module
