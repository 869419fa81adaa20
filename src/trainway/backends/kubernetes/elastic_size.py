"""How many nodes an elastic job may have in its cluster, which is the size of its Job.

A Job with as many completions as pods may be given fewer of both: its controller then ends the pods
of the last indexes, and makes them again when it is given more. JobSet leaves the size of its Jobs
alone, but makes them anew with all nodes when it restarts; so whoever watches sees to it again.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from trainway.agent.base.job_spec import minimum_nodes
from trainway.backends.base import Handle
from trainway.errors import TrainwayError
from trainway.jobset.labels import JOBSET_NAME, REPLICATED_JOB_NAME
from trainway.jobset.status import conditions_of, find_true
from trainway.json_types import Json
from trainway.kube import resources
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound

_ENDS: Final = ("Complete", "Failed")


def wrong_sizes(jobs: Iterable[Json], elastic: Mapping[str, int], most: int) -> dict[str, int]:
    """The Jobs that have another size than they may, by name, and that size. Pure.

    `elastic` has the most nodes of each role that may do with fewer.
    """
    found: dict[str, int] = {}
    for job in jobs:
        metadata, spec = job["metadata"], job["spec"]
        role = str((metadata.get("labels") or {}).get(REPLICATED_JOB_NAME))
        is_over = any(find_true(conditions_of(job), end) for end in _ENDS)
        if role not in elastic or is_over or "deletionTimestamp" in metadata:
            continue
        least = minimum_nodes(metadata.get("annotations"), elastic[role]) or 1
        size = max(least, min(most, elastic[role]))
        if (spec.get("parallelism"), spec.get("completions")) != (size, size):
            found[str(metadata["name"])] = size
    return found


class ElasticSize:
    """The size of one job."""

    def __init__(self, client: Client, handle: Handle) -> None:
        self._client = client
        self._handle = handle
        self._elastic: Mapping[str, int] = handle.get("elastic") or {}
        self._most: int | None = None
        """What it may have; None: nobody has said anything."""

    async def set(self, most: int) -> None:
        """Let it have so many nodes at most from now on."""
        before, self._most = self._most, most
        try:
            await self.keep(await self._jobs())
        except TrainwayError:
            self._most = before  # whoever asked decides what follows
            raise

    async def _jobs(self) -> list[Json]:
        selector = f"{JOBSET_NAME}={self._handle['name']}"
        namespace = self._handle["namespace"]
        return (await self._client.list(resources.JOBS, namespace, label_selector=selector)).items

    async def keep(self, jobs: Iterable[Json]) -> None:
        """See to it that its Jobs have the size that was said last."""
        if self._most is None:
            return
        for name, size in wrong_sizes(jobs, self._elastic, self._most).items():
            change: Json = {"spec": {"parallelism": size, "completions": size}}
            try:
                await self._client.patch(resources.JOBS, name, self._handle["namespace"], change)
            except ObjectNotFound:
                continue  # its successor is seen to when it is there
