from hypothesis import given
from hypothesis import strategies as st

from trainway.agent.controllers import indexes


@given(st.sets(st.integers(0, 60)))
def test_what_is_rendered_can_be_parsed(wanted: set[int]) -> None:
    assert indexes.parse(indexes.render(wanted), 61) == wanted


def test_rendered_as_kubernetes_does() -> None:
    assert indexes.render([7, 1, 3, 4, 5, 9, 10]) == "1,3-5,7,9,10"
    assert indexes.render([]) == ""


def test_what_is_no_index_of_the_job_is_left_out() -> None:
    assert indexes.parse("1,3-9,x,4-y,12", 5) == {1, 3, 4}
    assert indexes.parse("", 5) == set()
