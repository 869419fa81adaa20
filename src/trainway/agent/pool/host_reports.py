"""What hosts report about a job: records, logs and output, each taken once.

Hosts number their records and say where in a file a piece stands, so that after an interruption
they can be asked for exactly what is missing here.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64

from trainway.agent.base.log_limit import REASON
from trainway.agent.transfer.log_copies import LogCopies, pod_of
from trainway.agent.transfer.output_copies import OutputCopies, RefusedPathError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.journal import Journal
    from trainway.agent.base.records import EventRecord
    from trainway.agent.pool.gang_recovery import GangMemory
    from trainway.agent.transfer.frames import OutputFields, Position
    from trainway.json_types import Json


COPIED = ("event", "progress", "usage")
"""The types of records that go into the journal as they are."""
FRAME_ONLY = ("seq", "time", "type", "id", "event", "token")


class HostReports:
    """Copies of what the hosts of a job have."""

    def __init__(self, directory: Directory, journal: Journal, memory: GangMemory) -> None:
        for name in ("logs", "output"):
            directory.make(name)
        self._journal = journal
        self._seqs = memory.seqs
        self._logs = LogCopies(directory, memory.bases, self._tell_limit)
        self._outputs = OutputCopies(directory)

    def _tell_limit(self, message: str) -> None:
        fields: EventRecord = {"eventType": "Warning", "reason": REASON, "message": message}
        self._journal.append("event", fields)

    def begin_anew(self) -> dict[str, int]:
        """Hosts begin the job from nothing; how long the logs here are by now."""
        self._seqs = {}
        return self._logs.begin_anew()

    def begin_pods(self, pods: Collection[str], hosts: Collection[str]) -> dict[str, int]:
        """These pods begin anew, some on hosts that begin from nothing; how long logs are."""
        for host in hosts:
            self._seqs.pop(host, None)
            self.forget_host(host)
        return self._logs.begin_pods(pods)

    def rest(self, host: str, pods: Collection[str], *, with_output: bool) -> Position:
        """The fields of a request for all that is missing here."""
        fields: Position = {"after": self.seq(host), "logs": self._logs.offsets(set(pods))}
        if with_output:
            fields["outputs"] = self._outputs.whole()
        return fields

    def is_news(self, host: str, frame: Json) -> bool:
        """Whether a record was not seen before; it counts as seen from now on."""
        seq = int(frame.get("seq") or 0)
        if seq <= self.seq(host):
            return False
        self._seqs[host] = seq
        return True

    def seq(self, host: str) -> int:
        """The number of the last record of a host that was seen; -1: none."""
        return self._seqs.get(host, -1)

    def take_record(self, host: str, frame: Json) -> None:
        """Put an event, or a report of progress or usage, into the journal."""
        type_ = str(frame.get("type"))
        if type_ in COPIED:
            fields = {key: frame[key] for key in frame if key not in FRAME_ONLY}
            self._journal.append(type_, {**fields, "host": host, "hostSeq": frame.get("seq")})

    def take_log(self, frame: Json, pods: Collection[str]) -> bool:
        """Write a piece of the log of one of these pods; False where it must be sent again."""
        file = str(frame.get("file"))
        if pod_of(file) not in pods:
            return True
        return self._logs.take(file, int(frame.get("offset") or 0), _decoded(frame))

    def take_output(self, host: str, frame: Json) -> str:
        """Write a piece of an output file; why that cannot be, if so."""
        try:
            self._outputs.take(host, frame, _decoded(frame))
        except (OSError, RefusedPathError) as error:
            return f"output of host {host} is not copied: {error}"
        return ""

    def files_for(self, host: str) -> Iterator[tuple[OutputFields, bytes]]:
        """The output that a host lacks, piece by piece."""
        for path in self._outputs.missing_on(host):
            yield from self._outputs.pieces(host, path)

    def size_for(self, host: str) -> int:
        """How many bytes that is."""
        return self._outputs.missing_size(host)

    def forget_host(self, host: str) -> None:
        """A host has nothing of the job any more."""
        self._outputs.forget_host(host)


def _decoded(frame: Json) -> bytes:
    try:
        return a2b_base64(str(frame.get("data") or ""))
    except Base64Error:
        return b""
