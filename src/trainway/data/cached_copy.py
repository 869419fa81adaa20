"""Files from the cache of this machine into a folder, and from their source into it if need be.

Small files are fetched side by side, since each waits for its server longer than it takes to send;
large ones one after the other, each in parts side by side, so that memory stays bounded. What has
no room in the cache goes past it.
"""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from trainway.data.cache import Cache, NoDiskRoomError, NoRoomError, TooLargeError
from trainway.data.download import said_of
from trainway.data.placing import place
from trainway.data.transfer import Options, Outcome, Progress, Wanted, fetch
from trainway.errors import TrainwayError

_PAST: Final[Mapping[type[TrainwayError], str]] = {
    TooLargeError: "it is too large for the cache, and goes past it",
    NoDiskRoomError: "the disk of the cache has no room for it: it goes past the cache",
    NoRoomError: "running jobs use the cache, which has no room for it: it goes past the cache",
}


def bring(cache: Cache, wanted: Sequence[Wanted], options: Options | None = None) -> Outcome:
    """Have all files at their targets; nothing is fetched that is in the cache."""
    options = options or Options()
    bringing = _Bringing(cache, options, Outcome(size=sum(each.entry.size for each in wanted)))
    small, large = list[Wanted](), list[Wanted]()
    for each in wanted:
        part_size = options.part_size or each.source.part_size
        (small if each.entry.size <= part_size else large).append(each)
    with ThreadPoolExecutor(options.workers, thread_name_prefix="file") as pool:
        futures = [pool.submit(bringing.one, each, 1) for each in small]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    for each in large:
        bringing.one(each, options.workers)
    return bringing.outcome


@dataclass
class _Bringing:
    cache: Cache
    options: Options
    outcome: Outcome
    _done: int = 0
    _said: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def one(self, wanted: Wanted, workers: int) -> None:
        """Bring one file."""
        options = replace(self.options, workers=workers, progress=self._progress(workers))
        try:
            outcome = self._through(wanted, options)
        except (TooLargeError, NoRoomError) as error:
            self._say(_PAST[type(error)])
            outcome = fetch([wanted], options)
        with self._lock:
            self.outcome.files += 1
            self.outcome.fetched += outcome.fetched
            self.outcome.present += outcome.present
            self._done += wanted.entry.size
            self._tell(self._done)

    def _through(self, wanted: Wanted, options: Options) -> Outcome:
        """Have a file in the cache, and from there at its target."""
        lease, outcome = self.cache.lease(wanted, options)
        with lease:
            try:
                place(lease.path, wanted.target, wanted.uri, may_link=self.options.may_link)
            except OSError as error:
                raise said_of(error, wanted.target) from None
        return outcome

    def _say(self, text: str) -> None:
        """Say it once, of however many files it is true."""
        with self._lock:
            is_new = text not in self._said
            self._said.add(text)
        if is_new and self.options.say is not None:
            self.options.say(text)

    def _progress(self, workers: int) -> Progress | None:
        """How a large file comes on is told, too; nothing else comes meanwhile."""
        if workers == 1 or self.options.progress is None:
            return None
        return lambda arrived, _total: self._tell(self._done + arrived)

    def _tell(self, arrived: int) -> None:
        if self.options.progress is not None:
            self.options.progress(arrived, self.outcome.size)
