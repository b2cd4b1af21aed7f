"""Kernels that tests compile are kept apart from the user's."""

import os
import tempfile

_cache = tempfile.TemporaryDirectory(prefix="weft-triton-")
os.environ["TRITON_CACHE_DIR"] = _cache.name
