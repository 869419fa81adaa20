"""Times as the API shows them."""

from datetime import UTC, datetime


def time_text(moment: datetime) -> str:
    """RFC 3339 in UTC, to the microsecond: the order of the texts is that of the times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
