"""What EC2 answers, as machines, subnets and notices of ours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from trainway.providers.aws.requests import DEFAULT_USER, USER_TAG
from trainway.providers.base import (
    CLUSTER_TAG,
    TOKEN_TAG,
    Machine,
    MachineState,
    Notice,
    Place,
)

STATES: Final[Mapping[str, MachineState]] = {
    "pending": MachineState.STARTING,
    "running": MachineState.RUNNING,
    "stopping": MachineState.STOPPING,
    "stopped": MachineState.STOPPED,
    "shutting-down": MachineState.ENDING,
    "terminated": MachineState.ENDED,
}
WARNED: Final = timedelta(minutes=2)
"""How long before its end a spot machine is told."""
_WHEN: Final = re.compile(r"\((\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (?:GMT|UTC)\)")
"""When a state changed, in its reason: `User initiated (2026-11-18 12:00:00 GMT)`."""
ENDING_CODES: Final = frozenset({"marked-for-termination", "marked-for-stop"})


def marks(answer: Mapping[str, Any]) -> dict[str, str]:
    """The tags of something."""
    return {each["Key"]: each["Value"] for each in answer.get("Tags") or []}


def machine(region: str, answer: Mapping[str, Any]) -> Machine:
    """An instance."""
    tags = marks(answer)
    state = STATES.get(answer.get("State", {}).get("Name", ""), MachineState.STARTING)
    return Machine(
        id=answer["InstanceId"],
        token=tags.get(TOKEN_TAG, ""),
        cluster=tags.get(CLUSTER_TAG, ""),
        rank=int(answer.get("AmiLaunchIndex", 0)),
        place=Place(region, answer.get("Placement", {}).get("AvailabilityZone", "")),
        state=state,
        instance_type=answer.get("InstanceType", ""),
        spot=answer.get("InstanceLifecycle") == "spot",
        public_address=answer.get("PublicIpAddress") or "",
        private_address=answer.get("PrivateIpAddress") or "",
        user=tags.get(USER_TAG, DEFAULT_USER),
        why=(answer.get("StateReason") or {}).get("Message", ""),
        launched=_launched(answer),
    )


def _launched(answer: Mapping[str, Any]) -> str:
    at = answer.get("LaunchTime")
    return at.astimezone(UTC).isoformat() if isinstance(at, datetime) else ""


def ended(answer: Mapping[str, Any]) -> str:
    """When an instance stopped or ended; empty: it did not, or EC2 does not say when."""
    if answer.get("State", {}).get("Name") in ("pending", "running"):
        return ""
    found = _WHEN.search(answer.get("StateTransitionReason") or "")
    return f"{found[1]}T{found[2]}+00:00" if found else ""


def ended_by_other(answer: Mapping[str, Any]) -> str:
    """Who ended an instance that AWS has not taken, in its words; empty: AWS, or nobody knows.

    The code is `Server.SpotInstanceTermination`, or for example `Client.UserInitiatedShutdown`.
    """
    reason = answer.get("StateReason") or {}
    is_ended = answer.get("State", {}).get("Name") in ("shutting-down", "terminated")
    if not is_ended or not str(reason.get("Code", "")).startswith("Client."):
        return ""
    return str(reason.get("Message") or reason["Code"])


def instances(reservations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What DescribeInstances has in groups."""
    return [each for group in reservations for each in group.get("Instances", [])]


def notices(requests: Sequence[Mapping[str, Any]], now: datetime) -> list[Notice]:
    """Which spot machines are about to be taken, by the status of their requests."""
    found = []
    for each in requests:
        status = each.get("Status") or {}
        if status.get("Code") in ENDING_CODES and each.get("InstanceId"):
            told = status.get("UpdateTime")
            since = told if isinstance(told, datetime) else now
            at = (since.astimezone(UTC) + WARNED).isoformat().replace("+00:00", "Z")
            why = f"{status['Code']}: {status.get('Message', '')}".rstrip(": ")
            found.append(Notice(each["InstanceId"], at, why))
    return found


@dataclass(frozen=True)
class Subnet:
    """A part of a network, in one zone."""

    id: str
    zone: str
    vpc: str
    public: bool = True
    zone_id: str = ""
    """The zone as it is called in every account; SkyPilot's catalog has these, such as use1-az4."""


def one_for_each_zone(found: Sequence[Subnet], zone: str) -> list[Subnet]:
    """The subnets to try, in order: those with addresses of the internet first, one for a zone."""
    wanted = [each for each in found if zone in ("", each.zone, each.zone_id)]
    chosen: dict[str, Subnet] = {}
    for each in sorted(wanted, key=lambda each: (not each.public, each.id)):
        chosen.setdefault(each.zone, each)
    return [chosen[each] for each in sorted(chosen)]


def subnet(answer: Mapping[str, Any]) -> Subnet:
    """An element of DescribeSubnets."""
    return Subnet(
        str(answer["SubnetId"]),
        str(answer["AvailabilityZone"]),
        str(answer["VpcId"]),
        bool(answer.get("MapPublicIpOnLaunch")),
        str(answer.get("AvailabilityZoneId") or ""),
    )
