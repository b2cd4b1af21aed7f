"""`docs/measurements/launches.py` on lines made up here: what is compared, and with what."""

import math

import pytest
from loading import load

launches = load("launches")


def launch(key, problem, us, sums=((1.0, 2.0),)):
    return dict(
        name="m.kernel", problem=problem, key=key, config={"BLOCK": key}, grid=[1], us=us,
        sums=[list(sum) for sum in sums], compiler="triton", tuned=True,
    )


def used(problem, key):
    return dict(problem=problem, used=key)


def test_each_side_runs_what_it_chose():
    triton = [launch("a", "p", 10.0), launch("b", "p", 20.0), used("p", "b"), used("p", "a"), dict(done=1.0)]
    weft = [launch("a", "p", 40.0), launch("b", "p", 5.0), used("p", "b"), launch("c", "q", 9.0), used("q", "c")]
    found = launches.compared("job", triton, weft)
    # What was used last counts, and problems of one side are left out.
    assert [(one["triton"], one["weft"]) for one in found["problems"]] == [(10.0, 5.0)]
    assert sorted((one["key"], one["triton"] / one["weft"]) for one in found["same"]) == [("a", 0.25), ("b", 4.0)]
    assert launches.mean_of(found["problems"]) == pytest.approx(2.0)
    assert math.isnan(launches.mean_of([]))
    [row, every] = launches.show([found])
    assert row[:4] == ["job", "1", "2.000", "0"] and row[5:] == ["1.000", "2"]
    assert every[:4] == ["all", "1", "2.000", "0"]


def test_short_problems_and_failures_are_left_out():
    failed = dict(name="m.kernel", problem="q", key="f", error="out of memory")
    triton = [launch("a", "p", 2.9), used("p", "a"), failed, used("q", "f")]
    weft = [launch("a", "p", 2.0), used("p", "a"), failed, used("q", "f")]
    found = launches.compared("job", triton, weft)
    assert found["problems"] == [] and found["same"] == []
    assert launches.show([found]) == []


@pytest.mark.parametrize(
    ("sums", "expected"),
    [
        ([1.0, 2.0], False),
        ([1.019, 2.0], False),
        ([1.03, 2.0], True),
        ([1.0, 2.03], True),
        ([math.nan, math.nan], True),
    ],
)
def test_sums_may_differ_by_a_hundredth_of_the_magnitudes(sums, expected):
    assert launches.differs(launch("a", "p", 1.0), launch("a", "p", 1.0, [sums])) is expected


def test_two_sides_without_a_number_are_alike():
    nothing = launch("a", "p", 1.0, [[math.nan, math.inf]])
    assert not launches.differs(nothing, nothing)
