"""Typed views on the parts of a JobSet.

A JobSet travels as plain data, so that no field of a pod template is ever lost. A view holds a
reference to one part of that data: reading gives typed values, writing changes the JobSet in place.
Nothing is kept twice, so nothing can get out of step.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainway.json_types import Json

API_VERSION = "jobset.x-k8s.io/v1alpha2"
KIND = "JobSet"


def upsert(items: list[Json], item: Json, key: str) -> None:
    """Put an item in the place of the one with the same key, or at the end."""
    for index, existing in enumerate(items):
        if existing.get(key) == item[key]:
            items[index] = item
            return
    items.append(item)


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a pod template."""

    data: Json

    @property
    def name(self) -> str:
        """Unique within its pod."""
        return str(self.data.get("name", ""))

    @property
    def env(self) -> list[Json]:
        """The environment, as written."""
        return list(self.data.get("env") or [])

    @property
    def command(self) -> list[str]:
        """The entry point; empty: the image's own."""
        return list(self.data.get("command") or [])

    @property
    def resources(self) -> Json:
        """Requests, limits and claims."""
        return dict(self.data.get("resources") or {})

    def set_env(self, *entries: Mapping[str, Any]) -> None:
        """Set variables; one that is there already is replaced as a whole, where it stands."""
        env = self.data.setdefault("env", []) if entries else []
        for entry in entries:
            upsert(env, dict(entry), "name")

    def set_port(self, number: int) -> None:
        """Open a port; an entry for the same number is replaced."""
        upsert(self.data.setdefault("ports", []), {"containerPort": number}, "containerPort")

    def set_mount(self, name: str, path: str, **more: Any) -> None:
        """Mount a volume; whatever was mounted at that path is replaced."""
        mount = {"name": name, "mountPath": path, **more}
        upsert(self.data.setdefault("volumeMounts", []), mount, "mountPath")

    def mounts(self, volume: str) -> bool:
        """Whether the container mounts the volume of that name."""
        return any(m.get("name") == volume for m in self.data.get("volumeMounts") or [])


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """The pods of a job: `metadata` and `spec`."""

    data: Json

    @property
    def spec(self) -> Json:
        """The pod's own spec."""
        spec: Json = self.data.setdefault("spec", {})
        return spec

    @property
    def containers(self) -> list[Container]:
        """The main containers."""
        return [Container(item) for item in self.spec.get("containers") or []]

    @property
    def init_containers(self) -> list[Container]:
        """Containers that run before the main ones, sidecars included."""
        return [Container(item) for item in self.spec.get("initContainers") or []]

    def container(self, name: str) -> Container | None:
        """The main container of that name."""
        return next((c for c in self.containers if c.name == name), None)

    def any_container(self, name: str) -> Container | None:
        """The main or init container of that name."""
        everywhere = (*self.containers, *self.init_containers)
        return next((c for c in everywhere if c.name == name), None)

    def set_volume(self, volume: Json) -> None:
        """Add a volume, or replace the one of the same name."""
        upsert(self.spec.setdefault("volumes", []), volume, "name")

    def add_labels(self, labels: Mapping[str, str]) -> None:
        """Set labels on every pod."""
        if labels:
            self._metadata().setdefault("labels", {}).update(labels)

    def add_annotations(self, annotations: Mapping[str, str]) -> None:
        """Set annotations on every pod."""
        if annotations:
            self._metadata().setdefault("annotations", {}).update(annotations)

    def _metadata(self) -> Json:
        metadata: Json = self.data.setdefault("metadata", {})
        return metadata


@dataclass(frozen=True, slots=True)
class ReplicatedJob:
    """A role of the JobSet: `replicas` Jobs made from one template."""

    data: Json

    @property
    def name(self) -> str:
        """The role's name."""
        return str(self.data.get("name", ""))

    @property
    def replicas(self) -> int:
        """How many Jobs of this role there are."""
        return int(self.data.get("replicas", 1))

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of the Jobs."""
        metadata = self._template().get("metadata") or {}
        return dict(metadata.get("labels") or {})

    @property
    def job_spec(self) -> Json:
        """The spec of the Jobs."""
        spec: Json = self._template().setdefault("spec", {})
        return spec

    @property
    def pod(self) -> PodTemplate:
        """The template of the pods."""
        return PodTemplate(self.job_spec.setdefault("template", {}))

    @property
    def depends_on(self) -> list[Json]:
        """Roles that must be ready or complete before this one starts."""
        return list(self.data.get("dependsOn") or [])

    def _template(self) -> Json:
        template: Json = self.data.setdefault("template", {})
        return template


def replicated_jobs(spec: Json) -> Iterator[ReplicatedJob]:
    """The roles of a JobSet's spec, in order."""
    return (ReplicatedJob(item) for item in spec.get("replicatedJobs") or [])
