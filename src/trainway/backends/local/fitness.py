"""What a JobSet asks for that processes on this machine cannot give, said before it runs.

Without a container there is no image: a container must bring its own command, which then means a
program of this machine. The rest is told once, as one warning.
"""

from collections.abc import Iterator, Sized
from typing import Any

from trainway.agent.plan import VERSION, Plan
from trainway.agent.unsupported import not_honoured
from trainway.jobset.model import PodTemplate, replicated_jobs

Json = dict[str, Any]


def errors(jobset: Json) -> list[str]:
    """Why the JobSet cannot run here at all."""
    return [
        f"role {role}, container {container.name}: command: Required value: it runs as a program "
        "of this machine, where there is no image to take a command from"
        for role, pod in _pods(jobset["spec"])
        for container in (*pod.init_containers, *pod.containers)
        if not container.command
    ]


def warnings(jobset: Json) -> list[str]:
    """What will not be honoured: at most one line."""
    said = [_images(jobset["spec"]), _fields(jobset)]
    text = "; ".join(part for part in said if part)
    return [f"runs with this machine's own programs: {text}"] if text else []


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


def _fields(jobset: Json) -> str:
    plan = Plan({"version": VERSION, "id": "", "name": "", "jobset": jobset})
    found = [name for name in not_honoured(plan) if not name.startswith("image ")]
    return f"{', '.join(found)} {_be(found)} not honoured" if found else ""


def _be(things: Sized) -> str:
    return "are" if len(things) > 1 else "is"


def _pods(spec: Json) -> Iterator[tuple[str, PodTemplate]]:
    return ((job.name, job.pod) for job in replicated_jobs(spec))
