"""Partitions and jobs as a login node tells them."""

from trainway.backends.queues import Quota, Waiter
from trainway.backends.slurm.queue_listing import QUEUE, states_of
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

Q = Quantity.parse
FACTS: Json = {
    "partitions": [
        {
            "name": "main", "state": "up", "nodes": 2, "cpus": 16, "free_cpus": 4,
            "memory": 32000, "free_memory": 32000, "gpus": {"a100": 4}, "free_gpus": {"a100": 1},
        },
        {"name": "big", "state": "down", "nodes": 0},
    ]
}  # fmt: skip


def _line(*cells: str) -> str:
    return "\x1f".join(cells)


LISTING = "\n".join(
    (
        _line("12", "PD", "900", "2026-11-17T09:00:00", "main,big", "ada", "Resources", "a|b <i>"),
        _line("13_[1-4]", "PD", "100", "2026-11-17T08:00:00", "main", "bob", "None", ""),
        _line("11", "R", "500", "2026-11-17T07:00:00", "main", "bob", "None", "run"),
        "slurm_load_jobs: something else",
    )
)


def test_partitions_are_queues_of_everybodys_jobs() -> None:
    main, big = states_of(FACTS, LISTING)
    assert (main.queue.name, main.queue.pending, main.queue.admitted) == ("main", 2, 1)
    assert main.waiting == (
        Waiter("12 a|b <i>", 1, "Resources", "2026-11-17T09:00:00", 900, "ada"),
        Waiter("13_[1-4]", 2, "Slurm has not said why", "2026-11-17T08:00:00", 100, "bob"),
    )
    assert main.queue.quotas == (
        Quota("", "cpu", Q(16), Q(12)),
        Quota("", "memory", Q("32000Mi"), Q(0)),
        Quota("a100", "gpu", Q(4), Q(3)),
    )
    assert (big.queue.problem, [waiter.name for waiter in big.waiting]) == (
        "the partition is down", ["12 a|b <i>"],
    )  # fmt: skip


def test_only_the_named_partition_is_told() -> None:
    (big,) = states_of(FACTS, LISTING, "big")
    assert big.queue.name == "big"
    assert states_of({}, "") == []


def test_squeue_is_asked_for_all_users() -> None:
    assert QUEUE[0] == "squeue"
    assert not [word for word in QUEUE if word.startswith(("--user", "-u", "--me"))]
