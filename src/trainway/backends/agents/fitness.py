"""What a JobSet asks for that this machine cannot give, said before it runs.

As processes, containers have no image: each must bring its own command, which then means a program
of this machine; only what the images of initializers do is done by us. In containers they must have
an image instead. The rest is told once, as one warning.
"""

from collections.abc import Iterator, Sequence, Sized
from typing import Final

from trainway.agent.base.plan import VERSION, Plan
from trainway.agent.supervisor.unsupported import not_honoured
from trainway.backends import path_names
from trainway.backends.agents.initializers import is_initializer
from trainway.backends.base import Isolation, isolation_of
from trainway.jobset.model import PodTemplate, replicated_jobs
from trainway.json_types import Json

HERE: Final = "this machine"


def errors(jobset: Json, where: str = HERE) -> list[str]:
    """Why the JobSet cannot run there at all."""
    return [*path_names.errors(jobset), *_missing(jobset, where)]


def _missing(jobset: Json, where: str) -> list[str]:
    """Containers without what makes them run."""
    if _is_contained(jobset):
        return [
            f"role {role}, container {container.name}: image: Required value: it runs in a "
            "container, which needs an image"
            for role, pod in _pods(jobset["spec"])
            for container in (*pod.init_containers, *pod.containers)
            if not container.data.get("image")
        ]
    return [
        f"role {job.name}, container {container.name}: command: Required value: it runs as a "
        f"program of {where}, where there is no image to take a command from"
        for job in replicated_jobs(jobset["spec"])
        for container in (*job.pod.init_containers, *job.pod.containers)
        if not container.command and not is_initializer(job, container)
    ]


def warnings(jobset: Json, where: str = HERE, honours: Sequence[str] = ()) -> list[str]:
    """What will not be honoured: at most one line; `honours` as in a plan of the agent."""
    if _is_contained(jobset):
        text = _fields(jobset, {"tool": "podman"})
        return [f"runs in containers of this machine: {text}"] if text else []
    said = [_images(jobset["spec"]), _fields(jobset, honours=honours)]
    text = "; ".join(part for part in said if part)
    whose = f"{where}'" if where.endswith("s") else f"{where}'s"
    return [f"runs with {whose} own programs: {text}"] if text else []


def _images(spec: Json) -> str:
    images = dict.fromkeys(
        image
        for _, pod in _pods(spec)
        for container in (*pod.init_containers, *pod.containers)
        if (image := str(container.data.get("image") or ""))
    )
    if not images:
        return ""
    return f"the image{'s' * (len(images) > 1)} {', '.join(images)} {_be(images)} not used"


def _fields(jobset: Json, containers: Json | None = None, honours: Sequence[str] = ()) -> str:
    data = {"version": VERSION, "id": "", "name": "", "jobset": jobset, "containers": containers}
    plan = Plan({**data, "honours": honours})
    found = [name for name in not_honoured(plan) if not name.startswith("image ")]
    return f"{', '.join(found)} {_be(found)} not honoured" if found else ""


def _is_contained(jobset: Json) -> bool:
    return isolation_of(jobset) is Isolation.CONTAINER


def _be(things: Sized) -> str:
    return "are" if len(things) > 1 else "is"


def _pods(spec: Json) -> Iterator[tuple[str, PodTemplate]]:
    return ((job.name, job.pod) for job in replicated_jobs(spec))
