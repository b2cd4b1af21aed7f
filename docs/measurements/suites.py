#!/usr/bin/env python3
"""Other people's own tests, compiled by Triton and by Weft, on a GPU.

    pip install . && python docs/measurements/suites.py --liger FOLDER --fla FOLDER --triton FOLDER \\
        --share 1/8 --seconds 180 --cases suites.jsonl --output docs/measurements/suites.json

What Triton passes Weft must pass. Each FOLDER is a checkout of a suite's repository at its commit (`SUITES`
below), or the part of it that is named there; nothing of it is installed, and nothing is changed:

    git clone https://github.com/linkedin/Liger-Kernel FOLDER && git -C FOLDER checkout COMMIT

Needs PyTorch, Triton, pytest, and what the suites import (transformers, einops). Processes side by side take
case after case. Both compilers run the same ones, Weft those that Triton passed, each from its own empty
cache and with equal seeds; a share takes the same part of each test's cases every time. A process that dies
or takes too long fails the case at which it was, and another one goes on behind it.

Each case is a line of JSON in the file of `--cases` as soon as it has ended. `--against FILE` reads such
lines of earlier runs, for instance Triton's: `--compilers weft --against FILE` runs the same cases with
another build of Weft. Without a suite's folder the report of those lines is made. `--compilers
triton,simulator` needs no GPU for the second one, and takes suites that run on a CPU's tensors.
"""

import argparse
import collections
import contextlib
import datetime
import fractions
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Suite:
    """Tests of a repository at a commit: the part that is run, and what is not and why."""

    repository: str
    commit: str
    # Relative to the checkout: what Python imports from, and the files and folders of tests.
    imports: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    # pytest's options for a device that is not the GPU.
    on_cpu: tuple[str, ...] = ()


LANGUAGE = "python/test/unit/language/"
OWN_PIPELINE = "looks at texts or passes of Triton's own pipeline"
TRITON = "4b184cccbb42c3aa5f24e34c39c5358636b3e2bd"
NO_KERNELS = "launches no kernel"
OTHER_LANGUAGE = "kernels in another language"

# Triton's commit is the last one of its main branch with the Python sources of 3.6's wheel.
SUITES = {
    "liger": Suite(
        "linkedin/Liger-Kernel",
        "ead96b618e5c67bddc6a6e9bcb99bfe6b5ab661c",
        (".", "src"),
        ("test/transformers",),
        {
            "test/chunked_loss": "in PyTorch, through torch.compile, which torch_compile.py compares",
            "test/convergence": "trains models that are fetched",
            "test/megatron": "needs Megatron",
            "test/cutedsl": OTHER_LANGUAGE,
            **{
                f"test/transformers/test_{name}.py": OTHER_LANGUAGE
                for name in (
                    "cute_moe_autograd",
                    "cutedsl_fused_linear_cross_entropy_sm90",
                    "cutedsl_rms_norm",
                    "cutedsl_rms_norm_fastpath",
                    "cutedsl_rope",
                    "cutile_backend",
                    "cutile_fused_linear_cross_entropy_sm90",
                    "cutile_rms_norm",
                    "cutile_rope",
                    "swiglu_cutedsl",
                )
            },
            **{
                f"test/transformers/test_{name}.py": NO_KERNELS
                for name in ("auto_model", "monkey_patch", "trainer_integration", "transformers", "utils")
            },
        },
    ),
    "fla": Suite(
        "fla-org/flash-linear-attention",
        "bc3b101dcb713ddc5bd8924b66754eb68b5ccf89",
        (".",),
        ("tests/ops", "tests/modules"),
        {
            "tests/models": "the same operations once more, in models",
            "tests/layers": "the same operations once more, in layers",
            "tests/context_parallel": "needs several GPUs",
            "tests/ops/test_dplr_tilelang.py": OTHER_LANGUAGE,
            "tests/ops/test_backends.py": NO_KERNELS,
            "tests/ops/test_cache.py": NO_KERNELS,
        },
    ),
    "triton": Suite(
        "triton-lang/triton",
        TRITON,
        (),
        (LANGUAGE,),
        {
            LANGUAGE + "test_compile_errors.py": NO_KERNELS,
            LANGUAGE + "test_compile_only.py": "for Blackwell",
            LANGUAGE + "test_frontend.py": OWN_PIPELINE,
            LANGUAGE + "test_line_info.py": OWN_PIPELINE,
            LANGUAGE + "test_reproducer.py": OWN_PIPELINE,
            LANGUAGE + "test_subprocess.py": "launches in processes of its own, where nobody counts kernels",
        },
        ("--device", "cpu"),
    ),
    "triton-kernels": Suite(
        "triton-lang/triton",
        TRITON,
        ("python/triton_kernels",),
        ("python/triton_kernels/tests",),
        {"python/triton_kernels/tests/test_distributed.py": "needs several GPUs"},
    ),
    "conch": Suite(
        "stackav-oss/conch",
        "e2c5ecfe341574114fef0218dedb1dd0da1e71f2",
        (".",),
        ("tests",),
    ),
    "attorch": Suite(
        "BobMcDear/attorch",
        "67c2772baf33913ef51c2d1064f746ca17b63749",
        (".",),
        ("tests",),
        {"tests/test_conv_layer.py": "327,680 cases, which take a minute to collect"},
    ),
}

