"""What the API takes and gives, for its documentation; requests are checked against these too."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trainway.backends.base import Isolation
from trainway.engine.recovery.cause import Cause
from trainway.engine.recovery.strategy import Strategy
from trainway.families.builtin import HERE
from trainway.json_types import Json
from trainway.server.other_place import OtherPlace, TaskPlacement
from trainway.server.shown import Shown as Shown  # noqa: PLC0414 - routes have it from here
from trainway.server.usage_models import JobUsage

INT32 = 2**31
CAUSES = f"one of {', '.join(Cause)}"


class LogParameters(BaseModel):
    """Which lines of a job's logs."""

    role: str | None = Field(None, description="of one role only")
    rank: int | None = Field(None, ge=0, lt=INT32, description="of one pod of each job only")
    tail: int | None = Field(None, ge=0, lt=INT32, description="so many from the end, in all")
    since: str = Field("", max_length=100, description="a time, or a duration such as `10m`")
    all_attempts: bool = Field(False, description="not of the newest attempt only")
    follow: bool = Field(False, description="go on until the job's end")


class ListParameters(BaseModel):
    """Which jobs to list."""

    limit: int = Field(100, ge=1, le=10_000)
    cursor: str = Field("", description="where the page begins, as the one before said")
    phase: str = Field("", description="phases, separated by commas")
    name: str = ""
    active: bool | None = Field(None, description="only jobs that have not ended, or that have")
    fields: str = Field("", description="`summary` leaves out what is large")
    label: list[str] = Field([], max_length=100, description="`KEY=VALUE`, or `KEY` for any value")
    since: str = Field(
        "", max_length=100, description="submitted since a time, or in a duration such as `2d`"
    )
    metric: list[str] = Field(
        [], max_length=100, description="what was reported last, such as `loss<0.3`"
    )


