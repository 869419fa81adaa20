"""The server's routes for schedules, in plain JSON."""

from collections.abc import Mapping
from typing import Any

from trainway.json_types import Json
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.transport import segment


class ScheduleRest(Rest):
    """A server, with its schedules."""

    def schedules(self) -> list[Json]:
        """All of them, by name."""
        items: list[Json] = self._transport.request("GET", "/schedules")["items"]
        return items

    def create_schedule(
        self, submission: Submission, wanted: Mapping[str, Any]
    ) -> tuple[Json, list[str]]:
        """Have something submitted again and again; the schedule, and what to know of it.

        `wanted` has `cron`, and maybe `timezone`, `name`, `catch_up`, `overlap` and `paused`.
        """
        body = {**self.submission_body(submission), **wanted}
        answer = self._transport.request("POST", "/schedules", body=body, key=submission.key)
        return answer["schedule"], [str(line) for line in answer.get("warnings") or ()]

    def schedule(self, name: str) -> Json:
        """One, with what it submits."""
        found: Json = self._transport.request("GET", _path(name))
        return found

    def pause_schedule(self, name: str) -> Json:
        """Let nothing be due until it is resumed."""
        found: Json = self._transport.request("POST", _path(name, "/pause"))
        return found

    def resume_schedule(self, name: str) -> Json:
        """Let it be due again."""
        found: Json = self._transport.request("POST", _path(name, "/resume"))
        return found

    def delete_schedule(self, name: str) -> Json:
        """Forget one; its jobs stay."""
        gone: Json = self._transport.request("DELETE", _path(name))
        return gone


def _path(name: str, rest: str = "") -> str:
    return f"/schedules/{segment(name)}{rest}"
