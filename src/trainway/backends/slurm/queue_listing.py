"""The partitions of a Slurm cluster as queues: what is used, who waits and why. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.backends.queues import Queue, QueueState, Quota, Waiter
from trainway.backends.slurm.capacity import pool_of
from trainway.jobset.quantity import ZERO, Quantity

_SEPARATOR: Final = "\x1f"
_FIELDS: Final = ("%i", "%t", "%Q", "%V", "%P", "%u", "%r", "%j")
QUEUE: Final = [
    "squeue",
    "--noheader",
    "--states=PENDING,RUNNING",
    "--sort=-p,i",
    f"--format={_SEPARATOR.join(_FIELDS)}",
]
"""All jobs that wait or run, whoever's they are, in the order of their priority: number, state,
priority, time of submission, partitions, user and reason; then the name, which may be anything."""
_PENDING: Final = "PD"
_MOST: Final = 500


def states_of(facts: Mapping[str, Any], listing: str, partition: str = "") -> list[QueueState]:
    """The partitions, only the named one where one is."""
    jobs = list(_jobs(listing))
    return [
        _state(told, [job for job in jobs if told["name"] in job["partitions"]])
        for told in facts.get("partitions") or ()
        if partition in ("", told["name"])
    ]


def _jobs(listing: str) -> Iterator[dict[str, Any]]:
    for line in listing.splitlines():
        cells = line.split(_SEPARATOR, len(_FIELDS) - 1)
        if len(cells) == len(_FIELDS):
            number, state, priority, since, partitions, user, reason, name = cells
            yield {
                "partitions": partitions.split(","),
                "waits": state == _PENDING,
                "name": f"{number} {name}".strip(),
                "owner": user,
                "since": since,
                "priority": int(priority) if priority.isdigit() else 0,
                "reason": reason if reason not in ("", "None") else "Slurm has not said why",
            }


def _state(told: Mapping[str, Any], jobs: list[dict[str, Any]]) -> QueueState:
    waiting = [job for job in jobs if job["waits"]]
    state = str(told.get("state") or "")
    queue = Queue(
        name=str(told["name"]),
        namespace="",
        cluster_queue="",
        pending=len(waiting),
        admitted=len(jobs) - len(waiting),
        problem="" if state == "up" else f"the partition is {state}",
        quotas=tuple(_quotas(told)),
    )
    waiters = [
        Waiter(
            job["name"], place, job["reason"], job["since"], job["priority"], job["owner"]
        )
        for place, job in enumerate(waiting[:_MOST], start=1)
    ]  # fmt: skip
    return QueueState(queue, tuple(waiters))


def _quotas(told: Mapping[str, Any]) -> Iterator[Quota]:
    """What the nodes of the partition have, as a quota that all of its jobs share."""
    pool = pool_of(told)
    yield Quota("", "cpu", pool.cpus, _used(pool.cpus, pool.free_cpus))
    yield Quota("", "memory", pool.memory, _used(pool.memory, pool.free_memory))
    for kind, count in pool.gpus.items():
        used = max(0, count - pool.free_gpus.get(kind, 0))
        yield Quota(kind, "gpu", Quantity.parse(count), Quantity.parse(used))


def _used(total: Quantity, free: Quantity) -> Quantity:
    return total - free if total > free else ZERO
