"""A move: where a job is on its way from one place to another, as the store has it. Pure.

It is stored with the job, so that a server that is killed between two steps goes on with the next
one. A move that is over is not stored any more, however it ended: events tell of it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Final

from trainway.engine.record import JobRecord
from trainway.json_types import Json


class Step(StrEnum):
    """What is done with a job that moves."""

    STOPPING = "stopping"
    """It is being suspended where it is; its processes have their grace period."""
    LEAVING = "leaving"
    """Nothing of it shall run: its place lets go of it, and it is made for the other one."""
    ARRIVING = "arriving"
    """It belongs to the other place, which has yet to take it up."""
    RETURNING = "returning"
    """The other place does not take it, so it goes back."""


TRANSITIONS: Final[Mapping[Step, frozenset[Step]]] = {
    Step.STOPPING: frozenset({Step.LEAVING}),
    # It may turn out only when it is made for the other place that this does not take it.
    Step.LEAVING: frozenset({Step.ARRIVING, Step.RETURNING}),
    # One that has not started goes on to the next place that was named for it.
    Step.ARRIVING: frozenset({Step.RETURNING, Step.LEAVING}),
    Step.RETURNING: frozenset(),
}
"""What may follow what; every step may also be the last one."""

BETWEEN: Final = frozenset({Step.LEAVING, Step.RETURNING})
"""Steps in which no place has the job, so that none must be given it."""

_FLAGS: Final = ("resumes", "withdraws", "abandons", "has_ended", "anew")


@dataclass(frozen=True)
class Candidate:
    """A job as it is made for one place."""

    backend: str
    objects: Sequence[Json]
    kubeconfig: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    """The environment below that of its containers; empty: the one that it has."""


@dataclass(frozen=True)
class Move:
    """One job on its way."""

    step: Step
    to: Candidate
    back: Candidate
    """The job as it was where it came from."""
    resumes: bool
    """Whether it goes on by itself; False: somebody had suspended it."""
    seq: int = -1
    """The last record of its journal that was read before it arrived."""
    withdraws: bool = False
    """Whether it is withdrawn and begins anew; else it is let go of, and goes on."""
    abandons: bool = False
    """Whether it is withdrawn though it has started, because its place was lost."""
    has_ended: bool = False
    """Whether nothing of it runs any more, since its place has ended it."""
    at: str = ""
    """When it leaves at the earliest; empty: at once."""
    anew: bool = False
    """Whether it begins anew where it is, since what it ran on there is lost."""
    taken: str = ""
    """Why what it ran on is taken from it, in words that its attempt keeps; empty: it is not."""
    until: str = ""
    """Until when that is there, so that its processes can write what they have."""

    def followed_by(self, step: Step, seq: int = -1) -> "Move":
        """The next step; a ValueError if the table does not allow it."""
        if step not in TRANSITIONS[self.step]:
            raise ValueError(f"a move cannot come to {step} from {self.step}")
        return replace(self, step=step, seq=seq)

    def text(self) -> str:
        """The move as the store has it."""
        return json.dumps(asdict(self))


def move_of(record: JobRecord) -> Move | None:
    """The move of a job; None: it does not move."""
    if not record.move:
        return None
    data = json.loads(record.move)
    to, back = (Candidate(**data[name]) for name in ("to", "back"))
    flags = {name: bool(data.get(name)) for name in _FLAGS}
    at, taken, until = (str(data.get(name) or "") for name in ("at", "taken", "until"))
    step, seq = Step(data["step"]), int(data["seq"])
    return Move(step, to, back, seq=seq, at=at, taken=taken, until=until, **flags)


def move_view(record: JobRecord) -> Json | None:
    """The move as it is shown; None: there is none."""
    move = None if record.is_over else move_of(record)
    if move is None:
        return None
    when = {"at": move.at} if move.at else {}
    return {"step": move.step, "from": move.back.backend, "to": move.to.backend, **when}


def with_objects(objects: Sequence[Json], others: Sequence[Json]) -> list[Json]:
    """The objects of a job with others in place of those of the same kind and name, and added."""
    sent = {_key(obj): obj for obj in others}
    kept = [sent.pop(_key(obj), obj) for obj in objects]
    return [*sent.values(), *kept]


def unplaced(objects: Sequence[Json], record: JobRecord) -> list[Json]:
    """The objects of a job without the namespace of the place where it is, if that has any."""
    namespace = record.handle_data.get("namespace")
    found = []
    for obj in objects:
        metadata = obj.get("metadata")
        if namespace and isinstance(metadata, dict) and metadata.get("namespace") == namespace:
            kept = {name: value for name, value in metadata.items() if name != "namespace"}
            obj = {**obj, "metadata": kept}  # noqa: PLW2901 - the same object elsewhere
        found.append(obj)
    return found


def _key(obj: Json) -> tuple[str, str]:
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return str(obj.get("kind")), str(name or "")
