"""What is sent to the API server, as values: one pure function for each kind of request."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from trainway.json_types import Json
from trainway.kube.resources import PODS, Resource, resource_of

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
"""Server-side apply; JSON is YAML."""

_METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_UNWARNED: Final = {"fieldValidation": "Ignore"}
"""By default the API server reads what is written a second time, for warnings that nobody reads."""


class Request(NamedTuple):
    """A literal request."""

    method: str
    path: str
    """The path with its query, ready to send."""
    body: bytes | None = None
    content: str = ""
    accept: str = JSON
    is_repeatable: bool = True
    """Whether the request does the same if it is sent twice."""


class Selection(NamedTuple):
    """Which objects of a resource."""

    label_selector: str = ""
    field_selector: str = ""
    metadata_only: bool = False


EVERYTHING: Final = Selection()


def read(resource: Resource, name: str, namespace: str = "") -> Request:
    """One object."""
    return Request("GET", resource.path(namespace, name))


def page(
    resource: Resource, namespace: str, selection: Selection, limit: int, following: str = ""
) -> Request:
    """Some of the objects; `following` is the token that came with those before."""
    query = _selected(selection) | {"limit": str(limit)}
    if following:
        query["continue"] = following
    accept = f"{_METADATA_LIST},{JSON}" if selection.metadata_only else JSON
    return Request("GET", _with_query(resource.path(namespace), query), accept=accept)


def changes(
    resource: Resource,
    namespace: str,
    selection: Selection,
    resource_version: str,
    timeout_seconds: int,
) -> Request:
    """A watch from a version on, with bookmarks."""
    query = _selected(selection) | {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(timeout_seconds),
    }
    if resource_version:
        query["resourceVersion"] = resource_version
    accept = f"{_METADATA},{JSON}" if selection.metadata_only else JSON
    return Request("GET", _with_query(resource.path(namespace), query), accept=accept)


def creation(
    resource: Resource,
    obj: Json,
    namespace: str = "",
    field_manager: str = "",
    dry_run: bool = False,
) -> Request:
    """A new object."""
    place = namespace or obj.get("metadata", {}).get("namespace", "")
    path = _with_query(resource.path(place), _writing(field_manager, dry_run))
    return Request("POST", path, orjson.dumps(obj), JSON, is_repeatable=False)


def application(
    obj: Json,
    field_manager: str,
    *,
    force: bool = True,
    subresource: str = "",
    resource: Resource | None = None,
    dry_run: bool = False,
    metadata_only: bool = False,
) -> Request:
    """Server-side apply; the answer may be only the object's metadata."""
    metadata = obj["metadata"]
    resource = resource or resource_of(obj)
    path = resource.path(metadata.get("namespace", ""), metadata["name"], subresource)
    query = _writing(field_manager, dry_run) | ({"force": "true"} if force else {})
    accept = f"{_METADATA},{JSON}" if metadata_only else JSON
    return Request("PATCH", _with_query(path, query), orjson.dumps(obj), APPLY, accept)


def change(
    resource: Resource,
    name: str,
    namespace: str,
    body: object,
    *,
    subresource: str = "",
    field_manager: str = "",
    content: str = MERGE_PATCH,
) -> Request:
    """A patch. A JSON patch may append to a list, and is sent only once."""
    path = _with_query(resource.path(namespace, name, subresource), _writing(field_manager))
    return Request("PATCH", path, orjson.dumps(body), content, is_repeatable=content != JSON_PATCH)


def replacement(
    resource: Resource, obj: Json, subresource: str = "", field_manager: str = ""
) -> Request:
    """An object in place of the one there; with its resourceVersion only if that is still so."""
    metadata = obj["metadata"]
    path = resource.path(metadata.get("namespace", ""), metadata["name"], subresource)
    return Request("PUT", _with_query(path, _writing(field_manager)), orjson.dumps(obj), JSON)


def removal(
    resource: Resource,
    name: str,
    namespace: str = "",
    propagation: str = "",
    uid: str = "",
    grace_s: int | None = None,
) -> Request:
    """A deletion; with a uid only of that object."""
    options: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if propagation:
        options["propagationPolicy"] = propagation
    if uid:
        options["preconditions"] = {"uid": uid}
    if grace_s is not None:
        options["gracePeriodSeconds"] = grace_s
    return Request("DELETE", resource.path(namespace, name), orjson.dumps(options), JSON)


class LogRequest(NamedTuple):
    """Which lines of a container."""

    container: str
    since: str = ""
    """The time from which on, to the second: the API server drops the rest of it."""
    follow: bool = False
    previous: bool = False
    """Whether the log of the container before its last restart is meant."""
    tail: int | None = None
    """Only so many of the last lines; None: all."""
    timestamps: bool = True


def log(namespace: str, pod: str, wanted: LogRequest) -> Request:
    """The log of a container."""
    query = {"container": wanted.container}
    query |= {"timestamps": "true"} if wanted.timestamps else {}
    query |= {"sinceTime": wanted.since} if wanted.since else {}
    query |= {"follow": "true"} if wanted.follow else {}
    query |= {"previous": "true"} if wanted.previous else {}
    query |= {} if wanted.tail is None else {"tailLines": str(wanted.tail)}
    return Request("GET", _with_query(PODS.path(namespace, pod, "log"), query), accept="*/*")


class Execution(NamedTuple):
    """What to run in a container, and what of it to connect with."""

    container: str
    command: tuple[str, ...]
    stdin: bool = False
    tty: bool = False


def execution(namespace: str, pod: str, wanted: Execution) -> str:
    """The path of a command to run in a container; a terminal has no stderr of its own."""
    query = [("container", wanted.container)] if wanted.container else []
    query += [("command", word) for word in wanted.command]
    query += [("stdin", "true")] if wanted.stdin else []
    query += [("stdout", "true")]
    query += [("tty", "true")] if wanted.tty else [("stderr", "true")]
    return f"{PODS.path(namespace, pod, 'exec')}?{urlencode(query, quote_via=quote)}"


def forwarding(namespace: str, pod: str, port: int) -> str:
    """The path of a connection to a port of a pod."""
    return f"{PODS.path(namespace, pod, 'portforward')}?ports={port}"


def _selected(selection: Selection) -> dict[str, str]:
    query = {"labelSelector": selection.label_selector, "fieldSelector": selection.field_selector}
    return {name: value for name, value in query.items() if value}


def _writing(field_manager: str, dry_run: bool = False) -> dict[str, str]:
    query = {"fieldManager": field_manager, "dryRun": "All" if dry_run else ""}
    return {name: value for name, value in query.items() if value} | _UNWARNED


def _with_query(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(query, quote_via=quote)}" if query else path
