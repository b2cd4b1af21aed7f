"""The command on kernels in Python files, whose IR it asks the Triton of this environment for."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/weft"
# A released wheel has the command in it.
INSTALLED = Path(sysconfig.get_path("scripts")) / "weft"
COMMAND = INSTALLED if INSTALLED.exists() else BUILT

pytest.importorskip("triton")
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built: cargo build -p weft-command")

KERNELS = '''
import triton
import triton.language as tl

print("imported")


@triton.jit
def one_more(x):
    return x + 1


@triton.autotune(configs=[triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def add_one(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, one_more(tl.load(x + offsets, mask=mask)), mask=mask)


@triton.jit
def wrong(x, BLOCK: tl.constexpr = 64):
    tl.store(x + tl.arange(0, BLOCK), missing)
'''


@pytest.fixture
def kernels(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    return file


def weft(*arguments):
    line = [COMMAND, *map(str, arguments), "--python", sys.executable]
    return subprocess.run(line, cwd=HERE, capture_output=True, text=True, timeout=300)


def refused(*arguments):
    finished = weft(*arguments)
    assert (finished.returncode, finished.stdout) == (2, "")
    return finished.stderr


@pytest.mark.skipif(not (ROOT / "examples").exists(), reason="the examples lie in the repository")
def test_a_recorded_kernel_is_what_its_file_becomes():
    asked, recorded = (weft("compile", ROOT / f"examples/row_softmax.{kind}") for kind in ("py", "ttir"))
    assert (asked.returncode, asked.stderr) == (0, "")
    code = [[line for line in text.stdout.splitlines() if "//" not in line and ".file" not in line] for text in (asked, recorded)]
    assert code[0] == code[1]


SIGNATURE = ("--signature", "*float32:16,*fp32:16,i32", "--constexpr", "BLOCK=128")


def test_a_kernel_of_a_file_is_compiled_and_run(kernels):
    finished = weft("compile", kernels, "--kernel", "add_one", *SIGNATURE, "--target", "a100")
    assert finished.stderr == ""
    assert ".entry add_one(" in finished.stdout and ".target sm_80" in finished.stdout
    arguments = ["--arg", "x=range:f32[200]", "--arg", "out=empty:f32[200]", "--arg", "n=200", "--grid", "2"]
    finished = weft("run", kernels, "--kernel", "add_one", *SIGNATURE, *arguments)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    finished = weft("explain", kernels, "--kernel", "add_one", *SIGNATURE, "--target", "mi300x")
    assert finished.returncode == 0, finished.stderr


def test_a_constant_may_stand_in_the_signature(kernels):
    finished = weft("compile", kernels, "--kernel", "add_one", "--signature", "*fp32,*fp32,i32,64", "--emit", "tile")
    assert "tensor<64xf32>" in finished.stdout, finished.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "has 3 functions under `@triton.jit`", "choose one of one_more, add_one, wrong, by --kernel"),
        (["--kernel", "add_on"], "has no kernel `add_on`", "did you mean `add_one`?"),
        (["--kernel", "add_one"], "the types of `add_one` are not known: of x, out, n", "--signature"),
        (["--kernel", "add_one", "--signature", "*fp32,i32"], "the signature has 2 types, and `add_one` takes 3", "x, out, n"),
        (["--kernel", "add_one", *SIGNATURE[:2]], "`BLOCK` of `add_one` is a tl.constexpr without", "--constexpr BLOCK=128"),
        (["--kernel", "add_one", *SIGNATURE, "--constexpr", "BLOK=1"], "`add_one` has no argument `BLOK`", "it takes x, out, n, BLOCK"),
        (["--kernel", "wrong", "--signature", "*fp32"], "kernels.py:23:39: ", "missing"),
    ],
)
def test_what_cannot_be_asked_is_said(kernels, arguments, message, hint):
    said = refused("compile", kernels, *arguments)
    assert message in said and hint in said, said
    assert "Traceback" not in said


def test_a_file_that_cannot_be_imported_says_why(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("import nowhere_at_all\n")
    assert "broken.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'" in refused("compile", file)


def test_a_python_without_triton_says_how_to_get_it(kernels, tmp_path, monkeypatch):
    (tmp_path / "triton.py").write_text("raise ImportError('no Triton here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = refused("compile", kernels)
    assert "cannot import Triton" in said and "pip install triton" in said and "--python" in said
