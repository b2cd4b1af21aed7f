"""One of the processes in which `suites.py` runs a suite's cases: `suites_worker.py JOB OUTPUT`.

JOB is a file of JSON that says what is run. Every process of a job collects the same cases, puts them in the same
order, and takes the next that nobody has taken until none is left or the time is up. OUTPUT gets a line of
JSON when a case begins and another when it has ended, so whoever reads it knows what ran when a process dies.
"""

import collections
import contextlib
import fcntl
import gc
import hashlib
import json
import math
import os
import random
import sys
import time
from pathlib import Path

import pytest

# The exit status of a process that cannot go on, though the cases that are left can: after a fault on the GPU.
POISONED = 86
# Texts of Triton's own pipeline, which are no texts of Weft's.
TEXTS = {"ttgir", "llir", "ptx", "sass"}


def chosen(names: list[str], share: float, seed: int) -> list[str]:
    """A share of each test's cases, at least one, in the order in which they run: the first case of every test,
    the second of every test, and so on. So what ran when the time was up is a sample, too."""
    tests = collections.defaultdict(list)
    for name in names:
        tests[name.split("[")[0]].append((digest(seed, name), name))
    ranked = []
    for cases in tests.values():
        kept = sorted(cases)[: math.ceil(len(cases) * share)]
        ranked += [(rank, *case) for rank, case in enumerate(kept)]
    return [name for _, _, name in sorted(ranked)]


