"""RunPod, against a stand-in that was written from its documentation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from trainway.providers import backoff
from trainway.providers.base import Place, Provider
from trainway.providers.contract_testing import KEY, OWNER, ProviderContract, gang, ids
from trainway.providers.errors import ProviderError, Scope, Trouble
from trainway.providers.runpod.provider import RunpodProvider, country
from trainway.providers.runpod.requests import complaint, pod
from trainway.providers.runpod.stand_in_testing import (
    FULL,
    REGION,
    TYPE,
    ZONE,
    RunpodStandIn,
    problem,
)
from trainway.providers.web_api import RefusalError
from trainway.providers.web_api_testing import served

PLACE = Place(REGION, ZONE)


@pytest.fixture
def cloud() -> RunpodStandIn:
    return RunpodStandIn()


@pytest.fixture
def provider(cloud: RunpodStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("RUNPOD_API_KEY", "secret")
    monkeypatch.setattr(backoff, "FIRST_S", 0.0)
    with served(cloud) as address:
        yield RunpodProvider(address)


class TestRunpod(ProviderContract):
    place = PLACE
    instance_type = TYPE
    several = False

    @pytest.fixture
    def provider(self, provider: Provider) -> Provider:
        return provider


def test_a_machine_is_a_pod_with_our_variables() -> None:
    request = replace(gang(PLACE, TYPE, 1), cluster="train")
    env = {
        "PUBLIC_KEY": KEY,
        "TRAINWAY_CLUSTER": "train",
        "TRAINWAY_RANK": "0",
        "TRAINWAY_REGION": REGION,
        "TRAINWAY_SERVER": OWNER,
        "TRAINWAY_SPOT": "no",
        "TRAINWAY_TOKEN": request.token,
        "TRAINWAY_TYPE": TYPE,
        "TRAINWAY_ZONE": ZONE,
    }
    assert pod(request, 0) == {
        "name": "trainway-train-0",
        "imageName": "runpod/pytorch:2.8.0-py3.11-cuda12.8.1-cudnn-devel-ubuntu22.04",
        "cloudType": "SECURE",
        "gpuTypeId": "NVIDIA H100 80GB HBM3",
        "gpuCount": 2,
        "containerDiskInGb": 100,
        "volumeInGb": 0,
        "ports": "22/tcp",
        "startSsh": True,
        "supportPublicIp": True,
        "env": [{"key": key, "value": value} for key, value in env.items()],
        "dataCenterId": ZONE,
    }
    anywhere = pod(replace(request, place=Place("SE"), spot=True), 0, 1.5)
    assert (anywhere["countryCode"], anywhere["bidPerGpu"]) == ("SE", 1.5)
    assert "dataCenterId" not in anywhere


def test_ssh_has_another_port_outside(provider: Provider) -> None:
    request = gang(PLACE, TYPE, 1)
    provider.create(request)
    (found,) = provider.find(REGION, OWNER)
    assert (found.public_address, found.ssh_port, found.user) == ("192.0.2.9", 10_000, "root")


@pytest.mark.parametrize(("setting", "bid"), [({}, 0.9), ({"spot_price": "1.25"}, 1.25)])
def test_spot_machines_are_bid_for(
    cloud: RunpodStandIn, provider: Provider, setting: dict[str, str], bid: float
) -> None:
    provider.create(replace(gang(PLACE, TYPE, 1), spot=True, settings=setting))
    (made,) = [each for each in cloud.calls if "podRentInterruptable" in each.body["query"]]
    assert made.body["variables"]["input"]["bidPerGpu"] == bid


def test_no_spot_machines_says_nothing_of_others(cloud: RunpodStandIn, provider: Provider) -> None:
    cloud.bid = None
    with pytest.raises(ProviderError, match="no spot machines") as caught:
        provider.create(replace(gang(PLACE, TYPE, 1), spot=True))
    assert caught.value.spot_only


def test_a_price_that_is_no_number_is_named(provider: Provider) -> None:
    request = replace(gang(PLACE, TYPE, 1), spot=True, settings={"spot_price": "cheap"})
    with pytest.raises(ProviderError, match=r"clouds\.runpod\.spot_price: 'cheap' is not a price"):
        provider.create(request)


def test_a_machine_of_somebody_else_stays(cloud: RunpodStandIn, provider: Provider) -> None:
    cloud.pods["theirs"] = {"id": "theirs", "desiredStatus": "RUNNING", "env": ["A=b"]}
    (mine,) = ids(provider.create(gang(PLACE, TYPE, 1)))
    with pytest.raises(ProviderError, match="theirs: not ended"):
        provider.end(REGION, ["theirs", mine])
    assert list(cloud.pods) == ["theirs"]


def test_a_lost_answer_is_found_by_its_variables(cloud: RunpodStandIn, provider: Provider) -> None:
    request = gang(PLACE, TYPE, 1)
    cloud.refuse("POST /graphql", 200, {"data": {"myself": {"id": "u", "pods": []}}})
    cloud.refuse("POST /graphql", 504, after=True)
    with pytest.raises(ProviderError):
        provider.create(request)
    assert cloud.pods == {}
    assert len(provider.create(request)) == 1


@dataclass(frozen=True)
class Case:
    message: str
    trouble: Trouble
    scope: Scope
    spot_only: bool = False


CASES = [
    Case(FULL, Trouble.CAPACITY, Scope.ZONE),
    Case("Your bid is below the minimum.", Trouble.CAPACITY, Scope.ZONE, spot_only=True),
    Case("Forbidden", Trouble.DENIED, Scope.CLOUD),
    Case("Insufficient balance.", Trouble.DENIED, Scope.CLOUD),
    Case("You have reached your spend limit.", Trouble.QUOTA, Scope.CLOUD),
    Case("Unauthorized", Trouble.CREDENTIALS, Scope.CLOUD),
    Case("Something went wrong.", Trouble.OTHER, Scope.ZONE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.message)
def test_a_message_says_what_not_to_try_again(case: Case) -> None:
    error = RefusalError("RunPod", 200, complaint(200, problem(case.message)))
    assert (error.trouble, error.scope, error.spot_only) == (
        case.trouble,
        case.scope,
        case.spot_only,
    )


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"errors": []}, {"errors": ["x"]}, {"data": None}]
)
def test_an_odd_answer_is_an_error_of_ours(
    cloud: RunpodStandIn, provider: Provider, answer: Any
) -> None:
    cloud.refuse("POST /graphql", 200, answer)
    with pytest.raises(ProviderError):
        provider.find(REGION, OWNER)


def test_data_centres_are_in_countries() -> None:
    names = ["US-CA-2", "CA-MTL-1", "EU-SE-1", "EUR-IS-1", "AP-JP-1", "EU"]
    assert [country(each.split("-")) for each in names] == ["US", "CA", "SE", "IS", "JP", "EU"]


def test_keys_are_looked_for_and_never_shown(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RUNPOD_API_KEY")
    with pytest.raises(ProviderError, match="no API key"):
        provider.check()
    file = tmp_path / ".runpod" / "config.toml"
    file.parent.mkdir()
    file.write_text('[default]\napi_key = "secret"\n')
    identity = provider.check()
    assert (identity.account, identity.source) == ("user_1", "~/.runpod/config.toml")
    file.write_text('[default]\napi_key = "wrong"\n')
    with pytest.raises(ProviderError, match="Unauthorized") as caught:
        provider.check()
    assert caught.value.trouble is Trouble.CREDENTIALS
