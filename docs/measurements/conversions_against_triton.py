#!/usr/bin/env python3
"""Conversions beside Triton's own, judged by their PTX, into `conversions_against_triton.json`.

    cargo build --release --package weft-command
    WEFT_ORACLE_DIR=… python docs/measurements/conversions_against_triton.py

Needs `triton==3.9.0` and `numpy`, and no GPU. `$WEFT_ORACLE_DIR/triton-conversions.jsonl` lists pairs of
layouts that Triton's own tests convert between; without it, `conversions_grid.jsonl` does. Random ones are
added (`conversion_pairs.py`). For each pair Triton compiles one `ttg.convert_layout` to PTX
(`triton_conversions.py`; `--texts` names the folder that keeps it), `weft convert` prints its device
function, and one judge runs both for every thread, proves that every byte arrives, and counts what they do
(`ptx`). Both are priced by the machine's table, as `weft machines --json` prints it.

Pairs where ours costs more, by its text or by its plan, are told on standard error, and make the exit
status 1.
"""

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

import conversion_pairs
from ptx.judge import judge, price
from ptx.text import Refused

ROOT = Path(__file__).resolve().parent.parent.parent
COLUMNS = [
    "pairs", "number", "ours cheaper", "equal", "dearer", "cycles, Weft", "by plan", "Triton", "ratio",
    "wavefronts, Weft", "Triton", "shuffles, Weft", "Triton", "permutes, Weft", "Triton",
    "other arithmetic, Weft", "Triton", "accesses, Weft", "Triton", "block barriers, Weft", "Triton",
]  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    folder = os.environ.get("WEFT_ORACLE_DIR")
    here = Path(__file__).parent / "conversions_grid.jsonl"
    pairs = Path(folder) / "triton-conversions.jsonl" if folder else here
    parser.add_argument("--pairs", type=Path, default=pairs, help="pairs, one JSON object a line")
    parser.add_argument("--random", type=int, default=2000, help="how many random pairs")
    parser.add_argument("--seed", type=int, default=1, help="which random pairs")
    parser.add_argument("--target", default="sm_90", help="the machine")
    parser.add_argument("--weft", type=Path, default=ROOT / "target/release/weft", help="the command")
    texts = Path(tempfile.gettempdir()) / "triton-conversions"
    parser.add_argument("--texts", type=Path, default=texts, help="a folder for Triton's PTX")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at a time")
    return parser.parse_args()


def batch(weft: Path, command: str, requests: list[dict]) -> list[dict]:
    """The answers of one command to many requests."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    call = [weft, command, "--batch", "-"]
    said = subprocess.run(call, input=lines, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def machine(weft: Path, name: str) -> dict:
    said = subprocess.run([weft, "machines", "--json"], check=True, capture_output=True, text=True)
    return next(row for row in json.loads(said.stdout)["machines"] if row["name"] == name)


def elements(bases: dict, shape: list[int]) -> np.ndarray:
    """The element of each register (row) of each thread (column)."""
    weights = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def span(columns) -> np.ndarray:
        found = np.zeros(1, dtype=np.int64)
        for column in columns:
            found = np.concatenate([found, found ^ sum(map(int.__mul__, column, weights))])
        return found

    registers, threads = span(bases["register"]), span(bases["lane"] + bases["warp"])
    return registers[:, None] ^ threads[None, :]


def judged(job: tuple) -> tuple:
    """What both texts of a pair cost: counts and price of ours, then of Triton's."""
    pair, texts, row = job
    source, target = (elements(bases, pair["shape"]) for bases in pair["bases"])
    results = []
    for who, text, shared in texts:
        try:
            counts = judge(
                text, pair["bits"], source, target, math.prod(pair["shape"]), shared, row
            )
        except Refused as error:
            raise RuntimeError(f"{who}: {error}\n{json.dumps(pair)}\n{text}") from error
        results.append((counts, price(counts, row["prices"])))
    return pair, results


