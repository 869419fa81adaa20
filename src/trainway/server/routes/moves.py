"""Jobs that go on in another place."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.engine.placement.offer import Fit
from trainway.engine.placement.survey import offers
from trainway.errors import ConflictError
from trainway.families.table import spelled
from trainway.json_types import Json
from trainway.server import models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH

_MOST: Final = 100


class MoveRequest(BaseModel):
    """Where a job is to go on."""

    model_config = ConfigDict(extra="forbid")

    on: str = Field(min_length=1, max_length=253, description="the place: `ssh/lab`, `local`")
    objects: list[Json] = Field(
        [],
        max_length=_MOST,
        description="what the job is made from there, in place of its objects of the same kind and"
        " name; those that are not named stay",
    )
    kubeconfig: tuple[str, ...] = Field(
        (), max_length=_MOST, description="absolute paths of the submitter's kubeconfig files"
    )


def add_move_routes(api: Api, engine: Engine) -> None:
    """The route that moves a job."""

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/move", tags=["jobs"], response_model=models.Job)
    async def move(ref: str, body: MoveRequest) -> Response:
        """Have a job go on in another place, as the same job.

        It is suspended where it is, with its grace period, and its output goes along. The answer
        comes when this is stored; `status.move` tells how far it is.
        """
        record = await engine.reading.record(ref)
        on = spelled(body.on)
        engine.moves.check(record.id, on)
        submission = await engine.moves.submission(record.id, on, body.objects, body.kubeconfig)
        (offer,) = await offers(engine, [submission], {})
        if offer.fit is Fit.NEVER:
            raise ConflictError(
                f"{on} does not take {record.name}: {offer.reason}",
                hint="the job goes on where it is; trainway plan shows what other places offer",
            )
        shown = await engine.moves.move(record.id, on, body.objects, body.kubeconfig)
        return JsonAnswer(shown)
