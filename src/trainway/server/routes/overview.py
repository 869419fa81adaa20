"""What the first pages of the dashboard show: windows of the list of jobs, and how things stand."""

import asyncio
from typing import Annotated, Final

from pydantic import Field
from starlette.responses import Response

from trainway.backends import capabilities
from trainway.engine.ids import before
from trainway.engine.job_filter import Filter, LabelTerm, label_terms, metric_terms
from trainway.engine.job_window import Order, Window
from trainway.engine.jobs import Engine
from trainway.errors import TrainwayError, UsageError
from trainway.jobset.labels import USER
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import INT32, Job, ListParameters, Shown
from trainway.server.moments import moment
from trainway.server.paths import BASE_PATH
from trainway.server.phase_names import phases_of
from trainway.server.routes.runs import Run

_DAY_H: Final = 24
_LONGEST: Final = 253


class WindowParameters(ListParameters):
    """Which jobs, and which rows of their list."""

    limit: int = Field(100, ge=1, le=500)
    offset: int = Field(0, ge=0, lt=INT32)
    sort: Order = Order.CREATED
    ascending: bool = False
    grouped: bool = Field(False, description="one row for all jobs of a run; sorted by age only")
    text: str = Field("", max_length=_LONGEST, description="what is in the name; or the whole id")
    backend: str = Field("", max_length=_LONGEST)
    kind: str = Field("", max_length=63)
    user: str = Field("", max_length=_LONGEST)
    until: str = Field("", max_length=100, description="submitted before; as `since`")
    run: str = Field("", max_length=12, description="the id of a run whose jobs are meant")

    def filter(self) -> Filter:
        """The jobs that are meant."""
        users = [LabelTerm(USER, self.user)] if self.user else []
        return Filter(
            phases=phases_of(self.phase, self.active),
            name=self.name,
            text=self.text,
            kind=self.kind,
            backend=self.backend,
            run=self.run,
            before=before(moment(self.until, "until")) if self.until else self.cursor,
            after=before(moment(self.since)) if self.since else "",
            labels=[*label_terms(self.label), *users],
            metrics=metric_terms(self.metric),
        )


class JobRow(Shown):
    """A row of the list: a job, or a run that stands for its jobs."""

    job: Job | None = None
    run: Run | None = None


class JobWindow(Shown):
    """Some rows of the list."""

    items: list[JobRow]
    total: int = Field(description="how many rows there are in all")


class HourCounts(Shown):
    """What happened in an hour."""

    hour: str = Field(description="its beginning")
    counts: dict[str, int] = Field(
        description="jobs that were `submitted`, and that ended, by phase"
    )


class BackendUse(Shown):
    """What jobs use of a backend."""

    name: str
    running: int
    waiting: int
    gpus: int = Field(description="requested by jobs that run")
    cpus: float
    total_gpus: int | None = Field(description="null: the backend has to be asked")
    total_cpus: float | None


class Overview(Shown):
    """How things stand."""

    phases: dict[str, int] = Field(description="how many jobs are in which phase")
    hours: list[HourCounts] = Field(description="of the last day; hours without jobs are left out")
    backends: list[BackendUse]
    failures: list[Job] = Field(description="those that failed last")
    waiting: list[Job] = Field(description="those that wait longest")


def add_overview_routes(api: Api, engine: Engine) -> None:
    """The routes of these pages."""

    @api.get(f"{BASE_PATH}/windows/jobs", tags=["jobs"], response_model=JobWindow)
    async def window(wanted: Annotated[WindowParameters, Query()]) -> Response:
        """List the jobs in some rows of a list that is sorted, and say how long it is."""
        if wanted.grouped and wanted.sort is not Order.CREATED:
            hint = "leave out sort or grouped"
            raise UsageError("runs are sorted by age only", field="sort", hint=hint)
        place = Window(wanted.offset, wanted.limit, wanted.sort, wanted.ascending)
        found = await engine.reading.window(wanted.filter(), place, is_grouped=wanted.grouped)
        runs = await engine.runs.several(found.ids) if wanted.grouped else {}
        jobs = await engine.reading.summaries([each for each in found.ids if each not in runs])
        rows = [
            {"run": runs[each]} if each in runs else {"job": jobs[each]}
            for each in found.ids
            if each in runs or each in jobs
        ]
        return JsonAnswer({"items": rows, "total": found.total})

    @api.get(f"{BASE_PATH}/overview", tags=["jobs"], response_model=Overview)
    async def overview() -> Response:
        """How many jobs there are in each phase, what they use, and what failed lately."""
        found = await engine.reading.overview(_DAY_H)
        loads = found.pop("backends")
        names = sorted({*engine.registry.infras(), *loads})
        backends = await asyncio.to_thread(backend_uses, engine, names, loads)
        return JsonAnswer({**found, "backends": backends})


def backend_uses(engine: Engine, names: list[str], loads: Json) -> list[Json]:
    """What jobs use of these backends, and what each has where that is known."""
    nothing = {"running": 0, "waiting": 0, "gpus": 0, "cpus": 0.0}
    return [{"name": name, **loads.get(name, nothing), **_total(engine, name)} for name in names]


def _total(engine: Engine, name: str) -> Json:
    """What a backend has, where that is known without asking another machine."""
    unknown = {"totalGpus": None, "totalCpus": None}
    try:
        backend = engine.registry.get(name)
        if backend.schedules:
            return unknown
        capacity = capabilities.capacity(backend)
    except TrainwayError:
        return unknown
    thousandths = (capacity.cpus * 1000).ceil()
    return {"totalGpus": len(capacity.gpus), "totalCpus": thousandths / 1000}
