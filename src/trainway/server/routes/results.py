"""The value that the function of a job returned, wherever the job ran."""

import asyncio
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response
from pydantic import BaseModel, Field

from trainway.backends.logs.results import RESULT
from trainway.errors import NotFoundError
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service


class FunctionValue(BaseModel):
    """A value as text."""

    encoding: str = Field(
        description="`json`, `tagged`: JSON with objects for tuples and such, `pickle` in base64, "
        "`none`: it cannot be sent, `large`: it may not"
    )
    type: str = Field("", description="the type of a value that is not here")
    value: Any = Field(description="the value, or why it is not here")


def add_result_routes(app: FastAPI, service: Service) -> None:
    """The route below /jobs that gives the value."""
    engine = service.engine

    @app.get(f"{BASE_PATH}/jobs/{{ref}}/result", tags=["jobs"], response_model=FunctionValue)
    async def result(ref: str) -> Response:
        """Show what the function of a job returned on its first rank."""
        record = await engine.reading.record(ref)
        backend = engine.registry.of(record.backend, record.handle_data)
        path = backend.output(record.handle_data) / RESULT
        text = await asyncio.to_thread(_read, path)
        if text is None:
            raise NotFoundError(f"{record.name} has left no value of a function")
        return Response(text, media_type="application/json")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
