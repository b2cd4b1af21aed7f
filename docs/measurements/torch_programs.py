"""The programs and kernels that `torch_compile.py` runs.

Models are built from their configurations, with random weights, and nothing is fetched.
"""

import contextlib
import copy
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn
from triton.language.extra import libdevice


# Where tensors and models are made.
DEVICE = "cuda"


class Program(NamedTuple):
    """A program in three forms, each of which gives tensors to compare."""

    # Compiled; it is this that is timed.
    compiled: Any
    # In f32, without compilation, and without dropping.
    precise: Any
    # As it is, without compilation, and without dropping.
    plain: Any
    # Whether it drops at random.
    drops: bool = False


PROGRAMS = {}


def program(make):
    """Registers what builds a program, by name."""
    PROGRAMS[make.__name__] = make
    return make


# Single functions.


def part_of_rows(x):
    return x.argmax(1), x.var(1), x.std(1)


def gelu_of_norm(x, weight, bias):
    return F.gelu(F.layer_norm(x, weight.shape, weight, bias))


def turned(x, y):
    return x.t() + y


def enlarged(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear")


def rotated(x, angle):
    """Pairs of halves, turned."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE).to(dtype)


def functions(cases, dynamic=None):
    """A program of functions with their arguments, each compiled by itself; `dynamic` leaves sizes to the run."""
    compiled = [torch.compile(function, dynamic=dynamic) for function, _ in cases]

    def flat(results):
        return [tensor for result in results for tensor in (result if isinstance(result, tuple) else (result,))]

    def run(functions, change=lambda tensor: tensor):
        return flat(function(*map(change, arguments)) for function, (_, arguments) in zip(functions, cases))

    def precise(tensor):
        return tensor.float() if tensor.is_floating_point() else tensor

    plain = [function for function, _ in cases]
    return Program(
        lambda: run(compiled), lambda: run(plain, precise), lambda: run(plain)
    )


@program
def funcs():
    half = torch.bfloat16
    cases = [
        (F.gelu, [rand(8192, 8192, dtype=half)]),
        (gelu_of_norm, [rand(16384, 4096, dtype=half), rand(4096, dtype=half), rand(4096, dtype=half)]),
        (part_of_rows, [rand(8192, 4096)]),
        (lambda x: x.cumsum(1), [rand(8192, 2048)]),
        (lambda x: torch.softmax(x, 1), [rand(16384, 4096, dtype=half)]),
        (lambda x: torch.logsumexp(x, 1), [rand(8192, 8192)]),
        (turned, [rand(4096, 8192), rand(8192, 4096)]),
        (lambda x: x.sum(0), [rand(16384, 4096, dtype=half)]),
        (lambda x: x.mean(1), [rand(16384, 4096, dtype=half)]),
        (enlarged, [rand(16, 64, 128, 128, dtype=torch.float16)]),
        (rotated, [rand(16, 16, 2048, 128, dtype=half), rand(2048, 64, dtype=half)]),
        (lambda x, y: torch.tanh(x) * torch.sigmoid(y), [rand(8192, 4096), rand(8192, 4096)]),
    ]
    return functions(cases)


def of_odd_sizes():
    """Functions of sizes that no block divides."""
    half = torch.bfloat16
    words = torch.randint(0, 50021, (100003,), device=DEVICE)
    classes = torch.randint(0, 50257, (2049,), device=DEVICE)
    return [
        (lambda x: x.sum(0), [rand(32771, 1000, dtype=half)]),
        (lambda x: x.sum((0, 2)), [rand(37, 193, 1001)]),
        (lambda x: (x * x).mean(1), [rand(61, 511, 777, dtype=half)]),
        (lambda x: x.var(0), [rand(4099, 1537)]),
        (lambda x: x.std(), [rand(3001, 4099)]),
        (lambda x: x.argmax(0), [rand(5003, 1111)]),
        (lambda x: x.amax((2, 3)), [rand(31, 129, 61, 61)]),
        (lambda x: torch.softmax(x, 1), [rand(127, 333, 1001)]),
        (lambda x: torch.softmax(x, 1), [rand(8191, 3001, dtype=half)]),
        (F.cross_entropy, [rand(2049, 50257, dtype=half), classes]),
        (gelu_of_norm, [rand(16385, 1001, dtype=half), rand(1001, dtype=half), rand(1001, dtype=half)]),
        (lambda x: F.group_norm(x, 6), [rand(13, 60, 57, 57)]),
        (lambda x: F.batch_norm(x, None, None, training=True), [rand(33, 61, 57, 55)]),
        (lambda x: x.cumsum(1), [rand(4099, 1537)]),
        (turned, [rand(4099, 3001), rand(3001, 4099)]),
        (lambda x: x.permute(0, 2, 1).contiguous() * 2, [rand(65, 333, 519, dtype=half)]),
        (lambda x: F.pad(x, (3, 2, 1, 4), mode="reflect"), [rand(17, 33, 111, 113)]),
        (lambda x: F.max_pool2d(x, 3, 2, 1), [rand(17, 65, 111, 113, dtype=half)]),
        (lambda x: F.avg_pool2d(x, 3), [rand(17, 65, 111, 113)]),
        (enlarged, [rand(7, 33, 99, 101)]),
        (lambda x, y: F.embedding(x, y) + 1, [words, rand(50021, 77)]),
        (lambda x, y: torch.where(x > 0, x, y * 2), [rand(1001, 1, 333), rand(1, 517, 333)]),
        (lambda x: x.roll((3, 5), (0, 1)).flip(1), [rand(4099, 1537)]),
        (lambda x, y: torch.cat((x[:, 1:], y), 1).relu(), [rand(1023, 4099), rand(1023, 1001)]),
    ]


@program
def odd():
    return functions(of_odd_sizes())


@program
def dynamic():
    """The same functions, which learn their sizes where they run."""
    return functions(of_odd_sizes(), dynamic=True)


# Training: the loss and some gradients.


def training(model, loss, autocast=None, drops=False):
    """A step of training without the optimiser; `loss` takes a model."""
    quiet = copy.deepcopy(model)
    precise = copy.deepcopy(model).float()
    if drops:
        # Nothing in these models but dropping depends on it.
        quiet.eval()
        precise.eval()

    def step(run, of, precision):
        for parameter in of.parameters():
            parameter.grad = None
        with torch.autocast("cuda", precision) if precision else contextlib.nullcontext():
            value = loss(run)
        value.backward()
        wanted = [parameter for parameter in of.parameters() if parameter.grad is not None]
        every = max(1, len(wanted) // 5)
        return [value.detach(), *(parameter.grad for parameter in wanted[::every])]

    compiled = torch.compile(model)
    return Program(
        lambda: step(compiled, model, autocast),
        lambda: step(precise, precise, None),
        lambda: step(quiet, quiet, autocast),
        drops,
    )


def words(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape, device=DEVICE)


@program
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    with torch.device(DEVICE):
        model = GPT2LMHeadModel(config).train()
    text = words(config.vocab_size, 8, 1024)
    return training(
        model, lambda run: run(input_ids=text, labels=text, use_cache=False).loss, torch.bfloat16
    )


@program
def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=2048,
        intermediate_size=5632,
        num_hidden_layers=2,
        num_attention_heads=16,
        num_key_value_heads=8,
        vocab_size=32000,
    )
    with torch.device(DEVICE):
        model = LlamaForCausalLM(config).to(torch.bfloat16).train()
    text = words(config.vocab_size, 2, 2048)
    return training(model, lambda run: run(input_ids=text, labels=text, use_cache=False).loss)


@program
def bert():
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(num_hidden_layers=2, attn_implementation="eager")
    with torch.device(DEVICE):
        model = BertForMaskedLM(config).train()
    text = words(config.vocab_size, 16, 512)
    return training(model, lambda run: run(input_ids=text, labels=text).loss, torch.bfloat16, drops=True)


class Mixer(nn.Module):
    """Layers that mix places and channels by turns."""

    class Block(nn.Module):
        def __init__(self, places, channels):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(2))
            self.over_places = nn.Sequential(nn.Linear(places, 2 * places), nn.GELU(), nn.Linear(2 * places, places))
            self.over_channels = nn.Sequential(
                nn.Linear(channels, 4 * channels), nn.GELU(approximate="tanh"), nn.Linear(4 * channels, channels)
            )

        def forward(self, x):
            x = x + self.over_places(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
            return x + self.over_channels(self.norms[1](x))

    def __init__(self, places=196, channels=512, depth=3, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, channels, 16, stride=16)
        self.blocks = nn.Sequential(*(Mixer.Block(places, channels) for _ in range(depth)))
        self.norm = nn.LayerNorm(channels)
        self.head = nn.Linear(channels, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(1))


class Unet(nn.Module):
    """Down to a quarter of the side and up again, with norms of groups."""

    class Block(nn.Module):
        def __init__(self, given, made):
            super().__init__()
            self.first = nn.Sequential(nn.GroupNorm(8, given), nn.SiLU(), nn.Conv2d(given, made, 3, padding=1))
            self.second = nn.Sequential(nn.GroupNorm(8, made), nn.SiLU(), nn.Conv2d(made, made, 3, padding=1))
            self.past = nn.Conv2d(given, made, 1)

        def forward(self, x):
            return self.past(x) + self.second(self.first(x))

    def __init__(self, channels=64):
        super().__init__()
        self.enter = nn.Conv2d(3, channels, 3, padding=1)
        self.down = nn.ModuleList([Unet.Block(channels, channels), Unet.Block(channels, 2 * channels)])
        self.bottom = Unet.Block(2 * channels, 4 * channels)
        self.up = nn.ModuleList([Unet.Block(6 * channels, 2 * channels), Unet.Block(3 * channels, channels)])
        self.leave = nn.Conv2d(channels, 3, 1)

    def forward(self, x):
        x, passed = self.enter(x), []
        for block in self.down:
            x = block(x)
            passed.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.bottom(x)
        for block in self.up:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = block(torch.cat((x, passed.pop()), dim=1))
        return self.leave(x)


@program
def mixer():
    with torch.device(DEVICE):
        model = Mixer().train()
    images, labels = rand(64, 3, 224, 224), words(1000, 64)
    return training(model, lambda run: F.cross_entropy(run(images), labels), torch.bfloat16)


@program
def unet():
    with torch.device(DEVICE):
        model = Unet().train().to(memory_format=torch.channels_last)
    images = rand(8, 3, 128, 128).to(memory_format=torch.channels_last)
    noise = torch.randn_like(images)
    return training(model, lambda run: F.mse_loss(run(images), noise), torch.bfloat16)


# Inference.


def vision(name, batch, dtype):
    """A model of timm's that classifies images."""
    import timm

    with torch.device(DEVICE):
        model = timm.create_model(name, pretrained=False)
    model = model.to(dtype).eval().to(memory_format=torch.channels_last)
    images = rand(batch, 3, 224, 224, dtype=dtype).to(memory_format=torch.channels_last)
    precise, compiled = copy.deepcopy(model).float(), torch.compile(model)

    def run(model, images):
        with torch.no_grad():
            return [model(images)]

    return Program(
        lambda: run(compiled, images), lambda: run(precise, images.float()), lambda: run(model, images)
    )


@program
def convnext_tiny():
    return vision("convnext_tiny", 64, torch.float16)


@program
def resnet50():
    return vision("resnet50", 64, torch.float16)


@program
def vit_small():
    return vision("vit_small_patch16_224", 128, torch.bfloat16)


@program
def swin_tiny():
    return vision("swin_tiny_patch4_window7_224", 64, torch.bfloat16)


@program
def efficientnet():
    return vision("efficientnet_b0", 64, torch.float16)


# Kernels as people write them.


@triton.jit
def layer_norm_of_row(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    weights = tl.load(weight + at, mask=inside)
    shift = tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, centred * scale * weights + shift, mask=inside)


@triton.jit
def rms_norm_of_row(x, weight, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, 0) / columns + epsilon)
    weights = tl.load(weight + at, mask=inside).to(tl.float32)
    tl.store(out + row * columns + at, values * scale * weights, mask=inside)


