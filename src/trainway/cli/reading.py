"""Files, folders and stdin to objects, for the commands that take `-f`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from trainway.api.document import Places, place
from trainway.api.manifest import object_places, parse_manifests
from trainway.cli.completions import complete_files
from trainway.cli.refusal import RefusedError
from trainway.compiler.inputs import Input
from trainway.errors import InvalidError, ManifestError, UnreadableError, UsageError

if TYPE_CHECKING:
    from trainway.sdk.manifests import Wishes

STDIN: Final = "-"
LARGEST: Final = 100 * 2**20
"""The most bytes of one file: more than any cluster takes, less than fills the memory."""

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
        shell_complete=complete_files,
        help="A file of objects (YAML documents or JSON), a folder of such files, or - for stdin. "
        "May be given several times.",
    )(command)


def files_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same files, without `-f`."""
    return click.argument("files", metavar="[FILE]...", nargs=-1, shell_complete=complete_files)(
        command
    )


def chosen(filenames: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """All files that were named, in either way; there must be one."""
    if not filenames and not files:
        context = click.get_current_context()
        raise click.UsageError("no file is given: name one, or write - for stdin", context)
    return (*filenames, *files)


def read_inputs(filenames: Sequence[str], wishes: "Wishes | None" = None) -> list[Input]:
    """All objects of all files. Every file that cannot be read is named before giving up.

    `wishes` are for the tasks among them; other kinds are changed by who knows them.
    """
    if filenames.count(STDIN) > 1:
        raise UsageError("stdin (-f -) can be read only once")
    inputs: list[Input] = []
    problems: list[str] = []
    refused: list[str] = []
    volumes = 0
    for source, folder in _sources(filenames):
        name = _shown(source)
        try:
            text = _decoded(_read(source))
            objects = parse_manifests(text)
            if _are_tasks(objects):
                objects = _tasks(text, name, wishes)
                volumes += not objects
                inputs += [Input(data, name, folder) for data in objects]
            else:
                inputs += _located(objects, text, name, folder)
        except InvalidError as error:
            refused += [f"{name}: {line}" for line in error.lines]
        except UnreadableError as error:
            problems.append(f"{name}: {error}")
        except IsADirectoryError:
            problems.append(f"{name}: there are no {', '.join(_SUFFIXES)} files in it")
        except OSError as error:
            problems.append(f"{name}: {error.strerror or error}")
        except ValueError:  # NUL, which no file name has
            problems.append(f"{name}: not a file name")
    if problems:
        raise RefusedError([*problems, *refused], exit_code=UnreadableError.exit_code)
    if refused:
        raise RefusedError(refused, exit_code=InvalidError.exit_code)
    if not inputs and not volumes:
        raise RefusedError([f"{_shown(name)}: there are no objects in it" for name in filenames], 1)
    return inputs


def _located(
    objects: Sequence[dict[str, Any]], text: str, name: str, folder: str
) -> Iterator[Input]:
    """The objects, with where in the text their fields stand for whoever asks."""
    found = cache(partial(object_places, text))

    def places(index: int) -> Places:
        return found()[index] if found() else Places()

    for index, data in enumerate(objects):
        yield Input(data, name, folder, partial(places, index))


def _are_tasks(objects: Sequence[dict[str, Any]]) -> bool:
    if any("kind" in item or "apiVersion" in item for item in objects):
        return False
    from trainway.api.task.task_file import looks_like_tasks  # noqa: PLC0415 - only for tasks

    return looks_like_tasks(objects)


def _tasks(text: str, name: str, wishes: "Wishes | None") -> list[dict[str, Any]]:
    from trainway.sdk.manifests import Wishes  # noqa: PLC0415 - only for tasks
    from trainway.sdk.tasks import shown_objects  # noqa: PLC0415 - only for tasks

    return shown_objects(text, name, wishes or Wishes())


def _shown(source: str) -> str:
    return "<stdin>" if source == STDIN else source


def _sources(filenames: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names, with a folder's manifests in place of the folder; each with its folder, if any."""
    for filename in filenames:
        try:
            entries = sorted(Path(filename).iterdir()) if filename not in ("", STDIN) else []
        except (OSError, ValueError):  # not a folder, or one that cannot be read
            entries = []
        files = [str(file) for file in entries if file.suffix in _SUFFIXES and file.is_file()]
        yield from [(file, filename) for file in files] or [(filename, "")]


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
