"""Answers that a browser saves as a file, and never shows: what is in them comes from jobs."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import IO, Final
from urllib.parse import quote

from starlette.responses import StreamingResponse

from trainway.backends.job_threads import job_threads

_CHUNK: Final = 1 << 20
_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]")


def download(
    pieces: AsyncIterator[bytes], name: str, media_type: str = "application/octet-stream"
) -> StreamingResponse:
    """The pieces as a file of that name."""
    return StreamingResponse(pieces, media_type=media_type, headers=headers(name))


def headers(name: str) -> dict[str, str]:
    """What makes a browser save it, whatever it is and however it is called."""
    plain = _PLAIN.sub("_", name) or "file"
    exact = quote(name.encode("utf-8", "replace"), safe="")
    return {
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


async def pieces_of(source: Iterator[bytes]) -> AsyncIterator[bytes]:
    """What an iterator gives that reads from a disk."""
    while piece := await job_threads.run(next, source, b""):
        yield piece


def contents(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The first bytes of an open file, which is closed in the end."""
    with file:
        left = size
        while left > 0 and (data := file.read(min(_CHUNK, left))):
            left -= len(data)
            yield data
