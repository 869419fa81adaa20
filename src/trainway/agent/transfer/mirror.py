"""The directory of a job, kept like those of its nodes where no file system does that.

What `slurm feed` sends is written down in the same order: journal, logs, output. Several nodes may
send; each file of a log is written by one of them, and of two that write the same output file the
later one counts.
"""

from __future__ import annotations

import errno
import os
from binascii import a2b_base64

from trainway.agent.base.journal import Journal
from trainway.agent.transfer.file_names import STOPPED
from trainway.agent.transfer.log_copies import LogCopies, pod_of
from trainway.agent.transfer.output_copies import OutputCopies, RefusedPathError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.frames import Position
    from trainway.json_types import Json


NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Mirror:
    """Writes what nodes send; `record` says what is done with records, and with their last."""

    def __init__(self, directory: Directory, record: Callable[[Json], None]) -> None:
        for name in ("logs", "output"):
            directory.make(name)
        self._directory = directory
        self._record = record
        self._logs = LogCopies(directory, {})
        self._outputs = OutputCopies(directory)

    def position(self) -> Position:
        """What need not be sent."""
        names = os.listdir(self._directory.join("logs"))
        logs = self._logs.offsets({pod_of(name) for name in names})
        return {"logs": logs, "outputs": self._outputs.whole()}

    def forget(self, node: str) -> None:
        """A node sends no more."""
        self._outputs.forget_host(node)

    def take(self, node: str, frame: Json) -> bool:
        """Write what a frame brings; False where there is no room: then it has to come again."""
        event = frame.get("event")
        try:
            if event == "record":
                self._record(frame["record"])
            elif event == "log" and pod_of(str(frame["file"])):
                return self._take_log(frame)
            elif event == "output":
                self._outputs.take(node, frame, a2b_base64(frame["data"]))
            elif event == STOPPED:
                self._directory.replace(STOPPED, str(frame["token"]).encode())
        except RefusedPathError as error:
            os.write(2, f"output of {node} is not kept: {error}\n".encode())
        except OSError as error:
            os.write(2, f"{event} of {node} is not kept: {error}\n".encode())
            return error.errno not in NO_ROOM
        return True

    def _take_log(self, frame: Json) -> bool:
        data = a2b_base64(frame["data"])
        return self._logs.take(str(frame["file"]), int(frame["offset"]), data)


class JournalCopy:
    """The journal of a driver elsewhere; record for record the same."""

    def __init__(self, directory: Directory, now: Callable[[], float]) -> None:
        self._journal = Journal(directory, now)
        self.ended = any(record["type"] == "end" for record in self._journal.records[-1:])
        self._journal.records = []

    @property
    def last(self) -> int:
        """The number of the last record."""
        return self._journal.last

    @property
    def is_complete(self) -> bool:
        """Whether all records up to the last one are on disk, and not only in memory."""
        return self.ended and self._journal.flush()

    def take(self, record: Json) -> None:
        """Append a record, if it is the next one."""
        if int(record["seq"]) == self.last + 1 and not self.ended:
            fields = {key: value for key, value in record.items() if key not in ("seq", "type")}
            self.ended = record["type"] == "end"
            self._journal.append(str(record["type"]), fields, durable=self.ended)

    def close(self) -> None:
        """Let go of it."""
        self._journal.close()
