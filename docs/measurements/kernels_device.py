#!/usr/bin/env python3
"""The kernels of `kernels/` on a GPU: beside PyTorch for their results, beside Triton for their times.

    cargo build --release --package weft-command
    python docs/measurements/kernels_device.py compare   # into kernels_against_torch.json
    python docs/measurements/kernels_device.py time      # into kernels_against_triton.json

Needs a GPU, PyTorch, Triton and CuPy (which loads the PTX). `compare` launches Weft's PTX on arrays of
ragged sizes and holds every output against what PyTorch's own functions compute. `time` launches each
kernel on large arrays through Triton and as the PTX that Weft makes of the same Triton IR, in turn,
after comparing the two.
Times are medians of three medians of `triton.testing.do_bench`. A rate counts every array once, read
or written, or two operations for each product. Limits are measured in the same run: of memory the
rate of PyTorch's copy of a large array, of products that of `mma.sync` alone, with nothing to load; what
is launched takes a while to begin and to end, so a copy of as many bytes is timed too. That of f16 holds
for f8 too: on Hopper `mma.sync` multiplies them as f16.
"""

import argparse
import datetime
import importlib.util
import json
import math
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import cupy
import torch
import torch.nn.functional as F
import triton

ROOT = Path(__file__).resolve().parent.parent.parent
WARPS = 4
LOG2_E = 1.4426950408889634
CASES = {}


class Case(NamedTuple):
    """One launch."""

    size: str
    grid: tuple
    # In the kernel's order: tensors and numbers.
    arguments: dict
    # By output: what PyTorch computes.
    expected: dict
    # Bytes or operations of the launch, and the limit that it is held against.
    work: tuple = None


def case(torch_name, timed=True):
    """Registers a function of a kernel's name that makes its case, small and ragged or large."""

    def register(make):
        CASES[make.__name__] = (torch_name, timed, make)
        return make

    return register


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, device="cuda", dtype=dtype)


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(*shape, device="cuda", dtype=dtype)


def integers(low, high, *shape, dtype=torch.int32):
    return torch.randint(low, high, shape, device="cuda", dtype=dtype)


def memory(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors), "memory"


def cdiv(a, b):
    return (a + b - 1) // b


def padded(columns):
    """A stride that is a multiple of 16."""
    return cdiv(columns, 16) * 16


# Normalisation.


def rows_of(large, small=(37, 900), big=(32768, 1024), dtype=torch.float32):
    """Rows, columns, a stride, and an array whose rows lie that far apart."""
    rows, columns = big if large else small
    stride = padded(columns)
    return rows, columns, stride, rand(rows, stride, dtype=dtype)


def part(array, columns):
    return array[:, :columns].float()


@case("softmax")
def softmax_several_rows(large):
    rows, columns, stride, x = rows_of(large, (37, 200), (131072, 256))
    out = zeros(rows, stride)
    arguments = dict(x=x, out=out, rows=rows, columns=columns, x_stride=stride, out_stride=stride)
    expected = {"out": F.pad(torch.softmax(part(x, columns), 1), (0, stride - columns))}
    return Case(f"{rows} x {columns}", (cdiv(rows, 4),), arguments, expected, memory(x, out))


@case("softmax")
def softmax_online(large):
    rows, columns, stride, x = rows_of(large, (7, 5000), (4096, 16384), torch.float16)
    out = zeros(rows, stride, dtype=torch.float16)
    expected = {"out": F.pad(torch.softmax(part(x, columns), 1), (0, stride - columns))}
    arguments = dict(x=x, out=out, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}, f16", (rows,), arguments, expected, memory(x, out))


@case("softmax")
def softmax_persistent(large):
    rows, columns, stride, x = rows_of(large, (37, 300), (131072, 512))
    out = zeros(rows, stride)
    expected = {"out": F.pad(torch.softmax(part(x, columns), 1), (0, stride - columns))}
    arguments = dict(x=x, out=out, rows=rows, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}", (132 * 8 if large else 5,), arguments, expected, memory(x, out))


@case("softmax, autograd")
def softmax_backward(large):
    rows, columns, stride, x = rows_of(large)
    x.requires_grad_()
    y, dy, dx = torch.softmax(x[:, :columns], 1), rand(rows, stride), zeros(rows, stride)
    expected = {} if large else {"dx": torch.autograd.grad(y, x, dy[:, :columns])[0]}
    y = F.pad(y.detach(), (0, stride - columns))
    arguments = dict(y=y, dy=dy, dx=dx, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}", (rows,), arguments, expected, memory(y, dy, dx))


@case("log_softmax")
def log_softmax(large):
    rows, columns, stride, x = rows_of(large, dtype=torch.bfloat16)
    out = zeros(rows, stride)
    expected = {"out": F.pad(torch.log_softmax(part(x, columns), 1), (0, stride - columns))}
    arguments = dict(x=x, out=out, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}, bf16", (rows,), arguments, expected, memory(x, out))


@case("layer_norm")
def layer_norm_forward(large):
    rows, columns, stride, x = rows_of(large, (37, 1500), (16384, 4096), torch.float16)
    weight, bias = rand(columns), rand(columns)
    out, means, inverses = zeros(rows, stride, dtype=torch.float16), empty(rows), empty(rows)
    values = part(x, columns)
    expected = {
        "out": F.pad(F.layer_norm(values, (columns,), weight, bias, 1e-5), (0, stride - columns)),
        "means": values.mean(1),
        "inverses": (values.var(1, unbiased=False) + 1e-5).rsqrt(),
    }
    arguments = dict(x=x, weight=weight, bias=bias, out=out, means=means, inverses=inverses, columns=columns, stride=stride, epsilon=1e-5)
    return Case(f"{rows} x {columns}, f16", (rows,), arguments, expected, memory(x, out))


