"""Requests are bound as FastAPI binds them: what it answers, ours answer too, for every route."""

import inspect
import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainway.engine.usage import Grouping
from trainway.server.api import Api, Header, Query
from trainway.server.binding import Binding, is_json
from trainway.server.binding_testing import JSON, Asked, Pair


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int = Field(1, ge=1)
    names: list[str] = []


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=5)
    deep: bool = False
    inner: Inner = Inner()
    many: list[Inner] = []
    ratio: float = 0.5


class Lenient(BaseModel):
    name: str = ""
    deep: bool = False


class Wanted(BaseModel):
    limit: int = Field(10, ge=1, le=100)
    active: bool | None = None
    label: list[str] = Field([], max_length=3)
    by: Grouping | None = None
    must: str


class Renamed(BaseModel):
    limit: int = Field(1, alias="most")


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = 10
    label: list[int] = []


def _api() -> Api:
    """A route for each kind of parameter."""
    api = Api()

    @api.get("/path/{ref}/{other}")
    async def path(other: str, ref: str) -> Response:
        return Response()

    @api.get("/query")
    async def query(  # noqa: PLR0917 - one for each kind
        must: int,
        count: Annotated[int, Query(ge=0, lt=10)] = 3,
        maybe: Annotated[int | None, Query(ge=-5, le=5)] = None,
        force: bool = False,
        ratio: float = 0.5,
        text: Annotated[str, Query(max_length=3)] = "",
        by: Grouping | None = None,
        many: Annotated[list[int], Query(max_length=2)] = [],  # noqa: B006 - it is copied
    ) -> Response:
        return Response()

    @api.get("/wanted")
    async def wanted(wanted: Annotated[Wanted, Query()]) -> Response:
        return Response()

    @api.get("/forbidding")
    async def forbidding(wanted: Annotated[Forbidding, Query()], limit: int = 0) -> Response:
        return Response()

    @api.get("/headers")
    async def headers(
        must_have: Annotated[str, Header(max_length=4)],
        count: Annotated[int, Header()] = 1,
        accept: Annotated[str, Header()] = "",
    ) -> Response:
        return Response()

    @api.post("/body/{ref}")
    async def body(ref: str, body: Body, force: bool = False) -> Response:
        return Response()

    @api.patch("/maybe")
    async def maybe(body: Lenient | None = None) -> Response:
        return Response()

    @api.post("/lenient")
    async def lenient(body: Lenient, key: Annotated[str, Header(max_length=4)] = "") -> Response:
        return Response()

    @api.delete("/request/{ref}")
    async def request(request: Request, ref: str) -> Response:
        return Response()

    return api


@cache
def _pair() -> Pair:
    return Pair(_api().declarations)


def _assert_alike(asked: Asked) -> int:
    return _pair().assert_alike(asked)


@dataclass(frozen=True)
class Case:
    """A request, and whether it is taken."""

    name: str
    asked: Asked
    status: int


def _get(path: str, query: str = "") -> Asked:
    return Asked("GET", path, query, headers=())


def _headed(*headers: tuple[str, str]) -> Asked:
    return Asked("GET", "/headers", headers=headers)


def _patch(body: bytes, content_type: str = JSON[1]) -> Asked:
    return Asked("PATCH", "/maybe", "", body, (("content-type", content_type),))


def _post(path: str, body: bytes, content_type: str | None = JSON[1], query: str = "") -> Asked:
    headers = (("content-type", content_type),) if content_type is not None else ()
    return Asked("POST", path, query, body, headers)


