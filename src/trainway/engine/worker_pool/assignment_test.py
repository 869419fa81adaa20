"""Which worker a job gets."""

from trainway.agent.controllers.gang_queue import START, WAIT
from trainway.backends.demand import Demand
from trainway.engine.queue import QueuedGang
from trainway.engine.worker_pool.assignment import FreeWorkers, WorkerPlace, given_worker

FREE = FreeWorkers(["p-2", "p-3"], "all are busy", old=["p-1"])
BOUND = {"resumed": "p-1", "elsewhere": "p-9", "new": ""}


def _gang(name: str) -> QueuedGang:
    return QueuedGang(name, Demand())


def test_new_jobs_get_the_workers_in_their_order_and_wait_when_there_are_none() -> None:
    place = WorkerPlace(FREE, BOUND, ["cpu"])
    for worker in FREE.names:
        verdict = place.judge(_gang("new"))
        assert (verdict.outcome, given_worker(verdict.place)) == (START, worker)
        place.take(_gang("new"), verdict.place)
    last = place.judge(_gang("new"))
    assert (last.outcome, last.message, last.holds_back) == (WAIT, "all are busy", True)


def test_a_job_that_was_suspended_goes_on_where_it_was() -> None:
    place = WorkerPlace(FREE, BOUND, ["cpu"])
    assert place.free["worker"] == 3
    verdict = place.judge(_gang("resumed"))
    assert given_worker(verdict.place) == "p-1"
    place.take(_gang("resumed"), verdict.place)
    again = place.judge(_gang("resumed"))
    assert (again.outcome, again.holds_back) == (WAIT, False)
    assert place.judge(_gang("elsewhere")).message == "its worker p-9 has another job"
    assert place.free["worker"] == 2
