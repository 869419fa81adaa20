"""Who may read a cache: everybody who reaches it, or those who have its token."""

import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyarrow import flight

from trainway.data.flight.contract import TOKEN

_HEADER: Final = "authorization"


class Guard(flight.ServerMiddlewareFactory):  # type: ignore[misc] # pyarrow has no types
    """Refuses calls without the token."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._expected = f"Bearer {token}".encode()

    def start_call(self, info: Any, headers: Mapping[str, Sequence[str]]) -> None:  # noqa: ARG002
        """Look at a call before anything is done for it."""
        given = next((value for name, value in headers.items() if name.lower() == _HEADER), [""])
        word = given[0] if given else ""
        if not hmac.compare_digest(str(word).encode(), self._expected):
            raise flight.FlightUnauthenticatedError(
                f"this cache needs its token: set {TOKEN}, or send the header"
                ' "authorization: Bearer TOKEN"'
            )


def call_options(token: str, timeout_s: float | None = None) -> Any:
    """How a client calls a cache."""
    headers = [(_HEADER.encode(), f"Bearer {token}".encode())] if token else []
    return flight.FlightCallOptions(timeout=timeout_s, headers=headers)
