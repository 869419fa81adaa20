"""What becomes of a pod, told to its driver and kept for the next one.

Each record is a line in a file of the pod's own, for a driver that comes when this one is gone, and
the same line on standard output, which srun carries to the driver at once: on a shared file system
it could take seconds until another node sees a file grow. Of several tasks srun mixes lines that
are longer than 1024 bytes, so that those go in parts.
"""

from __future__ import annotations

import json
import os
from binascii import a2b_base64, b2a_base64

from trainway.agent.base.clock import rfc3339
from trainway.agent.base.journal_reader import object_in
from trainway.agent.base.pod_status import TERMINAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trainway.agent.base.directory import Directory
    from trainway.agent.base.event_loop import EventLoop
    from trainway.json_types import Json


FOLDER = "pods"
LONGEST, PART = 1000, 600
"""How many bytes of a line srun keeps whole, and how many one part brings."""


def path_of(uid: str) -> str:
    """The file of a pod, in the job's directory."""
    return f"{FOLDER}/{uid}.jsonl"


def last_record(directory: Directory, uid: str) -> Json | None:
    """How a pod ended, by its file; None where it did not, or nobody knows."""
    try:
        text = directory.read(path_of(uid))
    except OSError:
        return None
    for line in reversed(text.splitlines()):
        record = object_in(line)
        if record is not None and record.get("type") == "pod":
            return record if record.get("phase") in TERMINAL else None
    return None


def parts_of(line: bytes, uid: str) -> Iterator[bytes]:
    """A line as it is sent: one that is too long in several, each a line of its own."""
    if len(line) <= LONGEST:
        yield line
        return
    for start in range(0, len(line), PART):
        text = b2a_base64(line[start : start + PART], newline=False).decode()
        part = {"uid": uid, "part": text, "last": start + PART >= len(line)}
        yield json.dumps(part).encode() + b"\n"


class Parts:
    """Puts together what came in parts."""

    def __init__(self) -> None:
        self._parts: dict[str, bytes] = {}

    def whole(self, record: Json) -> Json | None:
        """The record that this is, or that it completes; None where something is to come."""
        if "part" not in record:
            return record
        uid = str(record["uid"])
        data = self._parts.pop(uid, b"") + a2b_base64(record["part"])
        if not record["last"]:
            self._parts[uid] = data
            return None
        found: Json = json.loads(data)
        return found


class Recorder:
    """Writes the records of one pod; the last one only when `finish` says so."""

    def __init__(
        self, directory: Directory, uid: str, loop: EventLoop, now: Callable[[], float]
    ) -> None:
        directory.make(FOLDER)
        self._uid = uid
        self._loop = loop
        self._now = now
        self._file = directory.open(path_of(uid), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._output = os.dup(1)
        os.set_blocking(self._output, False)
        self._unsent = b""
        self._seq = -1
        self._final = b""
        self._on_sent: Callable[[], object] | None = None

    def append(self, type_: str, fields: Mapping[str, object]) -> int:
        """Add a record; its number."""
        self._seq += 1
        record: Json = {"seq": self._seq, "time": rfc3339(self._now()), "type": type_}
        record.update(fields, uid=self._uid)
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        if type_ == "pod" and record.get("phase") in TERMINAL:
            self._final = line
        elif type_ == "usage":  # of no use to the next driver
            self._send(line)
        else:
            self._write(line)
        return self._seq

    def _write(self, line: bytes) -> None:
        try:
            os.write(self._file, line)
        except OSError as error:
            os.write(2, f"a record of pod {self._uid} is not kept: {error.strerror}\n".encode())
        self._send(line)

    def say(self, type_: str, **fields: object) -> None:
        """Tell the driver something that is of no use later."""
        line = json.dumps({"type": type_, "uid": self._uid, **fields}).encode() + b"\n"
        self._send(line)

    def finish(self, done: Callable[[], object]) -> None:
        """Write how the pod ended, now that nothing of it runs any more.

        Calls back when all is kept and told, or nobody is there to be told.
        """
        if self._final:
            self._write(self._final)
        os.close(self._file)
        self._on_sent = done
        self._flush()

    def _send(self, line: bytes) -> None:
        if self._output >= 0:
            self._unsent += b"".join(parts_of(line, self._uid))
            self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent and self._output >= 0:
                self._unsent = self._unsent[os.write(self._output, self._unsent) :]
        except BlockingIOError:
            self._loop.watch(self._output, on_writable=self._flush)
            return
        except OSError:
            self._loop.forget(self._output)
            os.close(self._output)
            self._output, self._unsent = -1, b""
        if self._output >= 0:
            self._loop.forget(self._output)
        if self._on_sent is not None:
            done, self._on_sent = self._on_sent, None
            done()
