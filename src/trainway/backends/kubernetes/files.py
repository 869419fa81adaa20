"""ConfigMaps that are too large for Kubernetes, and what becomes of the pods that mount them.

Such a ConfigMap is not sent. Its volume is an empty folder instead, and the pod begins with a
container that waits until someone has put the files there (`uploads`). That container has the image
of the one that mounts them and is run by its Python, so nothing else is needed. Pure.
"""

import base64
import copy
import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.errors import InvalidError
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

LIMIT: Final = 900_000
"""How many bytes of files a ConfigMap has at most; the API server takes 1 MiB of it."""
INIT: Final = "trainway-files"
"""The name of the container that waits for files."""
PLACE: Final = "/opt/trainway/upload"
"""Where it has the folders, each under the name of its ConfigMap."""
PATIENCE_S: Final = 3600

_DONE: Final = ".trainway-complete"
_WAIT: Final = """\
import glob, sys, time
end = time.monotonic() + {patience}
while not glob.glob("{place}/*/{done}"):
    if time.monotonic() > end:
        sys.exit("the files of this job did not arrive in time")
    time.sleep(0.1)
"""
_UNPACK: Final = """\
import hashlib, io, os, sys, tarfile
data = sys.stdin.buffer.read(int(sys.argv[1]))
if hashlib.sha256(data).hexdigest() != sys.argv[2]:
    sys.exit("the files arrived damaged")
folders = [f for f in os.listdir("{place}") if os.path.isdir(os.path.join("{place}", f))]
with tarfile.open(fileobj=io.BytesIO(data)) as archive:
    for member in archive:
        if member.name.split("/")[0] in folders:
            path = os.path.join("{place}", member.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(archive.extractfile(member).read())
for folder in folders:
    open(os.path.join("{place}", folder, "{done}"), "w").close()
"""


@dataclass(frozen=True)
class Sent:
    """What is sent to the API server, and what to the pods."""

    objects: list[Json]
    jobset: Json
    archive: bytes | None = None
    """A tar of the files; None: all went with the objects."""


def is_too_large(objects: Sequence[Json]) -> bool:
    """Whether there is a ConfigMap that cannot be sent."""
    return any(_is_large(obj) for obj in objects)


def planned(objects: Sequence[Json], jobset: Json) -> Sent:
    """The objects without the large ones, and a JobSet whose pods wait for those."""
    large = {str(obj["metadata"]["name"]): obj for obj in objects if _is_large(obj)}
    if not large:
        return Sent(list(objects), jobset)
    jobset = copy.deepcopy(jobset)
    paths: dict[str, set[tuple[str, str]]] = {name: set() for name in large}
    for role in replicated_jobs(jobset["spec"]):
        _refuse_others(role.pod.spec, large)
        for volume in _await(role.pod.spec, large):
            name = str(volume["name"])
            paths[name].update(_paths(volume, large[name]))
    rest = [obj for obj in objects if not _is_large(obj)]
    return Sent(rest, jobset, _archive(large, paths))


def unpack_command(archive: bytes, digest: str) -> tuple[str, ...]:
    """What takes the archive from its input and puts the files in their places."""
    return ("python", "-c", _UNPACK.format(place=PLACE, done=_DONE), str(len(archive)), digest)


def _is_large(obj: Json) -> bool:
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "ConfigMap"):
        return False
    size = sum(len(text.encode()) for text in (obj.get("data") or {}).values())
    size += sum(len(text) * 3 // 4 for text in (obj.get("binaryData") or {}).values())
    return size > LIMIT


def _await(pod: Json, large: Mapping[str, Json]) -> Iterator[Json]:
    """Make the volumes empty folders that a first container fills; gives their old sources."""
    mounts: dict[str, Json] = {}
    for volume in pod.get("volumes") or ():
        source = volume.get("configMap") or {}
        if source.get("name") not in large:
            continue
        del volume["configMap"]
        volume["emptyDir"] = {}
        place = f"{PLACE}/{source['name']}"
        mounts[volume["name"]] = {"name": volume["name"], "mountPath": place}
        yield source
    if mounts:
        text = _WAIT.format(place=PLACE, done=_DONE, patience=PATIENCE_S)
        reader, command = _reader(pod, mounts), ["python", "-c", text]
        waiting = waiting_like(reader, INIT, command, list(mounts.values()))
        pod["initContainers"] = [waiting, *(pod.get("initContainers") or ())]


def _reader(pod: Json, mounts: Mapping[str, Json]) -> Json:
    """The first container that mounts one of the volumes."""
    containers: list[Json] = pod["containers"]
    for container in containers:
        if any(mount["name"] in mounts for mount in container.get("volumeMounts") or ()):
            return container
    return containers[0]


def waiting_like(reader: Json, name: str, command: list[str], mounts: list[Json]) -> Json:
    """A container like the one that reads what is waited for, so that both may."""
    container: Json = {"name": name}
    container |= {
        name: copy.deepcopy(reader[name])
        for name in ("image", "imagePullPolicy", "securityContext")
        if name in reader
    }
    container["command"] = command
    container["volumeMounts"] = mounts
    resources = {
        kind: {name: amount for name, amount in amounts.items() if name in ("cpu", "memory")}
        for kind, amounts in (reader.get("resources") or {}).items()
        if kind in ("requests", "limits")
    }
    if any(resources.values()):
        container["resources"] = {kind: amounts for kind, amounts in resources.items() if amounts}
    return container


def _paths(source: Json, obj: Json) -> Iterator[tuple[str, str]]:
    """The keys that a volume shows, and under which paths."""
    if source.get("items"):
        yield from ((item["key"], item["path"]) for item in source["items"])
    else:
        keys = (*(obj.get("data") or ()), *(obj.get("binaryData") or ()))
        yield from ((key, key) for key in keys)


def _archive(large: Mapping[str, Json], paths: Mapping[str, set[tuple[str, str]]]) -> bytes:
    """A tar that is the same for the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in sorted(large):
            for key, path in sorted(paths[name]):
                data = _content(large[name], key)
                member = tarfile.TarInfo(f"{name}/{path}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _content(obj: Json, key: str) -> bytes:
    name = obj["metadata"]["name"]
    if key in (obj.get("data") or {}):
        return str(obj["data"][key]).encode()
    if key in (obj.get("binaryData") or {}):
        return base64.b64decode(obj["binaryData"][key])
    raise InvalidError([f"ConfigMap/{name}: there is no key {key}, which a volume refers to"])


def _refuse_others(pod: Json, large: Mapping[str, Json]) -> None:
    """Only a volume can be brought; a variable cannot."""
    for container in (*(pod.get("initContainers") or ()), *pod["containers"]):
        sources = [entry.get("configMapRef") or {} for entry in container.get("envFrom") or ()]
        sources += [
            (variable.get("valueFrom") or {}).get("configMapKeyRef") or {}
            for variable in container.get("env") or ()
        ]
        _refuse_named(sources, large, "a variable")
    projected = [
        source.get("configMap") or {}
        for volume in pod.get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    ]
    _refuse_named(projected, large, "a projected volume")


def _refuse_named(sources: Sequence[Json], large: Mapping[str, Json], reader: str) -> None:
    for source in sources:
        if source.get("name") in large:
            raise InvalidError(
                [f"ConfigMap/{source['name']}: it is too large for {reader} to read it"],
                hint=f"above {LIMIT // 1000} KB it can only be a volume of its own",
            )
