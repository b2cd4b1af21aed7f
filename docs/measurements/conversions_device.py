#!/usr/bin/env python3
"""The grid of conversions on a GPU beside Triton's `convert_layout`, in one run.

    cargo run --release --package xtask -- conversions KERNELS          # our kernels, as PTX
    python conversions_device.py compile CUBINS                         # Triton's, for sm_90, no GPU needed
    python conversions_device.py time KERNELS CUBINS... --output FILE   # on the GPU
    python conversions_device.py count KERNELS --output FILE            # there too: wavefronts by ncu

Each kernel changes a tile, converts it and consumes the result in a loop; the same loop without the
conversion, in the source's and in the target's layout (their mean), is subtracted. All kernels of a
point run with as many blocks on each multiprocessor. Results are compared with numpy's before and
after the clock runs.
"""

import argparse
import concurrent.futures
import csv
import ctypes
import datetime
import json
import math
import os
import re
import statistics
import subprocess
from pathlib import Path

GRID = Path(__file__).with_name("conversions_grid.jsonl")
BITS = {"f32": 32, "f16": 16, "i8": 8}
# Warps on a multiprocessor, at most, and launches of each kernel.
WARPS, REPEATS = 16, 7
# Rounds of a short and of a long launch; what differs in time is the loop alone.
ROUNDS = (501, 2501)


def grid(numbers=None):
    points = [json.loads(line) for line in GRID.read_text().splitlines()]
    return {number: point for number, point in enumerate(points) if numbers is None or number in numbers}


def key(point, *ends):
    """What makes a kernel: the tile, and its layouts at these ends of the conversion."""
    return (point["element"], tuple(point["shape"]), point["warps"], tuple(point[end] for end in ends))


# Triton's kernels.


def layout(text, shape):
    """A Gluon layout from an attribute."""
    from triton.experimental.gluon import language as gl

    name, fields = re.fullmatch(r"#ttg\.(\w+)<\{(.*)\}>", text).groups()
    parent = re.search(r"parent = (#.*\}>)", fields)
    if parent:
        fields = fields.replace(parent[1], "None")
    values = dict(re.findall(r"(\w+) = (\[.*?\](?=, \w+ =|$)|\w+)", fields))
    values = {key: eval(value) for key, value in values.items()}
    if parent:
        values["parent"] = layout(parent[1], shape)
    match name:
        case "blocked":
            return gl.BlockedLayout(values["sizePerThread"], values["threadsPerWarp"], values["warpsPerCTA"], values["order"])
        case "slice":
            return gl.SliceLayout(values["dim"], values["parent"])
        case "linear":
            return gl.DistributedLinearLayout(values["register"], values["lane"], values["warp"], [], list(extent(values)))
        case "nvidia_mma":
            version = [values["versionMajor"], values["versionMinor"]]
            return gl.NVMMADistributedLayout(version, values["warpsPerCTA"], values["instrShape"])
        case "dot_op":
            return gl.DotOperandLayout(values["opIdx"], values["parent"], values["kWidth"])
    raise ValueError(text)


def extent(bases):
    """The tile that a linear layout covers by itself."""
    vectors = [basis for key in ("register", "lane", "warp") for basis in bases[key]]
    return (1 << max(basis[dim] for basis in vectors).bit_length() for dim in (0, 1))


def compile_one(job):
    import triton
    from conversions_gluon import conversion, empty
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon._runtime import GluonASTSource

    name, (element, shape, warps, layouts) = job
    pointer, plain = {
        "f32": ("*fp32", gl.float32),
        "f16": ("*i16", gl.float16),
        "i8": ("*i8", gl.int8),
    }[element]
    values = [layout(text, shape) for text in layouts] + [*shape, plain]
    names = ["A", "B"][: len(layouts)] + ["M", "N", "plain"]
    signature = {"source": pointer, "result": pointer, "n": "i32", "step": "i32"} | dict.fromkeys(names, "constexpr")
    constants = {(4 + index,): value for index, value in enumerate(values)}
    try:
        source = GluonASTSource(conversion if len(layouts) == 2 else empty, signature, constants)
        built = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
    except Exception as error:
        return job, None, f"{type(error).__name__}: {error}"[:300]
    return job, built.asm["cubin"], {"symbol": built.metadata.name, "shared": built.metadata.shared}