@triton.jit
def moments_together(mean_a, square_a, count_a, mean_b, square_b, count_b):
    apart = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    square = square_a + square_b + apart * apart * count_a * share
    return mean_a + apart * share, square, count


@triton.jit
def welford(x, mean_out, variance_out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    mean = tl.zeros([BLOCK], tl.float32)
    square = tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        apart = values - mean
        more = count + 1.0
        next_mean = mean + apart / more
        square = tl.where(inside, square + apart * (values - next_mean), square)
        mean = tl.where(inside, next_mean, mean)
        count = tl.where(inside, more, count)
    mean, square, count = tl.reduce((mean, square, count), 0, moments_together)
    tl.store(mean_out + row, mean)
    tl.store(variance_out + row, square / count)


@triton.jit
def cross_entropy(x, target, loss, gradient, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    gradient += row * columns
    label = tl.load(target + row)
    top = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(values, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(values - higher), 0)
        top = higher
    tl.store(loss + row, top + tl.log(total) - tl.load(x + label).to(tl.float32))
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + at, mask=at < columns, other=float("-inf")).to(tl.float32)
        share = tl.exp(values - top) / total
        share = tl.where(at == label, share - 1.0, share)
        tl.store(gradient + at, share * scale, mask=at < columns)


@triton.jit
def kl_div_sum(logarithms, truth, loss, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        said = tl.load(logarithms + row * columns + at, mask=inside, other=0.0)
        true = tl.load(truth + row * columns + at, mask=inside, other=0.0)
        total += tl.sum(true * (tl.log(tl.maximum(true, epsilon)) - said), 0)
    tl.store(loss + row, total)


@triton.jit
def kl_div_each(logarithms, truth, loss, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        said = tl.load(logarithms + row * columns + at, mask=inside, other=0.0)
        true = tl.load(truth + row * columns + at, mask=inside, other=0.0)
        each = true * (tl.log(tl.maximum(true, epsilon)) - said)
        tl.store(loss + row * columns + at, each, mask=inside)


@triton.jit
def dropout(x, out, count, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    values = tl.load(x + at, mask=inside)
    keeps = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keeps, values / (1.0 - p), 0.0), mask=inside)


@triton.jit
def geglu(gate, up, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    g = tl.load(gate + at, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + at, mask=inside, other=0.0).to(tl.float32)
    tanh = libdevice.tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))
    tl.store(out + at, 0.5 * g * (1.0 + tanh) * u, mask=inside)


@triton.jit
def softmax_of_row(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, 0), mask=inside)


