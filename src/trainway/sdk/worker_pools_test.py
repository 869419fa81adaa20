import pytest

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.worker_pools import setup_job_of


def pool(*setup_jobs: str | None) -> Json:
    workers = [{"id": 1 + at, "setupJob": job} for at, job in enumerate(setup_jobs)]
    return {"metadata": {"name": "warm"}, "status": {"workers": workers}}


def test_the_logs_of_a_worker_are_those_of_its_setup() -> None:
    assert setup_job_of(pool("a", "b"), 1) == "a"
    assert setup_job_of(pool("a", "b", None)) == "b", "the newest that has one"


@pytest.mark.parametrize(
    ("found", "number", "said"),
    [
        (pool("a"), 7, "has no worker 7"),
        (pool("a", None), 2, "no logs of worker 2"),
        (pool(None), None, "no logs of its workers"),
        (pool(), None, "no logs of its workers"),
    ],
)
def test_a_worker_without_logs_is_said(found: Json, number: int | None, said: str) -> None:
    with pytest.raises(NotFoundError, match=said):
        setup_job_of(found, number)
