"""A line that a container wrote, as the server tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `str()` gives its text."""

    text: str
    role: str
    rank: int
    job: int = 0
    """Index of the job within its role, for a role of several jobs."""
    container: str = ""
    attempt: int = 0
    stream: str = "stdout"
    time: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "LogLine":
        """Read what the server sends."""
        return cls(
            text=str(data.get("text", "")),
            role=str(data.get("role", "")),
            rank=int(data.get("rank") or 0),
            job=int(data.get("job") or 0),
            container=str(data.get("container") or ""),
            attempt=int(data.get("attempt") or 0),
            stream=str(data.get("stream") or ""),
            time=str(data.get("time") or ""),
        )

    @property
    def node(self) -> str:
        """Who wrote it: `role-rank`, and the job's index between them where it is not the first."""
        return f"{self.role}-{self.job}-{self.rank}" if self.job else f"{self.role}-{self.rank}"

    def __str__(self) -> str:
        return self.text
