"""What Azure answers, as machines and resource groups. Pure.

The state of a machine is told in words such as `PowerState/running`, and apart from it what became
of the latest change, such as `ProvisioningState/failed/AllocationFailed`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.providers.azure.refusals import told
from trainway.providers.base import (
    CLUSTER_TAG,
    OWNER_TAG,
    RANK_TAG,
    TOKEN_TAG,
    Machine,
    MachineState,
    Place,
)
from trainway.providers.web_api import Complaint

POWER: Final = "PowerState/"
FAILED: Final = "ProvisioningState/failed/"
STATES: Final[Mapping[str, MachineState]] = {
    "starting": MachineState.STARTING,
    "running": MachineState.RUNNING,
    "stopping": MachineState.STOPPING,
    "stopped": MachineState.STOPPING,
    "deallocating": MachineState.STOPPING,
    "deallocated": MachineState.STOPPED,
}
"""A machine that has stopped itself is paid for until it is deallocated, so it is on its way."""
HALTED: Final = "stopped"
DELETING: Final = "deleting"
DONE: Final = frozenset({"succeeded", ""})


@dataclass(frozen=True)
class Group:
    """A resource group."""

    name: str
    region: str
    tags: Mapping[str, str]
    is_going: bool
    """Whether it is being deleted, with all that is in it."""


@dataclass(frozen=True)
class Addresses:
    """How machines are reached, by their resource ids."""

    private: Mapping[str, str] = field(default_factory=dict)
    public: Mapping[str, str] = field(default_factory=dict)


NOWHERE: Final = Addresses()


def group(answer: Mapping[str, Any]) -> Group:
    """A resource group, as Azure describes it."""
    return Group(
        str(answer["name"]).lower(),
        _region(answer),
        answer.get("tags") or {},
        provisioning(answer) == DELETING,
    )


def _region(answer: Mapping[str, Any]) -> str:
    return str(answer.get("location") or "").lower().replace(" ", "")


def provisioning(answer: Mapping[str, Any]) -> str:
    """What has become of the latest change, in small letters."""
    properties = answer.get("properties") or {}
    return str(properties.get("provisioningState") or "").lower()


def is_ours(answer: Mapping[str, Any]) -> bool:
    """Whether a server of ours has made it."""
    return OWNER_TAG in (answer.get("tags") or {})


def key(resource: object) -> str:
    """A resource id as it can be compared: Azure does not care for case, and changes it."""
    return str(resource or "").lower()


def group_of(answer: Mapping[str, Any]) -> str:
    """The name of the group in which something is."""
    return key(answer["id"]).split("/")[4]


def machine_id(answer: Mapping[str, Any]) -> str:
    """A machine as others know it, `group/name`: without its group Azure does not find it."""
    return f"{group_of(answer)}/{key(answer['name'])}"


def power(answer: Mapping[str, Any]) -> str:
    """`running`, `deallocated` and so on; empty: nobody knows yet."""
    for code, _ in _statuses(answer):
        if code.startswith(POWER):
            return code.removeprefix(POWER)
    return ""


def failure(answer: Mapping[str, Any]) -> Complaint | None:
    """Why a machine was not made, if it was not."""
    if provisioning(answer) != "failed":
        return None
    for code, message in _statuses(answer):
        if code.startswith(FAILED):
            return told(409, code.removeprefix(FAILED), message)
    return told(409, "", "the machine was not made, and Azure does not say why")


def _statuses(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    view = (answer.get("properties") or {}).get("instanceView") or {}
    return [
        (str(each.get("code") or ""), str(each.get("message") or each.get("displayStatus") or ""))
        for each in view.get("statuses") or []
    ]


def is_halted(answer: Mapping[str, Any]) -> bool:
    """Whether a machine has shut itself down; one that is being started or stopped has not."""
    return power(answer) == HALTED and provisioning(answer) in DONE


def has_room(answer: Mapping[str, Any]) -> bool:
    """Whether Azure has found room for a machine; from then on it can only take it away again."""
    return power(answer) == "running" or provisioning(answer) in DONE


def addresses(
    interfaces: Iterable[Mapping[str, Any]], publics: Iterable[Mapping[str, Any]]
) -> Addresses:
    """How machines are reached, by their ids."""
    outside = {
        key(each["id"]): str((each.get("properties") or {}).get("ipAddress") or "")
        for each in publics
    }
    private, public = {}, {}
    for each in interfaces:
        properties = each.get("properties") or {}
        owner = key((properties.get("virtualMachine") or {}).get("id"))
        for plug in properties.get("ipConfigurations") or []:
            told_of = plug.get("properties") or {}
            private[owner] = str(told_of.get("privateIPAddress") or "")
            public[owner] = outside.get(key((told_of.get("publicIPAddress") or {}).get("id")), "")
            break
    return Addresses(private, public)


def with_states(
    listed: Iterable[Mapping[str, Any]], told: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A list of machines, together with the one that tells what they are doing."""
    views = {key(each["id"]): (each.get("properties") or {}).get("instanceView") for each in told}
    return [
        {**each, "properties": {**each["properties"], "instanceView": views.get(key(each["id"]))}}
        for each in listed
    ]


def machine(answer: Mapping[str, Any], reached: Addresses = NOWHERE) -> Machine:
    """A machine, as its answer with the instance view tells of it."""
    marks = answer.get("tags") or {}
    properties = answer.get("properties") or {}
    state = STATES.get(power(answer), MachineState.STARTING)
    rank = str(marks.get(RANK_TAG, ""))
    failed = failure(answer)
    return Machine(
        id=machine_id(answer),
        token=str(marks.get(TOKEN_TAG, "")),
        cluster=str(marks.get(CLUSTER_TAG, "")),
        rank=int(rank) if rank.isdigit() else 0,
        place=Place(_region(answer), str(next(iter(answer.get("zones") or []), ""))),
        state=MachineState.ENDING if provisioning(answer) == DELETING else state,
        instance_type=str((properties.get("hardwareProfile") or {}).get("vmSize") or ""),
        spot=properties.get("priority") == "Spot",
        public_address=reached.public.get(key(answer["id"]), ""),
        private_address=reached.private.get(key(answer["id"]), ""),
        user=str((properties.get("osProfile") or {}).get("adminUsername") or ""),
        why=failed.message if failed else "",
    )


def remains(left: Group) -> Machine:
    """A resource group of ours without a machine: it is not for free, so it must be seen."""
    return Machine(
        id=left.name,
        token=str(left.tags.get(TOKEN_TAG, "")),
        cluster=str(left.tags.get(CLUSTER_TAG, "")),
        rank=0,
        place=Place(left.region),
        state=MachineState.STOPPED,
        why="a resource group without machines",
    )
