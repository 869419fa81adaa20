import json
from dataclasses import dataclass
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from trainway.api.manifest import parse_manifests
from trainway.cli.output import echo, echo_line, to_json, to_json_list, to_yaml


@dataclass(frozen=True)
class Case:
    name: str
    value: Any
    text: str


LONG = "word " * 100 + "end"
CASES = [
    Case("order of keys", {"b": 1, "a": {"d": 2, "c": 3}}, "b: 1\na:\n  d: 2\n  c: 3\n"),
    Case("lists", {"a": [1, {"b": 2, "c": 3}]}, "a:\n- 1\n- b: 2\n  c: 3\n"),
    Case("empty", {"a": {}, "b": [], "c": "", "d": None}, 'a: {}\nb: []\nc: ""\nd: null\n'),
    Case("block", {"a": "x\n  y\n"}, "a: |\n  x\n    y\n"),
    Case("block without end", {"a": "x\ny"}, "a: |-\n  x\n  y\n"),
    Case("integer", {"a": "1", "b": 1}, 'a: "1"\nb: 1\n'),
    Case("boolean", {"a": "yes", "b": "y", "c": True}, 'a: "yes"\nb: "y"\nc: true\n'),
    Case("octal", {"a": "0o17", "b": "017"}, 'a: "0o17"\nb: "017"\n'),
    Case("exponent", {"a": "1e3", "b": "12e4"}, 'a: "1e3"\nb: "12e4"\n'),
    Case("base 60", {"a": "22:22"}, "a: '22:22'\n"),
    Case("date", {"a": "2024-01-01"}, "a: '2024-01-01'\n"),
    Case("quantity", {"a": "500m", "b": "1Gi"}, "a: 500m\nb: 1Gi\n"),
    Case("long line", {"a": LONG}, f"a: {LONG}\n"),
    Case("unicode", {"a": "größe"}, "a: größe\n"),
    Case("control character", {"a": "\x1b[31m"}, 'a: "\\e[31m"\n'),
    Case("key that needs quotes", {"1": "a", "no": "b"}, '"1": a\n"no": b\n'),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_yaml_is_written_for_readers(case: Case) -> None:
    assert to_yaml([case.value]) == case.text


def test_a_value_that_stands_twice_is_written_twice() -> None:
    shared = {"x": [1]}

    assert to_yaml([{"a": shared, "b": shared}]) == "a:\n  x:\n  - 1\nb:\n  x:\n  - 1\n"


def test_documents_are_separated() -> None:
    assert to_yaml([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
    assert to_yaml([]) == ""


def test_a_json_list_holds_all_objects() -> None:
    text = to_json_list([{"a": "ä"}])

    assert json.loads(text) == {"apiVersion": "v1", "kind": "List", "items": [{"a": "ä"}]}
    assert "ä" in text
    assert text.endswith("}\n")
    assert to_json({}) == "{}\n"


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
OBJECTS = st.dictionaries(
    TEXT,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | TEXT
        | st.sampled_from(["y", "No", "~", "", "1e3", "0x1", "1_0", "=", "<<", "a\n b \n", " \n"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=20,
    ),
    max_size=4,
).filter(lambda value: "items" not in value)


@given(st.lists(OBJECTS, max_size=3))
def test_yaml_is_read_back_by_us_and_by_others(values: list[dict[str, Any]]) -> None:
    text = to_yaml(values)

    assert parse_manifests(text) == values
    assert list(yaml.load_all(text, Loader=yaml.CSafeLoader)) == values


def test_lines_for_people_stay_one_line() -> None:
    @click.command()
    def command() -> None:
        echo_line("a\nb\x1b[2J\u2028\x9bc ä")
        echo("größe\n")

    result = CliRunner().invoke(command)

    assert result.stderr == "a\\nb\\x1b[2J\\u2028\\x9bc ä\n"
    assert result.stdout == "größe\n"
