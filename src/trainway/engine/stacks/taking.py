"""Takes the Python stacks of a job that runs, and keeps the last ones of each attempt.

They are kept as files in the directory of the job, so they go when it goes.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from trainway.backends import job_file, pod_access, pod_program
from trainway.backends.base import Backend
from trainway.backends.job_file import RefusedFileError
from trainway.backends.job_threads import job_threads
from trainway.backends.registry import Registry
from trainway.engine.live import LiveJob
from trainway.engine.phases import LIVE
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.stacks.answer import rank_view, unreached
from trainway.engine.times import time_text
from trainway.errors import ConflictError, NotFoundError, UnavailableError
from trainway.json_types import Json

FOLDER: Final = "stacks"
ASKED: Final = "asked"
_AT_ONCE: Final = 8
_MOST_PODS: Final = 256
_LARGEST: Final = 64 << 20
_FILE: Final = re.compile(r"attempt-(\d{1,9})\.json")


class Stacks:
    """The stacks of all jobs."""

    def __init__(
        self,
        reading: Reading,
        registry: Registry,
        clock: Callable[[], datetime],
        live: Mapping[str, LiveJob],
    ) -> None:
        """`live` are the jobs that are not over."""
        self.live = live
        self._reading = reading
        self._registry = registry
        self._clock = clock

    async def take(self, ref: str, rank: int | None = None) -> Json:
        """Ask all pods of a job, or those of a rank, where they are; all are kept."""
        record = await self._reading.record(ref)
        if record.is_over:
            raise ConflictError(
                f"{record.name} has ended",
                hint="trainway jobs stacks NAME --attempt 1 shows stacks that were kept",
            )
        if record.phase not in LIVE or not record.handle_data:
            raise ConflictError(f"{record.name} does not run now: it is {record.phase}")
        backend = self._registry.of(record.backend, record.handle_data)
        return await self.take_from(record, backend, rank)

    async def take_from(
        self, record: JobRecord, backend: Backend, rank: int | None = None, cause: str = ASKED
    ) -> Json:
        """The stacks of a job on its backend."""
        places = await pod_access.pod_places(backend, record.handle_data)
        wanted = [place for place in places if rank in (None, place["rank"])]
        if not wanted:
            of_rank = "" if rank is None else f" of rank {rank}"
            raise ConflictError(
                f"no pod{of_rank} of {record.name} is running",
                hint="see the state of its pods with trainway jobs show",
            )
        limit = asyncio.Semaphore(_AT_ONCE)

        async def one(place: Json) -> Json:
            async with limit:
                try:
                    return rank_view(place, await pod_program.ask(place))
                except UnavailableError as error:
                    return unreached(place, error.message)
                except OSError as error:
                    return unreached(place, error.strerror or str(error))

        views = await asyncio.gather(*map(one, wanted[:_MOST_PODS]))
        found = {
            "attempt": record.attempt,
            "time": time_text(self._clock()),
            "cause": cause,
            "ranks": views,
            "omitted": len(wanted) - len(views),
        }
        if rank is None:
            try:
                await self._keep(record, found)
            except OSError as error:
                found["problem"] = f"the stacks could not be kept: {error.strerror or error}"
        return found

    async def objects(self, job_id: str) -> list[Json]:
        """What was submitted for a job."""
        return await self._reading.objects(job_id)

    async def kept(self, ref: str, attempt: int | None = None) -> Json:
        """The last stacks that were taken in an attempt; without one, in the last that has any."""
        record = await self._reading.record(ref)
        root = _root(record)
        attempts = await self._kept_of(root)
        wanted = (attempts[-1] if attempts else None) if attempt is None else attempt
        if root is None or wanted not in attempts:
            which = "" if attempt is None else f" for attempt {attempt + 1}"
            others = ", ".join(str(number + 1) for number in attempts)
            raise NotFoundError(
                f"no stacks of {record.name} are kept{which}",
                hint=f"there are some of attempt {others}"
                if others
                else "trainway jobs stacks NAME takes them while the job runs",
            )
        try:
            text = await job_threads.run(job_file.read, root, _path(root, wanted), _LARGEST)
            found: Json = json.loads(text)
        except (OSError, ValueError, RecursionError) as error:
            why = error.why if isinstance(error, RefusedFileError) else "it is damaged"
            raise NotFoundError(f"the file with the stacks cannot be read: {why}") from None
        return found

    async def kept_attempts(self, ref: str) -> list[int]:
        """The attempts of which there are stacks."""
        return await self._kept_of(_root(await self._reading.record(ref)))

    async def _kept_of(self, root: Path | None) -> list[int]:
        return sorted(await job_threads.run(_attempts, root)) if root else []

    async def _keep(self, record: JobRecord, found: Json) -> None:
        root = _root(record)
        if root is not None:
            text = json.dumps(found).encode()
            await job_threads.run(job_file.replace, root, _path(root, record.attempt), text)


def _root(record: JobRecord) -> Path | None:
    directory = record.handle_data.get("directory")
    return Path(directory) if directory and not record.is_expired else None


def _path(root: Path, attempt: int) -> Path:
    return root / FOLDER / f"attempt-{attempt}.json"


def _attempts(root: Path) -> list[int]:
    """The attempts of which stacks are kept."""
    try:
        listed = job_file.listing(root, root / FOLDER)
    except OSError:
        return []
    names = (_FILE.fullmatch(name) for name, is_file in listed if is_file)
    return [int(match[1]) for match in names if match]
