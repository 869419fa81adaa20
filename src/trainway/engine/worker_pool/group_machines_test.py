"""The machines of a job group: alike, or refused."""

from dataclasses import dataclass

import pytest

from trainway.engine.worker_pool.group_machines import machines_of_group
from trainway.engine.worker_pool.machines import Machines
from trainway.errors import UsageError
from trainway.json_types import Json

LARGEST = Machines(3, {"cpus": "8+", "accelerators": "H100:8"})


@dataclass(frozen=True)
class Case:
    name: str
    one: Json
    other: Json
    expected: Json | str
    """What is added to the largest amounts, or why not."""


@pytest.mark.parametrize(
    "case",
    [
        Case("the largest counts", {"cpus": 8}, {"cpus": "2+"}, {}),
        Case("one says it for both", {"disk_size": 512}, {}, {"disk_size": 512}),
        Case("both say the same", {"use_spot": True}, {"use_spot": True}, {"use_spot": True}),
        Case("where is decided for all", {"infra": "aws"}, {"region": "us-east-1"}, {}),
        Case("they differ", {"disk_size": 512}, {"disk_size": 100},
             "disk_size of a is 512, and of b it is 100"),
        Case("one of them is spot", {"use_spot": True}, {"use_spot": False}, "use_spot of a is"),
        Case("the same GPUs", {"accelerators": "H100:8"}, {"gpus": {"H100": 4}}, {}),
        Case("other GPUs", {"accelerators": "H100:8"}, {"accelerators": {"A100": 1}},
             "accelerators of a is H100, and of b it is A100"),
        Case("a choice", {}, {"any_of": [{"cpus": 2}]}, "b: .* no task has any_of"),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_the_machines_of_a_group_are_alike(case: Case) -> None:
    tasks = [
        {"task": {"name": name, "resources": resources}}
        for name, resources in (("a", case.one), ("b", case.other))
    ]
    job: Json = {"spec": {"tasks": tasks}}
    if isinstance(case.expected, str):
        with pytest.raises(UsageError, match=case.expected):
            machines_of_group(job, LARGEST)
    else:
        assert machines_of_group(job, LARGEST) == Machines(
            3, {**LARGEST.resources, **case.expected}
        )
