"""What the head knows: which workers there are, which files each has, and so where rows are.

Workers report again and again (`join`), and the answer says which files they shall have and how the
rows are numbered. The head keeps nothing on disk: a new one learns from the next reports what its
workers have. A worker that does not report for a while is given up, and its files go to others.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.data.flight.assignment import Layout, assign
from trainway.data.flight.order import Order, Shuffle
from trainway.data.flight.plan import Plan
from trainway.data.flight.row_range import RowRange, upstream_share
from trainway.errors import UnavailableError, UsageError

PATIENCE_S: Final = 20.0
"""How long a worker may be silent."""
READERS_S: Final = 300.0
"""For how long somebody who asked for rows counts as a reader."""
_MOST_READERS: Final = 10_000
_MOST_WORKERS: Final = 10_000
_MOST_DIGITS: Final = 18


@dataclass(frozen=True)
class Report:
    """What a worker says of itself."""

    name: str
    address: str
    version: str = ""
    """Of the table that it has."""
    counts: Mapping[int, int] = field(default_factory=dict)
    """Rows by the number of the file."""
    is_placed: bool = False
    error: str = ""
    is_final: bool = False
    """Whether trying again cannot mend the error."""


@dataclass(frozen=True)
class Orders:
    """What the head answers."""

    version: str
    files: Sequence[int]
    plan: Plan | None = None
    """For workers that do not have it."""
    counts: Sequence[int] | None = None
    """Rows of all files, once they are known, for workers that do not know them."""
    is_ready: bool = False


@dataclass(frozen=True)
class Share:
    """Rows for one reader, and who has them."""

    rows: int
    segments: Sequence[tuple[str, Sequence[RowRange]]]
    """Addresses, each with the rows to ask it for."""


@dataclass
class _Member:
    report: Report
    seen: float
    has: frozenset[int] = frozenset()


class Head:
    """The head of a cache of one table."""

    def __init__(
        self,
        planned: Plan,
        workers: int,
        clock: Callable[[], float],
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.plan = planned
        self._workers = workers
        self._clock = clock
        self._patience_s = patience_s
        self._begun = clock()
        self._members: dict[str, _Member] = {}
        self._owners: dict[int, str] = {}
        self._counts: dict[int, int] = {}
        self._layout: Layout | None = None
        self._readers: dict[str, float] = {}
        self._lock = threading.Lock()

    def join(self, report: Report) -> Orders:
        """Take a worker's report, and say what it shall have."""
        with self._lock:
            same = report.version == self.plan.version
            counts = report.counts if same else {}
            known = {file: rows for file, rows in counts.items() if file < len(self.plan.files)}
            has = frozenset(known)
            self._forget_silent()
            if report.name not in self._members and len(self._members) >= _MOST_WORKERS:
                raise UsageError(f"the cache has {_MOST_WORKERS} workers already")
            self._members[report.name] = _Member(report, self._clock(), has)
            self._counts.update(known)
            self._assign()
            if self._layout is None and len(self._counts) == len(self.plan.files):
                self._layout = Layout([self._counts[file] for file in range(len(self._counts))])
            is_told = report.is_placed and same
            return Orders(
                self.plan.version,
                sorted(file for file, owner in self._owners.items() if owner == report.name),
                None if same else self.plan,
                None if is_told or self._layout is None else self._sizes(),
                is_ready=not self._missing(),
            )

    def share(self, words: Sequence[str]) -> Share:
        """Who has the rows of a part: `[index, total]`, or with seed and epoch behind them."""
        index, total, *rest = numbers(words)
        with self._lock:
            if self._layout is None:
                raise UnavailableError(
                    f"the cache is not ready: {self._missing()}", hint="ask again later"
                )
            layout, owners = self._layout, dict(self._owners)
            served = {name: each for name, each in self._members.items() if each.report.is_placed}
        rows = upstream_share(layout.rows, index, total)
        segments: dict[str, list[RowRange]] = {}
        found: list[tuple[str, Sequence[RowRange]]] = []
        order = Order(layout.rows, Shuffle(*rest)) if rest else None
        for here in [rows] if order is None else order.runs(rows):
            for file, _ in layout.files(here):
                if owners[file] not in served or file not in served[owners[file]].has:
                    raise UnavailableError(
                        f"{owners[file]} is loading these rows again", hint="ask again later"
                    )
            for each in layout.segments(here, owners):
                segments.setdefault(each.worker, []).append(each.rows)
                found.append((served[each.worker].report.address, [each.rows]))
        if rest:
            found = [(served[name].report.address, each) for name, each in segments.items()]
        return Share(len(rows), found or _nothing(served.values()))

    def note_reader(self, peer: str) -> None:
        """Somebody has asked for rows."""
        with self._lock:
            now = self._clock()
            self._readers = {
                name: seen for name, seen in self._readers.items() if now - seen < READERS_S
            }
            if peer in self._readers or len(self._readers) < _MOST_READERS:
                self._readers[peer] = now

    def figures(self) -> dict[str, Any]:
        """How the cache stands in numbers, which anybody may see."""
        with self._lock:
            missing, now = self._missing(), self._clock()
            return {
                "ready": not missing,
                "reason": missing,
                "files": len(self.plan.files),
                "bytes": sum(each.weight for each in self.plan.files),
                "rows": None if self._layout is None else self._layout.rows,
                "readers": sum(now - seen < READERS_S for seen in self._readers.values()),
            }

    def missing(self) -> str:
        """Why the cache cannot be read yet; nothing if it can."""
        with self._lock:
            return self._missing()

    def fatal(self) -> str:
        """Why the cache will never be ready; nothing if it may be."""
        with self._lock:
            found = [each.report for each in self._members.values() if each.report.is_final]
            return "" if self._layout or not found else f"{found[0].name}: {found[0].error}"

    def describe(self) -> dict[str, Any]:
        """How the cache stands, for people."""
        with self._lock:
            missing = self._missing()
            now = self._clock()
            return {
                "table": self.plan.table,
                "version": self.plan.version,
                "ready": not missing,
                "waitingFor": missing,
                "files": len(self.plan.files),
                "rows": None if self._layout is None else self._layout.rows,
                "workers": [
                    {
                        "name": name,
                        "address": each.report.address,
                        "files": len(each.has),
                        "rows": sum(each.report.counts.values()),
                        "silentSeconds": round(now - each.seen, 1),
                        "error": each.report.error,
                    }
                    for name, each in sorted(self._members.items())
                ],
            }

    def _forget_silent(self) -> None:
        """Know nothing more of workers that are gone and whose files others have."""
        needed, now = set(self._owners.values()), self._clock()
        self._members = {
            name: each
            for name, each in self._members.items()
            if name in needed or now - each.seen <= self._patience_s
        }

    def _assign(self) -> None:
        now = self._clock()
        late = now - self._begun > self._patience_s
        live = [name for name, each in self._members.items() if now - each.seen <= self._patience_s]
        if not self._owners:
            has_rows = any(each.has for each in self._members.values())
            if len(live) < self._workers and not (late and has_rows):
                return
            held = {file: name for name in sorted(live) for file in self._members[name].has}
            self._owners = held
        if set(self._owners.values()) <= set(live) and len(self._owners) == len(self.plan.files):
            return
        weights = [each.weight for each in self.plan.files]
        self._owners = assign(weights, sorted(live), self._owners)
        self._members = {name: self._members[name] for name in live}

    def _missing(self) -> str:
        if not self._owners and self.plan.files:
            return f"{len(self._members)} of {self._workers} workers have reported"
        here = sum(self._has(owner, file) for file, owner in self._owners.items())
        if here < len(self.plan.files):
            found = [each.report for each in self._members.values() if each.report.error]
            errors = "".join(f"; {each.name}: {each.error}" for each in found)
            return f"{here} of {len(self.plan.files)} files are loaded{errors}"
        owners = set(self._owners.values())
        told = sum(self._members[owner].report.is_placed for owner in owners)
        return "" if told == len(owners) else f"{told} of {len(owners)} workers know their rows"

    def _has(self, owner: str, file: int) -> bool:
        return owner in self._members and file in self._members[owner].has

    def _sizes(self) -> list[int]:
        return [self._counts[file] for file in range(len(self.plan.files))]


def _nothing(members: Iterable[_Member]) -> Sequence[tuple[str, Sequence[RowRange]]]:
    """For a reader without rows: a place where it can read none."""
    return [(each.report.address, []) for each in members][:1]


def numbers(words: Sequence[str]) -> list[int]:
    """The numbers of a path that a client sends."""
    if len(words) not in {2, 4} or not all(_is_number(word) for word in words):
        raise UsageError(
            "the path of a descriptor is [index, total], or [index, total, seed, epoch]",
            hint="all of them numbers, written as strings",
        )
    return [int(word) for word in words]


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS
