"""What handles of a program have in common on things of the server that are known by name."""

from typing import Generic, TypeVar

from trainway.json_types import Json
from trainway.sdk.rest import Rest

Server = TypeVar("Server", bound=Rest)


class NamedHandle(Generic[Server]):
    """A handle, with what was known of the thing last."""

    def __init__(self, rest: Server, data: Json) -> None:
        self._rest = rest
        self._data = data

    @property
    def name(self) -> str:
        """What no other one of its kind is called."""
        return str(self._data["metadata"]["name"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"
