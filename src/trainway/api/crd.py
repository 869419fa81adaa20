"""The CustomResourceDefinition of a kind, printed from the same schema that checks it offline.

Only our own fields are described: the core types are documented where they come from, and the files
stay small enough to read.
"""

from trainway.api.derivation import field_docstrings
from trainway.api.kinds import Column, Kind
from trainway.json_types import Json
from trainway.schema.field import ABSENT
from trainway.schema.structural import Rule, Schema

_LIMITS = (
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("minLength", "min_length"),
    ("maxLength", "max_length"),
    ("minItems", "min_items"),
    ("maxItems", "max_items"),
    ("minProperties", "min_properties"),
)
"""The limits of a schema: the word in a CRD and the name in ours."""


def crd(kind: Kind) -> Json:
    """The CustomResourceDefinition of a kind."""
    version: Json = {"name": kind.version, "served": True, "storage": True}
    if kind.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in kind.columns]
    version["schema"] = {"openAPIV3Schema": _object(kind)}
    if kind.has_status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.singular,
            },
            "scope": kind.scope,
            "versions": [version],
        },
    }


def _column(column: Column) -> Json:
    return {"name": column.name, "type": column.type, "jsonPath": column.path}


def _object(kind: Kind) -> Json:
    """The whole object. Its metadata is the API server's business, so rules on it stand outside."""
    schema = kind.schema(field_docstrings)
    properties = {name: _schema(inner) for name, inner in schema.properties.items()}
    properties["metadata"] = {"type": "object"}
    text: Json = {
        "type": "object",
        "description": " ".join((kind.model.__doc__ or "").split()),
        "properties": properties,
    }
    if kind.requires_spec:
        text["required"] = ["spec"]
    rules = [_rule(rule) for rule in kind.name_rules if rule.cel]
    if rules:
        text["x-kubernetes-validations"] = rules
    return text


def _schema(schema: Schema) -> Json:
    """One value, in the words of OpenAPI and the extensions of Kubernetes."""
    text: Json = {}
    for word in ("type", "format", "description"):
        if value := getattr(schema, word):
            text[word] = value
    if schema.int_or_string:
        text["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        text["x-kubernetes-int-or-string"] = True
    if schema.default is not ABSENT:
        text["default"] = schema.default
    if schema.enum:
        text["enum"] = list(schema.enum)
    if schema.pattern:
        text["pattern"] = schema.pattern
    for word, name in _LIMITS:
        if (limit := getattr(schema, name)) is not None:
            text[word] = limit
    _add_children(text, schema)
    _add_merging(text, schema)
    if rules := [_rule(rule) for rule in schema.rules if rule.cel]:
        text["x-kubernetes-validations"] = rules
    return text


def _add_children(text: Json, schema: Schema) -> None:
    if schema.properties:
        text["properties"] = {name: _schema(inner) for name, inner in schema.properties.items()}
    if schema.required:
        text["required"] = sorted(schema.required)
    if schema.items is not None:
        text["items"] = _schema(schema.items)
    if schema.additional is not None:
        text["additionalProperties"] = _schema(schema.additional)
    if schema.preserve_unknown:
        text["x-kubernetes-preserve-unknown-fields"] = True


def _add_merging(text: Json, schema: Schema) -> None:
    """How server-side apply tells items and fields apart."""
    if schema.list_type:
        text["x-kubernetes-list-type"] = schema.list_type
    if schema.list_map_keys:
        text["x-kubernetes-list-map-keys"] = list(schema.list_map_keys)
    if schema.map_type:
        text["x-kubernetes-map-type"] = schema.map_type


def _rule(rule: Rule) -> Json:
    return {"rule": rule.cel, "message": rule.message}
