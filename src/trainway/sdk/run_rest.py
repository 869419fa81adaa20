"""The server's routes for runs, in plain JSON."""

from typing import Final

from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.transport import segment

_UNHURRIED_S: Final = 3600.0
"""How long to wait for an answer: ending the jobs of a run takes as long as it takes."""


class RunRest(Rest):
    """A server, with its runs."""

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, name: str | None = None
    ) -> tuple[list[Json], str | None]:
        """A page of runs, newest first, and the cursor of the next page if there is one."""
        query = {"limit": limit, "cursor": cursor, "name": name}
        answer = self._transport.request("GET", "/runs", query=query)
        return answer["items"], answer.get("cursor")

    def run(self, ref: str) -> Json:
        """The run of that id, or the newest of that name, with its jobs in short."""
        run: Json = self._transport.request("GET", _path(ref))
        return run

    def cancel_run(self, ref: str) -> Json:
        """End all of its jobs."""
        run: Json = self._transport.request("POST", _path(ref, "/cancel"), timeout=_UNHURRIED_S)
        return run

    def continue_run(self, ref: str, trials: int) -> Json:
        """Let a search have so many more trials."""
        query = {"trials": trials}
        run: Json = self._transport.request("POST", _path(ref, "/continue"), query=query)
        return run

    def delete_run(self, ref: str, *, force: bool = False) -> list[Json]:
        """End all of its jobs, and forget them; the jobs."""
        query = {"force": force or None}
        answer = self._transport.request("DELETE", _path(ref), query=query, timeout=_UNHURRIED_S)
        jobs: list[Json] = answer["jobs"]
        return jobs

    def rerun_run(
        self, ref: str, *, failed: bool = False, cancelled: bool = False, task: str = ""
    ) -> tuple[Json, list[Json], list[str]]:
        """Submit its jobs again as a new run, or those that ended so in their places.

        Of a pipeline, `task` and all tasks after it, in their places. The run, its new jobs, and
        what to know of them.
        """
        query = {"failed": failed or None, "cancelled": cancelled or None, "task": task or None}
        path = _path(ref, "/rerun")
        answer = self._transport.request("POST", path, query=query, timeout=_UNHURRIED_S)
        run: Json = answer["run"]
        new = answer.get("jobs", run["jobs"])  # an older server makes a new run of them
        return run, new, [str(line) for line in answer.get("warnings") or ()]


def _path(ref: str, rest: str = "") -> str:
    return f"/runs/{segment(ref)}{rest}"
