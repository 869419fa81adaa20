"""Which command somebody meant."""

import pytest

from trainway.cli.wrong_command import unknown

JOBS = ("list", "show", "stacks", "logs", "cancel", "suspend", "delete")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("status", JOBS, "show"),
        ("rm", JOBS, "delete"),
        ("kill", JOBS, "cancel"),
        ("ps", ("run", "jobs"), "jobs"),
        ("STOP", ("pause", "resume"), "pause"),
        ("lst", JOBS, "list"),
        ("zzz", JOBS, ""),
        ("check", ("cache", "clouds"), "clouds"),
        ("show-gpus", ("gpus", "jobs"), "gpus"),
        ("create", ("list",), ""),
        ("ls", ("apply", "down", "logs", "status"), "status"),
        ("rm", ("apply", "down", "logs", "status"), "down"),
    ],
)
def test_words_of_other_tools_and_misspelt_ones_are_understood(
    name: str, known: tuple[str, ...], meant: str
) -> None:
    end = f'; did you mean "{meant}"?' if meant else ""
    assert unknown(name, known) == f'no command "{name}"{end}'
