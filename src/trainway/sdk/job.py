"""A job that was submitted, used like a future."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from trainway.errors import NotFoundError, TrainwayError
from trainway.jobset.labels import FUNCTION
from trainway.json_types import Json
from trainway.sdk.failures import JobFailedError, WaitTimeoutError
from trainway.sdk.log_line import LogLine
from trainway.sdk.metric_history import MetricHistory
from trainway.sdk.phases import SUCCEEDED, remains
from trainway.sdk.rest import LogQuery, Rest, is_terminal, phase
from trainway.sdk.since import since_text
from trainway.sdk.stacks import kept_stacks, of_rank, take_stacks
from trainway.sdk.transport import StreamControl

_ALL_POINTS = 10_000
_FAILURE_LINES = 20
_LOOKED_AT = 200
"""How many lines of a node are searched for those that matter."""


class Job:
    """A handle on a job: everything is asked of the server, whoever submitted it."""

    def __init__(self, rest: Rest, data: Json, *, allow_pickle: bool = False) -> None:
        self._rest = rest
        self._data = data
        self._allow_pickle = allow_pickle

    @property
    def id(self) -> str:
        """What no other job shares."""
        return str(self._data["metadata"]["id"])

    @property
    def name(self) -> str:
        """The job's name; the newest job of a name is found by it."""
        return str(self._data["metadata"]["name"])

    @property
    def status(self) -> str:
        """The phase it is in now: Queued, Running, Succeeded, ..."""
        return phase(self.refresh())

    @property
    def progress(self) -> float | None:
        """How much is done, in percent, if the training code reports it."""
        percent = self._trainer_status().get("progressPercentage")
        return None if percent is None else float(percent)

    @property
    def output_dir(self) -> Path:
        """Where the job's processes find TRAINWAY_OUTPUT_DIR; the same in every attempt."""
        return Path(self._status().get("outputDir") or self.refresh()["status"]["outputDir"])

    def refresh(self) -> Json:
        """The job as the server has it now."""
        if not self.done():
            self._data = self._rest.get(self.id)
        return self._data

    def done(self) -> bool:
        """Whether it was over when it was last looked at; it does not ask the server."""
        return is_terminal(self._data)

    def wait(self, timeout: float | None = None) -> str:
        """Wait for the end and give the phase it ended in."""
        if not self.done():
            deadline = None if timeout is None else time.monotonic() + timeout
            self.follow(StreamControl(deadline))
        if not is_terminal(self.refresh()):  # which fails if somebody has deleted the job
            raise WaitTimeoutError(f"{self.name} is {phase(self._data)} after {timeout or 0:g} s")
        return phase(self._data)

    def follow(self, control: StreamControl) -> None:
        """Keep the job up to date until it is over, or the control is."""
        for data in self._rest.watch(self.id, control):
            self._data = data

    def result(self, timeout: float | None = None, *, allow_pickle: bool | None = None) -> Any:
        """Wait for the end; the value that the function returned on the first rank.

        None where the job was no function. If the job failed, a JobFailedError says why. A value
        that is not plain data comes back as a pickle, and reading one runs whatever it says: that
        is done only with `allow_pickle`, here or in `Client.run`.
        """
        if self.wait(timeout) != SUCCEEDED:
            raise self._failure()
        from trainway.sdk.functions import decoded_result  # noqa: PLC0415 - loads inspect

        try:
            found = self._rest.result(self.id)
        except NotFoundError:
            name = self._function()
            if name is None:
                return None
            raise NotFoundError(
                f"the value that {name} returned is lost, because the log of its pod is lost",
                hint="run it again, or write the value to a volume",
            ) from None
        allowed = self._allow_pickle if allow_pickle is None else allow_pickle
        return decoded_result(found, allow_pickle=allowed)

    def exception(self, timeout: float | None = None) -> TrainwayError | None:
        """Wait for the end; what result() would raise for a job that failed, else None."""
        return None if self.wait(timeout) == SUCCEEDED else self._failure()

    def logs(
        self,
        *,
        follow: bool = False,
        role: str | None = None,
        rank: int | None = None,
        tail: int | None = None,
        since: timedelta | datetime | None = None,
        all_attempts: bool = False,
        control: StreamControl | None = None,
    ) -> Iterator[LogLine]:
        """The lines that its containers wrote, and with `follow` those to come."""
        query = LogQuery(role, rank, tail, since_text(since), all_attempts, follow)
        return self._rest.logs(self.id, query, control)

    def events(self) -> list[Json]:
        """What happened to it."""
        return self._rest.events(self.id)

    def metrics(
        self, *series: str, resolution: int | None = None, system: bool = False
    ) -> MetricHistory:
        """What the training code reported over time: lists of points by series, all or those named.

        Each list has at most `resolution` points; without it, all that are kept. With `system`
        they say what the job used: CPU, memory and GPUs of each node.
        """
        most = resolution or _ALL_POINTS
        found = self._rest.metrics(self.id, series, most, system=system)
        return MetricHistory(found["series"])

    def stacks(self, *, rank: int | None = None, attempt: int | None = None) -> Json:
        """The Python stacks of all its processes now, or of those of a rank.

        With `attempt`, counted from 0 as in its status, those that were kept of that attempt.
        """
        if attempt is not None:
            return of_rank(kept_stacks(self._rest, self.id, attempt), rank)
        return take_stacks(self._rest, self.id, rank)

    def last_metrics(self) -> dict[str, float | str]:
        """The metrics that the training code last reported."""
        metrics = self._trainer_status().get("metrics") or ()
        return {str(metric["name"]): _number(str(metric["value"])) for metric in metrics}

    @property
    def note(self) -> str:
        """What somebody wrote on it; see `set_note`."""
        return str(self.refresh()["metadata"].get("note") or "")

    @property
    def links(self) -> dict[str, str]:
        """Where things of it are shown: URLs by name."""
        return dict(self.refresh()["metadata"].get("links") or {})

    def set_note(self, text: str) -> None:
        """Write a note on it, also when it has ended; an empty one removes it."""
        self._write({"note": text})

    def link(self, name: str, url: str | None) -> None:
        """Write a link on it, such as `link("wandb", "https://wandb.ai/...")`; None removes it."""
        self._write({"links": {name: url}})

    def _write(self, remarks: Json) -> None:
        from trainway.sdk.job_remarks import write  # noqa: PLC0415 - seldom needed

        self._data = write(self._rest, self.id, remarks)

    def cancel(self) -> None:
        """Stop everything and wait until no process is left."""
        self._data = self._rest.act(self.id, "cancel")
        self.wait()

    def suspend(self) -> None:
        """Stop the processes and keep the job."""
        self._data = self._rest.act(self.id, "suspend")

    def resume(self) -> None:
        """Go on with a suspended job."""
        self._data = self._rest.act(self.id, "resume")

    def scale(self, nodes: int) -> None:
        """Give it another number of nodes, as long as it waits in the server's queue."""
        self._data = self._rest.scale(self.id, nodes)

    def move(self, on: str) -> None:
        """Have it go on at another place, as the same job; `trainway jobs move` has the rules."""
        from trainway.sdk.moving import move  # noqa: PLC0415 - seldom needed

        self._data = move(self._rest, self.id, on)

    def rerun(
        self,
        *,
        env: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - as the option of the command
    ) -> "Job":
        """Submit the same job again, maybe with other variables and other values of fields.

        `env={"LR": 0.1}, set={"spec.trainer.numNodes": 4}`; None as a value removes the field.
        """
        from trainway.sdk.reruns import difference, rerun  # noqa: PLC0415 - seldom needed

        return Job(self._rest, rerun(self._rest, self.id, difference(env, set)))

    def delete(self, *, force: bool = False) -> str:
        """Stop it if it runs, and forget it with all its files.

        By force also if its cluster does not answer: what may be left there, and how to remove it.
        """
        return remains(self._rest.delete(self.id, force=force))

    def to_dict(self) -> Json:
        """The whole job, as the server last told it."""
        return self._data

    def __repr__(self) -> str:
        return f"<Job {self.name} {self.id} {phase(self._data)}>"

    def _status(self) -> Json:
        return self._data.get("status") or {}

    def _function(self) -> str | None:
        """The name of the function that the job calls in a pod, if it does."""
        for obj in (self._data.get("spec") or {}).get("objects") or ():
            annotations = (obj.get("metadata") or {}).get("annotations") or {}
            if FUNCTION in annotations:
                return str(annotations[FUNCTION])
        return None

    def _trainer_status(self) -> Json:
        return self.refresh()["status"].get("progress") or {}

    def _failure(self) -> JobFailedError:
        status = self._status()
        failure = status.get("failure")
        if failure is None:
            said = ": ".join(str(status[key]) for key in ("reason", "message") if status.get(key))
            ended = phase(self._data).lower()
            return JobFailedError(f"{self.name} has {ended}" + (f": {said}" if said else ""))
        lines = [line.text for line in last_lines(self._rest, self.id, failure)]
        return JobFailedError(
            f"{self.name} has failed: {failure['summary']}", log=lines[-_FAILURE_LINES:]
        )


def last_lines(rest: Rest, ref: str, failure: Json) -> list[LogLine]:
    """What the node that failed first wrote last."""
    query = LogQuery(role=failure["role"], rank=failure["rank"], tail=_LOOKED_AT)
    return [line for line in rest.logs(ref, query) if line.job == failure["job"]]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
