"""The user's own settings: `config.yaml` in the home directory of Trainway.

It is read strictly: a field that nobody knows is an error, with the one that may have been meant,
since what is silently left out is looked for in the wrong place.
"""

import logging
from importlib import import_module
from pathlib import Path
from typing import Final

from trainway.api import health_check
from trainway.api.manifest import parse_manifests
from trainway.backends import pod_limit
from trainway.backends.logs import limit
from trainway.catalog import own_prices
from trainway.errors import InvalidError, ManifestError, TrainwayError, UnreadableError
from trainway.families.table import with_section
from trainway.json_types import Json
from trainway.notify import targets
from trainway.providers import section as clouds
from trainway.schema.field import FieldError
from trainway.schema.shape import Record, Shape, check

FILE: Final = "config.yaml"
_LIMITS: Final = Record({"pods_per_job": pod_limit.SHAPE, "logs_per_job": limit.SHAPE})
_LIMITS_SECTION: Final = "limits"
_NOTIFY_SECTION: Final = "notify"
_HEALTH_CHECK: Final = "health_check"
_PRICES_SECTION: Final = "prices"
_CLOUDS_SECTION: Final = "clouds"
_OWN: Final = frozenset(
    {_HEALTH_CHECK, _LIMITS_SECTION, _NOTIFY_SECTION, _PRICES_SECTION, _CLOUDS_SECTION}
)
"""The sections that belong to no family."""

Stamp = tuple[int, int, int]

log = logging.getLogger(__name__)


def stamp(home: Path) -> Stamp | None:
    """Changes with the file; None: there is none."""
    try:
        found = (home / FILE).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def read(home: Path) -> Json:
    """What the file says; nothing where there is none."""
    path = home / FILE
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"{path}: not UTF-8") from None
    try:
        documents = parse_manifests(text)
    except ManifestError as error:
        raise UnreadableError(f"{path}: {error}") from None
    if len(documents) > 1:
        raise UnreadableError(f"{path}: there are {len(documents)} documents in it, not one")
    data = documents[0] if documents else {}
    wrong = errors(data)
    if wrong:
        raise InvalidError([f"{path}: {error}" for error in wrong], hint=f"correct {path}")
    return data


def errors(data: Json) -> list[FieldError]:
    """Everything that is wrong with the settings."""
    sections = {
        name: import_module(module)
        for family in with_section(set(data) - _OWN)
        for name, module in family.sections.items()
    }
    shapes = {name: section.SHAPE for name, section in sections.items()}
    own: dict[str, Shape] = {
        _HEALTH_CHECK: health_check.SHAPE,
        _LIMITS_SECTION: _LIMITS,
        _NOTIFY_SECTION: targets.SHAPE,
        _PRICES_SECTION: own_prices.SHAPE,
        _CLOUDS_SECTION: clouds.SHAPE,
    }
    found = list(check(Record({**shapes, **own}), data, ()))
    return found or [
        *(
            error
            for name, section in sections.items()
            for error in section.errors(data.get(name) or {}, (name,))
        ),
        *limit.errors(data.get(_LIMITS_SECTION) or {}, (_LIMITS_SECTION,)),
        *targets.errors(data.get(_NOTIFY_SECTION) or {}, (_NOTIFY_SECTION,)),
        *clouds.errors(data.get(_CLOUDS_SECTION) or {}, (_CLOUDS_SECTION,)),
    ]


def log_limit(home: Path) -> int:
    """How many bytes of logs a job may keep that begins now.

    No job fails for a file that is wrong elsewhere, or just being written: then the usual counts.
    """
    try:
        section = read(home).get("limits") or {}
    except TrainwayError as error:
        log.warning("the default limit of logs applies: %s", error)
        section = {}
    return limit.limit_of(section)


def pod_limit_of(home: Path) -> int:
    """How many pods one job may have, as the file says it, or the default."""
    return pod_limit.limit_of(read(home).get("limits") or {})


def usual_health_check(home: Path) -> str:
    """What the file says of the health check of jobs that say nothing, as the annotation does."""
    return health_check.in_words(read(home).get(_HEALTH_CHECK) or False)


def notified(home: Path) -> list[targets.Target]:
    """Whom the file says to notify of jobs; nobody where it is wrong, and the log says so."""
    try:
        return targets.targets_of(read(home).get(_NOTIFY_SECTION) or {})
    except TrainwayError as error:
        log.warning("nobody is notified: %s", error)
        return []
