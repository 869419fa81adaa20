"""Moments as Kubernetes writes them: to the second, or to the microsecond."""

from datetime import UTC, datetime


def timestamp(moment: datetime) -> str:
    """A metav1.Time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: datetime) -> str:
    """A metav1.MicroTime, which must have six digits."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment_of(text: str) -> datetime:
    """The moment a timestamp says."""
    return datetime.fromisoformat(text)
