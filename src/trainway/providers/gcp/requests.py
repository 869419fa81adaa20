"""What is asked of Compute Engine and what it answers, as plain values."""

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

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
from trainway.providers.errors import Meaning, ProviderError, Scope, Trouble
from trainway.providers.meanings import (
    CREDENTIALS,
    DENIED,
    NO_ROOM,
    QUOTA,
    SILENT,
    THROTTLED,
    WRONG_IN_ZONE,
)
from trainway.providers.settings import choice
from trainway.providers.web_api import Complaint

SETTINGS: Final[Mapping[str, str]] = {
    "network": "the VPC network; otherwise `default`",
    "subnet": "the subnetwork, where the network does not make one in each region",
    "image": "an image or family, as `projects/P/global/images/family/F`",
    "user": "who the key of the server belongs to on machines; otherwise `trainway`",
    "ssh_from": "from where ssh is let in, as a CIDR block",
    "address": "public or private: whether machines have an address of the internet",
    "service_account": "the service account that machines have; otherwise none",
}
MISSING: Final[Mapping[Ability, str]] = {
    Ability.SPOT_NOTICE: "Google Cloud tells a spot machine 30 seconds before, inside of it only",
    Ability.FAST_NETWORK: "networks with GPUDirect are not set up on Google Cloud",
    Ability.QUOTA: "quotas of Google Cloud are not asked for",
    Ability.JOB_CREDENTIALS: "machines of Google Cloud have `service_account` for that",
    Ability.END_BY_SHUTDOWN: "a Google Cloud machine that shuts down keeps its disk, which costs",
}
UBUNTU: Final = "projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-{cpu}"
LEARNING: Final = (
    "projects/deeplearning-platform-release/global/images/family/"
    "common-cu128-ubuntu-2204-nvidia-570"
)
GPU_TYPES: Final = ("a2-", "a3-", "a4-", "g2-", "g4-")
ATTACHING: Final = "n1-"
"""Types to which GPUs are attached, and which may be had without."""
ATTACHED: Final[Mapping[str, str]] = {
    name: f"nvidia-tesla-{name}" for name in ("p4", "p100", "t4", "v100")
}
"""What Google calls the GPUs that it attaches, by their names in catalogs."""
ARM_TYPES: Final = ("t2a-", "c4a-", "n4a-", "a4x-")
HYPERDISK_TYPES: Final = ("a3-ultra", "a3-mega", "a4-", "a4x-", "c4-", "c4a-", "c4d-", "g4-", "n4-")
DISKS: Final[Mapping[str, str]] = {
    "": "pd-balanced",
    "low": "pd-standard",
    "medium": "pd-balanced",
    "high": "pd-ssd",
    "best": "pd-ssd",
    "ultra": "pd-extreme",
}
DISK_GIB: Final = 128
DEFAULT_USER: Final = "trainway"
USER_KEY: Final = "trainway-user"
LABEL: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")
STATES: Final[Mapping[str, MachineState]] = {
    "PROVISIONING": MachineState.STARTING,
    "STAGING": MachineState.STARTING,
    "REPAIRING": MachineState.STARTING,
    "RUNNING": MachineState.RUNNING,
    "STOPPING": MachineState.STOPPING,
    "SUSPENDING": MachineState.STOPPING,
    "TERMINATED": MachineState.STOPPED,
    "SUSPENDED": MachineState.STOPPED,
    "DEPROVISIONING": MachineState.ENDING,
}
CODES: Final[Mapping[str, Meaning]] = {
    "ZONE_RESOURCE_POOL_EXHAUSTED": NO_ROOM,
    "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS": NO_ROOM,
    "INSUFFICIENT_CAPACITY": NO_ROOM,
    "insufficientCapacity": NO_ROOM,
    "VM_MIN_COUNT_NOT_REACHED": NO_ROOM,
    "UNSUPPORTED_OPERATION": NO_ROOM,
    "QUOTA_EXCEEDED": QUOTA,
    "quotaExceeded": QUOTA,
    "rateLimitExceeded": THROTTLED,
    "userRateLimitExceeded": THROTTLED,
    "forbidden": DENIED,
    "accessNotConfigured": DENIED,
    "authError": CREDENTIALS,
    "RESOURCE_NOT_FOUND": WRONG_IN_ZONE,
    "notFound": WRONG_IN_ZONE,
    "invalid": WRONG_IN_ZONE,
    "backendError": SILENT,
}
_OF_GPUS: Final = re.compile(r"nvidia|gpu", re.IGNORECASE)
EVERYWHERE_QUOTA: Final = "GPUS_ALL_REGIONS"
GONE: Final = "notFound"
EXISTS: Final = "alreadyExists"


