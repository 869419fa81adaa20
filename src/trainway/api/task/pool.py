"""`pool`: workers that wait for jobs, of the task that sets them up. It is checked here."""

from collections.abc import Iterator
from typing import Final

from trainway.api.timeout import LONGEST
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, invalid, required
from trainway.schema.shape import COUNT, POSITIVE, Number, Record

MOST_WORKERS: Final = 1000
SHAPE: Final = Record(
    {
        "workers": COUNT,
        "min_workers": COUNT,
        "max_workers": COUNT,
        "queue_length_threshold": POSITIVE,
        "upscale_delay_seconds": Number(least=0, most=LONGEST),
        "downscale_delay_seconds": Number(least=0, most=LONGEST),
    }
)

HAS_RUN: Final = (
    "run: a worker pool has only a setup, and its jobs bring their own run; leave it out, and use "
    "trainway jobs launch -p NAME for the jobs"
)
_GROWTH: Final = ("queue_length_threshold", "upscale_delay_seconds", "downscale_delay_seconds")


def errors(data: Json, path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with a pool whose structure is right.

    `workers` beside `max_workers` is where a pool that grows begins, unless `min_workers` says so.
    """
    most = data.get("max_workers")
    name = "min_workers" if data.get("min_workers") is not None else "workers"
    least = data.get(name)
    if least is None and most is None:
        detail = "a pool needs either workers, or min_workers and max_workers"
        yield required((*path, "workers"), detail)
    elif most is None:
        for other in ("min_workers", *_GROWTH):
            if data.get(other) is not None:
                detail = f"{other} can only be used together with max_workers"
                yield required((*path, "max_workers"), detail)
                return
    elif least is not None and most < least:
        detail = f"must not be less than {name}, which is {least}"
        yield invalid((*path, "max_workers"), most, detail)
