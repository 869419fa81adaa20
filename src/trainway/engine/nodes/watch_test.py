"""Nodes that lose attempts again and again, on a backend that does what the test says."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from trainway.backends.nodes import Drain, Node
from trainway.engine.nodes.watch import NodeWatch
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.errors import UnavailableError

NOW = datetime(2026, 11, 15, 5, tzinfo=UTC)
TIME = "2026-11-15T04:59:00Z"


class ScriptedHosts:
    name = "ssh/lab"
    has_own_nodes = True

    def __init__(self, *nodes: Node) -> None:
        self.found = list(nodes)
        self.drained: list[tuple[str, str]] = []
        self.is_away = False

    async def nodes(self) -> list[Node]:
        if self.is_away:
            raise UnavailableError("nobody is there")
        return self.found

    async def drain(self, node: str, drain: Drain) -> None:
        assert (drain.by, drain.until) == ("the server", None)
        self.drained.append((node, drain.why))

    async def undrain(self, node: str) -> None: ...


class Place:
    """A registry and a reading of one backend."""

    def __init__(self, hosts: ScriptedHosts, records: list[JobRecord]) -> None:
        self.hosts = hosts
        self.records = records

    def of(self, *_args: Any) -> ScriptedHosts:
        return self.hosts

    async def been_at(self, *_args: Any) -> list[JobRecord]:
        return self.records


def lost(attempts: int, cause: str = "NodeLost") -> JobRecord:
    record = JobRecord(id="a", name="n", namespace="d", kind="TrainJob", backend="ssh/lab")
    endings = [
        {"pod": "node-0-0", "attempt": number, "host": "h1", "time": TIME, "cause": cause}
        for number in range(attempts)
    ]
    columns = {"observed": {"endings": endings}, "restarts": attempts, "phase": Phase.RESTARTING}
    return record.with_columns(columns)


def watched(hosts: ScriptedHosts, before: JobRecord, after: JobRecord) -> list[str]:
    async def run() -> list[str]:
        place: Any = Place(hosts, [after])
        watch = NodeWatch(place, place, lambda: NOW)
        watch.changed(before, after)
        await asyncio.gather(*watch.background._tasks)
        return [node for node, _ in hosts.drained]

    return asyncio.run(run())


def test_a_node_that_loses_three_attempts_is_set_aside() -> None:
    hosts = ScriptedHosts(Node("h1", "up"), Node("h2", "up"))
    assert watched(hosts, lost(1), lost(2)) == []
    assert watched(hosts, lost(2), lost(3)) == ["h1"]
    assert "it lost 3 attempts of a job within an hour" in hosts.drained[0][1]


def test_nothing_is_done_unless_an_attempt_has_ended_by_its_node() -> None:
    hosts = ScriptedHosts(Node("h1", "up"), Node("h2", "up"))
    assert watched(hosts, lost(3), lost(3)) == []
    assert watched(hosts, lost(2), lost(3, "ExitCode")) == []


def test_the_last_node_stays_and_one_that_is_aside_is_left_alone() -> None:
    alone = ScriptedHosts(Node("h1", "up"), Node("h2", "lost", "it is lost"))
    assert watched(alone, lost(2), lost(3)) == []
    aside = ScriptedHosts(Node("h1", "up", "aside", drained="aside"), Node("h2", "up"))
    assert watched(aside, lost(2), lost(3)) == []


def test_nodes_that_are_not_ours_or_cannot_be_asked_are_left_alone() -> None:
    theirs = ScriptedHosts(Node("h1", "up"), Node("h2", "up"))
    theirs.has_own_nodes = False
    assert watched(theirs, lost(2), lost(3)) == []
    away = ScriptedHosts()
    away.is_away = True
    assert watched(away, lost(2), lost(3)) == []
