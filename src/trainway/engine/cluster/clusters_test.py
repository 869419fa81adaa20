import asyncio
from dataclasses import dataclass

import pytest

from trainway.engine.cluster.request import Launch
from trainway.engine.cluster.testing import ClusterWorld, play, until_begun
from trainway.engine.errors import UnfittingJobError
from trainway.engine.testing import told
from trainway.errors import ConflictError, NotFoundError, TrainwayError, UsageError


def test_a_cluster_is_up_when_it_fits() -> None:
    async def scene(world: ClusterWorld) -> None:
        view = await world.launch(cpus=2, memory="4", accelerators="A100:1")
        assert view["spec"] == {
            "infra": "local",
            "nodes": 1,
            "resources": {"cpus": "2", "memory": "4Gi", "gpus": 1, "accelerators": "A100:1"},
            "autostop": None,
        }
        await world.until_phase("UP")
        status = (await world.clusters.get("dev"))["status"]
        assert status["nodes"] == [{"host": "this", "address": "", "gpus": ["0"]}]
        assert world.agents.asked == ["allocate dev", "start dev"]
        await world.until_cluster(lambda: world.agents.kept["dev"]["state"] == "UP")

    play(scene)


def test_an_agent_that_could_not_be_started_is_asked_again() -> None:
    async def scene(world: ClusterWorld) -> None:
        world.agents.unstartable["start"] = ["no memory", "it was killed"]
        await world.launch()
        await world.until_phase("UP")
        await world.until_cluster(lambda: world.clusters.record("dev").message == "")
        assert world.agents.unstartable == {"start": []}

    play(scene)


def test_jobs_are_numbered_and_listed_newest_first() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        ids = [await world.exec(name) for name in ("first", "second")]
        items = await world.clusters.jobs("dev")
        assert [(item["number"], item["job"]["metadata"]["id"]) for item in items] == [
            (2, ids[1]),
            (1, ids[0]),
        ]
        assert (await world.clusters.get("dev"))["status"]["activeJobs"] == 2

    play(scene)


def test_a_cluster_of_the_same_name_begins_at_one_again() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        old = await world.exec("old")
        await world.until_cluster(lambda: old in world.jobs.jobs)
        world.jobs.jobs[old].end()
        await world.until(old, "Succeeded")
        await world.clusters.down("dev")
        await world.launch()
        await world.exec("new")
        items = await world.clusters.jobs("dev")
        assert [(item["number"], item["job"]["metadata"]["name"]) for item in items] == [(1, "new")]

    play(scene)


def test_down_cancels_its_jobs_and_forgets_it() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        job = world.jobs.jobs
        job_id = await world.exec()
        await world.until_cluster(lambda: job_id in job)
        downing = asyncio.create_task(world.clusters.down("dev"))
        await told(job[job_id], "cancel")
        assert world.agents.asked[-1] == "release dev"
        assert not downing.done()
        job[job_id].end(succeeded=False, reason="Cancelled")
        await downing
        assert (await world.engine.reading.get(job_id))["status"]["phase"] == "Cancelled"
        with pytest.raises(NotFoundError):
            await world.clusters.get("dev")
        assert world.agents.kept == {}
        assert world.store.clusters.all() == []

    play(scene)


def test_a_local_cluster_stops_and_starts() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch(cpus=4)
        await world.until_phase("UP")
        running = await world.exec()
        await until_begun(world.jobs, running)
        waiting = await world.submit(requests={"cpu": "4"})
        await world.until(waiting, "Queued")
        stopping = asyncio.create_task(world.clusters.stop("dev"))
        (await until_begun(world.jobs, running)).end(reason="Cancelled")
        await stopping
        job = await world.begun(waiting)
        await world.clusters.restart("dev")
        await world.until_phase("UP")
        job.end()
        await world.clusters.restart("dev")
        assert world.phase() == "UP"

    play(scene)


def test_launch_starts_what_is_stopped() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        await world.until_phase("UP")
        await world.clusters.stop("dev")
        await world.launch()
        await world.until_phase("UP")
        assert len(world.store.clusters.all()) == 1

    play(scene)


def test_the_server_learns_what_became_of_clusters_while_it_looks() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        await world.until_phase("UP")
        world.agents.say("dev", state="STOPPED", nodes=[])
        await world.until_phase("STOPPED")
        await world.launch("other", cpus=4)
        await world.until_phase("UP", "other")
        world.agents.say("other", state="gone")
        await world.until_cluster(lambda: "other" not in world.agents.kept)

    play(scene)


def test_the_next_server_learns_what_became_of_clusters_without_it() -> None:
    first = ClusterWorld()

    async def before(world: ClusterWorld) -> None:
        for name in ("dev", "gone", "stopped"):
            await world.launch(name)
            await world.until_phase("UP", name)

    async def after(world: ClusterWorld) -> None:
        await world.until_phase("STOPPED", "stopped")
        assert {item["metadata"]["name"]: item["status"]["phase"]
                for item in await world.clusters.all()} == {
            "dev": "UP", "stopped": "STOPPED",
        }  # fmt: skip
        with pytest.raises(UnfittingJobError):
            await world.launch("big", cpus=5)

    async def run() -> None:
        await first.engine.start()
        await before(first)
        await first.clusters.close()
        del first.agents.clusters["gone"]
        first.agents.clusters["stopped"]["state"] = "STOPPED"
        second = ClusterWorld(first.agents, first.store)
        await second.engine.start()
        try:
            await after(second)
        finally:
            await second.engine.close()

    asyncio.run(run())


