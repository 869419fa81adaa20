import json
from dataclasses import dataclass

import pytest
from audit_log import Request, Right, missing, requests, rights, unused

PODS = {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}
NAMED = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["own"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}


def line(verb: str, code: int = 200, **target: str) -> str:
    return json.dumps({"verb": verb, "objectRef": target, "responseStatus": {"code": code}})


def test_requests_are_read_from_the_log() -> None:
    job = {"apiGroup": "g", "resource": "jobs", "namespace": "ns", "name": "j"}
    log = [
        line("patch", 201, **job),
        line("patch", 200, **job, subresource="status"),
        line("list", 403, resource="pods"),
        json.dumps({"verb": "get", "requestURI": "/version"}),
    ]
    assert requests(log) == {
        Request("patch", "g", "jobs", "ns", "j"),
        Request("create", "g", "jobs", "ns", "j"),
        Request("patch", "g", "jobs/status", "ns", "j"),
        Request("list", "", "pods", is_refused=True),
    }


def test_rules_are_taken_apart() -> None:
    assert rights([PODS]) == {
        Right(verb, "", resource) for verb in ("get", "list") for resource in ("pods", "pods/log")
    }
    assert rights([NAMED], "here") == {Right("get", "", "secrets", "here", "own")}


@dataclass(frozen=True)
class Case:
    name: str
    asked: Request
    missing: list[str]
    unused: int
    """Of the five rights."""


CASES = [
    Case("covered", Request("get", "", "pods", "ns", "p"), [], 5),
    Case("another verb", Request("watch", "", "pods"), ["watch pods"], 6),
    Case("another group", Request("get", "x", "pods"), ["get pods.x"], 6),
    Case("refused", Request("get", "", "pods", is_refused=True), ["get pods"], 5),
    Case("of everyone", Request("get", "", "secrets", "ns", "a"), [], 5),
    Case("the narrowest counts", Request("get", "", "secrets", "here", "own"), [], 5),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rights_are_compared_with_requests(case: Case) -> None:
    granted = rights([PODS, SECRETS]) | rights([NAMED], "here")
    assert missing(granted, [case.asked]) == case.missing
    assert len(unused(granted, [case.asked])) == case.unused


def test_a_right_for_all_is_not_used_by_what_a_narrower_one_covers() -> None:
    granted = rights([SECRETS]) | rights([NAMED], "here")
    own = Request("get", "", "secrets", "here", "own")
    assert unused(granted, [own]) == [Right("get", "", "secrets")]
    assert unused(granted, [own, Request("get", "", "secrets", "here", "other")]) == []
