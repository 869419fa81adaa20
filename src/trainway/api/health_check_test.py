from dataclasses import dataclass
from typing import Any

import pytest

from trainway.api.health_check import (
    health_check,
    health_check_errors,
    in_words,
    with_health_check,
)
from trainway.jobset.labels import HEALTH_CHECK


@dataclass(frozen=True)
class Case:
    value: Any
    said: str
    is_good: bool = True


CASES = [
    Case(None, ""),
    Case("true", "true"),
    Case("false", ""),
    Case("0", ""),
    Case("torch", "torch"),
    Case("30", "30"),
    Case("600", "600"),
    Case("601", "601", is_good=False),
    Case("yes", "yes", is_good=False),
    Case("-1", "-1", is_good=False),
    Case("9" * 5000, "9" * 5000, is_good=False),
    Case("\u0663", "\u0663", is_good=False),
    Case(True, "True", is_good=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.value)[:9])
def test_what_the_annotation_says(case: Case) -> None:
    job = {"metadata": {"annotations": {} if case.value is None else {HEALTH_CHECK: case.value}}}
    assert health_check(job, {}) == case.said
    assert (health_check_errors(job) == []) is case.is_good


def test_a_job_asks_for_it() -> None:
    job = {"kind": "JobSet", "metadata": {"name": "a", "annotations": {"x": "y"}}}
    made = with_health_check(job)
    assert made["metadata"]["annotations"] == {"x": "y", HEALTH_CHECK: "true"}
    assert job["metadata"] == {"name": "a", "annotations": {"x": "y"}}
    assert health_check(with_health_check({"metadata": None}), {}) == "true"


def test_the_job_counts_more_than_its_task_and_that_more_than_the_usual() -> None:
    nothing: dict[str, Any] = {"metadata": {}}
    yes, no = with_health_check(nothing, "30"), with_health_check(nothing, "false")
    assert health_check(nothing, nothing, "true") == "true"
    assert health_check(nothing, yes, "true") == "30"
    assert health_check(no, yes, "true") == ""
    assert health_check(yes, no) == "30"
    assert health_check(nothing, nothing, "false") == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "true"), (False, "false"), (30, "30"), (30.0, "30"), (0, "0"), ("Torch", "torch")],
)
def test_a_value_of_a_file_as_the_annotation_has_it(value: float | str, words: str) -> None:
    assert in_words(value) == words
