"""Job groups: tasks that start together, know each other's addresses, and end with their primaries.

The group is one JobSet, and so one gang. When its primary tasks have succeeded, the others may go
on for the time that the header gives them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from trainway.api.task.amounts import seconds
from trainway.api.task.task_file import PARALLEL, TaskFile
from trainway.compiler.host_list import host_indexes
from trainway.compiler.network import Network

_DEFAULT: Final = "default"


def address_variables(file: TaskFile, roles: Sequence[str], network: Network) -> dict[str, str]:
    """For each task of a group a variable with the addresses of its nodes, one on each line."""
    if file.execution != PARALLEL or file.header.get("inter_connection") is False:
        return {}
    return {
        f"TRAINWAY_ADDRESSES_{name}": "\n".join(
            network.host(role, rank) for rank in host_indexes(role, task.num_nodes)
        )
        for name, role, task in zip(_names(file), roles, file.tasks, strict=True)
    }


def _names(file: TaskFile) -> list[str]:
    """The tasks as variables call them: in full, unlike their roles, and no two the same."""
    names: list[str] = []
    for index, task in enumerate(file.tasks):
        name = re.sub("[^A-Za-z0-9]", "_", task.name).upper()
        while name in names:
            name = f"{name}_{index}"
        names.append(name)
    return names


def termination_delays(file: TaskFile, roles: Sequence[str]) -> dict[str, int]:
    """For how many seconds each task may go on after the primary ones have succeeded."""
    given = file.header.get("termination_delay")
    primary = file.primary_tasks
    if file.execution != PARALLEL or not given or not primary:
        return {}
    table: Mapping[str, str] = given if isinstance(given, dict) else {_DEFAULT: given}
    found = {
        role: seconds(str(table.get(task.name, table.get(_DEFAULT, "0"))))
        for role, task in zip(roles, file.tasks, strict=True)
        if task.name not in primary
    }
    return {role: delay for role, delay in found.items() if delay}
