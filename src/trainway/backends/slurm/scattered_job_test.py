"""Jobs on nodes that do not see the login node's files; the Slurm is a fake, the relay is not."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from trainway.agent.base.directory import Directory
from trainway.agent.base.journal import Journal
from trainway.backends.slurm.testing_slurm import LARGE, FakeSlurm, RelayServer, is_type
from trainway.json_types import Json

POD: Json = {"uid": "u", "pod": "node-0-0", "attempt": 0, "containers": [{"name": "node"}]}
LOG = "logs/node-0-0.node.0.log"
END: Json = {"succeeded": True, "reason": "", "message": ""}
PATIENCE_S = 120.0


class Site:
    """A server, and the one node of its cluster."""

    def __init__(self, path: Path) -> None:
        self.slurm = FakeSlurm(path / "slurm")
        self.scratch = path / "node"
        self.scratch.mkdir()
        self.server = RelayServer(self.slurm.cluster, self.slurm.environ, path / "home")
        self.server.settings = {"shared": False, "scratch": str(self.scratch)}

    async def begin(self, restarts: int = 0) -> Path:
        """Have Slurm begin the job; its directory on the node, once its files have come."""
        self.slurm.change("1", state="RUNNING", reason="None", restarts=restarts)
        place = self.scratch / f"trainway-1.{restarts}"
        await until(lambda: Path(f"{place}.sent").exists() and place.exists())
        assert Path(Path(f"{place}.sent").read_text()).stat().st_mode & 0o777 == 0o600
        return place

    @property
    def here(self) -> Path:
        """What the server has of the job."""
        return self.server.home / "jobs" / "a"


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.05)


def on(path: Path, act: Callable[[Site], Awaitable[None]]) -> None:
    async def acted() -> None:
        site = Site(path)
        async with site.server:
            await site.server.submit("a")
            await act(site)

    asyncio.run(acted())


def driver_in(place: Path) -> Journal:
    return Journal(Directory(str(place)), lambda: 0.0)


def test_files_go_to_the_node_and_come_back(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        place = await site.begin()
        plan = json.loads((place / "plan.json").read_text())
        digest = plan["objects"][0]["data"]["large"]["$blob"]
        assert (place / "blobs" / digest).read_text() == LARGE
        book = driver_in(place)
        book.append("pod", {**POD, "phase": "Running"})
        (place / LOG).write_text("a line\n")
        await until((site.here / LOG).exists)
        (place / "output/model").write_bytes(b"m" * 500_000)
        book.append("pod", {**POD, "phase": "Succeeded"})
        book.append("end", END)
        records = await site.server.until("a", is_type("end"))
        assert [record["slurmSeq"] for record in records if "slurmSeq" in record] == [0, 1, 2]
        assert (site.here / LOG).read_text() == "a line\n"
        assert (site.here / "output/model").stat().st_size == 500_000
        await until((place / "taken").exists)

    on(tmp_path, act)


def test_the_next_attempt_has_what_the_first_one_left(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        first = await site.begin()
        book = driver_in(first)
        book.append("pod", {**POD, "phase": "Running"})
        (first / LOG).write_text("first\n")
        (first / "output/checkpoint").write_text("1")
        copy = site.slurm.job_directory("a")
        await until(lambda: (copy / "output/checkpoint").exists() and (copy / LOG).exists())
        site.slurm.change("1", state="PENDING", reason="BeginTime")
        await site.server.until("a", is_type("waiting", reason="BeginTime"))
        book.append("event", {"reason": "Stale"})
        (first / "output/checkpoint").write_text("stale")

        second = await site.begin(restarts=1)
        assert (second / "output/checkpoint").read_text() == "1"
        assert (second / LOG).read_text() == "first\n"
        assert len((second / "journal.jsonl").read_text().splitlines()) == 1
        with (second / LOG).open("a") as log:
            log.write("second\n")
        book = driver_in(second)
        book.append("pod", {**POD, "phase": "Succeeded"})
        book.append("end", END)
        records = await site.server.until("a", is_type("end"))
        assert [record for record in records if record.get("reason") == "Stale"] == []
        assert (site.here / LOG).read_text() == "first\nsecond\n"
        assert (site.here / "output/checkpoint").read_text() == "1"

    on(tmp_path, act)


def test_files_that_cannot_be_sent_end_the_job(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        with site.slurm.changing() as state:
            state["full"] = True
        site.slurm.change("1", state="RUNNING", reason="None")
        end = (await site.server.until("a", is_type("end")))[-1]
        assert end["reason"] == "FilesNotSent"
        assert "No space left on device" in end["message"]
        assert "scancel 1" in site.slurm.calls("scancel")

    on(tmp_path, act)


def test_a_driver_learns_what_is_wanted_of_it(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        place = await site.begin()
        asking = asyncio.create_task(site.server.client.ask("suspend", id="a"))
        await until(lambda: (place / "wish").read_text() == "suspend")
        (place / "output/last").write_text("words")
        (place / "stopped").write_text("1.0")
        await until(lambda: site.slurm.jobs["1"]["state"] == "PENDING")
        assert (site.slurm.job_directory("a") / "output/last").read_text() == "words"
        await asking
        assert site.slurm.calls("scancel") == []

    on(tmp_path, act)
