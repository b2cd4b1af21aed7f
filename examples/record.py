#!/usr/bin/env python3
"""Records the Triton IR of kernels written in Python: `NAME.ttir` beside each source file.

    python examples/record.py              # every kernel of this repository
    python examples/record.py FILE.py ...  # the kernels of these files
    python examples/record.py --check      # writes nothing; exit status 1 if a recording differs

Needs `triton==3.9.0`, and no GPU: the text is what Triton's own `ttir` pipeline leaves for sm_90
with four warps. Under `triton==3.6.0` it writes `NAME.3.6.ttir` for the kernels of `kernels/` whose
text differs from the recorded one in more than places. Building and testing Weft needs neither this script nor Python.

A source file names what its kernels are specialised for in `SIGNATURES`: kernel name to argument
name to Triton's type (`*fp32`, `i32`; `:16` promises a multiple of 16, for a pointer of bytes), or
to a number for a `tl.constexpr` argument.
"""

import argparse
import importlib.util
import os
import re
import sys
from pathlib import Path

os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # A cached text names the files of the run that made it.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

TRITON_VERSION = "3.9.0"
OLDER_VERSION = "3.6.0"
ROOT = Path(__file__).resolve().parent.parent
TRITON = Path(triton.__file__).resolve().parent
SOURCES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name != "record.py")
SOURCES.append(ROOT / "crates/weft/tests/kernels/kernels.py")
KERNELS = sorted((ROOT / "kernels").glob("*.py"))
SOURCES += KERNELS


def load(source: Path):
    """Imports a source file, whose functions then know the lines that they were written on."""
    spec = importlib.util.spec_from_file_location(source.stem, source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ttir(kernel, signature: dict) -> str:
    """The Triton IR of one kernel, with file names that mean the same on every machine."""
    types, constants, attributes = {}, {}, {}
    for index, (name, spelled) in enumerate(signature.items()):
        if isinstance(spelled, str):
            types[name], _, divisor = spelled.partition(":")
            if divisor:
                attributes[(index,)] = [["tt.divisibility", int(divisor)]]
        else:
            types[name], constants[(index,)] = "constexpr", spelled
    source = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=attributes)
    # Only as far as the `ttir` pipeline: some kernels need more than Triton makes of them for sm_90.
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    debug = bool(kernel.debug)  # Assertions are compiled only where `triton.jit` was told so.
    options = backend.parse_options({"num_warps": 4, "debug": debug, **source.parse_options()})
    stages = {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, functions, modules, context)
    text = str(stages["ttir"](module, {})).replace(f"{ROOT}/", "").replace(f"{TRITON}/", "triton/")
    if absolute := re.search(r'"/[^"]*"', text):
        raise SystemExit(f"{kernel.__name__}: the path {absolute[0]} is of this machine only")
    return text.rstrip("\n") + "\n"


def without_places(text: str) -> list[str]:
    """The operations alone: a kernel's text in two versions, to be compared."""
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    return [re.sub(r"%[\w#]+", "%", re.sub(r" ?loc\(.*", "", line)) for line in lines]


def recordings(source: Path, check: bool) -> int:
    """Records the kernels of a file, or counts those whose recording differs."""
    module = load(source)
    older = triton.__version__ == OLDER_VERSION
    stale = 0
    for name, signature in module.SIGNATURES.items():
        text = ttir(getattr(module, name), signature)
        recording = source.with_name(f"{name}.3.6.ttir" if older else f"{name}.ttir")
        newer = source.with_name(f"{name}.ttir").read_text() if older else ""
        if older and without_places(newer) == without_places(text):
            stale += recording.exists()
            if not check:
                recording.unlink(missing_ok=True)
        elif check:
            same = recording.exists() and recording.read_text() == text
            stale += not same
            print(f"{'same' if same else 'DIFFERS'}  {recording.relative_to(ROOT)}")
        else:
            recording.write_text(text)
            print(f"{text.count(chr(10)):4} lines  {recording.relative_to(ROOT)}")
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path, metavar="FILE.py")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    sources = {TRITON_VERSION: SOURCES, OLDER_VERSION: KERNELS}.get(triton.__version__)
    if sources is None:
        raise SystemExit(f"needs triton=={TRITON_VERSION}; this is {triton.__version__}")
    sources = arguments.sources or sources
    stale = sum(recordings(source.resolve(), arguments.check) for source in sources)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
