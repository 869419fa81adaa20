"""Credentials go to all machines of a pool, and to those that come back."""

from __future__ import annotations

from trainway.agent.pool.clusters_testing import FakeHost, FakePool
from trainway.agent.pool.lending import Lending

REQUEST = {"op": "lend", "files": {"aws.json": "{}"}, "variables": {"A": "aws.json"}}


def test_machines_get_what_was_lent_last() -> None:
    pool = FakePool()
    lending, late = Lending(pool), FakeHost("late")
    lending.give(late)
    assert late.told == []
    lending.take({**REQUEST, "more": 1})
    lending.give(late)

    assert pool.only.told == late.told == [REQUEST]
    assert pool.remembered == [], "nothing of it is written down"
