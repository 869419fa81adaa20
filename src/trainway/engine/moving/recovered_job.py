"""A live job that goes on elsewhere when its place is lost, by the strategy that it was given.

What a loss makes of a job is written together with how far its journal was read, so that it happens
once, whoever is killed meanwhile. The rest is a move like any other.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from trainway.backends.base import INTERRUPTED
from trainway.engine.attempts import ending_cause, ending_words
from trainway.engine.moving.candidates import may_go_on
from trainway.engine.moving.failover import Failover, failover_of, with_place
from trainway.engine.moving.movable_job import MovableJob
from trainway.engine.moving.move import BETWEEN, Candidate, Move, Step
from trainway.engine.moving.wish import check_movable, is_handed_over, is_suspended, moving
from trainway.engine.observation import ENDINGS, Observation
from trainway.engine.phases import Phase
from trainway.engine.recovery.cause import Cause, cause_of_end
from trainway.engine.recovery.strategy import (
    Loss,
    Strategy,
    Target,
    loss_of_attempt,
    loss_of_end,
    target,
)
from trainway.engine.rental.interruption import Interruption
from trainway.engine.stored_job import Change
from trainway.engine.wishes import ENDING, LOST
from trainway.errors import ConflictError, TrainwayError
from trainway.jobset.status import moment
from trainway.json_types import Json

log = logging.getLogger(__name__)

_OF_AN_END: Final = ("finished", "expires", "ran_seconds", "exit_code")
"""Columns that only a job has that is over."""


class RecoveredJob(MovableJob):
    """Carries one job along, to other places where it has to."""

    def _is_over(self) -> bool:
        """Nor is there anything to carry along between two places."""
        move = self.move
        return super()._is_over() or (move is not None and move.step in BETWEEN)

    def _noted(self, seq: int, observed: Observation) -> Change:
        found = failover_of(self.record)
        if found is None:
            return self._after_interruption(super()._noted(seq, observed), observed)
        known = {int(each["attempt"]): each for each in self.record.observed_data.get(ENDINGS, ())}
        with_place(observed.endings, self.record.backend)
        change = super()._noted(seq, observed)
        if change.columns.get("phase") == Phase.FAILED and self.record.wanted not in ENDING:
            cause = cause_of_end(str(change.columns["reason"]), observed.culprit)
            words = str(change.columns["message"])
            if observed.endings:
                words = ending_words(observed.endings[-1]) or words
            return self._after_end(found, change, cause, words)
        new = [each for each in observed.endings if "counts" not in known.get(each["attempt"], {})]
        losses = [each for each in new if _is_loss(each)]
        if losses and observed.end is None:
            return self._after_losses(found, change, losses)
        if found.since and self._phase_after(change) == Phase.RUNNING:
            return _with(change, recovery=replace(found, since="").text())
        return change

    async def _fail(self, reason: str, message: str) -> None:
        found, cause = failover_of(self.record), cause_of_end(reason, {})
        is_lost = found is not None and loss_of_end(cause) is not Loss.NONE
        if found is None or not is_lost or may_go_on(self.record) or self.record.wanted in ENDING:
            await super()._fail(reason, message)
        elif (move := self.move) is not None and self._is_refused(move):
            await self.insist(lambda: self.declined(message) or self._turned_back(message))
        else:
            end = self.ending(Phase.FAILED, reason, message)
            await self.insist(lambda: self._after_end(found, end, cause, message, is_certain=False))

    def _phase_after(self, change: Change) -> Phase:
        return Phase(change.columns.get("phase", self.record.phase))

    def _after_losses(self, found: Failover, change: Change, losses: Sequence[Json]) -> Change:
        """Its place has lost attempts of it, and starts it again."""
        words = ending_words(losses[-1])
        if found.strategy is Strategy.NONE:
            return self._given_up(change, str(ending_cause(losses[-1])), words)
        now = moment(self.now())
        for each in losses:
            found = found.lost(self.id, found.here(self.record), ending_words(each), now, Loss.LOST)
        if not found.since and self._phase_after(change) != Phase.RUNNING:
            found = replace(found, since=self.now())
        found = found.checked(self.record.with_columns(change.columns), now)
        change = _with(change, recovery=found.text())
        aim = found.aim(self.record, now)
        return change if aim is None else self._with_move(change, found, aim, words)

    def _after_interruption(self, change: Change, observed: Observation) -> Change:
        """It begins again where it is if it was interrupted there, and nobody else can see to it.

        A place restarts by itself what has failed, but not what has ended well.
        """
        is_interrupted = change.columns.get("reason") == INTERRUPTED
        if observed.end is None or not is_interrupted or self.record.wanted in ENDING:
            return change
        words = str(change.columns["message"])
        columns = {name: each for name, each in change.columns.items() if name not in _OF_AN_END}
        here = Candidate(self.record.backend, (), self.record.handle_data.get("kubeconfig") or ())
        move = Move(Step.LEAVING, here, here, resumes=True, withdraws=True, has_ended=True)
        columns |= {"phase": Phase.PAUSED, "wanted": "", "move": move.text()}
        told = [event for event in change.events if event.reason != Phase.FAILED]
        event = self.event("Recovering", f"it begins again: {words}", kind="Warning")
        return Change(columns, [*told, event])

    def _given_up(self, change: Change, reason: str, words: str) -> Change:
        """Without recovery a lost attempt is the last one."""
        if self.record.wanted in ENDING:
            return change
        said = f"{self.record.backend} was lost, and the job is not to be recovered: {words}"
        columns = {"wanted": LOST, "phase": Phase.STOPPING, "reason": reason, "message": said}
        event = self.event(reason, said, kind="Warning")
        return Change({**change.columns, **columns}, [*change.events, event])

    def _after_end(
        self,
        found: Failover,
        change: Change,
        cause: Cause | None,
        words: str,
        *,
        is_certain: bool = True,
    ) -> Change:
        """Its place has ended it; `is_certain`, that nothing of it runs there any more."""
        loss, here, now = loss_of_end(cause), found.here(self.record), moment(self.now())
        if loss is Loss.NONE or found.strategy is Strategy.NONE:
            return change
        found = found.lost(self.id, here, words, now, loss)
        found = found.checked(self.record.with_columns({"phase": Phase.PAUSED}), now)
        aim = found.aim(self.record, now, has_ended=True)
        if aim is None:
            return change
        columns: dict[str, Any] = {
            name: value for name, value in change.columns.items() if name not in _OF_AN_END
        }
        columns |= {"phase": Phase.PAUSED, "recovery": found.text(), "wanted": ""}
        columns |= {"reason": str(cause), "message": _said(here, aim, words), "making_room": None}
        back = Candidate(self.record.backend, (), self.record.handle_data.get("kubeconfig") or ())
        move = Move(
            Step.LEAVING, found.at(aim.place), back, resumes=not is_suspended(self.record),
            withdraws=True, at=aim.at, abandons=not is_certain, has_ended=is_certain,
        )  # fmt: skip
        told = [event for event in change.events if event.reason != Phase.FAILED]
        event = self.event("MovingOn", _said(here, aim, words), kind="Warning")
        return Change({**columns, "move": move.text()}, [*told, event])

    def taken_elsewhere(self, taken: Interruption) -> Change | None:
        """It ends where a cloud takes its machines, and goes on elsewhere; None: nowhere does it.

        It is not asked again where it was: there are no machines any more.
        """
        found, here, now = failover_of(self.record), self.record.backend, moment(self.now())
        if found is None or found.strategy is Strategy.NONE:
            return None
        found = found.lost(self.id, here, taken.words, now, Loss.REFUSED)
        found = found.checked(self.record.with_columns({"phase": Phase.PAUSED}), now)
        aim = found.aim(self.record, now, has_ended=True)
        if aim is None or aim.place == here:
            return None
        back = Candidate(here, (), self.record.handle_data.get("kubeconfig") or ())
        move = Move(
            Step.LEAVING, found.at(aim.place), back, resumes=not is_suspended(self.record),
            withdraws=True, abandons=True, taken=taken.words, until=taken.until,
        )  # fmt: skip
        said = _said(here, Target(aim.place), taken.words, verb="is being taken")
        columns: dict[str, Any] = {"phase": Phase.PAUSED, "recovery": found.text(), "wanted": ""}
        columns |= {"reason": str(Cause.PREEMPTED), "message": said, "move": move.text()}
        columns["making_room"] = None
        return Change(columns, [self.event("MovingOn", said, kind="Warning")])

    def _with_move(
        self, change: Change, found: Failover, aim: Target, words: str, why: str = ""
    ) -> Change:
        """It goes elsewhere, unless somebody wants something else of it just now."""
        try:
            columns = self._moving(found.at(aim.place))
        except TrainwayError as error:
            log.info("job %s stays at %s: %s", self.id, self.record.backend, error)
            return change
        said = f"it goes to {aim.place}: {why}" if why else _said(self.record.backend, aim, words)
        event = self.event("MovingOn", said, kind="Normal" if why else "Warning")
        return Change({**change.columns, **columns}, [*change.events, event])

    def _moving(self, to: Candidate) -> Mapping[str, Any]:
        """The columns of a job that goes elsewhere; raises why it cannot now."""
        record, move = self.record, self.move
        back = Candidate(record.backend, (), record.handle_data.get("kubeconfig") or ())
        waiting: dict[str, Any] = {"phase": Phase.PAUSED, "wanted": ""}
        if move is not None and move.step is Step.ARRIVING and not self.has_begun:
            after = replace(move.followed_by(Step.LEAVING), to=to, back=back)
            return {"move": after.text(), **waiting}
        if record.wanted or record.making_room or record.phase == Phase.PAUSED:
            raise ConflictError("somebody wants something else of it")
        there = self._backends(to.backend, {"kubeconfig": list(to.kubeconfig)})
        if not self.has_begun or is_handed_over(self, there):
            return moving(self, to, back, there).columns
        check_movable(self, to.backend)
        after = Move(Step.LEAVING, to, back, resumes=True, withdraws=True, abandons=True)
        return {"move": after.text(), **waiting}

    def impatient(self) -> Change | None:
        """It has not run for too long since its place was lost; None: it does."""
        found = failover_of(self.record)
        if found is None or not found.since:
            return None
        here = found.here(self.record)
        aim = target(found.situation(here, moment(self.now()), is_impatient=True))
        known = found.avoided.get(here)
        words = f"it has not run there since {known.why}" if known else "it does not run there"
        change = Change({}) if aim is None else self._with_move(Change({}), found, aim, words)
        since = "" if change.columns else self.now()  # one that cannot go now is looked at later
        return _with(change, recovery=replace(found, since=since).text())

    def on_schedule(self) -> Change | None:
        """See to its deadline: it goes where that asks for; None: nothing is to be done."""
        found, now = failover_of(self.record), moment(self.now())
        if found is None or found.promise is None or self.record.is_over or self.move is not None:
            return None
        after = found.checked(self.record, now)
        if self.record.phase == Phase.PAUSED:
            return None
        change = Change({"recovery": after.text()})
        aim = None if after.is_sure_spent else after.aim(self.record, now)
        if aim is None:
            return change
        here = after.here(self.record)
        if self.record.phase != Phase.RUNNING and here != aim.place:
            why = "it has waited there for longer than its deadline allows"
            after = after.lost(self.id, here, why, now, Loss.LOST)
            change = Change({"recovery": after.text()})
        why = _of_deadline(is_behind=after.is_behind)
        return self._with_move(change, after, aim, "", why=why)

    def declined(self, message: str) -> Change | None:
        """The place that it was to go to does not take it; None: it has to go back."""
        found, move = failover_of(self.record), self.move
        if found is None or move is None:
            return None
        refusing, back = move.to.backend, move.back.backend
        now = moment(self.now())
        found = found.lost(self.id, refusing, message, now, Loss.REFUSED)
        aim = target(found.situation(refusing, now, has_ended=True))
        if aim is None and move.withdraws:
            said = f"no place takes it any more; {refusing}: {message}"
            return _with(self.ending(Phase.FAILED, "SubmissionFailed", said), move=None)
        if aim is None or (aim.place == back and not move.withdraws):
            return None
        said = _said(refusing, aim, message, verb="does not take it")
        step = move if move.step is Step.LEAVING else move.followed_by(Step.LEAVING)
        after = replace(step, to=found.at(aim.place), at=aim.at)
        columns = {"move": after.text(), "phase": Phase.PAUSED, "wanted": "", "reason": ""}
        columns |= {"recovery": found.text(), "message": said}
        return Change(columns, [self.event("MovingOn", said, kind="Warning")])


def _is_loss(ending: Json) -> bool:
    """Whether the set was started again after an attempt because its place was lost."""
    if "counts" not in ending:
        return False
    return loss_of_attempt(ending_cause(ending), counts=bool(ending["counts"])) is Loss.LOST


def _said(here: str, aim: Target, words: str, verb: str = "was lost") -> str:
    """Where a job goes, and why."""
    if aim.place == here:
        return f"it begins again at {here}, because {here} {verb}: {words}"
    when = f"when it is not avoided any more, at {aim.at}, " if aim.at else ""
    return f"it goes to {aim.place} {when}because {here} {verb}: {words}"


def _of_deadline(*, is_behind: bool) -> str:
    """Why a job changes its place for its deadline."""
    if is_behind:
        return "it is behind, and its deadline is kept only where it is not lost"
    return "it is ahead of its deadline, and a cheaper place may be had"


def _with(change: Change, **columns: Any) -> Change:
    return Change({**change.columns, **columns}, change.events, change.spec)
