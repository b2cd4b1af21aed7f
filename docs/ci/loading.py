"""The scripts of `docs/measurements` as modules, for their tests."""

import importlib.util
import sys
from pathlib import Path

MEASUREMENTS = Path(__file__).resolve().parents[1] / "measurements"


def load(name):
    spec = importlib.util.spec_from_file_location(name, MEASUREMENTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
