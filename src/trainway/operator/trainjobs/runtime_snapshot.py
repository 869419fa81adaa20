"""The runtime as it was when the TrainJob was first built, kept in a ConfigMap of the TrainJob.

A TrainJob is rebuilt each time it is suspended or resumed; with the snapshot a change of the
runtime, or its deletion, does not change a job that exists.
"""

from typing import Final

import yaml

from trainway.api.kinds import read
from trainway.api.manifest import ManifestError, parse_manifests
from trainway.api.model import ObjectMeta
from trainway.api.runtime import TrainingRuntime
from trainway.api.trainjob import GROUP
from trainway.compiler.companions import config_map
from trainway.compiler.ownership import owned_metadata
from trainway.compiler.trainjob import RUNTIME_KINDS
from trainway.compiler.workload import API_VERSION, Runtime
from trainway.json_types import Json
from trainway.operator.trainjobs.build_error import BuildError, field_problems

SUFFIX: Final = "-runtime-snapshot"
DATA_KEY: Final = "runtime"

_NUMBER_LIKE: Final = tuple("0123456789.+-")
_TRUTH_LIKE: Final = tuple("yYnN")
_INVALID: Final = "invalid runtime snapshot: "


def snapshot_name(job: str) -> str:
    """The name of the ConfigMap."""
    return f"{job}{SUFFIX}"


def runtime_text(runtime: Json) -> str:
    """The whole runtime as YAML, with its apiVersion and kind."""
    metadata = {name: v for name, v in runtime["metadata"].items() if name != "managedFields"}
    head = {"apiVersion": runtime["apiVersion"], "kind": runtime["kind"], "metadata": metadata}
    text: str = yaml.dump({**head, "spec": runtime.get("spec") or {}}, Dumper=_Dumper)
    return text


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """Quote what another reader of YAML may take for a number or a truth value."""
    style = "'" if text[:1] in _NUMBER_LIKE or text in _TRUTH_LIKE else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BASE: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the quick one, where it is there
_Dumper: Final[type[yaml.SafeDumper]] = type("SnapshotDumper", (_BASE,), {})
_Dumper.add_representer(str, _quoted)


def snapshot(owner: ObjectMeta, text: str) -> Json:
    """The ConfigMap."""
    metadata = owned_metadata(API_VERSION, "TrainJob", owner, snapshot_name(owner.name))
    return config_map(metadata, {DATA_KEY: text})


def snapshot_text(config_map: Json) -> str:
    """What the ConfigMap holds."""
    text = (config_map.get("data") or {}).get(DATA_KEY)
    if text is None:
        raise BuildError(f'{_INVALID}snapshot ConfigMap missing "{DATA_KEY}" data key')
    return str(text)


def parsed_snapshot(text: str, ref: Json) -> Runtime:
    """The runtime in a snapshot, which must be the one that the TrainJob names."""
    try:
        objects = parse_manifests(text)
    except ManifestError as error:
        raise BuildError(f"{_INVALID}unable to unmarshal the snapshot: {error}") from error
    if len(objects) != 1:
        detail = f"there are {len(objects)} objects in it"
        raise BuildError(f"{_INVALID}unable to unmarshal the snapshot: {detail}")
    found = objects[0]
    check_identity(found, ref)
    return parsed_runtime(found)


def check_identity(runtime: Json, ref: Json) -> None:
    """Raise if this is not the runtime that a reference names."""
    group, _, _ = str(runtime.get("apiVersion", "")).rpartition("/")
    found = ((runtime.get("metadata") or {}).get("name", ""), group, runtime.get("kind", ""))
    expected = (ref["name"], ref.get("apiGroup", GROUP), ref.get("kind", RUNTIME_KINDS[0]))
    if found != expected:
        quoted = [", ".join(f'"{part}"' for part in parts) for parts in (expected, found)]
        raise BuildError(
            f"{_INVALID}the snapshot refers to the wrong runtime: expecting a runtime with name,"
            f" api group and kind of {quoted[0]} but found runtime with name, api group and kind"
            f" of {quoted[1]}"
        )


def parsed_runtime(runtime: Json) -> Runtime:
    """The typed form of a runtime."""
    try:
        parsed = read(runtime)
    except ValueError as error:
        raise BuildError(f"runtime cannot be read: {field_problems(runtime, error)}") from error
    if not isinstance(parsed, TrainingRuntime):
        raise BuildError(f"runtime cannot be read: it is a {parsed.kind}")
    return parsed
