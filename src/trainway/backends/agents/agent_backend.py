"""What backends have in common whose jobs an agent carries out: one of ours, by a written plan.

The plan lies in the job's directory before the agent hears of it, and what the agent does comes
back there as a journal. So much is the same on this machine, on hosts and on Slurm.
"""

import asyncio
import errno
import json
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from trainway.backends import configuration
from trainway.backends.agents import journal
from trainway.backends.agents.agent_plan import AgentRequest
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.agents.attachment import newest_records, running_pods
from trainway.backends.agents.certificate import StatusKeys, new_status_keys
from trainway.backends.agents.jobdir import PRIVATE_DIR, JobDir, write_private
from trainway.backends.agents.journal import Record
from trainway.backends.agents.ports import Ports
from trainway.backends.agents.spool import SpoolBackend
from trainway.backends.agents.strays import read_strays
from trainway.backends.base import AgentStartError, Handle, Request, Workload
from trainway.backends.job_threads import job_threads
from trainway.errors import ConflictError, TrainwayError
from trainway.json_types import Json

Clock = Callable[[], datetime]

PASSING: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE}
)
"""Why a file cannot be written just now, though maybe in a minute."""

Wanted = TypeVar("Wanted", bound=AgentRequest)
"""The requests of a backend."""


def now() -> datetime:
    """The time, for all who are told no other clock."""
    return datetime.now(UTC)


class AgentBackend(SpoolBackend, Generic[Wanted]):
    """Writes plans for agents, and reads what they write."""

    request_type: type[Wanted]

    def __init__(self, home: Path, ports: Ports, clock: Clock) -> None:
        self._home = home
        self._jobs = home / "jobs"
        self._ports = ports
        self._clock = clock
        self._writing = threading.Lock()

    @abstractmethod
    def _workload_of(self, plan: Json) -> Workload | None:
        """The workload that a plan was made from; None: it is another backend's."""

    @abstractmethod
    async def _way(
        self, handle: Handle, records: Sequence[Record], role: str | None, rank: int | None
    ) -> Json:
        """The processes of a pod, and the way to them, as the journal tells."""

    def job_dir(self, handle: Handle) -> JobDir:
        """Where it was put when it was submitted."""
        return JobDir(Path(handle["directory"]))

    def warm_up(self) -> None:
        """Make a certificate, for all that this imports, and have the settings read once."""
        new_status_keys("warm-up", self._clock())
        with suppress(TrainwayError):
            self.most_pods()

    def most_pods(self) -> int:
        """How many pods a job may have: each is a process that an agent starts."""
        return configuration.pod_limit_of(self._home)

    def usual_health_check(self) -> str:
        """What becomes of the nodes of a job that does not say whether they are checked."""
        return configuration.usual_health_check(self._home)

    def namespace(self, named: str) -> str:
        """Any name will do."""
        return named

    def runtime(self, kind: str, name: str) -> Json | None:  # noqa: ARG002 - only the built-in ones
        """None: machines have no runtimes of their own."""
        return None

    def release(self, port: int) -> None:
        """Give the job's port back."""
        self._ports.release(port)

    async def adopt(self, handle: Handle) -> None:
        """Keep the port of a job that an earlier server submitted."""
        self._ports.hold(int(handle["port"]))

    def strays(self, known: Callable[[], Collection[str]]) -> list[Workload]:
        """The plans of jobs whose records were lost, such as with the database."""
        return read_strays(self._jobs, known, self._workload_of)

    async def _retire(self, job: JobDir) -> None:
        """Have no plan of a job any more that nobody looks after; what it has written stays."""
        if await job_threads.run(journal.has_ended, job.journal):
            raise ConflictError("the job has ended")
        await job_threads.run(partial(job.plan.unlink, missing_ok=True))

    async def exec_place(self, handle: Handle, role: str | None, rank: int | None) -> Json:
        """The processes of a pod, and the way to them."""
        file = self.job_dir(handle).journal
        records = await job_threads.run(lambda: list(journal.read(file, -1)))
        if not records:
            raise ConflictError("the job has not started yet")
        return await self._way(handle, records, role, rank)

    shell_place = port_place = exec_place

    async def pod_places(self, handle: Handle) -> list[Json]:
        """The processes of all pods that run, and the way to each."""
        file = self.job_dir(handle).journal
        records = await job_threads.run(lambda: newest_records(journal.read(file, -1)))
        found = []
        for identity, told in running_pods(records):
            found.append({**await self._way(handle, told, None, None), **identity})
        return found

    def _ours(self, request: Request) -> Wanted:
        if not isinstance(request, self.request_type):
            raise TypeError("not a request of this backend")
        return request

    async def _write(self, request: Wanted) -> JobDir:
        """Write down what the agent will carry out, unless it is there."""
        job = JobDir(Path(request.directory))
        try:
            await asyncio.to_thread(self._write_once, job, request)
        except OSError as error:
            said = f"{job.path} cannot be written: {error.strerror}"
            if error.errno in PASSING:
                raise AgentStartError(f"the agent could not be started: {said}") from error
            raise AgentError(said) from error
        return job

    def _write_once(self, job: JobDir, request: Wanted) -> None:
        """The plan is last: where it is, all that belongs to it is."""
        with self._writing:
            if job.plan.exists():
                return
            self._jobs.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
            job.create()
            keys = new_status_keys(request.plan["id"], self._clock())
            limit = configuration.log_limit(self._home)
            plan = {**self._completed(job, request, keys), "logs": {"limit": limit}}
            write_private(job.plan, json.dumps(plan).encode(), is_durable=True)

    def _completed(self, job: JobDir, request: Wanted, keys: StatusKeys) -> Json:  # noqa: ARG002 - others write there
        """The plan as it is written; the keys for reports of progress go along in it."""
        files = {
            "certificate": keys.certificate.decode(),
            "key": keys.key.decode(),
            "token": keys.token,
        }
        return {**request.plan, "status": {**request.plan["status"], "files": files}}
