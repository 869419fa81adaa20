"""The relay of a cluster, as the server sees it: started when it is needed, then asked.

It is one process for all jobs of a cluster. When it ends, another one is started, and told how much
of each job is here; all that we ask may be asked twice. Nothing of a job depends on it: while there
is none, jobs go on, and only their news have to wait.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from trainway.agent.transfer.ssh_failure import Failure
from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.base import Update
from trainway.backends.job_threads import job_threads
from trainway.backends.slurm import relay_process
from trainway.backends.slurm.departure import depart
from trainway.backends.slurm.job_copies import JobCopies
from trainway.backends.slurm.job_copy import JobCopy
from trainway.backends.slurm.login_retention import LoginRetention
from trainway.backends.slurm.luggage import Luggage, parcel_of
from trainway.backends.slurm.relay_process import RelayError, RelayProcess
from trainway.backends.slurm.relay_questions import RelayQuestions
from trainway.errors import UnavailableError
from trainway.json_types import Json

PING_S: Final = 10.0
IDLE_S: Final = 120.0
"""How long a relay stays that nobody needs."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 5.0
ABSENCE_S: Final = 10.0
"""How long a cluster may be away before its jobs are told."""
_BREATH: Final = 32
"""How many frames are taken before others have their turn."""

log = logging.getLogger(__name__)


