"""What a gang scheduler must know of a job: which pods start together, and what they need.

A role that others wait for until it is complete (an initializer) is gone before they start, so it
is not of the gang. Upstream counts it, and such a gang can never be whole (defect D6).
"""

from trainway.compiler.workload import Role, Workload
from trainway.jobset.quantity import Quantity


def gang(workload: Workload) -> list[Role]:
    """The roles whose pods start together."""
    awaited = {
        dependency["name"]
        for role in workload.roles
        for dependency in role.job.depends_on
        if dependency.get("status") == "Complete"
    }
    return [role for role in workload.roles if role.name not in awaited]


def min_member(workload: Workload) -> int:
    """The number of pods in the gang."""
    return sum(role.count for role in gang(workload))


def min_resources(workload: Workload) -> dict[str, str]:
    """What the gang's pods request together."""
    total: dict[str, Quantity] = {}
    for role in gang(workload):
        for name, amount in role.requests().items():
            total[name] = total[name] + amount if name in total else amount
    return {name: str(total[name]) for name in sorted(total)}
