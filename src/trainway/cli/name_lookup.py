"""What a name means for commands that take both: jobs and clusters share one look-up."""

from typing import Final

from trainway.cli.cluster_connection import closest_name
from trainway.cli.output import echo_line
from trainway.errors import NotFoundError, UsageError
from trainway.families.builtin import HELD
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest

_MOST: Final = 100


def find_job(rest: ClusterRest, name: str, verb: str) -> Json | None:
    """The job that a name or id means; None: it means a cluster.

    `verb` is the command that asks. Of several jobs of one name the newest is meant, and a note
    says so. A job of the cluster that has its name is no other meaning.
    """
    clusters = [str(item["metadata"]["name"]) for item in rest.clusters()]
    found, _ = rest.page(name=name, limit=_MOST, summary=True)
    jobs = [job for job in found if job["spec"].get("backend") != f"{HELD}/{name}"]
    if name in clusters:
        if jobs:
            raise UsageError(
                f"{name!r} is the name of a cluster and of a job",
                hint=f"for the cluster: trainway {verb} {name} JOB, where trainway queue {name} "
                f"shows which jobs there are; for the job: trainway jobs {verb} {name}",
            )
        return None
    if found:
        if len(found) > 1:
            _tell_others(found, name, verb)
        return found[0]
    try:
        return rest.get(name)
    except NotFoundError:
        raise _missing(rest, name, clusters) from None


def _tell_others(jobs: list[Json], name: str, verb: str) -> None:
    newest, before = (str(job["metadata"]["id"]) for job in jobs[:2])
    count = f"{len(jobs)}{'' if len(jobs) < _MOST else ' or more'}"
    echo_line(
        f"note: {count} jobs are called {name}; this is the newest, {newest}. The one before it: "
        f"trainway jobs {verb} {before}. All of them: trainway jobs list --name {name}"
    )


def _missing(rest: ClusterRest, name: str, clusters: list[str]) -> NotFoundError:
    jobs, _ = rest.page(limit=_MOST, summary=True)
    meant = closest_name(name, [*clusters, *(str(job["metadata"]["name"]) for job in jobs)])
    return NotFoundError(
        f"there is no job or cluster {name!r}{meant}",
        hint="trainway jobs list shows the jobs, and trainway status the clusters",
    )
