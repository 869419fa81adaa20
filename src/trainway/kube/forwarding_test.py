import asyncio
from typing import Any, cast

import pytest

from trainway.errors import UsageError
from trainway.kube.channels import Channels
from trainway.kube.forwarding import Forward, _receive, _send


@pytest.mark.parametrize(
    ("text", "forward"),
    [
        ("8080", Forward(8080, 8080)),
        ("8080:80", Forward(8080, 80)),
        (":80", Forward(0, 80)),
        ("0:80", Forward(0, 80)),
    ],
)
def test_ports(text: str, forward: Forward) -> None:
    assert Forward.parse(text) == forward


@pytest.mark.parametrize("text", ["", "a", "80:", "80:a", "80:0", "0", "65536", "1:2:3", "-1"])
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(UsageError, match="not a port"):
        Forward.parse(text)


class SilentPod:
    """A connection to a port that closes at once."""

    async def send(self, _channel: int, _data: bytes) -> None:
        raise ConnectionResetError("Cannot write to closing transport")

    async def receive(self) -> tuple[int, bytes] | None:
        await asyncio.sleep(0)
        return None


def test_a_connection_that_ends_on_both_sides_at_once_is_no_complaint() -> None:
    complaints: list[dict[str, Any]] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        reader, pod = asyncio.StreamReader(), cast("Channels", SilentPod())
        reader.feed_data(b"x")
        sending = asyncio.create_task(_send(pod, reader))
        await _receive(pod, cast("asyncio.StreamWriter", None), sending)
        await asyncio.gather(sending, return_exceptions=True)
        await asyncio.sleep(0)

    asyncio.run(story())
    assert complaints == []
