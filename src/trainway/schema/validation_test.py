from dataclasses import dataclass
from typing import Any

import pytest

from trainway.schema.defaulting import with_defaults
from trainway.schema.structural import Rule, Schema
from trainway.schema.validation import closest, validate

NOT_A_TIME = "must be a date and time as in RFC 3339: 2026-01-31T12:00:00Z"
NAME = Schema(type="string", min_length=1, max_length=5, pattern="^[a-z]+$")
ITEM = Schema(
    type="object", properties={"name": NAME, "size": Schema(type="integer")}, required=("name",)
)
SCHEMA = Schema(
    type="object",
    properties={
        "count": Schema(type="integer", format="int32", minimum=0, maximum=9, default=1),
        "mode": Schema(type="string", enum=("hard", "soft")),
        "ratio": Schema(type="number"),
        "when": Schema(type="string", format="date-time"),
        "amount": Schema(int_or_string=True),
        "items": Schema(
            type="array", items=ITEM, list_type="map", list_map_keys=("name",), max_items=3
        ),
        "tags": Schema(type="array", items=Schema(type="string"), list_type="set", min_items=1),
        "labels": Schema(type="object", additional=Schema(type="string")),
        "open": Schema(type="object", properties={"image": Schema(type="string")}, open=True),
        "empty": Schema(type="object"),
        "free": Schema(type="object", preserve_unknown=True),
        "some": Schema(type="object", min_properties=1),
    },
    required=("mode",),
)


@dataclass(frozen=True)
class Case:
    value: Any
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def soft(**fields: Any) -> dict[str, Any]:
    return {"mode": "soft", **fields}


