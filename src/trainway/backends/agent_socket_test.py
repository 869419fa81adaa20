import asyncio
import json
import socket
import threading
from pathlib import Path

from trainway.backends import agent_socket

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
