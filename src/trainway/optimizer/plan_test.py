from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainway.api.accelerators import Accelerator
from trainway.api.task.amounts import Amount
from trainway.api.task.infra import Infra
from trainway.api.task.local_disk import LocalDisk
from trainway.catalog.csv_format import Row
from trainway.catalog.reservations import Reservation
from trainway.errors import NotFoundError
from trainway.optimizer import egress
from trainway.optimizer.plan import Choice, Objective, Plan, plan
from trainway.optimizer.request import Block, Request, TaskRequest
from trainway.optimizer.search import Search
from trainway.optimizer.testing import catalog_of, row

A100 = Request(accelerator=Accelerator("A100", 8))
CPUS = Request(cpus=Amount(8, at_least=True))


def chosen(found: Plan) -> list[tuple[str, str, str]]:
    return [
        (each.offer.machine.cloud, each.offer.machine.name, each.offer.region)
        for each in found.choices
    ]


def gpu(name: str, price: float, region: str, zone: str = "") -> Row:
    return row(name, price, region=region, zone=zone, accelerator="A100", count=8, gib=40)


def search_in(
    tmp_path: Path, clouds: dict[str, list[Row]], blocks: list[Block] | None = None
) -> Search:
    return Search(catalog_of(tmp_path, clouds), blocks=blocks or [])


def test_blocking_the_best_gives_the_next_type_of_the_same_cloud(tmp_path: Path) -> None:
    clouds = {"aws": [gpu("p4d", 20, "us-east-1"), gpu("p4de", 25, "us-east-1")]}
    search = search_in(tmp_path, clouds)
    assert chosen(plan(search, [TaskRequest("a", (A100,))], {})) == [("aws", "p4d", "us-east-1")]
    search = search_in(tmp_path, clouds, [Block("aws", instance_type="p4d")])
    assert chosen(plan(search, [TaskRequest("a", (A100,))], {})) == [("aws", "p4de", "us-east-1")]


def test_a_blocked_accelerator_is_blocked_beside_each_type(tmp_path: Path) -> None:
    rows = [gpu("n1-a", 20, "us"), gpu("n1-b", 21, "us"), gpu("n1-a", 25, "eu"), row("n1-a", 1)]
    block = Block("gcp", "us", accelerator="a100", accelerator_count=8)
    search = search_in(tmp_path, {"gcp": rows}, [block])
    assert chosen(plan(search, [TaskRequest("a", (A100,))], {})) == [("gcp", "n1-a", "eu")]
    search = search_in(tmp_path, {"gcp": rows}, [replace(block, accelerator_count=4)])
    assert chosen(plan(search, [TaskRequest("a", (A100,))], {})) == [("gcp", "n1-a", "us")]


def test_of_equal_prices_what_is_near_counts_then_the_alphabet(tmp_path: Path) -> None:
    clouds = {
        "oci": [gpu("x", 2, "af-johannesburg-1"), gpu("x", 2, "us-phoenix-1")],
        "lambda": [gpu("y", 2, "us-west-1"), gpu("y", 2, "us-east-1")],
    }
    search = search_in(tmp_path, clouds)
    tasks = [TaskRequest("a", (A100,))]
    assert chosen(plan(search, tasks, {})) == [("lambda", "y", "us-east-1")]
    assert chosen(plan(search, tasks, {}, near="af")) == [("oci", "x", "af-johannesburg-1")]


def test_ordered_takes_the_first_that_can_be_had_and_any_of_the_cheapest(tmp_path: Path) -> None:
    search = search_in(tmp_path, {"aws": [gpu("p4d", 20, "us-east-1"), row("m6i", 1)]})
    missing = Request(accelerator=Accelerator("H100", 8))
    ordered = TaskRequest("a", (missing, A100, CPUS), is_ordered=True)
    assert chosen(plan(search, [ordered], {})) == [("aws", "p4d", "us-east-1")]
    any_of = TaskRequest("a", (missing, A100, CPUS))
    found = plan(search, [any_of], {})
    assert (chosen(found), found.choices[0].candidates) == ([("aws", "m6i", "us-east-1")], 2)


def test_each_candidate_has_its_own_number_of_nodes(tmp_path: Path) -> None:
    search = search_in(tmp_path, {"aws": [gpu("p4d", 20, "us-east-1"), row("m6i", 6)]})
    four = Request(cpus=Amount(8), nodes=4)
    found = plan(search, [TaskRequest("a", (four, A100))], {})
    assert (chosen(found), found.hourly_price) == ([("aws", "p4d", "us-east-1")], 20)


def test_data_is_counted_between_regions_and_clouds(tmp_path: Path) -> None:
    clouds = {
        "aws": [row("m6i", 1), row("m6i", 0.9, region="us-west-2"), gpu("p4d", 22, "us-east-1")],
        "lambda": [gpu("a100", 16, "us-east-1")],
    }
    search = search_in(tmp_path, clouds)

    def planned(gigabytes: float) -> Plan:
        tasks = [TaskRequest("a", (CPUS,), output_gb=gigabytes), TaskRequest("b", (A100,))]
        return plan(search, tasks, {"b": ["a"]})

    assert chosen(planned(0)) == [("aws", "m6i", "us-west-2"), ("lambda", "a100", "us-east-1")]
    much = planned(1000)
    assert chosen(much) == [("aws", "m6i", "us-east-1"), ("aws", "p4d", "us-east-1")]
    assert (much.egress_cost, much.total_cost) == (0, 23)
    little = planned(50)
    assert little.egress_cost == pytest.approx(4.5)
    assert little.total_cost == pytest.approx(0.9 + 16 + 4.5)