def instance_name(request: GangRequest, rank: int) -> str:
    """The same for a repeated request, and no longer than Google takes."""
    cluster = re.sub(r"[^a-z0-9-]", "-", request.cluster.lower())
    return f"trainway-{cluster[:30].strip('-')}-{request.token[:16]}-{rank}"


def group_name(owner: str, cluster: str) -> str:
    """What the rules of a cluster's firewall begin with; also the network tag of its machines."""
    return f"trainway-{hashlib.sha256(f'{owner}/{cluster}'.encode()).hexdigest()[:16]}"


def request_id(request: GangRequest, zone: str) -> str:
    """What Google answers once, however often it is sent."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{request.owner}/{request.token}/{zone}"))


def bulk_insert(request: GangRequest) -> dict[str, Any]:
    """All machines of a gang, or none."""
    if request.accelerator.lower().startswith("tpu-"):
        raise ProviderError(
            f"Google Cloud: {request.accelerator} is not made, only machines of Compute Engine are",
            trouble=Trouble.INVALID,
            scope=Scope.INSTANCE_TYPE,
        )
    names: dict[str, Any] = {instance_name(request, rank): {} for rank in range(request.count)}
    marks = {key: value for key, value in tags(request, 0).items() if LABEL.fullmatch(key)}
    del marks[RANK_TAG]
    user = request.settings.get("user", DEFAULT_USER)
    metadata = {"ssh-keys": f"{user}:{request.public_key.strip()}", USER_KEY: user}
    properties: dict[str, Any] = {
        "machineType": request.instance_type,
        "labels": marks,
        "tags": {"items": [group_name(request.owner, request.cluster)]},
        "metadata": {"items": [{"key": key, "value": value} for key, value in metadata.items()]},
        "disks": [disk(request)],
        "networkInterfaces": [interface(request)],
        "scheduling": scheduling(request),
    }
    if gpus := attached(request):
        properties["guestAccelerators"] = gpus
    if account := request.settings.get("service_account"):
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        properties["serviceAccounts"] = [{"email": account, "scopes": scopes}]
    if request.reservation:
        properties["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [request.reservation],
        }
    return {
        "count": str(request.count),
        "minCount": str(request.count),
        "perInstanceProperties": names,
        "instanceProperties": properties,
    }


def attached(request: GangRequest) -> list[dict[str, Any]]:
    """The GPUs of each machine that are not built in."""
    if not request.accelerator or not request.instance_type.startswith(ATTACHING):
        return []
    kind = ATTACHED.get(request.accelerator.lower())
    if kind is None:
        raise ProviderError(
            f"Google Cloud attaches no {request.accelerator} to {request.instance_type}",
            trouble=Trouble.INVALID,
            scope=Scope.INSTANCE_TYPE,
            of_accelerator=True,
            hint=f"it attaches {', '.join(name.upper() for name in ATTACHED)}",
        )
    return [{"acceleratorType": kind, "acceleratorCount": request.accelerator_count}]


def is_of_accelerator(request: GangRequest, error: ProviderError) -> bool:
    """Whether an error holds for the same GPUs beside each other type.

    Quotas count GPUs. Room for them is asked for apart only where they are attached.
    """
    if error.trouble is Trouble.QUOTA:
        return _OF_GPUS.search(error.message) is not None
    return error.trouble is Trouble.CAPACITY and bool(attached(request))


def has_gpus(request: GangRequest) -> bool:
    """Whether machines have GPUs, built in or attached."""
    return bool(attached(request)) or request.instance_type.startswith(GPU_TYPES)


def disk(request: GangRequest) -> dict[str, Any]:
    """The disk of each machine, which goes with it."""
    kind = DISKS.get(request.disk_tier)
    if kind is None:
        raise ProviderError(
            f"disk_tier: Google Cloud has no {request.disk_tier!r}",
            trouble=Trouble.INVALID,
            scope=Scope.CLOUD,
            hint=f"one of {', '.join(each for each in DISKS if each)}",
        )
    if request.instance_type.startswith(HYPERDISK_TYPES):
        kind = "hyperdisk-balanced"
    parameters = {
        "sourceImage": request.image or request.settings.get("image") or image(request),
        "diskSizeGb": str(request.disk_gib or DISK_GIB),
        "diskType": kind,
    }
    return {"boot": True, "autoDelete": True, "initializeParams": parameters}


def image(request: GangRequest) -> str:
    """Google's own, for the processor and the GPUs of a type."""
    if request.instance_type.startswith(ARM_TYPES):
        return UBUNTU.format(cpu="arm64")
    if has_gpus(request):
        return LEARNING
    return UBUNTU.format(cpu="amd64")


