"""What the streams carry: a job's events, its changes and its logs, each as server-sent events."""

import json
from collections.abc import AsyncIterator
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Final

from trainway.backends.base import LogLine, LogQuery
from trainway.engine.metrics.reading import MetricReading
from trainway.engine.reading import Reading
from trainway.engine.view import event_view
from trainway.server.sse import END, ServerEvent

_LONG: Final = 1_000
_PLAIN: Final = bytes(byte for byte in range(32, 127) if byte not in b'"\\')
"""What stands for itself in JSON."""


async def event_chunks(reading: Reading, ref: str, after: int) -> AsyncIterator[bytes]:
    """Events after that number, until the job's end."""
    async for event in reading.event_stream(ref, after):
        yield ServerEvent("event", event_view(event), str(event.seq)).encode()
    yield END.encode()


async def metric_chunks(
    metrics: MetricReading, ref: str, after: int, *, system: bool = False
) -> AsyncIterator[bytes]:
    """Points of metrics, or of what the job used, after that report, until the job's end."""
    async for seq, points in metrics.stream(ref, after, system=system):
        yield ServerEvent("points", points, str(seq)).encode()
    yield END.encode()


async def job_chunks(reading: Reading, ref: str) -> AsyncIterator[bytes]:
    """The job after each change, until its end."""
    async for view in reading.watch(ref):
        yield ServerEvent("job", view).encode()


async def log_chunks(reading: Reading, ref: str, query: LogQuery) -> AsyncIterator[bytes]:
    """Log lines, several at a time."""
    async for lines in reading.logs(ref, query):
        yield "".join([log_event(line) for line in lines]).encode("ascii")
    yield END.encode()


def log_event(line: LogLine) -> str:
    """One line as an event. There may be millions, so that only the text itself is encoded anew."""
    text = _json(line.text)
    source = _source(line.role, line.job, line.rank, line.container, line.attempt, line.stream)
    part = ', "partial": true' if line.is_part else ""
    data = f'{{"time": "{line.time}", {source}, "text": {text}{part}}}'
    return f"id: {line.cursor}\nevent: log\ndata: {data}\n\n"


def _json(text: bytes) -> str:
    """A text as JSON; nothing has to be looked for in a long one that is plain."""
    if len(text) > _LONG and not text.translate(None, _PLAIN):
        return f'"{text.decode("ascii")}"'
    return encode_basestring_ascii(text.decode("utf-8", "backslashreplace"))


@lru_cache
def _source(role: str, job: int, rank: int, container: str, attempt: int, stream: str) -> str:
    """Where a line comes from, as the inside of a JSON object."""
    source = {
        "role": role,
        "job": job,
        "rank": rank,
        "container": container,
        "attempt": attempt,
        "stream": stream,
    }
    return json.dumps(source)[1:-1]
