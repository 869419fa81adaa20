"""All jobs of a host, on disk and in memory, and who may change which of them.

What is asked about a job is done in the order in which it was asked: while a job is being cleared
away, all else about it waits.
"""

from __future__ import annotations

import os
import re

from trainway.agent.base.directory import Directory
from trainway.agent.base.own_program import agent_command
from trainway.agent.base.removal import remove_trees
from trainway.agent.host.access import JobAccess
from trainway.agent.host.hosted_job import HostedJob, RefusedError
from trainway.agent.host.keys import AuthorizedKeys, KeysError, authorized_keys
from trainway.agent.kubelet.objects import Objects
from trainway.agent.transfer.blobs import BlobError, references, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.host.machine import Machine
    from trainway.agent.kubelet.pod import Pod
    from trainway.agent.transfer.blobs import Blobs
    from trainway.json_types import Json


JOBS = "jobs"
OUTPUT = "output"
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,127}")
REMOVED = "the job was removed"


class JobRegistry:
    """Finds, makes and removes jobs."""

    def __init__(self, machine: Machine, blobs: Blobs, *, with_ssh: bool = True) -> None:
        """Without SSH, pods of other hosts come here in another way, and no key lets them in."""
        self._machine = machine
        self._blobs = blobs
        self._jobs: dict[str, HostedJob] = {}
        self._access: dict[str, JobAccess] = {}
        self._keys: AuthorizedKeys | None = None
        if with_ssh:
            self._keys = AuthorizedKeys(authorized_keys(os.environ), os.uname().nodename)
        self._held: dict[str, list[Callable[[], None]]] = {}
        self.on_job: Callable[[HostedJob], None] = lambda _job: None
        """Called with each job that is there from now on."""
        machine.is_busy = lambda: bool(self.live())
        machine.home.make(JOBS)

    @property
    def busy(self) -> bool:
        """Whether any pod runs, or anything is being cleared away."""
        return bool(self._held) or any(job.live for job in self._jobs.values())

    def live(self) -> list[HostedJob]:
        """The jobs that have pods."""
        return [job for job in self._jobs.values() if job.live]

    def of(self, owner: str) -> list[HostedJob]:
        """The jobs of an owner."""
        return [job for job in self._jobs.values() if job.owner == owner]

    def load(self) -> None:
        """Take over what another daemon left on disk, and clear away what it left running."""
        for name in sorted(os.listdir(self._machine.home.join(JOBS))):
            directory = Directory(self._machine.home.join(JOBS, name))
            try:
                job = HostedJob(self._machine, directory)
            except (OSError, ValueError, KeyError):  # it never got as far as being a job
                directory.close()
                self._machine.discard(self._all_but_output(name))
                continue
            job.recover()
            try:
                self._add(job)
            except (KeysError, OSError) as error:
                job.warn("NoAccess", str(error))
        try:
            if self._keys is not None:
                self._keys.keep_only(set(self._jobs))
        except KeysError as error:
            os.write(2, f"{error}\n".encode())

    def _all_but_output(self, identity: str) -> list[str]:
        """What is to be removed of a job whose output is to stay; all, where there is none."""
        folder = self._machine.home.join(JOBS, identity)
        names = os.listdir(folder)
        if OUTPUT not in names or not os.listdir(f"{folder}/{OUTPUT}"):
            return [folder]
        return [f"{folder}/{name}" for name in names if name != OUTPUT]

    def _add(self, job: HostedJob) -> None:
        self._jobs[job.id] = job
        self.on_job(job)
        mpi = job.mpi
        if mpi:
            access = JobAccess(job.id, job.name, job.directory, self._keys)
            objects = Objects(resolved(job.objects, job.directory))
            join = [*agent_command(), "host", "join", self._machine.home.path, job.id]
            access.open(objects, str(mpi.get("secret")), join)
            self._access[job.id] = access

    def find(self, identity: str, owner: str) -> HostedJob:
        """A job of an owner; RefusedError where there is none."""
        job = self._jobs.get(identity)
        if job is None or job.owner != owner:
            raise RefusedError("there is no such job on this host")
        return job

    def pod(self, identity: str, key: str) -> Pod | None:
        """A pod that runs."""
        job = self._jobs.get(identity)
        return None if job is None else job.find(key)

    def in_turn(self, identity: str, action: Callable[[], None]) -> None:
        """Do something about a job as soon as all that was asked before is done."""
        if identity in self._held:
            self._held[identity].append(action)
        else:
            action()

    def _hold(self, identity: str) -> None:
        self._held[identity] = []

    def _release(self, identity: str) -> None:
        waiting = self._held.pop(identity, [])
        while waiting:
            waiting.pop(0)()
            if identity in self._held:
                self._held[identity] += waiting
                return

    def submit(self, frame: Json, owner: str, done: Callable[[], None]) -> None:
        """Have a job; one with a lower token makes way for it, but for its output."""
        identity, token = str(frame["id"]), int(frame["token"])
        if not _ID.fullmatch(identity) or str(frame["plan"].get("id")) != identity:
            raise RefusedError(f"{identity!r} is not the id of a job, or not that of its plan")
        missing = self._blobs.missing(references(frame["plan"].get("objects") or []))
        if missing:
            raise RefusedError(f"blobs are missing: {', '.join(missing)}")
        job = self._jobs.get(identity)
        if job is None:
            self._make(frame, owner)
            done()
            return
        if job.owner != owner:
            raise RefusedError("another user already has a job with this id")
        if token < max(job.token, job.floor):
            raise RefusedError(
                f"token {token} is out of date: {max(job.token, job.floor)} is current"
            )
        if token == job.token:
            done()
            return
        self._hold(identity)

        def on_cleared() -> None:
            try:
                self._make(frame, owner)
            except RefusedError as error:
                self._failed(identity, str(error))
            else:
                done()
            self._release(identity)

        self._clear(job, "the job was started again", keep_output=True, done=on_cleared)

    failed: Callable[[str, str], None]
    """What is called with a job that could not be made in the end; whoever answers sets it."""

    def _failed(self, identity: str, message: str) -> None:
        self.failed(identity, message)

    def _make(self, frame: Json, owner: str) -> None:
        path = f"{JOBS}/{frame['id']}"
        self._machine.home.make(path)
        directory = Directory(self._machine.home.join(path))
        try:
            HostedJob.write(directory, self._blobs, frame, owner)
            self._add(HostedJob(self._machine, directory))
        except (BlobError, KeysError, OSError, ValueError, KeyError, TypeError) as error:
            job = self._jobs.pop(str(frame["id"]), None)
            if job is None:
                directory.close()
            else:
                job.close()
            remove_trees(self._all_but_output(str(frame["id"])))
            raise RefusedError(str(error)) from error

    def _clear(
        self, job: HostedJob, message: str, *, keep_output: bool, done: Callable[[], None]
    ) -> None:
        """End a job and remove its directory, or all in it but the output."""

        def on_clear() -> None:
            access = self._access.pop(job.id, None)
            if access is not None:
                _close(access)
            del self._jobs[job.id]
            job.close()
            everything = [self._machine.home.join(JOBS, job.id)]
            paths = self._all_but_output(job.id) if keep_output else everything
            self._machine.discard(paths, lambda _passed: done())

        job.kill("Removed", message)
        job.when_clear(on_clear)

    def fence(self, identity: str, token: int, owner: str, done: Callable[[], None]) -> None:
        """Kill what has a lower token, and let nothing of it start again."""
        job = self._jobs.get(identity)
        if job is None or job.owner != owner:
            done()
            return
        job.fence(token)
        if not job.fenced:
            done()
            return
        self._hold(identity)

        def on_clear() -> None:
            done()
            self._release(identity)

        job.kill("Fenced", f"token {token} is current now")
        job.when_clear(on_clear)

    def set_peers(self, identity: str, frame: Json) -> None:
        """Let an MPI launcher know where its workers are."""
        access = self._access.get(identity)
        if access is not None and frame.get("peers"):
            pod = frame["pod"]
            key = f"{pod['role']}-{pod['job_index']}-{pod['slot']}"
            access.set_peers(frame["peers"], key)

    def remove(
        self, identity: str, owner: str, *, keep_output: bool, done: Callable[[], None]
    ) -> None:
        """End a job and forget it."""
        job = self._jobs.get(identity)
        if job is None or job.owner != owner:
            done()
            return
        self._hold(identity)

        def on_cleared() -> None:
            done()
            self._release(identity)

        self._clear(job, REMOVED, keep_output=keep_output, done=on_cleared)


def _close(access: JobAccess) -> None:
    try:
        access.close()
    except KeysError as error:
        os.write(2, f"{error}\n".encode())
