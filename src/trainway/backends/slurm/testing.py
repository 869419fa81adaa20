"""What the tests of this folder share: workloads of examples, and a relay that a test plays."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from trainway.api.manifest import parse_manifests
from trainway.api.task.task_file import parse
from trainway.api.task.task_object import objects_of
from trainway.api.task.variables import Overrides
from trainway.backends.base import Update, Workload
from trainway.backends.slurm.network import SlurmNetwork
from trainway.compiler.compile import Input, Options, compile_objects
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime

JOB_ID = "01k9x"
EXAMPLES = Path(__file__).parents[4] / "examples"


def role(name: str, pods: int = 1, replicas: int = 1, **requests: Any) -> Json:
    """A replicated job whose pods ask for that much."""
    container = {"name": "main", "command": ["true"], "resources": {"requests": requests}}
    job = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    return {"name": name, "replicas": replicas, "template": {"spec": job}}


def jobset(*roles: Json) -> Json:
    """A JobSet of these roles."""
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "demo"},
        "spec": {"replicatedJobs": list(roles)},
    }


def workload(made: Json, source: Json | None = None, objects: tuple[Json, ...] = ()) -> Workload:
    """A JobSet that is ready to run."""
    return Workload(
        id=JOB_ID,
        name=made["metadata"]["name"],
        namespace="default",
        jobset=made,
        objects=list(objects),
        workdir="/work",
        environ={},
        port=20_000,
        source=source or made,
    )


def example(name: str) -> Workload:
    """One of the examples, compiled for Slurm."""
    path = EXAMPLES / name
    text = path.read_text()
    objects = parse_manifests(text)
    if "kind" not in objects[0]:
        file = parse(text, Overrides({}, {})).file
        if file is None:
            raise ValueError(name)
        objects = objects_of(file, file.name)
    options = Options(
        network=lambda job: SlurmNetwork(job, port=20_000), builtin_runtime=builtin_runtime
    )
    outcome = compile_objects([Input(obj, name) for obj in objects], options)
    if outcome.errors:
        raise ValueError(outcome.errors)
    (made,) = (obj for obj in outcome.objects if obj["kind"] == "JobSet")
    files = tuple(obj for obj in outcome.objects if obj["kind"] in ("ConfigMap", "Secret"))
    return workload(made, objects[-1], files)


class FakeRelay:
    """Answers as it is told, and notes what it was asked."""

    def __init__(self, answer: Callable[[str, Mapping[str, Any]], Json] = lambda *_: {}) -> None:
        self.asked: list[tuple[str, Json]] = []
        self.described: list[Json] = []
        self.updates: list[Update] = []
        self.is_closed = False
        self._answer = answer

    def describe(self, cluster: Json) -> None:
        """Note how it is described."""
        self.described.append(cluster)

    async def ask(self, operation: str, **fields: Any) -> Json:
        """Do nothing."""
        self.asked.append((operation, fields))
        return self._answer(operation, fields)

    async def watch(self, job_id: str, journal: Path, after: int) -> AsyncIterator[Update]:
        """What the test wants to be seen."""
        self.asked.append(("watch", {"id": job_id, "journal": str(journal), "after": after}))
        for update in self.updates:
            yield update

    async def close(self) -> None:
        """Note that it was let go."""
        self.is_closed = True
