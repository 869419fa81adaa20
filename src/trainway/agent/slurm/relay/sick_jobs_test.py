"""Which jobs are kept off nodes that failed their check, and released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.kubelet.health.verdict import UNCERTAIN
from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.slurm.relay.sick_jobs import SickJobs
from trainway.agent.slurm.sick_nodes import (
    NAME,
    add_sick_node,
    excluding,
    is_of_node,
    sick_nodes,
)

HELD = QueueState("7", "PENDING", reason="job requeued in held state")


@dataclass
class Files:
    directory: Directory
    wished: str = "run"


@dataclass
class Job:
    files: Files
    state: QueueState | None = HELD
    id: str = "j"
    number: str = "7"


@dataclass
class Slurm:
    shown: str = "JobId=7 JobState=PENDING ExcNodeList=x[1-3]"
    refusal: str = ""
    """What it says to an update."""
    asked: list[str] = field(default_factory=list)

    def run(self, argv: Sequence[str], done: Callable[[Result], None]) -> None:
        self.asked.append(" ".join(argv))
        said = self.refusal.encode() if "update" in argv else b""
        done(Result(argv, int(bool(said)), self.shown.encode() if "show" in argv else b"", said))


@dataclass(frozen=True)
class Case:
    id: str
    asked: list[str]
    state: QueueState | None = HELD
    wished: str = "run"
    shown: str = Slurm.shown
    sick: bool = True


LOOK = "scontrol --oneliner show job 7"
UPDATE = "scontrol update JobId=7 ExcNodeList="
CASES = [
    Case("held", [LOOK, f"{UPDATE}x[1-3],a,b", "scontrol release 7"]),
    Case(
        "nothing excluded before",
        [LOOK, f"{UPDATE}a,b", "scontrol release 7"],
        shown="JobId=7 JobState=PENDING ExcNodeList=(null)",
    ),
    Case("Slurm is silent", [LOOK], shown=""),
    Case("suspended", [], wished="suspend"),
    Case("waits", [], state=QueueState("7", "PENDING", reason="Resources")),
    Case("never seen", [], state=None),
    Case("no sick nodes", [], sick=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_asked_of_slurm(case: Case, tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    if case.sick:
        add_sick_node(directory, "b", "no GPU")
        add_sick_node(directory, "a", "no disk")
    slurm: Any = Slurm(case.shown)
    pokes: list[bool] = []
    job: Any = Job(Files(directory, case.wished), case.state)
    SickJobs(slurm, lambda: pokes.append(True)).look([job])
    assert slurm.asked == case.asked
    assert bool(pokes) is (len(case.asked) > 1)


WAITS = QueueState("7", "PENDING", reason="Resources")


@dataclass(frozen=True)
class Waiting:
    id: str
    first: list[str]
    second: list[str] = field(default_factory=list)
    """What is asked at the next look."""
    excluded: str = "(null)"
    chosen: str = "(null)"
    refusal: str = ""
    state: QueueState | None = WAITS
    wished: str = "run"
    avoided: tuple[str, ...] = ("n2", "n1", "-o")


WAITING = [
    Waiting("waits", [LOOK, f"{UPDATE}n1,n2"]),
    Waiting("suspended", [LOOK, f"{UPDATE}n1,n2"], state=HELD, wished="suspend"),
    Waiting("knows it", [LOOK], excluded="n1,n2"),
    Waiting("excludes others", [LOOK, f"{UPDATE}m[1-9],n1,n2"], excluded="m[1-9]"),
    Waiting("has chosen its nodes", [LOOK], chosen="n1"),
    Waiting("runs", [], state=QueueState("7", "RUNNING")),
    Waiting("nothing is avoided", [], avoided=()),
    Waiting("refused", [LOOK, f"{UPDATE}n1,n2"], refusal="Invalid node name specified"),
    Waiting(
        "Slurm is silent",
        [LOOK, f"{UPDATE}n1,n2"],
        [LOOK, f"{UPDATE}n1,n2"],
        refusal="Unable to contact slurm controller",
    ),
]


@pytest.mark.parametrize("case", WAITING, ids=lambda case: case.id)
def test_a_job_that_waits_already_is_kept_off_nodes_that_are_set_aside(
    case: Waiting, tmp_path: Path
) -> None:
    slurm: Any = Slurm(
        f"JobId=7 JobState=PENDING ReqNodeList={case.chosen} ExcNodeList={case.excluded}"
    )
    slurm.refusal = case.refusal
    job: Any = Job(Files(Directory(str(tmp_path)), case.wished), case.state)
    jobs = SickJobs(slurm, lambda: None)
    jobs.avoid(case.avoided)
    jobs.look([job])
    assert slurm.asked == case.first
    jobs.avoid(None)
    jobs.look([job])
    assert slurm.asked[len(case.first) :] == case.second


class Remembering(Slurm):
    """Knows what it was told to exclude."""

    def run(self, argv: Sequence[str], done: Callable[[Result], None]) -> None:
        if "hostnames" in argv:
            self.asked.append(" ".join(argv))
            done(Result(argv, 0, b"m1\nm2\nn1\n", b""))
            return
        if "update" in argv and not self.refusal:
            excluded = argv[-1].partition("=")[2]
            self.shown = f"JobId=7 JobState=PENDING ExcNodeList={excluded or '(null)'}"
        super().run(argv, done)

    @property
    def updates(self) -> list[str]:
        return [each.rpartition("=")[2] for each in self.asked if "update" in each]


def test_nodes_are_told_once_and_taken_back(tmp_path: Path) -> None:
    slurm: Any = Remembering("JobId=7 JobState=PENDING ExcNodeList=own")
    jobs = SickJobs(slurm, lambda: None)
    job: Any = Job(Files(Directory(str(tmp_path))), WAITS)
    for avoided in (["n1"], ["n1"], ["n1", "n2", "own"], ["n2"], [], [], ["n2"]):
        jobs.avoid(avoided)
        jobs.look([job])
    assert slurm.updates == ["own,n1", "own,n1,n2", "own,n2", "own", "own,n2"]


def test_the_next_relay_takes_back_what_this_one_has_told(tmp_path: Path) -> None:
    slurm: Any = Remembering("JobId=7 JobState=PENDING ExcNodeList=m[1-2]")
    job: Any = Job(Files(Directory(str(tmp_path))), WAITS)
    before = SickJobs(slurm, lambda: None)
    before.avoid(["n1"])
    before.look([job])
    after = SickJobs(slurm, lambda: None)
    after.look([job])
    assert slurm.updates == ["m[1-2],n1"], "the server has not said anything yet"
    after.avoid([])
    slurm.refusal = "Unable to contact slurm controller"
    after.look([job])
    slurm.refusal = ""
    after.look([job])
    assert slurm.updates == ["m[1-2],n1", "m1,m2", "m1,m2"]
    after.look([job])
    assert len(slurm.updates) == 3


def test_a_node_that_the_job_itself_found_sick_is_not_taken_back(tmp_path: Path) -> None:
    slurm: Any = Remembering("JobId=7 JobState=PENDING ExcNodeList=(null)")
    job: Any = Job(Files(Directory(str(tmp_path))), WAITS)
    jobs = SickJobs(slurm, lambda: None)
    jobs.avoid(["n1"])
    jobs.look([job])
    add_sick_node(Directory(str(tmp_path)), "n1", "no GPU")
    jobs.avoid([])
    jobs.look([job])
    assert slurm.updates == ["n1"]


def test_slurm_is_not_asked_about_a_job_that_was_submitted_without_these_nodes(
    tmp_path: Path,
) -> None:
    script = "#!/bin/sh\n#SBATCH --exclude=m[1-3],n1\necho '#SBATCH --exclude=n2'\n"
    (tmp_path / "script.sbatch").write_text(script)
    slurm: Any = Slurm("JobId=7 JobState=PENDING ExcNodeList=m[1-3],n1")
    jobs = SickJobs(slurm, lambda: None)
    job: Any = Job(Files(Directory(str(tmp_path))), WAITS)
    jobs.avoid(["n1"])
    jobs.look([job])
    assert slurm.asked == []
    jobs.avoid(["n1", "n2"])
    jobs.look([job])
    assert slurm.asked == [LOOK, f"{UPDATE}m[1-3],n1,n2"]


def test_sick_nodes_of_its_own_and_those_of_others_are_told_at_once(tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    add_sick_node(directory, "b", "no GPU")
    slurm: Any = Slurm("JobId=7 JobState=PENDING ExcNodeList=(null)")
    jobs = SickJobs(slurm, lambda: None)
    jobs.avoid(["n1"])
    held: Any = Job(Files(directory), HELD)
    jobs.look([held])
    assert slurm.asked == [LOOK, f"{UPDATE}b,n1", "scontrol release 7"]


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '{"a b": "x", "-o": "y", "a,b": ""}'])
def test_what_a_job_may_have_written_there_is_no_node(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    assert sick_nodes(Directory(str(tmp_path))) == {}


def test_nodes_are_named_once() -> None:
    assert excluding("", ["b", "a"]) == "a,b"
    assert excluding("a", ["a"]) == "a"


@pytest.mark.parametrize(
    ("why", "shared", "wanted"),
    [
        ("nvidia-smi exited with 9", "/home/me/jobs/a", True),
        ("the disk of /home/me/jobs/a/output is full", "/home/me/jobs/a", False),
        ("the disk of /tmp/a/output is full", "", True),
        (f"a and b do not reach each other over the network, and {UNCERTAIN}", "", False),
    ],
    ids=["GPUs", "the disk of all nodes", "its own disk", "one of two"],
)
def test_other_jobs_avoid_a_node_if_it_is_surely_to_blame(
    why: str, shared: str, wanted: bool
) -> None:
    assert is_of_node(why, shared) is wanted
