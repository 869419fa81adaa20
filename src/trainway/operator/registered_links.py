"""The links that training code registers, such as that of its W&B run: on its TrainJob.

A job registers them one by one, so each is put beside those that are there, and a change by
somebody else in between is seen.
"""

import json
from typing import Final, Protocol

from trainway.jobset.job_remarks import merged_links, registered_links
from trainway.jobset.labels import REGISTERED_LINKS
from trainway.json_types import Json
from trainway.kube.errors import Conflict
from trainway.kube.resources import TRAINJOBS, Resource

_ATTEMPTS: Final = 5


class Linked(Protocol):
    """The part of a client that is needed here."""

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Json:
        """One object."""
        ...

    async def patch(self, resource: Resource, name: str, namespace: str, body: object) -> Json:
        """Change an object."""
        ...


async def register(client: Linked, namespace: str, name: str, links: Json) -> None:
    """Put links on a TrainJob."""
    for attempt in range(_ATTEMPTS):
        patch = link_patch(await client.get(TRAINJOBS, name, namespace), links)
        if patch is None:
            return
        try:
            await client.patch(TRAINJOBS, name, namespace, patch)
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def link_patch(job: Json, links: Json) -> Json | None:
    """The change that gives a TrainJob these links too; None: it has them."""
    known = registered_links(job)
    merged = merged_links(known, links)
    if merged == known:
        return None
    version = job["metadata"]["resourceVersion"]
    annotations = {REGISTERED_LINKS: json.dumps(merged)}
    return {"metadata": {"resourceVersion": version, "annotations": annotations}}
