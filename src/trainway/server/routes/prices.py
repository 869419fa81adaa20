"""What clouds offer, and for how much: the catalog, for the page of prices."""

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import Field
from starlette.responses import Response

from trainway.catalog.sources import open_catalog
from trainway.catalog.store import Catalog
from trainway.json_types import Json
from trainway.optimizer.offers import accelerator_offers, accelerators
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service

T = TypeVar("T")
_MOST: Final = 500
"""How many offers are told at a time."""


class AcceleratorInfo(Shown):
    """An accelerator that some cloud offers."""

    name: str
    counts: list[float] = Field(description="how many of it machines have")


class AcceleratorList(Shown):
    """All accelerators of the catalog, by name."""

    items: list[AcceleratorInfo]


class PriceInfo(Shown):
    """A machine type with an accelerator, somewhere, for a price."""

    accelerator: str
    count: float
    cloud: str
    instance_type: str
    vcpus: float | None
    memory_gib: float | None
    price: float | None = Field(description="dollars an hour; null: not on demand")
    spot_price: float | None
    region: str
    zone: str | None


class PriceList(Shown):
    """The offers of an accelerator, cheapest first."""

    items: list[PriceInfo]
    total: int = Field(description=f"how many there are; at most {_MOST} are told")


def add_price_routes(api: Api, service: Service) -> None:
    """The routes of prices."""
    home = service.web.folder

    @api.get(f"{BASE_PATH}/prices", tags=["server"], response_model=AcceleratorList)
    async def all_accelerators(cloud: Annotated[str, Query(max_length=63)] = "") -> Response:
        """List the accelerators of the catalog, and how many of each machines have."""
        found = await _asked(home, lambda catalog: accelerators(catalog, cloud or None))
        items = [{"name": name, "counts": counts} for name, counts in found.items()]
        return JsonAnswer({"items": items})

    @api.get(f"{BASE_PATH}/prices/{{accelerator}}", tags=["server"], response_model=PriceList)
    async def offers(
        accelerator: str,
        count: Annotated[float, Query(ge=0, le=1e6)] = 0,
        cloud: Annotated[str, Query(max_length=63)] = "",
        all_regions: bool = False,
    ) -> Response:
        """List what there is of an accelerator: the best of each machine type, or all."""
        found = await _asked(
            home,
            lambda catalog: accelerator_offers(
                catalog, accelerator, count or None, cloud or None, all_regions=all_regions
            ),
        )
        items = [_view(offer.to_dict()) for offer in found[:_MOST]]
        return JsonAnswer({"items": items, "total": len(found)})


async def _asked(home: Path, ask: Callable[[Catalog], T]) -> T:
    """Open the catalog for one question, beside everything else: it may have to be compiled."""

    def answer() -> T:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        with closing(open_catalog(home, Path(base) / "trainway", os.environ)) as catalog:
            return ask(catalog)

    return await asyncio.to_thread(answer)


def _view(offer: Json) -> Json:
    """An offer with the names of the API."""
    names = {"instance_type": "instanceType", "memory_gib": "memoryGib", "spot_price": "spotPrice"}
    return {names.get(name, name): value for name, value in offer.items()}
