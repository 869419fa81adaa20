from hypothesis import given
from hypothesis import strategies as st

from trainway.cli.chart import Curve, chart


def test_a_curve_from_its_largest_to_its_smallest_value() -> None:
    assert chart({"loss": [(1, 2.0), (2, 1.0), (3, 0.5)]}, width=17, height=4) == (
        "  2 |*\n    |\n    |      *\n0.5 |           *\n    +------------\n     1 step     3\n"
    )


def test_several_curves_have_marks_and_a_legend() -> None:
    text = chart({"a": [(0, 0.0), (9, 1.0)], "b": [(0, 1.0), (9, 0.0)]}, width=20, height=3)
    assert text.splitlines()[0].split() == ["1", "|+", "*"]
    assert text.splitlines()[-1].split() == ["*", "a", "+", "b"]


def test_nothing_and_a_single_point_can_be_drawn() -> None:
    assert chart({}) == chart({"a": []}) == "(no points)\n"
    assert chart({"a": [(5, 7.0)]}, width=20, height=3).count("*") == 1


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20), st.integers(1, 90), st.integers(2, 20))
def test_any_numbers_fit_into_the_frame(curve: Curve, width: int, height: int) -> None:
    lines = chart({"a": curve}, width, height).splitlines()
    assert len(lines) == (height + 2 if curve else 1)
    assert not curve or any("*" in line for line in lines)
    assert all(len(line) <= max(width, 60) for line in lines)
