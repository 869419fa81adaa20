"""Pipelines for tests of the engine."""

from typing import Any

from trainway.api.task.task_file import parse
from trainway.api.task.task_object import objects_of
from trainway.engine.submission import Submission
from trainway.engine.testing import World
from trainway.jobset.labels import TASK

CHAIN = """\
name: p
---
{name: one, run: 'true'}
---
{name: two, run: 'true'}
---
{name: three, run: 'true'}
"""


def pipeline(text: str = CHAIN, **more: Any) -> Submission:
    """A pipeline of that text, called p."""
    file = parse(text).file
    assert file is not None
    return Submission(objects_of(file, "p"), pipeline=True, environ={"A": "b"}, **more)


async def submitted(world: World, submission: Submission) -> dict[str, str]:
    """Submit a pipeline; the ids of its jobs by task."""
    jobs, _ = await world.engine.submit_array(submission)
    return {job["metadata"]["labels"][TASK]: job["metadata"]["id"] for job in jobs}


async def end(world: World, id_: str, *, failed: bool = False) -> None:
    """Let a task run, and end so."""
    playing = await world.begun(id_)
    playing.run()
    playing.end(succeeded=not failed)
    await world.until(id_, "Failed" if failed else "Succeeded")
