"""Binds requests to the parameters of endpoints.

For the kinds of parameters that our routes have it does what FastAPI does, answer for answer
(`binding_test` compares them). Any other kind is refused when a binding is made:

    ref: str                                        a name in the path
    force: bool = False                             of the query string
    after: Annotated[int, Query(ge=0)] = 0          the same, within limits
    series: Annotated[list[str], Query()] = []      the same, any number of times
    wanted: Annotated[Model, Query()]               the query string as a whole
    last_event_id: Annotated[str, Header()] = ""    a header
    body: Model, body: Model | None = None          the body, which must say that it is JSON
    request: Request                                the request itself
"""

import inspect
import json
from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from trainway.errors import TrainwayError
from trainway.server.api import Endpoint, Header, Parameter, Query
from trainway.server.json_body import MalformedError, Step, StrictRequest
from trainway.server.plain_words import MISSING, no_json, plain

_ABSENT: Final = object()
"""What a request does not have; None it may have."""


class _Place(IntEnum):
    """Where parameters are, in the order in which they are looked at."""

    PATH = auto()
    QUERY = auto()
    HEADER = auto()
    BODY = auto()
    REQUEST = auto()


@dataclass(frozen=True)
class _Received:
    """What parameters are found in."""

    request: StrictRequest
    body: Any


@dataclass(frozen=True)
class _Found:
    """How a parameter is found."""

    place: _Place
    find: Callable[[_Received], Any]
    field: tuple[Step, ...] = ()
    """What it is called where it is wrong."""


