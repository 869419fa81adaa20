"""What is launched on a cluster, made into objects: a file with a task, or a command.

A command needs none of the modules that read tasks, which take longer to import than it may take to
start; the server checks what is made of it.
"""

import os
import pwd
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trainway.errors import InvalidError, UsageError
from trainway.families.builtin import HELD
from trainway.families.table import family_of
from trainway.jobset.job_name import job_name
from trainway.json_types import Json
from trainway.sdk.local_files import refuse_missing

if TYPE_CHECKING:
    from trainway.api.task.task_file import Parsed


COMMAND: Final = "sky-cmd"
"""The name of a job that is a command, as SkyPilot's users know it."""
_API_VERSION: Final = "trainway.dev/v1alpha1"
_KIND: Final = "Task"
_PLACES: Final = ("infra", "cloud", "region", "zone", "autostop")
"""The fields of the resources that are for the cluster alone."""
_LOCAL_FILES: Final = ("workdir", "file_mounts")
_NUMBER: Final = re.compile(r"\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class TaskWishes:
    """What is asked for beside the task; None leaves it as it is."""

    name: str | None = None
    nodes: int | None = None
    cpus: str | None = None
    memory: str | None = None
    gpus: str | None = None
    """The GPUs of a node, as `A100:8` or as a number."""
    workdir: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    with_setup: bool = True
    packages: Sequence[str] = ()
    """The lines of a requirements file, for the environment of the task."""
    machine: Mapping[str, str] = field(default_factory=dict)
    """Further resources of a rented machine: `instance_type`, `image_id` and the like."""

    def fields(self) -> Json:
        """What they say of the task itself."""
        packages = list(self.packages) or None
        found = {"num_nodes": self.nodes, "workdir": self.workdir, "packages": packages}
        return {name: value for name, value in found.items() if value is not None}

    def resources(self) -> Json:
        """What they say of its nodes, as a task writes it."""
        gpus = self.gpus
        if gpus is not None and _NUMBER.fullmatch(gpus):
            gpus = f"GPU:{gpus}" if float(gpus) else None
        found = {
            "cpus": self.cpus,
            "memory": self.memory,
            "accelerators": gpus,
            **self.machine,
        }
        return {name: value for name, value in found.items() if value is not None}


class ClusterTask:
    """A task for a cluster."""

    def __init__(self, document: Json, name: str, wishes: TaskWishes, notes: tuple[str, ...] = ()):
        self._document = document
        self._name = name
        self._secrets = dict(wishes.secrets)
        self._notes = notes

    @property
    def nodes(self) -> int:
        """How many nodes it wants."""
        return int(self._document.get("num_nodes") or 1)

    @property
    def resources(self) -> Json:
        """What each node is to have, and where."""
        return dict(self._document.get("resources") or {})

    def slurm(self, infra: str) -> Json:
        """The options of sbatch that its `config` has for a cluster on Slurm, if it is to be there.

        `infra` is where it is to be, if not where the task says.
        """
        place = infra or str(self.resources.get("infra") or self.resources.get("cloud") or "")
        options = family_of(place.lower()).options
        if not options:
            return {}
        section = (self._document.get("config") or {}).get(options) or {}
        has_gpus = self.resources.get("accelerators") or self.resources.get("gpus")
        partition = {} if has_gpus else {"partition": section.get("cpu_partition")}
        given = {**(section.get("sbatch_options") or {}), **partition}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def has_files(self) -> bool:
        """Whether files of this machine belong to it, which may have to travel."""
        return any(self._document.get(name) for name in _LOCAL_FILES)

    @property
    def _has_storage(self) -> bool:
        """Whether it has something of a bucket."""
        mounts = self._document.get("file_mounts") or {}
        return any(not isinstance(each, str) or "://" in each for each in mounts.values())

    def objects(self, cluster: str, *, travels: bool, with_setup: bool = True) -> list[Json]:
        """The objects of its job on a cluster; where it `travels` its files come along."""
        document = {**self._document}
        if not with_setup:
            document.pop("setup", None)
        kept = {name: value for name, value in self.resources.items() if name not in _PLACES}
        document["resources"] = kept
        if not kept:
            del document["resources"]
        has_files = (travels and self.has_files) or self._has_storage
        if has_files or self._secrets or document.get("secrets"):
            return self._checked_objects(document, cluster, travels=travels)
        task: Json = {
            "apiVersion": _API_VERSION,
            "kind": _KIND,
            "metadata": {"name": self._name},
            "spec": {"tasks": [{"task": document, "secrets": []}]},
            "origin": {**_origin(), "cluster": cluster},
        }
        return [{**task, "notes": list(self._notes)} if self._notes else task]

    def _checked_objects(self, document: Json, cluster: str, *, travels: bool) -> list[Json]:
        from trainway.api.task import task_object  # noqa: PLC0415 - not for a plain command
        from trainway.api.task.task_file import read_documents  # noqa: PLC0415 - as above
        from trainway.sdk.task_files import brought, config_map, way_to  # noqa: PLC0415 - as above
        from trainway.sdk.task_storage import with_storage  # noqa: PLC0415 - as above
        from trainway.sdk.tasks import origin_here  # noqa: PLC0415 - as above

        secrets = {**(document.get("secrets") or {}), **self._secrets}
        parsed = read_documents([{**document, "secrets": secrets} if secrets else document])
        if parsed.file is None:
            raise InvalidError([str(error) for error in parsed.errors])
        way = way_to(f"{HELD}/{cluster}")
        files = brought(parsed.file, Path.cwd(), way) if travels else []
        origin = replace(origin_here(), cluster=cluster)
        objects = task_object.objects_of(
            parsed.file, self._name, origin, notes=self._notes, files=files
        )
        maps = [config_map(task_object.files_name(self._name), files)] if files else []
        return [*maps, *with_storage(objects, parsed.file, self._name)]


def of_command(command: str, wishes: TaskWishes) -> ClusterTask:
    """A command of a shell."""
    refuse_missing(wishes.workdir, ())
    document: Json = {"run": command, **wishes.fields()}
    if wishes.env:
        document["envs"] = dict(wishes.env)
    resources = wishes.resources()
    if resources:
        document["resources"] = resources
    return ClusterTask(document, job_name(wishes.name or COMMAND), wishes)


def of_file(text: str, source: str, wishes: TaskWishes) -> ClusterTask:
    """The one task of a file; InvalidError says what is wrong with it, or comes later."""
    from trainway.api.task.task_file import parse  # noqa: PLC0415 - not for a command
    from trainway.api.task.variables import Overrides  # noqa: PLC0415 - as above

    return _of_parsed(parse(text, Overrides(wishes.env, wishes.secrets)), source, wishes)


def of_document(document: Mapping[str, Any], wishes: TaskWishes) -> ClusterTask:
    """The same for a task that is no file."""
    from trainway.api.task.task_file import parse_documents  # noqa: PLC0415 - as above
    from trainway.api.task.variables import Overrides  # noqa: PLC0415 - as above

    overrides = Overrides(wishes.env, wishes.secrets)
    return _of_parsed(parse_documents([dict(document)], overrides), "<task>", wishes)


def _of_parsed(parsed: "Parsed", source: str, wishes: TaskWishes) -> ClusterTask:
    from trainway.compiler.task import later, unresolved  # noqa: PLC0415 - as above
    from trainway.sdk.tasks import name_of, sound  # noqa: PLC0415 - as above

    file = sound(parsed)
    if len(file.tasks) > 1:
        raise UsageError(
            f"there are {len(file.tasks)} tasks in it, and a cluster is made for one",
            hint="trainway run runs all of them",
        )
    problems = [*later(file.tasks), *unresolved(file.tasks)]
    if problems:
        raise InvalidError(problems)
    task = file.tasks[0]
    mounts = [(mount.path, mount.source) for mount in task.file_mounts if mount.is_local]
    refuse_missing(wishes.workdir or task.workdir, mounts)
    document = {**task.to_dict(), **wishes.fields()}
    wanted = wishes.resources()
    if wanted:
        document["resources"] = _replaced(document.get("resources") or {}, wanted)
    name = job_name(wishes.name) if wishes.name else name_of(file, source)
    return ClusterTask(document, name, wishes, tuple(parsed.warnings))


def _replaced(resources: Json, wanted: Json) -> Json:
    """Resources with what is asked for; several candidates are no choice for that any more."""
    kept = dict(resources)
    if "accelerators" in wanted:
        kept.pop("gpus", None)
    for name in ("any_of", "ordered"):
        if kept.get(name):
            kept[name] = [
                {key: value for key, value in item.items() if key not in wanted}
                for item in kept[name]
            ]
    return {**kept, **wanted}


def _origin() -> Json:
    """Who submits, when and where; as `tasks.origin_here`, without what that imports."""
    try:
        user = os.environ.get("LOGNAME") or os.environ.get("USER") or pwd.getpwuid(os.getuid())[0]
    except KeyError:  # no name for the user's number
        user = str(os.getuid())
    now = time.time_ns() // 1000
    moment = time.strftime("%Y-%m-%d-%H-%M-%S", time.gmtime(now // 1_000_000))
    directory, home = str(Path.cwd()), str(Path.home())
    return {
        "at": f"{moment}-{now % 1_000_000:06}",
        "by": user,
        "directory": directory,
        "home": home,
    }
