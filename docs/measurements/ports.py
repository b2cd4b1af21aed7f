"""What becomes of ten kernels for NVIDIA's GPUs on AMD's, by `weft port`, without a GPU.

Each is Triton IR, of which an installed Triton makes the TTGIR for `sm_80`, with layouts, matrix
instructions and swizzled memory; that text is ported. Five kernels are of this repository, five of
TritonBench: the folder `--modules` holds their Triton IR (`NAME.ttir`) with the warps of each
(`NAME.json`).

    python docs/measurements/ports.py --modules FOLDER --json docs/measurements/ports.json
"""

import argparse
import datetime
import importlib.metadata
import json
import pathlib
import subprocess
import tempfile

OURS = "matmul_f16 matmul_i8 flash_forward softmax_backward transpose_bytes".split()
THEIRS = """
matmul_kernel.f54bd9 _bmm_chunk_fwd_kernel.74fc12 _attn_fwd.fa2c3d _layer_norm_fwd_fused.dd0b1c
softmax_kernel.521eb7
""".split()


def ttgir(path: pathlib.Path, warps: int, folder: pathlib.Path) -> pathlib.Path:
    """What Triton makes of Triton IR for `sm_80`, before any of it becomes code."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend

    backend = CUDABackend(GPUTarget("cuda", 80, 32))
    options = backend.parse_options({"num_warps": warps, "arch": "sm80"})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    stages: dict = {}
    backend.add_stages(stages, options, __import__("triton").compiler.compiler.Language.TRITON)
    metadata = {"hash": "", **options.__dict__}
    text = module
    for stage in ("ttir", "ttgir"):
        text = stages[stage](text, metadata)
    made = folder / f"{path.stem}.ttgir"
    made.write_text(str(text))
    return made


def port(weft: pathlib.Path, path: pathlib.Path, target: str) -> dict:
    command = [weft, "port", path, "--from", "sm_80", "--target", target, "--json", "--emit", "hip"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(finished.stdout)


def compiles(clang: str, text: str, target: str, folder: pathlib.Path) -> bool:
    source = folder / "kernel.hip"
    source.write_text(text)
    command = [clang, "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3"]
    command += [f"--offload-arch={target}", "-c", source, "-o", folder / "kernel.o"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def row(name: str, answer: dict, compiled: bool) -> list[str]:
    if "error" in answer:
        return [name, "refused: " + answer["error"]["message"], *["-"] * 6]
    kernel = answer["kernel"]
    changes = {"nothing": 0, "registers": 0, "others": 0}
    for values in kernel["values"]:
        known = values["change"] if values["change"] in changes else "others"
        changes[known] += len(values["values"])
    products = sorted({f"{one['from']['how']} to {one['to']['how']}" for one in kernel["products"]})
    before = [one["before"] for one in kernel["shared"] if one["before"]]
    kept = [one["kept"] for one in kernel["shared"] if one["kept"]]
    now = [one["now"] for one in kernel["shared"] if one["now"]]
    conversions = kernel["conversions"]

    def all_of(counts: list) -> str:
        sums = [sum(column) for column in zip(*counts)]
        return f"{sums[0]} ({sums[1]})" if counts else "-"

    proved = sum(one["swizzle"]["certificate"]["optimal"] for one in conversions if one["swizzle"])
    return [
        name,
        f"{changes['nothing']} / {changes['registers']} / {changes['others']}",
        ", ".join(f"`{product}`" for product in products) or "-",
        f"{all_of(before)} to {all_of(kept)}" if before else "-",
        all_of(now),
        f"{len(conversions)}: {all_of([one['wavefronts'] for one in conversions])}" if conversions else "0",
        f"{proved} of {len(conversions)}",
        "yes" if compiled else "no",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", type=pathlib.Path, default=pathlib.Path("target/release/weft"))
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--targets", nargs="+", default=["gfx942", "gfx950"])
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kernels = [(f"`{name}`", pathlib.Path(f"kernels/{name}.ttir"), 4) for name in OURS]
        for name in THEIRS:
            path = arguments.modules / f"{name}.ttir"
            warps = json.loads(path.with_suffix(".json").read_text())["num_warps"]
            kernels.append((f"TritonBench's `{name.split('.')[0]}`", path, warps))
        for name, path, warps in kernels:
            given = ttgir(path, warps, folder)
            for target in arguments.targets:
                answer = port(arguments.weft, given, target)
                code = answer.get("text") or ""
                rows.append(
                    row(f"{name}, {target}", answer, compiles(arguments.clang, code, target, folder))
                )
                print(*rows[-1], sep=" | ", flush=True)
    if arguments.json:
        version = subprocess.run([arguments.weft, "--version"], capture_output=True, text=True, check=True)
        clang = subprocess.run([arguments.clang, "--version"], capture_output=True, text=True, check=True)
        measurement = {
            "what": "of each kernel the values that keep their threads, that keep their thread in other "
            "registers, and the others; wavefronts of allocated shared memory on `sm_80` and, unchanged, on "
            "the target, those without conflicts in brackets, and of what remains of it once it is laid out anew; conversions through shared memory with the "
            "wavefronts of a warp; for how many of them the best memory is proved; whether clang compiles "
            "the code",
            "command": "python docs/measurements/ports.py --modules FOLDER --json docs/measurements/ports.json",
            "versions": f"{version.stdout.strip()}, triton {importlib.metadata.version('triton')}, "
            + " ".join(clang.stdout.splitlines()[0].split()[-4:]),
            "machine": "no GPU",
            "date": datetime.date.today().isoformat(),
            "columns": [
                "kernel",
                "values kept / moved in their thread / others",
                "product",
                "memory as it was",
                "memory now",
                "conversions now",
                "proved",
                "compiles",
            ],
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
