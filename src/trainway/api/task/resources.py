"""`resources`: what each node must have, and the alternatives among which placement chooses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trainway.api import accelerators
from trainway.api.accelerators import Accelerator
from trainway.api.task import amounts, infra, local_disk
from trainway.api.task.amounts import Amount
from trainway.api.task.autostop import SHAPE as AUTOSTOP
from trainway.api.task.infra import Infra
from trainway.api.task.recovery import SHAPE as RECOVERY
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, forbidden, invalid
from trainway.schema.shape import (
    FLAG,
    TEXT,
    Either,
    Items,
    Number,
    Record,
    Shape,
    Table,
    Word,
    check,
    exclusive,
)

DISK_TIERS: Final = ("low", "medium", "high", "ultra", "best")
DEFAULT_DISK: Final = 256
"""GB; written out it counts as not given."""

_ACCELERATOR_ARGS: Final = Record(
    {
        "runtime_version": TEXT,
        "tpu_name": TEXT,
        "tpu_vm": FLAG,
        "gcp_queued_resource": FLAG,
    }
)
_DISK: Final = Record(
    {
        "path": TEXT,
        "name": TEXT,
        "disk_size": amounts.SIZE,
        "disk_tier": Word(DISK_TIERS),
        "auto_delete": FLAG,
        "storage_type": Word(("network", "instance")),
        "attach_mode": Word(("read_write", "read_only")),
    }
)
_FIELDS: Final[Mapping[str, Shape]] = {
    "infra": TEXT,
    "cloud": TEXT,
    "region": TEXT,
    "zone": TEXT,
    "accelerators": accelerators.SHAPE,
    "gpus": accelerators.SHAPE,
    "accelerator_args": _ACCELERATOR_ARGS,
    "cpus": amounts.CPUS,
    "memory": amounts.MEMORY,
    "instance_type": TEXT,
    "use_spot": FLAG,
    "disk_size": amounts.SIZE,
    "disk_tier": Word(DISK_TIERS),
    "network_tier": Word(("standard", "best")),
    "local_disk": local_disk.SHAPE,
    "max_hourly_cost": Number(above=0),
    "ports": amounts.PORTS,
    "image_id": Either((TEXT, Table(TEXT, least=1))),
    "labels": Table(TEXT),
    "autostop": AUTOSTOP,
    "job_recovery": RECOVERY,
    "priority": Number(whole=True, least=-1000, most=1000),
    "priority_class": TEXT,
    "volumes": Items(_DISK),
}
_INTERNAL: Final = (
    "_docker_login_config",
    "_is_image_managed",
    "_requires_fuse",
    "_cluster_config_overrides",
    "_no_missing_accel_warnings",
    "ephemeral_storage",
)
_OF_MACHINES: Final = ("skypilot:", "ami-", "projects/", "/subscriptions/", "/aws/", "ocid1.")
"""What the names of images of machines begin with."""
_REMOVED: Final = {"spot_recovery": 'did you mean "job_recovery"?'}
_INNER: Final = Record(
    {**_FIELDS, "num_nodes": Number(whole=True, above=0, most=100_000)},
    removed={
        **_REMOVED,
        "any_of": "any_of and ordered cannot be nested",
        "ordered": "any_of and ordered cannot be nested",
    },
    keeps=_INTERNAL,
)
SHAPE: Final = Record(
    {**_FIELDS, "any_of": Items(_INNER, least=1), "ordered": Items(_INNER, least=1)},
    removed=_REMOVED,
    keeps=_INTERNAL,
)


@dataclass(frozen=True)
class Candidate:
    """One kind of node that would do."""

    infra: Infra = field(default_factory=Infra)
    accelerator: Accelerator | None = None
    cpus: Amount | None = None
    memory: Amount | None = None
    disk_gb: float | None = None
    use_spot: bool = False
    image: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    """All fields as written, with those of the base, for placement."""

    def to_dict(self) -> Json:
        """For placement: the fields, with one accelerator, in one spelling."""
        left_out = ("gpus", "cloud", "region", "zone", "labels", "any_of", "ordered")
        kept = {name: value for name, value in self.fields.items() if name not in left_out}
        if self.infra != Infra():
            kept["infra"] = str(self.infra)
        if self.accelerator is not None:
            kept["accelerators"] = str(self.accelerator)
        if self.labels:
            kept["labels"] = dict(self.labels)
        return kept


@dataclass(frozen=True)
class Resources:
    """What a task asks for: candidates, in order of preference if `is_ordered`."""

    candidates: tuple[Candidate, ...] = (Candidate(),)
    is_ordered: bool = False

    @property
    def first(self) -> Candidate:
        """The one that pods ask for until placement chooses."""
        return self.candidates[0]


def errors(data: Json, path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with the resources of a task."""
    found = list(check(SHAPE, data, path))
    yield from found
    if found:
        return
    yield from _one_errors(data, path)
    yield from exclusive(data, path, "any_of", "ordered")
    for name in ("any_of", "ordered"):
        for index, item in enumerate(data.get(name) or ()):
            yield from _one_errors(item, (*path, name, index))
    if isinstance(_accelerators(data), list):
        for name in ("any_of", "ordered"):
            if data.get(name) is not None:
                detail = f"a list of accelerators and {name} are mutually exclusive"
                yield forbidden((*path, name), detail)