def test_inputs_draw_a_task_to_where_they_are(tmp_path: Path) -> None:
    search = search_in(tmp_path, {"aws": [row("m6i", 2)], "lambda": [row("cpu", 1)]})
    near = plan(search, [TaskRequest("a", (CPUS,), inputs={"aws": 100})], {})
    assert chosen(near) == [("aws", "m6i", "us-east-1")]


def test_time_keeps_tasks_together_whatever_they_cost(tmp_path: Path) -> None:
    clouds = {
        "aws": [row("m6i", 5), gpu("p4d", 30, "us-east-1")],
        "lambda": [row("cpu", 1, region="us-west-1"), gpu("a100", 16, "us-east-1")],
    }
    tasks = [TaskRequest("a", (CPUS,), output_gb=500), TaskRequest("b", (A100,))]
    search = search_in(tmp_path, clouds)
    found = plan(search, tasks, {"b": ["a"]}, objective=Objective.TIME)
    assert chosen(found) == [("aws", "m6i", "us-east-1"), ("aws", "p4d", "us-east-1")]


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp", "oci", "ibm", "lambda"])
def test_more_data_never_costs_less(cloud: str) -> None:
    amounts = [0, 1, 1023, 1024, 9 * 1024, 10 * 1024, 50 * 1024, 51 * 1024, 10**6]
    costs = [egress.out_of_cloud(cloud, amount) for amount in amounts]
    assert costs == sorted(costs)
    for amount, cost in zip(amounts, costs, strict=True):
        assert 0 <= egress.between_regions(cloud, amount) <= cost


def test_tiers_count_for_what_is_in_them() -> None:
    assert egress.out_of_cloud("aws", 9 * 1024) == pytest.approx(9 * 1024 * 0.09)
    assert egress.out_of_cloud("aws", 11 * 1024) == pytest.approx(10 * 1024 * 0.09 + 1024 * 0.085)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(accelerator=Accelerator("A10O", 8)), "no accelerator A10O; did you mean A100?"),
        (Request(accelerator=Accelerator("A100", 3)), "a machine has 8 of A100, not 3"),
        (Request(cpus=Amount(512, at_least=True)), "no such machine has that many CPUs"),
        (Request(cpus=Amount(8), spot=True), "it cannot be had as spot"),
        (Request(cpus=Amount(8), max_hourly_cost=0.1), "nothing costs at most $0.1 an hour"),
        (Request(cpus=Amount(8), infra=Infra("gcp")), "gcp has none"),
        (Request(instance_type="m9x"), "there is no such instance type as m9x"),
        (Request(cpus=Amount(2)), "left out as burstable (use --allow burstable)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_says_what_keeps_a_task_from_having_anything(
    tmp_path: Path, request_: Request, said: str
) -> None:
    offers = [gpu("p4d", 20, "us-east-1"), row("m6i", 1), row("t3.small", 0.1, vcpus=2)]
    search = search_in(tmp_path, {"aws": offers})
    with pytest.raises(NotFoundError) as error:
        plan(search, [TaskRequest("train", (request_,))], {})
    assert str(error.value).startswith("task train: no offer of the catalog fits: ")
    assert said in str(error.value)


def reserved(name: str = "cr-1", count: int = 2, zone: str = "us-east-1a") -> Reservation:
    return Reservation(name, "aws", "p4d", "us-east-1", zone, count)


def test_what_was_reserved_is_taken_first_and_the_rest_follows(tmp_path: Path) -> None:
    clouds = {"aws": [gpu("p4d", 20, "us-east-1")], "lambda": [gpu("a100", 16, "us-east-1")]}
    catalog = catalog_of(tmp_path, clouds)

    def planned(nodes: int, blocks: tuple[Block, ...] = (), **more: Any) -> Choice:
        search = Search(catalog, blocks=blocks, reservations=[reserved()])
        request = replace(A100, nodes=nodes, **more)
        (choice,) = plan(search, [TaskRequest("a", (request,))], {}).choices
        return choice

    free = planned(2, max_hourly_cost=17)
    assert free.reservation == reserved()
    assert (free.hourly_price, free.offer.zone, free.candidates) == (0, "us-east-1a", 2)
    assert planned(3).reservation is None, "a gang is not taken apart"
    assert planned(3).offer.machine.cloud == "lambda"
    taken = planned(2, (Block("aws", reservation="cr-1"),))
    assert (taken.offer.machine.cloud, taken.candidates) == ("lambda", 2)
    assert planned(2, (Block("aws", zone="us-east-1a"),)).reservation is None
    assert planned(1, infra=Infra("lambda")).reservation is None


def test_gpus_that_were_reserved_are_not_given_to_those_who_ask_for_none(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, {"aws": [gpu("p4d", 20, "us-east-1"), row("m6i", 1)]})
    search = Search(catalog, reservations=[reserved()])
    assert chosen(plan(search, [TaskRequest("a", (CPUS,))], {})) == [("aws", "m6i", "us-east-1")]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(cpus=Amount(8), disk_tier="high"), "lambda is left out: disk_tier high is not"),
        (Request(cpus=Amount(8), local_disk=LocalDisk("nvme")), "to have a local_disk of nvme"),
        (Request(cpus=Amount(8), fast_network=True), "known to have a fast network"),
        (Request(cpus=Amount(8), image="ami-1"), "lambda is left out: image_id is an image of aws"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_says_what_no_cloud_can_do(tmp_path: Path, request_: Request, said: str) -> None:
    search = search_in(tmp_path, {"lambda": [row("cpu", 1)]})
    with pytest.raises(NotFoundError) as error:
        plan(search, [TaskRequest("train", (request_,))], {})
    assert said in str(error.value)
