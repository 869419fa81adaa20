"""Where else a job could be: what other places offer for it, and whether it can move there."""

import asyncio
from typing import Final

from pydantic import Field
from starlette.responses import Response

from trainway.backends import configuration
from trainway.engine.jobs import Engine
from trainway.engine.placement.offer import Fit, Offer, Prefer, ranked
from trainway.engine.placement.survey import offers
from trainway.engine.record import JobRecord
from trainway.errors import TrainwayError
from trainway.families.table import family_of
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.routes.placements import OfferInfo, offer_view
from trainway.server.service import Service

_MOST: Final = 100
"""How many places are asked at once."""


class JobOffer(OfferInfo):
    """What one place says to a job that is elsewhere."""

    obstacle: str = Field(
        description="why `POST /jobs/{job}/move` cannot take it there; empty: it can"
    )


class JobPlacement(Shown):
    """The other places, the best first."""

    offers: list[JobOffer]


def add_job_placement_routes(api: Api, service: Service) -> None:
    """The route that asks for a job that is there already."""
    engine = service.engine

    @api.post(f"{BASE_PATH}/jobs/{{ref}}/placement", tags=["jobs"], response_model=JobPlacement)
    async def job_placement(ref: str) -> Response:
        """Ask every other place what it offers for a job. Nothing is changed."""
        record = await engine.reading.record(ref)
        names = await asyncio.to_thread(engine.places)
        others = [name for name in names if name != record.backend][:_MOST]
        submissions = [await engine.moves.submission(record.id, name, ()) for name in others]
        settings = await asyncio.to_thread(configuration.read, service.web.folder)
        found = await offers(engine, submissions, settings.get("prices") or {})
        views = [
            {**offer_view(offer), "obstacle": _obstacle(engine, record, offer)}
            for offer in ranked(found, Prefer.COST)
        ]
        return JsonAnswer({"offers": views})


def _obstacle(engine: Engine, record: JobRecord, offer: Offer) -> str:
    """Why a job cannot be moved there from here."""
    if record.is_over:
        return f"{record.name} has ended"
    try:
        engine.moves.check_both(record.id, offer.place)
    except TrainwayError as error:
        return error.message
    if offer.fit is Fit.NEVER:
        return offer.reason
    if family_of(offer.place).travels and not family_of(record.backend).travels:
        return f"its files are at {record.backend}, from where trainway jobs move brings them along"
    return ""
