import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trainway.backends.avoided_nodes import AvoidedNodes, sick_nodes_in
from trainway.backends.nodes import Drain, Node
from trainway.errors import UnavailableError
from trainway.json_types import Json

WHY = "nvidia-smi exited with 9: broken"
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


def book(home: Path, later: timedelta = timedelta()) -> AvoidedNodes:
    return AvoidedNodes(home, "slurm/hpc", lambda: NOW + later)


def test_a_node_is_avoided_by_the_next_server_too_until_it_is_taken_back(tmp_path: Path) -> None:
    book(tmp_path).add("n2", Drain("no GPU", "job a"), NOW - timedelta(hours=1))
    book(tmp_path).add("n1", Drain("its fan", "ana"))
    assert book(tmp_path).names() == ["n1", "n2"]
    since = (NOW - timedelta(hours=1)).timestamp()
    assert book(tmp_path).terms()["n2"] == {"why": "no GPU", "by": "job a", "since": since}
    assert AvoidedNodes(tmp_path, "slurm/other", lambda: NOW).names() == []
    assert book(tmp_path).remove("n2")
    assert not book(tmp_path).remove("n2")
    assert book(tmp_path).names() == ["n1"]


def test_a_time_that_is_up_ends_it(tmp_path: Path) -> None:
    book(tmp_path).add("n1", Drain("its fan", "ana", NOW + timedelta(hours=2)))
    assert book(tmp_path, timedelta(hours=1)).names() == ["n1"]
    assert book(tmp_path, timedelta(hours=2)).names() == []


def test_nodes_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    for node in ("n1", "n2"):
        book(tmp_path).add(node, Drain("no GPU"))
    book(tmp_path).keep({"n2", "n3"})
    assert book(tmp_path).names() == ["n2"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"n1": 3}'])
def test_a_damaged_file_avoids_nothing_and_can_be_written_again(tmp_path: Path, text: str) -> None:
    path = tmp_path / "nodes" / "slurm%2Fhpc.json"
    path.parent.mkdir()
    path.write_text(text)
    assert book(tmp_path).names() == []
    book(tmp_path).add("n1", Drain("no GPU"))
    assert book(tmp_path).names() == ["n1"]


def told(node: str, about: str = "Node", then: str = "") -> Json:
    said = f"node {node} failed its health check: {WHY}{then}"
    event = {"type": "event", "reason": "NodeSetAside", "message": said}
    return {**event, "object": f"{about}/{node}", "time": "2026-11-18T11:00:00Z"}


def test_only_nodes_that_are_to_blame_are_read_from_a_journal() -> None:
    others = [told("n1", "JobSet"), told("--uid=0"), {"type": "event", "object": "Node/n1"}]
    assert sick_nodes_in(others) == []
    found = sick_nodes_in([*others, told("n3"), told("n4", then="; the job goes on without it")])
    assert [each.name for each in found] == ["n3", "n4"]
    assert {each.why for each in found} == {f"its health check failed: {WHY}"}


def test_what_a_journal_says_badly_is_still_a_sick_node() -> None:
    odd = told("n1") | {"message": "node n1 failed its health check: no\n  driver", "time": "soon"}
    (sick,) = sick_nodes_in([odd])
    assert (sick.why, sick.since) == ("its health check failed: no driver", None)


def test_a_disk_that_is_full_is_said_and_nothing_has_changed(tmp_path: Path) -> None:
    (tmp_path / "nodes").touch()
    with pytest.raises(UnavailableError, match="File exists"):
        book(tmp_path).add("n1", Drain("no GPU"))
    assert book(tmp_path).names() == []


def test_what_others_have_set_aside_stays_so_and_the_first_reason_counts(tmp_path: Path) -> None:
    (sick,) = sick_nodes_in([told("n1")])
    book(tmp_path).note(sick, "job a")
    book(tmp_path).note(sick, "job b")
    nodes = [Node("n1", "Ready"), Node("n2", "Ready", "x", drained="it is cordoned")]
    one, two = book(tmp_path).marked(nodes)
    assert (one.drained, one.drained_by) == (f"its health check failed: {WHY}", "job a")
    assert two == nodes[1]


def test_jobs_that_found_the_last_node_sick_avoid_it_alone(tmp_path: Path) -> None:
    async def listed() -> list[Node]:
        return nodes

    def note(job: str, node: str = "n1") -> None:
        asyncio.run(book(tmp_path).note_all([told(node)], job, listed))

    nodes = [Node("n1", "Ready"), Node("n2", "NotReady", "it is not ready")]
    note("a")
    note("a")
    note("b")
    assert [book(tmp_path).names(job) for job in ("", "a", "b", "c")] == [[], ["n1"], ["n1"], []]
    assert book(tmp_path).marked(nodes) == nodes
    assert not book(tmp_path).is_empty

    nodes = [Node("n1", "Ready"), Node("n2", "Ready")]
    note("c")
    assert book(tmp_path).names("") == ["n1"], "there is another one now"
    note("d", "n2")
    assert book(tmp_path).names("") == ["n1"]
    assert book(tmp_path).names("d") == ["n1", "n2"]
    assert book(tmp_path).remove("n2")
    assert book(tmp_path).names("d") == ["n1"]


def test_a_sick_node_is_avoided_where_nobody_can_say_which_others_there_are(tmp_path: Path) -> None:
    async def listed() -> list[Node]:
        raise TimeoutError

    asyncio.run(book(tmp_path).note_all([told("n1")], "a", listed))
    assert book(tmp_path).names("") == ["n1"]
