"""What the header of a job group comes to: addresses and delays by role."""

from dataclasses import dataclass, field

import pytest

from trainway.api.task.task_file import TaskFile, parse
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.compiler.task_group import address_variables, termination_delays
from trainway.compiler.task_pods import names_of

ROLES = ("main", "log-keeper")


@dataclass(frozen=True)
class Case:
    name: str
    header: str
    delays: dict[str, int] = field(default_factory=dict)


def group(header: str) -> TaskFile:
    text = f"name: g\nexecution: parallel\n{header}\n---\n{{name: main, num_nodes: 2}}\n---\n"
    file = parse(f"{text}{{name: log.keeper}}").file
    assert file is not None
    return file


@pytest.mark.parametrize(
    "case",
    [
        Case("nothing", "primary_tasks: [main]"),
        Case("one for all", "primary_tasks: [main]\ntermination_delay: 2m", {"log-keeper": 120}),
        Case("its own", "primary_tasks: [main]\ntermination_delay: {default: 1h, log.keeper: 5s}",
             {"log-keeper": 5}),
        Case("of another", "primary_tasks: [main]\ntermination_delay: {main: 5s}"),
        Case("none", "primary_tasks: [main]\ntermination_delay: 0s"),
        Case("all are primary", "termination_delay: 5s"),
    ],
    ids=lambda case: case.name,
)  # fmt: skip
def test_delays(case: Case) -> None:
    assert termination_delays(group(case.header), ROLES) == case.delays


def test_addresses() -> None:
    network = KubernetesNetwork(JobIdentity("g", "default", subdomain="g"))
    assert address_variables(group(""), ROLES, network) == {
        "TRAINWAY_ADDRESSES_MAIN": "g-main-0-0.g\ng-main-0-1.g",
        "TRAINWAY_ADDRESSES_LOG_KEEPER": "g-log-keeper-0-0.g",
    }
    assert address_variables(group("inter_connection: false"), ROLES, network) == {}
    single = parse("run: x").file
    assert single is not None
    assert address_variables(single, ROLES[:1], network) == {}


def test_variables_have_the_names_of_tasks_in_full() -> None:
    tasks = ("a-reader-of-many-long-tables", "a-reader-of-many-long-texts", "a.b", "a-b", "2-c..d")
    text = "name: g\nexecution: parallel\n" + "".join(f"---\n{{name: {task}}}\n" for task in tasks)
    file = parse(text).file
    assert file is not None
    roles = names_of(file.tasks)
    network = KubernetesNetwork(JobIdentity("g", "default", subdomain="g"))
    assert address_variables(file, roles, network) == {
        "TRAINWAY_ADDRESSES_A_READER_OF_MANY_LONG_TABLES": f"g-{roles[0]}-0-0.g",
        "TRAINWAY_ADDRESSES_A_READER_OF_MANY_LONG_TEXTS": f"g-{roles[1]}-0-0.g",
        "TRAINWAY_ADDRESSES_A_B": f"g-{roles[2]}-0-0.g",
        "TRAINWAY_ADDRESSES_A_B_3": f"g-{roles[3]}-0-0.g",
        "TRAINWAY_ADDRESSES_2_C__D": f"g-{roles[4]}-0-0.g",
    }
