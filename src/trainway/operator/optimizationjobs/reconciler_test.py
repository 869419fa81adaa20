import asyncio
import json
import random
import sys

import pytest

from trainway.jobset.labels import ALGORITHM
from trainway.kube.errors import InvalidObject, Refused
from trainway.operator.optimizationjobs.testing import KilledError, World, search

TRIALS, KILLS = 80, 50
OVER = [("Created", "OptimizationJobCreated"), ("Complete", "MaxTrialsReached")]
FAILED = [("Created", "OptimizationJobCreated"), ("Failed", "TrainJobsCreationFailed")]


async def run_trials(world: World) -> None:
    """Let all trials end, whose loss is the distance of their value from 2."""
    for _ in range(50):
        await world.look()
        world.see()
        for name in world.active:
            parameters = json.loads(
                world.objects["TrainJob", name]["metadata"]["annotations"][
                    "trainway.dev/parameters"
                ]
            )
            world.report(name, 100, loss=abs(float(parameters["lr"]) - 2))
            world.end(name)
        world.see()
        if len(world.conditions) > 1:
            return
    raise AssertionError(f"the search does not end: {world.conditions}, {world.births}")


def test_a_search_runs_its_trials_and_says_which_was_best() -> None:
    async def scenario() -> World:
        world = World(search())
        await world.look()
        assert world.births == ["demo-0", "demo-1"]
        assert world.conditions == [("Created", "OptimizationJobCreated")]
        await run_trials(world)
        return world

    world = asyncio.run(scenario())
    assert world.births == ["demo-0", "demo-1", "demo-2", "demo-3"]
    assert world.conditions == OVER
    assert world.status["result"] == {
        "trainJobName": "demo-2",
        "parameters": [{"name": "lr", "value": "2"}],
    }
    assert world.recorder.told == [
        ("TrialCreated", "Created trial demo-0 with lr=0"),
        ("TrialCreated", "Created trial demo-1 with lr=1"),
        ("OptimizationJobCreated", "the search has 4 trials, at most 2 at a time"),
        ("TrialCreated", "Created trial demo-2 with lr=2"),
        ("TrialCreated", "Created trial demo-3 with lr=3"),
        ("MaxTrialsReached", "4 trials: 4 succeeded; demo-2 is the best, with loss 0"),
    ]
    page = world.metrics.page().decode()
    assert 'trainway_jobs_created_total{kind="OptimizationJob"} 1.0' in page
    assert 'trainway_jobs_finished_total{kind="OptimizationJob",phase="Complete"} 1.0' in page


def test_without_optuna_a_search_by_tpe_ends_before_its_first_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    obj = search(searchAlgorithm={"random": {}})
    obj["metadata"]["annotations"] = {ALGORITHM: "tpe"}
    world = World(obj)
    asyncio.run(world.look())
    assert (world.births, world.conditions) == ([], FAILED)
    reason, message = world.recorder.told[-1]
    assert reason == "TrainJobsCreationFailed"
    assert message.startswith("the algorithm tpe needs Optuna, which is not installed; install")


def test_a_trial_has_its_values_and_belongs_to_the_search() -> None:
    world = World(search())
    asyncio.run(world.look())
    trial = world.trial(1)
    assert trial["spec"]["trainer"]["env"] == [{"name": "KUBEFLOW_TRAINER_OPT_LR", "value": "1"}]
    (owner,) = trial["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("OptimizationJob", "demo", True)


def test_old_caches_make_no_trial_twice_and_none_too_many() -> None:
    async def scenario() -> World:
        world = World(search())
        await world.look()
        await world.look()  # the caches have not seen the trials
        world.start()
        world.end("demo-0")
        await world.look()  # nor that one has ended
        return world

    world = asyncio.run(scenario())
    assert world.births == ["demo-0", "demo-1"]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.stress) for seed in range(2, 10))]
)
def test_an_operator_that_is_killed_fifty_times_loses_doubles_and_exceeds_nothing(
    seed: int,
) -> None:
    chance = random.Random(seed)  # noqa: S311 (when to kill, no secret)

    async def scenario() -> tuple[World, int]:
        world = World(search(TRIALS, numTrials=TRIALS, parallelTrials=3))
        kills = 0
        world.dies = lambda: chance.random() < 0.4 and kills < KILLS
        while len(world.conditions) < 2:
            try:
                await world.look()
            except KilledError:
                kills += 1
                world.start()
            assert len(world.active) <= 3
            if chance.random() < 0.5:
                world.see()
            if world.active and chance.random() < 0.5:
                name = chance.choice(world.active)
                world.report(name, 100, loss=1 / (1 + int(name.removeprefix("demo-"))))
                world.end(name)
            if chance.random() < 0.5:
                world.see()
        return world, kills

    world, kills = asyncio.run(scenario())
    assert kills == KILLS
    assert world.births == [f"demo-{number}" for number in range(TRIALS)]
    assert world.conditions == OVER
    assert world.status["result"]["trainJobName"] == f"demo-{TRIALS - 1}"


