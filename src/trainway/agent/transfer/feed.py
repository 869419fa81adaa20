"""What one receiver has not got of one job yet: records, logs and output files, in a safe order.

Before the record of a pod's end come all of its log lines and all files that it left, so that
whoever sees the end has everything.
"""

from __future__ import annotations

from collections import deque

from trainway.agent.base.journal_reader import record_in
from trainway.agent.base.pod_status import TERMINAL
from trainway.agent.transfer.log_tail import LogTail
from trainway.agent.transfer.outputs import Outputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.journal import Journal
    from trainway.agent.transfer.journal_tail import JournalTail
    from trainway.json_types import Json


CHUNK = 64 * 1024


class Position:
    """How much a receiver has got."""

    def __init__(self, frame: Json) -> None:
        self.after = int(frame.get("after", -1))
        logs: Mapping[str, int] = frame.get("logs") or {}
        self.logs = {str(file): int(offset) for file, offset in logs.items()}
        files: Mapping[str, list[int]] = frame.get("outputs") or {}
        self.outputs = {path: (int(size), int(mtime)) for path, (size, mtime) in files.items()}


class Barrier:
    """What has to be sent before the record of a pod's end."""

    def __init__(self, seq: int, covers: int, logs: Mapping[str, int]) -> None:
        self.seq = seq
        self.covers = covers
        """The last record for which the looks at outputs for this one do as well."""
        self.logs = logs


class Feed:
    """One job, for one receiver."""

    def __init__(
        self,
        directory: Directory,
        journal: Journal | JournalTail,
        position: Position,
        *,
        is_clear: Callable[[str], bool],
        with_outputs: bool,
    ) -> None:
        self.logs = LogTail(directory, position.logs)
        self.outputs = Outputs(directory, position.outputs)
        self.with_outputs = with_outputs
        self._journal = journal
        self._is_clear = is_clear
        """Whether nothing is left of a pod."""
        self._offset = journal.offset(position.after + 1)
        self._rest = b""
        self._records: deque[Json] = deque()
        self._barrier: Barrier | None = None
        self._covered = -1
        self._logs_first = True
        self.quiet: Callable[[], bool] = lambda: True
        """Whether no other pod of the job runs here, so that files stay as they are."""
        self.now: Callable[[], float] = lambda: 0.0

    def next(self) -> Json | None:
        """The next frame to send; None where all is sent."""
        record = self._record()
        if record is not None:
            return record
        self._logs_first = not self._logs_first
        sources = (self.logs, self.outputs) if self._logs_first else (self.outputs, self.logs)
        for source in sources:
            frame = source.next()
            if frame is not None:
                return dict(frame)
        return self._record()

    def look(self) -> None:
        """See which output files are ready to be sent."""
        if self.with_outputs:
            self.outputs.look(self.now())

    def close(self) -> None:
        """The receiver is gone."""
        self.outputs.close()

    def _record(self) -> Json | None:
        if not self._records:
            self._load()
        if not self._records or not self._may_send(self._records[0]):
            return None
        return {"event": "record", **self._records.popleft()}

    def _load(self) -> None:
        data = self._journal.read(self._offset, CHUNK)
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = map(record_in, lines)
        self._records.extend(record for record in found if record is not None)

    def _may_send(self, record: Json) -> bool:
        if record.get("type") != "pod" or record.get("phase") not in TERMINAL:
            return True
        if not self._is_clear(str(record.get("uid"))):
            return False
        if self._barrier is None or self._barrier.seq != record["seq"]:
            self._set_barrier(record)
        barrier = self._barrier
        if barrier is None:
            return True
        if any(self.logs.offset(file) < size for file, size in barrier.logs.items()):
            return False
        if barrier.covers > self._covered:
            if self.with_outputs and not self.outputs.idle:
                return False
            self._covered = barrier.covers
        return True

    def _set_barrier(self, record: Json) -> None:
        """Find out what the end of a pod has to wait for."""
        seq = int(record["seq"])
        stem, attempt = record.get("pod"), record.get("attempt")
        names = [item.get("name") for item in record.get("containers") or []]
        logs = self.logs.lag(f"{stem}.{name}.{attempt}.log" for name in names)
        covers = self._covered
        if self.with_outputs and seq > self._covered:
            covers = self._journal.last
            self.outputs.look(self.now(), everything=True, strict=not self.quiet())
        self._barrier = Barrier(seq, covers, logs)
