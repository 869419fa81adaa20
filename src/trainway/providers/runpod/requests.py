"""What is asked of RunPod and what it answers, as plain values.

A machine is a pod: a container with GPUs. Pods have no tags; ours are variables of the container,
which RunPod shows in its list.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
    ACCOUNT_QUOTA,
    CREDENTIALS,
    DENIED,
    NO_ROOM,
    NO_SPOT_ROOM,
    UNKNOWN,
    WRONG_HERE,
)
from trainway.providers.web_api import Complaint

SETTINGS: Final[Mapping[str, str]] = {
    "image": "a container image that starts an SSH server with the key in PUBLIC_KEY",
    "spot_price": "what is bid for an hour of a GPU of a spot machine",
}
MISSING: Final[Mapping[Ability, str]] = {
    Ability.STOP: "a RunPod machine that is stopped loses its disk, and may not get its GPU again",
    Ability.SPOT_NOTICE: "RunPod tells a spot machine seconds before, and only inside of it",
    Ability.SEVERAL_NODES: "RunPod machines do not reach each other on all ports",
    Ability.OPEN_PORTS: "ports of RunPod machines get other numbers outside",
    Ability.DISK_TIER: "RunPod has one kind of disk",
    Ability.RESERVATIONS: "reservations of RunPod are not reached by its API",
    Ability.FAST_NETWORK: "single RunPod machines have no fast network",
    Ability.QUOTA: "RunPod does not say its quotas",
    Ability.JOB_CREDENTIALS: "RunPod has no credentials that expire",
    Ability.END_BY_SHUTDOWN: "a RunPod machine that shuts down is paid for until it is ended",
    Ability.STOP_BY_SHUTDOWN: "a RunPod machine that shuts down is paid for until it is ended",
}
IMAGE: Final = "runpod/pytorch:2.8.0-py3.11-cuda12.8.1-cudnn-devel-ubuntu22.04"
USER: Final = "root"
DISK_GB: Final = 100
GPUS: Final[Mapping[str, str]] = {
    "A100-80GB": "NVIDIA A100 80GB PCIe",
    "A100-80GB-SXM": "NVIDIA A100-SXM4-80GB",
    "A30": "NVIDIA A30",
    "A40": "NVIDIA A40",
    "B200": "NVIDIA B200",
    "H100": "NVIDIA H100 PCIe",
    "H100-NVL": "NVIDIA H100 NVL",
    "H100-SXM": "NVIDIA H100 80GB HBM3",
    "H200-SXM": "NVIDIA H200",
    "L4": "NVIDIA L4",
    "L40": "NVIDIA L40",
    "L40S": "NVIDIA L40S",
    "MI300X": "AMD Instinct MI300X OAM",
    "RTX2000-Ada": "NVIDIA RTX 2000 Ada Generation",
    "RTX3070": "NVIDIA GeForce RTX 3070",
    "RTX3080": "NVIDIA GeForce RTX 3080",
    "RTX3080-Ti": "NVIDIA GeForce RTX 3080 Ti",
    "RTX3090": "NVIDIA GeForce RTX 3090",
    "RTX3090-Ti": "NVIDIA GeForce RTX 3090 Ti",
    "RTX4000-Ada": "NVIDIA RTX 4000 Ada Generation",
    "RTX4080": "NVIDIA GeForce RTX 4080",
    "RTX4090": "NVIDIA GeForce RTX 4090",
    "RTX5090": "NVIDIA GeForce RTX 5090",
    "RTX6000-Ada": "NVIDIA RTX 6000 Ada Generation",
    "RTXPRO6000": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    "RTXPRO6000-WK": "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    "RTXA4000": "NVIDIA RTX A4000",
    "RTXA4500": "NVIDIA RTX A4500",
    "RTXA5000": "NVIDIA RTX A5000",
    "RTXA6000": "NVIDIA RTX A6000",
}
"""RunPod's names for the GPUs of a catalog."""
TYPE: Final = re.compile(r"(\d+)x_(.+)_(SECURE|COMMUNITY)")
MARKS: Final = (OWNER_TAG, CLUSTER_TAG, TOKEN_TAG, RANK_TAG)
REGION_MARK: Final = "trainway-region"
ZONE_MARK: Final = "trainway-zone"
TYPE_MARK: Final = "trainway-type"
SPOT_MARK: Final = "trainway-spot"
STATES: Final[Mapping[str, MachineState]] = {
    "CREATED": MachineState.STARTING,
    "RESTARTING": MachineState.STARTING,
    "EXITED": MachineState.STOPPED,
    "PAUSED": MachineState.STOPPED,
    "DEAD": MachineState.ENDED,
    "TERMINATED": MachineState.ENDED,
}
LIST: Final = (
    "query { myself { id email pods { id name desiredStatus env runtime { ports "
    "{ ip isIpPublic privatePort publicPort type } } } } }"
)
END: Final = "mutation ($input: PodTerminateInput!) { podTerminate(input: $input) }"
ON_DEMAND: Final = (
    "mutation ($input: PodFindAndDeployOnDemandInput) "
    "{ podFindAndDeployOnDemand(input: $input) { id } }"
)
SPOT: Final = (
    "mutation ($input: PodRentInterruptableInput!) { podRentInterruptable(input: $input) { id } }"
)
MEANINGS: Final[Mapping[str, Meaning]] = {
    "no longer any instances available": NO_ROOM,
    "no instances currently available": NO_ROOM,
    "no resources": NO_ROOM,
    "does not have the resources": NO_ROOM,
    "forbidden": DENIED,
    "bid": NO_SPOT_ROOM,
    "balance": DENIED,
    "limit": ACCOUNT_QUOTA,
    "unauthorized": CREDENTIALS,
    "not found": WRONG_HERE,
}
"""What a message means that has these words; RunPod has no codes."""
GONE: Final = "not found"


