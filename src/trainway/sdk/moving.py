"""Moving a job to another place: what it is made from there, and the request.

A job of this machine reads its files where they are. For any other place its script travels with
the modules beside it, as if it had been submitted there in the first place.
"""

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

from trainway.api.job_variables import containers_of, entries, merged, set_in_pods
from trainway.errors import UsageError
from trainway.families.family import Carried, Runs
from trainway.families.table import family_of
from trainway.json_types import Json
from trainway.sdk.address import Home
from trainway.sdk.manifests import DEFAULT_IMAGE, JOB_KINDS
from trainway.sdk.placement import is_choice
from trainway.sdk.rest import Rest
from trainway.sdk.ssh_agent import lend
from trainway.sdk.submitter import kubeconfig_files
from trainway.sdk.targets import SCRIPT
from trainway.sdk.transport import segment

_LONG_S: Final = 120.0
"""The other place is asked whether it would take the job."""
_SHORT, _FULL = "python", "python3"
"""How Python is called on this machine, and elsewhere where there are no images."""


def move(rest: Rest, ref: str, on: str) -> Json:
    """Have a job go on at another place; the job, as soon as that is stored."""
    if is_choice(on):
        raise UsageError(
            f"a job moves to one place, and {on!r} stands for several",
            field="on",
            hint="name one; trainway plan shows what each place offers",
        )
    job = rest.get(ref)
    body: Json = {"on": on, "objects": objects_for(job, on, is_here=rest.address.is_here)}
    carries = family_of(on).carries if rest.address.is_here else frozenset()
    if Carried.KUBECONFIG in carries:
        body["kubeconfig"] = kubeconfig_files(os.environ)
    if Carried.SSH_AGENT in carries:
        lend(Home.of_environment().path, os.environ)
    path = f"/jobs/{segment(job['metadata']['id'])}/move"
    moved: Json = rest.transport.request("POST", path, body=body, timeout=_LONG_S)
    return moved


def objects_for(job: Json, on: str, *, is_here: bool) -> list[Json]:
    """The objects of a job that are others at a place; none: they are all the same there."""
    changed = _travelled(job, on, is_here=is_here)
    if family_of(on).runs is not Runs.PODS:
        return changed
    kept = ("Secret", "ConfigMap", "Task")
    own = changed or [obj for obj in job["spec"]["objects"] if obj.get("kind") not in kept]
    found = [_with_images(obj) for obj in deepcopy(own)]
    return changed if found == own else found


def _with_images(obj: Json) -> Json:
    """The object, whose containers have an image as if it had been submitted to a cluster."""
    if obj.get("kind") == "JobSet":
        for container in containers_of(obj):
            container["image"] = container.get("image") or DEFAULT_IMAGE
    return obj


def _travelled(job: Json, on: str, *, is_here: bool) -> list[Json]:
    """The objects of a job that are others where its files are not."""
    spec = job["spec"]
    if family_of(spec["backend"]).travels or not family_of(on).travels:
        return []
    objects = [obj for obj in spec["objects"] if obj.get("kind") not in ("Secret", "ConfigMap")]
    folder = Path(spec.get("workdir") or "/")
    if any(obj.get("kind") == "Task" for obj in objects):
        raise UsageError(
            f"{job['metadata']['name']} is a task, whose files are on the machine that it runs on",
            hint="submit it with --on a place that files are sent to; from there it can move",
        )
    if not is_here:
        return []
    return travelling(objects, lambda word: _script(folder, word))


def travelling(objects: Sequence[Json], find: Callable[[str], Path | None]) -> list[Json]:
    """The objects with the script that they run in a ConfigMap; none if they run no script.

    `find` gives the file that a word of a command means, if it is a script.
    """
    scripts = list(dict.fromkeys(path for word in _words(objects) if (path := find(word))))
    if not scripts:
        return []
    if len(scripts) > 1:
        names = ", ".join(path.name for path in scripts)
        raise UsageError(f"the job runs several scripts: {names}", hint="submit it anew elsewhere")
    from trainway.sdk.bundle import place, script_bundle, with_bundle  # noqa: PLC0415 - loads ast

    (script,) = scripts

    def there(word: str) -> str:
        if find(word) is not None:
            return place(script.name)
        return _FULL if word == _SHORT else word

    changed = [_unbuffered(_with_words(obj, there)) for obj in deepcopy(list(objects))]
    return with_bundle(_with_own_runtime(changed), script_bundle(script))


def _with_own_runtime(objects: list[Json]) -> list[Json]:
    """The objects with a runtime of the job's own, which can mount its files."""
    jobs = [obj for obj in objects if obj["kind"] == "TrainJob"]
    for runtime in [obj for obj in objects if obj["kind"] == "ClusterTrainingRuntime"]:
        for job in jobs:
            name = job["metadata"]["name"]
            runtime |= {
                "kind": "TrainingRuntime",
                "metadata": {**runtime["metadata"], "name": name},
            }
            job["spec"]["runtimeRef"] = {"kind": "TrainingRuntime", "name": name}
    return objects


def _unbuffered(obj: Json) -> Json:
    """Let logs come at once, as they do on this machine anyway."""
    variables = entries({"PYTHONUNBUFFERED": "1"}, {}, "")
    if obj["kind"] == "TrainJob":
        trainer = obj["spec"].setdefault("trainer", {})
        trainer["env"] = merged(trainer.get("env"), variables)
    elif obj["kind"] in JOB_KINDS:
        set_in_pods(obj, variables)
    return obj


def _script(folder: Path, word: str) -> Path | None:
    if not word.endswith(SCRIPT) or "\n" in word:
        return None
    path = folder / word
    return path if path.is_file() else None


def _words(value: Any) -> list[str]:
    """All words of all commands of the containers in an object."""
    if isinstance(value, list):
        return [word for inner in value for word in _words(inner)]
    if not isinstance(value, dict):
        return []
    found = []
    for name, inner in value.items():
        if name in ("command", "args") and isinstance(inner, list):
            found += [word for word in inner if isinstance(word, str)]
        else:
            found += _words(inner)
    return found


def _with_words(value: Any, change: Callable[[str], str]) -> Any:
    """The same with other words."""
    if isinstance(value, list):
        return [_with_words(inner, change) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [change(word) if isinstance(word, str) else word for word in inner]
        if name in ("command", "args") and isinstance(inner, list)
        else _with_words(inner, change)
        for name, inner in value.items()
    }
