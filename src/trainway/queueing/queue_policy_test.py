from dataclasses import dataclass

import pytest

from trainway.queueing.amounts import CPU, GPU, JOBS, MEMORY, figure, gpu_of, told
from trainway.queueing.queue_policy import QueuePolicy, QueueState, problems


@dataclass(frozen=True)
class Case:
    policy: QueuePolicy
    field: str
    message: str


CASES = [
    Case(
        QueuePolicy("a", {"gpus": 1}),
        "quota.gpus",
        "is no resource of queues; there are cpu, memory, gpu, gpu:TYPE and jobs",
    ),
    Case(
        QueuePolicy("a", {"gpu:": 1}),
        "quota.gpu:",
        "is no resource of queues; there are cpu, memory, gpu, gpu:TYPE and jobs",
    ),
    Case(QueuePolicy("a", {GPU: -1}), "quota.gpu", "must not be negative, and is -1"),
    Case(QueuePolicy("a", weight=0), "weight", "must be 1 or more, and is 0"),
    Case(QueuePolicy("a", grace_s=-1), "gracePeriodSeconds", "must not be negative, and is -1"),
    Case(QueuePolicy("a", gpu_hours=-1), "gpuHoursPerMonth", "must not be negative, and is -1"),
    Case(
        QueuePolicy("a", {GPU: 1}, borrowing={GPU: 1}),
        "borrowing",
        "needs a cohort: without one there is nobody to borrow from",
    ),
    Case(
        QueuePolicy("a", reclaims=True),
        "reclaims",
        "needs a cohort: without one nobody can have borrowed anything",
    ),
    Case(
        QueuePolicy("a", {GPU: 1}, cohort="c", borrowing={CPU: 1}),
        "borrowing.cpu",
        "has no quota to go beyond; give the quota as well",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.field)
def test_problems(case: Case) -> None:
    assert problems(case.policy) == {case.field: case.message}


def test_a_good_policy_has_no_problems() -> None:
    quota = {CPU: 1, MEMORY: 1, GPU: 0, gpu_of("H100"): 1, JOBS: 1}
    assert problems(QueuePolicy("a", quota, 10, "c", {GPU: 1}, reclaims=True)) == {}


def test_only_a_queue_that_is_drained_takes_in_no_jobs() -> None:
    assert QueuePolicy("a").refusal == QueuePolicy("a", state=QueueState.PAUSED).refusal == ""
    assert QueuePolicy("a", state=QueueState.DRAINING).refusal == (
        "Queue a is being drained and takes in no more jobs. "
        "Choose another queue, or let it take jobs again: trainway queues resume a"
    )


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        (CPU, 500, "0.5 CPUs"),
        (CPU, 1000, "1 CPU"),
        (MEMORY, 16 << 30, "16Gi of memory"),
        (MEMORY, 1536 << 20, "1.5Gi of memory"),
        (MEMORY, 3 << 40, "3Ti of memory"),
        (MEMORY, 100, "100 of memory"),
        (GPU, 1, "1 GPU"),
        (gpu_of("H100"), 2, "2 GPUs of type H100"),
        (JOBS, 1, "1 running job"),
    ],
)
def test_amounts_as_people_read_them(resource: str, amount: int, text: str) -> None:
    assert told(resource, amount) == text
    assert text.startswith(figure(resource, amount))
