#!/usr/bin/env python3
"""Records the Triton IR of kernels written in Python: `NAME.ttir` beside each source file.

    python examples/record.py              # every kernel of this repository
    python examples/record.py FILE.py ...  # the kernels of these files
    python examples/record.py --check      # writes nothing; exit status 1 if a recording differs

Needs `triton==3.9.0`, and no GPU: the text is what Triton's own `ttir` pipeline leaves for sm_90
with four warps. Of the kernels named in `TTGIR` it also writes what the `ttgir` pipeline makes for sm_80,
`kernels/ttgir/NAME.80.ttgir`, and for sm_90 where that differs. Under `triton==3.6.0` it writes `NAME.3.6.ttir` for the kernels of `kernels/` whose
text differs from the recorded one in more than places, and of either kind. Building and testing Weft needs neither this script nor Python.

A source file names what its kernels are specialised for in `SIGNATURES`: kernel name to argument
name to Triton's type (`*fp32`, `i32`; `:16` promises a multiple of 16, for a pointer of bytes), or
to a number for a `tl.constexpr` argument.
"""

import argparse
import os
import re
import sys
from pathlib import Path

os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # A cached text names the files of the run that made it.
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.

import triton

TRITON_VERSION = "3.9.0"
OLDER_VERSION = "3.6.0"
ROOT = Path(__file__).resolve().parent.parent
# How the command asks Triton, too.
sys.path.append(str(ROOT / "crates/weft-command/src/triton"))
import ttir  # noqa: E402

TRITON = Path(triton.__file__).resolve().parent
SOURCES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name != "record.py")
SOURCES.append(ROOT / "crates/weft/tests/kernels/kernels.py")
KERNELS = sorted((ROOT / "kernels").glob("*.py"))
SOURCES += KERNELS
# The kernels whose layouts are recorded as Triton chooses them.
TTGIR = {
    "argmin_of_rows", "atomic_floats", "attention", "concatenate", "count_masked", "early_exit",
    "flip_block", "gather_columns", "join_halves", "linear_recurrence", "mapped", "masked_copy",
    "matmul", "nested_loops", "permute_4d", "permute_block", "product_batched", "product_bf16",
    "product_f16_sums", "product_f32", "product_f64", "product_f8", "product_i8",
    "product_scaled_f4", "product_scaled_f8", "quantize_e4m3", "reduce_middle",
    "reductions_of_each_kind", "row_softmax", "running_sum", "running_welford", "split_pairs",
    "tiled_transpose", "vector_add",
}
# Those that Triton compiles for sm_90 only.
EIGHT_BITS = {"product_f8", "product_scaled_f8", "quantize_e4m3"}
TTGIR_FOLDER = ROOT / "kernels/ttgir"


def recorded(kernel, signature: dict, capability: int, stage: str) -> str:
    """The text of one kernel after a stage, with file names that mean the same on every machine."""
    module = ttir.make(kernel, signature, capability, stage)
    # Triton first: it may be installed below the root.
    text = str(module).replace(f"{TRITON}/", "triton/").replace(f"{ROOT}/", "")
    if absolute := re.search(r'"/[^"]*"', text):
        raise SystemExit(f"{kernel.__name__}: the path {absolute[0]} is of this machine only")
    return text.rstrip("\n") + "\n"


def without_places(text: str) -> list[str]:
    """The operations alone: a kernel's text in two versions, to be compared."""
    text = re.sub(r'ttg.target = "[^"]*"|, "ttng.two-ctas" = false', "", text)
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    return [re.sub(r"%[\w#]+", "%", re.sub(r" ?loc\(.*", "", line)) for line in lines]


def texts(source: Path):
    """Each text of a file's kernels: where it goes, and the recordings that it may be equal to."""
    module = ttir.load(str(source))
    older = ".3.6" if triton.__version__ == OLDER_VERSION else ""
    for name, signature in module.SIGNATURES.items():
        kernel = getattr(module, name)
        text = recorded(kernel, signature, 90, "ttir")
        newer = [source.with_name(f"{name}.ttir")] if older else []
        yield source.with_name(f"{name}{older}.ttir"), text, newer
        if name not in TTGIR:
            continue
        for capability in (90,) if name in EIGHT_BITS else (80, 90):
            text = recorded(kernel, signature, capability, "ttgir")
            recording = TTGIR_FOLDER / f"{name}.{capability}{older}.ttgir"
            kept = [f"{name}.{capability}.ttgir", f"{name}.80{older}.ttgir", f"{name}.80.ttgir"]
            others = [TTGIR_FOLDER / file for file in kept]
            yield recording, text, [other for other in others if other != recording]


def recordings(source: Path, check: bool) -> int:
    """Records the kernels of a file, or counts those whose recording differs."""
    stale = 0
    for recording, text, like in texts(source):
        known = (other.read_text() for other in like if other.exists())
        if any(without_places(other) == without_places(text) for other in known):
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
