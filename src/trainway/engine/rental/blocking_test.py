"""How much is not tried again after each kind of error."""

from dataclasses import dataclass, replace

import pytest

from trainway.engine.rental.blocking import block, only_there, reason_against
from trainway.engine.rental.record import FOLLOWING, Attempt, Rental, RentalState
from trainway.engine.rental.terms import Terms
from trainway.optimizer.request import Block
from trainway.providers.base import Ability
from trainway.providers.errors import ProviderError, Scope, Trouble


@dataclass(frozen=True)
class Case:
    name: str
    trouble: Trouble
    scope: Scope
    expected: Block | None
    spot_only: bool = False


CASES = (
    Case("throttled", Trouble.THROTTLED, Scope.NONE, None),
    Case("capacity", Trouble.CAPACITY, Scope.ZONE, Block("aws", "east", "east-a", "p5")),
    Case("spot", Trouble.CAPACITY, Scope.ZONE, Block("aws", "east", "east-a", "p5", True), True),
    Case("a zone is down", Trouble.OTHER, Scope.ZONE, Block("aws", "east", "east-a")),
    Case("quota", Trouble.QUOTA, Scope.REGION, Block("aws", "east", None, "p5", False)),
    Case("a closed region", Trouble.DENIED, Scope.REGION, Block("aws", "east")),
    Case("no type", Trouble.INVALID, Scope.INSTANCE_TYPE, Block("aws", instance_type="p5")),
    Case("credentials", Trouble.CREDENTIALS, Scope.CLOUD, Block("aws")),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_error_blocks_what_it_is_about(case: Case) -> None:
    attempt = Attempt("aws", "east", "east-a", "p5")
    error = ProviderError("no", trouble=case.trouble, scope=case.scope, spot_only=case.spot_only)

    assert block(attempt, error) == case.expected


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope.ZONE, Block("gcp", "east", "east-a", spot=False)),
        (Scope.REGION, Block("gcp", "east", spot=False)),
        (Scope.INSTANCE_TYPE, Block("gcp", spot=False)),
    ],
)
def test_an_error_about_accelerators_blocks_them_beside_each_type(
    scope: Scope, expected: Block
) -> None:
    attempt = Attempt("gcp", "east", "east-a", "n1-standard-8")
    error = ProviderError("no", trouble=Trouble.QUOTA, scope=scope, of_accelerator=True)

    wanted = replace(expected, accelerator="T4", accelerator_count=1)
    assert block(attempt, error, ("T4", 1)) == wanted
    assert getattr(block(attempt, error), "accelerator", None) is None


def test_an_offer_that_never_answers_is_blocked_alone() -> None:
    assert only_there(Attempt("aws", "east", "", "p5", spot=True)) == Block(
        "aws", "east", None, "p5", True
    )


def test_a_cloud_is_not_asked_for_what_it_cannot_do() -> None:
    missing = {Ability.OPEN_PORTS: "it has no firewall of ours"}
    ports, plain = Terms(public_key="k", ports=["8080"]), Terms(public_key="k")

    assert reason_against("lambda", missing, plain, nodes=2, spot=False) is None
    assert reason_against("lambda", missing, ports, nodes=1, spot=False) == (
        "lambda cannot do that (open-ports): it has no firewall of ours"
    )


def test_every_rental_can_end_and_nothing_follows_the_end() -> None:
    assert set(FOLLOWING) == set(RentalState)
    assert not FOLLOWING[RentalState.ENDED]
    for state in set(RentalState) - {RentalState.ENDING, RentalState.ENDED}:
        assert RentalState.ENDING in FOLLOWING[state]


def test_a_rental_says_where_it_is_also_before_that_is_known() -> None:
    rental = Rental(cluster="c", token="t")  # noqa: S106 - a name
    chosen = rental.followed_by(
        RentalState.CREATING, cloud="aws", region="east", instance_type="p5", spot=True
    )

    assert rental.place == "the next best offer"
    assert chosen.place == "p5 (spot) on aws/east"
