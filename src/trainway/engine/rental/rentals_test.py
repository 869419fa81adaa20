"""Renting of stand-in clouds: the best offer, what comes after it, and what happens without us."""

import asyncio
from pathlib import Path

import pytest

from trainway.api.task.infra import Infra
from trainway.catalog.reservations import Reservation
from trainway.engine.rental.errors import NoOfferError
from trainway.engine.rental.record import Rental, RentalState
from trainway.engine.rental.rentals import Rentals
from trainway.engine.rental.terms import Terms
from trainway.engine.rental.testing import CLUSTER, OWNER, TERMS, RentalWorld, settled, wanted
from trainway.engine.rental.watch import ChangeKind, RentalChange
from trainway.errors import ConflictError, NotFoundError
from trainway.providers.section import CloudSettings
from trainway.providers.testing import Break, Fault


@pytest.fixture
def world(tmp_path: Path) -> RentalWorld:
    return RentalWorld(tmp_path)


def test_the_cheapest_is_rented_stopped_started_and_given_back(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        assert (rental.infra, rental.instance_type) == ("aws/east/east-a", "p5")
        assert (rental.state, rental.hourly_price, rental.nodes) == (RentalState.RUNNING, "20.0", 2)
        assert [each.rank for each in rental.machines] == [0, 1]
        assert (rental.gang.accelerator, rental.gang.accelerator_count) == ("H100", 8)
        assert all(each.public_address and each.user for each in rental.machines)
        assert rentals.find(CLUSTER) == rental == await rentals.rent(CLUSTER, wanted(), TERMS)

        stopped = await rentals.stop(CLUSTER)
        assert stopped.state is RentalState.STOPPED
        assert await rentals.stop(CLUSTER) == stopped
        assert (await rentals.resume(CLUSTER)).state is RentalState.RUNNING
        assert len(world.machines()) == 2

        ended = await rentals.end(CLUSTER)
        assert ended is not None
        assert ended.state is RentalState.ENDED
        assert rentals.find(CLUSTER) is None
        assert not rentals.all()
        assert rentals.is_idle
        assert await rentals.end(CLUSTER) is None
        with pytest.raises(NotFoundError):
            await rentals.stop(CLUSTER)

    assert world.live(script)
    assert not world.machines()
    assert not world.rules()


def test_blocking_the_best_gives_the_next(world: RentalWorld) -> None:
    world.aws.break_next(
        Fault("machine", Break.CAPACITY, zone="east-a", skip=1),
        Fault("create", Break.QUOTA, zone="east-b"),
    )
    world.gcp.break_next(Fault("create", Break.DENIED))
    told: list[Rental] = []

    async def hear(rental: Rental) -> None:
        told.append(rental)

    async def script(rentals: Rentals) -> None:
        terms = Terms(public_key="k", labels={"team": "vision"})
        rental = await rentals.rent(CLUSTER, wanted(), terms, hear)
        assert rental.infra == "aws/west/west-a"
        tried = [(each.cloud, each.zone, each.scope) for each in rental.history]
        assert tried == [
            ("aws", "east-a", "zone"),
            ("aws", "east-b", "region"),
            ("gcp", "east-a", "cloud"),
        ]
        assert "no room" in rental.history[0].error
        assert rental.history[0].at

    assert world.live(script)
    assert len(world.machines()) == 2, "half a gang is given back"
    assert [each.state for each in told if each.state is RentalState.RUNNING]
    assert world.rules() == [f"{OWNER}/{CLUSTER}"]


def test_a_quota_of_nothing_is_skipped_without_a_call(world: RentalWorld) -> None:
    world.aws.limit_quota("east", "p5", 1)

    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        assert rental.infra == "gcp/east/east-a"
        assert "room for 1 more p5" in rental.history[0].error

    assert world.live(script)
    assert "create" not in world.aws.calls()


def test_what_nobody_gives_is_told_with_all_that_was_tried(world: RentalWorld) -> None:
    world.aws.break_next(Fault("check", Break.CREDENTIALS))
    world.gcp.break_next(Fault("create", Break.CAPACITY))

    async def script(rentals: Rentals) -> None:
        with pytest.raises(
            NoOfferError, match=r"2 offers were tried: .*expired.*no room"
        ) as caught:
            await rentals.rent(CLUSTER, wanted(), TERMS)
        assert [each.cloud for each in caught.value.history] == ["aws", "gcp"]
        await settled(rentals)
        assert not rentals.all()

    assert world.live(script)
    assert not world.machines()
    assert not world.rules()


def test_retrying_until_up_waits_longer_and_longer(world: RentalWorld) -> None:
    world.aws.break_next(Fault("create", Break.CAPACITY, times=9))
    world.gcp.break_next(Fault("create", Break.CAPACITY, times=3))

    async def script(rentals: Rentals) -> None:
        terms = Terms(public_key="k", retry_until_up=True)
        rental = await rentals.rent(CLUSTER, wanted(), terms)
        assert rental.infra == "aws/east/east-a"
        assert len(rental.history) == 12

    assert world.live(script)
    assert [pause for pause in world.pauses if pause >= 30] == [30, 60, 120]


def test_a_lost_answer_makes_no_second_gang(world: RentalWorld) -> None:
    world.aws.break_next(Fault("create", Break.LOST_ANSWER), Fault("find", Break.THROTTLED))

    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        assert rental.infra == "aws/east/east-a"
        assert not rental.history

    assert world.live(script)
    assert len(world.aws.all_machines()) == 2


def test_nothing_that_fits_is_said_at_once_also_to_those_who_would_wait(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        terms = Terms(public_key="k", retry_until_up=True, max_hourly_cost=3)
        with pytest.raises(NotFoundError, match="nothing costs at most"):
            await rentals.rent(CLUSTER, wanted(), terms)
        terms = Terms(public_key="k", clouds=frozenset({"aws"}), max_hourly_cost=20)
        assert (await rentals.rent("a", wanted(), terms)).region == "east"
        settings = {"aws": CloudSettings(regions=frozenset({"west"}), values={"vpc": "v-1"})}
        terms = Terms(public_key="k", clouds=frozenset({"aws"}), settings=settings)
        rental = await rentals.rent("b", wanted(), terms)
        assert rental.region == "west"
        assert rental.gang.settings == {"vpc": "v-1"}

    assert world.live(script)


def test_a_cloud_that_cannot_do_it_is_not_asked(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        terms = Terms(public_key="k", reservation="cr-1")
        with pytest.raises(NoOfferError, match=r"cannot do that \(reservations\)"):
            await rentals.rent(CLUSTER, wanted(), terms)

    assert world.live(script)
    assert "check" not in world.aws.calls()


def reserved(count: int) -> Terms:
    paid = Reservation("cr-1", "aws", "p5", "west", "west-a", count)
    return Terms(public_key="k", settings={"aws": CloudSettings(reservations=(paid,))})


def test_what_was_reserved_is_taken_until_nothing_of_it_is_left(world: RentalWorld) -> None:
    world.aws.lacks.clear()
    world.aws.limit_quota("west", "p5", 0)

    async def script(rentals: Rentals) -> None:
        first = await rentals.rent("a", wanted(), reserved(3))
        assert (first.infra, first.hourly_price) == ("aws/west/west-a", "0.0")
        assert first.gang.reservation == "cr-1"
        second = await rentals.rent("b", wanted(), reserved(3))
        assert (second.infra, second.gang.reservation) == ("aws/east/east-a", "")
        await rentals.end("a")
        assert (await rentals.rent("c", wanted(), reserved(3))).price == 0
        await rentals.end("b")

    assert world.live(script)


def test_where_what_was_reserved_cannot_be_had_the_same_is_paid_for(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), reserved(2))
        assert (rental.infra, rental.hourly_price) == ("aws/east/east-a", "20.0")
        assert "cannot do that (reservations)" in rental.history[0].error
        assert rental.history[0].reservation == "cr-1"
        world.aws.lacks.clear()
        world.aws.break_next(Fault("create", Break.CAPACITY, region="west"))
        world.aws.limit_quota("east", "p5", 2)
        world.gcp.break_next(Fault("create", Break.CAPACITY))
        other = await rentals.rent("b", wanted(), reserved(2))
        assert (other.infra, other.gang.reservation) == ("aws/west/west-a", "")

    assert world.live(script)


def test_what_is_taken_down_while_it_is_rented_leaves_nothing(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        reached = asyncio.Event()

        async def hear(rental: Rental) -> None:
            if rental.state is RentalState.CREATING:
                reached.set()

        renting = asyncio.create_task(rentals.rent(CLUSTER, wanted(), TERMS, hear))
        await reached.wait()
        await rentals.end(CLUSTER)
        with pytest.raises(ConflictError, match="taken down while"):
            await renting
        assert not rentals.all()

    assert world.live(script)
    assert not world.machines()
    assert not world.rules()


def test_machines_that_are_gone_are_told_once(world: RentalWorld) -> None:
    heard: list[RentalChange] = []

    async def hear(change: RentalChange) -> None:
        heard.append(change)

    async def script(rentals: Rentals) -> None:
        rentals.subscribe(hear)
        rental = await rentals.rent(CLUSTER, wanted(spot=True), TERMS)
        assert rental.infra == "gcp/east/east-a"
        assert rental.spot
        assert not await rentals.look()
        first, second = (each.id for each in rental.machines)
        world.gcp.warn(first, "2026-11-18T08:00:00Z")
        assert [change.kind for change in await rentals.look()] == [ChangeKind.NOTICE]
        world.gcp.take(first)
        assert [change.kind for change in await rentals.look()] == [ChangeKind.GONE]
        assert not await rentals.look()
        world.gcp.take(second)
        assert [change.kind for change in await rentals.look()] == [ChangeKind.ENDED]
        await settled(rentals)
        assert not rentals.all()
        assert [list(change.machines) for change in heard[:2]] == [[first], [first]]
        assert heard[0].at == "2026-11-18T08:00:00Z"

    assert world.live(script)
    assert not world.rules()


def test_what_was_taken_is_avoided_by_the_next_server_too(world: RentalWorld) -> None:
    async def interrupted(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(spot=True), TERMS)
        assert rental.infra == "gcp/east/east-a"
        world.gcp.take(rental.machines[0].id)
        await rentals.look()
        await rentals.end(CLUSTER)

    async def again(rentals: Rentals) -> None:
        other = await rentals.rent("other", wanted(spot=True), TERMS)
        assert other.infra == "aws/east/east-a", "the next best offer"
        assert not other.history, "nobody was asked in vain"
        assert (await rentals.rent("sure", wanted(), TERMS)).infra == "aws/east/east-a"

    async def alone(rentals: Rentals) -> None:
        named = wanted(spot=True).at([Infra("gcp")])
        assert (await rentals.rent("named", named, TERMS)).infra == "gcp/east/east-a"

    assert world.live(interrupted)
    assert world.live(again)
    assert world.live(alone), "what is avoided is better than nothing"


def test_a_host_that_stopped_itself_can_be_started_again(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        world.aws.stop("east", [each.id for each in rental.machines])
        assert [change.kind for change in await rentals.look()] == [ChangeKind.STOPPED]
        assert (await rentals.resume(CLUSTER)).state is RentalState.RUNNING

    assert world.live(script)


def test_a_cloud_that_does_not_answer_is_asked_until_it_does(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        await rentals.rent(CLUSTER, wanted(), TERMS)
        world.aws.break_next(Fault("end", Break.UNREACHABLE, times=3))
        with pytest.raises(Exception, match="does not answer") as caught:
            await rentals.end(CLUSTER)
        assert "goes on trying" in (getattr(caught.value, "hint", "") or "")
        await settled(rentals)

    assert world.live(script)
    assert not world.machines()


def test_what_was_asked_for_is_done_also_if_nobody_waits_any_more(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        await rentals.rent(CLUSTER, wanted(), TERMS)
        for wish, state in ((rentals.stop, RentalState.STOPPED), (rentals.end, None)):
            asking = asyncio.create_task(wish(CLUSTER))
            await asyncio.sleep(0)
            asking.cancel()
            await settled(rentals)
            async with asyncio.timeout(60):
                while (found := rentals.find(CLUSTER)) is not None and found.state != state:
                    await asyncio.sleep(0.001)
            assert (found.state if found else None) == state

    assert world.live(script)
    assert not world.machines()


def test_a_provider_that_breaks_is_one_that_refuses(
    world: RentalWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("Instances")

    monkeypatch.setattr(world.aws, "create", broken)

    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        assert rental.cloud == "gcp"
        assert "KeyError: 'Instances'" in rental.history[0].error

    assert world.live(script)
    assert "a provider has failed" in caplog.text


def test_a_refused_stop_leaves_it_running(world: RentalWorld) -> None:
    async def script(rentals: Rentals) -> None:
        await rentals.rent(CLUSTER, wanted(), TERMS)
        world.aws.break_next(Fault("stop", Break.DENIED))
        with pytest.raises(Exception, match="may not"):
            await rentals.stop(CLUSTER)
        rental = rentals.find(CLUSTER)
        assert rental is not None
        assert rental.state is RentalState.RUNNING
        assert rental.message

    assert world.live(script)


def test_a_sweep_ends_only_what_is_ours_and_in_no_row(world: RentalWorld) -> None:
    foreign = world.aws.add_foreign("east", team="others")

    async def script(rentals: Rentals) -> None:
        rental = await rentals.rent(CLUSTER, wanted(), TERMS)
        orphan = world.aws.create(
            rental.gang.__class__(
                **{**rental.gang.__dict__, "token": "lost", "cluster": "lost", "count": 1}
            )
        )[0]
        listed = await rentals.sweep(dry_run=True)
        assert [(each.id, each.ended) for each in listed.machines] == [(orphan.id, False)]
        assert orphan.id in {each.id for each in world.machines()}
        swept = await rentals.sweep(dry_run=False)
        assert [(each.id, each.ended, each.cluster) for each in swept.machines] == [
            (orphan.id, True, "lost")
        ]
        assert not (await rentals.sweep(dry_run=False)).machines

    assert world.live(script)
    assert {each.id for each in world.machines()} >= {foreign}
    assert len(world.machines()) == 3
    assert world.rules() == [f"{OWNER}/{CLUSTER}"]


def test_a_sweep_says_where_it_could_not_look(world: RentalWorld) -> None:
    world.aws.break_next(Fault("find", Break.THROTTLED, region="west"))
    world.gcp.break_next(Fault("check", Break.CREDENTIALS))

    async def script(rentals: Rentals) -> None:
        report = await rentals.sweep(dry_run=True)
        assert report.problems == (
            "aws/west: aws: too many requests",
            "gcp: gcp: the key has expired",
        )

    assert world.live(script)
