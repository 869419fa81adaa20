"""The records of a job's journal, `journal.jsonl`: one JSON object a line. For type checkers only.

An agent writes them, the server and the next agent read them. `docs/protocols.md` is made from
this module. A reader ignores fields and types that it does not know.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.json_types import Json

    class Record(TypedDict, total=False):
        """What every record has besides its own fields."""

        seq: int
        """Each record has a number one higher than the record before it."""
        time: str
        """When the record was written, as RFC 3339 has it."""
        host: str
        """The host, or the node of Slurm, that the record came from."""
        hostSeq: int
        """The number that the record has in the journal of its host."""
        slurmSeq: int
        """The number that the record has in the journal of its driver on Slurm."""

    class AgentRecord(Record):
        """An agent began, went on with what another one left, or stops without an end."""

        type: NotRequired[Literal["agent"]]
        event: Literal["started", "recovered", "stopping", "left", "submitted"]
        """`left`: nothing of the job runs, and another agent may go on with it.

        `submitted` is written by the Kubernetes backend, where there is no agent."""
        pid: NotRequired[int]
        """The process of the agent."""
        boot_id: NotRequired[str]
        """The boot of the machine in which that process ran."""
        logs: NotRequired[dict[str, int]]
        """With `left`: how long each log was when the job came to a cluster of Slurm, where its
        logs begin from nothing."""
        token: NotRequired[str]
        """The attempt that a driver on Slurm is."""

    class JobRecord(Record):
        """The state of one Job of the JobSet, from which the next agent goes on."""

        type: NotRequired[Literal["job"]]
        job: str
        """The name of the Job."""
        state: NotRequired[Json]
        """All that `agent.controllers.job.Job` needs to go on."""
        gone: NotRequired[bool]
        """The Job was deleted."""

    class ContainerRecord(TypedDict):
        """One container of a pod, within the record of the pod."""

        name: str
        """The name of the container."""
        state: str
        """The state is `waiting`, `running` or `terminated`."""
        restarts: int
        """The number of times that the container was restarted."""
        kind: NotRequired[str]
        """The kind is `init` or `sidecar`; a main container has none."""
        pid: NotRequired[int | None]
        """The first process of the container, while it runs."""
        ready: NotRequired[bool]
        """Whether the readiness probe of the container succeeds."""
        exitCode: NotRequired[int]
        """The exit code of a container that has ended."""
        signal: NotRequired[int]
        """The signal that ended the container."""
        startedAt: NotRequired[str]
        """When the container started."""
        finishedAt: NotRequired[str]
        """When the container ended."""
        reason: NotRequired[str]
        """Why the container is in its state, in one word."""
        message: NotRequired[str]
        """Why the container is in its state, in one sentence."""
        lastState: NotRequired[Json]
        """How the container ended before its last restart."""
        logBytesDropped: NotRequired[int]
        """The bytes of its log that could not be written."""

    class PodRecord(Record):
        """A pod as it is now. The last record of a pod counts."""

        type: NotRequired[Literal["pod"]]
        pod: str
        """The key of the pod within its job: `<role>-<job>-<pod>`."""
        job: NotRequired[str]
        """The name of the Job that the pod belongs to."""
        slot: NotRequired[int]
        """The index of the pod within its Job."""
        uid: NotRequired[str]
        """The uid of the pod, which no other pod ever has."""
        name: str
        """The name of the pod, as its own processes know it."""
        attempt: int
        """How often the JobSet had been restarted when the pod was made."""
        phase: str
        """The phase is `Pending`, `Running`, `Succeeded` or `Failed`."""
        ready: bool
        """Whether all containers are ready."""
        containers: list[ContainerRecord]
        """The containers of the pod, init containers first."""
        prepared: NotRequired[bool]
        """The pod has its environment; it starts when all pods of its job have theirs."""
        reason: NotRequired[str]
        """Why the pod is in its phase, in one word, for example `AgentLost`."""
        message: NotRequired[str]
        """Why the pod is in its phase, in one sentence."""
        deleted: NotRequired[bool]
        """The pod is being stopped, or was stopped, because nobody wants it any more."""
        disrupted: NotRequired[bool]
        """The pod ended through no fault of its own."""
        token: NotRequired[int | str]
        """The fencing token with which the pod was started."""
        place: NotRequired[str]
        """The key of the pod whose place and devices this one has, if it is not its own."""
        node: NotRequired[str]
        """The node of Kubernetes that the pod is on."""
        created: NotRequired[str]
        """When Kubernetes created the pod."""

    class EventRecord(Record):
        """Something that people should know, like an Event of Kubernetes."""

        type: NotRequired[Literal["event"]]
        eventType: str
        """The type is `Normal` or `Warning`."""
        reason: str
        """What happened, in one word."""
        message: str
        """What happened, in one sentence."""
        object: NotRequired[str]
        """What the event is about: `JobSet/NAME`, `Job/NAME` or `Pod/KEY`."""
        token: NotRequired[int | str]
        """The fencing token of the attempt in which it happened."""
        slurmJob: NotRequired[str]
        """The number that Slurm gave the job, with the reason `Submitted`."""
        event: NotRequired[Json]
        """The uid and count of the Event of Kubernetes that this was, so that it is told once."""

    class StatusRecord(Record):
        """The status of the JobSet changed."""

        type: NotRequired[Literal["status"]]
        jobset: Json
        """The status, as JobSet's own controller would write it."""
        suspend: NotRequired[bool]
        """Whether the JobSet is suspended."""
        before: NotRequired[bool]
        """Its restarts were at other places, from which it comes to begin anew."""
        nodes: NotRequired[int]
        """The number of nodes that its elastic Job may have at most, once somebody has said it."""

    class ProgressRecord(Record):
        """The trainer reported how far it is."""

        type: NotRequired[Literal["progress"]]
        trainerStatus: Json
        """The report, in the shape of Kubeflow Trainer's `trainerStatus`."""
        token: NotRequired[int]
        """The fencing token of the attempt that reported it."""

    class GpuUsage(TypedDict, total=False):
        """What one GPU did."""

        utilization: float
        """The share of the time in which it computed, in percent."""
        memory: float
        """The bytes of its memory that are used."""
        memoryTotal: float
        """The bytes of memory that it has."""
        power: float
        """What it draws, in watts."""
        temperature: float
        """How hot it is, in degrees Celsius."""

    class PodUsage(TypedDict):
        """What one pod used since the last such record, on average."""

        cpu: float
        """The CPU that its processes used, in percent of one core."""
        memory: int
        """The bytes of memory that its processes hold."""
        peakMemory: int
        """The most bytes that they were seen to hold since the pod started."""
        gpus: NotRequired[dict[str, GpuUsage]]
        """The GPUs of the pod, by their indices on the machine."""

    class UsageRecord(Record):
        """What pods use of their machine."""

        type: NotRequired[Literal["usage"]]
        pods: dict[str, PodUsage]
        """What each pod uses, by the pod's key."""
        token: NotRequired[int | str]
        """The fencing token with which the pods were started."""

    class WaitingRecord(Record, total=False):
        """Why nothing of the job runs yet. Without a reason it waits no longer."""

        type: Literal["waiting"]
        reason: str
        """Why the job waits, in one word."""
        message: str
        """Why the job waits, in one sentence."""
        queue: str
        """The queue in which the job waits: that of Kueue, or a partition of Slurm."""
        position: int
        """The position of the job in its queue, from 1 on."""

    class PlacementRecord(Record):
        """The hosts of the pods, written before anything is sent to them."""

        type: NotRequired[Literal["placement"]]
        token: int | str
        """The fencing token: hosts stop what has a lower one."""
        hosts: dict[str, str]
        """The host of each pod, by the pod's key. Nothing: the job has no place any more."""
        devices: NotRequired[dict[str, Json]]
        """The devices of each pod, by the pod's key and the kind of device."""
        logs: NotRequired[dict[str, int]]
        """How long the copies of logs were when the hosts began theirs anew."""
        resized: NotRequired[list[str]]
        """An elastic job has more or fewer places than before; these hosts begin from nothing."""
        leaving: NotRequired[bool]
        """The placement is given up, but pods may still run there."""
        restarts: NotRequired[int]
        """The number of restarts that the JobSet has once the placement is given up."""
        job: NotRequired[str]
        """The number of the Slurm job whose allocation this is."""
        groups: NotRequired[dict[str, int]]
        """The component of a heterogeneous Slurm job that each node belongs to."""
        jobs: NotRequired[dict[str, str]]
        """The numbers of the Slurm jobs of nodes that an elastic job got later, by the node."""

    class EndRecord(Record):
        """How the job ended. It is the last record of a journal."""

        type: NotRequired[Literal["end"]]
        succeeded: bool
        """Whether the job succeeded."""
        reason: str
        """Why the job ended, in one word."""
        message: str
        """Why the job ended, in one sentence."""
