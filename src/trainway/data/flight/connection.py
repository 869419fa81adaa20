"""A worker's way to its head: a report goes out, orders come back."""

from typing import Any

import pyarrow as pa
from pyarrow import flight

from trainway.data.flight import wire
from trainway.data.flight.contract import TOKEN
from trainway.data.flight.head import Orders, Report
from trainway.data.flight.token import call_options
from trainway.errors import ForbiddenError, UnavailableError

_TIMEOUT_S = 10.0


class Connection:
    """Connects when it must; after an error anew, as gRPC would wait longer each time."""

    def __init__(self, head: str, token: str) -> None:
        self._head = head
        self._options = call_options(token, _TIMEOUT_S)
        self._client: Any = None

    def join(self, report: Report) -> Orders:
        """Send a report."""
        return wire.load_orders(self._call(wire.JOIN, wire.dump(report)))

    def describe(self) -> bytes:
        """How the cache stands, as JSON."""
        return self._call(wire.DESCRIBE, b"")

    def close(self) -> None:
        """Let it go."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _call(self, name: str, body: bytes) -> bytes:
        try:
            if self._client is None:
                self._client = flight.FlightClient(f"grpc://{self._head}")
            (result,) = self._client.do_action(flight.Action(name, body), self._options)
            answer: bytes = result.body.to_pybytes()
        except flight.FlightUnauthenticatedError:
            self.close()
            raise ForbiddenError(
                "the head of the cache refuses the token",
                hint=f"give head and workers the same {TOKEN}",
            ) from None
        except (pa.ArrowException, OSError) as error:
            self.close()
            reason = str(error).partition(". gRPC")[0]
            raise UnavailableError(
                f"the head of the cache at {self._head} does not answer: {reason}"
            ) from None
        return answer
