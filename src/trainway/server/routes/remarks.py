"""Notes and links of jobs."""

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.server import models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH


class RemarksChange(BaseModel):
    """What to write on a job; what is not given stays."""

    model_config = ConfigDict(extra="forbid")

    note: str | None = Field(None, description="the note; an empty one removes it")
    links: dict[str, str | None] = Field(
        {}, max_length=100, description="URLs by name, http or https; null removes a link"
    )


def add_remark_routes(api: Api, engine: Engine) -> None:
    """The route that changes what is written on a job."""

    @api.patch(f"{BASE_PATH}/jobs/{{ref}}", tags=["jobs"], response_model=models.Job)
    async def change(ref: str, body: RemarksChange) -> Response:
        """Write a note or links on a job, also on one that has ended."""
        return JsonAnswer(await engine.remarks.write(ref, body.note, body.links))
