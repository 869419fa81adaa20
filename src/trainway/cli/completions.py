"""What a shell may put in place of a word that is being typed.

Whoever presses the tabulator waits for it. So only files are read, and a server that runs already
is asked; none is started, and one that does not answer at once is left alone.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import click
from click.shell_completion import CompletionItem

from trainway.json_types import Json

_JOBS: Final = "/jobs?limit=100&fields=summary"
_CLUSTERS: Final = "/clusters"
_RUNS: Final = "/runs?limit=100"
_SCHEDULES: Final = "/schedules"
_QUEUES: Final = "/managed-queues"
_WORKER_POOLS: Final = "/worker-pools"
_PATIENCE_S: Final = 0.3


def complete_files(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Files and folders, which the shell itself knows best."""
    return [CompletionItem(typed, type="file")]


def complete_folders(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Folders."""
    return [CompletionItem(typed, type="dir")]


def complete_runtimes(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """The built-in training runtimes."""
    from trainway.runtimes import names  # noqa: PLC0415 - only a shell asks for this

    return _items(names(), typed)


def complete_infras(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Where jobs can run."""
    from trainway.cli.infra_names import infra_names  # noqa: PLC0415 - as above

    return _items(infra_names(), typed)


def complete_cluster_infras(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Where clusters can be."""
    from trainway.cli.infra_names import infra_names  # noqa: PLC0415 - as above
    from trainway.families.family import Clusters  # noqa: PLC0415 - as above
    from trainway.families.table import family_of  # noqa: PLC0415 - as above

    names = (name for name in infra_names() if family_of(name).clusters is not Clusters.NONE)
    return _items(names, typed)


def complete_refs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names and ids of jobs, newest first; ids once somebody begins to type one."""
    return list(_refs(_listed(_JOBS) or [], typed))


def complete_runs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names and ids of runs, as those of jobs."""
    return list(_refs(_listed(_RUNS) or [], typed))


def complete_schedules(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of schedules."""
    return _items(_names(_SCHEDULES), typed)


def complete_queues(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of managed queues."""
    return _items(_names(_QUEUES), typed)


def complete_worker_pools(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of worker pools."""
    return _items(_names(_WORKER_POOLS), typed)


def _names(path: str) -> list[str]:
    return [str(item["metadata"]["name"]) for item in _listed(path) or []]


def complete_clusters(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of clusters."""
    return list(_clusters(_listed(_CLUSTERS) or [], typed))


def complete_clusters_and_refs(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of clusters and jobs, for commands that take either."""
    clusters = _listed(_CLUSTERS)
    if clusters is None:
        return []
    return [*_clusters(clusters, typed), *_refs(_listed(_JOBS) or [], typed)]


def _clusters(clusters: Iterable[Json], typed: str) -> Iterator[CompletionItem]:
    for cluster in clusters:
        name = cluster["metadata"]["name"]
        if name.startswith(typed):
            yield CompletionItem(name, help=cluster["status"]["phase"])


def _refs(jobs: Iterable[Json], typed: str) -> Iterator[CompletionItem]:
    seen: set[str] = set()
    for job in jobs:
        name, id_, phase = job["metadata"]["name"], job["metadata"]["id"], job["status"]["phase"]
        if name.startswith(typed) and name not in seen:
            seen.add(name)
            yield CompletionItem(name, help=phase)
        if typed and id_.startswith(typed):
            yield CompletionItem(id_, help=f"{name}, {phase}")


def _items(names: Iterable[str], typed: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(typed)]


def _listed(path: str) -> list[Json] | None:
    """What a server that runs lists there; None where none does, or does not answer in time."""
    from trainway.errors import TrainwayError  # noqa: PLC0415 - as above
    from trainway.sdk.address import Home, configured_address  # noqa: PLC0415 - as above
    from trainway.sdk.transport import Transport  # noqa: PLC0415 - as above

    home = Home.of_environment()
    try:
        address = configured_address() or home.address(home.server_info())
        answer = Transport(address).request("GET", path, timeout=_PATIENCE_S, attempts=1)
    except TrainwayError:
        return None
    items = answer.get("items") if isinstance(answer, dict) else None
    return items if isinstance(items, list) else None
