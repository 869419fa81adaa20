"""The server's routes for clusters, in plain JSON."""

from collections.abc import Mapping
from typing import Any, Final

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment

_UNHURRIED_S: Final = 3600.0
"""How long to wait for an answer: ending the jobs of a cluster takes as long as it takes."""


class ClusterRest(Rest):
    """A server, with its clusters."""

    def launch(self, wanted: Mapping[str, Any]) -> Json:
        """Make a cluster unless it is there; a stopped one starts again."""
        cluster: Json = self._transport.request(
            "POST", "/clusters", body=dict(wanted), timeout=_UNHURRIED_S
        )
        return cluster

    def clusters(self, *, refresh: bool = False) -> list[Json]:
        """All clusters; `refresh`: ask their agents once more."""
        method, path = ("POST", "/clusters/refresh") if refresh else ("GET", "/clusters")
        items: list[Json] = self._transport.request(method, path)["items"]
        return items

    def cluster(self, name: str) -> Json:
        """One cluster."""
        cluster: Json = self._transport.request("GET", _path(name))
        return cluster

    def queue(self, name: str) -> list[Json]:
        """The jobs of a cluster, newest first: `number`, `resources`, `logs` and `job`."""
        items: list[Json] = self._transport.request("GET", _path(name, "/jobs"))["items"]
        return items

    def access(self, name: str) -> Json:
        """How a person gets to the first node."""
        place: Json = self._transport.request("GET", _path(name, "/access"))
        return place

    def cluster_act(self, name: str, verb: str, body: Mapping[str, Any] | None = None) -> Json:
        """Stop, start, or change the autostop of a cluster."""
        cluster: Json = self._transport.request(
            "POST", _path(name, f"/{verb}"), body=dict(body or {}), timeout=_UNHURRIED_S
        )
        return cluster

    def down(self, name: str, *, purge: bool = False) -> Json:
        """End the jobs of a cluster, give back its nodes and forget it."""
        query = {"purge": purge or None}
        cluster: Json = self._transport.request(
            "DELETE", _path(name), query=query, timeout=_UNHURRIED_S
        )
        return cluster


def _path(name: str, rest: str = "") -> str:
    return f"/clusters/{segment(name)}{rest}"
