"""How a person gets to a pod on this machine: to its processes, unless it is a container. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from trainway.backends.agents.attachment import attachment as process_attachment
from trainway.errors import ConflictError
from trainway.json_types import Json


def attachment(
    handle: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    role: str | None = None,
    rank: int | None = None,
    *,
    is_contained: bool = False,
) -> Json:
    """The pod of that role and rank, or the first one, and its processes by container."""
    if is_contained:
        raise ConflictError(
            "its containers run in podman or docker",
            hint="use podman exec or docker exec",
        )
    return process_attachment(handle, records, role, rank)
