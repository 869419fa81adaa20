"""The data caches of this server."""

import asyncio
from contextlib import suppress

from pydantic import Field
from starlette.responses import Response

from trainway.backends.base import LogQuery
from trainway.data.flight.contract import HEAD
from trainway.data.flight.head_log import told_in_log
from trainway.engine.job_filter import Filter, LabelTerm
from trainway.engine.jobs import Engine
from trainway.errors import TrainwayError
from trainway.jobset.labels import DATA_CACHE
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.data_caches import cache_spec, cache_view, figures_of, is_asked, is_told
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH

_LOOKED_AT = 200
_LINES = 1000
_READ_S = 5.0


class DataCache(Shown):
    """A table that is served to jobs."""

    name: str
    table: str
    workers: int
    state: str = Field(description="`Ready`, `Loading`, `Starting`, or the phase of its job")
    message: str
    backend: str
    address: str = Field(description="where jobs read it; empty: its head has not said so yet")
    has_token: bool = Field(description="whether readers need TRAINWAY_CACHE_TOKEN")
    job: str = Field(description="the id of the job that it is")
    created: str
    files: int | None = Field(description="null, as the next ones: it is not known yet")
    bytes: int | None = Field(description="of the files of the table")
    rows: int | None
    readers: int | None = Field(
        description="who asked for rows in the last five minutes; null of a cache elsewhere"
    )


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
        shown = await asyncio.gather(*(_shown(engine, found[name]) for name in sorted(found)))
        return JsonAnswer({"items": [each for each in shown if each is not None]})


async def _shown(engine: Engine, job: Json) -> Json | None:
    spec = cache_spec(job)
    if spec is None:
        return None
    told = None
    if is_asked(job, spec):
        told = await figures_of(spec)
    elif is_told(job, spec):
        told = told_in_log(await _head_log(engine, job["metadata"]["id"]))
    return cache_view(job, spec, told)


async def _head_log(engine: Engine, ref: str) -> list[str]:
    """The end of what the head has said; nothing if it cannot be read now."""
    lines: list[str] = []
    with suppress(TrainwayError, TimeoutError):
        async with asyncio.timeout(_READ_S):
            async for some in engine.reading.logs(ref, LogQuery(role=HEAD, tail=_LINES)):
                lines += [line.text.decode(errors="replace").rstrip("\r\n") for line in some]
    return lines
