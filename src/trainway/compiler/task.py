"""Tasks as a JobSet.

Each task is a replicated job of `num_nodes` indexed pods. The tasks of a pipeline depend on each
other's completion; those of a job group start together, and the group succeeds with its primary
tasks. Pods ask for the first candidate of the resources; the others are kept in an annotation, for
placement.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any, Final

from trainway.api.health_check import in_words
from trainway.api.task import pipeline, storage, storage_mount
from trainway.api.task.amounts import port_ranges
from trainway.api.task.resources import Candidate
from trainway.api.task.task import EXPOSED, Task
from trainway.api.task.task_file import PARALLEL, SERIAL
from trainway.api.task.task_object import StorageKeys, TaskJob, secret_key
from trainway.compiler import task_files, task_storage
from trainway.compiler.compiled import Compiled
from trainway.compiler.network import KUBERNETES, JobIdentity, Network, NetworkFactory
from trainway.compiler.restarts import failure_policy, pod_failure_policy
from trainway.compiler.task_environment import Node, environment
from trainway.compiler.task_group import termination_delays
from trainway.compiler.task_pods import names_of, with_config
from trainway.compiler.task_script import Scripts, command
from trainway.compiler.task_storage import TaskStorage, storage_of
from trainway.families.builtin import HERE
from trainway.families.clouds import CLOUDS
from trainway.jobset.labels import (
    CANDIDATES,
    HEALTH_CHECK,
    KUEUE_PRIORITY_CLASS,
    KUEUE_QUEUE_NAME,
    TASK_FILES,
    TASK_MOUNTS,
    TASK_OPTIONS,
    TERMINATION_DELAYS,
)
from trainway.jobset.model import API_VERSION, KIND
from trainway.json_types import Json

CONTAINER: Final = "task"
_HEALTH: Final = "health_check"
DEFAULT_IMAGE: Final = "python:3.12-slim"
"""The image of a pod whose task names none: it has bash and Python."""

_MOST_PORTS: Final = 100
"""A pod lists its ports one by one; a range of thousands is not listed."""
_LONGEST_SCRIPT: Final = 120_000
"""The most bytes of a script: Linux takes 128 KiB for one argument of a program."""
_KEPT: Final = ("config", "event_callback", "inputs", "outputs", "service", "pool")


def compile_task(job: TaskJob, network: NetworkFactory) -> Compiled:
    """The JobSet of a file of tasks."""
    roles = [job.part.role] if job.part.role else names_of(job.file.tasks)
    if job.part.outputs:
        tasks = tuple(pipeline.reading(task, job.part.outputs) for task in job.file.tasks)
        job = replace(job, file=replace(job.file, tasks=tasks))
    made = network(JobIdentity(job.name, job.namespace or "default", subdomain=job.name))
    compiling = _Compiling(job, roles, made)
    warnings = [text for index in range(len(roles)) for text in compiling.warnings(index)]
    if termination_delays(job.file, roles) and made.cloud == KUBERNETES:
        warnings.append(
            "termination_delay: it is not supported on Kubernetes; the other tasks are stopped at "
            "once"
        )
    told = dict.fromkeys((*job.notes, *warnings))
    return Compiled([compiling.jobset()], list(told))


def later(tasks: Sequence[Task]) -> list[str]:
    """What the tasks ask for that comes later: it is checked, and cannot be run yet."""
    return [text for task in tasks for text in _later(task)]


def unresolved(tasks: Sequence[Task]) -> list[str]:
    """Secrets without a value, and those that would be seen."""
    return [text for task in tasks for text in _unresolved(task)]


def _unresolved(task: Task) -> Iterator[str]:
    for name in task.managed_secrets:
        yield f"secrets.{name}: it has no value; pass one with --secret {name}=VALUE"
    for name in task.exposed_secrets:
        yield f"secrets.{name}: {EXPOSED}"


def _later(task: Task) -> Iterator[str]:
    if task.data.get("service") is not None:
        yield "service: services are checked, but they cannot be run yet"
    if task.data.get("pool") is not None:
        yield "pool: it makes this the task of a worker pool; use trainway jobs pool apply"
    for section in ("setup", "run"):
        if len(str(task.data.get(section) or "").encode()) > _LONGEST_SCRIPT:
            yield f"{section}: scripts of more than {_LONGEST_SCRIPT} bytes are not supported yet"
    yield from storage_mount.problems(storage.read(task.shown.get("file_mounts")))


class _Compiling:
    def __init__(self, job: TaskJob, roles: Sequence[str], network: Network) -> None:
        self.job = job
        self.tasks = job.file.tasks
        self.roles = roles
        self.network = network
        self.before = self._before()

    def jobset(self) -> Json:
        """The whole."""
        metadata: Json = {"name": self.job.name}
        if self.job.namespace:
            metadata["namespace"] = self.job.namespace
        labels = self._queue_labels()
        if labels:
            metadata["labels"] = labels
        metadata["annotations"] = self._annotations()
        spec: Json = {
            **self._failure_policy(),
            **self._success_policy(),
            "replicatedJobs": [self._role(index) for index in self._order()],
        }
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}

    def warnings(self, index: int) -> Iterator[str]:
        """What is not done for a task, though it asks for it."""
        task = self.tasks[index]
        first = task.resources.first
        is_rented = self.network.cloud in CLOUDS
        if len(task.resources.candidates) > 1 and not is_rented:
            yield (
                f"resources: there are {len(task.resources.candidates)} candidates; the first "
                "one is used, because Trainway cannot choose between them yet"
            )
        places = (None, HERE, KUBERNETES, self.network.cloud)
        if first.infra.cloud not in places and not is_rented:
            reason = "it is not used yet; --on decides where the task runs"
            yield f"resources.infra: {first.infra}: {reason}"
        if first.use_spot and not is_rented:
            yield "resources.use_spot: it is for clouds, and counts nothing elsewhere"
        if len(self.tasks) > 1 and any(pipeline.references(task)):
            yield "tasks: only `trainway run` knows the outputs of tasks; they are not replaced"
        if self.job.file.execution == SERIAL and task.recovery.max_restarts:
            yield "resources.job_recovery: a restart begins with the first task of the pipeline"
        if not task.run and not task.setup:
            yield "run: there is nothing to run"
        if task.config.get("hooks"):
            yield "config.hooks: hooks are not supported yet, and do not run"
        if task.data.get("event_callback"):
            yield "event_callback: it is not supported yet, and is not called"
        has_files = task.workdir or any(mount.is_local for mount in task.file_mounts)
        if has_files and not self.network.shares_host and not self.job.files:
            yield "workdir, file_mounts: run copies local files to the pods, explain does not"
        yield from _later(task)

    def _role(self, index: int) -> Json:
        task = self.tasks[index]
        job_spec: Json = {
            "completionMode": "Indexed",
            "completions": task.num_nodes,
            "parallelism": task.num_nodes,
            "backoffLimit": 0,
        }
        job_spec |= pod_failure_policy(_failures(task), CONTAINER)
        job_spec["template"] = self._pod(index)
        role: Json = {"name": self.roles[index], "template": {"spec": job_spec}}
        before = self.before[index]
        if before:
            role["dependsOn"] = [
                {"name": self.roles[other], "status": "Complete"} for other in before
            ]
        return role

    def _order(self) -> list[int]:
        """The tasks as a JobSet wants them: each behind those that it depends on."""
        ranks = range(len(self.tasks))
        if all(other < rank for rank in ranks for other in self.before[rank]):
            return list(ranks)
        return list(TopologicalSorter(dict(enumerate(self.before))).static_order())

    def _before(self) -> list[list[int]]:
        """For each task the ranks of those that it comes after."""
        if self.job.file.execution != SERIAL:
            return [[] for _ in self.tasks]
        names = pipeline.titles(self.tasks)
        after = pipeline.dependencies(self.tasks)
        return [[names.index(other) for other in after[name]] for name in names]

    def _pod(self, index: int) -> Json:
        task, is_here = self.tasks[index], self.network.shares_host
        container: Json = {"name": CONTAINER}
        image = task.resources.first.image or (DEFAULT_IMAGE if self._has_images else None)
        if image:
            container["image"] = image
        pairs, copies = ([], []) if is_here else task_files.travelling(self.job, index)
        kept = self._storage(index)
        container["command"] = command(
            Scripts(task.setup, task.run),
            task.repository,
            copies=copies,
            links=kept.links(),
            mounts=kept.mounted,
            flushes=bool(kept.beside.mounts),
            travels=not is_here,
        )
        folder = task_files.directory(task, self.job.origin) if is_here else ""
        if folder:
            container["workingDir"] = folder
        container["env"] = [*self._environment(index), *kept.variables()]
        requests = _requests(task.resources.first)
        if requests:
            container["resources"] = requests
        ports = _ports(task)
        if ports:
            container["ports"] = ports
        pairs += task_files.volumes(task, self.job.origin)
        if is_here:
            pairs += task_files.local_mounts(task, self.job.origin)
        pairs += kept.pairs()
        spec: Json = {"restartPolicy": "Never", "containers": [container]}
        if steps := kept.steps(task_storage.IMAGE if image else ""):
            spec["initContainers"] = steps
        if pairs:
            container["volumeMounts"] = [mount for _, mount in pairs]
            spec["volumes"] = list({volume["name"]: volume for volume, _ in pairs}.values())
        pod: Json = {"spec": spec}
        labels = dict(task.resources.first.labels)
        if labels:
            pod["metadata"] = {"labels": labels}
        return with_config(pod, task.config)

    def _storage(self, index: int) -> TaskStorage:
        known = self.job.storage
        keys = known[index] if index < len(known) else StorageKeys()
        is_here = self.network.shares_host
        return storage_of(
            self.tasks[index], keys, self.job.origin, is_here=is_here, in_pods=self._has_images
        )

    @property
    def _has_images(self) -> bool:
        return self.network.cloud == KUBERNETES

    def _environment(self, index: int) -> list[Json]:
        names = self.job.secrets[index] if index < len(self.job.secrets) else ()
        secrets = {name: secret_key(len(self.tasks), index, name) for name in names}
        node = Node(self.job, self.roles, index, self.network)
        return environment(node, secrets)

    def _failure_policy(self) -> Json:
        """Restarts after failures of the code: so many, and with some exit codes any number."""
        restarts = max(task.recovery.max_restarts for task in self.tasks)
        pairs = zip(self.roles, self.tasks, strict=True)
        return failure_policy(restarts, [role for role, task in pairs if _failures(task)])

    def _success_policy(self) -> Json:
        primary = self.job.file.primary_tasks
        if self.job.file.execution != PARALLEL or not primary:
            return {}
        named = dict(zip((task.name for task in self.tasks), self.roles, strict=True))
        targets = [named[name] for name in primary]
        return {"successPolicy": {"operator": "All", "targetReplicatedJobs": targets}}

    def _queue_labels(self) -> dict[str, str]:
        """For Kueue, which queues the JobSet as a whole."""
        settings = self.tasks[0].config.get("kubernetes") or {}
        queue = (settings.get("kueue") or {}).get("local_queue_name")
        queue = queue or (settings.get("quota") or {}).get("queue")
        priority = self.tasks[0].resources.first.fields.get("priority_class")
        labels = {KUEUE_QUEUE_NAME: queue, KUEUE_PRIORITY_CLASS: priority}
        return {name: str(value) for name, value in labels.items() if value}

    def _annotations(self) -> dict[str, str]:
        tasks = list(zip(self.roles, self.tasks, strict=True))
        parts: dict[str, dict[str, Any]] = {
            CANDIDATES: {role: _candidates(task) for role, task in tasks},
            TASK_FILES: {role: task_files.described(task, self.job.origin) for role, task in tasks},
            TASK_OPTIONS: {role: _options(task) for role, task in tasks},
            TASK_MOUNTS: {role: _mounted(task) for role, task in tasks},
            TERMINATION_DELAYS: termination_delays(self.job.file, self.roles),
        }
        kept = {
            name: {role: value for role, value in part.items() if value}
            for name, part in parts.items()
        }
        made = {
            name: json.dumps(part, separators=(",", ":"), ensure_ascii=False)
            for name, part in kept.items()
            if part
        }
        said = [task.config[_HEALTH] for task in self.tasks if task.config.get(_HEALTH) is not None]
        return {**made, HEALTH_CHECK: in_words(max(said, key=str))} if said else made


def _failures(task: Task) -> list[int]:
    """The exit codes after which it starts again; 0 is no failure."""
    return [code for code in task.recovery.exit_codes if code]


def _candidates(task: Task) -> Json:
    resources = task.resources
    found = [candidate.to_dict() for candidate in resources.candidates]
    return {"ordered": resources.is_ordered, "candidates": found} if any(found) else {}


def _mounted(task: Task) -> list[str]:
    """Where buckets are mounted, which not every place can do."""
    found = storage_mount.storage_mounts(task.file_mounts)
    return [mount.path for mount in found if mount.mode is not storage_mount.Mode.COPY]


def _options(task: Task) -> Json:
    return {name: task.data[name] for name in _KEPT if task.data.get(name)}


def _requests(candidate: Candidate) -> Json:
    """What a pod asks for; "at least" asks for the least."""
    requests: dict[str, Any] = {}
    if candidate.cpus is not None:
        requests["cpu"] = _amount(candidate.cpus.value)
    if candidate.memory is not None:
        per = candidate.cpus.value if candidate.memory.per_cpu and candidate.cpus else 1
        if not candidate.memory.per_cpu or candidate.cpus:
            requests["memory"] = _bytes(candidate.memory.value * per)
    if candidate.disk_gb is not None:
        requests["ephemeral-storage"] = _bytes(candidate.disk_gb)
    limits: dict[str, Any] = {}
    if candidate.accelerator is not None:
        limits[candidate.accelerator.resource] = str(candidate.accelerator.devices)
        requests.update(limits)
    return {
        **({"requests": requests} if requests else {}),
        **({"limits": limits} if limits else {}),
    }


def _amount(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{round(value * 1000)}m"


def _bytes(gigabytes: float) -> str:
    mebibytes = gigabytes * 1024
    if gigabytes == int(gigabytes):
        return f"{int(gigabytes)}Gi"
    return f"{int(mebibytes)}Mi" if mebibytes == int(mebibytes) else str(round(gigabytes * 2**30))


def _ports(task: Task) -> list[Json]:
    given = task.resources.first.fields.get("ports")
    ranges = [] if given is None else port_ranges(given)
    numbers = dict.fromkeys(port for first, last in ranges for port in range(first, last + 1))
    if len(numbers) > _MOST_PORTS:
        return []
    return [{"containerPort": number} for number in numbers]
