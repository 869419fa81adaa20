"""Notices are delivered, again until they arrive, and never hold up a job."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from trainway.engine.faulty_store import ERRORS
from trainway.engine.notify.delivery import DeliveryError
from trainway.engine.notify.outbox import NewNotice, StoredNotice
from trainway.engine.store import JobChange, Store
from trainway.engine.submission import Submission
from trainway.engine.testing import World, act, jobset, memory_database
from trainway.errors import NotFoundError, UsageError
from trainway.notify.message import TEST, HttpRequest, Notice
from trainway.notify.targets import Form, Occasion, Target

TEAM = Target("team", "https://team.example.org/secret", Form.JSON)
HOOK = "https://own.example.org/secret"


class Webhook:
    """Takes notices, after it has failed as often as it should."""

    def __init__(self, *failures: DeliveryError) -> None:
        self.failures = list(failures)
        self.got: list[str] = []

    def __call__(self, request: HttpRequest) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.got.append(f"{request.url} {request.body.decode()}")

    async def until(self, world: World, count: int) -> None:
        """Wait, while time passes, until it has got so many."""
        async with asyncio.timeout(60):
            while len(self.got) < count:
                world.now += timedelta(seconds=1)
                await asyncio.sleep(0)


def world(webhook: Webhook, *targets: Target) -> World:
    return World(targets=lambda: targets, send=webhook)


async def submit(world: World, *notify: str) -> None:
    await world.engine.submit(Submission([jobset()], environ={"A": "b"}, notify=notify))


def test_everybody_is_told_what_they_want_to_hear() -> None:
    webhook = Webhook()
    fussy = Target("fussy", "https://fussy.example.org", Form.SLACK, frozenset({Occasion.FAILED}))

    async def scene(world: World) -> None:
        await submit(world, HOOK)
        job = await world.begun(await first(world))
        job.run()
        await world.until("demo", "Running")
        job.end()
        await world.until("demo", "Succeeded")
        await webhook.until(world, 4)
        async with asyncio.timeout(60):
            while not world.engine.is_idle:
                await asyncio.sleep(0.001)

    asyncio.run(act(scene, world(webhook, TEAM, fussy)))
    told = sorted(line.split(" ")[0] + " " + line.split('"')[3] for line in webhook.got)
    assert told == [
        f"{HOOK} started",
        f"{HOOK} succeeded",
        f"{TEAM.url} started",
        f"{TEAM.url} succeeded",
    ]


async def first(world: World) -> str:
    """The id of the only job."""
    return (await world.engine.reading.record("demo")).id


def test_a_notice_is_sent_until_it_arrives() -> None:
    webhook = Webhook(DeliveryError("it cannot be reached"), DeliveryError("it answers 503"))

    async def scene(world: World) -> None:
        await submit(world, "team")
        job = await world.begun(await first(world))
        job.run()
        await webhook.until(world, 1)
        assert "NotificationFailed" not in await world.reasons("demo")

    asyncio.run(act(scene, world(webhook, TEAM)))
    assert webhook.failures == []


def test_a_notice_that_nobody_takes_is_given_up_and_told() -> None:
    webhook = Webhook(DeliveryError("it answers 404 Not Found", is_final=True))

    async def scene(world: World) -> None:
        await submit(world, HOOK)
        job = await world.begun(await first(world))
        job.run()
        async with asyncio.timeout(60):
            while "NotificationFailed" not in await world.reasons("demo"):
                await asyncio.sleep(0.001)
        events = await world.engine.reading.events("demo")
        assert [event.message for event in events if event.reason == "NotificationFailed"] == [
            "own.example.org was not told that the job started: it answers 404 Not Found"
        ]

    asyncio.run(act(scene, world(webhook)))
    assert webhook.got == []


def test_the_next_server_delivers_what_is_left() -> None:
    webhook = Webhook(*[DeliveryError("it cannot be reached")] * 3)

    async def scenes() -> None:
        before = World(targets=lambda: [TEAM], send=webhook)

        async def scene(world: World) -> None:
            await submit(world)
            job = await world.begun(await first(world))
            job.run()
            await world.until("demo", "Running")
            async with asyncio.timeout(60):
                while len(webhook.failures) == 3:
                    await asyncio.sleep(0.001)
            assert not world.engine.is_idle

        await before.engine.start()
        await scene(before)
        await before.engine.notifier.close()
        webhook.failures.clear()
        after = World(before.backend, before.store, targets=lambda: [TEAM], send=webhook)
        await after.engine.start()
        await webhook.until(after, 1)
        await after.engine.close()

    asyncio.run(scenes())
    assert len(webhook.got) == 1


@pytest.mark.parametrize("name", ["nobody", "ftp://h/", "https://h:port/secret", "http://a..b/"])
def test_who_cannot_be_told_is_refused(name: str) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(UsageError) as raised:
            await submit(world, name)
        assert raised.value.field == "options.notify"
        assert "secret" not in raised.value.message
        assert world.backend.jobs == {}

    asyncio.run(act(scene, world(Webhook(), TEAM)))


def test_a_test_tells_what_became_of_it() -> None:
    webhook = Webhook(DeliveryError("it answers 404 Not Found", is_final=True))

    async def scene(world: World) -> None:
        assert await world.engine.notifier.test(HOOK) == [
            {"target": "own.example.org", "ok": False, "detail": "it answers 404 Not Found"}
        ]
        assert await world.engine.notifier.test() == [{"target": "team", "ok": True, "detail": ""}]

    asyncio.run(act(scene, world(webhook, TEAM)))


def test_a_test_needs_somebody() -> None:
    async def scene(world: World) -> None:
        with pytest.raises(NotFoundError):
            await world.engine.notifier.test()

    asyncio.run(act(scene, world(Webhook())))


def test_a_notice_that_cannot_be_sent_at_all_holds_up_no_other() -> None:
    """It would be the first one of every round, and of the next server too."""
    webhook = Webhook()

    def send(asked: HttpRequest) -> None:
        if asked.url == HOOK:
            raise UnicodeError("label empty or too long")
        webhook(asked)

    async def scene(world: World) -> None:
        await submit(world, HOOK)
        (await world.begun(await first(world))).run()
        async with asyncio.timeout(60):
            while "NotificationFailed" not in await world.reasons("demo"):
                await asyncio.sleep(0.001)
        await webhook.until(world, 1)

    asyncio.run(act(scene, World(targets=lambda: [TEAM], send=send)))
    assert [line.split(" ")[0] for line in webhook.got] == [TEAM.url]


async def idle(world: World) -> None:
    """Wait until nothing is left to deliver, while others ask for deliveries all the time."""
    async with asyncio.timeout(60):
        while not world.engine.notifier.is_idle:
            await asyncio.sleep(0.001)


def tell(world: World, *targets: str) -> None:
    """Have something told to each of these."""
    now = world.now.timestamp()
    notices = [NewNotice(each, Notice(TEST, "", {}, str(n)), now) for n, each in enumerate(targets)]
    world.store.update_all([JobChange("0" * 12, {}, notices=notices)])
    world.engine.notifier.wake()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_what_was_told_is_not_told_again_though_that_cannot_be_noted(
    error: Callable[[], Exception],
) -> None:
    webhook, store, failures = Webhook(), Store(memory_database()), [error(), error()]
    remove = store.outbox.remove

    def failing(notice: StoredNotice) -> None:
        if failures:
            raise failures.pop()
        remove(notice)

    async def scene(world: World) -> None:
        store.outbox.remove = failing  # type: ignore[method-assign] # a write that fails
        tell(world, HOOK, HOOK)
        async with asyncio.timeout(60):
            while len(failures) == 2:
                await asyncio.sleep(0.001)
        tell(world, TEAM.name)  # which is delivered meanwhile
        await idle(world)

    asyncio.run(act(scene, World(store=store, targets=lambda: [TEAM], send=webhook)))
    assert sorted(line.split(" ")[0] for line in webhook.got) == [HOOK, HOOK, TEAM.url]
    assert not failures


def test_a_target_that_does_not_answer_holds_up_no_other() -> None:
    webhook, answers = Webhook(), threading.Event()

    def send(asked: HttpRequest) -> None:
        if asked.url == TEAM.url:
            answers.wait(60)
        webhook(asked)

    async def scene(world: World) -> None:
        try:
            tell(world, *[TEAM.name] * 200, HOOK)
            await webhook.until(world, 1)
            assert [line.split(" ")[0] for line in webhook.got] == [HOOK]
            tell(world, HOOK)
            await webhook.until(world, 2)
            assert [line.split(" ")[0] for line in webhook.got] == [HOOK] * 2
        finally:
            answers.set()

    asyncio.run(act(scene, World(targets=lambda: [TEAM], send=send)))


def test_where_nobody_answers_one_notice_is_tried_for_all() -> None:
    tried: list[str] = []

    def send(asked: HttpRequest) -> None:
        tried.append(asked.url)
        raise DeliveryError("it cannot be reached", is_silent=True)

    async def scene(world: World) -> None:
        tell(world, *[HOOK] * 5)
        async with asyncio.timeout(60):
            while world.store.outbox.due(HOOK, world.now.timestamp(), 1):
                await asyncio.sleep(0.001)
        assert tried == [HOOK]
        for _ in range(19):
            world.now += timedelta(seconds=300)
            world.engine.notifier.wake()
            async with asyncio.timeout(60):
                while world.store.outbox.due(HOOK, world.now.timestamp(), 1):
                    await asyncio.sleep(0.001)
        await idle(world)  # all are given up
        assert len(tried) == 20

    asyncio.run(act(scene, World(send=send)))


def test_a_server_that_ends_notes_what_it_is_telling() -> None:
    """Else the next one would tell it again."""
    webhook, asked, answers = Webhook(), threading.Event(), threading.Event()

    def send(request: HttpRequest) -> None:
        asked.set()
        answers.wait(60)
        webhook(request)

    async def scene(world: World) -> None:
        tell(world, HOOK, HOOK)
        await asyncio.to_thread(asked.wait, 60)
        closing = asyncio.create_task(world.engine.notifier.close())
        await asyncio.sleep(0)
        answers.set()
        await closing
        assert len(webhook.got) == 1
        assert len(world.store.outbox.due(HOOK, world.now.timestamp(), 10)) == 1

    asyncio.run(act(scene, World(send=send)))
