"""The server's routes for worker pools, in plain JSON."""

from collections.abc import Mapping
from typing import Any

from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.rest import Submission
from trainway.sdk.transport import segment


class WorkerPoolRest(ClusterRest):
    """A server, with its worker pools."""

    def worker_pools(self) -> list[Json]:
        """All of them, by name."""
        items: list[Json] = self._transport.request("GET", "/worker-pools")["items"]
        return items

    def apply_worker_pool(self, submission: Submission, wanted: Mapping[str, Any]) -> Json:
        """Make a worker pool or change it; `submission` is what sets up a worker.

        `wanted` has `name` and `workers`, and maybe `infra`, `nodes`, `resources`, `slurm` and
        `dry_run`.
        """
        body = {**self.submission_body(submission), **wanted}
        pool: Json = self._transport.request("POST", "/worker-pools", body=body)
        return pool

    def worker_pool(self, name: str) -> Json:
        """One of them."""
        pool: Json = self._transport.request("GET", _path(name))
        return pool

    def resize_worker_pool(self, name: str, workers: int) -> Json:
        """Have a worker pool have so many workers from now on."""
        body = {"workers": workers}
        pool: Json = self._transport.request("POST", _path(name, "/workers"), body=body)
        return pool

    def take_down_worker_pool(self, name: str, *, cancel_jobs: bool = False) -> Json:
        """Release all workers of a pool and forget it."""
        query = {"cancel_jobs": cancel_jobs or None}
        pool: Json = self._transport.request("DELETE", _path(name), query=query)
        return pool


def _path(name: str, rest: str = "") -> str:
    return f"/worker-pools/{segment(name)}{rest}"