def compile_all(output, points):
    """Every kernel of this Triton into a folder."""
    import triton

    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    keys = sorted({key(point, *ends) for point in points.values() for ends in (("from", "to"), ("from",), ("to",))})
    jobs = [(f"{number:04}.cubin", key) for number, key in enumerate(keys)]
    output.mkdir(parents=True, exist_ok=True)
    index = {"versions": f"triton {triton.__version__}", "kernels": [], "refused": []}
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (name, (element, shape, warps, layouts)), cubin, known in pool.map(compile_one, jobs, chunksize=4):
            entry = {"element": element, "shape": shape, "warps": warps, "layouts": layouts}
            if cubin is None:
                index["refused"].append(entry | {"reason": known})
                continue
            (output / name).write_bytes(cubin)
            index["kernels"].append(entry | {"file": name} | known)
    (output / "index.json").write_text(json.dumps(index))
    print(f"{index['versions']}: {len(index['kernels'])} kernels, {len(index['refused'])} refused {index['refused'][:2]}")


def assemble_one(job):
    path, ptxas = job
    cubin = path.with_suffix(".cubin")
    subprocess.run([ptxas, "-arch=sm_90", "-o", cubin, path], check=True)


def assemble(folder):
    """Our PTX to machine code."""
    ptxas = os.environ.get("WEFT_PTXAS", "ptxas")
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(assemble_one, [(path, ptxas) for path in sorted(folder.glob("*.ptx"))]))


# The device.


