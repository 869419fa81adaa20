"""Plays the JobSet controller, for tests on a cluster that runs no pods."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.errors import Gone, ObjectNotFound
from trainway.kube.resources import JOBSETS, Resource

MOMENT = "2026-01-31T12:00:00Z"


def finished(jobset: Json, *, fails: bool) -> Json:
    """The status of a JobSet whose jobs have ended."""
    kind, reason, message = (
        ("Failed", "FailedJobs", "jobset failed due to one or more job failures")
        if fails
        else ("Completed", "AllJobsCompleted", "jobset completed successfully")
    )
    counts = {"ready": 0, "active": 0, "suspended": 0}
    ended = {"succeeded": int(not fails), "failed": int(fails)}
    return {
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastTransitionTime": MOMENT,
            }
        ],
        "terminalState": kind,
        "restarts": 0,
        "replicatedJobsStatus": [
            {"name": job["name"], **counts, **ended} for job in jobset["spec"]["replicatedJobs"]
        ],
    }


async def set_status(client: Client, jobset: Json, status: Json) -> None:
    """Write the status of a JobSet, unless it is gone."""
    metadata = jobset["metadata"]
    try:
        await client.patch(
            JOBSETS,
            metadata["name"],
            metadata["namespace"],
            {"status": status},
            subresource="status",
        )
    except ObjectNotFound:
        return


async def events(
    client: Client, resource: Resource, namespace: str
) -> AsyncGenerator[tuple[str, Json]]:
    """What happens to the objects of a namespace from now on.

    A broken watch is taken up again; where the API server has forgotten the place, all objects come
    once more as added.
    """
    version = (await client.list(resource, namespace)).resource_version
    while True:
        try:
            if not version:
                listing = await client.list(resource, namespace)
                version = listing.resource_version
                for item in listing.items:
                    yield "ADDED", item
            async with aclosing(
                client.watch(resource, namespace, resource_version=version)
            ) as changes:
                async for change in changes:
                    version = change.object["metadata"]["resourceVersion"]
                    if change.type != "BOOKMARK":
                        yield change.type, change.object
        except Gone:
            version = ""
        except TrainwayError:
            await asyncio.sleep(0.2)


@asynccontextmanager
async def playing(
    client: Client, namespace: str, fails: Callable[[str], bool] = lambda _name: False
) -> AsyncIterator[None]:
    """Let every new JobSet of a namespace end, well or badly."""

    async def play() -> None:
        async with aclosing(events(client, JOBSETS, namespace)) as changes:
            async for kind, jobset in changes:
                if kind == "ADDED":
                    name = jobset["metadata"]["name"]
                    await set_status(client, jobset, finished(jobset, fails=fails(name)))

    task = asyncio.create_task(play())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
