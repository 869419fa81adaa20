"""What other tasks have written, among the files that travel with a task of a pipeline. Pure.

They stand beside the workdir and the file mounts, in the same ConfigMap. A task that runs again
gets them anew, so those of before are taken out first.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainway.api.task.task_object import KIND, Brought, files_name
from trainway.json_types import Json

_FOLDER: Final = "0/inputs/"
"""Where they are among the files of a task, which is the only one of its object."""


def input_place(task: str, path: str = "") -> str:
    """Where a file of the output of another task is among the files that travel."""
    return f"{_FOLDER}{task}/{path}".rstrip("/")


def with_inputs(objects: Sequence[Json], files: Mapping[str, Any]) -> list[Json]:
    """The objects of a task, with these values of files by their places, and no other inputs."""
    (task,) = (obj for obj in objects if obj.get("kind") == KIND)
    kept = [item for item in task.get("files") or () if not item["path"].startswith(_FOLDER)]
    told = [*kept, *({"path": path, "isProgram": False} for path in files)]
    made: Json = {key: value for key, value in task.items() if key != "files"}
    spec: Json = {key: value for key, value in task["spec"].items() if key != "filesName"}
    # A job that runs again may have another name, and the ConfigMap of before.
    name = str(task["spec"].get("filesName") or files_name(str(task["metadata"]["name"])))
    others = [obj for obj in objects if obj is not task and not _is_map(obj, name)]
    known = next((obj for obj in objects if _is_map(obj, name)), {})
    if told:
        made["files"], spec["filesName"] = told, name
        own = {Brought(item["path"]).key for item in kept}
        content = {key: value for key, value in _content(known).items() if key in own}
        content |= {Brought(path).key: value for path, value in files.items()}
        others.append(_map(name, known, content))
    return [*others, {**made, "spec": spec}]


def _content(given: Json) -> Json:
    found = given.get("binaryData")
    return found if isinstance(found, dict) else {}


def _map(name: str, known: Json, content: Json) -> Json:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {**made, **known, "binaryData": content}


def _is_map(obj: Json, name: str) -> bool:
    metadata = obj.get("metadata")
    is_named = isinstance(metadata, dict) and metadata.get("name") == name
    return obj.get("kind") == "ConfigMap" and is_named
