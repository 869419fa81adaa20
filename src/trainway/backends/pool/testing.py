"""A pool agent that a test plays: it listens where a real one would, and notes what is asked."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trainway.backends.agents.agent_socket import Start, Starter
from trainway.json_types import Json


class FakePoolAgent(Starter):
    """Starts within the test's own loop, in place of a process."""

    def __init__(
        self, answer: Callable[[Json], Json | None] = lambda _request: {"ok": True}
    ) -> None:
        super().__init__()
        self.asked: list[Json] = []
        self.starts = 0
        self.fails_with = ""
        """What a start says that fails."""
        self._answer = answer
        self._server: asyncio.Server | None = None

    async def start(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str] | None = None,  # noqa: ARG002 - nothing is started
    ) -> Start:
        """Listen."""
        self.starts += 1
        if self.fails_with:
            return Start(1, self.fails_with)
        word, directory = arguments
        if word != "pool":
            raise ValueError(word)
        self._server = await asyncio.start_unix_server(
            self._serve, Path(directory) / "agent.sock", limit=1 << 24
        )
        return Start(0)

    async def stop(self) -> None:
        """End, as an agent does that has nothing to do."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if line:
            request = json.loads(line)
            self.asked.append(request)
            answer = self._answer(request)
            if answer is not None:
                writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()
