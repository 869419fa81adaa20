"""Bringing a job to one host: its plan, large values once per content, and its output so far.

Values that are files of the submitter are read from the job's directory piece by piece, as they go.
The frames go out in one stream, so pods may be started as soon as the last one is handed over; that
the host has carried them out is known when it answers. A delivery that was cut short by the end of
a connection is begun anew on the next one.
"""

from __future__ import annotations

import os
from binascii import b2a_base64
from hashlib import sha256

from trainway.agent.transfer.blobs import FOLDER, stored_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import BinaryIO, Protocol

    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.frames import (
        HaveBlobs,
        HostRequest,
        OutputFields,
        PutBlob,
        PutOutput,
        TakeJob,
    )
    from trainway.json_types import Json

    class Channel(Protocol):
        """The way to the hosts."""

        @abstractmethod
        def send(self, host: str, frame: HostRequest) -> bool:
            """Say something to a host; False where it is not there."""

        @abstractmethod
        def backlog(self, host: str) -> int:
            """How many bytes for a host have yet to be written."""

        @abstractmethod
        def when_room(self, host: str, callback: Callable[[], object]) -> None:
            """Call back once when more can be said; never, if the connection ends before."""

    class Output(Protocol):
        """What a job has written so far."""

        @abstractmethod
        def files_for(self, host: str) -> Iterator[tuple[OutputFields, bytes]]:
            """The fields and the data of `put` frames with all that a host lacks of it."""

        @abstractmethod
        def size_for(self, host: str) -> int:
            """How many bytes that is."""


BLOB_FROM = 1024
PIECE = 192 * 1024
BACKLOG = 4 * 1024 * 1024
VALUES = ("data", "stringData", "binaryData")
POOL_ONLY = ("demand", "priority", "queue", "pool", "oversubscribe")
"""The parts of a plan that no host needs."""


class Parcel:
    """A plan as hosts get it, with the values that travel on their own."""

    def __init__(self, plan: Json) -> None:
        self.blobs: dict[str, bytes] = {}
        self.files = stored_files(plan.get("objects") or [])
        """The values that are files of the job, with their sizes."""
        objects = [self._packed(item) for item in plan.get("objects") or []]
        kept = {key: value for key, value in plan.items() if key not in POOL_ONLY}
        self.plan: Json = {**kept, "objects": objects}

    def _packed(self, item: Json) -> Json:
        packed = dict(item)
        for field in VALUES:
            if item.get(field):
                packed[field] = {key: self._value(value) for key, value in item[field].items()}
        return packed

    def _value(self, value: object) -> object:
        if not isinstance(value, str) or len(value) <= BLOB_FROM:
            return value
        data = value.encode("utf-8", "surrogatepass")
        name = sha256(data).hexdigest()
        self.blobs[name] = data
        return {"$blob": name}


def base64_text(data: bytes) -> str:
    """Bytes as a frame has them."""
    return b2a_base64(data, newline=False).decode("ascii")


class Content:
    """What travels with a plan: values here, and files of the job's directory."""

    def __init__(self, parcel: Parcel, directory: Directory | None) -> None:
        self._parcel = parcel
        self._directory = directory
        self.names = sorted({*parcel.blobs, *parcel.files})

    def size(self, names: Sequence[str]) -> int:
        """The bytes of files among them."""
        return sum(self._parcel.files.get(name, 0) for name in names)

    def frames(self, name: str) -> Iterator[tuple[PutBlob, int]]:
        """The pieces of one, and of a file how many bytes each has."""
        data = self._parcel.blobs.get(name)
        if data is not None:
            for frame in blob_frames(name, data):
                yield frame, 0
        elif name in self._parcel.files and self._directory is not None:
            yield from self._file_frames(self._directory, name)

    def _file_frames(self, directory: Directory, name: str) -> Iterator[tuple[PutBlob, int]]:
        """Nothing, or not all, where it cannot be read: the host then refuses the job."""
        try:
            fd = directory.open(f"{FOLDER}/{name}", os.O_RDONLY)
            with os.fdopen(fd, "rb") as file:
                yield from file_frames(name, file)
        except OSError:
            return


