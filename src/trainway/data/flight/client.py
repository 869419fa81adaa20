"""A reader of a cache that asks again where a worker or the head is gone for a while.

It asks the head once who has which rows, and then the workers for those it wants. If one of them
fails, everything of that request is asked for again, from whoever has it then; so rows come once,
and in the order in which they were asked for.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import pyarrow as pa
from pyarrow import flight

from trainway.data.flight import ticket as tickets
from trainway.data.flight.contract import ADDRESS, PORT, TOKEN
from trainway.data.flight.row_range import RowRange
from trainway.data.flight.token import call_options
from trainway.errors import ForbiddenError, UnavailableError, UsageError

PATIENCE_S: Final = 300.0
_CALL_S: Final = 60.0
_PAUSES_S: Final = (0.1, 0.2, 0.5, 1.0, 2.0)


class Rows(Protocol):
    """A table whose rows can be read by their numbers."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def version(self) -> str:
        """Another one, if the rows are others."""
        ...

    def read(self, ranges: Sequence[RowRange], columns: Sequence[str] | None) -> Any:
        """These rows in this order, as a table."""
        ...


@dataclass
class _Catalog:
    version: str
    count: int
    schema: Any
    segments: list[tuple[str, RowRange]]

    def places(self, ranges: Sequence[RowRange]) -> list[tuple[str, list[RowRange]]]:
        """Who to ask for what; neighbours in the order that are at one worker are one request."""
        found: list[tuple[str, list[RowRange]]] = []
        for rows in ranges:
            for location, segment in self.segments:
                here = rows.within(segment)
                if here and found and found[-1][0] == location:
                    found[-1][1].append(here)
                elif here:
                    found.append((location, [here]))
        return found


@dataclass
class CachedRows:
    """The rows of a cache."""

    head: str
    token: str = ""
    patience_s: float = PATIENCE_S
    _catalog: _Catalog | None = None
    _clients: dict[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self._retried(self._known).count)

    @property
    def version(self) -> str:
        """Of the table."""
        return str(self._retried(self._known).version)

    def read(self, ranges: Sequence[RowRange], columns: Sequence[str] | None = None) -> Any:
        """These rows in this order."""
        found = self._retried(lambda: self._read(ranges))
        return found if columns is None else found.select(list(columns))

    def close(self) -> None:
        """Forget who has what, and all connections."""
        self._catalog = None
        clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()

    def _known(self) -> _Catalog:
        if self._catalog is None:
            options = call_options(self.token, _CALL_S)
            everything = flight.FlightDescriptor.for_path("0", "1")
            info = self._client(self.head).get_flight_info(everything, options)
            self._catalog = _Catalog(
                info.app_metadata.decode(), info.total_records, info.schema, list(_segments(info))
            )
        return self._catalog

    def _read(self, ranges: Sequence[RowRange]) -> Any:
        catalog = self._known()
        options = call_options(self.token, _CALL_S)
        parts = catalog.places(ranges)
        wanted: dict[str, list[RowRange]] = {}
        for location, here in parts:
            wanted.setdefault(location, []).extend(here)
        tables = {}
        for location, here in wanted.items():
            ticket = flight.Ticket(tickets.encode(here))
            tables[location] = self._client(location).do_get(ticket, options).read_all()
            if tables[location].num_rows != sum(map(len, here)):
                raise flight.FlightUnavailableError(f"{location} gave too few rows")
        return _arranged(catalog.schema, parts, tables)

    def _client(self, location: str) -> Any:
        if location not in self._clients:
            self._clients[location] = flight.FlightClient(location)
        return self._clients[location]

    def _retried(self, call: Any) -> Any:
        end, attempt, seen = time.monotonic() + self.patience_s, 0, self._catalog
        while True:
            try:
                found = call()
                self._check(seen)
                return found
            except flight.FlightUnauthenticatedError:
                raise ForbiddenError(
                    "the cache refuses the token", hint=f"set {TOKEN} to the token of the cache"
                ) from None
            except (pa.ArrowInvalid, pa.ArrowKeyError, flight.FlightUnauthorizedError) as error:
                raise UsageError(f"the cache refuses this: {_first_line(error)}") from None
            except (pa.ArrowException, OSError) as error:
                self.close()
                pause = _PAUSES_S[min(attempt, len(_PAUSES_S) - 1)]
                attempt += 1
                if time.monotonic() + pause > end:
                    raise UnavailableError(
                        f"the cache at {self.head} does not answer: {_first_line(error)}",
                        hint="look at it with: trainway cache ls",
                    ) from None
                time.sleep(pause)

    def _check(self, seen: _Catalog | None) -> None:
        if seen and self._catalog and seen.version != self._catalog.version:
            raise UsageError(
                "the table of the cache is another one than before",
                hint="start the epoch again: its rows have other numbers now",
            )


def cached_rows(address: str = "", token: str | None = None) -> CachedRows:
    """The cache at an address, or the one that variables name."""
    job = os.environ.get("TRAIN_JOB_NAME")
    found = address or os.environ.get(ADDRESS) or (f"{job}-cache-service" if job else "")
    if not found:
        raise UsageError(
            "no cache is named",
            hint=f"give its address, such as cache://HOST:{PORT}, or set {ADDRESS}",
        )
    host = found.partition("://")[2] or found
    host = host.rstrip("/")
    place = host if host.rpartition(":")[2].isdigit() else f"{host}:{PORT}"
    given = os.environ.get(TOKEN, "") if token is None else token
    return CachedRows(f"grpc://{place}", given)


def _segments(info: Any) -> Any:
    for endpoint in info.endpoints:
        for rows in tickets.decode(endpoint.ticket.ticket):
            yield endpoint.locations[0].uri.decode(), rows


def _arranged(schema: Any, parts: Sequence[tuple[str, list[RowRange]]], tables: Any) -> Any:
    """The rows of all workers in the order in which they were asked for."""
    if len(tables) == 1:
        return next(iter(tables.values()))
    offsets = dict.fromkeys(tables, 0)
    found = []
    for location, here in parts:
        size = sum(map(len, here))
        found.append(tables[location].slice(offsets[location], size))
        offsets[location] += size
    return pa.concat_tables(found) if found else schema.empty_table()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(". Detail:")[0].partition(". gRPC")[0]
