from dataclasses import dataclass, field

import pytest

from trainway.agent.slurm.files.job_files import CANCEL, LEAVE, RUN, SUSPEND
from trainway.agent.slurm.relay.queue_states import QueueState
from trainway.agent.slurm.relay.wishes import (
    AGAIN,
    ASK,
    DONE,
    END,
    HOLD,
    PATIENCE,
    RELEASE,
    REQUEUE,
    WAIT,
    Wish,
    words,
)

RUNNING = QueueState("1", "RUNNING")
PENDING = QueueState("1", "PENDING", reason="Resources")
COMPLETING = QueueState("1", "COMPLETING")
HELD = QueueState("1", "PENDING", reason="JobHeldUser")


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    state: QueueState | None
    step: str
    steps: dict[str, float] = field(default_factory=dict)
    grace: float = 30.0
    now: float = 1.0
    stopped: float | None = None
    is_over: bool = False


LATE = 30.0 + PATIENCE

CASES = [
    Case("what is over needs no step", CANCEL, RUNNING, DONE, is_over=True),
    Case("nothing is done in the dark", CANCEL, None, WAIT),
    Case("a job that waits is ended at once", CANCEL, PENDING, END),
    Case("a job that runs is asked first", CANCEL, RUNNING, ASK),
    Case("and has its time", CANCEL, RUNNING, WAIT, {ASK: 0.0}, now=LATE - 1),
    Case("which ends", CANCEL, RUNNING, END, {ASK: 0.0}, now=LATE),
    Case("no grace, no question", CANCEL, RUNNING, END, grace=0.0),
    Case("a driver that is done may leave by itself", CANCEL, RUNNING, WAIT, {ASK: 0.0}, stopped=1),
    Case("but not take for ever", CANCEL, RUNNING, END, {ASK: 0.0}, now=9.0, stopped=3.0),
    Case("Slurm takes its time to end a job", CANCEL, RUNNING, WAIT, {END: 0.0}),
    Case("and is told again", CANCEL, RUNNING, END, {END: 0.0}, now=AGAIN),
    Case("a job that waits is held", SUSPEND, PENDING, HOLD),
    Case("a job that is held is suspended", SUSPEND, HELD, DONE),
    Case("a job that runs is asked to stop", SUSPEND, RUNNING, ASK),
    Case("and requeued when it has", SUSPEND, RUNNING, REQUEUE, {ASK: 0.0}, stopped=1.0),
    Case("or when its time is up", SUSPEND, RUNNING, REQUEUE, {ASK: 0.0}, now=LATE),
    Case("not before", SUSPEND, RUNNING, WAIT, {ASK: 0.0}, now=LATE - 1),
    Case("a job that is held is released", RUN, HELD, RELEASE),
    Case("once", RUN, HELD, WAIT, {RELEASE: 0.5}),
    Case("others need nothing", RUN, PENDING, DONE),
    Case("a job that is on its way out is let go on", RUN, RUNNING, WAIT, {ASK: 0.0}),
    Case("through the queue", RUN, RUNNING, REQUEUE, {ASK: 0.0}, stopped=0.5),
    Case("whenever it stops", RUN, RUNNING, REQUEUE, {ASK: 0.0}, now=LATE),
    Case("where it is held", RUN, COMPLETING, WAIT, {ASK: 0.0, REQUEUE: 0.5}, stopped=0.4),
    Case("and released", RUN, HELD, RELEASE, {ASK: 0.0, REQUEUE: 0.5}, stopped=0.4),
    Case("at last", RUN, PENDING, DONE, {ASK: 0.0, REQUEUE: 0.5, RELEASE: 0.9}, stopped=0.4),
    Case("a job that leaves was held and is ended", LEAVE, HELD, END, grace=0.0),
    Case("also where somebody let it begin", LEAVE, RUNNING, END, grace=0.0),
    Case("and has left when it is out of the queue", LEAVE, None, DONE, is_over=True),
    Case("a hold may not be there yet", RUN, PENDING, WAIT, {HOLD: 0.5}),
    Case("or never come", RUN, PENDING, DONE, {HOLD: 0.5}, now=AGAIN + 1),
]


def test_a_wish_to_go_on_knows_how_far_the_one_to_stop_came() -> None:
    before = Wish(SUSPEND, 0.0, 30.0)
    before.took(ASK, 1.0)
    before.has_stopped_at = 2.0
    after = Wish(RUN, 3.0, 30.0, before)
    assert after.next_step(RUNNING, 3.0, is_over=False) == REQUEUE
    assert Wish(CANCEL, 3.0, 30.0, before).next_step(RUNNING, 3.0, is_over=False) == ASK


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_next_step(case: Case) -> None:
    wish = Wish(case.kind, 0.0, case.grace)
    wish.has_stopped_at = case.stopped
    for step, moment in case.steps.items():
        wish.took(step, moment)
    assert wish.next_step(case.state, case.now, is_over=case.is_over) == case.step


@pytest.mark.parametrize("step", [ASK, END, HOLD, REQUEUE, RELEASE])
def test_every_step_names_its_job(step: str) -> None:
    assert words(step, "12_3")[-1] == "12_3"
