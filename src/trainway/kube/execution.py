"""A command in a container of a pod: its input, what it writes, and how it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from trainway.kube import channels, requests
from trainway.kube.channels import Channels
from trainway.kube.client import Client
from trainway.kube.errors import ServerUnavailable, from_status
from trainway.kube.requests import Execution

_KILLED: Final = 137
Sink = Callable[[int, bytes], None]
"""A function that takes what a command writes: the channel, and the bytes."""


@dataclass
class Outcome:
    """How a command ended, and what it wrote."""

    code: int = 0
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)


async def execute(
    client: Client,
    namespace: str,
    pod: str,
    wanted: Execution,
    given: AsyncIterator[bytes] | None = None,
) -> Outcome:
    """Run a command to its end with that input."""
    outcome = Outcome()

    def keep(channel: int, data: bytes) -> None:
        (outcome.stdout if channel == channels.STDOUT else outcome.stderr).extend(data)

    async with client.channels(requests.execution(namespace, pod, wanted)) as connected:
        outcome.code = await converse(connected, keep, given)
    return outcome


async def converse(
    connected: Channels, sink: Sink, given: AsyncIterator[bytes] | None = None
) -> int:
    """Pass bytes both ways until the command ends; its exit status."""
    feeding = asyncio.create_task(_feed(connected, given)) if given is not None else None
    try:
        while (received := await connected.receive()) is not None:
            channel, data = received
            if channel == channels.ERROR:
                return exit_code(orjson.loads(data))
            sink(channel, data)
    finally:
        if feeding is not None:
            feeding.cancel()
            with suppress(asyncio.CancelledError, ServerUnavailable):
                await feeding
    raise ServerUnavailable(
        "the connection ended before the command did", hint="the command may still be running"
    )


async def _feed(connected: Channels, given: AsyncIterator[bytes]) -> None:
    async for data in given:
        await connected.send(channels.STDIN, data)
    await connected.end_input()


def exit_code(status: Mapping[str, Any]) -> int:
    """The exit status that a Status object tells of; raises what kept the command from running."""
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            text = str(cause.get("message") or "")
            return int(text) if text.isdecimal() else _KILLED
    raise from_status(int(status.get("code") or 500), status)