@dataclass(frozen=True)
class _Bound:
    """A parameter, and what it must be."""

    name: str
    found: _Found
    adapter: TypeAdapter[Any]
    default: Any

    def value(self, received: _Received) -> Any:
        """The value in a request; MalformedError, where there is none."""
        value = self.found.find(received)
        if value is _ABSENT:
            if self.default is inspect.Parameter.empty:
                raise _malformed(MISSING, self.found.field)
            return deepcopy(self.default)
        try:
            return self.adapter.validate_python(value, from_attributes=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise _malformed(plain(dict(first)), (*self.found.field, *first["loc"])) from None


class Binding:
    """The parameters of an endpoint."""

    def __init__(self, endpoint: Endpoint, in_path: Collection[str]) -> None:
        """Read the signature of an endpoint, given what of it the path names.

        TypeError, where a parameter is of another kind than those above.
        """
        parameters = inspect.signature(endpoint, eval_str=True).parameters.values()
        self._bound = sorted(
            (_bound(parameter, in_path) for parameter in parameters),
            key=lambda bound: bound.found.place,
        )
        bodies = [bound.name for bound in self._bound if bound.found.place is _Place.BODY]
        if len(bodies) > 1:
            raise TypeError(f"{', '.join(bodies)}: a request has one body")
        self._has_body = bool(bodies)

    async def arguments(self, request: StrictRequest) -> dict[str, Any]:
        """What to call the endpoint with; MalformedError says what is wrong first."""
        body = await _body(request) if self._has_body else _ABSENT
        received = _Received(request, body)
        return {bound.name: bound.value(received) for bound in self._bound}


def is_json(content_type: str) -> bool:
    """Whether a body is JSON, and not something that a page of another site may send unasked."""
    main, _, sub = content_type.partition(";")[0].strip().lower().partition("/")
    return main == "application" and "/" not in sub and (sub == "json" or sub.endswith("+json"))


async def _body(request: StrictRequest) -> Any:
    """The value of a JSON body; the bytes of any other, which no model takes."""
    try:
        content = await request.body()
        if not content:
            return _ABSENT
        return await request.json() if is_json(request.headers.get("content-type", "")) else content
    except json.JSONDecodeError as error:
        raise _malformed(no_json(error.msg, error.pos), ()) from None
    except (HTTPException, TrainwayError):
        raise
    except Exception as error:
        raise HTTPException(400, "There was an error parsing the body") from error


def _bound(parameter: inspect.Parameter, in_path: Collection[str]) -> _Bound:
    kind, mark = _split(parameter.annotation)
    found = _found(parameter.name, kind, mark, in_path)
    limits = mark.limits() if mark is not None else {}
    wanted: Any = Any if found.place is _Place.REQUEST else kind
    adapter = TypeAdapter(cast("Any", Annotated[wanted, Field(**limits)]) if limits else wanted)  # type: ignore[call-overload]  # the names are pydantic's
    return _Bound(parameter.name, found, adapter, parameter.default)


def _found(name: str, kind: Any, mark: Parameter | None, in_path: Collection[str]) -> _Found:
    """How a parameter is found, by its annotation."""
    plain = _without_none(kind)
    is_model = _is_a(plain, BaseModel)
    is_scalar = _is_a(plain, (str, int, float, Enum))
    if mark is None and _is_a(kind, Request):
        return _Found(_Place.REQUEST, lambda received: received.request)
    if mark is None and name in in_path and is_scalar:
        return _Found(_Place.PATH, lambda received: received.request.path_params[name], (name,))
    if mark is None and is_model:
        return _Found(_Place.BODY, lambda received: received.body)
    if isinstance(mark, Header) and is_scalar:
        header = name.replace("_", "-")
        return _Found(
            _Place.HEADER, lambda received: received.request.headers.get(header, _ABSENT), (header,)
        )
    if isinstance(mark, Query) and is_model and plain is kind:
        fields = _query_fields(plain)
        return _Found(_Place.QUERY, lambda received: _query_object(received.request, fields))
    if isinstance(mark, Query) and _is_list(plain):
        return _Found(_Place.QUERY, lambda received: _all_of(received.request, name), (name,))
    if isinstance(mark, Query | None) and is_scalar and name not in in_path:
        return _Found(
            _Place.QUERY,
            lambda received: received.request.query_params.get(name, _ABSENT),
            (name,),
        )
    raise TypeError(f"{name}: routes have no parameters of the kind {kind}, marked {mark}")


def _query_fields(model: type[BaseModel]) -> dict[str, bool]:
    """The fields of a model that is a query, and whether they may come many times."""
    for name, field in model.model_fields.items():
        if field.alias is not None or field.validation_alias is not None:
            raise TypeError(f"{model.__name__}.{name}: a query has no aliases")
    return {
        name: _is_list(_without_none(field.annotation))
        for name, field in model.model_fields.items()
    }


def _query_object(request: Request, fields: dict[str, bool]) -> dict[str, Any]:
    """A query as an object; what is not known is for the model to refuse."""
    query = request.query_params
    found = {
        name: _all_of(request, name) if is_list else query.get(name, _ABSENT)
        for name, is_list in fields.items()
    }
    for name in query:
        if name not in fields:
            values = query.getlist(name)
            found[name] = values[0] if len(values) == 1 else values
    return {name: value for name, value in found.items() if value is not _ABSENT}


def _all_of(request: Request, name: str) -> Any:
    return request.query_params.getlist(name) or _ABSENT


def _split(annotation: Any) -> tuple[Any, Parameter | None]:
    """A type and its mark: those of `Annotated[int, Query()]` are `int` and `Query()`."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *marks = get_args(annotation)
    if len(marks) != 1 or not isinstance(marks[0], Parameter):
        raise TypeError(f"{annotation}: a parameter has one mark, Query or Header")
    return kind, marks[0]


def _without_none(kind: Any) -> Any:
    """The type that an optional one is of."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    others = [each for each in get_args(kind) if each is not NoneType]
    return others[0] if len(others) == 1 else kind


def _is_a(kind: Any, base: type | tuple[type, ...]) -> bool:
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, base)


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is list


def _malformed(problem: str, steps: tuple[Step, ...]) -> MalformedError:
    return MalformedError(problem, field=".".join(str(step) for step in steps) or None)
