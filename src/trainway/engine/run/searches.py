"""Carries searches on: asks what is due, creates trials and stops them, until there is an end.

All that a search knows is in its run and its jobs, so the next server goes on where this one was
killed. A trial has a key that follows from its run and index, so it cannot be created twice.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from trainway.engine import wishing
from trainway.engine.admission import Admitted
from trainway.engine.costs.account import part, root_of
from trainway.engine.job_filter import Filter
from trainway.engine.ledger import Ledger
from trainway.engine.live import LiveJob
from trainway.engine.metrics.reading import MetricReading
from trainway.engine.queues.queues import DrainedError
from trainway.engine.record import JobRecord
from trainway.engine.rounds import Rounds
from trainway.engine.run.record import NewRun, RunRecord
from trainway.engine.run.search import (
    Search,
    cancelled,
    key_of,
    outcome,
    trial_of,
    trial_submission,
)
from trainway.engine.submission import Submission
from trainway.errors import DatabaseError, TrainwayError, UnavailableError
from trainway.jobset.labels import ACCOUNT
from trainway.json_types import Json
from trainway.optimization.decision import Decision, decide
from trainway.optimization.pruning import Stop
from trainway.optimization.study import Study
from trainway.optimization.suggestion import Suggestion
from trainway.optimization.trial import Point, Trial

log = logging.getLogger(__name__)

_PAUSE_S: Final = 1.0
"""After so long it is looked again whether a trial is to be stopped, or what failed works now."""
_PATIENCE_S: Final = 2.0
"""So long somebody waits to end a search while a trial of one is being created."""
_POINTS: Final = 500
"""So many points of a trial are looked at."""

Admit = Callable[[Sequence[Submission], NewRun | RunRecord], Awaitable[Admitted]]


@dataclass(frozen=True)
class SearchContext:
    """What searches need of the engine."""

    ledger: Ledger
    live: Mapping[str, LiveJob]
    metrics: MetricReading
    again: Callable[[JobRecord], Awaitable[Submission]]
    admit: Admit


class Searches:
    """The searches of one server that have not ended."""

    def __init__(self, around: SearchContext) -> None:
        self._around = around
        self._ledger = around.ledger
        self._store = around.ledger.store
        self._open: dict[str, RunRecord] = {}
        self._waiting: dict[str, str] = {}
        """What a search waits for, by the id of its run."""
        self._rounds = Rounds(self._play)
        self._timer: asyncio.TimerHandle | None = None
        self._pen = asyncio.Lock()
        """Held while a search is carried on, so that nobody ends it meanwhile."""

    @property
    def is_idle(self) -> bool:
        """Whether no trial is to be created any more."""
        return not self._open

    @property
    def open(self) -> list[RunRecord]:
        """Those of which more trials may be created."""
        return list(self._open.values())

    async def start(self) -> None:
        """Go on with what a former server has left."""
        self._open = {run.id: run for run in await self._ledger.call(self._store.runs.searches)}
        self.look()

    async def close(self) -> None:
        """Leave all of them to the next server."""
        if self._timer is not None:
            self._timer.cancel()
        await self._rounds.close()

    def look(self) -> None:
        """Something happened that may concern a search."""
        if self._open:
            self._rounds.request()

    def add(self, run: RunRecord) -> None:
        """Carry on a new one, or one that is continued."""
        self._open[run.id] = run
        self.look()

    async def end(self, run: RunRecord) -> bool:
        """Create no more trials of a run; False if none would have been created."""
        async with self._pen:
            if run.id not in self._open:
                return False
            await self._finish(self._open[run.id], cancelled())
            return True

    async def end_soon(self, run: RunRecord) -> None:
        """The same; an UnavailableError if a trial that is being created holds it up."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self.end(run)
        except TimeoutError:
            raise UnavailableError(f"the search {run.name} cannot be ended yet") from None

    def waiting(self, run: RunRecord) -> str | None:
        """Why a search does not go on at the moment; None: it does, or has ended."""
        return self._waiting.get(run.id) if run.id in self._open else None

    async def trials(self, run: RunRecord, study: Study) -> list[Trial]:
        """The trials of a search, with their histories if it looks at them."""
        return [trial for _, trial in await self._trials(run, study)]

    async def _play(self) -> None:
        for run in list(self._open.values()):
            async with self._pen:
                if run.id in self._open:
                    await self._carry_on(run)
        self._set_timer()

    def _set_timer(self) -> None:
        """Look again soon: metrics come without a word, and what is missing may come back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._open:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE_S, self.look)

    async def _carry_on(self, run: RunRecord) -> None:
        problem = ""
        try:
            await self._step(run)
            self._waiting.pop(run.id, None)
        except (DatabaseError, DrainedError, UnavailableError) as error:
            if self._waiting.get(run.id) != str(error):  # it is tried again every second
                log.warning("the search %s waits: %s", run.name, error)
            self._waiting[run.id] = str(error)
        except TrainwayError as error:
            problem = f"{error}; {error.hint}" if error.hint else str(error)
        except Exception:
            log.exception("the search %s cannot go on", run.name)
            problem = "an error of the server, which its log has"
        if problem:
            await self._give_up(run, problem)

    async def _step(self, run: RunRecord) -> None:
        study = Search.stored(run.search or "").study(run.name)
        found = await self._trials(run, study)
        if not found:  # somebody has deleted them all
            del self._open[run.id]
            return
        decision = await asyncio.to_thread(decide, study, [trial for _, trial in found])
        if decision.status.is_over:
            await self._finish(run, outcome(decision.status))
            return
        await self._stop(found, decision.stop)
        if decision.create:
            await self._create(run, study, found[-1][0], decision.create)

    async def _give_up(self, run: RunRecord, problem: str) -> None:
        log.warning("the search %s has failed: %s", run.name, problem)
        study = Search.stored(run.search or "").study(run.name)
        found = await self._trials(run, study)
        decision: Decision = decide(study, [trial for _, trial in found], problem)
        await self._finish(run, outcome(decision.status))
        await self._stop(found, decision.stop)

    async def _trials(self, run: RunRecord, study: Study) -> list[tuple[JobRecord, Trial]]:
        wanted = Filter(run=run.id)
        records = await self._ledger.call(self._store.page, wanted, run.size, summary=True)
        values = await self._around.metrics.latest([record.id for record in records], study.metric)
        found = []
        for record in reversed(records):
            history = await self._history(record, study) if record.id in values else []
            trial = trial_of(record, study.metric, values.get(record.id), history)
            if trial is not None:
                found.append((record, trial))
        return found

    async def _history(self, record: JobRecord, study: Study) -> list[Point]:
        if study.pruning is None:
            return []
        points = await self._around.metrics.points(record.id, study.metric, _POINTS)
        return [
            Point(number if point.step is None else point.step, point.value)
            for number, point in enumerate(points, 1)
        ]

    async def _stop(self, found: Sequence[tuple[JobRecord, Trial]], stops: Sequence[Stop]) -> None:
        ids = {trial.index: record.id for record, trial in found}
        for stop in stops:
            live = self._around.live.get(ids[stop.trial.index])
            if live is not None:
                await live.alter(partial(wishing.pruning, live, stop.why))

    async def _create(
        self, run: RunRecord, study: Study, other: JobRecord, due: Sequence[Suggestion]
    ) -> None:
        """Create trials one by one; each is like another one but for its parameters."""
        template: list[Json] = json.loads(
            await self._ledger.call(self._store.runs.template, run.id)
        )
        again = await self._around.again(other)
        placeholders = Search.stored(run.search or "").placeholders
        for suggestion in due:
            base = replace(again, key=key_of(run, suggestion.index), placeholders=placeholders)
            account = root_of(other.label_map.get(ACCOUNT, ""))
            submission = trial_submission(base, study, suggestion, template)
            submission = part(submission, account, str(suggestion.index))
            await self._around.admit([submission], run)

    async def _finish(self, run: RunRecord, end: Json) -> None:
        ended = replace(run, outcome=json.dumps(end))
        await self._ledger.write_run(ended)
        self._open.pop(run.id, None)
        self._waiting.pop(run.id, None)
