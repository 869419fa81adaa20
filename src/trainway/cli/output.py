"""Objects as text, and lines for people."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import click

from trainway.json_types import Json

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def to_yaml(objects: Iterable[Json]) -> str:
    """YAML documents, keys in the order they have."""
    from trainway.cli.yaml_document import document  # noqa: PLC0415 - slow, and few print YAML

    return "---\n".join(map(document, objects))


def to_json(value: Any) -> str:
    """JSON, indented."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def to_json_list(objects: Iterable[Json]) -> str:
    """One JSON List of all objects."""
    return to_json({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def echo(text: str) -> None:
    """Write a text to stdout, in UTF-8 wherever we are."""
    click.echo(text.encode(), nl=False)


def echo_line(text: str) -> None:
    """Write one line to stderr; no name can break it or steer the terminal."""
    click.echo(_CONTROL.sub(lambda match: ascii(match[0])[1:-1], text), err=True)
