import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from trainway.backends.kubernetes.uploads import ARCHIVE, Uploads, is_waiting
from trainway.json_types import Json
from trainway.kube.backoff import Backoff
from trainway.kube.client import Client
from trainway.kube.errors import ObjectNotFound, ServerUnavailable
from trainway.kube.execution import Outcome


def pod(name: str, state: str = "running", **metadata: Any) -> Json:
    status = {"name": "trainway-files", "state": {state: {}}}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", **metadata},
        "status": {"initContainerStatuses": [{"name": "other", "state": {"running": {}}}, status]},
    }


@dataclass
class Pods:
    """Takes archives, after it has failed in given ways."""

    answers: list[Exception | int] = field(default_factory=list)
    taken: list[tuple[str, bytes]] = field(default_factory=list)
    holding: asyncio.Event | None = None

    async def send(self, name: str, command: tuple[str, ...], archive: bytes) -> Outcome:
        assert command[3] == str(len(archive))
        self.taken.append((name, archive))
        if self.holding is not None:
            await self.holding.wait()
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, Exception):
            raise answer
        return Outcome(answer, stderr=bytearray(b"no space\n"))


def uploads(folder: Path, pods: Pods) -> Uploads:
    nobody = cast("Client", None)
    return Uploads(nobody, "ns", folder, pods.send, Backoff(0.001, 0.001))


async def settled(sending: Uploads) -> None:
    """Wait until nothing is under way any more."""
    async with asyncio.timeout(60):
        while not all(task.done() for task in sending._tasks.values()):
            await asyncio.sleep(0.001)


def test_a_pod_waits_while_its_first_container_runs() -> None:
    assert is_waiting(pod("a"))
    assert not is_waiting(pod("a", "waiting"))
    assert not is_waiting(pod("a", "terminated"))
    assert not is_waiting(pod("a", deletionTimestamp="now"))
    assert not is_waiting({"metadata": {"name": "a"}})


def test_every_pod_gets_the_files_once(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / ARCHIVE).write_bytes(b"tar")
        pods = Pods()
        sending = uploads(tmp_path, pods)
        for each in (pod("a", "waiting"), pod("a"), pod("b"), pod("a"), pod("a", "terminated")):
            sending.on_pod(each)
            await settled(sending)
        assert pods.taken == [("a", b"tar"), ("b", b"tar")]
        await sending.close()

    asyncio.run(main())


def test_without_an_archive_nothing_is_sent(tmp_path: Path) -> None:
    async def main() -> None:
        pods = Pods()
        sending = uploads(tmp_path, pods)
        sending.on_pod(pod("a"))
        await settled(sending)
        assert pods.taken == []
        await sending.close()

    asyncio.run(main())


def test_what_fails_is_tried_again_until_the_pod_is_gone(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / ARCHIVE).write_bytes(b"tar")
        pods = Pods([ServerUnavailable("broken"), 1, 0])
        sending = uploads(tmp_path, pods)
        sending.on_pod(pod("a"))
        await settled(sending)
        assert len(pods.taken) == 3
        pods.answers = [1, ObjectNotFound("no pod")]
        sending.on_pod(pod("b"))
        await settled(sending)
        assert len(pods.taken) == 5
        await sending.close()

    asyncio.run(main())


def test_an_upload_ends_with_its_pod_or_the_server(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / ARCHIVE).write_bytes(b"tar")
        pods = Pods(holding=asyncio.Event())
        sending = uploads(tmp_path, pods)
        sending.on_pod(pod("a"))
        sending.on_pod(pod("b"))
        async with asyncio.timeout(60):
            while len(pods.taken) < 2:
                await asyncio.sleep(0.001)
        sending.on_pod(pod("a", deletionTimestamp="now"))
        await sending.close()
        assert sorted(name for name, _ in pods.taken) == ["a", "b"]
        assert all(task.cancelled() for task in sending._tasks.values())

    asyncio.run(main())
