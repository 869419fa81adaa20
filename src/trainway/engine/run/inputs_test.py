"""What a task has written, as the input of a task in another place."""

import asyncio
import base64
import errno
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from trainway.backends.file_store import FileStore
from trainway.engine.moving.choosing_test import ended
from trainway.engine.moving.testing import HERE, THERE, FakePlace, MovingWorld
from trainway.engine.run import inputs
from trainway.engine.run.pipeline_testing import pipeline, submitted
from trainway.engine.submission import Submission
from trainway.engine.testing import act
from trainway.errors import ConflictError, InvalidError
from trainway.jobset.labels import TASK

READER = """\
name: p
---
{name: one, run: 'true'}
---
{name: two, envs: {DATA: "${tasks.one.output}/x"}, run: "ls ${tasks.one.output}"}
---
{name: three, run: "ls ${tasks.two.output}"}
"""
THERE_IT_IS = "/opt/trainway/files/0/inputs/one"
ON = {place: {"places": [place], "prefer": "order"} for place in (HERE, THERE, "k8s/a")}


def spread(**places: str) -> Submission:
    text = pipeline(READER)
    others = [{"backend": place, "objects": list(text.objects)} for place in (THERE, "k8s/a")]
    placement = {task: ON[place] for task, place in places.items()}
    return pipeline(READER, candidates=others, placement=placement)


def play(scene: Callable[[MovingWorld], Awaitable[None]], folder: Path) -> None:
    """Let a scene happen where the server has outputs in a folder of the test."""

    async def run() -> None:
        world = MovingWorld()
        await act(lambda _: scene(world), world)

    with patch.object(FakePlace, "output", lambda _, handle: folder / handle["id"]):
        asyncio.run(run())


def brought(world: MovingWorld, job_id: str) -> list[bytes]:
    """The files that came to the other place with a job."""
    (files,) = (
        obj for obj in world.there.jobs[job_id].workload.objects if obj["kind"] == "ConfigMap"
    )
    return [base64.b64decode(value) for value in files["binaryData"].values()]


def test_an_output_goes_ahead_of_the_task_that_reads_it(tmp_path: Path) -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, spread(one=HERE, two=THERE, three=HERE))
        output = tmp_path / ids["one"]
        (output / "deep").mkdir(parents=True)
        (output / "deep" / "x").write_text("written")
        (output / "link").symlink_to("/etc/passwd")
        await ended(world, world.here, ids["one"])
        await ended(world, world.there, ids["two"])
        workload = world.there.jobs[ids["two"]].workload
        assert f"'{THERE_IT_IS}/x'" in str(workload.jobset)
        assert f"ls {THERE_IT_IS}" in str(workload.jobset)
        assert [item["path"] for item in (workload.source or {})["files"]] == [
            "0/inputs/one/deep/x"
        ]
        assert brought(world, ids["two"]) == [b"written"]
        world.backend = world.here
        reader = await world.begun(ids["three"])
        assert f"ls /jobs/{ids['two']}/output" in str(reader.workload.jobset)
        reader.run()
        reader.end(succeeded=False)
        await world.until(ids["three"], "Failed")
        (output / "deep" / "x").write_text("again")
        made = await world.engine.runs.replace_from("p", "two")
        new = {job["metadata"]["labels"][TASK]: job["metadata"]["id"] for job in made.jobs}
        await ended(world, world.there, new["two"])
        assert brought(world, new["two"]) == [b"again"]
        await ended(world, world.here, new["three"])

    play(scene, tmp_path)


def test_a_place_on_this_machine_reads_an_output_where_it_is(tmp_path: Path) -> None:
    async def scene(world: MovingWorld) -> None:
        ids = await submitted(world, spread(one=HERE, two=THERE, three=HERE))
        await ended(world, world.here, ids["one"])
        await ended(world, world.there, ids["two"])
        workload = world.there.jobs[ids["two"]].workload
        assert f"ls {tmp_path / ids['one']}" in str(workload.jobset)
        assert not any(obj["kind"] == "ConfigMap" for obj in workload.objects)

    with patch.object(FakePlace, "shares_host", lambda _: True, create=True):
        play(scene, tmp_path)


def test_an_output_that_stays_on_its_hosts_is_told(tmp_path: Path) -> None:
    async def scene(world: MovingWorld) -> None:
        world.here.stays = "its output stays on the hosts"
        ids = await submitted(world, spread(one=HERE, two=THERE, three=HERE))
        await ended(world, world.here, ids["one"])
        told = "the output of one cannot be had: its output stays on the hosts"
        await world.until(ids["two"], lambda job: told in job["status"]["message"])

    play(scene, tmp_path)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"one": "k8s/a", "two": HERE}, "what a task writes on k8s/a is deleted with its pods"),
        ({"one": HERE, "two": "k8s/a"}, "jobs on k8s/a do not see the files of other jobs"),
    ],
)
def test_pods_are_refused_before_anything_starts(
    places: dict[str, str], said: str, tmp_path: Path
) -> None:
    async def scene(world: MovingWorld) -> None:
        world.engine.registry.put(pods := FakePlace("k8s/a", world.here._places))
        with pytest.raises(InvalidError) as raised:
            await submitted(world, spread(three=HERE, **places))
        assert any(said in line for line in raised.value.lines), raised.value.lines
        assert not pods.jobs

    play(scene, tmp_path)


def test_large_outputs_are_files_of_the_store(tmp_path: Path) -> None:
    root = tmp_path / "output"
    root.mkdir()
    large = b"x" * 1_500_000
    (root / "large").write_bytes(large)
    store = FileStore(tmp_path / "home")
    name = hashlib.sha256(large).hexdigest()
    for _ in range(2):
        values = inputs._values({"one": root, "none": tmp_path / "missing"}, store, "ssh/lab")
        assert values == {
            "0/inputs/one/large": {"$file": name, "size": len(large)},
            "0/inputs/none/.empty": "",
        }
    assert (tmp_path / "home" / "blobs" / name).read_bytes() == large
    with (root / "huge").open("wb") as file:
        file.truncate(inputs.LARGEST)
    with pytest.raises(ConflictError, match="the limit is 4000 MB"):
        inputs._values({"one": root}, store, "ssh/lab")
    with pytest.raises(ConflictError, match="the limit is 64 MB"):
        inputs._values({"one": root}, None, "slurm/hpc")


def test_a_folder_that_cannot_be_read_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    listed = os.scandir

    def refused(path: str) -> Any:
        if Path(path) == tmp_path / "deep":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(ConflictError, match="0/inputs/one/deep: Permission denied"):
        inputs._values({"one": tmp_path}, None, "slurm/hpc")
