"""`--priority`, of all commands that submit jobs or change them."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def priority_option(default: int | None = 0) -> Callable[[Command], Command]:
    """`--priority N`."""
    return click.option(
        "--priority",
        type=click.IntRange(-1000, 1000),
        default=default,
        help="Jobs with a higher priority start first.",
    )
