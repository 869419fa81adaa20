"""A catalog compiled once: an SQLite file that opens at once and is searched by its indexes.

Nearly all that a request is about (accelerators, CPUs, memory) is a matter of the few thousand
machine types. The best price of each of them, and the best in each region, are kept beside them, so
that the hundred thousand offers themselves are read only where a zone is asked for or shown.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from trainway.catalog.csv_format import Row
from trainway.catalog.google_hosts import with_hosts
from trainway.catalog.local_disks import local_disk
from trainway.catalog.offer import MachineType, Offer, Trait
from trainway.catalog.traits import has_fast_network, is_opt_in, traits

FORMAT: Final = 5
"""Part of the name of a compiled catalog: another form is another file."""
_GOOGLE: Final = "gcp"
_TABLES: Final = """
CREATE TABLE machines (
  id INTEGER PRIMARY KEY, cloud TEXT NOT NULL, name TEXT NOT NULL, vcpus REAL NOT NULL,
  memory_gib REAL NOT NULL, accelerator TEXT NOT NULL, accelerator_key TEXT NOT NULL,
  accelerator_count REAL NOT NULL, accelerator_gib REAL NOT NULL, traits TEXT NOT NULL,
  local_disk REAL NOT NULL, local_disk_kind TEXT NOT NULL, fast_network INTEGER NOT NULL,
  price REAL, spot REAL, offers INTEGER, spot_offers INTEGER);
CREATE TABLE regions (
  id INTEGER PRIMARY KEY, cloud TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE offers (
  machine INTEGER NOT NULL, region INTEGER NOT NULL, zone TEXT NOT NULL, opt_in INTEGER NOT NULL,
  price REAL, spot REAL,
  PRIMARY KEY (machine, region, zone)) WITHOUT ROWID;
CREATE TABLE best (
  machine INTEGER NOT NULL, region INTEGER NOT NULL, opt_in INTEGER NOT NULL, price REAL, spot REAL,
  offers INTEGER NOT NULL, spot_offers INTEGER NOT NULL, PRIMARY KEY (machine, region))
  WITHOUT ROWID
"""
_INDEXES: Final = """
CREATE INDEX by_accelerator ON machines (accelerator_key, accelerator_count);
CREATE INDEX by_name ON machines (name);
INSERT INTO best
  SELECT machine, region, opt_in, min(price), min(spot), count(price), count(spot)
  FROM offers GROUP BY machine, region;
UPDATE machines SET (price, spot, offers, spot_offers) =
  (SELECT min(b.price), min(b.spot), sum(b.offers), sum(b.spot_offers)
   FROM best b WHERE b.machine = machines.id AND NOT b.opt_in)
"""


@dataclass(frozen=True)
class Condition:
    """Part of a query, and the values in it."""

    text: str
    values: Sequence[Any] = ()


class Catalog:
    """A compiled catalog, open for reading."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query of ours gives."""
        return self._connection.execute(query, values).fetchall()

    def clouds(self) -> list[str]:
        """All clouds that offer something."""
        return [row[0] for row in self.rows("SELECT DISTINCT cloud FROM machines ORDER BY cloud")]

    def accelerators(self) -> list[str]:
        """The names of all accelerators."""
        query = "SELECT DISTINCT accelerator FROM machines WHERE accelerator != '' ORDER BY 1"
        return [row[0] for row in self.rows(query)]

    def machine(self, identity: int) -> MachineType:
        """The machine type of that number."""
        (row,) = self.rows(
            "SELECT cloud, name, vcpus, memory_gib, accelerator, accelerator_count,"
            " accelerator_gib, traits, local_disk, local_disk_kind, fast_network"
            " FROM machines WHERE id = ?",
            (identity,),
        )
        cloud, name, *amounts, told, disk, kind, is_fast = row
        vcpus, memory, accelerator, count, gib = amounts
        found = frozenset(map(Trait, told.split()))
        return MachineType(
            *(cloud, name, vcpus, memory, accelerator, count, gib),
            *(found, disk, kind, bool(is_fast)),
        )

    def offers(self, identity: int) -> list[Offer]:
        """Each offer of a machine type, zone by zone."""
        machine = self.machine(identity)
        query = (
            "SELECT name, zone, price, spot FROM offers JOIN regions ON id = region"
            " WHERE machine = ?"
        )
        return [Offer(machine, *row) for row in self.rows(query, (identity,))]


def compile_catalog(path: Path, clouds: Mapping[str, Iterable[Row]]) -> None:
    """Write the offers of all clouds to a file: whole under its name, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".catalog-")
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            _run(connection, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
            _fill(connection, clouds)
            _run(connection, "COMMIT; ANALYZE")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _run(connection: sqlite3.Connection, statements: str) -> None:
    """One by one: `executescript` would end the transaction."""
    for statement in statements.split(";"):
        connection.execute(statement)


def _fill(connection: sqlite3.Connection, clouds: Mapping[str, Iterable[Row]]) -> None:
    _run(connection, _TABLES)
    machines: dict[tuple[Any, ...], int] = {}
    regions: dict[tuple[str, str], int] = {}
    for cloud in sorted(clouds):
        # Of two rows for one zone the cheaper counts.
        connection.executemany(
            "INSERT INTO offers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " price = min(ifnull(price, excluded.price), ifnull(excluded.price, price)),"
            " spot = min(ifnull(spot, excluded.spot), ifnull(excluded.spot, spot))",
            _offers(cloud, clouds[cloud], machines, regions),
        )
    insert = "INSERT INTO machines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)"
    connection.executemany(insert, map(_machine_row, machines.items()))
    connection.executemany(
        "INSERT INTO regions VALUES (?, ?, ?)",
        [(identity, *place) for place, identity in regions.items()],
    )
    _run(connection, _INDEXES)


def _offers(
    cloud: str,
    rows: Iterable[Row],
    machines: dict[tuple[Any, ...], int],
    regions: dict[tuple[str, str], int],
) -> Iterator[tuple[Any, ...]]:
    opt_in: dict[str, bool] = {}
    for row in with_hosts(rows) if cloud == _GOOGLE else rows:
        if row.price is None and row.spot_price is None:
            continue
        key = (
            cloud,
            row.instance_type,
            row.vcpus,
            row.memory_gib,
            row.accelerator,
            row.accelerator_count,
            row.accelerator_gib,
            row.local_disk_gb,
            row.local_disk_kind,
            row.fast_network,
        )
        if row.region not in opt_in:
            opt_in[row.region] = is_opt_in(cloud, row.region)
        machine = machines.setdefault(key, len(machines) + 1)
        region = regions.setdefault((cloud, row.region), len(regions) + 1)
        yield machine, region, row.zone, opt_in[row.region], row.price, row.spot_price


def _machine_row(item: tuple[tuple[Any, ...], int]) -> tuple[Any, ...]:
    (*size, disk, kind, is_fast), identity = item
    cloud, name, vcpus, memory, accelerator, count, gib = size
    told = " ".join(sorted(traits(cloud, name, accelerator)))
    if not disk:
        disk, kind = local_disk(cloud, name)
    is_fast = is_fast or has_fast_network(cloud, name)
    gpus = (accelerator, accelerator.lower(), count, gib)
    return identity, cloud, name, vcpus, memory, *gpus, told, disk, kind, is_fast
