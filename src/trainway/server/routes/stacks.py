"""Python stacks of jobs."""

from typing import Annotated, Final

from pydantic import Field
from starlette.responses import Response

from trainway.server.api import Api, Query
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service

_LARGEST: Final = 2**31 - 1

Number = Annotated[int | None, Query(ge=0, le=_LARGEST)]


class StackFrame(Shown):
    """A call."""

    function: str
    file: str
    line: int


class StackThread(Shown):
    """A thread of a process."""

    name: str
    main: bool = Field(description="whether the process began with it")
    active: bool
    frames: list[StackFrame] = Field(description="the innermost call comes first")


class StackProcess(Shown):
    """A Python process of a pod."""

    pid: int
    command: str
    method: str = Field(description="py-spy, faulthandler, or empty")
    threads: list[StackThread]
    error: str = Field("", description="why there are no threads")


class RankStacks(Shown):
    """The processes of one pod."""

    node: str
    role: str
    job: int
    rank: int
    host: str
    processes: list[StackProcess]
    omitted: int = Field(description="processes that are too many to be shown")
    problem: str = Field("", description="what could not be had")
    unreached: bool = Field(False, description="whether the pod could not be asked")
    hint: str = ""


class JobStacks(Shown):
    """The stacks of a job at one moment."""

    attempt: int = Field(description="from 0 on, as in the status of the job")
    time: str
    cause: str = Field(description="asked, or hang")
    ranks: list[RankStacks]
    omitted: int = Field(description="pods that were not asked because there are too many")
    problem: str = Field("", description="why they could not be kept")


def add_stack_routes(api: Api, service: Service) -> None:
    """The routes below /jobs that give stacks."""
    stacks = service.engine.stacks
    path = f"{BASE_PATH}/jobs/{{ref}}/stacks"

    @api.get(path, tags=["jobs"], response_model=JobStacks)
    async def kept(ref: str, attempt: Number = None) -> Response:
        """The stacks that were kept of an attempt, or of the last that has any."""
        return JsonAnswer(await stacks.kept(ref, attempt))

    @api.post(path, tags=["jobs"], response_model=JobStacks)
    async def take(ref: str, rank: Number = None) -> Response:
        """Take the Python stacks of all pods of a running job, or of those of a rank."""
        return JsonAnswer(await stacks.take(ref, rank))
