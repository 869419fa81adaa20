from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.backends.demand import Demand, demand_of, pod_keys, with_nodes
from trainway.jobset.labels import MIN_NODES
from trainway.jobset.model import ReplicatedJob
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json


def role(
    name: str,
    cpu: str = "",
    *,
    gpus: int = 0,
    pods: int = 1,
    replicas: int = 1,
    after: tuple[tuple[str, str], ...] = (),
    **job: Any,
) -> Json:
    requests: Json = ({"cpu": cpu} if cpu else {}) | ({"nvidia.com/gpu": gpus} if gpus else {})
    container = {"name": "main", "resources": {"requests": requests}}
    spec = {"parallelism": pods, "completions": pods, **job}
    template = {"spec": {**spec, "template": {"spec": {"containers": [container]}}}}
    waits = [{"name": other, "status": status} for other, status in after]
    return {"name": name, "replicas": replicas, "template": template, "dependsOn": waits}


@dataclass(frozen=True)
class Case:
    name: str
    roles: list[Json]
    cpus: str
    gpus: int = 0


CASES = [
    Case("nothing requested counts nothing", [role("a", pods=4)], "0"),
    Case("pods and jobs add up", [role("a", "500m", pods=4, replicas=3)], "6"),
    Case("roles add up", [role("a", "1"), role("b", "2")], "3"),
    Case("no more pods than run at once", [role("a", "1", parallelism=2, completions=10)], "2"),
    Case("no more pods than there are", [role("a", "1", parallelism=10, completions=2)], "2"),
    Case("one that waits until the other is ready runs beside it",
         [role("a", "1"), role("b", "2", after=(("a", "Ready"),))], "3"),
    Case("one that waits for the other's end does not",
         [role("a", "1"), role("b", "2", after=(("a", "Complete"),))], "2"),
    Case("ends count through others",
         [role("a", "4"), role("b", "1", after=(("a", "Complete"),)),
          role("c", "2", after=(("b", "Ready"),))], "4"),
    Case("two chains beside each other",
         [role("a", "8"), role("b", "0", after=(("a", "Complete"),)), role("c", "0"),
          role("d", "8", after=(("c", "Complete"),))], "16"),
    Case("GPUs of pods that run together add up", [role("a", gpus=2, pods=3)], "0", 6),
    Case("GPUs are shared by those that never meet",
         [role("a", gpus=2), role("b", gpus=3, after=(("a", "Complete"),))], "0", 3),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_demand(case: Case) -> None:
    demand = demand_of({"replicatedJobs": case.roles})
    assert (demand.cpus, demand.gpus) == (Quantity.parse(case.cpus), case.gpus)
    assert demand.is_empty == (case.cpus == "0" and not case.gpus)


def test_every_pod_has_gpus_of_its_own() -> None:
    roles = [role("a", gpus=2, pods=2), role("b", gpus=1, after=(("a", "Complete"),))]
    demand = demand_of({"replicatedJobs": roles})
    assert demand.slots == {"a-0-0": [0, 1], "a-0-1": [2, 3], "b-0-0": [0]}


def test_it_can_be_stored() -> None:
    demand = demand_of({"replicatedJobs": [role("a", "500m", gpus=1)]})
    assert Demand.from_dict(demand.to_dict()) == demand


@pytest.mark.parametrize(
    ("job", "keys"),
    [
        ({}, ["a-0-0"]),
        ({"parallelism": 2}, ["a-0-0", "a-0-1"]),
        ({"parallelism": 1, "completions": 2}, ["a-0-0", "a-0-1"]),
    ],
)
def test_the_names_of_pods(job: Json, keys: list[str]) -> None:
    assert list(pod_keys(ReplicatedJob({"name": "a", "template": {"spec": job}}))) == keys


@given(st.integers(0, 20), st.data())
def test_sharing_never_needs_more_than_running_all_at_once(count: int, data: st.DataObject) -> None:
    roles = []
    for number in range(count):
        earlier = [f"r{other}" for other in range(number)]
        after = data.draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else []
        status = data.draw(st.sampled_from(["Ready", "Complete"]))
        cpu = str(data.draw(st.integers(0, 8)))
        waits = tuple((name, status) for name in dict.fromkeys(after))
        roles.append(role(f"r{number}", cpu, after=waits))
    demand = demand_of({"replicatedJobs": roles})
    alone = [demand_of({"replicatedJobs": [{**each, "dependsOn": []}]}).cpus for each in roles]
    assert max(alone, default=Quantity()) <= demand.cpus <= sum(alone, start=Quantity())


def test_an_elastic_gang_needs_less_with_fewer_nodes() -> None:
    trainer = role("node", "2", gpus=2, pods=4)
    trainer["template"]["metadata"] = {"annotations": {MIN_NODES: "2"}}
    whole = demand_of({"replicatedJobs": [role("helper", "1"), trainer]})
    assert whole.elastic is not None
    assert (whole.elastic.nodes, whole.elastic.least, whole.elastic.most) == (4, 2, 4)
    fewer = Demand.from_dict(with_nodes(whole, 3).to_dict())
    assert (str(fewer.cpus), fewer.gpus) == ("7", 6)
    assert with_nodes(fewer, 4) == Demand.from_dict(whole.to_dict())
    least = with_nodes(fewer, 0)
    assert least.elastic is not None
    assert (str(least.cpus), least.gpus, least.elastic.nodes) == ("5", 4, 2)
    assert [least.elastic.has(f"node-0-{index}") for index in (1, 2)] == [True, False]
    assert least.elastic.has("helper-0-7")


def test_a_gang_that_is_not_elastic_needs_the_same_always() -> None:
    demand = demand_of({"replicatedJobs": [role("node", "2", pods=4)]})
    assert demand.elastic is None
    assert with_nodes(demand, 1) is demand
    for said in ("²", "9" * 5000, "0", "5", "x"):
        trainer = role("node", "2", pods=4)
        trainer["template"]["metadata"] = {"annotations": {MIN_NODES: said}}
        assert demand_of({"replicatedJobs": [trainer]}).elastic is None
