"""Objects as YAML.

It is written so that every reader gets the same values back: a string that any YAML takes for a
number, a boolean or a date is quoted. Text of several lines is a literal block.
"""

from typing import Any, Final

import yaml

from trainway.api.yaml_scalar import resolve

_UNLIMITED: Final = 2**31 - 1

_Dumper: Any = type(
    "_Dumper",
    (getattr(yaml, "CSafeDumper", yaml.SafeDumper),),
    {"ignore_aliases": lambda _self, _data: True},
)
"""Writes trees: no anchors, even where two parts are the same object."""


def document(value: dict[str, Any]) -> str:
    """One document, keys in the order they have."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=_UNLIMITED,
    )
    return text


def _represent_text(dumper: Any, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif resolve(text) != text:
        style = '"'
    node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
    return node


_Dumper.add_representer(str, _represent_text)
