"""Whose fault it is that some nodes of a gang do not reach each other. Pure.

All nodes decide this by themselves from the same broken links, so that all come to the same answer
though those who are to blame may be heard by nobody.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HEALTHY, UNHEALTHY, OTHER_UNHEALTHY = 0, 71, 72
"""Exit codes: this node is sound, it is not, or another one of the gang is not."""
UNCERTAIN = "it is not known which of them is at fault"
"""What is said of a node that may be blamed for another one."""


def blamed(broken: Iterable[tuple[int, int]], attempt: int) -> list[int]:
    """The ranks without which no link would be broken, the one with most broken links first.

    Of two that only do not reach each other either may be at fault. In even attempts it is taken
    to be the one of the higher rank, in odd ones the other: so the next attempt finds the right
    one if this one did not, since the other node has been replaced by then.
    """
    left = {(min(pair), max(pair)) for pair in broken}
    found: list[int] = []
    while left:
        counts: dict[int, int] = {}
        for pair in left:
            for rank in pair:
                counts[rank] = counts.get(rank, 0) + 1
        most = max(counts.values())
        worst = sorted(rank for rank, count in counts.items() if count == most)
        rank = worst[0] if attempt % 2 else worst[-1]
        found.append(rank)
        left = {pair for pair in left if rank not in pair}
    return found


def is_certain(broken: Iterable[tuple[int, int]], rank: int) -> bool:
    """Whether a node has more broken links than any that it does not reach."""
    pairs = {(min(pair), max(pair)) for pair in broken}
    own = [pair for pair in pairs if rank in pair]
    others = {other for pair in own for other in pair} - {rank}
    return all(sum(other in pair for pair in pairs) < len(own) for other in others)