def test_an_allocation_that_the_last_server_did_not_get_through_is_asked_for_again() -> None:
    world = ClusterWorld()

    async def scene(world: ClusterWorld) -> None:
        await world.launch()
        await world.until_phase("UP")
        world.store.clusters.update("dev", {"held": False, "state": "INIT", "devices": ""})
        world.agents.clusters.clear()

    async def again(world: ClusterWorld) -> None:
        await world.until_phase("UP")

    async def run() -> None:
        await world.engine.start()
        await scene(world)
        await world.clusters.close()
        second = ClusterWorld(world.agents, world.store)
        await second.engine.start()
        try:
            await again(second)
        finally:
            await second.engine.close()

    asyncio.run(run())


@dataclass(frozen=True)
class Refused:
    launch: Launch
    error: type[TrainwayError]
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Refused(Launch("dev", resources={"cpus": 5}), UnfittingJobError, "5 CPUs, and there are 4"),
        Refused(Launch("dev", nodes=3, resources={"accelerators": "A100"}), UnfittingJobError,
                "3 GPUs, and there are 2"),
        Refused(Launch("dev", "ssh/lab", 2, {"cpus": 3}), UnfittingJobError,
                "it needs 2 nodes of 3 CPUs, and 1 fits: a1 has 4 CPUs"),
        Refused(Launch("dev", "ssh/lab", 1, {"cpus": 1}, 5), ConflictError, "be switched off"),
        Refused(Launch("9dev"), UsageError, "cannot be called '9dev'"),
        Refused(Launch("a/b"), UsageError, "cannot be called"),
        Refused(Launch("dev", "k8s"), UsageError, "are not supported yet"),
        Refused(Launch("dev", slurm={"qos": "high"}), UsageError, "options of Slurm"),
        Refused(Launch("dev", "nowhere"), UsageError, "there is no cloud 'nowhere'"),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_nothing(case: Refused) -> None:
    async def scene(world: ClusterWorld) -> None:
        with pytest.raises(case.error, match=case.message):
            await world.clusters.launch(case.launch)
        assert world.store.clusters.all() == []
        assert world.agents.asked == []

    play(scene)


def test_a_keeper_that_does_not_answer_leaves_no_cluster() -> None:
    async def scene(world: ClusterWorld) -> None:
        world.agents.away = "nobody answers"
        with pytest.raises(TrainwayError, match="nobody answers"):
            await world.launch()
        assert world.store.clusters.all() == []
        world.agents.away = ""
        await world.launch()
        world.agents.away = "nobody answers"
        with pytest.raises(TrainwayError, match="nobody answers") as caught:
            await world.clusters.down("dev")
        assert caught.value.hint == "use trainway down --purge dev to forget it anyway"
        await world.clusters.down("dev", purge=True)
        assert world.store.clusters.all() == []

    play(scene)


def test_hosts_of_others_are_not_stopped() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch(infra="ssh/lab", cpus=1)
        with pytest.raises(ConflictError, match="cannot be switched off") as caught:
            await world.clusters.stop("dev")
        assert "trainway down dev" in str(caught.value.hint)
        with pytest.raises(ConflictError, match="cannot be switched off"):
            await world.clusters.autostop("dev", 5)
        view = await world.clusters.autostop("dev", 5, down=True)
        assert view["spec"]["autostop"] == {"idleMinutes": 5, "down": True}
        assert (await world.clusters.access("dev")) == {"words": ["ssh", "a1.ssh/lab"]}

    play(scene)


def test_an_allocation_of_slurm_is_asked_for_with_its_options_stopped_and_started() -> None:
    async def scene(world: ClusterWorld) -> None:
        wanted = Launch("dev", "slurm/hpc/gpu", 2, {"accelerators": "A100:2"}, slurm={"time": 60})
        view = await world.clusters.launch(wanted)
        assert view["spec"]["infra"] == "slurm/hpc/gpu"
        told = {"options": {"time": 60}, "accelerator": "A100:2"}
        assert world.agents.clusters["dev"]["slurm"] == told
        assert "slurm" not in view["spec"]["resources"]
        message = "its allocation ended"
        world.agents.say("dev", state="STOPPED", nodes=[], message=message)
        await world.until_phase("STOPPED")
        assert (await world.clusters.get("dev"))["status"]["message"] == message
        view = await world.clusters.restart("dev")
        assert (view["status"]["phase"], view["status"]["message"]) == ("INIT", "")
        await world.clusters.autostop("dev", 5)
        view = await world.clusters.stop("dev")
        assert view["status"]["phase"] == "STOPPED"

    play(scene)


def test_autostop_comes_from_the_task_unless_something_else_is_said() -> None:
    async def scene(world: ClusterWorld) -> None:
        view = await world.launch(autostop=True)
        assert view["spec"]["autostop"] == {"idleMinutes": 5, "down": False}
        resources = {"autostop": {"idle_minutes": 7, "down": True}}
        view = await world.clusters.launch(Launch("two", resources=resources))
        assert view["spec"]["autostop"] == {"idleMinutes": 7, "down": True}
        view = await world.clusters.launch(Launch("three", resources=resources, idle_minutes=1))
        assert view["spec"]["autostop"] == {"idleMinutes": 1, "down": False}
        view = await world.clusters.autostop("three", None)
        assert view["spec"]["autostop"] is None

    play(scene)


def test_a_cluster_is_not_looked_for_in_vain() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch("training")
        with pytest.raises(NotFoundError, match='did you mean "training"'):
            await world.clusters.get("trainning")

    play(scene)


def test_a_name_is_made_up_where_none_is_given() -> None:
    async def scene(world: ClusterWorld) -> None:
        view = await world.clusters.launch(Launch())
        assert view["metadata"]["name"].startswith("cluster-")
        view = await world.clusters.launch(Launch("dry", dry_run=True))
        assert len(world.store.clusters.all()) == 1

    play(scene)
