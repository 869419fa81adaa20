"""The packages of a job: what was asked for and what files list, as an annotation of the job."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from trainway.api.packages import line_problems, package_lines, packages_of, with_packages
from trainway.errors import NotFoundError, UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import JOB_KINDS

_KINDS: Final = (*JOB_KINDS, "Task")
_INCLUDES: Final = ("-r", "--requirement")
_DEEPEST: Final = 10


def requirement_lines(
    packages: Sequence[str],
    files: Sequence[str | Path] = (),
    index_urls: Sequence[str] = (),
) -> list[str]:
    """All lines of a requirements file that has them; the first URL is the index."""
    if isinstance(packages, str):
        packages = [packages]
    urls = [
        f"--{'extra-' if position else ''}index-url {url}"
        for position, url in enumerate(index_urls)
    ]
    asked = [line for text in packages for line in package_lines(str(text))]
    listed = [line for file in files for line in _of_file(Path(file))]
    lines = list(dict.fromkeys([*urls, *asked, *listed])) if asked or listed else []
    for shown, problem in line_problems(lines):
        raise UsageError(f"{shown}: {problem}", field="packages")
    if (packages or files) and not lines:
        raise UsageError("no packages are named", field="packages", hint="write torch==2.9, trl")
    return lines


def asking_for(objects: Sequence[Json], lines: Sequence[str]) -> list[Json]:
    """The objects; the job asks for these packages beside those that it names itself."""
    if not lines:
        return list(objects)
    return [
        with_packages(obj, dict.fromkeys([*packages_of(obj), *lines]))
        if obj.get("kind") in _KINDS
        else obj
        for obj in objects
    ]


def _of_file(path: Path, depth: int = 0) -> Iterator[str]:
    """The lines of a file and of those that it includes."""
    if depth > _DEEPEST:
        raise UsageError(f"{path}: files include each other too deeply", field="requirements")
    try:
        text = path.read_text("utf-8-sig")  # some editors begin a file with a mark
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", field="requirements") from None
    for line in package_lines(text):
        word, _, rest = line.replace("=", " ", 1).partition(" ")
        if word in _INCLUDES:
            yield from _of_file(path.parent / rest.strip(), depth + 1)
        else:
            yield line