class Device:
    """The CUDA driver, as far as it is needed."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()
        self.processors = self.attribute(16, device)
        self.driver = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(self.driver))
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), 0)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} gives {status}")

    def attribute(self, which, device):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def load(self, image, symbol, shared):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, 8, shared)
        # As much shared memory as there is, so that occupancy does not hang on a guess.
        self.call("cuFuncSetAttribute", function, 9, 100)
        return Function(self, module, function, shared)

    def buffer(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def write(self, address, array):
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def fill(self, address, byte, size):
        self.call("cuMemsetD8_v2", address, ctypes.c_ubyte(byte), ctypes.c_size_t(size))

    def read(self, address, array, skipped=0):
        address = ctypes.c_uint64(address.value + skipped)
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address, ctypes.c_size_t(array.nbytes))
        return array

    def milliseconds(self, launch):
        start, end = self.events
        self.call("cuEventRecord", start, None)
        launch()
        self.call("cuEventRecord", end, None)
        self.call("cuEventSynchronize", end)
        time = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(time), start, end)
        return time.value

    def gigahertz(self):
        """The clock, by a kernel that waits for a number of cycles."""
        text = """.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry wait(.param .u64 cycles) {
  .reg .b64 %a, %b, %n; .reg .pred %p;
  ld.param.u64 %n, [cycles]; mov.u64 %a, %clock64;
again: mov.u64 %b, %clock64; sub.s64 %b, %b, %a; setp.lt.s64 %p, %b, %n; @%p bra again;
  ret; }\0"""
        function = self.load(text.encode(), "wait", 0)
        cycles = ctypes.c_int64(20_000_000)
        times = [self.milliseconds(lambda: function.launch(1, 32, cycles)) for _ in range(3)]
        return cycles.value / min(times) / 1e6


class Function:
    def __init__(self, device, module, handle, shared):
        self.device, self.module, self.handle, self.shared = device, module, handle, shared

    def registers(self):
        value = ctypes.c_int()
        self.device.call("cuFuncGetAttribute", ctypes.byref(value), 4, self.handle)
        local = ctypes.c_int()
        self.device.call("cuFuncGetAttribute", ctypes.byref(local), 3, self.handle)
        return value.value, local.value

    def occupancy(self, threads):
        blocks = ctypes.c_int()
        self.device.call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(blocks), self.handle, threads, ctypes.c_size_t(self.shared)
        )
        return blocks.value

    def launch(self, blocks, threads, *values):
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
        self.device.call("cuLaunchKernel", self.handle, blocks, 1, 1, threads, 1, 1, self.shared, None, pointers, None)

    def unload(self):
        self.device.call("cuModuleUnload", self.module)


def read_index(folder):
    """The version and the kernels of a folder, by what makes them."""
    index = json.loads((folder / "index.json").read_text())
    kernels = {
        (entry["element"], tuple(entry["shape"]), entry["warps"], tuple(entry["layouts"])): entry
        for entry in index["kernels"]
    }
    return index["versions"], kernels


def time_all(folders, points):
    import numpy

    found = {}
    for folder in folders:
        versions, kernels = read_index(folder)
        found[versions] = (folder, kernels)
    device = Device()
    clock = device.gigahertz()
    types = {32: numpy.float32, 16: numpy.uint16, 8: numpy.uint8}
    draw = numpy.random.default_rng(1)
    zero, one = ctypes.c_uint64(0), ctypes.c_int32(1)

    def load(which):
        functions = {}
        for side, (folder, kernels) in found.items():
            if entry := kernels.get(which):
                image = (folder / entry["file"]).with_suffix(".cubin").read_bytes()
                functions[side] = device.load(image, entry["symbol"], entry["shared"])
        return functions

    def measure(functions, point, blocks):
        """Times of one launch of each side, in cycles a round; and whether results were right."""
        threads, ty = 32 * point["warps"], types[BITS[point["element"]]]
        values = draw.integers(0, 1 << min(BITS[point["element"]], 16), point["shape"]).astype(ty)
        grid = blocks * device.processors
        source, result = device.buffer(values.nbytes), device.buffer(grid * values.nbytes)
        device.write(source, values)
        wrong, times = set(), {side: [] for side in functions}

        def check(side, n):
            device.fill(result, 0x5A, grid * values.nbytes)
            functions[side].launch(grid, threads, source, result, ctypes.c_int32(n), one, zero, zero)
            device.call("cuCtxSynchronize")
            x, total = values.copy(), numpy.zeros_like(values)
            for i in range(n):
                if ty is numpy.float32:
                    x += ty(1)
                    total += x
                else:
                    x ^= ty(i & (1 << BITS[point["element"]]) - 1)
                    total ^= x
            expected = total
            for block in (0, grid // 2, grid - 1):
                got = device.read(result, numpy.empty_like(values), block * values.nbytes)
                if not numpy.array_equal(got, expected):
                    wrong.add(side)

        for side in functions:
            check(side, 1)
            check(side, 3)
        def milliseconds(function, n):
            arguments = (source, result, ctypes.c_int32(n), one, zero, zero)
            return device.milliseconds(lambda: function.launch(grid, threads, *arguments))

        for _ in range(REPEATS):
            for side, function in functions.items():
                short, long = (milliseconds(function, n) for n in ROUNDS)
                times[side].append((long - short) / (ROUNDS[1] - ROUNDS[0]))
        for side in functions:
            check(side, 101)
        for address in (source, result):
            device.call("cuMemFree_v2", address)
        cycles = {side: statistics.median(all_) * 1e6 * clock for side, all_ in times.items()}
        return cycles, sorted(wrong)

    loops = {}

    def loop(point, end, blocks):
        which = key(point, end)
        if (which, blocks) not in loops:
            functions = load(which)
            loops[which, blocks] = measure(functions, point, blocks)
            for function in functions.values():
                function.unload()
        return loops[which, blocks]

    def result(number, point):
        functions = load(key(point, "from", "to"))
        fits = {side: function.occupancy(32 * point["warps"]) for side, function in functions.items()}
        blocks = max(1, min([*fits.values(), WARPS // point["warps"]]))
        cycles, wrong = measure(functions, point, blocks)
        (before, wrong_before), (after, wrong_after) = (loop(point, end, blocks) for end in ("from", "to"))
        registers = {side: function.registers() for side, function in functions.items()}
        for function in functions.values():
            function.unload()
        return {
            "number": number,
            **{field: point[field] for field in ("class", "pair", "element", "shape", "warps")},
            "plan": next(iter(found.values()))[1][key(point, "from", "to")]["plan"],
            "blocks": blocks,
            "occupancy": fits,
            "registers": registers,
            "cycles": {side: round(value, 1) for side, value in cycles.items()},
            "empty": {side: [round(before[side], 1), round(after[side], 1)] for side in cycles},
            "net": {side: round(value - (before[side] + after[side]) / 2, 1) for side, value in cycles.items()},
            "wrong": sorted({*wrong, *wrong_before, *wrong_after}),
        }

    rows = [result(number, point) for number, point in points.items()]
    # Who is slower is measured once more.
    for row in rows:
        if ratio(row["net"]) < SLOWER:
            row["again"] = result(row["number"], points[row["number"]])["net"]
    what = f"The {len(rows)} conversions of the grid in loops, the loops without them subtracted: how many times as long the better Triton takes, as a geometric mean and at worst; how many take longer than 1.05 of the better Triton, twice measured; and the share of all cycles in which the memory pipe moves 128 bytes or a warp's exchange"
    columns = ["element", "class", "points", "mean", "worst", "slower", "memory pipe"]
    command = "python docs/measurements/conversions_device.py time KERNELS CUBINS"
    versions = f"{', '.join(found)}, CUDA driver {device.driver.value}"
    machine = f"{device.name}, {clock:.2f} GHz"
    return told(what, command, versions, machine, columns, classes(rows)) | {"points": rows}


# Launches of each kernel that is counted.
LAUNCHES = 5


def launch_once(folder, numbers):
    """One round in one block of every conversion, for a profiler, a few times."""
    points = grid(numbers)
    _, kernels = read_index(folder)
    device = Device()
    source, result = device.buffer(1 << 20), device.buffer(1 << 20)
    zero, one = ctypes.c_uint64(0), ctypes.c_int32(1)
    for point in points.values():
        entry = kernels[key(point, "from", "to")]
        image = (folder / entry["file"]).with_suffix(".cubin").read_bytes()
        function = device.load(image, entry["symbol"], entry["shared"])
        for _ in range(LAUNCHES):
            function.launch(1, 32 * point["warps"], source, result, one, one, zero, zero)
            device.call("cuCtxSynchronize")
        function.unload()


WAVEFRONTS = {
    "load": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def count_all(folder, points):
    """The wavefronts of loads and stores that the hardware counts, beside those of the plan.

    Now and then the counter of loads has one or two more, not the same in each launch: warps that
    come at once. The fewest of a few launches are taken."""
    numbers = ",".join(map(str, points))
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(WAVEFRONTS.values())]
    command += ["python3", __file__, "--points", numbers, "once", folder]
    ran = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in ran.stdout.splitlines() if line.startswith('"')]
    launches = [row for row in csv.DictReader(lines) if row["ID"]]
    if len(launches) != LAUNCHES * len(points):
        raise RuntimeError(f"ncu counted {len(launches)} launches of {len(points)} kernels:\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}")
    _, kernels = read_index(folder)
    rows = []
    for index, (number, point) in enumerate(points.items()):
        plan = kernels[key(point, "from", "to")]["plan"]
        row = {"number": number, **{field: point[field] for field in ("class", "pair", "element", "shape")}}
        row |= {"strategy": plan["strategy"], "plan": plan["wavefronts"] * point["warps"]}
        for name, metric in WAVEFRONTS.items():
            own = launches[LAUNCHES * index : LAUNCHES * (index + 1)]
            row[name] = min(int(launch[metric].replace(",", "")) for launch in own)
        rows.append(row)
    what = f"Wavefronts of shared memory that the GPU counts ({', '.join(WAVEFRONTS.values())}, the fewest of {LAUNCHES} launches) in a round of the grid's kernels, beside those of their plans"
    columns = ["element", "kernels", "use shared memory", "wavefronts of plans", "wavefronts counted", "differ"]
    table = []
    for element in BITS:
        some = [row for row in rows if row["element"] == element]
        planned, counted = sum(row["plan"] for row in some), sum(row["load"] + row["store"] for row in some)
        through, different = sum(row["plan"] > 0 for row in some), sum(map(differs, some))
        table.append([element, *map(str, (len(some), through, planned, counted, different))])
    command = "python docs/measurements/conversions_device.py count KERNELS"
    versions = read_index(folder)[0]
    return told(what, command, versions, Device().name, columns, table) | {"kernels": rows}


def differs(row):
    return row["plan"] != row["load"] + row["store"]


# The better Triton's time over ours, below which ours is slower.
SLOWER = 1 / 1.05


def ratio(net):
    """The better Triton's time over ours."""
    others = [value for side, value in net.items() if not side.startswith("weft")]
    mine = next(value for side, value in net.items() if side.startswith("weft"))
    return max(min(others), 1.0) / max(mine, 1.0)