class Delivery:
    """One job on its way to one host."""

    def __init__(
        self,
        host: str,
        job: TakeJob,
        content: Content,
        channel: Channel,
        output: Output,
    ) -> None:
        """`job` is the frame that hands the plan over."""
        self._host = host
        self._job = job
        self._content = content
        self._channel = channel
        self._output = output
        self.size = 0
        """How many bytes the host lacks, of files and of output."""
        self.sent = 0
        """How many bytes of them are on their way."""
        self.on_progress: Callable[[], object] = lambda: None
        self._round = 0
        """How often it was begun, so that what is left of an earlier one stops."""
        self._unanswered = 0
        self.handed_over = False
        """Whether all frames are on their way, so that pods may follow."""
        self.confirmed = False
        """Whether the host has carried them out."""
        self.on_handed_over: Callable[[], object] = lambda: None

    def begin(self) -> None:
        """Send everything, from the start."""
        self._round += 1
        self._unanswered = 0
        self.handed_over = self.confirmed = False
        if self._content.names:
            have: HaveBlobs = {"op": "have", "id": self._job["id"], "blobs": self._content.names}
            self._channel.send(self._host, have)
        else:
            self._pump(self._frames(()), self._round)

    def stop(self) -> None:
        """Send nothing more."""
        self._round += 1

    def on_missing(self, names: Sequence[str]) -> None:
        """The host says which blobs it lacks."""
        if not self.handed_over:
            self._round += 1
            self._pump(self._frames(names), self._round)

    def on_answer(self) -> None:
        """The host has taken the job, and all that came before."""
        self._unanswered -= 1
        self.confirmed = self.handed_over and self._unanswered <= 0

    def _frames(self, names: Sequence[str]) -> Iterator[HostRequest]:
        self.size = self._content.size(names) + self._output.size_for(self._host)
        self.sent = 0
        for name in names:
            for frame, size in self._content.frames(name):
                yield frame
                self._count(size)
        yield self._job
        has_files = False
        for fields, data in self._output.files_for(self._host):
            has_files = True
            put: PutOutput = {
                **fields,
                "op": "put",
                "id": self._job["id"],
                "data": base64_text(data),
            }
            yield put
            self._count(len(data))
        if has_files:
            yield self._job

    def _count(self, size: int) -> None:
        self.sent += size
        if size:
            self.on_progress()

    def _pump(self, frames: Iterator[HostRequest], number: int) -> None:
        """Send for as long as there is room, and go on when there is some again."""
        if number != self._round:
            return
        while self._channel.backlog(self._host) < BACKLOG:
            frame = next(frames, None)
            if frame is None:
                self.handed_over = True
                self.on_handed_over()
                return
            if frame is self._job:
                self._unanswered += 1
            if not self._channel.send(self._host, frame):
                return
        self._channel.when_room(self._host, lambda: self._pump(frames, number))


def blob_frames(name: str, data: bytes) -> Iterator[PutBlob]:
    """A large value, piece by piece."""
    for start in range(0, len(data), PIECE):
        piece = data[start : start + PIECE]
        last = start + PIECE >= len(data)
        text = base64_text(piece)
        frame: PutBlob = {
            "op": "blob",
            "sha256": name,
            "offset": start,
            "data": text,
            "last": last,
        }
        yield frame


def file_frames(name: str, file: BinaryIO) -> Iterator[tuple[PutBlob, int]]:
    """A file, piece by piece, with how many bytes each has; an empty one is one piece."""
    offset, piece = 0, file.read(PIECE)
    while True:
        following = file.read(PIECE)
        text = base64_text(piece)
        last = not following
        frame: PutBlob = {
            "op": "blob",
            "sha256": name,
            "offset": offset,
            "data": text,
            "last": last,
        }
        yield frame, len(piece)
        if not following:
            return
        offset, piece = offset + len(piece), following


class Deliveries:
    """One job on its way to all hosts of its placement."""

    def __init__(
        self,
        plan: Json,
        channel: Channel,
        output: Output,
        on_handed_over: Callable[[str], object],
        served: Collection[str],
        directory: Directory | None = None,
    ) -> None:
        """`served` are hosts that had the job when an earlier pool agent died.

        `directory` is that of the job, with the files that travel.
        """
        self._plan = plan
        self._parcel: Parcel | None = None
        """What is delivered; it is made when the first host is to get it, since jobs may wait for
        long."""
        self._id = str(plan["id"])
        self._channel = channel
        self._output = output
        self._on_handed_over = on_handed_over
        self._served = set(served)
        self._directory = directory
        self.on_progress: Callable[[str, int, int], object] = lambda _host, _sent, _size: None
        """Called with a host, how many bytes are on their way to it, and of how many."""
        self._deliveries: dict[str, Delivery] = {}

    def begin_anew(self) -> None:
        """No host has the job as it is to be from now on."""
        self._stop()
        self._served = set()

    def drop(self, host: str) -> None:
        """A host is no more."""
        self._served.discard(host)
        self._stop(host)

    def send(self, host: str, token: int) -> None:
        """Bring the job to a host."""
        parcel = self._parcel = self._parcel or Parcel(self._plan)
        job: TakeJob = {"op": "job", "id": self._id, "token": token, "plan": parcel.plan}
        content = Content(parcel, self._directory)
        delivery = Delivery(host, job, content, self._channel, self._output)
        delivery.on_handed_over = lambda: self._on_handed_over(host)
        delivery.on_progress = lambda: self.on_progress(host, delivery.sent, delivery.size)
        self._served.discard(host)
        self._stop(host)
        self._deliveries[host] = delivery
        delivery.begin()

    def clear(self) -> None:
        """The job is over: its files need to travel no more."""
        self._stop()
        if self._directory is not None:
            for name in stored_files(self._plan.get("objects") or []):
                self._directory.remove(f"{FOLDER}/{name}")

    def _stop(self, *hosts: str) -> None:
        """Forget what is on its way to these hosts, or to all."""
        for host in hosts or tuple(self._deliveries):
            delivery = self._deliveries.pop(host, None)
            if delivery is not None:
                delivery.stop()

    def repeat(self, host: str, token: int) -> None:
        """Bring the job once more, unless a host is known to have it."""
        delivery = self._deliveries.get(host)
        if delivery is None and host not in self._served:
            self.send(host, token)
        elif delivery is not None and not delivery.confirmed:
            delivery.begin()

    def is_served(self, host: str) -> bool:
        """Whether pods may be sent to a host."""
        delivery = self._deliveries.get(host)
        return delivery.handed_over if delivery is not None else host in self._served

    def on_missing(self, host: str, names: Sequence[object]) -> None:
        """A host says which blobs it lacks."""
        if host in self._deliveries:
            self._deliveries[host].on_missing([str(name) for name in names])

    def on_answer(self, host: str) -> None:
        """A host has taken the job."""
        if host in self._deliveries:
            self._deliveries[host].on_answer()
