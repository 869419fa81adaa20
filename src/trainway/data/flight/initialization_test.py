"""Which cache an initializer waits for."""

from dataclasses import dataclass, field

import pytest

from trainway.data.flight.initialization import await_cache, cache_address
from trainway.errors import NotFoundError, UnavailableError, UsageError


@dataclass(frozen=True)
class Case:
    uri: str
    address: str
    environment: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    "case",
    [
        Case("cache://10.0.0.7:15042", "cache://10.0.0.7:15042"),
        Case("cache://demo-head-0-0.demo:50051/", "cache://demo-head-0-0.demo:50051/"),
        Case("cache://school/marks", "cache://h:1", {"TRAINWAY_CACHE_ADDRESS": "cache://h:1"}),
        Case("cache://h:2", "cache://h:2", {"TRAINWAY_CACHE_ADDRESS": "cache://h:1"}),
    ],
)
def test_an_address_or_the_one_that_the_job_was_told(case: Case) -> None:
    assert cache_address(case.uri, case.environment) == case.address


def test_a_table_of_no_cache_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(NotFoundError, match="nobody said which cache has cache://school/marks"):
        await_cache("cache://school/marks", {})
    with pytest.raises(UsageError, match="names no cache"):
        await_cache("cache://", {})


def test_d13_a_cache_that_does_not_answer_fails_the_initializer() -> None:
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:1 does not answer"):
        await_cache("cache://127.0.0.1:1", {}, patience_s=0)