def is_slower(row):
    return ratio(row["net"]) < SLOWER and ratio(row["again"]) < SLOWER


def mean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def pipe(row):
    """The share of the rounds' cycles in which the memory pipe moves: a wavefront of 128 bytes or an
    exchange a cycle and multiprocessor."""
    plan = row["plan"]
    cycles = next(value for side, value in row["cycles"].items() if side.startswith("weft"))
    return (plan["wavefronts"] + plan["shuffles"]) * row["warps"] * row["blocks"] / cycles


CLASSES = {"warp": "inside a warp", "block": "across warps", "matrix": "tensor-core layouts", None: "all"}


def classes(rows):
    """A row of text for each class of each type."""
    table = []
    for element in BITS:
        for kind, name in CLASSES.items():
            some = [row for row in rows if row["element"] == element and kind in (None, row["class"])]
            if not some:
                continue
            slower = [row for row in some if is_slower(row)]
            worst = min(ratio(row["net"]) for row in some)
            busy = [pipe(row) for row in some if row["plan"]["wavefronts"] + row["plan"]["shuffles"]]
            share = f"{100 * statistics.fmean(busy):.0f} %" if busy else ""
            table.append([element, name, str(len(some)), f"{mean(ratio(row['net']) for row in some):.2f}", f"{worst:.2f}", str(len(slower)), share])
    return table


