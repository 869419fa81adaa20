"""The output of pods is brought before they go, in spite of failures."""

import asyncio
from pathlib import Path

import pytest

from trainway.backends.kubernetes.harvest import Harvest
from trainway.backends.kubernetes.pods import HOLDER
from trainway.errors import UnavailableError
from trainway.jobset.labels import REPLICATED_JOB_NAME
from trainway.json_types import Json
from trainway.kube.backoff import Backoff
from trainway.kube.errors import ObjectNotFound


def pod(name: str, *, is_over: bool = False) -> Json:
    state: Json = {"terminated": {"exitCode": 0}} if is_over else {"running": {}}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {REPLICATED_JOB_NAME: name}},
        "spec": {"restartPolicy": "Never"},
        "status": {
            "containerStatuses": [
                {"name": "node", "state": state},
                {"name": HOLDER, "state": {"running": {}}},
            ]
        },
    }


BOTH = {"fetch a", "fetch b"}
"""What is fetched at once, in whatever order it comes."""


class Cluster:
    """Pods that have a file each, and fail as often as they should."""

    def __init__(self, folder: Path, *pods: Json) -> None:
        self.folder = folder
        self.pods = list(pods)
        self.failures: dict[str, list[Exception]] = {}
        self.done: list[str] = []
        self.told: list[str] = []
        self.harvest = Harvest(
            folder,
            lambda: self.pods,
            self.fetch,
            self.release,
            self.told.append,
            Backoff(first=0.0, longest=0.0),
        )

    async def fetch(self, name: str, folder: Path) -> None:
        await asyncio.sleep(0)
        if left := self.failures.get(name):
            raise left.pop(0)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
        self.done.append(f"fetch {name}")

    async def release(self, name: str) -> None:
        output = self.folder / "output" / name
        assert output.read_text() == name  # what it wrote is here before it goes
        self.done.append(f"release {name}")

    async def released(self, *names: str) -> None:
        async with asyncio.timeout(30):
            while not {f"release {name}" for name in names} <= set(self.done):
                await asyncio.sleep(0.001)


def test_a_pod_goes_when_the_output_of_all_is_here(tmp_path: Path) -> None:
    async def scene() -> None:
        cluster = Cluster(tmp_path, pod("a", is_over=True), pod("b"))
        for each in (*cluster.pods, *cluster.pods):
            cluster.harvest.on_pod(each)
        await cluster.released("a")
        assert (set(cluster.done[:2]), cluster.done[2:]) == (BOTH, ["release a"])
        await cluster.harvest.close()

    asyncio.run(scene())
    assert sorted(path.name for path in (tmp_path / "output").iterdir()) == ["a", "b"]


def test_a_failure_keeps_the_pod_and_is_told(tmp_path: Path) -> None:
    async def scene() -> None:
        cluster = Cluster(tmp_path, pod("a", is_over=True), pod("b"))
        cluster.failures = {
            "a": [UnavailableError("the disk is full"), OSError("gone")],
            "b": [UnavailableError("no answer")],
        }
        cluster.harvest.on_pod(cluster.pods[0])
        await cluster.released("a")
        assert cluster.told[0] == "a waits until its output is on the server: the disk is full"
        assert len(cluster.told) == 2
        await cluster.harvest.close()

    asyncio.run(scene())


def test_a_pod_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    async def scene() -> None:
        cluster = Cluster(tmp_path, pod("a", is_over=True))
        cluster.failures = {"a": [ObjectNotFound("there is no pod a")] * 2}
        await cluster.harvest.bring()
        cluster.harvest.on_pod(cluster.pods[0])
        async with asyncio.timeout(30):
            while cluster.failures["a"]:
                await asyncio.sleep(0.001)
        await cluster.harvest.close()
        assert cluster.told == []

    asyncio.run(scene())


def test_who_asks_for_the_output_is_told_what_is_missing(tmp_path: Path) -> None:
    async def scene() -> None:
        cluster = Cluster(tmp_path, pod("a"), pod("b"))
        cluster.failures = {"a": [UnavailableError("no answer")]}
        with pytest.raises(UnavailableError, match="no answer"):
            await cluster.harvest.bring()
        assert (tmp_path / "output" / "b").exists()
        await cluster.harvest.bring()
        assert (cluster.done[0], set(cluster.done[1:])) == ("fetch b", BOTH)

    asyncio.run(scene())
