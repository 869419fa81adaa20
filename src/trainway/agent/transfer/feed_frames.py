"""The frames between `slurm feed` on a node and whoever copies what a job writes there.

For clusters whose nodes share no files. The relay on the login node has a feed on the node of the
driver, the driver has one on each other node. Orders (`op`) go over the standard input of the step,
and what the feed has to send (`event`) comes over its standard output. For type checkers only;
`docs/protocols.md` is made from this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from trainway.agent.transfer.host_events import LogPiece, OutputPiece
    from trainway.json_types import Json

    class FeedStart(TypedDict):
        """What whoever starts a feed says, besides what there is of the files."""

        after: int
        """The number of the last record that the receiver has."""
        driver: NotRequired[bool]
        """Whether the driver of the job is on that node."""

    class BeginFeed(FeedStart):
        """Begins: the feed sends all but what the receiver has."""

        op: Literal["begin"]
        logs: dict[str, int]
        """The bytes that the receiver has of each log."""
        outputs: dict[str, list[int]]
        """The size and the time, in nanoseconds, of each output file that the receiver has."""

    class Drain(TypedDict):
        """Asks for an answer once all is sent that is there now. Answered with `drained`."""

        op: Literal["drain"]
        number: int
        """The number of the question."""

    class KeepFeeding(TypedDict):
        """Says that the receiver is there; without it the feed ends."""

        op: Literal["ping"]

    class WishOfUser(TypedDict):
        """Tells the driver what its user wants."""

        op: Literal["wish"]
        word: str
        """`run`, `suspend` or `cancel`."""

    class LimitNodes(TypedDict):
        """Tells the driver of an elastic job how many nodes it may have."""

        op: Literal["limit"]
        nodes: int
        """The most nodes that it may have."""

    class Taken(TypedDict):
        """Says that all of the job is on the login node, so that the driver may go."""

        op: Literal["taken"]

    class Clear(TypedDict):
        """Says that nothing of the job is needed on that node any more."""

        op: Literal["clear"]

    FeedOrder = BeginFeed | Drain | KeepFeeding | WishOfUser | LimitNodes | Taken | Clear

    class FedRecord(TypedDict):
        """A record of the driver's journal."""

        event: Literal["record"]
        id: str
        """The id of the job; empty where the receiver knows which one it is."""
        record: Json
        """The record, as the journal has it."""

    class Drained(TypedDict):
        """All is sent that was there when `drain` came."""

        event: Literal["drained"]
        number: int
        """The number of the question."""

    class DriverStopped(TypedDict):
        """The driver has stopped all pods of a job that its user suspended."""

        event: Literal["stopped"]
        token: str
        """The attempt that the driver is."""

    class FeedOver(TypedDict):
        """All is sent, and nobody on this node writes any more."""

        event: Literal["over"]

    FeedFrame = FedRecord | LogPiece | OutputPiece | Drained | DriverStopped | FeedOver
