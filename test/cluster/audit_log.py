"""Compares what somebody may do in a cluster with what the API server saw them do.

The audit log has every request with its user. A right that no request used and a request that no
right covers are both found. An apply (patch) that made an object was asked for `create` as well.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.json_types import Json

CREATED: Final = 201
FORBIDDEN: Final = 403
EVERY: Final = ""


@dataclass(frozen=True, order=True)
class Request:
    """One thing that was asked for."""

    verb: str
    group: str
    resource: str
    """With its subresource: trainjobs/status."""
    namespace: str = ""
    name: str = ""
    is_refused: bool = False

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group}"


@dataclass(frozen=True, order=True)
class Right:
    """The smallest part of a rule: one verb on one resource, of one name or of all."""

    verb: str
    group: str
    resource: str
    namespace: str = EVERY
    """Where; EVERY: in all namespaces, and outside them."""
    name: str = EVERY

    def covers(self, request: Request) -> bool:
        """Whether the request is allowed by it."""
        same = (self.verb, self.group, self.resource) == (
            request.verb,
            request.group,
            request.resource,
        )
        here = self.namespace in (EVERY, request.namespace)
        return same and here and self.name in (EVERY, request.name)

    def __str__(self) -> str:
        place = f" in {self.namespace}" if self.namespace else ""
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group}{name}{place}"


def policy(users: Sequence[str]) -> Json:
    """The audit policy: all requests of these users, and no others."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": list(users)}, {"level": "None"}],
    }


def flags(folder: Path, users: Sequence[str]) -> list[str]:
    """The flags of an API server that writes the log `audit.log` into the folder."""
    path = folder / "audit-policy.json"
    path.write_text(json.dumps(policy(users)))
    log = folder / "audit.log"
    return [f"--audit-policy-file={path}", f"--audit-log-path={log}", "--audit-log-mode=blocking"]


def requests(lines: Iterable[str]) -> set[Request]:
    """What the log tells of objects; requests for mere paths are left out."""
    return {request for line in lines for request in _of_event(json.loads(line))}


def _of_event(event: Json) -> list[Request]:
    target = event.get("objectRef")
    if target is None or "resource" not in target:
        return []
    sub = f"/{target['subresource']}" if target.get("subresource") else ""
    code = (event.get("responseStatus") or {}).get("code")
    verbs = [event["verb"]]
    if event["verb"] == "patch" and code == CREATED:
        verbs.append("create")
    return [
        Request(
            verb,
            target.get("apiGroup", ""),
            target["resource"] + sub,
            target.get("namespace", ""),
            target.get("name", ""),
            code == FORBIDDEN,
        )
        for verb in verbs
    ]


def rights(rules: Iterable[Json], namespace: str = EVERY) -> set[Right]:
    """The rules of a role, taken apart; with a namespace they hold only there."""
    return {
        Right(verb, group, resource, namespace, name)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames") or (EVERY,)
    }


def missing(granted: Iterable[Right], asked: Iterable[Request]) -> list[str]:
    """The requests that were refused, or that only somebody else's role allowed."""
    granted = list(granted)
    return sorted(
        {
            str(request)
            for request in asked
            if request.is_refused or not any(right.covers(request) for right in granted)
        }
    )


def unused(granted: Iterable[Right], asked: Iterable[Request]) -> list[Right]:
    """The rights that no request needed; a request needs the narrowest right that covers it."""
    granted, needed = list(granted), set[Right]()
    for request in asked:
        covering = [right for right in granted if right.covers(request)]
        narrowest = max((bool(r.name) + bool(r.namespace) for r in covering), default=0)
        needed |= {r for r in covering if bool(r.name) + bool(r.namespace) == narrowest}
    return sorted(set(granted) - needed)
