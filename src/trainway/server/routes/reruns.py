"""Jobs that are submitted again, as they were or with a difference."""

from functools import partial

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends.masking import masked_object
from trainway.engine.jobs import Engine
from trainway.engine.submission import Amend, unchanged
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.server import models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.routes.jobs import IdempotencyKey

_MOST = 100


class Rerun(BaseModel):
    """What is to be different."""

    model_config = ConfigDict(extra="forbid")

    env: dict[str, str] = Field(
        {}, max_length=_MOST, description="variables of its containers, in place of their namesakes"
    )
    set: list[str] = Field(
        [],
        max_length=_MOST,
        description="fields of the job, `PATH=VALUE`: `spec.trainer.numNodes=4`; the value is YAML",
    )

    job: Json | None = Field(
        None, description="another job in its place, with whatever else it was submitted with"
    )

    def amend(self) -> Amend:
        """What does it to a job."""
        if self.job is not None:
            if self.env or self.set:
                raise UsageError("a job in its place is changed before it is sent", field="job")
            from trainway.engine.draft_check import replacing  # noqa: PLC0415 - see below

            return replacing(self.job)
        if not self.env and not self.set:
            return unchanged
        from trainway.api.amendment import (  # noqa: PLC0415 - the server starts sooner without it
            Amendment,
            amended,
        )

        return partial(amended, amendment=Amendment(self.env, self.set))


class RerunPreview(models.Shown):
    """What would be submitted."""

    before: list[Json] = Field(description="what the job was made from; values of Secrets hidden")
    after: list[Json] = Field(description="the same with the difference")
    warnings: list[str]


def add_rerun_routes(api: Api, engine: Engine) -> None:
    """The routes that submit a job again."""

    @api.post(
        f"{BASE_PATH}/jobs/{{ref}}/rerun", tags=["jobs"], status_code=201, response_model=models.Job
    )
    async def rerun(
        ref: str, body: Rerun | None = None, idempotency_key: IdempotencyKey = ""
    ) -> Response:
        """Submit once more what a job was made from, maybe with a difference.

        A request that is repeated with its key makes no second job.
        """
        amend = (body or Rerun()).amend()
        return JsonAnswer(await engine.rerun(ref, amend, idempotency_key), 201)

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/rerun/preview", tags=["jobs"], response_model=RerunPreview)
    async def preview(ref: str, body: Rerun) -> Response:
        """What `rerun` would submit. It is checked, and nothing is started."""
        record = await engine.reading.record(ref)
        before = await engine.reading.objects(record.id)
        submission = await engine.again(record.id, body.amend())
        _, warnings = await engine.plan(submission)
        shown = [
            [masked_object(obj) for obj in objects] for objects in (before, submission.objects)
        ]
        return JsonAnswer({"before": shown[0], "after": shown[1], "warnings": warnings})
