"""Attention: forward and backward in blocks, and decoding of one position from pages of keys.

Queries, keys, values and gradients of a head are rows of DEPTH elements; heads lie `head` elements
apart. Scores are kept as powers of two, so `scale` holds the logarithm of e to the base 2.
"""

import triton
import triton.language as tl

ROWS = dict(queries="i32", keys="i32", head="i32:16", scale="fp32")

SIGNATURES = {
    "flash_forward": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", out="*fp16:16", logs="*fp32:16", **ROWS,
        DEPTH=64, TILE_M=64, TILE_N=64,
    ),
    "flash_causal": dict(
        q="*bf16:16", k="*bf16:16", v="*bf16:16", out="*bf16:16", logs="*fp32:16", **ROWS,
        DEPTH=64, TILE_M=64, TILE_N=32,
    ),
    "flash_window": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", out="*fp16:16", **ROWS, window="i32", cap="fp32",
        DEPTH=64, TILE_M=32, TILE_N=32,
    ),
    "flash_backward_rows": dict(out="*fp16:16", dout="*fp16:16", sums="*fp32:16", queries="i32", head="i32:16", DEPTH=64, TILE_M=64),
    "flash_backward_keys": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", dout="*fp16:16", logs="*fp32:16", sums="*fp32:16", dk="*fp16:16",
        dv="*fp16:16", **ROWS, DEPTH=64, TILE_M=32, TILE_N=64,
    ),
    "flash_backward_queries": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", dout="*fp16:16", logs="*fp32:16", sums="*fp32:16", dq="*fp16:16",
        **ROWS, DEPTH=64, TILE_M=64, TILE_N=32,
    ),
    "decode_paged": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", pages="*i32:16", lengths="*i32:16", out="*fp16:16", most_pages="i32",
        kv_heads="i32", scale="fp32", SHARE=4, DEPTH=64, PAGE=16,
    ),
    "decode_split": dict(
        q="*fp16:16", k="*fp16:16", v="*fp16:16", lengths="*i32:16", sums="*fp32:16", logs="*fp32:16", kv_heads="i32",
        most="i32", scale="fp32", SHARE=8, DEPTH=64, TILE_N=32,
    ),
    "decode_merge": dict(sums="*fp32:16", logs="*fp32:16", out="*fp16:16", parts="i32", PARTS=8, DEPTH=64),
    "append_to_pages": dict(
        k="*fp16:16", v="*fp16:16", keys="*fp16:16", values="*fp16:16", slots="*i32:16", width="i32:16", PAGE=16, BLOCK=256
    ),
}  # fmt: skip


@triton.jit
def tile(x, rows, count, DEPTH: tl.constexpr):
    """Rows of an array; those behind its end are zero."""
    return tl.load(x + rows[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :], mask=rows[:, None] < count, other=0.0)


@triton.jit
def flash_step(sums, total, largest, scores, values):
    """Takes a block of scores in: what was summed before is scaled to the new largest."""
    higher = tl.maximum(largest, tl.max(scores, 1))
    # A row of which nothing is seen yet has no largest.
    kept = tl.where(higher == -float("inf"), 0.0, higher)
    weights = tl.exp2(scores - kept[:, None])
    scale = tl.exp2(largest - kept)
    total = total * scale + tl.sum(weights, 1)
    return tl.dot(weights.to(values.dtype), values, sums * scale[:, None]), total, higher