@case("layer_norm, autograd", timed=False)
def layer_norm_backward(large):
    rows, columns, stride, x = rows_of(large, dtype=torch.float16)
    weight, bias, dy = rand(columns).requires_grad_(), rand(columns).requires_grad_(), rand(rows, stride, dtype=torch.float16)
    values = part(x, columns).requires_grad_()
    result = F.layer_norm(values, (columns,), weight, bias, 1e-5)
    dx, dw, db = torch.autograd.grad(result, (values, weight, bias), part(dy, columns))
    groups = 2
    means, inverses = values.detach().mean(1), (values.detach().var(1, unbiased=False) + 1e-5).rsqrt()
    arguments = dict(
        x=x, weight=weight.detach(), dy=dy, means=means, inverses=inverses, dx=zeros(rows, stride, dtype=torch.float16),
        dw=zeros(groups, columns), db=zeros(groups, columns), locks=zeros(2 * groups, dtype=torch.int32), columns=columns, stride=stride,
    )  # fmt: skip
    expected = {"dx": F.pad(dx, (0, stride - columns)), "dw": dw, "db": db}
    return Case(f"{rows} x {columns}, f16", (rows,), arguments, expected)


@case("sum", timed=False)
def layer_norm_weights(large):
    rows, columns = 300, 200
    dw, db = rand(rows, columns), rand(rows, columns)
    arguments = dict(dw=dw, db=db, weight=empty(columns), bias=empty(columns), rows=rows, columns=columns)
    return Case(f"{rows} x {columns}", (cdiv(columns, 128),), arguments, {"weight": dw.sum(0), "bias": db.sum(0)})


@case("var_mean")
def layer_norm_welford(large):
    rows, columns, stride, x = rows_of(large, (37, 900), (16384, 4096))
    out, means, variances = zeros(rows, stride), empty(rows), empty(rows)
    values = part(x, columns)
    variance, mean = torch.var_mean(values, 1, correction=0)
    normal = F.layer_norm(values, (columns,), None, None, 1e-5)
    expected = {"out": F.pad(normal, (0, stride - columns)), "means": mean, "variances": variance}
    arguments = dict(x=x, out=out, means=means, variances=variances, columns=columns, stride=stride, epsilon=1e-5)
    return Case(f"{rows} x {columns}", (rows,), arguments, expected, memory(x, out))


@case("rms_norm")
def rms_norm_forward(large):
    rows, columns, stride, x = rows_of(large, dtype=torch.bfloat16)
    weight, out, inverses = rand(columns, dtype=torch.bfloat16), zeros(rows, stride, dtype=torch.bfloat16), empty(rows)
    values = part(x, columns)
    expected = {"out": F.pad(F.rms_norm(values, (columns,), weight.float(), 1e-6), (0, stride - columns))}
    expected["inverses"] = (values.square().mean(1) + 1e-6).rsqrt()
    arguments = dict(x=x, weight=weight, out=out, inverses=inverses, columns=columns, stride=stride, epsilon=1e-6)
    return Case(f"{rows} x {columns}, bf16", (rows,), arguments, expected, memory(x, out))


@case("rms_norm, autograd", timed=False)
def rms_norm_backward(large):
    rows, columns, stride, x = rows_of(large, dtype=torch.bfloat16)
    weight, dy = rand(columns, dtype=torch.bfloat16), rand(rows, stride, dtype=torch.bfloat16)
    values, scale = part(x, columns).requires_grad_(), weight.float().requires_grad_()
    dx, dw = torch.autograd.grad(F.rms_norm(values, (columns,), scale, 1e-6), (values, scale), part(dy, columns))
    inverses = (values.detach().square().mean(1) + 1e-6).rsqrt()
    outs = dict(dx=zeros(rows, stride, dtype=torch.bfloat16), dw=zeros(columns))
    arguments = dict(x=x, weight=weight, dy=dy, inverses=inverses, **outs, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}, bf16", (rows,), arguments, {"dx": F.pad(dx, (0, stride - columns)), "dw": dw})


@case("group_norm", timed=False)
def group_norm(large):
    images, channels, groups, pixels = 3, 6, 2, 200
    x, weight, bias, out = rand(images, channels, pixels), rand(channels), rand(channels), empty(images, channels, pixels)
    arguments = dict(x=x, weight=weight, bias=bias, out=out, channels=channels, groups=groups, pixels=pixels, epsilon=1e-5)
    expected = {"out": F.group_norm(x, groups, weight, bias, 1e-5)}
    return Case(f"{images} x {channels} x {pixels}", (images, groups), arguments, expected)


# Losses and training.


@case("cross_entropy")
def cross_entropy_forward(large):
    rows, columns, stride, logits = rows_of(large, (37, 5000), (4096, 32768), torch.bfloat16)
    targets = integers(0, columns, rows, dtype=torch.int64)
    targets[3] = -100
    losses, logs = empty(rows), empty(rows)
    values = part(logits, columns)
    expected = {"losses": F.cross_entropy(values, targets, reduction="none", label_smoothing=0.1), "logs": values.logsumexp(1)}
    arguments = dict(logits=logits, targets=targets, losses=losses, logs=logs, columns=columns, stride=stride, ignored=-100, smoothing=0.1)
    return Case(f"{rows} x {columns}, bf16", (rows,), arguments, expected, memory(logits))


@case("cross_entropy, autograd")
def cross_entropy_backward(large):
    rows, columns, stride, logits = rows_of(large, (37, 5000), (4096, 32768), torch.bfloat16)
    targets = integers(0, columns, rows, dtype=torch.int64)
    targets[3] = -100
    values = part(logits, columns)
    gradients = zeros(rows, stride)
    expected = {}
    if not large:
        values.requires_grad_()
        loss = F.cross_entropy(values, targets, reduction="sum", label_smoothing=0.1)
        expected = {"gradients": F.pad(torch.autograd.grad(loss, values)[0], (0, stride - columns))}
    logs = values.detach().logsumexp(1)
    arguments = dict(logits=logits, targets=targets, logs=logs, gradients=gradients, columns=columns, stride=stride, ignored=-100, smoothing=0.1)
    return Case(f"{rows} x {columns}, bf16", (rows, cdiv(columns, 1024)), arguments, expected, memory(logits, gradients))


@case("embedding")
def embedding(large):
    count, rows, width = (65536, 32000, 2048) if large else (37, 50, 304)
    tokens, table = integers(0, rows, count, dtype=torch.int64), rand(rows, width, dtype=torch.float16)
    out = empty(count, width, dtype=torch.float16)
    arguments = dict(tokens=tokens, table=table, out=out, width=width, first=0, rows=rows)
    return Case(f"{count} rows of {width}, f16", (count, cdiv(width, 256)), arguments, {"out": F.embedding(tokens, table)}, memory(out, out))


