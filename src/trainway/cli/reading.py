"""Files, folders and stdin to objects, for the commands that take `-f`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import click

from trainway.api.manifest import parse_manifests
from trainway.api.yaml_composer import place
from trainway.cli.refusal import RefusedError
from trainway.compiler.compile import Input
from trainway.errors import ManifestError, UnreadableError, UsageError

STDIN: Final = "-"
LARGEST: Final = 100 * 2**20
"""Bytes of one file. More than any cluster takes, less than fills the memory."""

_SUFFIXES: Final = (".json", ".yaml", ".yml")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def filename_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-f FILE`, as often as wanted."""
    return click.option(
        "-f",
        "--filename",
        "filenames",
        metavar="FILE",
        multiple=True,
        required=True,
        help="A file of objects (YAML documents or JSON), a folder of such files, or - for stdin. "
        "May be given several times.",
    )(command)


def read_inputs(filenames: Sequence[str]) -> list[Input]:
    """All objects of all files. Every file that cannot be read is named before giving up."""
    if filenames.count(STDIN) > 1:
        raise UsageError("stdin (-f -) can be read only once")
    inputs: list[Input] = []
    problems: list[str] = []
    for source in _sources(filenames):
        name = _shown(source)
        try:
            inputs += [Input(data, name) for data in parse_manifests(_decoded(_read(source)))]
        except UnreadableError as error:
            problems.append(f"{name}: {error}")
        except IsADirectoryError:
            problems.append(f"{name}: there are no {', '.join(_SUFFIXES)} files in it")
        except OSError as error:
            problems.append(f"{name}: {error.strerror or error}")
        except ValueError:  # NUL, which no file name has
            problems.append(f"{name}: not a file name")
    if problems:
        raise RefusedError(problems, exit_code=UnreadableError.exit_code)
    if not inputs:
        raise RefusedError([f"{_shown(name)}: there are no objects in it" for name in filenames], 1)
    return inputs


def _shown(source: str) -> str:
    return "<stdin>" if source == STDIN else source


def _sources(filenames: Sequence[str]) -> Iterator[str]:
    """The names, with a folder's manifests in place of the folder."""
    for filename in filenames:
        try:
            entries = sorted(Path(filename).iterdir()) if filename not in ("", STDIN) else []
        except (OSError, ValueError):  # not a folder, or one that cannot be read
            entries = []
        files = [str(file) for file in entries if file.suffix in _SUFFIXES and file.is_file()]
        yield from files or [filename]


def _read(source: str) -> bytes:
    if source == STDIN:
        return _limited(sys.stdin.buffer)
    with open(source, "rb") as file:  # noqa: PTH123 - Path("") is the current folder
        return _limited(file)


def _limited(file: IO[bytes]) -> bytes:
    data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnreadableError(f"larger than {LARGEST // 2**20} MiB")
    return data


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(errors="replace")
        problem = f"the byte 0x{data[error.start]:02X} is not {error.encoding.upper()}"
        raise ManifestError(problem, *place(before, len(before))) from None
