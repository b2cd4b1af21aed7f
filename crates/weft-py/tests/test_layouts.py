"""Layouts as objects, and the questions that are asked with them."""

import doctest
import json
import pickle

import pytest

import weft
from weft import Layout

np = pytest.importorskip("numpy")

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>"


@pytest.fixture
def tile():
    return Layout(BLOCKED, shape=[16, 32])


def test_a_layout_is_read_from_every_text(tile):
    assert tile == Layout(str(tile)) == Layout(list(tile.bases.items()), shape=[16, 32])
    assert eval(repr(tile)) == tile == pickle.loads(pickle.dumps(tile))
    assert len({tile, Layout(str(tile))}) == 1
    assert Layout("(4,8):(8,1)").is_memory_layout()
    assert tile.ins == {"register": 2, "lane": 5, "warp": 2, "block": 0}
    assert tile.shape == (16, 32) and tile.outs == {"dim1": 5, "dim0": 4}


def test_a_layout_is_applied_to_numbers_and_arrays(tile):
    assert tile.apply(register=3, lane=5, warp=1) == {"dim0": 1, "dim1": 4 + 16 + 3}
    lanes, warps = np.arange(32)[:, None], np.arange(4)[None, :]
    image = tile.apply(lane=lanes, warp=warps, register=2)
    for lane, warp in [(0, 0), (31, 3), (17, 2)]:
        place = tile.apply(lane=lane, warp=warp, register=2)
        assert {axis: int(values[lane, warp]) for axis, values in image.items()} == place
    places = np.arange(512)
    assert sorted(tile.apply_flat(places)) == list(places)
    with pytest.raises(ValueError, match="32 is no place of `lane`, which has 5 bits"):
        tile.apply(lane=32)
    with pytest.raises(ValueError, match="-1 is no place"):
        tile.apply(lane=np.array([1, -1]))
    with pytest.raises(weft.WeftError, match="thread"):
        tile.apply(thread=1)


def test_the_matrix_is_the_map(tile):
    matrix = tile.matrix()
    assert matrix.shape == (9, 9) and matrix.dtype == np.uint8
    place = 0b101101001
    bits = np.array([place >> bit & 1 for bit in range(9)])
    image = sum(int(bit) << row for row, bit in enumerate(matrix @ bits % 2))
    assert image == tile.apply_flat(place)


def test_operators_obey_their_laws(tile):
    identity = tile.compose(tile.invert())
    assert (identity.matrix() == np.eye(9)).all()
    other = Layout(BLOCKED.replace("order = [1, 0]", "order = [0, 1]"), shape=[16, 32])
    assert tile.solve(other).compose(other) == tile
    left, right = Layout.identity(2, "register", "dim0"), Layout.identity(3, "lane", "dim0")
    assert (left * right).divide_left(left).apply(lane=5) == {"dim0": 5}
    assert tile.transpose([1, 0]).transpose([1, 0]) == tile
    assert tile.reshape([512]).reshape([16, 32]) == tile
    assert tile.expand_dims(0).shape == (1, 16, 32)
    assert tile.slice(1).shape == (16,)
    assert tile.join().split() == tile
    assert tile.sublayout(["lane"], ["dim1"]).ins == {"lane": 5}
    assert tile.is_distributed() and tile.is_invertible() and tile.rank == 9
    assert tile.contiguous_run("register", "dim1") == 4


def test_a_refusal_carries_its_witness(tile):
    doubled = Layout("[register: 1 1] -> [dim0: 2]")
    with pytest.raises(weft.WeftError) as caught:
        doubled.invert()
    assert caught.value.kind == "layout"
    assert set(caught.value.details["witness"]) == {"first", "second", "image"}
    with pytest.raises(weft.WeftError) as caught:
        tile.divide_left(Layout.identity(2, "lane", "dim1"))
    assert set(caught.value.details["witness"]) == {"input", "image"}
    with pytest.raises(weft.WeftError, match="column"):
        Layout("#ttg.blocked<{")
    with pytest.raises(weft.WeftError, match="how large"):
        Layout(BLOCKED)


def test_layouts_have_pictures_and_names(tile):
    assert "<svg" in tile._repr_svg_()
    assert len(tile.picture("grid").splitlines()) >= 16
    assert "<svg" in tile.picture("matrix", svg=True)
    assert any("blocked" in text for by, text in tile.names() if by == "triton")
    with pytest.raises(ValueError, match="no picture"):
        tile.picture("circle")


def test_questions_are_those_of_the_command(tile):
    other = Layout(BLOCKED.replace("order = [1, 0]", "order = [0, 1]"), shape=[16, 32])
    answer = weft.convert(tile, other, element="f16", emit="ptx")
    request = {"request": "convert", "from": str(tile), "to": str(other), "shape": [16, 32], "element": "f16"}
    request |= {"target": "sm_90", "emit": "ptx"}
    assert answer == weft.invoke(request)
    assert answer.bound <= answer.cost and answer.verified and ".func" in answer.text
    found = weft.swizzle(tile, other, element="f16")
    memory = Layout(list(found.bases.items()), shape=[16, 32])
    assert memory.is_invertible()
    met = weft.conflicts(other, memory, element="f16")
    assert met.wavefronts >= met.ideal
    with pytest.raises(AttributeError, match="it has"):
        answer.speed  # noqa: B018
    assert json.loads(json.dumps(answer)) == answer


def test_kernels_are_compiled_and_explained():
    ttir = """
    tt.func public @double(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
      %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
      %base = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %at = tt.addptr %base, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %old = tt.load %at : tensor<128x!tt.ptr<f32>>
      %new = arith.addf %old, %old : tensor<128xf32>
      tt.store %at, %new : tensor<128x!tt.ptr<f32>>
      tt.return
    }"""
    answer = weft.compile(ttir, emit=["ptx", "cuda"])
    assert ".entry double" in answer.ptx and "__global__" in answer.cuda
    assert weft.explain(ttir).name == "double"
    with pytest.raises(weft.WeftError) as caught:
        weft.compile("tt.func @")
    assert caught.value.details["line"] == 1


@pytest.mark.parametrize("module", ["weft", "weft.questions", "weft.requests"])
def test_examples_in_docstrings_are_true(module):
    __import__(module)
    import sys

    failed, tried = doctest.testmod(sys.modules[module], extraglobs={"weft": weft})
    assert tried and not failed
