"""What is asked of Lambda and what it answers, as plain values."""

import re
from collections.abc import Mapping
from typing import Any, Final

from trainway.providers import cloud_init
from trainway.providers.base import (
    CLUSTER_TAG,
    OWNER_TAG,
    RANK_TAG,
    TOKEN_TAG,
    Ability,
    GangRequest,
    Machine,
    MachineState,
    Place,
    tags,
)
from trainway.providers.errors import Meaning, Scope, Trouble
from trainway.providers.meanings import (
    ACCOUNT_QUOTA,
    CREDENTIALS,
    DENIED,
    SILENT,
    WRONG_HERE,
)
from trainway.providers.web_api import Complaint

SETTINGS: Final[Mapping[str, str]] = {
    "image": "the family or the id of an image; otherwise the newest of Lambda's own",
    "file_system": "a file system of the region, which machines mount",
}
MISSING: Final[Mapping[Ability, str]] = {
    Ability.STOP: "Lambda machines cannot be stopped, only ended",
    Ability.SPOT: "Lambda has no spot machines",
    Ability.SPOT_NOTICE: "Lambda has no spot machines",
    Ability.OPEN_PORTS: "the firewall of Lambda is one for the whole account",
    Ability.DISK_SIZE: "the disk of a Lambda machine is that of its type",
    Ability.DISK_TIER: "the disk of a Lambda machine is that of its type",
    Ability.RESERVATIONS: "reservations of Lambda are not reached by its API",
    Ability.FAST_NETWORK: "single machines of Lambda have no fast network",
    Ability.QUOTA: "Lambda does not say its quotas",
    Ability.JOB_CREDENTIALS: "Lambda has no credentials that expire",
    Ability.END_BY_SHUTDOWN: "a Lambda machine that shuts down is paid for until it is ended",
    Ability.STOP_BY_SHUTDOWN: "a Lambda machine that shuts down is paid for until it is ended",
}
USER: Final = "ubuntu"
STATES: Final[Mapping[str, MachineState]] = {
    "booting": MachineState.STARTING,
    "active": MachineState.RUNNING,
    "unhealthy": MachineState.RUNNING,
    "terminating": MachineState.ENDING,
    "terminated": MachineState.ENDED,
    "preempted": MachineState.ENDED,
}
LABEL: Final = re.compile(r"[a-z][a-z0-9:-]{0,53}[a-z0-9]")
UUID: Final = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}")
CODES: Final[Mapping[str, Meaning]] = {
    "instance-operations/launch/insufficient-capacity": Meaning(Trouble.CAPACITY, Scope.REGION),
    "global/quota-exceeded": ACCOUNT_QUOTA,
    "global/invalid-api-key": CREDENTIALS,
    "global/account-inactive": DENIED,
    "global/object-does-not-exist": WRONG_HERE,
    "global/invalid-parameters": WRONG_HERE,
    "global/internal-error": SILENT,
    "instance-operations/launch/file-system-in-wrong-region": WRONG_HERE,
}
GONE: Final = "global/object-does-not-exist"


def launch(request: GangRequest, rank: int, key_name: str) -> dict[str, Any]:
    """One machine, which carries our tags from the first moment."""
    marks = {key: value for key, value in tags(request, rank).items() if LABEL.fullmatch(key)}
    built: dict[str, Any] = {
        "region_name": request.place.region,
        "instance_type_name": request.instance_type,
        "ssh_key_names": [key_name],
        "name": f"{request.name}-{rank}"[:64],
        "tags": [{"key": key, "value": value} for key, value in sorted(marks.items())],
        "user_data": cloud_init.user_data(request.public_key, host_key=request.host_key),
    }
    if image := request.image or request.settings.get("image"):
        built["image"] = {"id" if UUID.fullmatch(image) else "family": image}
    if files := request.settings.get("file_system"):
        built["file_system_names"] = [files]
    return built


def marks_of(answer: Mapping[str, Any]) -> dict[str, str]:
    """The tags of a machine."""
    return {each["key"]: each["value"] for each in answer.get("tags") or []}


def machine(answer: Mapping[str, Any]) -> Machine:
    """A machine of the list."""
    marks = marks_of(answer)
    rank = marks.get(RANK_TAG, "")
    return Machine(
        id=str(answer["id"]),
        token=marks.get(TOKEN_TAG, ""),
        cluster=marks.get(CLUSTER_TAG, ""),
        rank=int(rank) if rank.isdigit() else 0,
        place=Place(region_of(answer)),
        state=STATES.get(answer.get("status", ""), MachineState.STARTING),
        instance_type=(answer.get("instance_type") or {}).get("name", ""),
        public_address=answer.get("ip") or "",
        private_address=answer.get("private_ip") or "",
        user=USER,
        why=answer.get("status", ""),
    )


def region_of(answer: Mapping[str, Any]) -> str:
    """Where a machine is."""
    return str((answer.get("region") or {}).get("name", ""))


def is_of(answer: Mapping[str, Any], region: str, owner: str, token: str) -> bool:
    """Whether a machine is one of those that are looked for."""
    marks = marks_of(answer)
    fits = marks.get(OWNER_TAG) == owner and region_of(answer) == region
    return fits and token in ("", marks.get(TOKEN_TAG))


def complaint(_: int, answer: Any) -> Complaint:
    """What the body of an error says."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return Complaint("")
    code = str(error.get("code", ""))
    hint = str(error.get("suggestion") or "")
    return Complaint(f"{error.get('message', '')} ({code})", CODES.get(code), hint, code)
