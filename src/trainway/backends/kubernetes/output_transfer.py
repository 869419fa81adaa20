"""Brings the output directory of a pod here, and what a job has written elsewhere to its pods."""

import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import orjson

from trainway.agent.transfer import output_stream
from trainway.backends.job_threads import job_threads
from trainway.backends.kubernetes.continuation import INIT, MARK
from trainway.backends.kubernetes.uploads import Uploads
from trainway.backends.kubernetes.variables import OUTPUT
from trainway.errors import UnavailableError
from trainway.kube import channels, requests
from trainway.kube.client import Client
from trainway.kube.errors import ServerUnavailable
from trainway.kube.execution import Outcome, execute, exit_code
from trainway.kube.requests import Execution

_LAST_WORDS: Final = 2000
"""How much is kept of what the program in the pod complains about."""

log = logging.getLogger(__name__)


def command(*words: str) -> tuple[str, ...]:
    """What runs our program in a pod."""
    text = Path(output_stream.__file__).read_text()
    return ("python3", "-I", "-c", text, *words)


class OutputUploads(Uploads):
    """Gives the pods of a job what it has written elsewhere."""

    container = INIT

    def _is_there(self) -> bool:
        """There is always something: the end of the waiting."""
        return True

    async def _deliver(self, pod: str) -> Outcome:
        wanted = Execution(INIT, command("receive", OUTPUT, MARK), stdin=True)
        folder = self._path.parent / "output"
        return await execute(self._client, self._namespace, pod, wanted, _pieces(folder))


async def _pieces(folder: Path) -> AsyncIterator[bytes]:
    stream = output_stream.sent(str(folder), {})
    while piece := await job_threads.run(_next, stream):
        yield piece


def _next(stream: Iterator[bytes]) -> bytes:
    """Some of the stream; nothing at its end."""
    found = bytearray()
    for piece in stream:
        found += piece
        if len(found) >= output_stream.PIECE:
            break
    return bytes(found)


async def fetch(client: Client, namespace: str, pod: str, container: str, folder: Path) -> None:
    """Make a folder the same as the output directory of a pod; what is in it already stays."""
    receiver = await job_threads.run(output_stream.Receiver, str(folder))
    known = await job_threads.run(_versions, folder)
    wanted = Execution(container, command("send", OUTPUT), stdin=True)
    code, said = None, bytearray()
    try:
        async with client.channels(requests.execution(namespace, pod, wanted)) as connected:
            await connected.send(channels.STDIN, json.dumps(known).encode() + b"\n")
            while (received := await connected.receive()) is not None:
                channel, data = received
                if channel == channels.STDOUT:
                    await job_threads.run(receiver.feed, data)
                elif channel == channels.STDERR:
                    said = (said + data)[-_LAST_WORDS:]
                elif channel == channels.ERROR:
                    code = exit_code(orjson.loads(data))
                    break
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(f"the output of pod {pod} cannot be kept: {error}") from error
    finally:
        await job_threads.run(receiver.close)
    if code is None:
        raise ServerUnavailable(f"the connection to pod {pod} ended before its output had come")
    if code or not receiver.is_complete:
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise UnavailableError(f"pod {pod} did not send its output: {last or code}")
    await job_threads.run(receiver.prune)
    if receiver.refused:
        log.warning("%s: left out, because it leads elsewhere: %s", pod, receiver.refused[:10])


def _versions(folder: Path) -> dict[str, list[int]]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            found[str(path.relative_to(folder))] = [status.st_size, status.st_mtime_ns]
    return found


async def release(client: Client, namespace: str, pod: str, container: str) -> None:
    """Tell the keeper of a pod that it is not needed any more."""
    await execute(client, namespace, pod, Execution(container, command("release", OUTPUT)))
