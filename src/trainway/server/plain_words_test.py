"""Every kind of error that a model of ours can have is told in our words."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from trainway.server.plain_words import plain


class _Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


@dataclass(frozen=True)
class Case:
    kind: Any
    value: object
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Case(Annotated[int, Field(ge=1)], 0, "it must be at least 1"),
        Case(Annotated[int, Field(le=1000)], 10**8, "it must be at most 1000"),
        Case(Annotated[float, Field(gt=0)], 0, "it must be more than 0.0"),
        Case(Annotated[int, Field(lt=5)], 5, "it must be less than 5"),
        Case(int, "x", "it must be a whole number"),
        Case(int, 1.5, "it must be a whole number"),
        Case(int, [], "it must be a whole number"),
        Case(int, "9" * 5000, "it must be a whole number"),
        Case(float, "x", "it must be a number"),
        Case(bool, "maybe", "it must be true or false"),
        Case(bool, [], "it must be true or false"),
        Case(str, 5, "it must be text"),
        Case(Annotated[str, Field(max_length=2)], "abc", "it may have at most 2 characters"),
        Case(Annotated[str, Field(min_length=2)], "a", "it must have at least 2 characters"),
        Case(dict[str, int], [], "it must be an object"),
        Case(_Model, 5, "it must be an object"),
        Case(_Model, {}, "it is missing"),
        Case(_Model, {"name": "a", "nmae": "b"}, "there is no such field"),
        Case(list[int], {}, "it must be a list"),
        Case(Annotated[list[int], Field(max_length=1)], [1, 2], "it may have at most 1 entries"),
        Case(Annotated[list[int], Field(min_length=1)], [], "it must have at least 1 entries"),
        Case(_Colour, "green", "it must be 'red' or 'blue'"),
        Case(Literal["a", "b"], "c", "it must be 'a' or 'b'"),
    ],
    ids=lambda case: f"{case.said}: {str(case.value)[:20]}",
)
def test_an_error_is_told_plainly(case: Case) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(case.kind).validate_python(case.value)
    assert plain(dict(caught.value.errors()[0])) == case.said


def test_what_is_not_foreseen_keeps_its_words() -> None:
    assert plain({"type": "url_parsing", "msg": "it is no URL"}) == "it is no URL"
