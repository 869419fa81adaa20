import json
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainway.api import yaml_composer
from trainway.api.document import MAX_DEPTH
from trainway.api.manifest import ManifestError, parse_manifests
from trainway.api.yaml_scalar import resolve


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    objects: list[Any]


READABLE = [
    Case("nothing", "", []),
    Case("comments", "# nothing\n# here\n", []),
    Case("empty documents", "---\n---\n# x\n---\nnull\n...\n", []),
    Case("one document", "a: 1\nb: [x, z]\n", [{"a": 1, "b": ["x", "z"]}]),
    Case("documents", "a: 1\n---\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("windows line ends", "a: 1\r\nb:\r\n- c\r\n", [{"a": 1, "b": ["c"]}]),
    Case("byte order mark", "\ufeffa: 1", [{"a": 1}]),
    Case("byte order mark before JSON", '\ufeff{"a": 1}', [{"a": 1}]),
    Case(
        "JSON",
        ' \n{"a": {"b": [1, 1.5, 2.0, true, null]}}',
        [{"a": {"b": [1, 1.5, 2, True, None]}}],
    ),
    Case("JSON surrogate pair", '{"a": "\\ud83d\\ude80"}', [{"a": "\N{ROCKET}"}]),
    Case("JSON delete character", '{"a": "\x7f"}', [{"a": "\x7f"}]),
    Case("flow that is not JSON", "{a: 1, b: yes}", [{"a": 1, "b": True}]),
    Case("quoted words", "a: 'yes'\nb: \"1\"", [{"a": "yes", "b": "1"}]),
    Case("timestamp", "a: 2024-01-01T00:00:00Z", [{"a": "2024-01-01T00:00:00Z"}]),
    Case("base 60", "a: 22:22", [{"a": "22:22"}]),
    Case("literal block", "a: |\n  x\n   y\n", [{"a": "x\n y\n"}]),
    Case("escapes", r'a: "\x00\t"', [{"a": "\x00\t"}]),
    Case(
        "core tags",
        "a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !!bool 'no'\ne: !!null ''",
        [{"a": "1", "b": 2, "c": 3, "d": False, "e": None}],
    ),
    Case(
        "tags of collections",
        "a: !!map {b: !!seq [!<tag:yaml.org,2002:str> 1, ! 2]}",
        [{"a": {"b": ["1", "2"]}}],
    ),
    Case(
        "keys that are no strings",
        "1: a\ntrue: b\n1.5: c\non_: d",
        [{"1": "a", "true": "b", "1.5": "c", "on_": "d"}],
    ),
    Case(
        "alias", "a: &x {b: [1]}\nc: *x\n&k d: *k", [{"a": {"b": [1]}, "c": {"b": [1]}, "d": "d"}]
    ),
    Case("alias as a key", "a: &x b\n*x : c", [{"a": "b", "b": "c"}]),
    Case("anchor of an earlier value", "a: &x 1\nb: &x 2\nc: *x", [{"a": 1, "b": 2, "c": 2}]),
    Case(
        "merge",
        "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}",
        [{"a": {"b": 1, "c": 2}, "d": {"c": 3, "b": 1}}],
    ),
    Case(
        "merge of several",
        "a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y]}",
        [{"a": {"b": 1}, "c": {"b": 2, "d": 3}, "e": {"b": 1, "d": 3}}],
    ),
    Case("quoted merge key", 'a: {"<<": 1}', [{"a": {"<<": 1}}]),
    Case("list", "apiVersion: v1\nkind: List\nitems:\n- {a: 1}\n- {b: 2}", [{"a": 1}, {"b": 2}]),
    Case("list of a kind", '{"kind": "TrainJobList", "items": [{"a": 1}]}', [{"a": 1}]),
    Case(
        "lists in lists",
        "kind: List\nitems: [{kind: List, items: [{a: 1}]}, {b: 2}]",
        [{"a": 1}, {"b": 2}],
    ),
    Case("empty list", "kind: List\nitems:", []),
    Case("list without items", "kind: List", [{"kind": "List"}]),
    Case("kind that is no text", "kind: [List]\nitems: 1", [{"kind": ["List"], "items": 1}]),
    Case("huge string", "a: " + "x" * 2_000_000, [{"a": "x" * 2_000_000}]),
    Case(
        "many keys",
        "\n".join(f"k{i}: {i}" for i in range(2000)),
        [{f"k{i}": i for i in range(2000)}],
    ),
    Case("many aliases", "a: &x 1\nb: [" + "*x, " * 2000 + "]", [{"a": 1, "b": [1] * 2000}]),
]


@pytest.mark.parametrize("case", READABLE, ids=lambda case: case.name)
def test_a_text_gives_its_objects(case: Case) -> None:
    objects = parse_manifests(case.text)

    assert objects == case.objects
    assert json.dumps(objects) == json.dumps(case.objects)  # 1 is not True here


@dataclass(frozen=True)
class Refusal:
    name: str
    text: str
    place: tuple[int, int]
    problem: str


UNREADABLE = [
    Refusal(
        "syntax",
        "a: 1\nb: [1, 2\nc: 3\n",
        (3, 2),
        "did not find expected ',' or ']' (while parsing a flow sequence from line 2)",
    ),
    Refusal(
        "indentation",
        "a:\n  b: 1\n c: 2\n",
        (3, 2),
        "did not find expected key (while parsing a block mapping from line 1)",
    ),
    Refusal(
        "tab",
        "a:\n\tb: 1\n",
        (2, 1),
        "found character that cannot start any token"
        " (while scanning for the next token from line 2)",
    ),
    Refusal("version", "%YAML 3.0\n---\na: 1", (1, 1), "found incompatible YAML document"),
    Refusal("key twice", "a: 1\nb: 2\n  \na: 3", (4, 1), 'the key "a" appears twice'),
    Refusal("key twice, deep", "x:\n- {b: 1, c: 2, b: 3}", (2, 16), 'the key "b" appears twice'),
    Refusal("key twice after conversion", "1: a\n'1': b", (2, 1), 'the key "1" appears twice'),
    Refusal("key twice in JSON", '{"a": 1,\n "a": 2}', (2, 2), 'the key "a" appears twice'),
    Refusal("merge twice", "a: &x {}\nb: {<<: *x, <<: *x}", (2, 13), 'the key "<<" appears twice'),
    Refusal(
        "long key twice",
        "? " + "k" * 500 + "\n? " + "k" * 500,
        (2, 3),
        'the key "' + "k" * 55 + '..." appears twice',
    ),
    Refusal("text", "hello", (1, 1), "the document must be an object, not text"),
    Refusal("number", "---\n7", (2, 1), "the document must be an object, not a number"),
    Refusal("boolean", "a: 1\n---\nyes", (3, 1), "the document must be an object, not a boolean"),
    Refusal("list", "a: 1\n---\n\n- b", (4, 1), "the document must be an object, not a list"),
    Refusal("JSON list", '\n ["a"]', (2, 2), "the document must be an object, not a list"),
    Refusal(
        "item",
        "kind: List\nitems: [{}, 1]",
        (1, 1),
        "items[1] of the List must be an object, not a number",
    ),
    Refusal(
        "null item",
        "kind: List\nitems: [null]",
        (1, 1),
        "items[0] of the List must be an object, not null",
    ),
    Refusal(
        "items",
        "kind: List\nitems: {a: 1}",
        (1, 1),
        "the items of a List must be a list, not an object",
    ),
    Refusal(
        "tag",
        "a: !!python/object:os.system x",
        (1, 4),
        'the tag "tag:yaml.org,2002:python/object:os.system" is not known',
    ),
    Refusal("local tag", "a: !foo [1]", (1, 4), 'the tag "!foo" is not known'),
    Refusal(
        "binary", "a: !!binary aGk=", (1, 4), 'the tag "tag:yaml.org,2002:binary" is not known'
    ),
    Refusal(
        "tag of another kind", "a: !!map []", (1, 4), 'the tag "tag:yaml.org,2002:map" is not known'
    ),
    Refusal("no int", "a: !!int x", (1, 4), '"x" is not of the type int'),
    Refusal("bool is no int", "a: !!int yes", (1, 4), '"yes" is not of the type int'),
    Refusal("int is no bool", "a: !!bool 1", (1, 4), '"1" is not of the type bool'),
    Refusal("no null", "a: !!null x", (1, 4), '"x" is not of the type null'),
    Refusal("infinity", "a: -.inf", (1, 4), '"-.inf" cannot be written as JSON'),
    Refusal("not a number", "a: !!float .nan", (1, 4), '".nan" cannot be written as JSON'),
    Refusal("key is null", "~: 1", (1, 1), "a key must be a string"),
    Refusal("key is a list", "? [a]\n: 1", (1, 3), "a key must be a string"),
    Refusal("key is an alias of a list", "a: &x [1]\n*x : 1", (2, 1), "a key must be a string"),
    Refusal(
        "merge of text", "<<: x", (1, 5), "the value of << must be an object or a list of objects"
    ),
    Refusal("unknown alias", "a: *x", (1, 4), 'the alias "x" has no anchor before it'),
    Refusal(
        "alias of another document",
        "a: &x 1\n---\nb: *x",
        (3, 4),
        'the alias "x" has no anchor before it',
    ),
    Refusal("alias inside itself", "a: &x [*x]", (1, 8), 'the alias "x" is inside its own anchor'),
    Refusal("NUL", "a: 1\nb: \x00", (2, 4), "the character U+0000 is not allowed"),
    Refusal("escape sequence", "a: \x1b[31m", (1, 4), "the character U+001B is not allowed"),
    Refusal(
        "control character in JSON", '{"a": "\x01"}', (1, 8), "the character U+0001 is not allowed"
    ),
    Refusal("lone surrogate", "ä: \ud800", (1, 4), "the character U+D800 is not allowed"),
    Refusal(
        "lone surrogate in JSON", '{"a": "\udfff"}', (1, 8), "the character U+DFFF is not allowed"
    ),
    Refusal(
        "escaped lone surrogate",
        '{"a": "\\ud800"}',
        (1, 10),
        "found invalid Unicode character escape code (while parsing a quoted scalar from line 1)",
    ),
    Refusal("noncharacter", "a: \ufffe", (1, 4), "the character U+FFFE is not allowed"),
]


@pytest.mark.parametrize("case", UNREADABLE, ids=lambda case: case.name)
def test_an_unreadable_text_is_one_line_with_its_place(case: Refusal) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifests(case.text)

    assert (caught.value.line, caught.value.column) == case.place
    assert caught.value.problem == case.problem
    line, column = case.place
    assert str(caught.value) == f"line {line}, column {column}: {case.problem}"


@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ("{a: ", "}"), ('{"a":', "}"), ("- ", ""), ("a: [", "]")]
)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 100_000])
def test_deep_nesting_is_refused(opening: str, closing: str, levels: int) -> None:
    text = "a: " + "{b: " + "[" * (levels - 2) if opening == "a: [" else opening * levels

    with pytest.raises(ManifestError, match="nested more than 200 levels deep"):
        parse_manifests(text + closing * levels)


