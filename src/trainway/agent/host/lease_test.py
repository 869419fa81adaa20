"""The lease, second by second."""

from dataclasses import dataclass

import pytest

from trainway.agent.host.lease import GO_ON, PROBE, STOP, Lease

HEARD = "heard"


@dataclass(frozen=True)
class Case:
    """What happens at each second from 0 on: a word of the owner, a probe's count, or nothing."""

    name: str
    hosts: int
    seconds: tuple[str | int | None, ...]
    answers: tuple[str, ...]


CASES = [
    Case("an owner that speaks", 4, (HEARD,) * 12, (GO_ON,) * 12),
    Case("a short silence", 4, (HEARD, None, None, HEARD), (GO_ON,) * 4),
    Case(
        "cut off from all",
        4,
        (HEARD, None, None, 0, 0, 0, 0, 0, 0),
        (GO_ON, GO_ON, GO_ON, PROBE, PROBE, PROBE, PROBE, STOP, STOP),
    ),
    Case(
        "the owner sleeps",
        4,
        (HEARD, None, None, *(3,) * 20),
        (GO_ON, GO_ON, GO_ON, *(PROBE,) * 20),
    ),
    Case(
        "half of the votes are no majority: two of three hosts and the owner are gone",
        3,
        (HEARD, None, None, 1, 1, 1, 1, 1),
        (GO_ON, GO_ON, GO_ON, PROBE, PROBE, PROBE, PROBE, STOP),
    ),
    Case(
        "two hosts of three with an owner that sleeps need each other and the third",
        3,
        (HEARD, None, None, *(2,) * 9),
        (GO_ON, GO_ON, GO_ON, *(PROBE,) * 9),
    ),
    Case(
        "the majority comes back in time",
        4,
        (HEARD, None, None, 0, 0, 0, 2, 0, 0, 0, 0, 0),
        (GO_ON, GO_ON, GO_ON, *(PROBE,) * 7, STOP, STOP),
    ),
    Case(
        "the owner comes back in time",
        4,
        (HEARD, None, None, 0, 0, 0, HEARD, None, None, 0),
        (GO_ON, GO_ON, GO_ON, PROBE, PROBE, PROBE, GO_ON, GO_ON, GO_ON, PROBE),
    ),
    Case("the only host", 1, (HEARD, *(None,) * 30), (GO_ON,) * 31),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pods_go_on_with_a_majority_only(case: Case) -> None:
    lease = Lease(0.0)
    lease.renew(0.0, peers=case.hosts - 1, votes=case.hosts + 1)
    answers = []
    for second, happened in enumerate(case.seconds):
        now = float(second)
        if happened == HEARD:
            lease.heard(now)
        elif isinstance(happened, int):
            lease.probed(now, happened)
        answers.append(lease.step(now))
    assert tuple(answers) == case.answers


def test_a_host_that_was_suspended_stops_after_the_first_probe_without_a_majority() -> None:
    lease = Lease(0.0)
    lease.renew(0.0, peers=3, votes=5)
    assert lease.step(600.0) == PROBE
    lease.probed(600.5, 0)
    assert lease.step(600.5) == STOP


def test_after_the_end_only_hello_begins_anew() -> None:
    lease = Lease(0.0)
    lease.renew(0.0, peers=3, votes=5)
    lease.expired = True
    lease.heard(20.0)
    assert lease.expired
    lease.renew(21.0, peers=3, votes=5)
    assert lease.step(30.0) == PROBE
    assert lease.step(21.0) == GO_ON