def _one_errors(data: Json, path: Path) -> Iterator[FieldError]:
    for name in ("cloud", "region", "zone"):
        yield from exclusive(data, path, "infra", name)
    for name, read in (("infra", infra.parse), ("cloud", infra.cloud_of)):
        if data.get(name) is not None:
            try:
                read(data[name])
            except ValueError as error:
                yield invalid((*path, name), data[name], str(error))
    yield from exclusive(data, path, "accelerators", "gpus")
    for name in ("accelerators", "gpus"):
        if data.get(name) is not None:
            yield from accelerators.errors(data[name], (*path, name))
    if data.get("ports") is not None:
        try:
            amounts.port_ranges(data["ports"])
        except ValueError as error:
            yield invalid((*path, "ports"), data["ports"], str(error))
    yield from _image_errors(data.get("image_id"), (*path, "image_id"))
    if data.get("accelerator_args") and not _has_tpu(data):
        yield forbidden((*path, "accelerator_args"), "it is only for TPUs")


def _image_errors(image: Any, path: Path) -> Iterator[FieldError]:
    for place, text in image.items() if isinstance(image, dict) else [("", image)]:
        if isinstance(text, str) and not text.removeprefix("docker:").strip():
            yield invalid((*path, (place,)) if place else path, text, "it does not name an image")


def _has_tpu(data: Json) -> bool:
    try:
        found = accelerators.candidates(_accelerators(data))
    except ValueError:
        return True  # it is refused already
    return not found or any(one.name.lower().startswith("tpu") for one in found)


def warnings(data: Json, path: Path) -> Iterator[str]:
    """What is deprecated, or does not count everywhere."""
    places = [(path, data)]
    for name in ("any_of", "ordered"):
        items = data.get(name) or ()
        places += [((*path, name, index), item) for index, item in enumerate(items)]
    for place, item in places:
        shown = ".".join(str(part) for part in place)
        old = [name for name in ("cloud", "region", "zone") if item.get(name) is not None]
        if old:
            spelling = str(infra.of_fields(item))
            yield f"{shown}.{old[0]}: it is deprecated; use infra: {spelling}"
        if isinstance(item.get("autostop"), dict) and item["autostop"].get("hook") is not None:
            yield f"{shown}.autostop.hook: it is deprecated; use config.hooks"
        if item.get("num_nodes") is not None:
            yield (
                f"{shown}.num_nodes: it counts where machines are chosen by price; own machines"
                " have num_nodes of the task"
            )
        if item.get("ephemeral_storage") is not None:
            yield f"{shown}.ephemeral_storage: it is deprecated; use disk_size"


def read(data: Json | None) -> Resources:
    """The candidates of resources that have no errors."""
    base = {name: value for name, value in (data or {}).items() if value is not None}
    inner = base.pop("any_of", None)
    ordered = base.pop("ordered", None)
    is_ordered = ordered is not None or isinstance(_accelerators(base), list)
    alternatives: list[Json] = inner or ordered or [{}]
    merged = [_merged(base, item) for item in alternatives]
    return Resources(
        tuple(candidate for item in merged for candidate in _candidates(item)), is_ordered
    )


def _merged(base: Json, inner: Json) -> Json:
    """The fields of an alternative over those of the base; labels of both."""
    given = {name: value for name, value in inner.items() if value is not None}
    kept = dict(base)
    if "infra" in given or "cloud" in given:
        for name in ("infra", "cloud", "region", "zone"):
            kept.pop(name, None)
    if "accelerators" in given or "gpus" in given:
        kept.pop("accelerators", None)
        kept.pop("gpus", None)
    labels = {**(base.get("labels") or {}), **(given.get("labels") or {})}
    return {**kept, **given, **({"labels": labels} if labels else {})}


def _candidates(data: Json) -> Iterator[Candidate]:
    disk = data.get("disk_size")
    gigabytes = None if disk is None else amounts.gigabytes(disk)
    one = Candidate(
        infra=infra.of_fields(data),
        cpus=None if data.get("cpus") is None else amounts.cpus(data["cpus"]),
        memory=None if data.get("memory") is None else amounts.memory(data["memory"]),
        disk_gb=None if gigabytes == DEFAULT_DISK else gigabytes,
        use_spot=bool(data.get("use_spot")),
        image=_image(data.get("image_id")),
        labels=data.get("labels") or {},
        fields=data,
    )
    for accelerator in accelerators.candidates(_accelerators(data)) or (None,):
        yield replace(one, accelerator=accelerator)


def _accelerators(data: Json) -> Any:
    value = data.get("accelerators")
    return data.get("gpus") if value is None else value


def _image(value: Any) -> str | None:
    """The container image, where it is one and no image of a machine."""
    return container_image(value.get("docker") if isinstance(value, dict) else value)


def container_image(value: Any) -> str | None:
    """What is behind `docker:`, or an image that is not written as those of machines are."""
    if not isinstance(value, str):
        return None
    if value.startswith("docker:"):
        return value.removeprefix("docker:")
    return None if value.startswith(_OF_MACHINES) else value
