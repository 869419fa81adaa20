import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.queueing.amounts import CPU, GPU, JOBS, Amounts, fits, subtract
from trainway.queueing.queue_policy import QueuePolicy
from trainway.queueing.quota import Quotas
from trainway.queueing.snapshot import RunningGang, Tally, WaitingGang
from trainway.queueing.trial import Trial

LANE = "local"


def queue(
    name: str, quota: Amounts, cohort: str = "", borrowing: Amounts | None = None
) -> QueuePolicy:
    return QueuePolicy(name, quota, cohort=cohort, borrowing=borrowing or {}, reclaims=bool(cohort))


def running(name: str, request: Amounts, queue: str = "a", lane: str = LANE) -> RunningGang:
    return RunningGang(name, request, lane, queue)


def begun(
    policies: list[QueuePolicy], gangs: list[RunningGang], wants: Amounts, free: Amounts | None
) -> Trial:
    """A trial for a job of queue a."""
    queues = {policy.name: policy for policy in policies}
    mine = queues["a"]
    near = frozenset(
        name for name, one in queues.items() if name == "a" or (one.cohort == mine.cohort != "")
    )
    quotas = Quotas(queues, Tally(gangs), {})
    return Trial.begin(WaitingGang("new", wants, LANE, "a"), mine, quotas, free, near)


@dataclass(frozen=True)
class Case:
    name: str
    policies: list[QueuePolicy]
    gangs: list[RunningGang]
    wants: Amounts = field(default_factory=lambda: {GPU: 2})
    free: Amounts | None = None
    enough: list[str] = field(default_factory=list)
    """Who have to leave, at least."""
    helps: list[str] = field(default_factory=list)
    """Who have what is short, on the lane or in quotas."""


OF_TWO = [queue("a", {GPU: 2}, "lab"), queue("b", {GPU: 2}, "lab")]

CASES = [
    Case("nothing is short", [queue("a", {GPU: 9})], [running("r", {GPU: 1})], free={GPU: 2}),
    Case(
        "only one in the same place helps there",
        [queue("a", {})],
        [running("r", {GPU: 2}), running("s", {GPU: 2}, lane="elsewhere"), running("t", {CPU: 1})],
        free={GPU: 0},
        enough=["r"],
        helps=["r"],
    ),
    Case(
        "a quota of its own is freed by its own",
        [queue("a", {GPU: 3}), queue("b", {GPU: 3})],
        [running("r", {GPU: 3}), running("s", {GPU: 3}, "b"), running("t", {CPU: 1})],
        enough=["r"],
        helps=["r"],
    ),
    Case(
        "each counts as a job, its nodes do not",
        [queue("a", {JOBS: 1})],
        [running("r", {CPU: 1}), RunningGang("nodes", {CPU: 1}, LANE, "a", gives=1)],
        enough=["r"],
        helps=["r"],
    ),
    Case(
        "a cohort is freed by those who have it",
        OF_TWO,
        [running("r", {GPU: 4}, "b"), running("s", {CPU: 4}, "b")],
        enough=["r"],
        helps=["r"],
    ),
    Case(
        "what its queue may not borrow is freed by its own first",
        [queue("a", {GPU: 2}, "lab", {GPU: 0}), queue("b", {GPU: 2}, "lab")],
        [running("r", {GPU: 2}), running("s", {GPU: 2}, "b")],
        enough=["r"],
        helps=["r"],
    ),
    Case(
        "what a queue of the cohort has no quota for was never counted",
        [queue("a", {GPU: 2, CPU: 1}, "lab"), queue("b", {CPU: 2}, "lab")],
        [running("r", {GPU: 1}), running("s", {GPU: 2, CPU: 3}, "b")],
        wants={GPU: 2, CPU: 1},
        enough=["r", "s"],
        helps=["r", "s"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_trial(case: Case) -> None:
    trial = begun(case.policies, case.gangs, case.wants, case.free)
    helps = [
        one.id
        for one in case.gangs
        if trial.helps_on_lane(one)
        or (trial.helps_in_queue(one) if one.queue == "a" else trial.lent_to(one))
    ]
    needed = [one for one in case.gangs if one.id in case.enough]
    assert helps == case.helps
    assert trial.is_enough() == (not needed)
    assert trial.is_enough_without(needed)
    for one in needed:
        trial.remove(one)
    assert trial.is_enough()
    for one in needed:
        trial.put_back(one)
        assert not trial.is_enough()


def test_a_queue_that_gave_back_what_it_borrowed_borrows_no_more() -> None:
    gangs = [running("r", {GPU: 1}, "b"), running("s", {GPU: 3}, "b")]
    trial = begun(OF_TWO, gangs, {GPU: 1}, None)
    assert trial.is_within()
    assert trial.borrows(OF_TWO[1], [GPU])
    for one in gangs:
        trial.remove(one)
    assert not trial.borrows(OF_TWO[1], [GPU])


@given(st.integers(0, 1 << 40))
def test_a_trial_comes_to_what_quotas_say_that_were_counted_anew(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    policies = [
        queue(
            name,
            {resource: chance.randint(0, 6) for resource in (CPU, GPU, JOBS)},
            cohort := chance.choice(("", "lab", "lab")),
            {GPU: chance.randint(0, 4)} if cohort and chance.random() < 0.5 else {},
        )
        for name in "abc"
    ]
    gangs = [
        running(
            f"r{number}",
            {CPU: chance.randint(0, 2), GPU: chance.randint(0, 2)},
            chance.choice("abc"),
            chance.choice((LANE, "elsewhere")),
        )
        for number in range(chance.randint(0, 8))
    ]
    free = {CPU: chance.randint(-1, 2), GPU: chance.randint(-1, 2)}
    wants = {CPU: chance.randint(0, 3), GPU: chance.randint(0, 3)}
    trial = begun(policies, gangs, wants, free)
    gone = [one for one in gangs if chance.random() < 0.5]
    for one in gone:
        trial.remove(one)
    kept = [one for one in gangs if one not in gone]
    assert trial.is_enough() == _would_fit(policies, kept, wants, free, gone)
    assert begun(policies, gangs, wants, free).is_enough_without(gone) == trial.is_enough()
    for one in gone:
        trial.put_back(one)
    assert trial.is_enough() == begun(policies, gangs, wants, free).is_enough()


def _would_fit(
    policies: list[QueuePolicy],
    kept: list[RunningGang],
    wants: Amounts,
    free: Amounts,
    gone: list[RunningGang],
) -> bool:
    left = dict(free)
    for one in gone:
        if one.lane == LANE:
            subtract(left, {name: -amount for name, amount in one.request.items()})
    quotas = Quotas({policy.name: policy for policy in policies}, Tally(kept), {})
    new = WaitingGang("new", wants, LANE, "a")
    return fits(wants, left) and not quotas.lacks(new, policies[0])
