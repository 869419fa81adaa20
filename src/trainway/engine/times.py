"""Times as the API shows them, and how much of one is left."""

from datetime import UTC, datetime


def time_text(moment: datetime) -> str:
    """RFC 3339 in UTC, to the microsecond: the order of the texts is that of the times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def left_s(begin: datetime, seconds: float, now: datetime) -> float:
    """How much is left of so many seconds, which may be more than there are until the year 9999."""
    return max(round(seconds - (now - begin).total_seconds(), 6), 0.0)
