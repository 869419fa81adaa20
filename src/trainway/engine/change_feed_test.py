import asyncio

import pytest

from trainway.engine.change_feed import ChangeFeed


def feed(most: int = 3) -> ChangeFeed:
    return ChangeFeed(most, lambda: "first")


def test_it_knows_what_changed_after_a_position() -> None:
    changes = feed()
    changes.note("a")
    seen = changes.position
    assert changes.since(seen) == []
    changes.note("b")
    changes.note("c")
    changes.note("b")
    assert changes.since(seen) == ["c", "b"]
    assert changes.since("first-0") == ["a", "c", "b"]


def test_who_is_too_far_behind_has_to_read_again() -> None:
    changes = feed(most=2)
    for name in "abc":
        changes.note(name)
    assert changes.since("first-0") is None
    assert changes.since("first-1") == ["b", "c"]


def test_one_job_that_changes_often_takes_the_place_of_one() -> None:
    changes = feed(most=2)
    changes.note("b")
    for _ in range(100):
        changes.note("a")
    assert changes.since("first-0") == ["b", "a"]


@pytest.mark.parametrize(
    "position", ["", "first", "other-0", "first-7", "first--1", "first-x", "first-" + "9" * 5000]
)
def test_a_position_that_it_never_gave_is_not_known(position: str) -> None:
    changes = feed()
    changes.note("a")
    assert changes.since(position) is None


def test_a_reader_waits_for_what_it_has_not_seen() -> None:
    async def scene() -> None:
        changes = feed()
        await changes.wait("first-7")
        waiting = asyncio.create_task(changes.wait(changes.position))
        await asyncio.sleep(0)
        assert not waiting.done()
        changes.note("a")
        await waiting
        gone = asyncio.create_task(changes.wait(changes.position))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert not changes._waiting

    asyncio.run(scene())
