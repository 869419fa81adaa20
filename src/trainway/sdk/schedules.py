"""Schedules, for a program: jobs that are submitted again and again."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trainway.json_types import Json
from trainway.sdk.named_handle import NamedHandle
from trainway.sdk.pipeline_placement import tasks_placed
from trainway.sdk.pipelines import PIPELINE, is_pipeline
from trainway.sdk.placement import chosen_each_time
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.run_options import RunOptions
from trainway.sdk.schedule_rest import ScheduleRest

if TYPE_CHECKING:
    from trainway.sdk.task_places import TaskPlaces


class Schedule(NamedHandle[ScheduleRest]):
    """A handle on a schedule."""

    @property
    def next(self) -> str | None:
        """When it is due next, in UTC, as far as is known here; None while it is paused."""
        due: str | None = self._data["status"]["next"]
        return due

    @property
    def last(self) -> Json | None:
        """What became of its last moment: `time`, `result`, `message`, `job` and `run`."""
        last: Json | None = self._data["status"]["last"]
        return last

    def refresh(self) -> Json:
        """The schedule as the server has it now."""
        self._data = self._rest.schedule(self.name)
        return self._data

    def pause(self) -> None:
        """Let nothing be due until it is resumed; its jobs go on."""
        self._data = self._rest.pause_schedule(self.name)

    def resume(self) -> None:
        """Let it be due again; what it was paused for is not made up for."""
        self._data = self._rest.resume_schedule(self.name)

    def delete(self) -> None:
        """Forget it; its jobs stay."""
        self._rest.delete_schedule(self.name)


def created(
    rest: Rest,
    options: RunOptions,
    made: Callable[[RunOptions], Submission],
    own: "Mapping[str, TaskPlaces]",
    wanted: Mapping[str, Any],
) -> tuple[Schedule, list[str]]:
    """A new schedule, and what to know of it; `made` gives what it submits.

    `own` has the places that its tasks name themselves.
    """
    schedules = ScheduleRest(rest.transport)
    submission = made(tasks_placed(rest, options, made, own, chosen_each_time))
    if is_pipeline(submission.objects):
        submission = replace(submission, options={**submission.options, **PIPELINE})
    data, warnings = schedules.create_schedule(submission, wanted)
    return Schedule(schedules, data), warnings


def all_schedules(rest: Rest) -> list[Schedule]:
    """All schedules of a server, by name."""
    schedules = ScheduleRest(rest.transport)
    return [Schedule(schedules, data) for data in schedules.schedules()]
