from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pytest
from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import Field

from trainway.api.constraints import (
    ATOMIC,
    SET,
    Int32,
    Int64,
    Kube,
    Rules,
    Shaped,
    Time,
    crd_default,
    map_by,
    pattern,
)
from trainway.api.derivation import field_docstrings, schema_of
from trainway.api.model import Model
from trainway.json_types import Json
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Rule, Schema

EVEN = Rule("self % 2 == 0", "must be even", lambda value, _old: value % 2 == 0)
ODD = Rule("self % 2 == 1", "must be odd", lambda value, _old: value % 2 == 1)


class Part(Model):
    rules: ClassVar[tuple[Rule, ...]] = (EVEN,)
    min_properties: ClassVar[int | None] = 1

    name: str


PART = Schema(
    type="object",
    properties={"name": Schema(type="string")},
    required=("name",),
    min_properties=1,
    rules=(EVEN,),
)


@dataclass(frozen=True)
class Case:
    annotation: Any
    schema: Schema

    def __str__(self) -> str:
        return str(self.annotation)[:60]


STRING = Schema(type="string")


@pytest.mark.parametrize(
    "case",
    [
        Case(str, STRING),
        Case(bool, Schema(type="boolean")),
        Case(int, Schema(type="integer")),
        Case(float, Schema(type="number")),
        Case(str | None, STRING),
        Case(Int32, Schema(type="integer", format="int32")),
        Case(Int64 | None, Schema(type="integer", format="int64")),
        Case(Time, Schema(type="string", format="date-time")),
        Case(
            Annotated[Int32, Ge(0), Le(9)],
            Schema(type="integer", format="int32", minimum=0, maximum=9),
        ),
        Case(
            Annotated[str, MinLen(1), MaxLen(9)], Schema(type="string", min_length=1, max_length=9)
        ),
        Case(Annotated[str, pattern("^a$")], Schema(type="string", pattern="^a$")),
        Case(Literal["a", "b"], Schema(type="string", enum=("a", "b"))),
        Case(list[str], Schema(type="array", items=STRING)),
        Case(
            Annotated[list[str], SET, MinLen(1), MaxLen(2)],
            Schema(type="array", items=STRING, list_type="set", min_items=1, max_items=2),
        ),
        Case(Annotated[list[str], ATOMIC], Schema(type="array", items=STRING, list_type="atomic")),
        Case(
            Annotated[list[Part], map_by("name")],
            Schema(type="array", items=PART, list_type="map", list_map_keys=("name",)),
        ),
        Case(dict[str, str], Schema(type="object", additional=STRING)),
        Case(Json, Schema(type="object", preserve_unknown=True)),
        Case(Part, PART),
        Case(Part | None, PART),
        Case(Annotated[Json, Kube("EnvVar")], kube("EnvVar")),
        Case(Annotated[int | str, Kube("Quantity")], kube("Quantity")),
        Case(Annotated[Json, Shaped(Part)], PART),
        Case(Annotated[Json, Shaped(STRING)], STRING),
    ],
    ids=str,
)
def test_type_to_schema(case: Case) -> None:
    model = type("Whole", (Model,), {"__annotations__": {"field": case.annotation}})
    assert schema_of(model).properties == {"field": case.schema}


def test_rules_of_a_type_come_before_those_of_a_field() -> None:
    class Whole(Model):
        part: Annotated[Part, Rules(ODD)]

    assert schema_of(Whole).properties["part"].rules == (EVEN, ODD)


def test_only_plain_defaults_are_defaults_of_the_crd() -> None:
    class Whole(Model):
        needed: str
        plain: int = 3
        flag: bool = False
        absent: str | None = None
        made: list[str] = Field(default_factory=list)
        filled: Annotated[Part, crd_default({"name": "x"})] = Field(
            default_factory=lambda: Part(name="x")
        )

    schema = schema_of(Whole)
    assert schema.required == ("needed",)
    assert {
        n: s.default for n, s in schema.properties.items() if s.default is not Schema().default
    } == {
        "plain": 3,
        "flag": False,
        "filled": {"name": "x"},
    }


def test_a_mark_no_schema_can_tell_is_a_mistake() -> None:
    class Whole(Model):
        field: Annotated[int, Gt(3)]

    with pytest.raises(TypeError, match=r"Gt\(gt=3\) says nothing about a schema"):
        schema_of(Whole)


class Described(Model):
    """A model with words."""

    first: str
    """What comes
    first."""
    second: str
    third: Part
    """A part."""


class Extended(Described):
    second: str
    """Said later."""


def test_descriptions_are_inherited() -> None:
    assert field_docstrings(Extended) == {
        "first": "What comes first.",
        "second": "Said later.",
        "third": "A part.",
    }


def test_descriptions_are_the_strings_below_the_fields() -> None:
    assert field_docstrings(Described) == {"first": "What comes first.", "third": "A part."}
    described = schema_of(Described, field_docstrings)
    assert {n: s.description for n, s in described.properties.items()} == {
        "first": "What comes first.",
        "second": "",
        "third": "A part.",
    }
    assert schema_of(Described).properties["first"].description == ""


def test_a_schema_is_derived_once() -> None:
    assert schema_of(Part) is schema_of(Part)
