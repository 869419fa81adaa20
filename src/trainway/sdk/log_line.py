"""A line that a container wrote, as the server tells it."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class LogLine(NamedTuple):
    """One line; `str()` gives its text."""

    text: str
    role: str
    rank: int
    job: int = 0
    """The index of the job within its role, for a role of several jobs."""
    container: str = ""
    attempt: int = 0
    stream: str = "stdout"
    time: str = ""
    partial: bool = False
    """Whether the line was too long for one record: the next line of the same container and stream
    goes on with it."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "LogLine":
        """Read what the server sends."""
        return cls(
            data["text"],
            data["role"],
            data["rank"],
            data["job"],
            data["container"],
            data["attempt"],
            data["stream"],
            data["time"],
            data.get("partial", False),
        )

    @property
    def node(self) -> str:
        """Who wrote it: `role-rank`, and the job's index between them where it is not the first."""
        return f"{self.role}-{self.job}-{self.rank}" if self.job else f"{self.role}-{self.rank}"

    def __str__(self) -> str:
        return self.text
