"""The value that the function of a job returned, wherever the job ran."""

import asyncio
from pathlib import Path
from typing import Any, Final

from pydantic import Field
from starlette.responses import Response

from trainway.backends import job_file
from trainway.backends.capabilities import keeping_output
from trainway.backends.job_room import room_of
from trainway.backends.job_threads import job_threads
from trainway.backends.logs.results import LARGEST, RESULT
from trainway.errors import NotFoundError, UnavailableError
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service

_PATIENCE_S: Final = 60.0
"""How long a disk that does not answer is waited for."""


class JobSize(Shown):
    """What a job takes."""

    bytes: int = Field(description="of its directory on the machine of the server")


class FunctionValue(Shown):
    """A value as text."""

    encoding: str = Field(
        description="`json`, `tagged`: JSON with objects for tuples and such, `pickle` in base64, "
        "`none`: it cannot be sent, `large`: it may not"
    )
    type: str = Field("", description="the type of a value that is not here")
    value: Any = Field(description="the value, or why it is not here")


def add_result_routes(api: Api, service: Service) -> None:
    """The route below /jobs that gives the value."""
    engine = service.engine

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/size", tags=["jobs"], response_model=JobSize)
    async def size(ref: str) -> Response:
        """Show how much room the files of a job take on the machine of the server."""
        record = await engine.reading.record(ref)
        folder = "" if record.is_expired else str(record.handle_data.get("directory") or "")
        try:
            async with asyncio.timeout(_PATIENCE_S):
                total = await job_threads.run(room_of, Path(folder)) if folder else 0
        except TimeoutError:
            raise UnavailableError(f"the disk of {folder} does not answer") from None
        return JsonAnswer({"bytes": total})

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/result", tags=["jobs"], response_model=FunctionValue)
    async def result(ref: str) -> Response:
        """Show what the function of a job returned on its first rank."""
        record = await engine.reading.record(ref)
        backend = engine.registry.of(record.backend, record.handle_data)
        output = keeping_output(backend).output(record.handle_data)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                text = await job_threads.run(_read, output)
        except FileNotFoundError:
            raise NotFoundError(f"{record.name} did not leave the value of a function") from None
        except job_file.RefusedFileError as error:
            raise NotFoundError(
                f"{record.name} did not leave the value of a function: {error.filename} is "
                f"there, but {error.why}"
            ) from None
        except TimeoutError:
            raise UnavailableError(
                f"the value of {record.name} cannot be read: the disk of {output} does not answer"
            ) from None
        return Response(text, media_type="application/json")


def _read(output: Path) -> bytes:
    return job_file.read(output.parent, output / RESULT, LARGEST)
