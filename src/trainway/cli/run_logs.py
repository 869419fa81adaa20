"""The logs of several jobs at once, line by line as they come, until all of the jobs have ended."""

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Final

from trainway.cli.log_text import LogText, batches
from trainway.errors import NotFoundError, TrainwayError
from trainway.json_types import Json
from trainway.sdk.rest import LogQuery, Rest
from trainway.sdk.transport import StreamControl

_AT_A_TIME: Final = 50
"""Jobs that are followed at a time; the next one follows when one has ended."""
_WAITING: Final = 1_000
"""Texts that wait to be printed, at most."""


def followed(
    rest: Rest, jobs: Sequence[Json], *, tail: int | None, colourful: bool, named: bool = True
) -> Iterator[str]:
    """Texts to print: each line begins with the name of its job, unless nodes tell enough."""
    names = [f"{job['metadata']['name']} " if named else "" for job in jobs]
    width = max(map(len, names), default=0)
    texts: queue.Queue[str | TrainwayError | None] = queue.Queue(_WAITING)
    left: queue.SimpleQueue[tuple[str, Json]] = queue.SimpleQueue()
    for name, job in zip(names, jobs, strict=True):
        left.put((name.ljust(width), job))
    control = StreamControl()

    def work() -> None:
        while not control.is_over():
            try:
                name, job = left.get_nowait()
            except queue.Empty:
                break
            try:
                for text in _of_job(rest, job, tail, name, colourful=colourful):
                    texts.put(text)
            except NotFoundError:  # it was deleted, or its logs were
                continue
            except TrainwayError as error:
                texts.put(error)
        texts.put(None)

    workers = min(_AT_A_TIME, len(jobs))
    for number in range(workers):
        threading.Thread(target=work, name=f"logs-{number}", daemon=True).start()
    try:
        while workers:
            text = texts.get()
            if isinstance(text, TrainwayError):
                raise text
            if text is None:
                workers -= 1
            else:
                yield text
    finally:
        control.stop()


def _of_job(
    rest: Rest, job: Json, tail: int | None, name: str, *, colourful: bool
) -> Iterator[str]:
    shown = LogText(colourful=colourful, joined=False)
    for batch in batches(rest.logs(job["metadata"]["id"], LogQuery(tail=tail, follow=True)), 1):
        yield f"{name}{shown.lines(batch)}"
