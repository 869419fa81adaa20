"""The server's REST API, one method per route, in plain JSON. `Client` puts objects on top."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.address import Address, Home, configured_address, parse_address
from trainway.sdk.log_line import LogLine
from trainway.sdk.phases import TERMINAL
from trainway.sdk.transport import StreamControl, Transport, segment
from trainway.version import __version__

_SCRIPT: Final = "#!"
_UNHURRIED_S: Final = 3600.0
"""How long to wait for an answer: ending a job takes as long as its processes' grace periods."""


@dataclass(frozen=True)
class LogQuery:
    """Which lines of a job are wanted."""

    role: str | None = None
    rank: int | None = None
    tail: int | None = None
    since: str | None = None
    all_attempts: bool = False
    follow: bool = False


@dataclass(frozen=True)
class Submission:
    """What to run, and how."""

    objects: Sequence[Json]
    options: Mapping[str, Any]
    key: str = field(default_factory=lambda: os.urandom(16).hex())
    """The server knows the submission again by this key when it is sent once more, since no answer
    came."""


class Rest:
    """The routes of a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.on_upload: Callable[[int, int], None] = lambda _sent, _size: None
        """A function that is told, while files go to the server, how many bytes are sent and of how
        many."""

    @classmethod
    def connect(
        cls,
        server: str | None = None,
        token: str = "",
        warn: Callable[[str], None] = lambda _message: None,
    ) -> Self:
        """To the server given, or of the environment, or else the embedded one."""
        address = parse_address(server, token) if server else configured_address()
        if address is not None:
            return cls(Transport(address))
        return cls(embedded(Home.of_environment(), warn))

    @property
    def transport(self) -> Transport:
        """What carries requests to it."""
        return self._transport

    @property
    def address(self) -> Address:
        """The server spoken to."""
        return self._transport.address

    def submit(self, submission: Submission) -> tuple[Json, list[str]]:
        """Create a job; the job, and what its author should know."""
        body = self.submission_body(submission)
        answer = self._transport.request("POST", "/jobs", body=body, key=submission.key)
        return answer["job"], [str(line) for line in answer.get("warnings") or ()]

    def submission_body(self, submission: Submission) -> Json:
        """The body of a request with a job; its files are sent ahead."""
        return {"objects": self._sent(submission), "options": _with_user(submission.options)}

    def submit_run(
        self, submission: Submission, wanted: Mapping[str, Any]
    ) -> tuple[list[Json], list[str]]:
        """Create several jobs, all or none; the jobs by rank, in short, and as above.

        `wanted` has `num_jobs`, or `parameters`, and maybe `parallel`.
        """
        options = {**_with_user(submission.options), **wanted}
        answer = self._transport.request(
            "POST",
            "/jobs",
            body={"objects": self._sent(submission), "options": options},
            key=submission.key,
            timeout=_UNHURRIED_S,
        )
        return answer["jobs"], [str(line) for line in answer.get("warnings") or ()]

    def unsent(self, submission: Submission) -> Json:
        """The body of a request that only asks about a job: none of its files goes ahead."""
        objects = self._sent(submission, with_files=False)
        return {"objects": objects, "options": dict(submission.options)}

    def plan(self, submission: Submission) -> tuple[Any, list[str]]:
        """What a backend would do with a job, and what its author should know.

        It is plain data, or the text of a script.
        """
        answer = self._transport.request("POST", "/plans", body=self.unsent(submission))
        request = str(answer["request"])
        data = request if request.startswith(_SCRIPT) else json.loads(request)
        return data, [str(line) for line in answer.get("warnings") or ()]

    def notify_test(self, target: str = "") -> list[Json]:
        """Send a test to a target, or to all of the settings; what became of each."""
        answer = self._transport.request(
            "POST", "/notify/test", body={"target": target}, timeout=_UNHURRIED_S
        )
        items: list[Json] = answer["items"]
        return items

    def page(  # noqa: PLR0913 - one for each parameter of the route, by name
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        phase: str | None = None,
        name: str | None = None,
        active: bool | None = None,
        summary: bool = False,
        labels: Sequence[str] = (),
        since: str | None = None,
        metrics: Sequence[str] = (),
    ) -> tuple[list[Json], str | None]:
        """A page of jobs, newest first, and the cursor of the next page if there is one."""
        answer = self._transport.request(
            "GET",
            "/jobs",
            query={
                "limit": limit,
                "cursor": cursor,
                "phase": phase,
                "name": name,
                "active": active,
                "fields": "summary" if summary else None,
                "label": list(labels),
                "since": since,
                "metric": list(metrics),
            },
        )
        return answer["items"], answer.get("cursor")

    def usage(
        self, by: str | None = None, key: str | None = None, since: str | None = None
    ) -> Json:
        """GPU-hours and CPU-hours of all jobs: `total`, and `items` by what was asked for."""
        query = {"by": by, "key": key, "since": since}
        answer: Json = self._transport.request("GET", "/usage", query=query)
        return answer

    def get(self, ref: str) -> Json:
        """The job of that id, or the newest of that name."""
        job: Json = self._transport.request("GET", _path(ref))
        return job

    def delete(self, ref: str, *, force: bool = False) -> Json:
        """Cancel the job if it runs, wait until all of it is gone, and forget it.

        By force also one whose cluster does not answer: `remains` says what may be left of it.
        """
        query = {"force": force or None}
        path = _path(ref)
        job: Json = self._transport.request("DELETE", path, query=query, timeout=_UNHURRIED_S)
        return job

    def act(self, ref: str, verb: str) -> Json:
        """Cancel, suspend, resume or rerun a job."""
        path = _path(ref, "/" + verb)
        job: Json = self._transport.request("POST", path, timeout=_UNHURRIED_S)
        return job

    def scale(self, ref: str, nodes: int) -> Json:
        """Give a job that waits another number of nodes."""
        path, body = _path(ref, "/scale"), {"nodes": nodes}
        job: Json = self._transport.request("POST", path, body=body, timeout=_UNHURRIED_S)
        return job

    def size(self, ref: str) -> int:
        """How many bytes the files of a job take on the machine of the server."""
        return int(self._transport.request("GET", _path(ref, "/size"))["bytes"])

    def result(self, ref: str) -> Json:
        """The value that a function returned, as text."""
        value: Json = self._transport.request("GET", _path(ref, "/result"))
        return value

    def events(self, ref: str, after: int | None = None) -> list[Json]:
        """What happened to a job so far."""
        query = {"after": after}
        answer = self._transport.request("GET", _path(ref, "/events"), query=query)
        items: list[Json] = answer["items"]
        return items

    def metrics(
        self,
        ref: str,
        series: Sequence[str] = (),
        resolution: int | None = None,
        *,
        summary: bool = False,
        system: bool = False,
    ) -> Json:
        """What a job reported over time: its series, and the summary of each, or only that.

        `system`: what it used of its machines instead.
        """
        query = {
            "series": list(series) or None,
            "resolution": resolution,
            "fields": "summary" if summary else None,
            "system": "true" if system else None,
        }
        history: Json = self._transport.request("GET", _path(ref, "/metrics"), query=query)
        return history

    def metric_stream(
        self, ref: str, control: StreamControl | None = None, *, system: bool = False
    ) -> Iterator[Json]:
        """The points that are kept of a job, and those to come, until its end."""
        stream = self._transport.stream(
            _path(ref, "/metrics"),
            query={"system": "true" if system else None},
            is_over=lambda: self._is_over(ref),
            control=control,
        )
        for event in stream:
            if event.event == "end":
                return
            if event.event == "points":
                yield json.loads(event.data)

    def event_stream(self, ref: str, control: StreamControl | None = None) -> Iterator[Json]:
        """What happened and happens to a job, until its end."""
        stream = self._transport.stream(
            _path(ref, "/events"),
            is_over=lambda: self._is_over(ref),
            control=control,
        )
        for event in stream:
            if event.event == "end":
                return
            yield json.loads(event.data)

    def watch(self, ref: str, control: StreamControl | None = None) -> Iterator[Json]:
        """The job, and the job again whenever it changes, until it has ended."""
        stream = self._transport.stream(
            _path(ref, "/watch"),
            is_over=lambda: self._is_over(ref),
            control=control,
        )
        for event in stream:
            if event.event == "job":
                job = json.loads(event.data)
                yield job
                if is_terminal(job):
                    return

    def logs(
        self, ref: str, query: LogQuery, control: StreamControl | None = None
    ) -> Iterator[LogLine]:
        """The lines that a job's containers wrote; with `follow` also those to come."""
        stream = self._transport.stream(
            _path(ref, "/logs"),
            query={
                "role": query.role,
                "rank": query.rank,
                "tail": query.tail,
                "since": query.since,
                "all_attempts": query.all_attempts or None,
                "follow": query.follow or None,
            },
            control=control,
        )
        for event in stream:
            if event.event == "end":
                return
            if event.event == "log":
                yield LogLine.of(json.loads(event.data))

    def pod(
        self, ref: str, role: str | None = None, rank: int | None = None, verb: str | None = None
    ) -> Json:
        """Where a pod of a job is: its name, its containers, and the kubeconfig to reach it.

        `verb` is what it is asked for: `exec`, which counts where none is given, `shell` or
        `port-forward`.
        """
        query = {"role": role, "rank": rank, "verb": verb}
        place: Json = self._transport.request("GET", _path(ref, "/pod"), query=query)
        return place

    def runtimes(self) -> list[Json]:
        """The training runtimes that the server knows."""
        items: list[Json] = self._transport.request("GET", "/runtimes")["items"]
        return items

    def runtime(self, name: str) -> Json:
        """One training runtime."""
        runtime: Json = self._transport.request("GET", f"/runtimes/{segment(name)}")
        return runtime

    def backends(self, *, deep: bool = False) -> list[Json]:
        """Where jobs can run, the clusters of our kubeconfig among them: checks and capacity.

        `deep`: short jobs may be run to find out.
        """
        from trainway.sdk.submitter import kubeconfig_files  # noqa: PLC0415 - seldom needed

        files = kubeconfig_files(os.environ) if self.address.is_here else []
        body = {"kubeconfig": files, "deep": deep}
        items: list[Json] = self._transport.request("POST", "/backends/check", body=body)["items"]
        return items

    def rotate_token(self) -> str:
        """Replace what everybody shows who comes over TCP; the new one."""
        return str(self._transport.request("POST", "/server/token")["token"])

    def server(self) -> Json:
        """The server: pid, socket, version, number of jobs."""
        info: Json = self._transport.request("GET", "/server")
        return info

    def _sent(self, submission: Submission, *, with_files: bool = True) -> list[Json]:
        """The objects of a submission, whose files have gone ahead."""
        if with_files and any(obj.get("buckets") for obj in submission.objects):
            from trainway.sdk.task_storage import fill  # noqa: PLC0415 - seldom needed

            fill(submission.objects, self.on_upload, lambda: self.plan(submission))
        if not any(_has_files(obj) for obj in submission.objects):
            return list(submission.objects)
        from trainway.sdk.file_upload import send, with_digests  # noqa: PLC0415 - seldom needed

        objects, files = with_digests(submission.objects)
        if with_files:
            send(self._transport, files, self.on_upload)
        return objects

    def _is_over(self, ref: str) -> bool:
        try:
            return is_terminal(self.get(ref))
        except NotFoundError:
            return True


