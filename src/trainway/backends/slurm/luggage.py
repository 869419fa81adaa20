"""What goes to a login node with a job: large values, and what the job has from another place.

Large values and the journal go by their content, output files by size and time, so that whoever is
asked twice gets nothing twice. All of it is there before Slurm hears of the job.
"""

import hashlib
from binascii import b2a_base64
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from trainway.agent.transfer.delivery import Parcel, blob_frames
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.slurm.job_copy import HOST, JobCopy
from trainway.json_types import Json


class Request(Protocol):
    """Asks the relay, and waits for its answer."""

    def __call__(self, op: str, **fields: Any) -> Awaitable[Json]:
        """The answer."""
        ...


class Luggage:
    """Sends it over the connection to a relay."""

    def __init__(self, request: Request, send: Callable[[Json], Awaitable[None]]) -> None:
        self._request = request
        self._send = send

    async def deliver(self, blobs: Mapping[str, bytes]) -> None:
        """Send large values that the cluster does not have."""
        if not blobs:
            return
        missing = (await self._request("have", blobs=sorted(blobs)))["missing"]
        for name in missing:
            *pieces, last = blob_frames(name, blobs[name])
            for piece in pieces:
                await self._send(dict(piece))
            await self._request(**last)

    async def bring(self, copy: JobCopy) -> Json:
        """Send what a job brings from another place; what its submission says of that.

        Nothing, where it brings nothing, or Slurm may have it already, and then with all of it.
        """
        if not copy.comes_from_elsewhere and not copy.begins_with_output:
            return {}
        there = await self._request("arrive", id=copy.id)
        if there["begun"]:
            return {}
        for path, (size, changed) in there["outputs"].items():
            copy.outputs.note_put(HOST, path, (size, changed))
        for path in copy.outputs.missing_on(HOST):
            await self._put(copy, path)
        if not copy.comes_from_elsewhere:
            return {}
        journal = copy.history()
        digest = hashlib.sha256(journal).hexdigest()
        await self.deliver({digest: journal})
        return {"history": digest}

    async def _put(self, copy: JobCopy, path: str) -> None:
        for fields, data in copy.outputs.pieces(HOST, path):
            frame = {"id": copy.id, "data": b2a_base64(data, newline=False).decode(), **fields}
            if fields["last"]:
                await self._request("put", **frame)
            else:
                await self._send({"op": "put", **frame})


def parcel_of(directory: Path) -> Parcel:
    """The plan of a job, with its large values apart."""
    return Parcel(JobDir(directory).read_plan())
