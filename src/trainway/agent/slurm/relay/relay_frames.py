"""The frames between the relay on a login node and its client, a server or a pool agent.

One JSON object a line, over the standard input and output of `slurm relay`. Each question has a
number and gets one `answer`; what becomes of a job comes by itself. For type checkers only;
`docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.agent.transfer.frames import OutputFields, Position
    from trainway.json_types import Json

    class RelayQuestion(TypedDict):
        """What every question has."""

        request: int
        """The number of the question."""

    class HelloRelay(RelayQuestion):
        """Begins. The answer says where jobs are kept, and who and where the relay is."""

        op: Literal["hello"]
        rest: Json
        """The URL and the token file of slurmrestd, where that is to be asked."""

    class PingRelay(RelayQuestion):
        """Says that the client is there; without it the relay ends."""

        op: Literal["ping"]
        avoided: NotRequired[list[str]]
        """The nodes that jobs are kept off, also those that wait in the queue already."""

    class ClusterFacts(RelayQuestion):
        """Asks what the cluster is like: partitions, versions, container tools."""

        op: Literal["facts"]

    class RunCommand(RelayQuestion):
        """Runs a program on the login node. The answer has its status and what it wrote."""

        op: Literal["command"]
        argv: list[str]
        """The program and its arguments."""
        text: NotRequired[str]
        """What the program reads from its standard input."""

    class TestScript(RelayQuestion):
        """Asks whether sbatch would take a script."""

        op: Literal["test"]
        script: str
        """The text of the batch script."""

    class RelayHaveBlobs(RelayQuestion):
        """Asks which large values the cluster lacks; the answer has them in `missing`."""

        op: Literal["have"]
        blobs: list[str]
        """The SHA-256 sums of the values."""

    class RelayPutBlob(TypedDict):
        """A piece of a large value. Only the last piece is answered."""

        op: Literal["blob"]
        request: NotRequired[int]
        """The number of the question, with the last piece."""
        sha256: str
        """The SHA-256 sum of the whole value."""
        offset: int
        """Where the piece begins."""
        data: str
        """The piece, in Base64."""
        last: bool
        """Whether the piece is the last one."""

    class SubmitToSlurm(RelayQuestion, Position):
        """Has a job in Slurm's queue, once, and follows it. The answer has its number in `job`."""

        op: Literal["submit"]
        id: str
        """The id of the job."""
        plan: Json
        """The plan that the driver of the job reads."""
        script: str
        """The text of the batch script."""
        history: NotRequired[str]
        """The SHA-256 sum of the journal that the job brings from another place, sent as a large
        value."""

    class ArriveOnSlurm(RelayQuestion):
        """A job comes from another place. The answer says what of its output is there already."""

        op: Literal["arrive"]
        id: str
        """The id of the job."""

    class RelayPutOutput(OutputFields):
        """A piece of an output file of a job that arrives. Only the last piece is answered."""

        op: Literal["put"]
        request: NotRequired[int]
        """The number of the question, with the last piece."""
        id: str
        """The id of the job."""
        data: str
        """The piece, in Base64."""

    class LeaveSlurm(RelayQuestion, Position):
        """Holds a job, then has Slurm give it up. Answered when it is out of the queue.

        What it left is sent from the position on, and its state in Slurm last.
        """

        op: Literal["leave"]
        id: str
        """The id of the job."""

    class TrackJob(RelayQuestion, Position):
        """Follows a job from some position on."""

        op: Literal["track"]
        id: str
        """The id of the job."""

    class UntrackJob(RelayQuestion):
        """Follows a job no longer."""

        op: Literal["untrack"]
        id: str
        """The id of the job."""

    class CancelOnSlurm(RelayQuestion):
        """Ends a job. Answered when it is out of the queue."""

        op: Literal["cancel"]
        id: str
        """The id of the job."""
        grace: NotRequired[int]
        """0: the pods are killed at once."""

    class SuspendOnSlurm(RelayQuestion):
        """Stops the pods of a job, puts it back into the queue and holds it there."""

        op: Literal["suspend"]
        id: str
        """The id of the job."""

    class ResumeOnSlurm(RelayQuestion):
        """Holds a job no longer."""

        op: Literal["resume"]
        id: str
        """The id of the job."""

    class ResizeOnSlurm(RelayQuestion):
        """Lets an elastic job have fewer nodes, or more again. Answered when it is on the disk."""

        op: Literal["resize"]
        id: str
        """The id of the job."""
        nodes: int
        """The most nodes that it may have from now on; it never gets below its minimum."""

    class ForgetOnSlurm(RelayQuestion):
        """Ends a job if need be, and removes its directory."""

        op: Literal["forget"]
        id: str
        """The id of the job."""

    class RelayAnswer(TypedDict, total=False):
        """The answer to a question; that to some questions has more."""

        event: Literal["answer"]
        request: int
        """The number of the question."""
        ok: bool
        """Whether it was done."""
        error: str
        """Why it was not done."""
        hint: str
        """What the user can do about that."""
        retry: bool
        """Nobody knows what became of it: ask again."""

    class HelloAnswer(RelayAnswer):
        """The answer to `hello`: where the relay is, and which one."""

        home: str
        """The directory in which jobs are kept."""
        user: str
        """The user who runs the relay."""
        host: str
        """The name of the login node."""
        python: list[int]
        """The version of Python there."""
        version: str
        """The digest of the relay's program."""

    class PingAnswer(RelayAnswer):
        """The answer to `ping`: what the relay took so far."""

        commands: int
        """The number of programs that were run."""
        rounds: int
        """How often Slurm's queue was asked for."""
        seconds: float
        """The time of the processor, in seconds."""

    class SlurmFacts(TypedDict):
        """What Slurm says of the cluster."""

        version: str
        """The version of Slurm."""
        cluster: str
        """The name that the cluster has for Slurm."""
        accounting: str
        """Where the ends of jobs are found."""
        partitions: list[Json]
        """What each partition has, and what of it is free."""
        whole: Json
        """What all partitions have together, with each node counted once."""
        mpi: list[str]
        """The names that `srun --mpi` takes."""
        pyxis: NotRequired[bool]
        """Whether srun takes images; an answer says so in `containers`."""

    class FactsAnswer(RelayAnswer, SlurmFacts):
        """The answer to `facts`."""

        containers: list[str]
        """The programs that run images there."""
        rest: str
        """What is wrong with slurmrestd; empty: nothing, or it is not asked."""
        home: str
        """The directory in which jobs are kept."""
        writable: bool
        """Whether the relay may write there."""
        python: list[int]
        """The version of Python there."""
        user: str
        """The user who runs the relay."""

    class CommandAnswer(RelayAnswer):
        """The answer to `command`."""

        status: int | None
        """The exit status of the program; null: it was ended because it took too long."""
        stdout: str
        """What the program wrote to its standard output."""
        stderr: str
        """What the program wrote to its standard error."""

    class TestAnswer(RelayAnswer):
        """The answer to `test`, where sbatch would take the script."""

        said: str
        """What sbatch said about it."""

    class MissingAnswer(RelayAnswer):
        """The answer to `have`."""

        missing: list[str]
        """The SHA-256 sums of the values that the cluster lacks."""

    class ArriveAnswer(RelayAnswer):
        """The answer to `arrive`."""

        begun: bool
        """Whether Slurm has the job, or may have it: then it takes nothing more."""
        outputs: dict[str, list[int]]
        """The size of each output file that is there, and the time when it was last changed."""

    class LeaveAnswer(RelayAnswer):
        """The answer to `leave`."""

        gone: NotRequired[bool]
        """Nothing of the job is there, so that nothing will be sent."""

    class SubmitAnswer(RelayAnswer):
        """The answer to `submit` and `track`."""

        job: str
        """The number of the Slurm job."""

    class Trouble(TypedDict, total=False):
        """Slurm does not answer the relay; without an error it does again."""

        event: Literal["trouble"]
        error: str
        """What Slurm said."""
        hint: str
        """What the user can do about it."""
        retry: bool
        """Slurm did not answer at all."""

    class SlurmNews(TypedDict, total=False):
        """What the queue of Slurm says of a job."""

        event: Literal["slurm"]
        id: str
        """The id of the job."""
        job: str
        """The number of the Slurm job."""
        state: str
        """The state that squeue or sacct shows; `LOST` where nobody knows the job."""
        reason: str
        """Why the job waits, as squeue shows it."""
        partition: str
        """The partition of the job."""
        nodes: str
        """The nodes of the job, as squeue lists them."""
        waiting: bool
        """Whether the job has no nodes."""
        held: bool
        """Whether its user wants it to wait."""
        position: int
        """The position of the job among those that wait, from 1 on."""
        final: bool
        """The job has left the queue, and all that it wrote was sent."""
        exit: str
        """The exit code of the batch script, as sacct shows it."""
        by: str
        """The user who cancelled the job."""

    RelayRequest = (
        HelloRelay
        | PingRelay
        | ClusterFacts
        | RunCommand
        | TestScript
        | RelayHaveBlobs
        | RelayPutBlob
        | SubmitToSlurm
        | ArriveOnSlurm
        | RelayPutOutput
        | LeaveSlurm
        | TrackJob
        | UntrackJob
        | CancelOnSlurm
        | SuspendOnSlurm
        | ResumeOnSlurm
        | ResizeOnSlurm
        | ForgetOnSlurm
    )
