"""What an installed package has beside its modules."""

import importlib.metadata
import subprocess
import tomllib
from pathlib import Path

import pytest

import weft

FILES = {path.name for path in importlib.metadata.files("weft") or []}
WORKSPACE = Path(__file__).parent / "../../../Cargo.toml"


@pytest.mark.small
def test_the_version_is_told_once():
    assert weft.__version__ == importlib.metadata.version("weft")
    if WORKSPACE.exists():
        assert weft.__version__ == tomllib.loads(WORKSPACE.read_text())["workspace"]["package"]["version"]


@pytest.mark.small
@pytest.mark.parametrize("name", ["weft_startup.pth", "LICENSE-MIT", "LICENSE-APACHE", "weft-py.cyclonedx.json"])
def test_the_package_has(name):
    assert name in FILES


def test_the_package_names_its_licence_and_what_it_needs():
    said = importlib.metadata.metadata("weft")
    assert said["License-Expression"] == "MIT OR Apache-2.0"
    assert said["Requires-Python"] == ">=3.11"
    assert "triton" in (said.get_all("Provides-Extra") or [])


@pytest.mark.skipif("weft" not in FILES, reason="only released wheels have the command in them")
def test_a_wheel_has_the_command_its_manual_and_completions():
    (command,) = (path for path in importlib.metadata.files("weft") if path.parts[-2:] == ("bin", "weft"))
    told = subprocess.run([command.locate(), "--version"], capture_output=True, text=True, check=True).stdout
    assert told.startswith(f"weft {weft.__version__} (") and len(told.split()) == 4
    assert {"weft.1", "weft-compile.1", "_weft", "weft.fish", "weft.cdx.json", "THIRD-PARTY-LICENSES.txt"} <= FILES


def test_what_starts_a_process_is_one_line():
    (file,) = (path for path in importlib.metadata.files("weft") if path.name == "weft_startup.pth")
    (line,) = file.locate().read_text().splitlines()
    # Python executes lines that begin so.
    assert line.startswith("import ")
