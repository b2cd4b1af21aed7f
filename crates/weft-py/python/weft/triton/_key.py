"""What tells one Triton's code from another's, without reading its library.

Triton's own key hashes hundreds of megabytes in every process, which takes a third of a second. The installer wrote
down what the library hashes to; the other files are hashed here, too.
"""

import functools
import hashlib
import importlib.metadata
from pathlib import Path

import triton

ROOT = Path(triton.__file__).parent


@functools.cache
def key() -> str | None:
    """The key, or nothing where only the library itself can tell."""
    digest = recorded()
    if digest is None:
        return None
    whole = hashlib.sha256(digest.encode())
    for folder in ("backends", "compiler", "language", "runtime"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            content = file.read_bytes()
            whole.update(f"{file.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return f"{triton.__version__}-{whole.hexdigest()}"


def recorded() -> str | None:
    """What the installer says that the library hashes to, if nobody has written it since."""
    try:
        package = importlib.metadata.distribution("triton")
        lines = [line.split(",") for line in (package.read_text("RECORD") or "").splitlines()]
        (name, digest, size), *_ = (line for line in lines if line[0].startswith("triton/_C/libtriton."))
        (record, *_), *_ = (line for line in lines if line[0].endswith(".dist-info/RECORD"))
        library = Path(str(package.locate_file(name)))
        written = library.stat()
        is_it = library.samefile(ROOT.parent / name) and size == str(written.st_size)
        installed = Path(str(package.locate_file(record))).stat()
        return digest if is_it and written.st_mtime_ns <= installed.st_mtime_ns and digest else None
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):
        return None
