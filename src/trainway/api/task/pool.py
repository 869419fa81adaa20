"""`pool`: workers that wait for jobs. It is checked here; running it comes later."""

from collections.abc import Iterator
from typing import Any, Final

from trainway.api.task.shape import COUNT, POSITIVE, Number, Record, exclusive
from trainway.schema.field import FieldError, Path, invalid

Json = dict[str, Any]

SHAPE: Final = Record(
    {
        "workers": POSITIVE,
        "min_workers": COUNT,
        "max_workers": POSITIVE,
        "queue_length_threshold": POSITIVE,
        "upscale_delay_seconds": Number(least=0),
        "downscale_delay_seconds": Number(least=0),
    }
)


def errors(data: Json, path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with a pool whose structure is right."""
    for name in ("min_workers", "max_workers"):
        yield from exclusive(data, path, "workers", name)
    least, most = data.get("min_workers"), data.get("max_workers")
    if least is not None and most is not None and most < least:
        yield invalid((*path, "max_workers"), most, f"it is less than min_workers, {least}")