def test_a_search_that_is_being_deleted_gets_no_more_trials() -> None:
    obj = search()
    obj["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z"
    world = World(obj)
    asyncio.run(world.look())
    assert world.births == []


@pytest.mark.parametrize(
    "refusal",
    [
        InvalidObject("spec.runtimeRef.name: Required value", status=422),
        Refused('admission webhook "validator" denied the request: no such runtime', status=403),
    ],
)
def test_a_trial_that_nobody_accepts_ends_the_search(refusal: InvalidObject | Refused) -> None:
    async def scenario() -> World:
        world = World(search())
        await world.look()
        world.see()
        world.end("demo-0")
        world.see()
        world.refusal = refusal
        await world.look()
        world.see()
        await world.look()
        return world

    world = asyncio.run(scenario())
    assert world.conditions == FAILED
    failed = world.status["conditions"][1]["message"]
    assert failed == f"TrainJob demo-2: {refusal}"
    annotations = world.trial(1)["metadata"]["annotations"]
    assert annotations["trainway.dev/pruned"] == "the search has ended"


def test_a_trial_for_which_there_is_no_room_waits_for_it() -> None:
    async def scenario() -> World:
        world = World(search())
        world.refusal = Refused("trainjobs is forbidden: exceeded quota: team", status=403)
        for _ in range(2):
            with pytest.raises(Refused):
                await world.look()
        world.refusal = None
        await run_trials(world)
        return world

    world = asyncio.run(scenario())
    assert world.conditions == OVER
    told = [reason for reason, _ in world.recorder.told]
    assert told.count("TrainJobsCreationFailed") == 1


def test_a_trainjob_of_somebody_else_in_the_way_ends_the_search() -> None:
    other = {"kind": "TrainJob", "metadata": {"name": "demo-0"}, "spec": {}}
    world = World(search(), other)
    asyncio.run(world.look())
    assert world.conditions == FAILED
    assert world.status["conditions"][1]["message"] == (
        'TrainJob "demo-0" exists but does not belong to the OptimizationJob'
    )


def test_what_an_earlier_search_of_that_name_left_is_waited_for() -> None:
    owner = {"kind": "OptimizationJob", "name": "demo", "uid": "old", "controller": True}
    left = {"kind": "TrainJob", "metadata": {"name": "demo-0", "ownerReferences": [owner]}}
    world = World(search(), {**left, "spec": {}})
    assert asyncio.run(world.look()) == 1.0
    assert world.conditions == [("Created", "OptimizationJobCreated")]


def test_a_search_that_cannot_begin_says_why() -> None:
    obj = search()
    obj["metadata"]["annotations"] = {"trainway.dev/pruning": "never"}
    world = World(obj)
    asyncio.run(world.look())
    assert world.conditions == FAILED
    assert "trainway.dev/pruning" in world.status["conditions"][1]["message"]
    asyncio.run(world.look())
    assert world.births == []


def test_a_trial_that_is_worse_than_the_others_is_stopped() -> None:
    obj = search(8, numTrials=8, parallelTrials=8)
    obj["metadata"]["annotations"] = {"trainway.dev/pruning": "median"}

    async def scenario() -> World:
        world = World(obj)
        await world.look()
        for progress in (20, 60, 100):
            for index in range(5):
                world.report(f"demo-{index}", progress, loss=0.5)
            world.see()
            await world.look()
        for index in range(5):
            world.end(f"demo-{index}")
        world.report("demo-5", 50, loss=9.0)
        world.report("demo-6", 50, loss=0.1)
        world.see()
        await world.look()
        return world

    world = asyncio.run(scenario())
    stopped = world.trial(5)["metadata"]["annotations"]["trainway.dev/pruned"]
    assert stopped.startswith("loss was 9 at best until step 50")
    assert "trainway.dev/pruned" not in world.trial(6)["metadata"]["annotations"]
