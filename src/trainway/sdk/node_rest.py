"""The server's routes for the nodes of backends, in plain JSON."""

from trainway.json_types import Json
from trainway.sdk.rest import Rest


class NodeRest(Rest):
    """A server, with the nodes of its backends."""

    def places(self) -> list[str]:
        """The names of all places where jobs can run; nothing is asked of them."""
        items: list[Json] = self._transport.request("GET", "/backends")["items"]
        return [str(item["name"]) for item in items]

    def nodes(self, backend: str) -> Json:
        """The nodes of a backend as they are now, or the problem why they could not be listed."""
        body = {"backend": backend}
        found: Json = self._transport.request("POST", "/backends/nodes", body=body)
        return found

    def drain(
        self, backend: str, node: str, why: str, by: str = "", seconds: float | None = None
    ) -> Json:
        """Let a node take no new pods, for so many seconds or until somebody undrains it."""
        body: Json = {"backend": backend, "node": node, "why": why, "by": by}
        if seconds is not None:
            body["seconds"] = seconds
        done: Json = self._transport.request("POST", "/backends/nodes/drain", body=body)
        return done

    def undrain(self, backend: str, node: str) -> Json:
        """Let it take pods again."""
        body = {"backend": backend, "node": node}
        done: Json = self._transport.request("POST", "/backends/nodes/undrain", body=body)
        return done
