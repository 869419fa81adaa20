"""The text of a sweep file: `grid`, `zip` and `random`, each with lists, files or ranges."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.errors import ManifestError, UsageError
from trainway.sweep.grid_option import Read, lines
from trainway.sweep.parameter import MOST_TRIALS, check_count
from trainway.sweep.space import Interval, Samples, Sweep, interval

_SECTIONS: Final = ("grid", "zip", "random")
_OF_RANDOM: Final = ("trials", "seed", "parameters")


def parse_sweep(text: str, source: str, read: Read) -> Sweep:
    """The sweep that a file describes; `read` gives the text of a file that it names."""
    data = _document(text, source)
    _known(data, _SECTIONS, source, "")
    drawn = _section(data, "random", source)
    return Sweep(
        {name: _values(item, f"grid.{name}", source, read) for name, item in
         _section(data, "grid", source).items()},
        {name: _values(item, f"zip.{name}", source, read) for name, item in
         _section(data, "zip", source).items()},
        _samples(drawn, source, read) if drawn else None,
    )  # fmt: skip


def _document(text: str, source: str) -> dict[str, Any]:
    from trainway.api.yaml_composer import compose  # noqa: PLC0415 - slow, and only for files

    try:  # every scalar stays the text that it is
        documents = [value for value, _, _ in compose(text, str) if value is not None]
    except ManifestError as error:
        raise UsageError(f"{source}: {error}") from None
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise UsageError(
            f"{source}: it is not a sweep",
            hint="a sweep file has the sections grid, zip and random; see docs/sweeps.md",
        )
    return documents[0]


def _section(data: Mapping[str, Any], name: str, source: str) -> dict[str, Any]:
    found = data.get(name) or {}
    if not isinstance(found, dict):
        raise _wrong(source, name, "must have parameters and their values")
    return found


def _samples(data: dict[str, Any], source: str, read: Read) -> Samples:
    _known(data, _OF_RANDOM, source, "random.")
    count = _number(data.get("trials"), "random.trials", source)
    if count < 1:
        raise _wrong(source, "random.trials", "must be at least 1")
    check_count(count)
    seed = _number(data.get("seed") or "0", "random.seed", source)
    parameters = _section(data, "parameters", source)
    if not parameters:
        raise _wrong(source, "random.parameters", "must have parameters and their values")
    drawn: dict[str, list[str] | Interval] = {
        name: interval(name, item)
        if isinstance(item, str)
        else _values(item, f"random.parameters.{name}", source, read)
        for name, item in parameters.items()
    }
    return Samples(count, seed, drawn)


def _values(item: Any, field: str, source: str, read: Read) -> list[str]:
    match item:
        case list() if all(isinstance(value, str) for value in item):
            return item
        case {"file": str(path), **others} if not others:
            return lines(read(path))
    raise _wrong(source, field, "must be a list of values, or {file: NAME}")


def _number(item: Any, field: str, source: str) -> int:
    try:
        return int(item)
    except (TypeError, ValueError):
        raise _wrong(source, field, f"must be a number, such as {MOST_TRIALS // 50}") from None


def _known(data: Mapping[str, Any], names: tuple[str, ...], source: str, before: str) -> None:
    unknown = [name for name in data if name not in names]
    if unknown:
        raise UsageError(
            f"{source}: {before}{unknown[0]} is unknown", hint=f"there are {', '.join(names)}"
        )


def _wrong(source: str, field: str, problem: str) -> UsageError:
    return UsageError(f"{source}: {field} {problem}")