CASES = [
    Case(soft(count=3, ratio=1, amount="1Gi", when="2026-01-01T00:00:00Z", free={"x": [1]})),
    Case(soft(count=None)),
    Case(soft(count=2.0)),
    Case({}, ("mode: Required value",)),
    Case({"mode": None}, ("mode: Required value",)),
    Case([], ('Invalid value: "array": must be of type object',)),
    Case({"mode": "x"}, ('mode: Unsupported value: "x": supported values: "hard", "soft"',)),
    Case(soft(count=-1), ("count: Invalid value: -1: must be greater than or equal to 0",)),
    Case(soft(count=10), ("count: Invalid value: 10: must be less than or equal to 9",)),
    Case(soft(count="1"), ('count: Invalid value: "string": must be of type integer',)),
    Case(soft(count=True), ('count: Invalid value: "boolean": must be of type integer',)),
    Case(soft(count=2.5), ('count: Invalid value: "number": must be of type integer',)),
    Case(soft(amount=[]), ('amount: Invalid value: "array": must be of type integer or string',)),
    Case(
        soft(when="yesterday"),
        (f'when: Invalid value: "yesterday": {NOT_A_TIME}',),
    ),
    Case(
        soft(items=[{"name": "a"}, {"name": "a"}, {"name": ""}]),
        (
            'items[1]: Duplicate value: {"name":"a"}',
            'items[2].name: Invalid value: "": should be at least 1 chars long',
            "items[2].name: Invalid value: \"\": should match '^[a-z]+$'",
        ),
    ),
    Case(
        soft(items=[{"name": "toolong"}]),
        ("items[0].name: Too long: may not be more than 5 characters long",),
    ),
    Case(
        soft(items=[{"name": n} for n in "abcd"]), ("items: Too many: must have at most 3 items",)
    ),
    Case(soft(items=[{"size": 1}]), ("items[0].name: Required value",)),
    Case(soft(tags=["a", "b", "a"]), ('tags[2]: Duplicate value: "a"',)),
    Case(soft(tags=[]), ("tags: Invalid value: 0: should have at least 1 items",)),
    Case(
        soft(labels={"a.io/b": 1}),
        ('labels[a.io/b]: Invalid value: "integer": must be of type string',),
    ),
    Case(soft(some={}), ("some: Invalid value: {}: should have at least 1 properties",)),
    Case(soft(cuont=1), ('cuont: Unknown field: did you mean "count"?',)),
    Case(soft(zzz=1), ("zzz: Unknown field",)),
    Case(soft(open={"imagee": "x"}), ('open.imagee: Unknown field: did you mean "image"?',)),
    Case(soft(open={"future": 1}), (), ("open.future: Unknown field",)),
    Case(soft(empty={"x": 1}), ("empty.x: Unknown field",)),
    Case(
        soft(items=[{"name": "a\n"}]),
        ("items[0].name: Invalid value: \"a\\n\": should match '^[a-z]+$'",),
    ),
    Case({"mode": "soft", 1: 2}, ("1: Invalid value: 1: a key must be a string",)),
    Case(
        {"items": "x", "count": -1},
        (
            "count: Invalid value: -1: must be greater than or equal to 0",
            "mode: Required value",
            'items: Invalid value: "string": must be of type array',
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.value)[:60])
def test_cases(case: Case) -> None:
    report = validate(SCHEMA, case.value)
    assert tuple(map(str, report.errors)) == case.errors
    assert tuple(map(str, report.warnings)) == case.warnings


EVEN = Rule("self % 2 == 0", "must be even", lambda value, _old: value % 2 == 0)
FIXED = Rule("self == oldSelf", "field is immutable", lambda value, old: value == old)
SUM = Rule("self.a + self.b < 9", "must be small", lambda v, _old: v["a"] + v["b"] < 9)
RULED = Schema(
    type="object",
    properties={
        "a": Schema(type="integer", rules=(EVEN, FIXED)),
        "b": Schema(type="integer", rules=(EVEN,)),
        "list": Schema(
            type="array",
            list_type="map",
            list_map_keys=("name",),
            items=Schema(
                type="object",
                properties={"name": NAME, "x": Schema(type="integer", rules=(FIXED,))},
            ),
        ),
    },
    rules=(SUM,),
)


def test_rules_of_parent_and_children_are_told_together_parent_first() -> None:
    errors = validate(RULED, {"a": 7, "b": 9}).errors
    assert list(map(str, errors)) == [
        "Invalid value: must be small",
        "a: Invalid value: 7: must be even",
        "b: Invalid value: 9: must be even",
    ]


def test_no_rule_is_asked_above_a_wrong_type() -> None:
    errors = validate(RULED, {"a": "7", "b": 9}).errors
    assert list(map(str, errors)) == [
        'a: Invalid value: "string": must be of type integer',
        "b: Invalid value: 9: must be even",
    ]


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ({"a": 2, "b": 2}, {"a": 4, "b": 2}, ["a: Invalid value: 4: field is immutable"]),
        ({"b": 2}, {"a": 4, "b": 2}, []),
        (
            {"a": 2, "b": 2, "list": [{"name": "p", "x": 1}, {"name": "q", "x": 2}]},
            {"a": 2, "b": 2, "list": [{"name": "q", "x": 3}, {"name": "new", "x": 9}]},
            ["list[0].x: Invalid value: 3: field is immutable"],
        ),
    ],
)
def test_transition_rules(old: Any, new: Any, errors: list[str]) -> None:
    assert list(map(str, validate(RULED, new, old).errors)) == errors


@pytest.mark.parametrize(
    ("name", "meant"), [("nodess", "nodes"), ("NODES", "nodes"), ("zebra", None)]
)
def test_closest(name: str, meant: str | None) -> None:
    assert closest(name, ["nodes", "image"]) == meant


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ({"mode": "soft"}, {"mode": "soft", "count": 1}),
        ({"mode": "soft", "count": None}, {"mode": "soft", "count": 1}),
        ({"count": 2.0, "open": {"x": None}}, {"count": 2, "open": {}}),
        ({"count": 2.5}, {"count": 2.5}),
    ],
)
def test_defaults(value: Any, filled: Any) -> None:
    before = repr(value)
    assert with_defaults(SCHEMA, value) == filled
    assert repr(value) == before


def test_defaults_of_open_types_stay_out() -> None:
    port = Schema(type="object", properties={"protocol": Schema(type="string", default="TCP")})
    assert with_defaults(port, {}) == {"protocol": "TCP"}
    opened = Schema(type="object", properties=port.properties, open=True)
    assert with_defaults(opened, {}) == {}