def test_closed_deep_json_is_refused() -> None:
    text = '{"a":' * 100_000 + "1" + "}" * 100_000

    with pytest.raises(ManifestError, match="line 1, column 1001: nested more than"):
        parse_manifests(text)


@pytest.mark.parametrize("opening", ['{"a":', "{a: "])
def test_nesting_up_to_the_limit_is_read(opening: str) -> None:
    value: Any
    (value,) = parse_manifests(opening * MAX_DEPTH + "1" + "}" * MAX_DEPTH)

    for _ in range(MAX_DEPTH):
        value = value["a"]
    assert value == 1


def test_nesting_by_aliases_is_refused() -> None:
    links = [f"a{i}: &a{i} " + "[" * 50 + f"*a{i - 1}" + "]" * 50 for i in range(1, 5)]

    with pytest.raises(ManifestError, match=r"line 5, .* nested more than 200 levels deep"):
        parse_manifests("\n".join(["a0: &a0 [x]", *links]))


def test_a_billion_laughs_are_refused() -> None:
    lines = ["a0: &a0 [lol, lol, lol]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]

    with pytest.raises(ManifestError, match="aliases expand to more than 1,000,000 nodes"):
        parse_manifests("\n".join(lines))


def test_one_long_string_a_thousand_times_is_refused() -> None:
    text = "a: &a " + "x" * 1_000_000 + "\nb: [" + "*a," * 1000 + "]"

    with pytest.raises(ManifestError, match="aliases expand to more than 1,000,000 nodes"):
        parse_manifests(text)


def test_aliases_share_nothing() -> None:
    (value,) = parse_manifests("a: &x {b: [1]}\nc: *x\nd: {<<: *x}")

    value["a"]["b"].append(2)

    assert value["c"] == value["d"] == {"b": [1]}


def test_the_parser_in_pure_python_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_composer, "_LOADER", yaml.SafeLoader)

    for case in READABLE:
        if len(case.text) < 100_000:
            assert parse_manifests(case.text) == case.objects, case.name
    for refusal in UNREADABLE:
        with pytest.raises(ManifestError):
            parse_manifests(refusal.text)