@case("embedding, autograd", timed=False)
def embedding_backward(large):
    count, rows, width = 41, 7, 208
    tokens, gradients = integers(0, rows, count), rand(count, width)
    expected = torch.zeros(rows, width, device="cuda").index_add_(0, tokens, gradients)
    arguments = dict(tokens=tokens, gradients=gradients, table=zeros(rows, width), count=count, width=width)
    return Case(f"{count} rows of {width}", (cdiv(count, 4), cdiv(width, 128)), arguments, {"table": expected})


@case("AdamW")
def adam(large):
    n = 1 << 25 if large else 5000
    parameter, gradient = rand(n), rand(n, dtype=torch.bfloat16)
    first, second, copy = zeros(n), zeros(n), empty(n, dtype=torch.bfloat16)
    expected = {}
    if not large:
        reference = torch.nn.Parameter(parameter.clone())
        reference.grad = gradient.float()
        torch.optim.AdamW([reference], lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01).step()
        expected = {"parameters": reference.detach(), "copy": reference.detach()}
    arguments = dict(
        parameters=parameter, gradients=gradient, first=first, second=second, copy=copy, n=n, rate=1e-3, beta_1=0.9, beta_2=0.999,
        epsilon=1e-8, decay=0.01, step=1,
    )  # fmt: skip
    work = memory(parameter, parameter, first, first, second, second, gradient, copy)
    return Case(f"{n}", (cdiv(n, 1024),), arguments, expected, work)


@case("its keeping of one in five", timed=True)
def dropout(large):
    n = 1 << 26 if large else 100_000
    x, out = rand(n, dtype=torch.float16), empty(n, dtype=torch.float16)
    arguments = dict(x=x, out=out, n=n, seed=1234, keep=0.8)
    return Case(f"{n}, f16", (cdiv(n, 1024),), arguments, {}, memory(x, out))


@case("linalg.vector_norm", timed=False)
def norm_of_gradients(large):
    x = rand(50_000)
    arguments = dict(x=x, total=zeros(1), n=x.numel())
    return Case("50000", (20,), arguments, {"total": x.double().square().sum().float().reshape(1)})


# Layers.


