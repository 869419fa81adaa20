import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.base.testing import container, jobset, role
from trainway.agent.kubelet.health import mesh, program
from trainway.agent.kubelet.health.check import peers_of
from trainway.agent.kubelet.health.program import Questions
from trainway.agent.kubelet.health.verdict import HEALTHY, OTHER_UNHEALTHY, UNHEALTHY

PAIR = {"node-0-0": "127.0.0.1", "node-0-1": "127.255.255.255"}


@dataclass(frozen=True)
class Said:
    code: int
    text: str


def answer(asked: Questions, monkeypatch: pytest.MonkeyPatch) -> Said:
    said: list[str] = []
    monkeypatch.setattr(program, "STOP_SECONDS", 0)
    monkeypatch.setattr(mesh, "REPORT_SECONDS", 0)
    monkeypatch.setattr(program, "_tell", said.append)
    return Said(program.run(asked), "".join(said))


def questions(directory: Path, peers: dict[str, str] | None = None) -> Questions:
    asked = Questions(str(directory), [], {}, peers or {}, 0.1)
    asked.word = os.urandom(4).hex()
    return asked


def test_a_node_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = answer(questions(tmp_path), monkeypatch)
    assert said.code == HEALTHY
    assert said.text.startswith("disk: all well after ")
    said = answer(questions(tmp_path / "gone"), monkeypatch)
    assert said.code == UNHEALTHY
    assert "cannot be written to" in said.text


def test_of_two_that_do_not_reach_each_other_one_is_to_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions(tmp_path, PAIR)
    said = answer(asked, monkeypatch)
    assert said.code == OTHER_UNHEALTHY
    assert said.text == (
        "node-0-1 and node-0-0 do not reach each other over the network, and it is not known which"
        " of them is at fault"
    )
    asked.attempt = 1
    assert answer(asked, monkeypatch).code == UNHEALTHY


def test_numbers_that_do_not_add_up_are_nobodys_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_mesh: mesh.Mesh) -> float:
        raise mesh.MeshError("numbers were changed")

    monkeypatch.setattr(mesh.Mesh, "broken_links", lambda _mesh: [])
    monkeypatch.setattr(mesh.Mesh, "add_up", fails)
    said = answer(questions(tmp_path, PAIR), monkeypatch)
    assert said == Said(OTHER_UNHEALTHY, "numbers were changed")


def test_an_error_of_the_check_is_no_fault_of_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_path: str) -> str:
        raise KeyError("x")

    monkeypatch.setattr(program, "disk_problem", fails)
    assert answer(questions(tmp_path), monkeypatch) == Said(
        HEALTHY, "the health check itself failed: KeyError('x')"
    )


@dataclass(frozen=True)
class Case:
    id: str
    job: dict[str, object]
    peers: int
    slot: int = 0
    failures: int = 0


CASES = [
    Case("all start together", {"parallelism": 3, "completions": 3}, 3),
    Case("it replaces another", {"parallelism": 3, "completions": 3}, 0, failures=1),
    Case("not all at once", {"parallelism": 2, "completions": 3}, 0),
    Case("no indexes", {"parallelism": 2, "completions": 2, "completionMode": "NonIndexed"}, 0),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_who_meets_whom(case: Case) -> None:
    spec = jobset(role("node", container("main", "true"), **case.job))
    plan = Plan({"version": 1, "id": "job", "name": "trial", "jobset": spec})
    pod = PodIdentity(
        plan, plan.roles[0], job_index=0, slot=case.slot, uid="u", failures=case.failures
    )
    assert peers_of(pod) == [f"node-0-{slot}" for slot in range(case.peers)]