def embedded(home: Home, warn: Callable[[str], None]) -> Transport:
    """A transport to the embedded server, which is started when it does not answer."""

    def wake() -> Address:
        from trainway.sdk.server_process import ServerProcess  # noqa: PLC0415 - seldom needed

        return ServerProcess(home, warn).ensure()

    info = home.server_info()
    if info.get("version") in (None, __version__):
        return Transport(home.address(info), wake)
    return Transport(wake(), wake)


def _with_user(options: Mapping[str, Any]) -> Json:
    """The options of a submission, with a label that says whose it is."""
    from trainway.sdk.submitter import user_label  # noqa: PLC0415 - only to submit

    labels = {**user_label(os.environ), **(options.get("labels") or {})}
    return {**options, "labels": labels} if labels else dict(options)


def _has_files(obj: Json) -> bool:
    """Whether an object stands for files of this machine."""
    values = (obj.get("binaryData") or {}).values() if obj.get("kind") == "ConfigMap" else ()
    return any(isinstance(value, dict) for value in values)


def is_terminal(job: Mapping[str, Any]) -> bool:
    """Whether a job has ended."""
    return phase(job) in TERMINAL


def phase(job: Mapping[str, Any]) -> str:
    """The phase of a job."""
    status = job.get("status")
    return str(status.get("phase") or "") if isinstance(status, dict) else ""


def _path(ref: str, rest: str = "") -> str:
    return f"/jobs/{segment(ref)}{rest}"
