"""Parameters of a trial: their names, their values, and the variables by which a job finds them.

A value is text and stays as it was written: `0.10` is not `0.1`, and `1e-3` reaches the script so.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from trainway.errors import UsageError

Assignment = Mapping[str, str]
"""The value of each parameter in one trial."""

MOST_TRIALS: Final = 1_000
"""The most trials of a sweep: as many jobs as one submission may have."""
ALL: Final = "TRAINWAY_PARAMETERS"
"""The variable that has all parameters of a job, as a JSON object of texts."""

_PREFIX: Final = "TRAINWAY_PARAM_"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")
_LONGEST: Final = 4_096


def variable(name: str) -> str:
    """The variable that has a parameter: `TRAINWAY_PARAM_WEIGHT_DECAY` for `weight-decay`."""
    return _PREFIX + re.sub("[^A-Z0-9]", "_", name.upper())


def check_names(names: Iterable[str]) -> None:
    """Refuse names that cannot be options or variables, and two that are one variable."""
    known: dict[str, str] = {}
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name[:_LONGEST]!r} cannot be the name of a parameter",
                hint="a name has letters, digits, dots, dashes and underscores, at most 63, and "
                "begins with a letter",
            )
        other = known.setdefault(variable(name), name)
        if other != name:
            raise UsageError(f"{other} and {name} would both be the variable {variable(name)}")


def check_value(name: str, value: str) -> str:
    """The value, if it can be passed to a program."""
    if not value or len(value) > _LONGEST or "\0" in value:
        problem = (
            "an empty value"
            if not value
            else "a value with a NUL character"
            if "\0" in value
            else f"a value of more than {_LONGEST} characters"
        )
        raise UsageError(f"the parameter {name} has {problem}")
    return value


def check_count(count: int) -> None:
    """Refuse more trials than one submission may have."""
    if count > MOST_TRIALS:
        raise UsageError(
            f"this sweep has {count} trials, and one run has {MOST_TRIALS} at most",
            hint="use fewer values, draw some at random (random: in a sweep file), or split it",
        )
