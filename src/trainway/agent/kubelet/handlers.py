"""What probes and hooks do: run a program, ask over HTTP, connect to a port, or wait.

All of them run in a child process, so that one that hangs hangs alone. A gRPC probe cannot be asked
without its protocol; it counts as passed.
"""

from __future__ import annotations

import time

from trainway.agent.kubelet.command import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.json_types import Json


FAILED, PASSED = 1, 0


def handler_command(
    handler: Json, container: Json, base: Command, host: str, *, wait: bool = False
) -> Command:
    """The command that carries out a handler in the place of a container.

    With `wait` it does so only when the container runs, which may take a while after its start.
    """
    if handler.get("exec") is not None:
        argv = [str(part) for part in handler["exec"].get("command") or []]
        if base.contained is not None:
            argv = base.contained.execute(argv, wait=wait)
        return _like(base, argv=argv)
    if handler.get("httpGet") is not None:
        request: Json = handler["httpGet"]
        address = _address(request, container, host)
        return _like(base, function=lambda: _http_get(request, address))
    if handler.get("tcpSocket") is not None:
        where = _address(handler["tcpSocket"], container, host)
        return _like(base, function=lambda: _connect(where))
    if handler.get("sleep") is not None:
        seconds = float(handler["sleep"].get("seconds") or 0)
        return _like(base, function=lambda: _sleep(seconds))
    return _like(base, function=lambda: PASSED)


def _like(
    base: Command, argv: list[str] | None = None, function: Callable[[], int] | None = None
) -> Command:
    if function is not None:
        return Command([], env=base.env, mark=base.mark, function=function)
    made = Command(argv or [], env=base.env, cwd=base.cwd, view=base.view, mark=base.mark)
    made.group = base.group
    return made


def _address(target: Json, container: Json, host: str) -> tuple[str, int]:
    return str(target.get("host") or host), port_number(target.get("port"), container)


def port_number(port: object, container: Json) -> int:
    """A port that is given by number or by the name the container has for it."""
    if isinstance(port, int) or str(port).isdigit():
        return int(str(port))
    for entry in container.get("ports") or []:
        if entry.get("name") == port:
            return int(entry.get("containerPort") or 0)
    return 0


def _sleep(seconds: float) -> int:
    time.sleep(seconds)
    return PASSED


def _connect(address: tuple[str, int]) -> int:
    import socket  # noqa: PLC0415 - slow, and needed only in this child

    try:
        socket.create_connection(address).close()
    except OSError:
        return FAILED
    return PASSED


def _http_get(request: Json, address: tuple[str, int]) -> int:
    """Ask for a page; anything from 200 to 399 passes."""
    import socket  # noqa: PLC0415 - slow, and needed only in this child

    path = str(request.get("path") or "/")
    host = f"{address[0]}:{address[1]}"
    headers = {"Host": host, "User-Agent": "trainway-agent", "Connection": "close"}
    for header in request.get("httpHeaders") or []:
        headers[str(header.get("name"))] = str(header.get("value"))
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    try:
        connection = socket.create_connection(address)
        if str(request.get("scheme") or "HTTP").upper() == "HTTPS":
            # The kubelet does not check certificates either: a pod has no name to check.
            import ssl  # noqa: PLC0415 - the same

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            connection = context.wrap_socket(connection)
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = connection.recv(64).split()
    except OSError:
        return FAILED
    code = answer[1] if len(answer) > 1 else b""
    return PASSED if code.isdigit() and 200 <= int(code) < 400 else FAILED
