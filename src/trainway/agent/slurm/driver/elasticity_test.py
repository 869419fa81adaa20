"""How a driver makes its allocation smaller and has it grow; nothing real runs here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.driver.elasticity import SHRINK_LOOKS, Elasticity
from trainway.agent.slurm.driver.step_pods import Ground
from trainway.agent.slurm.fencing import DriverLease, Token
from trainway.json_types import Json


@dataclass
class Slurm:
    """Answers at once."""

    refuses: bool = False
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, argv: Sequence[str], done: Callable[[Result], None], **_: Any) -> None:
        self.calls.append(tuple(argv))
        if argv[0] == "sbatch":
            done(Result(argv, 0, b"8\n", b""))
        elif argv[:2] == ("scontrol", "update"):
            done(Result(argv, int(self.refuses), b"", b"no"))
        else:
            done(Result(argv, 0, b"NodeName=d NodeAddr=10.0.0.4", b""))

    def updates(self) -> list[tuple[str, ...]]:
        return [call[2:] for call in self.calls if call[:2] == ("scontrol", "update")]


@dataclass
class Supervisor:
    """A job of four nodes that needs one of them."""

    most_nodes: int | None = None
    dismissed: frozenset[str] = frozenset()
    finished: bool = False
    suspended: bool = False
    goes_on: bool = True
    told: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Any:
        return SimpleNamespace(roles=[SimpleNamespace(job=SimpleNamespace(minimum=1))])

    def dismissed_pods(self) -> frozenset[str]:
        return self.dismissed

    def survives(self, _lost: set[str]) -> bool:
        return self.goes_on

    def tell(self, _type: str, reason: str, _message: str, _about: str = "") -> None:
        self.told.append(reason)

    def wake(self) -> None:
        self.told.append("wake")

    def handle(self, request: Json, _answer: object) -> None:
        self.most_nodes = request["nodes"]
        self.dismissed = frozenset(f"node-0-{index}" for index in range(request["nodes"], 4))


@dataclass
class Pods:
    """Those that run are at their places; others wait."""

    used: set[str] = field(default_factory=set)
    lacking: list[str] = field(default_factory=list)

    def places_in_use(self) -> set[str]:
        return self.used

    def waiting(self) -> list[str]:
        return self.lacking

    def place_of(self, pod: str) -> str:
        return pod

    def wake(self) -> None:
        """Nothing is started here."""


@dataclass
class Journal:
    records: list[Json] = field(default_factory=list)

    def append(self, _type: str, fields: Any, *, durable: bool = False) -> None:
        assert durable
        self.records.append(json.loads(json.dumps(fields)))


class Job:
    """A driver on node a, with pods on a, b and c."""

    def __init__(self, path: Path, *, begins: bool = True) -> None:
        self.path = path
        places = {f"node-0-{index}": node for index, node in enumerate("abc")}
        self.ground = Ground({}, places, {}, {"SLURM_JOB_ID": "7"}, ["agent"])
        self.ground.own, self.ground.annex = "a", ["--nodes=1"]
        self.slurm, self.supervisor, self.pods = Slurm(), Supervisor(), Pods(set(places))
        self.journal = Journal()
        lease = DriverLease(Directory(str(path)), Token("7", 0))
        lease.claim()
        fakes: list[Any] = [self.journal, self.slurm, self.pods, self.supervisor]
        self.size = Elasticity(lease, self.ground, *fakes)
        if begins:
            self.size.begin()

    def pod(self, place: str) -> Any:
        role = SimpleNamespace(job=SimpleNamespace(minimum=1))
        identity = SimpleNamespace(uid=place, role=role)
        return SimpleNamespace(identity=identity, host=self.ground.places[place])


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_a_node_is_given_back_when_nothing_runs_there_any_more(job: Job) -> None:
    (job.path / "node-limit").write_text("2")
    job.size.look()
    assert job.supervisor.most_nodes == 2
    assert job.slurm.updates() == []
    job.pods.used.discard("node-0-2")
    job.size.look()
    assert job.slurm.updates() == [("JobId=7", "NodeList=a,b")]
    assert job.journal.records[-1]["hosts"] == {"node-0-0": "a", "node-0-1": "b"}
    job.size.look()
    assert len(job.slurm.updates()) == 1


def test_the_node_of_the_driver_stays(job: Job) -> None:
    job.ground.places = {"node-0-0": "b", "node-0-1": "c", "node-0-2": "a"}
    (job.path / "node-limit").write_text("2")
    job.pods.used = {"node-0-0", "node-0-1"}
    job.size.look()
    assert job.slurm.updates() == []


def test_what_slurm_refuses_is_asked_again_after_a_while(job: Job) -> None:
    job.slurm.refuses = True
    (job.path / "node-limit").write_text("1")
    job.pods.used = {"node-0-0"}
    for _ in range(SHRINK_LOOKS + 1):
        job.size.look()
    assert job.slurm.updates() == [("JobId=7", "NodeList=a")] * 2


def test_nothing_is_decided_before_the_job_is_recovered(tmp_path: Path) -> None:
    """The first beat of a driver comes before it has read what an earlier attempt left."""
    job = Job(tmp_path, begins=False)
    (job.path / "node-limit").write_text("2")
    job.size.look()
    assert job.supervisor.most_nodes is None
    job.size.begin()
    job.size.look()
    assert job.supervisor.most_nodes == 2


@pytest.mark.parametrize("state", ["finished", "suspended"])
def test_a_job_that_does_not_run_asks_for_nothing(job: Job, state: str) -> None:
    setattr(job.supervisor, state, True)
    job.pods.lacking = ["node-0-3"]
    job.size.look()
    assert job.slurm.calls == []


def test_a_node_that_comes_is_a_place_before_anything_is_started_there(job: Job) -> None:
    job.pods.lacking = ["node-0-3"]
    job.size.look()
    assert job.slurm.calls[-1][-1] == "--exclude=a,b,c"
    (job.path / "annexes" / "8.node").write_text("d")
    job.size.look()
    assert (job.ground.places["node-0-3"], job.ground.addresses["d"]) == ("d", "10.0.0.4")
    assert job.journal.records[-1]["jobs"] == {"d": "8"}
    assert job.size.is_annex(job.pod("node-0-3"))


def test_a_node_that_the_job_has_already_is_given_back(job: Job) -> None:
    job.pods.lacking = ["node-0-3"]
    job.size.look()
    (job.path / "annexes" / "8.node").write_text("b")
    job.size.look()
    assert "node-0-3" not in job.ground.places
    assert not (job.path / "annexes" / "8.node").exists()


def test_a_lost_annex_is_let_go_and_a_sick_node_is_avoided(job: Job) -> None:
    job.pods.lacking = ["node-0-3"]
    job.size.look()
    (job.path / "annexes" / "8.node").write_text("d")
    job.size.look()
    assert job.size.does_without_sick(job.pod("node-0-3"), "no GPU")
    assert job.supervisor.told[-2:] == ["NodeSetAside", "HostLost"]
    assert (job.ground.jobs, job.ground.sick) == ({}, {"d"})
    job.size.look()
    assert job.slurm.calls[-1][-1] == "--exclude=a,b,c,d"
    job.supervisor.goes_on = False
    assert not job.size.goes_on_without(job.pod("node-0-1"), "gone")
    assert "node-0-1" in job.ground.places
