"""Files from the cache of this machine into a folder, and from their source into it if need be.

Small files are fetched side by side, since each waits for its server longer than it takes to send;
large ones one after the other, each in parts side by side, so that memory stays bounded.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from trainway.data.cache import Cache
from trainway.data.download import said_of
from trainway.data.placing import place
from trainway.data.transfer import Options, Outcome, Progress, Wanted


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
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def one(self, wanted: Wanted, workers: int) -> None:
        """Bring one file."""
        options = replace(self.options, workers=workers, progress=self._progress(workers))
        lease, outcome = self.cache.lease(wanted, options)
        with lease:
            try:
                place(lease.path, wanted.target, wanted.uri, may_link=self.options.may_link)
            except OSError as error:
                raise said_of(error, wanted.target) from None
        with self._lock:
            self.outcome.files += 1
            self.outcome.fetched += outcome.fetched
            self.outcome.present += outcome.present
            self._done += wanted.entry.size
            self._tell(self._done)

    def _progress(self, workers: int) -> Progress | None:
        """How a large file comes on is told, too; nothing else comes meanwhile."""
        if workers == 1 or self.options.progress is None:
            return None
        return lambda arrived, _total: self._tell(self._done + arrived)

    def _tell(self, arrived: int) -> None:
        if self.options.progress is not None:
            self.options.progress(arrived, self.outcome.size)
