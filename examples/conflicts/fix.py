"""Fixes kernels that lose time in shared memory, by what `weft mcp` answers and by nothing else.

Each case of this folder is a buffer in shared memory (`*.json`: who stores, who loads, where the tensor
lies now) or a kernel (`*.ttgir`). The client asks `conflicts` or `explain`, follows the question that the
answer proposes, and has the kernel simulated before and after: the simulator counts wavefronts one address
at a time, and holds the results against the evaluator.

    python3 examples/conflicts/fix.py                    every case
    python3 examples/conflicts/fix.py transpose_f32      one, or several
    python3 examples/conflicts/fix.py --transcript NAME  with every question and answer
    python3 examples/conflicts/fix.py --output docs/measurements/conflicted.json
    python3 examples/conflicts/fix.py --check docs/measurements/conflicted.json

Needs the command `weft` (`--weft`, or the environment's WEFT, else `weft` on the path) and nothing but
Python's own library. The exit status is 1 where a case is not fixed.
"""

import argparse
import datetime
import json
import os
import re
import sys
from pathlib import Path

from client import Refused, Weft

HERE = Path(__file__).resolve().parent


# Kernels


def pointers(name, buffer, shape, element, layout):
    """Pointers to the elements of a tensor that lies row after row in a buffer."""
    rows, columns = shape
    tensor = f"{rows}x{columns}"
    tall, wide = (f"#ttg.slice<{{dim = {dim}, parent = {layout}}}>" for dim in (1, 0))
    return f"""
    %{name}_r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, {tall}>
    %{name}_c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, {wide}>
    %{name}_r1 = tt.expand_dims %{name}_r {{axis = 1 : i32}} : tensor<{rows}xi32, {tall}> -> tensor<{rows}x1xi32, {layout}>
    %{name}_c1 = tt.expand_dims %{name}_c {{axis = 0 : i32}} : tensor<{columns}xi32, {wide}> -> tensor<1x{columns}xi32, {layout}>
    %{name}_w = arith.constant dense<{columns}> : tensor<{rows}x1xi32, {layout}>
    %{name}_r2 = arith.muli %{name}_r1, %{name}_w : tensor<{rows}x1xi32, {layout}>
    %{name}_r3 = tt.broadcast %{name}_r2 : tensor<{rows}x1xi32, {layout}> -> tensor<{tensor}xi32, {layout}>
    %{name}_c3 = tt.broadcast %{name}_c1 : tensor<1x{columns}xi32, {layout}> -> tensor<{tensor}xi32, {layout}>
    %{name}_o = arith.addi %{name}_r3, %{name}_c3 : tensor<{tensor}xi32, {layout}>
    %{name}_s = tt.splat %{buffer} : !tt.ptr<{element}> -> tensor<{tensor}x!tt.ptr<{element}>, {layout}>
    %{name}_p = tt.addptr %{name}_s, %{name}_o : tensor<{tensor}x!tt.ptr<{element}>, {layout}>, tensor<{tensor}xi32, {layout}>"""


def kernel(weft, case, memory):
    """The kernel of a buffer: load from global memory, store and load in shared memory, store again.

    Where `memory` is nothing, the tensor goes from layout to layout without a buffer of the program's own.
    """
    shape, element, target = case["shape"], case["element"], case["target"]
    store, bits = weft.attribute(case["store"], shape)
    loads = [weft.attribute(load, shape)[0] for load in case["loads"]]
    tensor = f"tensor<{shape[0]}x{shape[1]}x{element}"
    aliases = [("#stored", store)] + [(f"#load{index}", load) for index, load in enumerate(loads)]
    buffer = f"!ttg.memdesc<{shape[0]}x{shape[1]}x{element}, #shared, #smem>"
    lines = [pointers("x", "x", shape, element, "#stored")]
    lines.append(f"    %t = tt.load %x_p : {tensor[:-len(element)]}!tt.ptr<{element}>, #stored>")
    if memory is not None:
        aliases.append(("#shared", weft.attribute(memory, shape)[0]))
        lines.append(f"    %m = ttg.local_alloc %t : ({tensor}, #stored>) -> {buffer}")
    parameters = [f"%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}"]
    for index in range(len(loads)):
        layout = f"#load{index}"
        parameters.append(f"%out{index}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")
        lines.append(pointers(f"o{index}", f"out{index}", shape, element, layout))
        if memory is None:
            lines.append(f"    %v{index} = ttg.convert_layout %t : {tensor}, #stored> -> {tensor}, {layout}>")
        else:
            lines.append(f"    %v{index} = ttg.local_load %m : {buffer} -> {tensor}, {layout}>")
        lines.append(
            f"    tt.store %o{index}_p, %v{index} : {tensor[:-len(element)]}!tt.ptr<{element}>, {layout}>"
        )
    name = target if target.startswith("gfx") else target.removeprefix("sm_")
    facts = {
        '"ttg.num-ctas"': "1 : i32",
        '"ttg.num-warps"': f"{1 << bits['warp']} : i32",
        "ttg.target": f'"{"hip" if target.startswith("gfx") else "cuda"}:{name}"',
        '"ttg.threads-per-warp"': f"{1 << bits['lane']} : i32",
    }
    return "\n".join(
        [f"{alias} = {layout}" for alias, layout in aliases]
        + ["#smem = #ttg.shared_memory"]
        + ["module attributes {" + ", ".join(f"{key} = {fact}" for key, fact in facts.items()) + "} {"]
        + [f"  tt.func public @{case['name']}({', '.join(parameters)}) {{"]
        + lines
        + ["    tt.return", "  }", "}", ""]
    )