def digest(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


class Kernels:
    """Which kernels of Triton's language run, and who compiled them."""

    def __init__(self, compiler: str) -> None:
        self.weft = None
        if compiler != "triton":
            import weft.triton

            if not weft.triton.installed():
                weft.triton.install("simulator" if compiler == "simulator" else "cuda")
            self.weft = weft.triton
        self.compilers: dict[str, str] = {}
        self.known = 0
        self.launched: set[str] = set()
        self.texts: set[str] = set()
        with contextlib.suppress(ImportError):
            self.watch()

    def watch(self) -> None:
        """Notes each kernel that is launched, and each text of it that is looked at."""
        from triton.compiler import compiler
        from triton.runtime.jit import JITFunction

        plain, launched, texts = JITFunction.run, self.launched, self.texts

        def run(function, *args, **kwargs):
            kernel = plain(function, *args, **kwargs)
            if (key := getattr(kernel, "hash", None)) is not None:
                launched.add(key)
            return kernel

        class Watched(compiler.AsmDict):
            def __getitem__(self, key):
                texts.add(key)
                return super().__getitem__(key)

        JITFunction.run = run
        compiler.AsmDict = Watched

    def begin(self) -> None:
        self.launched.clear()
        self.texts.clear()

    def ended(self) -> dict:
        """How many kernels ran or were compiled since `begin`, by whom, and the texts that were looked at."""
        used = set(self.launched)
        if self.weft is not None:
            kernels = self.weft.status().kernels
            for kernel in kernels[self.known :]:
                self.compilers[kernel.hash] = kernel.compiler
                used.add(kernel.hash)
            self.known = len(kernels)
        by_weft = sum(self.compilers.get(kernel) == "weft" for kernel in used)
        return dict(by_weft=by_weft, by_triton=len(used) - by_weft, texts=sorted(self.texts & TEXTS))


def limit_configurations(most: int, seed: int) -> None:
    """Has Triton's autotuner try so many configurations of each kernel, the same ones with each compiler."""
    from triton.runtime.autotuner import Autotuner

    plain = Autotuner.prune_configs

    def prune_configs(tuner, kwargs, *rest):
        found = plain(tuner, kwargs, *rest)
        return sorted(found, key=lambda config: digest(seed, str(config)))[:most]

    Autotuner.prune_configs = prune_configs


class Runner:
    """The plugin of pytest that takes cases and tells how they ended."""

    def __init__(self, job: dict, output: Path) -> None:
        self.job = job
        self.output = output
        self.kernels = Kernels(job["compiler"])
        # How each phase of a case ended, and why.
        self.phases: list[tuple[str, str]] = []
        self.collected = 0
        self.uncollected: dict[str, str] = {}
        if job["configurations"]:
            limit_configurations(job["configurations"], job["seed"])

    def write(self, **line) -> None:
        with self.output.open("a") as out:
            out.write(json.dumps(line) + "\n")

    def take(self) -> int:
        """The number of the next case that nobody has taken."""
        with open(self.job["next"], "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            number = int(file.read() or 0)
            file.seek(0)
            file.write(str(number + 1))
        return number

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        if report.outcome == "failed":
            name = collector.nodeid
            self.uncollected[name] = last_line(str(report.longrepr))
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        self.collected = len(items)
        named = {item.nodeid: item for item in items}
        cases = self.job["cases"]
        names = chosen(list(named), self.job["share"], self.job["seed"]) if cases is None else cases
        items[:] = [named[name] for name in names if name in named]
        self.missing = [name for name in names if name not in named]

    def pytest_runtestloop(self, session):
        numbers = dict(collected=self.collected, chosen=len(session.items))
        self.write(**numbers, uncollected=self.uncollected, missing=self.missing, **about())
        while time.time() < self.job["deadline"] and (number := self.take()) < len(session.items):
            self.run(session.items[number])
        self.write(done=True)
        return True

    def run(self, item) -> None:
        name = item.nodeid
        self.write(begin=name)
        environment = dict(os.environ)
        give_seed(int(digest(self.job["seed"], name)[:8], 16))
        self.phases.clear()
        self.kernels.begin()
        start = time.monotonic()
        # Nothing of a module is kept for the next case, which may be another process's.
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        seconds = time.monotonic() - start
        # What a case leaves in the environment is not there for the next.
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        ends = dict(reversed(self.phases))
        outcome = next((each for each in ("failed", "skipped") if each in ends), "passed")
        sound = released(outcome == "failed")
        self.write(
            name=name, outcome=outcome, why=ends.get(outcome, ""), seconds=round(seconds, 3), **self.kernels.ended()
        )
        if not sound:
            # Nothing more runs on the GPU in this process; its exit handlers would only hang on it.
            os._exit(POISONED)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        result = yield
        # What is wrong on the GPU is wrong in this case.
        if (cuda := running_cuda()) is not None:
            cuda.synchronize()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        why = []
        if call.excinfo is not None and report.outcome != "passed":
            why = f"{call.excinfo.typename}: {call.excinfo.value}".splitlines()
        self.phases.append((report.outcome, " ".join(why[:2])[:400]))
        return report


def running_cuda():
    """PyTorch's CUDA, once something runs on it."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def give_seed(seed: int) -> None:
    """Seeds what a case may draw from without a seed of its own: both compilers see the same numbers."""
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)


def released(failed: bool) -> bool:
    """Gives memory of the GPU back to the other processes; whether the GPU still answers."""
    if failed:
        # What the traceback holds.
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)
        gc.collect()
    if (cuda := running_cuda()) is not None:
        try:
            cuda.synchronize()
            cuda.empty_cache()
        except Exception:
            return False
    return True


def last_line(text: str) -> str:
    """The last line of an error, without pytest's sign before it."""
    lines = [line.removeprefix("E").strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:400] if lines else ""


def about() -> dict:
    """What ran the cases."""
    versions = []
    for name, module in dict(weft="weft", triton="triton", PyTorch="torch", transformers="transformers").items():
        if module in sys.modules:
            versions.append(f"{name} {getattr(sys.modules[module], '__version__', 'unknown')}")
    torch = sys.modules.get("torch")
    machine = torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else "a CPU"
    return dict(versions=", ".join(versions), machine=machine)


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text())
    # The files beside this one have names that a suite's imports could mean.
    sys.path.pop(0)
    command = ["-c", job["settings"], "--rootdir", job["root"], "--confcutdir", job["root"], "--tb=short", "-q"]
    command += ["-p", "no:cacheprovider", "-W", "ignore", "--continue-on-collection-errors"]
    command += [option for path in job["ignore"] for option in ("--ignore", str(Path(job["root"], path)))]
    if job["select"]:
        command += ["-k", job["select"]]
    command += [*job["options"], *(str(Path(job["root"], path)) for path in job["tests"])]
    return pytest.main(command, plugins=[Runner(job, Path(sys.argv[2]))])


if __name__ == "__main__":
    sys.exit(main())