@dataclass(frozen=True)
class Kind:
    """What a type of a catalog is for RunPod: `8x_H100-SXM_SECURE`."""

    gpus: int
    gpu: str
    cloud: str


def kind(instance_type: str) -> Kind:
    """Read a type; raises that there is none of that name."""
    found = TYPE.fullmatch(instance_type)
    gpu = GPUS.get(found.group(2)) if found else None
    if found is None or gpu is None:
        raise ProviderError(
            f"RunPod: there is no type {instance_type!r}",
            trouble=Trouble.INVALID,
            scope=Scope.INSTANCE_TYPE,
            hint="types are written like 8x_H100-SXM_SECURE",
        )
    return Kind(int(found.group(1)), gpu, found.group(3))


def variable(mark: str) -> str:
    """A tag as the name of a variable."""
    return mark.upper().replace("-", "_")


def pod(request: GangRequest, rank: int, bid: float = 0.0) -> dict[str, Any]:
    """The input of the mutation that makes a pod."""
    wanted = kind(request.instance_type)
    marks = {key: value for key, value in tags(request, rank).items() if key in MARKS} | {
        REGION_MARK: request.place.region,
        ZONE_MARK: request.place.zone,
        TYPE_MARK: request.instance_type,
        SPOT_MARK: "yes" if request.spot else "no",
    }
    env = {variable(key): value for key, value in marks.items()}
    env["PUBLIC_KEY"] = request.public_key.strip()
    built: dict[str, Any] = {
        "name": f"{request.name}-{rank}",
        "imageName": request.image or request.settings.get("image", IMAGE),
        "cloudType": wanted.cloud,
        "gpuTypeId": wanted.gpu,
        "gpuCount": wanted.gpus,
        "containerDiskInGb": request.disk_gib or DISK_GB,
        "volumeInGb": 0,
        "ports": "22/tcp",
        "startSsh": True,
        "supportPublicIp": True,
        "env": [{"key": key, "value": value} for key, value in sorted(env.items())],
    }
    if request.place.zone:
        built["dataCenterId"] = request.place.zone
    else:
        built["countryCode"] = request.place.region
    if request.spot:
        built["bidPerGpu"] = bid
    return built


def marks_of(answer: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a pod."""
    pairs = (str(each).partition("=") for each in answer.get("env") or [])
    return {name: value for name, _, value in pairs}


def machine(answer: Mapping[str, Any]) -> Machine:
    """A pod of the list."""
    marks = marks_of(answer)
    rank = marks.get(variable(RANK_TAG), "")
    ports = ((answer.get("runtime") or {}).get("ports")) or []
    ssh = next((each for each in ports if each.get("privatePort") == 22), None)
    state = STATES.get(str(answer.get("desiredStatus", "")))
    if state is None:
        state = MachineState.RUNNING if ssh else MachineState.STARTING
    return Machine(
        id=str(answer["id"]),
        token=marks.get(variable(TOKEN_TAG), ""),
        cluster=marks.get(variable(CLUSTER_TAG), ""),
        rank=int(rank) if rank.isdigit() else 0,
        place=Place(marks.get(variable(REGION_MARK), ""), marks.get(variable(ZONE_MARK), "")),
        state=state,
        instance_type=marks.get(variable(TYPE_MARK), ""),
        spot=marks.get(variable(SPOT_MARK)) == "yes",
        public_address=str(ssh["ip"]) if ssh else "",
        ssh_port=int(ssh["publicPort"]) if ssh else 22,
        user=USER,
        why=str(answer.get("desiredStatus", "")),
    )


def complaint(_: int, answer: Any) -> Complaint:
    """What the errors of an answer say; GraphQL has them beside its data."""
    errors = answer.get("errors") if isinstance(answer, dict) else None
    if not isinstance(errors, list) or not errors:
        return Complaint("its answer has no data")
    message = str(errors[0].get("message", "")) if isinstance(errors[0], dict) else str(errors[0])
    low = message.lower()
    words = next((each for each in MEANINGS if each in low), "")
    return Complaint(message, MEANINGS.get(words, UNKNOWN), "", words)
