"""`torch.compile` and AOTInductor with Weft on a GPU, in each of their modes; skipped where there is none."""

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

import torch_modes


@pytest.mark.parametrize(("mode", "program"), torch_modes.CASES)
def test_every_kernel_is_by_weft_and_results_are_as_good_as_tritons(tmp_path, mode, program):
    sides = []
    for compiler in ("triton", "weft"):
        folder = tmp_path / compiler
        folder.mkdir()
        try:
            sides.append(torch_modes.run(mode, program, compiler, folder))
        except torch_modes.Failed as error:
            if compiler == "weft":
                raise
            pytest.skip(f"PyTorch does not get there with its own compiler: {error}")
    assert torch_modes.judged(*sides) == []
