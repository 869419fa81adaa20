"""Ports of a pod on this machine.

Each connection to a local port gets a websocket of its own. The cluster cannot be told that only
one direction of a connection has ended, so a connection ends as a whole when the pod ends it, or
when whoever connected here has gone.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trainway.errors import ConflictError, TrainwayError, UsageError
from trainway.kube import requests
from trainway.kube.channels import V4, Channels
from trainway.kube.client import Client

_DATA: Final = 0
_ERROR: Final = 1
_BLOCK: Final = 1 << 16
_LINGER_S: Final = 30.0
_LAST_PORT: Final = 65_535
LOCALHOST: Final = "127.0.0.1"


@dataclass(frozen=True)
class Forward:
    """A local port, and the one of the pod that it stands for."""

    local: int
    """The local port; 0 stands for any that is free."""
    remote: int

    @classmethod
    def parse(cls, text: str) -> "Forward":
        """`8080`, `8080:80`, or `:80` for any local port."""
        local, colon, remote = text.rpartition(":")
        numbers = [remote if not colon else local or "0", remote]
        if not all(number.isdecimal() and int(number) <= _LAST_PORT for number in numbers):
            raise UsageError(f"not a port: {text}", hint="such as 8080, 8080:80 or :80")
        if int(remote) == 0:
            raise UsageError(f"not a port of a pod: {text}")
        return cls(int(numbers[0]), int(remote))


async def forward(
    client: Client, namespace: str, pod: str, forwards: Sequence[Forward], stop: asyncio.Event
) -> None:
    """Listen on all ports until told to stop; says which on stdout once all are open."""
    servers: list[asyncio.Server] = []
    connections: set[asyncio.Task[None]] = set()
    try:
        for each in forwards:
            target = _Target(client, namespace, pod, each.remote)
            server = await _listen(target, each, connections)
            servers.append(server)
        for each, server in zip(forwards, servers, strict=True):
            port = server.sockets[0].getsockname()[1]
            sys.stdout.write(f"{LOCALHOST}:{port} -> {pod}:{each.remote}\n")
        sys.stdout.flush()
        await stop.wait()
    finally:
        for server in servers:
            server.close()
        for task in connections:
            task.cancel()
        if connections:
            await asyncio.wait(connections)


@dataclass(frozen=True)
class _Target:
    client: Client
    namespace: str
    pod: str
    port: int


async def _listen(
    target: _Target, each: Forward, connections: set[asyncio.Task[None]]
) -> asyncio.Server:
    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_serve(target, reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    try:
        return await asyncio.start_server(accepted, LOCALHOST, each.local, limit=_BLOCK)
    except OSError as error:
        raise ConflictError(
            f"port {each.local} cannot be opened: {error.strerror}",
            hint=f"choose another one: {each.local + 1}:{each.remote}, or :{each.remote} for any",
        ) from None


async def _serve(
    target: _Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection, to its end."""
    path = requests.forwarding(target.namespace, target.pod, target.port)
    try:
        async with target.client.channels(path, (V4,)) as connected:
            sending = asyncio.create_task(_send(connected, reader))
            try:
                await _receive(connected, writer, sending)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
    except TrainwayError as error:
        sys.stderr.write(f"warning: port {target.port}: {error.message}\n")
    except OSError:
        pass  # whoever connected has gone
    finally:
        writer.close()


async def _send(connected: Channels, reader: asyncio.StreamReader) -> None:
    while data := await reader.read(_BLOCK):
        await connected.send(_DATA, data)


async def _receive(
    connected: Channels, writer: asyncio.StreamWriter, sending: asyncio.Task[None]
) -> None:
    """Each channel begins with the number of its port, which is left out."""
    heads = {_DATA: 2, _ERROR: 2}
    is_receiving = True
    async with asyncio.timeout(None) as limit:

        def hurry(_: object = None) -> None:
            """Whoever connected says no more: the answer may still come, or they have gone."""
            if is_receiving and sending.done() and not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time() + _LINGER_S)

        sending.add_done_callback(hurry)
        try:
            while (received := await connected.receive()) is not None:
                channel, data = received
                head = min(heads.get(channel, 0), len(data))
                heads[channel] = heads.get(channel, 0) - head
                data = data[head:]
                if channel == _ERROR and data:
                    raise ConflictError(data.decode(errors="replace"))
                writer.write(data)
                await writer.drain()
                hurry()
        finally:
            is_receiving = False  # a callback that is due already cannot be taken back
            sending.remove_done_callback(hurry)
