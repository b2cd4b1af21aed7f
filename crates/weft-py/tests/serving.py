"""A server in the shape of those that serve language models: a process in front, an engine that it spawns, and
workers that the engine forks or spawns, each with kernels of its own to compile.

A request is a step of a model, kernels one behind the other, and each worker answers it for itself. Its arrays are
those of the cases in `kernels`, and what the kernels leave in them is held against NumPy's.

`test_serving.py` runs it on the simulator, `docs/measurements/serving.py` on a GPU.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from typing import Any

# What a decoder does for a token: from its embedding to the choice of the next one.
STEP = [
    "embedding",
    "rms_norm_forward",
    "matrix_vector",
    "rope_halves",
    "append_to_pages",
    "decode_paged",
    "add_rms_norm",
    "swiglu_forward",
    "sample_nucleus",
]


def answered(names: list[str], place: Any) -> dict[str, Any]:
    """A worker's answer: how long the step took, and what of it was wrong."""
    from kernels import CASES
    from kernels.launch import launched, verdicts

    cases = [(name, CASES[name].case()) for name in names]
    began = time.perf_counter()
    results = [(name, case, launched(name, case, place)[0]) for name, case in cases]
    seconds = time.perf_counter() - began
    wrong = [
        f"{name}: {array}: {verdict.message}"
        for name, case, result in results
        for array, verdict in verdicts(case, result).items()
        if not verdict.right
    ]
    return {"process": os.getpid(), "seconds": seconds, "wrong": wrong}


def work(requests: Any, device: str) -> None:
    """Answers requests until an empty one comes."""
    import numpy as np
    from kernels.launch import Cuda, Simulator

    place = Cuda() if device == "cuda" else Simulator()
    # What a worker does before it is asked: the GPU's context.
    place.given(np.zeros(1))
    place.finish()
    requests.send("ready")
    while names := requests.recv():
        try:
            requests.send(answered(names, place))
        except Exception as error:
            requests.send({"process": os.getpid(), "seconds": 0.0, "wrong": [f"{type(error).__name__}: {error}"]})


def engine(front: Any, method: str, workers: int, device: str) -> None:
    """Hands every request to all workers, and what they answer to the front."""
    # What forked workers find imported; the GPU is not touched before them.
    import triton  # noqa: F401

    context = multiprocessing.get_context(method)
    pipes, processes = [], []
    for _ in range(workers):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=work, args=(theirs, device)))
        processes[-1].start()
        # Without its own copy of a worker's end, the engine hears of a worker that died.
        theirs.close()
        pipes.append(ours)
    for pipe in pipes:
        assert pipe.recv() == "ready"
    front.send("ready")
    while True:
        names = front.recv()
        for pipe in pipes:
            pipe.send(names)
        if not names:
            break
        front.send([pipe.recv() for pipe in pipes])
    for process in processes:
        process.join()


def served(method: str, workers: int, device: str, requests: int, step: list[str]) -> dict[str, Any]:
    """Starts a server, has it answer, and ends it: when it was ready, and of each request the seconds that the
    front waited and all answers."""
    began = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    front, back = context.Pipe()
    process = context.Process(target=engine, args=(back, method, workers, device))
    process.start()
    # As there, of an engine that died.
    back.close()
    assert front.recv() == "ready"
    found: dict[str, Any] = {"ready": time.perf_counter() - began, "waits": [], "answers": []}
    for _ in range(requests):
        asked = time.perf_counter()
        front.send(step)
        found["answers"].append(front.recv())
        found["waits"].append(time.perf_counter() - asked)
    front.send([])
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", choices=["fork", "spawn", "forkserver"], default="fork")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", choices=["cuda", "simulator"], default="cuda")
    parser.add_argument("--requests", type=int, default=2)
    parser.add_argument("--step", type=lambda names: names.split(","), default=STEP)
    options = parser.parse_args()
    json.dump(
        served(options.method, options.workers, options.device, options.requests, options.step), sys.stdout
    )


if __name__ == "__main__":
    main()
