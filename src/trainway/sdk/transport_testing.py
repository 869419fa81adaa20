"""A transport that asks nobody: a test says what the server answers."""

from typing import Any

from trainway.json_types import Json
from trainway.sdk.address import Address
from trainway.sdk.transport import Transport


class AskedTransport(Transport):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(Address(port=1))
        self.asked: list[tuple[str, str]] = []
        """The method and path of each request."""
        self.body: Json = {}
        """The last body that there was."""

    def request(self, method: str, path: str, **more: Any) -> Json:
        """The answer of the test."""
        self.asked.append((method, path))
        self.body = more.get("body") or self.body
        return self.answer(path)

    def answer(self, path: str) -> Json:
        """What the server says to a request."""
        raise NotImplementedError(path)
