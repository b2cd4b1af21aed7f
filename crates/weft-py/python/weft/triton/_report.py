"""What a launch on the simulator cost, and what was wrong with it."""

import dataclasses
from typing import Any


class LaunchWarning(UserWarning):
    """A launch on the simulator did something wrong, and was told to go on."""


class LaunchError(RuntimeError):
    """A launch on the simulator did something wrong; `report` holds all of it."""

    def __init__(self, report: "Report") -> None:
        super().__init__(report.text_of_findings())
        self.report = report


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something wrong that a launch did."""

    kind: str
    """`race`, `out of range`, `uninitialised`, `misaligned`, `deadlock`, `assertion`, …"""
    message: str
    """What happened."""
    place: str | None
    """The line of the kernel's source: `file:line:column`."""
    block: tuple[int, int, int]
    """The block that did it."""
    count: int
    """How many warp instructions did it."""
    hint: str
    """What would be right."""

    def __str__(self) -> str:
        place = f"\n  at {self.place}" if self.place else ""
        return f"{self.kind}: {self.message}{place}\n  {self.hint}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What one launch on the simulator did. All counts are of the whole grid."""

    name: str
    """The kernel."""
    grid: tuple[int, int, int]
    """Blocks along x, y and z."""
    target: str
    """The machine."""
    warps: int
    """Warps in a block."""
    instructions: int
    """Instructions of warps."""
    sectors: int
    """Sectors of global memory that accesses touched, 32 bytes each."""
    ideal_sectors: int
    """The sectors that as many distinct bytes need at least."""
    wavefronts: int
    """Passes over the banks of shared memory."""
    ideal_wavefronts: int
    """The passes that as many distinct bytes need at least."""
    shuffles: int
    """Exchanges between lanes."""
    barriers: int
    """Arrivals of warps at barriers of their block."""
    atomics: int
    """Atomic operations of lanes."""
    shared_bytes: int
    """Shared memory of a block."""
    conversions: tuple[dict[str, Any], ...]
    """The movements of data between threads: what moves, from where to where, how and at what cost."""
    findings: tuple[Finding, ...]
    """What was wrong."""
    notes: tuple[Finding, ...]
    """What is no fault, but may not be meant: `equal stores` that nothing orders, and operations whose
    results Triton IR leaves open (`undefined`): divisions by zero, shifts by the width or more, conversions
    of what the integer does not hold."""
    unordered: tuple[Finding, ...]
    """Races that the kernel has under Triton, which inserts no barriers for global memory as Weft does:
    nothing of this launch was wrong for that."""
    printed: tuple[str, ...]
    """The first lines that the kernel printed."""

    @property
    def races(self) -> tuple[Finding, ...]:
        """Two accesses to a byte, one a write, that nothing orders."""
        return self.of_kind("race")

    @property
    def out_of_range(self) -> tuple[Finding, ...]:
        """Accesses outside the arrays."""
        return self.of_kind("out of range")

    def of_kind(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    @property
    def work(self) -> int:
        """Instructions, wavefronts and sectors: a number by which two versions of a kernel can be
        compared, and no time."""
        return self.instructions + self.wavefronts + self.sectors

    def text_of_findings(self) -> str:
        """What was wrong, for people."""
        return "\n".join(map(str, self.findings))

    def __str__(self) -> str:
        x, y, z = self.grid
        return "\n".join(
            [
                f"kernel             {self.name} for {self.target}, grid {x}x{y}x{z}, "
                f"{self.warps} warps a block",
                f"instructions       {self.instructions} of warps",
                f"global sectors     {self.sectors} (ideal {self.ideal_sectors})",
                f"shared wavefronts  {self.wavefronts} (ideal {self.ideal_wavefronts})",
                f"shuffles           {self.shuffles}",
                f"barriers           {self.barriers}",
                f"shared memory      {self.shared_bytes} bytes a block",
                f"movements          {len(self.conversions)}",
                self.text_of_findings() or "findings           none",
                *map(str, self.unordered),
                *map(str, self.notes),
            ]
        )


def finding_of(finding: dict[str, Any]) -> Finding:
    """A finding of an answer."""
    return Finding(
        kind=finding["kind"],
        message=finding["message"],
        place=finding["actor"]["place"],
        block=tuple(finding["actor"]["block"]),
        count=finding["count"],
        hint=finding["hint"],
    )


def report_of(answer: dict[str, Any]) -> Report:
    """The report of a launch's answer."""
    counts = answer["counts"]
    return Report(
        name=answer["name"],
        grid=tuple(answer["grid"]),
        target=answer["target"],
        warps=answer["warps"],
        instructions=counts["instructions"],
        sectors=counts["global_sectors"],
        ideal_sectors=counts["ideal_global_sectors"],
        wavefronts=counts["shared_wavefronts"],
        ideal_wavefronts=counts["ideal_shared_wavefronts"],
        shuffles=counts["shuffles"],
        barriers=counts["block_barriers"],
        atomics=counts["atomics"],
        shared_bytes=counts["shared_bytes"],
        conversions=tuple(answer["conversions"]),
        findings=tuple(map(finding_of, answer["findings"])),
        notes=tuple(map(finding_of, answer.get("notes", ()))),
        unordered=tuple(map(finding_of, answer.get("unordered", ()))),
        printed=tuple(answer["printed"]),
    )
