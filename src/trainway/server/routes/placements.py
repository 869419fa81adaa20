"""Where a job could run: which places there are, and what each of them offers for it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.backends import configuration
from trainway.engine.intake import elements
from trainway.engine.jobs import Engine
from trainway.engine.placement.offer import Fit, Offer, Prefer, chosen, ranked
from trainway.engine.placement.prices import price_of
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
        names = await asyncio.to_thread(engine.places, body.kubeconfig)
        return JsonAnswer({"items": names})

    @api.post(f"{BASE_PATH}/placements", tags=["jobs"], response_model=Placement)
    async def placement(body: PlacementRequest) -> Response:
        """Ask each place what it offers for a job. Nothing is submitted."""
        given = [submission_of(each.objects, each.options) for each in body.candidates]
        submissions = [engine.storage.meant(each) for each in given]
        settings = await asyncio.to_thread(configuration.read, service.web.folder)
        prices = settings.get("prices") or {}
        if body.task:
            found = await _for_task(engine, submissions, body.task, prices)
        else:
            found = await offers(engine, submissions, prices)
        best = chosen(found, body.prefer)
        views = [offer_view(offer) for offer in ranked(found, body.prefer)]
        return JsonAnswer({"offers": views, "chosen": best.place if best else None})


async def _for_task(
    engine: Engine, submissions: Sequence[Submission], task: str, prices: Mapping[str, Any]
) -> list[Offer]:
    """What the places offer for one task of a pipeline; outputs of tasks do not go everywhere."""
    from trainway.engine.run.tasks import why_not_there  # noqa: PLC0415 - it loads the compiler

    asked, refused = [], []
    for order, submission in enumerate(submissions):
        tasks = elements(submission) if submission.pipeline else []
        named = [each for each in tasks if each.labels.get(TASK) == task]
        if not named:
            raise UsageError(f"there is no task {task}", field="task")
        why = why_not_there(tasks, task)
        if why:
            place = submission.backend
            refused.append(Offer(place, Fit.NEVER, why, order, price_of(prices, place)))
        else:
            asked += named
    return [*await offers(engine, asked, prices), *refused]


def offer_view(offer: Offer) -> Json:
    """An offer as the API shows it."""
    return {
        "place": offer.place,
        "fit": offer.fit,
        "reason": offer.reason,
        "price": offer.price,
        "ahead": offer.ahead,
    }
