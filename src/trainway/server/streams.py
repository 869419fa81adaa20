"""What the streams carry: a job's events, its changes and its logs, each as server-sent events."""

from collections.abc import AsyncIterator

from trainway.backends.base import LogLine, LogQuery
from trainway.engine.reading import Reading
from trainway.engine.view import event_view
from trainway.server.sse import END, ServerEvent


async def event_chunks(reading: Reading, ref: str, after: int) -> AsyncIterator[bytes]:
    """Events after that number, until the job's end."""
    async for event in reading.event_stream(ref, after):
        yield ServerEvent("event", event_view(event), str(event.seq)).encode()
    yield END.encode()


async def job_chunks(reading: Reading, ref: str) -> AsyncIterator[bytes]:
    """The job after each change, until its end."""
    async for view in reading.watch(ref):
        yield ServerEvent("job", view).encode()


async def log_chunks(reading: Reading, ref: str, query: LogQuery) -> AsyncIterator[bytes]:
    """Log lines, several at a time."""
    async for lines in reading.logs(ref, query):
        yield b"".join([_log_event(line).encode() for line in lines])
    yield END.encode()


def _log_event(line: LogLine) -> ServerEvent:
    data = {
        "time": line.time,
        "role": line.role,
        "job": line.job,
        "rank": line.rank,
        "container": line.container,
        "attempt": line.attempt,
        "stream": line.stream,
        "text": line.text.decode("utf-8", "backslashreplace"),
    }
    return ServerEvent("log", data, line.cursor)
