"""The jobs that are not over, found by what a round of the queue asks for.

A server has ten thousand of them, and few change between two rounds. So each is filed by where it
waits or runs, and filed anew only when its record has become another one: what a round costs
follows from how many wait and how many have changed, and not from how many there are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainway.backends.base import Backend
from trainway.engine.live import LiveJob
from trainway.engine.phases import WAITING
from trainway.engine.queue import Holding
from trainway.engine.queue_entry import held_by
from trainway.engine.record import JobRecord

_Shelf = dict[str, LiveJob]
"""Jobs by their ids."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one is filed."""

    live: LiveJob
    backend: str
    queue: str
    run: str | None
    waits: bool
    makes_room: bool


class LiveJobs(Mapping[str, LiveJob]):
    """All live jobs of a server, by their ids; observes what becomes of their records."""

    def __init__(self) -> None:
        self.left: dict[str, JobRecord] = {}
        """Those that could not be taken up, by their ids, as far as their records can be read."""
        self._jobs: _Shelf = {}
        self._places: dict[str, _Place] = {}
        self._stale: set[str] = set()
        """Those that are not filed as they are now."""
        self._news: set[str] = set()
        """Those that have changed since somebody asked for the news."""
        self._waiting: _Shelf = {}
        self._making_room: _Shelf = {}
        self._backends: dict[str, _Shelf] = {}
        self._queues: dict[str, _Shelf] = {}
        self._runs: dict[str, _Shelf] = {}

    def __getitem__(self, job_id: str) -> LiveJob:
        return self._jobs[job_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._jobs)

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, live: LiveJob) -> None:
        """There is one more."""
        self._jobs[live.id] = live
        self._touch(live.id)

    def remove(self, job_id: str) -> bool:
        """One is over, or gone; False: it was not there."""
        is_there = self._jobs.pop(job_id, None) is not None
        self._touch(job_id)
        return is_there

    def leave(self, record: JobRecord) -> None:
        """Nobody looks after one of them; what it was given, it has."""
        self.remove(record.id)
        self.left[record.id] = record

    def forget_left(self, job_id: str) -> None:
        """One of those is gone."""
        self.left.pop(job_id, None)
        self._touch(job_id)

    def created(self, record: JobRecord) -> None:
        """A job is added as soon as somebody looks after it."""

    def changed(self, before: JobRecord, after: JobRecord) -> None:
        """Its record has become another one."""
        del before
        self._touch(after.id)

    def gone(self, record: JobRecord) -> None:
        """A job is removed by whoever looks after it."""

    def records(self) -> list[JobRecord]:
        """All that are not over, whether somebody looks after them or not."""
        return [*self.left.values(), *(live.record for live in self._jobs.values())]

    def records_at(self, backend: str) -> list[JobRecord]:
        """Those of them that a backend of this name has or will have."""
        left = [record for record in self.left.values() if record.backend == backend]
        return [*left, *(live.record for live in self.of_backend(backend))]

    def records_in(self, queue: str) -> list[JobRecord]:
        """Those of them in a managed queue."""
        left = [record for record in self.left.values() if record.queue == queue]
        return [*left, *(live.record for live in self.of_queue(queue))]

    def records_of(self, run_id: str) -> list[JobRecord]:
        """Those of them that a run has."""
        left = [record for record in self.left.values() if record.run == run_id]
        return [*left, *(live.record for live in self.of_run(run_id))]

    def held(self, backend: Backend) -> list[Holding]:
        """What they hold of what a backend has."""
        lives = self.of_backend(backend.name)
        left = [held_by(each) for each in self.left.values() if each.backend == backend.name]
        held = [*left, *(live.holding for live in lives if live.backend is backend)]
        return [holding for holding in held if holding is not None]

    def news(self) -> set[str]:
        """The ids of those that changed, came or went since the last call."""
        found, self._news = self._news, set()
        return found

    @property
    def waiting(self) -> list[LiveJob]:
        """Those of which nothing runs, though it should."""
        self._file()
        return list(self._waiting.values())

    @property
    def making_room(self) -> list[LiveJob]:
        """Those that make room for others, have made it and wait, or do with fewer nodes."""
        self._file()
        return list(self._making_room.values())

    def of_backend(self, name: str) -> list[LiveJob]:
        """Those that a backend of this name has or will have."""
        self._file()
        return list(self._backends.get(name, {}).values())

    def of_queue(self, name: str) -> list[LiveJob]:
        """Those of a managed queue."""
        self._file()
        return list(self._queues.get(name, {}).values())

    def of_run(self, run_id: str) -> list[LiveJob]:
        """Those of a run."""
        self._file()
        return list(self._runs.get(run_id, {}).values())

    def _touch(self, job_id: str) -> None:
        self._stale.add(job_id)
        self._news.add(job_id)

    def _file(self) -> None:
        for job_id in sorted(self._stale):  # ids are given out in the order of arrival
            live = self._jobs.get(job_id)
            place = None if live is None else _place(live)
            before = self._places.get(job_id)
            if before != place:
                self._take_out(job_id, before)
                self._put(job_id, place)
        self._stale.clear()

    def _take_out(self, job_id: str, place: _Place | None) -> None:
        if place is None:
            return
        del self._places[job_id]
        for shelf in (self._waiting, self._making_room):
            shelf.pop(job_id, None)
        _remove(self._backends, place.backend, job_id)
        _remove(self._queues, place.queue, job_id)
        if place.run is not None:
            _remove(self._runs, place.run, job_id)

    def _put(self, job_id: str, place: _Place | None) -> None:
        if place is None:
            return
        live = place.live
        self._places[job_id] = place
        if place.waits:
            self._waiting[job_id] = live
        if place.makes_room:
            self._making_room[job_id] = live
        self._backends.setdefault(place.backend, {})[job_id] = live
        self._queues.setdefault(place.queue, {})[job_id] = live
        if place.run is not None:
            self._runs.setdefault(place.run, {})[job_id] = live


def _place(live: LiveJob) -> _Place:
    record = live.record
    makes_room = record.making_room is not None or record.node_limit is not None
    waits = record.phase in WAITING
    return _Place(live, record.backend, record.queue, record.run, waits, makes_room)


def _remove(shelves: dict[str, _Shelf], name: str, job_id: str) -> None:
    shelf = shelves[name]
    del shelf[job_id]
    if not shelf:
        del shelves[name]
