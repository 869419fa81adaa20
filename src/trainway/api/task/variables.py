"""`envs` and `secrets`: what may be in them, what the command line adds, and `$VAR` in sections.

Values become strings as they are read. No message ever has the value of a secret in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.schema.field import ErrorType, FieldError, Path, forbidden, key_step, required

NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
SUBSTITUTED: Final = ("file_mounts", "service", "workdir", "volumes")
"""The sections in which `$VAR` and `${VAR}` are replaced; scripts leave it to the shell."""

MASK: Final = "***"
_REFERENCE: Final = re.compile(r"\$\{?\b([a-zA-Z_][a-zA-Z0-9_]*)\b\}?", re.ASCII)
_MANAGED: Final = "secrets:"
_MANAGED_FORM: Final = re.compile(
    r"secrets:(?:(?:personal|workspace|global)\.)?([a-zA-Z_][a-zA-Z0-9_]*)", re.ASCII
)
_DOCKER: Final = (
    "SKYPILOT_DOCKER_USERNAME",
    "SKYPILOT_DOCKER_PASSWORD",
    "SKYPILOT_DOCKER_SERVER",
)


@dataclass(frozen=True)
class Overrides:
    """What the command line says; it counts before what the file says."""

    envs: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)


def normalised(data: Json, overrides: Overrides) -> Json:
    """The document with variables as strings, and with those of the command line."""
    done = dict(data)
    secrets = data.get("secrets")
    if isinstance(secrets, list) and all(_is_managed(item) for item in secrets):
        secrets = {_managed_name(item): item for item in secrets}
    for section, value, more in (
        ("envs", data.get("envs"), overrides.envs),
        ("secrets", secrets, overrides.secrets),
    ):
        if isinstance(value, dict):
            done[section] = {**{name: _text(item) for name, item in value.items()}, **more}
        elif value is None and more:
            done[section] = dict(more)
    return done


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, bool | int | float) else value


def _is_managed(value: Any) -> bool:
    return isinstance(value, str) and _MANAGED_FORM.fullmatch(value) is not None


def _managed_name(reference: str) -> str:
    return reference.removeprefix(_MANAGED).rpartition(".")[2]


def errors(data: Json) -> Iterator[FieldError]:
    """What is wrong with the variables of a normalised document."""
    for section in ("envs", "secrets"):
        value = data.get(section)
        if value is None:
            continue
        if isinstance(value, list) and section == "secrets":
            yield from _list_errors(value)
        elif not isinstance(value, dict):
            yield FieldError((section,), ErrorType.INVALID, "must be a map")
        else:
            yield from _map_errors(value, (section,))
    yield from _docker_errors(data)


def _list_errors(value: list[Any]) -> Iterator[FieldError]:
    for index, item in enumerate(value):
        if not _is_managed(item):
            detail = "an item of the list must be secrets:NAME or secrets:SCOPE.NAME"
            yield FieldError(("secrets", index), ErrorType.INVALID, detail)


def _map_errors(value: Json, path: Path) -> Iterator[FieldError]:
    section = path[0]
    for name, item in value.items():
        place = (*path, key_step(name))
        if not NAME.fullmatch(name):
            yield forbidden(place, "the name of a variable may contain only letters, digits and _")
        if item is None:
            if section == "envs":
                yield required(place, f"give it a value here, or with --env {name}=VALUE")
        elif not isinstance(item, str):
            yield FieldError(place, ErrorType.INVALID, "must be text")
        elif "\0" in item:
            yield FieldError(place, ErrorType.INVALID, "a variable cannot contain a NUL character")
        elif section == "secrets" and item.startswith(_MANAGED) and not _is_managed(item):
            detail = "a managed secret must be secrets:NAME or secrets:SCOPE.NAME"
            yield FieldError(place, ErrorType.INVALID, detail)


def _docker_errors(data: Json) -> Iterator[FieldError]:
    """The three variables of a registry stand together, in one section."""
    found = {
        section: [name for name in _DOCKER if name in data[section]]
        for section in ("envs", "secrets")
        if isinstance(data.get(section), dict)
    }
    for section, names in found.items():
        if names and len(names) < len(_DOCKER):
            missing = ", ".join(name for name in _DOCKER if name not in names)
            yield required((section,), f"{names[0]} needs {missing} in {section} as well")


def managed(secrets: Mapping[str, Any]) -> tuple[str, ...]:
    """Secrets that are only named: nothing here knows their values."""
    return tuple(name for name, value in secrets.items() if value is None or _is_managed(value))


def inline(data: Json) -> dict[str, str]:
    """The secrets whose values the document has itself."""
    secrets = data.get("secrets") or {}
    hidden = managed(secrets)
    return {name: value for name, value in secrets.items() if name not in hidden}


def substituted(data: Json, secrets: Mapping[str, str]) -> Json:
    """The document with envs and secrets replaced in the sections that have it."""
    known = {**(data.get("envs") or {}), **secrets}
    return {
        name: _replaced(value, known) if name in SUBSTITUTED else value
        for name, value in data.items()
    }


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: known.get(match[1], match[0]), value)
    if isinstance(value, list):
        return [_replaced(item, known) for item in value]
    if isinstance(value, dict):
        return {_replaced(key, known): _replaced(item, known) for key, item in value.items()}
    return value


def uses(data: Json, names: Iterable[str]) -> list[str]:
    """Which of the variables stand in a section in which they are replaced."""
    text = repr([data.get(section) for section in SUBSTITUTED])
    found = {match[1] for match in _REFERENCE.finditer(text)}
    return [name for name in names if name in found]


def hidden(error: FieldError, values: Iterable[str]) -> FieldError:
    """The error with no value of a secret in it."""
    path, value, detail = error.path, error.value, error.detail
    for secret in filter(None, values):
        path = tuple(_masked(part, secret) for part in path)
        value = MASK if secret in str(value) else value
        detail = detail.replace(secret, MASK)
    return FieldError(path, error.type, detail, value)


def _masked(part: Any, secret: str) -> Any:
    if isinstance(part, tuple):
        return (part[0].replace(secret, MASK),)
    return part.replace(secret, MASK) if isinstance(part, str) else part


def parse_env_file(text: str) -> dict[str, str]:
    """The variables of a .env file; UsageError names the line that is none."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, is_given, value = stripped.removeprefix("export ").partition("=")
        if not is_given or not NAME.fullmatch(name.strip()):
            raise UsageError(f"line {number} is not of the form NAME=VALUE")
        found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if len(value) >= 2 and value[0] == quote and value.find(quote, 1) > 0:
            inner = value[1 : value.find(quote, 1)]
            return inner.replace("\\n", "\n") if quote == '"' else inner
    return re.split(r"\s+#", value)[0]
