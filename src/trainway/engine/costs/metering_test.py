"""A cluster costs what its machines do, each for as long as it ran."""

from dataclasses import replace
from decimal import Decimal

from trainway.engine.cluster.record import ClusterRecord
from trainway.engine.costs.cost import Cost, pieces, total
from trainway.engine.costs.metering import metered
from trainway.engine.costs.rate import rates_of
from trainway.engine.rental.record import Rental, RentedMachine

DEV = ClusterRecord(name="dev", id="c1", infra="aws", pool="p", nodes=2)


def at(hour: int, minute: int = 0) -> str:
    return f"2026-11-18T{hour:02}:{minute:02}:00.000000Z"


def machine(rank: int, launched: str, ended: str = "") -> RentedMachine:
    return RentedMachine(f"i-{rank}", rank, launched=launched, ended=ended)


def spot(token: str, *machines: RentedMachine) -> Rental:
    return Rental(
        cluster="dev", token=token, cloud="aws", region="east", zone="east-a", instance_type="p5",
        spot=True, nodes=2, hourly_price="8", on_demand_price="20", machines=machines,
        created=at(1),
    )  # fmt: skip


def cost(record: ClusterRecord, until: str) -> Cost:
    return total(pieces(rates_of(record.rates), [], until))


def after(record: ClusterRecord, *rentals: Rental) -> ClusterRecord:
    changed = record.changed(metered(record, rentals))
    assert metered(changed, rentals) == {}  # however often it is written
    return changed


def test_a_machine_that_is_taken_costs_nothing_while_the_others_do() -> None:
    first, second = machine(0, at(1)), machine(1, at(1))
    up = after(DEV, spot("a", first, second))
    assert [(rate.since, int(rate.hourly), rate.nodes) for rate in rates_of(up.rates)] == [
        (at(1), 8, 2)
    ]
    less = after(up, spot("a", first, replace(second, ended=at(2))))
    assert [(rate.since, int(rate.hourly), rate.nodes) for rate in rates_of(less.rates)] == [
        (at(1), 8, 2), (at(2), 4, 1),
    ]  # fmt: skip
    over = replace(first, ended=at(4)), replace(second, ended=at(2))
    last = after(less, spot("a", *over))
    assert rates_of(last.rates)[-1].hourly == 0
    assert cost(last, at(23)) == Cost(Decimal(16), Decimal(40))


def test_machines_of_a_failed_attempt_count_beside_those_of_the_next() -> None:
    half = spot("a", machine(0, at(1), at(3)))
    found = spot("b", machine(0, at(2), at(4)), machine(1, at(2), at(4)))
    assert cost(after(DEV, half, found), at(23)).spent == Decimal(2 * 4 + 2 * 8)


def test_a_machine_that_stood_still_costs_nothing_then() -> None:
    again = replace(machine(0, at(5), at(6)), before=((at(1), at(2)),))
    assert cost(after(DEV, spot("a", again)), at(23)).spent == Decimal(8)


def test_what_an_earlier_version_wrote_of_the_time_before_is_kept() -> None:
    old = '[{"since": "2026-11-17T00:00:00.000000Z", "hourly": "1", "place": "cluster/dev", '
    record = DEV.changed({"rates": old + '"rented": true}]'})
    now = after(record, spot("a", machine(0, "", at(2))))
    assert [rate.since[:13] for rate in rates_of(now.rates)] == [
        "2026-11-17T00", "2026-11-18T01", "2026-11-18T02",
    ]  # fmt: skip


def test_machines_that_never_were_change_nothing() -> None:
    assert metered(DEV, [spot("a")]) == {}
