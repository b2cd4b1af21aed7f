"""The questions that the command answers, asked with layouts as objects or texts.

Each function is a request of the same name; what it takes and what its answer holds are those of the
command's `--json`.
"""

from collections.abc import Sequence
from typing import Any

from weft import _weft

from weft.requests import invoke

LayoutLike = _weft.Layout | str
"""A layout, or any text of one: an attribute of Triton's, bases, a layout of CuTe's."""


class Answer(dict[str, Any]):
    """An answer: a dictionary whose keys can be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"the answer has no `{name}`; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def _repr_svg_(self) -> str | None:
        text = self.get("text") or self.get("picture")
        return text if isinstance(text, str) and text.startswith("<svg") else None


def ask(request: str, shape: Sequence[int] | None, **keys: Any) -> Answer:
    """The answer to a request; keys that are not given are left out."""
    given = {name: spelled(value) for name, value in keys.items() if value is not None}
    if shape is not None:
        given["shape"] = list(shape)
    return Answer(invoke({"request": request, **given}))


def spelled(value: Any) -> Any:
    if isinstance(value, _weft.Layout):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [spelled(each) for each in value]
    return value


def shape_of(shape: Sequence[int] | None, *layouts: LayoutLike) -> Sequence[int] | None:
    """The tensor's shape: that which was given, or that of the first layout which is an object."""
    if shape is not None:
        return shape
    return next((layout.shape for layout in layouts if isinstance(layout, _weft.Layout)), None)


def machines(target: str | None = None) -> list[Answer]:
    """What is known of a machine, or of every one.

    >>> weft.machines("sm_90")[0].lanes
    32
    """
    keys = {} if target is None else {"target": target}
    return [Answer(machine) for machine in invoke({"request": "machines", **keys})["machines"]]


def convert(
    source: LayoutLike,
    to: LayoutLike,
    *,
    element: str = "f32",
    shape: Sequence[int] | None = None,
    target: str = "sm_90",
    emit: str | None = None,
) -> Answer:
    """How a tensor gets from one layout into another, at what cost, and why not for less.

    `emit` puts a `text` into the answer: `plan`, `picture`, `svg`, `ptx`, `cuda` or `hip`.

    >>> one = weft.Layout("[register: 1, lane: 2 4 8 16 32] -> [dim0: 64]")
    >>> other = weft.Layout("[register: 32, lane: 1 2 4 8 16] -> [dim0: 64]")
    >>> weft.convert(one, other).strategy
    'shuffles'
    """
    shape = shape_of(shape, source, to)
    keys = {"from": source, "to": to, "element": element, "target": target, "emit": emit}
    return ask("convert", shape, **keys)


def swizzle(
    store: LayoutLike,
    loads: LayoutLike | Sequence[LayoutLike],
    *,
    element: str = "f32",
    shape: Sequence[int] | None = None,
    target: str = "sm_90",
    **others: Any,
) -> Answer:
    """Where a tensor lies best in shared memory between a store and one load or several.

    `others` are further keys of the request: `also`, `weights`, `scratch_bytes`, `trace`.
    """
    several = [loads] if isinstance(loads, (str, _weft.Layout)) else list(loads)
    shape = shape_of(shape, store, *several)
    return ask(
        "swizzle", shape, store=store, loads=several, element=element, target=target, **others
    )


def conflicts(
    registers: LayoutLike,
    memory: LayoutLike,
    *,
    element: str = "f32",
    shape: Sequence[int] | None = None,
    target: str = "sm_90",
    kind: str = "load",
) -> Answer:
    """Whether a tensor meets bank conflicts between registers and shared memory; `kind` is `load` or
    `store`."""
    shape = shape_of(shape, registers, memory)
    keys = {"registers": registers, "memory": memory, "element": element, "kind": kind}
    return ask("conflicts", shape, target=target, **keys)


def port(
    kernel: str | None = None,
    *,
    store: LayoutLike | None = None,
    loads: LayoutLike | Sequence[LayoutLike] | None = None,
    memory: LayoutLike | None = None,
    element: str | None = None,
    shape: Sequence[int] | None = None,
    source: str = "sm_90",
    target: str = "gfx942",
    warps: int | None = None,
    emit: str | None = None,
) -> Answer:
    """What becomes of a kernel, or of the accesses of a buffer, on another machine.

    `kernel` is the text of Triton IR, or of the TTGIR that Triton made for `source`; without it the accesses
    of one buffer are carried over. `emit` puts a `text` into the answer: `report`, `hip`, `tile` or `ttgir`.

    >>> rows = weft.Layout("[register: 1 2, lane: 4 8 16 32 64, warp: 128] -> [dim0: 256]")
    >>> weft.port(loads=rows, element="f32").buffer["accesses"][0]["how"]
    'waves'
    """
    several = [loads] if isinstance(loads, (str, _weft.Layout)) else list(loads or [])
    given = [layout for layout in (store, *several, memory) if layout is not None]
    keys: dict[str, Any] = {"ttir": kernel, "store": store, "memory": memory, "element": element}
    keys |= {"loads": several or None, "from": source, "target": target, "warps": warps}
    return ask("port", shape_of(shape, *given), emit=emit, **keys)


def compile(
    ttir: str,
    *,
    target: str = "sm_90",
    emit: str | Sequence[str] = "ptx",
    warps: int | None = None,
    stages: int | None = None,
    fp_fusion: bool | None = None,
    max_registers: int | None = None,
    line_info: bool | None = None,
    kernel: str | None = None,
    pins: Sequence[str] | None = None,
) -> Answer:
    """What a kernel becomes: `emit` is one or several of `ptx`, `cuda`, `hip`, `tile`, `ttgir`, `lane`,
    `report`, and `c-launcher`, whose text is the answer's `c_launcher`; `line_info` has PTX tell debuggers
    and profilers of lines."""
    texts = [emit] if isinstance(emit, str) else list(emit)
    keys = {"ttir": ttir, "target": target, "emit": texts, "warps": warps, "stages": stages}
    keys |= {"fp_fusion": fp_fusion, "max_registers": max_registers, "line_info": line_info}
    return ask("compile", None, kernel=kernel, pins=pins, **keys)


def explain(
    ttir: str,
    *,
    target: str = "sm_90",
    warps: int | None = None,
    stages: int | None = None,
    fp_fusion: bool | None = None,
    kernel: str | None = None,
    pins: Sequence[str] | None = None,
) -> Answer:
    """Every layout, movement and access of a compiled kernel: why, and at what cost."""
    keys = {"ttir": ttir, "target": target, "warps": warps, "stages": stages}
    return ask("explain", None, fp_fusion=fp_fusion, kernel=kernel, pins=pins, **keys)


__all__ = ["Answer", "compile", "conflicts", "convert", "explain", "machines", "port", "swizzle"]