YAML_PIECES = st.sampled_from(
    [
        *"abc01 \n\t:-?,[]{}#&*!|>'\"%@`~<=.\\",
        "\n  ",
        "---\n",
        "...\n",
        "<<: ",
        "*a",
        "&a ",
        "!!int ",
        "%TAG ! x\n",
        "%YAML 1.1\n",
        "\\ud800",
        "\\x41",
        '"a": ',
        "- ",
        "? ",
        "\ufeff",
        "\x00",
        "\x85",
        "\u2028",
        "\ud800",
        "\U0001f680",
        "kind: List\n",
        "items: ",
        "1e9",
        "!%ff",
        "!<x>",
        "|+2\n",
    ]
)


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
@given(text=st.one_of(st.text(), st.lists(YAML_PIECES, max_size=40).map("".join)))
def test_any_text_is_read_or_refused(loader: Any, text: str) -> None:
    try:
        with mock.patch.object(yaml_composer, "_LOADER", loader):
            objects = parse_manifests(text)
    except ManifestError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
    else:
        json.dumps(objects, allow_nan=False, ensure_ascii=False).encode()


PRINTABLE = st.text(st.characters(exclude_categories=["Cs"]))
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | PRINTABLE
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(PRINTABLE, JSON_VALUES, max_size=4).filter(
    lambda value: "items" not in value
)


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_json_is_read_back(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    assert parse_manifests(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) == [value]


def is_text_to_both(value: Any) -> bool:
    """PyYAML writes some words without quotes that kubectl's YAML reads as booleans or numbers."""
    match value:
        case dict():
            return all(is_text_to_both(part) for pair in value.items() for part in pair)
        case list():
            return all(map(is_text_to_both, value))
        case str() if resolve(value) != value:
            return not value or not isinstance(yaml.safe_load(f"[{value}]")[0], str)
        case _:
            return True


@given(OBJECTS.filter(is_text_to_both))
def test_what_pyyaml_writes_is_read_back(value: dict[str, Any]) -> None:
    assert parse_manifests(yaml.safe_dump(value)) == [value]