def arguments(case):
    """Random numbers in, nothing in what is written."""
    if "args" in case:
        return case["args"]
    count = case["shape"][0] * case["shape"][1]
    outs = {f"out{index}": f"empty:{case['element']}[{count}]" for index in range(len(case["loads"]))}
    return {"x": f"random:{case['element']}[{count}]", **outs}


def simulate(weft, case, text):
    """What a run costs; it must compute what it should."""
    answer = weft.ask("simulate", ttir=text, grid=1, args=arguments(case), target=case["target"])
    if not answer["answer"]["passed"]:
        raise Refused(f"the kernel is not right: {answer['summary']}")
    return answer["answer"]["counts"]


# Fixes


def fix_buffer(weft, case):
    """Another memory layout for the buffer."""
    before = simulate(weft, case, kernel(weft, case, case["memory"]))
    tensor = {key: case[key] for key in ("shape", "element", "target")}
    proposed = None
    for kind, side in [("store", case["store"])] + [("load", load) for load in case["loads"]]:
        answer = weft.ask("conflicts", registers=side, memory=case["memory"], kind=kind, **tensor)
        if answer.get("next") and proposed is None:
            proposed = answer
    found = weft.follow(proposed, "swizzle", store=case["store"], loads=case["loads"])
    if any(use["access"] == "store" and use["matrix"] for use in found["answer"]["accesses"]):
        # `ttg.local_store` is a plain store.
        found = weft.follow(found, "swizzle")
    for question in found["next"]:
        if question["tool"] == "conflicts":
            again = weft.ask("conflicts", **question["arguments"])["answer"]
            if again["witness"] is not None:
                raise Refused("the memory that was found has conflicts")
    named = weft.follow(found, "layout")["answer"]
    memory = next(name["text"] for name in named["names"] if name["by"] == "triton")
    after = simulate(weft, case, kernel(weft, case, memory))
    return before, after, memory


def fix_conversion(weft, case):
    """No buffer at all, where lanes can exchange what they need."""
    before = simulate(weft, case, kernel(weft, case, case["memory"]))
    tensor = {key: case[key] for key in ("shape", "element", "target")}
    plan = weft.ask("convert", **{"from": case["store"], "to": case["loads"][0]}, **tensor)["answer"]
    after = simulate(weft, case, kernel(weft, case, None))
    return before, after, f"ttg.convert_layout, by {plan['strategy']}"


def fix_kernel(weft, case):
    """Other memory layouts in a kernel's text."""
    text = case["ttgir"]
    before = simulate(weft, case, text)
    asked = {"ttir": text, "target": case["target"]}
    answer = weft.ask("explain", **asked)
    accesses = answer["answer"].get("shared")
    if accesses is None:
        accesses = whole(weft, answer)["shared"]
    buffers = {}
    for access in accesses:
        buffers.setdefault((access["memory"], access["type"]), []).append(access)
    changed = []
    for (memory, tensor), uses in buffers.items():
        if all(use["wavefronts"] == use["ideal"] for use in uses):
            continue
        shape, element = re.fullmatch(r"tensor<(.*)x([^x]+)>", tensor).groups()
        question = {"shape": [int(extent) for extent in shape.split("x")], "element": element}
        stores = [use["layout"] for use in uses if use["kind"] == "store"]
        loads = [use["layout"] for use in uses if use["kind"] == "load"]
        found = weft.ask("swizzle", store=stores[0], loads=loads, target=case["target"], **question)
        if any(use["access"] == "store" and use["matrix"] for use in found["answer"]["accesses"]):
            found = weft.follow(found, "swizzle")
        named = weft.follow(found, "layout")["answer"]
        better = next(name["text"] for name in named["names"] if name["by"] == "triton")
        text = text.replace(memory, better)
        changed.append(better)
    after = simulate(weft, case, text)
    return before, after, "; ".join(changed)


