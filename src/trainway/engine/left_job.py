"""Jobs that a server could not take up when it started, and what is known of them. Pure.

Nobody looks after such a job, but what it was given it still has: it counts in the queue of its
machine, for its queue and its run, for its schedule and for its volumes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from trainway.backends.demand import Demand
from trainway.engine.attempt_runs import Runs
from trainway.engine.observation import Observation
from trainway.engine.queue import names_of
from trainway.engine.queue_entry import demand_of, devices_of
from trainway.engine.queues.gangs import user_of
from trainway.engine.queues.making_room import read_making_room
from trainway.engine.queues.node_limit import node_limit
from trainway.engine.queues.running_use import line_of
from trainway.engine.record import JobRecord

NOT_TAKEN_UP: Final = "NotTakenUp"
"""The reason of a job that this server could not take up."""


def is_left(record: JobRecord) -> bool:
    """Whether nobody looks after a job although it is not over."""
    return record.reason == NOT_TAKEN_UP and not record.is_over


def check_readable(record: JobRecord) -> None:
    """Raise whatever comes of a record that cannot be read: each round of the queue reads all."""
    for read, _ in _COLUMNS.values():
        read(record)


def readable(record: JobRecord) -> JobRecord:
    """What can be read of a job; one that was taken up can be read as it is."""
    return without_unreadable(record) if is_left(record) else record


def without_unreadable(record: JobRecord) -> JobRecord:
    """The record, with nothing in the columns that cannot be read."""
    for name, (read, nothing) in _COLUMNS.items():
        try:
            read(record)
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            record = record.with_columns({name: nothing})
    return record


def runs_of(record: JobRecord) -> Runs:
    """When the attempts of a job ran, as far as its record says."""
    return Observation.of(record.observed_data, record.started).runs


def _check_object(data: Any) -> None:
    if not isinstance(data, dict):
        raise TypeError(f"a record has {type(data).__name__} in place of an object")


def _read_labels(record: JobRecord) -> None:
    _check_object(record.label_map)
    user_of(record.labels)


_COLUMNS: Final[Mapping[str, tuple[Callable[[JobRecord], object], object]]] = {
    "labels": (_read_labels, {}),
    "handle": (lambda record: _check_object(record.handle_data), {}),
    "demand": (lambda record: demand_of(record.demand), Demand().to_dict()),
    "devices": (lambda record: names_of(devices_of(record.devices)), {}),
    "observed": (lambda record: line_of(runs_of(record)), {}),
    "making_room": (lambda record: read_making_room(record.making_room), None),
    "node_limit": (node_limit, None),
}
"""How a column is read, and what stands for one that cannot be."""