# What the environment tells Weft, by compiler.
WEFT_TRITON = {"triton": "0", "weft": "1", "simulator": "device=simulator"}
# What a case says that fails because a text of Triton's is not there, or has other words.
ABOUT_TEXT = re.compile(r"\.version \d|Unknown key|method count of str object")
# What a case says that would have passed with the GPU's memory to itself.
OUT_OF_MEMORY = re.compile(r"out of memory|OutOfMemoryError")
# A process that has not ended this long after the time is up, in seconds, is ended.
GRACE = 10


# Running cases.


@dataclass
class Job:
    """A suite with a compiler."""

    suite: str
    compiler: str
    root: Path
    folder: Path
    # The cases by name and in order, or a share of them all.
    cases: list[str] | None
    deadline: float
    options: argparse.Namespace

    def write(self) -> Path:
        """What its processes read."""
        suite = SUITES[self.suite]
        self.folder.mkdir(parents=True)
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        (self.folder / "next").write_text("0")
        path = self.folder / "job.json"
        job = dict(
            compiler=self.compiler,
            root=str(self.root),
            settings=str(self.folder / "pytest.ini"),
            next=str(self.folder / "next"),
            tests=[test for test in suite.tests if (self.root / test).exists()],
            ignore=list(suite.left_out),
            options=suite.on_cpu if self.compiler == "simulator" else (),
            select=self.options.select,
            share=float(self.options.share),
            seed=self.options.seed,
            configurations=self.options.configurations,
            cases=self.cases,
            deadline=self.deadline,
        )
        if not job["tests"]:
            raise SystemExit(f"{self.root} holds none of {', '.join(suite.tests)}: is it {suite.repository}?")
        path.write_text(json.dumps(job))
        return path

    def environment(self, processes: int) -> dict[str, str]:
        caches = self.folder.parent / self.compiler
        imports = [str(self.root / path) for path in SUITES[self.suite].imports]
        return dict(
            os.environ,
            WEFT_TRITON=WEFT_TRITON[self.compiler],
            PYTHONPATH=os.pathsep.join(filter(None, [*imports, os.environ.get("PYTHONPATH", "")])),
            # The suites bring the plugins that they need.
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
            PYTHONDONTWRITEBYTECODE="1",
            TRITON_CACHE_DIR=str(caches / "triton"),
            TORCHINDUCTOR_CACHE_DIR=str(caches / "inductor"),
            # Inductor's workers would outlive the process that is ended.
            TORCHINDUCTOR_COMPILE_THREADS="1",
            OMP_NUM_THREADS=str(max(1, (os.cpu_count() or 1) // processes)),
            TOKENIZERS_PARALLELISM="false",
            HF_HUB_OFFLINE="1",
        )


class Process:
    """A process that runs cases of a job, and what it has said."""

    def __init__(self, job: Job, path: Path, number: int, processes: int) -> None:
        self.output = job.folder / f"{number}.jsonl"
        self.log = job.folder / f"{number}.log"
        self.output.touch()
        self.read = 0
        self.collected = False
        self.done = False
        # The case at which it is, and since when.
        self.case: str | None = None
        self.since = time.monotonic()
        worker = Path(__file__).resolve().with_name("suites_worker.py")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(worker), str(path), str(self.output)],
                cwd=job.root,
                env=job.environment(processes),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def news(self) -> list[dict]:
        """The lines that were written since this was called last."""
        with self.output.open("rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self.read += len(whole)
        lines = [json.loads(line) for line in whole.splitlines()]
        for line in lines:
            if "begin" in line:
                self.case, self.since = line["begin"], time.monotonic()
            elif "name" in line:
                self.case = None
            self.collected |= "collected" in line
            self.done |= "done" in line
        return [line for line in lines if "name" in line or "collected" in line]

    def end(self) -> None:
        """Ends it, and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self, lines: int) -> str:
        said = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return "\n".join(said[-lines:])


def run(job: Job, processes: int, record) -> None:
    """Runs a job's cases, and records each as it ends."""
    path = job.write()
    limit = job.options.case_seconds
    begun = 0
    told = False
    running: list[Process] = []

    def start() -> None:
        nonlocal begun
        running.append(Process(job, path, begun, processes))
        begun += 1

    try:
        for _ in range(processes):
            start()
        while running:
            time.sleep(0.1)
            late = time.time() > job.deadline + GRACE
            for process in list(running):
                slow = process.case is not None and time.monotonic() - process.since > limit
                if slow or late:
                    process.end()
                # Asked first: a process that has ended writes nothing after that.
                status = process.process.poll()
                for line in process.news():
                    if "name" in line:
                        record(job, line)
                    elif not told:
                        record(job, line)
                        told = True
                if status is None:
                    continue
                running.remove(process)
                process.end()
                if process.case is not None and not late:
                    why = f"ran longer than {limit:g} s" if slow else ending(status)
                    record(job, dict(name=process.case, outcome="killed", why=why, seconds=limit if slow else 0.0))
                if process.done or time.time() > job.deadline:
                    continue
                if process.collected:
                    start()
                else:
                    words = process.last_words(12)
                    print(f"{job.suite}, {job.compiler}: a process could not begin: {ending(status)}\n{words}")
    finally:
        for process in running:
            process.end()


def ending(status: int) -> str:
    """How a process ended that should not have."""
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def run_compiler(suite: str, compiler: str, root: Path, scratch: Path, known, options, record) -> None:
    """Runs a suite with a compiler: those of its cases that Triton passed, where it was asked before."""
    triton = known.get((suite, "triton"), {})
    cases = None
    if compiler != "triton" and triton:
        cases = [name for name, case in triton.items() if case["outcome"] == "passed"]
    deadline = time.time() + options.seconds
    start = time.monotonic()
    job = Job(suite, compiler, root, scratch / f"{suite}-{compiler}", cases, deadline, options)
    run(job, options.workers, record)
    # What other processes left no memory for has it to itself now.
    ended = known.get((suite, compiler), {})
    again = [name for name, case in ended.items() if OUT_OF_MEMORY.search(case["why"])]
    if again and time.time() < deadline:
        job = Job(suite, compiler, root, scratch / f"{suite}-{compiler}-again", again, deadline, options)
        run(job, max(1, options.workers // 8), record)
    limits = dict(share=str(options.share), seed=options.seed, configurations=options.configurations)
    limits.update(select=options.select, seconds=options.seconds, workers=options.workers)
    record(job, dict(limits=limits, wall=round(time.monotonic() - start, 1)))
    counts = collections.Counter(case["outcome"] for case in known.get((suite, compiler), {}).values())
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    print(f"{suite}, {compiler}: {said or 'nothing ran'}; {time.monotonic() - start:.0f} s", flush=True)


# Lines of JSON: cases by suite and compiler, and what is said of a whole run.


class Lines:
    def __init__(self) -> None:
        self.cases: dict[tuple[str, str], dict[str, dict]] = {}
        self.runs: dict[tuple[str, str], dict] = {}

    def take(self, line: dict) -> None:
        key = line["suite"], line["compiler"]
        if "name" in line:
            self.cases.setdefault(key, {})[line["name"]] = line
        else:
            self.runs.setdefault(key, {}).update(line)

    def read(self, path: Path, without: set[str]) -> None:
        """The lines of earlier runs, but those of compilers that are run anew."""
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if line["compiler"] not in without:
                self.take(line)


# The report.

COLUMNS = ["suite", "cases", "run", "passed by Triton", "without kernels", "about Triton's texts", "compared"]
COLUMNS += ["passed by Weft", "by Triton alone", "Triton's kernels in them", "not run", "Triton, s", "Weft, s"]


def compared(triton: dict, weft: dict) -> tuple[collections.Counter, dict, list[float]]:
    """How the cases that Triton passes ended with Weft; those that Triton alone passes, by test and reason; and
    the seconds of the cases that both pass."""
    ends: collections.Counter = collections.Counter()
    failures = collections.defaultdict(list)
    seconds = [0.0, 0.0]
    for name, one in triton.items():
        if one["outcome"] != "passed":
            continue
        other = weft.get(name)
        if other is None or OUT_OF_MEMORY.search(other["why"]):
            # Nobody left memory for it, and no time was left to run it again.
            ends["not run"] += 1
        elif not kernels(one) and not kernels(other):
            ends["without kernels"] += 1
        elif other["outcome"] == "passed" and other["by_triton"]:
            ends["escaped"] += 1
            failures[name.split("[")[0], "Triton compiled a kernel of it"].append(name)
        elif other["outcome"] == "passed":
            ends["passed"] += 1
            seconds[0] += one["seconds"]
            seconds[1] += other["seconds"]
        elif ABOUT_TEXT.search(other["why"]):
            ends["about texts"] += 1
        else:
            ends["failed"] += 1
            why = other["why"] if other["outcome"] != "skipped" else f"skipped: {other['why']}"
            failures[name.split("[")[0], without_numbers(why)].append(name)
    return ends, failures, seconds


def kernels(case: dict) -> int:
    """How many kernels a case ran. One that was killed did not tell; its other side did."""
    return case.get("by_weft", 0) + case.get("by_triton", 0)


def without_numbers(why: str) -> str:
    """A reason without what differs from case to case and from machine to machine."""
    return re.sub(r"\d+", "N", re.sub(r"%\w+", "%…", re.sub(r"\s+/\S+", "", why)))[:200]


def report(lines: Lines, compiler: str, command: str) -> dict:
    rows, failed, suites = [], [], {}
    sums: collections.Counter = collections.Counter()
    for name, suite in SUITES.items():
        triton, weft = lines.cases.get((name, "triton")), lines.cases.get((name, compiler))
        if triton is None:
            continue
        suites[name] = dict(
            repository=suite.repository, commit=suite.commit, run=list(suite.tests), left_out=suite.left_out
        )
        ends, failures, seconds = compared(triton, weft or {})
        about = lines.runs.get((name, "triton"), {})
        suites[name]["limits"] = about.get("limits", {})
        if about.get("uncollected"):
            suites[name]["not_collected"] = about["uncollected"]
        counts = dict(
            cases=about.get("collected", 0),
            run=len(triton),
            passed=sum(case["outcome"] == "passed" for case in triton.values()),
            compared=ends["passed"] + ends["failed"] + ends["escaped"],
            triton=seconds[0],
            weft=seconds[1],
        )
        counts.update({f"weft {end}": count for end, count in ends.items()})
        sums.update(counts)
        rows.append(row(name, counts))
        failed += [[name, f"`{test}`", str(len(cases)), why] for (test, why), cases in failures.items()]
    if len(rows) > 1:
        rows.append(row("all", sums))
    failed.sort(key=lambda each: (each[0], -int(each[2]), each[1]))
    said = [run for (_, each), run in lines.runs.items() if each in ("triton", compiler)]
    versions = sorted({part for run in said for part in run.get("versions", "").split(", ") if part})
    return {
        "what": "cases of other people's tests that Triton passes, and how many of them Weft passes; "
        "the times are those of cases that both pass, with all that they compile",
        "command": command,
        "versions": ", ".join(versions),
        "machine": ", ".join(sorted({run["machine"] for run in said if "machine" in run})),
        "date": datetime.date.today().isoformat(),
        "columns": COLUMNS,
        "rows": rows,
        "failures": dict(columns=["suite", "test", "cases", "why"], rows=failed),
        "suites": suites,
    }


def row(name: str, counts) -> list[str]:
    names = ["cases", "run", "passed", "weft without kernels", "weft about texts", "compared", "weft passed"]
    names += ["weft failed", "weft escaped", "weft not run"]
    times = [f"{counts.get(side, 0.0):.0f}" for side in ("triton", "weft")]
    return [name, *(str(counts.get(each, 0)) for each in names), *times]


def show(measurement: dict, most: int) -> None:
    """The report's tables, the shorter one last."""
    failed = measurement["failures"]["rows"]
    for suite, test, cases, why in failed[:most]:
        print(f"{suite} {test} {cases}: {why}")
    if len(failed) > most:
        print(f"and {len(failed) - most} more")
    table = [measurement["columns"], *measurement["rows"]]
    widths = [max(len(each[column]) for each in table) for column in range(len(table[0]))]
    for each in table:
        print("  ".join(cell.rjust(width) for cell, width in zip(each, widths, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, suite in SUITES.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER", help=f"{suite.repository} at {suite.commit}")
    parser.add_argument("--compilers", default="triton,weft", help="of triton, weft and simulator, in this order")
    parser.add_argument("--against", type=Path, nargs="*", default=[], metavar="FILE", help="lines of earlier runs")
    parser.add_argument("--cases", type=Path, default=Path("suites.jsonl"), help="where each case's line goes")
    parser.add_argument("--output", type=Path, help="where the report goes")
    parser.add_argument("--share", type=fractions.Fraction, default=fractions.Fraction(1), help="of each test's cases")
    parser.add_argument("--seed", type=int, default=0, help="which cases a share has")
    parser.add_argument("--select", help="as pytest's -k")
    parser.add_argument("--configurations", type=int, help="so many of an autotuner's, instead of all")
    parser.add_argument("--seconds", type=float, default=1e6, help="for each suite and compiler")
    parser.add_argument("--case-seconds", type=float, default=120, help="after which a case is ended, and fails")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes side by side")
    options = parser.parse_args()
    compilers = options.compilers.split(",")
    if unknown := set(compilers) - set(WEFT_TRITON):
        parser.error(f"no compiler is called {', '.join(sorted(unknown))}: there are {', '.join(WEFT_TRITON)}")
    folders = {name: getattr(options, name.replace("-", "_")) for name in SUITES}
    folders = {name: folder.resolve() for name, folder in folders.items() if folder is not None}
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns while it is unset.
    lines = Lines()
    for path in options.against:
        lines.read(path, set(compilers) if folders else set())

    def record(job: Job, line: dict) -> None:
        line = dict(suite=job.suite, compiler=job.compiler, **line)
        lines.take(line)
        with options.cases.open("a") as out:
            out.write(json.dumps(line) + "\n")

    with tempfile.TemporaryDirectory() as scratch:
        for name, folder in folders.items():
            for compiler in compilers:
                run_compiler(name, compiler, folder, Path(scratch), lines.cases, options, record)
    under_test = next((compiler for compiler in compilers if compiler != "triton"), "weft")
    command = "python docs/measurements/suites.py " + shlex.join(sys.argv[1:])
    measurement = report(lines, under_test, command)
    if options.output:
        options.output.write_text(json.dumps(measurement, indent=2, ensure_ascii=False) + "\n")
    show(measurement, 60)


if __name__ == "__main__":
    main()
