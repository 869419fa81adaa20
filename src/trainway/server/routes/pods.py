"""Where a pod of a job is, for commands that connect with it."""

from typing import Annotated

from starlette.responses import Response

from trainway.backends import pod_access
from trainway.backends.pod_access import Verb
from trainway.errors import ConflictError
from trainway.server import models
from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service


def add_pod_routes(api: Api, service: Service) -> None:
    """The route below /jobs that tells where a pod is."""
    engine = service.engine

    @api.get(f"{BASE_PATH}/jobs/{{ref}}/pod", tags=["jobs"], response_model=models.PodPlace)
    async def pod(
        ref: str,
        role: str | None = None,
        rank: Annotated[int | None, Query(ge=0)] = None,
        verb: Verb = Verb.EXEC,
    ) -> Response:
        """The pod of that role and rank, or the first one, and how it is reached for a verb."""
        record = await engine.reading.record(ref)
        backend = engine.registry.of(record.backend, record.handle_data)
        if record.is_over:
            raise ConflictError(
                f"{record.name} has ended", hint="trainway jobs logs shows its logs"
            )
        handle = record.handle_data
        if not handle:
            raise ConflictError(f"{record.name} has not started yet")
        return JsonAnswer(await pod_access.place(backend, verb, handle, role, rank))
