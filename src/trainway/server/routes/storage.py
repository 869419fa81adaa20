"""Volumes that people have named, and buckets that were made for jobs."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH


class VolumeRequest(BaseModel):
    """A volume, as `trainway volumes apply` reads it from a file."""

    model_config = ConfigDict(extra="allow")  # it is checked field by field

    name: str = Field(max_length=253)
    type: str = Field(max_length=63)
    infra: str | None = Field(None, max_length=253)
    size: Any = None
    use_existing: bool | None = None
    labels: Json | None = None
    config: Json | None = None


class Volume(Shown):
    """A named volume."""

    name: str
    type: str
    infra: str = Field(description="where it is")
    size: str
    host_path: str = Field(description="the folder that it is; empty: it is a claim")
    access_mode: str
    made: bool = Field(description="whether it is a claim that was made for it, and goes with it")
    created: str
    used_by: list[str] = Field(description="the names of jobs that have not ended")


class VolumeList(Shown):
    """All volumes, by name."""

    items: list[Volume]


class Bucket(Shown):
    """A bucket that a task named."""

    name: str
    uri: str
    store: str
    job: str = Field(description="the id of the job that named it last")
    made: bool = Field(description="whether it was made for a job; else it was there before")
    persistent: bool
    state: str
    updated: str


class BucketList(Shown):
    """All buckets that tasks have named."""

    items: list[Bucket]


class BucketRequest(BaseModel):
    """Which bucket is meant."""

    model_config = ConfigDict(extra="forbid")

    uri: str = Field(max_length=253)


def add_storage_routes(api: Api, engine: Engine) -> None:
    """The routes of volumes and buckets."""
    book = engine.storage
    volume = f"{BASE_PATH}/volumes/{{name}}"

    @api.get(f"{BASE_PATH}/volumes", tags=["storage"], response_model=VolumeList)
    async def volumes() -> Response:
        """List all volumes, by name, with the jobs that use them."""
        return JsonAnswer({"items": book.volumes()})

    @api.put(volume, tags=["storage"], response_model=Volume)
    async def apply_volume(name: str, body: VolumeRequest) -> Response:
        """Keep a volume, new or in place of the one of that name."""
        data = body.model_dump(exclude_none=True)
        if body.name != name:
            raise UsageError("the name is not that of the path", field="name")
        return JsonAnswer(await book.apply(data))

    @api.delete(volume, tags=["storage"], response_model=Volume)
    async def delete_volume(name: str) -> Response:
        """Forget a volume that no job uses; a claim that was made for it is removed with it."""
        return JsonAnswer(await book.delete_volume(name))

    @api.get(f"{BASE_PATH}/storage", tags=["storage"], response_model=BucketList)
    async def buckets() -> Response:
        """List the buckets that tasks have named, and that were made if there were none."""
        return JsonAnswer({"items": await book.buckets()})

    @api.post(f"{BASE_PATH}/storage/forget", tags=["storage"], response_model=Bucket)
    async def forget(body: BucketRequest) -> Response:
        """Forget a bucket; whoever asks has removed it."""
        return JsonAnswer(await book.forget_bucket(body.uri))
