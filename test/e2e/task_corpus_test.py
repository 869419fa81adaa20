"""The project's own corpus of tasks: each file has beside it what `trainway validate` says to it.

`valid` ends with 0 and maybe warnings, `invalid` with 1, `unreadable` with 2.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.task import config, resources, service, storage, task, volume
from trainway.api.task.scalar import resolve
from trainway.api.task.task_file import parse, serialise
from trainway.api.yaml_composer import compose
from trainway.cli.app import app
from trainway.schema.shape import Either, Items, Record, Shape, Table

CORPUS = Path(__file__).parent / "task_corpus"
STATUS = {"valid": 0, "invalid": 1, "unreadable": 2}
FILES = sorted(CORPUS.glob("*/*.yaml"))
VALID = [file for file in FILES if file.parent.name == "valid"]
SECTIONS: dict[str, Shape] = {"resources.": resources.SHAPE, "config.": config.SHAPE}
ALTERNATIVES = ("any_of.", "ordered.")
"""Of resources: they have the same fields once more."""
TASK = replace(
    task.SHAPE,
    fields={
        **task.SHAPE.fields,
        "file_mounts": storage.SHAPE,
        "volumes": volume.SHAPE,
        "service": service.SHAPE,
    },
)
"""The whole shape: some of it is checked when variables are replaced."""
HEADER = ("primary_tasks", "termination_delay", "inter_connection", "execution")


def shown(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@pytest.mark.parametrize("file", FILES, ids=shown)
def test_verdict(file: Path) -> None:
    result = CliRunner().invoke(app, ["validate", "--quiet", str(file)])

    assert result.stderr.replace(f"{file}: ", "") == file.with_suffix(".expected").read_text()
    assert (result.exit_code, result.stdout) == (STATUS[file.parent.name], "")


@pytest.mark.parametrize("file", VALID, ids=shown)
def test_what_is_valid_explains_without_a_secret_and_serialises(file: Path) -> None:
    result = CliRunner().invoke(app, ["explain", "--redact", str(file)])
    parsed = parse(file.read_text())

    assert result.exit_code == (2 if parsed.is_volume else 0), result.stderr
    assert "hidden" not in result.stdout + result.stderr
    if parsed.file is not None:
        assert parse(serialise(parsed.file)).file == parsed.file


def test_every_field_stands_in_a_valid_file() -> None:
    written: set[str] = set()
    for file in VALID:
        for document, _, _ in compose(file.read_text(), resolve):
            is_volume = volume.is_volume_file(document)
            shape: Shape = volume.FILE if is_volume else TASK
            prefix = "volume " if is_volume else ""
            written |= set(fields_of(shape, document, prefix))
            written |= {name for name in HEADER if name in document}

    known = {
        *all_fields(TASK, ""),
        *all_fields(volume.FILE, "volume "),
        *HEADER,
    }
    assert sorted(known - written) == []


def all_fields(shape: Shape, path: str) -> Iterator[str]:
    """The fields that a shape knows, as paths without indexes and free keys."""
    match SECTIONS.get(path, shape):
        case Record(fields=fields):
            for name, inner in fields.items():
                yield f"{path}{name}"
                yield from all_fields(inner, f"{path}{name}.")
        case Either(shapes=shapes):
            for inner in shapes:
                yield from all_fields(inner, path)
        case Items(item=inner) | Table(value=inner):
            if not path.endswith(ALTERNATIVES):
                yield from all_fields(inner, path)


def fields_of(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """The fields that a value has, as paths of the same form."""
    match SECTIONS.get(path, shape):
        case Record(fields=fields) if isinstance(value, dict):
            for name, inner in fields.items():
                if name in value:
                    yield f"{path}{name}"
                    yield from fields_of(inner, value[name], f"{path}{name}.")
        case Either(shapes=shapes):
            for inner in shapes:
                yield from fields_of(inner, value, path)
        case Items(item=inner) if isinstance(value, list):
            for item in value:
                yield from fields_of(inner, item, path)
        case Table(value=inner) if isinstance(value, dict):
            for item in value.values():
                yield from fields_of(inner, item, path)


PIECES = st.sampled_from(
    ["", " ", "\n", ":", "-", "---\n", "{", "}", "[", "null", "$A", "'", "&a", "*a", "0", "\t", "é"]
)


@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), PIECES), min_size=1, max_size=4),
)
def test_no_damage_to_a_file_ends_in_a_bug(
    file: Path, damage: list[tuple[float, int, str]]
) -> None:
    text = file.read_text()
    for where, length, piece in damage:
        start = int(where * len(text))
        text = text[:start] + piece + text[start + length :]

    for command in ("validate", "explain"):
        result = CliRunner().invoke(app, [command, "-"], input=text)

        assert result.exit_code in (0, 1, 2), result.stderr
        assert "internal error" not in result.stderr
        assert bool(result.stdout) == (result.exit_code == 0)
