"""Files that are sent ahead of the jobs that need them."""

import asyncio
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from trainway.backends.file_store import FileStore
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.reception import Reception

_PIECE: Final = 1 << 20
"""How many bytes are collected before they are written."""
_MOST: Final = 1_000_000


class FileNames(BaseModel):
    """Files, by their content."""

    model_config = ConfigDict(extra="forbid")

    files: list[str] = Field(max_length=_MOST, description="their SHA-256, in hexadecimal digits")


class MissingFiles(Shown):
    """Which of them are to be sent."""

    missing: list[str]


class ReceivedFiles(Shown):
    """How many came."""

    received: int


def add_file_routes(api: Api, store: FileStore) -> None:
    """The routes below /files."""

    @api.post(f"{BASE_PATH}/files/missing", tags=["files"], response_model=MissingFiles)
    async def missing(body: FileNames) -> Response:
        """Which files the server does not have."""
        return JsonAnswer({"missing": await asyncio.to_thread(store.missing, body.files)})

    @api.post(f"{BASE_PATH}/files", tags=["files"], response_model=ReceivedFiles)
    async def receive(request: Request) -> Response:
        """Take files: for each a line with its SHA-256 and its size, then its bytes."""
        reception = Reception(store)
        collected = bytearray()
        try:
            async for piece in request.stream():
                collected += piece
                if len(collected) >= _PIECE:
                    await asyncio.to_thread(reception.feed, bytes(collected))
                    collected.clear()
            await asyncio.to_thread(reception.feed, bytes(collected))
            reception.end()
        except ClientDisconnect:
            await asyncio.to_thread(reception.feed, bytes(collected))
            return Response(status_code=400)  # nobody reads it
        finally:
            reception.close()
        return JsonAnswer({"received": reception.count})
