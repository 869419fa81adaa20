"""What srun says when a step ends and nobody knows how its pods did. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

REVOKED = ("has been revoked", "already completing", "job is in completing")
UNREACHABLE = ("communication connection failure", "node failure", "socket timed out")
NOT_SHARED = ("can't open file", "does not see the job's directory")
OUT_OF_MEMORY = ("oom-kill", "oom_kill", "out of memory")
SILENT = "its task does not answer"
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_EXITED = re.compile(r"srun: error: .*: tasks? .*: Exited with exit code \d+")
"""What srun adds to the words of the task itself."""


class StepFailure:
    """The last words of a step."""

    def __init__(self, errors: str) -> None:
        self._errors = errors.lower()
        lines = [line.strip() for line in _COLOURS.sub("", errors).splitlines() if line.strip()]
        telling = [line for line in lines if not _EXITED.fullmatch(line)]
        self.message = (telling or lines or [""])[-1]

    @property
    def is_end_of_job(self) -> bool:
        """Whether the allocation is going, so that nothing more can be started."""
        return self._has(REVOKED)

    @property
    def is_out_of_memory(self) -> bool:
        """Whether it took more than it asked for."""
        return self._has(OUT_OF_MEMORY)

    @property
    def is_unreachable(self) -> bool:
        """Whether a node could not be reached."""
        return self._has(UNREACHABLE)

    def why_not_started(self, node: str, path: str) -> str:
        """Why a pod never began, on that node, for a job in that directory."""
        if self._has(NOT_SHARED):
            why = "all nodes have to share its file system, or the cluster needs `shared: false`"
            return f"node {node} does not see {path}: {why}"
        return self.message or "srun could not start the pod"

    def _has(self, words: Sequence[str]) -> bool:
        return any(word in self._errors for word in words)