@triton.jit
def flash_forward(
    q, k, v, out, logs, queries, keys, head, scale,
    DEPTH: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """Every query sees every key."""
    base = tl.program_id(1).to(tl.int64) * head
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    query = tile(q + base, rows, queries, DEPTH)
    largest = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, DEPTH], tl.float32)
    for start in range(0, keys, TILE_N):
        columns = start + tl.arange(0, TILE_N)
        scores = tl.dot(query, tl.trans(tile(k + base, columns, keys, DEPTH))) * scale
        scores = tl.where(columns[None, :] < keys, scores, -float("inf"))
        sums, total, largest = flash_step(sums, total, largest, scores, tile(v + base, columns, keys, DEPTH))
    at = out + base + rows[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
    tl.store(at, (sums / total[:, None]).to(tl.float16), mask=rows[:, None] < queries)
    tl.store(logs + tl.program_id(1) * queries + rows, largest + tl.log2(total), mask=rows < queries)


@triton.jit
def flash_causal(
    q, k, v, out, logs, queries, keys, head, scale,
    DEPTH: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """A query sees the keys up to its own place: whole blocks first, then those on the diagonal."""
    base = tl.program_id(1).to(tl.int64) * head
    first = tl.program_id(0) * TILE_M
    rows = first + tl.arange(0, TILE_M)
    query = tile(q + base, rows, queries, DEPTH)
    largest = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, DEPTH], tl.float32)
    for start in range(0, first, TILE_N):
        columns = start + tl.arange(0, TILE_N)
        scores = tl.dot(query, tl.trans(tile(k + base, columns, keys, DEPTH))) * scale
        sums, total, largest = flash_step(sums, total, largest, scores, tile(v + base, columns, keys, DEPTH))
    for start in range(first, min(first + TILE_M, keys), TILE_N):
        columns = start + tl.arange(0, TILE_N)
        scores = tl.dot(query, tl.trans(tile(k + base, columns, keys, DEPTH))) * scale
        scores = tl.where(columns[None, :] <= rows[:, None], scores, -float("inf"))
        sums, total, largest = flash_step(sums, total, largest, scores, tile(v + base, columns, keys, DEPTH))
    at = out + base + rows[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
    tl.store(at, (sums / total[:, None]).to(tl.bfloat16), mask=rows[:, None] < queries)
    tl.store(logs + tl.program_id(1) * queries + rows, largest + tl.log2(total), mask=rows < queries)


@triton.jit
def flash_window(
    q, k, v, out, queries, keys, head, scale, window, cap,
    DEPTH: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """A query sees a window of keys before it; scores are held below a cap by a hyperbolic tangent."""
    base = tl.program_id(1).to(tl.int64) * head
    first = tl.program_id(0) * TILE_M
    rows = first + tl.arange(0, TILE_M)
    query = tile(q + base, rows, queries, DEPTH)
    largest = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, DEPTH], tl.float32)
    low = max(first - window + 1, 0) // TILE_N * TILE_N
    for start in range(low, min(first + TILE_M, keys), TILE_N):
        columns = start + tl.arange(0, TILE_N)
        scores = tl.dot(query, tl.trans(tile(k + base, columns, keys, DEPTH))) * scale
        scores = cap * (2 * tl.sigmoid(2 * scores / cap) - 1)
        behind = rows[:, None] - columns[None, :]
        scores = tl.where((behind >= 0) & (behind < window), scores * 1.44269504, -float("inf"))
        sums, total, largest = flash_step(sums, total, largest, scores, tile(v + base, columns, keys, DEPTH))
    at = out + base + rows[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
    tl.store(at, (sums / total[:, None]).to(tl.float16), mask=rows[:, None] < queries)


@triton.jit
def flash_backward_rows(out, dout, sums, queries, head, DEPTH: tl.constexpr, TILE_M: tl.constexpr):
    """The products of each row of the result with its gradient."""
    base = tl.program_id(1).to(tl.int64) * head
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    result = tile(out + base, rows, queries, DEPTH).to(tl.float32)
    gradient = tile(dout + base, rows, queries, DEPTH).to(tl.float32)
    tl.store(sums + tl.program_id(1) * queries + rows, tl.sum(result * gradient, 1), mask=rows < queries)


@triton.jit
def flash_backward_keys(
    q, k, v, dout, logs, sums, dk, dv, queries, keys, head, scale,
    DEPTH: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """The gradients of a block of keys and values, from every query that sees it."""
    base = tl.program_id(1).to(tl.int64) * head
    logs += tl.program_id(1) * queries
    sums += tl.program_id(1) * queries
    first = tl.program_id(0) * TILE_N
    columns = first + tl.arange(0, TILE_N)
    key = tile(k + base, columns, keys, DEPTH)
    value = tile(v + base, columns, keys, DEPTH)
    key_sums = tl.zeros([TILE_N, DEPTH], tl.float32)
    value_sums = tl.zeros([TILE_N, DEPTH], tl.float32)
    for start in range(first // TILE_M * TILE_M, queries, TILE_M):
        rows = start + tl.arange(0, TILE_M)
        query = tile(q + base, rows, queries, DEPTH)
        gradient = tile(dout + base, rows, queries, DEPTH)
        log = tl.load(logs + rows, mask=rows < queries, other=0.0)
        seen = (columns[:, None] <= rows[None, :]) & (rows[None, :] < queries)
        weights = tl.exp2(tl.dot(key, tl.trans(query)) * scale - log[None, :])
        weights = tl.where(seen, weights, 0.0)
        value_sums = tl.dot(weights.to(tl.float16), gradient, value_sums)
        along = tl.load(sums + rows, mask=rows < queries, other=0.0)
        moved = weights * (tl.dot(value, tl.trans(gradient)) - along[None, :])
        key_sums = tl.dot(moved.to(tl.float16), query, key_sums)
    at = base + columns[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
    tl.store(dv + at, value_sums.to(tl.float16), mask=columns[:, None] < keys)
    # The scale by which scores became powers of two, without the logarithm.
    tl.store(dk + at, (key_sums * (scale * 0.69314718)).to(tl.float16), mask=columns[:, None] < keys)


@triton.jit
def flash_backward_queries(
    q, k, v, dout, logs, sums, dq, queries, keys, head, scale,
    DEPTH: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """The gradients of a block of queries, from every key that it sees."""
    base = tl.program_id(1).to(tl.int64) * head
    first = tl.program_id(0) * TILE_M
    rows = first + tl.arange(0, TILE_M)
    query = tile(q + base, rows, queries, DEPTH)
    gradient = tile(dout + base, rows, queries, DEPTH)
    log = tl.load(logs + tl.program_id(1) * queries + rows, mask=rows < queries, other=0.0)
    along = tl.load(sums + tl.program_id(1) * queries + rows, mask=rows < queries, other=0.0)
    query_sums = tl.zeros([TILE_M, DEPTH], tl.float32)
    for start in range(0, min(first + TILE_M, keys), TILE_N):
        columns = start + tl.arange(0, TILE_N)
        key = tile(k + base, columns, keys, DEPTH)
        value = tile(v + base, columns, keys, DEPTH)
        weights = tl.exp2(tl.dot(query, tl.trans(key)) * scale - log[:, None])
        weights = tl.where(columns[None, :] <= rows[:, None], weights, 0.0)
        moved = weights * (tl.dot(gradient, tl.trans(value)) - along[:, None])
        query_sums = tl.dot(moved.to(tl.float16), key, query_sums)
    at = base + rows[:, None] * DEPTH + tl.arange(0, DEPTH)[None, :]
    tl.store(dq + at, (query_sums * (scale * 0.69314718)).to(tl.float16), mask=rows[:, None] < queries)


@triton.jit
def decode_paged(
    q, k, v, pages, lengths, out, most_pages, kv_heads, scale,
    SHARE: tl.constexpr, DEPTH: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    """One new query of each sequence; its keys lie in pages that a table names. SHARE heads share their keys."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    depth = tl.arange(0, DEPTH)
    heads = (sequence * kv_heads + head) * SHARE + tl.arange(0, SHARE)
    query = tl.load(q + heads[:, None] * DEPTH + depth[None, :]).to(tl.float32) * scale
    length = tl.load(lengths + sequence)
    largest = tl.full([SHARE], -float("inf"), tl.float32)
    total = tl.zeros([SHARE], tl.float32)
    sums = tl.zeros([SHARE, DEPTH], tl.float32)
    for index in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(pages + sequence * most_pages + index).to(tl.int64)
        places = tl.arange(0, PAGE)
        at = ((page * PAGE + places) * kv_heads + head)[:, None] * DEPTH + depth[None, :]
        mask = index * PAGE + places < length
        key = tl.load(k + at, mask=mask[:, None], other=0.0).to(tl.float32)
        scores = tl.sum(query[:, None, :] * key[None, :, :], 2)
        scores = tl.where(mask[None, :], scores, -float("inf"))
        higher = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        kept = tl.exp2(largest - higher)
        total = total * kept + tl.sum(weights, 1)
        value = tl.load(v + at, mask=mask[:, None], other=0.0).to(tl.float32)
        sums = sums * kept[:, None] + tl.sum(weights[:, :, None] * value[None, :, :], 1)
        largest = higher
    tl.store(out + heads[:, None] * DEPTH + depth[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def decode_split(
    q, k, v, lengths, sums, logs, kv_heads, most, scale,
    SHARE: tl.constexpr, DEPTH: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """The same with tensor cores, a part of the keys a program: 16 rows hold SHARE heads."""
    sequence, head, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    depth = tl.arange(0, DEPTH)
    each = tl.arange(0, 16)
    heads = (sequence * kv_heads + head) * SHARE + each
    query = tl.load(q + heads[:, None] * DEPTH + depth[None, :], mask=each[:, None] < SHARE, other=0.0)
    length = tl.load(lengths + sequence)
    share = tl.cdiv(tl.cdiv(length, tl.num_programs(2)), TILE_N) * TILE_N
    largest = tl.full([16], -float("inf"), tl.float32)
    total = tl.zeros([16], tl.float32)
    result = tl.zeros([16, DEPTH], tl.float32)
    for start in range(part * share, min((part + 1) * share, length), TILE_N):
        places = start + tl.arange(0, TILE_N)
        at = ((sequence * most + places) * kv_heads + head)[:, None] * DEPTH + depth[None, :]
        key = tl.load(k + at, mask=places[:, None] < length, other=0.0)
        scores = tl.where(places[None, :] < length, tl.dot(query, tl.trans(key)) * scale, -float("inf"))
        value = tl.load(v + at, mask=places[:, None] < length, other=0.0)
        result, total, largest = flash_step(result, total, largest, scores, value)
    total = tl.where(total == 0.0, 1.0, total)
    at = heads * tl.num_programs(2) + part
    tl.store(sums + at[:, None] * DEPTH + depth[None, :], result / total[:, None], mask=each[:, None] < SHARE)
    tl.store(logs + at, largest + tl.log2(total), mask=each < SHARE)


@triton.jit
def decode_merge(sums, logs, out, parts, PARTS: tl.constexpr, DEPTH: tl.constexpr):
    """The parts of one head put together."""
    head = tl.program_id(0)
    part = tl.arange(0, PARTS)
    depth = tl.arange(0, DEPTH)
    log = tl.load(logs + head * parts + part, mask=part < parts, other=-float("inf"))
    weights = tl.exp2(log - tl.max(log, 0))
    at = (head * parts + part)[:, None] * DEPTH + depth[None, :]
    rows = tl.load(sums + at, mask=part[:, None] < parts, other=0.0)
    result = tl.sum(rows * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out + head * DEPTH + depth, result.to(tl.float16))


@triton.jit
def append_to_pages(k, v, keys, values, slots, width, PAGE: tl.constexpr, BLOCK: tl.constexpr):
    """Writes new keys and values where a table says; keys of a page lie side by side. A negative slot is skipped."""
    token = tl.program_id(0)
    slot = tl.load(slots + token)
    if slot >= 0:
        at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        mask = at < width
        page, place = (slot // PAGE).to(tl.int64), slot % PAGE
        key = tl.load(k + token * width + at, mask=mask)
        tl.store(keys + (page * width + at) * PAGE + place, key, mask=mask)
        value = tl.load(v + token * width + at, mask=mask)
        tl.store(values + (page * PAGE + place) * width + at, value, mask=mask)
