"""What is said of a mistake on the command line.

click speaks of Python's types ("not a valid integer range") and in headings ("Missing argument
'NAME'."). Here the same mistakes are plain sentences, in the form of all other errors.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import click

from trainway.cli.wrong_command import unknown

_NOT_A_NUMBER: Final = re.compile(r"(.+) is not a valid (integer|float)(?: range)?\.", re.S)
_OUT_OF_RANGE: Final = re.compile(r"(.+) is not in the range .+\.", re.S)
_NO_VALUE: Final = re.compile(r"Option '.+' requires (?:an argument|\d+ arguments)\.")
_TOO_MANY: Final = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.S)


def message_of(error: click.UsageError) -> str:
    """The sentence, without a full stop. Pure."""
    match error:
        case click.exceptions.NoSuchCommand(
            ctx=click.Context(command=click.Group() as group) as ctx
        ):
            return unknown(error.command_name, group.list_commands(ctx))
        case click.NoSuchOption():
            meant = error.possibilities
            suggestion = f"; did you mean {meant[0]}?" if meant else ""
            return f"there is no option {error.option_name}{suggestion}"
        case click.MissingParameter():
            return _missing(error)
        case click.BadParameter():
            name = _name(error)
            return f"{name}: {_wrong_value(error)}" if name else _wrong_value(error)
        case click.BadOptionUsage() if _NO_VALUE.fullmatch(error.message):
            return f"{error.option_name} needs a value"
    too_many = _TOO_MANY.fullmatch(error.message)
    return f"too many arguments: {too_many[1]}" if too_many else error.format_message()


def named_command(root: click.Group, words: Sequence[str]) -> str:
    """The command that words name; click does not tell where an option lacks its value."""
    path, group = ["trainway"], root
    for word in words:
        command = group.get_command(click.Context(group), word)
        if command is None:
            break
        path.append(word)
        if not isinstance(command, click.Group):
            break
        group = command
    return " ".join(path)


def _missing(error: click.MissingParameter) -> str:
    if error.param is not None and isinstance(error.param.type, click.Choice):
        return f"{_name(error)} is missing: write {_either(error.param.type.choices)}"
    return f"{_name(error)} is missing"


def _wrong_value(error: click.BadParameter) -> str:
    kind: Any = error.param.type if error.param is not None else None
    no_number = _NOT_A_NUMBER.fullmatch(error.message)
    if no_number:
        what = "a whole number" if no_number[2] == "integer" else "a number"
        return f"{no_number[1]} is not {what}"
    out_of_range = _OUT_OF_RANGE.fullmatch(error.message)
    if out_of_range:
        return f"{out_of_range[1]} is out of range: it must be {_range(kind.min, kind.max)}"
    value, is_choice, _ = error.message.partition(" is not one of ")
    if isinstance(kind, click.Choice) and is_choice:
        return f"{value} is not one of {', '.join(map(str, kind.choices))}"
    return error.message


def _either(words: Sequence[Any]) -> str:
    *first, last = map(str, words)
    return f"{', '.join(first)} or {last}" if first else last


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return f"{most:.12g} or less"
    return f"{least:.12g} or more" if most is None else f"between {least:.12g} and {most:.12g}"


def _name(error: click.BadParameter) -> str:
    """What the parameter is called: its long options, or the word that the help has for it."""
    if error.param_hint is not None:
        hint = error.param_hint if isinstance(error.param_hint, str) else " ".join(error.param_hint)
        return hint.replace("'", "")
    if isinstance(error.param, click.Option):
        names = [name for name in error.param.opts if name.startswith("--")]
        return " or ".join(names or error.param.opts)
    if isinstance(error.param, click.Argument) and error.ctx is not None:
        if isinstance(error.param.type, click.Choice):
            return (error.param.name or "").upper()
        shown = error.param.make_metavar(error.ctx).strip("[]").removesuffix("...")
        return shown.replace("|", " or ")
    return ""
