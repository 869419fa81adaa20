"""Jobs: submit, list, look at, act on."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.ids import before
from trainway.engine.job_filter import Filter, label_terms, metric_terms
from trainway.engine.jobs import Engine
from trainway.engine.times import time_text
from trainway.engine.usage import Grouping
from trainway.engine.view import event_view
from trainway.errors import UsageError
from trainway.jobset.label_syntax import key_problem, value_problem
from trainway.server import models
from trainway.server.api import Api, Header, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.moments import moment
from trainway.server.paths import BASE_PATH
from trainway.server.phase_names import phases_of
from trainway.server.report_intake import taken
from trainway.server.service import Service
from trainway.server.sse import MEDIA_TYPE, stream
from trainway.server.streams import event_chunks
from trainway.server.submitted import submission_of
from trainway.server.usage_models import UsageAnswer

IdempotencyKey = Annotated[str, Header(max_length=128)]


class Scale(BaseModel):
    """How many nodes a job is to have."""

    model_config = ConfigDict(extra="forbid")

    nodes: int = Field(
        ge=1, le=10_000, description="of its trainer, its workers, its task or its role"
    )


def add_job_routes(api: Api, service: Service) -> None:
    """The routes below /jobs that answer at once."""
    engine, book = service.engine, service.engine.storage

    @api.post(
        f"{BASE_PATH}/jobs", tags=["jobs"], status_code=201, response_model=models.SubmitAnswer
    )
    async def submit(body: models.SubmitRequest, idempotency_key: IdempotencyKey = "") -> Response:
        """Submit a job, or several. A request that is repeated with its key makes no more."""
        _check_labels(body.options.labels)
        submission = book.meant(submission_of(body.objects, body.options, idempotency_key))
        if submission.is_run:
            is_search = submission.search is not None
            submit_all = engine.runs.search if is_search else engine.submit_array
            async with book.naming(body.objects) as named:
                jobs, warnings = await submit_all(submission)
                await named(str(jobs[0]["metadata"]["id"]))
            return JsonAnswer({"job": jobs[0], "jobs": jobs, "warnings": warnings}, 201)
        if submission.parallel is not None:
            raise UsageError(
                "parallel is for several jobs",
                field="options.parallel",
                hint="give num_jobs or parameters too",
            )
        async with book.naming(body.objects) as named:
            job, warnings = await engine.submit(submission)
            await named(str(job["metadata"]["id"]))
        return JsonAnswer({"job": job, "warnings": warnings}, 201)

    @api.post(f"{BASE_PATH}/plans", tags=["jobs"], response_model=models.PlanAnswer)
    async def plan(body: models.SubmitRequest) -> Response:
        """What a backend would do with a job, literally. Nothing is started."""
        submission = book.meant(submission_of(body.objects, body.options))
        request, warnings = await engine.plan(submission)
        return JsonAnswer({"request": request.text(), "warnings": warnings})

    @api.get(f"{BASE_PATH}/jobs", tags=["jobs"], response_model=models.JobPage)
    async def page(wanted: Annotated[models.ListParameters, Query()]) -> Response:
        """List jobs, newest first. `fields=summary` leaves out what is large."""
        chosen = Filter(
            phases=phases_of(wanted.phase, wanted.active),
            name=wanted.name,
            before=wanted.cursor,
            after=before(moment(wanted.since)) if wanted.since else "",
            labels=label_terms(wanted.label),
            metrics=metric_terms(wanted.metric),
        )
        summary = wanted.fields == "summary"
        found = await engine.reading.page(wanted.limit, chosen, summary=summary)
        return JsonAnswer({"items": found.items, "cursor": found.cursor})

    @api.get(f"{BASE_PATH}/jobs/{{ref}}", tags=["jobs"], response_model=models.Job)
    async def get(ref: str) -> Response:
        """Show the job of that id, or the newest one of that name."""
        return JsonAnswer(await engine.reading.get(ref))

    @api.delete(f"{BASE_PATH}/jobs/{{ref}}", tags=["jobs"], response_model=models.Job)
    async def delete(ref: str, force: bool = False) -> Response:
        """End a job, wait until all of it is gone, and forget it.

        With `force` also one whose cluster does not answer; `status.message` then says what may be
        left there, and `status.reason` is Abandoned.
        """
        return JsonAnswer(await engine.delete(ref, force=force))


def add_action_routes(api: Api, engine: Engine) -> None:
    """What can be done with a job."""

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/cancel", tags=["jobs"], response_model=models.Job)
    async def cancel(ref: str) -> Response:
        """End a job."""
        return JsonAnswer(await engine.cancel(ref))

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/suspend", tags=["jobs"], response_model=models.Job)
    async def suspend(ref: str) -> Response:
        """Stop a job's processes until it is resumed."""
        return JsonAnswer(await engine.suspend(ref))

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/resume", tags=["jobs"], response_model=models.Job)
    async def resume(ref: str) -> Response:
        """Let a suspended job go on."""
        return JsonAnswer(await engine.resume(ref))

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/scale", tags=["jobs"], response_model=models.Job)
    async def scale(ref: str, body: Scale) -> Response:
        """Give a job another number of nodes, while it waits in the server's queue."""
        return JsonAnswer(await engine.scaling.scale(ref, body.nodes))


def add_report_routes(api: Api, service: Service) -> None:
    """What a job told."""
    engine = service.engine

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/events", tags=["jobs"], response_model=models.EventList)
    async def events(
        ref: str,
        after: Annotated[int, Query(ge=0, lt=models.INT32)] = 0,
        accept: Annotated[str, Header()] = "",
        last_event_id: Annotated[str, Header()] = "",
    ) -> Response:
        """What happened to a job: a list, or with `Accept: text/event-stream` a stream."""
        if MEDIA_TYPE in accept:
            await engine.reading.record(ref)
            seen = await engine.reading.check_events(ref, last_event_id) if last_event_id else 0
            begin = max(after, seen)
            return stream(event_chunks(engine.reading, ref, begin), service.stopping)
        found = await engine.reading.events(ref, after)
        return JsonAnswer({"items": [event_view(event) for event in found]})

    @api.get(f"{BASE_PATH}/usage", tags=["jobs"], response_model=UsageAnswer)
    async def usage(
        by: Grouping | None = None,
        key: Annotated[str, Query(max_length=317)] = "",
        since: Annotated[str, Query(max_length=100)] = "",
    ) -> Response:
        """Add up GPU-hours, CPU-hours and cost of all jobs, by `key` where it is a label."""
        if (by is Grouping.LABEL) != bool(key):
            problem = "a label must be named" if by else "only a label is named"
            raise UsageError(problem, field="key", hint="ask for by=label and key=NAME")
        start = time_text(moment(since)) if since else ""
        return JsonAnswer(await engine.reading.usage(by, key, start))

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/progress", tags=["jobs"], response_model=models.Progress)
    async def progress(ref: str) -> Response:
        """What the training code last reported."""
        record = await engine.reading.reported(ref)
        return JsonAnswer({"trainerStatus": record.progress_data or None})

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/progress", tags=["jobs"], response_model=models.Progress)
    async def report(ref: str, body: models.Progress) -> Response:
        """Report how far the training is."""
        return JsonAnswer(await taken(engine, ref, body))


def _check_labels(labels: Mapping[str, str]) -> None:
    for key, value in labels.items():
        problem = key_problem(key) or value_problem(value)
        if problem is not None:
            raise UsageError(problem, field="options.labels")
