"""Every route of the API answers odd requests as FastAPI would."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import MagicMock

import pytest

from trainway.json_types import Json
from trainway.server.api import Declaration
from trainway.server.app import declared_api
from trainway.server.binding_testing import Asked, Pair
from trainway.server.description import openapi
from trainway.server.paths import BASE_PATH

ODD_QUERIES = (
    "1",
    "0",
    "-1",
    "",
    "true",
    "x",
    "99999999999",
    "a" * 400,
    "10m",
    "label",
    "%00",
    "%FF",
)
ODD_BODIES: tuple[Any, ...] = (
    {"user": "a", "monthly": 1},
    None, {}, [], 1, "x", {"what": 1},
    {"objects": [{}], "options": {"priority": "3", "num_jobs": 0}},
    {"objects": [{}], "options": {"priority": "3", "num_jobs": 2, "isolation": "podman"}},
    {"objects": [{"a": 1}], "options": {"labels": {"a": 1}}}, {"objects": {}, "options": None},
    {"objects": [{}]}, {"name": 1, "nodes": 0}, {"nodes": 2},
    {"name": "a", "nodes": "2", "down": "yes"}, {"idle_minutes": -1},
    {"idle_minutes": 5, "down": True},
    {"kubeconfig": "x", "deep": 7}, {"kubeconfig": ["x"], "deep": True},
    {"files": ["a", 1]}, {"files": ["a"]}, {"target": "x" * 2101}, {"target": "x"},
    {"note": None, "links": {"a": None}}, {"note": 1, "links": []},
    {"env": {"a": "b"}, "set": ["c=d"]}, {"env": {"a": 1}},
    {"trainerStatus": {"progressPercentage": 101}}, {"trainerStatus": None},
    {"trainer_status": {"metrics": [{"name": "", "value": 1}]}},
    {"trainerStatus": {"metrics": [{"name": "a", "value": "1"}], "what": 1}},
    {"kind": "TrainJob", "nodes": -1}, {"kind": "TrainJob", "nodes": 2}, {"text": 1}, {"text": "x"},
    {"backend": "x" * 254}, {"backend": "local"}, {"on": "local", "objects": [{}]},
    {"backend": "local", "node": "h1"}, {"backend": "local", "node": "", "why": 1}, {"on": "local"},
    {"candidates": [{"objects": [{}]}], "prefer": "cost"}, {"candidates": [], "prefer": "luck"},
    {"metadata": {"name": "a-1"}}, {"metadata": 1, "spec": []},
    {"cron": "@daily", "objects": [{}]}, {"cron": "@daily", "objects": [{}], "overlap": "perhaps"},
    {"name": "a", "workers": {"workers": 1}, "objects": [{}]}, {"workers": 2}, {"workers": 0},
    {"name": "a" * 64, "workers": [], "objects": [{}]}, {"workers": "two"},
    {"uri": "s3://a"}, {"uri": 1}, {"name": "a-1", "type": "directory"}, {"name": "a-1", "type": 1},
)  # fmt: skip


def _plain_request(declaration: Declaration) -> Asked:
    path = declaration.path
    for name in ("ref", "name", "run"):
        path = path.replace(f"{{{name}}}", "a-1")
    return Asked(declaration.method, path)


def _odd_ways(declaration: Declaration) -> Iterator[Asked]:
    """Requests that are told apart by where they go."""
    plain = _plain_request(declaration)
    yield plain
    yield replace(plain, path=declaration.path.replace("}", "\0}"))
    for method in ("HEAD", "OPTIONS", "PUT"):
        yield replace(plain, method=method)
    yield replace(plain, path=f"{plain.path}/")


def _odd_requests(declaration: Declaration) -> Iterator[Asked]:
    """Requests to a route, most of which are wrong in one thing."""
    plain = _plain_request(declaration)
    described = _described()["paths"][declaration.path][declaration.method.lower()]
    names = [one["name"] for one in described.get("parameters", []) if one["in"] == "query"]
    for name in (*names, "what"):
        yield from (replace(plain, query=f"{name}={value}") for value in ODD_QUERIES)
        yield replace(plain, query=f"{name}=1&{name}=100&trials=3")
    for name in ("accept", "last-event-id", "idempotency-key"):
        yield replace(plain, headers=((name, "a" * 129),))
    if declaration.method != "GET":
        for body in ODD_BODIES:
            yield replace(plain, body=json.dumps(body).encode())
        yield replace(plain, body=b"{}", headers=(("content-type", "text/plain"),))
        yield replace(plain, body=b"{}", headers=())
        yield replace(plain, body=b"{")


REAL = declared_api(MagicMock()).declarations


@cache
def _pair() -> Pair:
    """All routes; whoever looks for the right one spends most of the time of a request."""
    return Pair(REAL)


def _pair_of(path: str) -> Pair:
    """The routes of one path."""
    return Pair([each for each in REAL if each.path == path])


@cache
def _described() -> Json:
    return openapi(REAL)


@pytest.mark.xdist_group("bound_routes")  # each worker would make both applications
@pytest.mark.parametrize(
    "declaration", REAL, ids=lambda each: f"{each.method} {each.path.removeprefix(BASE_PATH)}"
)
def test_every_route_of_ours_is_bound_as_fastapi_binds_it(declaration: Declaration) -> None:
    statuses = {_pair().assert_alike(asked) for asked in _odd_ways(declaration)}
    pair = _pair_of(declaration.path)
    statuses |= {pair.assert_alike(asked) for asked in _odd_requests(declaration)}
    assert {200, 405, 422} <= statuses
