"""How far back a question goes, as a program says it and as the server is asked."""

from datetime import UTC, datetime, timedelta


def since_text(since: timedelta | datetime | None) -> str | None:
    """The moment, for one that is given or for so long ago; None: there is no limit."""
    start = datetime.now(UTC) - since if isinstance(since, timedelta) else since
    return start.astimezone(UTC).isoformat() if start else None
