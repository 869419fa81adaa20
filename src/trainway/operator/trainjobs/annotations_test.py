from dataclasses import dataclass
from datetime import timedelta

import pytest

from trainway.jobset.labels import TTL_SECONDS
from trainway.json_types import Json
from trainway.operator.trainjobs.annotations import annotation, seconds


@dataclass(frozen=True)
class Case:
    text: str
    seconds: int | None
    at_least: int = 0


CASES = [
    Case("0", 0),
    Case("3600", 3600),
    Case("0", None, at_least=1),
    Case("", None),
    Case("-1", None),
    Case("1.5", None),
    Case("1h", None),
    Case(" 1", None),
    Case("1\n", None),
    Case("٣", None),
    Case("99999999999", None),
    Case("9" * 5000, None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.text[:20]))
def test_a_duration_is_a_whole_number_of_seconds(case: Case) -> None:
    job = {"metadata": {"annotations": {TTL_SECONDS: case.text}}}
    setting = seconds(job, TTL_SECONDS, case.at_least)
    if case.seconds is None:
        assert setting.duration is None
        assert setting.problem.startswith(f"annotation {TTL_SECONDS} is not used: ")
    else:
        assert (setting.duration, setting.problem) == (timedelta(seconds=case.seconds), "")


@pytest.mark.parametrize("metadata", [{}, {"annotations": None}, {"annotations": {"a": "b"}}])
def test_no_annotation_is_no_problem(metadata: Json) -> None:
    setting = seconds({"metadata": metadata}, TTL_SECONDS)
    assert (setting.duration, setting.problem) == (None, "")
    assert annotation({"metadata": metadata}, TTL_SECONDS) is None
