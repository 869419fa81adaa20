import asyncio
import json
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from trainway.backends.agents import agent_socket

MANY = 100


def test_an_agent_may_be_asked_by_very_many_at_once(tmp_path: Path) -> None:
    path = tmp_path / "agent.sock"
    busy = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(4)

        def serve() -> None:
            busy.wait()
            for _ in range(MANY):
                connection, _ = listener.accept()
                with connection, connection.makefile("rwb") as stream:
                    request = json.loads(stream.readline())
                    stream.write(json.dumps({"ok": True, "number": request["number"]}).encode())
                    stream.write(b"\n")

        server = threading.Thread(target=serve)
        server.start()

        async def ask() -> list[int]:
            questions = [
                agent_socket.ask(path, {"op": "x", "number": number}, "pool lab")
                for number in range(MANY)
            ]
            asked = asyncio.gather(*questions)
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_soon(busy.set)
            return [int(answer["number"]) for answer in await asyncio.wait_for(asked, 60)]

        assert asyncio.run(ask()) == list(range(MANY))
        server.join()


def test_an_answer_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "_LONGEST_LINE", 100_000)
    path = tmp_path / "agent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(4)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                while True:
                    connection.sendall(b"x" * 10_000)

        server = threading.Thread(target=serve)
        server.start()

        async def lines() -> list[list[bytes]]:
            return [found async for found in agent_socket.stream(path, {"op": "watch"})]

        assert asyncio.run(asyncio.wait_for(lines(), 60)) == []
        server.join()
