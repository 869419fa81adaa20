"""What a job with checkpoints in a bucket begins with: before its place hears of it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from trainway.backends.base import Backend, Handle
from trainway.backends.capabilities import KeepsOutput
from trainway.engine.record import Event, JobRecord
from trainway.engine.stored_job import Change
from trainway.errors import TrainwayError, UnavailableError
from trainway.jobset.labels import CHECKPOINT
from trainway.json_types import Json


class Beginning(Protocol):
    """A job that is about to be given to its backend, as `LiveJob` is."""

    backend: Backend
    record: JobRecord

    def event(self, reason: str, message: str, kind: str = "Normal") -> Event:
        """Something that happens to the job now."""
        ...

    async def observe(self, make: Callable[[], Change | None], /) -> object:
        """Write a change."""
        ...


async def restored(live: Beginning, handle: Handle, objects: Sequence[Json]) -> None:
    """Fill the output of a job that names a bucket, once, and say so."""
    if not any(CHECKPOINT in _annotations(obj) for obj in objects):
        return
    from trainway.engine.checkpoint.annotation import location_of  # noqa: PLC0415 - seldom needed
    from trainway.engine.checkpoint.mirror import Mirror  # noqa: PLC0415 - as above

    location, backend = location_of(objects, live.record), live.backend
    if location is None or not isinstance(backend, KeepsOutput):
        return
    if handle.get("outputs") == "keep":
        raise TrainwayError(
            "its place keeps the output (outputs: keep), so the server cannot mirror it",
            hint="leave --checkpoint out, or let the place copy outputs",
        )
    mirror = Mirror(backend.output(handle), location, str(handle["id"]))
    try:
        count = await asyncio.to_thread(mirror.restore)
    except asyncio.CancelledError:
        mirror.stop()
        raise
    except UnavailableError:
        raise
    except TrainwayError as error:
        raise TrainwayError(f"its checkpoint {location}: {error.sentence}") from None
    except OSError as error:
        raise UnavailableError(f"its checkpoint {location}: {error.strerror}") from None
    if count:
        files = "1 file" if count == 1 else f"{count} files"
        event = live.event("CheckpointRestored", f"it begins from {location}: {files}")
        await live.observe(lambda: Change({}, [event]))


def _annotations(obj: Json) -> Json:
    metadata = obj.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}
