from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.host import lease as host_lease
from trainway.agent.host.owner import STEP_SECONDS
from trainway.agent.pool.hosts import TICK_SECONDS
from trainway.agent.pool.lease import (
    BACK,
    CONNECTING,
    LOST,
    LOST_SECONDS,
    PING_SECONDS,
    SILENT,
    UP,
    Leases,
    has_quorum,
)
from trainway.agent.pool.pool import Pool


@dataclass(frozen=True)
class Quorum:
    up: int
    hosts: int
    has: bool


@pytest.mark.parametrize(
    "case",
    [
        Quorum(0, 1, False),
        Quorum(1, 1, True),
        Quorum(0, 2, False),
        Quorum(1, 2, True),
        Quorum(1, 3, False),
        Quorum(2, 3, True),
        Quorum(1, 4, False),
        Quorum(2, 4, True),
        Quorum(0, 0, True),
    ],
    ids=lambda case: f"{case.up} of {case.hosts}",
)
def test_quorum(case: Quorum) -> None:
    states = [UP] * case.up + [SILENT] * (case.hosts - case.up)
    assert has_quorum(states, case.hosts + 1) is case.has


@dataclass(frozen=True)
class Case:
    """Hosts are heard, and get our pings, every second until the given one."""

    name: str
    until: dict[str, int]
    states: dict[int, str]
    """At that second the state of host `a`."""
    pauses: dict[int, float] = field(default_factory=dict)
    """We sleep before that second, for so long."""


FOR_EVER = 1000
CASES = [
    Case("stays up", {"a": FOR_EVER, "b": FOR_EVER}, {1: UP, 60: UP}),
    Case(
        "is silent after 3 s and lost 8.5 s after our last word",
        {"a": 10, "b": FOR_EVER, "c": FOR_EVER},
        {12: UP, 13: SILENT, 20: SILENT, 21: LOST},
    ),
    Case("the only host is never lost", {"a": 10}, {13: SILENT, 500: SILENT}),
    Case("nobody is lost when all are gone", {"a": 10, "b": 10, "c": 10}, {13: SILENT, 90: SILENT}),
    Case("nor when most are", {"a": 10, "b": 10, "c": FOR_EVER}, {13: SILENT, 90: SILENT}),
    Case(
        "one of two is lost while the other is heard",
        {"a": 10, "b": FOR_EVER},
        {13: SILENT, 20: SILENT, 21: LOST},
    ),
    Case(
        "time in which we slept does not count",
        {"a": FOR_EVER, "b": FOR_EVER},
        {10: UP, 20: UP},
        {10: 3600.0},
    ),
    Case(
        "nor for a host that was silent already",
        {"a": 10, "b": FOR_EVER, "c": FOR_EVER},
        {16: SILENT, 23: SILENT, 24: LOST},
        {16: 3600.0},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lease(case: Case) -> None:
    slept = 0.0
    leases = Leases(0.0)
    hosts = {name: leases.add(name, 0.0) for name in case.until}
    seen = {}
    for second in range(max(case.states) + 1):
        slept += case.pauses.get(second, 0.0)
        now = second + slept
        for name, until in case.until.items():
            if second <= until:
                hosts[name].heard(now)
        leases.check(now)
        for lease in hosts.values():
            if lease.state == UP:
                lease.sent(now)
        seen[second] = hosts["a"].state
    assert {second: seen[second] for second in case.states} == case.states


def test_heard_again() -> None:
    leases = Leases(0.0)
    lease, other = leases.add("a", 0.0), leases.add("b", 0.0)
    assert lease.state == CONNECTING
    assert lease.heard(0.5) == [UP]
    assert lease.heard(0.6) == []
    for second in range(20):
        other.heard(float(second))
        leases.check(float(second))
    assert lease.state == LOST
    assert not lease.may_send
    assert lease.heard(20.0) == [BACK, UP]
    assert lease.may_send


def test_quorum_must_have_lasted() -> None:
    """After a night all hosts but one are heard again: that one has some seconds to follow."""
    leases = Leases(0.0)
    hosts = {name: leases.add(name, 0.0) for name in "abcd"}
    for second in range(40):
        leases.check(float(second))
    assert {lease.state for lease in hosts.values()} == {SILENT}
    changes = []
    for second in range(40, 50):
        for name in "bcd":
            hosts[name].heard(float(second))
        changes.append(leases.check(float(second)))
    assert changes == [*[[]] * 8, [("a", LOST)], []]


def test_a_known_host_keeps_its_lease() -> None:
    leases = Leases(0.0)
    lease = leases.add("a", 0.0)
    assert leases.add("a", 5.0) is lease
    assert leases.votes == 2
    leases.remove("a")
    assert leases.votes == 1


def test_a_host_that_others_watch_over_is_never_lost() -> None:
    leases = Leases(0.0)
    for name in ("a", "b", "c"):
        leases.add(name, 0.0, lasting=name == "c")
    changes = []
    for second in range(40):
        for name in ("a", "b"):
            leases.add(name, 0.0).heard(float(second))
        changes += leases.check(float(second))
    assert ("c", SILENT) in changes
    assert ("c", LOST) not in changes


def test_a_host_is_asked_once_a_second_and_not_before_it_has_answered() -> None:
    lease = Leases(0.0).add("a", 0.0)
    asked = []
    for quarter in range(24):
        now = quarter / 4
        if now < 3:
            lease.heard(now)
        if lease.wants_ping(now):
            lease.pinged(now)
            lease.sent(now)
            asked.append(now)
    assert asked == [0.0, 1.0, 2.0, 3.0], "the last one is never answered"
    lease.heard(6.0)
    assert lease.wants_ping(6.0)


def test_a_loss_is_noticed_within_ten_seconds_and_after_the_host_has_stopped() -> None:
    stopped = host_lease.SILENCE + host_lease.PATIENCE + STEP_SECONDS
    assert stopped + 1 <= LOST_SECONDS
    assert PING_SECONDS + LOST_SECONDS + TICK_SECONDS <= 10


def test_after_a_night_without_any_host_those_that_stay_away_are_lost() -> None:
    leases = Leases(0.0)
    hosts = {name: leases.add(name, 0.0) for name in "abc"}
    for second in range(100):
        leases.check(float(second))
        assert not leases.has_quorum
        assert LOST not in [lease.state for lease in hosts.values()]
    for second in range(100, 112):
        for name in "ab":
            hosts[name].heard(float(second))
        leases.check(float(second))
    assert leases.has_quorum
    assert [lease.state for lease in hosts.values()] == [UP, UP, LOST]


def test_a_job_is_told_why_no_host_can_be_lost() -> None:
    def said(*, are_most_heard: bool) -> str:
        hosts: Any = SimpleNamespace(_hosts=SimpleNamespace(are_most_heard=are_most_heard))
        return Pool.silence(hosts, "h1")

    assert said(are_most_heard=True) == "host h1 does not answer"
    assert said(are_most_heard=False) == (
        "host h1 does not answer, nor do most hosts of the pool; nothing starts elsewhere until "
        "most of them answer: this machine may be cut off"
    )