CASES = [
    Case("names of the path, in any order", _get("/path/a/b"), 200),
    Case("a name with a space", _get("/path/a b/%2F"), 200),
    Case("a name that no store takes", _get("/path/a\0/b"), 422),
    Case("half of a surrogate pair", _get("/path/\ud800/b"), 422),
    Case("a path that is not there", _get("/path/a"), 404),
    Case("a slash too many", _get("/query/"), 307),
    Case("another method", replace(_get("/query"), method="POST"), 405),
    Case("HEAD is another method", replace(_get("/query", "must=1"), method="HEAD"), 405),
    Case("OPTIONS is another method", replace(_get("/query"), method="OPTIONS"), 405),
    Case("a query without what it must have", _get("/query"), 422),
    Case("a number as text", _get("/query", "must=1"), 200),
    Case("a number with a sign and spaces", _get("/query", "must=%20%2B1%20"), 200),
    Case("a number with underscores", _get("/query", "must=1_0"), 200),
    Case("a whole number with a fraction of zero", _get("/query", "must=1.0"), 200),
    Case("a fraction", _get("/query", "must=1.5"), 422),
    Case("an empty number", _get("/query", "must="), 422),
    Case("a parameter without a value", _get("/query", "must"), 422),
    Case("a number of many digits", _get("/query", "must=" + "9" * 5000), 422),
    Case("a number of other digits", _get("/query", "must=%D9%A1"), 422),
    Case("a name in other letters", _get("/query", "MUST=1"), 422),
    Case("the last of several counts", _get("/query", "must=x&must=2"), 200),
    Case("the last of several is wrong", _get("/query", "must=2&must=x"), 422),
    Case("an unknown parameter", _get("/query", "must=1&what=2"), 200),
    Case("below the least", _get("/query", "must=1&count=-1"), 422),
    Case("above the most", _get("/query", "must=1&count=10"), 422),
    Case("an optional number", _get("/query", "must=1&maybe=-5"), 200),
    Case("an optional number too small", _get("/query", "must=1&maybe=-6"), 422),
    Case("an optional number that says null", _get("/query", "must=1&maybe=null"), 422),
    Case("an optional number that is empty", _get("/query", "must=1&maybe="), 422),
    *(Case(f"true as {text!r}", _get("/query", f"must=1&force={text}"), 200)
      for text in ("1", "true", "TRUE", "on", "yes", "t", "y", "0", "off", "False", "n")),
    *(Case(f"true is not {text!r}", _get("/query", f"must=1&force={text}"), 422)
      for text in ("", "2", "1.0", "ja", "%20true", "None")),
    *(Case(f"a ratio of {text!r}", _get("/query", f"must=1&ratio={text}"), 200)
      for text in ("1", "1e3", "nan", "inf", "-0")),
    Case("a text too long", _get("/query", "must=1&text=abcd"), 422),
    Case("an umlaut has one character", _get("/query", "must=1&text=%C3%A4%C3%A4%C3%A4"), 200),
    Case("bytes that are not UTF-8", _get("/query", "must=1&text=%FF"), 200),
    Case("a plus is a space", _get("/query", "must=1&text=a+b"), 200),
    Case("a choice", _get("/query", "must=1&by=label"), 200),
    Case("no choice", _get("/query", "must=1&by=LABEL"), 422),
    Case("several numbers", _get("/query", "must=1&many=1&many=2"), 200),
    Case("one of several is wrong", _get("/query", "must=1&many=1&many=x"), 422),
    Case("several that are too many", _get("/query", "must=1&many=1&many=2&many=3"), 422),
    Case("one that is empty", _get("/query", "must=1&many="), 422),
    Case("the first that is wrong is named", _get("/query", "text=abcd&must=x&count=99"), 422),
    Case("a query string of many separators", _get("/query", "&&must=1&;=&="), 200),
    Case("the character U+0000", _get("/query", "must=1&text=%00"), 422),
    Case("U+0000 in a name", _get("/query", "must=1&%00=1"), 422),
    Case("a query as a model", _get("/wanted", "must=a&limit=5&active=no&label=b&label=c"), 200),
    Case("a model without what it must have", _get("/wanted", "limit=5"), 422),
    Case("a model with an unknown parameter", _get("/wanted", "must=a&x=1&x=2"), 200),
    Case("a model with one too many", _get("/wanted", "must=a&" + "label=b&" * 4), 422),
    Case("a model with a number too large", _get("/wanted", "must=a&limit=101"), 422),
    Case("the last of several in a model", _get("/wanted", "must=a&limit=x&limit=7"), 200),
    Case("a choice in a model", _get("/wanted", "must=a&by=user"), 200),
    Case("no choice in a model", _get("/wanted", "must=a&by=&active="), 422),
    Case("a model that forbids others", _get("/forbidding", "limit=1&label=1&label=2"), 200),
    Case("a model is given another", _get("/forbidding", "limit=1&z=1&a=2&a=3"), 422),
    Case("headers", _headed(("must-have", "a"), ("COUNT", "2")), 200),
    Case("a header with an underscore", _headed(("must_have", "a")), 422),
    Case("no header", _headed(), 422),
    Case("an empty header", _headed(("must-have", "")), 200),
    Case("a header too long", _headed(("must-have", "abcde")), 422),
    Case("the first of several headers", _headed(("must-have", "a"), ("must-have", "b")), 200),
    Case("a header that is no number", _headed(("must-have", "a"), ("count", "x")), 422),
    Case("a header in Latin-1", _headed(("must-have", "\xe4")), 200),
    Case("a body", _post("/body/a", b'{"name": "a", "inner": {"count": 2}}'), 200),
    Case("a body with spaces", _post("/body/a", b' \n{"name": "a"}\r\n'), 200),
    Case("no body", _post("/body/a", b""), 422),
    Case("no body and no type", _post("/body/a", b"", None), 422),
    Case("a body of spaces", _post("/body/a", b"  "), 422),
    *(Case(f"a body that is {text[:40]}", _post("/body/a", text.encode()), 422)
      for text in ("null", "1", "true", '"text"', "[]", '[{"name": "a"}]', "{}", "{", "{]", "nul",
                   "NaN", '{"name": "a",}', "{'name': 1}", '{"name": "a"} x', "[" * 300,
                   "[" * 100_000, '{"name": 1}', '{"name": null}', '{"name": "abcdef"}',
                   '{"name": "\\ud800"}', '{"name": "\\u0000"}')),
    *(Case(f"a body with {text}", _post("/body/a", f'{{"name": "a", {text}}}'.encode()), 422)
      for text in ('"more": 1', '"deep": 2', '"deep": null', '"inner": {"count": 0}',
                   '"inner": {"count": 1.5}', '"inner": {"count": "x"}', '"inner": null',
                   '"inner": {"count": 99999999999999999999999}', '"many": [{}, {"names": [1]}]',
                   '"many": {"0": {}}', '"ratio": NaN', '"ratio": 1e999', '"\\u0000": 1')),
    *(Case(f"a body with {text}", _post("/body/a", f'{{"name": "a", {text}}}'.encode()), 200)
      for text in ('"deep": "yes"', '"deep": 1', '"inner": {"count": "3"}', '"name": "b"',
                   '"inner": {"count": 2.0}', '"ratio": 1', '"name": "\\ud83d\\ude00"')),
    Case("a body that is not UTF-8", _post("/body/a", b'{"name": "\xff"}'), 422),
    Case("a body with a byte order mark", _post("/body/a", b'\xef\xbb\xbf{"name": "a"}'), 422),
    Case("a body in UTF-16", _post("/body/a", '{"name": "a"}'.encode("utf-16")), 422),
    Case("what is around a body comes first", _post("/body/a", b"[]", query="force=x"), 422),
    Case("but not before its syntax", _post("/body/a", b"{", query="force=x"), 422),
    Case("a header comes before the body",
         Asked("POST", "/lenient", "", b"[]", (JSON, ("key", "abcde"))), 422),
    Case("a body that is cut off", replace(_post("/body/a", b'{"na'), is_cut=True), 400),
    Case("a body in a GET", replace(_get("/query", "must=1"), body=b"{"), 200),
    Case("an optional body", _patch(b'{"name": "a"}'), 200),
    Case("an optional body that is not there", _patch(b""), 200),
    Case("an optional body that is null", _patch(b"null"), 200),
    Case("an optional body that is wrong", _patch(b"[]"), 422),
    Case("an optional body as text", _patch(b"{}", "text/plain"), 422),
    Case("an optional body of spaces as text", _patch(b" ", "text/plain"), 422),
    Case("the request itself", Asked("DELETE", "/request/a", "", b"anything", ()), 200),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_request_is_bound_as_fastapi_binds_it(case: Case) -> None:
    assert _assert_alike(case.asked) == case.status


JSON_TYPES = [
    "application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;",
    " application/json ", "application/json ; x=y", "application/vnd.api+json", "application/+json",
    "application/problem+JSON; a=b", "application/json\xa0", "application/json\x0b",
]  # fmt: skip
OTHER_TYPES = [
    "", " ", ";", "/", "json", "text/plain", "text/json", "text/plain; application/json",
    "text/plain;charset=application/json", "application/x-www-form-urlencoded", "application/jsonx",
    "multipart/form-data; boundary=x", "multipart/form-data", "application/xjson",
    "application/json/x", "application//json", "application /json", "application/ json",
    "x-application/json", "application/json, text/plain", "text/plain, application/json",
    "application/jsonp", "application/json+xml", "application", "application/", "*/*",
    "application/*", "\xe4application/json",
]  # fmt: skip


@pytest.mark.parametrize("content_type", [*JSON_TYPES, *OTHER_TYPES, None])
def test_what_does_not_say_that_it_is_json_is_not_read_as_such(content_type: str | None) -> None:
    bodies = (b'{"name": "a"}', b"{}", b"", b"null", b'name=a&{"name": "a"}')
    statuses = [_assert_alike(_post("/lenient", body, content_type)) for body in bodies]
    is_read = content_type in JSON_TYPES
    assert statuses == [200 if is_read else 422] * 2 + [422] * 3
    assert is_json(content_type or "") is is_read


_WORDS = st.sampled_from(
    ["must", "count", "maybe", "many", "text", "limit", "label", "by", "ref", "1", "0", "true", "x",
     "", "label=", "&", "=", "%00", "%C3", "+"]
)  # fmt: skip
_QUERIES = st.lists(st.tuples(_WORDS, _WORDS), max_size=4).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "deep", "inner", "count", "many", "x"]), inner)
    ),
    max_leaves=6,
)
_BODIES = st.one_of(_VALUES.map(lambda value: json.dumps(value).encode()), st.binary(max_size=8))
_TYPES = st.sampled_from([*JSON_TYPES, *OTHER_TYPES])
_PATHS = st.sampled_from(
    [("GET", "/query"), ("GET", "/wanted"), ("GET", "/forbidding"), ("GET", "/headers"),
     ("POST", "/body/a"), ("PATCH", "/maybe"), ("POST", "/lenient"), ("DELETE", "/request/a")]
)  # fmt: skip


