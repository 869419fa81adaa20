"""Strategic merge patch, as the Kubernetes API server applies it, driven by our schemas.

Maps merge and null deletes a field. A list whose schema has a merge key merges item by item, a
merging list of plain values is united, any other list is replaced; `list_order` says in which order
a merged list stands. Directives steer this from inside a patch:

    $patch: replace | delete | merge          of a map; an item of a list that is nothing but
                                              `$patch: replace` replaces the whole list, an item
                                              with a key and `$patch: delete` removes that item
    $retainKeys: [a, b]                       all other fields of the map go
    $deleteFromPrimitiveList/f: [v]           plain values to take from the list f
    $setElementOrder/f: [{name: a}, v]        the order of these items of the list f

One thing is better than upstream: fields of which an object has only one, such as `value` and
`valueFrom` of a variable, take each other's place instead of piling up.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from trainway.jobset.list_order import follows, places, woven
from trainway.schema.field import ABSENT, Path, invalid
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Schema

_PATCH = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"

_ANY = Schema()


class MergePatchError(ValueError):
    """The patch itself is malformed. `error` says where."""

    def __init__(self, path: Path, value: Any, detail: str) -> None:
        self.error = invalid(path, value, detail)
        super().__init__(str(self.error))


def merge(schema: Schema, original: Any, patch: Any) -> Any:
    """The original with the patch applied. Both stay as they are; the result shares nothing."""
    return _merge(schema, original, patch, ())


def _merge(schema: Schema, original: Any, patch: Any, path: Path) -> Any:
    if isinstance(patch, Mapping):
        return _merge_map(schema, original if isinstance(original, Mapping) else {}, patch, path)
    if isinstance(patch, list):
        return _merge_list(schema, original, patch, path)
    return patch


def _merge_map(
    schema: Schema, original: Mapping[str, Any], patch: Mapping[str, Any], path: Path
) -> dict[str, Any]:
    match patch.get(_PATCH, "merge"):
        case "delete":
            return {}
        case "replace":
            original = {}
        case "merge":
            pass
        case other:
            detail = "must be replace, delete or merge"
            raise MergePatchError((*path, _PATCH), other, detail)
    fields, removals, orders = _read_directives(patch, path)
    kept = _kept(schema, original, patch, fields, path)
    result = {name: _copy(value) for name, value in kept.items() if name not in fields}
    for name, value in fields.items():
        former = kept.get(name, ABSENT)
        if value is not None and not (former is ABSENT and _is_deletion(value)):
            result[name] = _merge(_field(schema, name), former, value, (*path, name))
    for name, order in orders.items():
        where = (*path, f"{_ORDER}/{name}")
        keys = _order_keys(order, _field(schema, name).merge_key, where)
        if isinstance(result.get(name), list):
            lists = (kept.get(name), fields.get(name), result[name])
            result[name] = _ordered(lists, keys, _field(schema, name).merge_key, where)
    for name, values in removals.items():
        if isinstance(result.get(name), list):
            result[name] = [item for item in result[name] if item not in values]
    first = [name for name in original if name in result]
    return {name: result[name] for name in dict.fromkeys((*first, *result))}


def _field(schema: Schema, name: str) -> Schema:
    return schema.properties.get(name) or schema.additional or _ANY


def _is_deletion(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get(_PATCH) == "delete"


Lists = dict[str, list[Any]]


def _read_directives(patch: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], Lists, Lists]:
    """The plain fields of a patch, what it takes from lists and the order it gives them."""
    fields: dict[str, Any] = {}
    removals: Lists = {}
    orders: Lists = {}
    for name, value in patch.items():
        prefix, _, target = name.partition("/")
        if prefix in (_DELETE_FROM, _ORDER):
            if not target:
                raise MergePatchError((*path, name), value, f"must be {prefix}/FIELD")
            _require_list(value, (*path, name))
            (removals if prefix == _DELETE_FROM else orders)[target] = value
        elif name not in (_PATCH, _RETAIN_KEYS):
            fields[name] = value
    return fields, removals, orders


def _require_list(value: Any, path: Path) -> None:
    if not isinstance(value, list):
        raise MergePatchError(path, value, "must be a list")


def _kept(
    schema: Schema,
    original: Mapping[str, Any],
    patch: Mapping[str, Any],
    fields: Mapping[str, Any],
    path: Path,
) -> Mapping[str, Any]:
    """What the patch leaves of the original, before fields are merged."""
    given = {name for name, value in fields.items() if value is not None}
    if _RETAIN_KEYS in patch:
        retained = patch[_RETAIN_KEYS]
        _require_list(retained, (*path, _RETAIN_KEYS))
        if missing := [name for name in given if name not in retained]:
            detail = f"must name every field of the patch: {', '.join(missing)} is missing"
            raise MergePatchError((*path, _RETAIN_KEYS), retained, detail)
        original = {name: value for name, value in original.items() if name in retained}
    union = _unions().get(id(schema), frozenset())
    if given & union:
        original = {
            name: value for name, value in original.items() if name in given or name not in union
        }
    return original


@cache
def _unions() -> Mapping[int, frozenset[str]]:
    """Core types with fields that exclude each other, by the identity of their schema."""
    return {
        id(kube("EnvVar")): frozenset({"value", "valueFrom"}),
        id(kube("EnvVarSource")): frozenset(kube("EnvVarSource").properties),
        id(kube("Volume")): frozenset(kube("Volume").properties) - {"name"},
    }


def _merge_list(schema: Schema, original: Any, patch: list[Any], path: Path) -> list[Any]:
    items = schema.items or _ANY
    there = original if isinstance(original, list) else []
    if schema.merge != "merge":
        return [
            _merge(items, ABSENT, item, (*path, index))
            for index, item in enumerate(patch)
            if not _is_directive(item)
        ]
    if not schema.merge_key:
        return woven(_unique((*there, *patch)), _itself, patch, there)
    return _merge_by_key(items, schema.merge_key, original, patch, path)


def _merge_by_key(
    schema: Schema, key: str, original: Any, patch: list[Any], path: Path
) -> list[Any]:
    additions, deleted, replace = _read_items(key, patch, path)
    if replace or not isinstance(original, list):
        return [_merge_map(schema, {}, item, (*path, index)) for index, item in additions]
    kept = [_copy(item) for item in original if _key(item, key) not in deleted]
    before = [_key(item, key) for item in kept]
    merged = list(kept)
    found = places(before)
    for index, item in additions:
        place = found.setdefault(repr(item[key]), len(merged))
        if place == len(merged):
            merged.append({})
        merged[place] = _merge_map(schema, merged[place], item, (*path, index))
    named = [item[key] for _, item in additions]
    return woven(merged, lambda item: _key(item, key), named, before)


def _itself(item: Any) -> Any:
    return item


def _key(item: Any, key: str) -> Any:
    """What tells an item from the others of its list: its merge key, or itself in plain lists."""
    if not key:
        return item
    return item.get(key) if isinstance(item, Mapping) else ABSENT


def _read_items(
    key: str, patch: list[Any], path: Path
) -> tuple[list[tuple[int, Mapping[str, Any]]], list[Any], bool]:
    """The items to merge in, the keys of those to delete, and whether the rest goes."""
    additions = []
    deleted = []
    replace = False
    for index, item in enumerate(patch):
        if not isinstance(item, Mapping):
            raise MergePatchError((*path, index), item, f"must be an object with {key}")
        if dict(item) == {_PATCH: "replace"}:
            replace = True
        elif item.get(key) is None:
            detail = f"must be set: items of this list are merged by {key}"
            raise MergePatchError((*path, index, key), None, detail)
        elif item.get(_PATCH) == "delete":
            deleted.append(item[key])
        elif item.get(_PATCH) == "replace":
            detail = "must be in an item of its own: it replaces the whole list"
            raise MergePatchError((*path, index, _PATCH), "replace", detail)
        else:
            additions.append((index, item))
    return additions, deleted, replace


def _order_keys(order: list[Any], key: str, path: Path) -> list[Any]:
    for index, entry in enumerate(order):
        if key and not (isinstance(entry, Mapping) and key in entry):
            raise MergePatchError((*path, index), entry, f"must be an object with {key}")
    return [_key(entry, key) for entry in order]


def _ordered(
    lists: tuple[Any, Any, list[Any]], order: list[Any], key: str, path: Path
) -> list[Any]:
    """A merged list in an explicit order; `lists`: the former, the patch's, the merged one."""
    former, given, merged = lists
    named = [_key(item, key) for item in given or [] if not _is_directive(item)]
    if not follows(named, order):
        detail = "must name every item that the patch has in this list, in the same order"
        raise MergePatchError(path, order, detail)
    before = [_key(item, key) for item in former] if isinstance(former, list) else []
    return woven(merged, lambda item: _key(item, key), order, before)


def _is_directive(item: Any) -> bool:
    return isinstance(item, Mapping) and _PATCH in item


def _unique(values: Iterable[Any]) -> list[Any]:
    unique: list[Any] = []
    for value in values:
        if value not in unique:
            unique.append(_copy(value))
    return unique


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copy(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
