"""A job as it comes to a place: what is stored of it there, and how a cloud gets to house it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

from trainway.backends.base import Backend
from trainway.engine.moving.move import Candidate
from trainway.engine.record import JobRecord, JobSpec
from trainway.engine.submission import Submission
from trainway.json_types import Json

House: TypeAlias = Callable[[Submission], AbstractAsyncContextManager[Submission]]
"""Gives a job that is for a cloud machines of its own, which go again if it is not stored."""


@dataclass(frozen=True)
class Arrival:
    """A job as it is stored with the place that it comes to."""

    backend: Backend
    port: int
    columns: Mapping[str, Any]
    spec: JobSpec
    planned: Json
    """What is known of its pods if it begins anew."""


def submission_at(record: JobRecord, at: Candidate) -> Submission:
    """A job as it would be submitted to a place."""
    return Submission(
        at.objects,
        backend=at.backend,
        kubeconfig=at.kubeconfig,
        priority=record.priority,
        oversubscribe=record.oversubscribe,
        labels=record.label_map,
        workdir=record.workdir,
    )
