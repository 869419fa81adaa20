"""Volumes whose claims are made for them, in spite of failures."""

import asyncio
from typing import Any, cast

import pytest

from trainway.backends.base import Backend
from trainway.backends.claims import Claim
from trainway.engine.storage.book import VOLUME_PREFIX
from trainway.engine.testing import World, act
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.json_types import Json


class Disks:
    """A cluster that makes claims, or says why not."""

    name = "k8s/lab"

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.failure: TrainwayError | None = None

    async def make_claim(self, claim: Claim) -> None:
        if self.failure is not None:
            raise self.failure
        self.claims[claim.name] = claim

    async def remove_claim(self, claim: Claim) -> None:
        if self.failure is not None:
            raise self.failure
        self.claims.pop(claim.name, None)


def volume(**more: Any) -> Json:
    return {"name": "scratch", "type": "k8s-pvc", "infra": "k8s/lab", "size": "10Gi", **more}


def played(disks: Disks, scene: Any) -> None:
    async def whole(world: World) -> None:
        world.engine.registry.put(cast("Backend", disks))
        await scene(world.engine.storage)

    asyncio.run(act(whole, World()))


def test_a_claim_is_made_with_its_volume_and_goes_with_it() -> None:
    disks = Disks()

    async def scene(book: Any) -> None:
        config = {"storage_class_name": "fast", "namespace": "team"}
        made = await book.apply(volume(config=config, size="1.5Gi", labels={"a": "b"}))
        assert (made["made"], made["accessMode"]) == (True, "ReadWriteOnce")
        expected = Claim("scratch", "1536Mi", "ReadWriteOnce", "team", "fast", {"a": "b"})
        assert disks.claims == {"scratch": expected}
        await book.delete_volume("scratch")
        assert (disks.claims, book.volumes()) == ({}, [])

    played(disks, scene)


@pytest.mark.parametrize("is_left", [True, False], ids=["not-taken-up", "only-just-stored"])
def test_a_volume_of_a_job_that_nobody_looks_after_stays(is_left: bool) -> None:
    disks = Disks()

    async def scene(world: World) -> None:
        world.engine.registry.put(cast("Backend", disks))
        await world.engine.storage.apply(volume())
        job = await world.submit("reader", labels={f"{VOLUME_PREFIX}/scratch": "used"})
        await world.begun(job)
        record = await world.engine.reading.record(job)
        world.engine._live.remove(job)
        if is_left:
            world.engine._live.leave(record)
        with pytest.raises(ConflictError, match="volume scratch cannot be deleted: reader uses it"):
            await world.engine.storage.delete_volume("scratch")
        assert disks.claims

    asyncio.run(act(scene, World()))


def test_a_claim_that_is_there_is_left_alone() -> None:
    disks = Disks()

    async def scene(book: Any) -> None:
        made = await book.apply(volume(use_existing=True))
        assert (made["made"], disks.claims) == (False, {})
        disks.failure = ConflictError("it was asked")
        await book.delete_volume("scratch")

    played(disks, scene)


def test_a_volume_without_its_claim_is_not_kept() -> None:
    disks = Disks()

    async def scene(book: Any) -> None:
        disks.failure = ConflictError("the claim is another one's")
        with pytest.raises(ConflictError):
            await book.apply(volume())
        assert book.volumes() == []
        disks.failure = None
        await book.apply(volume())
        disks.failure = ConflictError("it cannot be made smaller")
        with pytest.raises(ConflictError):
            await book.apply(volume(size="1Gi"))
        assert [each["size"] for each in book.volumes()] == ["10Gi"]

    played(disks, scene)


def test_a_claim_of_a_cluster_that_nobody_knows_is_not_kept() -> None:
    class Lost(Disks):
        def namespace(self, named: str) -> str:
            raise UnavailableError(f"there is no kubeconfig for {named}")

        def runtime(self, kind: str, name: str) -> None:
            raise AssertionError(kind, name)

    async def scene(book: Any) -> None:
        with pytest.raises(UnavailableError, match="there is no kubeconfig for team"):
            await book.apply(volume(config={"namespace": "team"}))
        assert book.volumes() == []

    played(Lost(), scene)


def test_where_nobody_knows_what_became_of_a_claim_its_volume_stays() -> None:
    disks = Disks()

    async def scene(book: Any) -> None:
        disks.failure = UnavailableError("the cluster does not answer")
        with pytest.raises(UnavailableError) as caught:
            await book.apply(volume())
        assert caught.value.hint == "then apply scratch again, or delete it"
        with pytest.raises(UnavailableError):
            await book.delete_volume("scratch")
        assert len(book.volumes()) == 1
        disks.failure = None
        await book.apply(volume())
        assert list(disks.claims) == ["scratch"]

    played(disks, scene)
