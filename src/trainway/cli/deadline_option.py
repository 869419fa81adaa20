"""`--deadline` and `--work`: when a job must have ended, and how much there is to do until then."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click

from trainway.cli.duration_option import checked_duration
from trainway.cli.times import parse_duration
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.placement import ANY, is_choice, is_rented

_HINT: Final = "write 8h, or 2026-11-20T08:00"

deadline_option: Final = click.option(
    "--deadline",
    metavar="TIME",
    help="When the job must have ended: a time, or a duration from now such as 8h. It runs at the"
    " cheaper places of --on as long as that can be kept, and else at the last one, which is"
    " taken to be sure. On a cloud it runs on spot machines, and else on the same on demand. It"
    " needs --work.",
)
work_option: Final = click.option(
    "--work",
    metavar="DURATION",
    callback=checked_duration,
    help="With --deadline: how long the job computes if nothing interrupts it, such as 5h.",
)


def check_deadline(options: dict[str, Any], on: str | None) -> None:
    """Raise what is wrong with a deadline, as far as no server has to be asked for that."""
    if options.get("deadline") is None:
        if options.get("work") is not None:
            raise UsageError("--work is for --deadline", hint="give both, or neither")
        return
    if options.get("work") is None:
        raise UsageError(
            "--deadline needs --work", hint="say how long the job computes, such as --work 5h"
        )
    if not is_rented(on) and (not is_choice(on) or on == ANY):
        raise UsageError(
            "--deadline needs several places, of which the last one is sure",
            hint="write --on slurm/cheap,local, or --on aws --use-spot",
        )
    deadline_time(options["deadline"], datetime.now(UTC))
    parse_duration(options["work"])


def deadline_sent(options: dict[str, Any], on: str) -> Json:
    """The deadline and the work as a submission has them; the last place is the sure one.

    On a cloud it is the server that knows it.
    """
    if options.get("deadline") is None:
        return {}
    sure = on.rpartition(",")[2].strip()
    at = deadline_time(options["deadline"], datetime.now(UTC))
    return {"deadline": at, "work": parse_duration(options["work"]), "sure": sure}


def deadline_time(text: str, now: datetime) -> str:
    """The time that is meant; one without a zone is of this machine."""
    try:
        return (now + timedelta(seconds=parse_duration(text))).isoformat()
    except (UsageError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        raise UsageError(f"not a deadline: {text!r}", hint=_HINT) from None
