"""Schedules: jobs that are submitted again and again."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.engine.schedule.record import NewSchedule
from trainway.engine.times import time_text
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.schedule.cron import LONGEST, parse_cron
from trainway.schedule.moments import next_moment, zone_of
from trainway.schedule.rules import CatchUp, Overlap
from trainway.server.api import Api, Header
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown, SubmitOptions
from trainway.server.paths import BASE_PATH
from trainway.server.submitted import submission_of

MOST_SHOWN: Final = 3
_LONGEST_DRAFT: Final = 1000
"""More than an expression may have, so that one that is too long is told so in words."""
IdempotencyKey = Annotated[str, Header(max_length=128)]


class ScheduleRequest(BaseModel):
    """What is to be submitted, and when."""

    model_config = ConfigDict(extra="forbid")

    cron: str = Field(
        max_length=LONGEST, description="five fields, such as `0 3 * * *`, or `@daily` and the like"
    )
    timezone: str = Field("UTC", max_length=100, description="of the IANA database")
    name: str = Field("", max_length=63, description="else that of the job")
    catch_up: CatchUp = Field(
        CatchUp.ONCE, description="what becomes of moments at which no server was there"
    )
    overlap: Overlap = Field(
        Overlap.FORBID, description="what becomes of a moment while a former job has not ended"
    )
    paused: bool = Field(False, description="whether it is to wait until it is resumed")
    objects: list[Json] = Field(description="as for `POST /jobs`")
    options: SubmitOptions = SubmitOptions()


class ScheduleMetadata(Shown):
    """Names of a schedule."""

    id: str
    name: str
    creation_timestamp: str


class ScheduleSpec(Shown):
    """What was asked for."""

    cron: str
    timezone: str
    catch_up: str
    overlap: str
    paused: bool
    backend: str
    kind: str = Field(description="of the job")
    objects: list[Json] = Field([], description="not in a list; values of Secrets are hidden")


class Firing(Shown):
    """What became of a moment."""

    time: str
    result: str = Field(description="Submitted, Skipped or Failed")
    message: str
    job: str | None = Field(description="the id of the job, or of the first of several")
    run: str | None


class ScheduleStatus(Shown):
    """How it stands."""

    next: str | None = Field(description="when it is due next; null while it is paused")
    last: Firing | None
    due: list[str] = Field(description="moments for which something is yet to be submitted")
    waiting: str | None = Field(
        description="why that could not be done so far, or why it is never due"
    )
    active_jobs: list[str] = Field(description="the ids of its jobs that have not ended")


class Schedule(Shown):
    """A job that is submitted again and again."""

    api_version: str
    kind: str
    metadata: ScheduleMetadata
    spec: ScheduleSpec
    status: ScheduleStatus


class ScheduleList(Shown):
    """All schedules, by name."""

    items: list[Schedule]


class CronRequest(BaseModel):
    """Times that somebody is writing."""

    model_config = ConfigDict(extra="forbid")

    cron: str = Field("", max_length=_LONGEST_DRAFT)
    timezone: str = Field("UTC", max_length=_LONGEST_DRAFT)


class CronReport(Shown):
    """What these times come to."""

    next: list[str] = Field(description=f"the next {MOST_SHOWN} moments")
    field: str = Field(description="`cron` or `timezone`, where it is wrong")
    problem: str = Field(description="what is wrong with it; empty: nothing")
    hint: str


class ScheduleAnswer(Shown):
    """A new schedule."""

    schedule: Schedule
    warnings: list[str]


def add_schedule_routes(api: Api, engine: Engine) -> None:
    """The routes below /schedules."""
    schedules = engine.schedules
    path = f"{BASE_PATH}/schedules"
    described: dict[str, Any] = {"tags": ["schedules"], "response_model": Schedule}

    @api.get(path, tags=["schedules"], response_model=ScheduleList)
    async def all_schedules() -> Response:
        """List all schedules, by name, without what they submit."""
        return JsonAnswer({"items": schedules.all()})

    @api.post(path, tags=["schedules"], status_code=201, response_model=ScheduleAnswer)
    async def create_schedule(
        body: ScheduleRequest, idempotency_key: IdempotencyKey = ""
    ) -> Response:
        """Have a job submitted again and again. The job is checked now, and nothing is started."""
        new = NewSchedule(
            name=body.name,
            cron=body.cron,
            zone=body.timezone,
            catch_up=body.catch_up,
            overlap=body.overlap,
            is_paused=body.paused,
            submission=engine.storage.meant(submission_of(body.objects, body.options)),
        )
        async with engine.storage.naming(body.objects):
            made, warnings = await schedules.create(new, idempotency_key)
        return JsonAnswer({"schedule": made, "warnings": warnings}, 201)

    @api.post(f"{path}/check", tags=["schedules"], response_model=CronReport)
    async def check_cron(body: CronRequest) -> Response:
        """When these times are due next, or what is wrong with them. Nothing is stored."""
        return JsonAnswer(await asyncio.to_thread(cron_report, body, datetime.now(UTC)))

    @api.get(f"{path}/{{name}}", **described)
    async def get_schedule(name: str) -> Response:
        """Show a schedule, with what it submits."""
        return JsonAnswer(await schedules.get(name))

    @api.post(f"{path}/{{name}}/pause", **described)
    async def pause_schedule(name: str) -> Response:
        """Let nothing be due until it is resumed; its jobs go on."""
        return JsonAnswer(await schedules.pause(name))

    @api.post(f"{path}/{{name}}/resume", **described)
    async def resume_schedule(name: str) -> Response:
        """Let it be due again; what it was paused for is not made up for."""
        return JsonAnswer(await schedules.resume(name))

    @api.delete(f"{path}/{{name}}", **described)
    async def delete_schedule(name: str) -> Response:
        """Forget a schedule; its jobs stay."""
        return JsonAnswer(await schedules.delete(name))


def cron_report(wanted: CronRequest, now: datetime) -> Json:
    """The first moments after now, or why there are none."""
    try:
        cron, zone = parse_cron(wanted.cron), zone_of(wanted.timezone)
    except UsageError as error:
        told = {"field": error.field or "", "problem": error.message, "hint": error.hint or ""}
        return {"next": [], **told}
    found: list[datetime] = []
    while len(found) < MOST_SHOWN:
        moment = next_moment(cron, zone, found[-1] if found else now)
        if moment is None:
            break
        found.append(moment)
    return {"next": [time_text(each) for each in found], "field": "", "problem": "", "hint": ""}
