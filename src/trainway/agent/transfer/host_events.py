"""What the agent of a host says to a pool agent. For type checkers only.

Answers to the frames above come soon; logs, output and records follow as there is room for them.
`docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    class Pong(TypedDict):
        """The host is there."""

        event: Literal["pong"]

    class SpotNotice(TypedDict):
        """The cloud of the host is about to take it back."""

        event: Literal["notice"]
        at: str
        """When, as an ISO 8601 time in UTC; empty: soon."""
        why: str
        """What the cloud says."""
        risk: NotRequired[bool]
        """Whether that is only likely, so that nothing has to be done."""

    class HeldByOther(TypedDict):
        """What another client holds of the host."""

        key: str
        """The id of the job, or `cluster/NAME`."""
        owner: str
        """The id of the client's pool agent."""
        client: str
        """Who that is, for people: `user@machine`."""
        name: str
        """What it is, for people."""
        cpus: int
        """Thousandths of CPUs."""
        memory: int
        """Bytes of memory."""
        gpus: dict[str, int]
        """Thousandths of each GPU, by its name."""

    class KnownJob(TypedDict):
        """A job that a host has, for the pool agent that it belongs to."""

        token: int
        """The token with which the job came."""
        seq: int
        """The number of the last record about it."""

    class Facts(TypedDict):
        """What the host has, and which jobs of the pool agent it knows."""

        event: NotRequired[Literal["facts"]]
        name: str
        """The name that the host has for itself."""
        cpus: int
        """The CPUs of the host."""
        memory: int
        """The bytes of memory of the host."""
        gpus: list[str]
        """The names of the GPUs of the host."""
        python: str
        """The version of Python that the host agent runs on."""
        protocol: int
        """The version of these frames."""
        user: str
        """The user who runs the host agent."""
        boot: str
        """The id of the host's last boot."""
        home: NotRequired[str]
        """The directory of the host agent."""
        version: NotRequired[str]
        """The version of the host agent."""
        mounts: NotRequired[bool]
        """Whether processes may have mounts of their own."""
        arbitrates: NotRequired[bool]
        """Whether clients have to reserve what they use."""
        address: NotRequired[str]
        """The address of a node of Slurm."""
        sshd: NotRequired[list[str | int]]
        """The address and the port of the SSH server, as in `arrived`."""
        host_keys: NotRequired[list[str]]
        """The public keys that the SSH server shows, as in `arrived`."""
        addresses: NotRequired[list[str]]
        """The addresses under which others may reach the host."""
        jobs: NotRequired[dict[str, KnownJob]]
        """The jobs of this pool agent, by their ids."""
        holdings: NotRequired[list[HeldByOther]]
        """What other clients hold."""

    class Held(TypedDict):
        """Whether a reservation was made."""

        event: Literal["held"]
        id: str
        """The id of the job, or `cluster/NAME`."""
        ok: bool
        """Whether the reservation was made."""
        error: NotRequired[str]
        """Who has what was asked for."""

    class OthersHoldings(TypedDict):
        """What other clients hold has changed."""

        event: Literal["holdings"]
        others: list[HeldByOther]

    class Echoed(TypedDict):
        """The host is there, on behalf of a job."""

        event: Literal["echo"]
        id: str
        """The id of the job."""

    class MissingBlobs(TypedDict):
        """The large values that the host lacks."""

        event: Literal["missing"]
        blobs: list[str]
        """The SHA-256 sums of the values."""
        id: NotRequired[str]
        """The id of the job."""

    class JobTaken(TypedDict):
        """Whether the host has a job now."""

        event: Literal["job"]
        id: str | None
        """The id of the job; null where the request had none."""
        ok: bool
        """Whether the host has the job."""
        error: NotRequired[str]
        """Why the host refuses the job."""

    class Refusal(TypedDict):
        """What was asked for cannot be done."""

        event: Literal["error"]
        op: str
        """The operation that was asked for."""
        id: str | None
        """The id of the job; empty or null where the request had none."""
        message: str
        """Why it cannot be done."""
        uid: NotRequired[str]
        """The uid of the pod that the request was about."""

    class Fenced(TypedDict):
        """Nothing with a lower token runs any more."""

        event: Literal["fenced"]
        id: str
        """The id of the job."""
        token: int
        """The lowest token that counts."""

    class Removed(TypedDict):
        """The host has nothing of a job any more."""

        event: Literal["removed"]
        id: str
        """The id of the job."""

    class Retired(TypedDict):
        """Whether the host agent makes way for another version."""

        event: Literal["retired"]
        ok: bool
        """Whether the host agent ends."""

    class LogPiece(TypedDict):
        """A piece of a log."""

        event: Literal["log"]
        file: str
        """The name of the log file: `<pod>.<container>.<attempt>.log`."""
        offset: int
        """Where the piece begins."""
        data: str
        """The piece, in Base64."""
        id: NotRequired[str]
        """The id of the job."""

    class OutputPiece(TypedDict):
        """A piece of an output file."""

        event: Literal["output"]
        path: str
        """The path of the file, below `output/`."""
        size: int
        """The size of the whole file."""
        mtime: float
        """When the file was last changed, in seconds."""
        mtime_ns: int
        """When the file was last changed, in nanoseconds."""
        mode: int
        """The permissions of the file."""
        offset: int
        """Where the piece begins."""
        data: str
        """The piece, in Base64."""
        last: bool
        """Whether the piece is the last one."""
        link: NotRequired[str]
        """Where a symbolic link points."""
        id: NotRequired[str]
        """The id of the job."""

    class JournalFrame(TypedDict):
        """A record of the job's journal on the host. Its fields follow those of the frame."""

        event: Literal["record"]
        id: str
        """The id of the job."""
