"""Sets of completion indexes in the notation of Kubernetes: `0,2-5`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def parse(text: str, completions: int) -> set[int]:
    """The indexes that a text names; what is no index, or none of this Job, is left out."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            continue
        found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def render(indexes: Iterable[int]) -> str:
    """The text of a set of indexes; only three or more in a row become a range."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = [
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(str(index) for index in run)
        for run in runs
    ]
    return ",".join(parts)
