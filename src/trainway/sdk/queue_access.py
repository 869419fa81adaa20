"""The managed queues of a client, imported when somebody asks for them."""

from typing import TYPE_CHECKING

from trainway.sdk.rest import Rest

if TYPE_CHECKING:
    from trainway.sdk.queues import Queues


class QueueAccess:
    """A client that knows queues."""

    _rest: Rest

    @property
    def queues(self) -> "Queues":
        """The managed queues: `queues.list()`, `queues.apply("team", quota={"gpu": 8})`."""
        from trainway.sdk.queues import Queues  # noqa: PLC0415 - only for queues

        return Queues(self._rest)