def interface(request: GangRequest) -> dict[str, Any]:
    """Where a machine is plugged in."""
    region, given = request.place.region, request.settings
    found: dict[str, Any] = {"network": f"global/networks/{given.get('network', 'default')}"}
    if subnet := given.get("subnet"):
        found["subnetwork"] = f"regions/{region}/subnetworks/{subnet}"
    if choice("gcp", given, "address", ("public", "private")) == "public":
        found["accessConfigs"] = [{"name": "External NAT", "type": "ONE_TO_ONE_NAT"}]
    return found


def scheduling(request: GangRequest) -> dict[str, Any]:
    """Spot machines are deleted when they are taken; those with GPUs cannot move."""
    if request.spot:
        return {
            "provisioningModel": "SPOT",
            "instanceTerminationAction": "DELETE",
            "onHostMaintenance": "TERMINATE",
            "automaticRestart": False,
        }
    if has_gpus(request):
        return {"onHostMaintenance": "TERMINATE", "automaticRestart": False}
    return {"automaticRestart": False}


def firewalls(request: GangRequest) -> list[dict[str, Any]]:
    """Who is let in: ssh, the ports that a user wants open, and members of the gang."""
    group = group_name(request.owner, request.cluster)
    network = f"global/networks/{request.settings.get('network', 'default')}"
    common = {"network": network, "targetTags": [group], "description": "made by Trainway"}
    rules = [
        {
            "name": f"{group}-ssh",
            "sourceRanges": [request.settings.get("ssh_from", "0.0.0.0/0")],
            "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}],
        },
        {"name": f"{group}-gang", "sourceTags": [group], "allowed": [{"IPProtocol": "all"}]},
    ]
    if request.ports:
        allowed = [{"IPProtocol": "tcp", "ports": list(request.ports)}]
        name = f"{group}-ports"
        rules.append({"name": name, "sourceRanges": ["0.0.0.0/0"], "allowed": allowed})
    return [{**rule, **common} for rule in rules]


def firewall_names(owner: str, cluster: str) -> list[str]:
    """All that a cluster may have."""
    return [f"{group_name(owner, cluster)}-{end}" for end in ("ssh", "gang", "ports")]


def machine(answer: Mapping[str, Any]) -> Machine:
    """An instance; its id has its zone, without which Google does not find it."""
    labels = answer.get("labels") or {}
    zone = last(answer.get("zone"))
    items = (answer.get("metadata") or {}).get("items") or []
    plug: Mapping[str, Any] = next(iter(answer.get("networkInterfaces") or []), {})
    outside: Mapping[str, Any] = next(iter(plug.get("accessConfigs") or []), {})
    rank = str(answer["name"]).rpartition("-")[2]
    users = [each["value"] for each in items if each.get("key") == USER_KEY]
    return Machine(
        id=f"{zone}/{answer['name']}",
        token=labels.get(TOKEN_TAG, ""),
        cluster=labels.get(CLUSTER_TAG, ""),
        rank=int(rank) if rank.isdigit() else 0,
        place=Place(zone.rpartition("-")[0], zone),
        state=STATES.get(answer.get("status", ""), MachineState.STARTING),
        instance_type=last(answer.get("machineType")),
        spot=(answer.get("scheduling") or {}).get("provisioningModel") == "SPOT",
        public_address=outside.get("natIP") or "",
        private_address=plug.get("networkIP") or "",
        user=users[0] if users else DEFAULT_USER,
        why=answer.get("statusMessage") or "",
    )


def last(address: object) -> str:
    """The name at the end of an address of Google."""
    return str(address or "").rpartition("/")[2]


def filter_of(owner: str, token: str = "") -> str:
    """The filter that finds machines of a server, or of one request."""
    wanted = f'labels.{OWNER_TAG}="{owner}"'
    return f'{wanted} AND labels.{TOKEN_TAG}="{token}"' if token else wanted


def complaint(_: int, answer: Any) -> Complaint:
    """What the body of an error says."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return Complaint("")
    errors: Sequence[Mapping[str, Any]] = error.get("errors") or [{}]
    code = str(errors[0].get("reason") or errors[0].get("code") or error.get("status") or "")
    message = str(errors[0].get("message") or error.get("message") or "")
    meaning = CODES.get(code)
    if EVERYWHERE_QUOTA in message:
        meaning = Meaning(Trouble.QUOTA, Scope.INSTANCE_TYPE)
    return Complaint(f"{message} ({code})", meaning, code=code)
