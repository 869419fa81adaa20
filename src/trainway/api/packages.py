"""The annotation by which a job asks for Python packages: lines of a requirements file. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from trainway.jobset.labels import PACKAGES
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

LONGEST: Final = 100_000
"""The most characters of all lines; an object of Kubernetes takes 256 KiB of annotations."""
EXAMPLE: Final = "torch==2.9 trl"
_TASK: Final = "Task"

WORD: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]*\])?"
    r"((===?|~=|!=|<=?|>=?)[A-Za-z0-9.*+!_-]+(,(===?|~=|!=|<=?|>=?)[A-Za-z0-9.*+!_-]+)*)?"
)
"""A package with its versions and extras, in one word."""
_FILE_OPTIONS: Final = ("-r", "--requirement", "-c", "--constraint", "-e", "--editable")
_PLACE_OPTIONS: Final = ("-f", "--find-links")
_COMMENT: Final = re.compile(r"(^|\s)#.*")
_RELATIVE: Final = re.compile(
    r"(\S+\s*@\s*)?((file:)?\.{0,2}/(?!/)|\.{1,2}$)|(?![a-z+]+:|\$)[^\s@]+\.(whl|tar\.gz|zip)(\s|$)"
)
_ABSOLUTE: Final = re.compile(r"(\S+\s*@\s*)?(file:)?/")


def package_lines(text: str) -> list[str]:
    """The lines of a text that say something; several packages may stand in one line."""
    whole = text.replace("\\\r\n", " ").replace("\\\n", " ")
    lines = [_COMMENT.sub("", line).strip() for line in whole.splitlines()]
    return [part for line in lines if line for part in _parts(line)]


def _parts(line: str) -> Iterable[str]:
    words = line.split()
    are_packages = all(WORD.fullmatch(word) and not word[0].isdigit() for word in words)
    return words if are_packages else [line]


def with_packages(obj: Mapping[str, Any], lines: Iterable[str]) -> Json:
    """The job, which asks for these packages; none: as it is."""
    text = "\n".join(lines)
    if not text:
        return dict(obj)
    metadata = obj.get("metadata")
    given = metadata if isinstance(metadata, Mapping) else {}
    said = {**(given.get("annotations") or {}), PACKAGES: text}
    return {**obj, "metadata": {**given, "annotations": said}}


def packages_of(job: Mapping[str, Any] | None) -> list[str]:
    """The lines that a job asks for, a task also in its document; empty: it asks for none."""
    given = job or {}
    metadata = given.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = annotations.get(PACKAGES) if isinstance(annotations, Mapping) else None
    texts = [*_of_tasks(given), value] if given.get("kind") == _TASK else [value]
    lines = [line for text in texts if isinstance(text, str) for line in package_lines(text)]
    return list(dict.fromkeys(lines))


def _of_tasks(job: Mapping[str, Any]) -> Iterator[Any]:
    """What the documents of a task say; those of a job group share one environment."""
    spec = job.get("spec")
    parts = spec.get("tasks") if isinstance(spec, Mapping) else None
    for part in parts if isinstance(parts, list) else ():
        document = part.get("task") if isinstance(part, Mapping) else None
        said = document.get("packages") if isinstance(document, Mapping) else None
        yield from said if isinstance(said, list) else [said]


def packages_errors(job: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the annotation."""
    lines = packages_of(job)
    path = ("metadata", "annotations", (PACKAGES,))
    return [invalid(path, shown, problem) for shown, problem in line_problems(lines)]


def _is_elsewhere(place: str) -> bool:
    """Whether hosts may have it: it is not beside the file that names it."""
    return place.startswith(("/", "$")) or "://" in place or not place


def line_problems(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The lines that no host could install, and why."""
    if sum(map(len, lines)) > LONGEST:
        yield lines[0][:80], f"all lines together must have at most {LONGEST:,} characters"
        return
    for line in lines:
        first = re.split(r"[\s=]", line, maxsplit=1)[0]
        if not line.isprintable():
            yield repr(line)[:80], "must be readable text"
        elif first in _FILE_OPTIONS or first[:2] in ("-r", "-c", "-e"):
            yield line[:80], f"{first} names files, which hosts do not have; list the packages"
        elif _RELATIVE.match(line) and not _ABSOLUTE.match(line):
            yield line[:80], "must be a package, a URL or an absolute path"
        elif first in _PLACE_OPTIONS and not _is_elsewhere(line[len(first) :].strip(" =")):
            yield line[:80], f"{first} must name a URL or an absolute path"
    if lines and all(line.startswith("-") for line in lines):
        yield lines[0][:80], f"names no package; write such as {EXAMPLE}"