def told(what, command, versions, machine, columns, rows):
    """A measurement as the documents read it."""
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"what": what, "command": command, "versions": versions, "machine": machine, "date": date, "columns": columns, "rows": rows}


def written(measured, key):
    """The text of a file: what the documents read, then one line for each row under `key`."""
    rows = ",\n".join("    " + json.dumps(row) for row in measured[key])
    head = json.dumps({name: value for name, value in measured.items() if name != key}, indent=2)
    return f'{head.removesuffix(chr(10) + "}")},\n  "{key}": [\n{rows}\n  ]\n}}\n'


def show(run):
    rows = run["points"]
    print(f"{run['machine']}, {len(rows)} points; wrong: {[(r['number'], r['wrong']) for r in rows if r['wrong']]}")
    for row in run["rows"]:
        print(" | ".join(row))
    for row in sorted(filter(is_slower, rows), key=lambda row: ratio(row["net"])):
        net = " ".join(f"{side}={value:.0f}" for side, value in row["net"].items())
        print(f"{ratio(row['net']):.2f} {row['number']} {row['element']} {row['shape']} {row['pair']}: {net} x{row['blocks']} {[*row['registers'].values()]} {row['plan']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", help="numbers of lines of the grid, with commas; all by default")
    commands = parser.add_subparsers(dest="command", required=True)
    compiling = commands.add_parser("compile")
    compiling.add_argument("output", type=Path)
    timing = commands.add_parser("time")
    timing.add_argument("ours", type=Path)
    timing.add_argument("cubins", type=Path, nargs="+")
    timing.add_argument("--output", type=Path)
    for name in ("count", "once"):
        counting = commands.add_parser(name)
        counting.add_argument("ours", type=Path)
        counting.add_argument("--output", type=Path)
    options = parser.parse_args()
    numbers = options.points and {int(number) for number in options.points.split(",")}
    if options.command == "compile":
        compile_all(options.output, grid(numbers))
        return
    if options.command == "once":
        launch_once(options.ours, numbers)
        return
    if options.command == "count":
        assemble(options.ours)
        counted = count_all(options.ours, grid(numbers))
        if options.output:
            options.output.write_text(written(counted, "kernels"))
        rows = counted["kernels"]
        different = list(filter(differs, rows))
        through = sum(row["plan"] > 0 for row in rows)
        print(f"{len(rows)} kernels counted, {through} use shared memory, {len(different)} differ from their plans")
        print("\n".join(map(str, different[:40])))
        return
    assemble(options.ours)
    run = time_all([options.ours, *options.cubins], grid(numbers))
    if options.output:
        options.output.write_text(written(run, "points"))
    show(run)


if __name__ == "__main__":
    main()
