from trainway.backends.pool.capacity import capacity_of, described
from trainway.backends.pools import Pool
from trainway.jobset.quantity import Quantity


def test_every_host_is_told_apart() -> None:
    used = {
        "name": "a1",
        "cpus": 8,
        "memory": 2**33,
        "gpus": 2,
        "free": {"cpus": 1.5, "memory": 2**32, "gpus": 0.5},
    }
    away = {"name": "a2", "state": "lost"}
    found = capacity_of([used, away])
    assert found.cpus == Quantity.parse(8)
    assert found.memory == Quantity.parse("8Gi")
    assert found.gpus == ("a1/0", "a1/1")
    assert found.pools == (
        Pool(
            "a1",
            1,
            Quantity.parse(8),
            Quantity.parse("1.5"),
            Quantity.parse("8Gi"),
            Quantity.parse("4Gi"),
            {"GPU": 2},
        ),
    )


def test_a_host_that_nobody_uses_has_what_it_may_give() -> None:
    report = {"cpus": 64, "memory": 2**36, "gpus": 8}
    host = {"name": "a1", "cpus": 8, "gpus": 0}
    amounts = {"cpus": 8, "memory": 2**36, "gpus": 0}
    assert described(host, report) == {"name": "a1", **amounts, "free": amounts}
