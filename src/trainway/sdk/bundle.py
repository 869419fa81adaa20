"""The files that travel to pods with a script or a function: itself, and the modules beside it.

Pods share no disk with whoever submits, and no image is built: the files go along as a ConfigMap
that the containers of the training mount. What the backend does with one that is too large for
Kubernetes is its own affair.
"""

import ast
import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from trainway.compiler.restarts import INITIALIZERS
from trainway.errors import UnreadableError, UsageError
from trainway.jobset.labels import JOB_FILES
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

FILES: Final = "/opt/trainway/files"
VOLUME: Final = "trainway-files"
LARGEST: Final = 64_000_000
"""The most bytes that all files may have together."""

_MPI_FILE: Final = "trainway_mpirun.py"
_MANAGER: Final = "trainway.dev/files"
_NODE: Final = "node"
_LONGEST_KEY: Final = 200
_MOUNT: Final[Mapping[str, Any]] = {"name": VOLUME, "mountPath": FILES, "readOnly": True}


@dataclass(frozen=True)
class Bundle:
    """Files by their paths below FILES."""

    files: Mapping[str, bytes]
    imports: frozenset[str] = frozenset()
    """The packages that the files import and do not bring along, by name."""


def place(name: str) -> str:
    """Where a pod finds a file."""
    return f"{FILES}/{name}"


def script_bundle(script: Path) -> Bundle:
    """A script, and the modules of its folder that it imports, directly or not."""
    return collected(script.parent, {script.name: _content(script)})


def collected(
    folder: Path | None, files: Mapping[str, bytes], sources: Sequence[str] = ()
) -> Bundle:
    """The files, and the modules of the folder that they or the sources import."""
    found = dict(files)
    imports: set[str] = set()
    pending = [("", source.encode("utf-8", "surrogatepass")) for source in sources]
    pending += [(path, data) for path, data in files.items() if path.endswith(".py")]
    while pending:
        for module in _imported(*pending.pop()):
            paths = list(_paths(folder, module)) if folder is not None else []
            imports.add(module.partition(".")[0])
            for path in paths:
                if path not in found and folder is not None:
                    found[path] = _content(folder / path)
                    pending.append((path, found[path]))
    _check_size(found)
    own = {path.partition("/")[0].removesuffix(".py") for path in found}
    return Bundle(found, frozenset(imports - own))


def with_bundle(objects: Sequence[Json], bundle: Bundle) -> list[Json]:
    """The objects of one job, whose training containers mount the files. Pure."""
    objects = deepcopy(list(objects))
    (job,) = (item for item in objects if item["kind"] in JOB_KINDS)
    name = f"{job['metadata']['name']}-files"
    files = {**bundle.files, **_patient_mpirun(job)}
    keys = _keys(files)
    items = [{"key": key, "path": path} for path, key in keys.items()]
    volume = {"name": VOLUME, "configMap": {"name": name, "items": items}}
    runtimes = [item for item in objects if item["kind"] == "TrainingRuntime"]
    if job["kind"] == "JobSet":
        _mount(job["spec"], volume)
    elif runtimes:
        _mount(runtimes[0]["spec"]["template"]["spec"], volume)
    else:
        job["spec"].setdefault("runtimePatches", []).append(_patch(job, volume))
    return [_config_map(name, {keys[path]: data for path, data in files.items()}), *objects]


def _patient_mpirun(job: Json) -> dict[str, bytes]:
    """Let a launcher wait for the names of its nodes; gives the file that does."""
    trainer = job["spec"].get("trainer") or {}
    if trainer.get("command", [""])[0] != "mpirun":
        return {}
    trainer["command"] = ["python", place(_MPI_FILE), *trainer["command"]]
    return {_MPI_FILE: Path(__file__).with_name("mpi_start.py").read_bytes()}


def _imported(path: str, source: bytes) -> Iterator[str]:
    """The modules that a file imports, in full; also what may be only a name in one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # Python will say so, where it runs
    package = PurePosixPath(path).parent.parts
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else ()
                base = ".".join([*above, *([module] if module else [])])
                yield from ([base] if base else [])
                yield from (f"{base}.{alias.name}".strip(".") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


def _paths(folder: Path, module: str) -> Iterator[str]:
    """The files that importing a module reads, as far as they are in the folder."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        stem = "/".join(parts[:end])
        for path in (f"{stem}/__init__.py", f"{stem}.py"):
            if (folder / path).is_file():
                yield path
                break


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None


def _check_size(files: Mapping[str, bytes]) -> None:
    size = sum(map(len, files.values()))
    if size > LARGEST:
        largest = max(files, key=lambda path: len(files[path]))
        raise UsageError(
            f"{size / 1e6:.1f} MB would have to travel to the pods, most of it {largest}; at most "
            f"{LARGEST // 1_000_000} MB can",
            hint="put data where the pods can read it: a volume, or an object store",
        )


def _keys(paths: Mapping[str, bytes]) -> dict[str, str]:
    """A key for each path: keys of a ConfigMap have no slash."""
    keys: dict[str, str] = {}
    for path in paths:
        key = re.sub("[^-._a-zA-Z0-9]", "_", path.replace("/", "."))[-_LONGEST_KEY:]
        while key in keys.values():
            key = f"{len(keys)}-{key}"
        keys[path] = key
    return keys


def _config_map(name: str, content: Mapping[str, bytes]) -> Json:
    """Text as text, for whoever looks at it."""
    data: dict[str, str] = {}
    binary: dict[str, str] = {}
    for key, value in content.items():
        try:
            data[key] = value.decode()
        except UnicodeDecodeError:
            binary[key] = base64.b64encode(value).decode()
    made: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {JOB_FILES: "true"}},
    }
    return made | ({"data": data} if data else {}) | ({"binaryData": binary} if binary else {})


def _mount(jobset_spec: Json, volume: Json) -> None:
    for role in jobset_spec["replicatedJobs"]:
        if role["name"] in INITIALIZERS:
            continue
        pod = role["template"]["spec"]["template"]["spec"]
        pod["volumes"] = [*(pod.get("volumes") or ()), deepcopy(volume)]
        for container in pod["containers"]:
            container["volumeMounts"] = [*(container.get("volumeMounts") or ()), dict(_MOUNT)]


def _patch(job: Json, volume: Json) -> Json:
    """What lets the pods of the cluster's runtime mount the files."""
    patches = []
    for role, containers in _training_containers(job["spec"]["runtimeRef"]["name"]):
        mounts = [{"name": name, "volumeMounts": [dict(_MOUNT)]} for name in containers]
        pod = {"volumes": [deepcopy(volume)], "containers": mounts}
        patches.append({"name": role, "template": {"spec": {"template": {"spec": pod}}}})
    return {
        "manager": _MANAGER,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": patches}}},
    }


def _training_containers(runtime: str) -> list[tuple[str, list[str]]]:
    """The containers of each role that trains.

    A runtime that only the cluster knows has one that is called `node`, as they all have.
    """
    from trainway.runtimes import builtin_runtime  # noqa: PLC0415 - it brings YAML along

    found = builtin_runtime(runtime)
    if found is None:
        return [(_NODE, [_NODE])]
    return [
        (role.name, [container.name for container in role.pod.containers])
        for role in replicated_jobs(found["spec"]["template"]["spec"])
        if role.name not in INITIALIZERS
    ]
