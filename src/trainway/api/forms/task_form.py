"""A task, as SkyPilot writes it, as a form. Pure."""

from typing import Any, Final

from trainway.api.forms.job_form import FormKind, JobForm, at, number_at, text_at
from trainway.json_types import Json

_IMAGE: Final = "docker:"
PATHS: Final = (
    ("name", "name"),
    ("num_nodes", "nodes"),
    ("resources.cpus", "cpu"),
    ("resources.memory", "memory"),
    ("resources.accelerators", "gpu"),
    ("resources.image_id", "image"),
    ("resources", "cpu"),
    ("envs", "env"),
    ("setup", "setup"),
    ("run", "command"),
)


def task(form: JobForm) -> Json:
    """The task that a form describes."""
    given: Json = {
        "cpus": _amount(form.cpu),
        "memory": _amount(form.memory),
        "accelerators": form.gpu or None,
        "image_id": f"{_IMAGE}{form.image}" if form.image else None,
    }
    resources = {name: value for name, value in given.items() if value is not None}
    return {
        **({"name": form.name} if form.name else {}),
        **({"num_nodes": form.nodes} if form.nodes is not None else {}),
        **({"resources": resources} if resources else {}),
        **({"envs": dict(form.env)} if form.env else {}),
        **({"setup": form.setup} if form.setup else {}),
        "run": form.command,
    }


def read(document: Json) -> JobForm:
    """The form that a task would be."""
    envs = at(document, "envs")
    return JobForm(
        FormKind.TASK,
        name=text_at(document, "name"),
        nodes=number_at(document, "num_nodes"),
        cpu=text_at(document, "resources", "cpus"),
        memory=text_at(document, "resources", "memory"),
        gpu=_accelerators(at(document, "resources", "accelerators")),
        image=text_at(document, "resources", "image_id").removeprefix(_IMAGE),
        env={str(name): text_at(envs, name) for name in envs} if isinstance(envs, dict) else {},
        setup=text_at(document, "setup"),
        command=text_at(document, "run"),
    )


def _amount(text: str) -> str | int | None:
    """A number where it is one: people do not write quotation marks around it."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text or None


def _accelerators(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, dict) and len(given) == 1:
        ((name, count),) = given.items()
        return f"{name}:{count}" if count is not None else str(name)
    return ""
