"""The frames between a pool agent and the agents of its hosts. For type checkers only.

Each frame is one JSON object a line, over the standard input and output of `host connect`, which
ssh starts. A pool agent asks (`op`); `host_events` has what a host answers and reports (`event`).
`docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.agent.base.plan_document import PodName
    from trainway.json_types import Json

    class Peer(TypedDict):
        """How an MPI launcher reaches the pod of a worker."""

        host: str
        """The name of the host in the pool."""
        address: NotRequired[str]
        """The address of the host."""
        join: NotRequired[Json]
        """The step of Slurm that leads there, where SSH does not."""
        port: NotRequired[int]
        """The port of the host's SSH server."""
        user: NotRequired[str]
        """The user who runs the host agent."""
        host_keys: NotRequired[list[str]]
        """The public keys that the SSH server shows."""

    class Position(TypedDict, total=False):
        """What a receiver has of a job, so that only the rest is sent."""

        after: int
        """The number of the last record that the receiver has."""
        logs: dict[str, int]
        """The bytes that the receiver has of each log."""
        outputs: dict[str, list[int]]
        """The size and the time, in nanoseconds, of each output file that the receiver has."""

    class Hello(TypedDict):
        """Begins a connection; until then the host refuses all else. Answered with `facts`."""

        op: Literal["hello"]
        owner: str
        """The id of the pool agent, whose jobs nobody else may touch."""
        client: str
        """Who that is, for people: `user@machine`."""
        peers: list[list[str | int]]
        """The address and SSH port of each other host, which the host probes when it is cut off."""
        votes: int
        """How many votes there are when the hosts decide which part of the pool goes on."""

    class Arrived(TypedDict):
        """Said by `host connect` itself, before the pool agent: how the host was reached."""

        op: Literal["arrived"]
        sshd: NotRequired[list[str | int]]
        """The address and the port of the SSH server."""
        host_keys: NotRequired[list[str]]
        """The public keys that the SSH server shows."""

    class Retire(TypedDict):
        """Said by a newer `host connect`: end unless you are needed. Answered with `retired`."""

        op: Literal["retire"]

    class Ping(TypedDict):
        """Asks whether the host is there. Answered with `pong`."""

        op: Literal["ping"]

    class Attend(TypedDict):
        """Says to a rented machine that its server is there, and what to do once it is not."""

        op: Literal["attend"]
        seconds: float | None
        """How long nobody may be heard, and nothing run, before the machine shuts itself down;
        None: it never does."""
        command: NotRequired[str]
        """What shuts it down, as a line of a shell that root runs; empty: `shutdown -h now`."""

    class Lend(TypedDict):
        """Gives jobs on a rented machine credentials that expire soon; the next ones replace them.

        They are kept in memory by the pool agent, and in private files by the host.
        """

        op: Literal["lend"]
        files: dict[str, str]
        """What is in each file; `{folder}` stands for the folder of the files."""
        variables: dict[str, str]
        """The variables of all jobs that start from now on, and the file that each names."""

    class WatchNotices(TypedDict):
        """Has a spot machine ask its cloud every few seconds whether it is about to be taken.

        Answered with `notice` as soon as it is, and at once where that is known already.
        """

        op: Literal["watch_notices"]
        cloud: str
        """The cloud: `aws`, `gcp` or `azure`."""
        machine: NotRequired[str]
        """The name of the machine there."""
        address: NotRequired[str]
        """The address and port of the metadata service; empty: `169.254.169.254:80`."""

    class HoldLimits(TypedDict, total=False):
        """What a client takes a host to have for jobs."""

        cpus: int | None
        """Thousandths of CPUs."""
        memory: int | None
        """Bytes of memory."""

    class Hold(TypedDict):
        """Reserves a part of the host for a job or a cluster. Answered with `held`."""

        op: Literal["hold"]
        id: str
        """The id of the job, or `cluster/NAME`."""
        name: str
        """What other clients are told that it is."""
        cpus: int
        """Thousandths of CPUs."""
        memory: int
        """Bytes of memory."""
        gpus: dict[str, int]
        """Thousandths of each GPU, by its name."""
        insist: NotRequired[bool]
        """Take it though somebody else has it."""
        limits: NotRequired[HoldLimits]

    class Release(TypedDict):
        """Gives a reservation back."""

        op: Literal["release"]
        id: str
        """The id of the job, or `cluster/NAME`."""

    class ForgetCluster(TypedDict):
        """Removes the working directory of a cluster that is gone."""

        op: Literal["forget_cluster"]
        cluster: str
        """The id of the cluster."""

    class Echo(TypedDict):
        """Asks, on behalf of a job, whether the host is there. Answered with `echo`."""

        op: Literal["echo"]
        id: str
        """The id of the job."""

    class HaveBlobs(TypedDict):
        """Asks which large values the host lacks. Answered with `missing`."""

        op: Literal["have"]
        id: str
        """The id of the job."""
        blobs: list[str]
        """The SHA-256 sums of the values."""

    class PutBlob(TypedDict):
        """A piece of a large value."""

        op: Literal["blob"]
        sha256: str
        """The SHA-256 sum of the whole value."""
        offset: int
        """Where the piece begins."""
        data: str
        """The piece, in Base64."""
        last: bool
        """Whether the piece is the last one."""

    class TakeJob(TypedDict):
        """Hands a job over. Answered with `job`."""

        op: Literal["job"]
        id: str
        """The id of the job."""
        token: int
        """The fencing token of the placement."""
        plan: Json
        """The plan of the job, without what only the pool needs."""

    class StartPod(TypedDict):
        """Starts a pod, unless it was started before."""

        op: Literal["start"]
        id: str
        """The id of the job."""
        token: int
        """The fencing token of the placement."""
        pod: PodName
        devices: dict[str, list[str]]
        """The names of the pod's devices, by their kind."""
        addresses: dict[str, str]
        """The address of each pod of the job, by its key."""
        machines: dict[str, str]
        """The address of each host of the job, by the name that it has for itself."""
        env: dict[str, str]
        """The variables that only this pod gets."""
        peers: NotRequired[dict[str, Peer]]
        """How the other pods are reached, in a job of MPI."""

    class StopPod(TypedDict):
        """Stops a pod."""

        op: Literal["stop"]
        id: str
        """The id of the job."""
        uid: str
        """The uid of the pod."""
        how: str
        """`delete`: with the pod's grace period; `kill`: at once."""

    class LetGo(TypedDict):
        """Starts a pod that has its environment and waits until all pods of its job have theirs."""

        op: Literal["go"]
        id: str
        """The id of the job."""
        uid: str
        """The uid of the pod."""

    class Fence(TypedDict):
        """Refuses lower tokens from now on, and stops what has one. Answered with `fenced`."""

        op: Literal["fence"]
        id: str
        """The id of the job."""
        token: int
        """The lowest token that counts."""

    class Resume(Position):
        """Asks for all records, logs and output of a job that are missing here."""

        op: Literal["resume"]
        id: str
        """The id of the job."""

    class OutputFields(TypedDict):
        """Where a piece of an output file belongs."""

        path: str
        """The path of the file, below `output/`."""
        offset: int
        """Where the piece begins."""
        last: bool
        """Whether the piece is the last one."""
        link: NotRequired[str]
        """Where a symbolic link points."""
        mode: NotRequired[int]
        """The permissions of the file."""
        mtime_ns: NotRequired[int]
        """When the file was last changed, in nanoseconds."""

    class PutOutput(OutputFields):
        """A piece of an output file that the job left on another host."""

        op: Literal["put"]
        id: str
        """The id of the job."""
        data: str
        """The piece, in Base64."""

    class Remove(TypedDict):
        """Ends a job and removes what the host has of it. Answered with `removed`."""

        op: Literal["remove"]
        id: str
        """The id of the job."""
        keep: NotRequired[bool]
        """Whether the output stays on the host."""

    HostRequest = (
        Hello
        | Ping
        | Attend
        | Lend
        | WatchNotices
        | Hold
        | Release
        | ForgetCluster
        | Echo
        | HaveBlobs
        | PutBlob
        | TakeJob
        | StartPod
        | StopPod
        | LetGo
        | Fence
        | Resume
        | PutOutput
        | Remove
    )
