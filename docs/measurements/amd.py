"""What Weft and Triton make of the same Triton IR for AMD's GPUs, counted without one.

Weft's HIP is compiled by clang, Triton's own compiler makes its assembly; both texts are counted by the same
rules: instructions, matrix instructions, accesses of the local data share and of global memory, branches around
masked lanes, vector registers, scratch bytes, waves a SIMD. Counts of texts are not times.

    python docs/measurements/amd.py --weft target/release/weft --clang clang-22 --targets gfx942 gfx950
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

# The kernels of `kernels/` that hold most of what users run; `--all` takes every one.
KERNELS = """
vector_add row_softmax tiled_transpose matmul_f16 matmul_bf16 gemm_f16 gemm_i8 linear_bf16 matmul_bias_gelu
matmul_f8 matmul_i8 matmul_int4 product_batched product_thin flash_forward flash_causal attention_f16
flash_backward_keys decode_paged add_rms_norm layer_norm_forward rms_norm_forward gather_rows argmin_of_rows
sort_rows transpose_bytes adam cross_entropy_forward top_of_rows softmax_backward
""".split()

COUNTED = {
    "matrix": re.compile(r"^v_(mfma|smfmac|wmma)"),
    "lds": re.compile(r"^ds_"),
    "memory": re.compile(r"^(global|buffer|flat)_"),
    "masks": re.compile(r"^s_(and_saveexec|cbranch_exec)"),
}


def count(assembly: str) -> dict[str, int]:
    """Counts of a text of assembly: every instruction once, wherever it stands."""
    counts = dict.fromkeys(["instructions", *COUNTED], 0)
    for line in assembly.splitlines():
        word = line.split(";")[0].strip().split(" ")[0].split("\t")[0]
        if not re.match(r"^[a-z]+_[a-z0-9_]+$", word) or word in ("s_nop", "s_code_end"):
            continue
        counts["instructions"] += 1
        for name, pattern in COUNTED.items():
            counts[name] += bool(pattern.match(word))

    def number(pattern: str) -> int:
        found = re.search(pattern, assembly)
        return int(found[1]) if found else 0

    counts["registers"] = number(r"\.vgpr_count:\s+(\d+)")
    counts["scratch"] = number(r"\.private_segment_fixed_size:\s+(\d+)")
    counts["waves"] = number(r"; Occupancy: (\d+)")
    return counts


def weft(arguments, kernel: pathlib.Path, target: str, folder: pathlib.Path) -> dict[str, int]:
    """Weft's HIP of a kernel, through clang."""
    command = [arguments.weft, "compile", kernel, "--target", target, "--emit", "hip"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    source, assembly = folder / "kernel.hip", folder / "kernel.s"
    source.write_text(text)
    flags = f"-x hip -std=c++17 --cuda-device-only --offload-arch={target} -nogpulib -nogpuinc -O3 -S"
    subprocess.run([arguments.clang, *flags.split(), "-o", assembly, source], check=True)
    return count(assembly.read_text())


def triton(kernel: pathlib.Path, target: str) -> dict[str, int]:
    """Triton's assembly of the same text, with as many warps."""
    import triton.compiler
    from triton.backends.compiler import GPUTarget

    lanes = 32 if target.startswith(("gfx11", "gfx12")) else 64
    made = triton.compiler.compile(
        str(kernel), target=GPUTarget("hip", target, lanes), options={"num_warps": 4}
    )
    return count(made.asm["amdgcn"])


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default="weft", help="the command")
    parser.add_argument("--clang", default="clang-22", help="a clang that knows the targets")
    parser.add_argument("--targets", nargs="+", default=["gfx942", "gfx950"])
    parser.add_argument("--kernels", type=pathlib.Path, default=pathlib.Path("kernels"))
    parser.add_argument("--only", nargs="+", help="these kernels instead of the thirty")
    parser.add_argument("--all", action="store_true", help="every recorded kernel")
    parser.add_argument("--json", type=pathlib.Path, help="where the counts are written")
    arguments = parser.parse_args()
    names = arguments.only or KERNELS
    if arguments.all:
        names = sorted(path.stem for path in arguments.kernels.glob("*.ttir") if "." not in path.stem)
    rows = []
    for target in arguments.targets:
        for name in names:
            found = [path / f"{name}.ttir" for path in (arguments.kernels, arguments.kernels / "../examples")]
            kernel = next((path for path in found if path.exists()), None)
            if kernel is None:
                print(f"{name}: there is no {found[0]}", file=sys.stderr)
                continue
            with tempfile.TemporaryDirectory() as folder:
                ours = weft(arguments, kernel, target, pathlib.Path(folder))
            try:
                theirs = triton(kernel, target)
            except Exception as error:  # Triton ends its passes with errors of many kinds.
                print(f"{name}: Triton: {str(error).splitlines()[0][:100]}", file=sys.stderr)
                continue
            rows.append({"target": target, "kernel": name, "weft": ours, "triton": theirs})
            columns = "  ".join(f"{ours[key]}/{theirs[key]}" for key in ours)
            print(f"{target} {name:24} {columns}", flush=True)
        mine = [row for row in rows if row["target"] == target]
        for key in ["instructions", "matrix", "lds", "memory", "masks", "registers"]:
            both = [(row["weft"][key], row["triton"][key]) for row in mine]
            ratios = [(ours + 1) / (theirs + 1) for ours, theirs in both]
            print(f"{target} {key}: {mean(ratios):.3f} of Triton's, with one added to both")
        worse = [row["kernel"] for row in mine if row["weft"]["scratch"] > row["triton"]["scratch"]]
        print(f"{target} more scratch: {' '.join(worse) or 'none'}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
