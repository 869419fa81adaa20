"""A task: what to run, on how many nodes of which kind, with which files and variables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from trainway.api.task import config, pool, recovery, resources, service, storage, variables, volume
from trainway.api.task.recovery import Recovery
from trainway.api.task.resources import Resources
from trainway.api.task.storage import FileMount
from trainway.api.task.variables import Overrides
from trainway.api.task.volume import VolumeMount
from trainway.json_types import Json
from trainway.schema.field import ErrorType, FieldError, Path, invalid
from trainway.schema.shape import (
    FLAG,
    TEXT,
    Anything,
    Either,
    Items,
    Number,
    Record,
    Shape,
    Table,
    Text,
    check,
    exclusive,
)

NAME: Final = Text(
    r"[a-zA-Z0-9]+(?:[._-]{1,2}[a-zA-Z0-9]+)*",
    "a name consists of letters and digits, with at most two of . _ - in a row between them",
)
EXPOSED: Final = "it is used in a section that is shown in plain text; move it to envs"
_GIT_URL: Final = r"(https|ssh)://[^\s/]+/\S+|[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:\S+"
_GIT: Final = Record({"url": TEXT, "ref": TEXT}, needs=("url",))
_GIT_URL_SHAPE: Final = Text(_GIT_URL, "must be an https, ssh or scp URL of a git repository")
_AMOUNT_OF_DATA: Final = Table(Number(least=0), least=1, most=1)
_ANY: Final = Anything()
_LATER: Final = Table(_ANY, nullable=True)
"""What has a shape of its own once variables are replaced: `store: $STORE`."""
_MANAGED_SECRET: Final = Either((TEXT, Table(Record({"mount_path": TEXT}), nullable=True, least=1)))

_FIELDS: Final[Mapping[str, Shape]] = {
    "name": NAME,
    "workdir": Either((TEXT, _GIT)),
    "num_nodes": Number(whole=True, above=0, most=100_000),
    "resources": _ANY,  # resources.SHAPE, with what must hold between its fields
    "envs": _ANY,  # variables.errors, which shows no values
    "secrets": _ANY,
    "managed_secrets": Items(_MANAGED_SECRET),
    "file_mounts": _LATER,
    "volumes": _LATER,
    "setup": TEXT,
    "run": TEXT,
    "service": _LATER,
    "pool": pool.SHAPE,
    "config": _ANY,
    "api_server_access": FLAG,
    "event_callback": TEXT,
    "inputs": _AMOUNT_OF_DATA,
    "outputs": _AMOUNT_OF_DATA,
    "depends_on": Items(TEXT),  # our own; see `pipeline`
    "packages": Either((TEXT, Items(TEXT))),  # our own; see `api/packages.py`
}
_ELSEWHERE: Final = {
    **dict.fromkeys(resources.SHAPE.fields, "it belongs in resources"),
    **dict.fromkeys(recovery.FIELDS, "it belongs in resources.job_recovery"),
    "max_restarts": 'did you mean "resources.job_recovery.max_restarts_on_errors"?',
    "command": 'did you mean "run"?',
    "queue": "give it with trainway run --queue",
    "timeout": "give it with trainway run --timeout",
}
SHAPE: Final = Record(
    _FIELDS,
    removed={
        **{name: where for name, where in _ELSEWHERE.items() if name not in _FIELDS},
        "experimental": 'it was removed; did you mean "config"?',
        "execution": "it belongs in the header of a file with several tasks",
        **dict.fromkeys(
            ("primary_tasks", "termination_delay", "inter_connection"),
            "it belongs in the header of a job group, which has execution: parallel",
        ),
    },
    keeps=("file_mounts_mapping", "volume_mounts", "_metadata", "_user_specified_yaml"),
)


@dataclass(frozen=True)
class Task:
    """A task without errors. What it says is read from `data` when asked for."""

    source: Json
    """As written, with variables as strings and those of the command line."""
    data: Json
    """The same with `$VAR` replaced where that is done."""
    shown: Json
    """The same with secrets left as `$NAME`, for objects that people see."""

    def to_dict(self) -> Json:
        """The document, which parses to the same task."""
        return self.source

    @property
    def name(self) -> str:
        """Empty where it has none."""
        return str(self.data.get("name") or "")

    @property
    def num_nodes(self) -> int:
        """The nodes, the head included."""
        return int(self.data.get("num_nodes") or 1)

    @property
    def setup(self) -> str:
        """The script that prepares a node."""
        return str(self.data.get("setup") or "")

    @property
    def run(self) -> str:
        """The script that does the work on every node."""
        return str(self.data.get("run") or "")

    @property
    def workdir(self) -> str:
        """The local folder; empty where there is none."""
        value = self.data.get("workdir")
        return value if isinstance(value, str) else ""

    @property
    def repository(self) -> Mapping[str, str] | None:
        """The git repository that is the workdir: url, maybe ref."""
        value = self.data.get("workdir")
        return value if isinstance(value, dict) else None

    @property
    def depends_on(self) -> tuple[str, ...] | None:
        """The tasks of its pipeline that must have succeeded before it; None: it does not say."""
        given = self.data.get("depends_on")
        return None if given is None else tuple(given)

    @property
    def envs(self) -> Mapping[str, str]:
        """The variables."""
        return self.data.get("envs") or {}

    @property
    def secrets(self) -> Mapping[str, str]:
        """The variables that are not shown; a managed one is not among them."""
        return variables.inline(self.data)

    @property
    def exposed_secrets(self) -> list[str]:
        """Secrets that stand in a section which people see."""
        return variables.uses(self.source, self.secrets)

    @property
    def managed_secrets(self) -> tuple[str, ...]:
        """Secrets whose values nobody here knows."""
        known = variables.inline(self.data)
        named = variables.managed(self.data.get("secrets") or {})
        listed = self.data.get("managed_secrets") or ()
        others = (name for item in listed for name in ([item] if isinstance(item, str) else item))
        return named + tuple(name for name in others if name not in known)

    @cached_property
    def resources(self) -> Resources:
        """What each node must have."""
        return resources.read(self.data.get("resources"))

    @property
    def recovery(self) -> Recovery:
        """What happens after a failure."""
        return recovery.read(self.resources.first.fields.get("job_recovery"))

    @property
    def priority(self) -> int:
        """Its place in the queue."""
        return int(self.resources.first.fields.get("priority") or 0)

    @property
    def file_mounts(self) -> tuple[FileMount, ...]:
        """The files it brings along."""
        return storage.read(self.data.get("file_mounts"))

    @property
    def volumes(self) -> tuple[VolumeMount, ...]:
        """The volumes it mounts."""
        return volume.read(self.data.get("volumes"))

    @property
    def config(self) -> Json:
        """What it overrides of the configuration."""
        return self.data.get("config") or {}


@dataclass(frozen=True)
class Read:
    """What came of one document."""

    task: Task | None
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def read(document: Json, overrides: Overrides | None = None, *, substitute: bool = True) -> Read:
    """A task, or all that is wrong with it."""
    source = variables.normalised(document, overrides or Overrides())
    errors = [*check(SHAPE, source, ()), *variables.errors(source)]
    for section, judge in (("resources", resources.errors), ("config", config.errors)):
        if source.get(section) is not None:
            errors += judge(source[section], (section,))
    if errors:
        return Read(None, tuple(errors))
    secrets = variables.inline(source)
    data = variables.substituted(source, secrets) if substitute else source
    exposed = [secrets[name] for name in variables.uses(source, secrets)]
    errors += [variables.hidden(error, exposed) for error in _errors(data, source)]
    if errors:
        return Read(None, tuple(errors))
    shown = variables.substituted(source, {}) if substitute else source
    task = Task(source, data, shown)
    return Read(task, warnings=tuple(_warnings(task)))


def _errors(data: Json, source: Json) -> Iterator[FieldError]:
    """What must hold between the parts, once variables are in place."""
    workdir = data.get("workdir")
    if isinstance(workdir, dict):
        yield from check(_GIT_URL_SHAPE, workdir["url"], ("workdir", "url"))
    elif workdir == "":
        yield invalid(("workdir",), workdir, "the path is empty")
    yield from exclusive(data, (), "service", "pool")
    for section in ("file_mounts", "volumes"):
        given = source.get(section) or {}
        if len(data.get(section) or {}) < len(given):
            detail = "two paths are the same once variables are replaced"
            yield FieldError((section,), ErrorType.DUPLICATE, detail)
    nodes = int(data.get("num_nodes") or 1)
    judges: tuple[tuple[str, Shape, Judge], ...] = (
        ("file_mounts", storage.SHAPE, partial(storage.errors, has_workdir=workdir is not None)),
        ("volumes", volume.SHAPE, partial(volume.errors, num_nodes=nodes)),
        ("service", service.SHAPE, service.errors),
    )
    for section, shape, judge in judges:
        if data.get(section) is not None:
            found = list(check(shape, data[section], (section,)))
            yield from found or judge(data[section], (section,))
    if data.get("pool") is not None:
        yield from pool.errors(data["pool"], ("pool",))


Judge = Callable[[Json, Path], Iterator[FieldError]]
"""Says what is wrong with a section whose structure is right."""


def _warnings(task: Task) -> Iterator[str]:
    if task.data.get("service") is not None:
        yield from service.warnings(task.data["service"], task.data.get("resources") or {})
    yield from resources.warnings(task.data.get("resources") or {}, ("resources",))
    for name in task.exposed_secrets:
        yield f"secrets.{name}: {EXPOSED}"
    for name in task.managed_secrets:
        yield (
            f"secrets.{name}: this is a managed secret; to run the task, pass its value with"
            f" --secret {name}=VALUE"
        )
