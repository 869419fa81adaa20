"""What ends a rental before it has begun."""

from collections.abc import Sequence

from trainway.engine.rental.record import Attempt
from trainway.errors import UnavailableError


class NoOfferError(UnavailableError):
    """No cloud has given the machines; `history` says what was tried."""

    code = "no_offer"

    def __init__(self, message: str, history: Sequence[Attempt], *, hint: str = "") -> None:
        super().__init__(message, hint=hint or None)
        self.history = tuple(history)
