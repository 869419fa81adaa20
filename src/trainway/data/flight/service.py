"""The Flight server of a head or a worker: the calls of clients, and the reports of workers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import flight

from trainway.data.flight import ticket as tickets
from trainway.data.flight import wire
from trainway.data.flight.head import Head, Share
from trainway.data.flight.token import Guard
from trainway.data.flight.worker import Worker
from trainway.errors import TrainwayError, UnavailableError, UsageError


@dataclass
class Rooms:
    """What this process is: a head, a worker, or both."""

    head: Head | None = None
    worker: Worker | None = None


class Service(flight.FlightServerBase):  # type: ignore[misc] # pyarrow has no types
    """Listens, and asks head and worker."""

    def __init__(self, location: str, rooms: Rooms, token: str = "") -> None:
        middleware = {"token": Guard(token)} if token else {}
        super().__init__(location, middleware=middleware)
        self._rooms = rooms

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Where the rows of a part are."""
        head = self._head()
        share = _told(lambda: head.share(_path(descriptor)))
        head.note_reader(context.peer())
        return flight.FlightInfo(
            head.plan.arrow_schema(),
            descriptor,
            _endpoints(share),
            share.rows,
            -1,
            ordered=True,
            app_metadata=head.plan.version.encode(),
        )

    def get_schema(self, context: Any, descriptor: Any) -> Any:  # noqa: ARG002
        """The columns of the table."""
        return flight.SchemaResult(self._head().plan.arrow_schema())

    def list_flights(self, context: Any, criteria: bytes) -> Iterator[Any]:  # noqa: ARG002
        """The one table, whole."""
        yield self.get_flight_info(context, flight.FlightDescriptor.for_path("0", "1"))

    def do_get(self, context: Any, ticket: Any) -> Any:  # noqa: ARG002
        """The rows of a ticket."""
        worker = self._rooms.worker
        if worker is None:
            raise flight.FlightServerError("this is the head; rows are at its workers")
        table = _told(lambda: worker.shelf().read(tickets.decode(ticket.ticket)))
        return flight.RecordBatchStream(table)

    def do_action(self, context: Any, action: Any) -> Iterator[bytes]:  # noqa: ARG002
        """The report of a worker, or a look at how the cache stands."""
        head = self._head()
        if action.type == wire.JOIN:
            report = _told(lambda: wire.load_report(action.body.to_pybytes()))
            yield wire.dump(_told(lambda: head.join(report)))
        elif action.type == wire.DESCRIBE:
            yield wire.dump(head.describe())
        else:
            raise pa.ArrowInvalid(f"there is no action {action.type!r}")

    def list_actions(self, context: Any) -> list[Any]:  # noqa: ARG002
        """What can be asked besides reading."""
        return [
            flight.ActionType(wire.DESCRIBE, "How the cache stands, as JSON."),
            flight.ActionType(wire.JOIN, "The report of a worker."),
        ]

    def _head(self) -> Head:
        if self._rooms.head is None:
            raise flight.FlightServerError("this is a worker; ask the head of the cache")
        return self._rooms.head


def _path(descriptor: Any) -> list[str]:
    if descriptor.path is None:
        raise UsageError("the descriptor has no path", hint="send the path [index, total]")
    return [word.decode(errors="replace") for word in descriptor.path]


def _endpoints(share: Share) -> list[Any]:
    return [
        flight.FlightEndpoint(tickets.encode(ranges), [f"grpc://{address}"])
        for address, ranges in share.segments
    ]


def _told(call: Any) -> Any:
    """Errors as a client of Flight knows them."""
    try:
        return call()
    except UnavailableError as error:
        raise flight.FlightUnavailableError(error.sentence) from None
    except UsageError as error:
        kind = IndexError if error.message.startswith("Invalid partition") else pa.ArrowInvalid
        raise kind(error.sentence) from None
    except TrainwayError as error:
        raise flight.FlightServerError(error.sentence) from None