class RelayClient:
    """Asks the relay of one cluster."""

    def __init__(
        self,
        cluster: Json,
        directory: Path,
        environ: Mapping[str, str],
        retention: LoginRetention | None = None,
        avoided: Callable[[], list[str]] = list,
    ) -> None:
        self._cluster = cluster
        self._retention = retention
        self._avoided = avoided
        self._home = ""
        """Where jobs are kept on the login node."""
        self._directory = directory
        self._environ = dict(environ)
        self._relay: RelayProcess | None = None
        self._task: asyncio.Task[None] | None = None
        self._attempt: asyncio.Future[None] | None = None
        """The connection that is being made: done when it is there, and failed where it
        cannot be."""
        self._questions = RelayQuestions()
        self._luggage = Luggage(self._request, self._send)
        self._copies = JobCopies()
        self._tracked: set[str] = set()
        """The jobs that this relay sends news of."""
        self._used_at = 0.0
        self._is_outdated = False
        """Whether the relay was started for what is not so any more."""
        self._asked: set[asyncio.Task[object]] = set()

    @property
    def name(self) -> str:
        """The cluster's name."""
        return str(self._cluster["name"])

    def describe(self, cluster: Json) -> None:
        """Go on with what is said of the cluster now; a relay that was told otherwise ends."""
        if cluster == self._cluster:
            return
        self._cluster = cluster
        if self._relay is not None and not self._is_outdated:
            self._begin_attempt()
            self._replace(self._relay)

    def _replace(self, relay: RelayProcess) -> None:
        self._is_outdated = True
        relay.hang_up()

    # What the backend asks

    async def ask(self, operation: str, **fields: Any) -> Json:
        """Have something done on the login node and wait until it is.

        UnavailableError: nobody answers; AgentError: Slurm refuses, in its own words.
        """
        self._used_at = time.monotonic()
        is_new = operation == "submit" and self._copies.get(fields["id"]) is None
        await self._connected(is_new=is_new)
        match operation:
            case "submit":
                return await self._submit(**fields)
            case "track":
                return await self._track(**fields)
            case "leave":
                return await self._leave(**fields)
            case "forget":
                answer = await self._request("forget", **fields)
                self._drop(str(fields["id"]))
                return answer
            case _:
                return await self._request(operation, **fields)

    async def watch(self, job_id: str, journal: Path, after: int) -> AsyncIterator[Update]:
        """The records of a job after that number, as they come here, until the last one."""
        copy = self._copies.begun(job_id, journal.parent)
        try:
            async for update in copy.watch(after):
                yield update
        finally:
            if copy.is_over:
                self._copies.close(copy)

    async def close(self) -> None:
        """End the relay; jobs go on."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for copy in self._copies:
            self._drop(copy.id)

    async def _submit(self, id: str, directory: str, script: str) -> Json:  # noqa: A002 - as it is called in frames
        copy = self._copies.begun(id, Path(directory))
        if copy.is_over:
            return {"ok": True, "job": copy.memory.number}
        parcel = await job_threads.run(parcel_of, Path(directory))
        await self._luggage.deliver(parcel.blobs)
        fields = {"id": id, "plan": parcel.plan, "script": script}
        fields |= {**await self._luggage.bring(copy), **copy.position()}
        self._tracked.add(id)
        try:
            answer = await self._request("submit", **fields)
        except AgentError:
            self._drop(id)
            raise
        copy.submitted(str(answer.get("job") or ""))
        return answer

    async def _leave(self, id: str, directory: str) -> Json:  # noqa: A002 - as it is called in frames
        copy = self._copies.begun(id, Path(directory))
        if copy.is_over:
            raise AgentError("the job has ended")
        self._tracked.add(id)
        await depart(copy, self._request)
        self._drop(id)
        return {"ok": True}

    async def _track(self, id: str, directory: str) -> Json:  # noqa: A002 - as it is called in frames
        copy = self._copies.begun(id, Path(directory))
        if copy.stay():  # somebody changed their mind, and may have missed its end
            self._tracked.discard(id)
        if copy.is_over or id in self._tracked:
            return {"ok": True, "job": copy.memory.number}
        return await self._follow(copy)

    async def _follow(self, copy: JobCopy) -> Json:
        """Have the relay send what is missing of a job; one that is gone there is lost."""
        self._tracked.add(copy.id)
        try:
            answer = await self._request("track", id=copy.id, **copy.position())
        except AgentError as error:
            self._tracked.discard(copy.id)
            if not copy.memory.number:
                raise
            copy.lose(error.message)
            return {"ok": True, "job": copy.memory.number}
        copy.submitted(str(answer.get("job") or ""))
        return answer

    # Jobs here

    def _drop(self, job_id: str) -> None:
        copy = self._copies.get(job_id)
        if copy is not None:
            self._copies.close(copy)
        self._tracked.discard(job_id)

    # The connection

    async def _connected(self, *, is_new: bool = False) -> None:
        """Wait until there is a relay; why there is none, as an UnavailableError.

        For a job that Slurm has never seen, what only a person can mend is the end: an AgentError.
        """
        if self._task is None or self._task.done():
            self._attempt = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._keep())
        if self._attempt is not None:
            try:
                await asyncio.shield(self._attempt)
            except RelayError as error:
                why = self._unavailable(error.failure)
                if is_new and error.failure.lasting:
                    raise AgentError(why.message, hint=why.hint) from None
                raise why from None

    def _unavailable(self, failure: Failure) -> UnavailableError:
        where = self._cluster.get("login") or "this machine"
        hint = failure.hint.replace("of the pool", "of the cluster")
        return UnavailableError(
            f"cluster {self.name} ({where}): {failure.message}", hint=hint or None
        )

    async def _keep(self) -> None:
        """Keep a relay as long as it is needed."""
        pause, away_since = FIRST_PAUSE_S, time.monotonic()
        try:
            while True:
                try:
                    failure = await self._serve()
                except RelayError as error:
                    failure = error.failure
                except Exception:
                    log.exception("cluster %s", self.name)
                    failure = Failure("an internal error of Trainway", "see the server's log")
                    await self._end_relay()
                was_outdated, self._is_outdated = self._is_outdated, False
                if was_outdated and failure is not None:
                    self._questions.fail(partial(self._unavailable, failure))
                    continue
                if self._attempt is not None and self._attempt.done():  # it had answered
                    pause, away_since = FIRST_PAUSE_S, time.monotonic()
                if failure is None:
                    return
                log.info("cluster %s: %s", self.name, failure)
                self._questions.fail(partial(self._unavailable, failure))
                if time.monotonic() - away_since >= ABSENCE_S:
                    for copy in self._copies:
                        copy.interrupt(self._unavailable(failure))
                self._fail_attempt(failure)
                if not self._is_needed:
                    return
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE_S, pause * 2)
        finally:
            await self._end_relay()
            self._fail_attempt(Failure("its relay was closed"))

    @property
    def _is_needed(self) -> bool:
        if any(not copy.is_over for copy in self._copies) or self._questions.are_open:
            return True
        return time.monotonic() - self._used_at < IDLE_S

    def _begin_attempt(self) -> None:
        """Have those who ask from now on wait for a connection."""
        if self._attempt is None or self._attempt.done():
            self._attempt = asyncio.get_running_loop().create_future()

    def _fail_attempt(self, failure: Failure) -> None:
        """Tell those who wait for a connection, and let others wait for the next one."""
        attempt = self._attempt
        self._attempt = asyncio.get_running_loop().create_future()
        if attempt is not None and not attempt.done():
            attempt.set_exception(RelayError(failure))
            attempt.exception()  # it may be that nobody waits

    async def _serve(self) -> Failure | None:
        """Start a relay and take what it says until it ends; None: nobody needs it any more."""
        self._begin_attempt()
        cluster = self._cluster
        self._relay = await relay_process.start(cluster, self._directory, self._environ)
        self._tracked = set()
        if cluster is not self._cluster:  # it was described anew meanwhile
            self._replace(self._relay)
        self._spawn(self._begin())
        pinging = asyncio.create_task(self._ping())
        count = 0
        try:
            async for frame in self._relay.frames():
                self._take(frame)
                count += 1
                if count % _BREATH == 0:
                    await asyncio.sleep(0)
        finally:
            pinging.cancel()
        was_needed = self._is_needed
        relay, self._relay = self._relay, None
        failure = await relay.end()
        return failure if was_needed else None

    async def _begin(self) -> None:
        """Say hello, then ask for what is missing of all jobs that are here."""
        try:
            hello = await self._request("hello", rest=self._cluster.get("rest") or {})
        except (AgentError, UnavailableError):
            return  # it ended, and says why
        if self._attempt is not None and not self._attempt.done():
            self._attempt.set_result(None)
        self._home = str(hello.get("home") or "")
        self._spawn(self._sweep())
        self._spawn(self._quietly("ping", avoided=self._avoided()))
        for copy in self._copies:
            copy.interrupt(None)
            if not copy.is_over and copy.memory.number and copy.id not in self._tracked:
                with contextlib.suppress(AgentError, UnavailableError):
                    await self._follow(copy)

    async def _sweep(self) -> None:
        """Remove what the login node need not keep."""
        if self._retention is not None and self._home:
            with contextlib.suppress(AgentError, UnavailableError):
                await self._retention.sweep(self, self._home)

    async def _ping(self) -> None:
        """Let the relay know that we are there; end one that nobody needs."""
        while self._is_needed:
            await asyncio.sleep(PING_S)
            self._spawn(self._quietly("ping", avoided=self._avoided()))
        if self._relay is not None:
            await self._relay.end()

    async def _quietly(self, op: str, **fields: Any) -> None:
        with contextlib.suppress(AgentError, UnavailableError):
            await self._request(op, **fields)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _end_relay(self) -> None:
        relay, self._relay = self._relay, None
        self._questions.fail(partial(self._unavailable, Failure("its relay was closed")))
        if relay is not None:
            await relay.end()

    # Frames

    async def _request(self, op: str, **fields: Any) -> Json:
        """Ask, and wait for the answer."""
        found = await self._questions.ask(
            lambda number: self._send({"op": op, "request": number, **fields})
        )
        if not found.get("ok"):
            message, hint = str(found.get("error") or "refused"), str(found.get("hint") or "")
            if found.get("retry"):
                raise self._unavailable(Failure(message, hint))
            raise AgentError(message, hint=hint or None)
        return found

    async def _send(self, frame: Json) -> None:
        if self._relay is None:
            raise self._unavailable(Failure("its relay has ended"))
        try:
            await self._relay.send(frame)
        except OSError:
            raise self._unavailable(Failure("the connection ended")) from None

    def _take(self, frame: Json) -> None:
        """Take what the relay says."""
        event = frame.get("event")
        if event == "answer":
            self._questions.answer(frame)
        elif event == "trouble":
            if frame.get("error"):
                log.warning("cluster %s: %s", self.name, frame["error"])
        elif copy := self._copies.get(str(frame.get("id"))):
            self._copies.touch(copy)
            was_over = copy.is_over
            try:
                is_taken = copy.take(frame)
            except OSError as error:
                log.warning("job %s: nothing can be written here: %s", copy.id, error)
                is_taken = False
            if copy.is_over and not was_over:
                self._on_fetched(copy)
            if not is_taken and self._tracked.issuperset({copy.id}):
                self._tracked.discard(copy.id)
                self._spawn(self._follow_later(copy))

    def _on_fetched(self, copy: JobCopy) -> None:
        """All of a job has come."""
        if self._retention is not None and copy.is_whole:
            self._retention.mark(copy.path)
            self._spawn(self._sweep())

    async def _follow_later(self, copy: JobCopy) -> None:
        """Ask once more for what did not arrive."""
        await asyncio.sleep(FIRST_PAUSE_S)
        with contextlib.suppress(AgentError, UnavailableError, OSError):
            await self._follow(copy)
