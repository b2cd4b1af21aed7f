"""The inner loops of products and attention on AMD's GPUs, by llvm-mca, beside Triton's.

Each kernel is compiled by Weft and clang, and by Triton, from one Triton IR. Of both texts the innermost loop
with the most matrix instructions is taken, and llvm-mca counts the cycles of one round of one wave, all rounds
in a row; a cycle of its model is one issue of a wave, four of the clock. It has the matrix unit and the latencies
of instructions, and no memory: neither bank conflicts, nor caches, nor other waves. So the numbers bound what the schedule of a wave alone costs.

    python docs/measurements/amd_loops.py --weft target/release/weft --json docs/measurements/amd_loops.json
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import tempfile

KERNELS = "gemm_f16 matmul_bf16 linear_bf16 gemm_i8 flash_forward flash_causal attention_f16".split()
MATRIX = re.compile(r"^v_mfma\w*_(\d+)x(\d+)x(\d+)")
ROUNDS = 100


def assembly(arguments, kernel: pathlib.Path, target: str, folder: pathlib.Path) -> list[str]:
    command = [arguments.weft, "compile", kernel, "--target", target, "--emit", "hip"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    source, made = folder / "kernel.hip", folder / "kernel.s"
    source.write_text(text)
    flags = f"-x hip -std=c++17 --cuda-device-only --offload-arch={target} -nogpulib -nogpuinc -O3 -S"
    subprocess.run([arguments.clang, *flags.split(), "-o", made, source], check=True)
    return made.read_text().splitlines()


def triton(kernel: pathlib.Path, target: str) -> list[str]:
    import triton.compiler
    from triton.backends.compiler import GPUTarget

    made = triton.compiler.compile(
        str(kernel), target=GPUTarget("hip", target, 64), options={"num_warps": 4}
    )
    return made.asm["amdgcn"].splitlines()


def is_instruction(line: str) -> bool:
    word = line.split(";")[0].strip().split()
    return bool(word) and re.match(r"^[a-z]+_[a-z0-9_]+$", word[0]) is not None


def loop(lines: list[str]) -> list[str]:
    """The instructions of the innermost loop with the most matrix instructions."""
    labels = {line.split(":")[0].strip(): at for at, line in enumerate(lines) if re.match(r"^\.?\w+:", line)}
    loops = []
    for at, line in enumerate(lines):
        branch = re.match(r"\s+s_c?branch\w*\s+(\S+)", line)
        if branch and labels.get(branch[1], len(lines)) < at:
            loops.append((labels[branch[1]], at))

    def products(span: tuple[int, int]) -> int:
        return sum(bool(MATRIX.match(line.strip())) for line in lines[span[0] : span[1]])

    inner = [
        span
        for span in loops
        if not any(span[0] <= other[0] and other[1] < span[1] and products(other) for other in loops)
    ]
    best = max(inner, key=products)
    return [line for line in lines[best[0] : best[1] + 1] if is_instruction(line)]


def judged(arguments, body: list[str], target: str) -> dict[str, float]:
    # Branches end a straight line of instructions, which is what the model knows.
    straight = [line.split(";")[0] for line in body if not re.match(r"\s*s_(c?branch|endpgm)", line)]
    command = [arguments.mca, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={target}", f"-iterations={ROUNDS}"]
    finished = subprocess.run(
        [*command, "-skip-unsupported-instructions=any"],
        input="\n".join(straight) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    cycles = int(re.search(r"Total Cycles:\s+(\d+)", finished.stdout)[1]) / ROUNDS
    shapes = [MATRIX.match(line.strip()) for line in body]
    work = sum(int(m[1]) * int(m[2]) * int(m[3]) for m in shapes if m)
    return {"instructions": len(body), "matrix": sum(map(bool, shapes)), "cycles": cycles, "rate": work / cycles}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft", default="target/release/weft")
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--mca", default="llvm-mca-22")
    parser.add_argument("--targets", nargs="+", default=["gfx942", "gfx950"])
    parser.add_argument("--only", nargs="+", default=KERNELS)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = []
    for target in arguments.targets:
        for name in arguments.only:
            kernel = pathlib.Path(f"kernels/{name}.ttir")
            with tempfile.TemporaryDirectory() as folder:
                texts = [assembly(arguments, kernel, target, pathlib.Path(folder)), triton(kernel, target)]
            ours, theirs = [judged(arguments, loop(text), target) for text in texts]
            cells = [f"{ours[key]} / {theirs[key]}" for key in ("instructions", "matrix")]
            cells.append(f"{ours['cycles']:.0f} / {theirs['cycles']:.0f}")
            cells.append(f"{ours['rate']:.0f} / {theirs['rate']:.0f}")
            rows.append([f"`{name}`, {target}", *cells, f"{theirs['cycles'] / ours['cycles']:.2f}"])
            print(*rows[-1], sep="  ", flush=True)
    if arguments.json:
        import triton as installed

        own = subprocess.run([arguments.weft, "--version"], capture_output=True, text=True, check=True)
        mca = subprocess.run([arguments.mca, "--version"], capture_output=True, text=True, check=True)
        measurement = {
            "what": "Weft / Triton, one round of the innermost loop of one wave by llvm-mca, which knows no memory; a "
            "cycle of its model is four of the clock; "
            "multiply-adds a cycle count those of matrix instructions, and a ratio above 1 means that Weft's round "
            "takes fewer cycles",
            "command": "python docs/measurements/amd_loops.py --json docs/measurements/amd_loops.json",
            "versions": f"{own.stdout.split(' (')[0].strip()}, triton {installed.__version__}, "
            + re.search(r"LLVM version [0-9.]+", mca.stdout)[0],
            "machine": "no GPU",
            "date": datetime.date.today().isoformat(),
            "columns": [
                "kernel",
                "instructions of a round",
                "matrix instructions",
                "cycles",
                "multiply-adds a cycle",
                "ratio",
            ],
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
