"""Objects as text, and lines for people.

YAML is written so that every reader gets the same values back: a string that any YAML takes for a
number, a boolean or a date is quoted. Text of several lines is a literal block.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import click
import yaml

from trainway.api.yaml_scalar import resolve

Json = dict[str, Any]

_UNLIMITED: Final = 2**31 - 1
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_Dumper: Any = type(
    "_Dumper",
    (getattr(yaml, "CSafeDumper", yaml.SafeDumper),),
    {"ignore_aliases": lambda _self, _data: True},
)
"""Writes trees: no anchors, even where two parts are the same object."""


def _represent_text(dumper: Any, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif resolve(text) != text:
        style = '"'
    node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
    return node


_Dumper.add_representer(str, _represent_text)


def to_yaml(objects: Iterable[Json]) -> str:
    """YAML documents, keys in the order they have."""
    return "---\n".join(
        yaml.dump(
            item,
            Dumper=_Dumper,
            allow_unicode=True,
            default_flow_style=False,
            sort_keys=False,
            width=_UNLIMITED,
        )
        for item in objects
    )


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
