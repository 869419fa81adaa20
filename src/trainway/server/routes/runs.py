"""Runs: several jobs of one submission, listed, shown, ended and submitted again as one."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.engine.phases import Phase
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Job, Shown
from trainway.server.paths import BASE_PATH
from trainway.sweep.parameter import MOST_TRIALS


class RunMetadata(Shown):
    """Names of a run."""

    id: str = Field(description="that of the first of its jobs")
    name: str
    creation_timestamp: str


class RunSpec(Shown):
    """What was submitted."""

    backend: str
    jobs: int = Field(description="how many jobs it was submitted with")
    parallel: int | None = Field(description="how many may run at a time")


class RunStatus(Shown):
    """What became of its jobs."""

    phase: str
    phases: dict[str, int] = Field(description="how many jobs are in which phase")
    search: Json | None = Field(
        None,
        description="how a search ended: `type`, `reason` and `message`; null until then",
    )
    budget: Json | None = Field(
        None, description="all that it may cost: `limit`, and when it was `warned` and `ended`"
    )
    usage: Json | None = Field(
        None,
        description="of a run with a limit or with rented machines: what it has `cost` in all "
        "until `costSince`, and `pricePerHour` that comes on top; not in a list of runs",
    )
    waiting: str | None = Field(
        None, description="why a search cannot go on at the moment, such as a full disk"
    )


class PipelineTask(Shown):
    """A task of a pipeline."""

    name: str = Field(description="its job has it as the label `trainway.dev/task`")
    after: list[str] = Field(description="the tasks that must have succeeded before it starts")


class PipelineInfo(Shown):
    """What makes a run a pipeline."""

    tasks: list[PipelineTask] = Field(description="in the order of the file")


class Run(Shown):
    """Jobs of one submission, under one name."""

    api_version: str
    kind: str
    metadata: RunMetadata
    spec: RunSpec
    status: RunStatus
    search: Json | None = Field(
        None, description="of a search: what is searched, and `best` with the best trial so far"
    )
    pipeline: PipelineInfo | None = Field(None, description="of a pipeline: its tasks")
    jobs: list[Job] = Field([], description="in short, by rank; not in a list of runs")


class RunPage(Shown):
    """Some runs, newest first."""

    items: list[Run]
    cursor: str | None = Field(description="where the next page begins")


class DeletedRun(Shown):
    """The jobs that are gone."""

    jobs: list[Job]


class RerunAnswer(Shown):
    """What was submitted again."""

    run: Run = Field(description="the run that the jobs belong to, with all of its jobs")
    jobs: list[Job] = Field(description="the new ones, in short")
    warnings: list[str]


def add_run_routes(api: Api, engine: Engine) -> None:
    """The routes below /runs."""
    runs = engine.runs

    @api.get(f"{BASE_PATH}/runs", tags=["runs"], response_model=RunPage)
    async def page_of_runs(
        limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
        cursor: str = "",
        name: str = "",
        pipelines: bool = False,
    ) -> Response:
        """List runs, newest first, without their jobs; with `pipelines` only those that are one."""
        found = await runs.page(limit, cursor=cursor, name=name, pipelines=pipelines)
        return JsonAnswer({"items": found.items, "cursor": found.cursor})

    @api.get(f"{BASE_PATH}/runs/{{run}}", tags=["runs"], response_model=Run)
    async def get_run(run: str) -> Response:
        """Show the run of that id, or the newest one of that name, with its jobs."""
        return JsonAnswer(await runs.get(run))

    @api.post(f"{BASE_PATH}/runs/{{run}}/cancel", tags=["runs"], response_model=Run)
    async def cancel_run(run: str) -> Response:
        """End all jobs of a run that have not ended."""
        return JsonAnswer(await runs.cancel(run))

    @api.post(f"{BASE_PATH}/runs/{{run}}/continue", tags=["runs"], response_model=Run)
    async def continue_run(
        run: str, trials: Annotated[int, Query(ge=1, le=MOST_TRIALS)]
    ) -> Response:
        """Let a search have so many more trials."""
        return JsonAnswer(await runs.proceed(run, trials))

    @api.delete(f"{BASE_PATH}/runs/{{run}}", tags=["runs"], response_model=DeletedRun)
    async def delete_run(run: str, force: bool = False) -> Response:
        """End the jobs of a run, wait until all of them are gone, and forget them.

        `force` is as for a single job.
        """
        return JsonAnswer({"jobs": await runs.delete(run, force=force)})

    @api.post(
        f"{BASE_PATH}/runs/{{run}}/rerun",
        tags=["runs"],
        status_code=201,
        response_model=RerunAnswer,
    )
    async def rerun_run(
        run: str, failed: bool = False, cancelled: bool = False, task: str = ""
    ) -> Response:
        """Submit all jobs of a run again, as a new run, or those that ended so, in their places.

        Of a pipeline, `task` and all tasks after it are submitted again, in their places.
        """
        if task and (failed or cancelled):
            raise UsageError("task cannot be combined with failed or cancelled", field="task")
        wanted = ((Phase.FAILED, failed), (Phase.CANCELLED, cancelled))
        phases = [phase for phase, is_wanted in wanted if is_wanted]
        if task:
            made = await runs.replace_from(run, task)
        else:
            made = await (runs.replace(run, phases) if phases else runs.rerun(run))
        answer = {"run": made.run, "jobs": made.jobs, "warnings": made.warnings}
        return JsonAnswer(answer, 201)