class Case(NamedTuple):
    """One launch of a kernel."""

    name: str
    launch: Any
    outputs: list
    # In f32, or `None` where only the compilers are compared.
    expected: Any


def cases():
    """Every launch of `kernels`, built one after the other."""
    bf16 = torch.bfloat16

    def empty(*shape, dtype=torch.float32):
        return torch.empty(*shape, device=DEVICE, dtype=dtype)

    rows, columns = 4096, 16384
    x, weight, bias = rand(rows, columns, dtype=bf16), rand(columns), rand(columns)
    for warps in (8, 16):
        out = torch.empty_like(x)
        yield Case(
            f"layer norm, {rows} x {columns}, bf16, weights f32, {warps} warps",
            lambda out=out, warps=warps: layer_norm_of_row[(rows,)](
                x, weight, bias, out, columns, 1e-5, BLOCK=columns, num_warps=warps
            ),
            [out],
            lambda: [F.layer_norm(x.float(), [columns], weight, bias)],
        )
    out = torch.empty_like(x)
    yield Case(
        f"rms norm, {rows} x {columns}, bf16, 16 warps",
        lambda: rms_norm_of_row[(rows,)](x, weight, out, columns, 1e-5, BLOCK=columns, num_warps=16),
        [out],
        lambda: [F.rms_norm(x.float(), [columns], weight, 1e-5)],
    )
    mean, variance = empty(rows), empty(rows)
    yield Case(
        f"welford, {rows} x {columns}, bf16, 4 warps",
        lambda: welford[(rows,)](x, mean, variance, columns, BLOCK=2048, num_warps=4),
        [mean, variance],
        lambda: [x.float().mean(1), x.float().var(1, correction=0)],
    )
    soft = torch.empty_like(x)
    yield Case(
        f"softmax, {rows} x {columns}, bf16, 8 warps",
        lambda: softmax_of_row[(rows,)](x, soft, columns, BLOCK=columns, num_warps=8),
        [soft],
        lambda: [torch.softmax(x.float(), 1)],
    )
    for vocabulary in (32000, 131072):
        logits, target = rand(4096, vocabulary, dtype=bf16), words(vocabulary, 4096)
        loss, gradient = empty(4096), torch.empty_like(logits)

        def entropy(logits=logits, target=target, loss=loss, gradient=gradient, vocabulary=vocabulary):
            cross_entropy[(4096,)](
                logits, target, loss, gradient, vocabulary, 1 / 4096, BLOCK=32768, num_warps=32
            )

        def true_entropy(logits=logits, target=target):
            share = torch.softmax(logits.float(), 1)
            share.scatter_add_(1, target[:, None], torch.full_like(target, -1, dtype=torch.float32)[:, None])
            return [F.cross_entropy(logits.float(), target, reduction="none"), share / 4096]

        yield Case(
            f"cross entropy with gradient, 4096 x {vocabulary}, bf16, 32 warps", entropy, [loss, gradient], true_entropy
        )
    said, true = torch.log_softmax(rand(4096, 32000), 1), torch.softmax(rand(4096, 32000), 1)
    row_loss, each = empty(4096), torch.empty_like(said)
    yield Case(
        "kl_div, sums of rows, 4096 x 32000, f32, 32 warps",
        lambda: kl_div_sum[(4096,)](said, true, row_loss, 32000, 1e-10, BLOCK=32768, num_warps=32),
        [row_loss],
        lambda: [F.kl_div(said, true, reduction="none").sum(1)],
    )
    yield Case(
        "kl_div, each, 4096 x 32000, f32, 32 warps",
        lambda: kl_div_each[(4096,)](said, true, each, 32000, 1e-10, BLOCK=32768, num_warps=32),
        [each],
        lambda: [F.kl_div(said, true, reduction="none")],
    )
    count = 1 << 26
    flat, gate = rand(count, dtype=torch.float16), rand(count, dtype=torch.float16)
    dropped, gated = torch.empty_like(flat), torch.empty_like(flat)
    yield Case(
        "dropout, 2^26, f16",
        lambda: dropout[(count // 1024,)](flat, dropped, count, 0.3, 1234, BLOCK=1024),
        [dropped],
        None,
    )
    yield Case(
        "geglu with tanh, 2^26, f16",
        lambda: geglu[(count // 1024,)](gate, flat, gated, count, BLOCK=1024),
        [gated],
        lambda: [F.gelu(gate.float(), approximate="tanh") * flat.float()],
    )
