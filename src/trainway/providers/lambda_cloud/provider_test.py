"""Lambda, against a stand-in that was written from its documentation."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from trainway.providers import backoff
from trainway.providers.base import Ability, Place, Provider
from trainway.providers.contract_testing import KEY, OWNER, ProviderContract, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.lambda_cloud.provider import LambdaProvider
from trainway.providers.lambda_cloud.requests import launch
from trainway.providers.lambda_cloud.stand_in_testing import (
    REGION,
    TYPE,
    LambdaStandIn,
    problem,
)
from trainway.providers.web_api_testing import served

PLACE = Place(REGION)
LAUNCH = "POST /instance-operations/launch"


@pytest.fixture
def cloud() -> LambdaStandIn:
    return LambdaStandIn()


@pytest.fixture
def provider(cloud: LambdaStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("LAMBDA_API_KEY", "secret")
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    with served(cloud) as address:
        yield LambdaProvider(address)


class TestLambda(ProviderContract):
    place = PLACE
    instance_type = TYPE

    @pytest.fixture
    def provider(self, provider: Provider) -> Provider:
        return provider


def test_a_machine_carries_our_tags_and_labels_that_lambda_takes() -> None:
    labels = {"team": "vision", "Cost Centre": "7"}
    request = replace(gang(PLACE, TYPE), cluster="train", labels=labels)
    assert launch(request, 1, "key") == {
        "region_name": REGION,
        "instance_type_name": TYPE,
        "ssh_key_names": ["key"],
        "name": "trainway-train-1",
        "tags": [
            {"key": "team", "value": "vision"},
            {"key": "trainway-cluster", "value": "train"},
            {"key": "trainway-rank", "value": "1"},
            {"key": "trainway-server", "value": OWNER},
            {"key": "trainway-token", "value": request.token},
        ],
        "user_data": f'#cloud-config\n{{"ssh_authorized_keys": ["{KEY}"]}}\n',
    }
    family = replace(request, image="lambda-stack-22-04")
    assert launch(family, 0, "key")["image"] == {"family": "lambda-stack-22-04"}


def test_a_full_region_leaves_nothing(cloud: LambdaStandIn, provider: Provider) -> None:
    full = problem("instance-operations/launch/insufficient-capacity", "Not enough capacity.")
    provider.create(gang(PLACE, TYPE))
    cloud.refuse(LAUNCH, 200, {"data": {"instance_ids": ["unseen"]}})
    cloud.refuse(LAUNCH, 400, full)
    with pytest.raises(ProviderError, match="Not enough capacity") as caught:
        provider.create(gang(PLACE, TYPE))

    assert (caught.value.trouble, caught.value.scope) == (Trouble.CAPACITY, Scope.REGION)
    assert caught.value.hint == "Try another region."
    assert len(provider.find(REGION, OWNER)) == 2


def test_a_lost_answer_is_found_by_its_tags(cloud: LambdaStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE, 1)
    cloud.refuse(LAUNCH, 504, after=True)
    with pytest.raises(ProviderError) as caught:
        provider.create(request)
    assert caught.value.scope is Scope.NONE
    assert provider.find(REGION, OWNER) == []

    assert len(provider.create(request)) == 1
    assert len(provider.find(REGION, OWNER)) == 1


def test_one_key_serves_all_clusters(cloud: LambdaStandIn, provider: Provider) -> None:
    provider.create(gang(PLACE, TYPE))
    provider.create(gang(PLACE, TYPE))
    assert [each["public_key"] for each in cloud.keys] == [KEY]


def test_a_machine_of_somebody_else_stays(cloud: LambdaStandIn, provider: Provider) -> None:
    cloud.machines["theirs"] = {"id": "theirs", "status": "active", "tags": [], "region": None}
    (mine,) = ids(provider.create(gang(PLACE, TYPE, 1)))
    with pytest.raises(ProviderError, match="theirs: not ended"):
        provider.end(REGION, ["theirs", mine])
    assert cloud.machines["theirs"]["status"] == "active"
    assert cloud.machines[mine]["status"] == "terminated"


def test_a_region_without_room_is_still_looked_into(
    cloud: LambdaStandIn, provider: Provider
) -> None:
    provider.create(gang(PLACE, TYPE))
    cloud.full = True
    assert provider.regions() == [REGION]


def test_keys_are_looked_for_and_never_shown(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert provider.check().source == "LAMBDA_API_KEY"
    monkeypatch.delenv("LAMBDA_API_KEY")
    with pytest.raises(ProviderError, match="no API key") as caught:
        provider.check()
    assert "LAMBDA_API_KEY" in (caught.value.hint or "")

    file = tmp_path / ".lambda_cloud" / "lambda_keys"
    file.parent.mkdir()
    file.write_text("api_key = secret\n")
    assert provider.check().source == "~/.lambda_cloud/lambda_keys"
    file.write_text("api_key = wrong\n")
    with pytest.raises(ProviderError, match="API key was invalid") as caught:
        provider.check()
    assert caught.value.trouble is Trouble.CREDENTIALS


def test_stopping_is_refused_with_the_reason(provider: Provider) -> None:
    with pytest.raises(ProviderError, match="cannot be stopped"):
        provider.stop(REGION, ["m"])
    assert Ability.STOP in provider.missing()
