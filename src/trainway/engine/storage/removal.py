"""Removes the buckets that were made for jobs and are not to stay, when no job uses them any more.

It looks whenever a job has ended, and when the server starts, at what is stored by then: a server
that is killed in between removes the rest later. Right before each removal it asks again whether
the bucket is used, and until the end of it no job is taken in that names it. The credentials are
those that the job had. They are given to a process of its own, so that nothing of them stays here.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from trainway.engine.background import Background
from trainway.engine.reading import Reading
from trainway.engine.record import JobRecord
from trainway.engine.storage.book import BUCKET_PREFIX, StorageBook
from trainway.engine.storage.record import BucketRecord
from trainway.errors import NotFoundError

log = logging.getLogger(__name__)

Remove = Callable[[str, Mapping[str, str]], Awaitable[str]]
"""Removes the bucket of a URI with these variables; why not, or empty."""
_FAILED: Final = "DELETE_FAILED"
_LIMIT_S: Final = 3600.0
_PAUSE_S: Final = 60.0
"""After so long it is looked again at what was about to be used."""
_OF_OTHERS: Final = ("AWS_", "R2_", "GOOGLE_", "AZURE_")
"""Variables of the server that are not for the buckets of a job."""


class BucketRemoval:
    """Observes jobs, as `Ledger.observers` do."""

    def __init__(self, book: StorageBook, reading: Reading, remove: Remove | None = None) -> None:
        self._book = book
        self._reading = reading
        self._remove = remove or _removed
        self._pen = asyncio.Lock()
        self._is_due = False
        """Whether it will look again by itself."""
        self.background = Background()

    def created(self, record: JobRecord) -> None:
        """It uses its buckets."""

    def gone(self, record: JobRecord) -> None:
        """What was forgotten uses nothing any more."""
        self._look_after(record)

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """Look if a job with buckets has ended."""
        if after.is_over and not before.is_over:
            self._look_after(after)

    def _look_after(self, record: JobRecord) -> None:
        if any(label.startswith(f"{BUCKET_PREFIX}/") for label in record.label_map):
            self.background.spawn(self.look())

    async def look(self) -> None:
        """Remove all that nobody uses."""
        async with self._pen:
            for record in await self._book.left_over():
                async with self._book.removing(record) as is_left:
                    if is_left:
                        await self._end(record)
                if not is_left and not self._is_due:
                    self._is_due = True
                    self.background.spawn(self._look_later())

    async def _look_later(self) -> None:
        await asyncio.sleep(_PAUSE_S)
        self._is_due = False
        await self.look()

    async def _end(self, record: BucketRecord) -> None:
        from trainway.engine.storage.named_buckets import keys_of  # noqa: PLC0415 - seldom needed

        try:
            _, objects = await self._reading.whole(record.job)
        except NotFoundError:
            why = "its job was deleted, and with it the credentials"
        else:
            why = await self._remove(record.uri, keys_of(objects))
        if why:
            log.warning("%s was not removed: %s", record.uri, why)
            failed = replace(record, state=f"{_FAILED}: {why}")
            await self._book.settle_bucket(record, failed)
            return
        await self._book.settle_bucket(record, None)


async def _removed(uri: str, variables: Mapping[str, str]) -> str:
    own = {name: text for name, text in os.environ.items() if not name.startswith(_OF_OTHERS)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "trainway.data.bucket_removal", uri),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**own, **variables},
    )
    try:
        async with asyncio.timeout(_LIMIT_S):
            _, said = await process.communicate()
    except (TimeoutError, asyncio.CancelledError) as error:
        process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            return "it took too long"
        raise
    lines = said.decode(errors="replace").strip().splitlines()
    return "" if process.returncode == 0 else (lines or ["it failed"])[-1]