@case("x cos + rotated x sin")
def rope_halves(large):
    tokens, heads, depth = (65536, 4, 128) if large else (37, 3, 112)
    x, out = rand(tokens, heads, depth, dtype=torch.bfloat16), empty(tokens, heads, depth, dtype=torch.bfloat16)
    angles = rand(tokens, depth // 2)
    cosines, sines, positions = angles.cos(), angles.sin(), torch.randperm(tokens, device="cuda").to(torch.int32)
    low, high = x.float().chunk(2, -1)
    c, s = cosines[positions][:, None], sines[positions][:, None]
    expected = {"out": torch.cat((low * c - high * s, high * c + low * s), -1)}
    arguments = dict(x=x, cosines=cosines, sines=sines, out=out, positions=positions, heads=heads, depth=depth)
    return Case(f"{tokens} x {heads} x {depth}, bf16", (tokens,), arguments, expected, memory(x, out, cosines, sines))


@case("silu(gate) up")
def swiglu_forward(large):
    n = 1 << 26 if large else 5000
    gate, up, out = (rand(n, dtype=torch.bfloat16) for _ in range(3))
    arguments = dict(gate=gate, up=up, out=out, n=n)
    return Case(f"{n}, bf16", (cdiv(n, 1024),), arguments, {"out": F.silu(gate.float()) * up.float()}, memory(gate, up, out))


@case("gelu(gate) up", timed=False)
def geglu_packed(large):
    rows, columns = 37, 304
    x, out = rand(rows, 2 * columns, dtype=torch.float16), empty(rows, columns, dtype=torch.float16)
    gate, up = x.float().chunk(2, 1)
    return Case(f"{rows} x {columns}, f16", (rows, cdiv(columns, 256)), dict(x=x, out=out, columns=columns), {"out": F.gelu(gate) * up})


@case("amax, to(float8_e4m3fn)")
def quantize_groups(large):
    n = 1 << 26 if large else 1024 * 37
    x, out, scales = rand(n, dtype=torch.bfloat16), empty(n, dtype=torch.float8_e4m3fn), empty(n // 128)
    groups = x.float().reshape(-1, 128)
    scale = (groups.abs().amax(1) / 448).clamp(min=1e-10)
    expected = {"scales": scale, "out": (groups / scale[:, None]).to(torch.float8_e4m3fn).reshape(-1)}
    return Case(f"{n}, bf16 to f8", (n // 1024,), dict(x=x, out=out, scales=scales, n=n), expected, memory(x, out, scales))


@case("add")
def vector_triad(large):
    n = 1 << 26 if large else 5000
    x, y, out = rand(n), rand(n), empty(n)
    return Case(f"{n}", (cdiv(n, 1024),), dict(x=x, y=y, out=out, factor=1.5, n=n), {"out": x + 1.5 * y}, memory(x, y, out))


@case("to(bfloat16)")
def cast_copy(large):
    n = 1 << 26 if large else 5000
    x, out = rand(n), empty(n, dtype=torch.bfloat16)
    return Case(f"{n}, f32 to bf16", (cdiv(n, 1024),), dict(x=x, out=out, n=n), {"out": x.to(torch.bfloat16)}, memory(x, out))


@case("mv")
def matrix_vector(large):
    m, k = (16384, 8192) if large else (300, 1000)
    a, x, y = rand(m, padded(k), dtype=torch.bfloat16), rand(k, dtype=torch.bfloat16), empty(m)
    expected = {"y": part(a, k) @ x.float()}
    return Case(f"{m} x {k}, bf16", (cdiv(m, 16),), dict(a=a, x=x, y=y, m=m, k=k, a_row=padded(k)), expected, memory(a))


@case("sum", timed=False)
def sums_of_columns(large):
    rows, columns = 1000, 700
    x, out = rand(rows, padded(columns), dtype=torch.bfloat16), zeros(columns)
    arguments = dict(x=x, out=out, rows=rows, columns=columns, stride=padded(columns))
    return Case(f"{rows} x {columns}, bf16", (cdiv(rows, 32), cdiv(columns, 64)), arguments, {"out": part(x, columns).sum(0)})


@case("cumsum", timed=False)
def scan_look_back(large):
    n = 100_000
    x = integers(-9, 9, n)
    programs = cdiv(n, 512)
    arguments = dict(x=x, out=empty(n, dtype=torch.int32), sums=zeros(programs, dtype=torch.int32), flags=zeros(programs, dtype=torch.int32), n=n)
    return Case(f"{n}, i32", (programs,), arguments, {"out": x.cumsum(0).to(torch.int32)})


# Sorting.


@case("sort")
def sort_rows(large):
    rows = 65536 if large else 37
    x, out = rand(rows, 1024), empty(rows, 1024)
    return Case(f"{rows} x 1024", (rows,), dict(x=x, out=out, stride=1024), {"out": x.sort(1).values}, memory(x, out))


@case("sort")
def sort_places(large):
    rows, columns = (65536, 128) if large else (37, 100)
    stride = padded(columns)
    x, out, places = rand(rows, stride), zeros(rows, stride), zeros(rows, stride, dtype=torch.int32)
    values, indices = x[:, :columns].sort(dim=1, stable=True)
    expected = {"out": F.pad(values, (0, stride - columns)), "places": F.pad(indices.to(torch.int32), (0, stride - columns))}
    arguments = dict(x=x, out=out, places=places, columns=columns, stride=stride)
    return Case(f"{rows} x {columns}", (rows,), arguments, expected, memory(x, out, places))


@case("topk")
def top_of_rows(large):
    rows, columns = (65536, 1024) if large else (37, 300)
    stride = padded(columns)
    x, out, places = rand(rows, stride), empty(rows, 8), empty(rows, 8, dtype=torch.int32)
    values, indices = x[:, :columns].topk(8, 1)
    arguments = dict(x=x, out=out, places=places, rows=rows, columns=columns, stride=stride)
    expected = {"out": values, "places": indices.to(torch.int32)}
    return Case(f"{rows} x {columns}, 8", (cdiv(rows, 4),), arguments, expected, memory(x))


# Transposes.


def transposed(large, dtype, rows, columns):
    """A matrix whose rows and columns are no multiples of the tile, unless large."""
    m, n = (8192, 8192) if large else (300, 200)
    bits = torch.tensor([], dtype=dtype).element_size()
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[bits]
    x = integers(-100, 100, m, padded(n), dtype=whole) if not dtype.is_floating_point else rand(m, padded(n), dtype=dtype)
    out = zeros(n, padded(m), dtype=whole).view(dtype)
    arguments = dict(x=x, out=out, m=m, n=n, x_row=padded(n), out_row=padded(m))
    expected = {"out": F.pad(x.view(whole)[:, :n].T, (0, padded(m) - m)).contiguous().view(dtype)}
    return Case(f"{m} x {n}, {bits * 8} bits", (cdiv(m, rows), cdiv(n, columns)), arguments, expected, memory(x, out))


@case("T")
def transpose_bytes(large):
    return transposed(large, torch.int8, 128, 128)


@case("T")
def transpose_f8(large):
    return transposed(large, torch.float8_e5m2, 64, 128)


@case("T")
def transpose_halves(large):
    return transposed(large, torch.float16, 64, 64)


@case("T")
def transpose_words(large):
    return transposed(large, torch.float32, 64, 64)


@case("T")
def transpose_longs(large):
    return transposed(large, torch.int64, 32, 32)


@case("permute")
def heads_first(large):
    tokens, heads = (65536, 8) if large else (100, 6)
    x, out = rand(tokens, heads, 64, dtype=torch.float16), empty(heads, tokens, 64, dtype=torch.float16)
    arguments = dict(x=x, out=out, tokens=tokens, heads=heads)
    expected = {"out": x.permute(1, 0, 2).contiguous()}
    return Case(f"{tokens} x {heads} x 64, f16", (cdiv(tokens, 16),), arguments, expected, memory(x, out))


# Products.


def sizes(large, side=4096):
    return (side, side, side) if large else (200, 144, 112)


def factors(large, dtype, side=4096):
    """Two matrices with strides of 16 and their sizes; small numbers, so that sums stay in f16."""
    m, n, k = sizes(large, side)
    a, b = rand(m, padded(k)) / 4, rand(k, padded(n)) / 4
    return m, n, k, a.to(dtype), b.to(dtype)


def multiplied(large, kind, name, dtype, out_dtype, tile, grid=None, side=4096, after=lambda x: x, more=None):
    m, n, k, a, b = factors(large, dtype, side)
    c = zeros(m, padded(n), dtype=out_dtype)
    tiles = cdiv(m, tile[0]), cdiv(n, tile[1])
    arguments = dict(a=a, b=b, **(more or {}), c=c)
    arguments |= dict(m=m, n=n, k=k, a_row=padded(k), b_row=padded(n), c_row=padded(n))
    expected = {} if large else {"c": F.pad(after(part(a, k) @ part(b, n)), (0, padded(n) - n))}
    size = f"{m} x {n} x {k}, {name}"
    return Case(size, grid(*tiles) if grid else tiles, arguments, expected, (2 * m * n * k, kind))


@case("matmul")
def gemm_f16(large):
    return multiplied(large, "f16", "f16", torch.float16, torch.float16, (128, 128), lambda m, n: (m * n,))


@case("matmul")
def gemm_tf32(large):
    return multiplied(large, "tf32", "f32 as tf32", torch.float32, torch.float32, (64, 64))


@case("matmul")
def gemm_f8(large):
    case = multiplied(large, "f16", "f8", torch.float8_e4m3fn, torch.bfloat16, (64, 64), after=lambda x: x * 0.5)
    arguments = {}
    for name, value in case.arguments.items():
        arguments[name] = value
        if name == "c":
            arguments["scale"] = 0.5
    return case._replace(arguments=arguments)


@case("matmul", timed=False)
def matmul_split_k(large):
    return multiplied(large, "f16", "f16", torch.float16, torch.float32, (64, 64), lambda m, n: (m, n, 3))


@case("matmul", timed=False)
def matmul_stream_k(large):
    return multiplied(large, "f16", "f16", torch.float16, torch.float32, (64, 64), lambda m, n: (7,))


@case("matmul")
def matmul_persistent(large):
    return multiplied(large, "f16", "f16", torch.float16, torch.float16, (64, 64), lambda m, n: (min(m * n, 264),))


@case("linear")
def linear_bf16(large):
    m, n, k = sizes(large)
    a, b = (rand(m, padded(k)) / 4).to(torch.bfloat16), (rand(n, padded(k)) / 4).to(torch.bfloat16)
    c = zeros(m, padded(n), dtype=torch.bfloat16)
    arguments = dict(a=a, b=b, c=c, m=m, n=n, k=k, a_row=padded(k), b_row=padded(k), c_row=padded(n))
    expected = {} if large else {"c": F.pad(F.linear(part(a, k), part(b, k)), (0, padded(n) - n))}
    return Case(f"{m} x {n} x {k}, bf16", (cdiv(m, 64), cdiv(n, 64)), arguments, expected, (2 * m * n * k, "f16"))


@case("matmul of integers")
def gemm_i8(large):
    m, n, k = sizes(large)
    a, b = integers(-128, 128, m, padded(k), dtype=torch.int8), integers(-128, 128, k, padded(n), dtype=torch.int8)
    a_scale, b_scale, c = torch.rand(m, device="cuda") / 999, torch.rand(n, device="cuda"), zeros(m, padded(n), dtype=torch.float16)
    arguments = dict(a=a, b=b, a_scale=a_scale, b_scale=b_scale, c=c, m=m, n=n, k=k, a_row=padded(k), b_row=padded(n), c_row=padded(n))
    expected = {}
    if not large:
        whole = (a[:, :k].double() @ b[:, :n].double()).float()
        expected = {"c": F.pad(whole * (a_scale[:, None] * b_scale[None, :]), (0, padded(n) - n))}
    return Case(f"{m} x {n} x {k}, i8", (cdiv(m, 64), cdiv(n, 64)), arguments, expected, (2 * m * n * k, "i8"))


@case("gelu of a linear layer")
def matmul_bias_gelu(large):
    m, n, k = sizes(large)
    bias = rand(n, dtype=torch.float16)
    after = lambda x: F.gelu(x + bias.float(), approximate="tanh")
    return multiplied(large, "f16", "f16", torch.float16, torch.float16, (64, 64), after=after, more={"bias": bias})


@case("silu of one product by another")
def matmul_swiglu(large):
    m, n, k, a, gate = factors(large, torch.bfloat16)
    up, c = (rand(k, padded(n)) / 4).to(torch.bfloat16), zeros(m, padded(n), dtype=torch.bfloat16)
    arguments = dict(a=a, gate=gate, up=up, c=c, m=m, n=n, k=k, a_row=padded(k), b_row=padded(n), c_row=padded(n))
    expected = {}
    if not large:
        expected = {"c": F.pad(F.silu(part(a, k) @ part(gate, n)) * (part(a, k) @ part(up, n)), (0, padded(n) - n))}
    return Case(f"{m} x {n} x {k} twice, bf16", (cdiv(m, 64), cdiv(n, 32)), arguments, expected, (4 * m * n * k, "f16"))


E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]


def mxfp4(n, k):
    """Codes, exponents, and what they mean."""
    codes, exponents = integers(0, 256, n, k // 2, dtype=torch.uint8), integers(122, 130, n, k // 32, dtype=torch.uint8)
    pairs = torch.stack((codes & 15, codes >> 4), -1).reshape(n, k).long()
    weights = torch.tensor(E2M1, device="cuda")[pairs] * torch.exp2(exponents.float() - 127).repeat_interleave(32, 1)
    return codes, exponents, weights


def weighed(large):
    m, n, k = (4096, 4096, 4096) if large else (100, 144, 192)
    a = (rand(m, k) / 4).to(torch.bfloat16)
    codes, exponents, weights = mxfp4(n, k)
    c = zeros(m, padded(n), dtype=torch.bfloat16)
    arguments = dict(a=a, b=codes, scales=exponents, c=c, m=m, n=n, k=k, a_row=k, b_row=k // 2, c_row=padded(n))
    expected = {} if large else {"c": F.pad(a.float() @ weights.T, (0, padded(n) - n))}
    return Case(f"{m} x {n} x {k}, bf16 by mxfp4", (cdiv(m, 32), cdiv(n, 64)), arguments, expected, (2 * m * n * k, "f16"))


@case("matmul of what the codes mean")
def matmul_mxfp4(large):
    return weighed(large)


@case("matmul of what the codes mean")
def matmul_mxfp4_by_bits(large):
    return weighed(large)


@case("matmul of what the codes mean")
def matmul_int4(large):
    m, n, k = (4096, 4096, 4096) if large else (100, 144, 256)
    a = (rand(m, k) / 4).to(torch.float16)
    words = integers(-(2**31), 2**31 - 1, k // 8, n, dtype=torch.int64).to(torch.int32)
    zero_words = integers(-(2**31), 2**31 - 1, k // 64, n // 8, dtype=torch.int64).to(torch.int32)
    scales, c = torch.rand(k // 64, n, device="cuda").to(torch.float16) / 8, zeros(m, n, dtype=torch.float16)
    shifts = torch.arange(0, 32, 4, device="cuda", dtype=torch.int32)
    codes = ((words[:, None, :] >> shifts[None, :, None]) & 15).reshape(k, n)
    zero = ((zero_words[:, :, None] >> shifts) & 15).reshape(k // 64, n)
    weights = (codes - zero.repeat_interleave(64, 0)).half() * scales.repeat_interleave(64, 0)
    arguments = dict(a=a, b=words, scales=scales, zeros=zero_words, c=c, m=m, n=n, k=k, a_row=k, b_row=n, c_row=n)
    expected = {} if large else {"c": a.float() @ weights.float()}
    return Case(f"{m} x {n} x {k}, f16 by int4", (cdiv(m, 32), cdiv(n, 64)), arguments, expected, (2 * m * n * k, "f16"))


@case("conv2d", timed=False)
def convolution(large):
    images, height, width, channels, outputs = 2, 14, 15, 48, 64
    x, weight = rand(images, height, width, channels, dtype=torch.float16), (rand(3, 3, channels, outputs) / 9).half()
    out = empty(images, height, width, outputs, dtype=torch.float16)
    expected = F.conv2d(x.float().permute(0, 3, 1, 2), weight.float().permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)
    arguments = dict(x=x, weight=weight, out=out, images=images, height=height, width=width, channels=channels, outputs=outputs)
    grid = (cdiv(images * height * width, 64), cdiv(outputs, 32))
    return Case(f"{images} x {height} x {width} x {channels}, f16", grid, arguments, {"out": expected})


# Attention.


def heads(large, dtype, queries, tile_m, tile_n, causal):
    """Queries, keys and values of some heads, padded to whole tiles, and what is called with them."""
    many, count = (32, 4096) if large else (3, queries)
    stride = cdiv(count, max(tile_m, tile_n)) * max(tile_m, tile_n)
    q, k, v = (rand(many, stride, 64, dtype=dtype) for _ in range(3))
    arguments = dict(queries=count, keys=count, head=stride * 64, scale=0.125 * LOG2_E)
    if large:
        return many, count, q, k, v, arguments, None
    inside = [x[:, :count].float().requires_grad_() for x in (q, k, v)]
    return many, count, q, k, v, arguments, (inside, F.scaled_dot_product_attention(*inside, is_causal=causal))


def attended(large, dtype, tile_m, tile_n, causal):
    many, count, q, k, v, sizes, reference = heads(large, dtype, 200, tile_m, tile_n, causal)
    out, logs = zeros(q.shape, dtype=dtype), empty(many, count)
    expected = {}
    if reference:
        (query, key, _), result = reference
        scores = query @ key.transpose(1, 2) * 0.125
        if causal:
            scores = scores.masked_fill(torch.ones(count, count, device="cuda").triu(1).bool(), -math.inf)
        expected = {"out": F.pad(result.detach(), (0, 0, 0, q.shape[1] - count)), "logs": scores.logsumexp(2).detach() * LOG2_E}
    work = 4 * many * count * count * 64 // (2 if causal else 1)
    size = f"{many} heads, {count} x 64, {str(dtype).split('.')[1]}{', causal' if causal else ''}"
    return Case(size, (cdiv(count, tile_m), many), dict(q=q, k=k, v=v, out=out, logs=logs, **sizes), expected, (work, "f16"))


@case("scaled_dot_product_attention")
def flash_forward(large):
    return attended(large, torch.float16, 64, 64, False)


@case("scaled_dot_product_attention")
def flash_causal(large):
    return attended(large, torch.bfloat16, 64, 32, True)


def gradients(large, outputs):
    """The backward kernels' arguments, given what the forward pass leaves."""
    many, count, q, k, v, sizes, reference = heads(large, torch.float16, 200, 64, 64, True)
    dout, sums = rand(q.shape, dtype=torch.float16), rand(many, count) / 9
    # About what scores of random numbers add up to.
    logs = torch.full((many, count), math.log2(count) + 1, device="cuda")
    expected = {}
    if reference:
        inside, result = reference
        given = torch.autograd.grad(result, inside, dout[:, :count].float())
        query, key, _ = (x.detach() for x in inside)
        scores = (query @ key.transpose(1, 2) * 0.125).masked_fill(torch.ones(count, count, device="cuda").triu(1).bool(), -math.inf)
        logs = (scores.logsumexp(2) * LOG2_E).contiguous()
        sums = (result.detach() * dout[:, :count].float()).sum(2).contiguous()
        named = dict(zip(("dq", "dk", "dv"), given))
        expected = {name: F.pad(named[name], (0, 0, 0, q.shape[1] - count)) for name in outputs}
    results = {name: zeros(q.shape, dtype=torch.float16) for name in outputs}
    products = 2 * len(outputs) + 2 if "dk" in outputs else 6
    arguments = dict(q=q, k=k, v=v, dout=dout, logs=logs, sums=sums, **results, **sizes)
    work = products * many * count * count * 64 // 2
    return Case(f"{many} heads, {count} x 64, f16, causal", (cdiv(count, 64), many), arguments, expected, (work, "f16"))


@case("scaled_dot_product_attention, autograd")
def flash_backward_keys(large):
    return gradients(large, ("dk", "dv"))


@case("scaled_dot_product_attention, autograd")
def flash_backward_queries(large):
    return gradients(large, ("dq",))


@case("scaled_dot_product_attention")
def decode_paged(large):
    sequences, kv_heads, most = (64, 8, 4096) if large else (3, 2, 160)
    pages = most // 16
    lengths = integers(most // 2, most + 1, sequences)
    table = torch.randperm(sequences * pages, device="cuda").to(torch.int32).reshape(sequences, pages)
    q = rand(sequences, kv_heads * 4, 64, dtype=torch.float16)
    k, v = (rand(sequences * pages, 16, kv_heads, 64, dtype=torch.float16) for _ in range(2))
    out = empty(q.shape, dtype=torch.float16)
    expected = {}
    if not large:
        rows = []
        for sequence, length in enumerate(lengths.tolist()):
            key, value = (x[table[sequence].long()].reshape(most, kv_heads, 64)[:length].float().transpose(0, 1) for x in (k, v))
            query = q[sequence].float().reshape(kv_heads, 4, 64)
            rows.append(F.scaled_dot_product_attention(query, key, value).reshape(-1, 64))
        expected = {"out": torch.stack(rows)}
    arguments = dict(q=q, k=k, v=v, pages=table, lengths=lengths, out=out, most_pages=pages, kv_heads=kv_heads, scale=0.125 * LOG2_E)
    bytes_read = int(lengths.sum()) * kv_heads * 64 * 2 * 2
    return Case(f"{sequences} sequences, {kv_heads} x 4 heads, to {most}, f16", (sequences, kv_heads), arguments, expected, (bytes_read, "memory"))


# Launching.


def module_of(kernel):
    """The Python module that holds a kernel."""
    for path in sorted((ROOT / "kernels").glob("*.py")):
        if f"def {kernel}(" in path.read_text():
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise RuntimeError(f"no file of kernels/ has {kernel}")


def grid_of(case):
    return (*case.grid, 1, 1)[:3]


def loaded(ptx, name):
    """A function of a PTX text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.ptx")
        path.write_text(ptx)
        return cupy.RawModule(path=str(path)).get_function(name)


NUMBERS = {"i32": cupy.int32, "i64": cupy.int64, "f32": cupy.float32}


def ours(weft, source, case):
    """A launch of what Weft makes of a text of Triton IR."""
    major, minor = torch.cuda.get_device_capability()
    with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
        file.write(source)
        file.flush()
        command = [weft, "compile", file.name, "--target", f"sm_{major}{minor}", "--json"]
        ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr or ran.stdout)
    answer = json.loads(ran.stdout)
    function = loaded(answer["ptx"], answer["name"])
    if answer["shared_bytes"] > 48 * 1024:
        function.max_dynamic_shared_size_bytes = answer["shared_bytes"]
    # Without the sizes that Triton took for constants.
    header = next(line for line in source.splitlines() if "tt.func public" in line)
    values = []
    for name, kind in re.findall(r"%(\w+): (!tt\.ptr<[^>]*>|\w+)", header):
        value = case.arguments[name]
        values.append(cupy.uint64(value.data_ptr()) if isinstance(value, torch.Tensor) else NUMBERS[kind](value))
    # Triton's launcher passes two scratch pointers after the arguments.
    values = (*values, cupy.uint64(0), cupy.uint64(0))
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())
    grid, shared = grid_of(case), answer["shared_bytes"]

    def launch():
        with stream:
            function(grid, (32 * WARPS, 1, 1), values, shared_mem=shared)

    return launch


def theirs(module, kernel, signature, case):
    """The same launch through Triton."""
    constants = {name: value for name, value in signature.items() if not isinstance(value, str)}
    return lambda: getattr(module, kernel)[grid_of(case)](**case.arguments, **constants, num_warps=WARPS)


def prepared(kernel, large):
    torch.manual_seed(1)
    _, _, make = CASES[kernel]
    case = make(large)
    module = module_of(kernel)
    signature = module.SIGNATURES[kernel]
    names = [name for name, kind in signature.items() if isinstance(kind, str)]
    if names != list(case.arguments):
        raise RuntimeError(f"{kernel} takes {names}, not {list(case.arguments)}")
    return module, signature, case


# How far results may be apart: the roundings of sums in another order, and of the result.
TOLERANCE = {torch.float32: 1e-3, torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float8_e4m3fn: 0.13}


def apart(found, wanted):
    """The largest difference, of numbers above one relative to them, and what is allowed."""
    if not found.is_floating_point():
        return float((found != wanted).any()), 0.0
    limit = TOLERANCE.get(found.dtype, 0.0)
    found, wanted = found.double(), wanted.double()
    if torch.equal(found.isnan(), wanted.isnan()) is False:
        return math.inf, limit
    difference = (found - wanted).abs() / wanted.abs().clamp(min=1)
    return float(difference.nan_to_num(0).max()), limit


def compare(options):
    """Every case, small, against PyTorch."""
    torch.backends.cuda.matmul.allow_tf32 = False
    rows, wrong = [], 0
    for kernel, (name, _, _) in CASES.items():
        if options.only and kernel not in options.only:
            continue
        worst, verdict, size = 0.0, "equal", ""
        try:
            _, _, case = prepared(kernel, False)
            size = case.size
            if not case.expected and kernel != "dropout":
                raise RuntimeError("nothing to compare with")
            ours(options.weft, (ROOT / f"kernels/{kernel}.ttir").read_text(), case)()
            torch.cuda.synchronize()
            for output, wanted in case.expected.items():
                found = case.arguments[output]
                if kernel == "layer_norm_backward" and found.dim() == 2 and output != "dx":
                    found = found.sum(0)
                limit_of_tf32 = 5e-3 if kernel == "gemm_tf32" else 0.0
                difference, limit = apart(found, wanted)
                worst = max(worst, difference)
                if difference > max(limit, limit_of_tf32):
                    verdict = f"`{output}` differs"
            if kernel == "dropout":
                x, out = case.arguments["x"].float(), case.arguments["out"].float()
                share = float((out != 0).float().mean())
                kept = out[out != 0] - (x / 0.8)[out != 0]
                worst = float(kept.abs().max())
                verdict = "equal" if abs(share - 0.8) < 0.01 and worst < 4e-3 else f"{share} are kept"
        except Exception as error:
            verdict = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
        wrong += verdict != "equal"
        rows.append([f"`{kernel}`, {size}", f"`{name}`" if " " not in name else name, verdict, f"{worst:.1e}" if worst else "0"])
        print(rows[-1], flush=True)
    what = (
        "Weft's PTX on a GPU, outputs against PyTorch's in f32; the largest difference of an output, of numbers above one relative to them"
    )
    columns = ["kernel", "PyTorch", "verdict", "largest difference"]
    written(options, "kernels_against_torch", "compare", what, columns, rows)
    print(f"{len(rows)} kernels, {wrong} wrong")


# What one instruction of `mma.sync` takes: its shape, registers of its three operands, and its types.
PRODUCTS = {
    "f16": ("m16n8k16", 4, 2, "f32.f16.f16.f32", 2 * 16 * 8 * 16),
    "tf32": ("m16n8k8", 4, 2, "f32.tf32.tf32.f32", 2 * 16 * 8 * 8),
    "i8": ("m16n8k32", 4, 2, "s32.s8.s8.s32", 2 * 16 * 8 * 32),
}
ACCUMULATORS, ROUNDS = 16, 2000


def limit_of_products(kind):
    """TFLOP/s of `mma.sync` with operands that stay in registers: warps with many independent sums."""
    shape, a, b, types, work = PRODUCTS[kind]
    bits = "f32" if types.startswith("f32") else "b32"
    zero = "0f00000000" if bits == "f32" else "0"
    major, minor = torch.cuda.get_device_capability()
    lines = [f".version 8.4\n.target sm_{major}{minor}\n.address_size 64\n.visible .entry limit(.param .u64 out) {{"]
    lines.append(f".reg .{bits} %c<{4 * ACCUMULATORS}>; .reg .b32 %a<{a}>; .reg .b32 %b<{b}>; .reg .b32 %i; .reg .pred %p; .reg .b64 %o;")
    lines += [f"mov.{bits} %c{index}, {zero};" for index in range(4 * ACCUMULATORS)]
    lines += [f"mov.u32 %a{index}, %tid.x;" for index in range(a)] + [f"mov.u32 %b{index}, %tid.x;" for index in range(b)]
    lines.append("mov.u32 %i, 0;\nAGAIN:")
    registers = lambda prefix, first, count: "{" + ", ".join(f"%{prefix}{first + index}" for index in range(count)) + "}"
    for index in range(ACCUMULATORS):
        c = registers("c", 4 * index, 4)
        lines.append(f"mma.sync.aligned.{shape}.row.col.{types} {c}, {registers('a', 0, a)}, {registers('b', 0, b)}, {c};")
    lines.append(f"add.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, {ROUNDS};\n@%p bra AGAIN;\nld.param.b64 %o, [out];")
    lines += [f"st.global.{bits} [%o + {4 * index}], %c{4 * index};" for index in range(ACCUMULATORS)]
    lines.append("ret;\n}")
    function = loaded("\n".join(lines), "limit")
    blocks = 8 * torch.cuda.get_device_properties(0).multi_processor_count
    out = zeros(ACCUMULATORS)
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())

    def launch():
        with stream:
            function((blocks, 1, 1), (128, 1, 1), (cupy.uint64(out.data_ptr()),))

    return work * ACCUMULATORS * ROUNDS * blocks * 4 / microseconds(launch) / 1e6


def limit_of_memory():
    """TB/s of PyTorch's copy."""
    x = empty(1 << 28)
    y = torch.empty_like(x)
    return 2 * x.numel() * 4 / microseconds(lambda: y.copy_(x)) / 1e6


def copy_of(work):
    """Microseconds of PyTorch's copy that reads and writes as many bytes in all."""
    x = empty(work // 2, dtype=torch.uint8)
    y = torch.empty_like(x)
    return microseconds(lambda: y.copy_(x))


def microseconds(launch):
    return triton.testing.do_bench(launch, warmup=10, rep=40, return_mode="median") * 1e3


def warm(options):
    """Compiles what `time` launches, with both compilers, into their caches: several processes may."""
    for kernel, (_, timed, _) in CASES.items():
        if timed and (not options.only or kernel in options.only):
            try:
                module, signature, case = prepared(kernel, True)
                ours(options.weft, theirs(module, kernel, signature, case)().asm["ttir"], case)()
                torch.cuda.synchronize()
            except Exception as error:
                print(f"{kernel}: {type(error).__name__}: {error}", flush=True)
            torch.cuda.empty_cache()


def time(options):
    """Every timed case, large, beside Triton."""
    limits = {"memory": limit_of_memory()} | {kind: limit_of_products(kind) for kind in PRODUCTS}
    print(limits, flush=True)
    rows, ratios = [], {}
    for kernel, (_, timed, _) in CASES.items():
        if not timed or options.only and kernel not in options.only:
            continue
        size = ""
        try:
            module, signature, case = prepared(kernel, True)
            size, (work, kind) = case.size, case.work
            other = theirs(module, kernel, signature, case)
            # Made for the same sizes as Triton's: it asks whether they are multiples of 16.
            mine = ours(options.weft, other().asm["ttir"], case)
            if kernel != "adam":
                outputs = [value for name, value in case.arguments.items() if isinstance(value, torch.Tensor)]
                mine()
                found = [value.clone() for value in outputs]
                other()
                for value, before in zip(outputs, found):
                    difference, limit = apart(value, before)
                    if difference > max(limit, 5e-3 if kernel == "gemm_tf32" else 0.0):
                        raise RuntimeError(f"the results are {difference:.1e} apart")
                del found
            times = [(microseconds(mine), microseconds(other)) for _ in range(3)]
            weft, theirs_us = (statistics.median(column) for column in zip(*times))
            ratio, unit = theirs_us / weft, "TB/s" if kind == "memory" else "TFLOP/s"
            rate = work / weft / 1e6
            copied = f"{copy_of(work):.1f}" if kind == "memory" else ""
            ratios.setdefault("memory" if kind == "memory" else "products", []).append(ratio)
            rows.append([f"`{kernel}`", size, f"{weft:.1f}", f"{theirs_us:.1f}", f"{ratio:.3f}", f"{rate:.2f} {unit}", f"{100 * rate / limits[kind]:.0f} %", copied])
        except Exception as error:
            rows.append([f"`{kernel}`", size, f"{type(error).__name__}: {str(error).splitlines()[0][:100]}", "", "", "", "", ""])
        print(rows[-1], flush=True)
        torch.cuda.empty_cache()
    for kind, values in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, values)))
        rows.append([f"geometric mean, {kind}", "", "", "", f"{mean:.3f}", "", "", ""])
    said = ", ".join(f"{kind} {limit:.2f}" for kind, limit in limits.items())
    what = (
        "One launch, results equal, both sides in one run; a ratio above 1 means Weft is faster. "
        f"Limits: TB/s of PyTorch's copy and TFLOP/s of `mma.sync` alone ({said}). "
        "The last column: PyTorch's copy of as many bytes"
    )
    columns = ["kernel", "size", "Weft, µs", "Triton, µs", "ratio", "Weft's rate", "of the limit", "copy, µs"]
    written(options, "kernels_against_triton", "time", what, columns, rows)


def written(options, name, verb, what, columns, rows):
    version = subprocess.run([options.weft, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    measurement = {
        "what": what,
        "command": f"python docs/measurements/kernels_device.py {verb}",
        "versions": f"{version}, triton {triton.__version__}, PyTorch {torch.__version__}",
        "machine": torch.cuda.get_device_name(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": columns,
        "rows": rows,
    }
    path = options.output or Path(__file__).with_name(f"{name}.json")
    path.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["compare", "warm", "time"])
    parser.add_argument("--weft", type=Path, default=ROOT / "target/release/weft")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--only", type=lambda names: names.split(","), help="kernels, with commas")
    options = parser.parse_args()
    {"compare": compare, "warm": warm, "time": time}[options.command](options)


if __name__ == "__main__":
    main()
