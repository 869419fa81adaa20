"""The order of a merging list after a strategic merge patch, as Kubernetes' own library has it.

Three orders meet: that of the patch, that of the list as it stood, and an explicit
`$setElementOrder`. Items that the patch names keep the patch's order, the others keep theirs.
Where the two are woven together an item that the patch does not name goes first only if it stood
before the next one that the patch names; so what is new comes before what it does not know:

    INIT, DATA   patched with   INIT, NEW   gives   INIT, NEW, DATA
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

KeyOf = Callable[[Any], Any]


def woven(
    items: list[Any], key_of: KeyOf, named: Sequence[Any], before: Sequence[Any]
) -> list[Any]:
    """The items in the order of a patch's keys, woven with the keys as they stood before it."""
    wanted, former = places(named), places(before)
    given: deque[tuple[int, Any]] = deque()
    others: deque[tuple[int, Any]] = deque()
    for item in items:
        key = repr(key_of(item))
        (given if key in wanted else others).append((former.get(key, len(before)), item))
    given = deque(sorted(given, key=lambda it: wanted[repr(key_of(it[1]))]))
    others = deque(sorted(others, key=lambda it: it[0]))
    result = []
    while given and others:
        first = others[0][0] < given[0][0] < len(before)
        result.append((others if first else given).popleft()[1])
    return [*result, *(item for _, item in (*given, *others))]


def follows(named: Sequence[Any], order: Sequence[Any]) -> bool:
    """Whether the keys of a patch all stand in an explicit order, and in the same sequence."""
    rest = iter(order)
    return not order or all(key in rest for key in named)


def places(keys: Sequence[Any]) -> dict[str, int]:
    """Where each key stands first, by its text: a malformed key may be a list or an object."""
    found: dict[str, int] = {}
    for index, key in enumerate(keys):
        found.setdefault(repr(key), index)
    return found
