"""A job as the store holds it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from trainway.engine.phases import TERMINAL, Phase
from trainway.json_types import Json
from trainway.queueing.queue_policy import DEFAULT_QUEUE

JSON_COLUMNS: Final = frozenset({
    "labels", "handle", "demand", "devices", "observed", "progress", "parameters", "links",
})  # fmt: skip


AT_ONCE: Final = 0.0
"""The time at which a job is cleaned up that is to be forgotten."""


def stored(columns: Mapping[str, object]) -> dict[str, Any]:
    """Values of columns as the store has them: plain data as text, and none as an empty one."""
    return {
        name: json.dumps(value) if name in JSON_COLUMNS and value != "" else storable(value)
        for name, value in columns.items()
    }


def storable(value: object) -> object:
    """A value as every database can hold it: text without NUL and halves of characters."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """One row of `jobs`. Fields that hold JSON are text; the properties read them."""

    id: str
    name: str
    namespace: str
    kind: str
    backend: str
    priority: int = 0
    oversubscribe: bool = False
    labels: str = "{}"
    workdir: str = ""
    created: str = ""
    phase: Phase = Phase.PENDING
    reason: str = ""
    message: str = ""
    wanted: str = ""
    """What someone asked for and is not done yet: see `wishes`."""
    started: str = ""
    finished: str = ""
    attempt: int = 0
    restarts: int = 0
    exit_code: int | None = None
    deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    expires: float | None = None
    is_expired: bool = False
    journal_seq: int = -1
    handle: str = ""
    demand: str = ""
    devices: str = ""
    observed: str = ""
    progress: str = ""
    idempotency_key: str | None = None
    """The key by which a repeated request for the same job is known."""
    request_digest: str | None = None
    """What was sent with that key; a job of an older program has none."""
    notify: str | None = None
    """Whom it notifies, beside the targets of the settings; URLs, which are secrets, among them."""

    run: str | None = None
    """The run that it is a job of."""
    parameters: str | None = None
    """Those of its trial."""
    note: str | None = None
    """What somebody wrote on it."""
    links: str | None = None
    """Web addresses by name."""
    place: str | None = None
    """The first job that had its place in the run; None: it is that one itself."""
    replaced_by: str | None = None
    """The job that has taken its place in the run; None: none has."""
    queue: str = DEFAULT_QUEUE
    """The managed queue that it waits in, and whose quota it uses."""
    making_room: str | None = None
    """For whom it was preempted, until it goes on: see `engine/queues/making_room.py`."""
    ran_seconds: float | None = None
    """How long its attempts ran in all, once it is over; a job of an older program has none."""
    move: str | None = None
    """Where it is on its way to another place, as `moving.move` has it; None: it does not move."""
    candidates: str | None = None
    """Where it may go while it waits, as `moving.candidates` has it; None: nowhere else."""
    recovery: str | None = None
    """Where it may go on when its place is lost, as `moving.failover` has it; None: nowhere."""
    node_limit: str | None = None
    """How many nodes an elastic job may have: see `engine/queues/node_limit.py`; None: all."""
    export: str | None = None
    """Where its output goes when it has succeeded, as `export.export` has it; None: nowhere."""
    rates: str | None = None
    """What it costs for each hour, as `costs.rate` has it; None: nobody has said a price."""
    budget: str | None = None
    """How much it may cost in all, as `costs.job_budget` has it; None: anything."""

    def with_columns(self, columns: Mapping[str, object]) -> "JobRecord":
        """The record with other values, as the store will have it."""
        return replace(self, **stored(columns))

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.phase in TERMINAL

    @property
    def label_map(self) -> Mapping[str, str]:
        """The labels."""
        return _read(self.labels)

    @property
    def handle_data(self) -> Json:
        """How its backend finds it; empty: it was never submitted."""
        return _read(self.handle)

    @property
    def demand_data(self) -> Json:
        """What it needs."""
        return _read(self.demand)

    @property
    def device_map(self) -> Json:
        """The devices that its pods were given."""
        return _read(self.devices)

    @property
    def observed_data(self) -> Json:
        """What its journal has told so far."""
        return _read(self.observed)

    @property
    def notify_targets(self) -> list[str]:
        """Whom it notifies itself."""
        return json.loads(self.notify) if self.notify else []

    @property
    def parameter_map(self) -> Mapping[str, str]:
        """The parameters of its trial; empty: it has none."""
        return _read(self.parameters or "")

    @property
    def link_map(self) -> Mapping[str, str]:
        """The links."""
        return _read(self.links or "")

    @property
    def progress_data(self) -> Json:
        """What the training code last reported."""
        return _read(self.progress)


@dataclass(frozen=True)
class JobSpec:
    """What was submitted, and what it was compiled to."""

    objects: list[Json]
    environ: Mapping[str, str]
    jobset: Json
    companions: list[Json]


@dataclass(frozen=True)
class Event:
    """Something that happened to a job."""

    time: str
    type: str
    """The type is `Normal` or `Warning`."""
    reason: str
    message: str
    object: str = ""
    seq: int = 0
    """The number of the event, from 1 on for each job; the store gives it."""


def _read(text: str) -> Json:
    data: Json = json.loads(text) if text else {}
    return data
