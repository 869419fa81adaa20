"""Names of a job that become parts of paths where its pods are processes, checked before it runs.

Kubernetes refuses such names itself. Here they would lead out of the job's directory: a claim's
name is that of a folder, a container's that of its log. The agent looks again when it makes them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from trainway.jobset.model import PodTemplate, replicated_jobs
from trainway.json_types import Json

LONGEST: Final = 200
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_RULE: Final = (
    "must contain only letters, digits, '-', '_' and '.', and must not begin with '-' or '.'"
)
_BELOW: Final = "must be a relative path without '..'"
_FILES: Final = ("data", "stringData", "binaryData")


def errors(jobset: Json) -> list[str]:
    """Every name of a JobSet that is no name of a file or folder."""
    namespace = (jobset.get("metadata") or {}).get("namespace") or "default"
    return [
        *([] if is_name(namespace) else [f"metadata.namespace: {_RULE}"]),
        *(
            f"role {job.name}, {error}"
            for job in replicated_jobs(jobset["spec"])
            for error in (*_role(job.name), *_containers(job.pod), *_volumes(job.pod))
        ),
    ]


def key_errors(objects: Iterable[Json]) -> list[str]:
    """Every key of ConfigMaps and Secrets that is no path below where it is put."""
    return [
        f"{obj.get('kind')}/{_dict(obj.get('metadata')).get('name')}: {field}[{key}]: {_BELOW}"
        for obj in objects
        for field in _FILES
        for key in _dict(obj.get(field))
        if not is_below(str(key))
    ]


def is_name(text: object) -> bool:
    """Whether it can be the name of one file or folder."""
    return isinstance(text, str) and len(text) <= LONGEST and bool(_NAME.fullmatch(text))


def is_below(path: str) -> bool:
    """Whether a path stays below where it is put."""
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and ".." not in parts and "\0" not in path


def _role(name: str) -> Iterator[str]:
    if not is_name(name):
        yield f"name: {_RULE}"


def _containers(pod: PodTemplate) -> Iterator[str]:
    for container in (*pod.init_containers, *pod.containers):
        if not is_name(container.data.get("name")):
            yield f"container {container.data.get('name')!r}: name: {_RULE}"
        for mount in _dicts(container.data.get("volumeMounts")):
            path = mount.get("subPath")
            if path and not is_below(str(path)):
                yield f"container {container.name}, volume {mount.get('name')}: subPath: {_BELOW}"


def _volumes(pod: PodTemplate) -> Iterator[str]:
    for volume in _dicts(pod.spec.get("volumes")):
        name = volume.get("name")
        if not is_name(name):
            yield f"volume {name!r}: name: {_RULE}"
        claim = volume.get("persistentVolumeClaim")
        if isinstance(claim, dict) and not is_name(claim.get("claimName")):
            yield f"volume {name}: claimName: {_RULE}"
        for item in _items(volume):
            if not is_below(str(item.get("path") or "")):
                yield f"volume {name}: items: path: {_BELOW}"


def _items(volume: Json) -> Iterator[Json]:
    """The items of a volume whose files are given, and of its parts."""
    for source in (*volume.values(), *_dicts(_dict(volume.get("projected")).get("sources"))):
        for part in (source, *source.values()) if isinstance(source, dict) else ():
            if isinstance(part, dict):
                yield from _dicts(part.get("items"))


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _dicts(items: Any) -> list[Json]:
    found = items if isinstance(items, list) else []
    return [item for item in found if isinstance(item, dict)]
