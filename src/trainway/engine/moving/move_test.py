import json
from dataclasses import dataclass, replace

import pytest

from trainway.engine.moving.move import (
    TRANSITIONS,
    Candidate,
    Move,
    Step,
    move_of,
    move_view,
    unplaced,
    with_objects,
)
from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord
from trainway.json_types import Json

RECORD = JobRecord(id="a", name="demo", namespace="default", kind="JobSet", backend="local")
MOVE = Move(
    Step.LEAVING,
    Candidate("ssh/lab", [{"kind": "JobSet"}], []),
    Candidate("local", [{"kind": "JobSet"}], ["/home/me/.kube/config"]),
    resumes=True,
    seq=7,
)


def test_a_move_is_stored_and_found_again() -> None:
    record = replace(RECORD, move=MOVE.text())
    assert move_of(record) == MOVE
    assert move_view(record) == {"step": "leaving", "from": "local", "to": "ssh/lab"}
    assert move_of(RECORD) is None


def test_of_a_job_that_is_over_no_move_is_shown() -> None:
    assert move_view(replace(RECORD, move=MOVE.text(), phase=Phase.SUCCEEDED)) is None


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("following", Step)
def test_only_what_the_table_says_follows_a_step(step: Step, following: Step) -> None:
    move = replace(MOVE, step=step)
    if following in TRANSITIONS[step]:
        assert move.followed_by(following).step is following
    else:
        with pytest.raises(ValueError, match=f"cannot come to {following} from {step}"):
            move.followed_by(following)


@dataclass(frozen=True)
class Case:
    name: str
    objects: list[Json]
    others: list[Json]
    wanted: list[Json]


def named(kind: str, name: str, **more: str) -> Json:
    return {"kind": kind, "metadata": {"name": name}, **more}


JOB, SECRET = named("JobSet", "demo"), named("Secret", "demo")
CASES = [
    Case("nothing", [JOB, SECRET], [], [JOB, SECRET]),
    Case(
        "in-place",
        [SECRET, JOB],
        [named("JobSet", "demo", spec="new")],
        [SECRET, named("JobSet", "demo", spec="new")],
    ),
    Case("added", [JOB], [named("ConfigMap", "demo")], [named("ConfigMap", "demo"), JOB]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_objects_replace_their_namesakes(case: Case) -> None:
    assert with_objects(case.objects, case.others) == case.wanted


def test_the_namespace_of_a_place_stays_there() -> None:
    placed = {"kind": "JobSet", "metadata": {"name": "demo", "namespace": "team"}}
    own = {"kind": "Secret", "metadata": {"name": "demo", "namespace": "other"}}

    def found(handle: Json) -> list[Json]:
        return unplaced([placed, own], replace(RECORD, handle=json.dumps(handle)))

    assert found({"port": 1}) == [placed, own]
    assert found({"namespace": "team"}) == [{"kind": "JobSet", "metadata": {"name": "demo"}}, own]
