"""The data caches of this server."""

import asyncio

from pydantic import Field
from starlette.responses import Response

from trainway.engine.job_filter import Filter, LabelTerm
from trainway.engine.jobs import Engine
from trainway.jobset.labels import DATA_CACHE
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.data_caches import cache_spec, cache_view, figures_of, is_asked
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_LOOKED_AT = 200


class DataCache(Shown):
    """A table that is served to jobs."""

    name: str
    table: str
    workers: int
    state: str = Field(description="`Ready`, `Loading`, `Starting`, or the phase of its job")
    message: str
    backend: str
    address: str = Field(description="where jobs read it; empty: `trainway cache ls` finds it")
    has_token: bool = Field(description="whether readers need TRAINWAY_CACHE_TOKEN")
    job: str = Field(description="the id of the job that it is")
    created: str
    files: int | None = Field(description="null, as the next ones: its head was not asked")
    bytes: int | None = Field(description="of the files of the table")
    rows: int | None
    readers: int | None = Field(description="who asked for rows in the last five minutes")


class DataCacheList(Shown):
    """All caches, by name."""

    items: list[DataCache]


def add_cache_routes(api: Api, engine: Engine) -> None:
    """The route of the caches."""

    @api.get(f"{BASE_PATH}/caches", tags=["storage"], response_model=DataCacheList)
    async def caches() -> Response:
        """List the data caches by name, the newest of each, with what their heads say."""
        wanted = Filter(labels=[LabelTerm(DATA_CACHE, None)])
        page = await engine.reading.page(_LOOKED_AT, wanted)
        found: dict[str, Json] = {}
        for job in page.items:
            spec = cache_spec(job)
            if spec is not None:
                found.setdefault(spec.name, job)
        shown = await asyncio.gather(*(_shown(found[name]) for name in sorted(found)))
        return JsonAnswer({"items": [each for each in shown if each is not None]})


async def _shown(job: Json) -> Json | None:
    spec = cache_spec(job)
    if spec is None:
        return None
    told = await asyncio.to_thread(figures_of, spec) if is_asked(job, spec) else None
    return cache_view(job, spec, told)
