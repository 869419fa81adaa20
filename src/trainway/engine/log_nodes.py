"""Whose logs can be asked for: the roles and ranks that a job has. Pure."""

from collections.abc import Iterable

from trainway.errors import NotFoundError
from trainway.json_types import Json


def refuse_unknown(name: str, nodes: Iterable[Json], role: str | None, rank: int | None) -> None:
    """Raise where no node of a job has that role and rank, with those that there are."""
    ranks: dict[str, set[int]] = {}
    for node in nodes:
        ranks.setdefault(str(node["role"]), set()).add(int(node["rank"]))
    if not ranks:
        return
    if role is not None and role not in ranks:
        roles = ", ".join(ranks)
        raise NotFoundError(
            f"{name} has no role {role!r}", field="role", hint=f"its roles are: {roles}"
        )
    asked = {key: found for key, found in ranks.items() if role in (None, key)}
    if rank is not None and not any(rank in found for found in asked.values()):
        there = "; ".join(f"{key} has {_described(found)}" for key, found in asked.items())
        of_role = f" of role {role}" if role is not None else ""
        raise NotFoundError(f"{name} has no rank {rank}{of_role}", field="rank", hint=there)


def _described(ranks: set[int]) -> str:
    """`rank 0`, `ranks 0 to 3`, or `ranks 0, 2 and 5`."""
    ordered = sorted(ranks)
    if len(ordered) == 1:
        return f"rank {ordered[0]}"
    if ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"ranks {ordered[0]} to {ordered[-1]}"
    return f"ranks {', '.join(map(str, ordered[:-1]))} and {ordered[-1]}"