def pairs_that_compile(given: argparse.Namespace) -> tuple[list[dict], int]:
    """The pairs with Triton's text, and how many random ones it could not compile."""
    import triton_conversions

    capability = int(given.target.removeprefix("sm_"))
    listed = conversion_pairs.of_file(given.pairs)
    # Triton fails on some: more are drawn than are asked for.
    drawn = conversion_pairs.at_random(given.random + given.random // 5, given.seed)
    pairs = listed + drawn
    names = [{"attribute": p[side], "shape": p["shape"], "names": False} for p in pairs for side in ("from", "to")]
    layouts = iter(batch(given.weft, "layout", names))
    for pair in pairs:
        pair["bases"] = [next(layouts)["bases"], next(layouts)["bases"]]
        pair["warps"] = 1 << len(pair["bases"][0]["warp"])
    kept, failed = [], 0
    for pair, text in zip(pairs, triton_conversions.texts(pairs, capability, given.texts, given.processes)):
        if len(kept) == len(listed) + given.random:
            break
        if text is None:
            failed += 1
        else:
            kept.append({**pair, "triton": text})
    return kept, failed


def label(pair: dict) -> str:
    origin = "listed" if pair["origin"] == "file" else "random"
    warps = "one warp" if pair["warps"] == 1 else "several warps"
    return f"{origin}, {pair['bits']} bits, {warps}"


def kind(result: tuple) -> str:
    """How Triton moves the tensor."""
    counts = result[1][1][0]
    matrices = any("matrix" in name for name in counts.accesses)
    how = "matrices" if matrices else "vectors" if counts.accesses else "exchanges" if counts.shuffles else "renaming"
    return f"all where Triton takes {how}"


def row(name: str, results: list[tuple]) -> list[str]:
    """A line of the table."""
    sides = list(zip(*(result for _, result in results)))
    price = [sum(cost for _, cost in side) for side in sides]
    order = Counter((ours > theirs) - (ours < theirs) for _, ((_, ours), (_, theirs)) in results)

    def both(count) -> list[str]:
        return [f"{sum(count(counts) / counts.warps for counts, _ in side):.0f}" for side in sides]

    return [
        name,
        *map(str, [len(results), order[-1], order[0], order[1]]),
        f"{price[0] / 100:.0f}",
        f"{sum(pair['plan'] for pair, _ in results) / 100:.0f}",
        f"{price[1] / 100:.0f}",
        f"{price[0] / price[1]:.3f}" if price[1] else "",
        *both(lambda counts: counts.wavefronts),
        *both(lambda counts: counts.shuffles),
        *both(lambda counts: counts.permutes),
        *both(lambda counts: counts.alu - counts.permutes),
        *both(lambda counts: sum(counts.accesses.values())),
        *both(lambda counts: counts.block_barriers * counts.warps),
    ]


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main() -> int:
    given = arguments()
    target = machine(given.weft, given.target)
    pairs, failed = pairs_that_compile(given)
    requests = [
        {"from": p["from"], "to": p["to"], "shape": p["shape"], "element_bits": p["bits"],
         "target": given.target, "emit": "ptx"}
        for p in pairs
    ]  # fmt: skip
    jobs = []
    for pair, answer in zip(pairs, batch(given.weft, "convert", requests)):
        if "text" not in answer:
            raise SystemExit(f"no conversion: {answer}\n{json.dumps(pair)}")
        theirs = pair.pop("triton")
        shared = int(theirs.split("\n", 1)[0].split()[-1])
        texts = [("weft", answer["text"], answer["shared_bytes"]), ("triton", theirs, shared)]
        jobs.append(({**pair, "plan": answer["cost"]}, texts, target))
    with Pool(given.processes) as pool:
        results = pool.map(judged, jobs, chunksize=16)
    classes: dict[str, list] = {}
    for result in results:
        classes.setdefault(label(result[0]), []).append(result)
    kinds: dict[str, list] = {}
    for result in results:
        kinds.setdefault(kind(result), []).append(result)
    dearer = [
        result for result in results if max(result[0]["plan"], result[1][0][1]) > result[1][1][1]
    ]
    for pair, ((ours, our_price), (theirs, their_price)) in dearer:
        shown = {key: pair[key] for key in ("from", "to", "shape", "bits", "plan")}
        print(f"{our_price} > {their_price}: {json.dumps(shown)}\n  {ours}\n  {theirs}", file=sys.stderr)
    unlike = [r for r in results if abs(r[0]["plan"] - r[1][0][1]) >= 1]
    above = sum(r[1][0][1] > r[0]["plan"] for r in unlike)
    print(f"{len(unlike)} texts of ours cost other than their plans, {above} of them more", file=sys.stderr)
    for pair, ((ours, our_price), _) in unlike[:10]:
        print(f"  {pair['plan']} planned, {our_price}: {json.dumps(pair)}\n  {ours}", file=sys.stderr)
    version = subprocess.run([given.weft, "--version"], check=True, capture_output=True, text=True).stdout
    import triton

    measurement = {
        "what": f"one conversion in PTX for {given.target}, {len(results)} pairs of layouts, those of "
        f"`{given.pairs.name}` and random ones; both texts run for "
        "every thread by one judge that checks where each byte arrives, counts instructions and counts "
        "wavefronts from addresses; sums over the pairs of what one warp takes, priced by the machine's "
        "table, address arithmetic apart; barriers of a block are counted once a block. "
        f"{len(dearer)} pairs cost more than Triton's; {len(unlike)} texts of ours cost other than their "
        f"plans, {above} of them more. Triton failed to compile {failed} further random pairs",
        "command": "python docs/measurements/conversions_against_triton.py",
        "versions": f"{version.strip()}, triton {triton.__version__}",
        "machine": f"no GPU, {processor()}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "columns": COLUMNS,
        "rows": [
            *(row(name, classes[name]) for name in sorted(classes)),
            *(row(name, kinds[name]) for name in sorted(kinds)),
            row("all", results),
        ],
    }
    given.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    print(given.output.read_text())
    return 1 if dearer else 0


if __name__ == "__main__":
    sys.exit(main())
