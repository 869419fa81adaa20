"""Jobs of clusters: found by number, and shown until they end."""

from trainway.cli.leaving import Leaving
from trainway.cli.output import echo_line
from trainway.errors import NotFoundError
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.cluster_submission import number_of
from trainway.sdk.exit_codes import NOT_FINISHED, NOT_FOUND, exit_code


class NoSuchJobError(NotFoundError):
    """A cluster has no job of that number; the exit status is SkyPilot's."""

    exit_code = NOT_FOUND


def find(queue: list[Json], cluster: str, number: int | None) -> Json:
    """The item of that number, or the newest."""
    for item in queue:
        if number in (None, item["number"]):
            return item
    what = "jobs" if number is None else f"job {number}"
    raise NoSuchJobError(
        f"cluster {cluster} has no {what}", hint=f"trainway queue {cluster} shows what it has"
    )


def follow(rest: ClusterRest, cluster: str, job: Json) -> int:
    """Show a job until it ends; the exit status says how."""
    from trainway.cli.following import Following, Outcome  # noqa: PLC0415 - not for -d
    from trainway.cli.job_text import ending  # noqa: PLC0415 - as above
    from trainway.cli.views import view_for_output  # noqa: PLC0415 - as above

    number = number_of(job)
    try:
        with Leaving(lambda: _say_goes_on(cluster, number)):
            following = Following(rest, job, view_for_output())
            outcome = following.run()
    except KeyboardInterrupt:  # before or after anybody could be asked
        _say_goes_on(cluster, number)
        return NOT_FINISHED
    if outcome is Outcome.DETACHED:
        _say_goes_on(cluster, number)
        return NOT_FINISHED
    echo_line(f"job {number} of {cluster}: {ending(following.job)}")
    return exit_code(following.job)


def _say_goes_on(cluster: str, number: int) -> None:
    echo_line(f"job {number} keeps running. To see it: trainway logs {cluster} {number}")
    echo_line(f"To end it: trainway cancel {cluster} {number}")
