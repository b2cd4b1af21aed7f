"""Triton's own programs under Weft: on the simulator, and as far as the assembler without a GPU."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import weft

np = pytest.importorskip("numpy")
triton = pytest.importorskip("triton")

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor

import weft.triton
from weft.triton._arguments import Array, Storages

HERE = Path(__file__).name


@pytest.fixture
def simulator():
    with weft.triton.enabled(device="simulator"):
        yield


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    total = tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask)
    tl.store(out + at, total, mask=mask)


@triton.jit
def unmasked(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + 1)  # here


@triton.jit
def everybody_counts(total):
    tl.store(total, tl.load(total) + 1)


@triton.jit
def everybody_says_one(out):
    tl.store(out, 1)


@triton.jit
def pairs_say_one(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N) // 2, 1)


@triton.jit
def divided(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at) // tl.load(y + at))  # by zero


@triton.jit
def narrowed(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at).to(tl.int8))


@triton.jit
def reverse(x, N: tl.constexpr, ORDERED: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + (N - 1 - at))
    if ORDERED:
        tl.debug_barrier()
    tl.store(x + at, value)


@triton.jit
def says(x):
    tl.device_print("x is", x)


@triton.jit
def long(out, rounds):
    value = 0
    for turn in range(rounds):
        value = value * 3 + turn
    tl.store(out, value)


@triton.jit
def unknown_assembly(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise("frob.f32 $0, $1;", "=r,r", [tl.load(x + at)], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(x + at, value)


@triton.jit
def product_of_blocks(a, b, out, k, pitch, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        sums = tl.dot(a.load([row, start]), b.load([column, start]).T, sums)
    rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
    tl.store(out + rows[:, None] * pitch + columns[None, :], sums)


@triton.jit
def described_product(a, b, out, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    sums = tl.zeros([M, N], tl.float32)
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    for start in range(0, k, K):
        sums = tl.dot(a.load([row, start]), b.load([column, start]).T, sums)
    out.store([row, column], sums.to(tl.float16))


@triton.jit
def made_product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    described_product(
        tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K]),
        tl.make_tensor_descriptor(b, [n, k], [k, 1], [N, K]),
        tl.make_tensor_descriptor(out, [m, n], [n, 1], [M, N]),
        k,
        M,
        N,
        K,
    )


@triton.jit
def described_maxima(block, x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    block.atomic_max([0, 0], tl.load(x + at))


@triton.jit
def described_turns(x, y, out, rounds, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for row in range(rounds):
        total += x.load([row, 0])
        x, y = y, x
    tl.store(out + at, total)


@triton.jit
def described_blocks(block, out, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, block.load([row, column]))


@triton.jit
def through_descriptor(block, out, row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = block.load([row, 0])
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tile)


@triton.jit
def of_tuples(pair, out, factors, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(pair[0] + at) * factors[0] + tl.load(pair[1] + at) * factors[1]
    tl.store(out + at, value)


@triton.jit
def optional(x, other, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    if other is not None:
        value += tl.load(other + at)
    tl.store(out + at, value)


@triton.jit
def told(a, b):
    tl.device_print("sum", a + b)
    return a + b


@triton.jit
def told_sum(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, BLOCK)), 0, told))


@triton.jit
def checked(a, b):
    tl.device_assert(a + b < 1000)  # checked
    return a + b


@triton.jit(debug=True)
def checked_sums(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 0, checked))


@triton.jit(noinline=True)
def first_rows(described, row):
    return described.load([row, 0])


@triton.jit
def by_turns(x, y, out, rounds, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    first = tl.make_tensor_descriptor(x, [rounds, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    second = tl.make_tensor_descriptor(y, [rounds, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for row in range(rounds):
        total += first_rows(first, row)
        first, second = second, first
    places = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + places, total)


@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 256}, num_warps=8)], key=["n"])
@triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
@triton.jit
def doubled(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out + at, tl.load(x + at) * 2)
    else:
        tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def add_source(**types):
    signature = dict(x="*fp32", y="*fp32", out="*fp32", n="i32", BLOCK="constexpr") | types
    return ASTSource(add, signature, {(4,): 256}, {(0,): [["tt.divisibility", 16]]})


def compiled(capability=90, **options):
    return triton.compile(add_source(), target=GPUTarget("cuda", capability, 32), options=options)


def test_a_launch_computes_and_reports(simulator):
    x, y, out = numbers(1000), numbers(1000, seed=1), np.zeros(1000, np.float32)
    add[(8,)](x, y, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x + y)
    report = weft.triton.last_report()
    assert (report.name, report.grid, report.target, report.warps) == ("add", (8, 1, 1), "sm_90", 4)
    assert report.sectors == report.ideal_sectors == 3 * 4000 // 32
    assert report.findings == report.races == ()
    assert "findings           none" in str(report)


def test_a_view_is_where_it_is_in_its_array(simulator):
    x, out = numbers(64), np.zeros(64, np.float32)
    add[(1,)](x[3:19], x[16:32], out[5:21], 16, BLOCK=16)
    np.testing.assert_array_equal(out[5:21], x[3:19] + x[16:32])
    assert (out[:5] == 0).all() and (out[21:] == 0).all()


def test_a_view_ends_where_it_ends(simulator):
    whole = numbers(256)
    with pytest.raises(weft.triton.LaunchError) as caught:
        unmasked[(1,)](whole[8:40], np.zeros(64, np.float32), BLOCK=64)
    assert caught.value.report.out_of_range
    assert "`x`, which has 128" in str(caught.value)
    # Rows of a matrix, whose view ends with the last element of the last row.
    rows = numbers(8, 32)[:, :16]
    assert Array(rows).storage[1] - rows.ctypes.data == (7 * 32 + 16) * 4


def test_views_that_share_bytes_are_one_buffer():
    whole = numbers(64)
    views = [("x", whole[3:19]), ("y", whole[16:32]), ("z", whole[40:44])]
    storages = Storages([(name, Array(view)) for name, view in views])
    assert [name for name, _ in storages.bytes()] == ["x", "z"]
    assert [len(memory) for _, memory in storages.bytes()] == [32 * 4, 4 * 4]
    for _, view in views:
        index, offset = storages.pointer(Array(view))
        place = storages.buffers[index][1] + offset
        assert place == view.ctypes.data
        assert offset % 16 == (place - whole.ctypes.data) % 16, "as aligned as in the whole array"


def test_a_view_that_runs_backward_is_all_its_bytes():
    whole = numbers(64)
    low, high = Array(whole[32:16:-1]).storage
    assert (low - whole.ctypes.data, high - whole.ctypes.data) == (17 * 4 - 4, 33 * 4)


def test_one_array_may_be_several_arguments(simulator):
    x = numbers(256)
    expected = x + x
    add[(1,)](x, x, x, 256, BLOCK=256)
    np.testing.assert_array_equal(x, expected)


def test_what_leaves_an_array_is_told_with_its_line(simulator):
    with pytest.raises(weft.triton.LaunchError) as caught:
        unmasked[(1,)](numbers(10), np.zeros(64, np.float32), BLOCK=64)
    report = caught.value.report
    assert report.out_of_range and report is weft.triton.last_report()
    assert f"{HERE}:{line_with('# here')}:" in str(report.out_of_range[0].place)
    assert "`x`, which has 40" in str(caught.value)


def test_what_only_a_barrier_of_weft_orders_is_a_warning():
    expected = np.arange(1024, dtype=np.int32)[::-1]
    with weft.triton.enabled(device="simulator"):
        x = np.arange(1024, dtype=np.int32)
        with pytest.warns(weft.triton.LaunchWarning, match="but for a barrier that weft inserts"):
            reverse[(1,)](x, 1024, False)
        np.testing.assert_array_equal(x, expected)
        report = weft.triton.last_report()
        assert report.findings == () and {each.kind for each in report.unordered} == {"unordered"}
        x = np.arange(1024, dtype=np.int32)
        reverse[(1,)](x, 1024, True)
        np.testing.assert_array_equal(x, expected)
    assert weft.triton.last_report().unordered == ()


def test_a_race_is_a_finding():
    total = np.zeros(1, np.int32)
    with weft.triton.enabled(device="simulator", findings="warn"):
        with pytest.warns(weft.triton.LaunchWarning, match="race"):
            everybody_counts[(4,)](total)
    assert weft.triton.last_report().races
    with weft.triton.enabled(device="simulator", findings="keep"):
        everybody_counts[(4,)](total)
    assert weft.triton.last_report().races


def test_stores_of_one_value_are_a_note_or_a_race():
    for launch in (lambda out: everybody_says_one[(4,)](out), lambda out: pairs_say_one[(1,)](out, 64)):
        out = np.zeros(32, np.int32)
        with weft.triton.enabled(device="simulator"):
            launch(out)
        report = weft.triton.last_report()
        assert report.findings == () and {note.kind for note in report.notes} == {"equal stores"}
        with weft.triton.enabled(device="simulator", equal_stores="race"):
            with pytest.raises(weft.triton.LaunchError):
                launch(out)
        assert weft.triton.last_report().races


def test_a_division_by_zero_is_a_note_with_its_line(simulator):
    x, zeros = np.array([5, -5, 0, 1], np.int32), np.zeros(4, np.int32)
    divided[(1,)](x, zeros, np.zeros(4, np.int32), 4)
    report = weft.triton.last_report()
    (note,) = report.notes
    assert report.findings == () and note.kind == "undefined"
    assert f"{HERE}:{line_with('# by zero')}:" in str(note.place)
    divided[(1,)](x, np.ones(4, np.int32), np.zeros(4, np.int32), 4)
    assert weft.triton.last_report().notes == ()


def test_what_a_byte_does_not_hold_becomes_what_it_does_under_triton(simulator):
    out = np.zeros(4, np.int8)
    # Its instruction makes 16 bits, of which the low ones are kept.
    narrowed[(1,)](np.array([300, -300, 100, -128], np.float32), out, 4)
    assert out.tolist() == [44, -44, 100, -128]


def test_what_a_kernel_prints_is_printed(simulator, capsys):
    says[(1,)](42)
    assert "x is" in capsys.readouterr().out
    assert "42" in weft.triton.last_report().printed[0]


def test_numbers_are_specialised_as_by_triton(simulator):
    x, y, out = numbers(1), numbers(1), np.zeros(1, np.float32)
    kernel = add[(1,)](x, y, out, 1, BLOCK=16)
    assert kernel.asm["ttir"].count("%n") == 0, "an argument of 1 is a constant"
    kernel = add[(1,)](np.zeros(16, np.float32), y, out, 0, BLOCK=16)
    assert "%n: i32 {tt.divisibility = 16" in kernel.asm["ttir"]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float16", "float64", "bool"])
def test_types_go_both_ways(simulator, dtype):
    x = (numbers(100) * 10).astype(dtype)
    y, out = x[::-1].copy(), np.zeros(100, dtype)
    add[(2,)](x, y, out, 100, BLOCK=64)
    expected = x ^ y if dtype == "bool" else x + y
    np.testing.assert_array_equal(out, expected)


def test_tuples_nothing_and_descriptors_are_arguments(simulator):
    x, y, out = numbers(64), numbers(64, seed=1), np.zeros(64, np.float32)
    of_tuples[(1,)]((x, y), out, (2.0, 3.0), BLOCK=64)
    np.testing.assert_allclose(out, x * 2 + y * 3, rtol=1e-6)
    optional[(1,)](x, None, out, BLOCK=64)
    np.testing.assert_array_equal(out, x)
    optional[(1,)](x, y, out, BLOCK=64)
    np.testing.assert_array_equal(out, x + y)
    rows, tile = numbers(24, 32), np.zeros((16, 32), np.float32)
    descriptor = TensorDescriptor(weft.triton.array(rows), [24, 32], [32, 1], [16, 32])
    through_descriptor[(1,)](descriptor, tile, 12, ROWS=16, COLUMNS=32)
    np.testing.assert_array_equal(tile, np.vstack([rows[12:], np.zeros((4, 32), np.float32)]))


def described(array, block, padding="zero", **options):
    """A descriptor of a matrix whose rows may be longer than what it tells of them."""
    strides = [stride // array.itemsize for stride in array.strides]
    whole = weft.triton.array(array if array.base is None else array.base)
    descriptor = TensorDescriptor(whole, list(array.shape), strides, block, **options)
    # Triton asks PyTorch's types alone whether they are floats.
    descriptor.padding = padding
    return descriptor


# Rows of whole 16 bytes, and others.
@pytest.mark.parametrize("k", [96, 90])
def test_products_take_descriptors(simulator, k):
    m, n, pitch = 80, 72, 104
    random = np.random.default_rng(k)
    a, b, out = (
        random.integers(-2, 3, (rows, pitch)).astype(np.float16)[:, :columns]
        for rows, columns in ((m, k), (n, k), (m, n))
    )
    before = out.base.copy()
    described_product[(2, 2)](
        described(a, [64, 32]), described(b, [64, 32]), described(out, [64, 64]), k, M=64, N=64, K=32
    )
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.T.astype(np.float32))
    np.testing.assert_array_equal(out.base[:, n:], before[:, n:])
    assert not weft.triton.last_report().findings


# Where all that a kernel does with its descriptors is to multiply blocks, Hopper's copy engine brings these.
@pytest.mark.parametrize(("target", "by_maps"), [("sm_90", True), ("sm_80", False)])
def test_blocks_come_by_tensor_maps(target, by_maps):
    m, n, k, pitch = 80, 72, 90, 112
    random = np.random.default_rng(k)
    a, b = (random.integers(-2, 3, (rows, pitch)).astype(np.float16)[:, :k] for rows in (m, n))
    out = np.zeros((128, 128), np.float32)
    with weft.triton.enabled(device="simulator", target=target):
        kernel = product_of_blocks[(2, 2)](
            described(a, [64, 64]), described(b, [64, 64]), out, k, 128, M=64, N=64, K=64
        )
    expected = a.astype(np.float32) @ b.T.astype(np.float32)
    np.testing.assert_array_equal(out[:m, :n], expected)
    assert not out[m:].any() and not out[:, n:].any()
    assert not weft.triton.last_report().findings
    # A swizzle of 128 bytes, and f16, as Triton's launcher numbers them.
    each = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": False}
    assert kernel.metadata.tensordesc_meta == ([each | {"stores": False}] * 2 if by_maps else [])


# What is stored through a descriptor goes the same way, in rows of whole 16 bytes.
def test_blocks_are_stored_through_tensor_maps():
    a, b, out = (np.ones((64, 64), np.float16) for _ in range(3))
    with weft.triton.enabled(device="simulator"):
        kernel = described_product[(1, 1)](
            described(a, [64, 32]), described(b, [64, 32]), described(out, [64, 64]), 64, M=64, N=64, K=32
        )
    np.testing.assert_array_equal(out, 64 * np.ones((64, 64), np.float16))
    *_, stored = kernel.metadata.tensordesc_meta
    assert stored == {
        "swizzle": 3,
        "elem_size": 2,
        "elem_type": 6,
        "block_size": [64, 64],
        "fp4_padded": False,
        "stores": True,
    }
    passed = []
    inner = lambda *arguments: passed.append(arguments)  # noqa: E731
    compiler = weft.triton._compiler
    compiler.described(inner, described(out, [64, 64]), stored)
    ragged = described(out[:, :60], [64, 64])
    compiler.described(inner, ragged, stored | {"stores": False})
    compiler.described(inner, ragged, None)
    with pytest.raises(ValueError, match="rows of 120 bytes"):
        compiler.described(inner, ragged, stored)
    assert len(passed) == 3


# Descriptors that a kernel makes are maps as well, where it is seen that rows are whole 16 bytes.
@pytest.mark.parametrize(("n", "by_maps"), [(80, True), (88, False)])
def test_kernels_make_tensor_maps(n, by_maps):
    m, k = 70, 96
    random = np.random.default_rng(n)
    a, b = (random.integers(-2, 3, (rows, k)).astype(np.float16) for rows in (m, n))
    out = np.zeros((m, n), np.float16)
    with weft.triton.enabled(device="simulator"):
        kernel = made_product[(2, 2)](a, b, out, m, n, k, M=64, N=64, K=32)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.T.astype(np.float32))
    assert not weft.triton.last_report().findings
    assert kernel.metadata.global_scratch_size == 128 * (3 if by_maps else 2)


# Before sm_90 Triton would make pointers of what is given.
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_given_descriptors_are_carried(target):
    x, y, out = numbers(8, 16), numbers(8, 16, seed=1), np.zeros((4, 16), np.float32)
    with weft.triton.enabled(device="simulator", target=target):
        test_products_take_descriptors(None, 96)
        described_turns[(1,)](described(x, [4, 16]), described(y, [4, 16]), out, 3, ROWS=4, COLUMNS=16)
    np.testing.assert_allclose(out, x[0:4] + y[1:5] + x[2:6], rtol=1e-6)


# Of floats of 16 bits Triton has no pointers for this.
@pytest.mark.parametrize("columns", [32, 29])
def test_maxima_go_through_descriptors(simulator, columns):
    x, out = numbers(16, 32).astype(np.float16), np.zeros((16, 32), np.float16)
    described_maxima[(1,)](described(out[:, :columns], [16, 32]), x, ROWS=16, COLUMNS=32)
    expected = np.maximum(x, 0)
    expected[:, columns:] = 0
    np.testing.assert_array_equal(out, expected)


# Extents of whole 16 bytes and others; a corner before the first row and the last column.
@pytest.mark.parametrize("columns", [32, 29])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_what_is_outside_of_a_descriptor_is_padding(simulator, columns, padding):
    rows = numbers(24, 32)[:, :columns]
    outside = 0 if padding == "zero" else np.nan
    padded = np.pad(rows, ((16, 16), (16, 16 + 32 - columns)), constant_values=outside)
    for row, column in ((0, 0), (12, 24), (-5, -8), (-16, 0), (2**31 - 4, 0), (0, 2**31 - 8)):
        out = np.zeros((16, 16), np.float32)
        descriptor = described(rows, [16, 16], padding=padding)
        described_blocks[(1,)](descriptor, out, row, column, ROWS=16, COLUMNS=16)
        if max(row, column) > 100:
            expected = np.full((16, 16), outside, np.float32)
        else:
            expected = padded[row + 16 : row + 32, column + 16 : column + 32]
        np.testing.assert_array_equal(out, expected, f"from {row}, {column}")


@pytest.mark.skipif(not hasattr(TensorDescriptor, "round_f32_to_tf32"), reason="an older Triton")
def test_descriptors_round_to_tf32(simulator):
    special = np.array([np.inf, -np.inf, np.nan, 0, -0.0, 1e-45, 3.4028235e38, -1], np.float32)
    # Ties, and their neighbours.
    bits = (0x3F80_0000 + np.arange(56) * 0x1000 + np.arange(56) % 3 - 1).astype(np.uint32)
    x = np.concatenate([special, bits.view(np.float32)]).reshape(4, 16)
    as_bits = x.view(np.uint32)
    rounded = (as_bits + 0xFFF + ((as_bits >> 13) & 1)) & np.uint32(0xFFFF_E000)
    expected = np.where(np.isfinite(x), rounded.view(np.float32), x)
    for rounds in (False, True):
        out = np.zeros((4, 16), np.float32)
        descriptor = described(x, [4, 16], round_f32_to_tf32=rounds)
        described_blocks[(1,)](descriptor, out, 0, 0, ROWS=4, COLUMNS=16)
        np.testing.assert_array_equal(out, expected if rounds else x)


def test_what_folds_may_assert(simulator):
    x, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    checked_sums[(1,)](x, out, BLOCK=32)
    np.testing.assert_array_equal(out, np.cumsum(x))
    with pytest.raises(weft.triton.LaunchError) as caught:
        checked_sums[(1,)](x + 100, out, BLOCK=32)
    assert f"{HERE}:{line_with('# checked')}" in str(caught.value)


@pytest.mark.small
def test_descriptors_are_carried_and_handed_over(simulator):
    x, y, out = numbers(8, 16), numbers(8, 16, seed=1), np.zeros((4, 16), np.float32)
    by_turns[(1,)](x, y, out, 5, ROWS=4, COLUMNS=16)
    rows = np.stack([np.pad(each[:5], ((0, 4), (0, 0))) for each in (x, y)])
    expected = np.zeros_like(out)
    for row in range(5):
        expected += rows[row % 2, row : row + 4]
    np.testing.assert_array_equal(out, expected)


def test_tuning_and_heuristics_work(simulator):
    x = numbers(1000)
    for n in (1000, 768):
        out = np.zeros(1000, np.float32)
        doubled[lambda given: (triton.cdiv(n, given["BLOCK"]),)](x, out, n)
        np.testing.assert_array_equal(out[:n], x[:n] * 2)
    # Fewer, longer accesses are less work.
    assert doubled.best_config.kwargs["BLOCK"] == 256


def test_an_array_that_is_read_only_stays_as_it_is(simulator):
    x, y, out = numbers(32), numbers(32), np.zeros(32, np.float32)
    for array in (x, y, out):
        array.flags.writeable = False
    with pytest.raises(weft.triton.LaunchError, match="of `out`, which is read-only"):
        add[(1,)](x, y, out, 32, BLOCK=32)
    assert (out == 0).all()


def test_an_interrupt_ends_a_launch(simulator):
    out = np.full(1, -1, np.int32)
    # Where a process runs in the background, a shell lets it ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            long[(1,)](out, 2_000_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert out[0] == -1


def test_what_only_a_gpu_can_run_is_refused_by_name(simulator):
    with pytest.raises(weft.WeftError, match="frob.f32"):
        unknown_assembly[(1,)](numbers(128), BLOCK=128)


def test_an_argument_that_is_no_array_is_refused(simulator):
    with pytest.raises(TypeError):
        unmasked[(1,)]([1, 2, 3], np.zeros(16, np.float32), BLOCK=16)


def test_kernels_are_compiled_for_gpus_without_one():
    with weft.triton.enabled():
        kernel = compiled()
    assert list(kernel.asm) == ["source", "ttir", "ptx", "cubin"]
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    assert (kernel.metadata.num_warps, kernel.metadata.shared) == (4, 0)


def test_neither_takes_the_others_kernels_from_the_cache():
    own = compiled()
    with weft.triton.enabled():
        ours = compiled()
        assert compiled().hash == ours.hash
    with weft.triton.enabled(device="simulator"):
        simulated = compiled()
    assert len({own.hash, ours.hash, simulated.hash}) == 3
    assert "ttgir" in own.asm and "ttgir" in compiled().asm


def line_with(comment):
    lines = Path(__file__).read_text().splitlines()
    return 1 + next(number for number, text in enumerate(lines) if text.endswith(comment))


def test_what_is_not_compiled_is_an_exception_or_left_to_triton(caplog):
    source = ASTSource(told_sum, dict(x="*i32", out="*i32", BLOCK="constexpr"), {(2,): 128})
    target = GPUTarget("cuda", 90, 32)
    with weft.triton.enabled():
        with pytest.raises(weft.triton.KernelError, match="`print` may not stand in a region that folds") as caught:
            triton.compile(source, target=target)
    assert f"{HERE}:" in str(caught.value) and "device_print" in str(caught.value)
    assert Path(caught.value.details["source"]["file"]).name == HERE
    with weft.triton.enabled(fallback="triton"):
        kernel = triton.compile(source, target=target)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    assert "region that folds" in caplog.text


def test_a_program_is_one_block_whatever_cluster_was_asked_for():
    with weft.triton.enabled():
        assert compiled(num_ctas=2).metadata.num_ctas == 1


def test_installing_can_be_undone_and_switched_off(monkeypatch):
    assert not weft.triton.installed()
    weft.triton.install()
    weft.triton.install(device="simulator")
    assert weft.triton.installed()
    weft.triton.uninstall()
    weft.triton.uninstall()
    assert not weft.triton.installed()
    assert triton.knobs.runtime.add_stages_inspection_hook is None
    monkeypatch.setenv("WEFT_DISABLE", "1")
    weft.triton.install()
    assert not weft.triton.installed()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (dict(device="gpu"), "`device` is one of 'cuda', 'simulator', not 'gpu'"),
        (dict(fallback="no"), "`fallback` is one of"),
        (dict(device="simulator", findings="all"), "`findings` is one of"),
        (dict(target="sm_80"), "`target` is for the simulator"),
        (dict(device="simulator", fallback="triton"), "no other compiler"),
        (dict(device="simulator", target="sm_12"), "there is no target `sm_12`"),
        (dict(device="simulator", target="gfx942"), "NVIDIA"),
    ],
)
def test_what_cannot_be_installed_is_refused(options, said):
    with pytest.raises((ValueError, weft.WeftError), match=said):
        weft.triton.install(**options)
    assert not weft.triton.installed()


def test_without_a_gpu_the_simulator_is_named(monkeypatch):
    from triton.backends import backends
    from triton.runtime.driver import DriverConfig

    for backend in backends.values():
        monkeypatch.setattr(backend.driver, "is_active", lambda: False)
    with weft.triton.enabled(), pytest.raises(RuntimeError, match="0 active drivers") as caught:
        DriverConfig().default
    assert 'install(device="simulator")' in caught.value.__notes__[0]


def test_a_second_process_finds_the_kernel_in_the_cache(tmp_path):
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_triton import compiled
import triton, weft.triton
hits = []
triton.knobs.compilation.listener = lambda **said: hits.append(said["cache_hit"])
weft.triton.install()
compiled()
print(hits)
"""
    environment = dict(os.environ, TRITON_CACHE_DIR=str(tmp_path))
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["[False]", "[True]"]
