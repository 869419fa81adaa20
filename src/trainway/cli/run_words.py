"""Which words of `trainway run` are Trainway's, and which belong to what it runs.

Options that Trainway knows are its own wherever they stand before `--`. All other words go to the
script or command, in their order. A word that could be either is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import click

from trainway.cli.completions import complete_files
from trainway.cli.metrics_option import with_value
from trainway.cli.packages_option import package_words
from trainway.errors import UsageError

Command = Callable[..., Any]

_ALIKE: Final = 0.75
"""From 0 to 1, how much a word has to be like an option to be taken for a slip of it."""


class RunCommand(click.Command):
    """Sorts the words before click reads them; what stands after `--` is kept as the object."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split at `--`, and leave the first part to click."""
        ctx.ignore_unknown_options = True
        split = args.index("--") if "--" in args else len(args)
        ctx.obj = args[split + 1 :] if split < len(args) else None
        for word in () if ctx.resilient_parsing else args[:split]:
            if _could_be_either(self, word):
                raise click.UsageError(
                    f"{word} could be an option of trainway or of your program; "
                    "put -- before the arguments of your program",
                    ctx,
                )
        words = with_value(args[:split])
        if any("--packages" in param.opts for param in self.params):
            words = package_words(list(words), ends_there=split < len(args))
        return super().parse_args(ctx, list(words))


def words_argument(name: str, metavar: str) -> Callable[[Command], Command]:
    """What to run and its words, which click leaves as they are."""
    return click.argument(
        name, metavar=metavar, nargs=-1, type=click.UNPROCESSED, shell_complete=complete_files
    )


def refuse_options(words: Iterable[str], ctx: click.Context) -> None:
    """Raise for the first word that is an option, where there is no program that it could go to."""
    for word in words:
        if word.startswith("-") and word != "-":
            name = word.partition("=")[0]
            meant = _similar(name, ctx)
            hint = f"did you mean {meant[0]}?" if meant else f"see {ctx.command_path} --help."
            raise UsageError(
                f"{ctx.command_path} has no option {name}",
                hint=f"{hint} Options of your program come after its name",
            )


def _could_be_either(command: click.Command, word: str) -> bool:
    """Whether a word such as `-debug` has a letter of ours in it, and others that are not."""
    if not word.startswith("-") or word.startswith("--") or len(word) <= len("-x"):
        return False
    flags, valued = set(_short(command, is_flag=True)), set(_short(command, is_flag=False))
    first, letters = word[1], set(word[1:])
    return first not in valued and bool(letters & (flags | valued)) and not letters <= flags


def _short(command: click.Command, *, is_flag: bool) -> Iterator[str]:
    for param in command.params:
        if isinstance(param, click.Option) and param.is_flag == is_flag:
            yield from (name[1:] for name in param.opts if not name.startswith("--"))


def _similar(name: str, ctx: click.Context) -> list[str]:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a typo

    known = [option for param in ctx.command.params for option in param.opts]
    return get_close_matches(name, known, cutoff=_ALIKE)
