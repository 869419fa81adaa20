"""Requests to the API server of a cluster of ours, over one connection that stays open.

A test that waits looks many times a second. With kubectl each look is a process that first finds
out which kinds there are, and takes more of the processor than the pods that are waited for. So
objects are read and applied directly here; kinds can be named as kubectl has them.
"""

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from cluster.access import KubectlError
from cluster.processes import wait_until
from trainway.json_types import Json

ROOTS: Final = ("/api", "/apis")  # the first group is the core, as in kubectl's order
DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
APPLY: Final = "application/apply-patch+yaml"
JSON: Final = "application/json"
MANAGER: Final = "kubectl"
BACKGROUND: Final = {
    "apiVersion": "v1",
    "kind": "DeleteOptions",
    "propagationPolicy": "Background",  # as kubectl deletes; of a Job the pods would stay else
}
DEFAULT_NAMESPACE: Final = "default"
KNOWN_S: Final = 60.0
"""How long a kind may take to be known after its CRD was made."""
BROKEN: Final = (OSError, http.client.HTTPException)


class ApiError(KubectlError):
    """The API server refused; the message is what was asked and what it said."""

    def __init__(self, asked: str, status: int, said: str) -> None:
        super().__init__(f"{asked}: {said}")
        self.status = status


@dataclass(frozen=True)
class Kind:
    """A kind of objects that the API server knows."""

    group: str
    version: str
    kind: str
    plural: str
    names: frozenset[str]
    """All that it may be called, in small letters."""
    is_namespaced: bool

    @property
    def api_version(self) -> str:
        """As objects name it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """Of an object, or of all; without a namespace of those in all namespaces."""
        root = "apis" if self.group else "api"
        place = f"/namespaces/{namespace}" if namespace and self.is_namespaced else ""
        return f"/{root}/{self.api_version}{place}/{self.plural}{f'/{quote(name)}' if name else ''}"


def kinds_of(groups: Sequence[Json]) -> Iterator[Kind]:
    """The kinds in what the API server says of its groups; of each the preferred version first."""
    for group in groups:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for resource in version["resources"]:
                plural, kind = resource["resource"], resource["responseKind"]["kind"]
                words = {plural, resource["singularResource"], kind.lower()}
                words |= {f"{word}.{name}" for word in words}
                yield Kind(
                    group=name,
                    version=version["version"],
                    kind=kind,
                    plural=plural,
                    names=frozenset(words),
                    is_namespaced=resource["scope"] == "Namespaced",
                )


@dataclass(frozen=True)
class Query:
    """What `kubectl get` is asked for."""

    kinds: tuple[str, ...]
    name: str = ""
    namespace: str = DEFAULT_NAMESPACE
    selector: str = ""


def query(arguments: Sequence[str]) -> Query:
    """Read the arguments of `kubectl get`: KINDS [NAME] [-n NAMESPACE | -A] [-l LABELS]."""
    words, plain, namespace, selector = iter(arguments), [], DEFAULT_NAMESPACE, ""
    for word in words:
        if word == "-n":
            namespace = next(words)
        elif word == "-A":
            namespace = ""
        elif word == "-l":
            selector = next(words)
        elif word.startswith("-"):
            raise ValueError(f"kubectl has {word}, `get` here has not")
        else:
            plain.append(word)
    kinds, name = plain if len(plain) > 1 else (*plain, "")
    return Query(tuple(kinds.split(",")), name, namespace, selector)


class ApiRequests:
    """Asks as one user. Threads may share it: one request is sent after the other."""

    def __init__(
        self, connect: Callable[[], http.client.HTTPSConnection], token: Callable[[], str]
    ) -> None:
        self._connect = connect
        self._token = token
        self._connection: http.client.HTTPSConnection | None = None
        self._turn = threading.Lock()
        self._kinds: list[Kind] = []

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with self._turn:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # Objects

    def get(self, *arguments: str) -> Json:
        """What `kubectl get ARGUMENTS -o json` gives."""
        asked = query(arguments)
        if asked.name:
            kind = self.kind(asked.kinds[0])
            return self.send("GET", kind.path(asked.namespace, asked.name))
        items = [item for name in asked.kinds for item in self.items(self.kind(name), asked)]
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def items(self, kind: Kind, asked: Query) -> list[Json]:
        """All objects of a kind, each with its kind."""
        choice = f"?{urlencode({'labelSelector': asked.selector})}" if asked.selector else ""
        found = self.send("GET", kind.path(asked.namespace) + choice)["items"] or []
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        return [{**head, **item} for item in found]

    def find(self, kind: str, name: str, namespace: str = DEFAULT_NAMESPACE) -> Json | None:
        """An object; None if there is none of that name."""
        try:
            return self.send("GET", self.kind(kind).path(namespace, name))
        except ApiError as error:
            if error.status == http.HTTPStatus.NOT_FOUND:
                return None
            raise

    def apply(self, document: Json, namespace: str = "") -> Json:
        """Server-side apply, as kubectl does it with --force-conflicts."""
        kind, name = self.kind_of(document), document["metadata"]["name"]
        flags = urlencode({"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"})
        path = kind.path(self.place_of(document, namespace), name)
        return self.send("PATCH", f"{path}?{flags}", document, APPLY)

    def rehearse(self, document: Json, namespace: str = "") -> Json:
        """The object as it would be created, after all webhooks."""
        flags = urlencode({"dryRun": "All", "fieldValidation": "Strict"})
        path = self.kind_of(document).path(self.place_of(document, namespace))
        return self.send("POST", f"{path}?{flags}", document)

    def delete(self, kind: str, name: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Have an object deleted, without waiting for its end."""
        self.send("DELETE", self.kind(kind).path(namespace, name), BACKGROUND)

    def delete_all(self, kind: Kind, namespace: str) -> None:
        """Have all objects of a kind deleted, without waiting for their end."""
        self.send("DELETE", kind.path(namespace), BACKGROUND)

    @staticmethod
    def place_of(document: Json, namespace: str) -> str:
        return str(document["metadata"].get("namespace") or namespace or DEFAULT_NAMESPACE)

    # Kinds

    def kind(self, name: str) -> Kind:
        """The kind that is called so, in plural or singular, with its group or without."""
        word = name.lower()
        return self._known(lambda kind: word in kind.names, name)

    def kind_of(self, document: Json) -> Kind:
        """The kind of an object."""
        wanted = document["apiVersion"], document["kind"]
        return self._known(lambda kind: (kind.api_version, kind.kind) == wanted, " ".join(wanted))

    def _known(self, is_wanted: Callable[[Kind], bool], what: str) -> Kind:
        """Look it up; kinds are read again until it is there, since it may be new."""
        found: list[Kind] = []

        def look() -> bool:
            found[:] = [kind for kind in self._kinds if is_wanted(kind)]
            if not found:
                self._discover()
                found[:] = [kind for kind in self._kinds if is_wanted(kind)]
            return bool(found)

        if not wait_until(look, KNOWN_S):
            raise ApiError(what, http.HTTPStatus.NOT_FOUND, "the API server knows no such kind")
        return found[0]

    def known(self, names: Sequence[str]) -> list[Kind]:
        """The kinds of these that the API server knows now, in this order."""

        def found() -> list[Kind]:
            by_name = {name: kind for kind in reversed(self._kinds) for name in kind.names}
            return [by_name[name] for name in names if name in by_name]

        if len(found()) < len(names):
            self._discover()
        return found()

    def plurals(self, place: str) -> set[str]:
        """The resources at /apis/GROUP/VERSION that the API server tells of now."""
        self._discover()
        return {kind.plural for kind in self._kinds if f"/apis/{kind.api_version}" == place}

    def _discover(self) -> None:
        answers = [self.send("GET", root, accept=DISCOVERY) for root in ROOTS]
        self._kinds = [kind for answer in answers for kind in kinds_of(answer["items"])]

    # Requests

    def send(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Json:
        """Send a request; doing it twice is as good as once for all that is sent here."""
        headers = {"Authorization": f"Bearer {self._token()}", "Accept": accept}
        text = None
        if body is not None:
            text, headers["Content-Type"] = json.dumps(body), content_type
        asked = f"{method} {path}"
        with self._turn:
            try:
                status, answer = self._exchange(method, path, text, headers)
            except BROKEN:  # the API server may have been started again since
                try:
                    status, answer = self._exchange(method, path, text, headers)
                except BROKEN as error:
                    raise ApiError(asked, 0, str(error)) from error
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiError(asked, status, message_of(answer))
        found: Json = json.loads(answer)
        return found

    def _exchange(
        self, method: str, path: str, text: str | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        try:
            self._connection.request(method, path, text, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except BaseException:
            self._hang_up()
            raise


def message_of(answer: bytes) -> str:
    """What a refusal says: a Status, or the plain text of a server that is just starting."""
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError):
        return answer.decode(errors="replace")
