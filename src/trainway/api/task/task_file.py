"""A file of tasks: one task, a pipeline (one after the other) or a job group (side by side)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from trainway.api.document import Place, Places, place_text
from trainway.api.task import amounts, pipeline, scalar, task, volume
from trainway.api.task.task import Task
from trainway.api.task.variables import Overrides
from trainway.api.yaml_composer import compose
from trainway.json_types import Json
from trainway.schema.field import FieldError, duplicate, invalid, required
from trainway.schema.shape import FLAG, TEXT, Either, Items, Record, Table, Word, check
from trainway.schema.validation import closest

SERIAL: Final = "serial"
PARALLEL: Final = "parallel"
_HEADERS: Final = ({"name"}, {"name", "execution"})
_GROUP_NAME: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_GROUP: Final = Record(
    {
        "name": TEXT,
        "execution": Word((PARALLEL,)),
        "primary_tasks": Items(TEXT),
        "termination_delay": Either((amounts.SECONDS, Table(amounts.SECONDS))),
        "inter_connection": FLAG,
    },
    needs=("name",),
)
_OTHER_OBJECTS: Final = ("apiVersion", "kind", "metadata", "spec", "items")


@dataclass(frozen=True)
class TaskFile:
    """The tasks of a file, and how they run together."""

    tasks: tuple[Task, ...]
    name: str = ""
    execution: str = ""
    """serial, parallel, or empty for a single task."""
    header: Json = field(default_factory=dict)

    def to_documents(self) -> list[Json]:
        """The documents, which parse to the same file."""
        return ([self.header] if self.header else []) + [item.to_dict() for item in self.tasks]

    @property
    def primary_tasks(self) -> tuple[str, ...]:
        """The tasks whose end is the end of a job group; empty: all."""
        return tuple(self.header.get("primary_tasks") or ())


@dataclass(frozen=True)
class Located:
    """Something wrong, and where it stands."""

    error: FieldError
    place: Place | None = None

    def __str__(self) -> str:
        return f"{place_text(self.place)}{self.error}"


@dataclass
class Parsed:
    """What came of a text: a file without errors, or the errors."""

    file: TaskFile | None = None
    errors: list[Located] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_volume: bool = False
    """It makes a volume; there is nothing to run in it."""


def looks_like_tasks(documents: Sequence[Any]) -> bool:
    """Whether documents are tasks and no objects of Kubernetes, however badly written."""
    if not documents or not all(isinstance(item, dict) for item in documents):
        return False
    if any(name in item for item in documents for name in _OTHER_OBJECTS):
        return False
    known = (*task.SHAPE.fields, *task.SHAPE.removed, "type", "primary_tasks")
    return any(closest(name, known, 0.75) for item in documents for name in item)


def parse(text: str, overrides: Overrides | None = None) -> Parsed:
    """The tasks of a text. ManifestError where it is no YAML, or has a key twice."""
    places: list[Places] = []
    composed = list(compose(text.removeprefix("\ufeff"), scalar.resolve, places))
    documents = [
        (value, marks)
        for (value, _, _), marks in zip(composed, places, strict=True)
        if value is not None
    ]
    if len(documents) == 1 and volume.is_volume_file(documents[0][0]):
        value, marks = documents[0]
        errors = [located(error, marks) for error in volume.file_errors(value)]
        return Parsed(errors=_sorted(errors), is_volume=True)
    return _Reading(overrides or Overrides()).file(documents)


def parse_documents(documents: Sequence[Json], overrides: Overrides | None = None) -> Parsed:
    """The tasks of documents as a program makes them, with variables still to be replaced."""
    pairs = [(document, Places()) for document in documents]
    return _Reading(overrides or Overrides()).file(pairs)


def read_documents(documents: Sequence[Json]) -> Parsed:
    """The tasks of documents that were parsed before, with variables replaced already."""
    pairs = [(document, Places()) for document in documents]
    return _Reading(Overrides(), substitute=False).file(pairs)


def serialise(file: TaskFile) -> str:
    """The file as YAML."""
    text: str = yaml.safe_dump_all(
        file.to_documents(), sort_keys=False, allow_unicode=True, width=2**31 - 1
    )
    return text


def located(error: FieldError, places: Places) -> Located:
    """The error with its place."""
    return Located(error, places.of(error))


def _sorted(errors: list[Located]) -> list[Located]:
    return sorted(errors, key=lambda item: item.place or (0, 0))


class _Reading:
    def __init__(self, overrides: Overrides, *, substitute: bool = True) -> None:
        self.overrides = overrides
        self.substitute = substitute
        self.parsed = Parsed()

    def file(self, documents: Sequence[tuple[Any, Places]]) -> Parsed:
        """Read them all; the header first, where there is one."""
        for value, marks in documents:
            if not isinstance(value, dict):
                self._refuse([invalid((), value, "a task must be an object")], marks)
        if not documents:
            self.parsed.errors.append(Located(required((), "the file contains no task")))
        if self.parsed.errors:
            return self.parsed
        header, execution = self._header(documents)
        rest = documents[1:] if header else documents
        if header and not rest:
            rest = [({"name": header["name"]} if header.get("name") else {}, documents[0][1])]
            header, execution = {}, ""
        tasks = [self._task(value, marks) for value, marks in rest]
        if execution == PARALLEL:
            self._check_group(header, documents[0][1], rest)
        self._check_order(tasks, [marks for _, marks in rest], execution)
        self.parsed.errors = _sorted(self.parsed.errors)
        if not self.parsed.errors:
            name = str(header.get("name") or "") or next((t.name for t in tasks if t), "")
            found = tuple(item for item in tasks if item is not None)
            self.parsed.file = TaskFile(found, name, execution, header)
        return self.parsed

    def _header(self, documents: Sequence[tuple[Json, Places]]) -> tuple[Json, str]:
        first, marks = documents[0]
        several = len(documents) > 1
        if several and str(first.get("execution")).lower() == PARALLEL:
            self._check_group_header(first, marks)
            return first, PARALLEL
        if set(first) not in _HEADERS:
            return {}, SERIAL if several else ""
        if first.get("name") is not None:
            self._refuse(check(task.NAME, first["name"], ("name",)), marks)
        execution = first.get("execution")
        if execution is not None:
            words = (SERIAL, PARALLEL) if several else (SERIAL,)
            self._refuse(check(Word(words), execution, ("execution",)), marks)
        return first, SERIAL

    def _check_group_header(self, header: Json, marks: Places) -> None:
        known = {name: value for name, value in header.items() if name in _GROUP.fields}
        self._refuse(check(_GROUP, known, ()), marks)
        name = header.get("name")
        if isinstance(name, str) and not _GROUP_NAME.fullmatch(name):
            detail = "the name of a job group may contain only letters, digits, _ and -"
            self._refuse([invalid(("name",), name, detail)], marks)
        for unknown in [key for key in header if key not in known]:
            meant = closest(unknown, _GROUP.fields)
            hint = f'; did you mean "{meant}"?' if meant else ""
            told = f"{unknown}: the header of a job group has no such field{hint}"
            self.parsed.warnings.append(told)

    def _check_group(
        self, header: Json, marks: Places, members: Sequence[tuple[Json, Places]]
    ) -> None:
        names: list[Any] = []
        for value, places in members:
            name = value.get("name")
            if name is None:
                self._refuse([required(("name",), "each task of a job group needs a name")], places)
            elif name in names:
                self._refuse([duplicate(("name",), name)], places)
            names.append(name)
        self._refuse(_names_errors(header, names), marks)

    def _check_order(
        self, tasks: Sequence[Task | None], places: Sequence[Places], execution: str
    ) -> None:
        """Which task comes after which; a task of an object may be one of a pipeline."""
        found = [item for item in tasks if item is not None]
        if len(found) < len(tasks) or not (self.substitute or len(tasks) > 1):
            return
        judge = pipeline.group_errors if execution == PARALLEL else pipeline.errors
        for rank, error in judge(found):
            self._refuse([error], places[rank])

    def _task(self, value: Json, marks: Places) -> Task | None:
        found = task.read(value, self.overrides, substitute=self.substitute)
        self._refuse(found.errors, marks)
        self.parsed.warnings += found.warnings
        return found.task

    def _refuse(self, errors: Sequence[FieldError] | Iterator[FieldError], marks: Places) -> None:
        self.parsed.errors += [located(error, marks) for error in errors]


def _names_errors(header: Mapping[str, Any], names: Sequence[Any]) -> Iterator[FieldError]:
    """Tasks that the header names and the group does not have."""
    primary, delays = header.get("primary_tasks"), header.get("termination_delay")
    if isinstance(primary, list):
        for index, name in enumerate(primary):
            if name not in names:
                yield _no_task(("primary_tasks", index), name, names)
    if isinstance(delays, dict):
        for name in delays:
            if name not in (*names, "default"):
                yield _no_task(("termination_delay", (name,)), name, names)


def _no_task(path: Any, name: Any, names: Sequence[Any]) -> FieldError:
    meant = closest(str(name), [str(known) for known in names])
    return invalid(
        path, name, "there is no such task" + (f'; did you mean "{meant}"?' if meant else "")
    )
