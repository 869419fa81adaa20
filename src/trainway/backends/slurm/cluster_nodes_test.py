"""Nodes that our jobs are kept off, on a cluster of Slurm that a test plays."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.base import Update
from trainway.backends.nodes import Drain
from trainway.backends.slurm.backend_test import FACTS, JOB, Setup
from trainway.backends.slurm.cluster_nodes import kept_off
from trainway.errors import ForbiddenError, NotFoundError, UnavailableError
from trainway.json_types import Json

WHY = "nvidia-smi exited with 9: broken"


def line(name: str, state: str = "IDLE") -> str:
    return f"NodeName={name} CPUTot=8 RealMemory=16000 State={state} Partitions=main"


def told(node: str = "n1", about: str = "Node") -> Json:
    said = f"node {node} failed its health check: {WHY}; the job goes on without it"
    event = {"seq": 4, "type": "event", "reason": "NodeSetAside", "message": said}
    return {**event, "object": f"{about}/{node}", "time": "2026-11-14T12:00:00Z"}


class Slurm(Setup):
    """A cluster whose nodes a test names."""

    def __init__(self, home: Path, *lines: str) -> None:
        super().__init__(home, answer=self.answer)
        self.lines = list(lines)
        self.is_away = False

    def answer(self, operation: str, _fields: Mapping[str, Any]) -> Json:
        if self.is_away:
            raise UnavailableError("the login node does not answer")
        if operation == "command":
            return {"status": 0, "stdout": "\n".join(self.lines), "stderr": ""}
        return dict(FACTS)

    def watch(self, *records: Json) -> None:
        async def run() -> None:
            handle = self.backend.plan(JOB).handle
            self.relay.updates = [Update(records)]
            assert [update.seq async for update in self.backend.watch(handle, 3)] == [4]

        asyncio.run(run())

    @property
    def excluded(self) -> list[str]:
        script = self.backend.plan(JOB).script.splitlines()
        return [each for each in script if each.startswith("#SBATCH --exclude")]


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path, line("n1"), line("n2"))


def test_a_node_that_failed_one_job_is_avoided_by_all_until_it_is_taken_back(slurm: Slurm) -> None:
    slurm.watch(told())
    again = Slurm(slurm.home, *slurm.lines)
    assert again.excluded == ["#SBATCH --exclude=n1"]
    sick, sound = asyncio.run(again.backend.nodes())
    assert sick.drained == f"its health check failed: {WHY}"
    assert sick.problem == f"it is set aside: {sick.drained}"
    assert sick.drained_by == f"job {JOB.id}"
    assert str(sick.drained_since) == "2026-11-14 12:00:00+00:00"
    assert (sound.drained, sound.problem) == ("", "")
    _, warnings = again.backend.problems(JOB.jobset, JOB.jobset)
    assert warnings[-1].startswith("it is kept off node n1, which is set aside: trainway nodes")

    again.is_away = True
    asyncio.run(again.backend.undrain("n1"))
    assert again.excluded == []


def test_the_last_node_stays(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, line("n1"), line("n2", "DOWN"))
    slurm.watch(told())
    assert slurm.excluded == []


def test_a_node_is_avoided_though_nobody_can_say_what_others_there_are(slurm: Slurm) -> None:
    asyncio.run(slurm.backend.look())
    answer, slurm.relay._answer = (
        slurm.relay._answer,
        lambda operation, fields: (
            {"status": 1} if operation == "command" else slurm.answer(operation, fields)
        ),
    )
    slurm.watch(told())
    slurm.relay._answer = answer
    assert slurm.excluded == ["#SBATCH --exclude=n1"]


def test_a_person_sets_nodes_aside_and_takes_them_back(slurm: Slurm) -> None:
    asyncio.run(slurm.backend.drain("n2", Drain("its fan is loud", "ana")))
    assert slurm.excluded == ["#SBATCH --exclude=n2"]
    slurm.watch(told())
    assert slurm.excluded == ["#SBATCH --exclude=n2"], "n1 is the last one"
    asyncio.run(slurm.backend.undrain("n2"))
    asyncio.run(slurm.backend.undrain("n2"))
    assert slurm.excluded == []
    for change in (slurm.backend.drain("n7", Drain("x")), slurm.backend.undrain("n7")):
        with pytest.raises(NotFoundError, match="slurm/hpc has no node n7") as caught:
            asyncio.run(change)
        assert caught.value.hint == "its nodes are n1, n2"


def test_what_the_administrators_have_set_aside_is_theirs_to_take_back(tmp_path: Path) -> None:
    slurm = Slurm(tmp_path, line("n1", "IDLE+DRAIN"), line("n2"))
    with pytest.raises(ForbiddenError) as caught:
        asyncio.run(slurm.backend.undrain("n1"))
    assert caught.value.hint == "ask them to run: scontrol update nodename=n1 state=resume"


def test_a_node_that_the_cluster_lost_is_not_named_to_sbatch(slurm: Slurm) -> None:
    asyncio.run(slurm.backend.drain("n2", Drain("its fan is loud")))
    slurm.lines = [line("n1"), line("n3")]
    asyncio.run(slurm.backend.look())
    assert slurm.excluded == []


def test_slurm_that_has_too_few_nodes_left_is_explained(slurm: Slurm) -> None:
    request = slurm.backend.plan(JOB)
    asyncio.run(slurm.backend.drain("n2", Drain("its fan is loud")))

    def refuse(said: str) -> str:
        def answer(*_: Any) -> Json:
            raise AgentError(said)

        slurm.relay._answer = answer
        with pytest.raises(AgentError) as caught:
            asyncio.run(slurm.backend.rehearse(request))
        return caught.value.hint or ""

    assert "kept off node n2" in refuse("Requested node configuration is not available")
    assert refuse("Invalid account") == ""


def test_an_owner_is_told_of_nodes_that_are_left_alone() -> None:
    assert kept_off("slurm/hpc", [], {}) == []
    assert kept_off("slurm/hpc", ["n1"], {"nodelist": "n1"}) == []
    (said,) = kept_off("slurm/hpc", [f"n{number}" for number in range(9)], {})
    assert "nodes n0, n1, n2, n3, n4, n5, n6, n7, ..., which are set aside" in said
