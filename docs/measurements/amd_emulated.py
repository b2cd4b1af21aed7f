"""Weft's machine code for gfx942 on an emulator that others wrote, against NumPy.

No AMD GPU is needed: clang compiles Weft's HIP to a code object, and tinygrad's emulator of CDNA runs its
instructions one by one, with exec masks, bounds of buffer resources, the local data share and barriers. It is in
tinygrad's repository and not in its wheel:

    git clone https://github.com/tinygrad/tinygrad && git -C tinygrad checkout a9069c17
    python docs/measurements/amd_emulated.py --weft target/release/weft --clang clang-22 --tinygrad tinygrad

What the emulator does not decode is `ds_swizzle`; the text that is compiled has `ds_bpermute` in its place.
Behind each output lies what no thread may touch, and is looked at too.
"""

import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

LANES_OF_FOUR_WARPS = 256


def code_object(arguments, kernel: str, folder: pathlib.Path) -> tuple[bytes, int]:
    """The code object of a kernel, and the bytes of shared memory that a block asks for."""
    folders = ("examples", "kernels")
    path = next(path for path in (pathlib.Path(at) / f"{kernel}.ttir" for at in folders) if path.exists())
    command = [arguments.weft, "compile", path, "--target", "gfx942", "--emit", "hip"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shared = re.search(r"(\d+) bytes of dynamic shared memory", text)
    swizzle = "__builtin_amdgcn_ds_swizzle(word, MASK << 10 | 0x1f)"
    text = text.replace(swizzle, "__builtin_amdgcn_ds_bpermute((lane ^ MASK) << 2, word)")
    source, compiled = folder / "kernel.hip", folder / "kernel.co"
    source.write_text(text)
    flags = "-x hip -std=c++17 --cuda-device-only --offload-arch=gfx942 -nogpulib -nogpuinc -O3 --no-gpu-bundle-output"
    subprocess.run([arguments.clang, *flags.split(), "-o", compiled, source], check=True)
    return compiled.read_bytes(), int(shared[1]) if shared else 0


def launch(elf: bytes, shared: int, grid: int, values: list, formats: str) -> None:
    """Loads a code object as the runtime does, and runs its one kernel."""
    from test.mockgpu.amd import emu

    segments, count = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    headers = [struct.unpack_from("<IIQQQQQQ", elf, segments + 56 * index) for index in range(count)]
    loaded = [header for header in headers if header[0] == 1]
    size = max(header[3] + header[6] for header in loaded)
    room = np.zeros(size + 4096, np.uint8)
    image = room[-room.ctypes.data % 256 :][:size]
    for _, _, offset, address, _, in_file, _, _ in loaded:
        image[address : address + in_file] = np.frombuffer(elf[offset : offset + in_file], np.uint8)
    sections, count = struct.unpack_from("<Q", elf, 40)[0], struct.unpack_from("<H", elf, 60)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + 64 * index) for index in range(count)]
    symbols = next(header for header in headers if header[1] == 11)
    names = headers[symbols[6]][4]
    for index in range(symbols[5] // 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, symbols[4] + 24 * index)
        if elf[names + name :].split(b"\0")[0].endswith(b".kd"):
            descriptor = value
    # The kernel descriptor (LLVM's guide for AMDGPU, "Kernel Descriptor").
    own_shared, private = struct.unpack_from("<II", image.tobytes(), descriptor)
    entry = struct.unpack_from("<q", image.tobytes(), descriptor + 16)[0]
    resources, properties = struct.unpack_from("<IH", image.tobytes(), descriptor + 52)
    resources = resources & ~(0x1FF << 15) | (shared + own_shared + 511) // 512 << 15
    packed = b""
    for kind, value in zip(formats, values):
        packed += b"\0" * (-len(packed) % struct.calcsize(kind)) + struct.pack("<" + kind, value)
    kernel_arguments = np.frombuffer(packed + b"\0" * 512, np.uint8).copy()
    packet = np.zeros(64, np.uint8)
    struct.pack_into(
        "<HHHHHHIII", packet.data, 0, 0, 1, LANES_OF_FOUR_WARPS, 1, 1, 0, grid * LANES_OF_FOUR_WARPS, 1, 1
    )
    # What is in the first scalar registers: scratch, the packet, the queue, the arguments, the dispatch.
    user = [0] * 4 if properties & 1 else []
    pointers = [packet.ctypes.data, 0, kernel_arguments.ctypes.data, 0]
    for bit, pointer in enumerate(pointers, 1):
        if properties >> bit & 1:
            user += [pointer & 0xFFFFFFFF, pointer >> 32]
    start = image.ctypes.data
    emu.run_asm(
        start + descriptor + entry,
        size,
        *(grid, 1, 1, LANES_OF_FOUR_WARPS, 1, 1),
        kernel_arguments.ctypes.data,
        resources,
        private,
        "cdna",
        user,
    )


def vector_add(run) -> tuple[float, bool]:
    count, rng = 5000, np.random.default_rng(1)
    x, y = (rng.standard_normal(8192, np.float32) for _ in range(2))
    out = np.full(8192, 7, np.float32)
    run(5, [array.ctypes.data for array in (x, y, out)] + [count], "QQQi")
    return float(np.abs(out - (x + y))[:count].max()), bool((out[count:] == 7).all())


def row_softmax(run) -> tuple[float, bool]:
    rows, columns, rng = 4, 1000, np.random.default_rng(1)
    x = rng.standard_normal((rows, columns), np.float32)
    out = np.full(rows * columns + 512, 7, np.float32)
    run(rows, [x.ctypes.data, out.ctypes.data, columns], "QQi")
    expected = np.exp(x - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    error = np.abs(out[: rows * columns].reshape(rows, columns) - expected) / expected
    return float(error.max()), bool((out[rows * columns :] == 7).all())


def product_batched(run) -> tuple[float, bool]:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((4, 16, 16), (4, 16, 32)))
    out = np.full(4 * 16 * 32 + 512, 7, np.float32)
    run(1, [array.ctypes.data for array in (a, b, out)], "QQQ")
    expected = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(out[: expected.size].reshape(expected.shape) - expected)
    return float(error.max()), bool((out[expected.size :] == 7).all())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default="weft", help="the command")
    parser.add_argument("--clang", default="clang-22", help="a clang that knows the target")
    parser.add_argument("--tinygrad", type=pathlib.Path, required=True, help="a checkout of its repository")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.tinygrad.resolve()))
    # Its tests are a package only where nothing else is called `test`.
    sys.modules.pop("test", None)
    (arguments.tinygrad / "test/__init__.py").touch()
    wrong = False
    for kernel, bound in ((vector_add, 0.0), (row_softmax, 1e-6), (product_batched, 1e-5)):
        with tempfile.TemporaryDirectory() as folder:
            # The emulator compiles what each instruction does by the command `clang`.
            clang = subprocess.run(["which", arguments.clang], capture_output=True, text=True, check=True).stdout
            os.symlink(clang.strip(), pathlib.Path(folder) / "clang")
            os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
            elf, shared = code_object(arguments, kernel.__name__, pathlib.Path(folder))
            error, kept = kernel(lambda grid, values, formats: launch(elf, shared, grid, values, formats))
        wrong |= error > bound or not kept
        print(f"{kernel.__name__}: error {error:.1e} (bound {bound:.1e}), behind the output: {'kept' if kept else 'CHANGED'}")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
