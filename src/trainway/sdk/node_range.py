"""A number of nodes, or how many there may be: `4` or `2:8`. Pure."""

from dataclasses import dataclass
from typing import Final

from trainway.errors import UsageError

_HINT: Final = "write a number such as 4, or MIN:MAX such as 2:8 for an elastic torch job"
MOST_NODES: Final = 100_000
"""As many as a task may have."""
_DIGITS: Final = 20
"""Python reads no number of thousands of digits."""


@dataclass(frozen=True)
class NodeRange:
    """With how many nodes a job runs when there is room, and with how few it goes on."""

    maximum: int
    minimum: int | None = None
    """None: it needs them all."""


def parse_nodes(value: int | str) -> NodeRange:
    """What `--nodes` and `Client.run(nodes=...)` say."""
    least, colon, most = str(value).strip().partition(":")
    if not colon:
        return NodeRange(_count(value, least))
    found = NodeRange(_count(value, most), _count(value, least))
    if found.minimum is not None and found.minimum > found.maximum:
        raise UsageError(
            f"{value}: the maximum is smaller than the minimum",
            field="nodes",
            hint=f"write {found.maximum}:{found.minimum}",
        )
    return found


def _count(value: int | str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise UsageError(f"{value!r} is not a number of nodes", field="nodes", hint=_HINT)
    if len(text) > _DIGITS or int(text) > MOST_NODES:
        raise UsageError(f"{value!r} is more than {MOST_NODES:,} nodes", field="nodes", hint=_HINT)
    return int(text)
