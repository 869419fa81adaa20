"""`--packages PACKAGE...`: an option that takes all packages that follow it, and `--requirements`.

click has options with one value or with a fixed number of them. So each package gets an option of
its own before click reads the words. Where a word could also be the program to run, it is refused.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import which
from typing import Any, Final

import click

from trainway.cli.completions import complete_files
from trainway.errors import UsageError

Command = Callable[..., Any]

_NAME: Final = "--packages"
_FILES: Final = (".py", ".sh", ".yaml", ".yml", ".json")
_SETTING: Final = re.compile(r"[A-Za-z_][\w.]*=(?!=)")
_PACKAGE: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]*(\[[^]]*\])?([=<>!~].*)?")


def packages_group(command: Command) -> Command:
    """Both options."""
    packages = click.option(
        _NAME,
        metavar="PACKAGE...",
        multiple=True,
        help="Python packages that the job needs, such as 'torch==2.9' trl. Each host makes an "
        "environment with them before the job starts, and keeps it for other jobs.",
    )
    requirements = click.option(
        "--requirements",
        metavar="FILE",
        multiple=True,
        help="The same, with the packages of a requirements file.",
        shell_complete=complete_files,
    )
    return packages(requirements(command))


def given_packages(options: dict[str, Any]) -> list[str]:
    """What the options say, as lines of a requirements file; none where a command has neither."""
    packages, files = options.get("packages") or (), options.get("requirements") or ()
    if not packages and not files:
        return []
    from trainway.sdk.packages import requirement_lines  # noqa: PLC0415 - seldom needed

    return requirement_lines(packages, files)


def package_words(
    words: Sequence[str], *, ends_there: bool, has_settings: bool = False
) -> Iterator[str]:
    """The words as click reads them; `ends_there`: what is run comes after `--`, or nothing is.

    With `has_settings` a word such as `epochs=3` is one of these.
    """
    has_target = ends_there
    expected = taking = False
    for word in words:
        if expected:
            expected, taking = False, True
            yield f"{_NAME}={word}"
        elif word == _NAME:
            expected = True
        elif taking and has_settings and _SETTING.match(word):
            taking = False
            yield word
        elif taking and _is_package(word, has_target=has_target):
            yield f"{_NAME}={word}"
        else:
            taking = False
            has_target = has_target or not word.startswith("-")
            yield word
    if expected:
        yield _NAME


def _is_package(word: str, *, has_target: bool) -> bool:
    match = _PACKAGE.fullmatch(word)
    if match is None or word.endswith(_FILES) or Path(word).exists():
        return False
    if has_target or match.group(1) or match.group(2) or which(word) is None:
        return True
    raise UsageError(
        f"{word} could be a package or the program to run",
        hint=f"put -- before the program, or write --packages '... {word}'",
    )