def whole(weft, answer):
    """The whole of an answer that came without its long parts."""
    handle = next(left["handle"] for left in answer["more"] if left["field"] == "answer")
    text, offset = "", 0
    while offset is not None:
        page = weft.ask("more", handle=handle, offset=offset)
        text += page["text"]
        offset = page.get("next_offset")
    return json.loads(text)


FIXES = {"buffer": fix_buffer, "conversion": fix_conversion, "kernel": fix_kernel}


def cases(names):
    """The cases of this folder, by name."""
    found = []
    for path in sorted(HERE.glob("*.json")):
        case = {"name": path.stem, **json.loads(path.read_text(encoding="utf-8"))}
        if case["kind"] == "kernel":
            case["ttgir"] = path.with_suffix(".ttgir").read_text(encoding="utf-8")
        found.append(case)
    known = [case["name"] for case in found]
    for name in names:
        if name not in known:
            sys.exit(f"there is no case `{name}`; there are {', '.join(known)}")
    return [case for case in found if not names or case["name"] in names]


def judge(before, after):
    """Why a case is not fixed; nothing where it is."""
    if before["shared_wavefronts"] <= after["shared_wavefronts"]:
        return "it takes as many wavefronts as before"
    if after["shared_wavefronts"] != after["ideal_shared_wavefronts"]:
        return "it has bank conflicts still"
    return None


def told(tool, arguments, answer):
    """A question and its answer, for a reader."""
    shown = {key: "…" if key == "ttir" else value for key, value in arguments.items()}
    print(f"> {tool} {json.dumps(shown, ensure_ascii=False)}")
    error = answer.get("error", {})
    print(f"  {answer.get('summary') or error.get('message') or answer.get('text')}")


def row(case, before, after, calls):
    """A line of the table."""
    counts = [before["shared_wavefronts"], after["shared_wavefronts"], after["ideal_shared_wavefronts"]]
    return [f"`{case['name']}`", case["target"], *map(str, counts), str(calls), case["about"]]


def measurement(rows, version):
    """The table, with what it says and how it was made."""
    return {
        "what": "wavefronts of shared memory of one run on the simulator, all warps, before and after a "
        "client followed the answers of `weft mcp`; the fewest that the accesses after can take; calls of tools",
        "command": "python3 examples/conflicts/fix.py --output docs/measurements/conflicted.json",
        "versions": f"weft {version}",
        "machine": "simulated",
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "columns": ["case", "target", "before", "after", "at least", "calls", "what is wrong"],
        "rows": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases; all if none is named")
    parser.add_argument("--weft", default=os.environ.get("WEFT", "weft"), help="the command")
    parser.add_argument("--transcript", action="store_true", help="print every question and answer")
    parser.add_argument("--output", type=Path, help="write the counts here, as JSON")
    parser.add_argument("--check", type=Path, help="fail where the counts are not those of this file")
    asked = parser.parse_args()
    rows, failed = [], 0
    weft = Weft(asked.weft, told if asked.transcript else None)
    for case in cases(asked.names):
        calls = weft.calls
        try:
            before, after, change = FIXES[case["kind"]](weft, case)
            fault = judge(before, after)
        except Refused as refusal:
            fault = str(refusal)
        if fault:
            failed += 1
            print(f"{case['name']}: not fixed: {fault}")
            continue
        rows.append(row(case, before, after, weft.calls - calls))
        print(
            f"{case['name']}: {before['shared_wavefronts']} wavefronts before, "
            f"{after['shared_wavefronts']} after, {after['ideal_shared_wavefronts']} at least: {change}"
        )
    weft.close()
    if asked.output:
        text = json.dumps(measurement(rows, weft.version), indent=2, ensure_ascii=False)
        asked.output.write_text(text + "\n", encoding="utf-8")
    if asked.check:
        known = json.loads(asked.check.read_text(encoding="utf-8"))["rows"]
        for line in rows:
            if line not in known:
                failed += 1
                print(f"not as in {asked.check}: {', '.join(line[:-1])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