@given(_PATHS, _QUERIES, _BODIES, _TYPES, st.booleans())
def test_any_request_is_bound_as_fastapi_binds_it(
    path: tuple[str, str], query: str, body: bytes, content_type: str, has_key: bool
) -> None:
    key = (("must-have", "abc"), ("key", "abcd")) if has_key else ()
    _assert_alike(Asked(*path, query, body, (("content-type", content_type), *key)))


@dataclass(frozen=True)
class Unknown:
    """A parameter of a kind that no route has."""

    why: str
    annotation: Any
    name: str = "wanted"


UNKNOWN = [
    Unknown("FastAPI would look for it in the body", list[str]),
    Unknown("two marks", Annotated[int, Query(), Query()]),
    Unknown("a mark of somebody else", Annotated[int, Field(ge=1)]),
    Unknown("two types", int | str),
    Unknown("an object without a model", dict[str, str]),
    Unknown("a query that is there or not", Annotated[Lenient | None, Query()]),
    Unknown("a model whose fields have other names in a query", Annotated[Renamed, Query()]),
    Unknown("a header that comes many times", Annotated[list[str], Header()]),
    Unknown("in the path, but marked as a query", Annotated[str, Query()], "ref"),
    Unknown("no annotation", inspect.Parameter.empty),
]


@pytest.mark.parametrize("unknown", UNKNOWN, ids=lambda unknown: unknown.why)
def test_a_parameter_of_another_kind_is_refused(unknown: Unknown) -> None:
    async def endpoint(**_arguments: Any) -> Response:
        return Response()

    parameter = inspect.Parameter(
        unknown.name, inspect.Parameter.KEYWORD_ONLY, annotation=unknown.annotation
    )
    vars(endpoint)["__signature__"] = inspect.Signature([parameter])
    with pytest.raises(TypeError):
        Binding(endpoint, ("ref",))


def test_a_request_has_one_body() -> None:
    async def endpoint(_first: Lenient, _second: Body) -> Response:
        return Response()

    with pytest.raises(TypeError, match="one body"):
        Binding(endpoint, ())
