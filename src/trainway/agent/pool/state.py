"""What a pool agent leaves to the next one: hosts, jobs, clusters, and which hosts are set aside.

One JSON object a line.

A job's own state is its journal; here stands only which jobs there are, and in what order they
came. The file is written anew at each start, without what is over.
"""

from __future__ import annotations

import errno
import json
import os

from trainway.agent.base.journal_reader import object_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.pool.state_records import DrainState, HostsState, OwnerState, StateRecord
    from trainway.json_types import Json


NAME = "state.jsonl"
COMPACT_BYTES = 4 * 1024 * 1024


class State:
    """The pool's memory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.owner = ""
        self.hosts: list[Json] = []
        self.order = 0
        """The highest number that was given to a job or cluster."""
        self.jobs: dict[str, Json] = {}
        """The record of each job that is not over, by its id."""
        self.clusters: dict[str, Json] = {}
        """The last record of each cluster, by its name."""
        self.drained: dict[str, Json] = {}
        """Why hosts take no new pods, and by whom, since and until when, by their names."""
        for record in _records(directory):
            self._take(record)
        if not self.owner:
            self.owner = os.urandom(8).hex()
        self._fd = -1
        self._size = 0
        self._is_behind = False
        """Whether something could not be written yet."""
        self._compact()

    def _take(self, record: Json) -> None:
        type_ = record.get("type")
        self.order = max(self.order, int(record.get("order") or 0))
        if type_ == "owner":
            self.owner = str(record["owner"])
        elif type_ == "hosts":
            self.hosts = list(record["hosts"])
        elif type_ == "job":
            self.jobs[str(record["id"])] = record
        elif type_ == "over":
            self.jobs.pop(str(record["id"]), None)
        elif type_ == "cluster":
            self._take_cluster(record)
        elif type_ == "drain":
            _take_drain(self.drained, record)

    def _take_cluster(self, record: Json) -> None:
        cluster: Json = record.get("cluster") or {}
        name = str(cluster.get("name"))
        self.order = max(self.order, int(cluster.get("order") or 0))
        if record.get("gone"):
            self.clusters.pop(name, None)
        else:
            self.clusters[name] = record

    def append(self, record: StateRecord, *, durable: bool = True) -> bool:
        """Remember something; whether it is on disk.

        What a full disk has no room for is written with what comes next.
        """
        self._take(dict(record))
        data = _line(record)
        try:
            if self._is_behind or self._size + len(data) > COMPACT_BYTES:
                self._compact()
            else:
                self._write(data)
                if durable:
                    os.fdatasync(self._fd)
        except OSError:
            self._is_behind = True
            return False
        self._is_behind = False
        return True

    @property
    def is_removed(self) -> bool:
        """Whether somebody removed it, so that nobody will ever read it."""
        return os.fstat(self._fd).st_nlink == 0

    def _write(self, data: bytes) -> None:
        """Whole, or not at all: half a line would spoil the next one."""
        count = os.write(self._fd, data)
        if count < len(data):
            os.ftruncate(self._fd, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += count

    def _compact(self) -> None:
        owner: OwnerState = {"type": "owner", "owner": self.owner, "order": self.order}
        hosts: HostsState = {"type": "hosts", "hosts": self.hosts}
        drains: list[DrainState] = [
            drain_record(host, terms) for host, terms in self.drained.items()
        ]
        records: list[Mapping[str, object]] = [
            owner,
            hosts,
            *drains,
            *self.clusters.values(),
            *self.jobs.values(),
        ]
        data = b"".join(_line(record) for record in records)
        self._directory.replace(NAME, data, durable=True)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = self._directory.open(NAME, os.O_WRONLY | os.O_APPEND)
        self._size = len(data)


def drain_record(host: str, terms: Json) -> DrainState:
    """The record that sets a host aside; without a reason it may take pods again."""
    record: DrainState = {"type": "drain", "host": host, "why": str(terms.get("why") or "")}
    if terms.get("by"):
        record["by"] = str(terms["by"])
    for name in ("since", "until"):
        if terms.get(name):
            record[name] = float(terms[name])
    return record


def drained_hosts(directory: Directory) -> dict[str, Json]:
    """The hosts that are set aside, as an agent that runs no more has left it."""
    found: dict[str, Json] = {}
    for record in _records(directory):
        if record.get("type") == "drain":
            _take_drain(found, record)
    return found


def _take_drain(drained: dict[str, Json], record: Json) -> None:
    drained.pop(str(record["host"]), None)
    if record.get("why"):
        terms = {name: value for name, value in record.items() if name not in ("type", "host")}
        drained[str(record["host"])] = terms


def _records(directory: Directory) -> list[Json]:
    try:
        data = directory.read(NAME)
    except FileNotFoundError:
        return []
    found = map(object_in, data.splitlines())
    return [record for record in found if record is not None]


def _line(record: Mapping[str, object]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
