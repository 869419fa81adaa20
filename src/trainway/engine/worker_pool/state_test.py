"""The table of what may follow what in the life of a worker, edge by edge."""

import itertools

import pytest

from trainway.engine.worker_pool.record import WorkerPoolRecord, WorkerRecord, pool_state
from trainway.engine.worker_pool.state import TRANSITIONS, PoolState, WorkerState, check_transition

S = WorkerState
EDGES = {
    (S.STARTING, S.SETTING_UP), (S.STARTING, S.FAILED), (S.STARTING, S.SHUTTING_DOWN),
    (S.SETTING_UP, S.READY), (S.SETTING_UP, S.FAILED), (S.SETTING_UP, S.SHUTTING_DOWN),
    (S.READY, S.SHUTTING_DOWN), (S.FAILED, S.SHUTTING_DOWN),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_every_edge(before: WorkerState, after: WorkerState) -> None:
    if (before, after) in EDGES:
        check_transition(before, after)
    else:
        with pytest.raises(ValueError, match="cannot come to"):
            check_transition(before, after)


def test_the_table_knows_every_state() -> None:
    assert set(TRANSITIONS) == set(S)


def _pool(**columns: object) -> WorkerPoolRecord:
    made = WorkerPoolRecord(
        name="p", id="1", infra="local", agent="a", nodes=1, resources="{}", size="{}"
    )
    return made.changed(**columns)


def _workers(*states: WorkerState, version: int = 1) -> list[WorkerRecord]:
    return [
        WorkerRecord(
            id=str(number),
            pool="p",
            number=number,
            name=f"p-{number}",
            version=version,
            state=state,
        )
        for number, state in enumerate(states, start=1)
    ]


def test_how_a_pool_stands() -> None:
    assert pool_state(_pool(), []) == PoolState.NO_WORKERS
    assert pool_state(_pool(), _workers(S.STARTING)) == PoolState.STARTING
    assert pool_state(_pool(), _workers(S.SETTING_UP, S.READY)) == PoolState.READY
    assert pool_state(_pool(failures=3), _workers(S.FAILED)) == PoolState.FAILED
    assert pool_state(_pool(failures=3), _workers(S.FAILED, S.READY)) == PoolState.READY
    assert pool_state(_pool(is_going=True), _workers(S.READY)) == PoolState.SHUTTING_DOWN
    assert pool_state(_pool(version=2), _workers(S.READY)) == PoolState.NO_WORKERS
