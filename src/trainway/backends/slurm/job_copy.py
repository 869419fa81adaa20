"""What a job on a cluster left so far, copied to where the server keeps jobs.

The journal here has a numbering of its own, since records of the queue stand between those of the
driver; each of the latter keeps its own number beside it. Files are open only while something
comes: hundreds of jobs may wait.
"""

import asyncio
import time
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.agent.base.journal_reader import END, record_in, records_in
from trainway.agent.base.log_limit import REASON
from trainway.agent.transfer.log_copies import LogCopies, pod_of
from trainway.agent.transfer.output_copies import OutputCopies, RefusedPathError
from trainway.backends import job_file
from trainway.backends.agents import journal
from trainway.backends.agents.jobdir import JobDir
from trainway.backends.base import Update
from trainway.backends.slurm import queue_records
from trainway.backends.slurm.queue_records import SEQ, Entry, JobMemory
from trainway.errors import UnavailableError
from trainway.json_types import Json

HOST: Final = "cluster"
_CHUNK: Final = 1 << 20


class JobCopy:
    """The local directory of one job."""

    def __init__(self, job_id: str, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.id = job_id
        self._path = path
        self._clock = clock
        self._files: _Files | None = None
        self._transfers: set[str] = set()
        self._watchers: set[asyncio.Event] = set()
        self._failure: Exception | None = None
        self._is_whole = True
        self._departure: asyncio.Event | None = None
        self._lacks_output = False
        """Whether something came that there was no room for."""
        self.memory = self._remembered()

    def _remembered(self) -> JobMemory:
        memory = JobMemory()
        for record in journal.read(self._journal, -1):
            memory.take(record)
        return memory

    @property
    def _journal(self) -> Path:
        return self._path / "journal.jsonl"

    @property
    def is_over(self) -> bool:
        """Whether its last record is written."""
        return self.memory.ended

    @property
    def path(self) -> Path:
        """Its directory."""
        return self._path

    @property
    def is_whole(self) -> bool:
        """Whether all that was said of it could be written, as far as this process knows."""
        return self._is_whole

    @property
    def is_receiving(self) -> bool:
        """Whether a part of a file has come, and the rest has not."""
        return bool(self._transfers)

    @property
    def comes_from_elsewhere(self) -> bool:
        """Whether it has a history, and none with Slurm since its last place let go of it."""
        return self.memory.last >= 0 and not self.memory.number

    @property
    def begins_with_output(self) -> bool:
        """Whether it has output before it was ever with Slurm, such as a checkpoint."""
        return not self.memory.number and bool(self.outputs.missing_on(HOST))

    def history(self) -> bytes:
        """Its journal, up to where its last place let go of it: there a driver goes on.

        The driver's logs begin from nothing. So that is written down, once, how long they are here.
        """
        if self.memory.log_bases is None:
            self.add([("agent", {"event": "left", "logs": self._opened().log_offsets()})])
            self.release()
        found: list[bytes] = []
        with job_file.reader(self._path, self._journal) as file:
            for line in file:
                found.append(line)
                record = record_in(line)
                if record is not None and record["seq"] >= self.memory.seq:
                    return b"".join(found)
        self.memory = self._remembered()
        raise UnavailableError("the journal of the job cannot be written", hint="is the disk full?")

    def leave(self) -> None:
        """Write that nothing of it runs, and that another place may go on with it."""
        self.add([("agent", {"event": "left"})])

    def depart(self) -> None:
        """From now on its end in Slurm is not its own: there it is given up."""
        self._departure, self._lacks_output = asyncio.Event(), False

    def stay(self) -> bool:
        """It does not leave after all; whether it was about to."""
        was_departing, self._departure = self._departure is not None, None
        return was_departing

    async def fetched(self) -> bool:
        """Wait until all that a departing job left in Slurm has come; whether it is all here."""
        if self._departure is not None:
            await self._departure.wait()
        return not self._lacks_output

    @property
    def outputs(self) -> OutputCopies:
        """Its output here."""
        return self._opened().outputs

    def position(self) -> Json:
        """The fields of a request for all that is missing here."""
        files = self._opened()
        return {
            "after": self.memory.seq,
            "logs": files.log_offsets(),
            "outputs": files.outputs.whole(),
        }

    def release(self) -> None:
        """Let go of its files; what comes next opens them again."""
        files, self._files = self._files, None
        self._transfers.clear()
        if files is not None:
            files.close()

    def take(self, frame: Mapping[str, Any]) -> bool:
        """Write what a frame brings; False where something before it is missing."""
        if self.is_over:
            return True
        match frame.get("event"):
            case "record":
                self._record(frame["record"])
            case "log":
                file, offset = str(frame.get("file")), int(frame.get("offset") or 0)
                return not pod_of(file) or self._opened().logs.take(file, offset, _data(frame))
            case "output":
                self._output(frame)
            case "slurm" if self._departure is not None:
                if frame.get("final"):
                    self._departure.set()
            case "slurm":
                if frame.get("held") and not self.memory.status:
                    self.memory.status = self._held_status()
                self.add(queue_records.entries_of(frame, self.memory, self._clock()))
        return True

    def _held_status(self) -> Json:
        try:
            plan = JobDir(self._path).read_plan()
        except (OSError, ValueError):
            return {}
        return queue_records.held_status(plan.get("jobset") or {})

    def _record(self, record: Mapping[str, Any]) -> None:
        seq = int(record.get("seq", -1))
        if seq > self.memory.seq:
            fields = {key: record[key] for key in record if key not in ("seq", "type")}
            self.add([(str(record.get("type")), {**fields, SEQ: seq})])

    def _output(self, frame: Mapping[str, Any]) -> None:
        path = str(frame.get("path"))
        if frame.get("last"):
            self._transfers.discard(path)
        else:
            self._transfers.add(path)
        try:
            self._opened().outputs.take(HOST, dict(frame), _data(frame))
        except (OSError, RefusedPathError) as error:
            self._transfers.discard(path)
            self._is_whole = False
            self._lacks_output = self._lacks_output or isinstance(error, OSError)
            self.tell("Warning", "OutputNotCopied", f"output is not copied: {error}")

    def _tell_limit(self, message: str) -> None:
        self.tell("Warning", REASON, message)

    def tell(self, kind: str, reason: str, message: str, **more: str) -> None:
        """Write an event."""
        fields = {"eventType": kind, "reason": reason, "message": message, **more}
        self.add([("event", fields)])

    def submitted(self, number: str) -> None:
        """Note the number that Slurm gave the job, once."""
        if number and number != self.memory.number:
            self.tell("Normal", "Submitted", f"Slurm job {number}", slurmJob=number)

    def lose(self, message: str) -> None:
        """End it, since nothing of it is left where it was."""
        if not self.is_over and self._departure is None:
            frame = {"job": self.memory.number}
            entries = queue_records.ended("LOST", frame, self.memory, self._clock())
            type_, fields = entries[-1]
            self.add([*entries[:-1], (type_, {**fields, "message": message})])

    def add(self, entries: list[Entry]) -> None:
        """Append records."""
        if not entries:
            return
        book = self._opened().journal
        for type_, fields in entries:
            seq = book.append(type_, fields, durable=type_ in ("end", "agent"))
            self.memory.take({"type": type_, **fields, "seq": seq})
        self.wake()

    def wake(self) -> None:
        """Have all watchers look."""
        for watcher in self._watchers:
            watcher.set()

    def interrupt(self, failure: Exception | None) -> None:
        """Tell watchers why nothing comes; None: it does again."""
        self._failure = failure
        self.wake()

    async def watch(self, after: int) -> AsyncIterator[Update]:
        """Records after that number, old and new, until the last one; raises why none come."""
        changed = asyncio.Event()
        self._watchers.add(changed)
        offset = 0
        try:
            while True:
                changed.clear()
                records, offset = _read(self._journal, offset, after)
                if records:
                    yield Update(tuple(records))
                    if records[-1].get("type") == END:
                        return
                    continue
                if self.is_over:
                    return
                if self._failure is not None:
                    raise self._failure
                await changed.wait()
        finally:
            self._watchers.discard(changed)

    def _opened(self) -> "_Files":
        if self._files is None:
            bases = self.memory.log_bases or {}
            self._files = _Files(str(self._path), bases, self._clock, self._tell_limit)
        return self._files


class _Files:
    """Its files while they are open."""

    def __init__(
        self,
        path: str,
        log_bases: dict[str, int],
        clock: Callable[[], float],
        on_limit: Callable[[str], None],
    ) -> None:
        self._directory = Directory(path)
        for name in ("logs", "output"):
            self._directory.make(name)
        self.journal = Journal(self._directory, clock)
        self.journal.records = []
        self.logs = LogCopies(self._directory, log_bases, on_limit)
        self.outputs = OutputCopies(self._directory)

    def log_offsets(self) -> dict[str, int]:
        """How much of each log is here."""
        root = Path(self._directory.path)
        listed = job_file.listing(root, root / "logs")
        return self.logs.offsets({pod_of(name) for name, is_file in listed if is_file})

    def close(self) -> None:
        self.journal.close()
        self._directory.close()


def _data(frame: Mapping[str, Any]) -> bytes:
    try:
        return a2b_base64(str(frame.get("data") or ""))
    except Base64Error:
        return b""


def _read(path: Path, offset: int, after: int) -> tuple[list[Mapping[str, Any]], int]:
    """Records from a place in the file on, as far as they are whole, and the place behind them."""
    try:
        with job_file.reader(path.parent, path) as file:
            file.seek(offset)
            pieces = [file.read(_CHUNK)]
            while pieces[-1] and b"\n" not in pieces[-1]:
                pieces.append(file.read(_CHUNK))
    except FileNotFoundError:
        return [], offset
    found, end = records_in(b"".join(pieces))
    return [record for record in found if record["seq"] > after], offset + end
