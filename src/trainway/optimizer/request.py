"""What a node must have, as the search in a catalog asks for it. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trainway.api.accelerators import Accelerator
from trainway.api.task.amounts import Amount
from trainway.api.task.infra import Infra
from trainway.api.task.local_disk import LocalDisk, local_disk
from trainway.api.task.resources import Candidate, container_image
from trainway.api.task.task import Task

_BY_MEMORY: Final = re.compile(r"([0-9]+)GB(\+?)", re.IGNORECASE)
_DEFAULT_CPUS: Final = Amount(8, at_least=True)
_DEFAULT_MEMORY: Final = Amount(4, per_cpu=True)
"""What a task gets that asks for nothing: SkyPilot's eight CPUs, with 4 GB for each."""


@dataclass(frozen=True)
class Block:
    """What is not to be tried again: as much as the error that said so was about."""

    cloud: str
    region: str | None = None
    zone: str | None = None
    instance_type: str | None = None
    spot: bool | None = None
    """None: spot and on demand."""
    reservation: str | None = None
    """Only what was reserved under that name; None: that too."""
    accelerator: str | None = None
    accelerator_count: float | None = None


@dataclass(frozen=True)
class Request:
    """One kind of node that would do."""

    infra: Infra = field(default_factory=Infra)
    instance_type: str | None = None
    accelerator: Accelerator | None = None
    cpus: Amount | None = None
    memory: Amount | None = None
    spot: bool = False
    max_hourly_cost: float | None = None
    regions: frozenset[str] | None = None
    """None: any; those for which an image is named."""
    nodes: int = 1
    disk_tier: str | None = None
    """None: whatever the cloud has."""
    disk_gb: float | None = None
    local_disk: LocalDisk | None = None
    """A disk inside of the machine."""
    fast_network: bool = False
    """Whether its network must be known to be one for gangs."""
    image: str = ""
    """An image of a machine; empty: none is named, or one of containers."""
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def accelerator_gib(self) -> Amount | None:
        """The memory that is asked for instead of a name."""
        found = _BY_MEMORY.fullmatch(self.accelerator.name) if self.accelerator else None
        return Amount(float(found[1]), at_least=bool(found[2])) if found else None


@dataclass(frozen=True)
class TaskRequest:
    """A task: any of its requests will do, or the first that can be had if they are ordered."""

    name: str
    requests: Sequence[Request] = (Request(),)
    is_ordered: bool = False
    hours: float = 1
    output_gb: float = 0
    """What each task after it reads of it."""
    inputs: Mapping[str, float] = field(default_factory=dict)
    """GB by the cloud they come from."""

    def at(self, places: Sequence[Infra]) -> "TaskRequest":
        """The same, at any of these places only."""
        requests = [replace(each, infra=place) for each in self.requests for place in places]
        return replace(self, requests=tuple(requests))


_CLOUD_OF_SCHEME: Final = {"s3": "aws", "gs": "gcp", "az": "azure", "oci": "oci", "cos": "ibm"}


def task_request(name: str, task: Task) -> TaskRequest:
    """What a task asks for."""
    fields = task.to_dict()
    inputs: dict[str, float] = {}
    for uri, gigabytes in (fields.get("inputs") or {}).items():
        cloud = _CLOUD_OF_SCHEME.get(uri.partition("://")[0].lower(), "")
        inputs[cloud] = inputs.get(cloud, 0) + gigabytes
    resources = task.resources
    return TaskRequest(
        name,
        tuple(request(each, task.num_nodes) for each in resources.candidates),
        is_ordered=resources.is_ordered,
        output_gb=sum((fields.get("outputs") or {}).values()),
        inputs=inputs,
    )


def request(candidate: Candidate, nodes: int) -> Request:
    """What one candidate of a task asks for."""
    fields = candidate.fields
    cpus, memory = candidate.cpus, candidate.memory
    instance_type = fields.get("instance_type")
    if not (candidate.accelerator or cpus or memory or instance_type):
        cpus, memory = _DEFAULT_CPUS, _DEFAULT_MEMORY
    image = fields.get("image_id")
    tier, disk = fields.get("disk_tier"), fields.get("local_disk")
    return Request(
        infra=candidate.infra,
        instance_type=instance_type,
        accelerator=candidate.accelerator,
        cpus=cpus,
        memory=memory,
        spot=candidate.use_spot,
        max_hourly_cost=fields.get("max_hourly_cost"),
        regions=frozenset(machine_images(image)) - {""} or None,
        nodes=fields.get("num_nodes") or nodes,
        disk_tier=tier.lower() if tier else None,
        disk_gb=candidate.disk_gb,
        local_disk=local_disk(disk) if disk is not None else None,
        fast_network=(fields.get("network_tier") or "").lower() == "best",
        image=next(iter(machine_images(image).values()), ""),
        labels=tuple(candidate.labels.items()),
    )


def machine_images(image: Any) -> dict[str, str]:
    """The images of machines that `image_id` names, by region; one for all is under an empty name.

    Images of containers are not among them: they run on any machine.
    """
    if isinstance(image, dict):
        found = {region: str(text) for region, text in image.items() if region != "docker"}
        return {region: text for region, text in found.items() if not text.startswith("docker:")}
    return {} if not image or container_image(image) else {"": str(image)}
