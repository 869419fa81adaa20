"""Where a job could run: which places there are, and what each of them offers for it."""

import asyncio
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends import configuration
from trainway.engine.intake import elements
from trainway.engine.placement.offer import Fit, Offer, Prefer, chosen, ranked
from trainway.engine.placement.survey import offers
from trainway.engine.submission import Submission
from trainway.errors import UsageError
from trainway.jobset.labels import TASK
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown, SubmitRequest
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.submitted import submission_of

_MOST: Final = 100
"""How many places are asked at once."""


class PlacesRequest(BaseModel):
    """Whose places."""

    model_config = ConfigDict(extra="forbid")

    kubeconfig: tuple[str, ...] = Field(
        (), max_length=_MOST, description="absolute paths of the submitter's kubeconfig files"
    )


class PlaceNames(Shown):
    """The places where jobs can run."""

    items: list[str]


class PlacementRequest(BaseModel):
    """The same job, as it would be submitted to each place."""

    model_config = ConfigDict(extra="forbid")

    candidates: list[SubmitRequest] = Field(min_length=1, max_length=_MOST)
    prefer: Prefer = Field(Prefer.ORDER, description="what counts between places of the same fit")
    task: str = Field("", max_length=253, description="of a pipeline, the task that is asked for")


class OfferInfo(Shown):
    """What one place says."""

    place: str
    fit: Fit
    reason: str = Field(description="why it fits or does not, as a sentence")
    price: float | None = Field(description="of an hour of one node; null: nobody said")
    ahead: int = Field(description="how many jobs of this server wait there before it")


class Placement(Shown):
    """The places, the best first."""

    offers: list[OfferInfo]
    chosen: str | None = Field(description="where the job should go; null: no place takes it")


def add_placement_routes(api: Api, service: Service) -> None:
    """The routes that ask without submitting."""
    engine = service.engine

    @api.post(f"{BASE_PATH}/places", tags=["server"], response_model=PlaceNames)
    async def places(body: PlacesRequest) -> Response:
        """The names of all places where a job can run. None of them is asked."""
        names = await asyncio.to_thread(engine.registry.infras, body.kubeconfig)
        return JsonAnswer({"items": names})

    @api.post(f"{BASE_PATH}/placements", tags=["jobs"], response_model=Placement)
    async def placement(body: PlacementRequest) -> Response:
        """Ask each place what it offers for a job. Nothing is submitted."""
        submissions = [submission_of(each.objects, each.options) for each in body.candidates]
        if body.task:
            submissions = [_of_task(each, body.task) for each in submissions]
        settings = await asyncio.to_thread(configuration.read, service.web.folder)
        found = await offers(engine, submissions, settings.get("prices") or {})
        best = chosen(found, body.prefer)
        views = [offer_view(offer) for offer in ranked(found, body.prefer)]
        return JsonAnswer({"offers": views, "chosen": best.place if best else None})


def _of_task(submission: Submission, task: str) -> Submission:
    """The job of one task of a pipeline."""
    found = [each for each in elements(submission) if each.labels.get(TASK) == task]
    if not submission.pipeline or not found:
        raise UsageError(f"there is no task {task}", field="task")
    return found[0]


def offer_view(offer: Offer) -> Json:
    """An offer as the API shows it."""
    return {
        "place": offer.place,
        "fit": offer.fit,
        "reason": offer.reason,
        "price": offer.price,
        "ahead": offer.ahead,
    }
