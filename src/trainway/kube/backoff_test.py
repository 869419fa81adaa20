from dataclasses import dataclass

import pytest

from trainway.kube.backoff import Backoff, retry_after


@dataclass(frozen=True)
class Case:
    header: str | None
    seconds: float | None


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff(0.1, 1.0)
    longest = [backoff.pause(failures, lambda: 1.0) for failures in range(1, 7)]
    assert longest == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0, 1.0])
    shortest = [backoff.pause(failures, lambda: 0.0) for failures in range(1, 7)]
    assert shortest == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.5, 0.5])


def test_many_failures_are_no_large_number() -> None:
    assert Backoff(0.1, 5.0).pause(100_000, lambda: 1.0) == 5.0


@pytest.mark.parametrize(
    "case",
    [
        Case(None, None),
        Case("2", 2.0),
        Case("0", 0.0),
        Case("3600", 10.0),
        Case("-1", None),
        Case("nan", None),
        Case("Fri, 31 Dec 1999 23:59:59 GMT", None),
    ],
    ids=lambda case: str(case.header),
)
def test_retry_after(case: Case) -> None:
    assert retry_after(case.header, 10.0) == case.seconds
