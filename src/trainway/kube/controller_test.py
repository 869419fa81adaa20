import asyncio
import logging

import pytest

from trainway.errors import TrainwayError
from trainway.kube.backoff import Backoff
from trainway.kube.controller import Controller, Outcome, Result
from trainway.kube.errors import Conflict
from trainway.kube.workqueue import WorkQueue
from trainway.telemetry.logs_testing import json_lines


class _Observer:
    def __init__(self) -> None:
        self.started: list[str] = []
        self.outcomes: list[tuple[str, Outcome]] = []

    def on_start(self, name: str) -> None:
        self.started.append(name)

    def on_end(self, name: str, seconds: float, outcome: Outcome) -> None:
        assert seconds >= 0
        self.outcomes.append((name, outcome))


def _queue() -> WorkQueue:
    return WorkQueue(chance=lambda: 1.0, backoff=Backoff(0.001, 0.001))


async def _until(controller: Controller, done: asyncio.Event) -> None:
    running = asyncio.create_task(controller.run())
    async with asyncio.timeout(60):
        await done.wait()
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait({running})


def test_errors_are_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Exception | None] = [
        ValueError("a mistake"),
        TrainwayError("a refusal"),
        Conflict("changed"),
        None,
    ]

    async def main() -> _Observer:
        done = asyncio.Event()

        async def reconcile(key: str) -> Result:
            answer = answers.pop(0)
            if answer is None:
                done.set()
                return None
            raise answer

        observer = _Observer()
        controller = Controller("jobs", reconcile, observer=observer, queue=_queue())
        controller.queue.add("n/a")
        await _until(controller, done)
        assert controller.queue.failures("n/a") == 0
        return observer

    with caplog.at_level(logging.INFO):
        observer = asyncio.run(main())
    assert [outcome for _, outcome in observer.outcomes] == ["error", "error", "error", "ok"]
    assert observer.started == ["jobs"] * 4
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "jobs n/a failed; again in 0.001 s",
        "jobs n/a: a refusal; again in 0.001 s",
    ]


def test_looks_again_when_told() -> None:
    async def main() -> int:
        done = asyncio.Event()
        calls = 0

        async def reconcile(key: str) -> Result:
            nonlocal calls
            calls += 1
            if calls == 3:
                done.set()
                return None
            return 0.001

        controller = Controller("jobs", reconcile, queue=_queue())
        controller.queue.add("n/a")
        await _until(controller, done)
        return calls

    assert asyncio.run(main()) == 3


def test_workers_work_side_by_side_but_never_on_one_key() -> None:
    async def main() -> tuple[int, int]:
        done = asyncio.Event()
        most = most_of_a = busy = busy_with_a = calls = 0

        async def reconcile(key: str) -> Result:
            nonlocal most, most_of_a, busy, busy_with_a, calls
            busy += 1
            busy_with_a += key == "a"
            most, most_of_a = max(most, busy), max(most_of_a, busy_with_a)
            controller.queue.add("a")
            await asyncio.sleep(0.001)
            busy -= 1
            busy_with_a -= key == "a"
            calls += 1
            if calls > 40:
                done.set()
            return None

        controller = Controller("jobs", reconcile, workers=4, queue=_queue())
        for number in range(20):
            controller.queue.add(str(number))
        await _until(controller, done)
        return most, most_of_a

    assert asyncio.run(main()) == (4, 1)


def test_what_is_logged_about_an_object_says_which_one() -> None:
    async def play() -> None:
        done = asyncio.Event()

        async def reconcile(key: str) -> Result:
            logging.getLogger("trainway.odd").warning("%s is odd", key)
            done.set()
            return None

        controller = Controller("trainjob", reconcile, queue=_queue())
        controller.queue.add("team/demo")
        await _until(controller, done)

    with json_lines("trainway.odd") as lines:
        asyncio.run(play())
    said = [(line["msg"], line["controller"], line["namespace"], line["job"]) for line in lines]
    assert said == [("team/demo is odd", "trainjob", "team", "demo")]
