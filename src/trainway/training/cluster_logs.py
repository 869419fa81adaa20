"""The log of one member of a job in a cluster, waited for until it begins.

A job that waits in a queue has no pods yet, and a launcher that failed may be tried again in a new
pod. Whoever asks for the log of the launcher wants its lines, whenever they come.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from trainway.errors import ConflictError, NotFoundError, TrainwayError
from trainway.json_types import Json
from trainway.kube import requests
from trainway.kube.errors import ApiError, Gone
from trainway.kube.requests import LogRequest, Selection
from trainway.kube.resources import PODS
from trainway.training.cluster_jobs import ClusterJobs
from trainway.training.explanation import explanation
from trainway.training.members import Member, newest
from trainway.training.state import State, status_of

_ROUND_S: Final = 5
"""How long to watch pods before the job is looked at again."""
_BAD_REQUEST: Final = 400

Tell = Callable[[str], None]


@dataclass(frozen=True)
class LogQuery:
    """Which log, and how much of it."""

    role: str
    index: int = 0
    follow: bool = False
    tail: int | None = None

    @property
    def title(self) -> str:
        """Whose log it is."""
        return self.role if self.role == "launcher" else f"{self.role} {self.index}"


async def log_pieces(
    jobs: ClusterJobs, name: str, query: LogQuery, tell: Tell
) -> AsyncGenerator[bytes, None]:
    """The bytes of the log, from when its pod has started; with `follow` also those to come."""
    seen: set[str] = set()
    while True:
        member = await _started(jobs, name, query, seen, tell)
        if member is None:
            return
        if seen:
            tell(f"the {query.title} failed and is tried again in {member.name}")
        seen.add(str(member.pod["metadata"]["uid"]))
        async with aclosing(read(jobs, member, query)) as pieces:
            async for piece in pieces:
                yield piece
        if not query.follow:
            return


async def read(jobs: ClusterJobs, member: Member, query: LogQuery) -> AsyncGenerator[bytes, None]:
    """The bytes of the log of a pod."""
    wanted = LogRequest(member.container, follow=query.follow, tail=query.tail, timestamps=False)
    request = requests.log(jobs.namespace, member.name, wanted)
    try:
        async with jobs.client.stream(request) as stream:
            while piece := await stream.piece():
                yield piece
    except ApiError as error:
        raise _unreadable(error, jobs, member) from None


async def last_lines(jobs: ClusterJobs, member: Member, number: int) -> list[str]:
    """What a pod wrote last; nothing if that cannot be had."""
    text = b""
    with suppress(TrainwayError):
        query = LogQuery(member.role, member.index, tail=number)
        async with aclosing(read(jobs, member, query)) as pieces:
            async for piece in pieces:
                text += piece
    return text.decode(errors="replace").splitlines()[-number:]


async def _started(
    jobs: ClusterJobs, name: str, query: LogQuery, seen: set[str], tell: Tell
) -> Member | None:
    """The pod once its container has started; None: after those seen there is none to come."""
    said = ""
    while True:
        job = await jobs.get(name)
        members, version = await jobs.members(name)
        member = newest(members, query.role, query.index)
        is_new = member is not None and member.pod["metadata"]["uid"] not in seen
        if member is not None and is_new and member.has_started:
            return member
        status = status_of(job)
        if seen and (status.state not in (State.RUNNING, State.STARTING) or not _may_retry(member)):
            return None
        _refuse_what_never_comes(job, query, has_pods=bool(members))
        why = _why(status.state, query, member if is_new else None)
        if why != said:
            tell(why)
            said = why
        await _next_change(jobs, name, version)


def _may_retry(member: Member | None) -> bool:
    """Whether another pod may come after one that was read: not if it ended well."""
    return member is None or (member.pod.get("status") or {}).get("phase") != "Succeeded"


def _refuse_what_never_comes(job: Json, query: LogQuery, *, has_pods: bool) -> None:
    status = status_of(job)
    what = f'the {query.title} of "{status.name}"'
    if query.role == "worker" and query.index >= status.workers:
        last = status.workers - 1
        raise NotFoundError(f"there is no {query.title}: the last one is worker {last}")
    if status.is_over:
        raise NotFoundError(
            f"the log of {what} is gone: the job has {status.state.lower()} and its pod is removed"
            if not has_pods
            else f"{what} has no log: the job has {status.state.lower()}, and this pod is removed"
        )
    if status.state is State.SUSPENDED:
        raise ConflictError(f"{what} does not run: the job is suspended", hint="resume the job")


def _why(state: State, query: LogQuery, member: Member | None) -> str:
    what = f"waiting for the {query.title}"
    if member is not None and member.problem:
        return f"{what}: {member.problem}"
    if member is not None:
        return f"{what}: its pod {member.name} is {member.phase.lower()}"
    return f"{what}: the job is {state.lower()}"


async def _next_change(jobs: ClusterJobs, name: str, version: str) -> None:
    """Wait until something happens to the pods of a job after a version, or for some seconds."""
    watch = jobs.client.watch(
        PODS,
        jobs.namespace,
        resource_version=version,
        selection=Selection(label_selector=jobs.kind.pods(name)),
    )
    with suppress(TimeoutError, Gone):
        async with asyncio.timeout(_ROUND_S), aclosing(watch) as events:
            async for event in events:
                if event.type != "BOOKMARK":
                    return


def _unreadable(error: ApiError, jobs: ClusterJobs, member: Member) -> TrainwayError:
    if error.status == _BAD_REQUEST:
        return ConflictError(f"the {member.title} has no log yet: {error.message}")
    return explanation(error, jobs.kind, jobs.namespace)
