"""What tests of several rooms need: JobSets to try things on, and walks through state tables."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import ModuleType
from typing import Any, TypeVar

import pytest

from trainway.agent.base.transitions import following
from trainway.json_types import Json

S = TypeVar("S", bound=Enum)


def edges(table: Mapping[S, frozenset[S]]) -> set[tuple[S, S]]:
    """All changes that a table allows."""
    return {(now, then) for now, ones in table.items() for then in ones}


def refused(table: Mapping[S, frozenset[S]]) -> list[tuple[S, S]]:
    """All changes that it does not."""
    states = list(table)
    return [
        (now, then)
        for now in states
        for then in states
        if now is not then and then not in table[now]
    ]


def walked(patch: pytest.MonkeyPatch, module: ModuleType) -> list[tuple[Enum, Enum]]:
    """The changes that the class of a module makes from now on; what stays as it was is none."""
    seen: list[tuple[Enum, Enum]] = []

    def noted(table: Mapping[S, frozenset[S]], now: S, then: S) -> S:
        found = following(table, now, then)
        if now is not then:
            seen.append((now, then))
        return found

    patch.setattr(module, "following", noted)
    return seen


def container(name: str, script: str, **more: Any) -> Json:
    """A container that runs a shell script."""
    return {"name": name, "command": ["sh", "-c", script], **more}


def role(name: str, *containers: Json, **more: Any) -> Json:
    """A replicated job of one Job; job and pod fields are told apart by `pod`."""
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, **more.pop("pod", {})}
    replicas, depends_on = more.pop("replicas", 1), more.pop("dependsOn", [])
    job = {"completionMode": "Indexed", "parallelism": 1, "completions": 1, "backoffLimit": 0}
    job.update(more, template={"spec": {**pod, "containers": list(containers)}})
    return {"name": name, "replicas": replicas, "dependsOn": depends_on, "template": {"spec": job}}


def jobset(*roles: Json, name: str = "trial", **spec: Any) -> Json:
    """A JobSet of these roles."""
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": list(roles), **spec}}
