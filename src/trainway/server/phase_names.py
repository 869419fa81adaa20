"""The phases that a request names."""

from trainway.engine.phases import TERMINAL, Phase
from trainway.errors import UsageError


def phases_of(phase: str, active: bool | None) -> set[Phase]:
    """The phases that a filter names; none means all."""
    names = [name for name in phase.split(",") if name]
    known = {each.lower(): each for each in Phase}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        hint = "there are " + ", ".join(Phase)
        raise UsageError(f"there is no phase {unknown[0]!r}", field="phase", hint=hint)
    wanted = {known[name.lower()] for name in names} or set(Phase)
    if active is not None:
        unfinished = set(Phase) - TERMINAL
        wanted &= unfinished if active else TERMINAL
        if not wanted:
            raise UsageError(
                "no job is in that phase and active",
                field="active",
                hint="use phase or active, not both",
            )
    return set() if wanted == set(Phase) else wanted
