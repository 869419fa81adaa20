from trainway.engine.cluster.testing import ClusterWorld, play, until_begun


def test_a_cluster_that_idles_holds_nothing_of_this_machine() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch(cpus=4, accelerators="A100:1")
        await world.until_phase("UP")
        capacity = world.backend.capacity()
        assert world.engine.free(world.backend, capacity) == capacity
        gpu = await world.submit("gpu", requests={"nvidia.com/gpu": "1"})
        job = await world.begun(gpu)
        assert job.workload.devices == {"node-0-0": {"gpus": ["1"]}}, "the cluster's goes last"
        await world.launch("second", cpus=4, accelerators="A100:1")
        await world.until_phase("UP", "second")
        assert world.clusters.record("second").device_map == {"node-0": {"gpus": ["1"]}}
        job.end()

    play(scene)


def test_what_the_jobs_of_a_cluster_hold_no_job_of_this_machine_gets_and_the_reverse() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch(cpus=3, accelerators="A100:1")
        await world.until_phase("UP")
        mine = await world.submit("mine", requests={"cpu": "2"})
        begun = await world.begun(mine)
        first, second = await world.exec("a"), await world.exec("b")
        view = await world.until(first, "Queued")
        assert view["status"]["message"] == (
            f"needs 3 CPUs, 2 free; mine holds 2 CPUs (to free that: trainway jobs cancel {mine})"
        )
        view = await world.until(second, "Queued")
        assert view["status"]["message"] == "waits for its turn, after job 1 of cluster dev"
        begun.end()
        jobs = [await until_begun(world.jobs, job) for job in (first, second)]
        blocked = await world.submit("blocked", requests={"cpu": "2"})
        view = await world.until(blocked, "Queued")
        assert view["status"]["message"] == (
            "needs 2 CPUs, 1 free; cluster dev with jobs 1, 2 holds 3 CPUs "
            "(to free that: trainway cancel dev 1 2)"
        )
        jobs[0].end()
        view = await world.until(blocked, lambda job: "job 2 of" in job["status"]["message"])
        assert view["status"]["phase"] == "Queued"
        jobs[1].end()
        (await world.begun(blocked)).end()

    play(scene)


def test_a_cluster_that_stopped_while_a_job_of_it_waited_starts_again() -> None:
    async def scene(world: ClusterWorld) -> None:
        await world.launch(cpus=4)
        await world.until_phase("UP")
        begun = await world.begun(await world.submit("mine", requests={"cpu": "4"}))
        waiting = await world.exec()
        await world.until(waiting, "Queued")
        world.agents.say("dev", state="STOPPED", nodes=[])
        await world.until_phase("STOPPED")
        begun.end()
        job = await until_begun(world.jobs, waiting)
        await world.until_phase("UP")
        job.end()

    play(scene)