class SubmitOptions(BaseModel):
    """How to run a job."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field("", max_length=253, description="in place of the one in the object")
    backend: str = Field(HERE, max_length=253, description="where to run it")
    priority: int = Field(
        0, ge=-INT32, lt=INT32, description="-1000 to 1000; higher ones start first"
    )
    queue: str = Field(
        "",
        max_length=63,
        description="the managed queue to wait in; empty: that of the label `trainway.dev/queue`, "
        "or `default`",
    )
    workdir: str = Field("", max_length=4096, description="absolute path in which containers start")
    environ: dict[str, str] = Field({}, description="environment below the containers' own")
    oversubscribe: bool = Field(False, description="start even if it does not fit")
    labels: dict[str, str] = Field({}, description="labels of the job, over those of the object")
    kubeconfig: tuple[str, ...] = Field(
        (), description="absolute paths of the submitter's kubeconfig files, for backends `k8s/...`"
    )
    isolation: Isolation = Field(
        Isolation.PROCESS,
        description="what containers are on the local backend: processes, or containers of podman "
        "or docker; the annotation `trainway.dev/isolation` of the object asks for them too",
    )
    num_jobs: int | None = Field(
        None,
        ge=1,
        description="so many jobs of it, called `<name>-0` and so on, which are told their rank",
    )
    notify: tuple[str, ...] = Field(
        (),
        max_length=100,
        description="whom to tell how it goes, beside those of the settings: names of targets "
        "there, or URLs of webhooks, which nobody is shown",
    )
    parameters: list[dict[str, str]] | None = Field(
        None, description="in place of `num_jobs`: the parameters of each of the jobs of a sweep"
    )
    placeholders: bool = Field(
        True, description="whether `{name}` in the job stands for the value of a parameter"
    )
    parallel: int | None = Field(
        None, ge=1, lt=INT32, description="how many of several jobs may run at a time"
    )
    candidates: tuple[OtherPlace, ...] = Field(
        (),
        max_length=100,
        description="other places to which it goes, in order, while it has not started, or by its "
        "`recovery_strategy`",
    )
    placement: dict[str, TaskPlacement] = Field(
        {},
        max_length=1000,
        description="of a pipeline, where each task may run, of the places that it was sent for; "
        "one is chosen when its turn comes",
    )
    prefer: Literal["", "cost", "order"] = Field(
        "",
        description="with `candidates`: what counts when its place is chosen, in its turn; empty: "
        "it begins at `backend`",
    )
    max_wait: float | None = Field(
        None,
        ge=0,
        lt=INT32,
        description="after how many seconds of waiting; null: only if it is refused",
    )
    recovery_strategy: Strategy | None = Field(
        None,
        description="what follows when its place is lost: it is tried again there first, and then "
        "goes to the next candidate (`failover`), goes there at once (`eager-next`), or fails "
        "(`none`); null: what its place does by itself",
    )
    deadline: str | None = Field(
        None,
        max_length=100,
        description="the time when it must have ended; it is moved between its places to keep it",
    )
    sure: str = Field(
        "", max_length=253, description="with `deadline`: the place that is sure; others are cheap"
    )
    work: float | None = Field(
        None, gt=0, lt=INT32, description="with `deadline`: how many seconds it computes in all"
    )
    use_spot: bool = Field(
        False, description="on a cloud: whether to rent spot machines, which it may take back"
    )
    max_cost: float | None = Field(
        None,
        gt=0,
        le=1e9,
        description="how many dollars it may cost before it is ended; of several jobs, together",
    )
    max_cost_each: float | None = Field(
        None, gt=0, le=1e9, description="of several jobs: how many dollars each of them may cost"
    )
    search: Json | None = Field(
        None,
        description="in place of `num_jobs`: a hyperparameter search whose trials are such jobs, "
        "as `spec` and `annotations` of an OptimizationJob without its `trainJobTemplate`",
    )
    pipeline: bool = Field(
        False,
        description="whether each task of a Task with several is to be a job of its own, which "
        "waits for those that it depends on",
    )


class SubmitRequest(BaseModel):
    """A job and the objects it needs."""

    model_config = ConfigDict(extra="forbid")

    objects: list[Json] = Field(
        description="one TrainJob, MPIJob or JobSet, and ConfigMaps, Secrets and runtimes for it"
    )
    options: SubmitOptions = SubmitOptions()


class ErrorDetail(Shown):
    """What went wrong, in one line."""

    code: str
    message: str
    field: str | None = None
    hint: str | None = None


class ErrorAnswer(Shown):
    """Any error."""

    error: ErrorDetail
    errors: list[str] = Field([], description="every reason, where there are several")


class JobMetadata(Shown):
    """Names of a job."""

    id: str
    name: str
    namespace: str
    creation_timestamp: str
    labels: dict[str, str]
    note: str = Field("", description="what somebody wrote on it")
    links: dict[str, str] = Field({}, description="URLs by name, such as that of W&B")


class JobSpec(Shown):
    """What was submitted."""

    kind: str
    backend: str
    priority: int
    queue: str = Field("default", description="the managed queue that it waits in")
    parameters: dict[str, str] = Field({}, description="of its trial, where it is one of a sweep")
    run: str | None = Field(None, description="the id of the run that it is a job of")
    replaced_by: str | None = Field(
        None, description="the id of the job that has taken its place in the run"
    )
    requests: Json | None = Field(None, description="`cpus`, `memory` and `gpus` of all its nodes")
    objects: list[Json] = Field([], description="values of Secrets are hidden")
    workdir: str = ""


class JobStatus(Shown):
    """What became of a job."""

    phase: str
    reason: str
    message: str
    start_time: str | None
    completion_time: str | None
    attempt: int
    restarts: int
    exit_code: int | None
    failure: Json | None = Field(
        None, description="of a job that failed: who failed first (`node`), and how (`summary`)"
    )
    cause: str | None = Field(None, description=f"of a job that failed: {CAUSES}")
    ended_attempts: list[Json] = Field([], description="each with `reason`, `node` and `host`")
    queue_position: int | None = None
    worker: str | None = Field(None, description="of a job of a worker pool: where it runs")
    move: Json | None = Field(
        None, description="of a job on its way to another place: `step`, `from` and `to`"
    )
    budget: Json | None = Field(None, description="the most that it may cost: `limit`, `warned`")
    candidates: Json | None = Field(
        None, description="of a job that waits: the other `places` it may go to, and when"
    )
    export: Json | None = Field(
        None,
        description="of a job whose output goes into a bucket: `uri`, `state` (`Waiting`, "
        "`Uploading`, `Done`, `Failed`, `Skipped`) and why it failed (`message`)",
    )
    recovery: Json | None = Field(
        None,
        description="of a job with a strategy: the `places` where it may go on, and those that it "
        "has lost and avoids until some time (`avoided`)",
    )
    scalable: bool = Field(
        False, description="whether it can be given another number of nodes: `POST .../scale`"
    )
    nodes: list[Json] = Field([])
    progress: Json | None
    job_set: Json = Field({}, description="the JobSet's status, in its own shape")
    usage: JobUsage | None = Field(None, description="what it requested, for the time it ran")
    output_dir: str | None = None
    job_dir: str | None = None


class Job(Shown):
    """A job."""

    api_version: str
    kind: str
    metadata: JobMetadata
    spec: JobSpec
    status: JobStatus


class SubmitAnswer(Shown):
    """A new job."""

    job: Job
    jobs: list[Job] = Field([], description="all of them, where several were asked for")
    warnings: list[str]


class PlanAnswer(Shown):
    """What would be done for a job."""

    request: str = Field(
        description="the backend's own request as JSON, or as a script; values of Secrets hidden"
    )
    warnings: list[str]


class JobPage(Shown):
    """Some jobs, newest first."""

    items: list[Job]
    cursor: str | None = Field(description="where the next page begins")


class PodPlace(Shown):
    """A pod of a job, and how to reach it."""

    job: str = Field(description="the id of the job")
    pod: str
    container: str = Field(description="the one that is meant where none is named")
    containers: list[str]
    namespace: str
    context: str
    kubeconfig: list[str] = Field(description="absolute paths; none: the usual ones")
    processes: dict[str, int] = Field(
        {}, description="by container, where it is no pod of a cluster"
    )
    host: str = Field("", description="the host that it is on, of a pool")
    program: list[str] = Field([], description="what logs in to that host")
    remote: dict[str, str] = Field(
        {}, description="by container, what the host's shell runs before the words of the command"
    )


class Event(Shown):
    """Something that happened to a job."""

    seq: int
    time: str
    type: str
    reason: str
    message: str
    object: str


class EventList(Shown):
    """What happened to a job."""

    items: list[Event]


class Metric(Shown):
    """One number that training reports."""

    name: str = Field(min_length=1, max_length=64)
    value: str = Field(min_length=1, max_length=64)


class TrainerStatus(Shown):
    """How far a training is."""

    progress_percentage: int | None = Field(None, ge=0, le=100)
    estimated_remaining_seconds: int | None = Field(None, ge=0, lt=INT32)
    metrics: list[Metric] | None = Field(None, max_length=256)
    last_updated_time: str | None = Field(None, max_length=64)


class Progress(Shown):
    """The body of a report, and of the answer to one."""

    model_config = ConfigDict(defer_build=False)  # it is read, too

    trainer_status: TrainerStatus | None = None


class RuntimeList(Shown):
    """The built-in training runtimes."""

    items: list[Json]
