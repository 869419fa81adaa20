"""Derives a structural schema from a model, so that nothing about a field is said twice.

Types become types, marks (see `constraints`) become limits, list types and rules, a missing default
becomes `required`. What a field is for stands in its docstring; that is read from the source, and
only for a CRD, where people look it up with `kubectl explain`.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic.fields import FieldInfo

from trainway.api.constraints import Kube, Mark, Rules, Shaped
from trainway.api.model import Model
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Schema

Describe = Callable[[type[Model]], Mapping[str, str]]
"""Gives the description of each field of a model."""

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string"}


def undescribed(_model: type[Model]) -> Mapping[str, str]:
    """No descriptions: what a check needs."""
    return {}


@cache
def field_docstrings(model: type[Model]) -> Mapping[str, str]:
    """The string that stands below each field in the source, on one line."""
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Model) and base is not Model:
            docs.update(_own_docstrings(textwrap.dedent(inspect.getsource(base))))
    return docs


def _own_docstrings(source: str) -> Iterator[tuple[str, str]]:
    (definition,) = ast.parse(source).body
    statements = definition.body if isinstance(definition, ast.ClassDef) else []
    for statement, below in pairwise(statements):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())


@cache
def schema_of(model: type[Model], describe: Describe = undescribed) -> Schema:
    """The schema of a model."""
    docs = describe(model)
    properties = {}
    required = []
    for name, field in model.model_fields.items():
        schema = _field_schema(field, describe)
        alias = field.alias or name
        properties[alias] = replace(schema, description=docs[name]) if name in docs else schema
        if field.is_required():
            required.append(alias)
    return Schema(
        type="object",
        properties=properties,
        required=tuple(required),
        min_properties=model.min_properties,
        rules=model.rules,
    )


def _field_schema(field: FieldInfo, describe: Describe) -> Schema:
    schema = _schema(field.annotation, describe)
    for mark in field.metadata:
        schema = _marked(schema, mark, describe)
    is_plain = isinstance(field.default, bool | int | str)
    return replace(schema, default=field.default) if is_plain else schema


def _schema(annotation: Any, describe: Describe) -> Schema:
    """The schema of a type as it stands in an annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        schema = _schema(arguments[0], describe)
        for mark in arguments[1:]:
            schema = _marked(schema, mark, describe)
        return schema
    if origin in (Union, UnionType):
        members = [argument for argument in arguments if argument is not NoneType]
        return _schema(members[0], describe) if len(members) == 1 else Schema()
    if origin is Literal:
        return Schema(type="string", enum=arguments)
    if origin is list:
        return Schema(type="array", items=_schema(arguments[0], describe))
    if origin is dict:
        if arguments[1] is Any:
            return Schema(type="object", preserve_unknown=True)
        return Schema(type="object", additional=_schema(arguments[1], describe))
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return schema_of(annotation, describe)
    return Schema(type=_PLAIN[annotation])


def _marked(schema: Schema, mark: object, describe: Describe) -> Schema:
    """The schema with what one mark adds."""
    match mark:
        case Mark(changes):
            return replace(schema, **changes)
        case Rules(rules):
            return replace(schema, rules=(*schema.rules, *rules))
        case Kube(name):
            return kube(name)
        case Shaped(by):
            return by if isinstance(by, Schema) else schema_of(by, describe)
    return replace(schema, **_limit(mark, "length" if schema.type == "string" else "items"))


def _limit(mark: object, size: str) -> dict[str, Any]:
    match mark:
        case Ge(ge=int(limit)):
            return {"minimum": limit}
        case Le(le=int(limit)):
            return {"maximum": limit}
        case MinLen(min_length=limit):
            return {f"min_{size}": limit}
        case MaxLen(max_length=limit):
            return {f"max_{size}": limit}
    raise TypeError(f"{mark!r} says nothing about a schema")
